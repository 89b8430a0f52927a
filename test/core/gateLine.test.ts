/** The line in front of a gate: whose turn it is, how long one waits, and what an opening says to all of them. */
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import type { Priority } from "../../core/AdmissionOptions.ts"
import * as Deadline from "../../core/Deadline.ts"
import * as GateLine from "../../core/GateLine.ts"
import type { Options } from "../../core/GateOptions.ts"
import * as ProviderGate from "../../core/ProviderGate.ts"
import { wicketOf } from "../../core/Wicket.ts"
import { HandClock } from "../../core/testing/HandClock.ts"
import { CallingClock } from "../support/CallingClock.ts"
import * as Books from "../support/GateBooks.ts"

type Gate = ProviderGate.ProviderGate
const started = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })
const one: Options = { concurrency: 1, failureThreshold: 1, recoveryAfter: "10 seconds", maxElapsed: "10 minutes" }

/** A gate with a line, and the order in which callers were let in. */
const staged = (options: Options = one, line: GateLine.Options = {}) =>
  Effect.gen(function* () {
    const gate = yield* ProviderGate.make(options)
    const queue = yield* GateLine.make(gate, line)
    const order: Array<string> = []
    const enter = (tenant: string, priority: Priority = "normal") =>
      Effect.tap(queue.enter({ tenant, priority }), () => Effect.sync(() => order.push(`${tenant} ${priority}`)))
    /** Waits its turn, and is through at once. */
    const visit = (tenant: string, priority?: Priority, verdict: "success" | "failure" | "neutral" = "success") =>
      Effect.scoped(Effect.flatMap(enter(tenant, priority), (permit) => gate.settle(permit, verdict)))
    return { gate, queue, order, enter, visit }
  })
const empty = (gate: Gate, queue: GateLine.GateLine, places: number) =>
  Effect.gen(function* () {
    assert.strictEqual(yield* queue.waiting, 0)
    yield* Books.whole(gate, places)
  })

