/** Deadline: set once, only ever nearer, told by what is left on its own clock. */
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import * as Deadline from "../../core/Deadline.ts"
import { HandClock } from "../../core/testing/HandClock.ts"

const at = (clock: Clock.Clock, millis: number): Deadline.Deadline => ({
  atNanos: Deadline.nowNanos(clock) + millis * 1e6,
  clock,
})
const started = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })
const current = Effect.map(Deadline.Current, (deadline) => deadline)

describe("narrow", () => {
  const clock = new HandClock()
  const other = new HandClock()
  other.advance(12_345)
  const instants = [-Infinity, -1, 0, 1, 2, 1_000, 1e9, Infinity]

  it("K-8: is never later than either, on whatever clocks", () => {
    for (const a of instants) {
      for (const b of instants) {
        for (const [one, two] of [[clock, clock], [clock, other], [other, clock]] as const) {
          const narrowed = Deadline.narrow(at(one, a), at(two, b))!
          assert.isAtMost(Deadline.remainingNanos(narrowed), a * 1e6)
          assert.isAtMost(Deadline.remainingNanos(narrowed), b * 1e6)
          assert.strictEqual(Deadline.remainingNanos(narrowed), Math.min(a, b) * 1e6)
        }
      }
    }
  })

  it("K-8: with none is the other, and a tie keeps the one that was there", () => {
    const one = at(clock, 5)
    assert.isUndefined(Deadline.narrow(undefined, undefined))
    assert.strictEqual(Deadline.narrow(one, undefined), one)
    assert.strictEqual(Deadline.narrow(undefined, one), one)
    assert.strictEqual(Deadline.narrow(one, at(clock, 5)), one)
  })

  it("K-8: is the same in whatever order deadlines come", () => {
    for (const a of instants) {
      for (const b of instants) {
        for (const c of [-5, 3, 1e6]) {
          const [x, y, z] = [at(clock, a), at(other, b), at(clock, c)]
          const left = Deadline.narrow(Deadline.narrow(x, y), z)!
          const right = Deadline.narrow(x, Deadline.narrow(z, y))!
          assert.strictEqual(Deadline.remainingNanos(left), Deadline.remainingNanos(right))
        }
      }
    }
  })
})

describe("a deadline that came to NaN", () => {
  const clock = new HandClock()
  const other = new HandClock()
  const broken = { atNanos: NaN, clock }

  it("has come: nothing is nearer, and nothing is left", () => {
    for (const one of [at(clock, -1e9), at(clock, 1), at(other, 1)]) {
      assert.strictEqual(Deadline.narrow(one, broken), broken)
      assert.strictEqual(Deadline.narrow(broken, one), broken)
    }
    assert.strictEqual(Deadline.remainingNanos(broken), -Infinity)
    for (const each of [clock, other]) assert.strictEqual(Deadline.onClock(broken, each), -Infinity)
  })

  it.effect("begins no work", () =>
    Effect.gen(function* () {
      const { clock } = yield* Deadline.after(0)
      const work = Deadline.provide({ atNanos: NaN, clock })(Deadline.enforce(Effect.die("it ran")))
      assert.strictEqual((yield* Effect.flip(work))._tag, "DeadlineExceeded")
    }))
})

describe("an instant on its own clock", () => {
  it("is what it is, whenever that clock was read", () => {
    const clock = new HandClock()
    const deadline = at(clock, 5)
    assert.strictEqual(Deadline.onClock(deadline, clock, Deadline.nowNanos(clock) - 7), deadline.atNanos)
  })
})

describe("after", () => {
  it.effect("is the given time from now, on the fiber's monotonic clock", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust("1 minute")
      const clock = yield* Clock.clockWith(Effect.succeed)
      for (
        const [duration, nanos] of [[0, 0], ["1 nano", 1], [2, 2e6], ["3 seconds", 3e9], ["30 days", 2592e12]] as const
      ) {
        const deadline = yield* Deadline.after(duration)
        assert.strictEqual(deadline.clock, clock)
        assert.strictEqual(Deadline.remainingNanos(deadline), nanos)
      }
      assert.strictEqual((yield* Deadline.after(Infinity)).atNanos, Infinity)
      assert.strictEqual((yield* Deadline.after({ milliseconds: Infinity })).atNanos, Infinity)
      const now = Deadline.nowNanos(yield* Clock.Clock)
      assert.strictEqual((yield* Deadline.after({ hours: 1, seconds: 2, nanoseconds: 3 })).atNanos - now, 3_602e9 + 3)
      assert.strictEqual((yield* Deadline.after([2, 5e8])).atNanos - now, 2.5e9)
    }))

  it.effect("of what is no duration of zero or more is refused", () =>
    Effect.gen(function* () {
      const nonsense = [{ seconds: NaN }, [NaN, 0], [1], { hours: "x" }, { years: 1 }, {}, [], new Date(0), Object(5)]
      for (const bad of [-1, NaN, -Infinity, "-1 seconds", "soon", null, true, { hours: -1 }, ...nonsense]) {
        const refused = yield* Effect.flip(Deadline.after(bad as Duration.Input))
        assert.deepInclude(refused, { _tag: "InvalidRequest", field: "deadline", rule: "a duration of zero or more" })
      }
    }))
})

