/** Large asks among small ones, and units that nobody may leave idle. Simulated on the kernel. */
import { describe, expect, it } from "vitest"
import type { Ask } from "../../core/kernel/Ask.ts"
import type { Class } from "../../core/kernel/Ledger.ts"
import { type Caller, Callers } from "./Callers.ts"
import { Chance } from "./Chance.ts"
import { type Limits, Simulation } from "./Simulation.ts"

interface Passing {
  readonly limits: Limits
  /** The large ask, over and over. */
  readonly large: { readonly tenant: string; readonly provider?: string; readonly cost: number }
  /** Whether a grant takes units of the account that the large ask is short of; all do if it is not said. */
  readonly counts?: (ask: Ask) => boolean
  /** Those who pass it: each has one unit ask at a time, and comes back as soon as it has given its unit back. */
  readonly small: ReadonlyArray<{ readonly tenant: string; readonly provider?: string; readonly arrival?: Class }>
}

/** Units that went past each large ask, from its arrival to its grant. */
const passes = (
  { counts: isCounted = () => true, large, limits, small }: Passing,
  seed: number,
  grants: number,
): ReadonlyArray<number> => {
  const chance = new Chance(seed)
  const simulation = new Simulation(limits, chance)
  const counts: Array<number> = []
  let passed = 0
  let waiting: Ask | undefined
  const owner = new Map<Ask, Passing["small"][number]>()
  const come = (caller: Passing["small"][number]): void => {
    const { ask } = simulation.offer({ ...caller, hold: chance.exponential(1) })
    owner.set(ask, caller)
  }
  simulation.watch({
    granted: (ask) => {
      if (ask === waiting) {
        counts.push(passed)
        waiting = undefined
      } else if (ask.cost !== large.cost && isCounted(ask)) passed++
    },
    returned: (ask) => {
      // The units are free, and nobody has been decided about: the next ask is another step at the same time.
      if (ask.cost === large.cost) return void simulation.after(chance.exponential(5), comeLarge)
      const caller = owner.get(ask)
      owner.delete(ask)
      if (caller !== undefined) simulation.after(0, () => come(caller))
    },
  })
  const comeLarge = (): void => {
    passed = 0
    waiting = simulation.offer({ ...large, hold: 1 }).ask
    if (!simulation.waits(waiting)) waiting = undefined
  }
  simulation.after(0, comeLarge)
  for (const caller of small) simulation.after(0, () => come(caller))
  simulation.run(() => simulation.grants < grants)
  return counts
}

const crowd = <T>(count: number, make: (index: number) => T): Array<T> =>
  Array.from({ length: count }, (_, i) => make(i))

