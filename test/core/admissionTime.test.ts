/** Time: one sleeper for all who wait, none without them, and no clock but the monotonic one. */
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import * as Admission from "../../core/Admission.ts"
import type { Options } from "../../core/AdmissionOptions.ts"
import * as Deadline from "../../core/Deadline.ts"
import { HandClock } from "../../core/testing/HandClock.ts"
import * as Books from "../support/Books.ts"

const started = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })
/** The refusal that a flipped ask ended with. */
const told = (fiber: Fiber.Fiber<unknown, unknown>): Effect.Effect<object> =>
  Effect.map(Effect.orDie(Fiber.join(fiber)), (refused) => Object(refused))
const day = 86_400_000

/** An Admission on a clock of its own, which the body moves. */
const byHand = (options: Options) =>
  Effect.gen(function* () {
    const clock = new HandClock()
    const on = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provideService(effect, Clock.Clock, clock)
    return { clock, on, admission: yield* on(Admission.make(options)) }
  })

describe("the sleeper", () => {
  it.effect("AD-24: is one for all who wait, and is gone when the line is empty", () =>
    Effect.gen(function* () {
      const { admission, clock } = yield* byHand({ maxRunning: 1, maxWait: "1 second", maxQueuedPerTenant: 500 })
      const permit = yield* admission.enter({ tenant: "a" })
      assert.strictEqual(clock.slept, 0)
      const waiters: Array<Fiber.Fiber<unknown, unknown>> = []
      for (let i = 0; i < 100; i++) {
        waiters.push(yield* started(Effect.flip(admission.run({ tenant: `t${i % 7}` })(Effect.void))))
        clock.advance(1)
        assert.strictEqual(clock.sleeping, 1)
      }
      for (const fiber of waiters.splice(10, 50)) yield* Fiber.interrupt(fiber)
      assert.strictEqual(clock.sleeping, 1)
      clock.advance(1_000)
      for (const fiber of waiters) {
        const refused = yield* told(fiber)
        assert.deepInclude(refused, { _tag: "WaitExpired", waited: Duration.nanos(1_000_000_000n) })
      }
      assert.deepInclude({ ...clock, sleeping: clock.sleeping }, { sleeping: 0, peak: 1 })
      yield* admission.release(permit)
      yield* Books.whole(admission)
    }))

  it.effect("AD-24: leaves with the last waiter, however that goes", () =>
    Effect.gen(function* () {
      const { admission, clock } = yield* byHand({ maxRunning: 2 })
      const goes: ReadonlyArray<
        (fiber: Fiber.Fiber<unknown, unknown>, cost: number) => Effect.Effect<unknown, unknown>
      > = [
        (fiber) => Fiber.interrupt(fiber),
        () => admission.lower({ maxRunning: 1 }),
      ]
      for (const go of goes) {
        const permit = yield* admission.enter({ tenant: "a" })
        const waiter = yield* started(admission.run({ tenant: "b", cost: 2 })(Effect.void))
        assert.strictEqual(clock.sleeping, 1)
        yield* go(waiter, 2)
        assert.strictEqual(clock.sleeping, 0)
        yield* admission.release(permit)
        yield* Books.whole(admission)
      }
      const permit = yield* admission.enter({ tenant: "a" })
      const waiter = yield* started(admission.run({ tenant: "b" })(Effect.void))
      assert.strictEqual(clock.sleeping, 1)
      yield* admission.release(permit)
      yield* Fiber.join(waiter)
      assert.strictEqual(clock.sleeping, 0)
      yield* Books.whole(admission)
    }))

  it.effect("AD-24: is there for a drain until it ends, beside those who wait and no more", () =>
    Effect.gen(function* () {
      const { admission, clock, on } = yield* byHand({ maxRunning: 1, maxWait: "10 seconds" })
      const permit = yield* admission.enter({ tenant: "a" })
      const waiter = yield* started(Effect.flip(admission.run({ tenant: "b" })(Effect.void)))
      const deadline = yield* on(Deadline.after("3 seconds"))
      const drains = [yield* started(admission.drain(deadline)), yield* started(admission.drain(deadline))]
      assert.strictEqual(clock.sleeping, 1)
      clock.advance(3_000)
      yield* Fiber.joinAll([...drains, waiter])
      assert.deepInclude({ ...clock, sleeping: clock.sleeping }, { sleeping: 0, peak: 1 })
      const interrupted = yield* started(admission.drain(yield* on(Deadline.after("3 seconds"))))
      assert.strictEqual(clock.sleeping, 1)
      yield* Fiber.interrupt(interrupted)
      assert.strictEqual(clock.sleeping, 0)
      yield* admission.release(permit)
      yield* Books.settled(admission)
    }))

  it.effect("AD-20 AD-24: rings again where the runtime woke it early", () =>
    Effect.gen(function* () {
      const clock = new HandClock()
      // Each sleep ends at half of its time.
      const early: Clock.Clock = Object.assign(Object.create(clock) as Clock.Clock, {
        sleep: (duration: Duration.Duration) => clock.sleep(Duration.millis(Duration.toMillis(duration) / 2)),
        monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
      })
      const admission = yield* Effect.provideService(
        Admission.make({ maxRunning: 1, maxWait: "1 second" }),
        Clock.Clock,
        early,
      )
      const permit = yield* admission.enter({ tenant: "a" })
      const waiter = yield* started(Effect.flip(admission.run({ tenant: "b" })(Effect.void)))
      clock.advance(999)
      assert.isUndefined(waiter.pollUnsafe())
      clock.advance(2)
      assert.deepInclude(yield* told(waiter), { _tag: "WaitExpired" })
      assert.strictEqual(clock.sleeping, 0)
      yield* admission.release(permit)
      yield* Books.whole(admission)
    }))
})

