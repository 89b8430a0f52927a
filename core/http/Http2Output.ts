/**
 * Frames as bytes, small ones put together. It owns what nobody has taken, and room that is left of the last allocation.
 */
import { type HpackEncoder, mostBytes } from "./HpackEncoder.ts"
import * as Flag from "./Http2FrameFlag.ts"
import * as Type from "./Http2FrameType.ts"
import type { Flat } from "./HttpGiven.ts"

const none: ReadonlyArray<Uint8Array> = Object.freeze([])
const roomBytes = 8_192
const headBytes = 9
/** Bodies up to here are copied to what is around them, which saves a write. */
const together = 4_096

export class Output {
  #pieces: Array<Uint8Array> = []
  #room = new Uint8Array(0)
  #from = 0
  #at = 0

  /** What was written since, in order, in as few pieces as it came to. */
  take(): ReadonlyArray<Uint8Array> {
    this.#seal()
    if (this.#pieces.length === 0) return none
    const pieces = this.#pieces
    this.#pieces = []
    return pieces
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

  /** A header block, in as many frames as the peer's limit makes of it; it is written where it is to be, unless it is long. */
  headers(stream: number, encoder: HpackEncoder, fields: Flat, isLast: boolean, maxFrame: number): void {
    const most = mostBytes(fields)
    const last = isLast ? Flag.endStream : 0
    if (most > together) return this.#long(stream, encoder, fields, last, maxFrame)
    this.#reserve(headBytes + most)
    const from = this.#at
    const end = encoder.encode(fields, this.#room, from + headBytes)
    this.#head(end - from - headBytes, Type.headers, last | Flag.endHeaders, stream)
    this.#at = end
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
    this.#head(0, Type.settings, Flag.ack, 0)
  }

  ping(bytes: Uint8Array, from: number, isAnswer: boolean): void {
    this.#head(8, Type.ping, isAnswer ? Flag.ack : 0, 0)
    for (let i = 0; i < 8; i++) this.#room[this.#at++] = bytes[from + i]!
  }

  windowUpdate(stream: number, bytes: number): void {
    this.#head(4, Type.windowUpdate, 0, stream)
    this.#uint32(bytes)
  }

  reset(stream: number, code: number): void {
    this.#head(4, Type.reset, 0, stream)
    this.#uint32(code)
  }

  /** No stream of the peer's own was served, since it may have none. */
  goAway(code: number): void {
    this.#head(8, Type.goAway, 0, 0)
    this.#uint32(0)
    this.#uint32(code)
  }

  #long(stream: number, encoder: HpackEncoder, fields: Flat, last: number, maxFrame: number): void {
    const bytes = new Uint8Array(mostBytes(fields))
    const length = encoder.encode(fields, bytes, 0)
    let at = 0
    do {
      const to = Math.min(length, at + maxFrame)
      const flags = (at === 0 ? last : 0) | (to === length ? Flag.endHeaders : 0)
      this.#head(to - at, at === 0 ? Type.headers : Type.continuation, flags, stream)
      this.raw(bytes.subarray(at, to))
      at = to
    } while (at < length)
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
    this.#room = new Uint8Array(roomBytes)
    this.#from = 0
    this.#at = 0
  }

  #seal(): void {
    if (this.#at > this.#from) this.#pieces.push(this.#room.subarray(this.#from, this.#at))
    this.#from = this.#at
  }
}
