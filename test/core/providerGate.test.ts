/** A gate through its verbs: who gets a place, how a permit ends, and what the circuit makes of it. */
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
import { type Options, or } from "../../core/GateOptions.ts"
import * as ProviderGate from "../../core/ProviderGate.ts"
import { wicketOf } from "../../core/Wicket.ts"
import { HandClock } from "../../core/testing/HandClock.ts"
import * as Books from "../support/GateBooks.ts"

const small: Options = {
  concurrency: 2,
  reservedControl: 1,
  tenantConcurrency: 1,
  failureThreshold: 2,
  recoveryAfter: "10 seconds",
  maxElapsed: "30 seconds",
}
type Gate = ProviderGate.ProviderGate
const ask = (tenant: string, priority: Priority = "normal") => ({ tenant, priority })
const refused = (gate: Gate, tenant: string, priority: Priority = "normal") =>
  Effect.flip(Effect.scoped(gate.tryEnter(ask(tenant, priority))))
/** Lets one by and settles it at once. */
const once = (gate: Gate, verdict: "success" | "failure" | "neutral", tenant = "once", priority: Priority = "normal") =>
  Effect.scoped(
    Effect.flatMap(
      gate.tryEnter(ask(tenant, priority)),
      (permit) => Effect.andThen(gate.settle(permit, verdict), Effect.succeed(permit.probe)),
    ),
  )
const opened = (options: Options = {}) =>
  Effect.gen(function* () {
    const gate = yield* ProviderGate.make({ ...small, ...options })
    for (let i = or(options.failureThreshold, 2); i > 0; i--) yield* once(gate, "failure")
    assert.strictEqual((yield* Books.balanced(gate)).circuit.state, "open")
    return gate
  })
/** As a gate says it: in nanoseconds. */
const seconds = (count: number) => Deadline.nanos(count * 1e9)
const started = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })

