/** The end of an Admission: nobody comes in, everybody is answered, and what is still held is named. */
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import * as Admission from "../../core/Admission.ts"
import * as Deadline from "../../core/Deadline.ts"
import * as Books from "../support/Books.ts"

const started = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })
const draining = (admission: Admission.Admission, within: Duration.Input) =>
  Effect.flatMap(Deadline.after(within), (deadline) => admission.drain(deadline))
const refusals = (admission: Admission.Admission) =>
  Effect.all([
    Effect.flip(Effect.scoped(admission.enter({ tenant: "new" }))),
    Effect.flip(Effect.scoped(admission.tryEnter({ tenant: "new" }))),
    Effect.flip(admission.run({ tenant: "new" })(Effect.void)),
  ])

describe("a drain", () => {
  it.effect("AD-29 AD-30: of an Admission that nobody uses is clean at once, and no one comes in after it", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 2 })
      const report = yield* draining(admission, "1 hour")
      assert.deepStrictEqual(report, {
        clean: true,
        held: 0,
        holders: [],
        refused: 0,
        waited: Duration.nanos(0n),
      })
      yield* TestClock.adjust("3 seconds")
      for (const refused of yield* refusals(admission)) {
        assert.deepInclude(refused, { _tag: "Closed", state: "closed", since: Duration.nanos(3_000_000_000n) })
      }
      yield* Books.settled(admission)
    }))

  it.effect("AD-29: refuses whoever comes while it goes on, and serves those who wait", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 1 })
      const permit = yield* admission.enter({ tenant: "a" })
      const waiter = yield* started(admission.run({ tenant: "b" })(Effect.succeed("served")))
      const drain = yield* started(draining(admission, "10 seconds"))
      for (const refused of yield* refusals(admission)) {
        assert.deepInclude(refused, { _tag: "Closed", state: "draining" })
      }
      assert.deepInclude(yield* Books.balanced(admission), { state: "draining", running: 1, waiting: 1 })
      yield* TestClock.adjust("2 seconds")
      assert.isUndefined(drain.pollUnsafe())
      yield* admission.release(permit)
      assert.strictEqual(yield* Fiber.join(waiter), "served")
      assert.deepInclude(yield* Fiber.join(drain), {
        clean: true,
        refused: 0,
        waited: Duration.nanos(2_000_000_000n),
      })
      yield* Books.settled(admission)
    }))

  it.effect("AD-29: that refuses answers those who wait with Closed in its first step", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 1, drainWaiting: "refuse" })
      const permit = yield* admission.enter({ tenant: "a" })
      const waiters = [
        yield* started(admission.run({ tenant: "b" })(Effect.void)),
        yield* started(admission.run({ tenant: "c" })(Effect.void)),
      ]
      const drain = yield* started(draining(admission, "10 seconds"))
      for (const fiber of waiters) {
        assert.deepInclude(yield* Effect.flip(Fiber.join(fiber)), { _tag: "Closed", state: "draining" })
      }
      assert.deepInclude(yield* Books.balanced(admission), { running: 1, waiting: 0 })
      yield* admission.release(permit)
      assert.deepInclude(yield* Fiber.join(drain), { clean: true, refused: 2 })
      yield* Books.settled(admission)
    }))

  it.effect("AD-29 AD-30: at its deadline answers those who wait, and names who holds what", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 5, maxWait: "1 hour" })
      const first = yield* admission.enter({ tenant: "a", provider: "p", cost: 3 })
      yield* TestClock.adjust("1 second")
      const second = yield* admission.enter({ tenant: "b", priority: "control", cost: 2 })
      const waiter = yield* started(admission.run({ tenant: "c" })(Effect.void))
      const drain = yield* started(draining(admission, "4 seconds"))
      yield* TestClock.adjust("3999 millis")
      assert.isUndefined(drain.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      const report = yield* Fiber.join(drain)
      assert.deepInclude(report, { clean: false, held: 5, refused: 1, waited: Duration.nanos(4_000_000_000n) })
      assert.deepStrictEqual(
        report.holders.map(({ age: _, ...each }) => each),
        [
          { tenant: "a", provider: "p", priority: "normal", cost: 3, state: "held" },
          { tenant: "b", provider: undefined, priority: "control", cost: 2, state: "held" },
        ],
      )
      assert.isTrue(report.holders.every(({ age }) => Duration.toMillis(age) >= 4_000))
      assert.deepInclude(yield* Effect.flip(Fiber.join(waiter)), { _tag: "Closed" })
      // What is held stays charged until its owner gives it back.
      assert.deepInclude(yield* Books.balanced(admission), { state: "closed", running: 5, permits: 2 })
      yield* admission.release(first)
      yield* admission.release(second)
      yield* Books.settled(admission)
    }))

  it.effect("AD-30: with a deadline that has come returns at once", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 1 })
      const permit = yield* admission.enter({ tenant: "a" })
      const waiter = yield* started(admission.run({ tenant: "b" })(Effect.void))
      const drain = yield* started(draining(admission, 0))
      // In its own step.
      assert.isDefined(drain.pollUnsafe())
      assert.deepInclude(yield* Fiber.join(drain), { clean: false, held: 1, refused: 1 })
      assert.strictEqual((yield* Effect.flip(Fiber.join(waiter)))._tag, "Closed")
      const { atNanos, clock } = yield* Deadline.after(0)
      assert.deepInclude(yield* admission.drain({ atNanos: atNanos - 1e12, clock }), { clean: false, refused: 0 })
      assert.deepInclude(yield* admission.drain({ atNanos: NaN, clock }), { clean: false, refused: 0 })
      yield* admission.release(permit)
      yield* Books.settled(admission)
    }))

  it.effect("AD-30: without end returns when the last one has left", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 1 })
      const holder = yield* started(admission.run({ tenant: "a" })(Effect.never))
      const drain = yield* started(draining(admission, Infinity))
      yield* TestClock.adjust("30 days")
      assert.isUndefined(drain.pollUnsafe())
      yield* Fiber.interrupt(holder)
      assert.deepInclude(yield* Fiber.join(drain), { clean: true })
      yield* Books.settled(admission)
    }))

  it.effect("AD-30: twice: each ends at its own deadline or when all is quiet, with its own counts", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 1, maxWait: "1 hour" })
      const permit = yield* admission.enter({ tenant: "a" })
      const waiters = [
        yield* started(admission.run({ tenant: "b" })(Effect.void)),
        yield* started(admission.run({ tenant: "c" })(Effect.void)),
      ]
      const long = yield* started(draining(admission, "10 seconds"))
      yield* TestClock.adjust("1 second")
      const short = yield* started(draining(admission, "2 seconds"))
      yield* TestClock.adjust("2 seconds")
      assert.deepInclude(yield* Fiber.join(short), {
        clean: false,
        held: 1,
        refused: 2,
        waited: Duration.nanos(2_000_000_000n),
      })
      assert.isUndefined(long.pollUnsafe())
      yield* TestClock.adjust("1 second")
      yield* admission.release(permit)
      assert.deepInclude(yield* Fiber.join(long), { clean: true, refused: 2, waited: Duration.nanos(4_000_000_000n) })
      assert.deepInclude(yield* draining(admission, "1 hour"), { clean: true, refused: 0 })
      for (const fiber of waiters) assert.strictEqual((yield* Effect.flip(Fiber.join(fiber)))._tag, "Closed")
      yield* Books.settled(admission)
    }))

  it.effect("AD-29 AD-30: that is interrupted lets nobody in again, and a second one finishes the work", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 1 })
      const permit = yield* admission.enter({ tenant: "a" })
      const waiter = yield* started(admission.run({ tenant: "b" })(Effect.succeed("served")))
      const drain = yield* started(draining(admission, "1 second"))
      yield* Fiber.interrupt(drain)
      yield* TestClock.adjust("2 seconds")
      // The deadline was that of the interrupted drain.
      assert.deepInclude(yield* Books.balanced(admission), { state: "draining", waiting: 1 })
      assert.strictEqual((yield* refusals(admission))[0]._tag, "Closed")
      yield* admission.release(permit)
      assert.strictEqual(yield* Fiber.join(waiter), "served")
      assert.deepInclude(yield* draining(admission, "1 second"), { clean: true })
      yield* Books.settled(admission)
    }))

  it.effect("AD-20 AD-29: does not keep a wait that ends before it", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 1, maxWait: "1 second" })
      const permit = yield* admission.enter({ tenant: "a" })
      const waiter = yield* started(admission.run({ tenant: "b" })(Effect.void))
      const drain = yield* started(draining(admission, "10 seconds"))
      yield* TestClock.adjust("1 second")
      assert.deepInclude(yield* Effect.flip(Fiber.join(waiter)), { _tag: "WaitExpired" })
      yield* admission.release(permit)
      assert.deepInclude(yield* Fiber.join(drain), { clean: true, refused: 0 })
      yield* Books.settled(admission)
    }))

  it.effect("AD-28 AD-30: returns though units are withheld, since nothing is held or waiting", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 2 })
      yield* Effect.scoped(Effect.gen(function* () {
        yield* admission.withhold(2)
        const waiter = yield* started(admission.run({ tenant: "b" })(Effect.void))
        const drain = yield* started(draining(admission, "1 second"))
        yield* TestClock.adjust("1 second")
        assert.deepInclude(yield* Fiber.join(drain), { clean: true, refused: 1 })
        assert.strictEqual((yield* Effect.flip(Fiber.join(waiter)))._tag, "Closed")
      }))
      yield* Books.settled(admission)
    }))
})

