/** A request as the fields of HTTP/2 (RFC 9113, 8.3.1), refused before anything is changed where it breaks a rule. Owns nothing. */
import * as Result from "effect/Result"
import type { InvalidRequest } from "../Refusal.ts"
import type { Asked } from "./Http2Streams.ts"
import type { Field, Fields, HttpRequest } from "./HttpMessage.ts"
import { areFields, invalid, wrongField, wrongRequest } from "./HttpRules.ts"
import { isAuthority, isToken, steers } from "./HttpSyntax.ts"

export interface Prepared extends Asked {
  /** In their order on the wire, in lower case. */
  readonly fields: Fields
  /** A body that is all there, and not empty. */
  readonly body: Uint8Array | undefined
}

/** `maxBytes`: names, values and 32 for each field, in all. */
export const prepare = (request: HttpRequest, maxBytes: number): Result.Result<Prepared, InvalidRequest> => {
  const wrong = wrongOpening(request) ?? wrongRequest(plain(request))
  if (wrong !== undefined) return Result.fail(wrong)
  const { body, method } = request
  const isTunnel = method === "CONNECT"
  const length = body instanceof Uint8Array ? body.length : body ? body.bytes : 0
  const head = pseudo(request)
  const wrongInFields = addFields(request, length, head)
  if (wrongInFields !== undefined) return Result.fail(wrongInFields)
  if (!isTunnel && length !== undefined && (body !== undefined || expectsBody(method))) {
    head.push(["content-length", String(length)])
  }
  const bytes = sizeOf(head)
  if (bytes > maxBytes) return Result.fail(invalid("head", `at most ${maxBytes} bytes, with 32 a field`, bytes))
  const whole = body instanceof Uint8Array && body.length > 0 ? body : undefined
  const isSent = !isTunnel && length === 0
  return Result.succeed({
    isHead: method === "HEAD",
    isTunnel,
    isSent,
    left: isTunnel || whole !== undefined ? undefined : length,
    fields: head,
    body: whole,
  })
}

/** Trailers of an upload, in lower case. */
export const prepareTrailers = (trailers: Fields, maxBytes: number): Result.Result<Fields, InvalidRequest> => {
  if (!areFields(trailers)) return Result.fail(invalid("trailers", "a list of names and values"))
  const fields: Array<Field> = []
  for (const [name, value] of trailers) {
    const wrong = wrongField(name, value)
    if (wrong !== undefined) return Result.fail(wrong)
    const own = name.toLowerCase()
    if (steers.test(own)) return Result.fail(invalid(`trailer ${name}`, "left out"))
    fields.push([own, value])
  }
  const bytes = sizeOf(fields)
  return bytes > maxBytes
    ? Result.fail(invalid("trailers", `at most ${maxBytes} bytes, with 32 a field`, bytes))
    : Result.succeed(fields)
}

/** An extended CONNECT has the scheme, authority and path of any other request, and no body ahead of its answer. */
const plain = (request: HttpRequest): HttpRequest =>
  request.protocol === undefined ? request : { ...request, method: "GET" }

const wrongOpening = ({ body, method, protocol }: HttpRequest): InvalidRequest | undefined => {
  if (protocol === undefined) return undefined
  if (method !== "CONNECT" || typeof protocol !== "string" || !isToken(protocol)) {
    return invalid("protocol", "a token, and with CONNECT")
  }
  return body === undefined ? undefined : invalid("body", "left out with CONNECT")
}

/** RFC 9113, 8.3.1 and 8.5; RFC 8441, 4. The authority is the second of them. */
const pseudo = ({ authority, method, path, protocol, scheme }: HttpRequest): Array<Field> => {
  const target: Array<Field> = [[":method", method], [":authority", authority]]
  if (method === "CONNECT" && protocol === undefined) return target
  target.push([":scheme", scheme], [":path", path])
  if (protocol !== undefined) target.push([":protocol", protocol])
  return target
}

/** Adds the fields of a request; what `host` says takes the place of the authority. */
const addFields = (
  request: HttpRequest,
  length: number | undefined,
  head: Array<Field>,
): InvalidRequest | undefined => {
  let isHosted = false
  for (const [name, value] of request.fields) {
    const wrong = wrongField(name, value)
    if (wrong !== undefined) return wrong
    const own = name.toLowerCase()
    const wrongHere = wrongOwn(own, value, request, length)
    if (wrongHere !== undefined) return wrongHere
    if (own === "host") {
      if (isHosted) return invalid("host", "there once")
      isHosted = true
      head[1] = [":authority", value]
    } else if (own !== "content-length") head.push([own, value])
  }
  return undefined
}

const wrongOwn = (
  name: string,
  value: string,
  { authority, method, protocol }: HttpRequest,
  length: number | undefined,
): InvalidRequest | undefined => {
  switch (name) {
    case "host":
      // It becomes :authority; that of a plain CONNECT is its target.
      if (method === "CONNECT" && protocol === undefined) {
        return value === authority ? undefined : invalid("host", "the authority, or left out")
      }
      return isAuthority(value, false) ? undefined : invalid("host", "a host, or a host and a port")
    case "content-length":
      return method !== "CONNECT" && length !== undefined && value === String(length)
        ? undefined
        : invalid("content-length", "the length of the body")
    case "connection":
    case "keep-alive":
    case "proxy-connection":
    case "transfer-encoding":
    case "upgrade":
      return invalid(name, "left out")
    case "expect":
      return value.toLowerCase() === "100-continue" && length !== 0
        ? undefined
        : invalid("expect", "100-continue, and with a body")
    case "te":
      return value.toLowerCase() === "trailers" ? undefined : invalid("te", "trailers")
    default:
      return undefined
  }
}

/** Methods that mean to carry something say so when they carry nothing (RFC 9110, 8.6). */
const expectsBody = (method: string): boolean => method === "POST" || method === "PUT" || method === "PATCH"

const sizeOf = (fields: Fields): number => {
  let bytes = 0
  for (const [name, value] of fields) bytes += name.length + value.length + 32
  return bytes
}