describe("places", () => {
  it.effect("PG-1: gives a permit that says whose it is and in which class", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make({ concurrency: 4, reservedControl: 1 })
      for (const priority of ["emergency", "control", "normal", "notification"] as const) {
        const permit = yield* Effect.scoped(gate.tryEnter(ask(`tenant of ${priority}`, priority)))
        assert.deepInclude({ ...permit }, { tenant: `tenant of ${priority}`, priority })
      }
    }))

  it.effect("PG-1 PG-2 PG-3 PG-4 PG-5 PG-8 PG-10 PG-28 PG-30: bulkhead and recovery are bounded", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make(small)
      const normal = yield* gate.tryEnter(ask("a"))
      const urgent = yield* gate.tryEnter(ask("a", "emergency"))
      assert.deepInclude(yield* refused(gate, "b"), { _tag: "Saturated", scope: "ordinary" })
      assert.deepInclude(yield* refused(gate, "b", "emergency"), { _tag: "Saturated", scope: "provider" })
      yield* gate.settle(normal, "failure")
      yield* gate.settle(urgent, "failure")
      for (const priority of ["emergency", "control", "normal", "notification"] as const) {
        const open = yield* refused(gate, "a", priority)
        assert.deepInclude(open, { _tag: "CircuitOpen", probing: false })
        assert.deepInclude(open, { retryAfter: seconds(10) })
      }
      yield* TestClock.adjust("10 seconds")
      const probe = yield* gate.tryEnter(ask("a"))
      assert.isTrue(probe.probe)
      assert.deepInclude(yield* refused(gate, "b", "emergency"), { _tag: "CircuitOpen", probing: true })
      yield* gate.settle(probe, "success")
      yield* once(gate, "success")
      assert.deepInclude((yield* Books.settled(gate)).circuit, { state: "closed", failures: 0 })
      yield* Books.whole(gate, 2)
    }))

  it.effect("PG-28 PG-29: with ordinary work at its share, emergencies and other tenants' control fill the rest", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make({ concurrency: 6, reservedControl: 3, tenantConcurrency: 3 })
      for (let i = 0; i < 3; i++) yield* gate.tryEnter(ask("a", i === 0 ? "notification" : "normal"))
      assert.deepInclude(yield* refused(gate, "b"), { scope: "ordinary" })
      assert.deepInclude(yield* refused(gate, "b", "notification"), { scope: "ordinary" })
      assert.deepInclude(yield* refused(gate, "a", "control"), { scope: "tenant" })
      yield* gate.tryEnter(ask("a", "emergency"))
      yield* gate.tryEnter(ask("b", "control"))
      yield* gate.tryEnter(ask("b", "control"))
      assert.deepInclude(yield* Books.balanced(gate), { held: 6, heldOrdinary: 3, heldEmergency: 1, tenantsActive: 2 })
      assert.deepInclude(yield* refused(gate, "c", "emergency"), { scope: "provider" })
    }).pipe(Effect.scoped))

  it.effect("PG-3 PG-4: emergencies count neither way with their tenant", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make({ concurrency: 8, tenantConcurrency: 1 })
      for (let i = 0; i < 3; i++) yield* gate.tryEnter(ask("a", "emergency"))
      yield* gate.tryEnter(ask("a"))
      assert.deepInclude(yield* refused(gate, "a"), { scope: "tenant" })
      yield* gate.tryEnter(ask("a", "emergency"))
    }).pipe(Effect.scoped))

  it.effect("PG-7: refusals of every kind leave all but their own counts as they were", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make(small)
      const before = () =>
        Effect.map(Books.balanced(gate), (s) => ({ ...s, saturated: undefined, refusedOpen: undefined }))
      const held = yield* gate.tryEnter(ask("a"))
      const first = yield* before()
      for (const [tenant, priority] of [["b", "normal"], ["a", "control"]] as const) {
        yield* refused(gate, tenant, priority)
      }
      assert.deepStrictEqual(yield* before(), first)
      yield* gate.tryEnter(ask("c", "control"))
      const second = yield* before()
      yield* refused(gate, "d", "emergency")
      assert.deepStrictEqual(yield* before(), second)
      assert.deepStrictEqual((yield* gate.snapshot).saturated, { ordinary: 1, provider: 1, tenant: 1 })
      yield* gate.settle(held, "failure")
      yield* once(gate, "failure")
      const third = yield* before()
      yield* refused(gate, "d", "emergency")
      assert.deepStrictEqual(yield* before(), third)
      assert.strictEqual((yield* gate.snapshot).refusedOpen, 1)
      // Nor did those that were refused leave a record.
      assert.deepStrictEqual([...wicketOf(gate)!.gate.keys.tenants.keys()], ["a", "c", "once"])
    }).pipe(Effect.scoped))

  it.effect("PG-33: a settled permit's place is free in the same turn, and the circuit knows in the same step", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make({ concurrency: 1, failureThreshold: 1 })
      const permit = yield* gate.tryEnter(ask("a"))
      let answer: unknown
      yield* Effect.withFiber((fiber) => {
        const run = Effect.runSyncExitWith(fiber.context)
        assert.isTrue(Exit.isFailure(run(Effect.scoped(gate.tryEnter(ask("b"))))))
        run(gate.settle(permit, "success"))
        answer = run(Effect.scoped(gate.tryEnter(ask("b"))))
        return Effect.void
      })
      assert.isTrue(Exit.isSuccess(answer as Exit.Exit<unknown>))
      const failing = yield* gate.tryEnter(ask("a"))
      yield* gate.settle(failing, "failure")
      assert.deepInclude(yield* refused(gate, "b"), { _tag: "CircuitOpen" })
      yield* Books.settled(gate)
    }).pipe(Effect.scoped))

  it("PG-27: an answer comes in the same turn, at every kind of fullness and with a clock that stands", () => {
    const clock = new HandClock()
    const now = <A, E>(effect: Effect.Effect<A, E>) =>
      Effect.runSync(Effect.provideService(Effect.exit(effect), Clock.Clock, clock))
    const gate = Effect.runSync(Effect.provideService(ProviderGate.make(small), Clock.Clock, clock))
    const scope = Scope.makeUnsafe()
    const enter = (tenant: string, priority: Priority = "normal") =>
      now(Scope.provide(gate.tryEnter(ask(tenant, priority)), scope))
    const tag = (exit: Exit.Exit<unknown, unknown>) =>
      String(exit).match(/Success|ordinary|provider|tenant|circuit/)?.[0]
    assert.strictEqual(tag(enter("a")), "Success")
    assert.include(String(enter("b")), "ordinary")
    assert.include(String(enter("a", "control")), "tenant")
    assert.strictEqual(tag(enter("a", "emergency")), "Success")
    assert.include(String(enter("a", "emergency")), "provider")
    now(Scope.close(scope, Exit.void))
    for (let i = 0; i < 2; i++) now(once(gate, "failure"))
    assert.include(String(enter("a", "emergency")), "circuit")
    assert.strictEqual(clock.sleeping, 0)
    Effect.runSync(Books.settled(gate))
  })
})

