/** Clients of HTTP/2, each a fleet of lanes on one connection, a stream a request. A fleet owns its connection until `close`. */
import * as http2 from "node:http2"
import * as net from "node:net"
import * as Result from "effect/Result"
import { latin1 } from "../../adapters/shared/Latin1.ts"
import * as Http2 from "../../core/http/Http2.ts"
import type { EngineConnection, Event } from "../../core/http/HttpEngine.ts"
import type { HttpRequest } from "../../core/http/HttpMessage.ts"
import { fields, path } from "./HelloMessages.ts"
import { type Lane, type Open, seen } from "./HttpClients.ts"

export const engine = Result.getOrThrow(Http2.make({ latin1 }))

export const request = (port: number): HttpRequest => (
  {
    method: "GET",
    scheme: "http",
    authority: `127.0.0.1:${port}`,
    path,
    fields,
  }
)

/** Looks at all that came, and says which exchanges are whole. */
export const hear = (
  connection: EngineConnection,
  events: ReadonlyArray<Event>,
  whole: (exchange: number) => void,
): void => {
  for (const event of events) {
    if (event._tag === "Head") {
      seen.status = event.head.status
      seen.fields += event.head.fields.length
    } else if (event._tag === "Data") {
      seen.bytes += event.bytes.length
      connection.consumed(event.exchange, event.bytes.length)
    } else if (event._tag === "End") whole(event.exchange)
    else throw new Error(`the server is sound, and this came: ${event._tag}`)
  }
}

export const holdfast: Open = (port, lanes) =>
  new Promise((resolve, reject) => {
    const socket = net.connect({ port, host: "127.0.0.1", noDelay: true })
    socket.once("error", reject)
    socket.once("connect", () => {
      const connection = engine.open()
      const get = request(port)
      const pending = new Map<number, () => void>()
      let isQueued = false
      // One write for all that is sent in a turn, as every client here has it.
      const flush = (): void => {
        isQueued = false
        for (const bytes of connection.takeOutput()) socket.write(bytes)
      }
      const later = (): void => {
        if (isQueued) return
        isQueued = true
        queueMicrotask(flush)
      }
      const whole = (exchange: number): void => {
        const done = pending.get(exchange)!
        pending.delete(exchange)
        done()
      }
      socket.on("data", (piece: Uint8Array) => {
        hear(connection, connection.receive(piece), whole)
        later()
      })
      const lane: Lane = (done) => {
        const sent = connection.trySend(get)
        if (sent._tag !== "Accepted") throw new Error("there is no room")
        pending.set(sent.exchange, done)
        later()
      }
      resolve({
        lanes: Array.from({ length: lanes }, () => lane),
        close: () => socket.destroy(),
      })
    })
  })

export const nodeHttp2: Open = (port, lanes) =>
  new Promise((resolve, reject) => {
    const session = http2.connect(`http://127.0.0.1:${port}`)
    session.once("error", reject)
    session.once("remoteSettings", () => {
      const head = { ":path": path, ...Object.fromEntries(fields) }
      const lane: Lane = (done) => {
        const stream = session.request(head)
        stream.on("response", (answer) => {
          seen.status = answer[":status"] ?? 0
          seen.fields += Object.keys(answer).length
        })
        stream.on("data", (piece: Uint8Array) => {
          seen.bytes += piece.length
        })
        stream.on("end", done)
      }
      resolve({
        lanes: Array.from({ length: lanes }, () => lane),
        close: () => session.destroy(),
      })
    })
  })

export const undici: Open = async (port, lanes) => {
  const { H2CClient } = await import("undici")
  const client = new H2CClient(`http://127.0.0.1:${port}`, {
    pipelining: 1_000,
    maxConcurrentStreams: 1_000,
  })
  const headers = Object.fromEntries(fields)
  const lane: Lane = (done) => {
    client.dispatch({ path, method: "GET", headers }, {
      onRequestStart: () => {},
      onResponseStart: (_, status, headers) => {
        seen.status = status
        seen.fields += Object.keys(headers).length
      },
      onResponseData: (_, piece) => {
        seen.bytes += piece.length
      },
      onResponseEnd: done,
      onResponseError: (_, error) => {
        throw error
      },
    })
  }
  return {
    lanes: Array.from({ length: lanes }, () => lane),
    close: () => void client.destroy(),
  }
}
