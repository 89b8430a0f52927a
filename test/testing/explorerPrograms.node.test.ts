/** Programs in which Effect itself makes the races: what it promises must hold in every order, and hold again. */
import { describe, expect } from "vitest"
import { it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberSet from "effect/FiberSet"
import * as Latch from "effect/Latch"
import * as Pool from "effect/Pool"
import * as Queue from "effect/Queue"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Explorer from "../../core/testing/Explorer.ts"
import type { Bounds } from "../../core/testing/ExplorerBounds.ts"
import type { Fibers, Program } from "../../core/testing/ExplorerProgram.ts"

/** Within two forced switches and one interruption, but for what is said. */
const holds = <S, F extends Fibers>(program: Program<S, F>, bounds: Bounds = {}) =>
  Effect.map(Explorer.explore(program, { interruptions: 1, ...bounds }), (explored) => {
    expect(explored.exhaustive).toBe(true)
    return explored.schedules
  })

const must = (holds: boolean, what: string): Effect.Effect<void, string> => holds ? Effect.void : Effect.fail(what)

/** Counts what is open, and what was ever opened. */
interface Books {
  open: number
  made: number
}
const books = Effect.sync((): Books => ({ open: 0, made: 0 }))
const opened = (books: Books): Effect.Effect<void> => Effect.sync(() => void (books.open++, books.made++))
const closed = (books: Books): Effect.Effect<void> => Effect.sync(() => void books.open--)
const slowly = (effect: Effect.Effect<void>): Effect.Effect<void> => Effect.andThen(Effect.yieldNow, effect)
const settled = ({ open }: Books) => must(open === 0, `${open} open`)

describe("in every order", () => {
  it.effect("what is acquired is released, once, also by finalizers that yield", () =>
    holds({
      prepare: books,
      fibers: (state: Books) => {
        const use = Effect.scoped(Effect.andThen(
          Effect.acquireRelease(slowly(opened(state)), () => slowly(closed(state))),
          Effect.yieldNow,
        ))
        return { a: use, b: use }
      },
      oracle: settled,
      alike: ["a", "b"],
    }, { preemptions: 1 }))

  it.effect("a region that cannot be interrupted is not, and the interruption comes after it", () =>
    Effect.gen(function* () {
      const ends = new Set<string>()
      yield* holds({
        prepare: Effect.sync(() => ({ steps: 0 })),
        fibers: (state: { steps: number }) => {
          const step = Effect.sync(() => void state.steps++)
          return {
            a: Effect.andThen(Effect.uninterruptible(Effect.andThen(step, slowly(step))), Effect.yieldNow),
            b: Effect.yieldNow,
          }
        },
        oracle: ({ steps }, { a }) => {
          ends.add(`${steps} ${a._tag}`)
          return must(steps !== 1, "half done")
        },
      })
      expect([...ends].sort()).toEqual(["0 Failure", "2 Failure", "2 Success"])
    }))

  it.effect("a child ends with its parent, and its child with it", () =>
    holds({
      prepare: books,
      fibers: (state: Books) => {
        const held = (inner: Effect.Effect<unknown>) =>
          Effect.acquireUseRelease(opened(state), () => inner, () => closed(state))
        const child = held(Effect.andThen(Effect.forkChild(held(Effect.never)), Effect.never))
        return { a: Effect.andThen(Effect.forkChild(child), slowly(Effect.void)) }
      },
      oracle: settled,
    }, { preemptions: 1 }))

  it.effect("a race has one winner, whose loser is gone", () =>
    Effect.gen(function* () {
      const winners = new Set<unknown>()
      yield* holds({
        prepare: books,
        fibers: (state: Books) => {
          const run = (name: string) =>
            Effect.acquireUseRelease(opened(state), () => Effect.as(Effect.yieldNow, name), () => closed(state))
          return { a: Effect.race(run("one"), run("two")) }
        },
        oracle: (state, { a }) => {
          if (Exit.isSuccess(a)) winners.add(a.value)
          return settled(state)
        },
      }, { preemptions: 1 })
      expect([...winners].sort()).toEqual(["one", "two"])
    }))

  it.effect("a time limit and what it limits have one winner", () =>
    Effect.gen(function* () {
      const ends = new Set<string>()
      yield* holds({
        prepare: books,
        fibers: (state: Books) => {
          const work = Effect.acquireUseRelease(opened(state), () =>
            Effect.sleep("1 second"), () =>
            slowly(closed(state)))
          return { a: Effect.timeoutOption(work, "1 second"), b: Effect.sleep("500 millis") }
        },
        oracle: (state, { a }) => {
          ends.add(Exit.isSuccess(a) ? a.value._tag : "interrupted")
          return settled(state)
        },
      }, { preemptions: 1, interrupt: ["a"] })
      expect([...ends].sort()).toEqual(["None", "Some", "interrupted"])
    }))

  it.effect("a semaphore holds its count, and loses nothing to an interruption", () =>
    Effect.gen(function* () {
      const program = {
        prepare: Effect.all({ semaphore: Semaphore.make(1), books }),
        fibers: ({ books, semaphore }: { readonly semaphore: Semaphore.Semaphore; readonly books: Books }) => {
          const use = semaphore.withPermits(1)(
            Effect.acquireUseRelease(
              opened(books),
              () => must(books.open === 1, `${books.open} at once`),
              () => closed(books),
            ),
          )
          return { a: use, b: use, c: use }
        },
        oracle: ({ books, semaphore }: { readonly semaphore: Semaphore.Semaphore; readonly books: Books }) =>
          Effect.andThen(settled(books), semaphore.withPermits(1)(Effect.void)),
        alike: ["a", "b", "c"] as const,
      }
      expect(yield* holds(program, { preemptions: 1 })).toBeGreaterThan(500)
    }))

  it.effect("a queue hands over everything once, in order", () =>
    holds({
      prepare: Queue.bounded<number>(1),
      fibers: (queue: Queue.Queue<number>) => ({
        a: Effect.andThen(Queue.offer(queue, 1), Queue.offer(queue, 2)),
        b: Effect.all([Queue.take(queue), Queue.take(queue)]),
      }),
      oracle: (_, { b }) => must(Exit.isSuccess(b) && b.value.join() === "1,2", String(b)),
    }, { interruptions: 0, preemptions: 3 }))

  it.effect("a latch lets all go on, whoever comes first", () =>
    holds({
      prepare: Latch.make(),
      fibers: (latch: Latch.Latch) => ({ a: latch.await, b: latch.await, c: latch.open }),
      oracle: (_, exits) => must(Object.values(exits).every((exit) => exit._tag === "Success"), "not all"),
    }, { interruptions: 0, preemptions: Infinity }))

  it.effect("a deferred is completed once, and those who wait hear the same", () =>
    Effect.gen(function* () {
      const heard = new Set<unknown>()
      yield* holds({
        prepare: Deferred.make<string>(),
        fibers: (deferred: Deferred.Deferred<string>) => ({
          a: Deferred.await(deferred),
          b: Deferred.succeed(deferred, "b"),
          c: Deferred.succeed(deferred, "c"),
        }),
        oracle: (_, { a, b, c }) => {
          const [won, lost] = [b, c].map((exit) => Exit.isSuccess(exit) && exit.value)
          if (Exit.isSuccess(a)) heard.add(a.value)
          return must(won !== lost && Exit.isSuccess(a) && a.value === (won ? "b" : "c"), "not one answer")
        },
      }, { interruptions: 0, preemptions: Infinity })
      expect([...heard].sort()).toEqual(["b", "c"])
    }))

  it.effect("a fiber that is interrupted before it has begun does nothing, and one that has begun cleans up", () =>
    Effect.gen(function* () {
      const seen = new Set<string>()
      yield* holds({
        prepare: books,
        fibers: (state: Books) => ({
          a: Effect.gen(function* () {
            const child = yield* Effect.forkDetach(
              Effect.acquireUseRelease(opened(state), () => Effect.never, () => slowly(closed(state))),
            )
            yield* Effect.yieldNow
            yield* Fiber.interrupt(child)
            seen.add(`${state.made} ${Cause.hasInterruptsOnly((yield* Fiber.await(child)).pipe(causeOf))}`)
          }),
        }),
        oracle: settled,
      }, { interruptions: 0, preemptions: 3 })
      expect([...seen].sort()).toEqual(["0 true", "1 true"])
    }))

  it.effect("closing a scope ends what was forked into it, before it goes on", () =>
    holds({
      prepare: Effect.all({ scope: Scope.make(), state: books }),
      fibers: ({ scope, state }: { readonly scope: Scope.Closeable; readonly state: Books }) => {
        const held = Effect.acquireUseRelease(opened(state), () => Effect.never, () => slowly(closed(state)))
        return {
          a: Effect.forkIn(held, scope),
          b: Effect.andThen(Scope.close(scope, Exit.void), Effect.suspend(() => settled(state))),
        }
      },
      oracle: (state, { b }) => Effect.andThen(settled(state.state), must(Exit.isSuccess(b), String(b))),
    }, { interruptions: 0 }))

  it.effect("a set of fibers is empty when it was joined", () =>
    holds({
      prepare: Effect.all({ state: books, set: FiberSet.make() }),
      fibers: ({ set, state }: { readonly state: Books; readonly set: FiberSet.FiberSet }) => ({
        a: Effect.andThen(
          FiberSet.run(set, Effect.acquireUseRelease(opened(state), () => Effect.yieldNow, () => closed(state))),
          FiberSet.awaitEmpty(set),
        ),
        b: FiberSet.run(set, slowly(Effect.void)),
      }),
      oracle: ({ state }) => settled(state),
    }, { interruptions: 0, preemptions: 1 }))

  it.effect("a pool of one lends it to one", () =>
    holds({
      prepare: Effect.flatMap(books, (state) =>
        Effect.map(Pool.make({ acquire: Effect.as(opened(state), state), size: 1 }), (pool) => ({ pool, state }))),
      fibers: ({ pool }: { readonly pool: Pool.Pool<Books>; readonly state: Books }) => {
        const use = Effect.scoped(Effect.flatMap(Pool.get(pool), (item) =>
          Effect.acquireUseRelease(
            Effect.sync(() =>
              item.open++
            ),
            (before) => must(before === 1, `${before} open`),
            () => closed(item),
          )))
        return { a: use, b: use }
      },
      oracle: ({ state }) => must(state.open === 1 && state.made === 1, JSON.stringify(state)),
      alike: ["a", "b"],
    }, { interruptions: 0, preemptions: 1 }))
})

const causeOf = (exit: Exit.Exit<unknown, unknown>): Cause.Cause<unknown> =>
  Exit.isFailure(exit) ? exit.cause : Cause.empty
