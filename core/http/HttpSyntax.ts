/**
 * Which bytes may stand where in an HTTP message, and what of a text may not: the rules that every version shares.
 * Owns nothing.
 */

/** A class of characters as two readers need it: for bytes a table with 1 where one is inside, for text what is outside. */
interface Class {
  readonly bytes: Uint8Array
  readonly outside: RegExp
}

const classOf = (characters: string): Class => {
  const outside = new RegExp(`[^${characters}]`)
  return { outside, bytes: Uint8Array.from({ length: 256 }, (_, byte) => +!outside.test(String.fromCharCode(byte))) }
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

export const isToken = (value: string): boolean => value !== "" && !token.outside.test(value)

/** Whether a blank begins or ends a value, which its reader would take off. */
export const isPadded = (value: string): boolean =>
  isBlank(value.charCodeAt(0)) || isBlank(value.charCodeAt(value.length - 1))

const isBlank = (code: number): boolean => code === 0x20 || code === 0x09

/** No method that is in use has small letters; those of a standard one make another method, or for some servers do not. */
export const isMethod = (value: string): boolean => isToken(value) && value === value.toUpperCase()

// A name or IPv4 address of the characters that names have in practice, or an IPv6 address; and perhaps a port.
const host = /^(?:[\w\-.~]+|\[[\da-fA-F:.]+\])(?::(\d{1,5}))?$/

/** Host and perhaps port; of a CONNECT, host and port (RFC 9110, 9.3.6). */
export const isAuthority = (value: string, withPort: boolean): boolean => {
  const match = host.exec(value)
  if (match === null) return false
  const [, port] = match
  return port === undefined ? !withPort : +port > 0 && +port < 65_536
}

// From a character that is no blank to the last one such before a comma.
const element = /[^\t ,](?:[^,]*[^\t ,])?/g

/** The elements of a list in lower case, added to `all`; empty ones do not count (RFC 9110, 5.6.1.2). */
export const addElements = (all: Array<string>, list: string): void => {
  if (isToken(list)) all.push(list.toLowerCase())
  else for (const each of list.toLowerCase().match(element) ?? []) all.push(each)
}

/**
 * Fields that frame a message or steer its connection. They have no business among trailers, where they would come after
 * what they speak of, or would be taken for the head's own by whoever merges the two (RFC 9110, 6.5.1).
 */
export const steers: RegExp =
  /^(?:connection|content-length|expect|host|keep-alive|proxy-connection|te|trailer|transfer-encoding|upgrade)$/i
