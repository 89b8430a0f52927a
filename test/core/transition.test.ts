/** Transition: answers go out after the step, in order, in bounded batches, each exactly once. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import { Delivery } from "../../core/kernel/Delivery.ts"
import { defaultBatch, Transition } from "../../core/Transition.ts"

const stage = (batch?: number, perform: (item: number) => void = () => {}) =>
  Effect.map(Effect.context<never>(), (context) => {
    const delivery = new Delivery<number>()
    const told: Array<number> = []
    const transition = new Transition<number>({
      delivery,
      context,
      batch,
      perform: (item) => {
        told.push(item)
        perform(item)
      },
    })
    const add = (from: number, to: number) => {
      for (let i = from; i < to; i++) delivery.add(i)
    }
    return { delivery, told, transition, add }
  })
const upTo = (n: number) => Array.from({ length: n }, (_, i) => i)

describe("a transition", () => {
  it.effect("AD-34 K-16: tells one batch at once and the rest batch by batch, in order", () =>
    Effect.gen(function* () {
      const { add, told, transition } = yield* stage()
      add(0, 1_000)
      transition.flush()
      assert.strictEqual(told.length, defaultBatch)
      transition.flush()
      assert.strictEqual(told.length, defaultBatch)
      const sizes: Array<number> = []
      const other = yield* Effect.forkChild(
        Effect.forever(Effect.sync(() => void sizes.push(told.length))),
        { startImmediately: true },
      )
      yield* transition.idle
      yield* Fiber.interrupt(other)
      assert.deepStrictEqual(told, upTo(1_000))
      const steps = sizes.map((size, i) => size - (sizes[i - 1] ?? size))
      assert.isAtMost(Math.max(...steps), defaultBatch)
    }))

  it.effect("AD-35 K-15: puts what an answer adds behind what was there, in the same turn while that has room", () =>
    Effect.gen(function* () {
      const stages = yield* stage(10, (item) => {
        if (item < 3) {
          stages.add(item + 100, item + 101)
          stages.transition.flush()
        }
      })
      stages.add(0, 4)
      stages.transition.flush()
      assert.deepStrictEqual(stages.told, [0, 1, 2, 3, 100, 101, 102])
      yield* stages.transition.idle
    }))

  it.effect("AD-34: bounds a turn though each answer adds another", () =>
    Effect.gen(function* () {
      const stages = yield* stage(5, (item) => {
        if (item < 23) stages.add(item + 1, item + 2)
        stages.transition.flush()
      })
      stages.add(0, 1)
      stages.transition.flush()
      assert.strictEqual(stages.told.length, 5)
      yield* stages.transition.idle
      assert.deepStrictEqual(stages.told, upTo(24))
    }))

  it.effect("AD-34: is idle when nothing is left, and waits for what is added while it is waited for", () =>
    Effect.gen(function* () {
      const { add, told, transition } = yield* stage(2)
      yield* transition.idle
      add(0, 5)
      transition.flush()
      const waiting = yield* Effect.forkChild(transition.idle, { startImmediately: true })
      add(5, 9)
      transition.flush()
      yield* Fiber.join(waiting)
      assert.deepStrictEqual(told, upTo(9))
    }))

  it.effect("AD-34: is not idle for code that was resumed in the middle of a batch", () =>
    Effect.gen(function* () {
      const seen: Array<number> = []
      const stages = yield* stage(10, (item) => {
        if (item !== 0) return
        Effect.runFork(Effect.andThen(stages.transition.idle, Effect.sync(() => void seen.push(stages.told.length))))
      })
      stages.add(0, 4)
      stages.transition.flush()
      yield* Effect.yieldNow
      yield* stages.transition.idle
      assert.deepStrictEqual(seen, [4])
    }))

  it.effect("AD-35: goes on where an answer throws, in the first turn or in a later one, and logs it", () => {
    const logged: Array<unknown> = []
    const log = Logger.make(({ message }) => void logged.push([message].flat()[0]))
    return Effect.gen(function* () {
      const { add, told, transition } = yield* stage(3, (item) => {
        if (item === 1 || item === 4) throw new Error("thrown")
      })
      add(0, 9)
      // Whoever took the step is not the one who threw.
      transition.flush()
      yield* transition.idle
      assert.deepStrictEqual(told, upTo(9))
      add(9, 10)
      transition.flush()
      assert.deepStrictEqual(told, upTo(10))
      assert.deepStrictEqual(logged, ["an observer of a resumed fiber threw"])
    }).pipe(Effect.provide(Logger.layer([log])))
  })
})
