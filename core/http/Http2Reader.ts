/**
 * Bytes as frames (RFC 9113, 4 and 6): their lengths, padding and order, and header blocks put together. It owns the bytes
 * of an unfinished frame other than DATA, and of an unfinished header block.
 */
import { Carry } from "./Carry.ts"
import * as Flag from "./Http2FrameFlag.ts"
import { partOf, uint31, uint32 } from "./Http2Frames.ts"
import * as Type from "./Http2FrameType.ts"
import type { FramePart } from "./Http2Fault.ts"
import type { Rule } from "./HttpFault.ts"

/** Who is told of frames; each may answer with the rule of the connection that the frame breaks. */
export interface FrameSink {
  /** A frame begins that may stand there, of a stream or, by 0, of the connection. */
  readonly begin: (type: number, stream: number) => Rule | undefined
  readonly headers: (stream: number, isLast: boolean, bytes: Uint8Array, from: number, to: number) => Rule | undefined
  /** DATA begins: so many bytes for the windows. */
  readonly openData: (stream: number, payload: number) => Rule | undefined
  /** So many bytes of a body are in it, and so many are not. */
  readonly sizeData: (stream: number, body: number, other: number, isLast: boolean) => Rule | undefined
  readonly data: (stream: number, bytes: Uint8Array) => void
  readonly endData: (stream: number, isLast: boolean) => void
  readonly settings: (bytes: Uint8Array, from: number, to: number) => Rule | undefined
  readonly settingsAck: () => Rule | undefined
  readonly ping: (bytes: Uint8Array, from: number) => Rule | undefined
  readonly pong: (bytes: Uint8Array, from: number) => Rule | undefined
  readonly goAway: (last: number, code: number) => Rule | undefined
  readonly windowUpdate: (stream: number, bytes: number) => Rule | undefined
  readonly reset: (stream: number, code: number) => Rule | undefined
}

export interface ReaderLimits {
  readonly maxFrameBytes: number
  readonly maxHeadBytes: number
  readonly maxContinuations: number
}

type Mode = "head" | "buffer" | "pad" | "data"

const headBytes = 9

export class FrameReader {
  readonly #limits: ReaderLimits
  readonly #sink: FrameSink
  readonly #head = new Uint8Array(headBytes)
  #headLength = 0
  #mode: Mode = "head"
  #type = 0
  #flags = 0
  #stream = 0
  /** Bytes of the payload that are still to come; of those of DATA, the ones that are padding. */
  #left = 0
  #padding = 0
  /** Bytes of the connection before this piece, and of them those before the frame that was read last. */
  #before = 0
  frameAt = 0
  #isFirst = true
  readonly #payload = new Carry()
  readonly #block = new Carry()
  /** The stream whose header block goes on; 0 where none does. */
  #blockStream = 0
  #blockEnds = false
  #continuations = 0

  constructor(limits: ReaderLimits, sink: FrameSink) {
    this.#limits = limits
    this.#sink = sink
  }

  get retainedBytes(): number {
    return this.#payload.retainedBytes + this.#block.retainedBytes
  }

  /** Whether a frame or a header block is unfinished. */
  get isWithin(): boolean {
    return this.#mode !== "head" || this.#headLength > 0 || this.#blockStream > 0
  }

  get part(): FramePart {
    return this.#isFirst ? "preface" : partOf(this.#type)
  }

  drop(): void {
    this.#payload.drop()
    this.#block.drop()
  }

  /** Reads a piece to its end, or to the frame that breaks a rule of the connection. */
  read(bytes: Uint8Array): Rule | undefined {
    let at = 0
    while (at < bytes.length) {
      const next = this.#step(bytes, at)
      if (typeof next === "string") return next
      at = next
    }
    this.#before += bytes.length
    return undefined
  }

