/**
 * Lost places, overtaking and starvation at a gate and in its line. The line is the one that Admission stands in, so the
 * long random loads of `test/model` hold for it too; here is that the gate hands it what it needs for that.
 *
 * Not here, since a gate knows tenants alone and a call takes one place: splitting over providers, large requests.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import type { Priority } from "../../core/AdmissionOptions.ts"
import * as GateLine from "../../core/GateLine.ts"
import type { Options } from "../../core/GateOptions.ts"
import * as ProviderGate from "../../core/ProviderGate.ts"
import * as Sweep from "../../core/testing/Sweep.ts"
import * as Books from "../support/GateBooks.ts"

const started = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })
const places = (concurrency: number): Options => ({
  concurrency,
  reservedControl: 0,
  tenantConcurrency: concurrency,
  maxElapsed: "10 minutes",
})

/** A gate with a line, and a call of it: in its turn `work`, then a success. */
const lined = (options: Options, line: GateLine.Options = { maxQueued: 1_024, maxWait: "1 minute" }) =>
  Effect.gen(function* () {
    const gate = yield* ProviderGate.make(options)
    const { enter, waiting } = yield* GateLine.make(gate, line)
    const call = (tenant: string, work: Effect.Effect<unknown>, priority?: Priority) =>
      Effect.scoped(
        Effect.flatMap(
          enter({ tenant, priority }),
          (permit) => Effect.andThen(work, gate.settle(permit, "success")),
        ),
      )
    return { gate, call, waiting }
  })

describe("the cap", () => {
  it.effect("PG-1 PG-3 PG-27: holds for 1,000 callers that come in one tick and all see room; the rest are refused", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make({ ...places(10), tenantConcurrency: 4 })
      let [now, peak] = [0, 0]
      const work = Effect.acquireUseRelease(
        Effect.sync(() => peak = Math.max(peak, ++now)),
        () => Effect.yieldNow,
        () => Effect.sync(() => now--),
      )
      const callers = Array.from({ length: 1_000 }, (_, i) => Effect.result(gate.run({ tenant: `t${i % 7}` }, work)))
      const results = yield* Effect.all(callers, { concurrency: "unbounded" })
      const { granted, saturated } = yield* Books.settled(gate)
      assert.strictEqual(peak, 10)
      assert.strictEqual(granted, results.filter(({ _tag }) => _tag === "Success").length)
      const { ordinary, provider, tenant } = saturated
      assert.strictEqual(ordinary + provider + tenant, 1_000 - granted)
      yield* Books.whole(gate, 10)
    }))

  it.effect("PG-2: ordinary work does not ride on places that control has left", () =>
    Effect.gen(function* () {
      const { call, gate, waiting } = yield* lined({ ...places(4), reservedControl: 2 })
      const control = yield* Effect.forEach(
        [1, 2, 3, 4],
        (seconds) => started(call("c", Effect.sleep(`${seconds} seconds`), "control")),
      )
      const ordinary = yield* Effect.forEach([1, 2, 3, 4], () => started(call("n", Effect.never)))
      yield* TestClock.adjust("10 seconds")
      yield* Effect.forEach(control, Fiber.join)
      assert.deepInclude(yield* Books.balanced(gate), { held: 2, heldOrdinary: 2 })
      assert.strictEqual(yield* waiting, 2)
      yield* Fiber.interruptAll(ordinary)
      yield* Books.whole(gate, 4)
      // Nor does it without a line.
      yield* Effect.scoped(Effect.gen(function* () {
        const control = yield* Effect.forEach(Array(4), () => gate.tryEnter({ tenant: "c", priority: "control" }))
        for (const permit of control) {
          yield* gate.settle(permit, "success")
          yield* Effect.exit(gate.tryEnter({ tenant: "n" }))
        }
        assert.deepInclude(yield* Books.balanced(gate), { held: 2, heldOrdinary: 2 })
      }))
      yield* Books.whole(gate, 4)
    }))

  it("PG-27 PG-33: no schedule turns room into a refusal", () => {
    let refused = 0
    const { runs } = Effect.runSync(
      Sweep.on(ProviderGate.make({ ...places(3), tenantConcurrency: 1 })).sweep({
        fibers: (gate) =>
          Object.fromEntries(["a", "b", "c"].map((tenant) => [
            tenant,
            Effect.gen(function* () {
              for (let i = 0; i < 2; i++) {
                yield* gate.run({ tenant }, Effect.yieldNow)
                yield* Effect.scoped(Effect.andThen(gate.tryEnter({ tenant }), Effect.yieldNow))
              }
            }).pipe(Effect.catch(() => Effect.sync(() => refused++))),
          ])),
        disturb: () => Effect.void,
        oracle: (gate) => Books.whole(gate, 3),
      }),
    )
    assert.isAbove(runs, 50)
    assert.strictEqual(refused, 0)
  })

  it.effect("PG-23 PG-25: one call that hangs takes one place, and stops nobody else", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make({ ...places(2), failureThreshold: 1_000 })
      const hung = yield* started(gate.run({ tenant: "a" }, Effect.never))
      for (let i = 0; i < 1_000; i++) yield* gate.run({ tenant: "a" }, Effect.void)
      assert.deepInclude(yield* Books.balanced(gate), { held: 1, successes: 1_000 })
      yield* Fiber.interrupt(hung)
      yield* Books.whole(gate, 2)
    }))
})

