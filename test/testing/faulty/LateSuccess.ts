/**
 * A late success after the deadline, with no owner.
 *
 * Opening takes as long as the outside wants, and the caller waits for one second only. What opens later belongs to nobody:
 * the faulty pool leaves it open, the right one closes it.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Explorer from "../../../core/testing/Explorer.ts"

interface Pool {
  open: number
  /** What the caller waits for; whoever answers first decides. */
  readonly answer: Deferred.Deferred<"opened" | "late">
}

const close = (pool: Pool): Effect.Effect<void> => Effect.sync(() => void pool.open--)

const caller = (pool: Pool): Effect.Effect<void> =>
  Effect.flatMap(Deferred.await(pool.answer), (answer) => answer === "opened" ? close(pool) : Effect.void)

const deadline = (pool: Pool): Effect.Effect<unknown> =>
  Effect.andThen(Effect.sleep("1 second"), Deferred.succeed(pool.answer, "late"))

const program = (late: (pool: Pool) => Effect.Effect<void>) => {
  const opener = (pool: Pool): Effect.Effect<unknown> =>
    Explorer.event("opened", Effect.sync(() => void pool.open++)).pipe(
      Effect.andThen(Deferred.succeed(pool.answer, "opened")),
      Effect.flatMap((isWanted) => isWanted ? Effect.void : late(pool)),
    )
  return {
    prepare: Effect.sync((): Pool => ({ open: 0, answer: Deferred.makeUnsafe() })),
    fibers: (pool: Pool) => ({ caller: caller(pool), deadline: deadline(pool), opener: opener(pool) }),
    oracle: (pool: Pool) => pool.open === 0 ? undefined : Effect.fail(`${pool.open} open and not owned`),
    shared: (pool: Pool) => pool,
  }
}

export const faulty = program(() => Effect.void)
export const right = program(close)
export const bounds = {}
