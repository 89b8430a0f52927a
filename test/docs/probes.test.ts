/**
 * What README says of the modules of Effect that stand next to Admission, as programs that show it, and where it applies
 * the same program on Admission or on a gate. What they say of starvation and of overtaking is in `test/hazard/starvation.test.ts`.
 * When a new Effect fails one of these, the README is wrong about it: correct both.
 */
import { describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as PartitionedSemaphore from "effect/PartitionedSemaphore"
import * as CircuitBreaker from "effect/persistence/CircuitBreaker"
import * as Pool from "effect/Pool"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as TestClock from "effect/testing/TestClock"
import * as Admission from "../../core/Admission.ts"
import * as Deadline from "../../core/Deadline.ts"
import * as ProviderGate from "../../core/ProviderGate.ts"

/** Lets every fiber run that can. */
const settle = Effect.repeat(Effect.yieldNow, { times: 20 })

const isWaiting = (fiber: Fiber.Fiber<unknown, unknown>): boolean => fiber.pollUnsafe() === undefined

/** Starts `effect` and lets it come as far as it can without anybody's help. */
const start = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.tap(Effect.forkChild(effect), () => settle)

/** Runs one job for each key, all behind one place that is taken, and tells the order in which they were served. */
const served = <K extends string, E>(
  keys: ReadonlyArray<K>,
  behind: (key: K) => <A>(work: Effect.Effect<A>) => Effect.Effect<A, E>,
) =>
  Effect.gen(function* () {
    const order: Array<K> = []
    const gate = yield* Deferred.make<void>()
    const first = yield* start(behind(keys[0]!)(Deferred.await(gate)))
    const fibers = yield* Effect.forEach(keys, (key) => start(behind(key)(Effect.sync(() => order.push(key)))))
    yield* Deferred.succeed(gate, undefined)
    yield* Fiber.join(first)
    yield* Fiber.joinAll(fibers)
    return order
  })

const flood = [...Array.from({ length: 8 }, () => "flood"), "small"]

describe("Semaphore", () => {
  it.effect("serves a flood first: it knows no keys", () =>
    Effect.gen(function* () {
      const semaphore = yield* Semaphore.make(1)
      const order = yield* served(flood, () => semaphore.withPermit)
      expect(order.indexOf("small")).toBe(8)

      const admission = yield* Admission.make({ maxRunning: 1 })
      const fair = yield* served(flood, (tenant) => admission.run({ tenant }))
      expect(fair.indexOf("small")).toBe(1)
    }))

  it.effect("has a queue without an end, and a wait without one", () =>
    Effect.gen(function* () {
      const semaphore = yield* Semaphore.make(1)
      yield* semaphore.take(1)
      const waiters = yield* Effect.replicateEffect(Effect.forkChild(semaphore.take(1)), 5_000)
      yield* settle
      yield* TestClock.adjust("1 day")
      expect(waiters.every(isWaiting)).toBe(true)

      const admission = yield* Admission.make({ maxRunning: 1, maxQueued: 1, maxWait: "1 second" })
      const enter = admission.enter({ tenant: "one" })
      yield* enter
      const waiter = yield* start(Effect.flip(enter))
      expect((yield* Effect.flip(enter))._tag).toBe("QueueFull")
      yield* TestClock.adjust("1 second")
      expect((yield* Fiber.join(waiter))._tag).toBe("WaitExpired")
    }))
})

describe("PartitionedSemaphore", () => {
  it.effect("takes turns between keys", () =>
    Effect.gen(function* () {
      const semaphore = yield* PartitionedSemaphore.make<string>({ permits: 1 })
      const order = yield* served(flood, (key) => PartitionedSemaphore.withPermits(semaphore, key, 1))
      expect(order.indexOf("small")).toBeLessThan(3)
    }))

  it.effect("has one cap: a key alone may take all of it", () =>
    Effect.gen(function* () {
      const semaphore = yield* PartitionedSemaphore.make<string>({ permits: 4 })
      yield* PartitionedSemaphore.take(semaphore, "flood", 4)
      const small = yield* start(PartitionedSemaphore.take(semaphore, "small", 1))
      expect(isWaiting(small)).toBe(true)

      const admission = yield* Admission.make({ maxRunning: 4, maxPerTenant: 3 })
      yield* Effect.replicateEffect(admission.enter({ tenant: "flood" }), 3)
      expect((yield* Effect.flip(admission.tryEnter({ tenant: "flood" })))._tag).toBe("WouldWait")
      yield* admission.tryEnter({ tenant: "small" })
    }))
})

describe("Pool", () => {
  it.effect("stops growing while one acquire hangs", () =>
    Effect.gen(function* () {
      let acquires = 0
      const pool = yield* Pool.makeWithTTL({
        acquire: Effect.suspend(() => ++acquires === 1 ? Effect.never : Effect.succeed(acquires)),
        min: 0,
        max: 4,
        timeToLive: "1 minute",
      })
      const waiters = yield* Effect.replicateEffect(start(Pool.get(pool)), 4)
      yield* TestClock.adjust("1 hour")
      expect([acquires, waiters.every(isWaiting)]).toEqual([1, true])
    }))

  it.effect("has more open than max while one that was invalidated is in use", () =>
    Effect.gen(function* () {
      let open = 0
      const pool = yield* Pool.make({
        acquire: Effect.acquireRelease(Effect.sync(() => ++open), () => Effect.sync(() => open--)),
        size: 1,
      })
      yield* Pool.invalidate(pool, yield* Pool.get(pool))
      yield* start(Effect.scoped(Pool.get(pool)))
      expect(open).toBe(2)
    }))

  it.effect("interrupts whoever waits on it when it is closed, and waits for its holders without a bound", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const pool = yield* Scope.provide(Pool.make({ acquire: Effect.succeed(1), size: 1 }), scope)
      yield* Pool.get(pool)
      const waiter = yield* start(Effect.scoped(Pool.get(pool)))
      const closing = yield* start(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("1 day")
      expect(Exit.hasInterrupts(yield* Fiber.await(waiter))).toBe(true)
      expect(isWaiting(closing)).toBe(true)

      const drained = yield* Effect.scoped(Effect.gen(function* () {
        const admission = yield* Admission.make({ maxRunning: 1 })
        yield* admission.enter({ tenant: "one" })
        const waiting = yield* start(Effect.flip(admission.run({ tenant: "two" })(Effect.void)))
        const draining = yield* start(Effect.flatMap(Deadline.after("1 second"), admission.drain))
        yield* TestClock.adjust("1 second")
        expect((yield* Fiber.join(waiting))._tag).toBe("Closed")
        return yield* Fiber.join(draining)
      }))
      expect([drained.clean, drained.held, drained.refused]).toEqual([false, 1, 1])
    }))

  it.effect("has a queue without an end", () =>
    Effect.gen(function* () {
      const pool = yield* Pool.make({ acquire: Effect.succeed(1), size: 1 })
      yield* Pool.get(pool)
      const waiters = yield* Effect.replicateEffect(Effect.forkChild(Effect.scoped(Pool.get(pool))), 5_000)
      yield* settle
      yield* TestClock.adjust("1 day")
      expect(waiters.every(isWaiting)).toBe(true)
    }))
})

