/**
 * One response after another, of each the heads, the body and the end (RFC 9112, 6.3). It owns the bytes of a head or of
 * trailers that are unfinished, and nothing of a body.
 */
import { type Asked, type Framing, framingOf } from "./Http1Framing.ts"
import { type BodySink, type ChunkLimits, ChunkReader } from "./Http1Chunks.ts"
import { type HeadLimits, HeadReader } from "./Http1Head.ts"
import type { Event, Exchange } from "./HttpEngine.ts"
import { fault, MessageCut, type ProtocolFault } from "./HttpFault.ts"
import type { Complete, HttpLimits } from "./HttpLimits.ts"
import type { Fields } from "./HttpMessage.ts"
import { steers } from "./HttpSyntax.ts"
import type { Latin1 } from "./Latin1.ts"

export type ResponseLimits = HeadLimits & ChunkLimits & Complete<HttpLimits>

export const noFields: Fields = Object.freeze([])
const noEvents: Array<Event> = []

export class ResponseReader implements BodySink {
  readonly #limits: ResponseLimits
  readonly #head: HeadReader
  readonly #chunks: ChunkReader
  #exchange: Exchange = 0
  #asked: Asked | undefined = undefined
  #state: "idle" | "head" | "trailers" | Framing["body"] = "idle"
  #informational = 0
  #length = 0
  #received = 0
  /** Whether the peer keeps the connection, once the response has ended: none of its heads may say otherwise. */
  persists = false
  /** Whether the last head was of HTTP/1.0. */
  isOld = false
  #events = noEvents

  constructor(limits: ResponseLimits, latin1: Latin1) {
    this.#limits = limits
    this.#head = new HeadReader(limits, latin1)
    this.#chunks = new ChunkReader(limits)
  }

  /** The exchange whose response comes next. */
  begin(exchange: Exchange, asked: Asked): void {
    this.#exchange = exchange
    this.#asked = asked
    this.#informational = 0
    this.persists = true
    this.#head.begin("head", this.#limits.maxHeadBytes)
    this.#state = "head"
  }

  /** Whether the response of the exchange that began last has ended. */
  get isIdle(): boolean {
    return this.#state === "idle"
  }

  /** Whether what follows is no HTTP any more; it is told as data. */
  get isSwitched(): boolean {
    return this.#state === "switch"
  }

  /** Bytes that an unfinished head, trailers or line of a chunk keep. */
  get retainedBytes(): number {
    return this.#head.retainedBytes + this.#chunks.retainedBytes
  }

  /** Reads on at `from`, telling `events`: the index behind the response, or behind the piece, or the broken rule. */
  read(bytes: Uint8Array, from: number, events: Array<Event>): number | ProtocolFault {
    this.#events = events
    let at: number | ProtocolFault = from
    while (!this.isIdle && typeof at === "number" && at < bytes.length) at = this.#step(bytes, at)
    this.#events = noEvents
    return at
  }

  /** What the end of the connection does to the response: cuts it, or ends it if its body was to end so. */
  close(how: "ended" | "reset"): MessageCut | undefined {
    const isHead = this.#state === "head"
    const expected = this.#state === "length" ? this.#length : undefined
    if (expected === Infinity && how === "ended") return undefined
    return new MessageCut({
      part: isHead ? "head" : "body",
      how,
      received: isHead ? this.#head.length : this.#received,
      expected: expected === Infinity ? undefined : expected,
    })
  }

  /** Reads nothing more, and keeps nothing. */
  abandon(): void {
    this.#state = "idle"
    this.#asked = undefined
    this.#head.drop()
    this.#chunks.begin()
  }

  data(bytes: Uint8Array): void {
    this.#received += bytes.length
    this.#events.push({ _tag: "Data", exchange: this.#exchange, bytes })
  }

  #step(bytes: Uint8Array, from: number): number | ProtocolFault {
    if (this.#state === "head") return this.#readHead(bytes, from)
    if (this.#state === "trailers") return this.#readTrailers(bytes, from)
    if (this.#state === "chunked") {
      const next = this.#chunks.read(bytes, from, this)
      if (this.#chunks.isWhole) {
        this.#head.begin("trailers", this.#limits.maxTrailerBytes)
        this.#state = "trailers"
      }
      return next
    }
    const to = Math.min(bytes.length, from + (this.#length - this.#received))
    this.data(from === 0 && to === bytes.length ? bytes : bytes.subarray(from, to))
    if (this.#received === this.#length) this.#end(noFields)
    return to
  }

  #readHead(bytes: Uint8Array, from: number): number | ProtocolFault {
    const next = this.#head.read(bytes, from)
    if (!this.#head.isWhole || typeof next !== "number") return next
    const head = this.#head.take()
    const framing = framingOf(head, this.#asked!)
    if (typeof framing === "string") return this.#fault(framing)
    const exchange = this.#exchange
    const { fields, status, version } = head
    this.isOld = version === "1.0"
    const { body, length, persists } = framing
    this.persists &&= persists
    if (status < 200 && body !== "switch") {
      const { maxInformational } = this.#limits
      if (++this.#informational > maxInformational) return this.#fault("informational", maxInformational)
      this.#events.push({ _tag: "Informational", exchange, status, fields })
      this.#head.begin("head", this.#limits.maxHeadBytes)
      return next
    }
    this.#state = body
    this.#length = length
    this.#received = 0
    const isSwitch = body === "switch"
    const known = isSwitch ? 0 : body === "length" && length < Infinity ? length : undefined
    this.#events.push({ _tag: "Head", exchange, head, length: known })
    // A copy, which is read later than this; the `slice` of a subclass may be none.
    if (isSwitch) this.#events.push({ _tag: "Switched", exchange, surplus: new Uint8Array(bytes.subarray(next)) })
    else if (body === "chunked") this.#chunks.begin()
    else if (length === 0) this.#end(noFields)
    return isSwitch ? bytes.length : next
  }

  #readTrailers(bytes: Uint8Array, from: number): number | ProtocolFault {
    const next = this.#head.read(bytes, from)
    if (!this.#head.isWhole) return next
    const fields = this.#head.takeFields(0)
    if (fields.some(([name]) => steers.test(name))) return this.#fault("trailer-field")
    this.#end(fields)
    return next
  }

  #end(trailers: Fields): void {
    this.#state = "idle"
    this.#events.push({ _tag: "End", exchange: this.#exchange, trailers })
  }

  /** A rule that a head or trailers break as a whole. */
  #fault(rule: ProtocolFault["rule"], limit?: number): ProtocolFault {
    return fault(rule, this.#state === "head" ? "head" : "trailers", this.#head.length, limit)
  }
}
