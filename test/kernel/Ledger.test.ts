import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Group } from "../../core/kernel/Ask.ts"
import * as Ledger from "../../core/kernel/Ledger.ts"
import { Account, Cap, type Class, Total } from "../../core/kernel/Ledger.ts"

const classes = fc.constantFrom<Class>(0, 1, 2, 3)
const limits = fc.record({
  total: fc.integer({ min: 1, max: 12 }),
  narrow: fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 3, maxLength: 3 }),
  reserves: fc.array(fc.nat({ max: 3 }), { minLength: 4, maxLength: 4 }),
}).filter(({ reserves, total }) => reserves.reduce((sum, units) => sum + units, 0) < total)

/** A lease: its class, units and the accounts, by number, that it is charged to. */
interface Lease {
  readonly arrival: Class
  readonly units: number
  readonly on: readonly number[]
}

const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      arrival: classes,
      units: fc.integer({ min: 1, max: 6 }),
      on: fc.subarray([0, 1, 2]),
    }),
  },
  { weight: 3, arbitrary: fc.record({ refund: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ withhold: fc.integer({ min: 1, max: 8 }) }) },
  { weight: 1, arbitrary: fc.constant({ restore: true }) },
  { weight: 1, arbitrary: fc.record({ lower: fc.nat({ max: 3 }), to: fc.integer({ min: 1, max: 12 }) }) },
)

const sum = (leases: readonly Lease[], which: (lease: Lease) => boolean): number =>
  leases.filter(which).reduce((units, lease) => units + lease.units, 0)

