/**
 * Who is granted before whom, in short lives of a line in which a rule decides between several that could be. A witness
 * judges each step of them besides.
 */
import { describe, expect, it } from "vitest"
import type { Ask } from "../../core/kernel/Ask.ts"
import { type Entry, type Limits, type Setup, type Wish, Witness } from "../support/kernel/Witness.ts"

interface Life {
  readonly witness: Witness
  /** By the order in which they asked; undefined for one that was turned away. */
  readonly asked: Array<Entry | undefined>
}
type Step = (life: Life) => void

const ask = (tenant: string, wish: Omit<Wish, "tenant"> = {}): Step => ({ asked, witness }) => {
  asked.push(witness.ask({ ...wish, tenant }).entry)
}
/** One that finds no place to wait. */
const refused = (tenant: string, wish: Omit<Wish, "tenant"> = {}): Step => ({ asked, witness }) => {
  asked.push(witness.ask({ ...wish, tenant }).entry)
  expect(asked.at(-1)).toBe(undefined)
}
const giveBack = (nth: number): Step => ({ asked, witness }) => expect(witness.giveBack(asked[nth]!)).toBe(true)
const leave = (nth: number): Step => ({ asked, witness }) => expect(witness.leave(asked[nth]!)).toBe(true)
const lower = (limits: Partial<Limits>): Step => ({ witness }) => expect(witness.lower(limits)).toBe(true)
const withhold = (units: number): Step => ({ witness }) => expect(witness.withhold(units)).toBe(true)
const restore = (units: number): Step => ({ witness }) => witness.restore(units)
const after = (nanos: number, isHeard = true): Step => ({ witness }) => witness.advance(nanos, isHeard)

/**
 * The numbers of the asks in the order in which they were granted, when at the end of the life nothing is withheld any more,
 * and whoever has held its units for longest gives them back, until all have.
 */
const orderOf = (setup: Setup, ...life: readonly Step[]): readonly number[] => {
  const [witness, asked] = [new Witness(setup), [] as Array<Entry | undefined>]
  const granted = new Set<Ask>()
  const look = (): void => {
    const fresh: Ask[] = []
    for (let ask = witness.line.held.tail; ask !== undefined && !granted.has(ask); ask = ask.prev) fresh.unshift(ask)
    for (const ask of fresh) granted.add(ask)
  }
  for (const step of life) {
    step({ witness, asked })
    look()
  }
  if (witness.withheld > 0) witness.restore(witness.withheld)
  look()
  for (let first = witness.line.held.head; first !== undefined; first = witness.line.held.head) {
    witness.giveBack(asked.find((entry) => entry?.ask === first)!)
    look()
  }
  witness.finish()
  return [...granted].map((each) => asked.findIndex((entry) => entry?.ask === each))
}

