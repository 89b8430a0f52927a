/**
 * A request as bytes (RFC 9112, 3 to 7), refused before the first of them where it breaks a rule. Owns nothing.
 */
import * as Result from "effect/Result"
import type { InvalidRequest } from "../Refusal.ts"
import { RequestFields } from "./Http1Fields.ts"
import type { Asked } from "./Http1Framing.ts"
import type { Fields, Request } from "./HttpMessage.ts"
import { invalid, wrongField, wrongRequest } from "./HttpRules.ts"
import { steers } from "./HttpSyntax.ts"
import * as Latin1 from "./Latin1.ts"

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
}

/** A body up to here is written in one piece with what frames it, which costs a copy and saves a write. */
const together = 16_384

export const encode = (request: Request, manner: Manner): Result.Result<Encoded, InvalidRequest> => {
  const { authority, body, method } = request
  const length = body === undefined ? 0 : body.length
  const fields = new RequestFields(body !== undefined, length)
  const wrong = wrongRequest(request) ?? wrongFields(request.fields, fields) ?? wrongToward(request, manner, fields)
  if (wrong !== undefined) return Result.fail(wrong)
  let head = `${method} ${targetOf(request, manner.proxied)} HTTP/1.1\r\nhost: ${fields.host ?? authority}\r\n`
  head += fields.lines
  if (length === undefined) head += "transfer-encoding: chunked\r\n"
  else if (body !== undefined || expectsBody(method)) head += `content-length: ${length}\r\n`
  head += "\r\n"
  const { maxHeadBytes } = manner
  if (head.length > maxHeadBytes) return Result.fail(invalid("head", `at most ${maxHeadBytes} bytes`, head.length))
  const bytes = body instanceof Uint8Array ? body : undefined
  const isSent = bytes !== undefined || length === 0
  return Result.succeed({
    isHead: method === "HEAD",
    isConnect: method === "CONNECT",
    isSent,
    offers: fields.offers,
    closes: fields.closes,
    left: isSent ? 0 : length,
    output: framed(head, bytes, ""),
  })
}

/** Bytes of an upload as one chunk; at least one of them, since a chunk of none would be the end. */
export const encodeChunk = (bytes: Uint8Array): ReadonlyArray<Uint8Array> =>
  framed(`${bytes.length.toString(16)}\r\n`, bytes, "\r\n")

/** The end of a chunked body, with its trailers. */
export const encodeEnd = (trailers: Fields): Result.Result<ReadonlyArray<Uint8Array>, InvalidRequest> => {
  let end = "0\r\n"
  for (const [name, value] of trailers) {
    const wrong = wrongField(name, value)
    if (wrong !== undefined) return Result.fail(wrong)
    if (steers.has(name.toLowerCase())) {
      return Result.fail(invalid(`trailer ${name}`, "left out: it steers the message"))
    }
    end += `${name}: ${value}\r\n`
  }
  return Result.succeed(framed(`${end}\r\n`, undefined, ""))
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
  { authority, method, scheme }: Request,
  { proxied }: Manner,
  { host }: RequestFields,
): InvalidRequest | undefined => {
  const isNamedTwice = proxied || method === "CONNECT"
  if (isNamedTwice && host !== undefined && host !== authority) return invalid("host", "the authority, or left out")
  return proxied && method !== "CONNECT" && scheme !== "http"
    ? invalid("scheme", "http, toward a cleartext proxy", scheme)
    : undefined
}

const targetOf = ({ authority, method, path, scheme }: Request, proxied: boolean): string => {
  if (method === "CONNECT") return authority
  return proxied ? `${scheme}://${authority}${path === "*" ? "" : path}` : path
}

/** Methods that mean to carry something say so when they carry nothing (RFC 9110, 8.6). */
const expectsBody = (method: string): boolean => method === "POST" || method === "PUT" || method === "PATCH"

/** Bytes between two texts of which each character is one byte. */
const framed = (before: string, bytes: Uint8Array | undefined, behind: string): ReadonlyArray<Uint8Array> => {
  if (bytes !== undefined && bytes.length > together) {
    const parts = [written(before), bytes]
    return behind === "" ? parts : [...parts, written(behind)]
  }
  const length = bytes?.length ?? 0
  const all = new Uint8Array(before.length + length + behind.length)
  const at = Latin1.write(before, all, 0)
  if (bytes !== undefined) all.set(bytes, at)
  Latin1.write(behind, all, at + length)
  return [all]
}

const written = (text: string): Uint8Array => {
  const bytes = new Uint8Array(text.length)
  Latin1.write(text, bytes, 0)
  return bytes
}
