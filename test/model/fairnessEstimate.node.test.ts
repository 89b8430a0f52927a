/** `estimate` under twice the load that can be served: who is told at once, and what that costs. On a virtual clock. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import * as Admission from "../../core/Admission.ts"
import type { Priority } from "../../core/AdmissionOptions.ts"
import * as Deadline from "../../core/Deadline.ts"
import type { Ask, WaitingAsk } from "../../core/kernel/Ask.ts"
import { Chance } from "./Chance.ts"
import { Simulation } from "./Simulation.ts"

interface Load {
  readonly running: number
  readonly tenants: number
  /** The mean is one second. */
  readonly hold: (chance: Chance) => number
  readonly patience: (chance: Chance) => number
  /** 1 by default. */
  readonly cost?: { readonly mean: number; readonly of: (chance: Chance) => number }
  readonly priority?: (chance: Chance) => "control" | "normal"
}

interface Outcome {
  readonly served: number
  readonly late: number
  readonly expired: number
}

const upTo = (most: number) => ({ mean: (1 + most) / 2, of: (chance: Chance) => chance.whole(1, most) })
const sometimes = (most: number) => ({ mean: 0.9 + most / 10, of: (chance: Chance) => chance.yes(0.1) ? most : 1 })

const exponential = (chance: Chance) => chance.exponential(1)

const loads: Readonly<Record<string, Load>> = {
  "one tenant, holding times all alike": { running: 8, tenants: 1, hold: () => 1, patience: () => 5 },
  "one tenant": { running: 8, tenants: 1, hold: exponential, patience: () => 5 },
  "one unit, ten tenants": { running: 1, tenants: 10, hold: exponential, patience: () => 5 },
  "ten tenants": { running: 8, tenants: 10, hold: exponential, patience: () => 5 },
  "ten tenants, 64 units": { running: 64, tenants: 10, hold: exponential, patience: () => 5 },
  "ten patient tenants": { running: 8, tenants: 10, hold: exponential, patience: () => 20 },
  "a hundred tenants": { running: 8, tenants: 100, hold: exponential, patience: () => 5 },
  "a few long ones": {
    running: 8,
    tenants: 10,
    hold: (chance) => chance.exponential(chance.yes(0.1) ? 5.5 : 0.5),
    patience: () => 5,
  },
  "every patience": { running: 8, tenants: 10, hold: exponential, patience: (chance) => 1 + chance.exponential(5) },
  "a fifth of them control": {
    running: 8,
    tenants: 10,
    hold: exponential,
    patience: () => 5,
    priority: (chance) => chance.yes(0.2) ? "control" : "normal",
  },
  "costs to the half": { running: 8, tenants: 10, hold: exponential, patience: () => 5, cost: upTo(4) },
  "costs to the half, one tenant": { running: 8, tenants: 1, hold: exponential, patience: () => 5, cost: upTo(4) },
  "costs to the half, patient": { running: 8, tenants: 10, hold: exponential, patience: () => 20, cost: upTo(4) },
  "costs to a sixteenth": { running: 64, tenants: 10, hold: exponential, patience: () => 5, cost: upTo(4) },
  "costs to the whole": { running: 8, tenants: 10, hold: exponential, patience: () => 5, cost: upTo(8) },
  "a few of half the total": { running: 16, tenants: 10, hold: exponential, patience: () => 5, cost: sometimes(8) },
  "a few of the whole total": { running: 8, tenants: 10, hold: exponential, patience: () => 5, cost: sometimes(8) },
}

/** The trace of a seed: the same asks at the same times whatever is answered. */
const asks = ({ cost = upTo(1), hold, patience, priority, running, tenants }: Load, seed: number) => {
  const chance = new Chance(seed)
  return () => ({
    tenant: `t${chance.whole(0, tenants - 1)}`,
    hold: hold(chance),
    patience: patience(chance),
    priority: priority?.(chance) ?? "normal" as Priority,
    cost: cost.of(chance),
    gap: chance.exponential(cost.mean / (2 * running)),
  })
}

/** On the kernel: the estimate, its lesson and the refusal are as the noun applies them. */
const simulated = (load: Load, seed: number, estimate: boolean, count: number): Outcome => {
  const next = asks(load, seed)
  const simulation = new Simulation({ maxRunning: load.running }, new Chance(seed))
  const { line } = simulation
  const expected = new Map<object, number>()
  let [served, late, expired, offered] = [0, 0, 0, 0]
  const learn = (ask: Ask, granted: boolean): void => {
    const by = expected.get(ask)
    if (by !== undefined) line.pace.learn(granted && simulation.now <= by, ask.cost)
    expected.delete(ask)
  }
  simulation.watch({
    granted: (ask) => {
      served++
      learn(ask, true)
    },
    expired: (ask) => {
      expired++
      learn(ask, false)
    },
  })
  const come = (): void => {
    const { cost, gap, hold, patience, priority, tenant } = next()
    offered++
    const { ask } = simulation.offer({ tenant, cost, hold, patience, arrival: priority === "control" ? 1 : 2 })
    const interval = estimate && simulation.waits(ask) ? line.pace.intervalNanos(cost) : undefined
    if (interval !== undefined) {
      const wait = line.turnsTo(ask) * interval
      if (wait <= patience) expected.set(ask, simulation.now + wait)
      else {
        late++
        simulation.step(() => line.withdraw(ask as WaitingAsk))
      }
    }
    simulation.after(gap, come)
  }
  come()
  simulation.run(() => offered < count)
  return { served, late, expired }
}