describe("units that are set aside", () => {
  it("AD-14: are let go where their head is short of its provider by now, whoever came to that first", () => {
    expect(orderOf(
      { maxRunning: 3, maxPerProvider: 3, maxPerPair: 3, maxBypass: 1 },
      ask("a"),
      ask("b"),
      giveBack(0),
      ask("d", { provider: "p" }),
      ask("a"),
      ask("c", { provider: "p" }),
      giveBack(3),
      ask("c", { provider: "p", cost: 2, wait: 20 }),
      after(8),
      ask("c", { provider: "p", arrival: 3 }),
      after(6),
      ask("c", { provider: "p", arrival: 1 }),
    )).toEqual([0, 1, 2, 3, 4, 7, 6, 5])
  })

  it("AD-14: are let go by a head of a higher class for those of a lower one too", () => {
    expect(orderOf(
      { maxRunning: 3, maxPerProvider: 3, maxPerPair: 3, maxBypass: 1 },
      ask("a"),
      ask("b"),
      giveBack(0),
      ask("d", { provider: "p" }),
      ask("a"),
      ask("c", { provider: "p" }),
      giveBack(3),
      ask("c", { provider: "p", cost: 2 }),
      ask("c", { provider: "p", arrival: 3 }),
      ask("b", { provider: "p", arrival: 3 }),
    )).toEqual([0, 1, 2, 3, 4, 6, 7, 5])
  })

  it("AD-14: of the total keep back everybody of that class and of those below", () => {
    expect(orderOf(
      { maxRunning: 9, maxPerProvider: 5, maxBypass: 0 },
      ask("b", { cost: 3 }),
      ask("c"),
      ask("a"),
      ask("c", { arrival: 3, cost: 5 }),
      ask("c", { arrival: 3 }),
      ask("a", { provider: "p", arrival: 3, cost: 3 }),
      ask("c", { provider: "p", cost: 3 }),
      ask("b"),
    )).toEqual([0, 1, 2, 6, 7, 3, 5, 4])
  })

  it("AD-14: are so for whoever was passed as often as may be, also on its way from one account to another", () => {
    expect(orderOf(
      { maxRunning: 6, maxPerProvider: 6, maxBypass: 1 },
      ask("b", { cost: 2 }),
      ask("b", { provider: "q" }),
      ask("a"),
      ask("b"),
      lower({ maxPerProvider: 4 }),
      ask("b"),
      ask("b", { provider: "q" }),
      ask("a", { cost: 2 }),
      ask("b", { provider: "q", cost: 3 }),
      ask("b"),
      ask("a", { provider: "q" }),
      giveBack(3),
      ask("a", { provider: "q", cost: 2 }),
    )).toEqual([0, 1, 2, 3, 4, 5, 8, 9, 6, 7, 10])
  })

  it("AD-14: stay so while one of a higher class than theirs parks on the same account", () => {
    expect(orderOf(
      { maxRunning: 3, maxPerTenant: 3, maxBypass: 1 },
      lower({ maxPerTenant: 2 }),
      ask("b", { cost: 2 }),
      ask("c"),
      ask("c", { arrival: 1, cost: 2 }),
      ask("a", { arrival: 1, cost: 2 }),
      ask("b"),
      ask("c"),
      giveBack(1),
      giveBack(5),
    )).toEqual([0, 1, 5, 2, 4, 3])
  })

  it("AD-14: of a provider for an ask that was raised are looked for among those of its class", () => {
    expect(orderOf(
      { maxRunning: 3, maxPerProvider: 3, maxBypass: 0 },
      ask("a"),
      ask("c"),
      ask("c", { provider: "p", cost: 2 }),
      ask("b", { provider: "p", arrival: 3, cost: 2, wait: 20 }),
      after(8),
      ask("c", { provider: "p" }),
      after(6),
    )).toEqual([0, 1, 2, 3, 4])
  })

  it("AD-14: are so for nobody where the head that they were for has gone", () => {
    expect(orderOf(
      { maxRunning: 3, maxBypass: 3 },
      ask("b"),
      ask("a", { provider: "p" }),
      ask("a", { provider: "p", cost: 2 }),
      ask("a", { provider: "p", cost: 2 }),
      ask("a"),
      ask("a"),
      leave(2),
      ask("b"),
      ask("b"),
    )).toEqual([0, 1, 4, 5, 6, 7, 3])
  })

  it("AD-14 AD-27: are let go where a lower limit has made their head short of a narrower account", () => {
    expect(orderOf(
      { maxRunning: 5, maxPerTenant: 5, maxPerProvider: 2, maxBypass: 1 },
      ask("a", { provider: "p" }),
      ask("a", { provider: "p", cost: 2 }),
      ask("b", { provider: "p", cost: 2 }),
      ask("b"),
      giveBack(0),
      ask("b", { cost: 2 }),
      ask("d"),
      ask("c"),
      giveBack(1),
      ask("b"),
      lower({ maxPerTenant: 4 }),
    )).toEqual([0, 3, 1, 4, 5, 6, 2, 7])
  })
})

