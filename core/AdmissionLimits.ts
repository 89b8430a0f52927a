/**
 * The limits of an Admission in force: the caps of its accounts and the bounds of its line, which only ever fall.
 */
import * as Result from "effect/Result"
import { type AccountName, BelowUse } from "./AdmissionRefused.ts"
import type { Account } from "./kernel/Ledger.ts"
import * as Ledger from "./kernel/Ledger.ts"
import type { Bounds, Line } from "./kernel/Line.ts"
import type { Group } from "./kernel/Ask.ts"
import * as Limit from "./Limits.ts"
import { InvalidLimits } from "./Refusal.ts"

/** What `lower` may lower. A cap that is left out is none; units are what an ask's cost counts. */
export interface Limits {
  /** Units held in all, 1 to 1,048,576. */
  readonly maxRunning: number
  /** Units held by one tenant, by one provider, and by one tenant at one provider. 1 to `maxRunning`; none by default. */
  readonly maxPerTenant?: number | undefined
  readonly maxPerProvider?: number | undefined
  readonly maxPerPair?: number | undefined
  /** Asks that wait in all (1,024) and of one tenant (128). 0 to 1,048,576; 0 never waits. */
  readonly maxQueued?: number | undefined
  readonly maxQueuedPerTenant?: number | undefined
}

/** Every limit as a number; a cap that is none is `unlimited`. */
export type Complete = Readonly<Record<keyof Limits, number>>

/** The limits that `lower` takes, with the least that each may be. */
const least: Complete = {
  maxRunning: 1,
  maxPerTenant: 1,
  maxPerProvider: 1,
  maxPerPair: 1,
  maxQueued: 0,
  maxQueuedPerTenant: 0,
}
const names = Object.keys(least) as ReadonlyArray<keyof Limits>
const caps: ReadonlyArray<keyof Limits> = ["maxPerTenant", "maxPerProvider", "maxPerPair"]

export class AdmissionLimits {
  #current: Complete
  readonly caps: Readonly<Record<AccountName, Ledger.Cap>>
  readonly bounds: Bounds

  constructor(limits: Complete, maxBypass: number) {
    this.#current = limits
    this.caps = {
      pair: new Ledger.Cap("pair", limits.maxPerPair),
      provider: new Ledger.Cap("provider", limits.maxPerProvider),
      tenant: new Ledger.Cap("tenant", limits.maxPerTenant),
      total: new Ledger.Cap("total", limits.maxRunning),
    }
    this.bounds = { maxQueued: limits.maxQueued, maxQueuedPerTenant: limits.maxQueuedPerTenant, maxBypass }
  }

  /** The limits that are set; a cap that is none is left out. */
  get given(): Limits {
    const set = names.filter((name) => this.#current[name] !== Ledger.unlimited)
    return Object.fromEntries(set.map((name) => [name, this.#current[name]])) as Partial<Complete> as Limits
  }

  /** Lowers all that are given or, with an error, none. The line has then to be reviewed. */
  lower(next: Partial<Limits>, line: Line): Result.Result<void, InvalidLimits | BelowUse> {
    return Result.map(
      Result.flatMap(this.#decode(next, line.total.reserves), (limits) => {
        const above = aboveUse(limits, line, limits.maxRunning < this.#current.maxRunning)
        return above === undefined ? Result.succeed(limits) : Result.fail(above)
      }),
      (limits) => {
        this.#current = limits
        this.caps.total.limit = limits.maxRunning
        this.caps.tenant.limit = limits.maxPerTenant
        this.caps.provider.limit = limits.maxPerProvider
        this.caps.pair.limit = limits.maxPerPair
        this.bounds.maxQueued = limits.maxQueued
        this.bounds.maxQueuedPerTenant = limits.maxQueuedPerTenant
      },
    )
  }

  /** What the limits would be; an omitted one stays, and none may rise. */
  #decode(next: Partial<Limits>, reserves: ReadonlyArray<number>): Result.Result<Complete, InvalidLimits> {
    if (typeof next !== "object" || next === null) return bad("lower", "given an object of limits", next)
    const stranger = Object.keys(next).find((name) => !Object.hasOwn(least, name))
    if (stranger !== undefined) {
      const value = (next as Readonly<Record<string, unknown>>)[stranger]
      return bad(stranger, `one of the limits ${names.join(", ")}`, value)
    }
    // All are read before anything is compared: a getter is the caller's code, and may lower limits itself.
    const given = names.map((name) => next[name])
    const lowered: Record<keyof Limits, number> = { ...this.#current }
    for (const [i, name] of names.entries()) {
      const value = given[i]
      if (value === undefined) continue
      // A cap that is named stays within the total, which comes first; one that is left out may stay above it.
      const max = Math.min(this.#current[name], caps.includes(name) ? lowered.maxRunning : Limit.most)
      const rule = Limit.wholeRule(value, { min: least[name], max })
      if (rule !== undefined) return bad(name, `${rule}, since limits only fall`, value)
      lowered[name] = value
    }
    const reserved = reserves.reduce((sum, units) => sum + units, 0)
    return lowered.maxRunning > reserved
      ? Result.succeed(lowered)
      : bad("maxRunning", `above the ${reserved} reserved`, lowered.maxRunning)
  }
}

const bad = (limit: string, rule: string, value: unknown): Result.Result<never, InvalidLimits> =>
  Result.fail(new InvalidLimits({ system: "Admission", limit, rule, value }))

/** The first use above its new limit; of the total only where that falls, as a debt is above the old one. O(records). */
const aboveUse = (limits: Complete, { keys, total, waiting }: Line, totalFalls: boolean): BelowUse | undefined => {
  const above = (totalFalls ? Ledger.totalAbove(total, limits.maxRunning) : undefined) ??
    Ledger.firstAbove(pairAccounts(keys), limits.maxPerPair) ??
    Ledger.firstAbove([...keys.providers.values()].map((each) => each.account), limits.maxPerProvider) ??
    Ledger.firstAbove([...keys.tenants.values()].map((each) => each.account), limits.maxPerTenant)
  if (above !== undefined) return new BelowUse({ account: above.name, limit: above.limit, use: above.use })
  if (waiting > limits.maxQueued) return new BelowUse({ account: "queue", limit: limits.maxQueued, use: waiting })
  const limit = limits.maxQueuedPerTenant
  for (const { queued } of keys.tenants.values()) {
    if (queued > limit) return new BelowUse({ account: "tenantQueue", limit, use: queued })
  }
  return undefined
}

const pairAccounts = (keys: Line["keys"]): ReadonlyArray<Account<Group>> =>
  [...keys.pairs()].map((pair) => pair.account).filter((account) => account !== undefined)
