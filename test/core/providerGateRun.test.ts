/** `run`: one outcome a call, the time limit, and whose places go back when. */
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Metric from "effect/Metric"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import * as Deadline from "../../core/Deadline.ts"
import type { Options } from "../../core/GateOptions.ts"
import type { GateSnapshot } from "../../core/GateSnapshot.ts"
import * as ProviderGate from "../../core/ProviderGate.ts"
import { HandClock } from "../../core/testing/HandClock.ts"
import { CallingClock } from "../support/CallingClock.ts"
import * as Books from "../support/GateBooks.ts"

const options: Options = {
  concurrency: 4,
  reservedControl: 1,
  tenantConcurrency: 4,
  failureThreshold: 1,
  recoveryAfter: "10 seconds",
  maxElapsed: "2 seconds",
}
const ask = { tenant: "a" } as const
const started = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })
const seconds = (count: number) => Deadline.nanos(count * 1e9)

describe("an outcome", () => {
  type Counts = Partial<GateSnapshot>
  const neutral: Counts = { successes: 0, failures: 0, neutral: 1 }
  const cases: Readonly<Record<string, readonly [Effect.Effect<unknown, string>, Counts]>> = {
    "success counts as success": [Effect.succeed(1), { successes: 1, failures: 0, neutral: 0 }],
    "a typed failure counts as failure": [Effect.fail("broken"), { successes: 0, failures: 1, neutral: 0 }],
    "a typed failure that is judged so is neutral": [Effect.fail("ours"), neutral],
    "a defect is neutral": [Effect.die("broken"), neutral],
    "an interruption of its own is neutral": [Effect.interrupt, neutral],
    "a failure beside a defect is neutral": [
      Effect.failCause(Cause.combine(Cause.fail("broken"), Cause.die("bug"))),
      neutral,
    ],
  }
  for (const [law, [work, counts]] of Object.entries(cases)) {
    for (const pause of [Effect.void, Effect.yieldNow, Effect.sleep("1 second")]) {
      it.effect(`PG-21 PG-12: ${law}`, () =>
        Effect.gen(function* () {
          const gate = yield* ProviderGate.make(options)
          const call = gate.run(
            { ...ask, judge: (error) => error === "ours" ? "neutral" : "failure" },
            Effect.andThen(pause, work),
          )
          const fiber = yield* started(Effect.exit(call))
          yield* TestClock.adjust("1 second")
          const exit = yield* Fiber.join(fiber)
          const plain = yield* Effect.exit(work)
          assert.strictEqual(Exit.isSuccess(exit), Exit.isSuccess(plain))
          if (Exit.isFailure(exit) && Exit.isFailure(plain)) {
            assert.strictEqual(String(Cause.squash(exit.cause)), String(Cause.squash(plain.cause)))
            assert.lengthOf(exit.cause.reasons, plain.cause.reasons.length)
          }
          assert.deepInclude(yield* Books.settled(gate), counts)
        }))
    }
  }

  it.effect("PG-21: an interruption from outside is neutral, and the probe's mark goes to the next", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make(options)
      yield* Effect.exit(gate.run(ask, Effect.fail("broken")))
      yield* TestClock.adjust("10 seconds")
      const probe = yield* started(gate.run(ask, Effect.never))
      assert.strictEqual((yield* gate.snapshot).circuit.state, "half-open")
      yield* Fiber.interrupt(probe)
      assert.deepInclude(yield* Books.settled(gate), { neutral: 1, opened: 1 })
      yield* gate.run(ask, Effect.void)
      yield* Books.whole(gate, 4)
    }))

  it.effect("PG-21: a judge that throws makes the outcome neutral, and its defect is the caller's", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make(options)
      const judge = (): never => {
        throw new Error("the judge is ill")
      }
      for (const pause of [Effect.void, Effect.yieldNow]) {
        const exit = yield* Effect.exit(gate.run({ ...ask, judge }, Effect.andThen(pause, Effect.fail("broken"))))
        assert.include(String(exit), "the judge is ill")
        assert.notInclude(String(exit), "broken")
      }
      assert.deepInclude(yield* Books.settled(gate), { neutral: 2, failures: 0 })
      yield* Books.whole(gate, 4)
    }))

  it.effect("PG-21: a judge that says no word there is calls it a failure", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make(options)
      yield* Effect.exit(gate.run({ ...ask, judge: () => "maybe" as never }, Effect.fail("broken")))
      assert.deepInclude(yield* Books.settled(gate), { failures: 1 })
      assert.strictEqual((yield* gate.snapshot).circuit.state, "open")
    }))

  it.effect("PG-24: work that fails is run once", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make({ ...options, failureThreshold: 100 })
      let runs = 0
      const failing = Effect.andThen(Effect.sync(() => runs++), Effect.fail("broken"))
      const slow = Effect.andThen(Effect.sync(() => runs++), Effect.never)
      for (let i = 1; i <= 5; i++) {
        yield* Effect.exit(gate.run(ask, failing))
        assert.strictEqual(runs, i)
      }
      const fiber = yield* started(Effect.exit(gate.run(ask, slow)))
      yield* TestClock.adjust("1 minute")
      yield* Fiber.join(fiber)
      assert.strictEqual(runs, 6)
      const refused = yield* ProviderGate.make({ concurrency: 1 })
      yield* Effect.scoped(Effect.andThen(refused.tryEnter(ask), Effect.exit(refused.run(ask, failing))))
      assert.strictEqual(runs, 6)
    }))

  it.effect("PG-23: a getter of the ask that throws takes no place", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make(options)
      const ill: ProviderGate.GateAsk = {
        tenant: "a",
        get judge(): never {
          throw new Error("the getter is ill")
        },
      }
      assert.include(String(yield* Effect.exit(gate.run(ill, Effect.void))), "the getter is ill")
      yield* Books.whole(gate, 4)
    }))

  it.effect("PG-23: an observer of the work's fiber that throws keeps nobody's place", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make(options)
      const go = yield* Deferred.make<void>()
      const noisy = Effect.withFiber((fiber) => {
        fiber.addObserver(() => {
          throw new Error("the observer is ill")
        })
        return Effect.succeed(1)
      })
      assert.strictEqual(yield* gate.run(ask, noisy), 1)
      const waiting = yield* started(gate.run(ask, Effect.andThen(noisy, Effect.as(Deferred.await(go), 2))))
      // Whoever ends the work's fiber, which is this test, hears of what its observer throws.
      assert.throws(() => Deferred.doneUnsafe(go, Exit.void), "the observer is ill")
      assert.strictEqual(yield* Fiber.join(waiting), 2)
      assert.deepInclude(yield* Books.settled(gate), { successes: 2 })
      yield* Books.whole(gate, 4)
    }))

  it.effect("PG-23: work that cannot even be started keeps no place", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make(options)
      const ill: Metric.FiberRuntimeMetricsService = {
        recordFiberStart: () => {
          throw new Error("the metrics are ill")
        },
        recordFiberEnd: () => {},
      }
      const call = Effect.provideService(gate.run(ask, Effect.void), Metric.FiberRuntimeMetrics, ill)
      assert.include(String(yield* Effect.exit(call)), "could not be started")
      assert.deepInclude(yield* Books.settled(gate), { granted: 1, neutral: 1 })
      yield* Books.whole(gate, 4)
    }))

  it.effect("PG-23: calls within calls, however deep, all come back", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make({ concurrency: 4_096, reservedControl: 0, tenantConcurrency: 4_096 })
      const nested = (depth: number): Effect.Effect<number, unknown> =>
        depth === 0 ? Effect.succeed(1) : gate.run(ask, Effect.suspend(() => nested(depth - 1)))
      assert.strictEqual(yield* nested(3_000), 1)
      assert.deepInclude(yield* Books.settled(gate), { successes: 3_000 })
    }))

  it.effect("PG-21: the work has its caller's context", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make(options)
      const Name = Context.Reference<string>("test/Name", { defaultValue: () => "nobody" })
      const read = Effect.withFiber((fiber) => Effect.succeed(fiber.getRef(Name)))
      assert.strictEqual(yield* Effect.provideService(gate.run(ask, read), Name, "somebody"), "somebody")
    }))
})

