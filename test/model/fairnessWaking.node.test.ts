/**
 * Who is woken when an account gives back, and how many are looked at for it: counted, never timed. What is counted are
 * the calls inside the kernel that look at a group, move it, or search for one.
 */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import type { Group } from "../../core/kernel/Ask.ts"
import { FitQueue } from "../../core/kernel/FitQueue.ts"
import type { Account } from "../../core/kernel/Ledger.ts"
import { List } from "../../core/kernel/List.ts"
import { Parking } from "../../core/kernel/Parking.ts"
import { Places } from "../../core/kernel/Places.ts"
import { type Caller, Callers } from "./Callers.ts"
import { Chance } from "./Chance.ts"
import { type Limits, Simulation } from "./Simulation.ts"

const many = <T>(count: number, make: (index: number) => T): Array<T> =>
  Array.from({ length: count }, (_, i) => make(i))

afterEach(() => void vi.restoreAllMocks())

describe("waking", () => {
  interface Seen {
    /** Groups that were woken though an earlier one of their class was parked there. */
    outOfOrder: number
    /** The most often that one group was woken between two releases. */
    mostOften: number
    woken: number
  }

  let seen: Seen

  /** Keeps its own order of parking by account, and checks each waking against it. */
  beforeEach(() => {
    seen = { outOfOrder: 0, mostOften: 0, woken: 0 }
  })

  const observe = (simulation: Simulation): void => {
    const orders = new Map<Account<Group>, Array<Group>>()
    const times = new Map<Group, number>()
    const { park, unpark, wake } = Parking.prototype
    const orderOf = (account: Account<Group>): Array<Group> => {
      const order = orders.get(account) ?? []
      orders.set(account, order)
      return order
    }
    vi.spyOn(Parking.prototype, "park").mockImplementation(function (this: Parking, group, account) {
      orderOf(account).push(group)
      return park.call(this, group, account)
    })
    vi.spyOn(Parking.prototype, "unpark").mockImplementation(function (this: Parking, group) {
      const order = orderOf(group.account!)
      order.splice(order.indexOf(group), 1)
      unpark.call(this, group)
    })
    vi.spyOn(Parking.prototype, "wake").mockImplementation(function (this: Parking, group) {
      const before = orderOf(group.account!).slice(0, orderOf(group.account!).indexOf(group))
      if (before.some((other) => other.turnClass === group.turnClass)) seen.outOfOrder++
      const often = (times.get(group) ?? 0) + 1
      times.set(group, often)
      seen.woken++
      seen.mostOften = Math.max(seen.mostOften, often)
      wake.call(this, group)
    })
    simulation.watch({ settled: () => times.clear() })
  }

  const crowd = (limits: Limits, providers: number, seed: number): void => {
    const chance = new Chance(seed)
    const simulation = new Simulation(limits, chance)
    observe(simulation)
    const callers = new Callers(simulation)
    for (let i = 0; i < 20; i++) {
      const caller: Caller = {
        tenant: `t${i}`,
        provider: `p${i % providers}`,
        depth: 2,
        cost: () => 1,
        hold: () => chance.exponential(1),
        arrival: i % 4 === 0 ? 1 : 2,
      }
      callers.join(caller)
    }
    simulation.run(() => simulation.grants < 100_000)
  }

  it("AD-13: groups parked on an account are woken in parking order within a class, each at most once a release", () => {
    crowd({ maxRunning: 12, maxPerProvider: 3 }, 3, 1)
    expect(seen.outOfOrder).toBe(0)
    expect(seen.mostOften).toBe(1)
    expect(seen.woken).toBeGreaterThan(30_000)
  })

  it("AD-13: groups that are parked do not delay others", () => {
    const chance = new Chance(13)
    const simulation = new Simulation({ maxRunning: 8, maxPerProvider: 2, maxPerTenant: 4 }, chance)
    const callers = new Callers(simulation)
    const served = new Map<string, number>()
    simulation.watch({ granted: ({ pair: { tenant: { key } } }) => void served.set(key, (served.get(key) ?? 0) + 1) })
    // A hundred groups of twenty tenants want one provider that is slow; four others want nothing of it.
    for (let i = 0; i < 20; i++) {
      callers.join({ tenant: `slow${i}`, provider: "slow", depth: 5, cost: () => 1, hold: () => 100 })
    }
    const others = many(4, (i) => `t${i}`)
    for (const tenant of others) {
      callers.join({ tenant, depth: 5, cost: () => 1, hold: () => chance.exponential(1) })
    }
    simulation.run(() => simulation.grants < 100_000)
    // The six units that are left are always busy, and shared by four.
    expect((simulation.grants - 4 * 20) / simulation.now).toBeGreaterThan(5.9)
    for (const tenant of others) expect(served.get(tenant)! / simulation.grants).toBeCloseTo(1 / 4, 2)
  })
})

