/**
 * One client connection of HTTP/2: its exchanges, each a stream, and whether it takes more. It owns what its parts own: the
 * records of streams, an unfinished frame, the tables of HPACK, bodies that wait for a window, and output that nobody has
 * taken.
 */
import * as Result from "effect/Result"
import { InvalidRequest } from "../Refusal.ts"
import { HpackEncoder } from "./HpackEncoder.ts"
import { firstWindow } from "./Http2Frames.ts"
import { Incoming, type IncomingLimits } from "./Http2Incoming.ts"
import { Output } from "./Http2Output.ts"
import { Quota } from "./Http2Quota.ts"
import { prepare, type Prepared, prepareTrailers } from "./Http2Request.ts"
import { own, PeerSettings } from "./Http2Settings.ts"
import { type Stream, Streams } from "./Http2Streams.ts"
import { Uploads } from "./Http2Uploads.ts"
import type { EngineConnection, Event, Exchange, Sent } from "./HttpEngine.ts"
import { ExchangeOver } from "./HttpFault.ts"
import type { Fields, HttpRequest } from "./HttpMessage.ts"
import {
  beyond,
  bytesThere,
  type Flat,
  invalid,
  lost,
  readBytes,
  readFields,
  readRequest,
  short,
  wrongCode,
  wrongPiece,
  wrongType,
} from "./HttpGiven.ts"
import type * as Latin1 from "./Latin1.ts"

export interface ConnectionLimits extends IncomingLimits {
  readonly maxStreams: number
  readonly maxStreamsAtFirst: number
}

/** RFC 9113, 3.4. */
const preface = Uint8Array.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", (letter) => letter.charCodeAt(0))

const none: ReadonlyArray<never> = Object.freeze([])

export class Http2Connection implements EngineConnection {
  readonly #limits: ConnectionLimits
  readonly #output = new Output()
  readonly #encoder = new HpackEncoder()
  readonly #peer = new PeerSettings(this.#encoder)
  readonly #streams: Streams
  readonly #quota: Quota
  readonly #uploads: Uploads
  readonly #incoming: Incoming
  #events: Array<Event> = []
  /** Of exchanges whose owner went on since: how many of the events are no news any more. */
  readonly #stale = new Map<Exchange, number>()

  constructor(limits: ConnectionLimits, latin1: Latin1.Latin1) {
    this.#limits = limits
    const tell = (event: Event): void => void this.#events.push(event)
    const streams = this.#streams = new Streams(limits.maxResets)
    const quota = this.#quota = new Quota(limits.maxIdleFrames, streams)
    const output = this.#output
    const peer = this.#peer
    const encoder = this.#encoder
    const uploads = this.#uploads = new Uploads(output, streams, peer, quota, tell)
    this.#incoming = new Incoming(limits, latin1, { output, peer, encoder, streams, quota, uploads, tell })
    output.raw(preface)
    output.settings(own(limits))
    const more = limits.maxConnectionWindowBytes - firstWindow
    if (more > 0) output.windowUpdate(0, more)
  }

