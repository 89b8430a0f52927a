/** The HTTP/2 engine at a bench: frames in, what it says as short lines out, and its output as frames. */
import * as Result from "effect/Result"
import { HpackDecoder } from "../../../core/http/HpackDecoder.ts"
import type { EngineConnection, Event, Exchange, HttpEngine } from "../../../core/http/HttpEngine.ts"
import * as Http2 from "../../../core/http/Http2.ts"
import type { Fields, HttpRequest } from "../../../core/http/HttpMessage.ts"
import * as Latin1 from "../../../core/http/Latin1.ts"
import * as Lab from "./Lab.ts"

export const Type = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  push: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
  priorityUpdate: 16,
} as const
export const endStream = 1
export const endHeaders = 4
export const padded = 8
export const priority = 32

export const uint32 = (value: number): ReadonlyArray<number> => [
  (value >>> 24) & 255,
  (value >>> 16) & 255,
  (value >>> 8) & 255,
  value & 255,
]

export const join = (...all: ReadonlyArray<Uint8Array>): Uint8Array => {
  const whole = new Uint8Array(all.reduce((length, each) => length + each.length, 0))
  let at = 0
  for (const each of all) {
    whole.set(each, at)
    at += each.length
  }
  return whole
}

/** A frame as it is on the wire; `length` says another length than there is. */
export const frame = (
  type: number,
  flags: number,
  stream: number,
  payload: ArrayLike<number> | string = [],
  length?: number,
): Uint8Array => {
  const bytes = typeof payload === "string" ? Lab.bytes(payload) : Uint8Array.from(payload)
  return join(
    Uint8Array.from([...uint32(length ?? bytes.length).slice(1), type, flags, ...uint32(stream)]),
    bytes,
  )
}

/** A text of HPACK, as it is: its length and its bytes. */
const plain = (text: string): ReadonlyArray<number> => [
  ...(text.length < 127 ? [text.length] : [127, ...rest(text.length - 127)]),
  ...Lab.bytes(text),
]
const rest = (value: number): ReadonlyArray<number> =>
  value < 128 ? [value] : [(value & 127) | 128, ...rest(value >>> 7)]

/** Fields as literals that no table keeps, which any decoder reads whatever came before. */
export const block = (...fields: ReadonlyArray<readonly [string, string]>): ReadonlyArray<number> =>
  fields.flatMap(([name, value]) => [0, ...plain(name), ...plain(value)])

export const headers = (stream: number, fields: Fields, flags: number = 0): Uint8Array =>
  frame(Type.headers, endHeaders | flags, stream, block(...fields))
export const response = (stream: number, status: number, fields: Fields = [], flags: number = 0): Uint8Array =>
  headers(stream, [[":status", String(status)], ...fields], flags)
export const data = (stream: number, text: string, flags: number = 0): Uint8Array =>
  frame(Type.data, flags, stream, text)
export const settings = (...values: ReadonlyArray<readonly [id: number, value: number]>): Uint8Array =>
  frame(Type.settings, 0, 0, values.flatMap(([id, value]) => [0, id, ...uint32(value)]))
export const settingsAck: Uint8Array = frame(Type.settings, 1, 0)
export const ping: Uint8Array = frame(Type.ping, 0, 0, "12345678")
export const reset = (stream: number, code: number): Uint8Array => frame(Type.reset, 0, stream, uint32(code))
export const windowUpdate = (stream: number, bytes: number): Uint8Array =>
  frame(Type.windowUpdate, 0, stream, uint32(bytes))
export const goAway = (last: number, code: number, debug = ""): Uint8Array =>
  frame(Type.goAway, 0, 0, [...uint32(last), ...uint32(code), ...Lab.bytes(debug)])

export const get: HttpRequest = { method: "GET", scheme: "https", authority: "example.com", path: "/", fields: [] }

export const engine = (options: Http2.Options = {}): HttpEngine => Result.getOrThrow(Http2.make(options))

