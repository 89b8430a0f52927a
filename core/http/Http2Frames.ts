/** Frames of HTTP/2 by number (RFC 9113, 6), and the codes that a broken rule is answered with. Owns nothing. */
import type { FramePart } from "./Http2Fault.ts"
import type { Rule } from "./HttpFault.ts"

export const Type = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  push: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
  /** RFC 9218, 7.1. */
  priorityUpdate: 16,
} as const

export const Flag = { endStream: 1, ack: 1, endHeaders: 4, padded: 8, priority: 32 } as const

/** RFC 9113, 7. */
export const Code = {
  none: 0,
  protocol: 1,
  flowControl: 3,
  streamClosed: 5,
  frameSize: 6,
  refused: 7,
  cancel: 8,
  compression: 9,
  calm: 11,
} as const

const parts: ReadonlyArray<FramePart> = [
  "data",
  "headers",
  "priority",
  "rst-stream",
  "settings",
  "push-promise",
  "ping",
  "goaway",
  "window-update",
  "continuation",
]

export const partOf = (type: number): FramePart => parts[type] ?? "unknown"

const codes: Readonly<Partial<Record<Rule, number>>> = {
  "frame-size": Code.frameSize,
  "closed-stream": Code.streamClosed,
  "flow-control": Code.flowControl,
  "window-overflow": Code.flowControl,
  "hpack-index": Code.compression,
  "hpack-integer": Code.compression,
  "hpack-huffman": Code.compression,
  "hpack-table-size": Code.compression,
  "hpack-cut": Code.compression,
  continuations: Code.calm,
  "block-bytes": Code.calm,
  flood: Code.calm,
}

/** What the peer is told of a rule that it broke. */
export const codeOf = (rule: Rule): number => codes[rule] ?? Code.protocol

export const mostWindow = 0x7fff_ffff
/** What both sides begin with (RFC 9113, 6.5.2 and 6.9.2). */
export const firstWindow = 65_535
export const firstFrame = 16_384

export const uint31 = (bytes: Uint8Array, at: number): number => uint32(bytes, at) & 0x7fff_ffff

export const uint32 = (bytes: Uint8Array, at: number): number =>
  ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0
