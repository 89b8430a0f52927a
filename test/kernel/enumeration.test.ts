/**
 * Two tenants, two providers, three asks of cost 1 or 2, two units: every assignment, and for each every order of asking,
 * cancelling, telling, giving back and expiring. The other caps are in `enumeration.slow.node.test.ts`.
 */
import { describe, expect, it } from "vitest"
import { assignments, playAll } from "../support/kernel/Orders.ts"

const waits = [7, 5, 9]

describe("every order of the events of three asks", () => {
  it(
    "AD-1 AD-2 AD-3 AD-4 AD-5 AD-6 AD-11 AD-15 AD-20 AD-22 K-2 K-3 K-4 K-5 K-6: keeps the accounts and ends every ask once",
    () => {
      const all = assignments(3).map((wishes) => wishes.map((wish, at) => ({ ...wish, wait: waits[at]! })))
      expect(all.length).toBe(128)
      const orders = all.map((wishes) => playAll({ maxRunning: 2 }, wishes)).reduce((sum, count) => sum + count, 0)
      console.log(`${orders} orders of ${all.length} assignments`)
      expect(orders).toBeGreaterThan(9_000)
    },
  )
})
