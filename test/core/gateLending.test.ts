/** What a gate lends beyond its accounts, and who of those in line has it: PG-50 and PG-55 where callers wait. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import type { Priority } from "../../core/AdmissionOptions.ts"
import * as GateLine from "../../core/GateLine.ts"
import type { Options } from "../../core/GateOptions.ts"
import * as ProviderGate from "../../core/ProviderGate.ts"
import { wicketOf } from "../../core/Wicket.ts"
import * as Sweep from "../../core/testing/Sweep.ts"
import * as Garbage from "../support/Garbage.ts"
import * as Books from "../support/GateBooks.ts"

type Gate = ProviderGate.ProviderGate
const started = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })
const lending: Options = {
  concurrency: 4,
  reservedControl: 2,
  tenantConcurrency: 1,
  failureThreshold: 1,
  recoveryAfter: "10 seconds",
  maxElapsed: "10 minutes",
  reservedForTenantControl: "on",
}
const probing: Options = { ...lending, concurrency: 2, reservedControl: 1, reservedProbe: "on" }

const staged = (options: Options) =>
  Effect.gen(function* () {
    const gate = yield* ProviderGate.make(options)
    const { enter, waiting } = yield* GateLine.make(gate, { maxQueued: 1_024, maxWait: "1 minute" })
    return {
      gate,
      waiting,
      enter: (tenant: string, priority: Priority = "normal") => enter({ tenant, priority }),
      /** Enters and stays. */
      hold: (tenant: string, priority?: Priority) =>
        Effect.scoped(Effect.andThen(enter({ tenant, priority }), Effect.never)),
    }
  })
const empty = (gate: Gate, waiting: Effect.Effect<number>, places: number) =>
  Effect.gen(function* () {
    assert.strictEqual(yield* waiting, 0)
    yield* Books.whole(gate, places)
  })

