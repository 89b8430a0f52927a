/**
 * A permit lost when a grantee is interrupted before it runs.
 *
 * A release hands the permit to the first who waits. One that is interrupted leaves the queue; if it is not in the queue
 * any more, it was handed the permit and has not run since, which the faulty pool forgets.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"

type Place = Deferred.Deferred<void>
interface Pool {
  free: number
  readonly queue: Array<Place>
}

const release = (pool: Pool): Effect.Effect<unknown> =>
  Effect.suspend(() => {
    const next = pool.queue.shift()
    if (next !== undefined) return Deferred.succeed(next, undefined)
    pool.free++
    return Effect.void
  })

/** False where the place is not in the queue any more. */
const leave = (pool: Pool, place: Place): boolean => {
  const at = pool.queue.indexOf(place)
  if (at >= 0) pool.queue.splice(at, 1)
  return at >= 0
}

const program = (abandon: (pool: Pool, place: Place) => Effect.Effect<unknown>) => {
  /** Uninterruptible but for the wait itself: whoever is through has the permit. */
  const acquire = (pool: Pool, restore: <A>(effect: Effect.Effect<A>) => Effect.Effect<A>): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (pool.free > 0) {
        pool.free--
        return Effect.void
      }
      const place = Deferred.makeUnsafe<void>()
      pool.queue.push(place)
      return Effect.onInterrupt(restore(Deferred.await(place)), () => abandon(pool, place))
    })
  const use = (pool: Pool): Effect.Effect<void> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.andThen(acquire(pool, restore), Effect.ensuring(restore(Effect.yieldNow), release(pool)))
    )
  return {
    prepare: Effect.sync((): Pool => ({ free: 1, queue: [] })),
    fibers: (pool: Pool) => ({ a: use(pool), b: use(pool) }),
    oracle: (pool: Pool) => pool.free === 1 ? undefined : Effect.fail(`${pool.free} free of 1`),
    shared: (pool: Pool) => pool,
    alike: ["a", "b"] as const,
  }
}

export const faulty = program((pool, place) => Effect.sync(() => leave(pool, place)))
export const right = program((pool, place) => Effect.suspend(() => leave(pool, place) ? Effect.void : release(pool)))
export const bounds = { interruptions: 1 }
