/**
 * Which header lines cross the gateway, and which end here. It owns nothing.
 *
 * Toward the provider: no hop-by-hop line, none that `Connection` names, nothing that proves or names the client (its
 * credentials, cookies, address), nothing that claims another host or path. Toward the client: no hop-by-hop line, and
 * nothing that would make the provider speak for the gateway's whole origin. An address that we add would tell outside
 * providers about inside clients, so `x-forwarded-*` is dropped and not written anew.
 */
import type { Fields } from "./Message.ts"

const hopByHop: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authentication-info",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "http2-settings",
])

const endsAtGateway: ReadonlySet<string> = new Set([
  "authorization",
  "cookie",
  "host",
  "content-length",
  "expect",
  "forwarded",
  "via",
  "x-real-ip",
  "x-client-ip",
  "true-client-ip",
  "cf-connecting-ip",
  "x-original-url",
  "x-rewrite-url",
])

const endsAtProvider: ReadonlySet<string> = new Set([
  "set-cookie",
  "alt-svc",
  "clear-site-data",
  "strict-transport-security",
  "via",
])

/** Lines of the hop itself: the gateway writes those that it needs. Who signs in at a proxy in between may need its own. */
export const isOfHop = (name: string): boolean =>
  (hopByHop.has(folded(name)) && name.toLowerCase() !== "proxy-authorization") ||
  ["content-length", "expect", "host", "via"].includes(folded(name))

/** Names that CGI-like upstreams fold together are one name here, so `X_Forwarded_For` is no way around. */
const folded = (name: string): string => name.toLowerCase().replaceAll("_", "-")

const namedByConnection = (fields: Fields): ReadonlySet<string> =>
  new Set(
    fields.filter(([name]) => folded(name) === "connection")
      .flatMap(([, value]) => value.split(",").map((token) => folded(token.trim()))),
  )

/**
 * The lines that a provider gets: the client's in their order, less those that end here, and `via`.
 *
 * `identity` is the header that a trusted proxy names the tenant with.
 */
export const toProvider = (fields: Fields, identity: string | undefined): Fields => {
  const named = namedByConnection(fields)
  const passes = (name: string): boolean =>
    !hopByHop.has(name) && !endsAtGateway.has(name) && !named.has(name) && name !== identity &&
    !name.startsWith("x-forwarded-") && !name.startsWith("holdfast-")
  const kept = fields.filter(([name]) => passes(folded(name)))
  return [...kept.map(([name, value]) => [name.toLowerCase(), value] as const), ["via", viaOf(fields)]]
}

/** Lines of our own in place of any that were there under the same names. */
export const replaced = (fields: Fields, own: Fields): Fields => {
  const ours = new Set(own.map(([name]) => folded(name)))
  return [...fields.filter(([name]) => !ours.has(folded(name))), ...own]
}

/** The lines that a client gets: the provider's, less those that end here, and `via`. */
export const toClient = (fields: Fields): Fields => {
  const named = namedByConnection(fields)
  const passes = (name: string): boolean =>
    !hopByHop.has(name) && !endsAtProvider.has(name) && !named.has(name) && !name.startsWith("holdfast-")
  const kept = fields.filter(([name]) => passes(folded(name)))
  return [...kept, ["via", viaOf(fields)]]
}

const viaOf = (fields: Fields): string =>
  [...fields.filter(([name]) => name.toLowerCase() === "via").map(([, value]) => value), "1.1 holdfast"].join(", ")
