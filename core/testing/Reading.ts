/** What a scene says is conserved, read before and after a run. Owns nothing. */
import type * as Cause from "effect/Cause"
import * as Equal from "effect/Equal"
import * as Exit from "effect/Exit"
import * as Formatter from "effect/Formatter"

/** What was read, and how it printed then: an object that changes in place is still equal to itself. */
export interface Reading {
  readonly exit: Exit.Exit<unknown, unknown>
  readonly text: string
}

export const of = (exit: Exit.Exit<unknown, unknown>): Reading => ({
  exit,
  text: Exit.isSuccess(exit) ? Formatter.format(exit.value) : "",
})

/** Why they are not the same, where they are not. */
export const wrong = (
  before: Reading,
  after: Reading,
): { readonly why: string; readonly cause?: Cause.Cause<unknown> } | undefined => {
  const unread = [before.exit, after.exit].find(Exit.isFailure)
  if (unread !== undefined) return { why: "what is conserved cannot be read", cause: unread.cause }
  if (before.text !== after.text || !Equal.equals(before.exit, after.exit)) {
    return { why: `not conserved: ${before.text} before, ${after.text} after` }
  }
  return undefined
}
