/**
 * Lost wake-ups, overtaking and starvation. Fairness over long random loads is simulated in `test/model`.
 *
 * Where Effect's own semaphores do otherwise, the same scenario is run on them, so that the difference stays true.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as PartitionedSemaphore from "effect/PartitionedSemaphore"
import * as Semaphore from "effect/Semaphore"
import * as TestClock from "effect/testing/TestClock"
import * as Admission from "../../core/Admission.ts"
import type { Options } from "../../core/AdmissionOptions.ts"
import type { Permit } from "../../core/Permit.ts"
import * as Sweep from "../../core/testing/Sweep.ts"
import * as Books from "../support/Books.ts"

const started = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })

/** Serves `tenants` for a second of virtual time, each with always one more ask in the line; 10 ms an ask. */
const served = (options: Options, tenants: ReadonlyArray<string>, cost = 1) =>
  Effect.gen(function* () {
    const admission = yield* Admission.make(options)
    const counts: Record<string, number> = {}
    const fibers: Array<Fiber.Fiber<unknown, unknown>> = []
    for (const tenant of tenants) {
      counts[tenant] = 0
      const ask = Effect.tap(
        admission.run({ tenant, cost })(Effect.sleep(10)),
        () => Effect.sync(() => counts[tenant]!++),
      )
      for (let i = 0; i < 4; i++) fibers.push(yield* started(Effect.forever(ask)))
    }
    for (let i = 0; i < 100; i++) yield* TestClock.adjust(10)
    yield* Fiber.interruptAll(fibers)
    yield* Books.whole(admission)
    return counts
  })

describe("lost wake-ups", () => {
  it.effect("AD-6 K-5: what comes back between the look and the place in the line is not missed", () =>
    Effect.gen(function* () {
      const kept: Array<() => void> = []
      const admission = yield* Admission.make({
        maxRunning: 1,
        // It is called after the caller came and before it could be told to wait.
        weights: (tenant) => {
          if (tenant === "late") kept.forEach((release) => release())
          return 1
        },
      })
      const permit = yield* admission.enter({ tenant: "holder" })
      kept.push(() => Effect.runSync(admission.release(permit)))
      assert.strictEqual(yield* admission.run({ tenant: "late" })(Effect.succeed("in")), "in")
      yield* Books.whole(admission)
    }))

  it("AD-15: no schedule turns room into a refusal", () => {
    let refused = 0
    const { runs } = Effect.runSync(
      Sweep.on(Admission.make({ maxRunning: 3, maxPerTenant: 1, maxQueued: 0 })).sweep({
        fibers: (admission) =>
          Object.fromEntries(["a", "b", "c"].map((tenant) => [
            tenant,
            Effect.gen(function* () {
              for (let i = 0; i < 2; i++) {
                yield* admission.run({ tenant, provider: "p" })(Effect.yieldNow)
                yield* Effect.scoped(Effect.andThen(admission.tryEnter({ tenant }), Effect.yieldNow))
              }
            }).pipe(Effect.catch(() => Effect.sync(() => refused++))),
          ])),
        disturb: () => Effect.void,
        oracle: Books.whole,
      }),
    )
    assert.isAbove(runs, 50)
    assert.strictEqual(refused, 0)
  })
})

describe("the cap", () => {
  it.effect("AD-2: holds for 1,000 callers that come in one tick and all see room", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({
        maxRunning: 10,
        maxPerTenant: 4,
        maxQueued: 1_000,
        maxQueuedPerTenant: 1_000,
      })
      let [now, peak] = [0, 0]
      const work = Effect.acquireUseRelease(
        Effect.sync(() => peak = Math.max(peak, ++now)),
        () => Effect.yieldNow,
        () => Effect.sync(() => now--),
      )
      const callers = Array.from({ length: 1_000 }, (_, i) => admission.run({ tenant: `t${i % 7}` })(work))
      yield* Effect.all(callers, { concurrency: "unbounded" })
      assert.strictEqual(peak, 10)
      yield* Books.whole(admission)
    }))

  it.effect("AD-17: a lower class does not ride on units that a higher one has opened", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 4, reserved: { control: 2 } })
      const rides: Array<Permit> = []
      yield* Effect.scoped(Effect.gen(function* () {
        const control = yield* Effect.forEach([1, 2, 3, 4], () => admission.enter({ tenant: "c", priority: "control" }))
        const waiting = yield* started(Effect.forEach([1, 2, 3, 4], () =>
          Effect.tap(admission.enter({ tenant: "n" }), (permit) =>
            Effect.sync(() => rides.push(permit)))))
        for (const permit of control) {
          yield* admission.release(permit)
        }
        assert.strictEqual(rides.length, 2)
        yield* Fiber.interrupt(waiting)
      }))
      yield* Books.whole(admission)
    }))
})

