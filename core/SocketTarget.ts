/**
 * Whom to dial and how, and the rules that this is checked by at the door. It owns nothing; what is secret in it is
 * `Redacted`, and no error shows it.
 */
import type * as Duration from "effect/Duration"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { millisOf } from "./Deadline.ts"
import { utf8Bytes, wholeRule } from "./Limits.ts"
import { InvalidRequest } from "./Refusal.ts"

/** A certificate of one's own for peers that ask for one, all in PEM. */
export interface ClientCertificate {
  /** The certificate, and those between it and its authority behind it. */
  readonly chain: string
  readonly key: Redacted.Redacted<string>
  readonly passPhrase?: Redacted.Redacted<string> | undefined
}

/** TLS 1.2 or 1.3, always with the peer's certificate and name checked. Certificates are read once an object: keep it. */
export interface Tls {
  /** The name that is asked for and that the certificate must have; the target's host by default. */
  readonly serverName?: string | undefined
  /** Authorities in PEM, in the place of those that the runtime trusts. */
  readonly ca?: string | ReadonlyArray<string> | undefined
  readonly certificate?: ClientCertificate | undefined
  /** Application protocols in the order of preference (ALPN, RFC 7301), such as `["h2", "http/1.1"]`; none by default. */
  readonly protocols?: ReadonlyArray<string> | undefined
}

export interface SocketOptions {
  readonly tls?: Tls | undefined
  /** Bytes that are kept for whoever reads later, before the peer is made to wait; 65,536 by default, up to 16 MiB. */
  readonly maxReadBytes?: number | undefined
}

/** A host by name or by address. */
export interface HostTarget extends SocketOptions {
  readonly host: string
  readonly port: number
  /** The address of this machine that the connection comes from. */
  readonly localAddress?: string | undefined
  /** Small writes go out at once (`TCP_NODELAY`); true by default. A boolean, since that is what the field calls it. */
  readonly noDelay?: boolean | undefined
  /** How long nothing may come before the system probes the peer: 1 second to 1 day; no probes by default. */
  readonly keepAlive?: Duration.Input | undefined
}

/** A socket in the file system. */
export interface PathTarget extends SocketOptions {
  readonly path: string
}

export type Target = HostTarget | PathTarget

/** An address of a peer; `family` is undefined where the runtime looks names up itself. */
export interface Address {
  readonly ip: string
  readonly family: 4 | 6 | undefined
}

/** A target that keeps the rules, with its defaults. */
export type Plan = HostPlan | PathPlan

export interface HostPlan extends SocketPlan {
  readonly path?: undefined
  readonly host: string
  /** Undefined where the host is a name. */
  readonly family: 4 | 6 | undefined
  readonly port: number
  readonly local: Address | undefined
  readonly noDelay: boolean
  /** Zero for none. */
  readonly keepAliveMillis: number
}

export interface PathPlan extends SocketPlan {
  readonly path: string
}

export interface SocketPlan {
  readonly tls: Tls | undefined
  /** What the certificate must have, where there is TLS. */
  readonly serverName: string
  readonly maxReadBytes: number
}

const octet = "(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)"
const ipv4 = new RegExp(`^${octet}(\\.${octet}){3}$`)

/** Which kind of address a text is; undefined where it is a name. */
export const familyOf = (host: string): 4 | 6 | undefined => ipv4.test(host) ? 4 : isIpv6(host) ? 6 : undefined

/**
 * As RFC 4291 writes them, with a zone (RFC 4007) behind or none. What runtimes do not take for an address as well they would
 * look up by themselves, uncounted: a zone with an underscore, which then has to be given by its number.
 */
const isIpv6 = (host: string): boolean => {
  const [address = "", ...zones] = host.split("%")
  if (zones.length > 1 || !zones.every((zone) => /^[\da-z.-]{1,32}$/i.test(zone))) return false
  const halves = address.split("::")
  if (halves.length > 2 || !address.includes(":")) return false
  const groups = halves.flatMap((half) => half === "" ? [] : half.split(":"))
  const last = groups.at(-1) ?? ""
  const embeds = last.includes(".")
  // An address of version 4 is within one at its end alone.
  if (embeds && !(ipv4.test(last) && address.endsWith(last))) return false
  const count = groups.length + (embeds ? 1 : 0)
  return (embeds ? groups.slice(0, -1) : groups).every((group) => /^[\da-f]{1,4}$/i.test(group)) &&
    (halves.length === 2 ? count < 8 : count === 8)
}

