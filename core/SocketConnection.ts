/**
 * One connection from its first handle until that is gone: what came and was not read yet, who waits for what, and what went
 * wrong. It owns the handle, and lets go of it when the driver says that the system has.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Lease from "./Lease.ts"
import type { Point, Securing, SocketDriver, SocketEvents, SocketFacts, SocketWire } from "./SocketDriver.ts"
import { type DialFault, type IoFault, SocketBusy, SocketClosed, SocketFailed } from "./SocketFault.ts"

/** Where a handle is. `abandoned`: nobody waits for it, and the runtime has not let go of it yet. */
export type State = "dialing" | "open" | "closing" | "abandoned" | "gone"

/** Handles by where they are, and names that are being looked up. */
export type Census = Record<Exclude<State, "gone"> | "resolving", number>

type Resume<A, E> = (effect: Effect.Effect<A, E>) => void
type Bytes = Uint8Array<ArrayBufferLike>

/** Answers all who wait; whoever is told again does not hear it. */
const drain = <A, E>(waiting: ReadonlySet<Resume<A, E>> | undefined, effect: Effect.Effect<A, E>): void => {
  if (waiting !== undefined) { for (const resume of waiting) resume(effect) }
}

/** The read of a socket whose peer sends no more. */
const over: Effect.Effect<undefined> = Effect.succeed(undefined)

const closed = (phase: "read" | "write"): Effect.Effect<never, SocketClosed> => Effect.fail(new SocketClosed({ phase }))

/** A piece costs more than its bytes: a peer that sends one at a time would have us keep hundreds of times as much. */
const maxPieces = 1_024

export class SocketConnection {
  readonly #census: Census
  readonly #maxReadBytes: number
  readonly #abandons: boolean
  /** Closed when the handle is gone, so that nothing of it is left in a scope that lives longer. */
  #scopes: ReadonlyArray<Scope.Closeable>
  readonly #wire: SocketWire
  #state: State = "dialing"
  #isOpened = false
  #facts: SocketFacts | undefined = undefined
  #fault: DialFault | undefined = undefined
  #isClosedHere = false
  #isEnded = false
  #sending: "open" | "ending" | "ended" = "open"
  #isFlowing = false
  #hasRoom = true
  #bytes = 0
  #pieces: Array<Bytes> = []
  #opening: Resume<SocketConnection, DialFault> | undefined = undefined
  #read: Effect.Effect<Bytes | undefined, IoFault> | undefined = undefined
  #takes: Effect.Effect<Bytes, SocketBusy> | undefined = undefined
  #reader: Resume<Bytes | undefined, IoFault> | undefined = undefined
  #writer: Resume<void, IoFault> | undefined = undefined
  #enders: Set<Resume<void, IoFault>> | undefined = undefined
  #leavers: Set<Resume<void, never>> | undefined = undefined

  constructor(options: {
    readonly driver: SocketDriver
    readonly point: Point
    readonly census: Census
    readonly maxReadBytes: number
    readonly scope: Scope.Closeable
  }) {
    this.#census = options.census
    this.#maxReadBytes = options.maxReadBytes
    this.#scopes = [options.scope]
    this.#abandons = options.driver.cancelling === "abandons"
    this.#census.dialing++
    this.#wire = options.driver.connect(options.point, this.#events())
  }

  get facts(): SocketFacts {
    return this.#facts ??= this.#wire.facts()
  }

