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

export type Verdict = "success" | "failure" | "neutral"
export type Full = "ordinary" | "provider" | "tenant"

/** One call that was let in: its places and its pass. `held` ends when the places go back. */
export class Entry {
  readonly pair: Pair
  readonly arrival: Class
  readonly pass: Pass
  /** True while the outcome has not been judged. */
  judged = false
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
  readonly rules: GateRules
  /** Tenants whose control calls use their extra place. */
  readonly #extra = new Set<Pair>()

  constructor(
    caps: { readonly places: Ledger.Cap; readonly tenant: Ledger.Cap },
    reservedControl: number,
    rules: GateRules,
  ) {
    const unlimited = Ledger.unlimited
    this.rules = rules
    this.circuit = new Circuit(rules)
    this.keys = new Keys({
      pair: new Ledger.Cap("pair", unlimited),
      provider: new Ledger.Cap("provider", unlimited),
      tenant: caps.tenant,
    })
    this.total = new Total(caps.places, [0, reservedControl, 0, 0])
  }

  /** Circuit, ordinary share, places, tenant: the first that fails. It changes nothing. */
  refusal(pair: Pair, arrival: Class, now: number): Refusal | undefined {
    const shut = this.circuit.shut(now)
    if (shut !== undefined) return { kind: "open", shut }
    // A probe that may use a reserve is let by as control is; what it holds is counted as what it is.
    const asControl = this.rules.reservedProbe && this.circuit.state !== "closed"
    if (arrival > 1 && !asControl && this.#ordinaryRoom < 1) return { kind: "full", scope: "ordinary" }
    if (this.total.used >= this.total.cap.limit) return { kind: "full", scope: "provider" }
    if (Ledger.firstShort(pair.accountsOf(arrival), 1) === undefined || this.#mayUseExtra(pair, arrival)) {
      return undefined
    }
    return { kind: "full", scope: "tenant" }
  }

  /** Takes what {@link refusal} has just not refused: the places and the pass, in one step. */
  enter(pair: Pair, arrival: Class, now: number): Entry {
    const accounts = pair.accountsOf(arrival)
    const extra = Ledger.firstShort(accounts, 1) !== undefined
    Ledger.charge(extra ? none : accounts, this.total, arrival, 1)
    if (extra) this.#extra.add(pair)
    this.keys.hold(pair)
    return new Entry(pair, arrival, this.circuit.pass(now), extra)
  }

  /** Lets by a call whose places are charged already. */
  adopt(pair: Pair, arrival: Class, now: number): Entry {
    return new Entry(pair, arrival, this.circuit.pass(now), false)
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
    this.keys.drop(entry.pair)
    return true
  }

  /** Places left of what ordinary work may use. */
  get #ordinaryRoom(): number {
    return this.total.most(2) - this.total.sumOf(2)
  }

  #mayUseExtra(pair: Pair, arrival: Class): boolean {
    return this.rules.reservedForTenantControl && arrival === 1 && !this.#extra.has(pair)
  }
}
