/**
 * One response after another, of each the heads, the body and the end (RFC 9112, 6.3). It owns the bytes of a head or of
 * trailers that are unfinished, and nothing of a body.
 */
import { type Asked, type Framing, framingOf } from "./Http1Framing.ts"
import { type BodySink, type ChunkLimits, ChunkReader } from "./Http1Chunks.ts"
import { HeadReader } from "./Http1Head.ts"
import { type LineLimits, More } from "./Http1Lines.ts"
import type { Event, Exchange } from "./HttpEngine.ts"
import { MessageCut, type Part, ProtocolFault } from "./HttpFault.ts"
import type { Complete, HttpLimits } from "./HttpLimits.ts"
import type { Fields } from "./HttpMessage.ts"
import { steers } from "./HttpSyntax.ts"
import type { Latin1 } from "./Latin1.ts"

export interface ResponseLimits extends ChunkLimits, Complete<HttpLimits> {
  readonly maxLineBytes: number
}

const none: Fields = Object.freeze([])

export class ResponseReader implements BodySink {
  readonly #limits: ResponseLimits
  readonly #headLimits: LineLimits
  readonly #trailerLimits: LineLimits
  readonly #head: HeadReader
  readonly #chunks: ChunkReader
  /** Whether what follows is no HTTP any more. */
  isSwitched = false
  #exchange: Exchange = 0
  #asked: Asked | undefined = undefined
  #state: "idle" | "head" | "trailers" | Framing["body"] = "idle"
  #informational = 0
  #length = 0
  #received = 0
  #persists = false
  #events: Array<Event> = []

  constructor(limits: ResponseLimits, latin1: Latin1) {
    this.#limits = limits
    const { maxFields: fields, maxLineBytes: lineBytes } = limits
    this.#headLimits = { part: "head", bytes: limits.maxHeadBytes, bytesRule: "head-bytes", lineBytes, fields }
    this.#trailerLimits = { part: "trailers", bytes: limits.maxTrailerBytes, bytesRule: "trailer-bytes", lineBytes, fields }
    this.#head = new HeadReader(latin1, this.#headLimits)
    this.#chunks = new ChunkReader(limits)
  }

  /** The exchange whose response comes next. */
  begin(exchange: Exchange, asked: Asked): void {
    this.#exchange = exchange
    this.#asked = asked
    this.#informational = 0
    this.#head.begin(this.#headLimits)
    this.#state = "head"
  }

  /** Whether the response of the exchange that began last has ended. */
  get isIdle(): boolean {
    return this.#state === "idle"
  }

  /** Whether the peer keeps the connection, once the response has ended. */
  get persists(): boolean {
    return this.#persists
  }

  /** Bytes that an unfinished head or unfinished trailers keep. */
  get retainedBytes(): number {
    return this.#head.retainedBytes
  }

  /** Reads on at `from`, telling `events`: the index behind the response, or behind the piece, or the broken rule. */
  read(bytes: Uint8Array, from: number, events: Array<Event>): number | ProtocolFault {
    this.#events = events
    let at: number | ProtocolFault = from
    while (this.#state !== "idle" && typeof at === "number" && at < bytes.length) at = this.#step(bytes, at)
    if (typeof at !== "number") this.abandon()
    this.#events = []
    return at
  }

  /** What the end of the connection does to the response: cuts it, or ends it if its body was to end so. */
  close(how: "ended" | "reset"): MessageCut | undefined {
    const expected = this.#state === "length" ? this.#length : undefined
    const inHead = this.#state === "head"
    const inChunks = this.#state === "chunked" || this.#state === "trailers"
    if (this.#state === "close" && how === "ended") return void this.abandon()
    const received = inHead ? this.#head.length : inChunks ? this.#chunks.received : this.#received
    this.abandon()
    return new MessageCut({ part: inHead ? "head" : "body", how, received, expected })
  }

  /** Reads nothing more, and keeps nothing. */
  abandon(): void {
    this.#state = "idle"
    this.#persists = false
    this.#head.drop()
  }

  data(bytes: Uint8Array): void {
    this.#events.push({ _tag: "Data", exchange: this.#exchange, bytes })
  }

  #step(bytes: Uint8Array, from: number): number | ProtocolFault {
    switch (this.#state) {
      case "head":
        return this.#readHead(bytes, from)
      case "chunked":
        return this.#readChunks(bytes, from)
      case "trailers":
        return this.#readTrailers(bytes, from)
      case "length": {
        const to = Math.min(bytes.length, from + this.#length - this.#received)
        this.data(from === 0 && to === bytes.length ? bytes : bytes.subarray(from, to))
        this.#received += to - from
        if (this.#received === this.#length) this.#end(none)
        return to
      }
      default:
        this.data(bytes.subarray(from))
        this.#received += bytes.length - from
        return bytes.length
    }
  }

  #readHead(bytes: Uint8Array, from: number): number | ProtocolFault {
    const next = this.#head.read(bytes, from)
    if (next === More) return bytes.length
    if (typeof next !== "number") return next
    const head = this.#head.take()
    const framing = framingOf(head, this.#asked!)
    if (typeof framing === "string") return this.#fault(framing, "head", this.#head.length)
    const { fields, status } = head
    if (status < 200 && framing.body !== "switch") {
      const { maxInformational } = this.#limits
      if (++this.#informational > maxInformational) {
        return this.#fault("informational", "head", this.#head.length, maxInformational)
      }
      this.#events.push({ _tag: "Informational", exchange: this.#exchange, status, fields })
      this.#head.begin(this.#headLimits)
      return next
    }
    const length = framing.body === "chunked" || framing.body === "close" ? undefined : framing.length
    this.#events.push({ _tag: "Head", exchange: this.#exchange, head, length })
    return this.#beginBody(framing, bytes, next)
  }

  #beginBody(framing: Framing, bytes: Uint8Array, next: number): number {
    this.#state = framing.body
    this.#persists = framing.persists
    this.#length = framing.length
    this.#received = 0
    if (framing.body === "chunked") this.#chunks.begin()
    else if (framing.body === "length" && framing.length === 0) this.#end(none)
    else if (framing.body === "switch") {
      this.abandon()
      this.isSwitched = true
      this.#events.push({ _tag: "Switched", exchange: this.#exchange, surplus: bytes.subarray(next) })
      return bytes.length
    }
    return next
  }

  #readChunks(bytes: Uint8Array, from: number): number | ProtocolFault {
    const next = this.#chunks.read(bytes, from, this)
    if (next === More) return bytes.length
    if (typeof next !== "number") return next
    this.#head.begin(this.#trailerLimits)
    this.#state = "trailers"
    return next
  }

  #readTrailers(bytes: Uint8Array, from: number): number | ProtocolFault {
    const next = this.#head.read(bytes, from)
    if (next === More) return bytes.length
    if (typeof next !== "number") return next
    const fields = this.#head.takeFields(0)
    if (fields.some(([name]) => steers.test(name))) return this.#fault("trailer-field", "trailers", this.#head.length)
    this.#end(fields)
    return next
  }

  #end(trailers: Fields): void {
    this.#state = "idle"
    this.#events.push({ _tag: "End", exchange: this.#exchange, trailers })
  }

  #fault(rule: ProtocolFault["rule"], part: Part, at: number, limit?: number): ProtocolFault {
    return new ProtocolFault({ protocol: "h1", rule, part, at, limit })
  }
}