  /** It is the whole of this scope, too. */
  belong(scope: Scope.Closeable): void {
    if (this.#state === "gone") Lease.forget(scope)
    else this.#scopes = [...this.#scopes, scope]
  }

  /**
   * Tells whoever waits for it that the connection, or TLS over it, is there; a close interrupts the wait. An interruption of the
   * wait is one of the dial, whose end takes it out.
   */
  whenOpened(resume: Resume<SocketConnection, DialFault>): void {
    if (this.#isClosedHere) return resume(Effect.interrupt)
    if (this.#fault !== undefined) return resume(Effect.fail(this.#fault))
    if (this.#isOpened) return resume(Effect.succeed(this))
    this.#opening = resume
  }

  /** Begins TLS over what is there, and waits until it is. */
  secured(how: Securing): Effect.Effect<SocketConnection, DialFault> {
    return Effect.callback<SocketConnection, DialFault>((resume) => {
      if (this.#state === "dialing" && this.#fault === undefined) {
        this.#isOpened = false
        this.#wire.secure(how)
      }
      this.whenOpened(resume)
    })
  }

  /** The dial is over: what comes is kept from here on. */
  begin(): void {
    if (this.#state !== "dialing") return
    this.#enter("open")
    this.#flow(true)
  }

  /** Made once, and not again for each piece. */
  get read(): Effect.Effect<Bytes | undefined, IoFault> {
    return this.#read ??= this.#makeRead()
  }

  /** Writes there and then; what it comes to is what it waits for. */
  write(pieces: ReadonlyArray<Uint8Array>): Effect.Effect<void, IoFault> {
    const shut = this.#shut()
    if (shut !== undefined) return shut
    if (this.#sending !== "open") return closed("write")
    if (this.#writer !== undefined || (!this.#hasRoom && pieces.length > 0)) {
      return Effect.fail(new SocketBusy({ phase: "write" }))
    }
    if (pieces.length > 0) this.#hasRoom = this.#wire.write(pieces)
    return this.#hasRoom ? Effect.void : this.#room()
  }

  get end(): Effect.Effect<void, IoFault> {
    return Effect.callback<void, IoFault>((resume) => {
      if (this.#sending === "ended" && this.#fault === undefined) return resume(Effect.void)
      const shut = this.#shut()
      if (shut !== undefined) return resume(shut)
      const enders = this.#enders ??= new Set()
      enders.add(resume)
      if (this.#sending === "open") {
        this.#sending = "ending"
        this.#wire.end()
      }
      return Effect.sync(() => void enders.delete(resume))
    })
  }

  get closed(): Effect.Effect<void> {
    return Effect.callback<void>((resume) => this.#await(resume))
  }

  /**
   * Closes and waits until the handle is gone. Where a dial cannot be cancelled, nor a write that the peer does not take, the
   * handle is abandoned and stays counted.
   */
  get leave(): Effect.Effect<void> {
    return Effect.callback<void>((resume) => this.#leave("destroy", resume))
  }

  /** The same with a reset, where there is such a thing. */
  get abort(): Effect.Effect<void> {
    return Effect.callback<void>((resume) => this.#leave("reset", resume))
  }

  #events(): SocketEvents {
    return {
      opened: () => this.#open(),
      received: (bytes) => this.#receive(bytes),
      ended: () => {
        // Behind a fault, it is the close that this runtime tells of as an end.
        if (this.#fault !== undefined) return
        this.#isEnded = true
        this.#takeReader()?.(over)
      },
      drained: () => {
        this.#hasRoom = true
        this.#takeWriter()?.(Effect.void)
      },
      finished: () => {
        this.#sending = "ended"
        // A runtime says nothing of room once it has been told to end.
        this.#hasRoom = true
        this.#takeWriter()?.(Effect.void)
        drain(this.#enders, Effect.void)
      },
      failed: (fault) => this.#fail(fault),
      gone: () => this.#vanish(),
    }
  }

  #makeRead(): Effect.Effect<Bytes | undefined, IoFault> {
    const leave = Effect.sync(() => void (this.#reader = undefined))
    const wait = Effect.callback<Bytes | undefined, IoFault>((resume) => {
      const now = this.#next()
      if (now !== undefined) return resume(now)
      this.#reader = resume
      return leave
    })
    return Effect.suspend(() => this.#next() ?? wait)
  }

  /** Takes and gives in one step: between two, a fiber may be interrupted, and the piece that it had taken would be lost. */
  get #taking(): Effect.Effect<Bytes, SocketBusy> {
    return this.#takes ??= Effect.catchDefect(
      Effect.sync(() => this.#take()),
      (busy) => busy instanceof SocketBusy ? Effect.fail(busy) : Effect.die(busy),
    )
  }

  #take(): Bytes {
    const piece = this.#pieces.shift()
    // Two fibers read at a time, and the other one was faster.
    if (piece === undefined) throw new SocketBusy({ phase: "read" })
    this.#bytes -= piece.length
    // All of it is read before the peer may go on, so that a slow reader costs one wake-up a full buffer.
    if (this.#pieces.length === 0) this.#flow(true)
    return piece
  }

  /** What a read comes to now; undefined where it has to wait. */
  #next(): Effect.Effect<Bytes | undefined, IoFault> | undefined {
    if (this.#isClosedHere) return closed("read")
    if (this.#pieces.length > 0) return this.#taking
    if (this.#isEnded) return over
    if (this.#fault !== undefined) return Effect.fail(this.#fault)
    if (this.#state !== "open") return closed("read")
    return this.#reader === undefined ? undefined : Effect.fail(new SocketBusy({ phase: "read" }))
  }

  /** Why nothing can be sent any more. */
  #shut(): Effect.Effect<never, IoFault> | undefined {
    if (this.#fault !== undefined) return Effect.fail(this.#fault)
    return this.#state === "open" ? undefined : closed("write")
  }

  #room(): Effect.Effect<void, IoFault> {
    return Effect.callback<void, IoFault>((resume) => {
      const shut = this.#shut()
      if (this.#hasRoom || shut !== undefined) return resume(shut ?? Effect.void)
      if (this.#writer !== undefined) return resume(Effect.fail(new SocketBusy({ phase: "write" })))
      this.#writer = resume
      return Effect.sync(() => void (this.#writer = undefined))
    })
  }

  #open(): void {
    // A dial that could not be cancelled is over: whoever wanted it has left.
    if (this.#isClosedHere) return this.#wire.destroy()
    this.#isOpened = true
    this.#takeOpening()?.(Effect.succeed(this))
  }

  #receive(bytes: Bytes): void {
    if (this.#isClosedHere || this.#fault !== undefined) return
    this.#pieces.push(bytes)
    this.#bytes += bytes.length
    this.#takeReader()?.(this.#taking)
    if (this.#bytes >= this.#maxReadBytes || this.#pieces.length >= maxPieces) this.#flow(false)
  }

  /** The first fault counts. A runtime may leave a handle open behind one, so it is closed here. */
  #fail(fault: DialFault): void {
    if (this.#isClosedHere || this.#fault !== undefined) return
    this.#fault = fault
    // Whoever waits hears of the fault, and not of the close that comes of it.
    this.#settle(Effect.fail(fault))
    if (this.#state !== "gone") this.#wire.destroy()
  }

  #leave(how: "destroy" | "reset", resume: Resume<void, never>): Effect.Effect<void> | undefined {
    // One that has failed is closing by itself.
    const isDialing = this.#state === "dialing" && this.#fault === undefined
    const isStuck = isDialing || (this.#state === "open" && !this.#hasRoom)
    const isAbandoned = this.#abandons && (isStuck || this.#state === "abandoned")
    this.#close(isAbandoned ? "abandoned" : "closing", how)
    if (!isAbandoned) return this.#await(resume)
    resume(Effect.void)
    return undefined
  }

  #await(resume: Resume<void, never>): Effect.Effect<void> | undefined {
    if (this.#state === "gone") {
      resume(Effect.void)
      return undefined
    }
    const leavers = this.#leavers ??= new Set()
    leavers.add(resume)
    return Effect.sync(() => void leavers.delete(resume))
  }

  #close(state: "closing" | "abandoned", how: "destroy" | "reset"): void {
    if (this.#isClosedHere || this.#state === "gone") return
    this.#isClosedHere = true
    // Whoever read a step before this is about to take the first one.
    this.#pieces.length = Math.min(this.#pieces.length, 1)
    this.#enter(state)
    // A handle behind a fault is being closed already.
    if (this.#fault === undefined) this.#wire[how]()
    this.#settleClosed()
  }

  #vanish(): void {
    const wasDialing = this.#state === "dialing"
    this.#enter("gone")
    if (wasDialing && this.#fault === undefined) this.#fail(new SocketFailed({ phase: "connect", code: "CLOSED" }))
    this.#settleClosed()
    drain(this.#leavers, Effect.void)
    for (const scope of this.#scopes) Lease.forget(scope)
  }

  #settleClosed(): void {
    this.#takeOpening()?.(Effect.interrupt)
    this.#takeReader()?.(closed("read"))
    this.#takeWriter()?.(closed("write"))
    // An error is made only for those who hear of it: that is most of what it costs to close.
    if (this.#enders !== undefined) drain(this.#enders, closed("write"))
  }

  #settle(fault: Effect.Effect<never, DialFault>): void {
    this.#takeOpening()?.(fault)
    this.#takeReader()?.(fault)
    this.#takeWriter()?.(fault)
    drain(this.#enders, fault)
  }

  // What a waiter does next runs inside of resuming it, so it is taken out first.
  #takeOpening(): Resume<SocketConnection, DialFault> | undefined {
    const opening = this.#opening
    this.#opening = undefined
    return opening
  }

  #takeWriter(): Resume<void, IoFault> | undefined {
    const writer = this.#writer
    this.#writer = undefined
    return writer
  }

  #takeReader(): Resume<Bytes | undefined, IoFault> | undefined {
    const reader = this.#reader
    this.#reader = undefined
    return reader
  }

  #flow(flows: boolean): void {
    if (this.#isFlowing === flows || this.#state !== "open" || this.#isEnded || this.#fault !== undefined) return
    this.#isFlowing = flows
    if (flows) this.#wire.resume()
    else this.#wire.pause()
  }

  #enter(state: State): void {
    if (this.#state !== "gone") this.#census[this.#state]--
    this.#state = state
    if (state !== "gone") this.#census[state]++
  }
}