describe("the extra place of a tenant's control calls", () => {
  it.effect("PG-50 PG-46: goes round among the tenants that wait for one, however many asks each of them has", () =>
    Effect.gen(function* () {
      const { enter, gate, waiting } = yield* staged({ ...lending, reservedControl: 1 })
      const own = yield* Effect.forEach(["a", "b", "c"], (tenant) => enter(tenant))
      const lent = yield* enter("c", "control")
      const order: Array<string> = []
      const call = (tenant: string) =>
        Effect.scoped(Effect.flatMap(enter(tenant, "control"), (permit) => {
          order.push(tenant)
          return Effect.andThen(Effect.yieldNow, gate.settle(permit, "success"))
        }))
      const busy = yield* Effect.forEach([1, 2, 3], () => started(Effect.replicateEffect(call("a"), 4)))
      const other = yield* started(call("b"))
      yield* gate.settle(lent, "success")
      yield* Effect.forEach(busy, Fiber.join)
      yield* Fiber.join(other)
      assert.deepStrictEqual(order.slice(0, 3), ["a", "b", "a"])
      yield* Effect.forEach(own, (permit) => gate.settle(permit, "success"))
      yield* empty(gate, waiting, 4)
    }).pipe(Effect.scoped))

  it.effect("PG-50 PG-46: goes to the first of them in line when it comes back, and never to two", () =>
    Effect.gen(function* () {
      const { enter, gate, hold, waiting } = yield* staged(lending)
      const own = yield* enter("a")
      const lent = yield* enter("a", "control")
      const waiters = [yield* started(hold("a", "control")), yield* started(hold("a", "control"))]
      assert.strictEqual(yield* waiting, 2)
      yield* gate.settle(lent, "success")
      assert.deepInclude(yield* Books.balanced(gate), { held: 2, heldOrdinary: 1 })
      assert.strictEqual(yield* waiting, 1)
      yield* Fiber.interrupt(waiters[0]!)
      assert.deepInclude(yield* Books.balanced(gate), { held: 2, heldOrdinary: 1 })
      assert.strictEqual(yield* waiting, 0)
      yield* Fiber.interrupt(waiters[1]!)
      yield* gate.settle(own, "success")
      yield* empty(gate, waiting, 4)
    }).pipe(Effect.scoped))

  it.effect("PG-50 PG-46: is there at once though others wait, whom it could not serve", () =>
    Effect.gen(function* () {
      const { enter, gate, hold, waiting } = yield* staged(lending)
      const own = [yield* enter("a"), yield* enter("b")]
      const ordinary = yield* started(hold("c"))
      assert.strictEqual(yield* waiting, 1)
      const lent = yield* enter("a", "control")
      // But not a second one, nor one that a third tenant without a bound to pass would have.
      const second = yield* started(hold("a", "control"))
      const other = yield* enter("c", "control")
      assert.deepInclude(yield* Books.balanced(gate), { held: 4 })
      assert.strictEqual(yield* waiting, 2)
      yield* Fiber.interruptAll([ordinary, second])
      for (const permit of [...own, lent, other]) yield* gate.settle(permit, "success")
      yield* empty(gate, waiting, 4)
    }).pipe(Effect.scoped))

  it.effect("PG-50 PG-46: goes to who waited for lack of any place, once another tenant gives one back", () =>
    Effect.gen(function* () {
      const { enter, gate, hold, waiting } = yield* staged(lending)
      const own = [yield* enter("a"), yield* enter("b")]
      const others = [yield* enter("c", "control"), yield* enter("d", "control")]
      const waiters = [yield* started(hold("a", "control")), yield* started(hold("b", "control"))]
      assert.strictEqual(yield* waiting, 2)
      yield* gate.settle(others[0]!, "success")
      assert.strictEqual(yield* waiting, 1)
      assert.isUndefined(waiters[0]!.pollUnsafe())
      yield* gate.settle(others[1]!, "success")
      assert.strictEqual(yield* waiting, 0)
      // Two are reserved, and so no third is lent.
      const third = yield* started(hold("c", "control"))
      assert.deepInclude(yield* Books.balanced(gate), { held: 4 })
      yield* Fiber.interruptAll([...waiters, third])
      for (const permit of own) yield* gate.settle(permit, "success")
      yield* empty(gate, waiting, 4)
    }).pipe(Effect.scoped))

  it.effect("PG-50 PG-46: goes to who waited for it, once one that was granted a place leaves before it hears", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make({ ...lending, concurrency: 4, reservedControl: 2, tenantConcurrency: 1 })
      const line = yield* GateLine.make(gate)
      const scope = yield* Scope.make()
      const take = (tenant: string, priority: Priority) => Scope.provide(gate.tryEnter({ tenant, priority }), scope)
      for (const tenant of ["a", "x"]) yield* take(tenant, "normal")
      const [first, second] = [yield* take("e", "emergency"), yield* take("e", "emergency")]
      // Once it has its place, it gives back another one, which the next is granted, and gives that one up.
      const leaving: { victim?: Fiber.Fiber<unknown, unknown> } = {}
      yield* started(Effect.scoped(
        Effect.gen(function* () {
          yield* line.enter({ tenant: "u", priority: "emergency" })
          yield* gate.settle(second, "neutral")
          leaving.victim!.interruptUnsafe()
          return yield* Effect.never
        }),
      ))
      leaving.victim = yield* started(Effect.scoped(line.enter({ tenant: "v", priority: "emergency" })))
      const borrower = yield* started(
        Effect.exit(Scope.provide(line.enter({ tenant: "a", priority: "control" }), scope)),
      )
      assert.strictEqual(yield* line.waiting, 3)
      yield* gate.settle(first, "neutral")
      assert.isTrue(Exit.isSuccess(yield* Fiber.join(borrower)))
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(leaving.victim)))
      assert.strictEqual(yield* line.waiting, 0)
      assert.strictEqual((yield* Books.balanced(gate)).held, 4)
      yield* Scope.close(scope, Exit.void)
    }))

  it.effect("PG-50 PG-46: is not waited for behind a tenant that has its own already", () =>
    Effect.gen(function* () {
      const { enter, gate, hold, waiting } = yield* staged({ ...lending, concurrency: 5 })
      const own = [yield* enter("a"), yield* enter("b")]
      const lent = yield* enter("a", "control")
      const others = [yield* enter("c", "control"), yield* enter("d", "control")]
      const waiters = [yield* started(hold("a", "control")), yield* started(hold("b", "control"))]
      yield* gate.settle(others[0]!, "success")
      // It is b's; and the next one, once a has given its own back, is a's.
      assert.strictEqual(yield* waiting, 1)
      yield* gate.settle(lent, "success")
      assert.strictEqual(yield* waiting, 0)
      assert.deepInclude(yield* Books.balanced(gate), { held: 5, tenantsActive: 3 })
      yield* Fiber.interruptAll(waiters)
      for (const permit of [...own, others[1]!]) yield* gate.settle(permit, "success")
      yield* empty(gate, waiting, 5)
    }).pipe(Effect.scoped))

  it("PG-50 PG-46 PG-12: is lost by no interruption, whether it was lent already or not", () => {
    type Stage = { readonly gate: Gate; readonly line: GateLine.GateLine }
    const visit = ({ gate, line }: Stage, tenant: string, priority: Priority, held: number) =>
      Effect.scoped(
        Effect.flatMap(line.enter({ tenant, priority }), (permit) =>
          Effect.andThen(
            Effect.replicateEffect(Effect.yieldNow, held, { discard: true }),
            gate.settle(permit, "success"),
          )),
      )
    const stage = Effect.gen(function* () {
      const gate = yield* ProviderGate.make({ ...lending, failureThreshold: 9 })
      return { gate, line: yield* GateLine.make(gate) }
    })
    for (const who of ["own", "lent", "victim", "behind"] as const) {
      const { steps } = Effect.runSync(
        Sweep.on(stage).sweep({
          fibers: (stage) => ({
            own: visit(stage, "a", "normal", 6),
            lent: visit(stage, "a", "control", 3),
            victim: visit(stage, "a", "control", 1),
            behind: visit(stage, "a", "control", 1),
          }),
          disturb: who,
          oracle: ({ gate, line }) => empty(gate, line.waiting, 4),
        }),
      )
      assert.isAbove(steps, 40)
    }
  })

  it("PG-35 PG-46: keeps no tenant whose control calls have left the line", async () => {
    const gate = Effect.runSync(ProviderGate.make({ ...lending, tenantConcurrency: 4 }))
    const line = Effect.runSync(Scope.provide(GateLine.make(gate), Scope.makeUnsafe()))
    const { tenants } = wicketOf(gate)!.gate.keys
    const seen: Array<WeakRef<object>> = []
    await Effect.runPromise(Effect.scoped(Effect.gen(function* () {
      for (let i = 0; i < 4; i++) yield* line.enter({ tenant: "holder", priority: "control" })
      for (let i = 0; i < 4_000; i++) {
        const fiber = yield* started(Effect.scoped(line.enter({ tenant: `gone ${i}`, priority: "control" })))
        seen.push(new WeakRef(tenants.get(`gone ${i}`)!))
        yield* Fiber.interrupt(fiber)
      }
    })))
    await new Promise((resolve) => setTimeout(resolve, 10))
    Garbage.collect()
    assert.isBelow(seen.filter((each) => each.deref() !== undefined).length, 2_000)
    Effect.runSync(Books.whole(gate, 4))
  })
})

