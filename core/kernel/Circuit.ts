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
  /** How long a probe may stay unsettled; one that is out keeps what it started with. */
  readonly probeNanos: number
  /** Whether outcomes of an older generation count, as they do in breakers that know no generations. */
  readonly applyStale: boolean
}

export type CircuitState = "closed" | "open" | "half-open"

/** What admitted a call: settle it with this, once. */
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
  failures = 0
  generation = 0
  isClosed = true
  #openedNanos = 0
  /** The pass that has the mark. While it is closed one may be left, if outcomes of an older generation count. */
  #probe: Pass | undefined = undefined
  /** When the last probe passed, and how long it may stay unsettled. */
  probedNanos = 0
  #leaseNanos = 0

  constructor(rules: CircuitRules) {
    this.rules = rules
  }

  get state(): CircuitState {
    if (this.isClosed) return "closed"
    return this.#probe === undefined ? "open" : "half-open"
  }

  /** Undefined where a call could pass at `now`; it changes nothing. */
  shut(now: number): Shut | undefined {
    if (this.isClosed) return undefined
    const probing = this.#probe !== undefined && elapsed(this.probedNanos, now) < this.#leaseNanos
    const retryNanos = this.retryNanos(now)
    return probing || retryNanos > 0 ? { retryNanos, probing } : undefined
  }

  /** What is left of the opening; 0 while the circuit is closed. */
  retryNanos(now: number): number {
    return this.isClosed ? 0 : Math.max(0, this.rules.recoveryNanos - elapsed(this.#openedNanos, now))
  }

  /** Lets a call pass that {@link shut} has just not held back: as the probe, unless the circuit is closed. */
  pass(now: number): Pass {
    if (this.isClosed) return { generation: this.generation, probe: false }
    // The probe before, if one is out, has outlived its lease: whatever it tells later is of an older generation.
    if (this.#probe !== undefined) this.generation++
    this.probedNanos = now
    this.#leaseNanos = this.rules.probeNanos
    return this.#probe = { generation: this.generation, probe: true }
  }

  /** Ends a pass without judgement: the next caller may probe at once. */
  release(pass: Pass): void {
    if (pass === this.#probe) this.#probe = undefined
  }

  succeed(pass: Pass): CircuitEvent | undefined {
    this.release(pass)
    if (!this.#counts(pass)) return undefined
    this.failures = 0
    if (this.isClosed) return undefined
    this.isClosed = true
    this.generation++
    return "closed"
  }

  fail(pass: Pass, now: number): CircuitEvent | undefined {
    this.release(pass)
    if (!this.#counts(pass)) return undefined
    this.failures = Math.min(this.failures + 1, Number.MAX_SAFE_INTEGER)
    if (!pass.probe && this.failures < this.rules.failureThreshold) return undefined
    const event = this.isClosed ? "opened" : "reopened"
    this.isClosed = false
    this.#openedNanos = now
    this.generation++
    return event
  }

  isCurrent(pass: Pass): boolean {
    return pass.generation === this.generation
  }

  #counts(pass: Pass): boolean {
    return this.rules.applyStale || this.isCurrent(pass)
  }
}

/** Time that goes back is no time at all. */
const elapsed = (from: number, to: number): number => Math.max(0, to - from)
