/**
 * Lifecycle, memory and overload: shutdowns that hang or drop, things given back twice, keys and queues without an end.
 *
 * Not here, since an Admission opens, retries, breaks, rotates, stores and locks nothing: handshake storms, permanent
 * exile, hot retry, epoch races, stale credentials, breakers, negative caching, and all of sockets, of HTTP and across
 * processes. No secret comes in either; that no name goes out is `test/core/admissionSecrecy.test.ts`.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import * as Admission from "../../core/Admission.ts"
import * as Deadline from "../../core/Deadline.ts"
import type { Permit } from "../../core/Permit.ts"
import * as Books from "../support/Books.ts"
import * as Garbage from "../support/Garbage.ts"

const started = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })

describe("a shutdown", () => {
  it.effect("AD-29 AD-30: ends though something is borrowed, and names the borrower", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 2 })
      const borrower = yield* started(admission.run({ tenant: "acme", provider: "mail", cost: 2 })(Effect.never))
      const drain = yield* started(Effect.flatMap(Deadline.after("5 seconds"), (deadline) => admission.drain(deadline)))
      yield* TestClock.adjust("5 seconds")
      const report = yield* Fiber.join(drain)
      assert.deepInclude(report, { clean: false, held: 2 })
      assert.deepInclude(report.holders[0]!, { tenant: "acme", provider: "mail", cost: 2, state: "held" })
      yield* Fiber.interrupt(borrower)
      yield* Books.settled(admission)
    }))

  it.effect("AD-20 AD-31: answers every waiter with a typed error", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const admission = yield* Scope.provide(Admission.make({ maxRunning: 1, maxQueuedPerTenant: 1_000 }), scope)
      const permit = yield* admission.enter({ tenant: "a" })
      const waiters = yield* Effect.forEach(
        Array(700),
        () => started(Effect.flip(admission.run({ tenant: "b" })(Effect.void))),
      )
      yield* Scope.close(scope, Exit.void)
      for (const refused of yield* Fiber.joinAll(waiters)) assert.strictEqual(refused._tag, "Closed")
      assert.strictEqual((yield* admission.snapshot).refused.Closed, 700)
      yield* admission.release(permit)
      yield* Books.settled(admission)
    }))

  it.effect("AD-31: is not held up by work that never ends, nor by a finalizer that never returns", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const admission = yield* Scope.provide(Admission.make({ maxRunning: 2 }), scope)
      const gate = yield* Deferred.make<void>()
      const stuck = yield* started(admission.run({ tenant: "a" })(Effect.ensuring(Effect.never, Deferred.await(gate))))
      stuck.interruptUnsafe()
      yield* Scope.close(scope, Exit.void)
      // It is counted for as long as it has not given back.
      assert.deepInclude(yield* Books.balanced(admission), { state: "closed", running: 1 })
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.await(stuck)
      yield* Books.settled(admission)
    }))
})

describe("giving back", () => {
  it.effect("AD-4: twice, after the end, or by a stranger is a typed misuse that puts nothing in twice", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const admission = yield* Scope.provide(Admission.make({ maxRunning: 3 }), scope)
      const stranger = yield* Admission.make({ maxRunning: 3 })
      const permits = yield* Effect.forEach(["a", "b", "c"], (tenant) => admission.enter({ tenant }))
      const misuse = (permit: Permit, of: Admission.Admission = admission) =>
        Effect.map(Effect.flip(of.release(permit)), ({ _tag }) => _tag)
      yield* admission.release(permits[0]!)
      for (let i = 0; i < 5; i++) assert.strictEqual(yield* misuse(permits[0]!), "LeaseSpent")
      assert.strictEqual(yield* misuse(permits[1]!, stranger), "ForeignLease")
      assert.deepInclude(yield* Books.balanced(admission), { running: 2, free: 1 })
      yield* Scope.close(scope, Exit.void)
      yield* admission.release(permits[1]!)
      assert.strictEqual(yield* misuse(permits[1]!), "LeaseSpent")
      yield* admission.release(permits[2]!)
      assert.strictEqual(yield* misuse(permits[2]!), "LeaseSpent")
      yield* Books.settled(admission)
      yield* Books.whole(stranger)
    }))

  it.effect("AD-3 AD-32: what was taken under a key goes back to it, though 5,000 other keys came between", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 8, maxPerTenant: 3, maxPerPair: 2 })
      const key = { tenant: "old", provider: "p" }
      const old = yield* admission.enter({ ...key, cost: 2 })
      for (let i = 0; i < 5_000; i++) yield* admission.run({ tenant: `t${i}`, provider: `p${i}` })(Effect.void)
      assert.deepInclude(yield* Effect.flip(admission.tryEnter(key)), { _tag: "WouldWait", account: "pair" })
      const again = yield* admission.enter({ tenant: "old", provider: "q" })
      yield* admission.release(old)
      yield* admission.release(yield* admission.enter({ ...key, cost: 2 }))
      assert.deepInclude(yield* Books.balanced(admission), { running: 1, tenants: 1 })
      yield* admission.release(again)
      yield* Books.whole(admission)
    }))
})

describe("memory", () => {
  it.effect("AD-32: 50,000 keys, half of them interrupted while they wait, are forgotten", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 4, maxQueued: 100 })
      yield* Effect.scoped(Effect.gen(function* () {
        for (let i = 0; i < 25_000; i++) yield* admission.run({ tenant: `served ${i}`, provider: `p${i}` })(Effect.void)
        yield* admission.enter({ tenant: "holder", cost: 4 })
        for (let i = 0; i < 25_000; i++) {
          yield* Fiber.interrupt(yield* started(admission.run({ tenant: `gone ${i}` })(Effect.void)))
        }
        assert.deepInclude(yield* Books.balanced(admission), {
          tenants: 1,
          providers: 0,
          waiting: 0,
          interrupted: 25_000,
        })
      }))
      yield* Books.whole(admission)
    }))

  it.effect("AD-19: a queue that nobody serves is bounded, and those in it are let go in time", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 1, maxQueued: 64, maxWait: "1 second" })
      const permit = yield* admission.enter({ tenant: "a" })
      const answers: Record<string, number> = {}
      const ask = Effect.catch(admission.run({ tenant: "b" })(Effect.void), ({ _tag }) =>
        Effect.sync(() => {
          answers[_tag] = (answers[_tag] ?? 0) + 1
        }))
      const fibers = yield* Effect.forEach(Array(10_000), () => started(ask))
      assert.deepInclude(yield* Books.balanced(admission), { waiting: 64 })
      assert.deepStrictEqual(answers, { QueueFull: 9_936 })
      yield* TestClock.adjust("1 second")
      yield* Fiber.joinAll(fibers)
      assert.deepStrictEqual(answers, { QueueFull: 9_936, WaitExpired: 64 })
      yield* admission.release(permit)
      yield* Books.whole(admission)
    }))

  it("what has ended is not kept: work, answers and permits", async () => {
    const admission = Effect.runSync(Scope.provide(Admission.make({ maxRunning: 1 }), Scope.makeUnsafe()))
    const refs: Array<WeakRef<object>> = []
    const heavy = (): object => {
      const value = { bytes: new Uint8Array(1_000) }
      refs.push(new WeakRef(value))
      return value
    }
    const round = Effect.gen(function* () {
      const waiters: Array<Fiber.Fiber<unknown, unknown>> = []
      yield* Effect.scoped(Effect.gen(function* () {
        const permit = yield* admission.enter({ tenant: "a" })
        for (let i = 0; i < 4; i++) {
          const value = heavy()
          const work = Effect.sync(() => value)
          const waiter = yield* started(Effect.exit(admission.run({ tenant: "b" })(work)))
          if (i % 2 === 0) yield* Fiber.interrupt(waiter)
          waiters.push(waiter)
        }
        yield* admission.release(permit)
      }))
      yield* Fiber.joinAll(waiters.filter((_, i) => i % 2 === 1))
      yield* Books.whole(admission)
    })
    // Many small rounds: a stack that is scanned without knowing what is a reference may keep the whole of one or two.
    for (let i = 0; i < 25; i++) await Effect.runPromise(round)
    await new Promise((resolve) => setTimeout(resolve, 10))
    Garbage.collect()
    await new Promise((resolve) => setTimeout(resolve, 10))
    Garbage.collect()
    const kept = refs.filter((ref) => ref.deref() !== undefined).length
    assert.lengthOf(refs, 100)
    assert.isBelow(kept, 25)
  })
})

describe("the loop", () => {
  it.effect("has 1,000 trivial jobs under a cap of 64 through before any time passes", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 64, maxQueuedPerTenant: 1_000 })
      const job = admission.run({ tenant: "a" })(Effect.yieldNow)
      yield* Effect.all(Array.from({ length: 1_000 }, () => job), { concurrency: "unbounded", discard: true })
      yield* Books.whole(admission)
    }))
})

describe("a place in the line", () => {
  it.effect("AD-11 AD-20: that was given is neither taken by a later one of the same group nor taken back", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 1, maxQueued: 3, maxWait: "1 hour" })
      const permit = yield* admission.enter({ tenant: "a" })
      const order: Array<number> = []
      const ask = (i: number) => admission.run({ tenant: "b" })(Effect.sync(() => order.push(i)))
      const waiters = yield* Effect.forEach([0, 1, 2], (i) => started(ask(i)))
      for (let i = 3; i < 10; i++) assert.strictEqual((yield* Effect.flip(ask(i)))._tag, "QueueFull")
      for (let i = 0; i < 10; i++) yield* TestClock.adjust("1 minute")
      yield* admission.lower({ maxQueuedPerTenant: 3 })
      assert.strictEqual((yield* Effect.flip(admission.lower({ maxQueued: 2 })))._tag, "BelowUse")
      yield* admission.release(permit)
      yield* Fiber.joinAll(waiters)
      assert.deepStrictEqual(order, [0, 1, 2])
      yield* Books.whole(admission)
    }))
})
