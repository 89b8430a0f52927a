/** Random lives of a gate, judged after every command by a model of plain counts: fast-check commands, one seed. */
import { describe, it } from "vitest"
import fc from "fast-check"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import { priorities } from "../../core/AdmissionOptions.ts"
import type { GateSnapshot } from "../../core/GateSnapshot.ts"
import * as ProviderGate from "../../core/ProviderGate.ts"
import type { HandClock } from "../../core/testing/HandClock.ts"
import * as Kit from "../../core/testing/Model.ts"
import { wicketOf } from "../../core/Wicket.ts"
import { assert } from "../support/Assert.ts"

const concurrency = 4
const reservedControl = 1
const tenantConcurrency = 2
const failureThreshold = 2
const recoveryMillis = 10_000
const elapsedMillis = 3_000
const tenants = ["a", "b", "c"]

interface Held {
  readonly tenant: string
  readonly priority: number
  readonly probe: boolean
  readonly generation: number
}

/** What is known of the gate from its rules alone. */
class Model {
  held: Array<Held> = []
  failures = 0
  openedAt: number | undefined = undefined
  probe: Held | undefined = undefined
  probedAt = 0
  generation = 0
  granted = 0

  get ordinary(): number {
    return this.held.filter((each) => each.priority >= 2).length
  }

  of(tenant: string): number {
    return this.held.filter((each) => each.tenant === tenant && each.priority !== 0).length
  }

  /** Which check refuses, or undefined. */
  refusal(tenant: string, priority: number, now: number): string | undefined {
    if (this.openedAt !== undefined) {
      const young = this.probe !== undefined && Math.max(0, now - this.probedAt) < elapsedMillis
      if (young || Math.max(0, now - this.openedAt) < recoveryMillis) return "CircuitOpen"
    }
    if (priority >= 2 && this.ordinary >= concurrency - reservedControl) return "ordinary"
    if (this.held.length >= concurrency) return "provider"
    return priority !== 0 && this.of(tenant) >= tenantConcurrency ? "tenant" : undefined
  }

  enter(tenant: string, priority: number, now: number): Held {
    const probe = this.openedAt !== undefined
    if (probe && this.probe !== undefined) this.generation++
    const held = { tenant, priority, probe, generation: this.generation }
    if (probe) {
      this.probe = held
      this.probedAt = now
    }
    this.held.push(held)
    this.granted++
    return held
  }

  judge(held: Held, verdict: "success" | "failure" | "neutral", now: number): void {
    const current = held.generation === this.generation
    if (this.probe === held) this.probe = undefined
    if (!current || verdict === "neutral") return
    if (verdict === "success") {
      this.failures = 0
      if (this.openedAt !== undefined) this.generation++
      this.openedAt = undefined
      return
    }
    this.failures++
    if (!held.probe && this.failures < failureThreshold) return
    this.openedAt = now
    this.generation++
  }

  leave(held: Held): void {
    this.held = this.held.filter((each) => each !== held)
  }

  end(held: Held, verdict: "success" | "failure" | "neutral", now: number): void {
    this.judge(held, verdict, now)
    this.leave(held)
  }
}

interface Real {
  readonly gate: ProviderGate.ProviderGate
  readonly other: ProviderGate.ProviderGate
  readonly permits: Map<Held, { readonly permit: ProviderGate.GatePermit; readonly scope: Scope.Closeable }>
  readonly spent: Array<ProviderGate.GatePermit>
  readonly running: Map<Held, { readonly fiber: Fiber.Fiber<unknown, unknown>; readonly due: number }>
}

const worth = <A>(exit: Exit.Exit<A, unknown>): A => {
  if (Exit.isSuccess(exit)) return exit.value
  throw new Error(String(exit))
}
const cut = (exit: Exit.Exit<unknown, unknown> | undefined): boolean => exit !== undefined && Exit.hasInterrupts(exit)
const millis = (clock: HandClock): number => Number(clock.monotonicTimeNanosUnsafe()) / 1e6

type Command = Kit.Command<Model, Real>
type Verdict = "success" | "failure" | "neutral"