describe("a head that was raised", () => {
  it("AD-16 AD-17: goes back where it is short of what its own class may use, and comes again half of its time later", () => {
    expect(orderOf(
      { maxRunning: 6, maxBypass: 0, reserves: [2, 1, 0, 0] },
      ask("a", { cost: 2 }),
      ask("b"),
      ask("b", { wait: 12 }),
      after(7),
      ask("a"),
      after(4),
    )).toEqual([0, 1, 3, 2])
  })

  it("AD-16: has raised nobody behind it in its group", () => {
    expect(orderOf(
      { maxRunning: 2, maxBypass: 0 },
      ask("b"),
      ask("b"),
      ask("b"),
      ask("a", { provider: "p", wait: 10 }),
      after(7),
      ask("a", { provider: "p", cost: 2 }),
      ask("b", { provider: "p", arrival: 3 }),
      ask("b", { provider: "p", arrival: 3 }),
      ask("a", { arrival: 3 }),
    )).toEqual([0, 1, 3, 2, 4, 5, 6, 7])
  })

  it("AD-16: and that leaves has raised nobody who comes after it", () => {
    expect(orderOf(
      { maxRunning: 2, maxBypass: 0 },
      ask("b"),
      ask("b"),
      ask("a", { provider: "p", arrival: 3, wait: 10 }),
      after(7),
      leave(2),
      ask("b", { arrival: 3 }),
      ask("a", { provider: "p", arrival: 3 }),
    )).toEqual([0, 1, 3, 4])
  })

  it("AD-16 AD-17: comes again after half of the time that it has left then", () => {
    expect(orderOf(
      { maxRunning: 8, maxBypass: 0, reserves: [0, 1, 0, 0] },
      ask("c"),
      ask("c"),
      ask("c"),
      ask("a"),
      ask("c"),
      ask("a", { cost: 3, wait: 20 }),
      ask("a", { provider: "q" }),
      ask("b"),
      after(3),
      after(3),
      after(5),
      after(2),
      after(1),
    )).toEqual([0, 1, 2, 3, 4, 6, 5, 7])
  })

  it("AD-16 AD-17: goes back also where what it is short of has become its own class's share since", () => {
    expect(orderOf(
      { maxRunning: 7, maxBypass: 3, reserves: [0, 1, 0, 0] },
      ask("b"),
      ask("b"),
      ask("b", { cost: 5, wait: 10 }),
      ask("b", { arrival: 1 }),
      after(6),
      ask("b", { provider: "p" }),
      ask("b", { provider: "q" }),
      ask("b", { provider: "p" }),
      ask("a"),
    )).toEqual([0, 1, 3, 4, 5, 6, 7, 2])
  })

  it("AD-13 AD-16: that goes back stands behind those who were short of its provider before", () => {
    expect(orderOf(
      { maxRunning: 5, maxPerProvider: 3, maxBypass: 0, reserves: [0, 1, 0, 0] },
      ask("b", { provider: "q" }),
      ask("b", { provider: "q", cost: 3, wait: 20 }),
      after(4),
      after(5),
      ask("c", { cost: 2 }),
      after(3),
      ask("c", { provider: "q", cost: 2 }),
      ask("a", { provider: "q", cost: 2 }),
    )).toEqual([0, 2, 3, 4, 1])
  })

  it("AD-16: keeps its place where one behind it leaves", () => {
    expect(orderOf(
      { maxRunning: 3, maxBypass: 0 },
      ask("a"),
      ask("b"),
      ask("a"),
      ask("c"),
      giveBack(0),
      ask("c", { provider: "p", wait: 20 }),
      ask("b"),
      after(8),
      ask("c", { provider: "p" }),
      after(1),
      ask("c"),
      ask("c"),
      ask("b"),
      after(6),
      ask("c", { arrival: 1 }),
      leave(6),
    )).toEqual([0, 1, 2, 3, 4, 10, 7, 5, 8, 9])
  })

  it("AD-28: waits for the end of a withholding where it did, and comes out in order of arrival", () => {
    expect(orderOf(
      { maxRunning: 2, maxBypass: 0 },
      ask("b"),
      ask("b"),
      ask("b"),
      ask("a", { arrival: 3, wait: 10 }),
      after(7, false),
      withhold(2),
    )).toEqual([0, 1, 2, 3])
  })
})

