/**
 * A request as the fields of HTTP/2 (RFC 9113, 8.3.1), refused before anything is changed where it breaks a rule. Owns nothing.
 */
import * as Result from "effect/Result"
import type { InvalidRequest } from "../Refusal.ts"
import { isListed, sizeOf } from "./HpackEncoder.ts"
import type { Asked } from "./Http2Streams.ts"
import { type Flat, type Given, invalid } from "./HttpGiven.ts"
import { wrongField, wrongRequest, wrongValue } from "./HttpRules.ts"
import { isAuthority, steers } from "./HttpSyntax.ts"

export interface Prepared extends Asked {
  /** In their order on the wire, in lower case. */
  readonly fields: Flat
  /** A body that is all there, and not empty. */
  readonly body: Uint8Array | undefined
}

/** `maxBytes`: names, values and 32 for each field, in all. */
export const prepare = (given: Given, maxBytes: number): Result.Result<Prepared, InvalidRequest> => {
  const { body, hasBody, length, method } = given
  const isTunnel = method === "CONNECT"
  const wrong = wrongRequest(given)
  if (wrong !== undefined) return Result.fail(wrong)
  const head = pseudo(given)
  const wrongInFields = addFields(given, head)
  if (wrongInFields !== undefined) return Result.fail(wrongInFields)
  if (!isTunnel && length !== undefined && (hasBody || expectsBody(method))) head.push("content-length", `${length}`)
  const bytes = sizeOf(head)
  if (bytes > maxBytes) return Result.fail(invalid("head", `at most ${maxBytes} bytes, with 32 a field`, bytes))
  const whole = length === 0 ? undefined : body
  return Result.succeed({
    isHead: method === "HEAD",
    isTunnel,
    isSent: !isTunnel && length === 0,
    left: isTunnel || whole !== undefined ? undefined : length,
    fields: head,
    body: whole,
  })
}

/** Trailers of an upload, in lower case. */
export const prepareTrailers = (trailers: Flat, maxBytes: number): Result.Result<Flat, InvalidRequest> => {
  const fields: Array<string> = []
  for (let i = 0; i < trailers.length; i += 2) {
    const [name, value] = [trailers[i]!, trailers[i + 1]!]
    const wrong = wrongField(name, value)
    if (wrong !== undefined) return Result.fail(wrong)
    if (steers.test(name)) return Result.fail(invalid(`trailer ${name}`, "left out"))
    fields.push(name.toLowerCase(), value)
  }
  const bytes = sizeOf(fields)
  return bytes > maxBytes
    ? Result.fail(invalid("trailers", `at most ${maxBytes} bytes, with 32 a field`, bytes))
    : Result.succeed(fields)
}

/** RFC 9113, 8.3.1 and 8.5; RFC 8441, 4. The authority is the second of them. */
const pseudo = ({ authority, method, path, protocol, scheme }: Given): Array<string> => {
  // JavaScriptCore copies an array that was written out once something is added to it.
  const all: Array<string> = []
  all.push(":method", method, ":authority", authority)
  if (method !== "CONNECT" || protocol !== undefined) all.push(":scheme", scheme, ":path", path)
  if (protocol !== undefined) all.push(":protocol", protocol)
  return all
}

/** Adds the fields of a request; what `host` says takes the place of the authority. */
const addFields = (given: Given, head: Array<string>): InvalidRequest | undefined => {
  const { fields } = given
  let isHosted = false
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i]!
    const value = fields[i + 1]!
    // Most names are of the static table, and need not be looked at.
    const isKnown = isListed(name)
    const wrong = isKnown ? wrongValue(name, value) : wrongField(name, value)
    if (wrong !== undefined) return wrong
    const own = isKnown ? name : name.toLowerCase()
    const rule = brokenBy(own, value, given)
    if (rule !== undefined) return invalid(own, rule)
    if (own === "host") {
      if (isHosted) return invalid("host", "there once")
      isHosted = true
      head[3] = value
    } else if (own !== "content-length") head.push(own, value)
  }
  return undefined
}

/** The rule that a field breaks which the connection or the framing has its own way with. */
const brokenBy = (name: string, value: string, { authority, length, method, protocol }: Given): string | undefined => {
  switch (name) {
    case "host":
      // It becomes :authority; that of a plain CONNECT is its target.
      if (method === "CONNECT" && protocol === undefined) return value === authority ? undefined : "the authority"
      return isAuthority(value, false) ? undefined : "host or host:port"
    case "content-length":
      return length !== undefined && value === `${length}` ? undefined : "the length of the body"
    case "connection":
    case "keep-alive":
    case "proxy-connection":
    case "transfer-encoding":
    case "upgrade":
      return "left out"
    case "expect":
      return value.toLowerCase() === "100-continue" && length !== 0 ? undefined : "100-continue with a body"
    case "te":
      return value.toLowerCase() === "trailers" ? undefined : "trailers"
    default:
      return undefined
  }
}

/** Methods that mean to carry something say so when they carry nothing (RFC 9110, 8.6). */
const expectsBody = (method: string): boolean => method === "POST" || method === "PUT" || method === "PATCH"
