/** A breaker alone: the same circuit, without places. */
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import * as CircuitBreaker from "../../core/CircuitBreaker.ts"
import * as Deadline from "../../core/Deadline.ts"

type Breaker = CircuitBreaker.CircuitBreaker
const options = { failureThreshold: 2, recoveryAfter: "10 seconds", maxElapsed: "5 seconds" } as const
const seconds = (count: number) => Deadline.nanos(count * 1e9)
const opened = Effect.gen(function* () {
  const breaker = yield* CircuitBreaker.make(options)
  for (let i = 0; i < 2; i++) yield* Effect.exit(breaker.run(Effect.fail("broken")))
  return breaker
})
const refused = (breaker: Breaker) => Effect.flip(Effect.scoped(breaker.tryEnter))
const started = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })

describe("a breaker", () => {
  it.effect("PG-5 PG-8 PG-10 PG-30: opens by failures in a row, and closes by one probe", () =>
    Effect.gen(function* () {
      const breaker = yield* CircuitBreaker.make(options)
      yield* Effect.exit(breaker.run(Effect.fail("broken")))
      assert.strictEqual(yield* breaker.run(Effect.succeed(1)), 1)
      yield* Effect.exit(breaker.run(Effect.fail("broken")))
      assert.deepStrictEqual(yield* breaker.snapshot, {
        state: "closed",
        failures: 1,
        retryAfter: seconds(0),
        generation: 0,
      })
      yield* Effect.exit(breaker.run(Effect.fail("broken")))
      assert.deepInclude(yield* breaker.snapshot, { state: "open", failures: 0, retryAfter: seconds(10) })
      yield* TestClock.adjust(Duration.nanos(9_999_999_999n))
      assert.deepInclude(yield* refused(breaker), { _tag: "CircuitOpen", retryAfter: Duration.nanos(1n) })
      assert.deepInclude(yield* Effect.flip(breaker.peek), { _tag: "CircuitOpen" })
      let ran = false
      yield* Effect.flip(breaker.run(Effect.sync(() => ran = true)))
      assert.isFalse(ran)
      yield* TestClock.adjust(Duration.nanos(1n))
      yield* breaker.peek
      yield* breaker.run(Effect.void)
      assert.deepInclude(yield* breaker.snapshot, { state: "closed", generation: 2 })
    }))

  it.effect("PG-6 PG-13 PG-31: has one probe, and a lost one leaves its mark to the next", () =>
    Effect.gen(function* () {
      const breaker = yield* opened
      yield* TestClock.adjust("10 seconds")
      const scope = yield* Scope.make()
      const probe = yield* Scope.provide(breaker.tryEnter, scope)
      assert.deepStrictEqual({ ...probe }, { probe: true })
      assert.deepInclude(yield* refused(breaker), { probing: true })
      yield* Scope.close(scope, Exit.void)
      const fiber = yield* started(breaker.run(Effect.never))
      assert.deepInclude(yield* refused(breaker), { probing: true })
      yield* Fiber.interrupt(fiber)
      yield* breaker.run(Effect.void)
      assert.deepInclude(yield* breaker.snapshot, { state: "closed", generation: 2 })
    }))

  it.effect("PG-9 PG-18 PG-54: reopens by its probe, and hears no outcome of an older generation", () =>
    Effect.gen(function* () {
      const breaker = yield* CircuitBreaker.make(options)
      const old = yield* breaker.tryEnter
      for (let i = 0; i < 2; i++) yield* Effect.exit(breaker.run(Effect.fail("broken")))
      yield* TestClock.adjust("10 seconds")
      const hung = yield* breaker.tryEnter
      yield* TestClock.adjust("5 seconds")
      const next = yield* breaker.tryEnter
      yield* breaker.settle(hung, "success")
      yield* breaker.settle(old, "success")
      assert.strictEqual((yield* breaker.snapshot).state, "half-open")
      yield* breaker.settle(next, "failure")
      assert.deepInclude(yield* breaker.snapshot, { state: "open", retryAfter: seconds(10), generation: 3 })
    }).pipe(Effect.scoped))

  it.effect("PG-15 PG-16 PG-17: a pass is settled once, and by the breaker that gave it", () =>
    Effect.gen(function* () {
      const [breaker, other] = [yield* CircuitBreaker.make(options), yield* CircuitBreaker.make(options)]
      const pass = yield* breaker.tryEnter
      const before = [yield* breaker.snapshot, yield* other.snapshot]
      for (const bad of [{ ...pass }, null, 1, {}]) {
        assert.deepInclude(yield* Effect.flip(breaker.settle(bad as never, "failure")), { reason: "foreign-gate" })
      }
      assert.deepInclude(yield* Effect.flip(other.settle(pass, "failure")), { reason: "foreign-gate" })
      assert.include(String(yield* Effect.exit(breaker.settle(pass, "broken" as never))), "verdict must be one of")
      assert.deepStrictEqual([yield* breaker.snapshot, yield* other.snapshot], before)
      yield* breaker.settle(pass, "failure")
      for (const verdict of ["success", "failure", "neutral"] as const) {
        assert.deepInclude(yield* Effect.flip(breaker.settle(pass, verdict)), { reason: "already-settled" })
      }
      assert.deepInclude(yield* breaker.snapshot, { failures: 1 })
    }).pipe(Effect.scoped))

  it.effect("PG-21: asks for no judgement of what it has refused", () =>
    Effect.gen(function* () {
      const breaker = yield* opened
      const judged: Array<unknown> = []
      const judge = (error: unknown) => (judged.push(error), "failure" as const)
      assert.deepInclude(yield* Effect.flip(breaker.run(Effect.fail("broken"), judge)), { _tag: "CircuitOpen" })
      assert.deepStrictEqual(judged, [])
    }))

  it.effect("PG-21 PG-11: judges typed failures alone, as it is told to", () =>
    Effect.gen(function* () {
      const breaker = yield* CircuitBreaker.make(options)
      const failures = Effect.map(breaker.snapshot, (s) => s.failures)
      yield* Effect.exit(breaker.run(Effect.fail("ours"), () => "neutral"))
      yield* Effect.exit(breaker.run(Effect.die("bug")))
      yield* Effect.exit(breaker.run(Effect.interrupt))
      assert.strictEqual(yield* failures, 0)
      const exit = yield* Effect.exit(breaker.run(Effect.fail("broken"), () => {
        throw new Error("the judge is ill")
      }))
      assert.include(String(exit), "the judge is ill")
      assert.strictEqual(yield* failures, 0)
      yield* Effect.exit(breaker.run(Effect.fail("theirs"), () => "failure"))
      assert.strictEqual(yield* failures, 1)
    }))
})
