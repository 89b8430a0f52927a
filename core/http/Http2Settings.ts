/** SETTINGS of both sides (RFC 9113, 6.5; RFC 8441, 3; RFC 9218, 2.1). It owns what the peer has said last. */
import type { HpackEncoder } from "./HpackEncoder.ts"
import { firstFrame, firstWindow, mostWindow, uint32 } from "./Http2Frames.ts"
import type { Rule } from "./HttpFault.ts"

const tableBytes = 1
const push = 2
const maxStreams = 3
const firstSize = 4
const maxFrame = 5
const maxHead = 6
const connectProtocol = 8
const noPriorities = 9

const mostFrame = 0xff_ffff

export interface OwnSettings {
  readonly maxTableBytes: number
  readonly maxStreamWindowBytes: number
  readonly maxFrameBytes: number
  readonly maxHeadBytes: number
}

/** Identifiers and values: nothing is pushed, and the priorities of RFC 7540 are not looked at. */
export const own = (settings: OwnSettings): ReadonlyArray<number> => [
  tableBytes,
  settings.maxTableBytes,
  push,
  0,
  firstSize,
  settings.maxStreamWindowBytes,
  maxFrame,
  settings.maxFrameBytes,
  maxHead,
  settings.maxHeadBytes,
  noPriorities,
  1,
]

export class PeerSettings {
  /** Whether the first frame of them came. */
  areKnown: boolean = false
  maxStreams: number = Infinity
  window: number = firstWindow
  maxFrame: number = firstFrame
  /** By RFC 9113, 6.5.2: names, values and 32 for each field. */
  maxHead: number = Infinity
  /** Whether extended CONNECT is served. */
  connectProtocol: boolean = false
  #noPriorities: number | undefined
  readonly #encoder: HpackEncoder

  constructor(encoder: HpackEncoder) {
    this.#encoder = encoder
  }

  /** Takes the values of a frame, in order; what is not known is passed over. */
  apply(bytes: Uint8Array, from: number, to: number): Rule | undefined {
    for (let at = from; at < to; at += 6) {
      const id = (bytes[at]! << 8) | bytes[at + 1]!
      if (!this.#set(id, uint32(bytes, at + 2))) return id === firstSize ? "flow-control" : "settings-value"
    }
    this.areKnown = true
    return undefined
  }

  /** Whether it may be set to that. */
  #set(id: number, value: number): boolean {
    switch (id) {
      case tableBytes:
        this.#encoder.allow(value)
        return true
      case push:
        return value === 0
      case maxStreams:
        this.maxStreams = value
        return true
      case firstSize:
        this.window = value
        return value <= mostWindow
      case maxFrame:
        this.maxFrame = value
        return value >= firstFrame && value <= mostFrame
      case maxHead:
        this.maxHead = value
        return true
      case connectProtocol: {
        const isRight = value === 1 || (value === 0 && !this.connectProtocol)
        this.connectProtocol = value === 1
        return isRight
      }
      case noPriorities: {
        // RFC 9218, 2.1: it does not change behind the first frame.
        const isRight = value <= 1 && (!this.areKnown || value === (this.#noPriorities ?? 0))
        this.#noPriorities = value
        return isRight
      }
      default:
        return true
    }
  }
}
