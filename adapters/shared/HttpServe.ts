/**
 * A WHATWG handler served over `node:http`: it owns the listener and every connection until its scope closes.
 *
 * `node:http` on all three runtimes and not `Deno.serve` or `Bun.serve`, because a proxy has to see what those hide: the
 * request target as it was sent (they resolve `..` first), each header line, a header limit and timeout of our own, and
 * a client that has gone. 60 hostile requests were answered alike by the three; what differs is refused above this file.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as http from "node:http"
import type { AddressInfo, Socket } from "node:net"
import { Refusal } from "../../core/Refusal.ts"
import { answerer, type Handler } from "./HttpAnswer.ts"
import { refuse, statusOf } from "./HttpRefusal.ts"

export interface Options {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  readonly maxHeaderBytes: number
  readonly maxConnections: number
  /** From the first byte, or from the connection, to the end of the header. */
  readonly headerTimeoutMillis: number
  readonly keepAliveMillis: number
  readonly handler: Handler
}

/** The listener could not be opened (`EADDRINUSE`, `EACCES`, `EADDRNOTAVAIL`, …). Nothing is held. */
export class ServeFailed extends Refusal {
  readonly _tag = "ServeFailed"
  override readonly name = "ServeFailed"
  readonly host: string
  readonly port: number
  readonly code: string
  constructor(facts: { readonly host: string; readonly port: number; readonly code: string }) {
    super()
    this.host = facts.host
    this.port = facts.port
    this.code = facts.code
  }
  override get message(): string {
    return `cannot listen on ${this.host}:${this.port}: ${this.code}`
  }
}

export interface Served {
  readonly host: string
  readonly port: number
  /** Refuses new connections, lets those that are answering finish, and is done when the last one has closed. */
  readonly close: Effect.Effect<void>
}

/** Listens until the scope closes, which cuts every connection. */
export const serve = (options: Options): Effect.Effect<Served, ServeFailed, Scope.Scope> =>
  Effect.gen(function* () {
    const sockets = new Set<Socket>()
    const open: Open = new Map()
    const server = serverOf(options)
    const listener = listenerOf(server, options.handler, open)
    server.on("request", listener(false))
    server.on("checkContinue", listener(true))
    // Other expectations are the handler's to refuse; without a listener the server answers 417 itself, to anybody.
    server.on("checkExpectation", listener(false))
    server.on("connect", (_request, socket) => refuse(socket, 405))
    server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
      const current = [...open.keys()].filter((response) => response.req.socket === socket)
      if (current.every(isReading) && current.length <= 1) refuse(socket, statusOf(error))
      else socket.destroy()
    })
    server.on("connection", (socket) => {
      // Header text has one character a byte, and a head that is flushed before its body goes in the socket's encoding.
      socket.setDefaultEncoding("latin1")
      if (sockets.size >= options.maxConnections) socket.destroy()
      else sockets.add(socket)
      socket.once("close", () => {
        sockets.delete(socket)
        // On Deno a response that waits behind another on its connection does not tell that the connection is gone.
        for (const [response, over] of open) if (response.req.socket === socket) over()
      })
    })
    yield* Effect.acquireRelease(listen(server, options), () => close(server, open, sockets))
    const address = server.address() as AddressInfo
    return { host: options.host, port: address.port, close: close(server, open, []) }
  })

/** The responses under way, and what tells one that it or its connection has closed. */
type Open = Map<http.ServerResponse, () => void>

const serverOf = (options: Options): http.Server => {
  const server = http.createServer({
    maxHeaderSize: options.maxHeaderBytes,
    headersTimeout: options.headerTimeoutMillis,
    // A body's pace is the handler's to judge; here it would end a long upload that moves.
    requestTimeout: 0,
    connectionsCheckingInterval: Math.max(50, Math.min(1_000, options.headerTimeoutMillis / 4)),
    keepAliveTimeout: options.keepAliveMillis,
  })
  // 0 is no limit on lines: past a limit Node drops them in silence. The bytes are bounded, and the handler counts.
  server.maxHeadersCount = 0
  return server
}

const listenerOf = (server: http.Server, handler: Handler, open: Open) => {
  const answer = answerer(handler)
  return (expectsContinue: boolean) => (request: http.IncomingMessage, response: http.ServerResponse): void => {
    if (!server.listening) response.setHeader("connection", "close")
    const end = answer(request, response, expectsContinue)
    const over = (): void => {
      if (!open.delete(response)) return
      end()
      // One that was answering when the close began is idle only from here on.
      if (!server.listening) setImmediate(() => server.closeIdleConnections())
    }
    open.set(response, over)
    response.once("close", over)
  }
}

/** Whether an error in what the client sends is about this request: otherwise an answer would be taken for another's. */
const isReading = (response: http.ServerResponse): boolean => !response.req.complete && !response.headersSent

const listen = (server: http.Server, options: Options): Effect.Effect<void, ServeFailed> =>
  Effect.callback<void, ServeFailed>((resume) => {
    // It stays: an error of a later accept (too many open files) must not end the process.
    server.on(
      "error",
      (error: NodeJS.ErrnoException) =>
        resume(Effect.fail(new ServeFailed({ host: options.host, port: options.port, code: error.code ?? "UNKNOWN" }))),
    )
    server.listen({ host: options.host, port: options.port }, () => resume(Effect.void))
  })

/** Stops listening, tells those who are being answered that it is the last time, and cuts the given connections. */
const close = (
  server: http.Server,
  open: ReadonlyMap<http.ServerResponse, unknown>,
  cut: Iterable<Socket>,
): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    server.close(() => resume(Effect.void))
    for (const response of open.keys()) if (!response.headersSent) response.setHeader("connection", "close")
    for (const socket of cut) socket.destroy()
    server.closeIdleConnections()
  })
