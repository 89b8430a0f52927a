/** Random lives of the line, judged after every step by plain arithmetic over the asks themselves. */
import { describe, expect, it } from "vitest"
import { inTurn, WaitingAsk } from "../../core/kernel/Ask.ts"
import { idleKept } from "../../core/kernel/Keys.ts"
import { runLives } from "../support/kernel/LineCommands.ts"
import { type Entry, Witness } from "../support/kernel/Witness.ts"

describe("the line over random lives", () => {
  it(
    "AD-1 AD-2 AD-3 AD-4 AD-5 AD-6 AD-7 AD-11 AD-14 AD-15 AD-16 AD-17 AD-18 AD-19 AD-20 AD-21 AD-22 AD-27 AD-28 AD-29 AD-36 K-1 K-2 K-3 K-4 K-5 K-6 K-7: does what plain arithmetic over its asks allows and demands",
    () => runLives({ runs: 4_000, length: 60, seed: 20_250_101 }),
  )
})

describe("the line", () => {
  const waiting = (witness: Witness): readonly number[] => witness.waiting.map((entry) => entry.id)

  it("AD-14 AD-15: ends its step though nothing may be passed and two groups are parked on one account", () => {
    const witness = new Witness({ maxRunning: 3, maxPerTenant: 1, maxBypass: 0 })
    const first = witness.ask({ tenant: "a", provider: "p" }).entry!
    witness.ask({ tenant: "a", provider: "p" })
    witness.ask({ tenant: "a", provider: "q" })
    witness.giveBack(first)
    expect(waiting(witness)).toEqual([2])
    witness.finish()
  })

  it("AD-14 AD-15: keeps nothing for a head that became short of its tenant's cap", () => {
    const witness = new Witness({ maxRunning: 2, maxPerTenant: 2, maxBypass: 1 })
    witness.withhold(2)
    witness.ask({ tenant: "c", provider: "p", cost: 2 })
    witness.ask({ tenant: "c", provider: "q" })
    const control = witness.ask({ tenant: "a", provider: "p", arrival: 1 }).entry!
    witness.ask({ tenant: "a", provider: "p" })
    witness.restore(2)
    expect(waiting(witness)).toEqual([0, 3])
    witness.giveBack(control)
    expect(waiting(witness)).toEqual([0])
    witness.finish()
  })

  it("AD-14: an ask that comes after the head of its group has left does not take that one's place", () => {
    const witness = new Witness({ maxRunning: 3, maxBypass: 0 })
    const running = witness.ask({ tenant: "a", provider: "p", cost: 2 }).entry!
    const leaves = witness.ask({ tenant: "a", provider: "p", cost: 2 }).entry!
    witness.leave(leaves)
    witness.ask({ tenant: "a", provider: "q", cost: 3 })
    witness.ask({ tenant: "a", provider: "p" })
    expect(waiting(witness)).toEqual([2, 3])
    witness.giveBack(running)
    expect(waiting(witness)).toEqual([3])
    witness.finish()
  })

  it("AD-7 AD-22: a newcomer goes behind the one whom the expiry of the head before it lets through", () => {
    const witness = new Witness({ maxRunning: 6, maxBypass: 0 })
    witness.withhold(4)
    witness.ask({ tenant: "b", cost: 3, wait: 1 })
    witness.ask({ tenant: "b" })
    witness.advance(1, false)
    witness.ask({ tenant: "a", provider: "p", cost: 2 })
    expect(witness.entries.map((entry) => entry.status)).toEqual(["expired", "granted", "waiting"])
    witness.finish()
  })

  it("AD-19 AD-22: an ask whose time is up takes nobody's place in the line", () => {
    const witness = new Witness({ maxRunning: 1, maxQueued: 1 })
    witness.ask({ tenant: "a" })
    witness.ask({ tenant: "a", wait: 5 })
    expect(witness.ask({ tenant: "b" }).verdict).toEqual({ kind: "full", scope: "all", limit: 1 })
    witness.advance(5, false)
    expect(witness.ask({ tenant: "b" }).entry?.status).toBe("waiting")
    witness.finish()
  })

  it("AD-16: what a woken ask is promised does not keep an emergency parked", () => {
    const witness = new Witness({ maxRunning: 20, maxPerProvider: 5, maxBypass: 20 })
    const first = witness.ask({ tenant: "b", provider: "p", cost: 5 }).entry!
    const normal = witness.ask({ tenant: "a", provider: "p", cost: 3 }).entry!
    const other = witness.ask({ tenant: "c", cost: 2 }).entry!
    witness.ask({ tenant: "c", cost: 8 })
    witness.withhold(8)
    // It is woken at p, and one unit short of the total; then p and the total fill up.
    witness.giveBack(first)
    const control = witness.ask({ tenant: "b", provider: "p", arrival: 1, cost: 2 }).entry!
    expect(control.status).toBe("held")
    const emergency = witness.ask({ tenant: "b", provider: "p", arrival: 0, cost: 4 }).entry!
    witness.giveBack(other)
    witness.giveBack(control)
    expect([emergency.status, normal.status]).toEqual(["granted", "waiting"])
    witness.finish()
  })

  it("AD-14 AD-15: keeps nothing on a provider's account for a head that became short of its pair's", () => {
    const witness = new Witness({ maxRunning: 9, maxPerProvider: 3, maxPerPair: 2, maxBypass: 0 })
    const running = witness.ask({ tenant: "c", provider: "p" }).entry!
    witness.ask({ tenant: "d", provider: "p" })
    witness.ask({ tenant: "a", provider: "p", cost: 2 })
    const small = witness.ask({ tenant: "b", provider: "p" }).entry!
    expect(small.status).toBe("waiting")
    witness.ask({ tenant: "a", provider: "p", arrival: 1 })
    witness.giveBack(running)
    expect(small.status).toBe("granted")
    witness.finish()
  })

  it("AD-5 AD-14: the departure of a head lets in those from whom units of its provider's account were kept", () => {
    const witness = new Witness({ maxRunning: 9, maxPerProvider: 2, maxBypass: 0 })
    witness.ask({ tenant: "c", provider: "p" })
    const large = witness.ask({ tenant: "a", provider: "p", cost: 2 }).entry!
    const small = witness.ask({ tenant: "b", provider: "p" }).entry!
    expect(small.status).toBe("waiting")
    witness.leave(large)
    expect(small.status).toBe("granted")
    witness.finish()
  })

  it("AD-13: an ask that comes after the head of its group has left parks behind those that have waited", () => {
    const witness = new Witness({ maxRunning: 9, maxPerProvider: 2 })
    const running = witness.ask({ tenant: "a", provider: "p", cost: 2 }).entry!
    const gone = witness.ask({ tenant: "b", provider: "p", cost: 2 }).entry!
    const next = witness.ask({ tenant: "c", provider: "p", cost: 2 }).entry!
    witness.leave(gone)
    witness.ask({ tenant: "b", provider: "p", cost: 2 })
    witness.giveBack(running)
    expect(next.status).toBe("granted")
    witness.finish()
  })

  it("AD-14: past an emergency that is short of its provider go maxBypass units, as past any other", () => {
    const witness = new Witness({ maxRunning: 20, maxPerProvider: 5, maxBypass: 1 })
    const running = witness.ask({ tenant: "x", provider: "p", cost: 3 }).entry!
    const emergency = witness.ask({ tenant: "e", provider: "p", arrival: 0, cost: 4 }).entry!
    const first = witness.ask({ tenant: "a", provider: "p" }).entry!
    const second = witness.ask({ tenant: "b", provider: "p" }).entry!
    expect([emergency, first, second].map(({ status }) => status)).toEqual(["waiting", "held", "waiting"])
    witness.giveBack(first)
    expect(second.status).toBe("waiting")
    witness.giveBack(running)
    expect([emergency.status, second.status]).toEqual(["granted", "granted"])
    witness.finish()
  })

  it("AD-14: past a head that is short of its pair go maxBypass units of that pair", () => {
    const witness = new Witness({ maxRunning: 20, maxPerPair: 2, maxBypass: 1 })
    const ask = (cost: number, arrival: 2 | 3) => witness.ask({ tenant: "a", provider: "p", cost, arrival }).entry!
    const running = ask(1, 2)
    const [head, passes] = [ask(2, 2), ask(1, 3)]
    expect([head.status, passes.status]).toEqual(["waiting", "held"])
    witness.giveBack(passes)
    const late = ask(1, 3)
    expect([head.status, late.status]).toEqual(["waiting", "waiting"])
    witness.giveBack(running)
    expect([head.status, late.status]).toEqual(["granted", "waiting"])
    witness.finish()
  })

  it("AD-8: a large ask of before the line was empty makes no turn of those after it longer", () => {
    const witness = new Witness({ maxRunning: 4 })
    const first = witness.ask({ tenant: "x", cost: 4 }).entry!
    const large = witness.ask({ tenant: "x", cost: 4 }).entry!
    witness.giveBack(first)
    const small = ["a", "a", "b", "b"].map((tenant) => witness.ask({ tenant }).entry!)
    const last = witness.ask({ tenant: "c", cost: 1 }).entry!
    witness.giveBack(large)
    expect([...small, last].map(({ status }) => status)).toEqual([
      "granted",
      "granted",
      "granted",
      "waiting",
      "granted",
    ])
    witness.finish()
  })

  it("AD-5 AD-13: whoever leaves from behind a head takes nothing of its place", () => {
    const witness = new Witness({ maxRunning: 9, maxPerProvider: 1 })
    const [running, first, behind, other] = ["x", "a", "a", "b"].map((tenant) =>
      witness.ask({ tenant, provider: "p" }).entry!
    ) as [Entry, Entry, Entry, Entry]
    witness.leave(behind)
    witness.giveBack(running)
    expect([first.status, other.status]).toEqual(["granted", "waiting"])
    witness.finish()
  })

  it("AD-14: past each head of a group go as many units as past the one before it", () => {
    const witness = new Witness({ maxRunning: 20, maxPerProvider: 2, maxBypass: 1 })
    const ask = (tenant: string, cost: number, arrival?: 0) =>
      witness.ask({ tenant, provider: "p", cost, ...arrival === undefined ? {} : { arrival } }).entry!
    const running = ask("x", 1)
    const [first, second] = [ask("a", 2), ask("a", 2)]
    const passes = ask("b", 1)
    expect([first.status, passes.status]).toEqual(["waiting", "held"])
    for (const entry of [running, passes]) witness.giveBack(entry)
    const emergency = ask("e", 1, 0)
    witness.giveBack(first)
    expect([emergency.status, second.status, ask("c", 1).status]).toEqual(["granted", "waiting", "held"])
    expect(second.status).toBe("waiting")
    witness.finish()
  })

  it("AD-13 AD-16: one that counts a class higher is woken among those of that class, by when it parked there", () => {
    for (const comesFirst of [false, true]) {
      const witness = new Witness({ maxRunning: 9, maxPerProvider: 1 })
      const running = witness.ask({ tenant: "x", provider: "p" }).entry!
      const normal = witness.ask({ tenant: "a", provider: "p", wait: 10 }).entry!
      const control = () => witness.ask({ tenant: "b", provider: "p", arrival: 1 }).entry!
      const before = comesFirst ? control() : undefined
      witness.advance(5, true)
      const other = before ?? control()
      witness.giveBack(running)
      expect([normal.status, other.status]).toEqual(comesFirst ? ["waiting", "granted"] : ["granted", "waiting"])
      witness.finish()
    }
  })

  it("AD-27: a waiting ask that lower limits made impossible is refused in that step, and no other", () => {
    const witness = new Witness({ maxRunning: 4 })
    witness.ask({ tenant: "c", cost: 4 })
    witness.ask({ tenant: "a", provider: "p", cost: 2 })
    witness.ask({ tenant: "a", provider: "q" })
    witness.ask({ tenant: "b", cost: 4 })
    expect(witness.lower({ maxPerProvider: 1 })).toBe(true)
    expect(waiting(witness)).toEqual([2, 3])
    witness.finish()
  })

  it("AD-28: lowering under a withholding leaves nothing set aside for what only its end can let in", () => {
    const witness = new Witness({ maxRunning: 7, maxBypass: 0 })
    witness.withhold(2)
    witness.ask({ tenant: "a", provider: "p" })
    witness.ask({ tenant: "a", cost: 5 })
    witness.ask({ tenant: "b", provider: "p" })
    expect(waiting(witness)).toEqual([1, 2])
    witness.lower({ maxRunning: 5 })
    expect(waiting(witness)).toEqual([1])
    witness.finish()
  })

  it("AD-2 AD-32: keeps the record of a newcomer whose coming lets another expire, however many are in use", () => {
    const { line } = new Witness({ maxRunning: 1, maxQueued: 2_000 })
    const ask = (tenant: string, now: number, due: number): WaitingAsk => {
      const wish = new WaitingAsk(line.keys.find(tenant, undefined) ?? line.keys.make(tenant, undefined, 1), 2, 1)
      wish.dueNanos = due
      line.ask(wish, now, true)
      return wish
    }
    for (let n = 0; n < idleKept; n++) ask(`t${n}`, 1, n === 1 ? 2 : Infinity)
    const newcomer = ask("newcomer", 2, Infinity)
    expect(line.keys.find("newcomer", undefined)).toBe(newcomer.pair)
    expect(line.keys.tenants.size).toBe(idleKept)
  })

  it("AD-25: takes as turns ahead the asks of its class or the rounds of its tenant, and all of higher classes", () => {
    const witness = new Witness({ maxRunning: 1 })
    const ask = (tenant: string, arrival: 0 | 1 | 2 | 3) => witness.ask({ tenant, arrival }).entry!
    ask("a", 2)
    expect(witness.line.turnsTo(ask("a", 2).ask)).toBe(1)
    expect(witness.line.turnsTo(ask("a", 2).ask)).toBe(2)
    // The second tenant's first comes after one of the first tenant's at most.
    expect(witness.line.turnsTo(ask("b", 2).ask)).toBe(2)
    expect(witness.line.turnsTo(ask("b", 2).ask)).toBe(4)
    expect(witness.line.turnsTo(ask("c", 1).ask)).toBe(1)
    expect(witness.line.turnsTo(ask("c", 2).ask)).toBe(4)
    expect(witness.line.turnsTo(ask("c", 3).ask)).toBe(7)
    witness.finish()
  })

  it("AD-13: those parked on an account are woken in the order in which they parked", () => {
    const witness = new Witness({ maxRunning: 9, maxPerProvider: 1 })
    let running = witness.ask({ tenant: "a", provider: "p" }).entry!
    const tenants = ["d", "b", "e", "c"]
    const parked = tenants.map((tenant) => witness.ask({ tenant, provider: "p" }).entry!)
    for (const next of parked) {
      witness.giveBack(running)
      expect(next.status).toBe("granted")
      running = next
    }
    witness.finish()
  })

  it("AD-13: a parked group delays nobody who needs other accounts", () => {
    const witness = new Witness({ maxRunning: 9, maxPerProvider: 1 })
    witness.ask({ tenant: "a", provider: "p" })
    witness.ask({ tenant: "b", provider: "p" })
    expect(witness.ask({ tenant: "b", provider: "q" }).entry?.status).toBe("held")
    expect(witness.ask({ tenant: "b" }).entry?.status).toBe("held")
    witness.finish()
  })

  it("AD-14: lets pass a large head as many units as may, and then keeps what gets free for it", () => {
    for (const maxBypass of [0, 1, 2, 3]) {
      // Emergencies and control do not age, and a tenant of its own for each ask gives each a turn.
      const witness = new Witness({ maxRunning: 4, maxBypass, weights: { big: 1 } })
      const running = Array.from({ length: 4 }, (_, n) => witness.ask({ tenant: `r${n}`, arrival: 1 }).entry!)
      const big = witness.ask({ tenant: "big", arrival: 1, cost: 4 }).entry!
      for (let n = 0; n < 12; n++) witness.ask({ tenant: `s${n}`, arrival: 1 })
      let passed = 0
      for (let n = 0; big.status === "waiting"; n++) {
        const before = witness.waiting.length
        const next = running.shift()!
        witness.giveBack(next)
        passed += before - witness.waiting.length - (big.status === "waiting" ? 0 : 1)
        running.push(...witness.charged.filter((entry) => entry.tenant.startsWith("s") && !running.includes(entry)))
        expect(n).toBeLessThan(12)
      }
      expect(passed).toBe(maxBypass)
      witness.finish()
    }
  })

  it("AD-19 AD-18: an ask that is turned away changes neither the accounts nor who is granted later", () => {
    const orderOf = (asksInVain: boolean): readonly number[] => {
      const witness = new Witness({ maxRunning: 2, maxPerProvider: 2, maxQueued: 6 })
      const wishes = [["a", "p"], ["b", "q"], ["a", "p"], ["b", "p"], ["a", "q"], ["c", "p"], ["c", "q"], ["b", "q"]]
      for (const [tenant, provider] of wishes) {
        witness.ask({ tenant: tenant!, provider })
        if (!asksInVain) continue
        for (const tenant of ["a", "z"]) expect(witness.ask({ tenant, cost: 3 }).verdict?.kind).toBe("never")
      }
      const order: number[] = []
      while (witness.charged.length > 0) {
        order.push(witness.charged[0]!.id)
        witness.giveBack(witness.charged[0]!)
        if (!asksInVain || witness.charged.length < 2) continue
        expect(witness.ask({ tenant: "z", provider: "q", mayWait: false }).verdict?.kind).toBe("short")
      }
      return order
    }
    expect(orderOf(true)).toEqual(orderOf(false))
  })

  it("AD-14: nothing is kept on a provider's account for a head whose pair one of a higher class has filled meanwhile", () => {
    const witness = new Witness({ maxRunning: 21, maxPerProvider: 21, maxPerPair: 21, maxBypass: 0 })
    witness.ask({ tenant: "a" })
    witness.ask({ tenant: "a", provider: "p", arrival: 3, cost: 21 })
    witness.ask({ tenant: "a", arrival: 3, cost: 16 })
    const running = witness.ask({ tenant: "b", provider: "p", cost: 5 }).entry!
    witness.ask({ tenant: "b", provider: "p", arrival: 3 })
    witness.ask({ tenant: "a", cost: 5 })
    witness.giveBack(running)
    witness.ask({ tenant: "a", provider: "p" })
    witness.finish()
  })

  it("AD-14 AD-15: what is set aside for a head is not where an earlier one parks before it again", () => {
    const witness = new Witness({ maxRunning: 6, maxPerProvider: 3, maxBypass: 1 })
    const provider = witness.ask({ tenant: "x", provider: "p", cost: 3 }).entry!
    const first = witness.ask({ tenant: "a", provider: "p", cost: 3 }).entry!
    const second = witness.ask({ tenant: "b", provider: "p", cost: 3 }).entry!
    witness.ask({ tenant: "c", provider: "p", cost: 2 })
    const [two, one] = [witness.ask({ tenant: "y", cost: 2 }).entry!, witness.ask({ tenant: "y" }).entry!]
    witness.ask({ tenant: "d", cost: 3 })
    // The first is woken, and is short of the total.
    witness.giveBack(provider)
    witness.giveBack(two)
    const [aheadOf, behind] = [second, first].map(({ pair }) => pair.groups[2]!)
    witness.ask({ tenant: "e", provider: "p", cost: 2 })
    expect([aheadOf!.setAside, behind!.place === inTurn]).toEqual([true, true])
    // It is short of its provider again.
    witness.ask({ tenant: "f", provider: "p", arrival: 0 })
    expect([aheadOf!.setAside, behind!.place === inTurn]).toEqual([false, false])
    witness.giveBack(one)
    expect([aheadOf!.setAside, behind!.setAside]).toEqual([false, true])
    witness.finish()
  })

  it("AD-14: an ask that is short of two accounts in turn is granted in bounded time", () => {
    for (const maxBypass of [0, 1, 4]) {
      const witness = new Witness({ maxRunning: 100, maxPerTenant: 1, maxPerProvider: 1, maxBypass })
      const ask = (tenant: string, provider: string) => witness.ask({ tenant, provider }).entry!
      const [ofProvider, ofTenant] = [[ask("a", "q")], [ask("b", "r")]]
      const both = ask("b", "q")
      let past = 0
      while (both.status === "waiting" && past < 100) {
        // Of each, the next stands in line before the one that runs gives back.
        for (const [running, tenant, provider] of [[ofProvider, "a", "q"], [ofTenant, "b", "r"]] as const) {
          running.push(ask(tenant, provider))
          witness.giveBack(running.shift()!)
          witness.deliver()
          past++
        }
      }
      expect(past, `bypass ${maxBypass}`).toBeLessThanOrEqual(2 * (maxBypass + 2))
    }
  })

  it("AD-15 AD-13: what a woken ask was promised is open again once others have filled its account", () => {
    const witness = new Witness({ maxRunning: 3, maxPerProvider: 2 })
    const large = witness.ask({ tenant: "b", provider: "p", cost: 2 }).entry!
    witness.ask({ tenant: "a", provider: "p", cost: 2 })
    const fits = witness.ask({ tenant: "c", provider: "p" }).entry!
    witness.ask({ tenant: "b", provider: "q" })
    witness.ask({ tenant: "b", provider: "p" })
    const small = witness.ask({ tenant: "c" }).entry!
    witness.ask({ tenant: "b", cost: 2 })
    witness.giveBack(large)
    witness.giveBack(small)
    expect(fits.status).not.toBe("waiting")
    witness.finish()
  })

  it("AD-14 AD-15: nothing is kept on a tenant's account for a head whose provider others have filled meanwhile", () => {
    const witness = new Witness({ maxRunning: 4, maxPerTenant: 3, maxPerProvider: 3, maxBypass: 0 })
    witness.ask({ tenant: "a", provider: "p" })
    witness.ask({ tenant: "a", provider: "q", cost: 3 }) // parked on its tenant
    const small = witness.ask({ tenant: "a", provider: "p" }).entry! // may not pass it there
    witness.ask({ tenant: "b", provider: "q" }) // now the large one is short of its provider
    expect(small.status).not.toBe("waiting")
  })

  it("AD-14 AD-15: nothing is kept on a tenant's account for a head whose provider is kept for another one meanwhile", () => {
    const witness = new Witness({ maxRunning: 40, maxPerTenant: 6, maxPerProvider: 6, maxBypass: 1 })
    const ask = (tenant: string, provider: string, cost = 1) => witness.ask({ tenant, provider, cost }).entry!
    const running = [1, 1, 1, 3].map((cost, i) => ask("a", i < 3 ? "q" : "s", cost))
    const [large, passes, small] = [ask("a", "p", 3), ask("a", "u"), ask("a", "u")]
    witness.giveBack(running[0]!)
    expect([large.status, passes.status, small.status]).toEqual(["waiting", "granted", "waiting"])
    // The next unit is kept for the large one.
    witness.giveBack(running[1]!)
    ask("b", "r", 2)
    const filler = ask("c", "p", 2)
    const other = ask("b", "p", 5)
    // Passed as often as may be, the other one goes on to its tenant's account, and its provider's is kept for it.
    expect(ask("d", "p").status).toBe("held")
    witness.giveBack(filler)
    expect([large.status, small.status, other.status]).toEqual(["waiting", "waiting", "waiting"])
    witness.giveBack(running[2]!)
    expect([large.status, small.status]).toEqual(["waiting", "granted"])
    witness.finish()
  })

  it("AD-15 AD-13: a head that what it lets go of moves another one out of its way keeps its turn", () => {
    const witness = new Witness({ maxRunning: 60, maxPerTenant: 14, maxPerProvider: 12, maxPerPair: 7, maxBypass: 0 })
    const ask = (tenant: string, provider: string, cost: number, arrival: 1 | 2 | 3 = 2, wait = Infinity) =>
      witness.ask({ tenant, provider, cost, arrival, wait }).entry!
    ask("a", "p", 1)
    const pair = ask("a", "p", 6)
    const tenant = ask("a", "q", 4)
    ask("a", "u", 3)
    const large = ask("a", "s", 7)
    const head = ask("a", "p", 2)
    // From its pair's account to its tenant's, behind the large one; its pair's is kept for it.
    witness.giveBack(pair)
    const provider = ask("c", "p", 5)
    ask("e", "p", 3)
    const other = ask("a", "p", 4, 3, 20)
    witness.advance(10)
    // The other one, raised by now, from its provider's to its tenant's; its provider's is kept for it.
    witness.giveBack(provider)
    ask("a", "p", 1, 1)
    ask("a", "w", 4, 1)
    ask("h", "p", 1)
    ask("k", "p", 3, 2, 5)
    const third = ask("d", "p", 2)
    witness.leave(large)
    expect([head, other, third].map(({ status }) => status)).toEqual(["waiting", "waiting", "waiting"])
    witness.advance(5, false)
    // The head is woken, then the third one, and the provider has no room for the head beside what is kept for those two.
    witness.giveBack(tenant)
    expect([head, other, third].map(({ status }) => status)).toEqual(["granted", "waiting", "granted"])
    witness.finish()
  })
})
