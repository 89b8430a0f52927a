import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Group } from "../../core/kernel/Ask.ts"
import { Keys } from "../../core/kernel/Keys.ts"
import { Cap } from "../../core/kernel/Ledger.ts"
import { Rotation } from "../../core/kernel/Rotation.ts"

const normal = 2

/** A ring of groups that always have a next ask; `costs` says what it takes. */
class Ring {
  readonly rotation = new Rotation()
  readonly #keys = new Keys({
    pair: new Cap("pair", 9),
    provider: new Cap("provider", 9),
    tenant: new Cap("tenant", 9),
  })

  constructor(largest: number) {
    this.rotation.see(largest, 1, true)
  }

  join(tenant: string, provider: string, need = 1, weight = 1): Group {
    const pair = this.#keys.find(tenant, provider) ?? this.#keys.make(tenant, provider, weight)
    const group = new Group(pair, normal)
    group.need = need
    this.rotation.see(need, weight, false)
    this.rotation.attach(group)
    return group
  }

  /** Grants the head whose turn it is; the group goes on with an ask that needs `next`. */
  serve(next = 1): Group {
    const group = this.rotation.next(normal)!
    expect(this.rotation.next(normal)).toBe(group)
    this.rotation.spend(group)
    group.need = next
    return group
  }
}

const nameOf = (group: Group): string => `${group.pair.tenant.key}${group.pair.provider!.key}`

