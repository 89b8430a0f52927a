import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Pair } from "../../core/kernel/Ask.ts"
import { idleKept, Keys } from "../../core/kernel/Keys.ts"
import { Cap } from "../../core/kernel/Ledger.ts"

const make = (): Keys =>
  new Keys({ pair: new Cap("pair", 9), provider: new Cap("provider", 9), tenant: new Cap("tenant", 9) })

/** The plain record of a pair: how often it is in use, and when it was last made or let go. */
interface Known {
  readonly tenant: string
  readonly provider: string | undefined
  readonly pair: Pair
  uses: number
  idleSince: number
}

const nameOf = (tenant: string, provider: string | undefined): string => JSON.stringify([tenant, provider ?? null])

/** A map of what is known, from which the longest idle are dropped by looking at all. */
class Naive {
  readonly known = new Map<string, Known>()
  time = 0

  get idle(): readonly Known[] {
    return [...this.known.values()].filter((each) => each.uses === 0).sort((a, b) => a.idleSince - b.idleSince)
  }

  trim(keeping?: Known): void {
    for (const each of this.idle) {
      if (this.known.size <= idleKept) return
      if (each !== keeping) this.known.delete(nameOf(each.tenant, each.provider))
    }
  }
}

const inUse = (all: readonly Known[], key: (each: Known) => string | undefined): number =>
  new Set(all.filter((each) => each.uses > 0).map(key).filter((each) => each !== undefined)).size

const check = (keys: Keys, naive: Naive): void => {
  const all = [...naive.known.values()]
  expect(new Set(keys.pairs())).toEqual(new Set(all.map((each) => each.pair)))
  expect([...keys.pairs()].length).toBe(all.length)
  expect([...keys.tenants.keys()].sort()).toEqual([...new Set(all.map((each) => each.tenant))].sort())
  const providers = all.map((each) => each.provider).filter((each) => each !== undefined)
  expect([...keys.providers.keys()].sort()).toEqual([...new Set(providers)].sort())
  expect(keys.idle).toBe(naive.idle.length)
  expect(keys.tenantsInUse).toBe(inUse(all, (each) => each.tenant))
  expect(keys.providersInUse).toBe(inUse(all, (each) => each.provider))
  expect(keys.pairsInUse).toBe(inUse(all, (each) => each.provider && nameOf(each.tenant, each.provider)))
  const wrong = all.find(({ pair, provider, tenant, uses }) =>
    pair.uses !== uses || pair.tenant !== keys.tenants.get(tenant) ||
    pair.provider !== (provider === undefined ? undefined : keys.providers.get(provider))
  )
  expect(wrong).toBe(undefined)
}

/** Uses a key as an ask does: looks it up, makes it where it is not known, and holds it. */
const use = (keys: Keys, naive: Naive, tenant: string, provider: string | undefined): Known => {
  const name = nameOf(tenant, provider)
  const known = naive.known.get(name)
  const found = keys.find(tenant, provider)
  if (found !== known?.pair) expect.unreachable(`${name} is ${found === undefined ? "not " : "wrongly "}known`)
  if (known !== undefined) return known
  const each: Known = { tenant, provider, pair: keys.make(tenant, provider, 1), uses: 0, idleSince: ++naive.time }
  naive.known.set(name, each)
  naive.trim(each)
  return each
}
const hold = (keys: Keys, each: Known): void => {
  keys.hold(each.pair)
  each.uses++
}
const drop = (keys: Keys, naive: Naive, each: Known): void => {
  keys.drop(each.pair)
  if (--each.uses > 0) return
  each.idleSince = ++naive.time
  naive.trim()
}

