/**
 * Frames as bytes, small ones put together. It owns what nobody has taken, and room that is left of the last allocation.
 */
import { nothing } from "./Carry.ts"
import { type HpackEncoder, mostBytes } from "./HpackEncoder.ts"
import * as Flag from "./Http2FrameFlag.ts"
import { uint31, uint32 } from "./Http2Frames.ts"
import * as Type from "./Http2FrameType.ts"
import type { Flat } from "./HttpGiven.ts"

const none: ReadonlyArray<Uint8Array> = Object.freeze([])
const roomBytes = 8_192
const headBytes = 9
/** Bodies up to here are copied to what is around them, which saves a write. */
const together = 4_096

export class Output {
  #pieces: Array<Uint8Array> = []
  #room = nothing
  #from = 0
  #at = 0
  /** Frames of streams above it are not written. */
  last: number = Infinity

  /** What was written since, in order, in as few pieces as it came to. */
  take(): ReadonlyArray<Uint8Array> {
    this.#seal()
    if (this.#pieces.length === 0) return none
    const pieces = this.#pieces
    this.#pieces = []
    return pieces
  }

  /**
   * Takes out what is not to be written: frames of streams above the last; and where bytes that were given are gone, DATA of
   * all streams that are over, whose rest would pass for a body. Says how many bytes of DATA that were; undefined where bytes
   * of one are gone that is not over.
   */
  sift(isOver: (stream: number) => boolean): number | undefined {
    this.#seal()
    const { last } = this
    const pieces = this.#pieces
    const isLost = pieces.some(({ length }) => length === 0)
    if (last === Infinity && !isLost) return 0
    this.#pieces = []
    this.last = Infinity
    let dropped = 0
    let left = 0
    let drops = false
    for (const piece of pieces) {
      if (piece.length === 0) {
        if (!drops) return undefined
        // It was the rest of its frame.
        left = 0
      }
      for (let at = 0; at < piece.length;) {
        if (left === 0) {
          const [type, stream] = [piece[at + 3]!, uint31(piece, at + 5)]
          const isCut = isLost && type <= Type.headers && isOver(stream)
          // The preface, as a frame, has a type of its own.
          left = type === 32 ? 24 : headBytes + (uint32(piece, at) >>> 8)
          drops = type !== 32 && stream > last || isCut && type === Type.data
          if (drops && type === Type.data) dropped += left - headBytes
          // Nor may trailers end what lacks its body: a reset does.
          if (isCut) piece[at + 4]! &= ~Flag.endStream
        }
        const part = piece.subarray(at, at + left)
        if (!drops) this.#pieces.push(part)
        left -= part.length
        at += part.length
      }
    }
    return dropped
  }

  raw(bytes: Uint8Array): void {
    if (bytes.length > together) {
      this.#seal()
      this.#pieces.push(bytes)
    } else {
      this.#reserve(bytes.length)
      this.#room.set(bytes, this.#at)
      this.#at += bytes.length
    }
  }

  /** A header block, written where it is to be, unless the peer's limit makes several frames of it. */
  headers(stream: number, encoder: HpackEncoder, fields: Flat, isLast: boolean, maxFrame: number): void {
    this.#reserve(headBytes + mostBytes(fields))
    const from = this.#at + headBytes
    const end = encoder.encode(fields, this.#room, from)
    const last = isLast ? Flag.endStream : 0
    if (end - from <= maxFrame) {
      this.#head(end - from, Type.headers, last | Flag.endHeaders, stream)
      this.#at = end
      return
    }
    const block = this.#room.slice(from, end)
    for (let at = 0; at < block.length; at += maxFrame) {
      const part = block.subarray(at, at + maxFrame)
      const flags = (at === 0 ? last : 0) | (at + maxFrame < block.length ? 0 : Flag.endHeaders)
      this.#head(part.length, at === 0 ? Type.headers : Type.continuation, flags, stream)
      this.raw(part)
    }
  }

  data(stream: number, bytes: Uint8Array, isLast: boolean): void {
    this.#head(bytes.length, Type.data, isLast ? Flag.endStream : 0, stream)
    this.raw(bytes)
  }

  /** Identifiers and values, in turn. */
  settings(values: ReadonlyArray<number>): void {
    this.#head(values.length * 3, Type.settings, 0, 0)
    for (let i = 0; i < values.length; i += 2) {
      this.#room[this.#at++] = 0
      this.#room[this.#at++] = values[i]!
      this.#uint32(values[i + 1]!)
    }
  }

  settingsAck(): void {
    this.#control(Type.settings, Flag.ack, 0)
  }

  /** Its eight bytes, as two numbers. */
  ping(high: number, low: number, isAnswer: boolean): void {
    this.#control(Type.ping, isAnswer ? Flag.ack : 0, 0, high, low)
  }

  windowUpdate(stream: number, bytes: number): void {
    this.#control(Type.windowUpdate, 0, stream, bytes)
  }

  reset(stream: number, code: number): void {
    this.#control(Type.reset, 0, stream, code)
  }

  /** No stream of the peer's own was served, since it may have none. */
  goAway(code: number): void {
    this.#control(Type.goAway, 0, 0, 0, code)
  }

  #control(type: number, flags: number, stream: number, ...payload: ReadonlyArray<number>): void {
    this.#head(payload.length * 4, type, flags, stream)
    for (const each of payload) this.#uint32(each)
  }

  /** The head of a frame, and room for a payload of control behind it. */
  #head(length: number, type: number, flags: number, stream: number): void {
    this.#reserve(headBytes + (type === Type.data ? 0 : Math.min(length, 64)))
    this.#room[this.#at++] = length >> 16
    this.#room[this.#at++] = length >> 8
    this.#room[this.#at++] = length
    this.#room[this.#at++] = type
    this.#room[this.#at++] = flags
    this.#uint32(stream)
  }

  #uint32(value: number): void {
    this.#room[this.#at++] = value >>> 24
    this.#room[this.#at++] = value >> 16
    this.#room[this.#at++] = value >> 8
    this.#room[this.#at++] = value
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#room.length) return
    this.#seal()
    this.#room = new Uint8Array(Math.max(roomBytes, bytes))
    this.#from = 0
    this.#at = 0
  }

  #seal(): void {
    // Whoever had what was written before may have transferred it, and this went with it: none of its bytes are there.
    const isThere = this.#room.length > 0
    if (this.#at > this.#from) this.#pieces.push(isThere ? this.#room.subarray(this.#from, this.#at) : this.#room)
    this.#from = this.#at
  }
}
