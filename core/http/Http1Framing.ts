/**
 * Where the body of a response ends, and whether its connection lives on: RFC 9112, 6.3 and 9.3, read strictly, since this
 * is the one thing that two readers of the same bytes must never take differently. Owns nothing.
 */
import type { Rule } from "./HttpFault.ts"
import type { Fields, ResponseHead } from "./HttpMessage.ts"
import { elements, isToken } from "./HttpSyntax.ts"

/** What of a request decides how its response is read. */
export interface Asked {
  readonly isHead: boolean
  readonly isConnect: boolean
  /** Whether the whole of it came out. */
  readonly isSent: boolean
  /** The protocols that it offered to switch to, in lower case. */
  readonly offers: ReadonlyArray<string>
}

export interface Framing {
  /** `close`: the body ends with the connection; `switch`: what follows is no HTTP. */
  readonly body: "length" | "chunked" | "close" | "switch"
  /** Bytes of the body where it has a length; 0 where it can have none. */
  readonly length: number
  /** Whether the peer keeps the connection for another exchange. */
  readonly persists: boolean
}

/** The fields that frame a message, as they came. */
interface Signs {
  readonly lengths: ReadonlyArray<string>
  readonly codings: ReadonlyArray<string>
  readonly options: ReadonlyArray<string>
  readonly upgrades: ReadonlyArray<string>
}

/** The framing, or the rule that the head breaks. */
export const framingOf = (head: ResponseHead, asked: Asked): Framing | Rule => {
  const signs = signsOf(head.fields)
  const { status } = head
  // RFC 9110, 9.3.6: what a 2xx to CONNECT says of a body must be ignored.
  if (asked.isConnect && status >= 200 && status < 300) return { body: "switch", length: 0, persists: false }
  const { codings, lengths } = signs
  const rule = brokenBy(signs, head.version)
  if (rule !== undefined) return rule
  const isBare = status < 200 || status === 204
  if (isBare && (codings.length > 0 || (lengths.length > 0 && lengths[0] !== "0"))) return "framed-without-body"
  if (status === 101) {
    return isOffered(signs, head, asked) ? { body: "switch", length: 0, persists: false } : "unasked-switch"
  }
  const persists = isKept(signs.options, head.version)
  if (isBare || status === 304 || asked.isHead) return { body: "length", length: 0, persists }
  if (codings.length > 0) return { body: "chunked", length: 0, persists }
  if (lengths.length > 0) return { body: "length", length: Number(lengths[0]), persists }
  return { body: "close", length: 0, persists: false }
}

const signsOf = (fields: Fields): Signs => {
  const lengths: Array<string> = []
  const codings: Array<string> = []
  const options: Array<string> = []
  const upgrades: Array<string> = []
  for (const [name, value] of fields) {
    // Few names have one of these lengths, so most fields cost one comparison.
    switch (name.length) {
      case 7:
        if (name === "upgrade") { for (const protocol of elements(value)) upgrades.push(protocol) }
        break
      case 10:
        if (name === "connection") { for (const option of elements(value)) options.push(option) }
        break
      case 14:
        if (name === "content-length") lengths.push(value)
        break
      case 17:
        if (name === "transfer-encoding") codings.push(value)
    }
  }
  return { lengths, codings, options, upgrades }
}

/**
 * RFC 9112, 6.3, lets a recipient take a repeated length that says the same, or the coding of two framings; a leading zero
 * is within its grammar. All three are refused: there are readers to whom they mean something else.
 */
const brokenBy = ({ codings, lengths }: Signs, version: ResponseHead["version"]): Rule | undefined => {
  if (lengths.length > 0) {
    if (lengths.length > 1 || !isLength(lengths[0]!)) return "content-length"
    if (codings.length > 0) return "two-framings"
  }
  if (codings.length === 0) return undefined
  if (version === "1.0") return "old-transfer-encoding"
  return codings.length > 1 || codings[0]!.toLowerCase() !== "chunked" ? "transfer-encoding" : undefined
}

const isLength = (value: string): boolean =>
  /^(?:0|[1-9]\d{0,15})$/.test(value) && Number(value) <= Number.MAX_SAFE_INTEGER

/** A list that cannot be read may say `close` to somebody else. */
const isKept = (options: ReadonlyArray<string>, version: ResponseHead["version"]): boolean =>
  !options.includes("close") && (version === "1.1" || options.includes("keep-alive")) &&
  options.every(isToken)

const isOffered = ({ options, upgrades }: Signs, { version }: ResponseHead, { isSent, offers }: Asked): boolean =>
  isSent && version === "1.1" && options.includes("upgrade") && upgrades.length > 0 &&
  upgrades.every((protocol) => offers.includes(protocol))