describe("the records of keys", () => {
  it("AD-32: are those of a plain map that drops the longest idle beyond 1,024, over any use of few and many keys", () => {
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ tenant: fc.nat({ max: 9 }), provider: fc.nat({ max: 4 }) }) },
      { weight: 4, arbitrary: fc.record({ drop: fc.nat() }) },
      {
        weight: 2,
        arbitrary: fc.record({ strangers: fc.integer({ min: 1, max: 700 }), providers: fc.nat({ max: 3 }) }),
      },
      { weight: 1, arbitrary: fc.record({ kept: fc.integer({ min: 1, max: 700 }) }) },
      { weight: 1, arbitrary: fc.constant({ dropAll: true }) },
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 25, size: "max" }), (steps) => {
        const keys = make()
        const naive = new Naive()
        let held: Known[] = []
        let strangers = 0
        for (const each of steps) {
          if ("tenant" in each) {
            const provider = each.provider === 0 ? undefined : `p${each.provider}`
            const known = use(keys, naive, `t${each.tenant}`, provider)
            hold(keys, known)
            held.push(known)
          } else if ("drop" in each) {
            const [known] = held.splice(each.drop % Math.max(1, held.length), 1)
            if (known !== undefined) drop(keys, naive, known)
          } else if ("strangers" in each) {
            for (let n = 0; n < each.strangers; n++) {
              const provider = each.providers === 0 ? undefined : `p${strangers % (each.providers * 40)}`
              const known = use(keys, naive, `s${strangers++}`, provider)
              hold(keys, known)
              drop(keys, naive, known)
            }
          } else if ("kept" in each) {
            for (let n = 0; n < each.kept; n++) {
              const known = use(keys, naive, `s${strangers++}`, undefined)
              hold(keys, known)
              held.push(known)
            }
          } else {
            for (const known of held) drop(keys, naive, known)
            held = []
          }
          check(keys, naive)
        }
      }),
      { numRuns: 12, seed: 1 },
    )
  })

  it("AD-32: a hundred thousand tenants one after another leave 1,024 records, the newest", () => {
    const keys = make()
    for (let n = 0; n < 100_000; n++) {
      const pair = keys.make(`t${n}`, `p${n}`, 1)
      keys.hold(pair)
      keys.drop(pair)
      if (keys.tenants.size > idleKept || keys.providers.size > idleKept) expect.unreachable("too many records")
    }
    expect([keys.tenants.size, keys.providers.size, keys.idle]).toEqual([idleKept, idleKept, idleKept])
    expect([...keys.tenants.keys()].sort()).toEqual(Array.from({ length: idleKept }, (_, n) => `t${98_976 + n}`).sort())
    expect([keys.tenantsInUse, keys.providersInUse, keys.pairsInUse]).toEqual([0, 0, 0])
  })

  it("AD-32: one that never was in use, since its ask was refused, counts as idle like the others", () => {
    const keys = make()
    for (let n = 0; n < 5_000; n++) keys.make(`t${n}`, undefined, 1)
    expect([keys.tenants.size, keys.idle]).toEqual([idleKept, idleKept])
  })

  it("AD-32: one that was made for an ask that was refused goes with it, unless it is in use or has gone already", () => {
    const keys = make()
    const [used, refused] = [keys.make("used", "p", 1), keys.make("refused", "p", 1)]
    keys.hold(used)
    keys.unmake(used)
    expect(keys.find("used", "p")).toBe(used)
    keys.unmake(refused)
    keys.unmake(refused)
    expect([[...keys.tenants.keys()], keys.providers.size, keys.idle]).toEqual([["used"], 1, 0])
    keys.drop(used)
    keys.unmake(used)
    keys.unmake(used)
    expect([keys.tenants.size, keys.providers.size, keys.idle]).toEqual([0, 0, 0])
  })

  it("AD-32: those in use are never dropped, and leave less room for idle ones", () => {
    const keys = make()
    const used = Array.from({ length: 3_000 }, (_, n) => {
      const pair = keys.make(`u${n}`, undefined, 1)
      keys.hold(pair)
      return pair
    })
    expect(used.every((pair, n) => keys.find(`u${n}`, undefined) === pair)).toBe(true)
    const idle = keys.make("idle", undefined, 1)
    keys.hold(idle)
    keys.drop(idle)
    expect([keys.idle, keys.find("idle", undefined)]).toEqual([0, undefined])
    for (const pair of used) keys.drop(pair)
    expect([keys.idle, keys.tenants.size]).toEqual([idleKept, idleKept])
  })
})