describe("those that units are kept for", () => {
  it("AD-14: park as their provider fills, also where one that needs more does so too", () => {
    expect(orderOf(
      { maxRunning: 2, maxPerProvider: 2, maxBypass: 2 },
      ask("b"),
      ask("b"),
      ask("b"),
      ask("b"),
      giveBack(0),
      ask("b", { provider: "p" }),
      giveBack(1),
      ask("a", { provider: "p", arrival: 3, wait: 10 }),
      after(7),
      withhold(2),
      ask("b", { cost: 2 }),
      giveBack(2),
      ask("b", { provider: "p" }),
      ask("b", { provider: "p" }),
      giveBack(3),
      restore(2),
      leave(4),
      ask("b", { provider: "p", arrival: 3 }),
      ask("a", { provider: "p", cost: 2 }),
      ask("b", { provider: "p", arrival: 3 }),
      ask("b", { provider: "p", arrival: 3 }),
      ask("a", { provider: "p", arrival: 3 }),
    )).toEqual([0, 1, 2, 3, 6, 5, 7, 8, 10, 9, 11, 12, 13])
  })

  it("AD-13: wake as they park whom what they were promised had kept parked, in the turn of their tenant", () => {
    expect(orderOf(
      { maxRunning: 3, maxPerTenant: 3, maxPerPair: 3, maxBypass: 1_000_000 },
      ask("b", { provider: "q", cost: 2 }),
      ask("b", { provider: "q", cost: 2, wait: 10 }),
      ask("b", { cost: 2, wait: 10 }),
      ask("b", { provider: "q", arrival: 1, cost: 2 }),
      after(4),
      after(4),
    )).toEqual([0, 2, 1, 3])
  })

  it("AD-14: are looked at while they are parked, for the accounts before that one alone", () => {
    expect(orderOf(
      { maxRunning: 3, maxPerTenant: 1, maxPerProvider: 2, maxBypass: 0 },
      ask("a", { provider: "p" }),
      ask("b", { provider: "p" }),
      ask("a", { provider: "p" }),
      giveBack(1),
      ask("b", { provider: "p" }),
      ask("a", { provider: "p", arrival: 1 }),
    )).toEqual([0, 1, 4, 2, 3])
  })

  it("AD-14: are looked at all of them where several need one account", () => {
    expect(orderOf(
      { maxRunning: 7, maxPerProvider: 3, maxPerPair: 3, maxBypass: 0 },
      ask("a", { provider: "p", cost: 3 }),
      ask("a", { provider: "p", arrival: 3 }),
      ask("a", { provider: "p", arrival: 0, cost: 2 }),
      ask("a", { provider: "p", cost: 2 }),
      ask("b", { provider: "p" }),
      ask("a", { provider: "p" }),
      ask("a", { provider: "p", arrival: 0, cost: 3 }),
    )).toEqual([0, 2, 4, 3, 5, 6, 1])
  })

  it("AD-14 AD-16: stay where they are parked when an emergency before them needs their provider", () => {
    expect(orderOf(
      { maxRunning: 6, maxPerTenant: 1, maxPerProvider: 3, maxPerPair: 5, maxBypass: 0 },
      ask("b"),
      ask("b"),
      giveBack(0),
      ask("b", { provider: "p" }),
      ask("a", { provider: "p" }),
      ask("c", { provider: "p" }),
      ask("a", { provider: "p", arrival: 0, cost: 2 }),
      giveBack(1),
      lower({ maxPerPair: 3 }),
    )).toEqual([0, 1, 3, 4, 5, 2])
  })
})