/** One of version 4 in the form of one of version 6, whose socket leads to such ones alone; systems tell of that in many ways. */
const mapped = /^[0:]*:ffff:([\da-f]{1,4}:[\da-f]{1,4}|\d+\.[\d.]+)$/i

/**
 * Shows the value if it is given; of a text only what is behind an `@`: a URL in the place of a host may have a password before
 * it.
 */
const refused = (field: string, rule: string, ...given: readonly [value?: unknown]): InvalidRequest => {
  const [value] = given
  const shown = typeof value === "string" ? value.slice(value.lastIndexOf("@") + 1) : value
  return new InvalidRequest({ field, rule, ...given.length === 0 ? {} : { value: shown } })
}

/** Labels of letters, digits, hyphens and underscores; a point at the end is allowed. */
const isName = (value: unknown): value is string =>
  typeof value === "string" && value.length <= 253 && /^([\w]([\w-]{0,61}\w)?\.)*\w([\w-]{0,61}\w)?\.?$/.test(value)

/**
 * What ends in a number, of digits or in hexadecimal, is an address of version 4 in a form of its own (WHATWG URL, "ends in a
 * number checker"): a system that reads one would dial elsewhere than whoever looked at the text had thought.
 */
const isHostName = (value: unknown): value is string => isName(value) && !/(^|\.)(\d+|0x[\da-f]*)\.?$/i.test(value)

const isHost = (value: unknown): value is string =>
  typeof value === "string" && (familyOf(value) !== undefined || isHostName(value))

const isPem = (value: unknown): value is string => typeof value === "string" && value.includes("-----BEGIN ")
const isSecret = (value: unknown): boolean => Redacted.isRedacted(value) && typeof Redacted.value(value) === "string"

/** The longest path that fits an address of every system: 103 bytes, and the end of the text. */
const maxPathBytes = 103
const day = 86_400_000
const defaultReadBytes = 65_536
const maxProtocols = 16

/** What breaks a rule in how to dial, or the plan. */
export const decode = (target: Target): Result.Result<Plan, InvalidRequest> => {
  const plan = planOf(target)
  return plan instanceof InvalidRequest ? Result.fail(plan) : Result.succeed(plan)
}

/** Its first field that is none of those `known`; one that is misspelled would be left out without a word. */
const strange = (value: object | undefined, known: ReadonlyArray<string>, within = ""): InvalidRequest | undefined => {
  for (const field in value) {
    if (!known.includes(field)) return refused(`${within}${field}`, `one of the fields ${known.join(", ")}`)
  }
  return undefined
}

const ofHosts = ["host", "port", "localAddress", "noDelay", "keepAlive"]
const ofTargets = [...ofHosts, "path", "tls", "maxReadBytes"]
const ofTls = ["serverName", "ca", "certificate", "protocols"]
const ofCertificates = ["chain", "key", "passPhrase"]

const planOf = (target: Target): Plan | InvalidRequest => {
  if (typeof target !== "object" || target === null) return refused("target", "an object with a host or a path", target)
  const stranger = strange(target, ofTargets)
  if (stranger !== undefined) return stranger
  const { maxReadBytes = defaultReadBytes, tls } = target
  const wrong = socketFault(maxReadBytes, tls)
  if (wrong !== undefined) return wrong
  if (!("path" in target) || target.path === undefined) return decodeHost(target as HostTarget, maxReadBytes, tls)
  const { path } = target
  if ("host" in target && target.host !== undefined) {
    return refused("target", "an object with a host or a path, not both")
  }
  const others = Object.entries(target).find(([field, value]) => value !== undefined && ofHosts.includes(field))
  if (others !== undefined) return refused(others[0], "left out where there is a path")
  if (typeof path !== "string" || path === "" || path.includes("\0") || utf8Bytes(path) > maxPathBytes) {
    return refused("path", `text of 1 to ${maxPathBytes} bytes`, path)
  }
  if (tls !== undefined && tls.serverName === undefined) {
    return refused("tls.serverName", "given where there is no host", undefined)
  }
  return { path, tls, serverName: nameOf(tls?.serverName ?? ""), maxReadBytes }
}

