/**
 * What a request has to keep to at the door, in any version, so that none of its parts can become another part on the
 * wire. Owns nothing.
 *
 * A value that a rule refuses may be a secret, so an error shows at most the character that may not stand, and where.
 */
import { InvalidRequest } from "../Refusal.ts"
import type { Request } from "./HttpMessage.ts"
import { firstOutside, isAuthority, isMethod, named, target, text, token } from "./HttpSyntax.ts"

/** A refusal that shows nothing of the value where none is given. */
export const invalid = (field: string, rule: string, value: unknown = "something else"): InvalidRequest =>
  new InvalidRequest({ field, rule, value })

/** What is wrong with everything but the fields; undefined where nothing is. */
export const wrongRequest = ({ authority, body, method, path }: Request): InvalidRequest | undefined => {
  const isConnect = method === "CONNECT"
  if (!isMethod(method)) return invalid("method", "a token, in capitals where it is a standard one")
  if (!isAuthority(authority, isConnect)) {
    return invalid("authority", isConnect ? "a host and a port" : "a host, or a host and a port")
  }
  if (isConnect ? path !== "" : path === "*" ? method !== "OPTIONS" : !path.startsWith("/")) {
    return invalid("path", "from the first slash on; * for OPTIONS alone, and empty for CONNECT alone")
  }
  const at = firstOutside(path, target)
  if (at >= 0) return invalid("path", 'visible ASCII without ", #, < and >', named(path, at))
  if (body !== undefined && (isConnect || method === "TRACE")) return invalid("body", `left out with ${method}`)
  if (body === undefined || body instanceof Uint8Array || body.length === undefined) return undefined
  return Number.isSafeInteger(body.length) && body.length >= 0
    ? undefined
    : invalid("body", "of a whole number of bytes", body.length)
}

export const wrongField = (name: string, value: string): InvalidRequest | undefined => {
  const inName = firstOutside(name, token)
  if (inName >= 0 || name === "") return invalid("field", "named by a token", inName < 0 ? "" : named(name, inName))
  const inValue = firstOutside(value, text)
  if (inValue >= 0) return invalid(`field ${name}`, "latin1 text without control characters", named(value, inValue))
  return isBlank(value, 0) || isBlank(value, value.length - 1)
    ? invalid(`field ${name}`, "without blanks around it")
    : undefined
}

const isBlank = (value: string, at: number): boolean => value.charCodeAt(at) === 0x20 || value.charCodeAt(at) === 0x09
