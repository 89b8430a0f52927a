/**
 * One client connection of HTTP/1.1: which exchange it is in, how far both of its messages are, and whether it takes
 * another. It owns what its reader owns, and output that nobody has taken.
 */
import * as Result from "effect/Result"
import { InvalidRequest } from "../Refusal.ts"
import { nothing } from "./Carry.ts"
import { type Course, encode, encodeChunk, encodeEnd, type Manner } from "./Http1Request.ts"
import { noFields, type ResponseReader } from "./Http1Response.ts"
import type { EngineConnection, Event, Exchange, Retired, Sent } from "./HttpEngine.ts"
import { ExchangeOver, fault, type MessageCut, type ProtocolFault } from "./HttpFault.ts"
import type { Fields, HttpRequest } from "./HttpMessage.ts"
import {
  beyond,
  bytesThere,
  lost,
  readBytes,
  readFields,
  readRequest,
  short,
  wrongCode,
  wrongPiece,
  wrongType,
} from "./HttpGiven.ts"

/** Shared by all connections, so that nobody may add to it. */
const noOutput = Object.freeze([]) as ReadonlyArray<Uint8Array> as Array<Uint8Array>

type Failure = ProtocolFault | MessageCut | InvalidRequest

const unasked = (): ProtocolFault => fault("unasked-response", "idle", 0)

export class Http1Connection implements EngineConnection {
  readonly #reader: ResponseReader
  readonly #manner: Manner
  /** The exchange that is under way: its response has not ended, or not all of its request was taken. */
  #course: Course | undefined = undefined
  #last: Exchange = 0
  #output = noOutput
  /** Whether bytes were not there any more when they were to be taken: what is written around them would be taken for them. */
  #hasLost = false
  #isOver = false
  #isLeaving = false
  /** Whether it was told that the connection takes no request. */
  #isTold = false

  constructor(reader: ResponseReader, manner: Manner) {
    this.#reader = reader
    this.#manner = manner
  }

  get isRetired(): boolean {
    return this.#isOver || this.#isLeaving || this.#hasLost
  }

  get room(): number {
    return this.isRetired || this.#course !== undefined ? 0 : 1
  }

  isSendEnded(exchange: Exchange): boolean {
    const course = this.#of(exchange)
    if (course !== undefined) return course.isOut
    return Number.isInteger(exchange) && exchange > 0 && exchange <= this.#last
  }

  get retainedBytes(): number {
    return this.#reader.retainedBytes
  }