  #step(bytes: Uint8Array, at: number): number | Rule {
    switch (this.#mode) {
      case "head":
        return this.#readHead(bytes, at)
      case "pad":
        this.#left--
        return this.#sizeData(bytes[at]!, 1) ?? this.#endIfDone() ?? at + 1
      case "data":
        return this.#readData(bytes, at)
      default:
        return this.#readBuffered(bytes, at)
    }
  }

  #readHead(bytes: Uint8Array, at: number): number | Rule {
    if (this.#headLength === 0) {
      this.frameAt = this.#before + at
      if (bytes.length - at >= headBytes) return this.#begin(bytes, at) ?? this.#endIfDone() ?? at + headBytes
    }
    const to = Math.min(bytes.length, at + headBytes - this.#headLength)
    this.#head.set(bytes.subarray(at, to), this.#headLength)
    this.#headLength += to - at
    if (this.#headLength < headBytes) return to
    this.#headLength = 0
    return this.#begin(this.#head, 0) ?? this.#endIfDone() ?? to
  }

  /** Reads the head of a frame, and says how its payload is read. */
  #begin(bytes: Uint8Array, at: number): Rule | undefined {
    const length = (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!
    const type = this.#type = bytes[at + 3]!
    const flags = this.#flags = bytes[at + 4]!
    const stream = this.#stream = uint31(bytes, at + 5)
    this.#left = length
    if (this.#isFirst && (type !== Type.settings || (flags & Flag.ack) !== 0)) return "preface"
    this.#isFirst = false
    if (length > this.#limits.maxFrameBytes) return "frame-size"
    const wrong = this.#misplaced() ?? (isSized(type, flags, length) ? this.#sink.begin(type, stream) : "frame-size")
    if (wrong !== undefined) return wrong
    if (type === Type.data) {
      const full = this.#sink.openData(stream, length)
      if (full !== undefined) return full
      if ((flags & Flag.padded) === 0) return this.#sizeData(0, 0)
      this.#mode = "pad"
      return length === 0 ? "frame-size" : undefined
    }
    // What has no meaning here is passed over, as padding is.
    this.#padding = length
    this.#mode = type === Type.priority || type > Type.continuation ? "data" : "buffer"
    return undefined
  }

  /** RFC 9113, 6.10 and 5.1.1: a header block is one run of frames, and each type belongs to streams or to none. */
  #misplaced(): Rule | undefined {
    const type = this.#type
    const goesOn = this.#blockStream > 0
    if (goesOn ? type !== Type.continuation || this.#stream !== this.#blockStream : type === Type.continuation) {
      return "continuation"
    }
    if (type === Type.push || type === Type.priorityUpdate) return "frame-type"
    const isOwn = type <= Type.reset
    return type <= Type.goAway && isOwn === (this.#stream === 0) ? "frame-stream" : undefined
  }

  #sizeData(padding: number, other: number): Rule | undefined {
    const body = this.#left - padding
    if (body < 0) return "padding"
    this.#mode = "data"
    this.#padding = padding
    return this.#sink.sizeData(this.#stream, body, padding + other, (this.#flags & Flag.endStream) !== 0)
  }

  #readData(bytes: Uint8Array, at: number): number | Rule {
    const to = Math.min(bytes.length, at + this.#left)
    const bodyTo = Math.min(to, at + this.#left - this.#padding)
    if (bodyTo > at) {
      this.#sink.data(this.#stream, at === 0 && bodyTo === bytes.length ? bytes : bytes.subarray(at, bodyTo))
    }
    this.#left -= to - at
    return this.#endIfDone() ?? to
  }

  #readBuffered(bytes: Uint8Array, at: number): number | Rule {
    if (this.#payload.length === 0 && bytes.length - at >= this.#left) {
      const to = at + this.#left
      return this.#end(bytes, at, to) ?? to
    }
    const to = Math.min(bytes.length, at + this.#left)
    this.#payload.add(bytes, at, to)
    this.#left -= to - at
    if (this.#left > 0) return to
    const wrong = this.#end(this.#payload.bytes, 0, this.#payload.length)
    this.#payload.drop()
    return wrong ?? to
  }

  /** Ends a frame that has no bytes left, and a buffered one only if it had none. */
  #endIfDone(): Rule | undefined {
    if (this.#left > 0 || this.#mode === "pad") return undefined
    return this.#end(this.#head, 0, 0)
  }

  #end(bytes: Uint8Array, from: number, to: number): Rule | undefined {
    this.#mode = "head"
    switch (this.#type) {
      case Type.data:
        this.#sink.endData(this.#stream, (this.#flags & Flag.endStream) !== 0)
        return undefined
      case Type.headers:
        return this.#endHeaders(bytes, from, to)
      case Type.continuation:
        return this.#endFragment(bytes, from, to)
      case Type.settings:
        return (this.#flags & Flag.ack) !== 0 ? this.#sink.settingsAck() : this.#sink.settings(bytes, from, to)
      case Type.ping:
        return (this.#flags & Flag.ack) !== 0 ? this.#sink.pong(bytes, from) : this.#sink.ping(bytes, from)
      case Type.goAway:
        return this.#sink.goAway(uint31(bytes, from), uint32(bytes, from + 4))
      case Type.windowUpdate:
        return this.#sink.windowUpdate(this.#stream, uint31(bytes, from))
      case Type.reset:
        return this.#sink.reset(this.#stream, uint32(bytes, from))
      default:
        return undefined
    }
  }

  /** Padding and priority (RFC 9113, 6.2) are left out; what the latter says is obsolete. */
  #endHeaders(bytes: Uint8Array, from: number, to: number): Rule | undefined {
    const isPadded = (this.#flags & Flag.padded) !== 0
    const start = from + (isPadded ? 1 : 0) + ((this.#flags & Flag.priority) !== 0 ? 5 : 0)
    const end = to - (isPadded ? bytes[from]! : 0)
    if (start > end) return "padding"
    this.#blockEnds = (this.#flags & Flag.endStream) !== 0
    this.#continuations = 0
    return this.#endFragment(bytes, start, end)
  }

  #endFragment(bytes: Uint8Array, from: number, to: number): Rule | undefined {
    const { maxContinuations, maxHeadBytes } = this.#limits
    if (this.#block.length + to - from > maxHeadBytes) return "block-bytes"
    if (this.#type === Type.continuation && ++this.#continuations > maxContinuations) return "continuations"
    const isWhole = (this.#flags & Flag.endHeaders) !== 0
    this.#blockStream = isWhole ? 0 : this.#stream
    if (isWhole && this.#block.length === 0) return this.#sink.headers(this.#stream, this.#blockEnds, bytes, from, to)
    this.#block.add(bytes, from, to)
    if (!isWhole) return undefined
    const wrong = this.#sink.headers(this.#stream, this.#blockEnds, this.#block.bytes, 0, this.#block.length)
    this.#block.drop()
    return wrong
  }
}

/** RFC 9113, 6: whether a type may have so many bytes. */
const isSized = (type: number, flags: number, length: number): boolean => {
  switch (type) {
    case Type.priority:
      return length === 5
    case Type.reset:
    case Type.windowUpdate:
      return length === 4
    case Type.ping:
      return length === 8
    case Type.goAway:
      return length >= 8
    case Type.settings:
      return (flags & Flag.ack) !== 0 ? length === 0 : length % 6 === 0
    case Type.headers:
      return length >= ((flags & Flag.padded) !== 0 ? 1 : 0) + ((flags & Flag.priority) !== 0 ? 5 : 0)
    default:
      return true
  }
}
