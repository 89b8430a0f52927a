/**
 * What a provider gate tells of itself: counts taken in one step, so that they agree, and no name. Owns nothing.
 */
import type * as Duration from "effect/Duration"
import * as Deadline from "./Deadline.ts"
import type { Gate } from "./kernel/Gate.ts"
import { frozen } from "./Snapshot.ts"

export interface GateSnapshot {
  /** Calls that hold a place; of them ordinary ones (normal and notification) and emergencies. */
  readonly held: number
  readonly heldOrdinary: number
  readonly heldEmergency: number
  /** Tenants that hold a permit. */
  readonly tenantsActive: number
  /** An opening whose time has passed still shows as open, until somebody enters. */
  readonly circuit:
    | { readonly state: "closed"; readonly failures: number }
    | { readonly state: "open"; readonly retryAfter: Duration.Duration }
    | { readonly state: "half-open" }
  /** Rises whenever the circuit opens or closes, and when a probe expires. */
  readonly generation: number
  /** Totals since it was made. `stale` outcomes were of an older generation. */
  readonly granted: number
  readonly saturated: Readonly<Record<"ordinary" | "provider" | "tenant", number>>
  readonly refusedOpen: number
  readonly successes: number
  readonly failures: number
  readonly neutral: number
  readonly stale: number
  readonly opened: number
  readonly timedOut: number
}

/** Totals since a gate was made. Mutable: its owner counts here. */
export interface Totals {
  granted: number
  readonly saturated: Record<"ordinary" | "provider" | "tenant", number>
  refusedOpen: number
  successes: number
  failures: number
  neutral: number
  stale: number
  opened: number
  timedOut: number
}

export const totals = (): Totals => ({
  granted: 0,
  saturated: { ordinary: 0, provider: 0, tenant: 0 },
  refusedOpen: 0,
  successes: 0,
  failures: 0,
  neutral: 0,
  stale: 0,
  opened: 0,
  timedOut: 0,
})

/** The counts of a gate at `now`. O(1). */
export const of = (gate: Gate, counted: Totals, now: number): GateSnapshot => {
  const { circuit, tenantsActive, total } = gate
  const retryAfter = Deadline.nanos(circuit.retryNanos(now))
  return frozen({
    held: total.used,
    heldOrdinary: total.units[2] + total.units[3],
    heldEmergency: total.units[0],
    tenantsActive,
    circuit: circuit.state === "closed"
      ? { state: circuit.state, failures: circuit.failures }
      : circuit.state === "open"
      ? { state: circuit.state, retryAfter }
      : { state: circuit.state },
    generation: circuit.generation,
    ...counted,
    saturated: { ...counted.saturated },
  })
}