describe("a reserved place for the probe", () => {
  it.effect("PG-55 PG-46: goes to the first in line, by class and then by age, and the rest hear of the probe", () =>
    Effect.gen(function* () {
      const { enter, gate, hold, waiting } = yield* staged({ ...probing, concurrency: 3 })
      const stragglers = [yield* enter("s"), yield* enter("s2"), yield* enter("t", "control")]
      yield* gate.settle(stragglers[1]!, "failure")
      yield* gate.lower({ concurrency: 2 })
      yield* TestClock.adjust("10 seconds")
      const waiters = []
      for (const [tenant, priority] of [["a", "notification"], ["b", "normal"], ["c", "normal"]] as const) {
        waiters.push(yield* started(Effect.exit(hold(tenant, priority))))
      }
      assert.strictEqual(yield* waiting, 3)
      yield* gate.settle(stragglers[2]!, "success")
      assert.deepStrictEqual(waiters.map((each) => each.pollUnsafe() === undefined), [false, true, false])
      for (const i of [0, 2]) assert.include(String(waiters[i]!.pollUnsafe()), "a probe is out")
      assert.deepInclude(yield* Books.balanced(gate), { held: 2, circuit: { state: "half-open" } })
      yield* Fiber.interrupt(waiters[1]!)
      yield* gate.settle(stragglers[0]!, "neutral")
      const probe = yield* enter("d")
      assert.isTrue(probe.probe)
      yield* gate.settle(probe, "success")
      yield* empty(gate, waiting, 2)
    }).pipe(Effect.scoped))

  it.effect("PG-55 PG-52: whose caller's scope a sink closes as it is lent is back, and the caller is interrupted", () =>
    Effect.gen(function* () {
      let scope: Scope.Closeable | undefined = undefined
      const gate = yield* ProviderGate.make({
        ...probing,
        concurrency: 3,
        events: (event) => {
          if (event === "probing" && scope !== undefined) Effect.runSync(Scope.close(scope, Exit.void))
        },
      })
      const line = yield* GateLine.make(gate)
      const stragglers = [
        yield* line.enter({ tenant: "s" }),
        yield* line.enter({ tenant: "s2" }),
        yield* line.enter({ tenant: "t", priority: "control" }),
      ]
      yield* gate.settle(stragglers[1]!, "failure")
      yield* gate.lower({ concurrency: 2 })
      yield* TestClock.adjust("10 seconds")
      scope = yield* Scope.make()
      const waiter = yield* started(Effect.exit(Scope.provide(line.enter({ tenant: "a" }), scope)))
      yield* gate.settle(stragglers[2]!, "success")
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.join(waiter)))
      assert.deepInclude(yield* Books.balanced(gate), { held: 1 })
      scope = undefined
      yield* gate.settle(yield* line.enter({ tenant: "b" }), "success")
      yield* gate.settle(stragglers[0]!, "success")
      yield* empty(gate, line.waiting, 2)
    }).pipe(Effect.scoped))

  it.effect("PG-55 PG-19 PG-3: leaves its tenant's record where it is, though more than are kept are in use", () =>
    Effect.gen(function* () {
      const stragglers = 1_100
      const { enter, gate, hold, waiting } = yield* staged({ ...probing, concurrency: stragglers + 2 })
      const ordinary = yield* Effect.forEach(Array(stragglers), (_, i) => enter(`s${i}`))
      const control = [yield* enter("t", "control"), yield* enter("u", "control")]
      yield* gate.lower({ concurrency: stragglers + 2, reservedControl: 1 })
      yield* gate.settle(control[0]!, "failure")
      yield* gate.lower({ concurrency: stragglers + 1 })
      yield* TestClock.adjust("10 seconds")
      const probe = yield* started(hold("a"))
      assert.strictEqual(yield* waiting, 1)
      yield* gate.settle(control[1]!, "success")
      assert.strictEqual(yield* waiting, 0)
      assert.deepInclude(yield* Books.balanced(gate), { held: stragglers + 1, tenantsActive: stragglers + 1 })
      assert.strictEqual(wicketOf(gate)!.gate.keys.tenants.get("a")?.account.used, 1)
      yield* Fiber.interrupt(probe)
      for (const permit of ordinary) yield* gate.settle(permit, "success")
      yield* gate.run({ tenant: "a" }, Effect.void)
      yield* empty(gate, waiting, stragglers + 1)
    }).pipe(Effect.scoped))

  it.effect("PG-55 PG-46: is there for who comes first, though nobody waits", () =>
    Effect.gen(function* () {
      const { enter, gate } = yield* staged(probing)
      yield* enter("straggler")
      const failed = yield* enter("c", "control")
      yield* gate.settle(failed, "failure")
      yield* TestClock.adjust("10 seconds")
      assert.isTrue((yield* enter("a")).probe)
    }).pipe(Effect.scoped))
})
