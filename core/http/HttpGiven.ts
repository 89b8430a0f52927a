/**
 * What a caller gave, read once and ahead of everything else, so that nobody looks at it again: a property that answers
 * otherwise the second time, a list that changes while it is read, or bytes that say another length than they have, cannot
 * bring out what was not checked. Owns nothing.
 *
 * Reading may run a caller's code. What that throws, the caller gets, and nothing has changed.
 */
import { wholeRule } from "../Limits.ts"
import { InvalidRequest } from "../Refusal.ts"
import type { HttpRequest } from "./HttpMessage.ts"

/** Names and values, in turn; what comes of a caller may be no text until it was checked. */
export type Flat = ReadonlyArray<string>

/** A request as it was read. */
export interface Given {
  readonly method: string
  readonly scheme: string
  readonly authority: string
  readonly path: string
  readonly protocol: string | undefined
  readonly fields: Flat
  /** A body that is all there. */
  readonly body: Uint8Array | undefined
  readonly hasBody: boolean
  /** Bytes of the body, 0 without one; undefined: as many as will come. */
  readonly length: number | undefined
}

/** A refusal that shows nothing of the value where none is given. */
export const invalid = (field: string, rule: string, value?: unknown): InvalidRequest =>
  new InvalidRequest(value === undefined ? { field, rule } : { field, rule, value })

/** A refusal of what is not of its type, which is all that is shown of it; null, which is nobody's secret, as it is. */
export const wrongType = (field: string, rule: string, value: unknown): InvalidRequest =>
  invalid(field, rule, value === null ? null : `<${typeof value}>`)

/** The request, or which of its parts is not of its type. */
export const readRequest = (request: HttpRequest): Given | InvalidRequest => {
  if (typeof request !== "object" || request === null) return wrongType("request", "an object", request)
  const { authority, body: given, fields: list, method, path, protocol, scheme } = request
  const fields = readFields("fields", list)
  const body = readBytes(given)
  const hasBody = given !== undefined
  const length = body?.length ?? (hasBody ? readLength(given) : 0)
  const wrong = wrongText("method", method) ?? wrongText("scheme", scheme) ?? wrongText("authority", authority) ??
    wrongText("path", path) ?? (protocol === undefined ? undefined : wrongText("protocol", protocol))
  if (wrong !== undefined) return wrong
  if (fields instanceof InvalidRequest) return fields
  if (length !== undefined && !(length >= 0)) return wrongType("body", `${bytesThere}, or an upload`, given)
  return { method, scheme, authority, path, protocol, fields, body, hasBody, length }
}

const wrongText = (part: string, value: unknown): InvalidRequest | undefined =>
  typeof value === "string" ? undefined : wrongType(part, "text", value)

/** A record, which is easily taken for a list of fields, is none; nor is a list with holes. */
export const readFields = (part: string, list: unknown): Flat | InvalidRequest => {
  const wrong = (): InvalidRequest => wrongType(part, "a list of names and values", list)
  if (!Array.isArray(list)) return wrong()
  const fields: Array<string> = []
  const { length } = list
  for (let i = 0; i < length; i++) {
    const field: unknown = list[i]
    if (!Array.isArray(field)) return wrong()
    fields.push(field[0], field[1])
  }
  return fields
}

/** Text, buffers and streams are no uploads, and would be taken for one if nobody looked; NaN is for what is none. */
const readLength = (upload: object): number | undefined => {
  if (Object(upload) !== upload || !("bytes" in upload)) return NaN
  const { bytes } = upload
  return bytes === undefined || (Number.isSafeInteger(bytes)) ? bytes as number | undefined : NaN
}

// An array may have properties of its own by these names, and a subclass its own; those of the class itself tell the truth.
const { buffer, byteOffset, length: count, [Symbol.toStringTag]: kind } = Object.getOwnPropertyDescriptors(
  Object.getPrototypeOf(Uint8Array.prototype) as Uint8Array,
)

/** What bytes have to be. */
export const bytesThere = "a Uint8Array that was not transferred"

/**
 * The same bytes as an array of their own, whatever has been made of the one that was given; undefined where it is none, or
 * was transferred. One of none on a buffer that may become smaller could have lost what it had, and is refused as well.
 */
export const readBytes = (given: unknown): Uint8Array | undefined => {
  if (kind.get!.call(given) !== "Uint8Array") return undefined
  const on = buffer.get!.call(given) as ArrayBuffer & { readonly detached: boolean; readonly resizable: boolean }
  const length = count.get!.call(given)
  return length > 0
    ? new Uint8Array(on, byteOffset.get!.call(given), length)
    : on.detached || on.resizable
    ? undefined
    : new Uint8Array(0)
}

/** What is wrong with what came of a peer, if it is no bytes, or was lost on the way. It is read where it lies. */
export const wrongPiece = (given: unknown): InvalidRequest | undefined =>
  kind.get!.call(given) === "Uint8Array" && (count.get!.call(given) > 0 || readBytes(given) !== undefined)
    ? undefined
    : wrongType("received", bytesThere, given)

/** Bytes that were there were transferred since, or their buffer was made smaller: then none of them is left. */
export const lost = (): InvalidRequest => invalid("body", "left alone until it is written")

/** An upload gave more than is left of its length, or ends before it. */
export const beyond = (left: number, length: number): InvalidRequest =>
  invalid("upload", `at most ${left} bytes`, length)
export const short = (left: number): InvalidRequest => invalid("upload", `${left} bytes longer`)

/** Which code an exchange may not be cancelled with. */
export const wrongCode = (code: unknown): InvalidRequest | undefined => {
  const rule = code === undefined ? undefined : wholeRule(code, { min: 0, max: 0xffff_ffff })
  return rule === undefined ? undefined : invalid("code", rule, code)
}
