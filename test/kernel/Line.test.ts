/** What each step of the line answers and leaves on the asks; who is granted is in `test/model/line.test.ts`. */
import { describe, expect, it } from "vitest"
import { type Ask, unstamped, WaitingAsk } from "../../core/kernel/Ask.ts"
import * as LeaseState from "../../core/kernel/LeaseState.ts"
import type { Class } from "../../core/kernel/Ledger.ts"
import type { Line } from "../../core/kernel/Line.ts"
import { lineOf } from "../model/Simulation.ts"

const pairOf = (line: Line, tenant: string) => line.keys.find(tenant, undefined) ?? line.keys.make(tenant, undefined, 1)
const asked = (line: Line, tenant: string, now: number, arrival: Class = 2): WaitingAsk => {
  const ask = new WaitingAsk(pairOf(line, tenant), arrival, 1)
  line.ask(ask, now, true)
  return ask
}
const passed = (line: Line, tenant: string): Ask => line.pass(pairOf(line, tenant), 2, 1)!

interface Wish {
  readonly provider?: string
  readonly arrival?: Class
  readonly cost?: number
  readonly now?: number
  readonly due?: number
}

const waitingFor = (line: Line, tenant: string, wish: Wish): WaitingAsk => {
  const { arrival = 2, cost = 1, due = Infinity, now = 0, provider } = wish
  const pair = line.keys.find(tenant, provider) ?? line.keys.make(tenant, provider, 1)
  const ask = new WaitingAsk(pair, arrival, cost)
  ask.dueNanos = due
  line.ask(ask, now, true)
  return ask
}

describe("a step of the line", () => {
  it("AD-4 K-3: says whether it gave units back, and gives them back once", () => {
    const line = lineOf({ maxRunning: 2 })
    const ask = passed(line, "a")
    expect([line.giveBack(ask, 1), line.giveBack(ask, 1), line.total.used]).toEqual([true, false, 0])
  })

  it("AD-5 K-4: says whether there was one to leave", () => {
    const line = lineOf({ maxRunning: 1 })
    const [held, waits] = [passed(line, "a"), asked(line, "b", 0)]
    expect([line.leave(waits, 1), line.leave(waits, 1), line.waiting]).toEqual([true, false, 0])
    expect([line.giveBack(held, 1), line.keys.tenantsInUse]).toEqual([true, 0])
  })

  it("AD-28: says whether so many were left to withhold, and else withholds none", () => {
    const line = lineOf({ maxRunning: 2 })
    expect([line.withhold(1, 0), line.withhold(2, 0), line.total.withheld]).toEqual([true, false, 1])
  })

  it("PG-46: lets an ask out of its hands with its units, which are somebody else's to give back", () => {
    const line = lineOf({ maxRunning: 2 })
    const ask = passed(line, "a")
    line.handOver(ask)
    expect([line.held.size, line.total.used, line.giveBack(ask, 1), line.total.used]).toEqual([0, 1, false, 1])
    expect(ask.state).toBe(LeaseState.Released)
  })

  it("leaves something to do only where somebody waits or has an answer to hear", () => {
    const line = lineOf({ maxRunning: 1 })
    const held = passed(line, "a")
    expect(line.isBusy).toBe(false)
    const waits = asked(line, "b", 0)
    expect(line.isBusy).toBe(true)
    line.giveBack(held, 1)
    expect([line.waiting, line.answers.size, line.isBusy]).toEqual([0, 1, true])
    line.answers.take()
    expect([line.deliver(waits), line.deliver(waits), line.isBusy]).toEqual([true, false, false])
  })

  it("AD-25: takes back what it let wait as if it had never come: no turn is longer for it", () => {
    const line = lineOf({ maxRunning: 3 })
    const held = waitingFor(line, "b", { cost: 3 })
    const asks = ["b", "a"].map((tenant) => waitingFor(line, tenant, {}))
    line.withdraw(waitingFor(line, "a", { cost: 2 }))
    asks.push(waitingFor(line, "b", {}))
    const granted: Ask[] = []
    line.withhold(2, 0)
    for (let next: Ask | undefined = held; next !== undefined; next = line.held.head) {
      line.giveBack(next, 0)
      if (line.held.head !== undefined) granted.push(line.held.head)
    }
    expect(granted.map((ask) => asks.indexOf(ask as WaitingAsk))).toEqual([0, 1, 2])
  })

  it("AD-25 AD-16: takes back what it let wait, and raises whose time has come meanwhile", () => {
    const line = lineOf({ maxRunning: 1, maxBypass: 0 })
    const held = passed(line, "a")
    const raised = waitingFor(line, "c", { arrival: 3, due: 5 })
    line.withdraw(waitingFor(line, "a", { arrival: 3, now: 3 }))
    const later = waitingFor(line, "c", { now: 3 })
    line.giveBack(held, 3)
    expect([raised.state, later.state]).toEqual([LeaseState.Granted, LeaseState.Waiting])
  })

  it("AD-25: takes back what it let wait, without an answer to anybody", () => {
    const line = lineOf({ maxRunning: 1 })
    passed(line, "a")
    line.withdraw(asked(line, "b", 0))
    expect([line.waiting, line.answers.size, line.keys.tenantsInUse]).toEqual([0, 0, 1])
  })
})

