/**
 * The bodies under way, both ways: each is counted against its limit, watched for standing still, and ended with its scope.
 *
 * One sleeper watches all of them. A body that moved no byte for `idle` is ended with the side that it waited for. Bytes
 * pass straight from stream to stream; nothing is buffered here.
 */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Deadline from "../../core/Deadline.ts"
import { Refusal } from "../../core/Refusal.ts"

export type Side = "client" | "upstream"

/** A body went over its limit; its stream has ended in this error. */
export class BodyTooLarge extends Refusal {
  readonly _tag = "BodyTooLarge"
  override readonly name = "BodyTooLarge"
  readonly limit: number
  constructor(facts: { readonly limit: number }) {
    super()
    this.limit = facts.limit
  }
  override get message(): string {
    return `the body is larger than ${this.limit} bytes`
  }
}

/** No byte moved for `idle` while the body waited for one side. Its stream has ended in this error. */
export class BodyStalled extends Refusal {
  readonly _tag = "BodyStalled"
  override readonly name = "BodyStalled"
  readonly waitedFor: Side
  readonly idle: Duration.Duration
  constructor(facts: { readonly waitedFor: Side; readonly idle: Duration.Duration }) {
    super()
    this.waitedFor = facts.waitedFor
    this.idle = facts.idle
  }
  override get message(): string {
    return `the body waited ${Duration.format(this.idle)} for the ${this.waitedFor}`
  }
}

/** The side that sends stopped before the end, or the side that reads left. */
export class BodyCut extends Refusal {
  readonly _tag = "BodyCut"
  override readonly name = "BodyCut"
  readonly by: Side
  constructor(facts: { readonly by: Side }) {
    super()
    this.by = facts.by
  }
  override get message(): string {
    return `the body was cut by the ${this.by}`
  }
}

export type Fault = BodyTooLarge | BodyStalled | BodyCut

/** Of a body that was ended early, what held at its end. */
export interface State {
  /** Whom it waits for: for the next byte, or to take the last one. Undefined once it is whole. */
  readonly waitsFor: Side | undefined
  /** When a byte last came from the side that sends, or the last one was taken; monotonic nanoseconds. */
  readonly movedNanos: number
  /** The longest that the side which reads has let the next byte wait, in nanoseconds. */
  readonly heldNanos: number
  /** Whether it was ended by a fault of its own, and not by its reader leaving. */
  readonly broken: boolean
}

/** `done` ends when the last byte was taken by the reader, or with the fault that ended the body before it. */
export interface Body {
  readonly stream: ReadableStream<Uint8Array>
  readonly done: Deferred.Deferred<void, Fault>
  readonly state: () => State
}

export interface Bodies {
  /** A body from `from`, read by the other side, until the scope closes: what is unfinished then is cut. */
  readonly watch: (
    source: ReadableStream<Uint8Array>,
    options: { readonly from: Side; readonly maxBytes: number },
  ) => Effect.Effect<Body, never, Scope.Scope>
  /** How many are under way. */
  readonly live: Effect.Effect<number>
}

const looks = 4

/** Bodies that may stand still for `idle`, give or take a quarter. The watch ends with the scope. */
export const make = (options: { readonly idle: Duration.Duration }): Effect.Effect<Bodies, never, Scope.Scope> =>
  Effect.gen(function* () {
    const live = new Set<Watched>()
    const clock = yield* Clock.Clock
    yield* Effect.sync(() => live.forEach((body) => body.look(options.idle))).pipe(
      Effect.delay(Duration.divideUnsafe(options.idle, looks)),
      Effect.forever,
      Effect.forkScoped,
    )
    return {
      watch: (source, { from, maxBytes }) =>
        Effect.acquireRelease(
          Effect.sync(() => new Watched({ live, clock }, source, from, maxBytes)),
          (body) => Effect.sync(() => body.cut()),
        ),
      live: Effect.sync(() => live.size),
    }
  })

