/** Something happens at each step of each verb in turn; afterwards every place is free and nobody is judged twice. */
import { assert, describe, it } from "vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as CircuitBreaker from "../../core/CircuitBreaker.ts"
import * as GateLine from "../../core/GateLine.ts"
import type { Options } from "../../core/GateOptions.ts"
import * as ProviderGate from "../../core/ProviderGate.ts"
import * as Sweep from "../../core/testing/Sweep.ts"
import * as Books from "../support/GateBooks.ts"

type Gate = ProviderGate.ProviderGate
const options: Options = { concurrency: 3, tenantConcurrency: 3, failureThreshold: 9, maxElapsed: "1 second" }
const yields = (times: number): Effect.Effect<void> =>
  times === 0 ? Effect.void : Effect.andThen(Effect.yieldNow, yields(times - 1))
const ask = { tenant: "a" } as const
const on = <S>(prepare: Effect.Effect<S, unknown, Scope.Scope>) => ({
  sweep: <N extends string>(scene: Sweep.Scene<S, N>) => Effect.runSync(Sweep.on(prepare).sweep(scene)),
})

describe("interrupted at each step", () => {
  it("PG-12 PG-15 PG-27: a tryEnter that holds leaves nothing taken", () => {
    const { runs, steps } = on(ProviderGate.make(options)).sweep({
      fibers: (gate) => ({ victim: Effect.scoped(Effect.andThen(gate.tryEnter(ask), yields(2))) }),
      disturb: "victim",
      oracle: (gate) => Books.whole(gate, 3),
    })
    assert.isAbove(steps, 4)
    assert.isAtLeast(runs, steps)
  })

  it("PG-15 PG-16: a settle ends its permit once, whatever its fiber comes to", () => {
    const { steps } = on(ProviderGate.make(options)).sweep({
      fibers: (gate) => ({
        victim: Effect.scoped(Effect.flatMap(gate.tryEnter(ask), (permit) => gate.settle(permit, "failure"))),
      }),
      disturb: "victim",
      oracle: (gate, exits) =>
        Effect.gen(function* () {
          const s = yield* Books.settled(gate)
          assert.strictEqual(s.failures + s.neutral, s.granted)
          if (Exit.isSuccess(exits.victim)) assert.strictEqual(s.failures, 1)
          yield* Books.whole(gate, 3)
        }),
    })
    assert.isAbove(steps, 4)
  })

  it("PG-12 PG-21 PG-23: a run is neutral or has succeeded, and its work has ended before its place is free", () => {
    type Stage = { readonly gate: Gate; working: number }
    const { steps } = on(Effect.map(ProviderGate.make(options), (gate): Stage => ({ gate, working: 0 }))).sweep({
      fibers: (stage) => ({
        victim: stage.gate.run(
          ask,
          Effect.acquireUseRelease(
            Effect.sync(() => stage.working++),
            () => yields(3),
            () => Effect.andThen(yields(2), Effect.sync(() => stage.working--)),
          ),
        ),
        watcher: Effect.forEach(Array.from({ length: 12 }), () =>
          Effect.andThen(
            Effect.yieldNow,
            Effect.map(stage.gate.snapshot, (s) => assert.isAtLeast(s.held, stage.working)),
          )),
      }),
      disturb: "victim",
      oracle: (stage, exits) =>
        Effect.gen(function* () {
          assert.strictEqual(stage.working, 0)
          const s = yield* Books.settled(stage.gate)
          assert.strictEqual(s.failures, 0)
          if (Exit.isSuccess(exits.victim)) assert.strictEqual(s.successes, 1)
          yield* Books.whole(stage.gate, 3)
        }),
    })
    assert.isAbove(steps, 10)
  })

  for (const stubborn of [false, true]) {
    it(`PG-21 PG-22 PG-23: the ${stubborn ? "stubborn " : ""}work, its deadline and its caller have one outcome`, () => {
      const work = Effect.andThen(yields(3), Effect.sleep("1 second"))
      const { endings } = on(ProviderGate.make(options)).sweep({
        fibers: (gate) => ({ victim: gate.run(ask, stubborn ? Effect.uninterruptible(work) : work) }),
        disturb: ({ clock }) => clock.advance(1_000),
        again: "victim",
        ends: { victim: ["Completed", "CallTimedOut"] },
        prompt: !stubborn,
        oracle: (gate, exits) =>
          Effect.gen(function* () {
            const s = yield* Books.settled(gate)
            assert.isAtMost(s.granted, 1)
            assert.strictEqual(s.timedOut, s.failures)
            if (Exit.isSuccess(exits.victim)) assert.strictEqual(s.successes, 1)
            yield* Books.whole(gate, 3)
          }),
      })
      assert.isAtLeast(endings.victim.length, 2)
    })
  }

  it("PG-13 PG-31: a probe that is interrupted leaves the circuit to the next", () => {
    on(Effect.gen(function* () {
      const gate = yield* ProviderGate.make({ ...options, failureThreshold: 1, recoveryAfter: "1 milli" })
      yield* Effect.exit(gate.run(ask, Effect.fail("broken")))
      assert.strictEqual((yield* gate.snapshot).circuit.state, "open")
      yield* Effect.sleep("1 milli")
      return gate
    })).sweep(
      {
        fibers: (gate) => ({ victim: gate.run(ask, yields(3)) }),
        disturb: "victim",
        oracle: (gate) =>
          Effect.gen(function* () {
            yield* Books.settled(gate)
            yield* Effect.orDie(gate.run(ask, Effect.void))
            yield* Books.whole(gate, 3)
          }),
      },
    )
  })
})