  get room(): number {
    if (this.isRetired) return 0
    const { maxStreams, maxStreamsAtFirst } = this.#limits
    const peers = this.#peer.areKnown ? this.#peer.maxStreams : maxStreamsAtFirst
    return Math.max(0, Math.min(maxStreams, peers) - this.#streams.count)
  }

  get isRetired(): boolean {
    return this.#incoming.isRetired || this.#streams.isSpent
  }

  isSendEnded(exchange: Exchange): boolean {
    const stream = this.#streams.get(exchange)
    if (this.#uploads.isUntaken(exchange)) return false
    return stream === undefined ? this.#streams.isPast(exchange) : stream.isSent && exchange <= this.#streams.written
  }

  get retainedBytes(): number {
    return this.#incoming.retainedBytes
  }

  trySend(request: HttpRequest): Sent {
    const given = readRequest(request)
    if (this.isRetired) return { _tag: "Unsent", request, why: "retired" }
    if (this.room === 0) return { _tag: "Unsent", request, why: "busy" }
    if (given instanceof InvalidRequest) return { _tag: "Malformed", error: given }
    const prepared = prepare(given, Math.min(this.#limits.maxHeadBytes, this.#peer.maxHead))
    if (Result.isFailure(prepared)) return { _tag: "Malformed", error: prepared.failure }
    // Only its first SETTINGS say whether a peer serves this.
    if (given.protocol !== undefined && !this.#peer.connectProtocol) {
      return { _tag: "Unsent", request, why: this.#peer.areKnown ? "unsupported" : "busy" }
    }
    return { _tag: "Accepted", exchange: this.#begin(prepared.success) }
  }

  upload(exchange: Exchange, bytes: Uint8Array): Result.Result<number, ExchangeOver | InvalidRequest> {
    const part = readBytes(bytes)
    const stream = this.#sending(exchange)
    if (stream === undefined) return Result.fail(new ExchangeOver({ exchange }))
    if (part === undefined) return Result.fail(wrongType("upload", bytesThere, bytes))
    const { left } = stream
    const { length } = part
    if (left !== undefined && length > left) return Result.fail(beyond(left, length))
    // The answer to a CONNECT decides whether there is a tunnel that could take anything.
    if (length === 0) return Result.succeed(0)
    if (stream.isTunnel && stream.part === "head") {
      stream.isShort = true
      stream.wanted = length
      return Result.succeed(0)
    }
    this.#unsay(exchange)
    const sent = this.#uploads.sendPart(stream, part, length === left)
    if (left !== undefined) stream.left = left - sent
    this.#streams.settle(stream)
    return Result.succeed(sent)
  }

  finish(exchange: Exchange, trailers: Fields = none): Result.Result<void, ExchangeOver | InvalidRequest> {
    const given = readFields("trailers", trailers)
    const stream = this.#sending(exchange)
    if (stream === undefined) return Result.fail(new ExchangeOver({ exchange }))
    if (given instanceof InvalidRequest) return Result.fail(given)
    if (stream.left !== undefined) return Result.fail(short(stream.left))
    if (stream.isTunnel && given.length > 0) return Result.fail(invalid("trailers", "left out with CONNECT"))
    const { maxHeadBytes } = this.#limits
    return Result.map(prepareTrailers(given, Math.min(maxHeadBytes, this.#peer.maxHead)), (fields) => {
      this.#unsay(exchange)
      if (fields.length === 0) this.#uploads.end(stream)
      else {
        this.#streams.trailed = this.#streams.last
        this.#headers(stream, fields, true)
        this.#uploads.ends(stream)
      }
      this.#streams.settle(stream)
      this.#uploads.flush()
    })
  }

  consumed(exchange: Exchange, bytes: number): void {
    this.#incoming.consumed(exchange, bytes)
  }

  cancel(exchange: Exchange, code?: number): Result.Result<"drained" | "cut", InvalidRequest> {
    const wrong = wrongCode(code)
    if (wrong !== undefined) return Result.fail(wrong)
    const how = this.#incoming.cancel(exchange, code)
    if (how === "cut") this.#unsay(exchange)
    return Result.succeed(how)
  }

  ping(): boolean {
    return this.#incoming.ask()
  }

  leave(): void {
    this.#incoming.leave()
  }

  receive(bytes: Uint8Array): ReadonlyArray<Event> {
    const wrong = wrongPiece(bytes)
    if (wrong !== undefined) this.#incoming.lose(wrong)
    else this.#incoming.receive(bytes)
    return this.#take()
  }

  closed(how: "ended" | "reset"): ReadonlyArray<Event> {
    this.#incoming.closed(how)
    return this.#take()
  }

  takeOutput(): ReadonlyArray<Uint8Array> {
    this.#quota.taken()
    this.#incoming.taken()
    const dropped = this.#output.sift(this.#isOver)
    if (dropped === undefined) {
      this.#incoming.lose(lost())
      return none
    }
    if (dropped > 0) this.#uploads.raise(dropped)
    this.#streams.written = Math.min(this.#streams.last, this.#streams.firm)
    this.#uploads.taken()
    return this.#output.take()
  }

  #begin(prepared: Prepared): Exchange {
    const stream = this.#streams.open(prepared, this.#limits.maxStreamWindowBytes)
    this.#quota.began()
    this.#headers(stream, prepared.fields, prepared.isSent)
    if (prepared.body !== undefined) this.#uploads.sendWhole(stream, prepared.body)
    return stream.id
  }

  #headers(stream: Stream, fields: Flat, isLast: boolean): void {
    this.#output.headers(stream.id, this.#encoder, fields, isLast, this.#peer.maxFrame)
  }

  /** Whether nothing that is in the output of a stream is of any use. */
  readonly #isOver = (id: Exchange): boolean => this.#streams.get(id) === undefined && !this.#uploads.isUntaken(id)

  /** The exchange, as long as its owner may send more of it: not what is held of a body that was given whole. */
  #sending(exchange: Exchange): Stream | undefined {
    const stream = this.#streams.get(exchange)
    return stream === undefined || stream.isSent || stream.held !== undefined ? undefined : stream
  }

  /** What own calls brought about for an exchange, and nobody heard yet, is no news any more once its owner went on. */
  #unsay(exchange: Exchange): void {
    if (this.#events.length > 0) this.#stale.set(exchange, this.#events.length)
  }

  #take(): ReadonlyArray<Event> {
    if (this.#events.length === 0) return none
    const events = this.#events
    this.#events = []
    if (this.#stale.size === 0) return events
    const news = events.filter((event, at) => !("exchange" in event) || at >= (this.#stale.get(event.exchange) ?? 0))
    this.#stale.clear()
    return news
  }
}