const decodeHost = (target: HostTarget, maxReadBytes: number, tls: Tls | undefined): HostPlan | InvalidRequest => {
  const { host, keepAlive, localAddress, noDelay = true, port } = target
  const family = typeof host === "string" ? familyOf(host) : undefined
  if (family === undefined && !isHostName(host)) {
    return refused("host", "a name of up to 253 characters or an IP address", host)
  }
  const rule = wholeRule(port, { min: 1, max: 65_535 })
  if (rule !== undefined) return refused("port", rule, port)
  const localFamily = typeof localAddress === "string" ? familyOf(localAddress) : undefined
  if (localAddress !== undefined && (localFamily === undefined || mapped.test(localAddress))) {
    return refused("localAddress", "an IP address, of version 4 as such", localAddress)
  }
  if (localFamily !== undefined && family !== undefined && localFamily !== family) {
    return refused("localAddress", "an address of the same kind as the host", localAddress)
  }
  if (typeof noDelay !== "boolean") return refused("noDelay", "true or false", noDelay)
  const keepAliveMillis = keepAlive === undefined ? 0 : millisOf(keepAlive)
  if (keepAlive !== undefined && !(keepAliveMillis >= 1_000 && keepAliveMillis <= day)) {
    return refused("keepAlive", "a duration of 1 second to 1 day", keepAlive)
  }
  const local = localAddress === undefined ? undefined : { ip: localAddress, family: localFamily }
  const serverName = nameOf(tls?.serverName ?? host)
  return { tls, serverName, maxReadBytes, host, family, port, local, noDelay, keepAliveMillis }
}

/** As TLS sends and certificates have it (RFC 6066, section 3): without the point that may end it. */
const nameOf = (host: string): string => host.endsWith(".") ? host.slice(0, -1) : host

const socketFault = (maxReadBytes: number, tls: Tls | undefined): InvalidRequest | undefined => {
  const rule = wholeRule(maxReadBytes, { min: 1, max: 16_777_216 })
  if (rule !== undefined) return refused("maxReadBytes", rule, maxReadBytes)
  if (tls === undefined) return undefined
  return typeof tls !== "object" || tls === null ? refused("tls", "an object") : tlsFault(tls)
}

const tlsFault = (tls: Tls): InvalidRequest | undefined => {
  const stranger = strange(tls, ofTls, "tls.") ?? strange(tls.certificate, ofCertificates, "tls.certificate.")
  if (stranger !== undefined) return stranger
  const { ca, certificate, protocols, serverName } = tls
  if (serverName !== undefined && !isHost(serverName)) {
    return refused("tls.serverName", "a name of up to 253 characters or an IP address", serverName)
  }
  if (ca !== undefined && !(Array.isArray(ca) ? ca.length > 0 && ca.every(isPem) : isPem(ca))) {
    return refused("tls.ca", "certificates in PEM")
  }
  if (certificate !== undefined) {
    const { chain, key, passPhrase } = certificate ?? {}
    if (!isPem(chain)) return refused("tls.certificate.chain", "certificates in PEM")
    if (!isSecret(key) || !isPem(Redacted.value(key))) return refused("tls.certificate.key", "a Redacted key in PEM")
    if (passPhrase !== undefined && !isSecret(passPhrase)) {
      return refused("tls.certificate.passPhrase", "a Redacted text")
    }
  }
  const isProtocol = (value: unknown): boolean => typeof value === "string" && /^[\x21-\x7e]{1,255}$/.test(value)
  const areProtocols = protocols === undefined ||
    (Array.isArray(protocols) && protocols.length > 0 && protocols.length <= maxProtocols &&
      protocols.every(isProtocol))
  return areProtocols
    ? undefined
    : refused("tls.protocols", `1 to ${maxProtocols} names of 1 to 255 visible characters`)
}