describe("behind a breaker alone", () => {
  for (const verb of ["run", "tryEnter"] as const) {
    it(`PG-12 PG-13 PG-31: a ${verb} that is interrupted at each step leaves its probe to the next`, () => {
      const { steps } = on(Effect.gen(function* () {
        const breaker = yield* CircuitBreaker.make({ failureThreshold: 1, recoveryAfter: "1 milli" })
        yield* Effect.exit(breaker.run(Effect.fail("broken")))
        assert.strictEqual((yield* breaker.snapshot).state, "open")
        yield* Effect.sleep("1 milli")
        return breaker
      })).sweep(
        {
          fibers: (breaker) => ({
            victim: verb === "run" ? breaker.run(yields(2)) : Effect.scoped(
              Effect.flatMap(breaker.tryEnter, (pass) => Effect.andThen(yields(2), breaker.settle(pass, "success"))),
            ),
          }),
          disturb: "victim",
          oracle: (breaker, exits) =>
            Effect.gen(function* () {
              const { state } = yield* breaker.snapshot
              if (Exit.isSuccess(exits.victim)) assert.strictEqual(state, "closed")
              assert.notStrictEqual(state, "half-open")
              yield* Effect.orDie(breaker.run(Effect.void))
              assert.strictEqual((yield* breaker.snapshot).state, "closed")
            }),
        },
      )
      assert.isAbove(steps, 4)
    })
  }
})

describe("in line", () => {
  type Stage = { readonly gate: Gate; readonly line: GateLine.GateLine }
  const one: Options = { concurrency: 1, failureThreshold: 9, recoveryAfter: "1 hour" }
  const staged = (given: Options = one) =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make(given)
      return { gate, line: yield* GateLine.make(gate, { maxWait: "1 second" }) }
    })
  const entering = ({ gate, line }: Stage, tenant: string, held: number, verdict: "success" | "failure" = "success") =>
    Effect.scoped(
      Effect.flatMap(line.enter({ tenant }), (permit) => Effect.andThen(yields(held), gate.settle(permit, verdict))),
    )
  const fibers = (stage: Stage) => ({
    holder: entering(stage, "h", 5),
    victim: entering(stage, "a", 1),
    behind: entering(stage, "b", 1),
  })
  const empty = ({ gate, line }: Stage) =>
    Effect.gen(function* () {
      assert.strictEqual(yield* line.waiting, 0)
      yield* Books.whole(gate, 1)
    })

  for (const who of ["holder", "victim", "behind"] as const) {
    it(`PG-46 PG-12: interrupted at each step, the ${who} leaves the line or passes its place on`, () => {
      const { steps } = on(staged()).sweep({ fibers, disturb: who, oracle: empty })
      assert.isAbove(steps, 20)
    })
  }

  it("PG-46: two that wait are interrupted and the holder is done", () => {
    on(staged()).sweep({ fibers, disturb: "victim", again: "behind", oracle: empty })
  })

  it("PG-46: the end of a wait and its grant have one winner", () => {
    const { endings } = on(staged()).sweep({
      fibers,
      disturb: ({ clock }) => clock.advance(1_000),
      again: "victim",
      ends: { victim: ["Completed", "WaitExpired"], behind: ["Completed", "WaitExpired"] },
      oracle: empty,
    })
    assert.deepStrictEqual(endings.victim, ["Completed", "Interrupted", "WaitExpired"])
  })

  it("PG-46: the circuit opens at each step, and nobody waits or holds for ever", () => {
    const may = ["Completed", "CircuitOpen"]
    const { endings } = on(staged({ ...one, concurrency: 2, reservedControl: 1, failureThreshold: 1 })).sweep({
      fibers,
      disturb: ({ state: { gate } }) =>
        Effect.scoped(
          Effect.flatMap(
            gate.tryEnter({ tenant: "x", priority: "emergency" }),
            (permit) => gate.settle(permit, "failure"),
          ),
        ),
      ends: { holder: may, victim: may, behind: may },
      oracle: ({ gate, line }) =>
        Effect.gen(function* () {
          assert.strictEqual(yield* line.waiting, 0)
          yield* Books.settled(gate)
        }),
    })
    assert.deepStrictEqual(endings, { holder: may.toSorted(), victim: may.toSorted(), behind: may.toSorted() })
  })

  it("PG-46 PG-12: the end of the scope that an enter was meant for interrupts its caller", () => {
    const { endings } = on(
      Effect.flatMap(staged(), (stage) => Effect.map(Scope.make(), (scope) => ({ ...stage, scope }))),
    ).sweep(
      {
        fibers: (stage) => ({
          holder: entering(stage, "h", 5),
          victim: Effect.ensuring(
            Scope.provide(Effect.andThen(stage.line.enter({ tenant: "a" }), yields(2)), stage.scope),
            Scope.close(stage.scope, Exit.void),
          ),
          behind: entering(stage, "b", 1),
        }),
        disturb: ({ state }) => Scope.close(state.scope, Exit.void),
        ends: { victim: ["Completed", "Interrupted"] },
        oracle: empty,
      },
    )
    assert.deepStrictEqual(endings.victim, ["Completed", "Interrupted"])
  })
})