describe("a line", () => {
  it.effect("PG-35: those who only wait are not among the tenants that are active", () =>
    Effect.gen(function* () {
      const { enter, gate, queue } = yield* staged()
      const permit = yield* enter("a")
      const waiter = yield* started(Effect.scoped(Effect.andThen(enter("b"), Effect.never)))
      assert.strictEqual(yield* queue.waiting, 1)
      assert.deepInclude(yield* Books.balanced(gate), { held: 1, tenantsActive: 1 })
      yield* gate.settle(permit, "success")
      assert.deepInclude(yield* Books.balanced(gate), { held: 1, tenantsActive: 1 })
      yield* Fiber.interrupt(waiter)
      yield* empty(gate, queue, 1)
    }).pipe(Effect.scoped))

  it.effect("PG-46: lets in at once whom the gate has a place for, and in turn the rest", () =>
    Effect.gen(function* () {
      const { enter, gate, order, queue, visit } = yield* staged()
      const permit = yield* enter("h")
      const asks = [["a", "notification"], ["a", "normal"], ["a", "normal"], ["b", "normal"], ["c", "control"], [
        "d",
        "emergency",
      ]] as const
      const fibers = []
      for (const [tenant, priority] of asks) fibers.push(yield* started(visit(tenant, priority)))
      assert.strictEqual(yield* queue.waiting, 6)
      yield* gate.settle(permit, "success")
      yield* Effect.forEach(fibers, Fiber.join)
      // Higher first, then turns between tenants.
      assert.deepStrictEqual(order, [
        "h normal",
        "d emergency",
        "c control",
        "a normal",
        "b normal",
        "a normal",
        "a notification",
      ])
      yield* empty(gate, queue, 1)
    }).pipe(Effect.scoped))

  it.effect("PG-46: is told of places that the gate's own callers give back", () =>
    Effect.gen(function* () {
      const { gate, order, queue, visit } = yield* staged()
      const call = yield* started(gate.run({ tenant: "r" }, Effect.sleep("1 second")))
      const first = yield* started(visit("a"))
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(call)
      yield* Fiber.join(first)
      const permit = yield* gate.tryEnter({ tenant: "t" })
      const second = yield* started(visit("b"))
      yield* gate.settle(permit, "neutral")
      yield* Fiber.join(second)
      const scope = yield* Scope.make()
      yield* Scope.provide(gate.tryEnter({ tenant: "s" }), scope)
      const third = yield* started(visit("c"))
      yield* Scope.close(scope, Exit.void)
      yield* Fiber.join(third)
      assert.deepStrictEqual(order, ["a normal", "b normal", "c normal"])
      yield* empty(gate, queue, 1)
    }).pipe(Effect.scoped))

  it.effect("PG-46 PG-7: while somebody waits the gate itself lets nobody by", () =>
    Effect.gen(function* () {
      const { enter, gate, queue, visit } = yield* staged({
        ...one,
        concurrency: 2,
        tenantConcurrency: 1,
        reservedControl: 0,
      })
      const permit = yield* enter("a")
      const waiter = yield* started(visit("a"))
      // There is a place for another tenant, and yet.
      assert.deepInclude(yield* Effect.flip(Effect.scoped(gate.tryEnter({ tenant: "b" }))), {
        _tag: "Saturated",
        scope: "provider",
      })
      assert.deepInclude(yield* Effect.flip(gate.run({ tenant: "b", priority: "emergency" }, Effect.void)), {
        _tag: "Saturated",
      })
      // The line itself has it.
      yield* visit("b")
      yield* gate.settle(permit, "success")
      yield* Fiber.join(waiter)
      yield* Effect.scoped(gate.tryEnter({ tenant: "b" }))
      yield* empty(gate, queue, 2)
    }).pipe(Effect.scoped))

  it.effect("PG-46: is bounded in length and in age, and by the deadline of its caller", () =>
    Effect.gen(function* () {
      const { enter, gate, queue, visit } = yield* staged(one, { maxQueued: 2, maxWait: "3 seconds" })
      const permit = yield* enter("h")
      const waiters = [
        yield* started(Effect.flip(visit("a"))),
        yield* started(Effect.flip(Deadline.within("1 second")(visit("b")))),
      ]
      assert.deepInclude(yield* Effect.flip(visit("c")), { _tag: "QueueFull", scope: "all", limit: 2 })
      assert.deepInclude(yield* Effect.flip(Deadline.within(0)(visit("c"))), { _tag: "WaitExpired", bound: "deadline" })
      yield* TestClock.adjust("1 second")
      assert.deepInclude(yield* Fiber.join(waiters[1]!), {
        _tag: "WaitExpired",
        bound: "deadline",
        waited: Deadline.nanos(1e9),
        account: "total",
      })
      assert.isUndefined(waiters[0]!.pollUnsafe())
      yield* TestClock.adjust("2 seconds")
      assert.deepInclude(yield* Fiber.join(waiters[0]!), {
        _tag: "WaitExpired",
        bound: "maxWait",
        waited: Deadline.nanos(3e9),
      })
      yield* gate.settle(permit, "success")
      yield* empty(gate, queue, 1)
    }).pipe(Effect.scoped))

  it.effect("PG-46 PG-7: a deadline that has passed is told so though there is a place, and leaves no record", () =>
    Effect.gen(function* () {
      const { gate, queue, visit } = yield* staged()
      assert.deepInclude(yield* Effect.flip(Deadline.within(0)(visit("a"))), {
        _tag: "WaitExpired",
        bound: "deadline",
        waited: Deadline.nanos(0),
        account: "total",
      })
      assert.deepInclude(yield* Books.settled(gate), { granted: 0 })
      assert.strictEqual(wicketOf(gate)!.gate.keys.tenants.size, 0)
      yield* empty(gate, queue, 1)
    }))

  it("PG-46: those whose time is over make room for whoever comes, and are told in that step", () => {
    // A clock whose timer is late.
    const clock = new HandClock()
    clock.sleep = () => Effect.never
    const run = <A, E>(effect: Effect.Effect<A, E>) => Effect.runFork(Effect.provideService(effect, Clock.Clock, clock))
    const gate = Effect.runSync(Effect.provideService(ProviderGate.make(one), Clock.Clock, clock))
    const scope = Scope.makeUnsafe()
    const made = Scope.provide(GateLine.make(gate, { maxQueued: 1, maxWait: 10 }), scope)
    const queue = Effect.runSync(Effect.provideService(made, Clock.Clock, clock))
    run(Scope.provide(queue.enter({ tenant: "h" }), scope))
    const first = run(Effect.scoped(queue.enter({ tenant: "a" })))
    clock.advance(10)
    const second = run(Effect.scoped(queue.enter({ tenant: "b" })))
    assert.include(String(first.pollUnsafe()), "WaitExpired")
    assert.isUndefined(second.pollUnsafe())
    second.interruptUnsafe()
    Effect.runSync(Scope.close(scope, Exit.void))
    Effect.runSync(empty(gate, queue, 1))
  })

  it("PG-46 PG-33: the clock is asked once for a call that is let in at once, the circuit closed or not", () => {
    const clock = new HandClock()
    const on = <A, E>(effect: Effect.Effect<A, E>) => Effect.provideService(effect, Clock.Clock, clock)
    const scope = Scope.makeUnsafe()
    const gate = Effect.runSync(on(ProviderGate.make(one)))
    const { enter } = Effect.runSync(on(Scope.provide(GateLine.make(gate), scope)))
    const enters = (): ProviderGate.GatePermit => {
      const before = clock.readings
      const permit = Effect.runSync(on(Scope.provide(enter({ tenant: "a" }), scope)))
      assert.strictEqual(clock.readings - before, 1)
      return permit
    }
    Effect.runSync(on(gate.settle(enters(), "failure")))
    clock.advance(10_000)
    assert.isTrue(enters().probe)
    Effect.runSync(Scope.close(scope, Exit.void))
  })

  it("PG-46: an opening that is over before one of those who waited hears of it is told all the same", () => {
    const clock = new HandClock()
    const on = <A, E>(effect: Effect.Effect<A, E>) => Effect.provideService(effect, Clock.Clock, clock)
    const gate = Effect.runSync(on(ProviderGate.make(one)))
    const scope = Scope.makeUnsafe()
    const { enter } = Effect.runSync(on(Scope.provide(GateLine.make(gate), scope)))
    const permit = Effect.runSync(on(Scope.provide(enter({ tenant: "h" }), scope)))
    const told: Array<unknown> = []
    for (const tenant of ["a", "b"]) {
      Effect.runFork(on(Effect.match(Effect.scoped(enter({ tenant })), {
        onSuccess: () => told.push("let in"),
        onFailure: (refusal) => {
          told.push(refusal)
          clock.advance(10_000)
        },
      })))
    }
    Effect.runSync(on(gate.settle(permit, "failure")))
    assert.strictEqual(told.length, 2)
    assert.deepInclude(told[0], { _tag: "CircuitOpen", probing: false, retryAfter: Deadline.nanos(10e9) })
    assert.deepInclude(told[1], { _tag: "CircuitOpen", probing: false, retryAfter: Deadline.nanos(0) })
    Effect.runSync(Scope.close(scope, Exit.void))
  })

  it.effect("PG-46: says in whole milliseconds how long one waited", () =>
    Effect.gen(function* () {
      const { enter, visit } = yield* staged(one, { maxWait: 47.375943 })
      yield* enter("h")
      const waiter = yield* started(Effect.flip(visit("a")))
      yield* TestClock.adjust(Duration.nanos(47_500_000n))
      yield* TestClock.adjust(Duration.nanos(1_000_000n))
      assert.strictEqual((yield* Fiber.join(waiter)).message, "not admitted within maxWait: waited 48ms for the total")
    }).pipe(Effect.scoped))

  it.effect("PG-46: has 128 places to wait and 5 seconds by default", () =>
    Effect.gen(function* () {
      const { enter, gate, queue, visit } = yield* staged()
      const permit = yield* enter("h")
      const waiters = []
      for (let i = 0; i < 128; i++) waiters.push(yield* started(Effect.flip(visit("a"))))
      assert.deepInclude(yield* Effect.flip(visit("b")), { _tag: "QueueFull", limit: 128 })
      yield* TestClock.adjust(4_999)
      assert.strictEqual(yield* queue.waiting, 128)
      yield* TestClock.adjust(1)
      for (const waiter of waiters) assert.deepInclude(yield* Fiber.join(waiter), { _tag: "WaitExpired" })
      yield* gate.settle(permit, "success")
      yield* empty(gate, queue, 1)
    }).pipe(Effect.scoped))

  it.effect("PG-47: a notification that waited for half of its age counts as normal", () =>
    Effect.gen(function* () {
      for (const waited of [1_999, 2_000]) {
        const { enter, gate, order, queue, visit } = yield* staged(one, { maxWait: "4 seconds" })
        const permit = yield* enter("h")
        const notification = yield* started(visit("n", "notification"))
        yield* TestClock.adjust(waited)
        const normal = [yield* started(visit("a")), yield* started(visit("a"))]
        yield* gate.settle(permit, "success")
        yield* Effect.forEach([notification, ...normal], Fiber.join)
        // It has its turn among the tenants of its class, which is not before those who came first.
        assert.deepStrictEqual(
          order.slice(1),
          waited < 2_000 ? ["a normal", "a normal", "n notification"] : ["a normal", "n notification", "a normal"],
        )
        yield* empty(gate, queue, 1)
      }
    }).pipe(Effect.scoped))

  it.effect("PG-46: is the only one of its gate, and of a gate of this library", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make({})
      const both = yield* Effect.all([Effect.exit(GateLine.make(gate)), Effect.exit(GateLine.make(gate))], {
        concurrency: 2,
      })
      assert.deepStrictEqual(both.map((exit) => exit._tag).sort(), ["Failure", "Success"])
      for (const each of [{ ...gate }, {}, null, 1]) {
        assert.deepInclude(yield* Effect.flip(GateLine.make(each as Gate)), { _tag: "InvalidLimits", limit: "gate" })
      }
    }))

  it.effect("PG-7: a refusal for want of room in it leaves no record of its tenant", () =>
    Effect.gen(function* () {
      const { enter, gate, queue, visit } = yield* staged(one, { maxQueued: 1 })
      const { keys } = wicketOf(gate)!.gate
      const permit = yield* enter("h")
      yield* started(visit("a"))
      const before = keys.idle
      for (let i = 0; i < 10; i++) {
        assert.deepInclude(yield* Effect.flip(enter(`b${i}`, "control")), { _tag: "QueueFull" })
        assert.deepInclude(yield* Effect.flip(enter("a")), { _tag: "QueueFull" })
      }
      assert.deepStrictEqual([...keys.tenants.keys()], ["h", "a"])
      assert.strictEqual(keys.idle, before)
      yield* gate.settle(permit, "success")
      yield* empty(gate, queue, 1)
    }).pipe(Effect.scoped))

  it.effect("PG-46 PG-51: lets in those whom a lower reserve makes room for", () =>
    Effect.gen(function* () {
      const { enter, gate, queue, visit } = yield* staged({ ...one, concurrency: 2, reservedControl: 1 })
      const permit = yield* enter("a")
      const waiter = yield* started(visit("b"))
      yield* gate.lower({ reservedControl: 0 })
      assert.isDefined(waiter.pollUnsafe())
      yield* gate.settle(permit, "success")
      yield* empty(gate, queue, 2)
    }).pipe(Effect.scoped))

  it.effect("PG-28 PG-46: has a place for an emergency at once, whoever waits, where the gate itself would not", () =>
    Effect.gen(function* () {
      const { enter, gate, queue, visit } = yield* staged({ ...one, concurrency: 2, reservedControl: 1 })
      const permit = yield* enter("a")
      const waiter = yield* started(visit("b"))
      assert.deepInclude(yield* Effect.flip(gate.run({ tenant: "c", priority: "emergency" }, Effect.void)), {
        _tag: "Saturated",
      })
      yield* visit("c", "emergency")
      assert.isUndefined(waiter.pollUnsafe())
      yield* gate.settle(permit, "success")
      yield* Fiber.join(waiter)
      yield* empty(gate, queue, 2)
    }).pipe(Effect.scoped))
})