describe("a line", () => {
  it.effect("PG-46: of 512 that wait for 16 places none waits longer than its position asks for", () =>
    Effect.gen(function* () {
      const { call, gate } = yield* lined(places(16))
      const order: Array<number> = []
      const fibers = []
      for (let i = 0; i < 512; i++) {
        fibers.push(yield* started(call("a", Effect.andThen(Effect.sync(() => order.push(i)), Effect.sleep(10)))))
      }
      for (let round = 1; round <= 32; round++) {
        assert.strictEqual(order.length, 16 * round)
        yield* TestClock.adjust(10)
      }
      assert.deepStrictEqual(order, Array.from({ length: 512 }, (_, i) => i))
      yield* Fiber.joinAll(fibers)
      yield* Books.whole(gate, 16)
    }))

  it.effect("PG-46: gives tenants with the same load the same, whatever their names", () =>
    Effect.gen(function* () {
      for (const names of [["a", "m", "z"], ["z", "m", "a"], ["\u0100", "B", "!"]]) {
        const { call, gate } = yield* lined(places(1))
        const counts = new Map(names.map((name) => [name, 0]))
        const fibers = []
        for (const name of names) {
          const served = call(
            name,
            Effect.andThen(Effect.sleep(10), Effect.sync(() => counts.set(name, counts.get(name)! + 1))),
          )
          for (let i = 0; i < 4; i++) fibers.push(yield* started(Effect.forever(served)))
        }
        for (let i = 0; i < 100; i++) yield* TestClock.adjust(10)
        yield* Fiber.interruptAll(fibers)
        const each = [...counts.values()]
        assert.isAtMost(Math.max(...each) - Math.min(...each), 1)
        assert.isAtLeast(each.reduce((sum, count) => sum + count, 0), 98)
        yield* Books.whole(gate, 1)
      }
    }))

  it.effect("PG-46: gives one that comes to a full house its share within one service time", () =>
    Effect.gen(function* () {
      const { call, gate } = yield* lined(places(4))
      const held = { a: 0, b: 0 }
      const holding = (tenant: "a" | "b") =>
        call(
          tenant,
          Effect.acquireUseRelease(
            Effect.sync(() => held[tenant]++),
            () => Effect.sleep(10),
            () => Effect.sync(() => held[tenant]--),
          ),
        )
      const fibers = []
      for (let i = 0; i < 60; i++) fibers.push(yield* started(Effect.forever(holding("a"))))
      yield* TestClock.adjust(100)
      for (let i = 0; i < 2; i++) fibers.push(yield* started(Effect.forever(holding("b"))))
      yield* TestClock.adjust(10)
      assert.deepStrictEqual(held, { a: 2, b: 2 })
      yield* Fiber.interruptAll(fibers)
      yield* Books.whole(gate, 4)
    }))

  it.effect("PG-46: owes nothing to one that was idle for an hour", () =>
    Effect.gen(function* () {
      const { call, gate } = yield* lined(places(1))
      const order: Array<string> = []
      const ask = (tenant: string) =>
        call(tenant, Effect.andThen(Effect.sync(() => order.push(tenant)), Effect.sleep("1 second")))
      const idle = yield* started(ask("idle"))
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(idle)
      const busy = yield* Effect.forEach([1, 2], () => started(Effect.forever(ask("busy"))))
      yield* TestClock.adjust("1 hour")
      order.length = 0
      const burst = yield* Effect.forEach(Array(20), () => started(ask("idle")))
      for (let i = 0; i < 20; i++) yield* TestClock.adjust("1 second")
      assert.isAtMost(order.filter((tenant) => tenant === "idle").length, 11)
      assert.notMatch(order.join(" "), /idle idle/)
      yield* Fiber.interruptAll([...busy, ...burst])
      yield* Books.whole(gate, 1)
    }))

  it.effect("PG-47: serves low priority work at all under steady work of a higher one", () =>
    Effect.gen(function* () {
      for (const [higher, lower] of [["control", "normal"], ["normal", "notification"]] as const) {
        const { call, gate } = yield* lined(places(1), { maxWait: "1 second" })
        const flood = yield* Effect.forEach(
          [1, 2, 3],
          () => started(Effect.forever(call("flood", Effect.sleep(10), higher))),
        )
        const low = yield* started(call("low", Effect.void, lower))
        for (let i = 0; i < 99; i++) yield* TestClock.adjust(10)
        assert.strictEqual(low.pollUnsafe()?._tag, "Success", lower)
        yield* Fiber.interruptAll(flood)
        yield* Books.whole(gate, 1)
      }
    }))

  it.effect("PG-46: has 1,000 trivial jobs under a cap of 64 through before any time passes", () =>
    Effect.gen(function* () {
      const { call, gate } = yield* lined(places(64))
      const job = call("a", Effect.yieldNow)
      yield* Effect.all(Array.from({ length: 1_000 }, () => job), { concurrency: "unbounded", discard: true })
      yield* Books.whole(gate, 64)
    }))
})
