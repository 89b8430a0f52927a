/** Higher classes first, and ageing that lets the lower ones through all the same. Simulated on the kernel. */
import { describe, expect, it } from "vitest"
import type { Group } from "../../core/kernel/Ask.ts"
import type { Class } from "../../core/kernel/Ledger.ts"
import { type Caller, Callers } from "./Callers.ts"
import { Chance } from "./Chance.ts"
import { type Limits, Simulation } from "./Simulation.ts"

const many = <T>(count: number, make: (index: number) => T): Array<T> =>
  Array.from({ length: count }, (_, i) => make(i))

const names = { flood: many(4, (i) => `flood${i}`), calm: many(3, (i) => `calm${i}`) }

interface Flood {
  readonly seed: number
  readonly limits: Limits
  /** The class that floods, and the one below that comes now and then. */
  readonly flood: Class
  readonly calm: Class
  readonly cost: number
  readonly patience: number
  readonly grants: number
}

interface Outcome {
  readonly served: number
  readonly expired: number
  /** Shortest and longest wait of the calm ones that were served. */
  readonly shortest: number
  readonly longest: number
  /** The most grants of the flood's class between the raising of a head and its own grant. */
  readonly turns: number
  /** The most units that the calm class and all below ever held. */
  readonly most: number
}

/** Four tenants flood with one class; three others have one ask at a time in a lower class, one in each of two groups. */
const underFlood = ({ calm, cost, flood, grants, limits, patience, seed }: Flood): Outcome => {
  const chance = new Chance(seed)
  const simulation = new Simulation(limits, chance)
  const callers = new Callers(simulation)
  let [served, expired, shortest, longest, turns, most] = [0, 0, Infinity, 0, 0, 0]
  const since = new Map<object, number>()
  const raised = new Map<Group, number>()
  simulation.watch({
    arrived: (ask) => void since.set(ask, simulation.now),
    granted: (ask) => {
      const group = ask.pair.groups[ask.arrival]!
      for (const [other, passed] of raised) {
        if (other !== group && ask.arrival <= flood) raised.set(other, passed + 1)
      }
      if (ask.arrival !== calm) return
      turns = Math.max(turns, raised.get(group) ?? 0)
      raised.delete(group)
      served++
      const waited = simulation.now - (since.get(ask) ?? simulation.now)
      shortest = Math.min(shortest, waited)
      longest = Math.max(longest, waited)
    },
    expired: ({ arrival }) => expired += arrival === calm ? 1 : 0,
    settled: () => {
      most = Math.max(most, simulation.line.total.sumOf(calm))
      for (const tenant of names.calm) {
        for (const group of simulation.groups(tenant, calm)) {
          if (group.raised && !raised.has(group)) raised.set(group, 0)
        }
      }
    },
  })
  const hold = () => chance.exponential(1)
  for (const tenant of names.flood) callers.join({ tenant, arrival: flood, depth: 20, cost: () => 1, hold })
  // The flood is there first.
  simulation.run(() => simulation.now < 10)
  for (const tenant of names.calm) {
    for (const provider of ["p", "q"]) {
      callers.join({ tenant, provider, arrival: calm, depth: 1, cost: () => cost, hold, patience: () => patience })
    }
  }
  simulation.run(() => simulation.grants < grants)
  return { served, expired, shortest, longest, turns, most }
}