describe("the circuit", () => {
  it.effect("PG-5 PG-30: lets the first by at its nanosecond, not before", () =>
    Effect.gen(function* () {
      const gate = yield* opened()
      yield* TestClock.adjust(Duration.nanos(9_999_999_999n))
      assert.deepInclude(yield* refused(gate, "a", "emergency"), { retryAfter: Duration.nanos(1n), probing: false })
      yield* TestClock.adjust(Duration.nanos(1n))
      assert.isTrue(yield* once(gate, "success"))
      assert.isFalse(yield* once(gate, "success"))
      yield* Books.whole(gate, 2)
    }))

  it.effect("PG-6 PG-11 PG-13 PG-31: a dropped probe does not wedge it", () =>
    Effect.gen(function* () {
      const gate = yield* opened()
      yield* TestClock.adjust("10 seconds")
      const scope = yield* Scope.make()
      const probe = yield* Scope.provide(gate.tryEnter(ask("a")), scope)
      assert.isTrue(probe.probe)
      assert.deepInclude(yield* refused(gate, "b"), { _tag: "CircuitOpen", probing: true, retryAfter: seconds(0) })
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual((yield* Books.settled(gate)).circuit, { state: "open", retryAfter: seconds(0) })
      assert.isTrue(yield* once(gate, "neutral"))
      assert.isTrue(yield* once(gate, "success"))
      yield* Books.whole(gate, 2)
    }))

  it.effect("PG-9 PG-36: a failed probe reopens it for the full time, whatever the threshold", () =>
    Effect.gen(function* () {
      const gate = yield* opened({ failureThreshold: 5 })
      yield* TestClock.adjust("17 seconds")
      yield* once(gate, "failure")
      assert.deepInclude(yield* refused(gate, "a"), { retryAfter: seconds(10), probing: false })
      yield* TestClock.adjust("4 seconds")
      assert.deepInclude(yield* refused(gate, "a"), { retryAfter: seconds(6) })
      assert.deepInclude(yield* Books.settled(gate), { opened: 2, failures: 6, generation: 2 })
    }))

  it.effect("PG-8: only failures in a row open it, and one with a success in between starts anew", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make({ ...small, failureThreshold: 3 })
      for (const verdict of ["failure", "failure", "success", "failure", "neutral", "failure"] as const) {
        yield* once(gate, verdict)
      }
      assert.deepStrictEqual((yield* gate.snapshot).circuit, { state: "closed", failures: 2 })
      yield* once(gate, "failure")
      assert.strictEqual((yield* Books.settled(gate)).circuit.state, "open")
      const one = yield* ProviderGate.make({ ...small, failureThreshold: 1 })
      yield* once(one, "failure")
      assert.strictEqual((yield* Books.settled(one)).circuit.state, "open")
    }))

  it.effect("PG-14: a probe that finds no place leaves its mark to the next", () =>
    Effect.gen(function* () {
      const crowded = yield* ProviderGate.make({ ...small, failureThreshold: 1, concurrency: 3 })
      const permits = [
        yield* crowded.tryEnter(ask("a")),
        yield* crowded.tryEnter(ask("b")),
        yield* crowded.tryEnter(ask("c", "control")),
      ]
      yield* crowded.settle(permits[0]!, "failure")
      yield* TestClock.adjust("10 seconds")
      const probe = yield* crowded.tryEnter(ask("d"))
      assert.isTrue(probe.probe)
      yield* crowded.settle(probe, "neutral")
      const busy = yield* crowded.tryEnter(ask("e"))
      assert.isTrue(busy.probe)
      yield* crowded.settle(busy, "failure")
      yield* TestClock.adjust("10 seconds")
      yield* crowded.lower({ concurrency: 2 })
      for (let i = 0; i < 2; i++) {
        assert.deepInclude(yield* refused(crowded, "d", "emergency"), { _tag: "Saturated", scope: "provider" })
        assert.strictEqual((yield* crowded.snapshot).circuit.state, "open")
      }
      yield* crowded.settle(permits[1]!, "success")
      assert.isTrue(yield* once(crowded, "success", "d", "emergency"))
      yield* crowded.settle(permits[2]!, "success")
      yield* Books.settled(crowded)
    }).pipe(Effect.scoped))

  it.effect("PG-18 PG-34: outcomes of an older generation count as stale, open nothing and extend nothing", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make({ ...small, concurrency: 16, tenantConcurrency: 16, failureThreshold: 1 })
      const old = []
      for (let i = 0; i < 6; i++) old.push(yield* gate.tryEnter(ask("old")))
      yield* once(gate, "failure")
      yield* TestClock.adjust("4 seconds")
      yield* gate.settle(old[0]!, "failure")
      yield* gate.settle(old[1]!, "success")
      assert.deepInclude((yield* gate.snapshot).circuit, { state: "open", retryAfter: seconds(6) })
      yield* TestClock.adjust("6 seconds")
      const probe = yield* gate.tryEnter(ask("a"))
      yield* gate.settle(old[2]!, "failure")
      yield* gate.settle(old[3]!, "success")
      assert.deepInclude((yield* gate.snapshot).circuit, { state: "half-open" })
      yield* gate.settle(probe, "success")
      yield* gate.settle(old[4]!, "failure")
      assert.deepInclude((yield* gate.snapshot).circuit, { state: "closed", failures: 0 })
      yield* gate.settle(old[5]!, "success")
      assert.deepInclude(yield* Books.settled(gate), { stale: 6, successes: 1, failures: 1, opened: 1 })
      yield* Books.whole(gate, 16)
    }).pipe(Effect.scoped))

  it.effect("PG-18: with stale outcomes applied a late success closes and a late failure extends", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make({ ...small, concurrency: 8, tenantConcurrency: 8, staleOutcomes: "apply" })
      const old = []
      for (let i = 0; i < 4; i++) old.push(yield* gate.tryEnter(ask("old")))
      yield* gate.settle(old[0]!, "failure")
      yield* gate.settle(old[1]!, "failure")
      yield* TestClock.adjust("4 seconds")
      yield* gate.settle(old[2]!, "failure")
      assert.deepInclude((yield* gate.snapshot).circuit, { state: "open", retryAfter: seconds(10) })
      yield* gate.settle(old[3]!, "success")
      assert.deepInclude((yield* Books.settled(gate)).circuit, { state: "closed", failures: 0 })
      yield* Books.whole(gate, 8)
    }).pipe(Effect.scoped))

  it.effect("PG-54: a probe that hangs loses its mark to the next caller, and its outcome is then an old one", () =>
    Effect.gen(function* () {
      const gate = yield* opened({ concurrency: 4, tenantConcurrency: 4 })
      yield* TestClock.adjust("10 seconds")
      const hung = yield* gate.tryEnter(ask("a"))
      yield* TestClock.adjust(Duration.nanos(29_999_999_999n))
      assert.deepInclude(yield* refused(gate, "a", "emergency"), { probing: true })
      yield* TestClock.adjust(Duration.nanos(1n))
      // Nothing happens by itself.
      assert.deepInclude(yield* gate.snapshot, { generation: 1, circuit: { state: "half-open" } })
      const next = yield* gate.tryEnter(ask("a"))
      assert.isTrue(next.probe)
      yield* gate.settle(hung, "success")
      assert.deepInclude(yield* gate.snapshot, { generation: 2, circuit: { state: "half-open" }, stale: 1 })
      yield* gate.settle(next, "success")
      yield* Books.whole(gate, 4)
    }).pipe(Effect.scoped))

  it.effect("PG-51 PG-54: a probe that is out keeps the lease it started with when the limit is lowered", () =>
    Effect.gen(function* () {
      const gate = yield* opened({ concurrency: 4, tenantConcurrency: 4 })
      yield* TestClock.adjust("10 seconds")
      const probe = yield* gate.tryEnter(ask("a"))
      yield* gate.lower({ maxElapsed: "1 second" })
      yield* TestClock.adjust("29 seconds")
      assert.deepInclude(yield* refused(gate, "a", "emergency"), { probing: true })
      yield* gate.settle(probe, "failure")
      assert.deepInclude(yield* gate.snapshot, { stale: 0, circuit: { state: "open", retryAfter: seconds(10) } })
      yield* TestClock.adjust("10 seconds")
      // The next one starts with the new.
      yield* gate.tryEnter(ask("a"))
      yield* TestClock.adjust("1 second")
      yield* gate.settle(yield* gate.tryEnter(ask("a")), "success")
      assert.deepInclude(yield* gate.snapshot, { stale: 0, circuit: { state: "closed", failures: 0 } })
    }).pipe(Effect.scoped))

  it.effect("PG-32: closes after one probe, given a provider that is well", () =>
    Effect.gen(function* () {
      const gate = yield* opened()
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* gate.run(ask("a"), Effect.succeed("well")), "well")
      for (let i = 0; i < 3; i++) yield* gate.run(ask("a"), Effect.void)
      assert.deepInclude(yield* Books.settled(gate), { circuit: { state: "closed", failures: 0 }, generation: 2 })
    }))

  it.effect("PG-25: gates of one trace do not influence one another", () =>
    Effect.gen(function* () {
      const [one, other, alone] = [
        yield* ProviderGate.make(small),
        yield* ProviderGate.make(small),
        yield* ProviderGate.make(small),
      ]
      for (let i = 0; i < 20; i++) {
        if (i % 7 === 6) yield* TestClock.adjust("10 seconds")
        yield* Effect.exit(once(one!, "failure"))
        yield* once(other!, "success")
        yield* once(alone!, "success")
      }
      assert.strictEqual((yield* Books.settled(one!)).circuit.state, "open")
      assert.deepStrictEqual(yield* other!.snapshot, yield* alone!.snapshot)
      yield* Books.whole(other!, 2)
    }))

  it("PG-20 PG-36: a clock that steps back opens no door early and promises no more than the whole time", () => {
    const clock = new SteppingClock()
    const run = <A, E>(effect: Effect.Effect<A, E>) =>
      Effect.runSync(Effect.provideService(Effect.exit(effect), Clock.Clock, clock))
    const made = run(ProviderGate.make(small))
    assert.isTrue(Exit.isSuccess(made))
    const gate = (made as Exit.Success<Gate>).value
    for (let i = 0; i < 2; i++) run(once(gate, "failure"))
    clock.step(-3_600_000)
    assert.include(String(run(Effect.flip(Effect.scoped(gate.tryEnter(ask("a")))))), "CircuitOpen")
    const wait = run(Effect.flip(Effect.scoped(gate.tryEnter(ask("a")))))
    assert.deepInclude((wait as Exit.Success<object>).value, { retryAfter: seconds(10) })
    clock.step(3_600_000 + 9_999)
    assert.isTrue(Exit.isFailure(run(Effect.scoped(gate.tryEnter(ask("a"))))))
    clock.step(1)
    // Between enter and settle: the failure counts from the instant that the clock then tells.
    const scope = Scope.makeUnsafe()
    const probe = run(Scope.provide(gate.tryEnter(ask("a")), scope)) as Exit.Success<ProviderGate.GatePermit>
    clock.step(-60_000)
    run(gate.settle(probe.value, "failure"))
    const again = run(Effect.flip(Effect.scoped(gate.tryEnter(ask("a"))))) as Exit.Success<object>
    assert.deepInclude(again.value, { retryAfter: seconds(10), probing: false })
    clock.step(10_000)
    assert.isTrue(Exit.isSuccess(run(once(gate, "success"))))
    Effect.runSync(Books.settled(gate))
  })
})