describe("CircuitBreaker", () => {
  const opened = Effect.gen(function* () {
    const breaker = yield* CircuitBreaker.make({ tripPolicy: CircuitBreaker.consecutive(1), openDuration: "1 second" })
    const execute = breaker.execute({ key: "mail" })
    yield* Effect.flip(execute(Effect.fail("down")))
    yield* TestClock.adjust("2 seconds")
    return execute
  })

  it.effect("stays shut out for as long as its probe hangs", () =>
    Effect.gen(function* () {
      const execute = yield* opened
      const probe = yield* start(execute(Effect.never))
      yield* TestClock.adjust("1 day")
      const refused = yield* Effect.flip(execute(Effect.succeed("up")))
      expect(refused).toMatchObject({ reason: { _tag: "CircuitHalfOpen" } })
      yield* Fiber.interrupt(probe)

      const gate = yield* ProviderGate.make({ failureThreshold: 1, recoveryAfter: "1 second", maxElapsed: "5 seconds" })
      const ask = { tenant: "mail" }
      yield* Effect.flip(gate.run(ask, Effect.fail("down")))
      yield* TestClock.adjust("2 seconds")
      const hung = yield* start(Effect.flip(gate.run(ask, Effect.never)))
      yield* TestClock.adjust("6 seconds")
      expect(yield* Fiber.join(hung)).toMatchObject({ _tag: "CallTimedOut" })
      expect(yield* gate.run(ask, Effect.succeed("up"))).toBe("up")
    }).pipe(Effect.provide(CircuitBreaker.layerStoreMemory())))

  it.effect("does not bound how many calls run", () =>
    Effect.gen(function* () {
      const breaker = yield* CircuitBreaker.make({ tripPolicy: CircuitBreaker.consecutive(1), openDuration: 1_000 })
      let running = 0
      const call = breaker.execute({ key: "mail" })(Effect.andThen(Effect.sync(() => running++), Effect.never))
      yield* Effect.replicateEffect(Effect.forkChild(call), 1_000)
      yield* settle
      expect(running).toBe(1_000)

      running = 0
      const gate = yield* ProviderGate.make({ concurrency: 8, reservedControl: 0, tenantConcurrency: 8 })
      const bound = gate.run({ tenant: "mail" }, Effect.andThen(Effect.sync(() => running++), Effect.never))
      yield* Effect.replicateEffect(Effect.forkChild(Effect.exit(bound)), 1_000)
      yield* settle
      expect(running).toBe(8)
    }).pipe(Effect.provide(CircuitBreaker.layerStoreMemory())))
})
