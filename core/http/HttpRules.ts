/**
 * What a request has to keep to at the door, in any version, so that none of its parts can become another part on the
 * wire. Owns nothing.
 *
 * A value that a rule refuses may be a secret, so an error shows nothing of it.
 */
import type { InvalidRequest } from "../Refusal.ts"
import { type Given, invalid, wrongType } from "./HttpGiven.ts"
import { isAuthority, isMethod, isPadded, isToken, target, text } from "./HttpSyntax.ts"

/** What is wrong with everything but each of the fields; undefined where nothing is. */
export const wrongRequest = (given: Given): InvalidRequest | undefined => {
  const { authority, hasBody, method, path, protocol, scheme } = given
  const isTunnel = method === "CONNECT"
  if (protocol !== undefined && !(isTunnel && isToken(protocol))) {
    return invalid("protocol", "a token, and with CONNECT")
  }
  // An extended CONNECT has the scheme, authority and path of any other request.
  const isConnect = isTunnel && protocol === undefined
  if (scheme !== "http" && scheme !== "https") return invalid("scheme", "http or https")
  if (!isMethod(method)) return invalid("method", "a token in capitals")
  if (!isAuthority(authority, isConnect)) return invalid("authority", isConnect ? "host:port" : "host or host:port")
  if (isConnect ? path !== "" : path === "*" ? method !== "OPTIONS" : path[0] !== "/") {
    return invalid("path", "from / on, * with OPTIONS, empty with CONNECT")
  }
  if (target.outside.test(path)) return invalid("path", 'ASCII without blanks, ", #, < and >')
  return hasBody && (isTunnel || method === "TRACE") ? invalid("body", `left out with ${method}`) : undefined
}

export const wrongField = (name: string, value: string): InvalidRequest | undefined => {
  if (typeof name !== "string") return wrongType("field", "two texts", name)
  return isToken(name) ? wrongValue(name, value) : invalid("field", "named by a token")
}

/** What is wrong with the value of a field whose name is right. */
export const wrongValue = (name: string, value: string): InvalidRequest | undefined => {
  if (typeof value !== "string") return wrongType("field", "two texts", value)
  if (text.outside.test(value)) return invalid(`field ${name}`, "latin1 without control characters")
  return isPadded(value) ? invalid(`field ${name}`, "without blanks around it") : undefined
}
