/**
 * What Effect notes of a fiber and shows to nobody belongs to the state: an interruption that it takes notice of later, and
 * who hears first of its end. Programs that are right are not doubted.
 */
import { describe, expect } from "vitest"
import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Explorer from "../../core/testing/Explorer.ts"

interface State {
  n: number
  fiber: Fiber.Fiber<unknown, unknown> | undefined
}

const state = Effect.sync((): State => ({ n: 0, fiber: undefined }))
const add = (state: State): Effect.Effect<void> => Effect.sync(() => void state.n++)
const itself = (state: State): Effect.Effect<void> =>
  Effect.withFiber((fiber) =>
    Effect.sync(() => {
      state.fiber = fiber
    })
  )
const interrupt = (state: State): Effect.Effect<void> =>
  Effect.suspend(() => state.fiber === undefined ? Effect.void : Fiber.interrupt(state.fiber))

describe("a program that is right is pruned to its end", () => {
  it.effect.each(Object.entries({
    "a race": () => Effect.race(Effect.yieldNow, Effect.void),
    "the first of two": () => Effect.raceFirst(Effect.yieldNow, Effect.void),
    "a child that is interrupted": (state: State) =>
      Effect.flatMap(Effect.forkChild(Effect.andThen(Effect.yieldNow, add(state))), Fiber.interrupt),
    "a child that is interrupted where it cannot be": (state: State) =>
      Effect.flatMap(
        Effect.forkChild(Effect.uninterruptible(Effect.andThen(Effect.yieldNow, add(state)))),
        (child) => Effect.andThen(Effect.yieldNow, Effect.sync(() => child.interruptUnsafe())),
      ),
  }))("%s", ([, a]) =>
    Effect.gen(function* () {
      const program = {
        prepare: state,
        fibers: (state: State) => ({ a: a(state), b: add(state) }),
        oracle: () => {},
        shared: (state: State) => state,
      }
      for (const interruptions of [0, 1]) {
        expect((yield* Explorer.explore(program, { interruptions })).exhaustive).toBe(true)
      }
    }))
})

it.effect("one that is interrupted by another is told apart from one that is not yet", () =>
  Effect.gen(function* () {
    const hits = new Set<number>()
    const program = {
      prepare: state,
      fibers: (state: State) => ({
        a: Effect.flatMap(
          Effect.forkChild(
            Effect.andThen(
              Effect.andThen(itself(state), Effect.sleep(5)),
              Effect.flatMap(Effect.exit(Effect.interruptible(Effect.yieldNow)), (exit) =>
                Effect.sync(() => void (state.n = Exit.isFailure(exit) ? 1 : 2))),
            ),
            { uninterruptible: true },
          ),
          Fiber.join,
        ),
        b: interrupt(state),
        c: add({ n: 0, fiber: undefined }),
      }),
      oracle: ({ n }: State) =>
        void hits.add(n),
      shared: (state: State) => state,
      allow: ["defects"] as const,
    }
    const explored = yield* Explorer.explore(program)
    expect([explored.exhaustive, explored.repeats > 0, [...hits].sort()]).toEqual([true, true, [1, 2]])
  }))

it.effect("what a fiber leaves to be run where it begins to wait is run, also where the fiber waits no longer", () =>
  Effect.gen(function* () {
    const leaving = (state: State) =>
      Effect.withFiber((fiber) =>
        Effect.callback<void>(() => {
          state.fiber = fiber
          fiber.currentDispatcher.scheduleTask(() => void state.n++, 0)
        })
      )
    for (const shared of [undefined, (state: State) => state]) {
      const explored = yield* Explorer.explore({
        prepare: state,
        fibers: (state: State) => ({ a: Effect.timeoutOption(leaving(state), 1), b: Effect.yieldNow }),
        oracle: ({ fiber, n }: State) => n === 1 || fiber === undefined ? undefined : Effect.fail(`run ${n} times`),
        shared,
      }, { interruptions: 1, interrupt: ["b"] })
      expect(explored.exhaustive).toBe(true)
    }
  }))

it.effect("two who wait for the end of one fiber hear of it in the order in which they came", () =>
  Effect.gen(function* () {
    const program = {
      prepare: state,
      fibers: (state: State) => ({
        a: Effect.andThen(
          Effect.forkChild(Effect.uninterruptible(Effect.andThen(
            Effect.andThen(itself(state), Effect.sleep(5)),
            Effect.exit(Effect.interruptible(Effect.yieldNow)),
          ))),
          Effect.sleep(9),
        ),
        b: interrupt(state),
        c: Effect.andThen(Effect.sleep(1), Effect.yieldNow),
      }),
      oracle: () => {},
      shared: (state: State) => state,
      allow: ["fibers", "timers"] as const,
    }
    for (const [preemptions, interruptions] of [[0, 1], [1, 0]] as const) {
      expect((yield* Explorer.explore(program, { preemptions, interruptions })).exhaustive).toBe(true)
    }
  }))
