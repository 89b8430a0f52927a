/**
 * Time at a gate and in its line: limits that restart, that hide each other, that leave the queue out, grants too late.
 *
 * What the wall clock does to it stands beside its peers in `breakerPeers.test.ts`; a monotonic clock that goes back is
 * PG-20. Not here, since a gate keeps no idle thing and probes no half-open peer: idle races, silent half-open.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import * as Deadline from "../../core/Deadline.ts"
import * as GateLine from "../../core/GateLine.ts"
import type { Options } from "../../core/GateOptions.ts"
import * as ProviderGate from "../../core/ProviderGate.ts"
import { HandClock } from "../../core/testing/HandClock.ts"
import * as Books from "../support/GateBooks.ts"

const started = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })
const one: Options = { concurrency: 1, failureThreshold: 1_000, maxElapsed: "10 minutes" }
const held = { tenant: "h" } as const
const staged = (options: Options = one, line: GateLine.Options = {}) =>
  Effect.gen(function* () {
    const gate = yield* ProviderGate.make(options)
    const { enter, waiting } = yield* GateLine.make(gate, line)
    const visit = (tenant: string, work: Effect.Effect<unknown> = Effect.void) =>
      Effect.scoped(
        Effect.flatMap(enter({ tenant }), (permit) => Effect.andThen(work, gate.settle(permit, "success"))),
      )
    return { gate, visit, waiting }
  })

describe("time", () => {
  it.effect("PG-46: a deadline is not armed anew each time that something moves in the line", () =>
    Effect.gen(function* () {
      const { gate, visit } = yield* staged({ ...one, concurrency: 2, reservedControl: 0, tenantConcurrency: 1 }, {
        maxWait: "1 minute",
      })
      const permits = [yield* gate.tryEnter({ tenant: "a" }), yield* gate.tryEnter({ tenant: "b" })]
      const late = yield* started(Deadline.within("5 seconds")(Effect.flip(visit("a"))))
      // It is short of its tenant's places alone, and again and again a place of the gate comes and goes.
      yield* gate.settle(permits[1]!, "success")
      for (let i = 0; i < 4; i++) {
        yield* TestClock.adjust("1 second")
        yield* visit("b")
        yield* Fiber.interrupt(yield* started(visit("b", Effect.never)))
        assert.isUndefined(late.pollUnsafe())
      }
      yield* TestClock.adjust("1 second")
      const waited = Deadline.nanos(5e9)
      assert.deepInclude(yield* Fiber.join(late), { _tag: "WaitExpired", bound: "deadline", account: "tenant", waited })
      yield* gate.settle(permits[0]!, "success")
      yield* Books.whole(gate, 2)
    }).pipe(Effect.scoped))

  it.effect("PG-46 PG-22: of two limits the one that counted is named, in line and at work", () =>
    Effect.gen(function* () {
      const { gate, visit } = yield* staged({ ...one, maxElapsed: "2 seconds" }, { maxWait: "3 seconds" })
      const permit = yield* gate.tryEnter(held)
      const waits = []
      for (const seconds of [2, 3, 4]) {
        waits.push(yield* started(Deadline.within(`${seconds} seconds`)(Effect.flip(visit("a")))))
      }
      for (let i = 0; i < 3; i++) yield* TestClock.adjust("1 second")
      const bounds = (yield* Fiber.joinAll(waits)).map((each) =>
        each._tag === "WaitExpired" ? [each.bound, Duration.toMillis(each.waited)] : each._tag
      )
      assert.deepStrictEqual(bounds, [["deadline", 2_000], ["maxWait", 3_000], ["maxWait", 3_000]])
      yield* gate.settle(permit, "success")

      const call = Effect.flip(Deadline.enforce(gate.run(held, Effect.never)))
      const narrow = yield* started(Deadline.within("1 second")(call))
      yield* TestClock.adjust("1 second")
      // It was the caller's own limit, which says nothing of the provider.
      assert.deepInclude(yield* Fiber.join(narrow), { _tag: "DeadlineExceeded" })
      const wide = yield* started(Deadline.within("3 seconds")(call))
      yield* TestClock.adjust("2 seconds")
      assert.deepInclude(yield* Fiber.join(wide), { _tag: "CallTimedOut", after: Deadline.nanos(2e9) })
      assert.deepInclude(yield* Books.settled(gate), { neutral: 1, failures: 1, timedOut: 1 })
      yield* Books.whole(gate, 1)
    }).pipe(Effect.scoped))

  it.effect("PG-46: one deadline goes over line and work, and the error says which of them spent it", () =>
    Effect.gen(function* () {
      const { gate, visit } = yield* staged()
      const permit = yield* gate.tryEnter(held)
      const work = Deadline.within("5 seconds")(Deadline.enforce(visit("a", Effect.sleep("4800 millis"))))
      const queued = yield* started(Effect.flip(work))
      yield* TestClock.adjust("5 seconds")
      assert.deepInclude(yield* Fiber.join(queued), { _tag: "WaitExpired", waited: Deadline.nanos(5e9) })
      const working = yield* started(Effect.flip(work))
      yield* TestClock.adjust("1 second")
      yield* gate.settle(permit, "success")
      yield* TestClock.adjust("4 seconds")
      assert.deepInclude(yield* Fiber.join(working), { _tag: "DeadlineExceeded" })
      yield* Books.whole(gate, 1)
    }).pipe(Effect.scoped))

  it.effect("PG-46: a place with no time left to use it is none: it goes to one who has", () =>
    Effect.gen(function* () {
      const clock = new HandClock()
      // The timer is late: nobody has heard yet that the time is over.
      clock.sleep = () => Effect.never
      const on = Effect.provideService(Clock.Clock, clock)
      const { gate, visit } = yield* on(staged(one, { maxWait: "1 minute" }))
      const permit = yield* gate.tryEnter(held)
      const stale = yield* started(on(Deadline.within("1 second")(Effect.flip(visit("a", Effect.die("too late"))))))
      const fresh = yield* started(on(Deadline.within("1 hour")(visit("b"))))
      clock.advance(1_000)
      yield* gate.settle(permit, "success")
      assert.deepInclude(yield* Fiber.join(stale), { _tag: "WaitExpired" })
      yield* Fiber.join(fresh)
      yield* Books.whole(gate, 1)
    }).pipe(Effect.scoped))

  it.effect("PG-46: 1,024 waits that ran out leave the line, and one timer sufficed", () =>
    Effect.gen(function* () {
      const clock = new HandClock()
      const on = Effect.provideService(Clock.Clock, clock)
      const { gate, visit, waiting } = yield* on(staged(one, { maxQueued: 1_024, maxWait: "1 second" }))
      const permit = yield* gate.tryEnter(held)
      const fibers = yield* Effect.forEach(Array(1_024), () => started(Effect.flip(visit("a"))))
      assert.strictEqual(yield* waiting, 1_024)
      clock.advance(1_000)
      for (const each of yield* Fiber.joinAll(fibers)) assert.strictEqual(each._tag, "WaitExpired")
      assert.deepStrictEqual([yield* waiting, clock.peak, clock.sleeping], [0, 1, 0])
      yield* gate.settle(permit, "success")
      yield* Books.whole(gate, 1)
    }).pipe(Effect.scoped))

  for (const stale of ["ignore", "apply"] as const) {
    it(`PG-5 PG-23: a deadline that is heard of late begins no opening ahead of what was heard before (${stale})`, () => {
      const clock = new HandClock()
      const run = <A, E>(effect: Effect.Effect<A, E>): A =>
        Effect.runSync(Effect.provideService(effect, Clock.Clock, clock))
      const scope = Scope.makeUnsafe()
      const gate = run(ProviderGate.make({
        failureThreshold: stale === "apply" ? 1 : 2,
        recoveryAfter: "10 seconds",
        maxElapsed: "5 seconds",
        staleOutcomes: stale,
      }))
      const permit = run(Scope.provide(gate.tryEnter({ tenant: "a" }), scope))
      Effect.runFork(Effect.provideService(gate.run({ tenant: "b" }, Effect.never), Clock.Clock, clock))
      // The loop was blocked: the deadline at 5 s has not been heard of.
      clock.skew(14_000)
      run(gate.settle(permit, "failure"))
      // A call that begins in that very instant, and judges nobody, changes nothing of it.
      run(Effect.exit(gate.run({ tenant: "c" }, Effect.interrupt)))
      clock.advance(5_000)
      assert.deepInclude(run(gate.snapshot), {
        timedOut: 1,
        circuit: { state: "open", retryAfter: Deadline.nanos(5e9) },
      })
      run(Scope.close(scope, Exit.void))
    })
  }

  it("PG-20 PG-23: a failure of a time that the clock has gone back before begins no opening", () => {
    const clock = new HandClock()
    const run = <A, E>(effect: Effect.Effect<A, E>): A =>
      Effect.runSync(Effect.provideService(effect, Clock.Clock, clock))
    const gate = run(ProviderGate.make({ failureThreshold: 2, recoveryAfter: "10 seconds", maxElapsed: "5 seconds" }))
    clock.skew(10_000)
    run(Effect.exit(gate.run({ tenant: "a" }, Effect.fail("down"))))
    clock.skew(-10_000)
    Effect.runFork(Effect.provideService(gate.run({ tenant: "a" }, Effect.never), Clock.Clock, clock))
    clock.advance(5_000)
    assert.deepInclude(run(gate.snapshot), { circuit: { state: "open", retryAfter: Deadline.nanos(10e9) } })
    clock.advance(10_000)
    run(gate.peek({ tenant: "a" }))
  })
})