  trySend(request: HttpRequest): Sent {
    const given = readRequest(request)
    if (this.room === 0) return { _tag: "Unsent", request, why: this.isRetired ? "retired" : "busy" }
    if (given instanceof InvalidRequest) return { _tag: "Malformed", error: given }
    const exchange = this.#last + 1
    const course = encode(given, this.#manner, exchange)
    if (course instanceof InvalidRequest) return { _tag: "Malformed", error: course }
    // RFC 9112, 6.1: no chunks toward a peer of HTTP/1.0.
    if (course === undefined || (this.#reader.isOld && course.left === undefined)) {
      return { _tag: "Unsent", request, why: "unsupported" }
    }
    this.#last = exchange
    this.#course = course
    this.#reader.begin(exchange, course)
    this.#write(course.output)
    return { _tag: "Accepted", exchange }
  }

  upload(exchange: Exchange, bytes: Uint8Array): Result.Result<number, ExchangeOver | InvalidRequest> {
    const part = readBytes(bytes)
    const course = this.#sending(exchange)
    if (course === undefined) return Result.fail(new ExchangeOver({ exchange }))
    if (part === undefined) return Result.fail(wrongType("upload", bytesThere, bytes))
    const { left } = course
    const { length } = part
    if (left !== undefined && length > left) return Result.fail(beyond(left, length))
    if (length > 0) {
      this.#write(left === undefined ? encodeChunk(this.#manner.slab, part) : [part])
      if (left !== undefined) course.left = left - length
      course.isSent = length === left
    }
    return Result.succeed(length)
  }

  finish(exchange: Exchange, trailers: Fields = noFields): Result.Result<void, ExchangeOver | InvalidRequest> {
    const fields = readFields("trailers", trailers)
    const course = this.#sending(exchange)
    if (course === undefined) return Result.fail(new ExchangeOver({ exchange }))
    if (fields instanceof InvalidRequest) return Result.fail(fields)
    if (course.left !== undefined) return Result.fail(short(course.left))
    const end = encodeEnd(this.#manner, fields)
    if (end instanceof InvalidRequest) return Result.fail(end)
    this.#write([end])
    course.isSent = true
    return Result.void
  }

  // Not reading the transport is all that holds a peer back.
  consumed(): void {}

  cancel(exchange: Exchange, code?: number): Result.Result<"drained" | "cut", InvalidRequest> {
    const wrong = wrongCode(code)
    if (wrong !== undefined) return Result.fail(wrong)
    const course = this.#of(exchange)
    if (course === undefined || (course.isSent && this.#reader.isIdle)) return Result.succeed("drained")
    this.#retire([], "cut")
    return Result.succeed("cut")
  }

  // Nobody can be asked between two responses.
  ping(): boolean {
    return false
  }

  leave(): void {
    this.#isLeaving = true
  }

  receive(bytes: Uint8Array): ReadonlyArray<Event> {
    const events: Array<Event> = []
    const wrong = this.#hasLost ? lost() : wrongPiece(bytes)
    if (wrong !== undefined && !this.#isOver) this.#fail(events, wrong, "cut")
    if (wrong !== undefined || bytes.length === 0 || (this.#isOver && !this.#reader.isSwitched)) return events
    // Nobody has asked what is not written yet.
    const isAsked = this.#course === undefined || this.#course.output === noOutput
    const read = !isAsked ? unasked() : this.#reader.isIdle ? 0 : this.#reader.read(bytes, 0, events)
    if (typeof read !== "number") this.#fail(events, read, "fault")
    else if (this.#reader.isIdle) this.#settle(events, read < bytes.length)
    else if (this.#reader.isSwitched) {
      this.#isOver = true
      this.#course = undefined
    }
    return events
  }

  closed(how: "ended" | "reset"): ReadonlyArray<Event> {
    if (this.#isOver || this.#hasLost) return this.receive(nothing)
    const events: Array<Event> = []
    const isWhole = this.#reader.isIdle
    const cut = isWhole ? undefined : this.#reader.close(how)
    if (cut !== undefined) this.#fail(events, cut, "cut")
    else if (isWhole) {
      // An upload whose response has ended is still an exchange, and this is not between two of them.
      this.#retire(events, how === "ended" && this.#course === undefined ? "closed" : "cut")
    } else {
      events.push({ _tag: "End", exchange: this.#last, trailers: noFields })
      this.#reader.abandon()
      this.#retire(events, "announced")
    }
    return events
  }

  takeOutput(): ReadonlyArray<Uint8Array> {
    const output = this.#output
    this.#output = noOutput
    const course = this.#course
    if (course !== undefined) {
      // It lives longer than what is its owner's now.
      course.output = noOutput
      course.isOut = course.isSent
      if (course.isSent && this.#reader.isIdle) this.#course = undefined
      for (let i = 0; i < output.length; i++) if (output[i]!.length === 0) return this.#lose()
    }
    return output
  }

  #lose(): ReadonlyArray<Uint8Array> {
    this.#hasLost = true
    this.#course = undefined
    return noOutput
  }

  #write(output: Array<Uint8Array>): void {
    if (this.#output === noOutput) this.#output = output
    else this.#output.push(...output)
  }

  #of(exchange: Exchange): Course | undefined {
    return this.#course?.exchange === exchange ? this.#course : undefined
  }

  /** The exchange, as long as its owner may give more of its request. */
  #sending(exchange: Exchange): Course | undefined {
    const course = this.#of(exchange)
    return course?.isSent === false ? course : undefined
  }

  /** The response has ended, or bytes came where none was due. */
  #settle(events: Array<Event>, surplus: boolean): void {
    const course = this.#course
    // Nothing is under way any more, unless the request still is.
    if (course?.isOut === true) this.#course = undefined
    // What follows an announced end is nobody's, and whether it came in the same piece must make no difference.
    if (course !== undefined && (!this.#reader.persists || (course.closes && course.isOut))) {
      this.#retire(events, "announced")
      // RFC 9112, 9.6: a peer that did not say that it closes may want the rest of a request that did.
    } else if (course?.closes === true) this.#tell(events, "announced")
    else if (surplus) this.#fail(events, unasked(), "fault")
  }

  #fail(events: Array<Event>, error: Failure, why: "fault" | "cut"): void {
    if (!this.#reader.isIdle) events.push({ _tag: "Failed", exchange: this.#last, error })
    this.#retire(events, why, error)
  }

  #retire(events: Array<Event>, why: Retired["why"], error?: Failure): void {
    // A whole response stands, though nothing more of its request will come out.
    if (this.#reader.isIdle && (this.#course?.isOut === false || this.#hasLost)) {
      events.push({ _tag: "SendEnded", exchange: this.#last, how: "stopped" })
    }
    this.#isOver = true
    this.#course = undefined
    this.#output = noOutput
    this.#reader.abandon()
    this.#tell(events, why, error)
  }

  #tell(events: Array<Event>, why: Retired["why"], error?: Failure): void {
    if (this.#isTold) return
    this.#isTold = this.#isLeaving = true
    events.push({ _tag: "Retired", why, error })
  }
}