describe("an ask", () => {
  it("AD-19: that finds its tenant's part of the queue full takes no place there, and keeps no other from it", () => {
    expect(orderOf(
      { maxRunning: 4, maxPerProvider: 2, maxQueuedPerTenant: 1, maxBypass: 0 },
      lower({ maxRunning: 2 }),
      ask("a", { provider: "p" }),
      ask("b", { provider: "p", cost: 2 }),
      refused("b", { cost: 2 }),
      ask("a", { cost: 2 }),
    )).toEqual([0, 1, 3])
  })

  it("AD-5: that leaves from behind a head has nobody looked at", () => {
    expect(orderOf(
      { maxRunning: 5, maxPerProvider: 2, maxBypass: 1_000_000 },
      ask("c", { provider: "p" }),
      ask("b", { provider: "p" }),
      ask("b", { provider: "p" }),
      ask("a", { provider: "p" }),
      ask("b", { provider: "p", arrival: 3, wait: 12 }),
      after(5),
      ask("b", { provider: "p" }),
      after(1, false),
      leave(5),
    )).toEqual([0, 1, 4, 2, 3])
  })

  it("AD-14: of a lower class passes a head that came to the account before it", () => {
    expect(orderOf(
      { maxRunning: 6, maxPerProvider: 6, maxBypass: 1 },
      ask("b"),
      ask("b"),
      lower({ maxPerProvider: 4 }),
      ask("b", { provider: "q" }),
      ask("a"),
      ask("b", { provider: "q", cost: 3 }),
      ask("a", { provider: "q" }),
      ask("a", { provider: "q", cost: 3 }),
    )).toEqual([0, 1, 2, 3, 5, 4, 6])
  })

  it("AD-19 AD-8: that was turned away makes no turn longer", () => {
    expect(orderOf(
      { maxRunning: 7, maxPerTenant: 4, maxBypass: 6 },
      ask("a", { cost: 2 }),
      ask("a", { cost: 2 }),
      ask("a"),
      refused("a", { cost: 2, mayWait: false }),
      ask("a"),
      ask("a", { provider: "q" }),
    )).toEqual([0, 1, 2, 5, 4])
  })

  it("AD-14: of a higher class keeps nothing of an account that nobody is short of", () => {
    expect(orderOf(
      { maxRunning: 5, maxPerTenant: 3, maxPerProvider: 5, maxBypass: 0 },
      ask("b", { provider: "p", cost: 2 }),
      ask("a", { cost: 2 }),
      ask("b", { provider: "p", arrival: 0 }),
      ask("b", { provider: "p", arrival: 1, cost: 2 }),
      ask("d", { provider: "p" }),
      giveBack(1),
      ask("b", { provider: "p" }),
    )).toEqual([0, 1, 2, 4, 5, 3])
  })
})

