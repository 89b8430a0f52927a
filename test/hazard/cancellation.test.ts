/**
 * Cancellation between taking and owning: what other pools lost there, and what must hold here.
 *
 * The sweep over every step of every verb is `test/core/admissionSweep.test.ts`. Not here, since an Admission opens,
 * shares and verifies nothing: late open, release without a verdict, single-flight poisoning.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import * as Admission from "../../core/Admission.ts"
import * as Deadline from "../../core/Deadline.ts"
import * as Books from "../support/Books.ts"

const started = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })

describe("cancellation", () => {
  for (const keys of [1, 50]) {
    it.effect(`AD-4 AD-5: 4,000 fibers over 8 permits and ${keys} tenants, interrupted at random, lose no permit`, () =>
      Effect.gen(function* () {
        const admission = yield* Admission.make({
          maxRunning: 8,
          maxPerTenant: 8,
          maxQueued: 4_000,
          maxQueuedPerTenant: 4_000,
        })
        let random = 17
        const below = (n: number) => (random = random * 48271 % 2147483647) % n
        const pause = Effect.suspend(() => below(3) === 0 ? Effect.sleep(below(5)) : Effect.yieldNow)
        const fibers: Array<Fiber.Fiber<unknown, unknown>> = []
        for (let i = 0; i < 4_000; i++) {
          const ask = { tenant: `t${i % keys}`, cost: 1 + below(3) }
          const run = below(2) === 0
            ? admission.run(ask)(pause)
            : Effect.scoped(Effect.flatMap(admission.enter(ask), (permit) =>
              Effect.andThen(pause, below(2) === 0 ? admission.release(permit) : Effect.void)))
          fibers.push(yield* (below(4) === 0 ? Effect.forkChild(run) : started(run)))
          if (below(2) === 0) fibers[below(fibers.length)]!.interruptUnsafe()
          if (below(20) === 0) yield* TestClock.adjust(1)
        }
        yield* TestClock.adjust("1 minute")
        for (const fiber of fibers) assert.isDefined(fiber.pollUnsafe())
        yield* Books.whole(admission)
      }))
  }

  it.effect("AD-1 AD-5: a large request that is cancelled while some of it is free keeps no share", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 3, maxBypass: 0 })
      const permit = yield* admission.enter({ tenant: "a", cost: 2 })
      const large = yield* started(admission.run({ tenant: "b", cost: 3 })(Effect.void))
      assert.deepInclude(yield* Books.balanced(admission), { running: 2, free: 1, waiting: 1 })
      yield* Fiber.interrupt(large)
      yield* admission.release(permit)
      yield* Books.whole(admission)
    }))

  it.effect("AD-3 AD-30: a counter that outlives interruption would make a drain wait for ever; this one returns", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 2 })
      for (let i = 0; i < 200; i++) {
        const fibers = [
          yield* started(admission.run({ tenant: "a" })(Effect.never)),
          yield* started(Effect.scoped(Effect.andThen(admission.enter({ tenant: "b" }), Effect.never))),
          yield* started(admission.run({ tenant: "c" })(Effect.never)),
          yield* Effect.forkChild(admission.run({ tenant: "d" })(Effect.never)),
        ]
        yield* Fiber.interruptAll(i % 2 === 0 ? fibers : fibers.reverse())
      }
      const report = yield* Effect.flatMap(Deadline.after(Infinity), (deadline) => admission.drain(deadline))
      assert.isTrue(report.clean)
      yield* Books.settled(admission)
    }))

  it.effect("AD-5 K-6: one that is woken and cancelled before it runs wakes the next", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 1 })
      const scope = yield* Scope.make()
      yield* Scope.provide(admission.enter({ tenant: "a" }), scope)
      const order: Array<string> = []
      const note = (name: string) => Effect.sync(() => void order.push(name))
      const b = yield* started(admission.run({ tenant: "b" })(Effect.andThen(Effect.yieldNow, note("b"))))
      const c = yield* started(admission.run({ tenant: "c" })(note("c")))
      // The release wakes b; b is cancelled in the same run of this fiber.
      Effect.runSync(Scope.close(scope, Exit.void))
      b.interruptUnsafe()
      yield* Fiber.join(c)
      assert.deepStrictEqual(order, ["c"])
      yield* Books.whole(admission)
    }))

  it.effect("AD-5 AD-20: one whose time was over is not the owner of what comes later", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 1, maxWait: "1 second" })
      const permit = yield* admission.enter({ tenant: "a" })
      const waiters = yield* Effect.forEach(
        [1, 2, 3, 4, 5],
        (i) => started(Effect.exit(admission.run({ tenant: `t${i}` })(Effect.void))),
      )
      yield* TestClock.adjust("1 second")
      yield* admission.release(permit)
      for (const waiter of waiters) assert.isTrue(Exit.isFailure(yield* Fiber.join(waiter)))
      yield* Books.whole(admission)
    }))

  it.effect("AD-5: a caller that gave up by a race keeps no permit, whether it waited or was served", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 1 })
      const permit = yield* admission.enter({ tenant: "a" })
      const given = yield* started(Effect.timeoutOption(admission.run({ tenant: "b" })(Effect.void), "1 second"))
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Fiber.join(given))._tag, "None")
      assert.deepInclude(yield* Books.balanced(admission), { waiting: 0 })
      yield* admission.release(permit)
      const slow = yield* started(Effect.timeoutOption(admission.run({ tenant: "b" })(Effect.never), "1 second"))
      assert.deepInclude(yield* Books.balanced(admission), { running: 1 })
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Fiber.join(slow))._tag, "None")
      yield* Books.whole(admission)
    }))

  it.effect("AD-2 AD-4: the cap holds while work that ran out of time is still ending", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 1 })
      const stubborn = Effect.uninterruptible(Effect.sleep("10 seconds"))
      const late = yield* started(
        Deadline.within("1 second")(Deadline.enforce(admission.run({ tenant: "a" })(stubborn))).pipe(Effect.exit),
      )
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual((yield* Effect.flip(Effect.scoped(admission.tryEnter({ tenant: "b" }))))._tag, "WouldWait")
      assert.deepInclude(yield* Books.balanced(admission), { running: 1 })
      yield* TestClock.adjust("8 seconds")
      assert.isTrue(Exit.isFailure(yield* Fiber.join(late)))
      yield* Books.whole(admission)
    }))
})
