/**
 * Which bytes may stand where in an HTTP message, and what of a text may not: the rules that every version shares.
 * Owns nothing.
 */

/** One entry a byte, 1 where it may stand. */
export type Table = Uint8Array

const table = (allowed: (byte: number) => boolean): Table =>
  Uint8Array.from({ length: 256 }, (_, byte) => allowed(byte) ? 1 : 0)

const marks = new Set(Array.from("!#$%&'*+-.^_`|~", (mark) => mark.charCodeAt(0)))
const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39
const isLetter = (byte: number): boolean => (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a

/** Methods and names of fields: `tchar` of RFC 9110, 5.6.2. */
export const token: Table = table((byte) => isDigit(byte) || isLetter(byte) || marks.has(byte))

/** Values of fields and reasons: visible ASCII, space, tab and `obs-text` of RFC 9110, 5.5; so no CR, LF or NUL. */
export const text: Table = table((byte) => byte === 0x09 || (byte >= 0x20 && byte !== 0x7f))

/**
 * Paths and queries: visible ASCII less `"`, `#`, `<` and `>`. That is more than RFC 3986 has, since the URL standard of
 * browsers leaves the likes of `|` and `{` in a query as they are; it has nothing that ends a target early.
 */
export const target: Table = table((byte) => byte > 0x20 && byte < 0x7f && !'"#<>'.includes(String.fromCharCode(byte)))

/** Where the first character stands that the table has not; -1 where all may stay. */
export const firstOutside = (value: string, allowed: Table): number => {
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i)
    if (code > 0xff || allowed[code] === 0) return i
  }
  return -1
}

/** What a message may say of a character that may not stand: neither the text around it nor, if it is visible, itself. */
export const named = (value: string, at: number): string =>
  `U+${value.charCodeAt(at).toString(16).toUpperCase().padStart(4, "0")} at ${at}`

const standard = new Set("GET HEAD POST PUT DELETE CONNECT OPTIONS TRACE PATCH".split(" "))

/** A standard method in other letters is another method, which one server takes for the standard one and the next does not. */
export const isMethod = (value: string): boolean =>
  value !== "" && firstOutside(value, token) < 0 && (standard.has(value) || !standard.has(value.toUpperCase()))

// A name or IPv4 address as in RFC 3986 (pct-encoded names are refused: no two readers agree on them), or an IPv6 address.
const host = /^(?:[A-Za-z0-9\-._~!$&'()*+,;=]+|\[[0-9A-Fa-f:.]+\])(?::(\d{1,5}))?$/

/** Host and perhaps port; of a CONNECT, host and port (RFC 9110, 9.3.6). */
export const isAuthority = (value: string, withPort: boolean): boolean => {
  const port = host.exec(value)
  if (port === null) return false
  return port[1] === undefined ? !withPort : Number(port[1]) > 0 && Number(port[1]) < 65_536
}

/** The elements of a list, in lower case; empty ones do not count (RFC 9110, 5.6.1.2). */
export const elements = (list: string): ReadonlyArray<string> =>
  list.toLowerCase().split(",").map((element) => element.replace(/^[\t ]+|[\t ]+$/g, ""))
    .filter((element) => element !== "")

/**
 * Fields that frame a message or steer its connection. They have no business among trailers, where they would come after
 * what they speak of, or would be taken for the head's own by whoever merges the two (RFC 9110, 6.5.1).
 */
export const steers: ReadonlySet<string> = new Set(
  ("connection content-length expect host keep-alive proxy-connection te trailer transfer-encoding upgrade").split(" "),
)
