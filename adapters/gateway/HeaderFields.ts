/**
 * Which header lines cross the gateway, and which end here. It owns nothing.
 *
 * Toward the provider: no hop-by-hop line, none that `Connection` names, nothing that proves or names the client (its
 * credential, cookies, address), nothing that claims another host or path. Toward the client: no hop-by-hop line, nothing
 * that a browser would keep for the gateway's whole origin, and nothing that commands the server in front of it. An address
 * that we add would tell outside providers about inside clients, so `x-forwarded-*` is dropped and not written anew.
 *
 * Claims are dropped by the names that servers and frameworks are known to believe, families of them by their pattern. What
 * only speaks for its own request or response passes: another method (`x-http-method-override`), which no rule here rests
 * on, a key that the client has for the provider (`x-api-key`), a page's own policies, CORS.
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
  "cookie2",
  "host",
  "content-length",
  "expect",
  "forwarded",
  "via",
  "x-host",
  "x-host-override",
  "x-http-host",
  "x-http-host-override",
  "x-override-url",
  "x-rewrite-url",
])

/** `x-forwarded`, `x-original-url`, `x-envoy-original-path`, … */
const places = /^x-forwarded(-|$)|^x-([a-z]+-)?original-/
/** `x-real-ip`, `cf-connecting-ip`, `x-remote-addr`, `x-azure-clientip`, … */
const addresses = /(^|-)(client|connecting|external|originating|real|remote|source|user)-?(ip|ipv6|addr|address)$/

const endsAtProvider: ReadonlySet<string> = new Set([
  "accept-ch",
  "alt-svc",
  "clear-site-data",
  "critical-ch",
  "expect-ct",
  "nel",
  "origin-agent-cluster",
  "public-key-pins",
  "public-key-pins-report-only",
  "report-to",
  "service-worker-allowed",
  "set-cookie",
  "set-cookie2",
  "set-login",
  "strict-transport-security",
  "via",
])

/** `x-accel-redirect` and its kin make the server in front of the gateway read files of its own, or change its limits. */
const commands = /^x-accel-|^x-(lighttpd-)?send-?file/

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
    !places.test(name) && !addresses.test(name) && !name.startsWith("holdfast-")
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
    !hopByHop.has(name) && !endsAtProvider.has(name) && !named.has(name) && !commands.test(name) &&
    !name.startsWith("holdfast-")
  const kept = fields.filter(([name]) => passes(folded(name)))
  return [...kept, ["via", viaOf(fields)]]
}

const viaOf = (fields: Fields): string =>
  [...fields.filter(([name]) => name.toLowerCase() === "via").map(([, value]) => value), "1.1 holdfast"].join(", ")
