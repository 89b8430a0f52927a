/**
 * The streams of a connection: those that are live, those that are over and have bytes that nobody has consumed, and the
 * last ones that were reset, of which more may come until the peer hears of it. It owns a record of each.
 */
import { Inflow, Outflow } from "./Http2Window.ts"
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
  held: Uint8Array | undefined = undefined
  /** Whether its body was given as bytes, and some of them were held. */
  hasWaited = false
  /** Whether less was taken than was given, so that its owner waits for a window. */
  isShort = false
  /** Bytes that were given and not taken the last time. */
  wanted = 0
  /** Bytes of the connection's window that are kept for its owner, who was told: at most what he wanted. */
  kept = 0
  readonly outflow: Outflow

  /** The response. */
  part: "head" | "body" | "ended" = "head"
  informational = 0
  /** Bytes of the body that were announced or may be; undefined where only the end will tell. */
  expected: number | undefined = undefined
  received = 0
  /** Bytes that were told and not consumed. */
  unread = 0
  readonly inflow: Inflow

  constructor(id: Exchange, asked: Asked, outflow: number, inflow: number) {
    this.id = id
    this.isHead = asked.isHead
    this.isTunnel = asked.isTunnel
    this.isSent = asked.isSent
    this.left = asked.left
    this.outflow = new Outflow(outflow)
    this.inflow = new Inflow(inflow)
  }

  get isOver(): boolean {
    return this.isSent && this.part === "ended"
  }
}

export class Streams {
  readonly #maxResets: number
  /** Those that are live, and some that are over and have bytes that nobody has consumed: the rest of those is `#unread`. */
  readonly #live = new Map<Exchange, Stream>()
  readonly #unread = new Map<Exchange, Stream>()
  readonly #resets = new Map<Exchange, Inflow>()
  /** The one that was asked for last: the frames of a stream often follow each other, and each asks several times. */
  #recent: Stream | undefined = undefined
  #count = 0
  #last: Exchange = -1
  /** The last whose request was taken to be written; the peer can speak of none behind it. */
  written: Exchange = -1

  /** `maxResets`: how many streams that were reset are remembered. */
  constructor(maxResets: number) {
    this.#maxResets = maxResets
  }

  /** How many are live. */
  get count(): number {
    return this.#count
  }

  /** The last that was opened; below zero, none. */
  get last(): Exchange {
    return this.#last
  }

  get isSpent(): boolean {
    return this.#last >= 0x7fff_ffff
  }

  /** Whether it was opened and is not live any more. */
  isPast(id: Exchange): boolean {
    return Number.isInteger(id) && id % 2 === 1 && id <= this.#last && this.get(id) === undefined
  }

  /** Those that are live, in the order in which they were opened. */
  *all(): Iterable<Stream> {
    for (const stream of this.#live.values()) {
      if (stream.isLive) yield stream
      else {
        // Most are consumed before anybody looks at all of them, and are never moved; those that are not cost one look each.
        this.#live.delete(stream.id)
        this.#unread.set(stream.id, stream)
      }
    }
  }

  get(id: Exchange): Stream | undefined {
    const stream = this.#find(id)
    return stream?.isLive === true ? stream : undefined
  }

  open(asked: Asked, outflow: number, inflow: number): Stream {
    const stream = new Stream(this.#last += 2, asked, outflow, inflow)
    this.#live.set(stream.id, stream)
    this.#count++
    return stream
  }

  /** Takes one out that is over; what was told of it stays counted until it is consumed. */
  close(stream: Stream): void {
    if (!stream.isLive) return
    stream.isLive = false
    stream.held = undefined
    this.#count--
    if (stream.unread === 0) this.#forget(stream)
  }

  /** As `close`, of one that this side has reset: the peer may go on until it hears of it, within the window it knows. */
  reset(stream: Stream): void {
    this.close(stream)
    this.#resets.set(stream.id, stream.inflow)
    if (this.#resets.size <= this.#maxResets) return
    for (const oldest of this.#resets.keys()) {
      this.#resets.delete(oldest)
      return
    }
  }

  /** The window of a stream that is remembered as reset. */
  resetInflow(id: Exchange): Inflow | undefined {
    return this.#resets.get(id)
  }

  /** How many of so many bytes were told of this stream and not consumed before. */
  consume(id: Exchange, bytes: number): number {
    const stream = this.#find(id)
    if (stream === undefined || typeof bytes !== "number") return 0
    const consumed = Math.min(stream.unread, Math.floor(bytes))
    if (!(consumed > 0)) return 0
    stream.unread -= consumed
    if (stream.unread === 0 && !stream.isLive) this.#forget(stream)
    return consumed
  }

  /** Lets go of everything. */
  clear(): void {
    this.#live.clear()
    this.#unread.clear()
    this.#resets.clear()
    this.#recent = undefined
    this.#count = 0
  }

  #find(id: Exchange): Stream | undefined {
    if (this.#recent?.id === id) return this.#recent
    const stream = this.#live.get(id) ?? this.#unread.get(id)
    if (stream !== undefined) this.#recent = stream
    return stream
  }

  #forget(stream: Stream): void {
    if (!this.#live.delete(stream.id)) this.#unread.delete(stream.id)
    if (this.#recent === stream) this.#recent = undefined
  }
}
