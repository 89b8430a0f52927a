/**
 * What the end of a call says of the provider. Owns nothing.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Verdict } from "./kernel/Gate.ts"
import { InvalidRequest } from "./Refusal.ts"

/** What a typed failure says; by default every one is the provider's. */
export type Judge<E> = (error: E) => "failure" | "neutral"

/**
 * Success is success; a typed failure is what `judge` says, a failure without one; interruption and defects judge nobody.
 * Where `judge` throws, the exit is its defect.
 */
export const verdictOf = <A, E>(exit: Exit.Exit<A, E>, judge: Judge<E> | undefined): Exit.Exit<Verdict> => {
  if (exit._tag === "Success") return success
  if (Cause.hasDies(exit.cause)) return Exit.succeed("neutral")
  for (const reason of exit.cause.reasons) {
    if (reason._tag !== "Fail") continue
    if (judge === undefined) return Exit.succeed("failure")
    return Effect.runSyncExit(Effect.sync(() => judge(reason.error) === "neutral" ? "neutral" : "failure"))
  }
  return Exit.succeed("neutral")
}

const success: Exit.Exit<Verdict> = Exit.succeed("success")

export const verdicts: ReadonlyArray<Verdict> = ["success", "failure", "neutral"]

/** What a verdict that is none dies with: it settles nothing, so the scope still gives the place back. */
export const wrongVerdict = (value: unknown): InvalidRequest =>
  new InvalidRequest({ field: "verdict", rule: `one of ${verdicts.join(", ")}`, value })
