/**
 * What an operator sees of the gateway at one moment: counts, and by name who holds and who waits. It owns nothing.
 *
 * Tenants and providers are the configuration's; tokens and other secrets are nowhere in it.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Admission } from "../../core/Admission.ts"
import type { AdmissionSnapshot } from "../../core/AdmissionSnapshot.ts"
import type { Bodies } from "./Bodies.ts"
import type { Config } from "./Config.ts"
import type { Row, Traffic, Waits } from "./Traffic.ts"
import type { Upstream } from "./Upstream.ts"

export interface Parts {
  readonly config: Config
  readonly admission: Admission
  readonly bodies: Bodies
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

/** Everything at one moment. `holders` are the first 500 of them, and `holdersOmitted` says how many more there are. */
export interface Overview {
  readonly admission: AdmissionSnapshot
  /** Connections to providers that are not closed yet, and bodies under way. */
  readonly upstream: { readonly open: number }
  readonly bodies: { readonly live: number }
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
