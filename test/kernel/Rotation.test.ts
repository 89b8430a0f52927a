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
    const ring = new Ring(4)
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