/** Time passes between every two readings. */
class RunningClock extends HandClock {
  override monotonicTimeNanosUnsafe(): bigint {
    this.advance(1e-3)
    return super.monotonicTimeNanosUnsafe()
  }
}

describe("while time passes between readings", () => {
  it("K-8: of two on one clock the earlier is the narrower, by however little", () => {
    const clock = new RunningClock()
    const later = at(clock, 50)
    const earlier = { atNanos: later.atNanos - 64, clock }
    assert.strictEqual(Deadline.narrow(later, earlier), earlier)
    assert.strictEqual(Deadline.narrow(earlier, later), earlier)
  })

  it("AD-22: one that has come is not to come on another clock", () => {
    const [own, other] = [new HandClock(), new RunningClock()]
    const now = Deadline.nowNanos(other)
    const come = { atNanos: Deadline.nowNanos(own), clock: own }
    assert.isAtMost(Deadline.onClock(come, other, now), now)
  })
})

describe("onClock", () => {
  it("is the same instant as told by what is left", () => {
    const [one, two] = [new HandClock(), new HandClock()]
    two.advance(777)
    const deadline = at(one, 50)
    assert.strictEqual(Deadline.onClock(deadline, one), deadline.atNanos)
    assert.strictEqual(Deadline.onClock(deadline, two) - Deadline.nowNanos(two), 50e6)
    one.advance(60)
    assert.strictEqual(Deadline.onClock(deadline, two) - Deadline.nowNanos(two), -10e6)
    assert.strictEqual(Deadline.onClock({ atNanos: Infinity, clock: one }, two), Infinity)
  })
})

describe("provide and within", () => {
  it.effect("K-8: narrow what the fiber carries, never widen it, and give it back afterwards", () =>
    Effect.gen(function* () {
      const left = Effect.map(current, (deadline) => deadline && Deadline.remainingNanos(deadline) / 1e6)
      assert.isUndefined(yield* left)
      const seen = yield* Deadline.within(100)(Effect.all([
        left,
        Deadline.within(40)(left),
        Deadline.within(400)(left),
        Deadline.within(Infinity)(left),
        Deadline.within(40)(Deadline.within(70)(left)),
        left,
      ]))
      assert.deepStrictEqual(seen, [100, 40, 100, 100, 40, 100])
      assert.isUndefined(yield* left)
      const narrower = yield* Deadline.after(10)
      assert.strictEqual(yield* Deadline.within(100)(Deadline.provide(narrower)(left)), 10)
      assert.strictEqual(yield* Deadline.provide(narrower)(Deadline.provide(yield* Deadline.after(90))(left)), 10)
    }))

  it.effect("are inherited by children, and time that passes counts", () =>
    Effect.gen(function* () {
      const child = yield* Deadline.within(100)(
        started(Effect.andThen(Effect.sleep(30), Effect.map(current, (each) => Deadline.remainingNanos(each!)))),
      )
      yield* TestClock.adjust(30)
      assert.strictEqual(yield* Fiber.join(child), 70e6)
    }))

  it.effect("interrupt nothing by themselves", () =>
    Effect.gen(function* () {
      const work = yield* started(Deadline.within(10)(Effect.andThen(Effect.sleep(50), Effect.succeed("done"))))
      yield* TestClock.adjust(50)
      assert.strictEqual(yield* Fiber.join(work), "done")
    }))

  it.effect("of a bad duration do not run the work", () =>
    Effect.gen(function* () {
      const refused = yield* Effect.flip(Deadline.within(-1)(Effect.die("it ran")))
      assert.strictEqual(refused._tag, "InvalidRequest")
    }))
})

