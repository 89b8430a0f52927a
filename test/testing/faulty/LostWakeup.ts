/**
 * A wake-up lost between check and enqueue.
 *
 * Who finds nothing free waits to be woken. The faulty pool looks in one step and joins the queue in a later one: what is
 * given back between the two wakes nobody, and the one that waits then waits for ever.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"

interface Pool {
  free: number
  readonly queue: Array<Deferred.Deferred<void>>
}

const release = (pool: Pool): Effect.Effect<unknown> =>
  Effect.suspend(() => {
    pool.free++
    const next = pool.queue.shift()
    return next === undefined ? Effect.void : Deferred.succeed(next, undefined)
  })

const tryTake = (pool: Pool): boolean => {
  if (pool.free === 0) return false
  pool.free--
  return true
}

const wait = (pool: Pool): Effect.Effect<void> => {
  const place = Deferred.makeUnsafe<void>()
  pool.queue.push(place)
  return Deferred.await(place)
}

const program = (attempt: (pool: Pool) => Effect.Effect<boolean>) => {
  const acquire = (pool: Pool): Effect.Effect<void> =>
    Effect.flatMap(attempt(pool), (taken) => taken ? Effect.void : acquire(pool))
  const use = (pool: Pool): Effect.Effect<unknown> =>
    Effect.andThen(Effect.andThen(acquire(pool), Effect.yieldNow), release(pool))
  return {
    prepare: Effect.sync((): Pool => ({ free: 1, queue: [] })),
    fibers: (pool: Pool) => ({ a: use(pool), b: use(pool) }),
    oracle: (pool: Pool) => pool.free === 1 ? undefined : Effect.fail(`${pool.free} free of 1`),
    shared: (pool: Pool) => pool,
    alike: ["a", "b"] as const,
  }
}

export const faulty = program((pool) =>
  Effect.flatMap(
    Effect.sync(() => tryTake(pool)),
    (taken) => taken ? Effect.succeed(true) : Effect.as(Effect.suspend(() => wait(pool)), false),
  )
)
export const right = program((pool) =>
  Effect.suspend(() => tryTake(pool) ? Effect.succeed(true) : Effect.as(wait(pool), false))
)
export const bounds = {}
