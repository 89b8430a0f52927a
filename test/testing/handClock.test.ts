/** A clock that moves by hand: both of its times, who is woken when, what it counts, and what it refuses. */
import { assert, describe, it } from "vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HandClock from "../../core/testing/HandClock.ts"

const millis = (clock: HandClock.HandClock): number => clock.currentTimeMillisUnsafe()

describe("a clock that moves by hand", () => {
  it("has a wall apart from its monotonic time, in the units of each, and moves both", () => {
    const clock = new HandClock.HandClock()
    const [wall, nanos] = [millis(clock), clock.nanos]
    assert.deepStrictEqual([clock.slept, clock.peak, clock.sleeping], [0, 0, 0])
    assert.notStrictEqual(BigInt(wall) * 1_000_000n, nanos)
    assert.isTrue(wall > 0 && nanos > 0n)
    clock.advance(1.5)
    assert.deepStrictEqual([millis(clock) - wall, clock.nanos - nanos], [1.5, 1_500_000n])
    const later = new HandClock.HandClock()
    later.advance(1e9)
    assert.strictEqual(millis(later) - wall, 1e9)
    assert.strictEqual(clock.currentTimeNanosUnsafe(), BigInt(wall * 1e6 + 1.5e6))
    assert.deepStrictEqual(
      Effect.runSync(Effect.all([clock.currentTimeMillis, clock.currentTimeNanos, clock.monotonicTimeNanos])),
      [millis(clock), clock.currentTimeNanosUnsafe(), clock.nanos],
    )
  })

  it("sets the wall alone, skews what is read alone, and counts how often that was", () => {
    const clock = new HandClock.HandClock()
    const [wall, nanos] = [millis(clock), clock.nanos]
    clock.setWall(-20)
    clock.skew(3)
    clock.skew(0.5)
    assert.deepStrictEqual([millis(clock) - wall, clock.nanos - nanos, clock.readings], [-20, 0n, 0])
    assert.deepStrictEqual([clock.monotonicTimeNanosUnsafe() - nanos, clock.readings], [3_500_000n, 1])
  })

  it("wakes whoever is due on the way in order, at the instant of each, and nobody who is not", () => {
    const clock = new HandClock.HandClock()
    const [start, woken]: [bigint, Array<readonly [string, number]>] = [clock.nanos, []]
    const sleep = (name: string, duration: Duration.Duration) =>
      Effect.runFork(Effect.andThen(
        clock.sleep(duration),
        Effect.sync(() => woken.push([name, Number(clock.nanos - start) / 1e6])),
      ))
    sleep("late", Duration.millis(9))
    sleep("early", Duration.millis(2))
    sleep("never", Duration.infinity)
    sleep("beyond", Duration.millis(10))
    const left = sleep("interrupted", Duration.millis(1))
    assert.deepStrictEqual([clock.sleeping, clock.slept, clock.peak], [5, 5, 5])
    left.interruptUnsafe()
    assert.strictEqual(clock.sleeping, 4)
    clock.advance(9)
    assert.deepStrictEqual(woken, [["early", 2], ["late", 9]])
    assert.deepStrictEqual([clock.sleeping, Number(clock.nanos - start)], [2, 9e6])
    sleep("again", Duration.millis(5))
    assert.deepStrictEqual([clock.slept, clock.peak], [6, 5])
    assert.isFalse(clock.advanceToNext(0.5))
    assert.isTrue(clock.advanceToNext(1))
    assert.isTrue(clock.advanceToNext())
    assert.isFalse(clock.advanceToNext())
    assert.deepStrictEqual(woken.slice(2), [["beyond", 10], ["again", 14]])
    assert.strictEqual(clock.sleeping, 1)
  })

  it("wakes those of one instant in the order in which they fell asleep, and is never set back by who moves it", () => {
    const clock = new HandClock.HandClock()
    const woken: Array<string> = []
    for (const name of ["a", "b", "c"]) {
      const wakes = Effect.sync(() => {
        woken.push(name)
        if (name === "c") clock.advance(10)
      })
      Effect.runFork(Effect.andThen(clock.sleep(Duration.millis(1)), wakes))
    }
    const until = clock.nanos + 11_000_000n
    clock.advance(1)
    assert.deepStrictEqual([woken, clock.nanos], [["a", "b", "c"], until])
  })

  it("lets a sleep of zero by, which is none", () => {
    const clock = new HandClock.HandClock()
    assert.deepStrictEqual(Effect.runSyncExit(clock.sleep(Duration.zero)), Exit.void)
    assert.deepStrictEqual([clock.slept, clock.sleeping], [0, 0])
  })

  it("refuses what is no time, with the rule and the value, and stands where it stood", () => {
    const clock = new HandClock.HandClock()
    const before = [millis(clock), clock.nanos, clock.monotonicTimeNanosUnsafe()]
    const finite = "a finite number of milliseconds"
    const refused = (does: () => void, field: string, rule: string, value: number): void => {
      const exit = Effect.runSyncExit(Effect.try({ try: does, catch: (error) => error as object }))
      const told = Effect.runSync(Effect.flip(exit)) as object
      assert.deepInclude(told, { _tag: "InvalidRequest", field, rule, value })
    }
    for (const value of [NaN, Infinity, -Infinity, 1e303]) {
      refused(() => clock.advance(value), "millis", `${finite}, zero or more`, value)
      refused(() => clock.skew(value), "byMillis", finite, value)
      if (value !== 1e303) refused(() => clock.setWall(value), "byMillis", finite, value)
    }
    refused(() => clock.advance(-1), "millis", `${finite}, zero or more`, -1)
    refused(() => clock.advanceToNext(NaN), "withinMillis", "a number of milliseconds", NaN)
    clock.advance(0)
    assert.deepStrictEqual([millis(clock), clock.nanos, clock.monotonicTimeNanosUnsafe()], before)
    assert.strictEqual(HandClock.nanosOf(1.5), 1_500_000n)
  })
})

describe("a clock that is forbidden", () => {
  it("is a defect to read, in any unit, and to sleep by", () => {
    const { currentTimeMillis, currentTimeNanos, forbidden, monotonicTimeNanos, sleep } = {
      ...HandClock,
      ...HandClock.forbidden,
    }
    for (const asks of [currentTimeMillis, currentTimeNanos, monotonicTimeNanos, sleep(Duration.zero)]) {
      assert.isTrue(Exit.hasDies(Effect.runSyncExit<unknown, never>(asks)))
    }
    const reads = ["currentTimeMillisUnsafe", "currentTimeNanosUnsafe", "monotonicTimeNanosUnsafe"] as const
    for (const read of reads) assert.throws(() => forbidden[read](), /must not know it/)
  })
})