describe("the clock", () => {
  it.effect("AD-37: of the wall may jump by a day, forwards or backwards, and nothing moves", () =>
    Effect.gen(function* () {
      const { admission, clock, on } = yield* byHand({ maxRunning: 1, maxWait: "1 second" })
      for (const jump of [day, -day, -day, 2 * day]) {
        const permit = yield* admission.enter({ tenant: "a" })
        const waiter = yield* started(Effect.flip(admission.run({ tenant: "b" })(Effect.void)))
        const hurried = yield* started(
          on(Deadline.within("600 millis")(Effect.flip(admission.run({ tenant: "c" })(Effect.void)))),
        )
        clock.advance(500)
        clock.setWall(jump)
        clock.advance(99)
        assert.isUndefined(hurried.pollUnsafe())
        clock.advance(1)
        assert.deepInclude(yield* told(hurried), {
          _tag: "WaitExpired",
          bound: "deadline",
          waited: Duration.nanos(600_000_000n),
        })
        clock.setWall(-jump / 2)
        const ages = (yield* admission.holders).map(({ age }) => Duration.toMillis(age))
        assert.deepStrictEqual(ages, [600, 600])
        clock.advance(399)
        assert.isUndefined(waiter.pollUnsafe())
        clock.advance(1)
        assert.deepInclude(yield* told(waiter), { waited: Duration.nanos(1_000_000_000n) })
        yield* admission.release(permit)
        yield* Books.whole(admission)
      }
    }))

  it.effect("AD-37: is looked at where it must be, and the age of a permit counts from the first look after its grant", () =>
    Effect.gen(function* () {
      const { admission, clock, on } = yield* byHand({ maxRunning: 3 })
      const ages = Effect.map(admission.holders, (all) => all.map(({ age }) => Duration.toMillis(age)))
      const permits = [yield* admission.enter({ tenant: "a" })]
      clock.advance(500)
      // Its deadline is compared with the time.
      permits.push(yield* on(Deadline.within("1 minute")(admission.enter({ tenant: "b" }))))
      clock.advance(1_000)
      permits.push(yield* admission.enter({ tenant: "c" }))
      assert.deepStrictEqual(yield* ages, [1_000, 1_000, 0])
      clock.advance(1_000)
      assert.deepStrictEqual(yield* ages, [2_000, 2_000, 1_000])
      for (const permit of permits) yield* admission.release(permit)
      yield* Books.whole(admission)
    }))

  it.effect("AD-37: of the wall may jump while a drain goes on", () =>
    Effect.gen(function* () {
      const { admission, clock, on } = yield* byHand({ maxRunning: 1 })
      const permit = yield* admission.enter({ tenant: "a" })
      const drain = yield* started(admission.drain(yield* on(Deadline.after("2 seconds"))))
      clock.setWall(day)
      clock.advance(1_999)
      assert.isUndefined(drain.pollUnsafe())
      clock.setWall(-3 * day)
      clock.advance(1)
      assert.deepInclude(yield* Fiber.join(drain), { clean: false, waited: Duration.nanos(2_000_000_000n) })
      yield* admission.release(permit)
      yield* Books.settled(admission)
    }))

  it.effect("AD-21: of a deadline may be another one than the Admission's: what is left counts, not the reading", () =>
    Effect.gen(function* () {
      const { admission, clock } = yield* byHand({ maxRunning: 1, maxWait: "1 minute" })
      const permit = yield* admission.enter({ tenant: "a" })
      // The TestClock starts at zero, the Admission's clock is more than an hour up.
      const deadline = yield* Deadline.after("2 seconds")
      yield* TestClock.adjust("500 millis")
      const waiter = yield* started(
        Deadline.provide(deadline)(Effect.flip(admission.run({ tenant: "b" })(Effect.void))),
      )
      yield* TestClock.adjust("1 hour")
      clock.advance(1_499)
      assert.isUndefined(waiter.pollUnsafe())
      clock.advance(1)
      assert.deepInclude(yield* told(waiter), {
        _tag: "WaitExpired",
        bound: "deadline",
        waited: Duration.nanos(1_500_000_000n),
      })
      yield* admission.release(permit)
      yield* Books.whole(admission)
    }))
})
