/** What a program ended with, in words: whatever it is, for it may throw when it is looked at. Owns nothing. */
import * as Cause from "effect/Cause"
import * as Result from "effect/Result"

export const read = (words: () => string): string =>
  Result.getOrElse(Result.try(words), () => "something that cannot be read")

/** What was wrong, and why where that is known. */
export const because = (what: string, cause: Cause.Cause<unknown> | undefined): string =>
  cause === undefined ? what : `${what}: ${read(() => String(Cause.squash(cause)))}`

/** The tag of an error, or of what kind it is. */
export const tagOf = (error: unknown): string =>
  read(() => typeof error === "object" && error !== null && "_tag" in error ? String(error._tag) : typeof error)
