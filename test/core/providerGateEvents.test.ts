/** What a gate tells of its circuit, to whom, and what it keeps of it: events, counts, records, fibers and timers. */
import { assert, describe, it } from "@effect/vitest"
import { inspect } from "node:util"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Metric from "effect/Metric"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import * as GateLine from "../../core/GateLine.ts"
import type { Options } from "../../core/GateOptions.ts"
import type { CircuitEvent } from "../../core/kernel/Circuit.ts"
import * as ProviderGate from "../../core/ProviderGate.ts"
import * as ProviderGates from "../../core/ProviderGates.ts"
import { wicketOf } from "../../core/Wicket.ts"
import { HandClock } from "../../core/testing/HandClock.ts"
import { Chance } from "../model/Chance.ts"
import * as Books from "../support/GateBooks.ts"

type Gate = ProviderGate.ProviderGate
const small: Options = {
  concurrency: 4,
  tenantConcurrency: 4,
  failureThreshold: 1,
  recoveryAfter: "10 seconds",
  maxElapsed: "2 seconds",
}
const ask = { tenant: "a" } as const
const broken = Effect.fail("broken")
const started = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })

describe("events", () => {
  it.effect("PG-52: are told in order, once each, in the step that made them", () =>
    Effect.gen(function* () {
      const told: Array<CircuitEvent> = []
      const gate = yield* ProviderGate.make({ ...small, events: (event) => void told.push(event) })
      const lastly = (event: CircuitEvent, count: number) =>
        assert.deepStrictEqual([told.at(-1), told.length], [event, count])
      yield* Effect.exit(gate.run(ask, broken))
      lastly("opened", 1)
      yield* TestClock.adjust("10 seconds")
      assert.lengthOf(told, 1)
      const probe = yield* gate.tryEnter(ask)
      lastly("probing", 2)
      yield* gate.settle(probe, "failure")
      lastly("reopened", 3)
      yield* TestClock.adjust("10 seconds")
      const slow = yield* started(Effect.exit(gate.run(ask, Effect.never)))
      lastly("probing", 4)
      yield* TestClock.adjust("2 seconds")
      lastly("reopened", 5)
      yield* Fiber.join(slow)
      yield* TestClock.adjust("10 seconds")
      yield* gate.run(ask, Effect.void)
      assert.deepStrictEqual(told.slice(5), ["probing", "closed"])
      yield* Books.whole(gate, 4)
    }).pipe(Effect.scoped))

  it.effect("PG-52: over a random trace equal those of the circuit's states", () =>
    Effect.gen(function* () {
      const chance = new Chance(7)
      const told: Array<CircuitEvent> = []
      const gate = yield* ProviderGate.make({ ...small, failureThreshold: 2, events: (event) => void told.push(event) })
      const expected: Array<CircuitEvent> = []
      const state = Effect.map(gate.snapshot, (s) => s.circuit.state)
      for (let i = 0; i < 500; i++) {
        if (chance.yes(0.2)) yield* TestClock.adjust("5 seconds")
        const before = yield* state
        yield* Effect.exit(Effect.scoped(Effect.gen(function* () {
          const permit = yield* gate.tryEnter(ask)
          if (permit.probe) expected.push("probing")
          const verdict = chance.pick(["success", "failure", "failure", "neutral"] as const)
          yield* gate.settle(permit, verdict)
          const after = yield* state
          if (permit.probe && verdict === "success") expected.push("closed")
          if (permit.probe && verdict === "failure") expected.push("reopened")
          if (before === "closed" && after === "open") expected.push("opened")
        })))
      }
      assert.isAbove(expected.length, 20)
      assert.deepStrictEqual(told, expected)
    }))

  it.effect("PG-52: to a sink that throws or comes back to the gate change nothing of it", () =>
    Effect.gen(function* () {
      const trace = (gate: Gate) =>
        Effect.gen(function* () {
          for (let i = 0; i < 3; i++) {
            yield* Effect.exit(gate.run(ask, broken))
            yield* TestClock.adjust("10 seconds")
          }
          yield* gate.run(ask, Effect.void)
          return yield* Books.settled(gate)
        })
      const quiet = yield* trace(yield* ProviderGate.make(small))
      const throwing = yield* ProviderGate.make({
        ...small,
        events: () => {
          throw new Error("the sink is ill")
        },
      })
      assert.deepStrictEqual(yield* trace(throwing), quiet)
      let caught = 0
      const rejecting = yield* ProviderGate.make({
        ...small,
        // An async sink, as far as a gate can tell; a rejection without a handler may end the process.
        events: () => ({
          then: (_: unknown, rejected: (error: unknown) => void) => {
            rejected(new Error("the sink is ill"))
            caught++
          },
        }),
      })
      assert.deepStrictEqual(yield* trace(rejecting), quiet)
      const odd = yield* ProviderGate.make({ ...small, events: () => ({ then: "no function" }) })
      assert.deepStrictEqual(yield* trace(odd), quiet)
      assert.strictEqual(caught, 7)
      const seen: Array<string> = []
      const coming: Gate = yield* ProviderGate.make({
        ...small,
        events: (event) => {
          const exit = Effect.runSyncExit(
            Effect.scoped(Effect.provideService(coming.tryEnter(ask), Clock.Clock, new HandClock())),
          )
          seen.push(`${event} ${Exit.isSuccess(exit) ? "in" : "refused"}`)
        },
      })
      const s = yield* trace(coming)
      assert.deepStrictEqual(seen, [
        "opened refused",
        "probing refused",
        "reopened refused",
        "probing refused",
        "reopened refused",
        "probing refused",
        "closed in",
      ])
      assert.strictEqual(s.granted, quiet.granted + 1)
      yield* Books.whole(coming, 4)
    }))

  it.effect("PG-52: to a sink that changes the circuit itself come in order all the same", () =>
    Effect.gen(function* () {
      const told: Array<string> = []
      const gate: Gate = yield* ProviderGate.make({
        ...small,
        recoveryAfter: "1 nano",
        events: (event) => {
          told.push(`+${event}`)
          if (told.length < 9) Effect.runSyncExit(gate.run(ask, broken))
          told.push(`-${event}`)
        },
      })
      yield* Effect.exit(gate.run(ask, broken))
      for (let i = 0; i < told.length; i += 2) assert.strictEqual(told[i]!.slice(1), told[i + 1]!.slice(1))
      yield* Books.settled(gate)
    }))
})

