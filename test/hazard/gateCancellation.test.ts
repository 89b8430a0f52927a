/**
 * Cancellation between taking and owning, at a gate, in its line and in a set of gates.
 *
 * The sweep over every step of every verb is `test/core/providerGateSweep.test.ts`. Not here, since a gate takes one place
 * a call and opens nothing: partial grants, late open. A release without a verdict is one: it judges nobody (PG-12).
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import * as GateLine from "../../core/GateLine.ts"
import type { Options } from "../../core/GateOptions.ts"
import * as ProviderGate from "../../core/ProviderGate.ts"
import * as ProviderGates from "../../core/ProviderGates.ts"
import * as Sweep from "../../core/testing/Sweep.ts"
import { Chance } from "../model/Chance.ts"
import * as Books from "../support/GateBooks.ts"

const started = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })
const eight: Options = { concurrency: 8, reservedControl: 0, tenantConcurrency: 8, maxElapsed: "10 minutes" }
const one: Options = { concurrency: 1, failureThreshold: 1_000, maxElapsed: "10 minutes" }

/** A gate of one place, with a line, and who was let in. */
const staged = Effect.gen(function* () {
  const gate = yield* ProviderGate.make(one)
  const line = yield* GateLine.make(gate, { maxWait: "1 second" })
  const order: Array<string> = []
  const visit = (tenant: string, then: Effect.Effect<unknown> = Effect.void) =>
    Effect.scoped(
      Effect.flatMap(line.enter({ tenant }), (permit) =>
        Effect.andThen(
          Effect.andThen(then, Effect.sync(() => order.push(tenant))),
          gate.settle(permit, "success"),
        )),
    )
  return { gate, line, order, visit }
})

