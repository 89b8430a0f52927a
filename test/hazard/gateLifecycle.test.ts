/**
 * Lifecycle, memory and overload at a gate and in a set of gates: work without an end, things given back twice, keys and
 * queues without an end, a failure that is remembered.
 *
 * Not here, since a gate opens, retries, rotates, stores and locks nothing and has no shutdown: late closes, hot retries
 * of an opening, epoch races, stale credentials, all of sockets, of HTTP and across processes. Secrets: PG-43, PG-44.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as RcMap from "effect/RcMap"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import * as GateLine from "../../core/GateLine.ts"
import type { Options } from "../../core/GateOptions.ts"
import * as ProviderGate from "../../core/ProviderGate.ts"
import * as ProviderGates from "../../core/ProviderGates.ts"
import { wicketOf } from "../../core/Wicket.ts"
import * as Garbage from "../support/Garbage.ts"
import * as Books from "../support/GateBooks.ts"

const started = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })
const options: Options = {
  concurrency: 4,
  reservedControl: 0,
  tenantConcurrency: 4,
  failureThreshold: 1,
  recoveryAfter: "10 seconds",
  maxElapsed: "2 seconds",
}
const ask = { tenant: "a" } as const

describe("a time limit", () => {
  it.effect("PG-23: is kept though a finalizer never returns; the place is counted until it has", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make(options)
      const end = yield* Deferred.make<void>()
      const stuck = yield* started(Effect.exit(gate.run(ask, Effect.ensuring(Effect.never, Deferred.await(end)))))
      yield* TestClock.adjust("2 seconds")
      // The circuit has heard of it, and knows by it that the provider is ill.
      assert.deepInclude(yield* Books.balanced(gate), { held: 1, timedOut: 1, failures: 1, opened: 1 })
      yield* TestClock.adjust("10 seconds")
      yield* gate.run(ask, Effect.void)
      assert.deepInclude(yield* Books.balanced(gate), { held: 1, circuit: { state: "closed", failures: 0 } })
      assert.isUndefined(stuck.pollUnsafe())
      yield* Deferred.succeed(end, undefined)
      yield* Fiber.join(stuck)
      yield* Books.whole(gate, 4)
    }))

  it.effect("PG-46 PG-23: an opening answers all of 1,024 that wait, at once and with a typed error", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make({ ...options, concurrency: 1, tenantConcurrency: 1 })
      const line = yield* GateLine.make(gate, { maxQueued: 1_024 })
      // It fails at its time limit, and its place comes free long after.
      const call = yield* started(Effect.exit(gate.run(ask, Effect.uninterruptible(Effect.sleep("1 hour")))))
      const waiters = yield* Effect.forEach(
        Array(1_024),
        () => started(Effect.flip(Effect.scoped(line.enter(ask)))),
      )
      yield* TestClock.adjust("2 seconds")
      for (const refused of yield* Fiber.joinAll(waiters)) assert.strictEqual(refused._tag, "CircuitOpen")
      assert.deepInclude(yield* Books.balanced(gate), { held: 1, refusedOpen: 1_024 })
      assert.strictEqual(yield* line.waiting, 0)
      yield* TestClock.adjust("1 hour")
      yield* Fiber.join(call)
      yield* gate.run(ask, Effect.void)
      yield* Books.whole(gate, 1)
    }))
})

describe("giving back", () => {
  it.effect("PG-15 PG-16 PG-17: twice, after the end, or by a stranger is a typed misuse that puts nothing in twice", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make(options)
      const stranger = yield* ProviderGate.make(options)
      const misuse = (permit: ProviderGate.GatePermit, of = gate) =>
        Effect.map(Effect.flip(of.settle(permit, "failure")), ({ reason }) => reason)
      const scope = yield* Scope.make()
      const [first, second] = [yield* gate.tryEnter(ask), yield* Scope.provide(gate.tryEnter(ask), scope)]
      assert.strictEqual(yield* misuse(first, stranger), "foreign-gate")
      yield* gate.settle(first, "success")
      for (let i = 0; i < 5; i++) assert.strictEqual(yield* misuse(first), "already-settled")
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(yield* misuse(second), "already-settled")
      assert.deepInclude(yield* Books.settled(gate), { successes: 1, neutral: 1, failures: 0 })
      yield* Books.whole(gate, 4)
      yield* Books.whole(stranger, 4)
    }).pipe(Effect.scoped))

  it.effect("PG-17 PG-48: to a gate that was forgotten meanwhile moves nothing of the one that has its key now", () =>
    Effect.gen(function* () {
      const gates = yield* ProviderGates.make({ gate: options, maxGates: 1 })
      const old = yield* gates.get("mail")
      yield* gates.get("geo")
      const now = yield* gates.get("mail")
      assert.notStrictEqual(now, old)
      const permits = [yield* old.tryEnter(ask), yield* now.tryEnter(ask)]
      assert.deepInclude(yield* Effect.flip(now.settle(permits[0]!, "failure")), { reason: "foreign-gate" })
      yield* old.settle(permits[0]!, "failure")
      assert.deepInclude(yield* Books.balanced(now), { held: 1, failures: 0 })
      assert.strictEqual(yield* gates.get("mail"), now)
      yield* now.settle(permits[1]!, "success")
      yield* Books.whole(now, 4)
      yield* Books.settled(old)
    }).pipe(Effect.scoped))
})

describe("memory", () => {
  it.effect("PG-35: 50,000 tenants, half of them interrupted while they wait, are forgotten", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make({ ...options, maxElapsed: "10 minutes" })
      const line = yield* GateLine.make(gate)
      const { keys } = wicketOf(gate)!.gate
      for (let i = 0; i < 25_000; i++) yield* gate.run({ tenant: `served ${i}` }, Effect.void)
      yield* Effect.scoped(Effect.gen(function* () {
        for (let i = 0; i < 4; i++) yield* gate.tryEnter(ask)
        for (let i = 0; i < 25_000; i++) {
          yield* Fiber.interrupt(yield* started(Effect.scoped(line.enter({ tenant: `gone ${i}` }))))
        }
        assert.deepInclude(yield* Books.balanced(gate), { tenantsActive: 1, held: 4 })
        assert.isAtMost(keys.tenants.size, 1_025)
      }))
      assert.isAtMost(keys.tenants.size, 1_025)
      yield* Books.whole(gate, 4)
    }))

  it.effect("PG-48: 50,000 providers whose names differ by a slash are no more than the ceiling", () =>
    Effect.gen(function* () {
      const gates = yield* ProviderGates.make({ gate: options })
      for (let i = 0; i < 25_000; i++) {
        for (const slash of ["", "/"]) {
          const gate = yield* gates.get(`https://provider-${i}.example.com${slash}`)
          yield* gate.run(ask, Effect.void)
        }
      }
      assert.strictEqual((yield* gates.snapshotAll).size, 64)
    }))

  it("PG-35 PG-48: what has ended is not kept: work, answers, permits, and gates that gave way", async () => {
    const refs: Array<WeakRef<object>> = []
    const heavy = <T extends object>(value: T): T => {
      refs.push(new WeakRef(value))
      return value
    }
    const gates = Effect.runSync(ProviderGates.make({ gate: options, maxGates: 1 }))
    const kept = Effect.runSync(gates.get("kept"))
    await Effect.runPromise(Effect.gen(function* () {
      for (let i = 0; i < 25; i++) {
        const value = heavy({ bytes: new Uint8Array(1_000) })
        yield* kept.run(ask, Effect.sync(() => value))
        yield* kept.run(ask, Effect.andThen(Effect.yieldNow, Effect.sync(() => value)))
        heavy(yield* Effect.scoped(Effect.tap(kept.tryEnter(ask), (permit) => kept.settle(permit, "success"))))
        yield* Fiber.interrupt(yield* started(kept.run(ask, Effect.as(Effect.never, value))))
        heavy(yield* gates.get(`gave way ${i}`))
      }
    }))
    await new Promise((resolve) => setTimeout(resolve, 10))
    Garbage.collect()
    await new Promise((resolve) => setTimeout(resolve, 10))
    Garbage.collect()
    const alive = refs.filter((ref) => ref.deref() !== undefined).length
    assert.lengthOf(refs, 75)
    // The last gate is kept by the set; a stack that is scanned without knowing what is a reference may keep a few. What is
    // kept for good is one of each round.
    assert.isBelow(alive, 20)
    Effect.runSync(Books.whole(kept, 4))
  })
})

describe("a set of gates", () => {
  it.effect("PG-48: does not serve a failure again: the next one asks anew; RcMap serves it", () =>
    Effect.gen(function* () {
      let asked = 0
      const gates = yield* ProviderGates.make({ gate: () => ({ concurrency: asked++ === 0 ? 0 : 1 }) })
      assert.deepInclude(yield* Effect.flip(gates.get("mail")), { _tag: "InvalidLimits" })
      yield* Books.whole(yield* gates.get("mail"), 1)

      let looked = 0
      const map = yield* RcMap.make({
        lookup: () => Effect.suspend(() => looked++ === 0 ? Effect.fail("down") : Effect.succeed("up")),
        idleTimeToLive: "1 minute",
      })
      const exits = yield* Effect.replicateEffect(Effect.exit(Effect.scoped(RcMap.get(map, "mail"))), 2)
      assert.deepStrictEqual([looked, ...exits.map(({ _tag }) => _tag)], [1, "Failure", "Failure"])
    }).pipe(Effect.scoped))

  it.effect("PG-48: that is full makes room where a gate is idle; RcMap refuses", () =>
    Effect.gen(function* () {
      const gates = yield* ProviderGates.make({ gate: options, maxGates: 1 })
      yield* gates.get("mail")
      yield* gates.get("geo")
      assert.deepStrictEqual([...(yield* gates.snapshotAll).keys()], ["geo"])

      const map = yield* RcMap.make({ lookup: Effect.succeed<string>, capacity: 1, idleTimeToLive: "1 minute" })
      yield* Effect.scoped(RcMap.get(map, "mail"))
      assert.include(String(yield* Effect.exit(Effect.scoped(RcMap.get(map, "geo")))), "ExceededCapacity")
    }).pipe(Effect.scoped))
})