describe("the time limit", () => {
  it.effect("PG-22 PG-45: interrupts work that takes longer, and the failure is counted", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make(options)
      const fiber = yield* started(Effect.flip(gate.run(ask, Effect.never)))
      yield* TestClock.adjust(Duration.millis(1_999))
      assert.deepInclude(yield* Books.balanced(gate), { held: 1, failures: 0 })
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust(Duration.millis(1))
      assert.deepInclude(yield* Fiber.join(fiber), { _tag: "CallTimedOut", after: seconds(2) })
      assert.deepInclude(yield* Books.settled(gate), { failures: 1, timedOut: 1, opened: 1 })
      assert.deepInclude((yield* gate.snapshot).circuit, { retryAfter: seconds(10) })
    }))

  it.effect("PG-23: stubborn work is a failure at the deadline, and holds its place until it ends", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make(options)
      const end = yield* Deferred.make<void>()
      let over = false
      const stubborn = Effect.uninterruptible(Effect.andThen(Deferred.await(end), Effect.sync(() => over = true)))
      const fiber = yield* started(Effect.flip(gate.run(ask, stubborn)))
      yield* TestClock.adjust("5 seconds")
      const s = yield* Books.balanced(gate)
      assert.deepInclude(s, { held: 1, failures: 1, timedOut: 1, opened: 1 })
      // Open since the deadline, though it is later by now.
      assert.deepInclude(s.circuit, { state: "open", retryAfter: seconds(7) })
      assert.isUndefined(fiber.pollUnsafe())
      yield* Deferred.succeed(end, undefined)
      assert.deepInclude(yield* Fiber.join(fiber), { _tag: "CallTimedOut", after: seconds(2) })
      assert.isTrue(over)
      assert.deepInclude(yield* Books.settled(gate), { failures: 1, successes: 0 })
    }))

  it.each(["run", "tryEnter"] as const)("PG-2 PG-3: a clock that calls back lets %s past no bound", (verb) => {
    const clock = new CallingClock()
    const on = <A, E>(effect: Effect.Effect<A, E>) => Effect.provideService(effect, Clock.Clock, clock)
    const limits = { concurrency: 2, reservedControl: 0, tenantConcurrency: 1, failureThreshold: 1 }
    const gate = Effect.runSync(on(ProviderGate.make(limits)))
    const scope = Scope.makeUnsafe()
    const enters = on(Scope.provide(gate.tryEnter(ask), scope))
    if (verb === "tryEnter") {
      Effect.runSync(on(Effect.exit(gate.run({ tenant: "down" }, Effect.fail("down")))))
      clock.advance(60_000)
    }
    clock.call(1, () => {
      if (verb === "tryEnter") Effect.runSync(on(gate.run({ tenant: "probe" }, Effect.void)))
      Effect.runSync(enters)
    })
    const calls = verb === "run" ? gate.run(ask, Effect.never) : Effect.scoped(gate.tryEnter(ask))
    assert.include(String(Effect.runSyncExit(on(calls))), "Saturated")
    assert.deepInclude(Effect.runSync(Books.balanced(gate)), { held: 1, tenantsActive: 1 })
    Effect.runSync(Scope.close(scope, Exit.void))
    Effect.runSync(Books.settled(gate))
  })

  /** Of a gate with four places, where one call is under way and `permit` is out. */
  interface Stage {
    readonly gate: ProviderGate.ProviderGate
    readonly clock: HandClock
    readonly permit: ProviderGate.GatePermit
    readonly enter: (tenant: string) => Effect.Effect<ProviderGate.GatePermit, unknown>
  }
  const meanwhile: Readonly<
    Record<string, readonly [told: string, back: (stage: Stage) => Effect.Effect<unknown, unknown>]>
  > = {
    "a limit was lowered": ["Saturated", ({ gate }) => gate.lower({ concurrency: 2 })],
    "a place was taken and a limit lowered": [
      "Saturated",
      ({ enter, gate }) => Effect.andThen(enter("c"), gate.lower({ concurrency: 3 })),
    ],
    "a call has failed": ["CircuitOpen", ({ gate, permit }) => gate.settle(permit, "failure")],
    "a call has begun and one failed": [
      "CircuitOpen",
      ({ enter, gate, permit }) => Effect.andThen(enter("c"), gate.settle(permit, "failure")),
    ],
    "the time of a call was over and a limit lowered": [
      "CircuitOpen",
      ({ clock, gate }) => Effect.suspend(() => (clock.advance(2_000), gate.lower({ concurrency: 3 }))),
    ],
    "the time of a call was over": ["CircuitOpen", ({ clock }) => Effect.sync(() => clock.advance(2_000))],
  }
  for (const [what, [told, back]] of Object.entries(meanwhile)) {
    it(`PG-2 PG-6: run sees that ${what} while it read the clock`, () => {
      const clock = new CallingClock()
      const on = <A, E>(effect: Effect.Effect<A, E>) => Effect.provideService(effect, Clock.Clock, clock)
      const gate = Effect.runSync(on(ProviderGate.make({ ...options, reservedControl: 0 })))
      const scope = Scope.makeUnsafe()
      const enter = (tenant: string) => on(Scope.provide(gate.tryEnter({ tenant }), scope))
      const busy = Effect.runFork(on(gate.run(ask, Effect.uninterruptible(Effect.sleep("3 seconds")))))
      const permit = Effect.runSync(enter("b"))
      clock.call(1, () => void Effect.runSync(on(back({ gate, clock, permit, enter }))))
      const late = Effect.runSync(on(Effect.flip(gate.run({ tenant: "d" }, Effect.void))))
      assert.strictEqual(late._tag, told)
      Effect.runSync(Scope.close(scope, Exit.void))
      clock.advance(3_000)
      assert.isDefined(busy.pollUnsafe())
      Effect.runSync(Books.settled(gate))
    })
  }

  it("PG-23: a timer that rings late has the failure recorded with the time of the deadline all the same", () => {
    const clock = new HandClock()
    const onTime = clock.sleep.bind(clock)
    clock.sleep = (duration) => onTime(Duration.sum(duration, Duration.seconds(3)))
    const run = <A, E>(effect: Effect.Effect<A, E>) => Effect.runFork(Effect.provideService(effect, Clock.Clock, clock))
    const gate = Effect.runSync(Effect.provideService(ProviderGate.make(options), Clock.Clock, clock))
    const call = run(Effect.flip(gate.run(ask, Effect.never)))
    clock.advance(4_999)
    assert.isUndefined(call.pollUnsafe())
    clock.advance(1)
    assert.include(String(call.pollUnsafe()), "CallTimedOut")
    const s = Effect.runSync(Books.settled(gate))
    assert.deepInclude(s.circuit, { state: "open", retryAfter: seconds(7) })
  })

  it.effect("PG-23: places go back after the finalizers of the work, and with their defects beside the answer", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make(options)
      const held: Array<number> = []
      const work = Effect.never.pipe(
        Effect.ensuring(Effect.andThen(Effect.sleep("1 second"), Effect.map(gate.snapshot, (s) => held.push(s.held)))),
        Effect.ensuring(Effect.die("the finalizer is ill")),
      )
      const fiber = yield* started(Effect.exit(gate.run(ask, work)))
      yield* TestClock.adjust("2 seconds")
      assert.deepInclude(yield* Books.balanced(gate), { held: 1, timedOut: 1 })
      yield* TestClock.adjust("1 second")
      const exit = yield* Fiber.join(fiber)
      assert.deepStrictEqual(held, [1])
      assert.include(String(exit), "CallTimedOut")
      assert.include(String(exit), "the finalizer is ill")
      yield* Books.settled(gate)
    }))

  it.effect("PG-23 PG-54: a probe that is stubborn reopens the circuit at its deadline", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make(options)
      yield* Effect.exit(gate.run(ask, Effect.fail("broken")))
      yield* TestClock.adjust("10 seconds")
      const fiber = yield* started(Effect.exit(gate.run(ask, Effect.uninterruptible(Effect.sleep("1 minute")))))
      yield* TestClock.adjust("2 seconds")
      assert.deepInclude(yield* Books.balanced(gate), { held: 1, opened: 2 })
      assert.strictEqual((yield* gate.snapshot).circuit.state, "open")
      yield* TestClock.adjust("10 seconds")
      yield* gate.run(ask, Effect.void)
      assert.deepInclude(yield* Books.balanced(gate), { held: 1, circuit: { state: "closed", failures: 0 } })
      yield* TestClock.adjust("1 minute")
      yield* Fiber.join(fiber)
      yield* Books.whole(gate, 4)
    }))

  it.effect("PG-21 PG-12: work that its caller has left is neutral, however long its end takes", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make(options)
      const fiber = yield* started(gate.run(ask, Effect.uninterruptible(Effect.sleep("1 minute"))))
      yield* TestClock.adjust("1 second")
      const interrupting = yield* started(Fiber.interrupt(fiber))
      yield* TestClock.adjust("30 seconds")
      // The caller waits for the work, and the place is not free before.
      assert.isUndefined(fiber.pollUnsafe())
      assert.deepInclude(yield* Books.balanced(gate), { held: 1, failures: 0, timedOut: 0 })
      yield* TestClock.adjust("30 seconds")
      yield* Fiber.join(interrupting)
      assert.isTrue(Exit.hasInterrupts(fiber.pollUnsafe()!))
      assert.deepInclude(yield* Books.settled(gate), { neutral: 1, failures: 0 })
      yield* Books.whole(gate, 4)
    }))

  it.effect("PG-21: work that its caller has left is neutral, whatever it ends with", () =>
    Effect.gen(function* () {
      for (const end of [Effect.void, Effect.fail("broken"), Effect.die("bug")]) {
        const gate = yield* ProviderGate.make(options)
        const work = Effect.uninterruptible(Effect.andThen(Effect.sleep("1 second"), end))
        const fiber = yield* started(gate.run(ask, work))
        fiber.interruptUnsafe()
        yield* TestClock.adjust("1 second")
        assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(fiber)))
        assert.deepInclude(yield* Books.settled(gate), { neutral: 1, failures: 0, successes: 0 })
      }
    }))

  it.effect("PG-21 PG-23: work that timed out stays a failure though its caller leaves then", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make({ ...options, failureThreshold: 2 })
      const fiber = yield* started(gate.run(ask, Effect.uninterruptible(Effect.sleep("1 minute"))))
      yield* TestClock.adjust("3 seconds")
      fiber.interruptUnsafe()
      yield* TestClock.adjust("1 minute")
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(fiber)))
      assert.deepInclude(yield* Books.settled(gate), { failures: 1, neutral: 0, timedOut: 1 })
    }))

  it.effect("PG-12 PG-23: a defect of the work's end reaches the caller that interrupted it", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make(options)
      const fiber = yield* started(gate.run(ask, Effect.ensuring(Effect.never, Effect.die("the finalizer is ill"))))
      fiber.interruptUnsafe()
      const exit = yield* Fiber.await(fiber)
      assert.include(String(exit), "the finalizer is ill")
      assert.isTrue(Exit.hasInterrupts(exit))
      yield* Books.whole(gate, 4)
    }))

  it.effect("PG-22: work and deadline in the same turn have one outcome", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make({ ...options, failureThreshold: 100 })
      const fibers = []
      for (let i = 0; i < 3; i++) fibers.push(yield* started(Effect.exit(gate.run(ask, Effect.sleep("2 seconds")))))
      yield* TestClock.adjust("2 seconds")
      let timedOut = 0
      for (const fiber of fibers) if (Exit.isFailure(yield* Fiber.join(fiber))) timedOut++
      const s = yield* Books.settled(gate)
      assert.deepInclude(s, { timedOut, failures: timedOut, successes: 3 - timedOut })
    }))

  it.effect("PG-22 PG-51: is the one in force when the call began", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make({ ...options, failureThreshold: 9 })
      const slow = yield* started(Effect.exit(gate.run(ask, Effect.never)))
      yield* gate.lower({ maxElapsed: "1 second" })
      const quick = yield* started(Effect.exit(gate.run(ask, Effect.never)))
      yield* TestClock.adjust("1 second")
      assert.isDefined(quick.pollUnsafe())
      assert.isUndefined(slow.pollUnsafe())
      yield* TestClock.adjust("1 second")
      assert.isDefined(slow.pollUnsafe())
      yield* Books.settled(gate)
    }))

  it.effect("PG-22 PG-33: the clock is asked once for a call that ends at once, a probe or not", () =>
    Effect.gen(function* () {
      const clock = new HandClock()
      const gate = yield* Effect.provideService(ProviderGate.make(options), Clock.Clock, clock)
      const readings = (call: Effect.Effect<unknown, unknown>) => {
        const before = clock.readings
        return Effect.map(Effect.exit(call), () => clock.readings - before)
      }
      assert.strictEqual(yield* readings(gate.run(ask, Effect.void)), 1)
      yield* Effect.exit(gate.run(ask, Effect.fail("broken")))
      assert.strictEqual(yield* readings(gate.run(ask, Effect.void)), 1)
      clock.advance(10_000)
      assert.strictEqual((yield* gate.snapshot).circuit.state, "open")
      assert.strictEqual(yield* readings(gate.run(ask, Effect.void)), 1)
      assert.strictEqual((yield* gate.snapshot).circuit.state, "closed")
    }))

  it.effect("PG-23: all whose time is over are judged before any of them is interrupted", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make({ ...options, failureThreshold: 3 })
      const seen: Array<number> = []
      const work = Effect.ensuring(Effect.never, Effect.map(gate.snapshot, (s) => seen.push(s.failures)))
      const fibers = []
      for (let i = 0; i < 3; i++) fibers.push(yield* started(Effect.exit(gate.run(ask, work))))
      yield* TestClock.adjust("2 seconds")
      yield* Effect.forEach(fibers, Fiber.join)
      assert.deepStrictEqual(seen, [3, 3, 3])
      assert.deepInclude(yield* Books.settled(gate), { timedOut: 3, opened: 1 })
    }))

  it("PG-23 PG-33 PG-51: that was judged before its timer rang is interrupted by that, though the last of the others ends first", () => {
    const clock = new HandClock()
    const on = <A, E>(effect: Effect.Effect<A, E>) => Effect.provideService(effect, Clock.Clock, clock)
    const over = Deferred.makeUnsafe<void>()
    const gate = Effect.runSync(
      on(ProviderGate.make({ failureThreshold: 1, recoveryAfter: "1 second", maxElapsed: "5 seconds" })),
    )
    const other = Effect.runFork(on(gate.run(ask, Deferred.await(over))))
    Effect.runSync(on(gate.lower({ maxElapsed: "2 seconds" })))
    Effect.runSync(Effect.exit(on(gate.run(ask, Effect.fail("broken")))))
    clock.advance(1_000)
    const probe = Effect.runFork(on(gate.run(ask, Effect.never)))
    // Its timer is late.
    clock.skew(2_000)
    Effect.runSync(Effect.exit(on(gate.peek(ask))))
    assert.deepInclude(Effect.runSync(on(gate.snapshot)), { timedOut: 1, held: 2 })
    Effect.runSync(Deferred.succeed(over, undefined))
    assert.isDefined(other.pollUnsafe())
    assert.isUndefined(probe.pollUnsafe())
    clock.advance(2_000)
    assert.include(String(probe.pollUnsafe()), "CallTimedOut")
    assert.strictEqual(clock.sleeping, 0)
  })

  it.effect("PG-23: a watcher of one call that throws keeps no other call from its end", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make({ ...options, failureThreshold: 9 })
      const fibers = []
      for (let i = 0; i < 3; i++) fibers.push(yield* started(Effect.exit(gate.run(ask, Effect.never))))
      fibers[0]!.addObserver(() => {
        throw new Error("the watcher is ill")
      })
      yield* TestClock.adjust("2 seconds")
      for (const fiber of fibers) assert.isDefined(fiber.pollUnsafe())
      yield* Books.settled(gate)
      const next = yield* started(Effect.exit(gate.run(ask, Effect.never)))
      yield* TestClock.adjust("2 seconds")
      assert.isDefined(next.pollUnsafe())
      yield* Books.whole(gate, 4)
    }))

  for (const how of ["run", "peek"] as const) {
    it.effect(`PG-23 PG-33: a probe's failure counts though somebody asks first at its deadline, with ${how}`, () =>
      Effect.gen(function* () {
        const gate = yield* ProviderGate.make(options)
        yield* Effect.exit(gate.run(ask, Effect.fail("broken")))
        yield* TestClock.adjust("10 seconds")
        // Its timer is older than the one of the probe.
        const asks = how === "run" ? gate.run(ask, Effect.void) : gate.peek(ask)
        const next = yield* started(Effect.exit(Effect.andThen(Effect.sleep("2 seconds"), asks)))
        const probe = yield* started(Effect.exit(gate.run(ask, Effect.never)))
        yield* TestClock.adjust("2 seconds")
        assert.include(String(yield* Fiber.join(next)), "CircuitOpen")
        assert.include(String(yield* Fiber.join(probe)), "CallTimedOut")
        const { circuit } = yield* gate.snapshot
        assert.deepStrictEqual(circuit, { state: "open", retryAfter: seconds(10) })
        assert.deepInclude(yield* Books.settled(gate), { failures: 2, opened: 2, stale: 0, timedOut: 1 })
      }))
  }

  it.effect("PG-22 PG-33: the time of a call counts from its pass, as the lease of a probe does", () =>
    Effect.gen(function* () {
      const clock = new HandClock()
      const gate = yield* Effect.provideService(ProviderGate.make(options), Clock.Clock, clock)
      yield* Effect.exit(gate.run(ask, Effect.fail("broken")))
      clock.advance(10_000)
      const slow = Effect.andThen(Effect.sync(() => clock.advance(1_500)), Effect.never)
      const probe = yield* started(Effect.exit(gate.run(ask, slow)))
      clock.advance(500)
      const refused = yield* Effect.flip(gate.run(ask, Effect.void))
      assert.strictEqual(refused._tag, "CircuitOpen")
      const exit = yield* Fiber.join(probe)
      assert.include(String(exit), "CallTimedOut")
      assert.deepInclude(yield* Books.settled(gate), { failures: 2, opened: 2, stale: 0 })
    }))
})