describe("an ask", () => {
  it("has the instant at which it came, and then that of its grant", () => {
    const line = lineOf({ maxRunning: 1 })
    const held = passed(line, "a")
    const waits = asked(line, "b", 3)
    expect([held.sinceNanos, waits.sinceNanos]).toEqual([3, 3])
    line.giveBack(held, 8)
    expect(waits.sinceNanos).toBe(8)
  })

  it("that was let by without a look at the clock has the next instant that is read", () => {
    const line = lineOf({ maxRunning: 2 })
    const held = passed(line, "a")
    // No clock says what stands for none.
    expect([held.sinceNanos, unstamped < 0]).toEqual([unstamped, true])
    line.expire(7)
    passed(line, "a")
    line.expire(9)
    expect(line.held.toArray().map((ask) => ask.sinceNanos)).toEqual([7, 9])
  })

  it("AD-19: of an emergency takes no place of its tenant's, and one of any other class does", () => {
    const line = lineOf({ maxRunning: 1, maxQueuedPerTenant: 1 })
    passed(line, "x")
    asked(line, "a", 0)
    expect(asked(line, "a", 0, 0).state).toBe(LeaseState.Waiting)
    expect(asked(line, "a", 0, 1).state).toBe(LeaseState.Refused)
  })

  it("is short of the account that its units are kept on, while the total has as many as it needs", () => {
    const line = lineOf({ maxRunning: 4, maxPerProvider: 2, maxBypass: 0 })
    waitingFor(line, "a", { provider: "p" })
    waitingFor(line, "b", { provider: "p", cost: 2 })
    const kept = waitingFor(line, "c", { provider: "p" })
    const accounts = ["d", "d", "d"].map((tenant) => {
      waitingFor(line, tenant, {})
      return [line.total.room(2), line.shortOf(kept)]
    })
    expect(accounts).toEqual([[2, "provider"], [1, "provider"], [0, "total"]])
  })

  it("AD-22: whose time was over before units came back is told of what was short for it then", () => {
    const line = lineOf({ maxRunning: 2, maxPerTenant: 2 })
    const held = passed(line, "b")
    const late = waitingFor(line, "b", { cost: 2, due: 3 })
    line.giveBack(held, 8)
    expect([late.state, late.short]).toEqual([LeaseState.Expired, "tenant"])
  })

  it("is listed by when it came, whichever group it is of", () => {
    const line = lineOf({ maxRunning: 1 })
    passed(line, "x")
    const asks = [["a", 1], ["b", 2], ["a", 3], ["b", 4]].map(([tenant, now]) => asked(line, `${tenant}`, Number(now)))
    expect(line.waitingAsks().map((ask) => asks.indexOf(ask))).toEqual([0, 1, 2, 3])
  })

  it("AD-25: waits behind those of its own class and of all higher ones", () => {
    const line = lineOf({ maxRunning: 1 })
    passed(line, "x")
    const normal = asked(line, "a", 0)
    expect(line.turnsTo(normal)).toBe(1)
    asked(line, "b", 0, 0)
    expect(line.turnsTo(normal)).toBe(2)
    asked(line, "b", 0, 1)
    expect(line.turnsTo(normal)).toBe(3)
    asked(line, "b", 0, 3)
    expect(line.turnsTo(normal)).toBe(3)
  })
})

describe("the pace of a line", () => {
  /** So many grants ten nanoseconds apart, with so many that wait on after each. */
  const after = (grants: number, behind: number): number | undefined => {
    const line = lineOf({ maxRunning: 1 })
    const held = [passed(line, "a")]
    for (let n = 0; n < behind; n++) held.push(asked(line, "a", 0))
    for (let n = 1; n <= grants; n++) {
      held.push(asked(line, "a", 10 * n))
      line.giveBack(held.shift()!, 10 * n)
      line.deliver(line.answers.take()!)
    }
    return line.pace.intervalNanos(1)
  }

  it("AD-25: counts the gap to a grant behind which one still waits, and none over an empty line", () => {
    expect([after(32, 1), after(33, 1), after(99, 0)]).toEqual([undefined, 10, undefined])
  })
})