describe("the ledger", () => {
  it("K-1 K-2 AD-1 AD-2 AD-3 AD-17: charges all accounts of a lease or none, and its sums are those of the live leases", () => {
    fc.assert(
      fc.property(limits, fc.array(step, { maxLength: 60, size: "max" }), (given, steps) => {
        const caps = given.narrow.map((limit) => new Cap("tenant", limit))
        const accounts = caps.map((cap) => new Account<Group>(cap))
        const total = new Total<Group>(new Cap("total", given.total), given.reserves)
        let live: readonly Lease[] = []
        let withheld = 0
        const used = (account: number): number => sum(live, (lease) => lease.on.includes(account))
        const from = (k: number): number => sum(live, (lease) => lease.arrival >= k)
        const allowed = (k: number): number =>
          total.cap.limit - given.reserves.slice(0, k).reduce((reserved, units) => reserved + units, 0)
        const roomOf = (arrival: Class): number =>
          Math.min(...[0, 1, 2, 3].filter((k) => k <= arrival).map((k) => allowed(k) - withheld - from(k)))

        for (const each of steps) {
          if ("units" in each) {
            const { arrival, on, units } = each
            const mine = on.map((account) => accounts[account]!)
            const short = on.find((account) => caps[account]!.limit - used(account) < units)
            const expected = short === undefined ? roomOf(arrival) < units ? total : undefined : accounts[short]
            const below = mine.find((account) => account.cap.limit - account.used < units)
            expect(Ledger.firstShort(mine, units)).toBe(below)
            const never = on.find((account) => caps[account]!.limit < units)
            expect(Ledger.neverFits(mine, total, arrival, units))
              .toBe(never === undefined ? allowed(arrival) < units ? total : undefined : accounts[never])
            expect(Ledger.reserve(mine, total, arrival, units)).toBe(expected)
            if (expected === undefined) live = [...live, each]
          } else if ("refund" in each) {
            const lease = live[each.refund % Math.max(1, live.length)]
            if (lease === undefined) continue
            live = live.filter((other) => other !== lease)
            Ledger.refund(lease.on.map((account) => accounts[account]!), total, lease.arrival, lease.units)
          } else if ("withhold" in each) {
            const possible = withheld + each.withhold <= total.cap.limit
            expect(Ledger.withhold(total, each.withhold)).toBe(possible)
            if (possible) withheld += each.withhold
          } else if ("restore" in each) {
            total.withheld -= withheld
            withheld = 0
          } else if (each.lower < 3) {
            const cap = caps[each.lower]!
            const use = used(each.lower)
            const above = Ledger.firstAbove([accounts[each.lower]!], each.to)
            expect(above).toEqual(use > each.to ? { name: "tenant", limit: each.to, use } : undefined)
            if (above === undefined) cap.limit = Math.min(cap.limit, each.to)
          } else {
            const drop = total.cap.limit - each.to
            const k = [0, 1, 2, 3].find((each) => from(each) > allowed(each) - drop)
            const above = Ledger.totalAbove(total, each.to)
            if (k !== undefined) expect(above).toEqual({ name: "total", limit: allowed(k) - drop, use: from(k) })
            else if (from(0) + withheld > each.to) {
              expect(above).toEqual({ name: "total", limit: each.to, use: from(0) + withheld })
            } else expect(above).toBe(undefined)
            if (above === undefined && drop > 0) total.cap.limit = each.to
          }
          for (const [at, account] of accounts.entries()) {
            expect(account.used).toBe(used(at))
            expect(account.used).toBeLessThanOrEqual(caps[at]!.limit)
          }
          expect(total.used).toBe(from(0))
          expect(total.withheld).toBe(withheld)
          expect(total.debt).toBe(Math.max(0, from(0) + withheld - total.cap.limit))
          for (const k of Ledger.classes) {
            expect(total.sumOf(k)).toBe(from(k))
            expect(from(k)).toBeLessThanOrEqual(Math.max(0, allowed(k)))
            expect(total.most(k)).toBe(allowed(k))
            expect(total.room(k)).toBe(roomOf(k))
          }
        }
      }),
      { numRuns: 150, seed: 1 },
    )
  })

  it("a cap that is none is above all that a limit, a cost or a bypass may be, and a small integer", () => {
    expect(Ledger.unlimited).toBeGreaterThan(16 * 1_048_576)
    expect(Ledger.unlimited).toBeLessThanOrEqual(2 ** 30 - 1)
  })

  it("AD-28: grants nothing while there is a debt, whatever is given back before it is paid", () => {
    const total = new Total<Group>(new Cap("total", 4), [0, 0, 0, 0])
    for (let n = 0; n < 4; n++) Ledger.reserve([], total, 2, 1)
    expect(Ledger.withhold(total, 2)).toBe(true)
    expect(total.debt).toBe(2)
    Ledger.refund([], total, 2, 1)
    expect(Ledger.reserve([], total, 0, 1)).toBe(total)
    Ledger.refund([], total, 2, 1)
    expect([total.debt, Ledger.reserve([], total, 0, 1)]).toEqual([0, total])
    Ledger.refund([], total, 2, 1)
    expect(Ledger.reserve([], total, 0, 1)).toBe(undefined)
  })

  it("AD-17: an unused reserve is lent to no lower class, and higher ones use it", () => {
    const total = new Total<Group>(new Cap("total", 10), [1, 2, 3, 0])
    const grantable = (k: Class): number => {
      let units = 0
      while (Ledger.reserve([], total, k, 1) === undefined) units++
      Ledger.refund([], total, k, units)
      return units
    }
    expect(Ledger.classes.map(grantable)).toEqual([10, 9, 7, 4])
  })

  it("AD-14: keeps for a class and those below it the units that are kept for it and for higher ones", () => {
    const account = new Account<Group>(new Cap("provider", 10))
    account.guard(1, 3)
    account.guard(3, 2)
    expect(Ledger.classes.map((k) => account.guardedAgainst(k))).toEqual([0, 3, 3, 5])
    account.guard(1, -3)
    account.guard(3, -2)
    expect(account.guarded).toBe(undefined)
    expect(account.guardedAgainst(3)).toBe(0)
  })
})