describe("a large ask among steady small ones", () => {
  const smallTenants = crowd(16, (i) => ({ tenant: `small${i}` }))

  for (const [maxBypass, what] of [[0, "none"], [undefined, "as many as the total has"], [40, "more"]] as const) {
    it(`AD-14: past one that is short of the total go exactly maxBypass units: ${what}`, () => {
      for (const cost of maxBypass === 40 ? [16] : [8, 16]) {
        const limits = { maxRunning: 16, ...(maxBypass === undefined ? {} : { maxBypass }) }
        const counts = passes({ limits, large: { tenant: "large", cost }, small: smallTenants }, cost, 40_000)
        expect(counts.length).toBeGreaterThan(250)
        // Not one more, and not one unit was kept back before.
        expect(new Set(counts)).toEqual(new Set([maxBypass ?? 16]))
      }
    })
  }

  it("AD-9 AD-14: no tenant of its class takes more out of turn than the largest cost, however much may pass", () => {
    const limits = { maxRunning: 16, maxBypass: 256 }
    const small = smallTenants.map(() => ({ tenant: "small" }))
    const counts = passes({ limits, large: { tenant: "large", cost: 8 }, small }, 5, 40_000)
    expect(new Set(counts)).toEqual(new Set([8]))
  })

  it("AD-14: lower classes count, and higher ones pass without being counted", () => {
    const limits = { maxRunning: 16 }
    const large = { tenant: "large", cost: 8 }
    const lower = passes({ limits, large, small: smallTenants.map((each) => ({ ...each, arrival: 3 })) }, 1, 40_000)
    expect(new Set(lower)).toEqual(new Set([16]))
    const higher = passes({ limits, large, small: smallTenants.map((each) => ({ ...each, arrival: 1 })) }, 1, 40_000)
    // They may keep it waiting for ever; it expires or ages.
    expect(higher).toEqual([])
  })

  it("AD-14: past one that is short of its provider go exactly maxBypass units of that provider", () => {
    const small = [
      ...crowd(8, (i) => ({ tenant: `small${i}`, provider: "p" })),
      ...crowd(20, (i) => ({ tenant: `other${i}` })),
    ]
    const large = { tenant: "large", provider: "p", cost: 6 }
    const limits = { maxRunning: 64, maxPerProvider: 8, maxBypass: 24 }
    const counts = passes({ limits, large, small, counts: ({ pair }) => pair.provider !== undefined }, 3, 60_000)
    expect(counts.length).toBeGreaterThan(100)
    expect(new Set(counts)).toEqual(new Set([24]))
  })

  it("AD-14: past one that is short of its tenant's cap go exactly maxBypass units of that tenant", () => {
    const small = [
      ...crowd(8, (i) => ({ tenant: "t", provider: `p${i}` })),
      ...crowd(20, (i) => ({ tenant: `other${i}` })),
    ]
    const large = { tenant: "t", provider: "p", cost: 6 }
    const limits = { maxRunning: 64, maxPerTenant: 8, maxBypass: 24 }
    const counts = passes({ limits, large, small, counts: ({ pair }) => pair.tenant.key === "t" }, 4, 60_000)
    expect(counts.length).toBeGreaterThan(100)
    expect(new Set(counts)).toEqual(new Set([24]))
  })

  it("AD-14: among others that wait, one head at most is short of the total, and maxBypass units at most go past it", () => {
    for (let seed = 0; seed < 20; seed++) {
      const chance = new Chance(seed)
      const maxRunning = 16
      const maxBypass = chance.pick([0, 5, 16, 256])
      const simulation = new Simulation({ maxRunning, maxBypass }, chance)
      const callers = new Callers(simulation)
      let [passed, most, short, larges] = [0, 0, 0, 0]
      simulation.watch({
        granted: ({ cost, pair }) => {
          if (pair.tenant.key === "large") larges++
          else if (simulation.line.total.parked > 0) most = Math.max(most, passed += cost)
        },
        settled: () => {
          short = Math.max(short, simulation.line.total.parked)
          if (simulation.line.total.parked === 0) passed = 0
        },
      })
      const hold = () => chance.exponential(1)
      callers.join({ tenant: "large", depth: 2, cost: () => 12, hold })
      for (const { tenant } of smallTenants.slice(0, 8)) callers.join({ tenant, depth: 40, cost: () => 1, hold })
      simulation.run(() => simulation.grants < 5_000)
      expect(short).toBe(1)
      expect(most).toBeLessThanOrEqual(maxBypass)
      // Its part of the units is one in nine.
      expect(larges * 12 / (larges * 12 + (5_000 - larges))).toBeCloseTo(1 / 9, 2)
    }
  })
})

describe("work", () => {
  it("AD-15: after no step does a head that fits wait, unless units are set aside or promised on one of its accounts", () => {
    for (let seed = 0; seed < 25; seed++) {
      const chance = new Chance(seed)
      const maxRunning = chance.whole(8, 24)
      const cap = () => chance.pick([maxRunning, chance.whole(8, maxRunning)])
      const reserves = chance.pick([[0, 0, 0, 0], [1, 2, 0, 0]])
      // Without large asks nothing is ever set aside, and no excuse is left.
      const largest = seed % 2 === 0 ? 1 : 5
      const limits = {
        maxRunning,
        maxPerTenant: cap(),
        maxPerProvider: cap(),
        maxPerPair: cap(),
        maxBypass: chance.pick([0, maxRunning, 16 * maxRunning]),
        reserves,
      }
      const simulation = new Simulation(limits, chance)
      const { total } = simulation.line
      const tenants = crowd(4, (i) => `t${i}`)
      let idle = 0
      const look = (): void => {
        for (const tenant of tenants) {
          for (const arrival of [0, 1, 2, 3] as const) {
            for (const { head, pair } of simulation.groups(tenant, arrival)) {
              const accounts = [...pair.accountsOf(arrival), total]
              if (accounts.some((account) => account.room(arrival) < head!.cost)) continue
              const kept = accounts.some(({ guarded, promised, setAside }) =>
                setAside > 0 || guarded !== undefined || promised !== undefined
              )
              if (largest === 1 || !kept) idle++
            }
          }
        }
      }
      simulation.watch({ settled: look })
      const callers = new Callers(simulation)
      for (const tenant of tenants) {
        for (const provider of ["p", "q"]) {
          for (const arrival of [0, 1, 2, 3] as const) {
            const caller: Caller = {
              tenant,
              provider,
              arrival,
              depth: 1 + arrival,
              cost: () => chance.whole(1, largest),
              hold: () => chance.exponential(arrival === 0 ? 0.2 : 1),
              patience: () => chance.exponential(50),
            }
            callers.join(caller)
          }
        }
      }
      simulation.run(() => simulation.grants < 4_000)
      expect(idle).toBe(0)
    }
  })
})