describe("a gate keeps", () => {
  it("PG-41: no fiber and no timer without calls, and one timer for all calls of run", async () => {
    const clock = new HandClock()
    const run = <A, E>(effect: Effect.Effect<A, E>) => Effect.runSync(Effect.provideService(effect, Clock.Clock, clock))
    const gate = run(ProviderGate.make(small))
    let starts = 0
    let ends = 0
    const counted = Effect.acquireUseRelease(
      Effect.sync(() => starts++),
      () => Effect.void,
      () => Effect.sync(() => ends++),
    )
    for (let i = 0; i < 10_000; i++) {
      run(Effect.scoped(Effect.flatMap(gate.tryEnter(ask), (permit) => gate.settle(permit, "success"))))
      run(gate.run(ask, counted))
    }
    assert.deepStrictEqual([clock.slept, clock.sleeping, starts, ends], [0, 0, 10_000, 10_000])
    const wide = run(ProviderGate.make({ concurrency: 16, tenantConcurrency: 16 }))
    const calls = Array.from(
      { length: 10 },
      () => Effect.runFork(Effect.provideService(wide.run(ask, Effect.never), Clock.Clock, clock)),
    )
    assert.deepStrictEqual([clock.sleeping, clock.peak], [1, 1])
    assert.strictEqual(run(wide.snapshot).held, 10)
    await Effect.runPromise(Fiber.interruptAll(calls))
    assert.strictEqual(clock.sleeping, 0)
    run(Books.settled(wide))
    run(Books.settled(gate))
  })

  it("PG-41: for a call that ends at once no timer, and for one that waits no more than the call", async () => {
    const clock = new HandClock()
    const gate = Effect.runSync(Effect.provideService(ProviderGate.make(small), Clock.Clock, clock))
    const call = Effect.runFork(Effect.provideService(gate.run(ask, Effect.yieldNow), Clock.Clock, clock))
    assert.strictEqual(clock.sleeping, 1)
    await Effect.runPromise(Fiber.join(call))
    assert.deepStrictEqual([clock.sleeping, clock.slept], [0, 1])
    Effect.runSync(Books.settled(gate))
  })

  it.effect("PG-35 PG-42: records of the tenants with a permit, and of the last idle ones up to 1,024 in all", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make({ concurrency: 4_096, reservedControl: 0 })
      const records = () => wicketOf(gate)!.gate.keys.tenants.size
      for (let i = 0; i < 1_029; i++) yield* gate.run({ tenant: `one-off ${i}` }, Effect.void)
      assert.strictEqual(records(), 1_024)
      let most = 0
      for (let i = 0; i < 100_000; i++) {
        yield* Effect.scoped(gate.tryEnter({ tenant: `tenant ${i}` }))
        most = Math.max(most, records())
      }
      assert.isAtMost(most, 1_025)
      const scope = yield* Scope.make()
      for (let i = 0; i < 2_000; i++) {
        yield* Scope.provide(gate.tryEnter({ tenant: `holder ${i}` }), scope)
        assert.isAtMost(records(), Math.max(1_024, i + 1) + 1)
      }
      assert.strictEqual((yield* gate.snapshot).tenantsActive, 2_000)
      yield* Scope.close(scope, Exit.void)
      assert.isAtMost(records(), 1_025)
      yield* Books.settled(gate)
    }))

  it.effect("PG-19: the record of a tenant with a permit, however many others come by", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make({ concurrency: 8, tenantConcurrency: 2 })
      for (let i = 0; i < 2; i++) yield* gate.tryEnter({ tenant: "at its bound" })
      const refused = Effect.flip(Effect.scoped(gate.tryEnter({ tenant: "at its bound" })))
      assert.deepInclude(yield* refused, { _tag: "Saturated", scope: "tenant" })
      for (let i = 0; i < 2_000; i++) yield* gate.run({ tenant: `one-off ${i}` }, Effect.void)
      assert.deepInclude(yield* refused, { _tag: "Saturated", scope: "tenant" })
    }).pipe(Effect.scoped))
})

