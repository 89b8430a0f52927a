/** What frames of HTTP/2 are called, what a broken rule is answered with, and numbers as frames have them. Owns nothing. */
import * as Code from "./Http2ErrorCode.ts"
import type { FramePart } from "./Http2Fault.ts"
import type { Rule } from "./HttpFault.ts"

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
  continuations: Code.calm,
  "block-bytes": Code.calm,
  flood: Code.calm,
}

/** What the peer is told of a rule that it broke. */
export const codeOf = (rule: Rule): number =>
  codes[rule] ?? (rule.startsWith("hpack-") ? Code.compression : Code.protocol)

export const mostWindow = 0x7fff_ffff
/** What both sides begin with (RFC 9113, 6.5.2 and 6.9.2). */
export const firstWindow = 65_535
export const firstFrame = 16_384

export const uint31 = (bytes: Uint8Array, at: number): number => uint32(bytes, at) & 0x7fff_ffff

export const uint32 = (bytes: Uint8Array, at: number): number =>
  ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0
