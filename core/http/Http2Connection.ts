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
import * as Latin1 from "./Latin1.ts"

export interface ConnectionLimits extends IncomingLimits {
  readonly maxStreams: number
  readonly maxStreamsAtFirst: number
}

/** RFC 9113, 3.4. */
const preface: Uint8Array = (() => {
  const text = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
  const bytes = new Uint8Array(text.length)
  Latin1.write(text, bytes, 0)
  return bytes
})()

const noFields: Fields = Object.freeze([])
const noEvents: ReadonlyArray<Event> = Object.freeze([])
const noOutput: ReadonlyArray<Uint8Array> = Object.freeze([])

export class Http2Connection implements EngineConnection {
  readonly #limits: ConnectionLimits
  readonly #output = new Output()
  readonly #peer = new PeerSettings()
  readonly #encoder = new HpackEncoder()
  readonly #streams: Streams
  readonly #quota: Quota
  readonly #uploads: Uploads
  readonly #incoming: Incoming
  #events: Array<Event> = []

  constructor(limits: ConnectionLimits, latin1: Latin1.Latin1) {
    this.#limits = limits
    const tell = (event: Event): void => void this.#events.push(event)
    const streams = this.#streams = new Streams(limits.maxResets)
    const quota = this.#quota = new Quota(limits.maxIdleFrames)
    const [output, peer, encoder] = [this.#output, this.#peer, this.#encoder]
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
    const isEnded = stream === undefined
      ? this.#streams.isPast(exchange)
      : stream.isSent && exchange <= this.#streams.written
    return isEnded && !this.#uploads.isUntaken(exchange)
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
    if (sent > 0) this.#quota.carried()
    if (left !== undefined) stream.left = left - sent
    this.#settle(stream)
    return Result.succeed(sent)
  }

  finish(exchange: Exchange, trailers: Fields = noFields): Result.Result<void, ExchangeOver | InvalidRequest> {
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
        this.#headers(stream, fields, true)
        this.#uploads.drop(stream)
        this.#uploads.ends(stream)
      }
      this.#settle(stream)
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
    const output = this.#output.take()
    for (const { length } of output) {
      if (length === 0) {
        this.#incoming.lose(lost())
        return noOutput
      }
    }
    this.#streams.written = this.#streams.last
    this.#uploads.taken()
    return output
  }

  #begin(prepared: Prepared): Exchange {
    this.#quota.began()
    const stream = this.#streams.open(prepared, this.#peer.window, this.#limits.maxStreamWindowBytes)
    this.#headers(stream, prepared.fields, prepared.isSent)
    if (prepared.body !== undefined) this.#uploads.sendWhole(stream, prepared.body)
    return stream.id
  }

  #headers(stream: Stream, fields: Flat, isLast: boolean): void {
    this.#output.headers(stream.id, this.#encoder, fields, isLast, this.#peer.maxFrame)
  }

  /** The exchange, as long as its owner may send more of it: not what is held of a body that was given whole. */
  #sending(exchange: Exchange): Stream | undefined {
    const stream = this.#streams.get(exchange)
    return stream === undefined || stream.isSent || stream.held !== undefined ? undefined : stream
  }

  #settle(stream: Stream): void {
    if (stream.isOver) this.#streams.close(stream)
  }

  /** What own calls brought about for an exchange, and nobody heard yet, is no news any more once its owner went on. */
  #unsay(exchange: Exchange): void {
    if (this.#events.length === 0) return
    this.#events = this.#events.filter((event) => !("exchange" in event) || event.exchange !== exchange)
  }

  #take(): ReadonlyArray<Event> {
    if (this.#events.length === 0) return noEvents
    const events = this.#events
    this.#events = []
    return events
  }
}
