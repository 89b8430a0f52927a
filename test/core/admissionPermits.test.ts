/** Permits: all accounts or none, given back exactly once, whatever ends the work; misuse moves nothing. */
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as Admission from "../../core/Admission.ts"
import type { Limits } from "../../core/AdmissionLimits.ts"
import type { AccountName } from "../../core/AdmissionRefused.ts"
import type { Ask, Permit } from "../../core/Permit.ts"
import * as Books from "../support/Books.ts"

const started = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })

describe("an ask", () => {
  it.effect("AD-1: that is short of one account is charged to none", () =>
    Effect.gen(function* () {
      // Each case fills one account alone: the pair, the provider, the tenant, the total.
      const cases: ReadonlyArray<{ account: AccountName; caps: Partial<Limits>; full: Ask }> = [
        { account: "pair", caps: { maxPerPair: 2 }, full: { tenant: "a", provider: "p" } },
        { account: "provider", caps: { maxPerProvider: 2 }, full: { tenant: "b", provider: "p" } },
        { account: "tenant", caps: { maxPerTenant: 2 }, full: { tenant: "a", provider: "q" } },
        { account: "total", caps: { maxRunning: 3 }, full: { tenant: "b", provider: "q" } },
      ]
      for (const { account, caps, full } of cases) {
        const admission = yield* Admission.make({ maxRunning: 8, ...caps })
        yield* Effect.scoped(Effect.gen(function* () {
          yield* admission.enter({ ...full, cost: 2 })
          const before = yield* Books.balanced(admission)
          const refused = yield* Effect.flip(admission.tryEnter({ tenant: "a", provider: "p", cost: 2 }))
          assert.deepInclude(refused, { _tag: "WouldWait", account })
          const after = yield* Books.balanced(admission)
          assert.deepStrictEqual({ ...after, refused: before.refused }, before)
          // Nothing of it is charged: whoever shares only the accounts that had room still gets all of it.
          const rest = { pair: ["a", "q"], provider: ["a", "q"], tenant: ["b", "p"], total: ["a", "p"] }[account]!
          yield* admission.tryEnter({ tenant: rest[0]!, provider: rest[1], cost: account === "total" ? 1 : 2 })
        }))
        yield* Books.settled(admission)
      }
    }))

  it.effect("AD-1 AD-3: charges its cost to pair, provider, tenant and total, and gives it back to each", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({
        maxRunning: 9,
        maxPerTenant: 5,
        maxPerProvider: 5,
        maxPerPair: 3,
        maxQueued: 0,
      })
      const tries = (tenant: string, provider: string, cost: number) =>
        Effect.match(Effect.scoped(admission.tryEnter({ tenant, provider, cost })), {
          onFailure: (refused) => "account" in refused ? refused.account : refused._tag,
          onSuccess: () => "granted",
        })
      const permit = yield* admission.enter({ tenant: "a", provider: "p", cost: 3 })
      const others = [["a", "p", 1], ["a", "q", 3], ["b", "p", 3], ["a", "q", 2], ["b", "p", 2], ["b", "q", 3]] as const
      const seen: Array<string> = []
      for (const [tenant, provider, cost] of others) seen.push(yield* tries(tenant, provider, cost))
      assert.deepStrictEqual(seen, ["pair", "tenant", "provider", "granted", "granted", "granted"])
      yield* admission.release(permit)
      for (const [tenant, provider, cost] of others) {
        assert.strictEqual(yield* tries(tenant, provider, cost), "granted")
      }
      yield* Books.settled(admission)
    }))

  it.effect("AD-3: the use is the sum of the live permits after each of 2,000 steps", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 20, maxPerTenant: 9, maxPerProvider: 11, maxPerPair: 6 })
      const live: Array<Permit> = []
      let random = 12345
      const below = (n: number) => (random = random * 48271 % 2147483647) % n
      yield* Effect.scoped(Effect.gen(function* () {
        for (let i = 0; i < 2_000; i++) {
          if (below(2) === 0 && live.length > 0) yield* admission.release(live.splice(below(live.length), 1)[0]!)
          else {
            const ask = { tenant: `t${below(4)}`, provider: `p${below(3)}`, cost: 1 + below(4) }
            const permit = yield* Effect.option(admission.tryEnter(ask))
            if (permit._tag === "Some") live.push(permit.value)
          }
          const { permits, running, tenants } = yield* admission.snapshot
          assert.strictEqual(running, live.reduce((sum, each) => sum + each.cost, 0))
          assert.strictEqual(permits, live.length)
          assert.strictEqual(tenants, new Set(live.map((each) => each.tenant)).size)
        }
        yield* Books.balanced(admission)
      }))
      yield* Books.settled(admission)
    }))
})

