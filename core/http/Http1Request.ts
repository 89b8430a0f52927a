/**
 * A request as bytes (RFC 9112, 3 to 7), refused before the first of them where it breaks a rule. Owns nothing.
 */
import * as Result from "effect/Result"
import type { InvalidRequest } from "../Refusal.ts"
import { RequestFields } from "./Http1Fields.ts"
import type { Asked } from "./Http1Framing.ts"
import type { Exchange } from "./HttpEngine.ts"
import type { Fields, HttpRequest } from "./HttpMessage.ts"
import { invalid, wrongField, wrongRequest } from "./HttpRules.ts"
import { steers } from "./HttpSyntax.ts"
import * as Latin1 from "./Latin1.ts"
import type { Slab } from "./Slab.ts"

/** An exchange until both of its messages have ended. */
export interface Course extends Asked {
  readonly exchange: Exchange
  /** Whether the request says that it is the last on its connection. */
  readonly closes: boolean
  /** Bytes of the body that are still to come; undefined: in chunks, as many as will come. */
  left: number | undefined
  isSent: boolean
  /** The head, and the body where it was all there. */
  readonly output: ReadonlyArray<Uint8Array>
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

/** The exchange that a request begins; or what is wrong with the request. */
export const encode = (request: HttpRequest, manner: Manner, exchange: Exchange): Course | InvalidRequest => {
  const wrongLine = wrongRequest(request)
  if (wrongLine !== undefined) return wrongLine
  const { authority, body, method } = request
  const whole = body instanceof Uint8Array ? body : undefined
  const length = body === undefined ? 0 : body instanceof Uint8Array ? body.length : body.bytes
  const head = [method, " ", targetOf(request, manner.proxied), " HTTP/1.1\r\nhost: ", authority, "\r\n"]
  const fields = new RequestFields(body !== undefined, length, head)
  const wrong = wrongFields(request.fields, fields) ?? wrongToward(request, manner, fields)
  if (wrong !== undefined) return wrong
  // The host goes first, wherever it was among the fields.
  if (fields.host !== undefined) head[4] = fields.host
  if (length === undefined) head.push("transfer-encoding: chunked\r\n")
  else if (body !== undefined || expectsBody(method)) head.push("content-length: ", String(length), "\r\n")
  head.push("\r\n")
  const bytes = lengthOf(head)
  const { maxHeadBytes, slab } = manner
  if (bytes > maxHeadBytes) return invalid("head", `at most ${maxHeadBytes} bytes`, bytes)
  const isSent = whole !== undefined || length === 0
  return {
    exchange,
    isHead: method === "HEAD",
    isConnect: method === "CONNECT",
    isSent,
    offers: fields.offers,
    closes: fields.closes,
    left: isSent ? 0 : length,
    output: framed(slab, head, bytes, whole, ""),
  }
}

/** Bytes of an upload as one chunk; at least one of them, since a chunk of none would be the end. */
export const encodeChunk = (slab: Slab, bytes: Uint8Array): ReadonlyArray<Uint8Array> =>
  framed(slab, [bytes.length.toString(16), "\r\n"], bytes.length.toString(16).length + 2, bytes, "\r\n")

/** The end of a chunked body, with its trailers. */
export const encodeEnd = (slab: Slab, trailers: Fields): Result.Result<ReadonlyArray<Uint8Array>, InvalidRequest> => {
  const end = ["0\r\n"]
  for (const [name, value] of trailers) {
    const wrong = wrongField(name, value)
    if (wrong !== undefined) return Result.fail(wrong)
    if (steers.test(name)) {
      return Result.fail(invalid(`trailer ${name}`, "left out: it steers the message"))
    }
    end.push(name, ": ", value, "\r\n")
  }
  end.push("\r\n")
  return Result.succeed([written(slab, end, lengthOf(end))])
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

/** Bytes between texts, in one piece where they are few; `length` is that of the texts before. */
const framed = (
  slab: Slab,
  before: Texts,
  length: number,
  bytes: Uint8Array | undefined,
  behind: string,
): ReadonlyArray<Uint8Array> => {
  if (bytes === undefined) return [written(slab, before, length)]
  if (bytes.length > together) {
    const parts = [written(slab, before, length), bytes]
    return behind === "" ? parts : [...parts, written(slab, [behind], behind.length)]
  }
  const all = slab.take(length + bytes.length + behind.length)
  const at = write(before, all)
  all.set(bytes, at)
  Latin1.write(behind, all, at + bytes.length)
  return [all]
}

const written = (slab: Slab, texts: Texts, length: number): Uint8Array => {
  const bytes = slab.take(length)
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