/** What a call that was interrupted had come to by then: whether it was let in, and how it was judged, if it was. */
const since = (
  before: GateSnapshot,
  after: GateSnapshot,
): { readonly granted: boolean; readonly verdict: Verdict | undefined } => ({
  granted: after.granted > before.granted,
  verdict: after.successes > before.successes
    ? "success"
    : after.failures > before.failures
    ? "failure"
    : after.neutral + after.stale > before.neutral + before.stale
    ? "neutral"
    : undefined,
})

/** The laws of every moment, and that the gate is where the model is. */
const agree = (model: Model, real: Real): Effect.Effect<void> =>
  Effect.clockWith((clock) => Effect.map(real.gate.snapshot, (s) => agreed(model, real, s, millis(clock as HandClock))))

const agreed = (model: Model, real: Real, s: GateSnapshot, now: number): void => {
  assert.isAtMost(s.held, concurrency)
  assert.isAtMost(s.heldOrdinary, concurrency - reservedControl)
  for (const tenant of tenants) assert.isAtMost(model.of(tenant), tenantConcurrency)
  const probes = model.held.filter((each) => each.probe && each.generation === model.generation)
  assert.isAtMost(probes.length, model.openedAt === undefined ? concurrency : 1)
  const kept = wicketOf(real.gate)!.gate.keys
  assert.isAtMost(kept.tenants.size, 1_025)
  assert.deepStrictEqual(
    [s.held, s.heldOrdinary, s.heldEmergency, s.tenantsActive, s.generation, s.granted],
    [
      model.held.length,
      model.ordinary,
      model.held.filter((each) => each.priority === 0).length,
      new Set(model.held.map((each) => each.tenant)).size,
      model.generation,
      model.granted,
    ],
  )
  const state = model.openedAt === undefined ? "closed" : model.probe === undefined ? "open" : "half-open"
  assert.strictEqual(s.circuit.state, state)
  if (s.circuit.state === "closed") assert.strictEqual(s.circuit.failures, model.failures)
  if (s.circuit.state === "open") {
    const left = Duration.toMillis(s.circuit.retryAfter)
    assert.isAtMost(left, recoveryMillis)
    assert.closeTo(left, Math.max(0, recoveryMillis - Math.max(0, now - model.openedAt!)), 1e-3)
  }
}

const indexed = (model: Model, real: Real, n: number): Held | undefined => {
  const held = [...real.permits.keys()].filter((each) => model.held.includes(each))
  return held.length === 0 ? undefined : held[n % held.length]
}

const acquire = (tenant: string, priority: number): Command => ({
  name: `acquire(${tenant}, ${priorities[priority]})`,
  run: (model, real, { clock, now, undisturbed }) => {
    const scope = Scope.makeUnsafe()
    const before = worth(undisturbed(real.gate.snapshot))
    const expected = model.refusal(tenant, priority, millis(clock))
    const exit = now(Scope.provide(real.gate.tryEnter({ tenant, priority: priorities[priority]! }), scope))
    if (cut(exit)) {
      // Interrupted once it was let in, it has given back by now, or its scope does.
      worth(undisturbed(Scope.close(scope, Exit.void)))
      const { granted, verdict } = since(before, worth(undisturbed(real.gate.snapshot)))
      assert.strictEqual(verdict, granted ? "neutral" : undefined)
      if (granted) model.end(model.enter(tenant, priority, millis(clock)), "neutral", millis(clock))
      return
    }
    if (expected !== undefined) {
      assert.isTrue(Exit.isFailure(exit), `not refused: ${expected}`)
      const refused = worth(undisturbed(Effect.flip(exit))) as { readonly _tag: string; readonly scope?: string }
      assert.strictEqual(refused._tag === "CircuitOpen" ? refused._tag : refused.scope, expected)
      return
    }
    const permit = worth(exit)
    const held = model.enter(tenant, priority, millis(clock))
    assert.strictEqual(permit.probe, held.probe)
    real.permits.set(held, { permit, scope })
  },
})

