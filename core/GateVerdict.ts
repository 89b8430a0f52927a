/**
 * What the end of a call says of the provider. Owns nothing.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Verdict } from "./kernel/Gate.ts"

/** What a typed failure says; by default every one is the provider's. */
export type Judge<E> = (error: E) => "failure" | "neutral"

/**
 * Success is success; a typed failure is what `judge` says, a failure without one; interruption and defects judge nobody.
 * Where `judge` throws, the exit is its defect.
 */
export const verdictOf = <A, E>(exit: Exit.Exit<A, E>, judge: Judge<E> | undefined): Exit.Exit<Verdict> => {
  if (exit._tag === "Success") return Exit.succeed("success")
  if (Cause.hasDies(exit.cause)) return Exit.succeed("neutral")
  for (const reason of exit.cause.reasons) {
    if (reason._tag !== "Fail") continue
    return judge === undefined ? Exit.succeed("failure") : Effect.runSyncExit(Effect.sync(() => judge(reason.error)))
  }
  return Exit.succeed("neutral")
}