/** A clock that can be set back, its monotonic time too. */
class SteppingClock extends HandClock {
  #aheadNanos = 0n
  step(millis: number): void {
    this.#aheadNanos += BigInt(millis) * 1_000_000n
  }
  override monotonicTimeNanosUnsafe(): bigint {
    return super.monotonicTimeNanosUnsafe() + this.#aheadNanos
  }
}

describe("a permit", () => {
  const ways = ["success", "failure", "neutral", "scope"] as const

  for (const first of ways) {
    for (const second of ways) {
      it.effect(`PG-15 PG-16: ended by ${first} and then by ${second} gives back once`, () =>
        Effect.gen(function* () {
          const gate = yield* ProviderGate.make({ ...small, concurrency: 3, failureThreshold: 9, tenantConcurrency: 3 })
          const scope = yield* Scope.make()
          const permit = yield* Scope.provide(gate.tryEnter(ask("a")), scope)
          const other = yield* gate.tryEnter(ask("a"))
          const end = (way: typeof ways[number]) =>
            way === "scope" ? Scope.close(scope, Exit.void) : gate.settle(permit, way)
          yield* end(first)
          const after = yield* Books.balanced(gate)
          assert.strictEqual(after.held, 1)
          const exit = yield* Effect.exit(end(second))
          if (second === "scope") assert.isTrue(Exit.isSuccess(exit))
          else assert.deepInclude(yield* Effect.flip(exit), { _tag: "PermitMisuse", reason: "already-settled" })
          assert.deepStrictEqual(yield* Books.balanced(gate), after)
          yield* gate.settle(other, "success")
          yield* Books.whole(gate, 3)
        }).pipe(Effect.scoped))
    }
  }

  it.effect("PG-15 PG-16: settled from two fibers at once ends once", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make(small)
      const permit = yield* gate.tryEnter(ask("a"))
      const both = [
        yield* Effect.forkChild(Effect.exit(gate.settle(permit, "failure"))),
        yield* Effect.forkChild(Effect.exit(gate.settle(permit, "success"))),
      ]
      const exits = yield* Effect.forEach(both, Fiber.join)
      assert.deepStrictEqual(exits.map((exit) => exit._tag).sort(), ["Failure", "Success"])
      assert.deepInclude(yield* Books.settled(gate), { failures: 1, successes: 0 })
    }).pipe(Effect.scoped))

  it.effect("PG-17: of another gate, or none at all, is misuse and neither gate changes", () =>
    Effect.gen(function* () {
      const [one, other] = [yield* ProviderGate.make(small), yield* ProviderGate.make(small)]
      const permit = yield* one.tryEnter(ask("a"))
      const before = [yield* one.snapshot, yield* other.snapshot]
      const bad: ReadonlyArray<unknown> = [permit, { ...permit }, {}, null, undefined, 1, "a", Object.create(permit)]
      for (const each of bad) {
        for (const verdict of ["success", "failure", "neutral"] as const) {
          const misuse = yield* Effect.flip(other.settle(each as never, verdict))
          assert.deepInclude(misuse, { _tag: "PermitMisuse", reason: "foreign-gate" })
          if (each === permit) continue
          assert.deepInclude(yield* Effect.flip(one.settle(each as never, verdict)), { reason: "foreign-gate" })
        }
      }
      assert.deepStrictEqual([yield* one.snapshot, yield* other.snapshot], before)
      yield* one.settle(permit, "success")
      yield* Books.whole(one, 2)
    }).pipe(Effect.scoped))

  it.effect("PG-16: a verdict that is none settles nothing", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make(small)
      const permit = yield* gate.tryEnter(ask("a"))
      for (const verdict of ["succes", undefined, null, 1]) {
        const exit = yield* Effect.exit(gate.settle(permit, verdict as never))
        assert.include(String(exit), "verdict must be one of success, failure, neutral")
      }
      assert.strictEqual((yield* gate.snapshot).held, 1)
      yield* gate.settle(permit, "success")
      yield* Books.whole(gate, 2)
    }).pipe(Effect.scoped))

  it.effect("PG-12 PG-11: ends without judgement with its scope, by interruption, failure or defect", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make({ ...small, failureThreshold: 1 })
      const held = (body: Effect.Effect<unknown, string>) =>
        Effect.scoped(Effect.andThen(gate.tryEnter(ask("a")), body))
      yield* Effect.exit(held(Effect.fail("broken")))
      yield* Effect.exit(held(Effect.die("broken")))
      yield* Effect.exit(held(Effect.interrupt))
      const fiber = yield* started(held(Effect.never))
      assert.strictEqual((yield* gate.snapshot).held, 1)
      yield* Fiber.interrupt(fiber)
      assert.deepInclude(yield* Books.settled(gate), { neutral: 4, circuit: { state: "closed", failures: 0 } })
      yield* Books.whole(gate, 2)
    }))

  it.effect("PG-12 PG-15: meant for a scope that is closed gives its place back at once", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make(small)
      const scope = yield* Scope.make()
      yield* Scope.close(scope, Exit.void)
      const permit = yield* Effect.exit(Scope.provide(gate.tryEnter(ask("a")), scope))
      yield* Books.settled(gate)
      if (Exit.isSuccess(permit)) {
        assert.deepInclude(yield* Effect.flip(gate.settle(permit.value, "failure")), { reason: "already-settled" })
      }
      yield* Books.whole(gate, 2)
    }))
})

