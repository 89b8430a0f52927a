/** What can be wrong in HTTP/2 alone, where a connection may live on when an exchange does not: rules, and ends of exchanges. */
import { Refusal } from "../Refusal.ts"

/**
 * The rules that HTTP/2 adds. Where one is the stream's, the connection goes on:
 *
 * - `pseudo-field`: `:status` once and ahead of the rest, no other one, and none among trailers
 * - `status`: three digits from 100 on, and not 101
 * - `blank`: no blanks around a value
 * - `connection-field`: nothing that steers a connection of HTTP/1.1
 * - `early-data`: no body ahead of a final head
 * - `early-end`: no end of a response with an informational head
 * - `open-trailers`: trailers end a response
 * - `body-length`: as many bytes as were announced, or as there may be
 * - `last-stream`: what a GOAWAY says was served is what was answered and more; the connection's where it is more than one said
 *   before
 * - `window-increment`, `window-overflow`: above zero, to 2^31 - 1 in all; the connection's where the window is its own
 *
 * All others are the connection's:
 *
 * - `preface`: SETTINGS come first
 * - `frame-size`: at most the limit, and as the type of the frame has it
 * - `frame-stream`: on a stream that may have such a frame, and that was opened
 * - `closed-stream`: nothing of a response behind its end, or behind a reset of the peer's
 * - `frame-type`: no PUSH_PROMISE, since it was forbidden, and no PRIORITY_UPDATE, which is a client's
 * - `padding`: no longer than what has it
 * - `continuation`: a header block goes on in CONTINUATION, at once and on its stream, and that stands nowhere else
 * - `continuations`, `block-bytes`: at most the limit
 * - `settings-value`: within its range, and a promise is not taken back
 * - `unasked-ack`: one acknowledgement of SETTINGS that were taken, and one answer to a PING that was, which repeats it
 * - `flow-control`: no more than the windows allow
 * - `hpack-index`: of an entry that there is
 * - `hpack-integer`: at most 2^28
 * - `hpack-huffman`: codes of bytes, then fewer than eight ones
 * - `hpack-table-size`: at the beginning of a block, twice at most, and at most what was announced
 * - `hpack-cut`: the block ends with a field
 * - `flood`: at most the limit of frames that carry nothing for an exchange, beyond what the exchanges account for; SETTINGS
 *   also count each stream that waits for the window which they open
 */
export type Http2Rule =
  | "pseudo-field"
  | "status"
  | "blank"
  | "connection-field"
  | "early-data"
  | "early-end"
  | "open-trailers"
  | "body-length"
  | "window-increment"
  | "window-overflow"
  | "preface"
  | "frame-size"
  | "frame-stream"
  | "closed-stream"
  | "frame-type"
  | "padding"
  | "continuation"
  | "continuations"
  | "block-bytes"
  | "settings-value"
  | "unasked-ack"
  | "last-stream"
  | "flow-control"
  | "hpack-index"
  | "hpack-integer"
  | "hpack-huffman"
  | "hpack-table-size"
  | "hpack-cut"
  | "flood"

/** Types of frames; `preface` is whatever comes in place of the first SETTINGS. */
export type FramePart =
  | "preface"
  | "data"
  | "headers"
  | "priority"
  | "rst-stream"
  | "settings"
  | "push-promise"
  | "ping"
  | "goaway"
  | "window-update"
  | "continuation"
  | "unknown"

/** How far an exchange was when the peer reset its stream. */
export interface Reset {
  /** As in RFC 9113, 7. */
  readonly code: number
  readonly part: "head" | "body"
  /** Bytes of the body. */
  readonly received: number
  /** The announced length of the body. */
  readonly expected?: number | undefined
  /** The peer's word, by REFUSED_STREAM and ahead of any answer, that it did nothing with the request. */
  readonly unprocessed: boolean
}

/** The peer reset the stream of an exchange before its response had ended. The others of the connection go on. */
export class StreamReset extends Refusal implements Reset {
  readonly _tag = "StreamReset"
  override readonly name = "StreamReset"
  declare readonly code: number
  declare readonly part: "head" | "body"
  declare readonly received: number
  declare readonly expected: number | undefined
  declare readonly unprocessed: boolean
  constructor(facts: Reset) {
    super()
    Object.assign(this, facts)
  }
  override get message(): string {
    return `the peer reset a stream with code ${this.code} in the ${this.part} of a response, ${this.received} bytes in`
  }
}

/**
 * The peer goes away (GOAWAY). As the failure of an exchange: it did nothing with the request, and says so, or the request
 * was not taken before it said that.
 *
 * `code` is as in RFC 9113, 7: 0 where nothing was wrong. `last` is the last stream that it may have served.
 */
export class GoneAway extends Refusal {
  readonly _tag = "GoneAway"
  override readonly name = "GoneAway"
  declare readonly code: number
  declare readonly last: number
  constructor(facts: { readonly code: number; readonly last: number }) {
    super()
    Object.assign(this, facts)
  }
  override get message(): string {
    return `the peer goes away with code ${this.code} and serves no stream beyond ${this.last}`
  }
}
