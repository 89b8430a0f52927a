/**
 * Time: limits that restart, that hide each other, that leave the queue out, that a wall clock moves.
 *
 * Not here, since an Admission probes no half-open peer and keeps no idle thing: idle races, silent half-open, recovery
 * state that keeps an old reference.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import * as Clock from "effect/Clock"
import * as Admission from "../../core/Admission.ts"
import * as Deadline from "../../core/Deadline.ts"
import { HandClock } from "../../core/testing/HandClock.ts"
import * as Books from "../support/Books.ts"

const started = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })

describe("time", () => {
  it.effect("AD-21: a deadline is not armed anew each time its ask changes place", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({
        maxRunning: 4,
        maxPerTenant: 2,
        maxPerProvider: 2,
        maxWait: "1 minute",
      })
      const holders = yield* Effect.forEach(
        ["p", "q"],
        (provider) =>
          Effect.tap(Scope.make(), (scope) =>
            Scope.provide(admission.enter({ tenant: provider, provider, cost: 2 }), scope)),
      )
      const began = yield* Clock.clockWith((clock) =>
        Effect.succeed(Deadline.nowNanos(clock))
      )
      const late = yield* started(
        Deadline.within("5 seconds")(Effect.flip(admission.run({ tenant: "a", provider: "p", cost: 2 })(Effect.void))),
      )
      // Parked, put aside by a withholding, back, parked again; each second something moves.
      for (let i = 0; i < 4; i++) {
        yield* TestClock.adjust("1 second")
        yield* Effect.scoped(admission.withhold(3))
        const passing = yield* started(admission.run({ tenant: "b", provider: "q" })(Effect.never))
        yield* Fiber.interrupt(passing)
        assert.isUndefined(late.pollUnsafe())
      }
      yield* TestClock.adjust("1 second")
      const refused = yield* Fiber.join(late)
      assert.deepInclude(refused, { _tag: "WaitExpired", bound: "deadline", account: "provider" })
      const ended = yield* Clock.clockWith((clock) => Effect.succeed(Deadline.nowNanos(clock)))
      assert.strictEqual(ended - began, 5e9)
      for (const scope of holders) yield* Scope.close(scope, Exit.void)
      yield* Books.whole(admission)
    }))

  it.effect("AD-23: of two limits the one that counted is named", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 1, maxWait: "3 seconds" })
      const permit = yield* admission.enter({ tenant: "a" })
      const ask = Effect.flip(admission.run({ tenant: "b" })(Effect.void))
      const waits = [
        yield* started(Deadline.within("2 seconds")(ask)),
        yield* started(Deadline.within("3 seconds")(ask)),
        yield* started(Deadline.within("4 seconds")(ask)),
        yield* started(ask),
      ]
      yield* TestClock.adjust("2 seconds")
      yield* TestClock.adjust("1 second")
      const bounds = (yield* Fiber.joinAll(waits)).map((each) =>
        each._tag === "WaitExpired" ? [each.bound, Duration.toMillis(each.waited)] : each._tag
      )
      assert.deepStrictEqual(bounds, [["deadline", 2_000], ["maxWait", 3_000], ["maxWait", 3_000], ["maxWait", 3_000]])
      yield* admission.release(permit)
      yield* Books.whole(admission)
    }))

  it.effect("AD-23: one deadline goes over queue and work, and the error says which of them spent it", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 1 })
      const permit = yield* admission.enter({ tenant: "a" })
      const work = Deadline.within("1 second")(
        Deadline.enforce(admission.run({ tenant: "b" })(Effect.sleep("800 millis"))),
      )
      const queued = yield* started(Effect.flip(work))
      yield* TestClock.adjust("1 second")
      assert.deepInclude(yield* Fiber.join(queued), { _tag: "WaitExpired" })
      const running = yield* started(Effect.flip(work))
      yield* TestClock.adjust("500 millis")
      yield* admission.release(permit)
      yield* TestClock.adjust("500 millis")
      assert.deepInclude(yield* Fiber.join(running), { _tag: "DeadlineExceeded" })
      yield* Books.whole(admission)
    }))

  it.effect("AD-22: a grant with no time left is none: it goes to one who has", () =>
    Effect.gen(function* () {
      const clock = new HandClock()
      const on = Effect.provideService(Clock.Clock, clock)
      const admission = yield* on(Admission.make({ maxRunning: 1, maxWait: "1 minute" }))
      const permit = yield* admission.enter({ tenant: "a" })
      const stale = yield* started(
        Effect.flip(on(Deadline.within("1 second")(admission.run({ tenant: "b" })(Effect.die("granted too late"))))),
      )
      const fresh = yield* started(
        on(Deadline.within("1 hour")(admission.run({ tenant: "c" })(Effect.succeed("served")))),
      )
      // The time is over, and the timer, like any timer, has not been heard of yet.
      const { sleep } = clock
      clock.sleep = () => Effect.never
      for (const ring of [999, 1]) clock.advance(ring)
      yield* admission.release(permit)
      assert.deepInclude(yield* Fiber.join(stale), { _tag: "WaitExpired" })
      assert.strictEqual(yield* Fiber.join(fresh), "served")
      clock.sleep = sleep
      yield* Books.whole(admission)
    }))

  it.effect("AD-20 AD-24: 20,000 waits that ran out leave the queue, and one timer sufficed", () =>
    Effect.gen(function* () {
      const clock = new HandClock()
      const admission = yield* Effect.provideService(
        Admission.make({ maxRunning: 1, maxQueued: 20_000, maxQueuedPerTenant: 20_000, maxWait: "1 second" }),
        Clock.Clock,
        clock,
      )
      const permit = yield* admission.enter({ tenant: "a" })
      let expired = 0
      const ask = Effect.catchTag(
        admission.run({ tenant: "b" })(Effect.void),
        "WaitExpired",
        () => Effect.sync(() => void expired++),
      )
      const fibers: Array<Fiber.Fiber<unknown, unknown>> = []
      for (let i = 0; i < 20_000; i++) fibers.push(yield* started(ask))
      assert.deepInclude(yield* admission.snapshot, { waiting: 20_000 })
      clock.advance(1_000)
      yield* Fiber.joinAll(fibers)
      assert.deepStrictEqual([expired, clock.peak, clock.sleeping], [20_000, 1, 0])
      assert.deepInclude(yield* Books.balanced(admission), { waiting: 0, tenants: 1 })
      yield* admission.release(permit)
      yield* Books.whole(admission)
    }))
})