describe("peek", () => {
  it.effect("PG-7: says whether the circuit lets by, and changes nothing", () =>
    Effect.gen(function* () {
      const gate = yield* opened()
      const before = yield* gate.snapshot
      assert.deepInclude(yield* Effect.flip(gate.peek(ask("new"))), { _tag: "CircuitOpen", probing: false })
      assert.deepStrictEqual(yield* gate.snapshot, before)
      yield* TestClock.adjust("10 seconds")
      const elapsed = yield* gate.snapshot
      yield* gate.peek(ask("new"))
      yield* gate.peek(ask("new", "emergency"))
      assert.deepStrictEqual(yield* gate.snapshot, elapsed)
      assert.isFalse(wicketOf(gate)!.gate.keys.tenants.has("new"))
      yield* gate.tryEnter(ask("a"))
      assert.deepInclude(yield* Effect.flip(gate.peek(ask("new"))), { probing: true })
      yield* TestClock.adjust("30 seconds")
      yield* gate.peek(ask("new"))
      assert.deepInclude(yield* Effect.flip(gate.peek({ tenant: "" })), { _tag: "InvalidRequest", field: "tenant" })
    }).pipe(Effect.scoped))
})

describe("options that are off by default", () => {
  it.effect("PG-50: control of a tenant at its bound may use one reserved place", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make({
        ...small,
        concurrency: 4,
        reservedControl: 2,
        reservedForTenantControl: "on",
      })
      yield* gate.tryEnter(ask("a"))
      const extra = yield* gate.tryEnter(ask("a", "control"))
      assert.deepInclude(yield* refused(gate, "a", "control"), { scope: "tenant" })
      yield* gate.settle(extra, "success")
      yield* gate.settle(yield* gate.tryEnter(ask("a", "control")), "success")
      const off = yield* ProviderGate.make({ ...small, concurrency: 4, reservedControl: 2 })
      yield* off.tryEnter(ask("a"))
      assert.deepInclude(yield* refused(off, "a", "control"), { scope: "tenant" })
    }).pipe(Effect.scoped))

  it.effect("PG-55: the probe may use a reserved place", () =>
    Effect.gen(function* () {
      for (const reservedProbe of ["on", "off"] as const) {
        const gate = yield* ProviderGate.make({ ...small, failureThreshold: 1, reservedProbe })
        const straggler = yield* gate.tryEnter(ask("a"))
        yield* once(gate, "failure", "b", "control")
        yield* TestClock.adjust("10 seconds")
        if (reservedProbe === "on") assert.isTrue(yield* once(gate, "success", "c"))
        else assert.deepInclude(yield* refused(gate, "c"), { scope: "ordinary" })
        yield* gate.settle(straggler, "neutral")
        yield* Books.settled(gate)
      }
    }).pipe(Effect.scoped))
})
