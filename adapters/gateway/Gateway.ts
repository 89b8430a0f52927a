/**
 * A started gateway: two listeners, one Admission, a gate a provider, and what they share. It owns all of them until its scope
 * closes, which cuts what is still under way; `drain` is the way to end without that.
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Admission from "../../core/Admission.ts"
import type { DrainReport } from "../../core/AdmissionSnapshot.ts"
import * as Deadline from "../../core/Deadline.ts"
import type { GateCapacity } from "../../core/GateRefused.ts"
import * as ProviderGates from "../../core/ProviderGates.ts"
import type { InvalidLimits, InvalidRequest } from "../../core/Refusal.ts"
import * as Bodies from "./Bodies.ts"
import * as CircuitLog from "./CircuitLog.ts"
import type { Config, Identity } from "./Config.ts"
import * as Handler from "./Handler.ts"
import * as Operator from "./Operator.ts"
import * as Overview from "./Overview.ts"
import type { Platform } from "./Platform.ts"
import * as Tenants from "./Tenants.ts"
import * as Traffic from "./Traffic.ts"
import * as Upstream from "./Upstream.ts"

type Served = Effect.Success<ReturnType<Platform["serve"]>>
type ServeFailed = Effect.Error<ReturnType<Platform["serve"]>>

export interface Gateway {
  /** `http://host:port` of each listener. */
  readonly url: string
  readonly operatorUrl: string
  readonly overview: Effect.Effect<Overview.Overview>
  /**
   * Takes no new connection, answers what still comes with 503, and lets what was accepted finish.
   *
   * Waits for the last byte of the last response, at most for the configured time. The report says what was still held.
   */
  readonly drain: Effect.Effect<DrainReport, InvalidRequest>
}

const keepAliveMillis = 5_000

/** A gateway without its listeners: two handlers, to be mounted wherever requests come from. */
export interface Mounted {
  readonly handler: Handler.Handler
  readonly operator: Handler.Handler
  readonly overview: Effect.Effect<Overview.Overview>
  readonly admission: Admission.Admission
}

/** The Admission, the gates and the handlers that stand on them. Nothing listens. */
export const mount = (
  config: Config,
  platform: Pick<Platform, "exchange">,
): Effect.Effect<Mounted, GateCapacity | InvalidLimits | InvalidRequest, Scope.Scope> =>
  Effect.gen(function* () {
    const parts = { config, bodies: yield* Bodies.make({ idle: config.http.bodyIdle }), traffic: Traffic.make() }
    const circuits = yield* CircuitLog.make
    const context = yield* Layer.build(layer(config, platform, circuits))
    const admission = Context.get(context, Admission.Admission)
    const gates = Context.get(context, ProviderGates.ProviderGates)
    const seen = { ...parts, admission, circuits, gates, upstream: Context.get(context, Upstream.Upstream) }
    const handler = yield* Effect.provide(Handler.make(parts), context)
    return { handler, operator: Operator.make(seen), overview: Overview.take(seen), admission }
  })

/** Starts both listeners. Nothing is listening if either fails. */
export const start = (
  config: Config,
  platform: Platform,
): Effect.Effect<Gateway, GateCapacity | InvalidLimits | InvalidRequest | ServeFailed, Scope.Scope> =>
  Effect.gen(function* () {
    const mounted = yield* mount(config, platform)
    const common = {
      maxHeaderBytes: config.http.maxHeaderBytes,
      maxConnections: config.http.maxConnections,
      headerTimeoutMillis: Duration.toMillis(config.http.headerTimeout),
      keepAliveMillis,
    }
    const operator = yield* platform.serve({ ...common, ...listenOf(config.operator), handler: mounted.operator })
    const gateway = yield* platform.serve({ ...common, ...listenOf(config.gateway), handler: mounted.handler })
    return {
      url: urlOf(gateway),
      operatorUrl: urlOf(operator),
      overview: mounted.overview,
      drain: drain(config, mounted.admission, gateway),
    }
  })

const layer = (
  config: Config,
  platform: Pick<Platform, "exchange">,
  circuits: CircuitLog.CircuitLog,
): Layer.Layer<
  Admission.Admission | ProviderGates.ProviderGates | Tenants.Tenants | Upstream.Upstream,
  InvalidLimits
> =>
  Layer.mergeAll(
    Admission.layer(config.admission),
    ProviderGates.layer({
      gate: (name) => ({ ...config.providers.get(name)?.gate, events: (event) => circuits.record(name, event) }),
      // One for each that there is, so that none ever gives way to another.
      maxGates: Math.max(1, config.providers.size),
    }),
    Upstream.layer(platform),
    Layer.succeed(Tenants.Tenants, tenantsOf(config.identity, config.tenants)),
  )

const tenantsOf = (identity: Identity, tenants: ReadonlyMap<string, Tenants.Tenant>): Tenants.Tenants =>
  identity.by === "bearer" ? Tenants.byToken(identity.tokens) : Tenants.byProxy({ ...identity, tenants })

const listenOf = ({ host, port }: { readonly host: string; readonly port: number }): {
  readonly host: string
  readonly port: number
} => ({ host, port })

const urlOf = ({ host, port }: Served): string => `http://${host.includes(":") ? `[${host}]` : host}:${port}`

const drain = (
  config: Config,
  admission: Admission.Admission,
  gateway: Served,
): Effect.Effect<DrainReport, InvalidRequest> =>
  Effect.gen(function* () {
    const deadline = yield* Deadline.after(config.drain)
    // The listener closes first, so that nothing new comes in; its end is waited for last, when places are free.
    const [report] = yield* Effect.all([
      admission.drain(deadline),
      gateway.close.pipe(Deadline.enforce, Deadline.provide(deadline), Effect.ignore),
    ], { concurrency: 2 })
    return report
  })
