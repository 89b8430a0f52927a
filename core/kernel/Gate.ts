/**
 * A bulkhead behind a circuit: places in all, an ordinary share, places a tenant, and whether the circuit lets anybody by.
 *
 * Entering is one step that takes everything or changes nothing; settling judges the circuit first and gives the places
 * back in the same step. It reads no clock, never waits, and charges the same ledger as every other system.
 */
import type { Group, Pair } from "./Ask.ts"
import { Circuit, type CircuitEvent, type CircuitRules, type Pass, type Shut } from "./Circuit.ts"
import { Keys } from "./Keys.ts"
import * as Ledger from "./Ledger.ts"
import { type Class, Total } from "./Ledger.ts"

export interface GateRules extends CircuitRules {
  /** `Control` of a tenant at its bound may use one reserved place, at most one per tenant. */
  readonly reservedForTenantControl: boolean
  /** The probe may use a reserved place when the ordinary ones are full. */
  readonly reservedProbe: boolean
}

export interface GateLimits {
  readonly concurrency: number
  readonly reservedControl: number
  readonly tenantConcurrency: number
}

export type Verdict = "success" | "failure" | "neutral"
export type Full = "ordinary" | "provider" | "tenant"

/** One call that was let in: its places and its pass. */
export class Entry {
  readonly pair: Pair
  readonly arrival: Class
  readonly pass: Pass
  /** True once the circuit has heard of it. */
  judged = false
  /** True until its places go back. */
  held = true
  /** True where it uses the extra place of its tenant's control calls. */
  readonly extra: boolean

  constructor(pair: Pair, arrival: Class, pass: Pass, extra: boolean) {
    this.pair = pair
    this.arrival = arrival
    this.pass = pass
    this.extra = extra
  }
}

export type Refusal =
  | { readonly kind: "open"; readonly shut: Shut }
  | { readonly kind: "full"; readonly scope: Full }

const none: ReadonlyArray<Ledger.Account<Group>> = []

export class Gate {
  readonly circuit: Circuit
  readonly keys: Keys
  readonly total: Total<Group>
  readonly #caps: { readonly places: Ledger.Cap; readonly tenant: Ledger.Cap }
  #rules: GateRules
  /** Tenants that have a call, which is more than to wait for one. */
  tenantsActive = 0
  /** Tenants whose control calls use their extra place. */
  readonly #extra = new Set<Pair>()

  constructor({ concurrency, reservedControl, tenantConcurrency }: GateLimits, rules: GateRules) {
    this.#caps = {
      places: new Ledger.Cap("total", concurrency),
      tenant: new Ledger.Cap("tenant", tenantConcurrency),
    }
    this.#rules = rules
    this.circuit = new Circuit(rules)
    this.keys = new Keys({
      pair: new Ledger.Cap("pair", Ledger.unlimited),
      provider: new Ledger.Cap("provider", Ledger.unlimited),
      tenant: this.#caps.tenant,
    })
    this.total = new Total(this.#caps.places, [0, reservedControl, 0, 0])
  }