describe("a line with several classes", () => {
  it("AD-14 AD-16: sets units of a provider aside for an emergency as for any other", () => {
    expect(orderOf(
      { maxRunning: 9, maxPerProvider: 4, maxBypass: 3 },
      ask("b", { provider: "q", cost: 3 }),
      ask("c", { provider: "q", cost: 2 }),
      ask("c", { provider: "q", arrival: 0, cost: 2 }),
      ask("c", { provider: "q", arrival: 0, cost: 3 }),
      ask("b", { provider: "q", cost: 2 }),
      ask("c", { provider: "q" }),
    )).toEqual([0, 2, 1, 3, 5, 4])
  })

  it("AD-14 AD-16: serves whom a head of a higher class lets in as it parks, in the same step", () => {
    expect(orderOf(
      { maxRunning: 9, maxPerProvider: 4, maxBypass: 1 },
      ask("b"),
      ask("b", { cost: 3 }),
      ask("b", { provider: "p" }),
      ask("b", { cost: 2 }),
      ask("a", { cost: 2 }),
      ask("b"),
      ask("a", { provider: "p", arrival: 0, cost: 3 }),
      ask("c", { arrival: 0, cost: 3 }),
      ask("b", { provider: "p", arrival: 1 }),
      giveBack(3),
      ask("b"),
    )).toEqual([0, 1, 2, 3, 4, 8, 5, 7, 9, 6])
  })

  it("AD-14 AD-16: serves, before anybody of a lower class, the next of the class whose head has parked", () => {
    expect(orderOf(
      { maxRunning: 4, maxPerProvider: 4, maxBypass: 1 },
      ask("a", { provider: "q" }),
      ask("b", { cost: 3 }),
      ask("b"),
      ask("a"),
      ask("b", { provider: "p" }),
      giveBack(1),
      ask("b", { provider: "q", arrival: 0 }),
      ask("a", { provider: "p", arrival: 1 }),
      ask("b", { provider: "q", arrival: 0, cost: 3 }),
      ask("a", { provider: "p", arrival: 0, cost: 3 }),
      ask("a", { arrival: 1 }),
      giveBack(3),
      ask("b", { provider: "q", arrival: 1 }),
      giveBack(2),
      ask("b", { provider: "q", arrival: 0 }),
      giveBack(0),
      ask("b"),
      giveBack(4),
      giveBack(5),
      ask("b", { provider: "q", arrival: 0, cost: 3 }),
      giveBack(6),
      giveBack(7),
      ask("b", { arrival: 1 }),
      giveBack(8),
    )).toEqual([0, 1, 2, 3, 4, 5, 6, 9, 7, 8, 11, 10, 12, 14, 13])
  })

  it("AD-14: has a head that comes after one that left park behind those that have waited", () => {
    expect(orderOf(
      { maxRunning: 8, maxPerProvider: 5, maxBypass: 1 },
      ask("b"),
      ask("c"),
      ask("a", { provider: "p" }),
      ask("a"),
      ask("a", { provider: "p", arrival: 0, cost: 5 }),
      ask("c"),
      ask("c", { provider: "q" }),
      ask("c", { provider: "q", arrival: 0, cost: 5 }),
      ask("b", { provider: "p", arrival: 1, cost: 2 }),
      giveBack(0),
      giveBack(1),
      ask("a", { provider: "p", arrival: 0 }),
      giveBack(2),
      giveBack(3),
      ask("b", { provider: "p", arrival: 1, cost: 2 }),
      giveBack(5),
      ask("c", { provider: "p", arrival: 1 }),
      giveBack(6),
      ask("b", { arrival: 0, cost: 2 }),
      after(9),
      giveBack(4),
      ask("b", { provider: "p", arrival: 0, cost: 5 }),
      leave(8),
    )).toEqual([0, 1, 2, 3, 5, 6, 4, 7, 12, 9, 13, 11, 10])
  })
})

