/** SETTINGS of both sides (RFC 9113, 6.5; RFC 8441, 3; RFC 9218, 2.1). It owns what the peer has said last. */
import { firstFrame, firstWindow, mostWindow, uint32 } from "./Http2Frames.ts"
import type { Rule } from "./HttpFault.ts"

const Id = {
  tableBytes: 1,
  push: 2,
  maxStreams: 3,
  window: 4,
  maxFrame: 5,
  maxHead: 6,
  connectProtocol: 8,
  noPriorities: 9,
} as const

const mostFrame = 0xff_ffff

export interface OwnSettings {
  readonly maxTableBytes: number
  readonly maxStreamWindowBytes: number
  readonly maxFrameBytes: number
  readonly maxHeadBytes: number
}

/** Identifiers and values: nothing is pushed, and the priorities of RFC 7540 are not looked at. */
export const own = (settings: OwnSettings): ReadonlyArray<number> => [
  Id.tableBytes,
  settings.maxTableBytes,
  Id.push,
  0,
  Id.window,
  settings.maxStreamWindowBytes,
  Id.maxFrame,
  settings.maxFrameBytes,
  Id.maxHead,
  settings.maxHeadBytes,
  Id.noPriorities,
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
  /** What the last frame said of it: the smallest value, which empties a table though a larger one follows, and the last. */
  tableBytes: readonly [least: number, last: number] | undefined = undefined
  #noPriorities: number | undefined = undefined

  /** Takes the values of a frame, in order; what is not known is passed over. */
  apply(bytes: Uint8Array, from: number, to: number): Rule | undefined {
    this.tableBytes = undefined
    for (let at = from; at < to; at += 6) {
      const id = (bytes[at]! << 8) | bytes[at + 1]!
      const wrong = this.#set(id, uint32(bytes, at + 2))
      if (wrong !== undefined) return wrong
    }
    this.areKnown = true
    return undefined
  }

  #set(id: number, value: number): Rule | undefined {
    switch (id) {
      case Id.tableBytes:
        this.tableBytes = [Math.min(value, this.tableBytes?.[0] ?? value), value]
        return undefined
      case Id.push:
        return value === 0 ? undefined : "settings-value"
      case Id.maxStreams:
        this.maxStreams = value
        return undefined
      case Id.window:
        this.window = value
        return value <= mostWindow ? undefined : "flow-control"
      case Id.maxFrame:
        this.maxFrame = value
        return value >= firstFrame && value <= mostFrame ? undefined : "settings-value"
      case Id.maxHead:
        this.maxHead = value
        return undefined
      case Id.connectProtocol: {
        const isRight = value === 1 || (value === 0 && !this.connectProtocol)
        this.connectProtocol = value === 1
        return isRight ? undefined : "settings-value"
      }
      case Id.noPriorities: {
        // RFC 9218, 2.1: it does not change behind the first frame.
        const isRight = value <= 1 && (!this.areKnown || value === (this.#noPriorities ?? 0))
        this.#noPriorities = value
        return isRight ? undefined : "settings-value"
      }
      default:
        return undefined
    }
  }
}
