/** The signals that ask the process to end, as effects. It owns its listeners until the scope closes. */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import process from "node:process"
import * as Deadline from "../../core/Deadline.ts"
import type { InvalidRequest } from "../../core/Refusal.ts"

/** What a shell reports for a process that SIGINT ended. */
const interrupted = 130

/** One Ctrl-C comes twice where a task runner stands between: from the terminal, and passed on by `deno task`. */
const sameMillis = 250

/**
 * Succeeds with an effect that waits for the first SIGINT or SIGTERM.
 *
 * A second one ends the process there and then, unless it comes within a quarter of a second: that is the first again.
 */
export const listen: Effect.Effect<Effect.Effect<void>, never, Scope.Scope> = Effect.gen(function* () {
  const first = Deferred.makeUnsafe<void>()
  const clock = yield* Clock.Clock
  let from = Infinity
  const on = (): void => {
    const now = Number(clock.monotonicTimeNanosUnsafe()) / 1e6
    if (Deferred.doneUnsafe(first, Effect.void)) from = now
    else if (now - from >= sameMillis) process.exit(interrupted)
  }
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      process.on("SIGINT", on)
      process.on("SIGTERM", on)
    }),
    () =>
      Effect.sync(() => {
        process.off("SIGINT", on)
        process.off("SIGTERM", on)
      }),
  )
  return Deferred.await(first)
})

/**
 * Waits for the first signal, then drains by a deadline `within` from then, and answers what the drain did. A `within` that is
 * no time is refused at once, and not only when the signal has come.
 *
 * ```ts
 * const report = yield* Signals.drain(admission.drain, "10 seconds")
 * ```
 */
export const drain = <A, E, R>(
  ofNoun: (deadline: Deadline.Deadline) => Effect.Effect<A, E, R>,
  within: Duration.Input,
): Effect.Effect<A, E | InvalidRequest, R> =>
  Effect.gen(function* () {
    yield* Deadline.after(within)
    const signal = yield* listen
    yield* signal
    return yield* ofNoun(yield* Deadline.after(within))
  }).pipe(Effect.scoped)
