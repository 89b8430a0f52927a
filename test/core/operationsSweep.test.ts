/**
 * Every operation of every noun, by name: interrupted at each step, in a scope between neighbours, beside somebody who holds
 * and somebody who comes later. An operation that a noun has and this file has not is a failure.
 */
import { assert, describe, it } from "vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Admission from "../../core/Admission.ts"
import * as CircuitBreaker from "../../core/CircuitBreaker.ts"
import * as Deadline from "../../core/Deadline.ts"
import * as GateLine from "../../core/GateLine.ts"
import * as ProviderGate from "../../core/ProviderGate.ts"
import * as ProviderGates from "../../core/ProviderGates.ts"
import * as Sweep from "../../core/testing/Sweep.ts"
import { World } from "../../core/testing/World.ts"
import { wicketOf } from "../../core/Wicket.ts"
import * as Books from "../support/Books.ts"
import * as GateBooks from "../support/GateBooks.ts"

type Operation<N> = (noun: N) => Effect.Effect<unknown, unknown, Scope.Scope>
type Entry<N> = readonly [verb: keyof N & string, operation: Operation<N>]
interface Noun<N> {
  readonly ids: string
  readonly make: Effect.Effect<N, unknown, Scope.Scope>
  /** Those who are there besides: one begins first and goes on longest, one comes while the operation is on. */
  readonly others: (
    noun: N,
  ) => { readonly holder: Effect.Effect<unknown, unknown>; readonly later: Effect.Effect<unknown, unknown> }
  readonly operations: { readonly [name in keyof N]: Operation<N> }
  /** What else it may end in, because somebody holds. */
  readonly ends?: { readonly [name in keyof N]?: ReadonlyArray<string> }
  readonly whole: (noun: N) => Effect.Effect<unknown, unknown>
}

const steps = (times: number): Effect.Effect<void> => Effect.replicateEffect(Effect.yieldNow, times, { discard: true })
const used = <A, E, R>(operation: Effect.Effect<A, E, R>) => Effect.andThen(operation, Effect.yieldNow)

const sweeps = <N extends object>(name: string, { ends, ids, make, operations, others, whole }: Noun<N>): void => {
  describe(name, () => {
    it("has no other operation", () => {
      const made = new World("oldest").run(Effect.scoped(make))
      assert.deepStrictEqual(
        Object.keys(Exit.isSuccess(made) ? made.value : {}).toSorted(),
        Object.keys(operations).toSorted(),
      )
    })

    for (const [verb, operation] of Object.entries(operations) as unknown as ReadonlyArray<Entry<N>>) {
      const listed = ends?.[verb]
      it(`${ids}: ${verb}, interrupted at each step`, () => {
        const { endings, runs } = Effect.runSync(
          Sweep.on(make).sweep({
            fibers: (noun) => ({ ...others(noun), operation: Sweep.amid(used(operation(noun))) }),
            disturb: "operation",
            oracle: whole,
            ...listed === undefined ? {} : { ends: { holder: listed, operation: listed, later: listed } },
          }),
        )
        assert.include(endings.operation, "Interrupted")
        assert.isAbove(runs, 100)
      })
    }
  })
}

const ask = { tenant: "a", provider: "p" } as const

const admission: Noun<Admission.Admission> = {
  ids: "AD-4 AD-5 K-3",
  make: Admission.make({ maxRunning: 2, maxPerTenant: 1, maxWait: "1 minute" }),
  others: (admission) => ({
    holder: admission.run(ask)(steps(4)),
    later: Effect.andThen(steps(2), admission.run({ ...ask, cost: 1 })(Effect.yieldNow)),
  }),
  operations: {
    enter: (admission) => admission.enter(ask),
    run: (admission) => admission.run(ask)(steps(2)),
    tryEnter: (admission) => admission.tryEnter({ tenant: "b" }),
    release: (admission) => Effect.flatMap(admission.enter({ tenant: "b" }), (permit) => admission.release(permit)),
    snapshot: (admission) => admission.snapshot,
    holders: (admission) => admission.holders,
    lower: (admission) => admission.lower({ maxPerTenant: 1, maxQueued: 8 }),
    withhold: (admission) => admission.withhold(1),
    drain: (admission) => Effect.flatMap(Deadline.after("1 second"), (deadline) => admission.drain(deadline)),
  },
  ends: { drain: ["Completed", "Closed"] },
  whole: Books.whole,
}
sweeps("an Admission", admission)

const options = { concurrency: 4, tenantConcurrency: 4, reservedControl: 0, failureThreshold: 9 }
const gateOf = ProviderGate.make(options)

sweeps<ProviderGate.ProviderGate>("a provider gate", {
  ids: "PG-12 PG-15",
  make: gateOf,
  others: (gate) => ({
    holder: gate.run(ask, steps(4)),
    later: Effect.andThen(steps(2), gate.run(ask, Effect.yieldNow)),
  }),
  operations: {
    tryEnter: (gate) => gate.tryEnter(ask),
    settle: (gate) => Effect.flatMap(gate.tryEnter(ask), (permit) => gate.settle(permit, "failure")),
    run: (gate) => gate.run(ask, steps(2)),
    peek: (gate) => gate.peek(ask),
    snapshot: (gate) => gate.snapshot,
    lower: (gate) => gate.lower({ concurrency: 4 }),
  },
  whole: (gate) => GateBooks.whole(gate, 4),
})

interface Line extends GateLine.GateLine {}
const gates = new WeakMap<Line, ProviderGate.ProviderGate>()