  /**
   * Circuit, ordinary share, places, tenant: the first that fails. It changes nothing; a tenant without a record, which
   * holds nothing, is undefined.
   */
  refusal(pair: Pair | undefined, arrival: Class, now: number): Refusal | undefined {
    const shut = this.circuit.shut(now)
    if (shut !== undefined) return { kind: "open", shut }
    if (arrival > 1 && this.#ordinaryRoom < (this.#lendsToProbe ? 0 : 1)) return { kind: "full", scope: "ordinary" }
    if (this.total.used >= this.total.cap.limit) return { kind: "full", scope: "provider" }
    if (pair === undefined || Ledger.firstShort(pair.accountsOf(arrival), 1) === undefined) return undefined
    return this.#mayUseExtra(pair, arrival) ? undefined : { kind: "full", scope: "tenant" }
  }

  /** Takes what {@link refusal} has just not refused: the places and the pass, in one step. */
  enter(pair: Pair, arrival: Class, now: number): Entry {
    const accounts = pair.accountsOf(arrival)
    const extra = Ledger.firstShort(accounts, 1) !== undefined
    Ledger.charge(extra ? none : accounts, this.total, arrival, 1)
    if (extra) this.#extra.add(pair)
    this.keys.hold(pair)
    return this.#letIn(new Entry(pair, arrival, this.circuit.pass(now), extra))
  }

  /** Lets by a call whose places are charged already. */
  adopt(pair: Pair, arrival: Class, now: number): Entry {
    return this.#letIn(new Entry(pair, arrival, this.circuit.pass(now), false))
  }

  /** True where some call may have a place that is lent to it: one that is no account's to give. */
  get lends(): boolean {
    return this.#rules.reservedForTenantControl || this.#lendsToProbe
  }

  /** Whether one of the tenant's control calls uses their extra place. */
  hasExtra(pair: Pair): boolean {
    return this.#extra.has(pair)
  }

  /** Judges an entry, once: the circuit hears of it, or is freed of its probe. The places stay taken. */
  judge(entry: Entry, verdict: Verdict, now: number): CircuitEvent | undefined {
    if (entry.judged) return undefined
    entry.judged = true
    switch (verdict) {
      case "success":
        return this.circuit.succeed(entry.pass)
      case "failure":
        return this.circuit.fail(entry.pass, now)
      case "neutral":
        this.circuit.release(entry.pass)
        return undefined
    }
  }

  /** Gives the places back, once. */
  leave(entry: Entry): boolean {
    if (!entry.held) return false
    entry.held = false
    Ledger.refund(entry.extra ? none : entry.pair.accountsOf(entry.arrival), this.total, entry.arrival, 1)
    if (entry.extra) this.#extra.delete(entry.pair)
    if (--entry.pair.calls === 0) this.tenantsActive--
    this.keys.drop(entry.pair)
    return true
  }

  /**
   * The use that is above a limit it would have, if one is. A limit that does not fall is not looked at: a probe that was
   * lent a place is above the ordinary share, and rightly. O(records), since it looks at every account.
   */
  firstAbove({ concurrency, reservedControl, tenantConcurrency }: GateLimits): Ledger.Above | undefined {
    const { total } = this
    const places = (limit: number, use: number, now: number): Ledger.Above | undefined =>
      limit < now && use > limit ? { name: "total", limit, use } : undefined
    return places(concurrency, total.used, total.cap.limit) ??
      places(concurrency - reservedControl, total.sumOf(2), total.most(2)) ??
      // Each extra place of a tenant is a reserved one.
      places(reservedControl, this.#extra.size, total.reserves[1]!) ??
      (tenantConcurrency < this.#caps.tenant.limit
        ? Ledger.firstAbove([...this.keys.tenants.values()].map((each) => each.account), tenantConcurrency)
        : undefined)
  }

  /** Puts lower limits and rules in force; {@link firstAbove} has just found no use above them. */
  lower({ concurrency, reservedControl, tenantConcurrency }: GateLimits, rules: Partial<GateRules>): void {
    this.#caps.places.limit = concurrency
    this.#caps.tenant.limit = tenantConcurrency
    this.total.reserves[1] = reservedControl
    this.#rules = { ...this.#rules, ...rules }
    this.circuit.rules = this.#rules
  }

  #letIn(entry: Entry): Entry {
    if (entry.pair.calls++ === 0) this.tenantsActive++
    return entry
  }

  /**
   * A probe may use one reserved place, and is counted as what it is: ordinary work is then one above its share. Until it
   * is not, there is no second one, for a probe that is lost may hold its place for ever.
   */
  get #lendsToProbe(): boolean {
    return this.#rules.reservedProbe && !this.circuit.isClosed
  }

  /** Places left of what ordinary work may use; -1 while a probe has one more. */
  get #ordinaryRoom(): number {
    return this.total.most(2) - this.total.sumOf(2)
  }

  /** Never more extra places than are reserved: with none reserved there is none. */
  #mayUseExtra(pair: Pair, arrival: Class): boolean {
    return this.#rules.reservedForTenantControl && arrival === 1 && !this.#extra.has(pair) &&
      this.#extra.size < this.total.reserves[1]!
  }
}
