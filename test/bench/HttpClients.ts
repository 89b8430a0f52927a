/**
 * Clients of HTTP/1.1, each a fleet of lanes with a connection of its own and one request under way. A lane calls back when
 * the body is whole. A fleet owns its sockets until `close`.
 */
import * as http from "node:http"
import * as net from "node:net"
import * as Result from "effect/Result"
import type * as Undici from "undici"
import { latin1 } from "../../adapters/shared/Latin1.ts"
import * as Http1 from "../../core/http/Http1.ts"
import type { EngineConnection } from "../../core/http/HttpEngine.ts"
import type { HttpRequest } from "../../core/http/HttpMessage.ts"
import { fields, path } from "./HelloMessages.ts"

export type Lane = (done: () => void) => void

export interface Fleet {
  readonly lanes: ReadonlyArray<Lane>
  readonly close: () => void
}

export type Open = (port: number, lanes: number) => Promise<Fleet>

/** What a client saw, so that nothing of it can be left out. */
export const seen = { status: 0, fields: 0, bytes: 0 }

const connect = (port: number): Promise<net.Socket> =>
  new Promise((resolve, reject) => {
    const socket = net.connect({ port, host: "127.0.0.1", noDelay: true })
    socket.once("error", reject)
    socket.once("connect", () => resolve(socket))
  })

/** A fleet whose lanes are each made of a socket. */
const onSockets = (lane: (socket: net.Socket, port: number) => Lane): Open => async (port, lanes) => {
  const sockets = await Promise.all(
    Array.from({ length: lanes }, () => connect(port)),
  )
  const close = (): void => sockets.forEach((socket) => socket.destroy())
  return { lanes: sockets.map((socket) => lane(socket, port)), close }
}

const requestText = (port: number): string =>
  `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n${
    fields.map(([name, value]) => `${name}: ${value}\r\n`).join("")
  }\r\n`

/** The limit: constant bytes out, a known number of bytes in, nothing read of them. */
export const raw: Open = onSockets((socket, port) => {
  const bytes = Buffer.from(requestText(port), "latin1")
  let length = 0
  let got = 0
  let done = (): void => {}
  socket.on("data", (piece) => {
    // The first response comes in one piece, and all others are as long.
    length ||= piece.length
    got += piece.length
    if (got < length) return
    got = 0
    seen.bytes += piece.length
    done()
  })
  return (then) => {
    done = then
    socket.write(bytes)
  }
})

/** The head of a response in pairs, by the least code that is right for a server that makes no mistake. */
interface MinimalHead {
  readonly status: number
  readonly fields: ReadonlyArray<readonly [string, string]>
  readonly length: number
}

const minimalHead = (text: string): MinimalHead => {
  const lines = text.split("\r\n")
  const fields: Array<readonly [string, string]> = []
  let length = 0
  for (let i = 1; i < lines.length; i++) {
    const line = lines[i]!
    const colon = line.indexOf(":")
    const name = line.slice(0, colon).toLowerCase()
    const value = line.slice(colon + 1).trim()
    if (name === "content-length") length = Number(value)
    fields.push([name, value])
  }
  return { status: Number(text.slice(9, 12)), fields, length }
}

/** The floor: a parser as one writes it by hand for one server, over Node's Buffer, with no check and no limit. */
export class Minimal {
  #kept: Buffer | undefined = undefined
  #left = -1

  request(port: number): string {
    let text = `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n`
    for (const [name, value] of fields) text += `${name}: ${value}\r\n`
    return `${text}\r\n`
  }

