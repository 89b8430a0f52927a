/** Failures: of the work they reach the caller unchanged; of a callback they are that caller's own defect. */
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Admission from "../../core/Admission.ts"
import type { Ask } from "../../core/Permit.ts"
import * as Books from "../support/Books.ts"

const started = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })

/** Runs `work` at once on one Admission, and out of the line on another. */
const bothWays = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const admission = yield* Admission.make({ maxRunning: 1 })
    const atOnce = yield* Effect.exit(admission.run({ tenant: "a" })(work))
    yield* Books.whole(admission)
    const permit = yield* admission.enter({ tenant: "b" })
    const waiting = yield* started(Effect.exit(admission.run({ tenant: "a" })(work)))
    assert.deepInclude(yield* Books.balanced(admission), { waiting: 1 })
    yield* admission.release(permit)
    const later = yield* Fiber.join(waiting)
    yield* Books.whole(admission)
    return [atOnce, later]
  })

describe("the work of a run", () => {
  it.effect("AD-40: gives its success, the same one", () =>
    Effect.gen(function* () {
      const value = { a: 1 }
      for (const exit of yield* bothWays(Effect.succeed(value))) {
        assert.isTrue(Exit.isSuccess(exit) && exit.value === value)
      }
    }))

  it.effect("AD-40: gives its typed failure, the same one, that `catchTag` still catches", () =>
    Effect.gen(function* () {
      const failure = { _tag: "OwnFailure" as const }
      for (const exit of yield* bothWays(Effect.fail(failure))) {
        assert.isTrue(Exit.isFailure(exit) && exit.cause.reasons.length === 1 && Cause.squash(exit.cause) === failure)
      }
      const work = Effect.fail(failure) as Effect.Effect<number, typeof failure>
      for (const exit of yield* bothWays(Effect.catchTag(work, "OwnFailure", () => Effect.succeed(1)))) {
        assert.isTrue(Exit.isSuccess(exit) && exit.value === 1)
      }
    }))

  it.effect("AD-40: gives its defect and its interruption, and all reasons of its cause", () =>
    Effect.gen(function* () {
      const cause = Cause.combine(Cause.fail("failed"), Cause.die("died"))
      for (const work of [Effect.die("died"), Effect.failCause(cause), Effect.interrupt]) {
        const plain = yield* Effect.exit(work)
        for (const exit of yield* bothWays(work)) {
          const tags = (each: Exit.Exit<unknown, unknown>) =>
            Exit.isFailure(each) ? each.cause.reasons.map(({ _tag }) => _tag) : []
          assert.deepStrictEqual(tags(exit), tags(plain))
        }
      }
    }))

  it.effect("AD-40: has the context and the interruptibility that its caller gave it", () =>
    Effect.gen(function* () {
      const Own = Context.Reference<string>("test/Own", { defaultValue: () => "default" })
      const look = Effect.map(Own, (own) => own)
      const admission = yield* Admission.make({ maxRunning: 1 })
      const permit = yield* admission.enter({ tenant: "b" })
      const waiting = yield* started(Effect.provideService(admission.run({ tenant: "a" })(look), Own, "given"))
      let ran = false
      const work = Effect.andThen(Effect.yieldNow, Effect.sync(() => ran = true))
      const kept = yield* started(Effect.uninterruptible(admission.run({ tenant: "a" })(work)))
      kept.interruptUnsafe()
      assert.deepInclude(yield* Books.balanced(admission), { waiting: 2 })
      yield* admission.release(permit)
      assert.strictEqual(yield* Fiber.join(waiting), "given")
      yield* Fiber.await(kept)
      assert.isTrue(ran)
      yield* Books.whole(admission)
    }))

  it.effect("AD-40: may fail with what an Admission fails with; that is not this Admission's refusal", () =>
    Effect.gen(function* () {
      const [outer, inner] = [yield* Admission.make({ maxRunning: 1 }), yield* Admission.make({ maxRunning: 1 })]
      const refused = yield* Effect.flip(outer.run({ tenant: "a" })(inner.run({ tenant: "a", cost: 2 })(Effect.void)))
      assert.strictEqual(refused._tag, "NeverFits")
      assert.strictEqual((yield* outer.snapshot).refused.NeverFits, 0)
      assert.strictEqual((yield* inner.snapshot).refused.NeverFits, 1)
      yield* Books.whole(outer)
      yield* Books.whole(inner)
    }))
})

describe("a callback that throws", () => {
  it.effect("AD-40: `weights` is the asker's defect, charges nothing, and the next ask is asked about again", () =>
    Effect.gen(function* () {
      let throwing = true
      const admission = yield* Admission.make({
        maxRunning: 1,
        weights: (tenant) => {
          if (tenant === "odd" && throwing) throw new Error("no weight")
          return 1
        },
      })
      const holder = yield* admission.enter({ tenant: "a" })
      const waiter = yield* started(admission.run({ tenant: "b" })(Effect.succeed("served")))
      const ask: Ask = { tenant: "odd" }
      const verbs: ReadonlyArray<Effect.Effect<unknown, unknown>> = [
        Effect.scoped(admission.enter(ask)),
        Effect.scoped(admission.tryEnter(ask)),
        admission.run(ask)(Effect.void),
      ]
      for (const verb of verbs) {
        const exit = yield* Effect.exit(verb)
        assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause) && !Cause.hasFails(exit.cause))
        assert.deepInclude(yield* Books.balanced(admission), { running: 1, waiting: 1, tenants: 2 })
      }
      throwing = false
      yield* admission.release(holder)
      assert.strictEqual(yield* Fiber.join(waiter), "served")
      yield* admission.run(ask)(Effect.void)
      yield* Books.whole(admission)
    }))

  it.effect("AD-40: `labels` is the defect of whoever takes the snapshot, and of nobody else", () =>
    Effect.gen(function* () {
      let throwing = true
      const admission = yield* Admission.make({
        maxRunning: 1,
        labels: () => {
          if (throwing) throw new Error("no label")
          return undefined
        },
      })
      const permit = yield* admission.enter({ tenant: "a" })
      const waiter = yield* started(admission.run({ tenant: "b" })(Effect.succeed("served")))
      const exit = yield* Effect.exit(admission.snapshot)
      assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
      yield* admission.release(permit)
      assert.strictEqual(yield* Fiber.join(waiter), "served")
      throwing = false
      yield* Books.whole(admission)
    }))
})