const ended = (model: Model, real: Real, held: Held, verdict: Verdict, now: number): void => {
  real.spent.push(real.permits.get(held)!.permit)
  real.permits.delete(held)
  model.end(held, verdict, now)
}

const settle = (verdict: Verdict, n: number): Command => ({
  name: `${verdict}(${n})`,
  run: (model, real, { clock, now, undisturbed }) => {
    const held = indexed(model, real, n)
    if (held === undefined) return
    const before = worth(undisturbed(real.gate.snapshot))
    const exit = now(real.gate.settle(real.permits.get(held)!.permit, verdict))
    // Interrupted, it has settled or it has not; the permit is held as before then.
    if (cut(exit) && since(before, worth(undisturbed(real.gate.snapshot))).verdict === undefined) return
    if (!cut(exit)) worth(exit)
    ended(model, real, held, verdict, millis(clock))
  },
})

const closeScope = (n: number): Command => ({
  name: `closeScope(${n})`,
  run: (model, real, { clock, undisturbed }) => {
    const held = indexed(model, real, n)
    if (held === undefined) return
    worth(undisturbed(Scope.close(real.permits.get(held)!.scope, Exit.void)))
    ended(model, real, held, "neutral", millis(clock))
  },
})

const settleAgain = (n: number): Command => ({
  name: `settleAgain(${n})`,
  run: (_, real, { undisturbed }) => {
    if (real.spent.length === 0) return
    const permit = real.spent[n % real.spent.length]!
    for (const verdict of ["success", "failure", "neutral"] as const) {
      const misuse = worth(undisturbed(Effect.flip(real.gate.settle(permit, verdict))))
      assert.deepInclude(misuse, { _tag: "PermitMisuse", reason: "already-settled" })
    }
  },
})

const settleForeign = (n: number): Command => ({
  name: `settleForeign(${n})`,
  run: (model, real, { undisturbed }) => {
    const held = indexed(model, real, n)
    const permit = held === undefined ? real.spent[0] : real.permits.get(held)!.permit
    if (permit === undefined) return
    const misuse = worth(undisturbed(Effect.flip(real.other.settle(permit, "failure"))))
    assert.deepInclude(misuse, { _tag: "PermitMisuse", reason: "foreign-gate" })
    assert.deepInclude(worth(undisturbed(real.other.snapshot)), { held: 0, failures: 0, generation: 0 })
  },
})

const advance = (by: number): Command => ({
  name: `advance(${by})`,
  run: (model, real, { clock, settle }) => {
    // Each call that runs out of time is judged at its own instant.
    const until = millis(clock) + by
    const late = [...real.running].filter(([, { due }]) => due <= until).sort((a, b) => a[1].due - b[1].due)
    clock.advance(by)
    settle()
    for (const [held, { due }] of late) {
      model.end(held, "failure", due)
      real.running.delete(held)
    }
  },
})

/** Calls in flight measure their time by the same clock, so it is set back only where there are none. */
const stepBack = (by: number): Command => ({
  name: `stepBack(${by})`,
  run: (_, real, { clock }) => {
    if (real.running.size === 0) clock.skew(-by)
  },
})

const outcomes = {
  success: [Effect.void, "success"],
  "typed failure": [Effect.fail("broken"), "failure"],
  "neutral failure": [Effect.fail("ours"), "neutral"],
  defect: [Effect.die("bug"), "neutral"],
} as const

const run = (tenant: string, priority: number, outcome: keyof typeof outcomes | "hang"): Command => ({
  name: `run(${tenant}, ${priorities[priority]}, ${outcome})`,
  run: (model, real, { clock, start, undisturbed }) => {
    const now = millis(clock)
    const expected = model.refusal(tenant, priority, now)
    const [work, verdict] = outcome === "hang" ? [Effect.never, undefined] : outcomes[outcome]
    const judge = (error: string) => error === "ours" ? "neutral" : "failure"
    const before = worth(undisturbed(real.gate.snapshot))
    const call = real.gate.run({ tenant, priority: priorities[priority]!, judge }, work as Effect.Effect<void, string>)
    const fiber = start(call)
    const exit = fiber.pollUnsafe()
    if (cut(exit)) {
      // It was let in or not, and had judged by then or not; interrupted before, it judges nobody.
      const came = since(before, worth(undisturbed(real.gate.snapshot)))
      if (!came.granted) return
      assert.include(["neutral", verdict], came.verdict)
      return model.end(model.enter(tenant, priority, now), came.verdict!, now)
    }
    if (expected !== undefined) return assert.isTrue(exit !== undefined && Exit.isFailure(exit), "not refused")
    const held = model.enter(tenant, priority, now)
    if (verdict === undefined) {
      assert.isUndefined(exit)
      real.running.set(held, { fiber, due: now + elapsedMillis })
    } else {
      assert.isDefined(exit)
      model.end(held, verdict, now)
    }
  },
})