  /** Whether the response is whole. */
  receive(piece: Uint8Array): boolean {
    let bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
    if (this.#kept !== undefined) bytes = Buffer.concat([this.#kept, bytes])
    let from = 0
    if (this.#left < 0) {
      const end = bytes.indexOf("\r\n\r\n")
      if (end < 0) {
        this.#kept = bytes
        return false
      }
      this.#kept = undefined
      const head = minimalHead(bytes.toString("latin1", 0, end))
      seen.status = head.status
      seen.fields += head.fields.length
      this.#left = head.length
      from = end + 4
    }
    const body = bytes.subarray(from)
    seen.bytes += body.length
    this.#left -= body.length
    if (this.#left > 0) return false
    this.#left = -1
    return true
  }
}

export const minimal: Open = onSockets((socket, port) => {
  const parser = new Minimal()
  let done = (): void => {}
  socket.on("data", (piece: Uint8Array) => {
    if (parser.receive(piece)) done()
  })
  return (then) => {
    done = then
    socket.write(parser.request(port), "latin1")
  }
})

export const engine = Result.getOrThrow(Http1.make({ latin1 }))

export const request = (port: number): HttpRequest => (
  {
    method: "GET",
    scheme: "http",
    authority: `127.0.0.1:${port}`,
    path,
    fields,
  }
)

/** Feeds a piece and looks at all that comes of it; whether the response is whole. */
export const receive = (
  connection: EngineConnection,
  piece: Uint8Array,
): boolean => {
  let isWhole = false
  for (const event of connection.receive(piece)) {
    if (event._tag === "Head") {
      seen.status = event.head.status
      seen.fields += event.head.fields.length
    } else if (event._tag === "Data") seen.bytes += event.bytes.length
    else if (event._tag === "End") isWhole = true
    else throw new Error(`the server is sound, and this came: ${event._tag}`)
  }
  return isWhole
}

export const holdfast: Open = onSockets((socket, port) => {
  const connection = engine.open()
  const get = request(port)
  let done = (): void => {}
  socket.on("data", (piece: Uint8Array) => {
    if (receive(connection, piece)) done()
  })
  return (then) => {
    done = then
    if (connection.trySend(get)._tag !== "Accepted") {
      throw new Error("there is no room")
    }
    for (const bytes of connection.takeOutput()) socket.write(bytes)
  }
})

const undiciHeaders = Object.fromEntries(fields)

const onUndici = (lane: (client: Undici.Client) => Lane): Open => async (port, lanes) => {
  const { Client } = await import("undici")
  const clients = Array.from(
    { length: lanes },
    () => new Client(`http://127.0.0.1:${port}`, { pipelining: 1 }),
  )
  return {
    lanes: clients.map(lane),
    close: () => clients.forEach((client) => void client.destroy()),
  }
}

export const undiciDispatch: Open = onUndici((client) => (done) => {
  client.dispatch({ path, method: "GET", headers: undiciHeaders }, {
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
})

export const undiciRequest: Open = onUndici((client) => (done) => {
  void client.request({ path, method: "GET", headers: undiciHeaders }).then(
    async ({ body, headers, statusCode }) => {
      seen.status = statusCode
      seen.fields += Object.keys(headers).length
      seen.bytes += (await body.text()).length
      done()
    },
  )
})

export const nodeHttp: Open = (port, lanes) => {
  const agents = Array.from(
    { length: lanes },
    () => new http.Agent({ keepAlive: true, maxSockets: 1 }),
  )
  const lane = (agent: http.Agent): Lane => (done) => {
    http.get(
      { host: "127.0.0.1", port, path, agent, headers: undiciHeaders },
      (response) => {
        seen.status = response.statusCode ?? 0
        seen.fields += response.rawHeaders.length / 2
        response.on("data", (piece: Uint8Array) => {
          seen.bytes += piece.length
        })
        response.on("end", done)
      },
    )
  }
  return Promise.resolve({
    lanes: agents.map(lane),
    close: () => agents.forEach((agent) => agent.destroy()),
  })
}

/** Sends `n` requests over all lanes, each lane its next one when its last one is whole. */
export const run = ({ lanes }: Fleet, n: number): Promise<void> =>
  new Promise((resolve) => {
    let begun = 0
    let whole = 0
    const lane = (send: Lane): void => {
      if (begun === n) return
      begun++
      send(() => {
        if (++whole === n) resolve()
        else lane(send)
      })
    }
    lanes.forEach(lane)
  })
