/**
 * What can be wrong with an exchange, as typed refusals. None of them shows anything that a peer or a caller sent: what a
 * message holds may be secret, so a fault says which rule, in which part and at which byte.
 */
import { Refusal } from "../Refusal.ts"
import type { FramePart, Http2Rule } from "./Http2Fault.ts"

/**
 * The rules of a response in HTTP/1.1:
 *
 * - `version`: HTTP/1.1 or HTTP/1.0, in these letters
 * - `status-line`: one space, three digits from 100 on, and a reason behind one more space, or nothing
 * - `bare-lf`, `bare-cr`: a line ends with both; neither stands alone
 * - `control`: no control character in a reason or a value but the tab
 * - `field-name`: a token, and right behind it the colon
 * - `fold`: no line goes on in the next
 * - `line-bytes`, `head-bytes`, `trailers-bytes`, `fields`, `informational`: at most the limit
 * - `content-length`: digits without a leading zero, at most 2^53 - 1, and once
 * - `two-framings`: a length or a coding, not both
 * - `transfer-encoding`: `chunked`, once, and nothing else, since nothing else was asked for
 * - `old-transfer-encoding`: no coding in HTTP/1.0
 * - `framed-without-body`: neither a length other than zero nor a coding where a status has no body: 1xx and 204
 * - `chunk-line`: up to 16 hexadecimal digits that come to at most 2^53 - 1, at once the end of the line or an extension,
 *   and no control character but the tab
 * - `chunk-line-bytes`, `chunk-overhead`: at most the limit
 * - `chunk-end`: CR LF behind the bytes of a chunk
 * - `trailer-field`: nothing that frames the message or steers the connection
 * - `unasked-response`: no byte that no request asked for
 * - `unasked-switch`: 101 only where the request, all of which was sent, offered that very protocol
 */
export type Rule =
  | "version"
  | "status-line"
  | "bare-lf"
  | "bare-cr"
  | "control"
  | "field-name"
  | "fold"
  | "line-bytes"
  | "head-bytes"
  | "trailers-bytes"
  | "fields"
  | "informational"
  | "content-length"
  | "two-framings"
  | "transfer-encoding"
  | "old-transfer-encoding"
  | "framed-without-body"
  | "chunk-line"
  | "chunk-line-bytes"
  | "chunk-overhead"
  | "chunk-end"
  | "trailer-field"
  | "unasked-response"
  | "unasked-switch"
  | Http2Rule

/** The part of a response that was being read; `idle` is between two exchanges. In HTTP/2 it is the type of the frame. */
export type Part = "head" | "body" | "trailers" | "idle" | FramePart

/** Which rule, where, and the limit where the rule is one. */
export interface Fault {
  readonly rule: Rule
  readonly part: Part
  /**
   * Which byte of that part, from 0; of a head or of trailers as a whole, their length. In HTTP/2: at which byte of the
   * connection the frame begins.
   */
  readonly at: number
  readonly limit?: number | undefined
  /** In HTTP/2 alone: whether the stream was reset and the others go on, or nothing does. */
  readonly scope?: "connection" | "stream" | undefined
}

/**
 * The peer broke a rule of the protocol. Nothing more is read from its connection, which has to be closed; but for a rule
 * whose scope is a stream.
 */
export class ProtocolFault extends Refusal implements Fault {
  readonly _tag = "ProtocolFault"
  override readonly name = "ProtocolFault"
  declare readonly protocol: "h1" | "h2"
  declare readonly rule: Rule
  declare readonly part: Part
  declare readonly at: number
  declare readonly limit: number | undefined
  declare readonly scope?: "connection" | "stream" | undefined
  constructor(facts: Fault & { readonly protocol: "h1" | "h2" }) {
    super()
    Object.assign(this, facts)
  }
  override get message(): string {
    const limit = this.limit === undefined ? "" : ` of ${this.limit}`
    return `the peer broke the rule ${this.rule}${limit} of ${this.protocol}: ${this.part}, byte ${this.at}`
  }
}

/** A fault of HTTP/1.1. */
export const fault = (rule: Rule, part: Part, at: number, limit?: number): ProtocolFault =>
  new ProtocolFault({ protocol: "h1", rule, part, at, limit })

/** How much of a message there was when its connection ended. */
export interface Cut {
  readonly part: "head" | "body"
  /** `ended` is a clean end, so the message is truncated; `reset` is anything else. */
  readonly how: "ended" | "reset"
  /** Bytes of the head, or of the body without its framing. */
  readonly received: number
  /** The announced length of the body. */
  readonly expected?: number | undefined
}

/** The connection ended inside a message. */
export class MessageCut extends Refusal implements Cut {
  readonly _tag = "MessageCut"
  override readonly name = "MessageCut"
  declare readonly part: "head" | "body"
  declare readonly how: "ended" | "reset"
  declare readonly received: number
  declare readonly expected: number | undefined
  constructor(facts: Cut) {
    super()
    Object.assign(this, facts)
  }
  override get message(): string {
    const expected = this.expected === undefined ? "" : ` of ${this.expected}`
    return `the connection ${this.how === "ended" ? "ended" : "was reset"} in the ${this.part} of a response, ` +
      `${this.received}${expected} bytes in`
  }
}

/** The exchange has ended, or its request has: nothing of what was given was taken. */
export class ExchangeOver extends Refusal {
  readonly _tag = "ExchangeOver"
  override readonly name = "ExchangeOver"
  declare readonly exchange: number
  constructor(facts: { readonly exchange: number }) {
    super()
    Object.assign(this, facts)
  }
  override get message(): string {
    return `exchange ${this.exchange} takes nothing more`
  }
}
