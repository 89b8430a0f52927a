/** Alarm: one sleeper until the earliest instant, none without one. */
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { Alarm } from "../../core/Alarm.ts"
import { nowNanos } from "../../core/Deadline.ts"
import { HandClock } from "../../core/testing/HandClock.ts"

const stage = (ring: () => void = () => {}) =>
  Effect.map(Effect.context<never>(), (context) => {
    const clock = new HandClock()
    const rung: Array<number> = []
    const began = nowNanos(clock)
    const now = () => (nowNanos(clock) - began) / 1e6
    const alarm = new Alarm({
      clock,
      context,
      ring: () => {
        rung.push(now())
        ring()
      },
    })
    return { alarm, clock, rung, set: (millis: number) => alarm.set(began + millis * 1e6) }
  })

describe("an alarm", () => {
  it.effect("AD-24: sleeps once, until the earliest instant that was set", () =>
    Effect.gen(function* () {
      const { clock, rung, set } = yield* stage()
      assert.strictEqual(clock.sleeping, 0)
      set(50)
      set(30)
      set(40)
      set(30)
      assert.deepStrictEqual([clock.sleeping, clock.slept], [1, 2])
      clock.advance(29)
      assert.deepStrictEqual(rung, [])
      clock.advance(1)
      assert.deepStrictEqual([rung, clock.sleeping], [[30], 0])
      clock.advance(1_000)
      assert.deepStrictEqual(rung, [30])
    }))

  it.effect("AD-24: has no sleeper when it is taken away, and may be set again", () =>
    Effect.gen(function* () {
      const { alarm, clock, rung, set } = yield* stage()
      set(10)
      alarm.set(Infinity)
      alarm.set(Infinity)
      assert.strictEqual(clock.sleeping, 0)
      clock.advance(20)
      assert.deepStrictEqual(rung, [])
      set(25)
      clock.advance(5)
      assert.deepStrictEqual(rung, [25])
    }))

  it.effect("AD-24 AD-35: may be set by its own ring, and sleeps again once", () =>
    Effect.gen(function* () {
      let next = 10
      const stages = yield* stage(() => {
        next += 10
        if (next <= 30) stages.set(next)
        stages.set(next + 5)
      })
      stages.set(10)
      stages.clock.advance(20)
      assert.deepStrictEqual([stages.rung, stages.clock.sleeping, stages.clock.peak], [[10, 20], 1, 1])
      stages.alarm.set(Infinity)
      assert.strictEqual(stages.clock.sleeping, 0)
    }))

  it.effect("rings for an instant that has come in a turn of its own", () =>
    Effect.gen(function* () {
      const { clock, rung, set } = yield* stage()
      set(-5)
      assert.deepStrictEqual(rung, [])
      yield* Effect.yieldNow
      yield* Effect.yieldNow
      assert.deepStrictEqual([rung, clock.sleeping], [[0], 0])
    }))

  it.effect("AD-24: does not ring where the runtime woke it early, and sleeps on", () =>
    Effect.gen(function* () {
      const { alarm, clock, rung, set } = yield* stage()
      const { sleep } = clock
      clock.sleep = (duration) => sleep.call(clock, Duration.millis(Duration.toMillis(duration) / 2))
      set(64)
      for (const at of [32, 16, 8]) {
        clock.advance(at)
        assert.deepStrictEqual([rung, clock.sleeping], [[], 1])
      }
      clock.advance(8)
      assert.deepStrictEqual([rung, clock.sleeping, clock.peak], [[64], 0, 1])
      alarm.set(Infinity)
    }))
})
