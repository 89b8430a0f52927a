/**
 * The HTTP/1.1 engine on a socket of `node:net`: one exchange at a time, each as a promise. It owns the socket, and destroys
 * it when the engine says that nothing more can come of it.
 */
import * as net from "node:net"
import * as Result from "effect/Result"
import { latin1 } from "../../../adapters/shared/Latin1.ts"
import * as Http1 from "../../../core/http/Http1.ts"
import type { EngineConnection, Event } from "../../../core/http/HttpEngine.ts"
import type { Fields, HttpRequest } from "../../../core/http/HttpMessage.ts"
import * as Lab from "./Lab.ts"
import { within } from "../Wire.ts"

export interface Reply {
  readonly status: number
  readonly reason: string
  readonly fields: Fields
  /** One character a byte. */
  readonly body: string
  readonly trailers: Fields
  readonly informational: ReadonlyArray<number>
  /** What came behind a switch, by the time it was told. */
  readonly surplus?: string
}

/** What is uploaded: pieces, and trailers behind chunks. */
export interface Upload {
  readonly pieces: ReadonlyArray<string>
  readonly trailers?: Fields
  /** Begins at the first informational head, in place of at once. */
  readonly waits?: boolean
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

const engine = Result.getOrThrow(Http1.make({ latin1 }))

export class Driver {
  readonly socket: net.Socket
  readonly connection: EngineConnection
  /** Why the connection retired, once it has. */
  retired: (Event & { readonly _tag: "Retired" }) | undefined = undefined
  #reply: Mutable<Reply> | undefined = undefined
  #settle: { readonly resolve: (reply: Reply) => void; readonly reject: (error: Error) => void } | undefined = undefined
  #upload: (() => void) | undefined = undefined
  #exchange = 0
  readonly closed: Promise<void>

  constructor(socket: net.Socket, proxied: boolean) {
    this.socket = socket
    this.connection = engine.open({ proxied })
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
  }

  static connect(port: number, proxied = false): Promise<Driver> {
    return new Promise((resolve, reject) => {
      const socket = net.connect(port, "127.0.0.1")
      socket.once("error", reject)
      socket.once("connect", () => resolve(new Driver(socket, proxied)))
    })
  }

  /** Resolves with the whole response; rejects with the fault or the cut. */
  ask(request: HttpRequest, upload?: Upload): Promise<Reply> {
    const sent = this.connection.trySend(request)
    if (sent._tag !== "Accepted") return Promise.reject(new Error(sent._tag))
    const { exchange } = sent
    this.#exchange = exchange
    const reply = new Promise<Reply>((resolve, reject) => this.#settle = { resolve, reject })
    this.#flush()
    const begin = (): void => {
      this.#upload = undefined
      for (const piece of upload?.pieces ?? []) this.connection.upload(exchange, Lab.bytes(piece))
      if (upload !== undefined) this.connection.finish(exchange, upload.trailers)
      this.#flush()
    }
    this.#reply = { status: 0, reason: "", fields: [], body: "", trailers: [], informational: [] }
    if (upload?.waits === true) this.#upload = begin
    else begin()
    return within(reply, `the answer to ${request.method} ${request.path}`)
  }

  leave(): Promise<void> {
    this.socket.destroy()
    return this.closed
  }

  #flush(): void {
    for (const piece of this.connection.takeOutput()) this.socket.write(piece)
  }

  #hear(events: ReadonlyArray<Event>): void {
    for (const event of events) this.#tell(event)
  }

  #tell(event: Event): void {
    const reply = this.#reply
    switch (event._tag) {
      case "Informational":
        reply!.informational = [...reply!.informational, event.status]
        this.#upload?.()
        break
      case "Head":
        Object.assign(reply!, { status: event.head.status, reason: event.head.reason, fields: event.head.fields })
        break
      case "Data":
        if (reply !== undefined) reply.body += latin1(event.bytes, 0, event.bytes.length)
        break
      case "End":
        reply!.trailers = event.trailers
        this.#end(reply!)
        break
      case "Switched":
        this.#end({ ...reply!, surplus: Lab.text(event.surplus) })
        break
      case "Failed":
        this.#fail(event.error)
        break
      case "Retired":
        this.retired = event
        // An upload may go on behind it.
        if (this.#exchange === 0 || this.connection.isSendEnded(this.#exchange)) this.socket.destroy()
    }
  }

  #end(reply: Reply): void {
    this.#reply = undefined
    this.#settle?.resolve(reply)
  }

  #fail(error: Error): void {
    this.#reply = undefined
    this.#settle?.reject(error)
  }
}