describe("looks", () => {
  let looks = 0

  beforeEach(() => {
    looks = 0
    const count = <T extends object, K extends keyof T & string>(prototype: T, name: K): void => {
      const own = prototype[name]
      if (typeof own !== "function") throw new Error(`${name} is no method`)
      const counted = function (this: unknown, ...args: ReadonlyArray<unknown>): unknown {
        looks++
        return own.apply(this, args)
      }
      Object.defineProperty(prototype, name, { value: counted, configurable: true, writable: true })
      undo.push(() => Object.defineProperty(prototype, name, { value: own, configurable: true, writable: true }))
    }
    for (const name of ["next", "obstacle", "open", "reseat"] as const) count(Places.prototype, name)
    for (const name of ["park", "unpark", "candidate", "mayPass"] as const) count(Parking.prototype, name)
    for (const name of ["add", "remove", "firstFitting"] as const) count(FitQueue.prototype, name)
    for (const name of ["rotate", "insertBefore", "remove"] as const) count(List.prototype, name)
  })

  const undo: Array<() => void> = []
  afterEach(() => {
    for (const each of undo.splice(0)) each()
  })

  interface Load {
    readonly limits: Limits
    readonly callers: ReadonlyArray<Omit<Caller, "hold">>
  }

  /** Looks a grant, in the steady state: everybody has waited once before counting begins. */
  const looksPerGrant = ({ callers: all, limits }: Load): number => {
    const chance = new Chance(33)
    const simulation = new Simulation(limits, chance)
    const callers = new Callers(simulation)
    for (const caller of all) callers.join({ ...caller, hold: () => chance.exponential(1) })
    const first = simulation.grants + all.length
    simulation.run(() => simulation.grants < first)
    looks = 0
    const from = simulation.grants
    simulation.run(() => simulation.grants < from + 12_000)
    return looks / (simulation.grants - from)
  }

  const sizes = [100, 1_000, 10_000]
  const mixed = (i: number) => () => 1 + i % 7

  const loads: Readonly<Record<string, (n: number) => Load>> = {
    "unit costs, a tenant each": (n) => ({
      limits: { maxRunning: 64 },
      callers: many(n, (i) => ({ tenant: `t${i}`, depth: 2, cost: () => 1 })),
    }),
    "unit costs, providers of one tenant": (n) => ({
      limits: { maxRunning: 64 },
      callers: many(n, (i) => ({ tenant: "t", provider: `p${i}`, depth: 2, cost: () => 1 })),
    }),
    "mixed costs": (n) => ({
      limits: { maxRunning: 64 },
      callers: many(n, (i) => ({ tenant: `t${i}`, depth: 2, cost: mixed(i) })),
    }),
    "a cap on tenants": (n) => ({
      limits: { maxRunning: n, maxPerTenant: 2 },
      callers: many(n, (i) => ({ tenant: `t${i % (n / 10)}`, provider: `p${i}`, depth: 2, cost: () => 1 })),
    }),
    "a cap on providers": (n) => ({
      limits: { maxRunning: n, maxPerProvider: 2 },
      callers: many(n, (i) => ({ tenant: `t${i}`, provider: `p${i % (n / 10)}`, depth: 2, cost: () => 1 })),
    }),
    "a cap on one provider that all want, mixed costs": (n) => ({
      limits: { maxRunning: n, maxPerProvider: 14 },
      callers: many(n, (i) => ({ tenant: `t${i}`, provider: "p", depth: 2, cost: mixed(i) })),
    }),
  }

  for (const [name, load] of Object.entries(loads)) {
    it(`AD-33 AD-13: looks a grant do not grow from 100 to 10,000 that wait: ${name}`, () => {
      const [few, some, lots] = sizes.map((n) => looksPerGrant(load(n)))
      expect(some).toBeLessThan(1.3 * few! + 1)
      expect(lots).toBeLessThan(1.3 * few! + 1)
      expect(lots).toBeLessThan(60)
    })
  }

  it("AD-33: where both caps bind, a release looks at each group parked on the released account once at most", () => {
    for (const n of [10, 100, 1_000]) {
      const simulation = new Simulation({ maxRunning: 10 * n, maxPerTenant: 1, maxPerProvider: 1 }, new Chance(1))
      // One holds the provider; each of the others holds its tenant's only unit elsewhere and waits for the provider.
      simulation.offer({ tenant: "holder", provider: "p", hold: 1 })
      for (let i = 0; i < n; i++) {
        simulation.offer({ tenant: `t${i}`, provider: "p", hold: 1 })
      }
      for (let i = 0; i < n; i++) simulation.offer({ tenant: `t${i}`, provider: `q${i}`, hold: 10 })
      const park = vi.spyOn(Parking.prototype, "park")
      simulation.run(() => simulation.now < 1)
      expect(park).toHaveBeenCalled()
      expect(park.mock.calls.length).toBeLessThanOrEqual(n)
      park.mockRestore()
    }
  })
})