describe("a permit", () => {
  it.effect("AD-4: goes back at the end of its scope, whether that succeeds, fails, dies or is interrupted", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 2 })
      const ends = [Effect.void, Effect.fail("failed"), Effect.die("died"), Effect.interrupt]
      for (const end of ends) {
        yield* Effect.exit(Effect.scoped(Effect.andThen(admission.enter({ tenant: "a", cost: 2 }), end)))
        yield* Books.settled(admission)
        yield* Effect.exit(admission.run({ tenant: "a", cost: 2 })(end))
        yield* Books.settled(admission)
      }
      assert.strictEqual((yield* admission.snapshot).released, 8)
    }))

  it.effect("AD-4 K-3: that was released is spent; releasing it again moves nothing, nor does its scope", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 3 })
      const other = yield* Scope.make()
      yield* Scope.provide(admission.enter({ tenant: "b", cost: 2 }), other)
      yield* Effect.scoped(Effect.gen(function* () {
        const permit = yield* admission.enter({ tenant: "a" })
        yield* admission.release(permit)
        const before = yield* admission.snapshot
        assert.strictEqual((yield* Effect.flip(admission.release(permit)))._tag, "LeaseSpent")
        assert.deepStrictEqual(yield* admission.snapshot, before)
      }))
      assert.deepInclude(yield* Books.balanced(admission), { running: 2, released: 1 })
      yield* Scope.close(other, Exit.void)
      yield* Books.settled(admission)
    }))

  it.effect("AD-4: whose scope has closed is spent", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 1 })
      const permit = yield* Effect.scoped(admission.enter({ tenant: "a" }))
      assert.strictEqual((yield* Effect.flip(admission.release(permit)))._tag, "LeaseSpent")
      yield* Books.settled(admission)
    }))

  it.effect("AD-4: of another Admission, a copy of one, or anything else is foreign, and moves nothing", () =>
    Effect.gen(function* () {
      const [mine, theirs] = [yield* Admission.make({ maxRunning: 1 }), yield* Admission.make({ maxRunning: 1 })]
      const permit = yield* theirs.enter({ tenant: "a" })
      const forged: ReadonlyArray<unknown> = [permit, { ...permit }, Object.create(permit), undefined, null, 1, "a", {}]
      for (const each of forged) {
        assert.strictEqual((yield* Effect.flip(mine.release(each as Permit)))._tag, "ForeignLease")
      }
      for (const each of forged.slice(1)) {
        assert.strictEqual((yield* Effect.flip(theirs.release(each as Permit)))._tag, "ForeignLease")
      }
      assert.strictEqual((yield* theirs.snapshot).running, 1)
      yield* theirs.release(permit)
      yield* Books.settled(mine)
      yield* Books.settled(theirs)
    }))

  it.effect("AD-4: that was released leaves nothing in a scope that lives on", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 1 })
      const scope = yield* Scope.make()
      for (let i = 0; i < 100; i++) {
        yield* admission.release(yield* Scope.provide(admission.enter({ tenant: "a" }), scope))
        yield* Effect.exit(Scope.provide(admission.enter({ tenant: "a", cost: 2 }), scope))
      }
      const { state } = scope as Scope.Closeable
      assert.isAtMost(state._tag === "Open" ? state.finalizers?.size ?? 1 : 0, 1)
      yield* Scope.close(scope, Exit.void)
      yield* Books.settled(admission)
    }))

  it.effect("AD-4 AD-28: entered or withheld into a scope that has closed leaves nothing taken", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 2 })
      const scope = yield* Scope.make()
      yield* Scope.close(scope, Exit.void)
      const verbs: ReadonlyArray<Effect.Effect<Permit, unknown, Scope.Scope>> = [
        admission.enter({ tenant: "a" }),
        admission.tryEnter({ tenant: "a" }),
      ]
      for (const verb of verbs) {
        const permit = yield* Scope.provide(verb, scope)
        assert.strictEqual((yield* Effect.flip(admission.release(permit)))._tag, "LeaseSpent")
        yield* Books.settled(admission)
      }
      yield* Scope.provide(admission.withhold(1), scope)
      yield* Books.whole(admission)
    }))

  it.effect("AD-20: a caller whose scope closes while it waits is interrupted, and the next is served", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 1 })
      const permit = yield* admission.enter({ tenant: "a" })
      const scope = yield* Scope.make()
      const waiter = yield* started(Scope.provide(admission.enter({ tenant: "b" }), scope))
      const behind = yield* started(admission.run({ tenant: "c" })(Effect.succeed("served")))
      yield* Scope.close(scope, Exit.void)
      const exit = waiter.pollUnsafe()
      assert.isTrue(exit?._tag === "Failure" && Cause.hasInterruptsOnly(exit.cause))
      yield* admission.release(permit)
      assert.strictEqual(yield* Fiber.join(behind), "served")
      yield* Books.settled(admission)
    }))
})

