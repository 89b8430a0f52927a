/** The orders of `enumeration.test.ts` under each cap, with reserves, and without the way past the line. */
import { describe, expect, it } from "vitest"
import type { Class } from "../../core/kernel/Ledger.ts"
import { assignments, playAll } from "../support/kernel/Orders.ts"
import type { Setup } from "../support/kernel/Witness.ts"

interface Variant {
  readonly setup: Setup
  readonly arrivals?: readonly Class[]
  readonly waits?: readonly number[]
  readonly slowly?: boolean
  /** More orders than this are played. */
  readonly orders: number
}

/** Plays all assignments of three asks. */
const playVariant = ({ arrivals, orders, setup, slowly = false, waits = [7, 5, 9] }: Variant): void => {
  let count = 0
  for (const wishes of assignments(3)) {
    count += playAll(
      setup,
      wishes.map((wish, at) => ({ ...wish, slowly, wait: waits[at]!, arrival: arrivals?.[at] ?? 2 })),
    )
  }
  console.log(`${count} orders`)
  expect(count).toBeGreaterThan(orders)
}

describe("every order of the events of three asks", () => {
  it("AD-2 AD-3 AD-13 AD-15 AD-18 AD-20 K-5: keeps a cap of one a tenant", () => {
    playVariant({ setup: { maxRunning: 2, maxPerTenant: 1 }, orders: 1_400 })
  })

  it("AD-2 AD-3 AD-13 AD-15 AD-18 AD-20 K-5: keeps a cap of one a provider", () => {
    playVariant({ setup: { maxRunning: 2, maxPerProvider: 1 }, orders: 1_400 })
  })

  it("AD-2 AD-3 AD-13 AD-15 AD-18 AD-20 K-5: keeps a cap of one a pair", () => {
    playVariant({ setup: { maxRunning: 2, maxPerPair: 1 }, orders: 1_100 })
  })

  it("AD-15 AD-17 AD-18 AD-20 K-5: lends what is reserved for control to no normal ask", () => {
    playVariant({ setup: { maxRunning: 2, reserves: [0, 1, 0, 0] }, arrivals: [2, 1, 2], orders: 2_500 })
  })

  it(
    "AD-15 AD-16 AD-17 AD-20 K-5: serves an emergency first, out of every reserve and past its tenant's cap",
    {},
    () => {
      playVariant({
        setup: { maxRunning: 2, maxPerTenant: 1, reserves: [1, 0, 0, 0] },
        arrivals: [2, 3, 0],
        orders: 3_000,
      })
    },
  )

  it("AD-14 AD-15 AD-20 K-5: sets units aside at once where nothing may be passed", () => {
    playVariant({ setup: { maxRunning: 2, maxBypass: 0 }, waits: [9, 9, 9], slowly: true, orders: 60_000 })
  })

  it("AD-19 AD-20 K-5: turns away whoever finds no place in a line of one", () => {
    playVariant({ setup: { maxRunning: 2, maxQueued: 1 }, orders: 7_000 })
  })
})