describe("work in front of a pool", () => {
  const outcomes = ["PoolCapacity", "PoolBusy", "QueueExpired", "DialFailed", "ProviderError"] as const
  type Tag = typeof outcomes[number]
  const judge = (error: { readonly _tag: Tag }) =>
    ["PoolCapacity", "PoolBusy", "QueueExpired"].includes(error._tag) ? "neutral" : "failure"

  it.effect("PG-53: the gate is asked first, and settled by what the pool answers", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make({ ...options, failureThreshold: 100 })
      for (const _tag of outcomes) {
        const before = yield* gate.snapshot
        yield* Effect.exit(gate.run({ ...ask, judge }, Effect.fail({ _tag })))
        const after = yield* gate.snapshot
        const expected = judge({ _tag }) === "neutral" ? { neutral: 1, failures: 0 } : { neutral: 0, failures: 1 }
        assert.deepStrictEqual(
          {
            neutral: after.neutral - before.neutral,
            failures: after.failures - before.failures,
          },
          expected,
          _tag,
        )
      }
      const cancelled = yield* started(gate.run({ ...ask, judge }, Effect.never))
      yield* Fiber.interrupt(cancelled)
      assert.deepInclude(yield* Books.settled(gate), { neutral: 4, failures: 2 })
      // While the circuit is open the pool hears of nobody.
      let asked = 0
      const one = yield* ProviderGate.make(options)
      const pool = Effect.andThen(Effect.sync(() => asked++), Effect.fail({ _tag: "DialFailed" as const }))
      for (let i = 0; i < 3; i++) yield* Effect.exit(one.run({ ...ask, judge }, pool))
      assert.strictEqual(asked, 1)
    }))
})
