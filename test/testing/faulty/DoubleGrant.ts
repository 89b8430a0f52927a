/**
 * One permit granted twice.
 *
 * The faulty pool looks whether something is free in one step and takes it in the next, so that two who look at the same
 * time both take it.
 */
import * as Effect from "effect/Effect"

interface Pool {
  free: number
  held: number
  most: number
}

const take = (pool: Pool): boolean => {
  pool.free--
  pool.held++
  pool.most = Math.max(pool.most, pool.held)
  return true
}

const release = (pool: Pool): Effect.Effect<void> =>
  Effect.sync(() => {
    pool.free++
    pool.held--
  })

const program = (tryTake: (pool: Pool) => Effect.Effect<boolean>) => {
  const use = (pool: Pool): Effect.Effect<void> =>
    Effect.flatMap(tryTake(pool), (taken) => taken ? Effect.andThen(Effect.yieldNow, release(pool)) : Effect.void)
  return {
    prepare: Effect.sync((): Pool => ({ free: 1, held: 0, most: 0 })),
    fibers: (pool: Pool) => ({ a: use(pool), b: use(pool), c: use(pool) }),
    oracle: (pool: Pool) => pool.most <= 1 ? undefined : Effect.fail(`${pool.most} held 1`),
    shared: (pool: Pool) => pool,
    alike: ["a", "b", "c"] as const,
  }
}

export const faulty = program((pool) =>
  Effect.flatMap(Effect.sync(() => pool.free > 0), (isFree) => Effect.sync(() => isFree && take(pool)))
)
export const right = program((pool) => Effect.sync(() => pool.free > 0 && take(pool)))
export const bounds = {}