/** The same trace through the noun. */
const admitted = (load: Load, seed: number, estimate: boolean, count: number): Effect.Effect<Outcome> =>
  Effect.scoped(Effect.gen(function* () {
    const admission = yield* Admission.make({
      maxRunning: load.running,
      maxQueued: 1_048_576,
      maxQueuedPerTenant: 1_048_576,
      maxWait: "1 hour",
      estimate: estimate ? "on" : "off",
    })
    const next = asks(load, seed)
    const arrivals = Effect.gen(function* () {
      for (let offered = 0; offered < count; offered++) {
        const { cost, gap, hold, patience, priority, tenant } = next()
        yield* Effect.sleep(hold * 1_000).pipe(
          admission.run({ tenant, priority, cost }),
          Deadline.within(patience * 1_000),
          Effect.ignore,
          Effect.forkChild({ startImmediately: true }),
        )
        yield* Effect.sleep(gap * 1_000)
      }
    })
    yield* Effect.forkChild(arrivals)
    const seconds = count * (load.cost?.mean ?? 1) / load.running
    for (let second = 0; second < seconds; second++) yield* TestClock.adjust("1 second")
    const { granted, refused, waiting } = yield* admission.snapshot
    assert.strictEqual(waiting, 0)
    return { served: granted, late: refused.TooLate, expired: refused.WaitExpired }
  })).pipe(Effect.orDie)

const judge = (name: string, on: Outcome, off: Outcome): void => {
  const facts = JSON.stringify({ name, on, off })
  assert.isAtLeast(on.late / (on.late + on.expired), 0.9, facts)
  assert.isAtLeast(on.served / off.served, 0.95, facts)
  assert.strictEqual(off.late, 0)
  // Twice the capacity: half of the units are not served either way, and of the asks a fifth where those are the large.
  assert.isAtLeast(off.expired / (off.expired + off.served), 0.2, facts)
}

describe("an estimate under twice the load", () => {
  it("AD-26: refuses at once nine in ten of those who would not be served, and serves as many", () => {
    for (const [name, load] of Object.entries(loads)) {
      judge(name, simulated(load, 26, true, 20_000), simulated(load, 26, false, 20_000))
    }
  })

  it.effect("AD-26: so it does through the noun", () =>
    Effect.gen(function* () {
      for (const name of ["ten tenants", "a fifth of them control", "costs to the half"]) {
        const load = loads[name]!
        judge(name, yield* admitted(load, 7, true, 4_000), yield* admitted(load, 7, false, 4_000))
      }
    }))

  it("AD-25: the turns ahead are those of its rule, and nothing is estimated before 32 releases were seen", () => {
    const chance = new Chance(25)
    const simulation = new Simulation({ maxRunning: 8, maxPerTenant: 2 }, chance)
    const { line } = simulation
    let [releases, early, unknown, judged] = [0, 0, 0, 0]
    simulation.watch({ returned: () => void releases++ })
    for (let round = 0; round < 20_000; round++) {
      const { ask } = simulation.offer({
        tenant: `t${chance.whole(0, 5)}`,
        arrival: chance.pick([1, 2, 3]),
        hold: chance.exponential(1),
        patience: chance.exponential(2),
      })
      const interval = line.pace.intervalNanos(1)
      if (interval !== undefined && releases < 32) early++
      if (simulation.waits(ask)) {
        judged++
        const { arrival, pair: { tenant } } = ask
        let [place, inClass, higher, tenants] = [0, 0, 0, 0]
        for (const key of Array.from({ length: 6 }, (_, i) => `t${i}`)) {
          const waiting = (k: 0 | 1 | 2 | 3) =>
            simulation.groups(key, k).reduce((sum, group) => sum + group.asks.size, 0)
          for (let k = 0; k < arrival; k++) higher += waiting(k as 0 | 1 | 2)
          inClass += waiting(arrival)
          if (waiting(arrival) > 0) tenants++
          if (key === tenant.key) place = waiting(arrival)
        }
        if (line.turnsTo(ask) !== Math.min(inClass, place * tenants) + higher) unknown++
      }
      const until = simulation.now + chance.exponential(1 / 16)
      simulation.at(until, () => {})
      simulation.run(() => simulation.now < until)
    }
    assert.deepStrictEqual([early, unknown], [0, 0])
    assert.isAtLeast(judged, 5_000)
  })
})