describe("cancellation", () => {
  for (const keys of [1, 50]) {
    for (const failureThreshold of [3, 1_000]) {
      const circuit = failureThreshold === 3 ? "opens again and again" : "stays closed"
      it.effect(`PG-12 PG-13 PG-15: 4,000 fibers over 8 places and ${keys} tenants lose none, where the circuit ${circuit}`, () =>
        Effect.gen(function* () {
          const gate = yield* ProviderGate.make({ ...eight, failureThreshold, recoveryAfter: "2 millis" })
          const line = yield* GateLine.make(gate, { maxQueued: 1_024, maxWait: "1 minute" })
          const chance = new Chance(17)
          const verdicts = ["success", "failure", "neutral"] as const
          const pause = Effect.suspend(() => chance.yes(0.3) ? Effect.sleep(chance.whole(0, 4)) : Effect.yieldNow)
          const work = Effect.suspend(() => Effect.andThen(pause, chance.yes(0.5) ? Effect.fail("down") : Effect.void))
          const fibers: Array<Fiber.Fiber<unknown, unknown>> = []
          for (let i = 0; i < 4_000; i++) {
            const ask = { tenant: `t${i % keys}` }
            const enter: Effect.Effect<ProviderGate.GatePermit, unknown, Scope.Scope> = chance.yes(0.5)
              ? gate.tryEnter(ask)
              : line.enter(ask)
            const visit = Effect.scoped(
              Effect.flatMap(
                enter,
                (permit) =>
                  Effect.andThen(pause, chance.yes(0.7) ? gate.settle(permit, chance.pick(verdicts)) : Effect.void),
              ),
            )
            const call = chance.yes(0.5) ? gate.run(ask, work) : visit
            fibers.push(yield* (chance.yes(0.25) ? Effect.forkChild(call) : started(call)))
            if (chance.yes(0.5)) chance.pick(fibers).interruptUnsafe()
            if (chance.yes(0.05)) yield* TestClock.adjust(1)
          }
          yield* TestClock.adjust("2 minutes")
          for (const fiber of fibers) assert.isDefined(fiber.pollUnsafe())
          const { granted, opened, refusedOpen } = yield* Books.settled(gate)
          assert.isAbove(granted, 500)
          assert.deepStrictEqual([opened > 0, refusedOpen > 0], [failureThreshold === 3, failureThreshold === 3])
          yield* Effect.exit(gate.run({ tenant: "last" }, Effect.void))
          yield* Books.whole(gate, 8)
        }))
    }
  }

  it.effect("PG-12 PG-15: a count that outlives interruption would fill the gate in time; none is left", () =>
    Effect.gen(function* () {
      const { gate, line } = yield* staged
      const ask = { tenant: "a" }
      for (let i = 0; i < 200; i++) {
        const fibers = [
          yield* started(gate.run(ask, Effect.never)),
          yield* started(Effect.scoped(Effect.andThen(line.enter(ask), Effect.never))),
          yield* started(Effect.scoped(Effect.andThen(line.enter({ tenant: "b" }), Effect.never))),
          yield* Effect.forkChild(gate.run(ask, Effect.never)),
        ]
        yield* Fiber.interruptAll(i % 2 === 0 ? fibers : fibers.reverse())
      }
      assert.strictEqual(yield* line.waiting, 0)
      yield* Books.whole(gate, 1)
    }))

  it.effect("PG-46 PG-33: one that is woken and cancelled before it runs wakes the next", () =>
    Effect.gen(function* () {
      const { gate, order, visit } = yield* staged
      const permit = yield* gate.tryEnter({ tenant: "h" })
      const a = yield* started(visit("a", Effect.yieldNow))
      const b = yield* started(visit("b"))
      // The settling wakes a; a is cancelled in the same run of this fiber.
      Effect.runSync(gate.settle(permit, "success"))
      a.interruptUnsafe()
      yield* Fiber.join(b)
      assert.deepStrictEqual(order, ["b"])
      yield* Books.whole(gate, 1)
    }).pipe(Effect.scoped))

  it.effect("PG-46: one whose time was over is not the owner of what comes later", () =>
    Effect.gen(function* () {
      const { gate, order, visit } = yield* staged
      const permit = yield* gate.tryEnter({ tenant: "h" })
      const waiters = yield* Effect.forEach(["a", "b", "c"], (tenant) => started(Effect.exit(visit(tenant))))
      yield* TestClock.adjust("1 second")
      yield* gate.settle(permit, "success")
      for (const waiter of waiters) assert.isTrue(Exit.isFailure(yield* Fiber.join(waiter)))
      assert.deepStrictEqual(order, [])
      yield* Books.whole(gate, 1)
    }).pipe(Effect.scoped))

  it.effect("PG-12 PG-46: a caller that gave up by a race keeps no place, whether it waited or was served", () =>
    Effect.gen(function* () {
      const { gate, line, visit } = yield* staged
      const permit = yield* gate.tryEnter({ tenant: "h" })
      const given = yield* started(Effect.timeoutOption(visit("a"), "500 millis"))
      yield* TestClock.adjust("500 millis")
      assert.strictEqual((yield* Fiber.join(given))._tag, "None")
      assert.strictEqual(yield* line.waiting, 0)
      yield* gate.settle(permit, "success")
      const calls: ReadonlyArray<Effect.Effect<unknown, unknown>> = [
        visit("a", Effect.never),
        gate.run({ tenant: "a" }, Effect.never),
      ]
      for (const call of calls) {
        const slow = yield* started(Effect.timeoutOption(call, "1 second"))
        assert.deepInclude(yield* Books.balanced(gate), { held: 1 })
        yield* TestClock.adjust("1 second")
        assert.strictEqual((yield* Fiber.join(slow))._tag, "None")
      }
      yield* Books.whole(gate, 1)
    }).pipe(Effect.scoped))

  it("PG-46: no schedule leaves one in line behind a place that came back as it was looking", () => {
    const { endings, runs } = Effect.runSync(
      Sweep.on(staged).sweep({
        fibers: ({ gate, line }) =>
          Object.fromEntries(["a", "b", "c"].map((tenant) => [
            tenant,
            Effect.gen(function* () {
              for (let i = 0; i < 2; i++) {
                yield* Effect.scoped(
                  Effect.flatMap(
                    line.enter({ tenant }),
                    (permit) => Effect.andThen(Effect.yieldNow, gate.settle(permit, "success")),
                  ),
                )
              }
            }),
          ])),
        disturb: () => Effect.void,
        oracle: ({ gate, line }) =>
          Effect.gen(function* () {
            assert.strictEqual(yield* line.waiting, 0)
            yield* Books.whole(gate, 1)
          }),
      }),
    )
    // Time passes only where nobody can go on: a wake-up that was lost would have ended in a refusal.
    assert.deepStrictEqual(endings, { a: ["Completed"], b: ["Completed"], c: ["Completed"] })
    assert.isAbove(runs, 50)
  })

  it("PG-48: the first of five that ask for a gate is cancelled at each step, and four have the same one", () => {
    const names = ["victim", "b", "c", "d", "e"] as const
    const { steps } = Effect.runSync(
      Sweep.on(ProviderGates.make({ maxGates: 1 })).sweep({
        fibers: (gates) =>
          Object.fromEntries(
            names.map((name) => [
              name,
              Effect.tap(
                Effect.orDie(gates.get("mail")),
                (gate) => Effect.exit(gate.run({ tenant: name }, Effect.void)),
              ),
            ]),
          ) as { [name in typeof names[number]]: Effect.Effect<ProviderGate.ProviderGate> },
        disturb: "victim",
        oracle: (gates, { victim, ...others }) =>
          Effect.gen(function* () {
            const gate = yield* Effect.orDie(gates.get("mail"))
            for (const exit of Object.values(others)) assert.isTrue(Exit.isSuccess(exit) && exit.value === gate)
            const { granted } = yield* Books.settled(gate)
            assert.isAtLeast(granted, Exit.isSuccess(victim) ? 5 : 4)
          }),
      }),
    )
    assert.isAbove(steps, 20)
  })
})
