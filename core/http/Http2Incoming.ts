/**
 * What a peer's frames do to a connection: to its streams, its windows and its settings; and how a connection ends. It owns
 * an unfinished frame, the decoder's table, and the window that the peer has.
 */
import type { InvalidRequest } from "../Refusal.ts"
import { HpackDecoder } from "./HpackDecoder.ts"
import type { HpackEncoder } from "./HpackEncoder.ts"
import { Block, type BlockLimits } from "./Http2Block.ts"
import * as Code from "./Http2ErrorCode.ts"
import { codeOf, mostWindow } from "./Http2Frames.ts"
import * as Type from "./Http2FrameType.ts"
import type { Output } from "./Http2Output.ts"
import { Ping } from "./Http2Ping.ts"
import type { Quota } from "./Http2Quota.ts"
import { FrameReader, type FrameSink, type ReaderLimits } from "./Http2Reader.ts"
import { Responses } from "./Http2Responses.ts"
import type { OwnSettings, PeerSettings } from "./Http2Settings.ts"
import type { Stream, Streams } from "./Http2Streams.ts"
import type { Uploads } from "./Http2Uploads.ts"
import { Inflow } from "./Http2Window.ts"
import type { Event, Exchange, Failed, Retired } from "./HttpEngine.ts"
import { GoneAway, StreamReset } from "./Http2Fault.ts"
import { MessageCut, ProtocolFault, type Rule } from "./HttpFault.ts"
import type { Latin1 } from "./Latin1.ts"

export interface IncomingLimits extends BlockLimits, ReaderLimits, OwnSettings {
  readonly maxHeadBytes: number
  readonly maxFrameBytes: number
  readonly maxInformational: number
  readonly maxConnectionWindowBytes: number
  readonly maxResets: number
  readonly maxIdleFrames: number
}

/** What the two directions of a connection share. */
export interface Shared {
  readonly output: Output
  readonly peer: PeerSettings
  readonly encoder: HpackEncoder
  readonly streams: Streams
  readonly quota: Quota
  readonly uploads: Uploads
  readonly tell: (event: Event) => void
}

const limited: Readonly<Partial<Record<Rule, keyof IncomingLimits>>> = {
  "head-bytes": "maxHeadBytes",
  "trailers-bytes": "maxTrailerBytes",
  "block-bytes": "maxHeadBytes",
  fields: "maxFields",
  informational: "maxInformational",
  continuations: "maxContinuations",
  flood: "maxIdleFrames",
}

export class Incoming implements FrameSink {
  readonly #limits: IncomingLimits
  readonly #shared: Shared
  readonly #reader: FrameReader
  readonly #decoder: HpackDecoder
  readonly #block: Block
  readonly #responses: Responses
  readonly #inflow: Inflow
  #state: "open" | "announced" | "over" = "open"
  #hasLeft = false
  #isAcknowledged = false
  readonly #ping = new Ping()
  #last = mostWindow

  constructor(limits: IncomingLimits, latin1: Latin1, shared: Shared) {
    this.#limits = limits
    this.#shared = shared
    this.#reader = new FrameReader(limits, this)
    this.#decoder = new HpackDecoder(limits.maxTableBytes, latin1)
    this.#block = new Block(limits)
    this.#responses = new Responses(limits.maxInformational, shared.tell)
    this.#inflow = new Inflow(limits.maxConnectionWindowBytes)
  }

  get isRetired(): boolean {
    return this.#state !== "open" || this.#hasLeft
  }

  get retainedBytes(): number {
    return this.#state === "over" ? 0 : this.#reader.retainedBytes + this.#decoder.tableBytes
  }

