/**
 * One client connection of HTTP/1.1: which exchange it is in, how far both of its messages are, and whether it takes
 * another. It owns what its reader owns, and output that nobody has taken.
 */
import * as Result from "effect/Result"
import { InvalidRequest } from "../Refusal.ts"
import { type Course, encode, encodeChunk, encodeEnd, type Manner } from "./Http1Request.ts"
import { noFields, type ResponseReader } from "./Http1Response.ts"
import type { EngineConnection, Event, Exchange, Retired, Sent } from "./HttpEngine.ts"
import { ExchangeOver, fault, type MessageCut, type ProtocolFault } from "./HttpFault.ts"
import type { Fields, HttpRequest } from "./HttpMessage.ts"
import { invalid, readBytes, readFields, readRequest } from "./HttpGiven.ts"

/** Shared by all connections, so that nobody may add to it. */
const noOutput = Object.freeze([]) as ReadonlyArray<Uint8Array> as Array<Uint8Array>

const unasked = (): ProtocolFault => fault("unasked-response", "idle", 0)

export class Http1Connection implements EngineConnection {
  readonly #reader: ResponseReader
  readonly #manner: Manner
  /** The exchange that is under way, or was when the connection ended. */
  #course: Course | undefined = undefined
  #last: Exchange = 0
  #output = noOutput
  #isOver = false
  #isLeaving = false

  constructor(reader: ResponseReader, manner: Manner) {
    this.#reader = reader
    this.#manner = manner
  }

  get isRetired(): boolean {
    return this.#isOver || this.#isLeaving
  }

  get room(): number {
    return this.isRetired || this.#course !== undefined ? 0 : 1
  }

  isSendEnded(exchange: Exchange): boolean {
    return this.#sending(exchange) === undefined
  }

  get retainedBytes(): number {
    return this.#reader.retainedBytes
  }

  trySend(request: HttpRequest): Sent {
    const given = readRequest(request)
    if (this.room === 0) return { _tag: "Unsent", request, why: this.isRetired ? "retired" : "busy" }
    if (given instanceof InvalidRequest) return { _tag: "Malformed", error: given }
    // A tunnel inside a stream, which this protocol has not.
    if (given.protocol !== undefined) return { _tag: "Unsent", request, why: "unsupported" }
    const exchange = this.#last + 1
    const course = encode(given, this.#manner, exchange)
    if (course instanceof InvalidRequest) return { _tag: "Malformed", error: course }
    // RFC 9112, 6.1: no chunks toward a peer of HTTP/1.0.
    if (this.#reader.isOld && course.left === undefined) return { _tag: "Unsent", request, why: "unsupported" }
    this.#last = exchange
    this.#course = course
    this.#reader.begin(exchange, course)
    this.#write(course.output)
    return { _tag: "Accepted", exchange }
  }

  upload(exchange: Exchange, bytes: Uint8Array): Result.Result<number, ExchangeOver | InvalidRequest> {
    const course = this.#sending(exchange)
    if (course === undefined) return Result.fail(new ExchangeOver({ exchange }))
    const part = readBytes(bytes)
    if (part === undefined) return Result.fail(invalid("upload", "a Uint8Array"))
    const { left } = course
    const { length } = part
    if (left === undefined) {
      if (length > 0) this.#write(encodeChunk(this.#manner.slab, part))
    } else if (length > left) return Result.fail(invalid("upload", `at most ${left} bytes`, length))
    else {
      this.#write([part])
      course.left = left - length
      if (length === left) this.#sent(course)
    }
    return Result.succeed(length)
  }

  finish(exchange: Exchange, trailers: Fields = noFields): Result.Result<void, ExchangeOver | InvalidRequest> {
    const fields = readFields(trailers)
    const course = this.#sending(exchange)
    if (course === undefined) return Result.fail(new ExchangeOver({ exchange }))
    if (fields === undefined) return Result.fail(invalid("trailers", "a list of names and values"))
    if (course.left !== undefined) return Result.fail(invalid("upload", `${course.left} bytes longer`))
    const end = encodeEnd(this.#manner, fields)
    if (end instanceof InvalidRequest) return Result.fail(end)
    this.#write([end])
    return Result.succeed(this.#sent(course))
  }

  // Not reading the transport is all that holds a peer back.
  consumed(): void {}

  cancel(exchange: Exchange): "drained" | "cut" {
    if (this.#course?.exchange !== exchange) return "drained"
    this.#retire([], "cut")
    return "cut"
  }

  // Nobody can be asked between two responses.
  ping(): boolean {
    return false
  }

  leave(): void {
    this.#isLeaving = true
  }

  receive(bytes: Uint8Array): ReadonlyArray<Event> {
    const isSwitched = this.#reader.isSwitched
    if (bytes.length === 0 || (this.#isOver && !isSwitched)) return []
    const events: Array<Event> = []
    // Nobody has asked what is not written yet.
    const isAsked = this.#course === undefined || this.#course.output === noOutput
    const read = !isAsked ? unasked() : this.#reader.isIdle ? 0 : this.#reader.read(bytes, 0, events)
    if (typeof read !== "number") this.#fail(events, read, "fault")
    else if (this.#reader.isIdle) this.#settle(events, read < bytes.length)
    else if (this.#reader.isSwitched) this.#isOver = true
    return events
  }

  closed(how: "ended" | "reset"): ReadonlyArray<Event> {
    const events: Array<Event> = []
    if (this.#isOver) return events
    const isWhole = this.#reader.isIdle
    const cut = isWhole ? undefined : this.#reader.close(how)
    if (cut !== undefined) this.#fail(events, cut, "cut")
    else if (isWhole) {
      // An upload whose response has ended is still an exchange, and this is not between two of them.
      this.#retire(events, how === "ended" && this.#course === undefined ? "closed" : "cut")
    } else {
      events.push({ _tag: "End", exchange: this.#last, trailers: noFields })
      this.#leave()
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
    }
    return output
  }

  #write(output: Array<Uint8Array>): void {
    if (this.#output === noOutput) this.#output = output
    else this.#output.push(...output)
  }

  /** The exchange, as long as its request can go on. */
  #sending(exchange: Exchange): Course | undefined {
    const course = this.#course
    return course?.exchange === exchange && !this.#isOver && !course.isSent ? course : undefined
  }

  #sent(course: Course): void {
    course.isSent = true
    if (this.#reader.isIdle) this.#leave()
  }

  /** The response has ended: nothing is under way any more, unless the request still is. */
  #leave(): void {
    if (this.#course?.isSent === true) this.#course = undefined
  }

  /** The response has ended, or bytes came where none was due. */
  #settle(events: Array<Event>, surplus: boolean): void {
    const course = this.#course
    this.#leave()
    // What follows an announced end is nobody's, and whether it came in the same piece must make no difference.
    if (course !== undefined && (course.closes || !this.#reader.persists)) this.#retire(events, "announced")
    else if (surplus) this.#retire(events, "fault", unasked())
  }

  #fail(events: Array<Event>, error: ProtocolFault | MessageCut, why: "fault" | "cut"): void {
    events.push({ _tag: "Failed", exchange: this.#last, error })
    this.#retire(events, why, error)
  }

  #retire(events: Array<Event>, why: Retired["why"], error?: ProtocolFault | MessageCut): void {
    // A whole response stands, though nothing more of its request will come out.
    if (this.#reader.isIdle && !this.isSendEnded(this.#last)) {
      events.push({ _tag: "SendEnded", exchange: this.#last, how: "stopped" })
    }
    this.#isOver = true
    this.takeOutput()
    this.#reader.abandon()
    events.push({ _tag: "Retired", why, error })
  }
}
