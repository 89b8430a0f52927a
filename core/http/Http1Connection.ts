/**
 * One client connection of HTTP/1.1: which exchange it is in, how far both of its messages are, and whether it takes
 * another. It owns what its reader owns, and output that nobody has taken.
 */
import * as Result from "effect/Result"
import { InvalidRequest } from "../Refusal.ts"
import { type Course, encode, encodeChunk, encodeEnd, type Manner } from "./Http1Request.ts"
import type { ResponseReader } from "./Http1Response.ts"
import type { EngineConnection, Event, Exchange, Retired, Sent } from "./HttpEngine.ts"
import { ExchangeOver, type MessageCut, ProtocolFault } from "./HttpFault.ts"
import type { Fields, HttpRequest } from "./HttpMessage.ts"
import { invalid } from "./HttpRules.ts"

const noEvents: ReadonlyArray<Event> = Object.freeze([])
const noOutput: ReadonlyArray<Uint8Array> = Object.freeze([])
const noFields: Fields = Object.freeze([])

export class Http1Connection implements EngineConnection {
  readonly #reader: ResponseReader
  readonly #manner: Manner
  #course: Course | undefined = undefined
  #last: Exchange = 0
  #output: ReadonlyArray<Uint8Array> = noOutput
  #state: "open" | "retired" | "switched" = "open"

  constructor(reader: ResponseReader, manner: Manner) {
    this.#reader = reader
    this.#manner = manner
  }

  get room(): number {
    return this.#state === "open" && this.#course === undefined ? 1 : 0
  }

  get isRetired(): boolean {
    return this.#state !== "open"
  }

  get retainedBytes(): number {
    return this.#reader.retainedBytes
  }

  trySend(request: HttpRequest): Sent {
    if (this.room === 0) return { _tag: "Unsent", request, why: this.isRetired ? "retired" : "busy" }
    const exchange = this.#last + 1
    const course = encode(request, this.#manner, exchange)
    if (course instanceof InvalidRequest) return { _tag: "Malformed", error: course }
    this.#last = exchange
    this.#course = course
    this.#reader.begin(exchange, course)
    this.#write(course.output)
    return { _tag: "Accepted", exchange }
  }

  upload(exchange: Exchange, bytes: Uint8Array): Result.Result<number, ExchangeOver | InvalidRequest> {
    const course = this.#sending(exchange)
    if (course === undefined) return Result.fail(new ExchangeOver({ exchange }))
    if (bytes.length === 0) return Result.succeed(0)
    if (course.left === undefined) {
      this.#write(encodeChunk(this.#manner.slab, bytes))
      return Result.succeed(bytes.length)
    }
    if (bytes.length > course.left) {
      return Result.fail(invalid("body", `at most the ${course.left} bytes that are left of its length`, bytes.length))
    }
    this.#write([bytes])
    course.left -= bytes.length
    if (course.left === 0) this.#sent(course)
    return Result.succeed(bytes.length)
  }

  finish(exchange: Exchange, trailers: Fields = noFields): Result.Result<void, ExchangeOver | InvalidRequest> {
    const course = this.#sending(exchange)
    if (course === undefined) {
      return this.#isSent(exchange) && trailers.length === 0
        ? Result.succeed(undefined)
        : Result.fail(new ExchangeOver({ exchange }))
    }
    if (course.left !== undefined) {
      return Result.fail(invalid("body", `whole, and ${course.left} bytes of its length are left`, 0))
    }
    return Result.map(encodeEnd(this.#manner.slab, trailers), (end) => {
      this.#write(end)
      this.#sent(course)
    })
  }

  // Not reading the transport is all that holds a peer back.
  consumed(): void {}

  cancel(exchange: Exchange): "drained" | "cut" {
    if (this.#course?.exchange !== exchange) return "drained"
    if (this.#state === "open") this.#retire("cut")
    return "cut"
  }

  receive(bytes: Uint8Array): ReadonlyArray<Event> {
    if (bytes.length === 0) return noEvents
    if (this.#state !== "open") return this.#state === "switched" ? [this.#raw(bytes)] : noEvents
    const events: Array<Event> = []
    const read = this.#reader.isIdle ? 0 : this.#reader.read(bytes, 0, events)
    if (typeof read !== "number") return [...events, ...this.#fail(read, "fault")]
    if (this.#reader.isIdle) this.#settle(read < bytes.length, events)
    return events
  }

  closed(how: "ended" | "reset"): ReadonlyArray<Event> {
    if (this.#state !== "open") return noEvents
    if (this.#reader.isIdle) {
      // An upload whose response has ended is still an exchange, and this is not between two of them.
      return [this.#retire(how === "ended" && this.#course === undefined ? "closed" : "cut")]
    }
    const cut = this.#reader.close(how)
    if (cut !== undefined) return this.#fail(cut, "cut")
    const end: Event = { _tag: "End", exchange: this.#last, trailers: noFields }
    if (this.#course?.isSent === true) this.#course = undefined
    return [end, this.#retire("announced")]
  }

  takeOutput(): ReadonlyArray<Uint8Array> {
    const output = this.#output
    this.#output = noOutput
    return output
  }

  /** The exchange, as long as its request can go on. */
  #sending(exchange: Exchange): Course | undefined {
    const course = this.#course
    return course?.exchange === exchange && this.#state === "open" && !course.isSent ? course : undefined
  }

  /** Whether it is an exchange whose whole request came out. One that is gone and cut nothing had ended. */
  #isSent(exchange: Exchange): boolean {
    const course = this.#course
    return course?.exchange === exchange ? course.isSent : exchange > 0 && exchange <= this.#last
  }

  #sent(course: Course): void {
    course.isSent = true
    if (this.#reader.isIdle) this.#course = undefined
  }

  /** The response has ended, or bytes came where none was due. */
  #settle(surplus: boolean, events: Array<Event>): void {
    if (this.#reader.isSwitched) {
      this.#state = "switched"
      return
    }
    const course = this.#course
    const announced = course !== undefined && (course.closes || !this.#reader.persists)
    if (course?.isSent === true) this.#course = undefined
    // What follows an announced end is nobody's, and whether it came in the same piece must make no difference.
    if (announced) events.push(this.#retire("announced"))
    else if (surplus) {
      const error = new ProtocolFault({ protocol: "h1", rule: "unasked-response", part: "idle", at: 0 })
      events.push(this.#retire("fault", error))
    }
  }

  #fail(error: ProtocolFault | MessageCut, why: "fault" | "cut"): ReadonlyArray<Event> {
    return [{ _tag: "Failed", exchange: this.#last, error }, this.#retire(why, error)]
  }

  #retire(why: Retired["why"], error?: ProtocolFault | MessageCut): Retired {
    this.#state = "retired"
    this.#reader.abandon()
    return { _tag: "Retired", why, error }
  }

  /** What is fed after a switch all the same is lost to nobody. */
  #raw(bytes: Uint8Array): Event {
    return { _tag: "Data", exchange: this.#last, bytes }
  }

  #write(output: ReadonlyArray<Uint8Array>): void {
    this.#output = this.#output === noOutput ? output : [...this.#output, ...output]
  }
}
