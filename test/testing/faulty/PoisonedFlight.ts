/**
 * A single flight poisoned by its first caller.
 *
 * Callers for one thing share one opening of it. The faulty flight is run by whoever came first, and whatever ends that
 * fiber ends it for all; the right one is run by a fiber of its own.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"

type Flight = Deferred.Deferred<string>
interface Shared {
  opened: number
  flight: Flight | undefined
}

const open = (shared: Shared): Effect.Effect<string> =>
  Effect.andThen(Effect.yieldNow, Effect.sync(() => `connection ${++shared.opened}`))

/** Opens and tells all who wait for the flight, which is over then. */
const fly = (shared: Shared, flight: Flight): Effect.Effect<string> =>
  Effect.onExit(open(shared), (exit) => {
    shared.flight = undefined
    return Deferred.done(flight, exit)
  })

const program = (get: (shared: Shared) => Effect.Effect<string>) => ({
  prepare: Effect.sync((): Shared => ({ opened: 0, flight: undefined })),
  fibers: (shared: Shared) => ({ a: get(shared), b: get(shared) }),
  /** Only `a` is interrupted from outside, so `b` must get what it asked for. */
  oracle: (_: Shared, { b }: { readonly b: Exit.Exit<string> }) =>
    Exit.isSuccess(b) ? undefined : Effect.fail("b was not served"),
  shared: (shared: Shared) => shared,
})

export const faulty = program((shared) =>
  Effect.suspend(() => {
    if (shared.flight !== undefined) return Deferred.await(shared.flight)
    shared.flight = Deferred.makeUnsafe()
    return fly(shared, shared.flight)
  })
)
export const right = program((shared) =>
  Effect.uninterruptibleMask((restore) =>
    Effect.suspend(() => {
      if (shared.flight !== undefined) return restore(Deferred.await(shared.flight))
      const flight: Flight = shared.flight = Deferred.makeUnsafe()
      return Effect.andThen(Effect.forkDetach(fly(shared, flight)), restore(Deferred.await(flight)))
    })
  )
)
export const bounds = { preemptions: 1, interruptions: 1, interrupt: ["a"] }
