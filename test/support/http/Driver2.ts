/**
 * The HTTP/2 engine on a socket of `node:net`: many exchanges at a time, each as a promise. It owns the socket, and destroys
 * it when the engine says that nothing more can come of it.
 */
import * as net from "node:net"
import * as Result from "effect/Result"
import { latin1 } from "../../../adapters/shared/Latin1.ts"
import * as Http2 from "../../../core/http/Http2.ts"
import type { EngineConnection, Event } from "../../../core/http/HttpEngine.ts"
import type { Fields, HttpRequest } from "../../../core/http/HttpMessage.ts"
import { within } from "../Wire.ts"
import * as Lab from "./Lab.ts"
import type { Reply, Upload } from "./Driver.ts"

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

interface Asked {
  readonly reply: Mutable<Reply>
  readonly settle: { readonly resolve: (reply: Reply) => void; readonly reject: (error: Error) => void }
  /** What is left of an upload. */
  pieces: Array<Uint8Array>
  readonly trailers: Fields
  isWhole: boolean
}

export class Driver2 {
  readonly socket: net.Socket
  readonly connection: EngineConnection
  retired: (Event & { readonly _tag: "Retired" }) | undefined = undefined
  readonly closed: Promise<void>
  readonly #asked = new Map<number, Asked>()
  readonly #reads: boolean

  /** `reads`: whether what comes is consumed at once, or never. */
  constructor(socket: net.Socket, options: Http2.Options, reads: boolean) {
    this.socket = socket
    this.connection = Result.getOrThrow(Http2.make({ latin1, ...options })).open()
    this.#reads = reads
    socket.setNoDelay(true)
    socket.on("data", (piece: Uint8Array) => this.#hear(this.connection.receive(piece)))
    socket.on("end", () => this.#hear(this.connection.closed("ended")))
    socket.on("error", () => this.#hear(this.connection.closed("reset")))
    this.closed = new Promise((resolve) =>
      socket.once("close", () => {
        this.#hear(this.connection.closed("reset"))
        resolve()
      })
    )
    this.#flush()
  }

  static connect(port: number, options: Http2.Options = {}, reads = true): Promise<Driver2> {
    return new Promise((resolve, reject) => {
      const socket = net.connect(port, "127.0.0.1")
      socket.once("error", reject)
      socket.once("connect", () => resolve(new Driver2(socket, options, reads)))
    })
  }

  /** Resolves with the whole response; rejects with why there is none. */
  ask(request: HttpRequest, upload?: Upload): Promise<Reply> {
    const sent = this.connection.trySend(request)
    if (sent._tag !== "Accepted") return Promise.reject(new Error(sent._tag))
    const whole = new Promise<Reply>((resolve, reject) => {
      this.#asked.set(sent.exchange, {
        reply: { status: 0, reason: "", fields: [], body: "", trailers: [], informational: [] },
        settle: { resolve, reject },
        pieces: (upload?.pieces ?? []).map(Lab.bytes),
        trailers: upload?.trailers ?? [],
        isWhole: upload === undefined,
      })
    })
    this.#write(sent.exchange)
    this.#flush()
    return within(whole, `the answer to ${request.method} ${request.path}`)
  }

  /** Resolves when an event of a kind was told. */
  hears(wanted: (event: Event) => boolean): Promise<Event> {
    return within(new Promise((resolve) => this.#wanted.push({ wanted, resolve })), "an event")
  }
  #wanted: Array<{ readonly wanted: (event: Event) => boolean; readonly resolve: (event: Event) => void }> = []

  cancel(exchange: number): "drained" | "cut" {
    const how = Lab.cancel(this.connection, exchange)
    this.#flush()
    return how
  }

  ping(): boolean {
    const isOut = this.connection.ping()
    this.#flush()
    return isOut
  }

  /** Says that it goes away, and keeps the socket. */
  say(): void {
    this.connection.leave()
    this.#flush()
  }

  leave(): Promise<void> {
    this.socket.destroy()
    return this.closed
  }

  /** As much of an upload as the windows take. */
  #write(exchange: number): void {
    const asked = this.#asked.get(exchange)
    if (asked === undefined || asked.isWhole) return
    for (;;) {
      const [piece] = asked.pieces
      if (piece === undefined) break
      const taken = this.connection.upload(exchange, piece)
      if (Result.isFailure(taken)) return
      if (taken.success < piece.length) {
        asked.pieces[0] = piece.subarray(taken.success)
        return
      }
      asked.pieces.shift()
    }
    asked.isWhole = true
    if (!this.connection.isSendEnded(exchange)) this.connection.finish(exchange, asked.trailers)
  }

  #flush(): void {
    for (const piece of this.connection.takeOutput()) this.socket.write(piece)
  }

  #hear(events: ReadonlyArray<Event>): void {
    for (const event of events) {
      this.#tell(event)
      for (const { resolve, wanted } of this.#wanted) if (wanted(event)) resolve(event)
    }
    this.#flush()
    if (this.retired !== undefined && this.#asked.size === 0) this.socket.destroy()
  }

  #tell(event: Event): void {
    if (event._tag === "Retired") {
      this.retired = event
      return
    }
    if (event._tag === "Pong") return
    const asked = this.#asked.get(event.exchange)
    if (asked === undefined) return
    const { reply } = asked
    switch (event._tag) {
      case "Informational":
        reply.informational = [...reply.informational, event.status]
        break
      case "Head":
        Object.assign(reply, { status: event.head.status, fields: event.head.fields })
        break
      case "Data":
        reply.body += latin1(event.bytes, 0, event.bytes.length)
        if (this.#reads) this.connection.consumed(event.exchange, event.bytes.length)
        break
      case "Writable":
        this.#write(event.exchange)
        break
      case "End":
        reply.trailers = event.trailers
        this.#asked.delete(event.exchange)
        asked.settle.resolve(reply)
        break
      case "Failed":
        this.#asked.delete(event.exchange)
        asked.settle.reject(event.error)
    }
  }
}