describe("whatever gets free", () => {
  it.effect("AD-6 K-5: goes to the next in the step of the release, before its fiber has run", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 1 })
      const permit = yield* admission.enter({ tenant: "a" })
      const waiter = yield* started(admission.run({ tenant: "b" })(Effect.never))
      // At once after the release, in the same run of this fiber, nobody can take the unit any more.
      const seen = Effect.runSync(Effect.andThen(
        admission.release(permit),
        Effect.all([admission.snapshot, Effect.flip(Effect.scoped(admission.tryEnter({ tenant: "c" })))]),
      ))
      assert.deepInclude(seen[0], { running: 1, waiting: 0 })
      assert.strictEqual(seen[1]._tag, "WouldWait")
      yield* Fiber.interrupt(waiter)
      yield* Books.settled(admission)
    }))

  it.effect("AD-6: goes to the next when an ask in front of it leaves", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 2, maxBypass: 0 })
      const holder = yield* started(admission.run({ tenant: "a" })(Effect.never))
      const large = yield* started(admission.run({ tenant: "b", cost: 2 })(Effect.never))
      const small = yield* started(admission.run({ tenant: "c" })(Effect.never))
      assert.deepInclude(yield* Books.balanced(admission), { running: 1, waiting: 2, setAside: 1 })
      yield* Fiber.interrupt(large)
      assert.deepInclude(yield* Books.balanced(admission), { running: 2, waiting: 0, setAside: 0 })
      yield* Fiber.interruptAll([holder, small])
      yield* Books.settled(admission)
    }))

  it.effect("AD-6: goes to the next when a withholding ends", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 2 })
      const scope = yield* Scope.make()
      yield* Scope.provide(admission.withhold(2), scope)
      const waiters = yield* Effect.all([
        started(admission.run({ tenant: "a" })(Effect.never)),
        started(admission.run({ tenant: "b" })(Effect.never)),
      ])
      assert.deepInclude(yield* Books.balanced(admission), { running: 0, waiting: 2 })
      Effect.runSync(Scope.close(scope, Exit.void))
      assert.deepInclude(yield* Books.balanced(admission), { running: 2, waiting: 0 })
      yield* Fiber.interruptAll(waiters)
      yield* Books.settled(admission)
    }))

  // Beyond one batch of answers a grant stays undelivered for a turn: that is where it can still be lost.
  it.effect("AD-5 AD-34 K-6: that was granted to a fiber which is interrupted before it runs goes to the next", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 300, maxQueuedPerTenant: 1_000 })
      const scope = yield* Scope.make()
      yield* Scope.provide(admission.withhold(300), scope)
      const ran = new Set<number>()
      const waiters: Array<Fiber.Fiber<void, unknown>> = []
      for (let i = 0; i < 310; i++) {
        waiters.push(
          yield* started(admission.run({ tenant: "a" })(Effect.andThen(Effect.sync(() => ran.add(i)), Effect.never))),
        )
      }
      Effect.runSync(Scope.close(scope, Exit.void))
      assert.deepInclude(yield* Books.balanced(admission), { running: 300, waiting: 10 })
      assert.strictEqual(ran.size, 256)
      const gone = [290, 295, 299]
      for (const i of gone) waiters[i]!.interruptUnsafe()
      assert.deepInclude(yield* Books.balanced(admission), { running: 300, waiting: 7 })
      yield* Effect.yieldNow
      yield* Effect.yieldNow
      const expected = Array.from({ length: 303 }, (_, i) => i).filter((i) => !gone.includes(i))
      assert.deepStrictEqual([...ran].sort((a, b) => a - b), expected)
      yield* Fiber.interruptAll(waiters)
      yield* Books.settled(admission)
      assert.strictEqual((yield* admission.snapshot).interrupted, gone.length)
    }))

  it.effect("K-14: no verb but enter, run and drain can suspend", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 2 })
      const permit = yield* admission.enter({ tenant: "a", cost: 2 })
      const waiters = [yield* started(admission.run({ tenant: "b" })(Effect.never))]
      const scope = yield* Scope.make()
      const verbs: ReadonlyArray<Effect.Effect<unknown, unknown>> = [
        admission.snapshot,
        admission.holders,
        Scope.provide(admission.tryEnter({ tenant: "b" }), scope),
        Scope.provide(admission.withhold(1), scope),
        admission.lower({ maxQueued: 5 }),
        admission.release(permit),
        admission.release(permit),
        Scope.close(scope, Exit.void),
      ]
      // A fiber that has not ended by the time it is handed out has suspended.
      for (const verb of verbs) assert.isDefined(Effect.runFork(verb).pollUnsafe())
      yield* Fiber.interruptAll(waiters)
      yield* Books.settled(admission)
    }))
})
