/**
 * What a provider gate answers in place of a permit, and what it says of a permit that is misused. After a refusal the
 * caller holds nothing and nothing has changed. None of them names a tenant, or tells what the provider answered.
 */
import type * as Duration from "effect/Duration"
import * as Deadline from "./Deadline.ts"
import type { Shut } from "./kernel/Circuit.ts"
import { Refusal } from "./Refusal.ts"

/**
 * The provider has failed too often and is left alone: nobody passes, whatever the priority.
 *
 * `retryAfter` is how long the opening lasts still, zero while a probe is out; `probing` says that one is. `provider` is
 * the key of its gate among `ProviderGates`; a gate or breaker of its own has none.
 */
export class CircuitOpen extends Refusal {
  readonly _tag = "CircuitOpen"
  override readonly name = "CircuitOpen"
  readonly retryAfter: Duration.Duration
  readonly probing: boolean
  readonly provider: string | undefined
  constructor(
    facts: {
      readonly retryAfter: Duration.Duration
      readonly probing: boolean
      readonly provider?: string | undefined
    },
  ) {
    super()
    this.retryAfter = facts.retryAfter
    this.probing = facts.probing
    this.provider = facts.provider
  }
  override get message(): string {
    const whose = this.provider === undefined ? "" : ` of ${this.provider}`
    return this.probing
      ? `the circuit${whose} is open: a probe is out`
      : `the circuit${whose} is open for ${Deadline.shown(this.retryAfter)}`
  }
}

/** What a caller is told of a circuit that is shut. */
export const circuitOpen = ({ probing, retryNanos }: Shut, provider?: string): CircuitOpen =>
  new CircuitOpen({ retryAfter: Deadline.nanos(retryNanos), probing, provider })

/** No place: ordinary work has used its share, the provider its places, or the tenant its own. */
export class Saturated extends Refusal {
  readonly _tag = "Saturated"
  override readonly name = "Saturated"
  readonly scope: "ordinary" | "provider" | "tenant"
  constructor(facts: { readonly scope: "ordinary" | "provider" | "tenant" }) {
    super()
    this.scope = facts.scope
  }
  override get message(): string {
    return `no place: ${
      this.scope === "ordinary" ? "ordinary work has all that it may use" : `the ${this.scope} is full`
    }`
  }
}

/** The permit was settled before, or belongs to another gate. Nothing has changed. */
export class PermitMisuse extends Refusal {
  readonly _tag = "PermitMisuse"
  override readonly name = "PermitMisuse"
  readonly reason: "already-settled" | "foreign-gate"
  constructor(facts: { readonly reason: "already-settled" | "foreign-gate" }) {
    super()
    this.reason = facts.reason
  }
  override get message(): string {
    return this.reason === "already-settled"
      ? "the permit was settled before"
      : "the permit was not given out by this gate"
  }
}

/** `run` only: the work took longer than `maxElapsed`. It was interrupted and has ended; its places are free again. */
export class CallTimedOut extends Refusal {
  readonly _tag = "CallTimedOut"
  override readonly name = "CallTimedOut"
  readonly after: Duration.Duration
  constructor(facts: { readonly after: Duration.Duration }) {
    super()
    this.after = facts.after
  }
  override get message(): string {
    return `the call took longer than ${Deadline.shown(this.after)}`
  }
}

/** `ProviderGates` only: as many gates are kept as may be, and none of them is idle and closed. */
export class GateCapacity extends Refusal {
  readonly _tag = "GateCapacity"
  override readonly name = "GateCapacity"
  readonly limit: number
  constructor(facts: { readonly limit: number }) {
    super()
    this.limit = facts.limit
  }
  override get message(): string {
    return `${this.limit} gates are in use, and no more are kept`
  }
}
