/**
 * A server of `node:http2` on loopback: some paths answer in a way of their own, all others say what the server saw. It owns
 * its listener and its sessions, which end with `stop`.
 */
import * as http2 from "node:http2"
import type { AddressInfo, Socket } from "node:net"

type Answer = (stream: http2.ServerHttp2Stream) => void

const answers: Readonly<Record<string, Answer>> = {
  "/trailers": (stream) => {
    stream.respond({ ":status": 200 }, { waitForTrailers: true })
    stream.on("wantTrailers", () => stream.sendTrailers({ "x-sum": "3" }))
    for (const piece of ["one ", "two ", "three"]) stream.write(piece)
    stream.end()
  },
  "/hints": (stream) => {
    stream.additionalHeaders({ ":status": 103, link: "</a>" })
    stream.respond({ ":status": 200, "content-length": "2" })
    stream.end("ok")
  },
  "/nothing": (stream) => stream.respond({ ":status": 204 }, { endStream: true }),
  "/busy": (stream) => {
    stream.respond({ ":status": 503 })
    stream.end("busy")
  },
  "/large": (stream) => {
    stream.respond({ ":status": 200 })
    stream.end(Buffer.alloc(1_000_000, "z"))
  },
  "/fields": (stream) => {
    stream.respond({ ":status": 200, "x-long": "v".repeat(20_000), "set-cookie": ["a=1", "b=2"] })
    stream.end()
  },
  "/reset": (stream) => {
    stream.respond({ ":status": 200, "content-length": "10" })
    stream.write("hello", () => stream.destroy(new Error("reset")))
  },
  // close() ends the body of its own accord, five bytes short.
  "/short": (stream) => {
    stream.respond({ ":status": 200, "content-length": "10" })
    stream.write("hello", () => stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR))
  },
  "/refused": (stream) => stream.close(http2.constants.NGHTTP2_REFUSED_STREAM),
  "/open": (stream) => {
    stream.respond({ ":status": 200 })
    stream.write("open")
  },
  "/leave": (stream) => {
    stream.session!.close()
    stream.respond({ ":status": 200 })
    stream.end("bye")
  },
  "/early": (stream) => {
    stream.respond({ ":status": 413 })
    stream.end("enough")
  },
}

const tunnel: Answer = (stream) => {
  stream.respond({ ":status": 200 })
  stream.on("data", (piece: Uint8Array) => stream.write(piece))
  stream.on("end", () => stream.end())
}

/** Names and values as they came, and what was uploaded. */
export interface Seen {
  readonly raw: ReadonlyArray<string>
  readonly body: string
  readonly trailers: Readonly<Record<string, string>>
}

const echo = (stream: http2.ServerHttp2Stream, raw: ReadonlyArray<string>): void => {
  const pieces: Array<Uint8Array> = []
  let trailers = {}
  stream.on("trailers", (fields) => void (trailers = { ...fields }))
  stream.on("data", (piece: Uint8Array) => pieces.push(piece))
  stream.on("end", () => {
    stream.respond({ ":status": 200 })
    stream.end(JSON.stringify({ raw, body: Buffer.concat(pieces).toString("latin1"), trailers }))
  })
}

export interface Upstream2 {
  readonly port: number
  readonly sessions: Set<http2.ServerHttp2Session>
  /** Ends the connection from that port of a client's, beneath HTTP/2. */
  readonly sever: (port: number) => void
  readonly stop: () => Promise<void>
}

export const start = (settings: http2.Settings = {}): Promise<Upstream2> => {
  const sessions = new Set<http2.ServerHttp2Session>()
  const sockets = new Set<Socket>()
  const server = http2.createServer({ settings })
  server.on("connection", (socket: Socket) => {
    sockets.add(socket)
    socket.once("close", () => sockets.delete(socket))
  })
  server.on("session", (session) => {
    sessions.add(session)
    session.on("error", () => {})
    session.once("close", () => sessions.delete(session))
  })
  server.on("stream", (stream, fields, _, raw) => {
    stream.on("error", () => {})
    if (fields[":method"] === "CONNECT") return tunnel(stream)
    const answer = answers[String(fields[":path"])]
    if (answer === undefined) echo(stream, raw as unknown as ReadonlyArray<string>)
    else answer(stream)
  })
  const stop = (): Promise<void> => {
    for (const session of sessions) session.destroy()
    return new Promise((resolve) => server.close(() => resolve()))
  }
  return new Promise((resolve) =>
    server.listen(0, "127.0.0.1", () =>
      resolve({
        port: (server.address() as AddressInfo).port,
        sessions,
        sever: (port) => sockets.forEach((socket) => socket.remotePort === port && socket.destroy()),
        stop,
      }))
  )
}
