/**
 * How a piece of work ended, with interruption as a case of its own. Owns nothing.
 *
 * Every release handler and event is told one of these; each noun states as a typed policy what interruption means to it.
 */
import * as Cause from "effect/Cause"
import type * as Exit from "effect/Exit"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"

/**
 * - `Completed`: the work succeeded.
 * - `Failed`: it failed with a typed error.
 * - `Expired`: it failed because a deadline passed ({@link Cause} reason tagged `DeadlineExceeded` or `WaitExpired`).
 * - `Interrupted`: it was interrupted and did nothing wrong itself.
 * - `Died`: a defect. A cause that holds a defect is `Died`, whatever else it holds.
 */
export type Outcome = "Completed" | "Failed" | "Expired" | "Interrupted" | "Died"

const expiries: ReadonlySet<unknown> = new Set(["DeadlineExceeded", "WaitExpired"])

/** The outcome that an exit stands for. Never fails. */
export const fromExit = (exit: Exit.Exit<unknown, unknown>): Outcome => {
  if (exit._tag === "Success") return "Completed"
  const cause = exit.cause
  if (Cause.hasDies(cause)) return "Died"
  for (const reason of cause.reasons) {
    if (reason._tag === "Fail") return isExpiry(reason.error) ? "Expired" : "Failed"
  }
  return "Interrupted"
}

/** Of an error that throws when it is looked at nothing is known but that it is one. */
const isExpiry = (error: unknown): boolean =>
  Result.getOrElse(Result.try(() => Predicate.hasProperty(error, "_tag") && expiries.has(error._tag)), () => false)
