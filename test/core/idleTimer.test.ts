/** A sleep over a platform's timer, which rings early and takes no long wait: it ends at its instant, and leaves no timer. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as IdleTimer from "../../core/IdleTimer.ts"

/** A platform by hand, at a time that is no whole number. */
const byHand = () => {
  const state = { now: 1_000.25, waits: [] as Array<number>, ring: undefined as (() => void) | undefined, cancelled: 0 }
  const driver: IdleTimer.TimerDriver = {
    nowMillis: () => state.now,
    set: (millis, ring) => {
      state.waits.push(millis)
      state.ring = ring
      return () => void state.cancelled++
    },
  }
  return { state, timer: IdleTimer.make(driver) }
}
const started = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })

describe("an idle timer", () => {
  it.effect("sleeps again for what is left where it is rung early, and ends once nothing is", () =>
    Effect.gen(function* () {
      const { state, timer } = byHand()
      const fiber = yield* started(timer.sleep("10 millis"))
      assert.deepStrictEqual(state.waits, [10])
      state.now += 9.5
      state.ring!()
      assert.deepStrictEqual([state.waits, fiber.pollUnsafe()], [[10, 1], undefined])
      state.now += 0.5
      state.ring!()
      yield* Fiber.join(fiber)
      assert.deepStrictEqual([state.waits, state.cancelled], [[10, 1], 0])
    }))

  it.effect("waits in parts for what is longer than a timer takes", () =>
    Effect.gen(function* () {
      const { state, timer } = byHand()
      const fiber = yield* started(timer.sleep("30 days"))
      assert.deepStrictEqual(state.waits, [2_147_483_647])
      state.now += 2_147_483_647
      state.ring!()
      assert.deepStrictEqual(state.waits, [2_147_483_647, 30 * 86_400_000 - 2_147_483_647])
      yield* Fiber.interrupt(fiber)
    }))

  it.effect("takes its timer away where it is interrupted, and sets none where there is nothing to wait for", () =>
    Effect.gen(function* () {
      const { state, timer } = byHand()
      yield* timer.sleep(0)
      assert.deepStrictEqual(state.waits, [])
      yield* Fiber.interrupt(yield* started(timer.sleep("1 second")))
      assert.deepStrictEqual([state.waits, state.cancelled], [[1_000], 1])
    }))

  it.effect("refuses what is no time to sleep, as the one does that no platform has given", () =>
    Effect.gen(function* () {
      const { state, timer } = byHand()
      const given = yield* IdleTimer.IdleTimer
      for (const each of [timer, given]) {
        for (const duration of [NaN, -1, "soon", null, { seconds: NaN }]) {
          const refused = yield* Effect.flip(each.sleep(duration as number))
          assert.deepInclude(refused, { _tag: "InvalidRequest", field: "duration" })
        }
        yield* each.sleep(0)
      }
      assert.deepStrictEqual(state.waits, [])
    }))
})