/** A connection whose peer has said what it settles on, and whose output so far is taken. */
export const open = (options: Http2.Options = {}, first: Uint8Array = settings()): EngineConnection => {
  const connection = engine(options).open()
  connection.receive(first)
  connection.takeOutput()
  return connection
}

/** Sends a request that is to be accepted. */
export const send = (connection: EngineConnection, request: HttpRequest = get): Exchange => {
  const sent = connection.trySend(request)
  if (sent._tag !== "Accepted") throw new Error(sent._tag)
  return sent.exchange
}

/** As `send`, with all output taken, as if it were written. */
export const ask = (connection: EngineConnection, request: HttpRequest = get): Exchange => {
  const exchange = send(connection, request)
  connection.takeOutput()
  return exchange
}

/** As `open`, with so many requests under way and their bytes taken. */
export const asked = (options: Http2.Options = {}, requests: ReadonlyArray<HttpRequest> = [get]): EngineConnection => {
  const connection = open(options)
  for (const request of requests) send(connection, request)
  connection.takeOutput()
  return connection
}

/** What events say, each behind the number of its exchange; data that came one after another as one. */
export const told = (events: ReadonlyArray<Event>): ReadonlyArray<string> => {
  const lines: Array<string> = []
  for (const event of events) {
    const of = "exchange" in event ? `${event.exchange}: ` : ""
    const line = of + Lab.said(event)
    const last = lines.at(-1)
    if (event._tag === "Data" && last?.startsWith(`${of}data `) === true) {
      lines[lines.length - 1] = last + line.slice(`${of}data `.length)
    } else lines.push(line)
  }
  return lines
}

export const says = (connection: EngineConnection, ...frames: ReadonlyArray<Uint8Array>): ReadonlyArray<string> =>
  told(connection.receive(join(...frames)))

/** What came out, a line a frame: its type, its stream, and what it holds. */
export class Written {
  readonly #decoder: HpackDecoder

  constructor(tableBytes = 4_096) {
    this.#decoder = new HpackDecoder(tableBytes, Latin1.portable)
  }

  read(connection: EngineConnection): ReadonlyArray<string> {
    return this.say(join(...connection.takeOutput()))
  }

  say(bytes: Uint8Array): ReadonlyArray<string> {
    const lines: Array<string> = []
    for (let at = Lab.text(bytes.subarray(0, 24)).startsWith("PRI * HTTP/2.0") ? 24 : 0; at < bytes.length;) {
      const length = (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!
      const view = new DataView(bytes.buffer, at + 5)
      const payload = bytes.subarray(at + 9, at + 9 + length)
      lines.push(this.#say(bytes[at + 3]!, bytes[at + 4]!, view.getUint32(0), payload))
      at += 9 + length
    }
    return lines
  }

  #say(type: number, flags: number, stream: number, payload: Uint8Array): string {
    const end = (flags & endStream) !== 0 ? " end" : ""
    const number = (at: number): number => new DataView(payload.buffer, payload.byteOffset + at).getUint32(0)
    switch (type) {
      case Type.data:
        return `data ${stream} ${payload.length > 40 ? payload.length : Lab.text(payload)}${end}`
      case Type.headers: {
        const fields: Array<string> = []
        const add = ({ field: [name, value] }: { readonly field: readonly [string, string] }) =>
          void fields.push(`${name}=${value}`)
        const rule = (flags & endHeaders) === 0 ? "goes on" : this.#decoder.decode(payload, 0, payload.length, { add })
        return `headers ${stream} ${rule ?? fields.join(" ")}${end}`
      }
      case Type.settings:
        return (flags & 1) !== 0 ? "settings ack" : "settings"
      case Type.ping:
        return `ping ${flags} ${Lab.text(payload)}`
      case Type.reset:
        return `reset ${stream} ${number(0)}`
      case Type.windowUpdate:
        return `window ${stream} ${number(0)}`
      case Type.goAway:
        return `goaway ${number(0)} ${number(4)}`
      default:
        return `type ${type} ${stream} ${payload.length}`
    }
  }
}

export const written = (connection: EngineConnection): ReadonlyArray<string> => new Written().read(connection)
