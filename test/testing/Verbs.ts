/**
 * Every public verb of Admission and of the gates in a program of three fibers: who uses it, and who is in its way. What
 * must hold at the end of each is that the books are settled.
 */
import { assert } from "vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Admission from "../../core/Admission.ts"
import type { Options } from "../../core/AdmissionOptions.ts"
import type { AdmissionSnapshot } from "../../core/AdmissionSnapshot.ts"
import * as CircuitBreaker from "../../core/CircuitBreaker.ts"
import * as Deadline from "../../core/Deadline.ts"
import * as GateLine from "../../core/GateLine.ts"
import type { Permit } from "../../core/Permit.ts"
import * as ProviderGate from "../../core/ProviderGate.ts"
import * as ProviderGates from "../../core/ProviderGates.ts"
import type { AnyProgram } from "../../core/testing/ExplorerRun.ts"
import type { Fibers, Program } from "../../core/testing/ExplorerProgram.ts"

const program = <S, F extends Fibers>(program: Program<S, F>): AnyProgram => program as never

interface Hall {
  readonly admission: Admission.Admission
  /** Where permits are entered into that are not given back before. */
  readonly scope: Scope.Scope
  /** What somebody was let in with before the fibers begin, where that is so. */
  readonly first: Permit | undefined
}

/** The books are settled, in the fewest operations that show it, since they are looked at a hundred thousand times. */
const settled = (admission: Admission.Admission): Effect.Effect<void, AdmissionSnapshot> =>
  Effect.flatMap(admission.snapshot, (s) => {
    const left = s.running + s.permits + s.waiting + s.withheld + s.debt + s.setAside + s.tenants + s.pairs
    return left === 0 && s.free === s.limits.maxRunning && s.granted === s.released ? Effect.void : Effect.fail(s)
  })

interface Shape {
  /** Somebody is inside when the fibers begin. */
  readonly taken?: boolean
  readonly alike?: ReadonlyArray<string>
}

const hall = (
  options: Options,
  fibers: (hall: Hall) => Fibers,
  { alike = [], taken = false }: Shape = {},
): AnyProgram =>
  program({
    prepare: Effect.gen(function* () {
      const admission = yield* Admission.make(options)
      const scope = yield* Scope.make()
      const first = taken ? yield* Scope.provide(admission.enter({ tenant: "first" }), scope) : undefined
      return { admission, scope, first }
    }),
    fibers,
    oracle: ({ admission, scope }) => Effect.andThen(Scope.close(scope, Exit.void), settled(admission)),
    alike,
  })

/** Holds what it was given while others come, and then ends it. */
const then = <A, E>(end: (held: A) => Effect.Effect<void, E>) => (held: A): Effect.Effect<void, E> =>
  Effect.andThen(Effect.yieldNow, end(held))

const running = ({ admission }: Hall, tenant: string, cost = 1) => admission.run({ tenant, cost })(Effect.yieldNow)
const one: Options = { maxRunning: 1 }

interface Gateway {
  readonly gate: ProviderGate.ProviderGate
  readonly line: GateLine.GateLine
  readonly scope: Scope.Scope
  readonly first: ProviderGate.GatePermit | undefined
}

const gateway = (fibers: (gateway: Gateway) => Fibers, { alike = [], taken = false }: Shape = {}): AnyProgram =>
  program({
    prepare: Effect.gen(function* () {
      const gate = yield* ProviderGate.make({ concurrency: 1, reservedControl: 0, failureThreshold: 1 })
      const scope = yield* Scope.make()
      const first = taken ? yield* Scope.provide(gate.tryEnter({ tenant: "first" }), scope) : undefined
      return { gate, line: yield* GateLine.make(gate), scope, first }
    }),
    fibers,
    oracle: ({ gate, line, scope }) =>
      Effect.zipWith(
        Effect.andThen(Scope.close(scope, Exit.void), gate.snapshot),
        line.waiting,
        (s, waiting) =>
          assert.isTrue(
            s.held + s.tenantsActive + waiting === 0 && s.circuit.state !== "half-open" &&
              s.granted === s.successes + s.failures + s.neutral + s.stale,
          ),
      ),
    alike,
  })

/** A circuit that is open for one second when it begins; one fiber is there to let that second pass, and looks then. */
const breaker = (fiber: (breaker: CircuitBreaker.CircuitBreaker) => Effect.Effect<unknown, unknown>): AnyProgram =>
  program({
    prepare: Effect.tap(
      CircuitBreaker.make({ failureThreshold: 1, recoveryAfter: "1 second" }),
      (breaker) => Effect.exit(breaker.run(Effect.fail("down"))),
    ),
    fibers: (breaker: CircuitBreaker.CircuitBreaker) => ({
      a: fiber(breaker),
      b: fiber(breaker),
      c: Effect.andThen(Effect.sleep("1 second"), Effect.exit(breaker.peek)).pipe(
        Effect.andThen(Effect.exit(breaker.peek)),
        Effect.andThen(breaker.snapshot),
      ),
    }),
    oracle: (breaker) =>
      Effect.map(breaker.snapshot, ({ state }) => assert.notStrictEqual(state, "half-open", "a probe is left")),
    alike: ["a", "b"],
  })

