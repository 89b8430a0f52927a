/**
 * A request as bytes (RFC 9112, 3 to 7), refused before the first of them where it breaks a rule. Owns nothing.
 */
import * as Result from "effect/Result"
import type { InvalidRequest } from "../Refusal.ts"
import { RequestFields } from "./Http1Fields.ts"
import type { Asked } from "./Http1Framing.ts"
import type { Fields, HttpRequest } from "./HttpMessage.ts"
import { invalid, wrongField, wrongRequest } from "./HttpRules.ts"
import { steers } from "./HttpSyntax.ts"
import * as Latin1 from "./Latin1.ts"
import type { Slab } from "./Slab.ts"

export interface Encoded extends Asked {
  /** The head, and the body where it was all there. */
  readonly output: ReadonlyArray<Uint8Array>
  /** Bytes of the body that are still to come; undefined: in chunks, as many as will come. */
  readonly left: number | undefined
  /** Whether the request says that it is the last on its connection. */
  readonly closes: boolean
}

export interface Manner {
  /** The connection ends at a cleartext proxy, which wants absolute targets. */
  readonly proxied: boolean
  readonly maxHeadBytes: number
  readonly slab: Slab
}

/** Texts of which each character is one byte. */
type Texts = ReadonlyArray<string>

/** A body up to here is written in one piece with what frames it, which costs a copy and saves a write. */
const together = 16_384

export const encode = (request: HttpRequest, manner: Manner): Result.Result<Encoded, InvalidRequest> => {
  const wrongLine = wrongRequest(request)
  if (wrongLine !== undefined) return Result.fail(wrongLine)
  const { authority, body, method } = request
  const whole = body instanceof Uint8Array ? body : undefined
  const length = body === undefined ? 0 : body instanceof Uint8Array ? body.length : body.bytes
  const fields = new RequestFields(body !== undefined, length)
  const wrong = wrongFields(request.fields, fields) ?? wrongToward(request, manner, fields)
  if (wrong !== undefined) return Result.fail(wrong)
  const target = targetOf(request, manner.proxied)
  const head = [method, " ", target, " HTTP/1.1\r\nhost: ", fields.host ?? authority, "\r\n", ...fields.lines]
  if (length === undefined) head.push("transfer-encoding: chunked\r\n")
  else if (body !== undefined || expectsBody(method)) head.push("content-length: ", String(length), "\r\n")
  head.push("\r\n")
  const bytes = lengthOf(head)
  const { maxHeadBytes, slab } = manner
  if (bytes > maxHeadBytes) return Result.fail(invalid("head", `at most ${maxHeadBytes} bytes`, bytes))
  const isSent = whole !== undefined || length === 0
  return Result.succeed({
    isHead: method === "HEAD",
    isConnect: method === "CONNECT",
    isSent,
    offers: fields.offers,
    closes: fields.closes,
    left: isSent ? 0 : length,
    output: framed(slab, head, whole, ""),
  })
}

/** Bytes of an upload as one chunk; at least one of them, since a chunk of none would be the end. */
export const encodeChunk = (slab: Slab, bytes: Uint8Array): ReadonlyArray<Uint8Array> =>
  framed(slab, [bytes.length.toString(16), "\r\n"], bytes, "\r\n")

/** The end of a chunked body, with its trailers. */
export const encodeEnd = (slab: Slab, trailers: Fields): Result.Result<ReadonlyArray<Uint8Array>, InvalidRequest> => {
  const end = ["0\r\n"]
  for (const [name, value] of trailers) {
    const wrong = wrongField(name, value)
    if (wrong !== undefined) return Result.fail(wrong)
    if (steers.has(name.toLowerCase())) {
      return Result.fail(invalid(`trailer ${name}`, "left out: it steers the message"))
    }
    end.push(name, ": ", value, "\r\n")
  }
  end.push("\r\n")
  return Result.succeed(framed(slab, end, undefined, ""))
}

const wrongFields = (given: Fields, fields: RequestFields): InvalidRequest | undefined => {
  for (const [name, value] of given) {
    const wrong = fields.add(name, value)
    if (wrong !== undefined) return wrong
  }
  return fields.wrongInAll()
}

/** RFC 9112, 3.2: the host of an absolute target is the one that counts, so the other may not differ. */
const wrongToward = (
  { authority, method, scheme }: HttpRequest,
  { proxied }: Manner,
  { host }: RequestFields,
): InvalidRequest | undefined => {
  const isNamedTwice = proxied || method === "CONNECT"
  if (isNamedTwice && host !== undefined && host !== authority) return invalid("host", "the authority, or left out")
  return proxied && method !== "CONNECT" && scheme !== "http"
    ? invalid("scheme", "http, toward a cleartext proxy", scheme)
    : undefined
}

const targetOf = ({ authority, method, path, scheme }: HttpRequest, proxied: boolean): string => {
  if (method === "CONNECT") return authority
  return proxied ? `${scheme}://${authority}${path === "*" ? "" : path}` : path
}

/** Methods that mean to carry something say so when they carry nothing (RFC 9110, 8.6). */
const expectsBody = (method: string): boolean => method === "POST" || method === "PUT" || method === "PATCH"

/** Bytes between texts, in one piece where they are few. */
const framed = (
  slab: Slab,
  before: Texts,
  bytes: Uint8Array | undefined,
  behind: string,
): ReadonlyArray<Uint8Array> => {
  if (bytes !== undefined && bytes.length > together) {
    const parts = [written(slab, before), bytes]
    return behind === "" ? parts : [...parts, written(slab, [behind])]
  }
  const all = slab.take(lengthOf(before) + (bytes?.length ?? 0) + behind.length)
  let at = write(before, all)
  if (bytes !== undefined) {
    all.set(bytes, at)
    at += bytes.length
  }
  Latin1.write(behind, all, at)
  return [all]
}

const written = (slab: Slab, texts: Texts): Uint8Array => {
  const bytes = slab.take(lengthOf(texts))
  write(texts, bytes)
  return bytes
}

const lengthOf = (texts: Texts): number => {
  let length = 0
  for (const text of texts) length += text.length
  return length
}

/** Part by part: reading the characters of texts that were joined just before costs twice as much. */
const write = (texts: Texts, into: Uint8Array): number => {
  let at = 0
  for (const text of texts) at = Latin1.write(text, into, at)
  return at
}