describe("classes", () => {
  it("AD-16: nothing is granted to a class while an eligible ask of a higher one waits", () => {
    for (let seed = 0; seed < 20; seed++) {
      const chance = new Chance(seed)
      const maxRunning = chance.whole(2, 12)
      const limits = {
        maxRunning,
        maxPerTenant: chance.whole(1, maxRunning),
        maxPerProvider: chance.whole(1, maxRunning),
      }
      const simulation = new Simulation(limits, chance)
      const tenants = many(4, (i) => `t${i}`)
      let overtaken = 0
      simulation.watch({
        granted: (ask) => {
          const turnClass = ask.pair.groups[ask.arrival]?.turnClass ?? ask.arrival
          for (const tenant of tenants) {
            for (const arrival of [0, 1, 2, 3] as const) {
              for (const group of simulation.groups(tenant, arrival)) {
                if (group.turnClass < turnClass && simulation.isEligible(group)) overtaken++
              }
            }
          }
        },
      })
      const callers = new Callers(simulation)
      for (const tenant of tenants) {
        for (const arrival of [0, 1, 2, 3] as const) {
          const caller: Caller = {
            tenant,
            provider: chance.pick(["p", "q"]),
            arrival,
            depth: 2,
            cost: () => 1,
            hold: () => chance.exponential(1),
            patience: () => chance.exponential(20),
          }
          callers.join(caller)
          // Higher classes come and go, so that all are served.
          const toggle = (): void => {
            if (chance.yes(0.5)) callers.join(caller)
            else callers.leave(caller)
            simulation.after(chance.exponential(10), toggle)
          }
          toggle()
        }
      }
      simulation.run(() => simulation.grants < 5_000)
      expect(overtaken).toBe(0)
    }
  })
})

describe("ageing", () => {
  const limits = { maxRunning: 8 }

  it("AD-16: under a steady flood of control each normal ask is served, when half of its time is over", () => {
    const outcome = underFlood({ seed: 1, limits, flood: 1, calm: 2, cost: 1, patience: 40, grants: 100_000 })
    expect(outcome.served).toBeGreaterThan(3_000)
    expect(outcome.expired).toBe(0)
    // Not before, since control is higher and always there; and then within one turn of each tenant.
    expect(outcome.shortest).toBeGreaterThanOrEqual(20)
    expect(outcome.longest).toBeLessThan(30)
    expect(outcome.turns).toBeLessThanOrEqual(2 * (names.flood.length + names.calm.length))
  })

  it("AD-16 AD-14: so is a large one, though every unit that gets free would do for control", () => {
    const outcome = underFlood({ seed: 2, limits, flood: 1, calm: 2, cost: 6, patience: 80, grants: 100_000 })
    expect(outcome.served).toBeGreaterThan(1_000)
    expect(outcome.expired).toBe(0)
    expect(outcome.shortest).toBeGreaterThanOrEqual(40)
  })

  it("AD-16: a notification ages into normal and no further", () => {
    const normal = underFlood({ seed: 3, limits, flood: 2, calm: 3, cost: 1, patience: 40, grants: 50_000 })
    expect(normal.expired).toBe(0)
    const control = underFlood({ seed: 3, limits, flood: 1, calm: 3, cost: 1, patience: 40, grants: 50_000 })
    expect(control.served).toBe(0)
  })

  it("AD-16: nobody ages into emergency", () => {
    const outcome = underFlood({ seed: 4, limits, flood: 0, calm: 1, cost: 1, patience: 40, grants: 50_000 })
    expect(outcome.served).toBe(0)
    expect(outcome.expired).toBeGreaterThan(100)
  })

  it("AD-16 AD-17: ageing opens no reserve", () => {
    const reserves = [0, 3, 0, 0]
    // Nobody uses the reserve: the calm ones could take more than is theirs if ageing let them.
    const chance = new Chance(5)
    const simulation = new Simulation({ maxRunning: 8, reserves }, chance)
    const callers = new Callers(simulation)
    let [most, raised] = [0, 0]
    simulation.watch({
      granted: ({ arrival, pair }) => raised += pair.groups[arrival]?.raised === true ? 1 : 0,
      settled: () => most = Math.max(most, simulation.line.total.sumOf(2)),
    })
    for (const tenant of names.calm) {
      callers.join({
        tenant,
        depth: 5,
        cost: () => chance.whole(1, 4),
        hold: () => chance.exponential(1),
        patience: () => chance.exponential(10),
      })
    }
    simulation.run(() => simulation.grants < 50_000)
    expect(raised).toBeGreaterThan(5_000)
    expect(most).toBe(5)
    const outcome = underFlood({
      seed: 6,
      limits: { maxRunning: 8, reserves },
      flood: 1,
      calm: 2,
      cost: 1,
      patience: 40,
      grants: 50_000,
    })
    expect(outcome.expired).toBe(0)
    expect(outcome.most).toBeLessThanOrEqual(5)
  })
})
