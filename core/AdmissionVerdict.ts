/** The kernel's verdict on an ask, as the refusal that its caller is told. */
import { NeverFits, QueueFull, WouldWait } from "./AdmissionRefused.ts"
import type { Refusal as Verdict } from "./kernel/Line.ts"

interface Told {
  readonly never: NeverFits
  readonly full: QueueFull
  readonly short: WouldWait
}

/** What a caller is told of the kernel's verdict on an ask of that cost. */
export const fromVerdict = <V extends Verdict>(verdict: V, cost: number): Told[V["kind"]] => {
  const refusal = (): NeverFits | QueueFull | WouldWait => {
    switch (verdict.kind) {
      case "never":
        return new NeverFits({ account: verdict.account, cost, limit: verdict.limit })
      case "full":
        return new QueueFull(verdict)
      case "short":
        return new WouldWait(verdict)
    }
  }
  return refusal() as Told[V["kind"]]
}
