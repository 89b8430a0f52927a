/** A line that leaves its gate: what becomes of those in it, and of a line that comes after it. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Duration from "effect/Duration"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import * as Deadline from "../../core/Deadline.ts"
import * as GateLine from "../../core/GateLine.ts"
import type { Options } from "../../core/GateOptions.ts"
import * as ProviderGate from "../../core/ProviderGate.ts"
import * as Books from "../support/GateBooks.ts"

const started = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })
const stay = <A, E, R>(effect: Effect.Effect<A, E, R>) => started(Effect.scoped(Effect.andThen(effect, Effect.never)))
const one: Options = { concurrency: 1, failureThreshold: 1, recoveryAfter: "10 seconds", maxElapsed: "10 minutes" }
const patient: GateLine.Options = { maxQueued: 1_024, maxWait: "1 minute" }

/** A gate, and a line in a scope of its own. */
const staged = (options: Options) =>
  Effect.gen(function* () {
    const gate = yield* ProviderGate.make(options)
    const scope = yield* Scope.make()
    const line = yield* Scope.provide(GateLine.make(gate, patient), scope)
    return { gate, line, leave: Scope.close(scope, Exit.void) }
  })

describe("a line leaves its gate", () => {
  it.effect("PG-46: with its scope; who waits is told, who is in stays, and another line may come", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make({ ...one, concurrency: 2, reservedControl: 0 })
      const scope = yield* Scope.make()
      const line = yield* Scope.provide(GateLine.make(gate), scope)
      const held = yield* line.enter({ tenant: "h" })
      yield* line.enter({ tenant: "i", priority: "control" })
      const waiters = yield* Effect.forEach(
        ["a", "b", "control"],
        (tenant) => started(Effect.flip(line.enter({ tenant, priority: tenant === "control" ? "control" : "normal" }))),
      )
      assert.strictEqual(yield* line.waiting, 3)
      yield* TestClock.adjust("1 second")
      yield* Scope.close(scope, Exit.void)
      for (const waiter of waiters) {
        assert.deepInclude(yield* Fiber.join(waiter), { _tag: "Closed", state: "closed", since: Duration.zero })
      }
      yield* TestClock.adjust("2 seconds")
      const since = Deadline.nanos(2e9)
      assert.deepInclude(yield* Effect.flip(line.enter({ tenant: "a" })), { _tag: "Closed", since })
      assert.deepInclude(yield* Books.balanced(gate), { held: 2 })
      yield* gate.settle(held, "success")
      // Nobody waits in front of it any more, and the next line is one of its own.
      yield* Effect.scoped(gate.tryEnter({ tenant: "a" }))
      const next = yield* GateLine.make(gate)
      yield* next.enter({ tenant: "a" })
      const waiter = yield* started(Effect.scoped(next.enter({ tenant: "b" })))
      assert.strictEqual(yield* next.waiting, 1)
      yield* TestClock.adjust("5 seconds")
      assert.include(String(waiter.pollUnsafe()), "WaitExpired")
      assert.deepInclude(yield* Books.balanced(gate), { held: 2 })
    }).pipe(Effect.scoped))

  it.effect("PG-46 PG-15: with grants that nobody has heard of: their places go to those in the next line", () =>
    Effect.gen(function* () {
      // More than are told in one turn.
      const { gate, leave, line } = yield* staged({
        ...one,
        concurrency: 701,
        reservedControl: 700,
        tenantConcurrency: 701,
      })
      yield* gate.tryEnter({ tenant: "h" })
      const waiters: Array<Fiber.Fiber<unknown, unknown>> = []
      for (let i = 0; i < 700; i++) waiters.push(yield* stay(line.enter({ tenant: `w${i}` })))
      yield* gate.lower({ reservedControl: 0 })
      yield* leave
      const { held } = yield* gate.snapshot
      assert.isBelow(held, 701)
      const next = yield* GateLine.make(gate, patient)
      yield* next.enter({ tenant: "c" })
      const ends = yield* Effect.forEach(waiters.slice(held - 1), (waiter) => Effect.exit(Fiber.join(waiter)))
      for (const end of ends) assert.include(String(end), "Closed")
      yield* Fiber.interruptAll(waiters)
      assert.deepInclude(yield* Books.balanced(gate), { held: 2 })
    }).pipe(Effect.scoped))

  it.effect("PG-46 PG-50: with an ask that is interrupted later, and touches nobody in the next line", () =>
    Effect.gen(function* () {
      const lending: Options = {
        concurrency: 2,
        reservedControl: 1,
        tenantConcurrency: 1,
        reservedForTenantControl: "on",
      }
      const { gate, leave, line } = yield* staged(lending)
      const held = [
        yield* gate.tryEnter({ tenant: "e", priority: "emergency" }),
        yield* gate.tryEnter({ tenant: "e", priority: "emergency" }),
      ]
      let next: GateLine.GateLine | undefined
      let later: Fiber.Fiber<unknown, unknown> | undefined
      const others: Array<Fiber.Fiber<unknown, unknown>> = []
      // Told first, it closes the line while the other's grant is still to be told.
      const first = yield* stay(Effect.gen(function* () {
        yield* line.enter({ tenant: "u", priority: "emergency" })
        yield* gate.settle(held[1]!, "neutral")
        yield* leave
        next = yield* GateLine.make(gate, patient)
        later = yield* stay(next.enter({ tenant: "t", priority: "control" }))
        others[0]!.interruptUnsafe()
      }))
      const granted = yield* stay(line.enter({ tenant: "t", priority: "control" }))
      others.push(granted)
      yield* gate.settle(held[0]!, "neutral")
      yield* Effect.yieldNow
      assert.isTrue(Exit.hasInterrupts((yield* Effect.exit(Fiber.join(granted))) as Exit.Exit<unknown, unknown>))
      assert.strictEqual(yield* line.waiting, 0)
      assert.strictEqual(yield* next!.waiting, 0)
      yield* Fiber.interruptAll([first, later!])
      yield* Books.whole(gate, 2)
    }).pipe(Effect.scoped))

  it.effect("PG-46: and the next line begins with turns of its own", () =>
    Effect.gen(function* () {
      const { gate, leave, line } = yield* staged({ ...one, concurrency: 2, reservedControl: 0, tenantConcurrency: 1 })
      const own = yield* gate.tryEnter({ tenant: "a" })
      const waiter = yield* started(Effect.flip(Effect.scoped(line.enter({ tenant: "a" }))))
      yield* leave
      assert.deepInclude(yield* Fiber.join(waiter), { _tag: "Closed" })
      yield* gate.settle(own, "neutral")
      const held = [yield* gate.tryEnter({ tenant: "x" }), yield* gate.tryEnter({ tenant: "y" })]
      const next = yield* GateLine.make(gate, patient)
      const order: Array<string> = []
      const visit = (tenant: string) =>
        started(Effect.scoped(Effect.andThen(next.enter({ tenant }), Effect.sync(() => order.push(tenant)))))
      const visits = yield* Effect.forEach(["b", "c", "a"], visit)
      yield* gate.settle(held[0]!, "neutral")
      yield* Effect.forEach(visits, Fiber.join)
      assert.deepStrictEqual(order, ["b", "c", "a"])
      yield* gate.settle(held[1]!, "neutral")
      yield* Books.whole(gate, 2)
    }).pipe(Effect.scoped))

  it.effect("PG-46 PG-55: while it lends the probe's place, whose caller hears of it all the same", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const gate = yield* ProviderGate.make({
        ...one,
        concurrency: 2,
        reservedControl: 1,
        maxElapsed: "5 seconds",
        reservedProbe: "on",
        events: (event) => {
          if (event === "probing") Effect.runSync(Scope.close(scope, Exit.void))
        },
      })
      const line = yield* Scope.provide(GateLine.make(gate, patient), scope)
      yield* gate.tryEnter({ tenant: "a" })
      // It fails at its deadline and keeps its place until 20 s, so that ordinary work is at its share when the opening ends.
      const stubborn = Effect.uninterruptible(Effect.sleep("20 seconds"))
      yield* started(Effect.exit(gate.run({ tenant: "e", priority: "emergency" }, stubborn)))
      yield* TestClock.adjust("16 seconds")
      const waiter = yield* started(Effect.scoped(line.enter({ tenant: "w" })))
      assert.strictEqual(yield* line.waiting, 1)
      yield* TestClock.adjust("4 seconds")
      assert.isTrue((yield* Fiber.join(waiter)).probe)
      assert.deepInclude(yield* Books.balanced(gate), { held: 1 })
    }).pipe(Effect.scoped))

  it.effect("PG-46: once an opening has refused those in it, who are told of that, and counted", () =>
    Effect.gen(function* () {
      const { gate, leave, line } = yield* staged(one)
      const permit = yield* line.enter({ tenant: "h" })
      const told: Array<string> = []
      const waiter = (tenant: string) =>
        Effect.scoped(line.enter({ tenant })).pipe(
          Effect.flip,
          Effect.tap((error) => Effect.sync(() => told.push(error._tag))),
          Effect.andThen(leave),
        )
      const waiters = yield* Effect.forEach(["a", "b"], (tenant) => started(waiter(tenant)))
      yield* gate.settle(permit, "failure")
      yield* Effect.forEach(waiters, Fiber.join)
      assert.deepStrictEqual(told, ["CircuitOpen", "CircuitOpen"])
      assert.deepInclude(yield* gate.snapshot, { refusedOpen: 2, held: 0 })
    }).pipe(Effect.scoped))
})