describe("enforce", () => {
  it.effect("interrupts at the deadline, waits for the end of the work, and fails with how long it took", () =>
    Effect.gen(function* () {
      const order: Array<string> = []
      const work = Effect.never.pipe(
        Effect.onInterrupt(() => Effect.andThen(Effect.sleep(20), Effect.sync(() => order.push("cleaned")))),
        Deadline.enforce,
        Deadline.within(100),
        Effect.flip,
        Effect.tap(() => Effect.sync(() => order.push("failed"))),
      )
      const fiber = yield* started(work)
      yield* TestClock.adjust(99)
      assert.deepStrictEqual(order, [])
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(order, [])
      yield* TestClock.adjust(20)
      assert.deepStrictEqual(order, ["cleaned", "failed"])
      const refused = yield* Fiber.join(fiber)
      assert.isTrue(refused._tag === "DeadlineExceeded" && Duration.toMillis(refused.elapsed) === 120)
    }))

  it.effect("sleeps once for as long as is left", () =>
    Effect.gen(function* () {
      const clock = new HandClock()
      const work = Deadline.within("1 day")(Deadline.enforce(Effect.never))
      const fiber = yield* started(Effect.flip(Effect.provideService(work, Clock.Clock, clock)))
      clock.advance(86_400_000)
      assert.strictEqual((yield* Fiber.join(fiber))._tag, "DeadlineExceeded")
      assert.strictEqual(clock.slept, 1)
    }))

  it.effect("does not interrupt where the runtime woke it early, and sleeps on", () =>
    Effect.gen(function* () {
      const clock = new HandClock()
      const { sleep } = clock
      clock.sleep = (duration) => sleep.call(clock, Duration.millis(Duration.toMillis(duration) / 2))
      const work = Deadline.within(64)(Deadline.enforce(Effect.never))
      const fiber = yield* started(Effect.flip(Effect.provideService(work, Clock.Clock, clock)))
      for (const at of [32, 16, 8]) {
        clock.advance(at)
        yield* Effect.yieldNow
        assert.deepStrictEqual([fiber.pollUnsafe(), clock.sleeping], [undefined, 1])
      }
      clock.advance(8)
      const refused = yield* Fiber.join(fiber)
      assert.isTrue(refused._tag === "DeadlineExceeded" && Duration.toMillis(refused.elapsed) === 64)
      assert.deepStrictEqual([clock.sleeping, clock.peak], [0, 1])
    }))

  it.effect("is the work itself without a deadline, or with one that never comes", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* Deadline.enforce(Effect.succeed(1)), 1)
      assert.strictEqual(yield* Deadline.within(Infinity)(Deadline.enforce(Effect.succeed(2))), 2)
    }))

  it.effect("lets work that ends in time be, with its failure unchanged", () =>
    Effect.gen(function* () {
      const inTime = Deadline.within(10)(Deadline.enforce(Effect.succeed("done")))
      assert.strictEqual(yield* inTime, "done")
      assert.strictEqual(yield* Effect.flip(Deadline.within(10)(Deadline.enforce(Effect.fail("own")))), "own")
    }))

  it.effect("does not begin work whose deadline has come", () =>
    Effect.gen(function* () {
      const refused = yield* Effect.flip(Deadline.within(0)(Deadline.enforce(Effect.die("it ran"))))
      assert.strictEqual(refused._tag, "DeadlineExceeded")
    }))

  it.effect("has one timer, only while the work runs", () =>
    Effect.gen(function* () {
      const clock = new HandClock()
      const work = Effect.provideService(
        Deadline.within(100)(Deadline.enforce(Deadline.enforce(Effect.succeed("done")))),
        Clock.Clock,
        clock,
      )
      yield* work
      assert.strictEqual(clock.sleeping, 0)
      const fiber = yield* started(
        Effect.provideService(Deadline.within(100)(Deadline.enforce(Effect.never)), Clock.Clock, clock),
      )
      assert.strictEqual(clock.sleeping, 1)
      yield* Fiber.interrupt(fiber)
      assert.strictEqual(clock.sleeping, 0)
    }))
})

describe("a duration", () => {
  it("means so many milliseconds in each of its forms, and none that is no number", () => {
    const units = [
      [{ weeks: 1 }, 604_800_000],
      [{ days: 1 }, 86_400_000],
      [{ hours: 1 }, 3_600_000],
      [{ minutes: 1 }, 60_000],
      [{ seconds: 1 }, 1_000],
      [{ milliseconds: 1 }, 1],
      [{ microseconds: 1 }, 0.001],
      [{ nanoseconds: 1 }, 0.000_001],
      [{ minutes: 1, seconds: undefined, milliseconds: 5 }, 60_005],
      [[2, 5_000_000], 2_005],
    ] as const
    for (const [input, millis] of units) {
      assert.strictEqual(Deadline.millisOf(input as Duration.Input), millis, JSON.stringify(input))
    }
    for (const input of [{}, { seconds: "1" }, { seconds: null }, { fortnights: 1 }, [1], [1, 2, 3], []]) {
      assert.isNaN(Deadline.millisOf(input as Duration.Input), JSON.stringify(input))
    }
  })

  it("is never told shorter than it is: in nanoseconds and, from a millisecond on, in milliseconds", () => {
    assert.deepStrictEqual(Deadline.nanos(1.1), Duration.nanos(2n))
    assert.deepStrictEqual([Deadline.nanos(Infinity), Deadline.nanos(-5)], [Duration.infinity, Duration.zero])
    const shown = [0.5, 1, 1.5, 2, Infinity].map((millis) => Deadline.shown(Deadline.nanos(millis * 1e6)))
    assert.deepStrictEqual(shown, ["500000ns", "1ms", "2ms", "2ms", "Infinity"])
  })

  it.effect("that has passed until a deadline came is told from the beginning of what it bounds", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust("1 hour")
      const bounded = Deadline.within("2 seconds")(Deadline.enforce(Effect.never))
      const fiber = yield* started(Effect.flip(bounded))
      yield* TestClock.adjust("2 seconds")
      const exceeded = yield* Fiber.join(fiber)
      assert.deepStrictEqual(
        exceeded._tag === "DeadlineExceeded" ? Duration.toSeconds(exceeded.elapsed) : exceeded,
        2,
      )
    }))
})