  receive(bytes: Uint8Array): void {
    if (this.#state === "over") return
    const rule = this.#reader.read(bytes)
    if (rule !== undefined) this.#break(rule)
    else if (this.#shared.streams.isSpent) this.#announce()
  }

  closed(how: "ended" | "reset"): void {
    const { streams, uploads } = this.#shared
    const isClean = how === "ended" && streams.count === 0 && !uploads.areUntaken && !this.#reader.isWithin
    uploads.stop()
    if (this.#state === "over") return
    this.#end((stream) => new MessageCut({ how, ...progress(stream) }), isClean ? "closed" : "cut")
  }

  /** Bytes are not there, and what comes next would be taken for them. */
  lose(error: InvalidRequest): void {
    this.#shared.uploads.stop()
    this.#end(() => error, "cut", error)
  }

  /** The reader is through with bytes of data. */
  consumed(exchange: Exchange, bytes: number): void {
    const { output, streams } = this.#shared
    const consumed = streams.consume(exchange, bytes)
    if (consumed === 0) return
    this.#release(consumed)
    const stream = streams.get(exchange)
    if (stream === undefined || stream.part === "ended") return
    const told = stream.inflow.release(consumed)
    if (told > 0) output.windowUpdate(stream.id, told)
  }

  cancel(exchange: Exchange, code: number = Code.cancel): "drained" | "cut" {
    const { output, streams, uploads } = this.#shared
    const stream = streams.get(exchange)
    this.#release(streams.consume(exchange, Infinity))
    if (stream === undefined) return "drained"
    output.reset(exchange, code)
    uploads.drop(stream)
    streams.reset(stream)
    uploads.flush()
    return "cut"
  }

  /** Asks the peer whether it is there; whether that came out. */
  ask(): boolean {
    return this.#state !== "over" && this.#ping.ask(this.#shared.output)
  }

  /** This side goes away: it begins no more exchanges, and says so. */
  leave(): void {
    if (this.#state === "over" || this.#hasLeft) return
    this.#hasLeft = true
    this.#shared.output.goAway(Code.none)
  }

  begin(type: number, stream: number): Rule | undefined {
    const { quota, streams } = this.#shared
    if (type === Type.priority || type > Type.continuation) return quota.isOver() ? "flood" : undefined
    if (stream === 0 || type === Type.continuation) return undefined
    if (stream > streams.written || stream % 2 === 0) return "frame-stream"
    const live = streams.get(stream)
    const isResponse = type === Type.data || type === Type.headers
    if (live !== undefined) return isResponse && live.part === "ended" ? "closed-stream" : undefined
    if (isResponse && streams.resetInflow(stream) === undefined) return "closed-stream"
    return quota.isOver() ? "flood" : undefined
  }

  headers(id: number, isLast: boolean, bytes: Uint8Array, from: number, to: number): Rule | undefined {
    const stream = this.#shared.streams.get(id)
    this.#block.begin(stream === undefined ? "nothing" : stream.part === "body" ? "trailers" : "head")
    const wrong = this.#decoder.decode(bytes, from, to, this.#block)
    const isAnswer = stream?.isTunnel === true && stream.part === "head"
    const rule = wrong === undefined && stream !== undefined
      ? this.#responses.block(stream, this.#block, isLast)
      : undefined
    // What was told is its reader's alone.
    this.#block.begin("nothing")
    if (wrong !== undefined || stream === undefined) return wrong
    if (rule !== undefined) this.#fault(stream, rule)
    else {
      if (isAnswer && stream.part !== "head") this.#answer(stream)
      this.#settle(stream)
    }
    return undefined
  }

  openData(id: number, payload: number): Rule | undefined {
    const inflow = this.#shared.streams.get(id)?.inflow ?? this.#shared.streams.resetInflow(id)
    const isAllowed = this.#inflow.take(payload)
    return inflow?.take(payload) === true && isAllowed ? undefined : "flow-control"
  }

  sizeData(id: number, body: number, other: number, isLast: boolean): Rule | undefined {
    const { output, quota, streams } = this.#shared
    const stream = streams.get(id)
    // Padding is consumed as it comes. Though there is none, what was consumed before may be due now.
    this.#release(other)
    // Also of a stream that is over: what is under way to one that was cancelled is within its window.
    if (body > 0) quota.carried()
    if (stream === undefined) return undefined
    if (body === 0 && !isLast && quota.isOver()) return "flood"
    const rule = this.#responses.sizeData(stream, body)
    if (rule !== undefined) this.#fault(stream, rule)
    else if (!isLast) {
      const told = stream.inflow.release(other)
      if (told > 0) output.windowUpdate(id, told)
    }
    return undefined
  }

  data(id: number, bytes: Uint8Array): void {
    const stream = this.#shared.streams.get(id)
    // What nobody will read is consumed as it comes; the frame may have begun when somebody still would.
    if (stream === undefined) return this.#release(bytes.length)
    this.#shared.quota.moved(bytes.length)
    this.#responses.data(stream, bytes)
  }

  endData(id: number, isLast: boolean): void {
    const stream = this.#shared.streams.get(id)
    if (stream === undefined || !isLast) return
    const rule = this.#responses.end(stream)
    if (rule !== undefined) this.#fault(stream, rule)
    else this.#settle(stream)
  }

  settings(bytes: Uint8Array, from: number, to: number): Rule | undefined {
    const { encoder, output, peer, quota, streams, uploads } = this.#shared
    if (quota.isOverAnswered()) return "flood"
    const before = peer.window
    const wrong = peer.apply(bytes, from, to)
    if (wrong !== undefined) return wrong
    for (const size of peer.tableBytes ?? []) encoder.allow(size)
    output.settingsAck()
    if (peer.window === before) return undefined
    for (const stream of streams.all()) {
      if (!uploads.raiseOwn(stream, peer.window - before)) return "window-overflow"
    }
    return undefined
  }

  settingsAck(): Rule | undefined {
    if (this.#isAcknowledged) return "unasked-ack"
    this.#isAcknowledged = true
    return undefined
  }

  ping(bytes: Uint8Array, from: number): Rule | undefined {
    if (this.#shared.quota.isOverAnswered()) return "flood"
    this.#shared.output.ping(bytes, from, true)
    return undefined
  }

  pong(bytes: Uint8Array, from: number): Rule | undefined {
    if (!this.#ping.answer(bytes, from)) return "unasked-ack"
    this.#shared.tell({ _tag: "Pong" })
    return undefined
  }

  goAway(last: number, code: number): Rule | undefined {
    const { quota, streams, uploads } = this.#shared
    if (quota.isOver()) return "flood"
    if (last > this.#last) return "last-stream"
    this.#last = last
    const error = new GoneAway({ code, last })
    this.#announce(code === Code.none ? undefined : error)
    for (const stream of streams.all()) if (stream.id > last) uploads.fail(stream, error)
    uploads.flush()
    return undefined
  }

  windowUpdate(id: number, bytes: number): Rule | undefined {
    const { quota, streams, uploads } = this.#shared
    const stream = streams.get(id)
    // One of a past stream was counted as it began.
    if (id > 0 && stream === undefined) return undefined
    if (quota.isOver()) return "flood"
    if (stream === undefined) {
      return bytes === 0 ? "window-increment" : uploads.raise(bytes) ? undefined : "window-overflow"
    }
    if (bytes === 0) this.#fault(stream, "window-increment")
    else if (!uploads.raiseOwn(stream, bytes)) this.#fault(stream, "window-overflow")
    return undefined
  }

  reset(id: number, code: number): Rule | undefined {
    const stream = this.#shared.streams.get(id)
    if (stream === undefined) return undefined
    const { uploads } = this.#shared
    uploads.fail(stream, new StreamReset({ code, ...progress(stream), unprocessed: code === Code.refused }))
    uploads.flush()
    return undefined
  }

  /** The connection's window, opened by what was consumed. */
  #release(bytes: number): void {
    const told = this.#state === "over" ? 0 : this.#inflow.release(bytes)
    if (told > 0) this.#shared.output.windowUpdate(0, told)
  }

  /** A part of the response has ended, and perhaps all of it. */
  #settle(stream: Stream): void {
    if (stream.isOver) this.#shared.streams.close(stream)
  }

  /** The final head of an answer to CONNECT has come: it opens the tunnel, or there is none, and nothing to send. */
  #answer(stream: Stream): void {
    const { tell, uploads } = this.#shared
    if (stream.isTunnel) {
      if (stream.isShort) uploads.open(stream)
    } else if (!stream.isSent) {
      uploads.end(stream)
      uploads.drop(stream)
      uploads.flush()
      tell({ _tag: "SendEnded", exchange: stream.id, how: "stopped" })
    }
  }

  /** The peer broke a rule of this stream alone. */
  #fault(stream: Stream, rule: Rule): void {
    const { output, streams, uploads } = this.#shared
    output.reset(stream.id, codeOf(rule))
    uploads.fail(stream, this.#faultOf(rule, "stream"))
    streams.reset(stream)
    uploads.flush()
  }

  #faultOf(rule: Rule, scope: "connection" | "stream"): ProtocolFault {
    const { frameAt: at, part } = this.#reader
    const name = limited[rule]
    const limit = name === undefined ? undefined : this.#limits[name]
    return new ProtocolFault({ protocol: "h2", rule, part: rule === "preface" ? "preface" : part, at, limit, scope })
  }

  #break(rule: Rule): void {
    // Nothing else is worth writing to such a peer.
    this.#shared.uploads.stop()
    this.#shared.output.goAway(codeOf(rule))
    const error = this.#faultOf(rule, "connection")
    this.#end(() => error, "fault", error)
  }

  /** No more exchanges begin; those that are left go on. */
  #announce(error?: GoneAway): void {
    if (this.#state !== "open") return
    this.#state = "announced"
    this.#shared.tell({ _tag: "Retired", why: "announced", error })
  }

  #end(errorOf: (stream: Stream) => Failed["error"], why: Retired["why"], error?: Retired["error"]): void {
    const { streams, tell, uploads } = this.#shared
    for (const stream of streams.all()) uploads.fail(stream, errorOf(stream))
    if (this.#state === "open") tell({ _tag: "Retired", why, error })
    this.#state = "over"
    streams.clear()
    this.#reader.drop()
    this.#decoder.drop()
  }
}

const progress = ({ expected, part, received }: Stream): {
  readonly part: "head" | "body"
  readonly received: number
  readonly expected: number | undefined
} => ({ part: part === "head" ? "head" : "body", received, expected })
