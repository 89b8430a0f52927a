/**
 * A server of `node:http` on loopback: some paths answer in a way of their own, all others say what the server saw. It owns
 * its listener and its sockets, which end with `stop`.
 */
import * as http from "node:http"
import type * as net from "node:net"
import type { Reply } from "./Driver.ts"

/** What the server saw of a request, which is the body of its answer. */
export interface Seen {
  readonly method: string
  readonly url: string
  readonly raw: ReadonlyArray<string>
  readonly body: string
  readonly trailers: ReadonlyArray<string>
}

export const seen = (reply: Pick<Reply, "body">): Seen => JSON.parse(Buffer.from(reply.body, "latin1").toString())

type Answer = (request: http.IncomingMessage, response: http.ServerResponse) => void

const answers: Readonly<Record<string, Answer>> = {
  "/chunked": (_, response) => {
    response.writeHead(200, { trailer: "x-sum" })
    for (const piece of ["one ", "two ", "three"]) response.write(piece)
    response.addTrailers({ "x-sum": "3" })
    response.end()
  },
  "/hints": (_, response) => {
    response.writeProcessing()
    response.writeHead(200, { "content-length": "2" }).end("ok")
  },
  "/nothing": (_, response) => response.writeHead(204).end(),
  "/same": (_, response) => response.writeHead(304, { etag: '"x"', "content-length": "100" }).end(),
  "/busy": (_, response) => response.writeHead(503, { "content-length": "4" }).end("busy"),
  "/last": (_, response) => response.writeHead(200, { connection: "close", "content-length": "3" }).end("bye"),
  "/large": (_, response) => response.end(Buffer.alloc(1_000_000, "z")),
  "/cut": (_, response) => {
    response.writeHead(200, { "content-length": "10" })
    // Only when the piece is out does the end come.
    response.write("hello", () => response.socket?.end())
  },
  "/reset": (_, response) => {
    response.writeHead(200, { "content-length": "10" })
    response.write("hello", () => response.socket?.resetAndDestroy())
  },
  "/gone": (_, response) => response.socket?.end(),
  "/reset-head": (_, response) => response.socket?.resetAndDestroy(),
  "/early": (_, response) => response.writeHead(413, { connection: "close", "content-length": "0" }).end(),
}

const echo: Answer = (request, response) => {
  const pieces: Array<Uint8Array> = []
  request.on("data", (piece) => pieces.push(piece))
  request.on("end", () => {
    const seen: Seen = {
      method: request.method!,
      url: request.url!,
      raw: request.rawHeaders,
      body: Buffer.concat(pieces).toString("latin1"),
      trailers: request.rawTrailers,
    }
    const body = JSON.stringify(seen)
    response.writeHead(200, { "content-length": String(Buffer.byteLength(body)) }).end(body)
  })
}

export interface Upstream {
  readonly port: number
  /** The sockets that requests came on. */
  readonly used: Set<net.Socket>
  readonly open: ReadonlySet<net.Socket>
  readonly stop: () => Promise<void>
}

export const start = (): Promise<Upstream> => {
  const used = new Set<net.Socket>()
  const open = new Set<net.Socket>()
  const server = http.createServer((request, response) => {
    used.add(request.socket)
    const answer = answers[request.url!] ?? echo
    answer(request, response)
  })
  server.on("connection", (socket) => {
    open.add(socket)
    socket.on("error", () => {})
    socket.once("close", () => open.delete(socket))
  })
  server.on("upgrade", (_, socket) => {
    socket.write("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\nfirst")
    socket.on("data", (piece: Uint8Array) => socket.write(piece))
  })
  server.on("connect", (_, socket) => {
    socket.write("HTTP/1.1 200 Connected\r\n\r\n")
    socket.on("data", (piece: Uint8Array) => socket.write(piece))
  })
  const stop = (): Promise<void> => {
    for (const socket of open) socket.destroy()
    return new Promise((resolve) => server.close(() => resolve()))
  }
  return new Promise((resolve) =>
    server.listen(0, "127.0.0.1", () => resolve({ port: (server.address() as net.AddressInfo).port, used, open, stop }))
  )
}