/** One body; the first end wins, and a fault errors the reader's stream and cancels the source. */
class Watched implements Body {
  readonly done: Deferred.Deferred<void, Fault> = Deferred.makeUnsafe()
  readonly stream: ReadableStream<Uint8Array>
  readonly #live: Set<Watched>
  readonly #clock: Clock.Clock
  readonly #from: Side
  readonly #maxBytes: number
  readonly #source: ReadableStreamDefaultReader<Uint8Array>
  #sink!: ReadableStreamDefaultController<Uint8Array>
  #bytes = 0
  #reading = false
  #moved = true
  #quiet = 0
  #movedNanos: number
  #heldNanos = 0
  #ended: Pick<State, "waitsFor" | "broken"> | undefined

  constructor(
    { live, clock }: { readonly live: Set<Watched>; readonly clock: Clock.Clock },
    source: ReadableStream<Uint8Array>,
    from: Side,
    maxBytes: number,
  ) {
    this.#live = live
    this.#clock = clock
    this.#movedNanos = Deadline.nowNanos(clock)
    this.#from = from
    this.#maxBytes = maxBytes
    this.#source = source.getReader()
    this.stream = new ReadableStream<Uint8Array>({
      start: (sink) => {
        this.#sink = sink
      },
      pull: () => this.#pull(),
      cancel: () => this.cut(),
    }, { highWaterMark: 0 })
    live.add(this)
  }

  /** Ends what is unfinished, as the side that reads leaving does. */
  cut(): void {
    this.#end(new BodyCut({ by: this.#reader }))
  }

  /** Called four times in `idle`. */
  look(idle: Duration.Duration): void {
    this.#quiet = this.#moved ? 0 : this.#quiet + 1
    this.#moved = false
    if (this.#quiet < looks) return
    this.#end(new BodyStalled({ waitedFor: this.#awaited, idle }))
  }

  state(): State {
    const { waitsFor, broken } = this.#ended ?? { waitsFor: this.#awaited, broken: false }
    return { waitsFor, movedNanos: this.#movedNanos, heldNanos: this.#heldNanos, broken }
  }

  get #awaited(): Side {
    return this.#reading ? this.#from : this.#reader
  }

  get #reader(): Side {
    return this.#from === "client" ? "upstream" : "client"
  }

  async #pull(): Promise<void> {
    this.#heldNanos = Math.max(this.#heldNanos, Deadline.nowNanos(this.#clock) - this.#movedNanos)
    this.#reading = true
    this.#moved = true
    const next = await this.#source.read().catch(() => undefined)
    this.#reading = false
    if (next === undefined) this.#end(new BodyCut({ by: this.#from }))
    else if (next.done) this.#end(undefined)
    else this.#pass(next.value)
  }

  #pass(bytes: Uint8Array): void {
    this.#bytes += bytes.byteLength
    this.#moved = true
    this.#movedNanos = Deadline.nowNanos(this.#clock)
    if (this.#bytes > this.#maxBytes) this.#end(new BodyTooLarge({ limit: this.#maxBytes }))
    else if (this.#live.has(this)) this.#sink.enqueue(bytes)
  }

  #end(fault: Fault | undefined): void {
    if (!this.#live.delete(this)) return
    if (fault === undefined) {
      this.#ended = { waitsFor: undefined, broken: false }
      this.#movedNanos = Deadline.nowNanos(this.#clock)
      this.#sink.close()
    } else {
      this.#ended = this.#endedBy(fault)
      this.#sink.error(fault)
      this.#source.cancel().catch(() => {})
    }
    Deferred.doneUnsafe(this.done, fault === undefined ? Effect.void : Effect.fail(fault))
  }

  #endedBy(fault: Fault): Pick<State, "waitsFor" | "broken"> {
    if (fault._tag === "BodyTooLarge") return { waitsFor: this.#from, broken: true }
    if (fault._tag === "BodyStalled") return { waitsFor: fault.waitedFor, broken: true }
    const left = fault.by === this.#reader
    return { waitsFor: left ? this.#awaited : this.#from, broken: !left }
  }
}