describe("starvation", () => {
  it.effect("AD-11: of 512 that wait for 16 units none waits longer than its position asks for", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 16, maxQueuedPerTenant: 600, maxWait: "1 hour" })
      const order: Array<number> = []
      const fibers: Array<Fiber.Fiber<unknown, unknown>> = []
      for (let i = 0; i < 512; i++) {
        fibers.push(
          yield* started(
            admission.run({ tenant: "a" })(Effect.andThen(Effect.sync(() => order.push(i)), Effect.sleep(10))),
          ),
        )
      }
      for (let round = 1; round <= 32; round++) {
        assert.strictEqual(order.length, 16 * round)
        yield* TestClock.adjust(10)
      }
      assert.deepStrictEqual(order, Array.from({ length: 512 }, (_, i) => i))
      yield* Fiber.joinAll(fibers)
      yield* Books.whole(admission)
    }))

  it.effect("AD-8: tenants with the same load get the same, whatever their names", () =>
    Effect.gen(function* () {
      for (const names of [["a", "m", "z"], ["z", "m", "a"], ["\u0100", "B", "!"]]) {
        const counts = Object.values(yield* served({ maxRunning: 1 }, names))
        assert.isAtMost(Math.max(...counts) - Math.min(...counts), 1)
        assert.isAtLeast(counts.reduce((sum, each) => sum + each, 0), 98)
      }
    }))

  it.effect("AD-8: one that comes to a full house gets its share within one service time", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 4, maxWait: "1 hour" })
      const incumbents: Array<Fiber.Fiber<unknown, unknown>> = []
      for (let i = 0; i < 60; i++) {
        incumbents.push(yield* started(Effect.forever(admission.run({ tenant: "a" })(Effect.sleep(10)))))
      }
      yield* TestClock.adjust(100)
      const newcomers = yield* Effect.forEach(
        [1, 2],
        () => started(Effect.forever(admission.run({ tenant: "b" })(Effect.sleep(10)))),
      )
      yield* TestClock.adjust(10)
      const held = (yield* admission.holders).filter(({ state }) => state === "held")
      assert.strictEqual(held.filter(({ tenant }) => tenant === "b").length, 2)
      yield* Fiber.interruptAll([...incumbents, ...newcomers])
      yield* Books.whole(admission)
    }))

  it.effect("AD-12: one that was idle for an hour has nothing saved up", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 1, maxWait: "1 hour" })
      const order: Array<string> = []
      const ask = (tenant: string) =>
        admission.run({ tenant })(Effect.andThen(Effect.sync(() => order.push(tenant)), Effect.sleep(1_000)))
      yield* Effect.asVoid(started(ask("idle")))
      yield* TestClock.adjust(1_000)
      const busy = yield* Effect.forEach([1, 2], () => started(Effect.forever(ask("busy"))))
      yield* TestClock.adjust("1 hour")
      order.length = 0
      const burst = yield* Effect.forEach(Array(20), () => started(ask("idle")))
      for (let i = 0; i < 20; i++) yield* TestClock.adjust(1_000)
      assert.isAtMost(order.filter((tenant) => tenant === "idle").length, 11)
      assert.notMatch(order.join(" "), /idle idle/)
      yield* Fiber.interruptAll([...busy, ...burst])
      yield* Books.whole(admission)
    }))

  it.effect("AD-16: low priority work is served at all under steady work of a higher one", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 1, maxWait: "1 second" })
      const flood = yield* Effect.forEach(
        [1, 2, 3],
        () => started(Effect.forever(admission.run({ tenant: "c", priority: "control" })(Effect.sleep(10)))),
      )
      const normal = yield* started(admission.run({ tenant: "n" })(Effect.succeed("served")))
      for (let i = 0; i < 99; i++) yield* TestClock.adjust(10)
      assert.strictEqual(normal.pollUnsafe()?._tag, "Success")
      yield* Fiber.interruptAll(flood)
      yield* Books.whole(admission)
    }))
})

/** Four workers that ask for one unit of two again and again, and one that asks for both. */
const large = (small: Effect.Effect<void, unknown>, both: Effect.Effect<void, unknown>) =>
  Effect.gen(function* () {
    const workers: Array<Fiber.Fiber<unknown, unknown>> = []
    for (let i = 0; i < 4; i++) {
      workers.push(yield* started(Effect.forever(small)))
      yield* TestClock.adjust(3)
    }
    const waiting = yield* started(both)
    for (let i = 0; i < 200; i++) yield* TestClock.adjust(5)
    const isServed = waiting.pollUnsafe() !== undefined
    yield* Fiber.interruptAll([...workers, waiting])
    return isServed
  })

