/**
 * From a request to a tenant and a provider, before anything is charged. It owns nothing.
 *
 * In this order: the framing, the target, who asks, where to, what is expected, and whether the body is announced as too
 * large.
 */
import * as Effect from "effect/Effect"
import { Refusal } from "../../core/Refusal.ts"
import { BodyTooLarge } from "./Bodies.ts"
import type { Config, Provider } from "./Config.ts"
import * as Framing from "./Framing.ts"
import type { Fields } from "./Message.ts"
import * as Target from "./Target.ts"
import type { Tenants, Unauthenticated } from "./Tenants.ts"

/** `path` begins with `/` and keeps its query; `bytes` is the body's announced length, undefined for chunked. */
export interface Route {
  readonly tenant: string
  readonly provider: Provider
  readonly path: string
  readonly bytes: number | undefined
}

/** No provider of that name is configured. Nothing was charged. */
export class UnknownProvider extends Refusal {
  readonly _tag = "UnknownProvider"
  override readonly name = "UnknownProvider"
  readonly provider: string
  constructor(facts: { readonly provider: string }) {
    super()
    this.provider = facts.provider
  }
  override get message(): string {
    return `there is no provider ${this.provider}`
  }
}

/** The tenant may not use the provider. Nothing was charged. */
export class NotGranted extends Refusal {
  readonly _tag = "NotGranted"
  override readonly name = "NotGranted"
  readonly tenant: string
  readonly provider: string
  constructor(facts: { readonly tenant: string; readonly provider: string }) {
    super()
    this.tenant = facts.tenant
    this.provider = facts.provider
  }
  override get message(): string {
    return `tenant ${this.tenant} may not use provider ${this.provider}`
  }
}

/** What is looked at: never the URL of the Request, in which `..` is already resolved. */
export interface Asked {
  readonly method: string
  readonly target: string
  readonly version: string
  readonly fields: Fields
  readonly peer: string
}

export type Unroutable =
  | BodyTooLarge
  | Framing.BadFraming
  | Framing.ExpectationFailed
  | Framing.TooManyFields
  | NotGranted
  | Target.BadTarget
  | Target.TargetTooLong
  | Unauthenticated
  | UnknownProvider

/** Finds the route. Only who asks is told to `identified`, also where the rest is refused. */
export const find = (
  config: Config,
  tenants: Tenants,
  asked: Asked,
  identified: (tenant: string) => void,
): Effect.Effect<Route, Unroutable> =>
  Effect.gen(function* () {
    const framing = yield* Framing.read(asked, config.http.maxHeaderLines)
    const target = yield* Target.parse(asked.target, config.http.maxTargetBytes)
    const tenant = yield* tenants.resolve(asked)
    identified(tenant.name)
    const provider = config.providers.get(target.provider)
    if (provider === undefined) return yield* new UnknownProvider({ provider: target.provider })
    if (!tenant.providers.has(provider.name)) {
      return yield* new NotGranted({ tenant: tenant.name, provider: provider.name })
    }
    yield* Framing.expects(asked.fields)
    const limit = config.http.maxBodyBytes
    if ((framing.bytes ?? 0) > limit) return yield* new BodyTooLarge({ limit })
    return { tenant: tenant.name, provider, path: target.path, bytes: framing.bytes }
  })
