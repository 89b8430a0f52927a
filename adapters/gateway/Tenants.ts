/**
 * Who is asking: the port that tells, and its two implementations. A client never names its tenant; it proves it.
 *
 * By bearer token, of which the configuration holds SHA-256 hashes alone, or by a header that is believed only from the
 * addresses of proxies that are listed. It owns the hashes; a token lives no longer than the call.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { createHash, timingSafeEqual } from "node:crypto"
import { Refusal } from "../../core/Refusal.ts"
import * as Address from "./Address.ts"
import { valuesOf } from "./Framing.ts"
import type { Fields } from "./Message.ts"

export interface Tenant {
  readonly name: string
  readonly providers: ReadonlySet<string>
}

/** What a resolver may look at: the header lines as sent, and the address at the other end. */
export interface Claim {
  readonly fields: Fields
  readonly peer: string
}

/** Nobody that we know. Says what is expected and never what was sent. Nothing was charged. */
export class Unauthenticated extends Refusal {
  readonly _tag = "Unauthenticated"
  override readonly name = "Unauthenticated"
  readonly rule: string
  constructor(facts: { readonly rule: string }) {
    super()
    this.rule = facts.rule
  }
  override get message(): string {
    return `a request must ${this.rule}`
  }
}

/** Asked once a request, before anything is charged. */
export interface Tenants {
  readonly resolve: (claim: Claim) => Effect.Effect<Tenant, Unauthenticated>
  /** The header that names the tenant where a proxy does; it is never passed on. Asked once a request. */
  readonly header: string | undefined
}

export const Tenants: Context.Service<Tenants, Tenants> = Context.Service("holdfast/gateway/Tenants")

/** `hash` is the SHA-256 of the token's bytes. */
export interface Token {
  readonly hash: Uint8Array
  readonly tenant: Tenant
}

const maxTokenLength = 1_024
const bearer = /^bearer ([A-Za-z0-9._~+/-]+=*)$/i

/**
 * By `authorization: Bearer {token}`, on exactly one line.
 *
 * Every known hash is compared in constant time whether one matched or not, so a call takes 0.1 µs a token.
 */
export const byToken = (tokens: ReadonlyArray<Token>): Tenants => {
  const rule = "carry one known bearer token"
  const find = (token: string): Tenant | undefined => {
    const hash = createHash("sha256").update(token, "latin1").digest()
    let found: Tenant | undefined
    for (const known of tokens) if (timingSafeEqual(known.hash, hash)) found = known.tenant
    return found
  }
  return {
    header: undefined,
    resolve: (claim) =>
      Effect.suspend(() => {
        const lines = valuesOf(claim.fields, "authorization")
        const token = lines.length === 1 && lines[0]!.length <= maxTokenLength ? bearer.exec(lines[0]!)?.[1] : undefined
        const tenant = token === undefined ? undefined : find(token)
        return tenant === undefined ? Effect.fail(new Unauthenticated({ rule })) : Effect.succeed(tenant)
      }),
  }
}

/**
 * By one line of `header`, from one of `addresses` alone, in whichever way an address is written; what is none is nobody's.
 * An IPv4 address inside an IPv6 one counts as itself.
 */
export const byProxy = (options: {
  readonly header: string
  readonly addresses: ReadonlySet<string>
  readonly tenants: ReadonlyMap<string, Tenant>
}): Tenants => {
  const known = new Set([...options.addresses].map(Address.canonical))
  return {
    header: options.header,
    resolve: (claim) =>
      Effect.suspend(() => {
        const lines = valuesOf(claim.fields, options.header)
        const peer = Address.canonical(claim.peer)
        const trusted = peer !== undefined && known.has(peer)
        const tenant = trusted && lines.length === 1 ? options.tenants.get(lines[0]!) : undefined
        if (tenant !== undefined) return Effect.succeed(tenant)
        return Effect.fail(new Unauthenticated({ rule: "come through a known proxy that names a known tenant" }))
      }),
  }
}
