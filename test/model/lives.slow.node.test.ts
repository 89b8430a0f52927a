/**
 * Whole lives of a line with everything at once: caps, reserves, weights, large asks, ageing, withholding, lowering. In the
 * end all that is held goes back, and by that alone the line must empty, whatever had been set aside, parked or raised.
 */
import { describe, expect, it } from "vitest"
import { WaitingAsk } from "../../core/kernel/Ask.ts"
import { Keys } from "../../core/kernel/Keys.ts"
import * as Ledger from "../../core/kernel/Ledger.ts"
import type { Class } from "../../core/kernel/Ledger.ts"
import { Line } from "../../core/kernel/Line.ts"
import { Chance } from "./Chance.ts"

const live = (seed: number, steps: number): void => {
  const chance = new Chance(seed)
  const upTo = (most: number): number => chance.whole(0, most)
  const likely = (odds: number): boolean => chance.yes(odds)
  const pick = <A>(items: ReadonlyArray<A>): A => chance.pick(items)
  const maxRunning = 1 + upTo(likely(0.5) ? 39 : 9)
  const cap = (name: Ledger.AccountName) =>
    new Ledger.Cap(name, likely(0.5) ? Ledger.unlimited : 1 + upTo(maxRunning - 1))
  const reserves = [0, 0, 0, 0]
  if (likely(0.5)) { for (let units = upTo(Math.min(5, maxRunning - 1)); units > 0; units--) reserves[upTo(3)]!++ }
  const caps = { pair: cap("pair"), provider: cap("provider"), tenant: cap("tenant") }
  const total = new Ledger.Total<never>(new Ledger.Cap("total", maxRunning), reserves)
  const maxBypass = pick([0, 0, upTo(2 * maxRunning), maxRunning, 16 * maxRunning])
  const line = new Line(new Keys(caps), total as never, { maxQueued: 60, maxQueuedPerTenant: 60, maxBypass })
  const [tenants, providers, most] = [1 + upTo(9), 1 + upTo(5), pick([1, 2, 5, maxRunning])]
  const withheld: Array<number> = []
  let now = 1

  const ask = (): void => {
    const provider = likely(0.15) ? undefined : `p${upTo(providers - 1)}`
    const tenant = `t${upTo(tenants - 1)}`
    const pair = line.keys.find(tenant, provider) ?? line.keys.make(tenant, provider, likely(0.5) ? 1 : 1 + upTo(9))
    const wish = new WaitingAsk(pair, pick<Class>([2, 2, 2, 1, 3, 0]), likely(0.5) ? 1 : 1 + upTo(most - 1))
    wish.dueNanos = likely(0.5) ? now + 1 + upTo(40) : now + 1e6
    if (likely(0.92)) line.ask(wish, now, true)
    else line.ask(wish, now, false)
  }
  const tell = (): void => {
    for (let told = line.answers.take(); told !== undefined; told = line.answers.take()) line.deliver(told)
  }
  const giveBack = (): void => {
    if (line.held.size > 0) line.giveBack(pick(line.held.toArray()), now)
  }
  const lower = (): void => {
    const which = pick([caps.pair, caps.provider, caps.tenant])
    if (which.limit === Ledger.unlimited || which.limit < 2 || line.held.size > 0) return
    which.limit--
    line.review(now)
  }
  const act: ReadonlyArray<readonly [number, () => void]> = [
    [0.45, ask],
    [0.75, giveBack],
    [0.8, () => line.waiting > 0 && line.leave(pick(line.waitingAsks()), now)],
    [0.85, () => line.expire(now += upTo(9))],
    [0.87, () => {
      const units = 1 + upTo(maxRunning >> 1)
      if (line.withhold(units, now)) withheld.push(units)
    }],
    [0.89, () => line.restore(withheld.pop() ?? 0, now)],
    [0.9, lower],
    [1, tell],
  ]
  for (let step = 0; step < steps; step++) {
    const at = upTo(999) / 1000
    act.find(([below]) => at < below)![1]()
  }
  while (withheld.length > 0) line.restore(withheld.pop()!, now)
  for (let left = 10_000; line.waiting > 0 || line.held.size > 0; left--) {
    if (line.held.size === 0) throw new Error(`seed ${seed}: ${line.waiting} wait, and nothing is held`)
    if (left === 0) throw new Error(`seed ${seed}: it does not end`)
    giveBack()
  }
  tell()
  expect([total.used, total.setAside, total.guarded, total.promised]).toEqual([0, 0, undefined, undefined])
  expect([line.keys.tenantsInUse, line.keys.pairsInUse]).toEqual([0, 0])
}

describe("a line", () => {
  it(
    "AD-6 AD-15 AD-20: empties by what is given back alone, whatever it has been through",
    () => {
      for (let seed = 1; seed <= 6_000; seed++) live(seed, 250)
    },
  )
})