describe("secrecy", () => {
  const canary = "canary-7f3a"
  const forms = (value: unknown): ReadonlyArray<string> => [
    String(value),
    JSON.stringify(value) ?? "",
    inspect(value, { depth: 20, showHidden: true, getters: true }),
    ...value instanceof Error ? [value.message, String(value.stack), Cause.pretty(Cause.fail(value))] : [],
  ]
  const silent = (value: unknown): void => {
    for (const text of forms(value)) assert.notInclude(text, canary)
  }

  it.effect("PG-43 PG-44: no answer, no error of work and no tenant is in a refusal, event, snapshot or metric", () =>
    Effect.gen(function* () {
      const told: Array<unknown> = []
      const gates = yield* ProviderGates.make({
        maxGates: 1,
        gate: {
          ...small,
          concurrency: 2,
          reservedControl: 1,
          tenantConcurrency: 1,
          events: (...event) => void told.push(event),
        },
      })
      const gate = yield* gates.get("provider")
      const refusals: Array<unknown> = []
      const flip = (effect: Effect.Effect<unknown, unknown>) =>
        Effect.map(Effect.flip(effect), (refused) => void refusals.push(refused))
      const other = (priority?: "control" | "emergency") => Effect.scoped(gate.tryEnter({ tenant: "other", priority }))
      const permit = yield* gate.tryEnter({ tenant: canary })
      yield* flip(other())
      yield* flip(Effect.scoped(gate.tryEnter({ tenant: canary, priority: "control" })))
      const urgent = yield* gate.tryEnter({ tenant: canary, priority: "emergency" })
      yield* flip(other("emergency"))
      yield* flip(Effect.asVoid(gates.get("second")))
      yield* flip(gate.lower({ concurrency: 1, reservedControl: 0 }))
      yield* gate.settle(urgent, "neutral")
      yield* flip(gate.settle(urgent, "success"))
      yield* gate.settle(permit, "neutral")
      const slow = yield* started(flip(gate.run({ tenant: canary }, Effect.never)))
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(slow)
      yield* flip(other())
      yield* TestClock.adjust("10 seconds")
      yield* Effect.exit(gate.run({ tenant: canary }, Effect.fail({ _tag: canary, secret: canary })))
      yield* TestClock.adjust("10 seconds")
      yield* gate.run({ tenant: canary }, Effect.succeed(canary))
      const tags = new Set(refusals.map((each) => (each as { readonly _tag: string })._tag))
      assert.deepStrictEqual([...tags].sort(), [
        "BelowUse",
        "CallTimedOut",
        "CircuitOpen",
        "GateCapacity",
        "PermitMisuse",
        "Saturated",
      ])
      for (const refused of refusals) silent(refused)
      for (const refused of refusals) silent(Exit.fail(refused))
      assert.isAbove(told.length, 4)
      silent(told)
      silent(yield* Books.settled(gate))
      silent([...yield* gates.snapshotAll])
      silent(gate)
      silent(gates)
      silent(yield* Metric.snapshot)
      assert.isTrue(Object.isFrozen(yield* gate.snapshot))
    }).pipe(Effect.scoped))

  it.effect("PG-43 PG-44: nor is one in what a waiting line answers others", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make({ ...small, concurrency: 1, tenantConcurrency: 1 })
      const line = yield* GateLine.make(gate, { maxQueued: 1, maxWait: "1 second" })
      const permit = yield* line.enter({ tenant: canary })
      const refusals: Array<unknown> = []
      const flip = (effect: Effect.Effect<unknown, unknown>) =>
        Effect.map(Effect.flip(effect), (refused) => void refusals.push(refused))
      const waiter = yield* started(flip(Effect.scoped(line.enter({ tenant: "other" }))))
      yield* flip(Effect.scoped(line.enter({ tenant: "another" })))
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(waiter)
      const second = yield* started(flip(Effect.scoped(line.enter({ tenant: "other" }))))
      yield* gate.settle(permit, "failure")
      yield* Fiber.join(second)
      const tags = refusals.map((each) => (each as { readonly _tag: string })._tag)
      assert.deepStrictEqual(tags, ["QueueFull", "WaitExpired", "CircuitOpen"])
      for (const refused of refusals) silent(refused)
      silent(line)
    }).pipe(Effect.scoped))
})