sweeps<Line>("a line in front of a gate", {
  ids: "PG-46 PG-12",
  make: Effect.gen(function* () {
    const gate = yield* ProviderGate.make({ concurrency: 1, failureThreshold: 9 })
    const line = yield* GateLine.make(gate, { maxWait: "1 minute" })
    gates.set(line, gate)
    return line
  }),
  others: (line) => ({
    holder: Effect.scoped(Effect.andThen(line.enter(ask), steps(4))),
    later: Effect.andThen(steps(2), Effect.scoped(Effect.andThen(line.enter({ tenant: "b" }), Effect.yieldNow))),
  }),
  operations: {
    enter: (line) => line.enter(ask),
    waiting: (line) => line.waiting,
  },
  whole: (line) =>
    Effect.gen(function* () {
      assert.strictEqual(yield* line.waiting, 0)
      yield* GateBooks.whole(gates.get(line)!, 1)
    }),
})

sweeps<CircuitBreaker.CircuitBreaker>("a breaker, whose probe it may be", {
  ids: "PG-12 PG-31",
  make: Effect.gen(function* () {
    const breaker = yield* CircuitBreaker.make({
      failureThreshold: 1,
      recoveryAfter: "1 milli",
      maxElapsed: "1 minute",
    })
    yield* Effect.exit(breaker.run(Effect.fail("broken")))
    assert.strictEqual((yield* breaker.snapshot).state, "open")
    yield* Effect.sleep("1 milli")
    return breaker
  }),
  // Whoever comes while the probe is out is told that the circuit is open.
  others: (breaker) => ({
    holder: Effect.andThen(breaker.snapshot, steps(4)),
    later: Effect.andThen(steps(2), breaker.run(Effect.yieldNow)),
  }),
  operations: {
    tryEnter: (breaker) => breaker.tryEnter,
    settle: (breaker) => Effect.flatMap(breaker.tryEnter, (pass) => breaker.settle(pass, "success")),
    run: (breaker) => breaker.run(steps(2)),
    peek: (breaker) => breaker.peek,
    snapshot: (breaker) => breaker.snapshot,
  },
  ends: {
    tryEnter: ["Completed", "CircuitOpen"],
    settle: ["Completed", "CircuitOpen"],
    run: ["Completed", "CircuitOpen"],
    peek: ["Completed", "CircuitOpen"],
  },
  whole: (breaker) =>
    Effect.gen(function* () {
      assert.notStrictEqual((yield* breaker.snapshot).state, "half-open")
      yield* Effect.orDie(breaker.run(Effect.void))
      assert.strictEqual((yield* breaker.snapshot).state, "closed")
    }),
})

sweeps<ProviderGates.ProviderGates>("a set of gates", {
  ids: "PG-12 PG-15",
  make: ProviderGates.make({ maxGates: 2, gate: options }),
  others: (set) => ({
    holder: Effect.flatMap(set.get("held"), (gate) => gate.run(ask, steps(4))),
    later: Effect.andThen(steps(2), Effect.flatMap(set.get("key"), (gate) => gate.run(ask, Effect.yieldNow))),
  }),
  operations: {
    get: (set) => Effect.flatMap(set.get("key"), (gate) => gate.tryEnter(ask)),
    snapshotAll: (set) => set.snapshotAll,
  },
  whole: (set) =>
    Effect.gen(function* () {
      for (const key of ["held", "key"]) yield* GateBooks.whole(yield* set.get(key), 4)
      assert.strictEqual((yield* set.snapshotAll).size, 2)
    }),
})

describe("the end of an Admission, at each step", () => {
  for (const verb of ["enter", "run", "withhold", "drain"] as const) {
    const operation = admission.operations[verb]
    it(`AD-31 AD-20: of ${verb}, answers everybody`, () => {
      const may = ["Completed", "Closed"]
      const { endings } = Effect.runSync(
        Sweep.on(admission.make).sweep({
          fibers: (noun) => ({ ...admission.others(noun), operation: Sweep.amid(used(operation(noun))) }),
          disturb: ({ scope }) => Scope.close(scope, Exit.void),
          oracle: Books.whole,
          ends: { holder: may, operation: may, later: may },
        }),
      )
      assert.deepStrictEqual(endings.holder, ["Closed", "Completed"])
    })
  }
})

describe("what is made, interrupted at each step, leaves nothing", () => {
  const makers: Readonly<Record<string, Effect.Effect<unknown, unknown, Scope.Scope>>> = {
    "an Admission": Admission.make({ maxRunning: 1 }),
    "a provider gate": gateOf,
    "a breaker": CircuitBreaker.make({}),
    "a line": Effect.flatMap(gateOf, (gate) => GateLine.make(gate)),
    "a set of gates": ProviderGates.make({}),
    "the layer of an Admission": Layer.build(Admission.layer({ maxRunning: 1 })),
    "the layer of a set of gates": Layer.build(ProviderGates.layer({})),
  }
  for (const [what, make] of Object.entries(makers)) {
    it(what, () => {
      const { endings } = Effect.runSync(
        Sweep.on(Effect.succeed(Context.empty())).sweep({
          fibers: () => ({ maker: Sweep.amid(used(make)) }),
          disturb: "maker",
        }),
      )
      assert.deepStrictEqual(endings.maker, ["Completed", "Interrupted"])
    })
  }

  it("PG-46: a gate keeps no line whose making was interrupted", () => {
    const { steps } = Effect.runSync(
      Sweep.on(gateOf).sweep({
        fibers: (gate) => ({ maker: Sweep.amid(used(GateLine.make(gate))) }),
        disturb: "maker",
        oracle: (gate) => Effect.sync(() => assert.isUndefined(wicketOf(gate)!.line)),
      }),
    )
    assert.isAbove(steps, 2)
  })
})