/** Admission's verbs. */
export const admission: Readonly<Record<string, AnyProgram>> = {
  run: hall(one, (it) => ({ a: running(it, "a"), b: running(it, "b"), c: running(it, "c") }), {
    alike: ["a", "b", "c"],
  }),
  // Somebody is inside, so that both have to wait without being forced to.
  "enter, release": hall(one, ({ admission, first, scope }) => {
    const enter = (tenant: string) =>
      Scope.provide(Effect.flatMap(admission.enter({ tenant }), admission.release), scope)
    return { a: admission.release(first!), b: enter("b"), c: enter("c") }
  }, { taken: true, alike: ["b", "c"] }),
  tryEnter: hall(one, ({ admission, scope }) => {
    const enter = (tenant: string) =>
      Scope.provide(Effect.flatMap(admission.tryEnter({ tenant }), then(admission.release)), scope)
    return { a: enter("a"), b: enter("b"), c: enter("c") }
  }, { alike: ["a", "b", "c"] }),
  "lower, snapshot, holders": hall({ maxRunning: 3 }, (it) => ({
    a: running(it, "a"),
    b: running(it, "b", 3),
    c: Effect.andThen(
      it.admission.lower({ maxRunning: 2 }),
      // Each is a moment of its own; what they say of theirs adds up.
      Effect.zipWith(it.admission.snapshot, it.admission.holders, (snapshot, holders) =>
        assert.isTrue(
          snapshot.running + snapshot.free === snapshot.limits.maxRunning && snapshot.permits <= 2 &&
            holders.length <= 2,
        )),
    ).pipe(Effect.andThen(it.admission.lower({ maxQueued: 2 })), Effect.andThen(it.admission.lower({ maxQueued: 1 }))),
  })),
  withhold: hall(one, (it) => ({
    a: running(it, "a"),
    b: Effect.scoped(it.admission.withhold(1)),
    c: Effect.scoped(it.admission.withhold(1)),
  }), { alike: ["b", "c"] }),
  drain: hall(one, (it) => ({
    a: running(it, "a"),
    b: running(it, "b"),
    c: Effect.flatMap(Deadline.after("10 seconds"), it.admission.drain).pipe(
      Effect.andThen(it.admission.snapshot),
      Effect.andThen(it.admission.holders),
      Effect.andThen(it.admission.snapshot),
      Effect.andThen(it.admission.holders),
    ),
  }), { alike: ["a", "b"] }),
}

/** The verbs of a gate, of the line in front of one, and of a circuit breaker. */
export const gates: Readonly<Record<string, AnyProgram>> = {
  "gate: tryEnter, settle": gateway(({ gate, scope }) => {
    const enter = (tenant: string) =>
      Scope.provide(Effect.flatMap(gate.tryEnter({ tenant }), then((permit) => gate.settle(permit, "failure"))), scope)
    return { a: enter("a"), b: enter("b"), c: enter("c") }
  }, { alike: ["a", "b", "c"] }),
  "gate: run, peek, snapshot": gateway(({ gate }) => ({
    a: gate.run({ tenant: "a" }, Effect.void),
    b: gate.run({ tenant: "b" }, Effect.void),
    c: Effect.zipWith(
      Effect.exit(gate.peek({ tenant: "c" })),
      gate.snapshot,
      (_, s) => assert.isTrue(s.held <= 1 && s.held <= s.granted),
    ),
  }), { alike: ["a", "b"] }),
  "gate: run, lower": gateway(({ gate }) => ({
    a: gate.run({ tenant: "a" }, Effect.fail("down")),
    b: gate.run({ tenant: "b" }, Effect.void),
    c: gate.lower({ failureThreshold: 1 }),
  })),
  // Somebody is inside, so that both have to wait without being forced to.
  "line: enter, waiting": gateway(({ first, gate, line, scope }) => {
    const enter = (tenant: string) =>
      Scope.provide(Effect.flatMap(line.enter({ tenant }), (permit) => gate.settle(permit, "success")), scope)
    return {
      a: Effect.andThen(gate.settle(first!, "success"), Effect.map(line.waiting, (n) => assert.isTrue(n <= 1))),
      b: enter("b"),
      c: enter("c"),
    }
  }, { taken: true, alike: ["b", "c"] }),
  "breaker: tryEnter, settle": breaker((breaker) =>
    Effect.scoped(Effect.flatMap(breaker.tryEnter, then((pass) => breaker.settle(pass, "failure"))))
  ),
  "breaker: run, peek, snapshot": breaker((breaker) =>
    Effect.andThen(breaker.run(Effect.yieldNow), Effect.andThen(breaker.peek, breaker.snapshot))
  ),
}

/** Two who ask a set of gates for one each where there is room for one, and one who looks at all. */
export const set: AnyProgram = program({
  prepare: ProviderGates.make({ maxGates: 1 }),
  fibers: (gates) => ({ a: gates.get("x"), b: gates.get("y"), c: gates.snapshotAll }),
  oracle: (gates) => Effect.map(gates.snapshotAll, (all) => assert.isAtMost(all.size, 1)),
})

/** More of everything at once than can be tried in every order. */
export const crowd: AnyProgram = hall({ maxRunning: 2, maxQueued: 2 }, (it) => ({
  a: running(it, "a"),
  b: running(it, "b", 2),
  c: Scope.provide(Effect.flatMap(it.admission.enter({ tenant: "c" }), it.admission.release), it.scope),
  d: Scope.provide(it.admission.tryEnter({ tenant: "d" }), it.scope),
  e: Effect.scoped(it.admission.withhold(1)),
  f: Effect.andThen(it.admission.lower({ maxRunning: 2 }), running(it, "f")),
}))
