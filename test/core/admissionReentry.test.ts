/** Re-entry: code that is run by a step may take the next one; it finds the records finished, and so does everybody. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import * as Admission from "../../core/Admission.ts"
import * as Deadline from "../../core/Deadline.ts"
import type { Permit } from "../../core/Permit.ts"
import * as Books from "../support/Books.ts"

const started = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })

/** Everything that one may call on an Admission, one after the other; the books are looked at after each. */
const everything = (admission: Admission.Admission, tenant: string, own?: Permit) =>
  Effect.gen(function* () {
    yield* Books.balanced(admission)
    yield* Effect.exit(Effect.scoped(admission.tryEnter({ tenant, provider: "again" })))
    yield* Books.balanced(admission)
    yield* Effect.exit(Effect.scoped(admission.withhold(1)))
    yield* Books.balanced(admission)
    const asked = yield* Effect.forkChild(admission.run({ tenant })(Effect.void), { startImmediately: true })
    yield* Books.balanced(admission)
    const { limits } = yield* admission.snapshot
    yield* Effect.exit(admission.lower({ maxQueued: limits.maxQueued! - 1 }))
    yield* Books.balanced(admission)
    if (own !== undefined) yield* Effect.exit(admission.release(own))
    yield* Books.balanced(admission)
    yield* Fiber.interrupt(asked)
    yield* Books.balanced(admission)
  })

