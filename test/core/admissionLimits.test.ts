/** Limits that fall and units that are withheld: all or nothing, nobody evicted, every debt shown. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as Admission from "../../core/Admission.ts"
import type { Limits } from "../../core/AdmissionLimits.ts"
import type { Ask } from "../../core/Permit.ts"
import * as Books from "../support/Books.ts"

const started = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })
const full: Limits = {
  maxRunning: 8,
  maxPerTenant: 6,
  maxPerProvider: 6,
  maxPerPair: 4,
  maxQueued: 5,
  maxQueuedPerTenant: 3,
}

describe("lower", () => {
  it.effect("AD-27: changes all limits that are given, and an omitted one stays", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make(full)
      yield* admission.lower({ maxPerTenant: 5, maxQueued: 2 })
      assert.deepStrictEqual((yield* admission.snapshot).limits, { ...full, maxPerTenant: 5, maxQueued: 2 })
      yield* admission.lower({})
      yield* admission.lower({ maxPerProvider: undefined, maxPerTenant: 5 })
      assert.deepStrictEqual((yield* admission.snapshot).limits, { ...full, maxPerTenant: 5, maxQueued: 2 })
      const all: Limits = {
        maxRunning: 2,
        maxPerTenant: 1,
        maxPerProvider: 1,
        maxPerPair: 1,
        maxQueued: 0,
        maxQueuedPerTenant: 0,
      }
      yield* admission.lower(all)
      assert.deepStrictEqual((yield* admission.snapshot).limits, all)
      yield* Effect.scoped(Effect.gen(function* () {
        yield* admission.enter({ tenant: "a", provider: "p" })
        const refused = yield* Effect.flip(admission.tryEnter({ tenant: "a", provider: "q" }))
        assert.deepInclude(refused, { _tag: "WouldWait", account: "tenant" })
      }))
      yield* Books.settled(admission)
    }))

  it.effect("AD-27: holds from then on for pairs, and for who may wait of one tenant", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ ...full, maxRunning: 6 })
      yield* admission.lower({ maxPerPair: 1, maxQueuedPerTenant: 1 })
      yield* Effect.scoped(Effect.gen(function* () {
        const pair = { tenant: "a", provider: "p" }
        yield* admission.enter(pair)
        assert.deepInclude(yield* Effect.flip(admission.tryEnter(pair)), { _tag: "WouldWait", account: "pair" })
        const waits = yield* started(Effect.scoped(admission.enter(pair)))
        const refused = yield* Effect.flip(Effect.scoped(admission.enter(pair)))
        assert.deepInclude(refused, { _tag: "QueueFull", scope: "tenant", limit: 1 })
        yield* Fiber.interrupt(waits)
      }))
      yield* Books.settled(admission)
    }))

  it.effect("AD-27: refuses what is no object of limits, and a limit of none", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make(full)
      for (const next of [null, 5, undefined, "maxRunning"]) {
        const refused = yield* Effect.flip(admission.lower(next as never))
        assert.deepInclude(refused, { _tag: "InvalidLimits", limit: "lower", rule: "given an object of limits" })
      }
      for (const limit of ["maxRunning", "maxPerTenant", "maxPerProvider", "maxPerPair"]) {
        assert.deepInclude(yield* Effect.flip(admission.lower({ [limit]: 0 })), { _tag: "InvalidLimits", limit })
      }
      assert.deepStrictEqual((yield* admission.snapshot).limits, full)
    }))

  it.effect("AD-27: may give a cap that was none", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 4 })
      yield* admission.lower({ maxPerTenant: 1 })
      yield* Effect.scoped(Effect.gen(function* () {
        yield* admission.enter({ tenant: "a" })
        assert.deepInclude(yield* Effect.flip(admission.tryEnter({ tenant: "a" })), { account: "tenant" })
      }))
      yield* Books.whole(admission)
    }))

  it.effect("AD-27: never raises, and with one bad limit changes none", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make(full)
      for (const limit of Object.keys(full) as ReadonlyArray<keyof Limits>) {
        for (const value of [full[limit]! + 1, limit.startsWith("maxQ") ? -1 : 0, 1.5, NaN, "1", null]) {
          const other = limit === "maxRunning" ? "maxQueued" : "maxRunning"
          const next = { [other]: 5, [limit]: value } as Partial<Limits>
          const refused = yield* Effect.flip(admission.lower(next))
          assert.deepInclude(refused, { _tag: "InvalidLimits", system: "Admission", limit, value })
          assert.include(refused.message, limit)
        }
      }
      const stranger = yield* Effect.flip(admission.lower({ maxRunning: 5, maxBypass: 1 } as Partial<Limits>))
      assert.deepInclude(stranger, { _tag: "InvalidLimits", limit: "maxBypass", value: 1 })
      assert.deepStrictEqual((yield* admission.snapshot).limits, full)
      yield* Books.whole(admission)
    }))

  it.effect("AD-27: takes no cap above the total that it lowers beside it, and leaves be one that it does not name", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 8, maxPerTenant: 8, maxPerProvider: 8 })
      for (const name of ["maxPerTenant", "maxPerProvider", "maxPerPair"] as const) {
        const refused = yield* Effect.flip(admission.lower({ maxRunning: 4, [name]: 5 }))
        assert.deepInclude(refused, { _tag: "InvalidLimits", limit: name, value: 5 })
      }
      yield* admission.lower({ maxRunning: 4, maxPerTenant: 4 })
      const { limits } = yield* admission.snapshot
      assert.deepInclude(limits, { maxRunning: 4, maxPerTenant: 4, maxPerProvider: 8 })
    }))

  it.effect("AD-27: never raises, though reading what is given lowers limits itself", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 8, maxPerTenant: 8 })
      yield* admission.lower({
        get maxQueued() {
          Effect.runSync(admission.lower({ maxRunning: 2, maxPerTenant: 1 }))
          return 100
        },
      })
      const { limits } = yield* admission.snapshot
      assert.deepInclude(limits, { maxRunning: 2, maxPerTenant: 1, maxQueued: 100 })
    }))

  it.effect("AD-2 AD-27: below what is used is BelowUse with the account and the use, and changes none", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make(full)
      const held: ReadonlyArray<Ask> = [
        { tenant: "a", provider: "p", cost: 4 },
        { tenant: "a", provider: "q", cost: 1 },
        { tenant: "b", provider: "p", cost: 2 },
      ]
      const waiters: Array<Fiber.Fiber<unknown, unknown>> = []
      yield* Effect.scoped(Effect.gen(function* () {
        yield* Effect.forEach(held, (ask) => admission.enter(ask))
        for (const tenant of ["a", "a", "b"]) {
          waiters.push(yield* started(admission.run({ tenant, provider: "q", cost: 2 })(Effect.never)))
        }
        const cases: ReadonlyArray<readonly [Partial<Limits>, string, number]> = [
          [{ maxRunning: 6 }, "total", 7],
          [{ maxPerTenant: 4 }, "tenant", 5],
          [{ maxPerProvider: 5 }, "provider", 6],
          [{ maxPerPair: 3 }, "pair", 4],
          [{ maxQueued: 2 }, "queue", 3],
          [{ maxQueuedPerTenant: 1 }, "tenantQueue", 2],
        ]
        for (const [next, account, use] of cases) {
          const refused: object = yield* Effect.flip(admission.lower({ maxQueued: 4, ...next }))
          assert.deepInclude(refused, { _tag: "BelowUse", account, use, limit: Object.values(next)[0] })
          assert.deepStrictEqual((yield* Books.balanced(admission)).limits, full)
        }
        yield* admission.lower({ maxRunning: 7, maxPerTenant: 5, maxPerProvider: 6, maxPerPair: 4, maxQueued: 3 })
        yield* admission.lower({ maxQueuedPerTenant: 2 })
        yield* Fiber.interruptAll(waiters)
      }))
      yield* Books.whole(admission)
    }))

  it.effect("AD-27: answers in the same step with NeverFits whoever it made impossible, and nobody else", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 6, maxPerTenant: 6 })
      const permit = yield* admission.enter({ tenant: "h", cost: 4 })
      const sizes = [5, 3, 6, 4]
      const waiters = yield* Effect.forEach(
        sizes,
        (cost) => started(admission.run({ tenant: `t${cost}`, cost })(Effect.void)),
      )
      Effect.runSync(admission.lower({ maxRunning: 5, maxPerTenant: 4 }))
      const answers = waiters.map((fiber) => fiber.pollUnsafe()?._tag)
      assert.deepStrictEqual(answers, ["Failure", undefined, "Failure", undefined])
      assert.deepInclude(yield* Effect.flip(Fiber.join(waiters[0]!)), {
        _tag: "NeverFits",
        account: "tenant",
        limit: 4,
        cost: 5,
      })
      assert.deepInclude(yield* Books.balanced(admission), { running: 4, waiting: 2 })
      yield* admission.release(permit)
      yield* Fiber.joinAll([waiters[1]!, waiters[3]!])
      yield* Books.whole(admission)
    }))

  it.effect("AD-6 AD-27: that takes the large one away lets those pass that stood behind it", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 3, maxBypass: 0 })
      yield* admission.enter({ tenant: "h" })
      const large = yield* started(admission.run({ tenant: "a", cost: 3 })(Effect.never))
      const small = yield* started(admission.run({ tenant: "b" })(Effect.never))
      assert.deepInclude(yield* Books.balanced(admission), { running: 1, waiting: 2, setAside: 2 })
      yield* admission.lower({ maxRunning: 2 })
      assert.strictEqual(large.pollUnsafe()?._tag, "Failure")
      assert.deepInclude(yield* Books.balanced(admission), { running: 2, waiting: 0, setAside: 0 })
      yield* Fiber.interrupt(small)
    }))

  it.effect("AD-17 AD-27: leaves the total above what is reserved", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 8, reserved: { control: 3 } })
      const refused = yield* Effect.flip(admission.lower({ maxRunning: 3 }))
      assert.deepInclude(refused, { _tag: "InvalidLimits", limit: "maxRunning", value: 3 })
      yield* Effect.scoped(Effect.gen(function* () {
        yield* admission.enter({ tenant: "a", cost: 5 })
        // The normal class would have 4 of 7.
        assert.deepInclude(yield* Effect.flip(admission.lower({ maxRunning: 7 })), {
          _tag: "BelowUse",
          account: "total",
          use: 5,
          limit: 4,
        })
      }))
      yield* admission.lower({ maxRunning: 4 })
      yield* Books.whole(admission)
    }))
})

describe("withhold", () => {
  it.effect("AD-2 AD-28: takes effect at once, evicts nobody, and grants nothing while there is a debt", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 4 })
      const permits = yield* Effect.forEach(["a", "b", "c"], (tenant) => admission.enter({ tenant }))
      const scope = yield* Scope.make()
      yield* Scope.provide(admission.withhold(3), scope)
      assert.deepInclude(yield* Books.balanced(admission), { running: 3, withheld: 3, debt: 2, free: 0 })
      const waiter = yield* started(admission.run({ tenant: "d" })(Effect.succeed("in")))
      const debts: Array<number> = []
      for (const permit of permits) {
        assert.isUndefined(waiter.pollUnsafe())
        yield* admission.release(permit)
        debts.push((yield* Books.balanced(admission)).debt)
      }
      // Two of three paid the debt, the third made room for one.
      assert.deepStrictEqual(debts, [1, 0, 0])
      assert.strictEqual(yield* Fiber.join(waiter), "in")
      yield* Scope.close(scope, Exit.void)
      yield* Books.whole(admission)
    }))

  it.effect("AD-28: refuses emergencies too while there is a debt", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 2, reserved: { emergency: 1 } })
      yield* Effect.scoped(Effect.gen(function* () {
        yield* admission.enter({ tenant: "a" })
        yield* admission.withhold(2)
        assert.deepInclude(yield* Books.balanced(admission), { debt: 1 })
        const refused = yield* Effect.flip(admission.tryEnter({ tenant: "b", priority: "emergency" }))
        assert.strictEqual(refused._tag, "WouldWait")
      }))
      yield* Books.whole(admission)
    }))

  it.effect("AD-28: of more than is left, or of no whole number, is refused and withholds nothing", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 4 })
      yield* Effect.scoped(Effect.gen(function* () {
        yield* admission.withhold(3)
        for (const units of [2, 0, -1, 0.5, NaN, Infinity, 2 ** 60, "1", null, undefined]) {
          const refused = yield* Effect.flip(admission.withhold(units as number))
          assert.deepInclude(refused, { _tag: "InvalidRequest", field: "units", value: units })
          assert.deepInclude(yield* Books.balanced(admission), { withheld: 3 })
        }
        yield* admission.withhold(1)
        assert.deepInclude(yield* Books.balanced(admission), { withheld: 4, free: 0 })
        assert.strictEqual((yield* Effect.flip(admission.withhold(1)))._tag, "InvalidRequest")
      }))
      yield* Books.whole(admission)
    }))

  it.effect("AD-28: several at once each give back their own", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 6 })
      const scopes = yield* Effect.forEach([1, 2, 3], (units) =>
        Effect.tap(Scope.make(), (scope) => Scope.provide(admission.withhold(units), scope)))
      for (const [i, withheld] of [[1, 4], [0, 3], [2, 0]] as const) {
        yield* Scope.close(scopes[i]!, Exit.void)
        yield* Scope.close(scopes[i]!, Exit.void)
        assert.deepInclude(yield* Books.balanced(admission), { withheld })
      }
      yield* Books.whole(admission)
    }))

  it.effect("AD-28: puts one aside that is larger than what is left, with nothing set aside for it", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 4, maxBypass: 0 })
      const scope = yield* Scope.make()
      yield* Scope.provide(admission.withhold(2), scope)
      const large = yield* started(admission.run({ tenant: "a", cost: 3 })(Effect.succeed("large")))
      for (let i = 0; i < 50; i++) yield* admission.run({ tenant: "b", cost: 2 })(Effect.void)
      assert.deepInclude(yield* Books.balanced(admission), { waiting: 1, setAside: 0, free: 2 })
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(yield* Fiber.join(large), "large")
      yield* Books.whole(admission)
    }))

  it.effect("AD-27 AD-28: with a debt leaves all but the total to be lowered", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 4, maxPerTenant: 4 })
      yield* admission.enter({ tenant: "a", cost: 3 })
      yield* admission.withhold(2)
      yield* admission.lower({ maxPerTenant: 3, maxQueued: 5 })
      assert.deepInclude((yield* admission.snapshot).limits, { maxRunning: 4, maxPerTenant: 3, maxQueued: 5 })
      assert.deepInclude(yield* Effect.flip(admission.lower({ maxRunning: 3 })), { _tag: "BelowUse", account: "total" })
    }))

  it.effect("AD-28: that comes while a large one has units set aside lets the others have them", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 4, maxBypass: 0 })
      const permit = yield* admission.enter({ tenant: "h" })
      const large = yield* started(admission.run({ tenant: "a", cost: 4 })(Effect.succeed("large")))
      const small = yield* started(admission.run({ tenant: "b" })(Effect.succeed("small")))
      assert.deepInclude(yield* Books.balanced(admission), { waiting: 2, setAside: 3 })
      const scope = yield* Scope.make()
      yield* Scope.provide(admission.withhold(1), scope)
      assert.strictEqual(yield* Fiber.join(small), "small")
      assert.deepInclude(yield* Books.balanced(admission), { waiting: 1, setAside: 0 })
      yield* admission.release(permit)
      assert.isUndefined(large.pollUnsafe())
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(yield* Fiber.join(large), "large")
      yield* Books.whole(admission)
    }))

  it.effect("AD-27 AD-28: of units bounds what the total may be lowered to", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 4 })
      yield* Effect.scoped(Effect.gen(function* () {
        yield* admission.withhold(3)
        const refused = yield* Effect.flip(admission.lower({ maxRunning: 2 }))
        assert.deepInclude(refused, { _tag: "BelowUse", account: "total", use: 3 })
        yield* admission.lower({ maxRunning: 3 })
        assert.deepInclude(yield* Books.balanced(admission), { free: 0, withheld: 3 })
      }))
      yield* Books.whole(admission)
    }))
})