const interruptRun = (n: number): Command => ({
  name: `interruptRun(${n})`,
  run: (model, real, { clock, settle }) => {
    const all = [...real.running]
    if (all.length === 0) return
    const [held, { fiber }] = all[n % all.length]!
    fiber.interruptUnsafe()
    settle()
    assert.isDefined(fiber.pollUnsafe())
    real.running.delete(held)
    model.end(held, "neutral", millis(clock))
  },
})

const tenant = fc.constantFrom(...tenants)
const priority = fc.nat({ max: 3 })
const which = fc.nat({ max: 7 })
const times = fc.constantFrom(1, 999, 2_999, 3_000, 5_000, 9_999, 10_000, 10_001)
const commands = [
  fc.tuple(tenant, priority).map((args) => acquire(...args)),
  fc.tuple(fc.constantFrom("success" as const, "failure" as const, "neutral" as const), which).map((args) =>
    settle(...args)
  ),
  fc.tuple(fc.constant("failure" as const), which).map((args) => settle(...args)),
  which.map(closeScope),
  which.map(settleAgain),
  which.map(settleForeign),
  times.map(advance),
  fc.constantFrom(1, 5_000, 20_000).map(stepBack),
  fc.tuple(tenant, priority, fc.constantFrom(...Object.keys(outcomes) as Array<keyof typeof outcomes>, "hang" as const))
    .map((args) => run(...args)),
  which.map(interruptRun),
]

const gateOf = ProviderGate.make({
  concurrency,
  reservedControl,
  tenantConcurrency,
  failureThreshold,
  recoveryAfter: recoveryMillis,
  maxElapsed: elapsedMillis,
})

const life: Kit.Life<Model, Real> = {
  prepare: Effect.map(
    Effect.all({ gate: gateOf, other: gateOf }),
    (gates) => ({ ...gates, permits: new Map(), spent: [], running: new Map() }),
  ),
  model: () => new Model(),
  commands,
  invariant: agree,
  /** When all scopes are closed and all callers gone, nothing is held and no tenant is in use. */
  finish: (model, real, { settle, undisturbed }) => {
    for (const { scope } of real.permits.values()) worth(undisturbed(Scope.close(scope, Exit.void)))
    for (const { fiber } of real.running.values()) fiber.interruptUnsafe()
    settle()
    const s = worth(undisturbed(real.gate.snapshot))
    assert.deepStrictEqual([s.held, s.tenantsActive], [0, 0])
    assert.strictEqual(s.granted, s.successes + s.failures + s.neutral + s.stale)
    assert.strictEqual(s.granted, model.granted)
  },
}

describe("a gate over random lives", () => {
  for (const order of ["oldest", "newest"] as const) {
    it(
      `PG-1 PG-2 PG-3 PG-4 PG-5 PG-6 PG-7 PG-8 PG-9 PG-10 PG-11 PG-12 PG-13 PG-15 PG-16 PG-17 PG-18 PG-20 PG-21 PG-22 PG-30 PG-31 PG-33 PG-35 PG-36 PG-54: does what a model of plain counts does, the ${order} task first`,
      () => {
        const options = { seed: 20_250_101, runs: 250, maxCommands: 120, maxCut: 20, order }
        const { cuts } = Effect.runSync(Kit.check(fc, life, options))
        assert.isAbove(cuts, 300)
      },
    )
  }
})