describe("expected of a semaphore", () => {
  it.effect("AD-14: a large request is served while small ones keep coming; Effect's Semaphore starves it", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 2, maxWait: "1 minute" })
      const semaphore = yield* Semaphore.make(2)
      const ours = large(
        admission.run({ tenant: "small" })(Effect.sleep(10)),
        admission.run({ tenant: "large", cost: 2 })(Effect.void),
      )
      assert.isTrue(yield* ours)
      yield* Books.whole(admission)
      assert.isFalse(yield* large(semaphore.withPermits(1)(Effect.sleep(10)), semaphore.withPermits(2)(Effect.void)))
    }))

  it.effect("AD-7: nobody passes one that waits by asking for what is free at once; Effect's Semaphore lets them", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 2, maxBypass: 0 })
      const holder = yield* started(admission.run({ tenant: "a" })(Effect.never))
      const waiter = yield* started(admission.run({ tenant: "b", cost: 2 })(Effect.never))
      assert.strictEqual((yield* Effect.flip(Effect.scoped(admission.tryEnter({ tenant: "c" }))))._tag, "WouldWait")
      yield* Fiber.interruptAll([waiter, holder])
      yield* Books.whole(admission)
      const semaphore = yield* Semaphore.make(2)
      const theirs = [
        yield* started(semaphore.withPermits(1)(Effect.never)),
        yield* started(semaphore.withPermits(2)(Effect.never)),
      ]
      assert.strictEqual((yield* semaphore.withPermitsIfAvailable(1)(Effect.void))._tag, "Some")
      yield* Fiber.interruptAll(theirs)
    }))

  it.effect("AD-18: more than the capacity is refused at once; Effect's semaphores wait for it for ever", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 2 })
      const refused = yield* Effect.flip(admission.run({ tenant: "a", cost: 3 })(Effect.void))
      assert.deepInclude(refused, { _tag: "NeverFits", account: "total", cost: 3, limit: 2 })
      yield* Books.whole(admission)
      const semaphore = yield* Semaphore.make(2)
      const partitioned = yield* PartitionedSemaphore.make<string>({ permits: 2 })
      const theirs = [
        yield* started(semaphore.withPermits(3)(Effect.void)),
        yield* started(partitioned.withPermits("a", 3)(Effect.void)),
      ]
      yield* TestClock.adjust("1 day")
      for (const fiber of theirs) assert.isUndefined(fiber.pollUnsafe())
      yield* Fiber.interruptAll(theirs)
    }))

  it.effect("AD-10: more keys do not buy more; of Effect's PartitionedSemaphore they buy nearly all", () =>
    Effect.gen(function* () {
      /** How often the honest one was served in 200 turns, beside one that splits itself over 100 keys. */
      const honest = (ask: (tenant: string, key: string, work: Effect.Effect<void>) => Effect.Effect<void, unknown>) =>
        Effect.gen(function* () {
          let [count, turns] = [0, 0]
          const fibers: Array<Fiber.Fiber<unknown, unknown>> = []
          const work = (tenant: string) =>
            Effect.andThen(
              Effect.sync(() => {
                turns++
                if (tenant === "honest") count++
              }),
              Effect.sleep(10),
            )
          for (let i = 0; i < 100; i++) {
            fibers.push(yield* started(Effect.forever(ask("greedy", `key ${i}`, work("greedy")))))
          }
          for (let i = 0; i < 4; i++) {
            fibers.push(yield* started(Effect.forever(ask("honest", "key", work("honest")))))
          }
          for (let i = 0; i < 200; i++) yield* TestClock.adjust(10)
          yield* Fiber.interruptAll(fibers)
          return count / turns
        })
      const admission = yield* Admission.make({ maxRunning: 1, maxWait: "1 hour" })
      const partitioned = yield* PartitionedSemaphore.make<string>({ permits: 1 })
      const ours = yield* honest((tenant, provider, work) => admission.run({ tenant, provider })(work))
      const theirs = yield* honest((tenant, key, work) => partitioned.withPermits(`${tenant} ${key}`, 1)(work))
      assert.approximately(ours, 0.5, 0.02)
      assert.isBelow(theirs, 0.05)
      yield* Books.whole(admission)
    }))
})