describe("the end of the layer's scope", () => {
  const layered = Effect.gen(function* () {
    const scope = yield* Scope.make()
    const context = yield* Layer.buildWithScope(Admission.layer({ maxRunning: 2 }), scope)
    return { scope, admission: Context.get(context, Admission.Admission) }
  })

  it.effect("AD-31: refuses those who wait and those who come, and leaves what is held charged", () =>
    Effect.gen(function* () {
      const { admission, scope } = yield* layered
      const permit = yield* admission.enter({ tenant: "a", cost: 2 })
      const waiters = [
        yield* started(admission.run({ tenant: "b" })(Effect.void)),
        yield* started(admission.run({ tenant: "c" })(Effect.void)),
      ]
      yield* TestClock.adjust("1 second")
      yield* Scope.close(scope, Exit.void)
      const closed = { _tag: "Closed", state: "closed", since: Duration.nanos(0n) } as const
      for (const fiber of waiters) assert.deepInclude(yield* Effect.flip(Fiber.join(fiber)), closed)
      for (const refused of yield* refusals(admission)) assert.deepInclude(refused, closed)
      assert.deepInclude(yield* Books.balanced(admission), { state: "closed", running: 2, waiting: 0 })
      // The first release gives back its units and grants nothing; the second is misuse.
      const { granted } = yield* admission.snapshot
      yield* admission.release(permit)
      assert.deepInclude(yield* Books.balanced(admission), { running: 0, free: 2, granted })
      assert.strictEqual((yield* Effect.flip(admission.release(permit)))._tag, "LeaseSpent")
      yield* Books.settled(admission)
    }))

  it.effect("AD-31: leaves the scope of a holder to give back, silently", () =>
    Effect.gen(function* () {
      const { admission, scope } = yield* layered
      const own = yield* Scope.make()
      yield* Scope.provide(admission.enter({ tenant: "a" }), own)
      const worker = yield* started(admission.run({ tenant: "b" })(Effect.sleep("1 second")))
      yield* Scope.close(scope, Exit.void)
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(worker)
      assert.isTrue(Exit.isSuccess(yield* Effect.exit(Scope.close(own, Exit.void))))
      yield* Books.settled(admission)
    }))

  it.effect("AD-30 AD-31: ends a drain that is waited for, with a report", () =>
    Effect.gen(function* () {
      const { admission, scope } = yield* layered
      const permit = yield* admission.enter({ tenant: "a" })
      const drain = yield* started(draining(admission, Infinity))
      yield* Scope.close(scope, Exit.void)
      const report = yield* Fiber.join(drain)
      assert.deepInclude(report, { clean: false, held: 1 })
      assert.deepStrictEqual(report.holders.map(({ tenant }) => tenant), ["a"])
      yield* admission.release(permit)
      yield* Books.settled(admission)
    }))

  it.effect("AD-31: comes after whatever holds in the same scope, so that an ordinary program ends clean", () =>
    Effect.gen(function* () {
      const kept: Array<Admission.Admission> = []
      yield* Effect.scoped(Effect.gen(function* () {
        const admission = yield* Admission.make({ maxRunning: 1 })
        kept.push(admission)
        yield* admission.enter({ tenant: "a" })
      }))
      assert.deepInclude(yield* kept[0]!.snapshot, { state: "closed", released: 1 })
      yield* Books.settled(kept[0]!)
    }))
})
