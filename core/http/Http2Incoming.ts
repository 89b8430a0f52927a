/**
 * What a peer's frames do to a connection: to its streams, its windows and its settings; and how a connection ends. It owns
 * an unfinished frame, the decoder's table, and the window that the peer has.
 */
import type { InvalidRequest } from "../Refusal.ts"
import { HpackDecoder } from "./HpackDecoder.ts"
import type { HpackEncoder } from "./HpackEncoder.ts"
import { Block, type BlockLimits } from "./Http2Block.ts"
import * as Code from "./Http2ErrorCode.ts"
import { codeOf, mostWindow, uint32 } from "./Http2Frames.ts"
import * as Type from "./Http2FrameType.ts"
import type { Output } from "./Http2Output.ts"
import { Ping } from "./Http2Ping.ts"
import type { Quota } from "./Http2Quota.ts"
import { FrameReader, type FrameSink, type ReaderLimits } from "./Http2Reader.ts"
import { Responses } from "./Http2Responses.ts"
import type { OwnSettings, PeerSettings } from "./Http2Settings.ts"
import { progress, type Stream, type Streams } from "./Http2Streams.ts"
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
  readonly #output: Output
  readonly #peer: PeerSettings
  readonly #encoder: HpackEncoder
  readonly #streams: Streams
  readonly #quota: Quota
  readonly #uploads: Uploads
  readonly #tell: (event: Event) => void
  readonly #reader: FrameReader
  readonly #decoder: HpackDecoder
  readonly #responses: Responses
  readonly #inflow: Inflow
  #state: "open" | "announced" | "over" = "open"
  #hasLeft = false
  /** Whether this side's SETTINGS are to be acknowledged: not before they were taken, and once. */
  #isDue: boolean | undefined
  readonly #ping = new Ping()
  /** Windows that are to be told as open, each once however much came: a peer that reads nothing gets nothing to send on. */
  readonly #opened = new Map<Exchange, Inflow>()
  #last = mostWindow
  /** Those that were under way when the peer first went away, in order, less those that it did not serve. */
  #served: Array<Exchange> | undefined

  constructor(limits: IncomingLimits, latin1: Latin1, shared: Shared) {
    this.#limits = limits
    this.#output = shared.output
    this.#peer = shared.peer
    this.#encoder = shared.encoder
    this.#streams = shared.streams
    this.#quota = shared.quota
    this.#uploads = shared.uploads
    this.#tell = shared.tell
    this.#reader = new FrameReader(limits, this)
    this.#decoder = new HpackDecoder(limits.maxTableBytes, latin1)
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
    else if (this.#streams.isSpent) this.#announce()
  }

  closed(how: "ended" | "reset"): void {
    const isClean = this.#uploads.stop() && how === "ended" && this.#streams.count === 0 && !this.#reader.isWithin
    if (this.#state === "over") return
    this.#end((stream) => new MessageCut({ how, ...progress(stream) }), isClean ? "closed" : "cut")
  }

  /** Bytes are not there, and what comes next would be taken for them. */
  lose(error: InvalidRequest): void {
    this.#uploads.stop()
    this.#end(() => error, "cut", error)
  }

  /** The reader is through with bytes of data. */
  consumed(exchange: Exchange, bytes: number): void {
    const consumed = this.#streams.consume(exchange, bytes)
    this.#release(consumed)
    const stream = this.#streams.get(exchange)
    if (stream !== undefined) this.#release(consumed, exchange, stream.inflow)
  }

  cancel(exchange: Exchange, code: number = Code.cancel): "drained" | "cut" {
    const stream = this.#streams.get(exchange)
    this.#release(this.#streams.consume(exchange, Infinity))
    if (stream === undefined) return "drained"
    this.#uploads.drop(stream)
    this.#uploads.reset(stream, code)
    this.#uploads.flush()
    return "cut"
  }

  /** Asks the peer whether it is there; whether that came out. */
  ask(): boolean {
    return this.#state !== "over" && this.#ping.ask(this.#output)
  }

  /** All of the output is taken, and with it what windows are open. */
  taken(): void {
    this.#isDue ??= true
    this.#ping.taken()
    for (const [id, inflow] of this.#opened) {
      const part = id === 0 ? this.#state : this.#streams.get(id)?.part ?? "ended"
      if (part !== "over" && part !== "ended") this.#output.windowUpdate(id, inflow.tell())
    }
    this.#opened.clear()
  }

  /** This side goes away: it begins no more exchanges, and says so. */
  leave(): void {
    if (this.#state === "over" || this.#hasLeft) return
    this.#hasLeft = true
    this.#output.goAway(Code.none)
  }

  begin(type: number, stream: number): Rule | undefined {
    if (type === Type.priority || type > Type.continuation) return this.#quota.isOver() ? "flood" : undefined
    if (stream === 0 || type === Type.continuation) return undefined
    if (stream > this.#streams.written || stream % 2 === 0) return "frame-stream"
    const live = this.#streams.get(stream)
    const isResponse = type === Type.data || type === Type.headers
    if (live !== undefined) return isResponse && live.part === "ended" ? "closed-stream" : undefined
    if (isResponse && this.#streams.inflow(stream) === undefined) return "closed-stream"
    return this.#quota.isOver() ? "flood" : undefined
  }

  headers(id: number, isLast: boolean, bytes: Uint8Array, from: number, to: number): Rule | undefined {
    const stream = this.#streams.get(id)
    const kind = stream === undefined ? "nothing" : stream.part === "body" ? "trailers" : "head"
    const block = new Block(this.#limits, kind)
    const wrong = this.#decoder.decode(bytes, from, to, block)
    if (wrong !== undefined || stream === undefined) return wrong
    const isAnswer = stream.isTunnel && stream.part === "head"
    const rule = this.#responses.block(stream, block, isLast)
    if (rule !== undefined) this.#fault(stream, rule)
    else {
      if (isAnswer && stream.part !== "head") this.#answer(stream)
      this.#streams.settle(stream)
    }
    return undefined
  }

  openData(id: number, payload: number): Rule | undefined {
    const inflow = this.#streams.inflow(id)
    const isAllowed = this.#inflow.take(payload)
    return inflow?.take(payload) === true && isAllowed ? undefined : "flow-control"
  }

  sizeData(id: number, body: number, other: number, isLast: boolean): Rule | undefined {
    const stream = this.#streams.get(id)
    // Padding is consumed as it comes. Though there is none, what was consumed before may be due now.
    this.#release(other)
    // Also of a stream that is over: what is under way to one that was cancelled is within its window.
    if (body > 0) this.#quota.carried()
    if (stream === undefined) return undefined
    if (body === 0 && !isLast && this.#quota.isOver()) return "flood"
    const rule = this.#responses.sizeData(stream, body)
    if (rule !== undefined) this.#fault(stream, rule)
    else this.#release(other, id, stream.inflow)
    return undefined
  }

  data(id: number, bytes: Uint8Array): void {
    const stream = this.#streams.get(id)
    // What nobody will read is consumed as it comes; the frame may have begun when somebody still would.
    if (stream === undefined) return this.#release(bytes.length)
    this.#quota.moved(bytes.length)
    this.#responses.data(stream, bytes)
  }

  endData(id: number, isLast: boolean): void {
    const stream = this.#streams.get(id)
    if (stream === undefined || !isLast) return
    const rule = this.#responses.end(stream)
    if (rule !== undefined) this.#fault(stream, rule)
    else this.#streams.settle(stream)
  }

  settings(bytes: Uint8Array, from: number, to: number): Rule | undefined {
    if (this.#quota.isOverAnswered()) return "flood"
    const before = this.#peer.window
    const wrong = this.#peer.apply(bytes, from, to)
    if (wrong !== undefined) return wrong
    this.#output.settingsAck()
    return this.#uploads.raiseAll(this.#peer.window - before)
  }

  settingsAck(): Rule | undefined {
    if (this.#isDue !== true) return "unasked-ack"
    this.#isDue = false
    return undefined
  }

  ping(bytes: Uint8Array, from: number): Rule | undefined {
    if (this.#quota.isOverAnswered()) return "flood"
    this.#output.ping(uint32(bytes, from), uint32(bytes, from + 4), true)
    return undefined
  }

  pong(bytes: Uint8Array, from: number): Rule | undefined {
    if (!this.#ping.answer(bytes, from)) return "unasked-ack"
    this.#tell({ _tag: "Pong" })
    return undefined
  }

  goAway(last: number, code: number): Rule | undefined {
    if (this.#quota.isOver()) return "flood"
    if (last > this.#last) return "last-stream"
    this.#last = last
    const error = new GoneAway({ code, last })
    this.#announce(code === Code.none ? undefined : error)
    if (this.#served === undefined) {
      this.#served = Array.from(this.#streams.all(), ({ id }) => id)
      // No stream may be opened now (RFC 9113, 6.8): requests that nobody took are not written, nor are fields in their table.
      this.#output.last = this.#streams.firm = Math.max(0, this.#streams.written, this.#streams.trailed)
      this.#encoder.allow(0)
    }
    let at = this.#served.length
    while (at > 0 && this.#served[at - 1]! > Math.min(last, this.#streams.firm)) at--
    for (const id of this.#served.splice(at)) {
      const stream = this.#streams.get(id)
      if (stream === undefined) continue
      // What it has answered it did serve, and nobody may send it again.
      if (stream.isAnswered) this.#fault(stream, "last-stream")
      else {
        this.#uploads.fail(stream, error)
        // If it is answered all the same, that is passed over, as of one that was reset, and the others go on.
        this.#streams.reset(stream)
      }
    }
    this.#uploads.flush()
    return undefined
  }

  windowUpdate(id: number, bytes: number): Rule | undefined {
    const stream = this.#streams.get(id)
    // One of a past stream was counted as it began.
    if (id > 0 && stream === undefined) return undefined
    if (this.#quota.isOver()) return "flood"
    if (stream === undefined) {
      return bytes === 0 ? "window-increment" : this.#uploads.raise(bytes) ? undefined : "window-overflow"
    }
    if (bytes === 0) this.#fault(stream, "window-increment")
    else if (!this.#uploads.raiseOwn(stream, bytes)) this.#fault(stream, "window-overflow")
    return undefined
  }

  reset(id: number, code: number): Rule | undefined {
    const stream = this.#streams.get(id)
    if (stream === undefined) return undefined
    this.#uploads.fail(
      stream,
      new StreamReset({ code, ...progress(stream), unprocessed: code === Code.refused && !stream.isAnswered }),
    )
    this.#uploads.flush()
    return undefined
  }

  /** A window, the connection's by default, opened by what was consumed. */
  #release(bytes: number, id: Exchange = 0, inflow: Inflow = this.#inflow): void {
    if (inflow.release(bytes)) this.#opened.set(id, inflow)
  }

  /** The final head of an answer to CONNECT has come: it opens the tunnel, or there is none, and nothing to send. */
  #answer(stream: Stream): void {
    if (stream.isTunnel) {
      if (stream.isShort) this.#uploads.open(stream)
    } else if (!stream.isSent) {
      stream.ending = "stopped"
      this.#uploads.end(stream)
      this.#uploads.flush()
    }
  }

  /** The peer broke a rule of this stream alone. */
  #fault(stream: Stream, rule: Rule): void {
    this.#uploads.fail(stream, this.#faultOf(rule, "stream"))
    this.#uploads.reset(stream, codeOf(rule))
    this.#uploads.flush()
  }

  #faultOf(rule: Rule, scope: "connection" | "stream"): ProtocolFault {
    const { frameAt: at, part } = this.#reader
    const name = limited[rule]
    const limit = name === undefined ? undefined : this.#limits[name]
    return new ProtocolFault({ protocol: "h2", rule, part, at, limit, scope })
  }

  #break(rule: Rule): void {
    // Nothing else is worth writing to such a peer.
    this.#uploads.stop()
    this.#output.goAway(codeOf(rule))
    const error = this.#faultOf(rule, "connection")
    this.#end(() => error, "fault", error)
  }

  /** No more exchanges begin; those that are left go on. */
  #announce(error?: GoneAway): void {
    if (this.#state === "open") this.#tell({ _tag: "Retired", why: "announced", error })
    this.#state = "announced"
  }

  #end(errorOf: (stream: Stream) => Failed["error"], why: Retired["why"], error?: Retired["error"]): void {
    for (const stream of this.#streams.all()) if (stream.isLive) this.#uploads.fail(stream, errorOf(stream))
    if (this.#state === "open") this.#tell({ _tag: "Retired", why, error })
    this.#state = "over"
    this.#streams.clear()
    this.#reader.drop()
    this.#decoder.drop()
  }
}
