/** The signals that ask the process to end, as effects. It owns its listeners until the scope closes. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import process from "node:process"

/** What a shell reports for a process that SIGINT ended. */
const interrupted = 130

/** Succeeds with an effect that waits for the first SIGINT or SIGTERM. A second one ends the process there and then. */
export const listen: Effect.Effect<Effect.Effect<void>, never, Scope.Scope> = Effect.gen(function* () {
  const first = Deferred.makeUnsafe<void>()
  const on = (): void => {
    if (!Deferred.doneUnsafe(first, Effect.void)) process.exit(interrupted)
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
