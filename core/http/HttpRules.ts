/**
 * What a request has to keep to at the door, in any version, so that none of its parts can become another part on the
 * wire. Owns nothing.
 *
 * A value that a rule refuses may be a secret, so an error shows nothing of it.
 */
import { InvalidRequest } from "../Refusal.ts"
import type { Fields, HttpRequest, Upload } from "./HttpMessage.ts"
import { isAuthority, isMethod, isToken, target, text } from "./HttpSyntax.ts"

/** A refusal that shows nothing of the value where none is given. */
export const invalid = (field: string, rule: string, value: unknown = "something else"): InvalidRequest =>
  new InvalidRequest({ field, rule, value })

/** What is wrong with everything but each of the fields; undefined where nothing is. */
export const wrongRequest = (request: HttpRequest): InvalidRequest | undefined => {
  const { authority, body, fields, method, path, scheme } = request
  if (typeof method !== "string" || typeof authority !== "string" || typeof path !== "string") {
    return invalid("request", "made of texts")
  }
  if (scheme !== "http" && scheme !== "https") return invalid("scheme", "http or https")
  if (!areFields(fields)) return invalid("fields", "a list of names and values")
  const isConnect = method === "CONNECT"
  if (!isMethod(method)) return invalid("method", "a token in capitals")
  if (!isAuthority(authority, isConnect)) return invalid("authority", isConnect ? "host:port" : "host or host:port")
  if (isConnect ? path !== "" : path === "*" ? method !== "OPTIONS" : path[0] !== "/") {
    return invalid("path", "from / on, * with OPTIONS, empty with CONNECT")
  }
  if (target.outside.test(path)) return invalid("path", 'ASCII without blanks, ", #, < and >')
  if (body === undefined) return undefined
  if (isConnect || method === "TRACE") return invalid("body", `left out with ${method}`)
  return body instanceof Uint8Array || isUpload(body) ? undefined : invalid("body", "a Uint8Array or an upload")
}

/** Text, buffers and streams are no uploads, and would be taken for one if nobody looked. */
const isUpload = (body: Upload): boolean =>
  Object(body) === body && "bytes" in body &&
  (body.bytes === undefined || (Number.isSafeInteger(body.bytes) && body.bytes >= 0))

/** A record, which is easily taken for a list of fields, is none; nor is a list with holes, over which `every` would pass. */
export const areFields = (fields: Fields): boolean => Array.isArray(fields) && [...fields].every(Array.isArray)

export const wrongField = (name: string, value: string): InvalidRequest | undefined => {
  if (typeof name !== "string" || typeof value !== "string") return invalid("field", "two texts")
  if (!isToken(name)) return invalid("field", "named by a token")
  if (text.outside.test(value)) return invalid(`field ${name}`, "latin1 without control characters")
  return isPadded(value) ? invalid(`field ${name}`, "without blanks around it") : undefined
}

/** Whether a blank begins or ends a value, which its reader would take off. */
export const isPadded = (value: string): boolean =>
  isBlank(value.charCodeAt(0)) || isBlank(value.charCodeAt(value.length - 1))

const isBlank = (code: number): boolean => code === 0x20 || code === 0x09
