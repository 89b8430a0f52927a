/**
 * What an operator sees of the gateway at one moment: counts, and by name who holds and who waits. It owns nothing.
 *
 * Tenants and providers are the configuration's; tokens and other secrets are nowhere in it.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Admission } from "../../core/Admission.ts"
import type { AdmissionSnapshot } from "../../core/AdmissionSnapshot.ts"
import type { GateSnapshot } from "../../core/GateSnapshot.ts"
import type { ProviderGates } from "../../core/ProviderGates.ts"
import type { Bodies } from "./Bodies.ts"
import type { Change, CircuitLog } from "./CircuitLog.ts"
import type { Config } from "./Config.ts"
import type { Row, Traffic, Waits } from "./Traffic.ts"
import type { Upstream } from "./Upstream.ts"

export interface Parts {
  readonly config: Config
  readonly admission: Admission
  readonly bodies: Bodies
  readonly circuits: CircuitLog
  readonly gates: ProviderGates
  readonly traffic: Traffic
  readonly upstream: Upstream
}

/** One that holds or waits; `ageMillis` since it was let in, or since it began to wait. */
export interface Shown {
  readonly tenant: string
  readonly provider: string | undefined
  readonly priority: string
  readonly cost: number
  readonly state: "held" | "waiting"
  readonly ageMillis: number
}

/** A provider's gate: the counts of its snapshot, what they are of, and its circuit in words. */
export interface ShownGate extends Omit<GateSnapshot, "circuit"> {
  readonly provider: string
  readonly concurrency: number
  readonly tenantConcurrency: number
  /** An opening that is over still shows as open, with 0 to wait, until a call comes and is its probe. */
  readonly circuit: "closed" | "open" | "half-open"
  /** In a row, while it is closed. */
  readonly consecutiveFailures: number
  readonly retryAfterMillis: number
}

/** Everything at one moment. `holders` are the first 500 of them, and `holdersOmitted` says how many more there are. */
export interface Overview {
  readonly admission: AdmissionSnapshot
  /** Connections to providers that are not closed yet, and bodies under way. */
  readonly upstream: { readonly open: number }
  readonly bodies: { readonly live: number }
  readonly gates: ReadonlyArray<ShownGate>
  /** The last hundred changes of circuits, oldest first. */
  readonly changes: ReadonlyArray<Change>
  readonly providers: ReadonlyArray<string>
  readonly tenants: ReadonlyArray<string>
  readonly requests: ReadonlyArray<Row>
  readonly waits: ReadonlyArray<Waits>
  readonly holders: ReadonlyArray<Shown>
  readonly holdersOmitted: number
}

const maxHolders = 500

/** Reads the counts one after another; between two of them a request may move. */
export const take = (parts: Parts): Effect.Effect<Overview> =>
  Effect.gen(function* () {
    const holders = yield* parts.admission.holders
    return {
      admission: yield* parts.admission.snapshot,
      upstream: { open: yield* parts.upstream.open },
      bodies: { live: yield* parts.bodies.live },
      gates: yield* shownGates(parts),
      changes: yield* parts.circuits.recent,
      providers: [...parts.config.providers.keys()],
      tenants: [...parts.config.tenants.keys()],
      requests: yield* parts.traffic.rows,
      waits: yield* parts.traffic.waits,
      holders: holders.slice(0, maxHolders).map(({ tenant, provider, priority, cost, state, age }) => ({
        tenant,
        provider,
        priority,
        cost,
        state,
        ageMillis: Math.round(Duration.toMillis(age)),
      })),
      holdersOmitted: Math.max(0, holders.length - maxHolders),
    }
  })

const shownGates = ({ config, gates }: Parts): Effect.Effect<ReadonlyArray<ShownGate>> =>
  Effect.map(
    gates.snapshotAll,
    (all) =>
      [...config.providers.values()].flatMap(({ name, gate: { concurrency, tenantConcurrency } }) => {
        const snapshot = all.get(name)
        if (snapshot === undefined) return []
        const { circuit, ...counts } = snapshot
        return [{
          provider: name,
          concurrency,
          tenantConcurrency,
          circuit: circuit.state,
          consecutiveFailures: circuit.state === "closed" ? circuit.failures : 0,
          retryAfterMillis: circuit.state === "open" ? Math.ceil(Duration.toMillis(circuit.retryAfter)) : 0,
          ...counts,
        }]
      }),
  )
