/** The planted faults, each with the bounds within which it is looked for. */
import type { AnyProgram } from "../../../core/testing/ExplorerRun.ts"
import * as DoubleGrant from "./DoubleGrant.ts"
import * as LateSuccess from "./LateSuccess.ts"
import * as LostPermit from "./LostPermit.ts"
import * as LostWakeup from "./LostWakeup.ts"
import * as PoisonedFlight from "./PoisonedFlight.ts"
import * as StaleCleanup from "./StaleCleanup.ts"

export interface Fault {
  readonly faulty: AnyProgram
  readonly right: AnyProgram
  readonly bounds: { readonly interruptions?: number; readonly interrupt?: ReadonlyArray<string> }
}

export const faults = {
  "a permit lost when a grantee is interrupted before it runs": LostPermit,
  "a wake-up lost between check and enqueue": LostWakeup,
  "a double grant": DoubleGrant,
  "a single flight poisoned by its first caller": PoisonedFlight,
  "a late success after the deadline with no owner": LateSuccess,
  "an old cleanup that hits a new entry under the same key": StaleCleanup,
} as unknown as Readonly<Record<string, Fault>>
