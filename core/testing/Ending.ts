/** How a fiber ended, in one word: what scenes allow and sweeps count. Owns nothing. */
import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import * as Outcome from "../Outcome.ts"
import { read } from "./Wording.ts"

/** The tag of the error that it failed with, or the error where that is a text; else its `Outcome`. */
export type Ending = string

export const of = (exit: Exit.Exit<unknown, unknown>): Ending => {
  const outcome = Outcome.fromExit(exit)
  if (Exit.isSuccess(exit) || (outcome !== "Failed" && outcome !== "Expired")) return outcome
  const error = Cause.squash(exit.cause)
  if (typeof error === "string") return error
  return read(() => typeof error === "object" && error !== null && "_tag" in error ? String(error._tag) : outcome)
}

/** How a fiber was to end, where it ended in another way: as listed, else as it usually does. */
export const instead = (listed: ReadonlyArray<Ending> | undefined, usual: ReadonlyArray<Ending>): string => {
  if (listed !== undefined) return `\`ends\` allows ${listed.join(" or ") || "nothing"}`
  return `${usual.map((ending) => `undisturbed it ended ${ending}, and `).join("")}\`ends\` lists what else it may`
}
