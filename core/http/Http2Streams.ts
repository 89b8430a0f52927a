/**
 * The streams of a connection: those that are live, those that are over and have bytes that nobody has consumed, and the
 * last ones that were reset, of which more may come until the peer hears of it. It owns a record of each.
 *
 * RFC 9113, 5.1 lets a peer that has not heard of a reset go on, and nothing tells when it has. So what comes of those that
 * are forgotten is passed over as well, and of all older ones that are over, since nobody knows which of them ended otherwise,
 * and the RFC lets all be treated alike. It counts for what their windows had left in all, and as frames that carry nothing.
 */
import type { Reset } from "./Http2Fault.ts"
import { Inflow } from "./Http2Window.ts"
import type { Exchange } from "./HttpEngine.ts"

/** What of a request decides how its stream goes. */
export interface Asked {
  readonly isHead: boolean
  /** CONNECT of either kind: behind a 2xx, data goes both ways until each side ends it. */
  readonly isTunnel: boolean
  /** Bytes of the body that are still to come; undefined: as many as will come. */
  readonly left: number | undefined
  readonly isSent: boolean
}

export class Stream {
  readonly id: Exchange
  /** Whether an exchange is under way on it. */
  isLive = true
  readonly isHead: boolean
  /** As it was asked for, until an answer opens none. */
  isTunnel: boolean

  /** The request: whether all of it is out, what is left of its announced length, and what is held for lack of a window. */
  isSent: boolean
  left: number | undefined
  held: Uint8Array | undefined
  /** What is told once the end of the request was taken, if its owner cannot know of it. */
  ending: "whole" | "stopped" | undefined
  /** Whether less was taken than was given, so that its owner waits for a window. */
  isShort = false
  /** Bytes that were given and not taken the last time. */
  wanted = 0
  /** Bytes of the connection's window that are kept for its owner, who was told: at most what he wanted. */
  kept = 0
  /** What it may send, less what the window of all streams begins with, which settings change (RFC 9113, 6.9.2). */
  outflow = 0

  /** The response. */
  part: "head" | "body" | "ended" = "head"
  informational = 0
  /** Bytes of the body that were announced or may be; undefined where only the end will tell. */
  expected: number | undefined
  received = 0
  /** Bytes that were told and not consumed. */
  unread = 0
  readonly inflow: Inflow

  constructor(id: Exchange, asked: Asked, inflow: number) {
    this.id = id
    this.isHead = asked.isHead
    this.isTunnel = asked.isTunnel
    this.isSent = asked.isSent
    this.left = asked.left
    this.inflow = new Inflow(inflow)
  }

  /** Whether any of its response came, an informational head as well. */
  get isAnswered(): boolean {
    return this.part !== "head" || this.informational > 0
  }

  get isOver(): boolean {
    return this.isSent && this.part === "ended"
  }
}

/** How far a response is. */
export const progress = ({ expected, part, received }: Stream): Omit<Reset, "code" | "unprocessed"> => ({
  part: part === "head" ? "head" : "body",
  received,
  expected,
})

export class Streams {
  readonly #maxResets: number
  /** Those that are live, and those that are over and have bytes that nobody has consumed. */
  readonly #all = new Map<Exchange, Stream>()
  readonly #resets = new Map<Exchange, Inflow>()
  /** No stream that was reset and is forgotten is above it. */
  #forgotten: Exchange = -1
  /** What all of those may still send together. */
  readonly #late = new Inflow(0)
  /** How many are live. */
  count = 0
  /** The last that was opened; below zero, none. */
  last: Exchange = -1
  /** The last whose request was taken to be written; the peer can speak of none behind it. */
  written: Exchange = -1
  /** The last that was opened ahead of trailers, which may refer to fields of its request. */
  trailed: Exchange = -1
  /** Once the peer goes away, the last whose request is written at all. */
  firm: Exchange = Infinity

  /** `maxResets`: how many streams that were reset are remembered. */
  constructor(maxResets: number) {
    this.#maxResets = maxResets
  }

  get isSpent(): boolean {
    return this.last >= 0x7fff_ffff
  }

  /** Whether it was opened and is not live any more. */
  isPast(id: Exchange): boolean {
    return Number.isInteger(id) && id % 2 === 1 && id <= this.last && this.get(id) === undefined
  }

  /** Those that are live or not consumed, in the order in which they were opened. */
  all(): Iterable<Stream> {
    return this.#all.values()
  }

  get(id: Exchange): Stream | undefined {
    const stream = this.#all.get(id)
    return stream?.isLive === true ? stream : undefined
  }

  open(asked: Asked, inflow: number): Stream {
    const stream = new Stream(this.last += 2, asked, inflow)
    this.#all.set(stream.id, stream)
    this.count++
    return stream
  }

  /** Takes one out that is over; what was told of it stays counted until it is consumed. */
  close(stream: Stream): void {
    if (!stream.isLive) return
    stream.isLive = false
    stream.held = undefined
    this.count--
    if (stream.unread === 0) this.#all.delete(stream.id)
  }

  /** A part of it has ended, and perhaps all of it. */
  settle(stream: Stream): void {
    if (stream.isOver) this.close(stream)
  }

  /**
   * As `close`, of one that this side has reset, or that the peer left out as it went away: the peer may go on until it hears of
   * it, within the window that it knows.
   */
  reset(stream: Stream): void {
    this.close(stream)
    this.#resets.set(stream.id, stream.inflow)
    if (this.#resets.size <= this.#maxResets) return
    for (const [oldest, inflow] of this.#resets) {
      this.#resets.delete(oldest)
      this.#forgotten = Math.max(this.#forgotten, oldest)
      this.#late.join(inflow)
      return
    }
  }

  /** The window for what may still come of a stream, live or over. */
  inflow(id: Exchange): Inflow | undefined {
    return this.get(id)?.inflow ?? this.#resets.get(id) ?? (id <= this.#forgotten ? this.#late : undefined)
  }

  /** How many of so many bytes were told of this stream and not consumed before. */
  consume(id: Exchange, bytes: number): number {
    const stream = this.#all.get(id)
    if (stream === undefined || typeof bytes !== "number") return 0
    const consumed = Math.min(stream.unread, Math.floor(bytes))
    if (!(consumed > 0)) return 0
    stream.unread -= consumed
    if (stream.unread === 0 && !stream.isLive) this.#all.delete(stream.id)
    return consumed
  }

  /** Lets go of everything. */
  clear(): void {
    this.#all.clear()
    this.#resets.clear()
    this.count = 0
  }
}