describe("the rotation of turns", () => {
  it("AD-8: with unit costs and equal weights serves each tenant once in as many grants as there are tenants", () => {
    const ring = new Ring(1)
    for (const tenant of ["a", "b", "c", "d"]) ring.join(tenant, "p")
    const served = Array.from({ length: 40 }, () => nameOf(ring.serve()))
    for (let at = 0; at + 4 <= served.length; at++) expect(new Set(served.slice(at, at + 4)).size).toBe(4)
  })

  it("AD-10: rotates a tenant's providers inside its turn, and many of them bring it no extra one", () => {
    const ring = new Ring(1)
    for (const provider of ["p", "q", "r"]) ring.join("a", provider)
    ring.join("b", "p")
    const served = Array.from({ length: 12 }, () => nameOf(ring.serve()))
    expect(served).toEqual(["ap", "bp", "aq", "bp", "ar", "bp", "ap", "bp", "aq", "bp", "ar", "bp"])
  })

  it("AD-9: forgets the cost and the weight of an ask that its own step refuses", () => {
    const ring = new Ring(4)
    ring.rotation.see(9, 1, false)
    ring.rotation.unsee()
    expect([ring.rotation.quantum, ring.rotation.leastWeight]).toEqual([4, 1])
  })

  it("AD-9: goes by the largest cost and the least weight since the line was empty", () => {
    const { rotation } = new Ring(9)
    const seen = (cost: number, weight: number, first: boolean): readonly number[] => {
      rotation.see(cost, weight, first)
      return [rotation.quantum, rotation.leastWeight]
    }
    expect(seen(3, 5, true)).toEqual([3, 5])
    expect(seen(2, 7, false)).toEqual([3, 5])
    expect(seen(4, 4, false)).toEqual([4, 4])
    expect(seen(6, 2, false)).toEqual([6, 2])
    rotation.unsee()
    expect([rotation.quantum, rotation.leastWeight]).toEqual([4, 4])
    expect(seen(1, 8, true)).toEqual([1, 8])
  })

  it("AD-9: a turn is worth the quantum as often as its weight has the least weight", () => {
    const ring = new Ring(1)
    ring.rotation.see(4, 2, true)
    const [once, thrice] = [ring.join("a", "p", 1, 2), ring.join("b", "p", 1, 6)]
    expect(ring.rotation.next(normal)).toBe(once)
    ring.rotation.detach(once)
    expect(ring.rotation.next(normal)).toBe(thrice)
    expect([once, thrice].map((group) => ring.rotation.turnOf(group).credit)).toEqual([4, 12])
  })

  it("AD-9: what is used up ends its turn at once, so that newcomers are behind it", () => {
    const ring = new Ring(1)
    ring.join("a", "p")
    ring.serve()
    ring.join("b", "p")
    ring.join("a", "q")
    expect(Array.from({ length: 4 }, () => nameOf(ring.serve()))).toEqual(["ap", "bp", "aq", "bp"])
  })

  it("AD-9: a tenant, or a group of it, pays what it took out of turn before it is served again", () => {
    const ring = new Ring(4)
    const taken = ring.join("a", "p", 4)
    ring.join("b", "p")
    ring.rotation.spend(taken)
    expect(nameOf(ring.serve())).toBe("bp")
    const twice = new Ring(4)
    twice.join("b", "p")
    const first = twice.join("a", "p", 4, 2)
    twice.join("a", "q", 1, 2)
    twice.rotation.spend(first)
    twice.serve(4)
    twice.serve(4)
    expect(nameOf(twice.serve())).toBe("aq")
  })

  it("AD-9: nobody borrows more than a quantum, the units of a head of its own tenant left out", () => {
    const ring = new Ring(4)
    const [head, sister, other] = [ring.join("a", "p", 3), ring.join("a", "q"), ring.join("b", "p")]
    const may = (group: Group, need: number): boolean => {
      group.need = need
      return ring.rotation.mayBorrow(group, head)
    }
    expect([may(sister, 1), may(sister, 2), may(other, 4), may(other, 5)]).toEqual([true, false, true, false])
    ring.rotation.turnOf(other).credit = 9
    other.credit = -3
    expect([may(other, 1), may(other, 2)]).toEqual([true, false])
  })

  it("AD-9: serves units per weight that differ by no more than C (1 + 1/w1 + 1/w2) over any interval", () => {
    const tenant = fc.record({ weight: fc.integer({ min: 1, max: 5 }), groups: fc.integer({ min: 1, max: 3 }) })
    const most = fc.integer({ min: 1, max: 6 })
    fc.assert(
      fc.property(
        fc.array(tenant, { minLength: 2, maxLength: 4 }),
        most,
        fc.infiniteStream(fc.nat()),
        (all, c, costs) => {
          const next = (): number => costs.next().value! % c + 1
          const ring = new Ring(c)
          for (const [n, { groups, weight }] of all.entries()) {
            for (let group = 0; group < groups; group++) ring.join(`t${n}`, `p${group}`, next(), weight)
          }
          const served = all.map(() => 0)
          const [low, high] = [all.map((_) => all.map(() => 0)), all.map((_) => all.map(() => 0))]
          for (let grants = 0; grants < 200; grants++) {
            const group = ring.rotation.next(normal)!
            served[Number(group.pair.tenant.key.slice(1))]! += group.need
            ring.serve(next())
            for (const [i, a] of all.entries()) {
              for (const [j, b] of all.entries()) {
                const apart = served[i]! / a.weight - served[j]! / b.weight
                low[i]![j] = Math.min(low[i]![j]!, apart)
                high[i]![j] = Math.max(high[i]![j]!, apart)
                if (i === j || high[i]![j]! - low[i]![j]! <= c * (1 + 1 / a.weight + 1 / b.weight) + 1e-9) continue
                expect.unreachable(`tenants ${i} and ${j} are ${high[i]![j]! - low[i]![j]!} apart`)
              }
            }
          }
        },
      ),
      { numRuns: 100, seed: 1 },
    )
  })

  it("AD-12: a tenant that leaves its ring keeps what it owes and loses what it had left", () => {
    for (const steps of [0, 1, 2]) {
      const ring = new Ring(4)
      for (let step = 0; step < steps; step++) ring.rotation.endStep()
      const [saver, debtor] = [ring.join("a", "p", 1), ring.join("b", "p", 3)]
      ring.serve(4)
      ring.rotation.detach(saver)
      ring.serve(4)
      ring.serve(1)
      ring.rotation.detach(debtor)
      for (const [group, credit] of [[saver, 0], [debtor, -3]] as const) {
        ring.rotation.attach(group)
        const turn = ring.rotation.turnOf(group)
        expect([turn.credit, group.credit, turn.started, group.started]).toEqual([credit, credit, false, false])
      }
    }
  })

  it("AD-12: debts are void once the line was empty", () => {
    const ring = new Ring(4)
    const debtor = ring.join("a", "p", 3)
    ring.rotation.spend(debtor)
    ring.rotation.detach(debtor)
    expect(debtor.place).toBe(0)
    ring.rotation.see(4, 1, true)
    ring.rotation.attach(debtor)
    expect([ring.rotation.turnOf(debtor).credit, debtor.credit]).toEqual([0, 0])
  })

  it("AD-12: who parks and is woken in one step has its turn and its credit as they were, and who is woken later not", () => {
    for (const isLater of [false, true]) {
      const ring = new Ring(4)
      const group = ring.join("a", "p")
      for (const [tenant, provider] of [["a", "q"], ["b", "p"]] as const) ring.join(tenant, provider)
      ring.serve()
      ring.rotation.suspend(group)
      if (isLater) ring.rotation.endStep()
      ring.rotation.attach(group)
      expect([group.credit, group.started]).toEqual(isLater ? [0, false] : [3, true])
      expect(nameOf(ring.serve())).toBe(isLater ? "aq" : "ap")
    }
  })

  it("AD-12: so has a tenant, though it was the last of its groups that parked; one that was not first goes last", () => {
    const ring = new Ring(4)
    const [first, second, third] = ["a", "b", "c"].map((tenant) => ring.join(tenant, "p")) as [Group, Group, Group]
    ring.serve()
    ring.rotation.suspend(first)
    ring.rotation.suspend(third)
    ring.rotation.attach(third)
    ring.rotation.attach(first)
    expect(ring.rotation.turnOf(first).credit).toBe(3)
    expect(ring.rotation.next(normal)).toBe(first)
    ring.rotation.suspend(second)
    ring.rotation.attach(second)
    ring.rotation.detach(first)
    expect(ring.rotation.next(normal)).toBe(third)
  })

  it("AD-14: the first that fits is found as it comes, goes, and goes on with another head", () => {
    const ring = new Ring(4)
    const [large, small, middle] = [ring.join("a", "p", 4), ring.join("b", "p", 1), ring.join("c", "p", 2)]
    const first = (room: number): Group | undefined => ring.rotation.passer(normal, room)
    expect([first(4), first(3), first(0)]).toEqual([large, small, undefined])
    ring.rotation.detach(small)
    expect(first(3)).toBe(middle)
    ring.rotation.attach(small)
    expect([first(3), first(1)]).toEqual([middle, small])
    middle.need = 1
    ring.rotation.renewHead(middle)
    expect(first(1)).toBe(small)
    ring.rotation.detach(small)
    expect(first(1)).toBe(middle)
    ring.rotation.attach(small)
    for (const group of [large, small, middle]) ring.rotation.detach(group)
    expect([ring.rotation.isEmpty(normal), first(4)]).toEqual([true, undefined])
  })

  it("AD-12: a tenant that comes back waits for its turn at the end of the ring", () => {
    const ring = new Ring(1)
    const group = ring.join("a", "p")
    for (const tenant of ["b", "c"]) ring.join(tenant, "p")
    ring.rotation.detach(group)
    ring.rotation.attach(group)
    expect(Array.from({ length: 6 }, () => nameOf(ring.serve()))).toEqual(["bp", "cp", "ap", "bp", "cp", "ap"])
  })
})
