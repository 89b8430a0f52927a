/**
 * Which bytes may stand where in an HTTP message, and what of a text may not: the rules that every version shares.
 * Owns nothing.
 */

/** One entry a byte, 1 where it may stand. */
type Table = Uint8Array

/** A class of characters as two readers need it: a table for bytes, and for text the expression that finds what is outside. */
interface Class {
  readonly bytes: Table
  readonly outside: RegExp
}

const classOf = (characters: string): Class => {
  const inside = new RegExp(`[${characters}]`)
  return {
    bytes: Uint8Array.from({ length: 256 }, (_, byte) => inside.test(String.fromCharCode(byte)) ? 1 : 0),
    outside: new RegExp(`[^${characters}]`),
  }
}

/** Methods and names of fields: `tchar` of RFC 9110, 5.6.2. */
export const token: Class = classOf("!#$%&'*+\\-.^_`|~0-9A-Za-z")

/** Values of fields and reasons: visible ASCII, space, tab and `obs-text` of RFC 9110, 5.5; so no CR, LF or NUL. */
export const text: Class = classOf("\\t\\x20-\\x7e\\x80-\\xff")

/**
 * Paths and queries: visible ASCII less `"`, `#`, `<` and `>`. That is more than RFC 3986 has, since the URL standard of
 * browsers leaves the likes of `|` and `{` in a query as they are; it has nothing that ends a target early.
 */
export const target: Class = classOf("!$-;=?-~")

/** The first character that is not of the class, named without what stands around it; undefined where all are. */
export const stranger = (value: string, { outside }: Class): string | undefined => {
  if (!outside.test(value)) return undefined
  const at = value.search(outside)
  return `U+${value.charCodeAt(at).toString(16).toUpperCase().padStart(4, "0")} at ${at}`
}

export const isToken = (value: string): boolean => value !== "" && !token.outside.test(value)

const standard = new Set("GET HEAD POST PUT DELETE CONNECT OPTIONS TRACE PATCH".split(" "))

/** A standard method in other letters is another method, which one server takes for the standard one and the next does not. */
export const isMethod = (value: string): boolean =>
  standard.has(value) || (isToken(value) && !standard.has(value.toUpperCase()))

// A name or IPv4 address as in RFC 3986 (pct-encoded names are refused: no two readers agree on them), or an IPv6 address.
const host = /^(?:[A-Za-z0-9\-._~!$&'()*+,;=]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?$/

/** Host and perhaps port; of a CONNECT, host and port (RFC 9110, 9.3.6). */
export const isAuthority = (value: string, withPort: boolean): boolean => {
  if (!host.test(value)) return false
  const colon = value.lastIndexOf(":")
  if (colon < 0 || value.endsWith("]")) return !withPort
  const port = Number(value.slice(colon + 1))
  return port > 0 && port < 65_536
}

/**
 * A list and the elements of another one behind it, in lower case; empty ones do not count (RFC 9110, 5.6.1.2). The list
 * itself grows, unless it was empty, so that a field on many lines costs no more than on one.
 */
export const addElements = (list: ReadonlyArray<string>, value: string): ReadonlyArray<string> => {
  const all = list.length === 0 ? [] : list as Array<string>
  if (isToken(value)) all.push(value.toLowerCase())
  else {
    for (const part of value.toLowerCase().split(",")) {
      const element = part.replace(/^[\t ]+|[\t ]+$/g, "")
      if (element !== "") all.push(element)
    }
  }
  return all
}

/**
 * Fields that frame a message or steer its connection. They have no business among trailers, where they would come after
 * what they speak of, or would be taken for the head's own by whoever merges the two (RFC 9110, 6.5.1).
 */
export const steers: ReadonlySet<string> = new Set(
  ("connection content-length expect host keep-alive proxy-connection te trailer transfer-encoding upgrade").split(" "),
)