describe("an opening", () => {
  it.effect("PG-46: is never waited out: who comes and who waits hears of it at once", () =>
    Effect.gen(function* () {
      const { enter, gate, queue, visit } = yield* staged()
      const permit = yield* enter("h")
      const waiters = []
      for (const priority of ["normal", "emergency"] as const) {
        waiters.push(yield* started(Effect.flip(visit("a", priority))))
      }
      yield* gate.settle(permit, "failure")
      for (const waiter of waiters) {
        assert.deepInclude(yield* Fiber.join(waiter), {
          _tag: "CircuitOpen",
          probing: false,
          retryAfter: Deadline.nanos(10e9),
        })
      }
      assert.deepInclude(yield* Effect.flip(visit("b", "emergency")), { _tag: "CircuitOpen" })
      assert.strictEqual(yield* queue.waiting, 0)
      assert.deepInclude(yield* Books.settled(gate), { granted: 1, refusedOpen: 3 })
    }).pipe(Effect.scoped))

  it.effect("PG-46 PG-23: by a call that timed out, whose place is not free yet, is told to those who wait", () =>
    Effect.gen(function* () {
      const { gate, visit } = yield* staged({ ...one, maxElapsed: "1 second" })
      const call = yield* started(
        Effect.exit(gate.run({ tenant: "r" }, Effect.uninterruptible(Effect.sleep("3 seconds")))),
      )
      const waiter = yield* started(Effect.flip(visit("a")))
      yield* TestClock.adjust("1 second")
      assert.deepInclude(yield* Fiber.join(waiter), { _tag: "CircuitOpen", retryAfter: Deadline.nanos(10e9) })
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(call)
      yield* Books.settled(gate)
    }))

  it.effect("PG-6 PG-30 PG-46: ends with one probe, and who waited beside it is not kept waiting", () =>
    Effect.gen(function* () {
      const events: Array<string> = []
      const { gate, queue, visit, enter } = yield* staged({
        ...one,
        concurrency: 3,
        reservedControl: 0,
        tenantConcurrency: 3,
        events: (event) => void events.push(event),
      })
      const stragglers = [yield* enter("s"), yield* enter("s")]
      yield* visit("x", "normal", "failure")
      yield* gate.lower({ concurrency: 2 })
      yield* TestClock.adjust("10 seconds")
      // Its time is over, and no place is free: who comes now waits to be the probe.
      const waiters = []
      for (const tenant of ["a", "b", "c"]) {
        waiters.push(yield* started(Effect.exit(Effect.scoped(Effect.andThen(enter(tenant), Effect.never)))))
      }
      assert.strictEqual(yield* queue.waiting, 3)
      // Two places in one turn: one probe, and the other grant is void.
      yield* gate.settle(stragglers[0]!, "success")
      assert.deepStrictEqual(events, ["opened", "probing"])
      yield* gate.settle(stragglers[1]!, "success")
      const exits = waiters.map((each) => each.pollUnsafe())
      assert.deepStrictEqual(exits.map((exit) => exit === undefined), [true, false, false])
      for (const exit of exits.slice(1)) assert.include(String(exit), "a probe is out")
      assert.deepInclude(yield* Books.balanced(gate), { held: 1, circuit: { state: "half-open" } })
      assert.deepInclude(yield* Effect.flip(visit("d")), { _tag: "CircuitOpen", probing: true })
      yield* Fiber.interrupt(waiters[0]!)
      yield* visit("d")
      yield* empty(gate, queue, 2)
    }).pipe(Effect.scoped))

  it.effect("PG-46: between a grant and its hearing gives the place back, and says so to the caller", () =>
    Effect.gen(function* () {
      const { enter, gate, order, queue, visit } = yield* staged({
        ...one,
        concurrency: 4,
        reservedControl: 3,
        tenantConcurrency: 4,
      })
      const permit = yield* enter("h")
      const waiters = []
      for (const tenant of ["a", "b", "c"]) {
        waiters.push(yield* started(Effect.exit(visit(tenant, "normal", tenant === "a" ? "failure" : "success"))))
      }
      // Two are granted in one step, and the first to hear of it fails before the second one's answer is handed over.
      yield* gate.lower({ reservedControl: 1 })
      const exits = waiters.map((waiter) => waiter.pollUnsafe())
      assert.deepStrictEqual(order, ["h normal", "a normal"])
      assert.strictEqual(exits[0]!._tag, "Success")
      for (const exit of exits.slice(1)) assert.include(String(exit), "the circuit is open for 10s")
      assert.strictEqual(yield* queue.waiting, 0)
      assert.deepInclude(yield* Books.balanced(gate), { held: 1, granted: 2, refusedOpen: 2 })
      yield* gate.settle(permit, "neutral")
      yield* TestClock.adjust("10 seconds")
      yield* visit("d")
      yield* empty(gate, queue, 4)
    }).pipe(Effect.scoped))

  it.effect("PG-6 PG-46: grants on their way make one probe, and the place of the other is free", () =>
    Effect.gen(function* () {
      const { enter, gate, queue, visit } = yield* staged({
        ...one,
        concurrency: 4,
        reservedControl: 3,
        tenantConcurrency: 4,
      })
      const straggler = yield* enter("h")
      yield* visit("x", "control", "failure")
      yield* TestClock.adjust("10 seconds")
      const holding = (tenant: string) =>
        started(Effect.exit(Effect.scoped(Effect.andThen(enter(tenant), Effect.never))))
      const waiters = [yield* holding("a"), yield* holding("b")]
      yield* gate.lower({ reservedControl: 1 })
      assert.isUndefined(waiters[0]!.pollUnsafe())
      assert.include(String(waiters[1]!.pollUnsafe()), "a probe is out")
      assert.deepInclude(yield* Books.balanced(gate), { held: 2, circuit: { state: "half-open" } })
      yield* Fiber.interrupt(waiters[0]!)
      yield* gate.settle(straggler, "neutral")
      yield* visit("d")
      yield* empty(gate, queue, 4)
    }).pipe(Effect.scoped))

  it.effect("PG-46 PG-12: the end of a scope interrupts who waits for it, and leaves nothing in the line", () =>
    Effect.gen(function* () {
      const { enter, gate, queue } = yield* staged()
      const permit = yield* enter("h")
      const scope = yield* Scope.make()
      const waiter = yield* started(Effect.exit(Scope.provide(enter("a"), scope)))
      assert.strictEqual(yield* queue.waiting, 1)
      yield* Scope.close(scope, Exit.void)
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.join(waiter)))
      yield* gate.settle(permit, "success")
      yield* empty(gate, queue, 1)
    }).pipe(Effect.scoped))

  it.effect("PG-46 PG-52: told to a sink that closes the scope of the probe loses no place", () =>
    Effect.gen(function* () {
      let scope: Scope.Closeable | undefined = undefined
      const { enter, gate, queue, visit } = yield* staged({
        ...one,
        events: (event) => {
          if (event === "probing" && scope !== undefined) Effect.runSync(Scope.close(scope, Exit.void))
        },
      })
      yield* visit("x", "normal", "failure")
      yield* TestClock.adjust("10 seconds")
      // At once, and after a wait.
      scope = yield* Scope.make()
      yield* Effect.exit(Scope.provide(enter("a"), scope))
      yield* Books.settled(gate)
      scope = undefined
      const probe = yield* enter("b")
      yield* gate.settle(probe, "success")
      yield* empty(gate, queue, 1)
    }).pipe(Effect.scoped))

  it.effect("PG-5 PG-3: whose deadline has a clock that changes the gate finds what that left", () =>
    Effect.gen(function* () {
      const { gate, queue } = yield* staged({ ...one, concurrency: 2, reservedControl: 0, tenantConcurrency: 1 })
      const clock = yield* Clock.Clock
      const asks = (tenant: string, back: Effect.Effect<unknown, unknown>) => {
        const calls = Object.create(clock, {
          monotonicTimeNanosUnsafe: { value: () => (Effect.runSyncExit(back), clock.monotonicTimeNanosUnsafe()) },
        })
        return Effect.exit(Deadline.provide({ atNanos: 1e9, clock: calls })(Effect.scoped(queue.enter({ tenant }))))
      }
      const scope = yield* Scope.make()
      const enter = Scope.provide(gate.tryEnter({ tenant: "new" }), scope)
      const late = yield* started(asks("new", enter))
      assert.deepInclude(yield* Books.balanced(gate), { held: 1, tenantsActive: 1 })
      yield* TestClock.adjust("1 second")
      assert.include(String(yield* Fiber.join(late)), "WaitExpired")
      yield* Scope.close(scope, Exit.void)
      const [a, b] = [yield* gate.tryEnter({ tenant: "a" }), yield* gate.tryEnter({ tenant: "b" })]
      assert.include(String(yield* asks("c", gate.settle(a, "failure"))), "CircuitOpen")
      yield* gate.settle(b, "neutral")
      assert.strictEqual(yield* queue.waiting, 0)
      yield* Books.settled(gate)
    }).pipe(Effect.scoped))

  // Counted from the step that passes the place on. The third and the fourth once left a probe, or a place, that nobody had.
  it.each([1, 2, 3, 4, 5, 6].flatMap((reading) => [[reading, "scope"], [reading, "fiber"]] as const))(
    "PG-46 PG-52: that hears of its place while reading %i of the gate's clock ends its %s keeps none",
    (reading, ends) => {
      const clock = new CallingClock()
      const run = <A, E>(effect: Effect.Effect<A, E>): A =>
        Effect.runSync(Effect.provideService(effect, Clock.Clock, clock))
      const [lapsing, waiting, around] = [Scope.makeUnsafe(), Scope.makeUnsafe(), Scope.makeUnsafe()]
      const gate = run(ProviderGate.make({ ...one, reservedControl: 0 }))
      const queue = run(Scope.provide(GateLine.make(gate), around))
      run(Effect.scoped(Effect.flatMap(gate.tryEnter({ tenant: "a" }), (permit) => gate.settle(permit, "failure"))))
      clock.advance(10_000)
      run(Scope.provide(queue.enter({ tenant: "a" }), lapsing))
      clock.advance(1_200_000)
      const waiter = Effect.runFork(
        Effect.provideService(Scope.provide(queue.enter({ tenant: "b" }), waiting), Clock.Clock, clock),
      )
      clock.call(reading, () => ends === "scope" ? run(Scope.close(waiting, Exit.void)) : waiter.interruptUnsafe())
      run(Scope.close(lapsing, Exit.void))
      clock.call(0, () => {})
      run(Scope.close(waiting, Exit.void))
      assert.strictEqual(run(queue.waiting), 0)
      run(Books.settled(gate))
      run(Scope.close(around, Exit.void))
    },
  )
})
