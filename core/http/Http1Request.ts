/**
 * A request as bytes (RFC 9112, 3 to 7), refused before the first of them where it breaks a rule. Owns nothing.
 */
import { InvalidRequest } from "../Refusal.ts"
import { type Asking, isWritten, writeFields } from "./Http1Fields.ts"
import type { Asked } from "./Http1Framing.ts"
import type { Exchange } from "./HttpEngine.ts"
import { type Flat, type Given, invalid } from "./HttpGiven.ts"
import { wrongField, wrongRequest } from "./HttpRules.ts"
import { steers } from "./HttpSyntax.ts"
import type { Slab } from "./Slab.ts"

/** An exchange until both of its messages have ended. */
export interface Course extends Asked {
  readonly exchange: Exchange
  /** Whether the request says that it is the last on its connection. */
  readonly closes: boolean
  /** Bytes of the body that are still to come; undefined: in chunks, as many as will come. */
  left: number | undefined
  /** Nothing more of it can be given. */
  isSent: boolean
  isOut: boolean
  /** The head, and the body where it was all there; empty once that is taken. */
  output: Array<Uint8Array>
}

export interface Manner {
  /** The connection ends at a cleartext proxy, which wants absolute targets. */
  readonly proxied: boolean
  readonly maxHeadBytes: number
  readonly slab: Slab
}

/** A body up to here is written in one piece with what frames it, which costs a copy and saves a write. */
const together = 16_384

/**
 * The exchange that a request begins; what is wrong with the request; or undefined of one that wants a tunnel inside of a
 * stream, which this protocol has not.
 */
export const encode = (given: Given, manner: Manner, exchange: Exchange): Course | InvalidRequest | undefined => {
  const { maxHeadBytes, proxied, slab } = manner
  const { authority, body, length, method, protocol, scheme } = given
  const wrong = wrongRequest(given)
  if (wrong !== undefined) return wrong
  if (protocol !== undefined) return undefined
  const isConnect = method === "CONNECT"
  let asking = write(given, manner, authority)
  if (asking instanceof InvalidRequest) return asking
  const { host = authority, offers, options } = asking
  // RFC 9112, 3.2: the host of a target is the one that counts, so the other may not differ.
  if ((proxied || isConnect) && host !== authority) return invalid("host", "the authority")
  if (proxied && !isConnect && scheme !== "http") return invalid("scheme", "http toward a proxy")
  // The host goes first, wherever it was among the fields; few requests have one of their own.
  if (host !== authority) asking = write(given, manner, host)
  const tooLong = beyond("head", slab, maxHeadBytes)
  if (tooLong !== undefined) return tooLong
  const isShort = body !== undefined && body.length <= together
  if (isShort) slab.bytes(body)
  return {
    exchange,
    isHead: method === "HEAD",
    isConnect,
    isSent: body !== undefined || length === 0,
    isOut: false,
    offers,
    closes: options.includes("close"),
    left: length,
    output: body === undefined || isShort ? [slab.end()] : [slab.end(), body],
  }
}

/** Writes a head with this host. */
const write = (given: Given, { proxied, slab }: Manner, host: string): Asking | InvalidRequest => {
  const { authority, fields, hasBody, length, method, path } = given
  slab.begin()
  slab.add(method)
  slab.add(" ")
  slab.add(method === "CONNECT" ? authority : proxied ? absolute(given) : path)
  slab.add(" HTTP/1.1\r\nhost: ")
  slab.add(host)
  slab.add("\r\n")
  const asking = writeFields(slab, fields, length)
  if (length === undefined) slab.add("transfer-encoding: chunked\r\n")
  else if (hasBody || expectsBody.test(method)) slab.add(`content-length: ${length}\r\n`)
  slab.add("\r\n")
  return asking
}

/** The target toward a proxy; that of OPTIONS of a whole server has no path (RFC 9112, 3.2.4). */
const absolute = ({ authority, path, scheme }: Given): string => `${scheme}://${authority}${path === "*" ? "" : path}`

/** Methods that mean to carry something say so when they carry nothing (RFC 9110, 8.6). */
const expectsBody = /^(?:POST|PUT|PATCH)$/

/** Bytes of an upload as one chunk; at least one of them, since a chunk of none would be the end. */
export const encodeChunk = (slab: Slab, bytes: Uint8Array): Array<Uint8Array> => {
  slab.begin()
  slab.add(`${bytes.length.toString(16)}\r\n`)
  const pieces: Array<Uint8Array> = []
  if (bytes.length > together) pieces.push(slab.end(), bytes)
  else slab.bytes(bytes)
  slab.add("\r\n")
  pieces.push(slab.end())
  return pieces
}

const beyond = (part: string, slab: Slab, most: number): InvalidRequest | undefined =>
  slab.length > most ? invalid(part, `at most ${most} bytes`, slab.length) : undefined

/** The end of a chunked body, with its trailers, which the limit of a head bounds as well. */
export const encodeEnd = ({ maxHeadBytes, slab }: Manner, trailers: Flat): Uint8Array | InvalidRequest => {
  slab.begin()
  slab.add("0\r\n")
  for (let i = 0; i < trailers.length; i += 2) {
    const name = trailers[i]!
    const value = trailers[i + 1]!
    const wrong = isWritten(slab, name, value) ? undefined : wrongField(name, value)
    if (wrong !== undefined) return wrong
    if (steers.test(name)) return invalid(`trailer ${name}`, "left out")
  }
  slab.add("\r\n")
  return beyond("trailers", slab, maxHeadBytes) ?? slab.end()
}
