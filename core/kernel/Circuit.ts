/**
 * A circuit: closed, open, or half-open with one probe. Every (state, event) pair has one answer, and time is an argument.
 *
 * A pass carries the generation it was admitted in; the number rises whenever the circuit opens or closes and when a probe
 * expires, so the outcome of an older generation changes nothing. A probe is a lease: unsettled for too long, it is lost.
 */
export interface CircuitRules {
  /** Failures in a row that open it. */
  readonly failureThreshold: number
  /** How long it stays open before a probe may pass. */
  readonly recoveryNanos: number
  /** How long a probe may stay unsettled. */
  readonly probeNanos: number
  /** Whether outcomes of an older generation count, as they do in breakers that know no generations. */
  readonly applyStale: boolean
}

export type CircuitState = "closed" | "open" | "half-open"

/** What admitted a call: settle it with this. */
export interface Pass {
  readonly generation: number
  readonly probe: boolean
}

/** Nobody passes: how long the opening still lasts, and whether a probe is out. */
export interface Shut {
  readonly retryNanos: number
  readonly probing: boolean
}

export type CircuitEvent = "opened" | "probing" | "closed" | "reopened"

export class Circuit {
  rules: CircuitRules
  state: CircuitState = "closed"
  failures = 0
  generation = 0
  #openedNanos = 0
  #probedNanos = 0

  constructor(rules: CircuitRules) {
    this.rules = rules
  }

  /** Undefined where a call could pass at `now`; it changes nothing. */
  shut(now: number): Shut | undefined {
    if (this.state === "closed") return undefined
    const probing = this.state === "half-open"
    if (probing && elapsed(this.#probedNanos, now) >= this.rules.probeNanos) return undefined
    const retryNanos = this.retryNanos(now)
    return probing || retryNanos > 0 ? { retryNanos, probing } : undefined
  }

  /** What is left of the opening; 0 while the circuit is closed. */
  retryNanos(now: number): number {
    return this.state === "closed" ? 0 : Math.max(0, this.rules.recoveryNanos - elapsed(this.#openedNanos, now))
  }

  /** Lets a call pass that {@link shut} has just not held back: as the probe, unless the circuit is closed. */
  pass(now: number): Pass {
    if (this.state === "closed") return { generation: this.generation, probe: false }
    // The probe before, if one is out, has outlived its lease: whatever it tells later is of an older generation.
    if (this.state === "half-open") this.generation++
    this.state = "half-open"
    this.#probedNanos = now
    return { generation: this.generation, probe: true }
  }

  /** Ends a pass without judgement. */
  release(pass: Pass): void {
    if (pass.probe && this.state === "half-open" && this.isCurrent(pass)) this.state = "open"
  }

  succeed(pass: Pass): CircuitEvent | undefined {
    if (!this.isCurrent(pass) && !this.rules.applyStale) return undefined
    this.failures = 0
    if (this.state === "closed") return undefined
    this.state = "closed"
    this.generation++
    return "closed"
  }

  fail(pass: Pass, now: number): CircuitEvent | undefined {
    if (!this.isCurrent(pass) && !this.rules.applyStale) return undefined
    const probed = this.state === "half-open" && pass.probe && this.isCurrent(pass)
    this.failures = Math.min(this.failures + 1, Number.MAX_SAFE_INTEGER)
    if (!probed && this.failures < this.rules.failureThreshold) return undefined
    const was = this.state
    this.state = "open"
    this.#openedNanos = now
    this.generation++
    return was === "closed" ? "opened" : "reopened"
  }

  /** True where the outcome of `pass` counts. */
  isCurrent(pass: Pass): boolean {
    return pass.generation === this.generation
  }
}

/** Time that goes back is no time at all. */
const elapsed = (from: number, to: number): number => Math.max(0, to - from)