describe("those that are parked on an account", () => {
  it("AD-14: are served while a head that others keep from its turn waits for its provider", () => {
    expect(orderOf(
      { maxRunning: 10, maxPerTenant: 4, maxPerProvider: 4, maxBypass: 2 },
      lower({ maxPerProvider: 3 }),
      ask("a"),
      ask("a", { cost: 2 }),
      ask("a", { provider: "q", arrival: 1, cost: 3 }),
      giveBack(0),
      ask("b", { provider: "q", cost: 2 }),
      ask("b", { provider: "q", cost: 2 }),
      giveBack(1),
      lower({ maxPerTenant: 3 }),
      ask("b", { provider: "q", cost: 2 }),
      ask("a", { provider: "q", arrival: 1, cost: 2 }),
      ask("b", { provider: "p" }),
      ask("a", { provider: "p", cost: 3 }),
      ask("c", { provider: "p", cost: 2 }),
      ask("a", { provider: "q" }),
      ask("a", { provider: "p", arrival: 1, cost: 2 }),
    )).toEqual([0, 1, 3, 7, 9, 2, 11, 4, 10, 6, 8, 5])
  })

  it("AD-13: are looked at again where what a head was promised there is for another account now", () => {
    expect(orderOf(
      { maxRunning: 3, maxPerTenant: 2, maxPerProvider: 2, maxPerPair: 2, maxBypass: 0 },
      ask("b"),
      ask("a", { provider: "q" }),
      ask("b", { provider: "q", cost: 2 }),
      ask("b", { provider: "p" }),
      ask("c", { provider: "p", arrival: 3, cost: 2 }),
      ask("b", { provider: "q" }),
      ask("b", { provider: "q" }),
      ask("a", { provider: "q" }),
      leave(5),
      ask("a", { provider: "p", cost: 2 }),
      ask("c", { provider: "q", arrival: 3 }),
      ask("a", { provider: "q", cost: 2 }),
      ask("c", { provider: "p", cost: 2 }),
      ask("c", { provider: "p" }),
      ask("b", { provider: "p", arrival: 3 }),
    )).toEqual([0, 1, 3, 2, 8, 6, 7, 11, 10, 12, 13, 9, 4])
  })
})

describe("the order of a line", () => {
  it("AD-27: does not change for those who wait where a limit that nobody comes near is lowered", () => {
    expect(orderOf(
      { maxRunning: 4, maxPerProvider: 4, maxBypass: 0 },
      ask("c", { provider: "p", cost: 3 }),
      ask("a", { provider: "p", cost: 2 }),
      ask("c", { arrival: 0 }),
      lower({ maxPerProvider: 3 }),
      ask("c"),
    )).toEqual([0, 2, 1, 3])
  })

  it("AD-8 AD-14: is that of the turns among those who may pass, also after one of them has left its turn", () => {
    expect(orderOf(
      { maxRunning: 6, maxBypass: 1 },
      ask("b"),
      ask("c"),
      ask("c"),
      ask("c"),
      giveBack(0),
      ask("a", { cost: 5 }),
      ask("c", { cost: 2 }),
      giveBack(1),
      giveBack(2),
      ask("a"),
      ask("c", { provider: "q" }),
    )).toEqual([0, 1, 2, 3, 4, 6, 5, 7])
  })

  it("AD-8 AD-14: is that of the turns among those who may pass, also after all had left theirs", () => {
    expect(orderOf(
      { maxRunning: 3, maxBypass: 1000000 },
      ask("b"),
      ask("b"),
      ask("b"),
      ask("a", { cost: 2 }),
      giveBack(0),
      leave(3),
      ask("a"),
      ask("a"),
      ask("b"),
      ask("a", { cost: 2 }),
      ask("a", { provider: "p" }),
    )).toEqual([0, 1, 2, 4, 5, 8, 6, 7])
  })

  it("AD-13: is that of parking where an account is looked at once for all that came back to it", () => {
    expect(orderOf(
      { maxRunning: 3, maxPerTenant: 3, maxBypass: 1 },
      ask("a", { cost: 2 }),
      ask("a"),
      ask("b", { cost: 2 }),
      ask("b"),
      ask("b", { arrival: 3, cost: 2 }),
      giveBack(1),
      ask("b", { arrival: 1 }),
      ask("a"),
      ask("b"),
      ask("b"),
      ask("b"),
      giveBack(0),
      giveBack(5),
      ask("a"),
      ask("a"),
      giveBack(2),
      giveBack(6),
      giveBack(3),
      ask("b", { arrival: 1, cost: 2 }),
      giveBack(11),
    )).toEqual([0, 1, 5, 2, 6, 3, 7, 10, 11, 8, 12, 9, 4])
  })
})