describe("code that re-enters", () => {
  it.effect("AD-35 K-15: as a grant, in a chain of 3,000 hand-overs, each in the step of the last", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 1, maxQueued: 4_000, maxQueuedPerTenant: 4_000 })
      const permit = yield* admission.enter({ tenant: "a" })
      const order: Array<number> = []
      const waiters: Array<Fiber.Fiber<unknown, unknown>> = []
      for (let i = 0; i < 3_000; i++) {
        // Each is let in by the end of the one before it, inside its step.
        waiters.push(yield* started(admission.run({ tenant: "b" })(Effect.sync(() => order.push(i)))))
      }
      yield* admission.release(permit)
      yield* Fiber.joinAll(waiters)
      assert.deepStrictEqual(order, Array.from({ length: 3_000 }, (_, i) => i))
      yield* Books.whole(admission)
    }))

  it.effect("AD-35 K-15: as a grant, by every verb, sees the books balanced each time", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 4, maxPerTenant: 2, maxPerProvider: 3 })
      const permits = yield* Effect.forEach(["a", "a", "b", "b"], (tenant) => admission.enter({ tenant }))
      const seen: Array<number> = []
      const waiters: Array<Fiber.Fiber<unknown, unknown>> = []
      for (let i = 0; i < 12; i++) {
        const tenant = `t${i % 5}`
        const entering = Effect.gen(function* () {
          const own = yield* admission.enter({ tenant, provider: "p" })
          yield* everything(admission, tenant, own)
          seen.push(i)
        })
        waiters.push(yield* started(Effect.scoped(entering)))
      }
      for (const permit of permits) yield* admission.release(permit)
      yield* Fiber.joinAll(waiters)
      assert.strictEqual(seen.length, 12)
      yield* Books.whole(admission)
    }))

  it.effect("AD-35 K-15: as a refusal, by every verb", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 3, maxWait: "1 second" })
      yield* admission.enter({ tenant: "a", cost: 2 })
      const refused: Array<string> = []
      const waiters: Array<Fiber.Fiber<unknown, unknown>> = []
      for (let i = 0; i < 6; i++) {
        const waiting = Effect.catch(Effect.scoped(admission.enter({ tenant: `t${i}`, cost: 3 })), (why) =>
          Effect.andThen(Effect.sync(() => refused.push(why._tag)), everything(admission, "again")))
        waiters.push(yield* started(waiting))
        if (i === 2) {
          yield* TestClock.adjust("1 second")
        }
      }
      yield* admission.lower({ maxRunning: 2 })
      yield* Fiber.joinAll(waiters)
      assert.deepStrictEqual(refused, [...Array(3).fill("WaitExpired"), ...Array(3).fill("NeverFits")])
      assert.deepInclude(yield* Books.balanced(admission), { running: 2, waiting: 0 })
    }))

  it.effect("AD-29 AD-35: as a grant that drains its own Admission", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 1 })
      const permit = yield* admission.enter({ tenant: "a" })
      const drained = yield* started(Effect.scoped(Effect.gen(function* () {
        const own = yield* admission.enter({ tenant: "b" })
        const drain = yield* started(
          Effect.flatMap(Deadline.after("1 second"), (deadline) => admission.drain(deadline)),
        )
        yield* admission.release(own)
        return yield* Fiber.join(drain)
      })))
      const behind = yield* started(admission.run({ tenant: "c" })(Effect.succeed("served")))
      yield* admission.release(permit)
      assert.strictEqual(yield* Fiber.join(behind), "served")
      assert.deepInclude(yield* Fiber.join(drained), { clean: true, refused: 0 })
      yield* Books.settled(admission)
    }))

  it.effect("AD-31 AD-35: as a grant that closes its own Admission", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const admission = yield* Scope.provide(Admission.make({ maxRunning: 1 }), scope)
      const permit = yield* admission.enter({ tenant: "a" })
      const closer = yield* started(admission.run({ tenant: "b" })(Scope.close(scope, Exit.void)))
      const behind = yield* started(Effect.flip(admission.run({ tenant: "c" })(Effect.void)))
      yield* admission.release(permit)
      yield* Fiber.join(closer)
      assert.strictEqual((yield* Fiber.join(behind))._tag, "Closed")
      yield* Books.settled(admission)
    }))

  it.effect("AD-29 AD-35: as a report that drains again", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 1 })
      const permit = yield* admission.enter({ tenant: "a" })
      const deadline = yield* Deadline.after("1 second")
      const again = Effect.all([admission.drain(deadline), admission.drain(deadline), admission.drain(deadline)])
      const drains = [yield* started(again), yield* started(again)]
      yield* TestClock.adjust("1 second")
      for (const reports of yield* Fiber.joinAll(drains)) {
        assert.deepStrictEqual((reports as ReadonlyArray<{ clean: boolean }>).map(({ clean }) => clean), [
          false,
          false,
          false,
        ])
      }
      yield* admission.release(permit)
      yield* Books.settled(admission)
    }))

  it.effect("AD-35 AD-40 K-15: from `weights`, which is called once for a tenant, before anything is made", () =>
    Effect.gen(function* () {
      let calls: Array<string> = []
      const kept: Array<Admission.Admission> = []
      const admission = yield* Admission.make({
        maxRunning: 2,
        weights: (tenant) => {
          calls.push(tenant)
          if (tenant === "asks") {
            // The same tenant, inside the call about it, and another one.
            Effect.runSync(Effect.exit(kept[0]!.run({ tenant: "inner" })(Effect.void)))
            Effect.runSync(Books.balanced(kept[0]!))
          }
          if (tenant === "itself" && calls.length < 4) {
            Effect.runSync(Effect.exit(kept[0]!.run({ tenant: "itself" })(Effect.void)))
          }
          return 2
        },
      })
      kept.push(admission)
      yield* admission.run({ tenant: "asks" })(Effect.void)
      assert.deepStrictEqual(calls, ["asks", "inner"])
      yield* admission.run({ tenant: "asks", provider: "p" })(Effect.void)
      assert.deepStrictEqual(calls, ["asks", "inner"])
      calls = []
      yield* admission.run({ tenant: "itself" })(Effect.void)
      assert.deepStrictEqual(calls, ["itself", "itself", "itself", "itself"])
      yield* Books.whole(admission)
    }))

  it.effect("AD-1 AD-35 K-15: from `weights`, by entering as the same tenant, makes one account of it, not two", () =>
    Effect.gen(function* () {
      const kept: Array<Admission.Admission> = []
      const scope = yield* Scope.make()
      let asked = 0
      const admission = yield* Admission.make({
        maxRunning: 4,
        maxPerPair: 1,
        weights: () => {
          if (asked++ === 0) Effect.runSync(Scope.provide(kept[0]!.enter({ tenant: "twin", provider: "p" }), scope))
          return 1
        },
      })
      kept.push(admission)
      const refused = yield* Effect.flip(Effect.scoped(admission.tryEnter({ tenant: "twin", provider: "p" })))
      assert.deepInclude(refused, { _tag: "WouldWait", account: "pair" })
      assert.deepInclude(yield* Books.balanced(admission), { running: 1, tenants: 1, pairs: 1 })
      yield* Scope.close(scope, Exit.void)
      yield* Books.whole(admission)
    }))

  it.effect("AD-35 K-15: from `labels`, while it is counting", () =>
    Effect.gen(function* () {
      const kept: Array<Admission.Admission> = []
      const admission = yield* Admission.make({
        maxRunning: 2,
        labels: (tenant) => {
          Effect.runSync(Effect.exit(kept[0]!.run({ tenant: `${tenant}x` })(Effect.void)))
          return "all"
        },
      })
      yield* Effect.scoped(Effect.gen(function* () {
        yield* admission.enter({ tenant: "a" })
        kept.push(admission)
        assert.deepStrictEqual((yield* admission.snapshot).labels, [{ label: "all", running: 1, waiting: 0 }])
      }))
      yield* Books.whole(admission)
    }))

  it.effect("AD-4 AD-35: from a finalizer of the scope that gives back", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 1 })
      const seen: Array<number> = []
      const look = Effect.flatMap(
        Books.balanced(admission),
        ({ running }) => Effect.sync(() => void seen.push(running)),
      )
      yield* Effect.scoped(Effect.gen(function* () {
        yield* Effect.addFinalizer(() => look) // after the permit went back
        const permit = yield* admission.enter({ tenant: "a" })
        yield* Effect.addFinalizer(() =>
          // before
          Effect.andThen(
            look,
            Effect.andThen(
              Effect.exit(admission.release(permit)),
              Effect.orDie(admission.run({ tenant: "b" })(look)),
            ),
          )
        )
      }))
      assert.deepStrictEqual(seen, [1, 1, 0])
      yield* Books.whole(admission)
    }))

  it.effect("AD-35: as an observer that throws: the others are told all the same", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 1 })
      const permit = yield* admission.enter({ tenant: "a" })
      const rude = yield* started(admission.run({ tenant: "b" })(Effect.void))
      rude.addObserver(() => {
        throw new Error("an observer of the caller's own")
      })
      const behind = yield* started(admission.run({ tenant: "c" })(Effect.succeed("served")))
      yield* Effect.exit(admission.release(permit))
      yield* Effect.yieldNow
      yield* Effect.yieldNow
      assert.strictEqual(behind.pollUnsafe()?._tag, "Success")
      yield* Books.whole(admission)
    }))

  it.effect("AD-35 AD-40: as an observer that throws: a scope closed over a waiter keeps the failure of its body", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 1 })
      yield* admission.enter({ tenant: "a" })
      const failure = yield* Effect.flip(Effect.scoped(Effect.gen(function* () {
        const scope = yield* Effect.scope
        const rude = yield* Effect.forkDetach(Scope.provide(admission.enter({ tenant: "b" }), scope), {
          startImmediately: true,
        })
        rude.addObserver(() => {
          throw new Error("an observer of the caller's own")
        })
        yield* Effect.yieldNow
        return yield* Effect.fail("of the body")
      })))
      assert.strictEqual(failure, "of the body")
      assert.strictEqual((yield* admission.snapshot).waiting, 0)
    }))

  it.effect("AD-30 AD-35: as an observer of a drain that throws: the other drains end, and so does the release", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 1 })
      const permit = yield* admission.enter({ tenant: "a" })
      const draining = Effect.flatMap(Deadline.after("1 hour"), (deadline) => admission.drain(deadline))
      const rude = yield* started(draining)
      rude.addObserver(() => {
        throw new Error("an observer of the caller's own")
      })
      const other = yield* started(draining)
      yield* Effect.exit(admission.release(permit))
      assert.deepInclude(yield* Fiber.join(other), { clean: true })
      yield* Books.settled(admission)
    }))
})
