/**
 * Where the body of a response ends, and whether its connection lives on: RFC 9112, 6.3 and 9.3, read strictly, since this
 * is the one thing that two readers of the same bytes must never take differently. Owns nothing.
 */
import type { Rule } from "./HttpFault.ts"
import type { Fields, ResponseHead } from "./HttpMessage.ts"
import { addElements, isToken } from "./HttpSyntax.ts"

/** What of a request decides how its response is read. */
export interface Asked {
  readonly isHead: boolean
  readonly isConnect: boolean
  /** Whether the whole of it was taken to be written. */
  readonly isOut: boolean
  /** The protocols that it offered to switch to, in lower case. */
  readonly offers: ReadonlyArray<string>
}

export interface Framing {
  /** `switch`: what follows is no HTTP. */
  readonly body: "length" | "chunked" | "switch"
  /** Bytes of the body where it has a length: 0 where there can be none, infinite where it ends with the connection. */
  readonly length: number
  /** Whether the peer keeps the connection for another exchange, where the end of the body is not its end. */
  readonly persists: boolean
}

const switching: Framing = { body: "switch", length: Infinity, persists: false }

/** The framing, or the rule that the head breaks. */
export const framingOf = (head: ResponseHead, asked: Asked): Framing | Rule => {
  const { status, version } = head
  // RFC 9110, 9.3.6: what a 2xx to CONNECT says of a body must be ignored.
  if (asked.isConnect && status >= 200 && status < 300) return switching
  const signs = signsOf(head.fields)
  const rule = brokenBy(signs, version)
  if (rule !== undefined) return rule
  const isBare = status < 200 || status === 204
  if (isBare && (signs.codings > 0 || (signs.lengths > 0 && signs.length !== "0"))) return "framed-without-body"
  if (status === 101) return isOffered(signs, head, asked) ? switching : "unasked-switch"
  const isEmpty = isBare || status === 304 || asked.isHead
  const isChunked = !isEmpty && signs.codings > 0
  const length = isEmpty ? 0 : signs.lengths > 0 ? Number(signs.length) : Infinity
  return { body: isChunked ? "chunked" : "length", length, persists: isKept(signs.options, version) }
}

/** What the fields that frame a message say: of lengths and codings how many there are, and the last one. */
interface Signs {
  lengths: number
  length: string
  codings: number
  coding: string
  readonly options: Array<string>
  readonly upgrades: Array<string>
}

const signsOf = (fields: Fields): Signs => {
  const signs: Signs = { lengths: 0, length: "", codings: 0, coding: "", options: [], upgrades: [] }
  for (let i = 0; i < fields.length; i++) {
    const name = fields[i]![0]
    const value = fields[i]![1]
    // Few names have one of these lengths, so most fields cost one comparison.
    if (name.length === 7 && name === "upgrade") addElements(signs.upgrades, value)
    else if (name.length === 10 && name === "connection") addElements(signs.options, value)
    else if (name.length === 14 && name === "content-length") {
      signs.lengths++
      signs.length = value
    } else if (name.length === 17 && name === "transfer-encoding") {
      signs.codings++
      signs.coding = value
    }
  }
  return signs
}

/**
 * RFC 9112, 6.3, lets a recipient take a repeated length that says the same, or the coding of two framings; a leading zero
 * is within its grammar. All three are refused: there are readers to whom they mean something else.
 */
const brokenBy = ({ coding, codings, length, lengths }: Signs, version: ResponseHead["version"]): Rule | undefined => {
  if (lengths > 0) {
    if (lengths > 1 || !isLength(length)) return "content-length"
    if (codings > 0) return "two-framings"
  }
  if (codings === 0) return undefined
  if (version === "1.0") return "old-transfer-encoding"
  return codings > 1 || coding.toLowerCase() !== "chunked" ? "transfer-encoding" : undefined
}

const isLength = (value: string): boolean =>
  /^(?:0|[1-9]\d{0,15})$/.test(value) && Number(value) <= Number.MAX_SAFE_INTEGER

/** A list that cannot be read may say `close` to somebody else. */
const isKept = (options: ReadonlyArray<string>, version: ResponseHead["version"]): boolean =>
  !options.includes("close") && (version === "1.1" || options.includes("keep-alive")) && options.every(isToken)

const isOffered = ({ options, upgrades }: Signs, { version }: ResponseHead, { isOut, offers }: Asked): boolean =>
  isOut && version === "1.1" && options.includes("upgrade") && upgrades.length > 0 &&
  upgrades.every((protocol) => offers.includes(protocol))
