/** The HTTP/1.1 engine at a bench: text in, what it says as short lines out. */
import { Buffer } from "node:buffer"
import * as Result from "effect/Result"
import type { EngineConnection, Event, Exchange } from "../../../core/http/HttpEngine.ts"
import * as Http1 from "../../../core/http/Http1.ts"
import type { HttpRequest } from "../../../core/http/HttpMessage.ts"

/** One byte a character. */
export const bytes = (text: string): Uint8Array => {
  const all = new Uint8Array(text.length)
  for (let i = 0; i < text.length; i++) all[i] = text.charCodeAt(i)
  return all
}

/** The same bytes, transferred to nobody. */
export const lost = (text: string): Uint8Array => {
  const gone = bytes(text)
  structuredClone(gone.buffer, { transfer: [gone.buffer as ArrayBuffer] })
  return gone
}

/** One character a byte. */
export const text = (...all: ReadonlyArray<Uint8Array>): string =>
  all.map((each) => Buffer.from(each.buffer, each.byteOffset, each.length).toString("latin1")).join("")

export const get: HttpRequest = { method: "GET", scheme: "http", authority: "example.com", path: "/", fields: [] }
export const head: HttpRequest = { ...get, method: "HEAD" }
export const connect: HttpRequest = { ...get, method: "CONNECT", authority: "example.com:443", path: "" }
export const upgrade: HttpRequest = { ...get, fields: [["connection", "upgrade"], ["upgrade", "websocket"]] }

export const open = (options: Http1.Options = {}, proxied = false): EngineConnection =>
  Result.getOrThrow(Http1.make(options)).open({ proxied })

/** A connection with this request under way, its bytes taken. */
export const asked = (request: HttpRequest = get, options: Http1.Options = {}): EngineConnection => {
  const connection = open(options)
  const sent = connection.trySend(request)
  if (sent._tag !== "Accepted") throw new Error(sent._tag)
  connection.takeOutput()
  return connection
}

/** What a cancellation came to, whose code is right. */
export const cancel = (connection: EngineConnection, exchange: Exchange, code?: number): "drained" | "cut" =>
  Result.getOrThrow(connection.cancel(exchange, code))

/** What an event says, less the number of its exchange. */
export const said = (event: Event): string => {
  switch (event._tag) {
    case "Informational":
      return `${event.status}`
    case "Head":
      return `${event.head.status} ${event.length ?? "?"}`
    case "Data":
      return `data ${text(event.bytes)}`
    case "End":
      return ["end", ...event.trailers.map(([name, value]) => `${name}=${value}`)].join(" ")
    case "SendEnded":
      return `sent ${event.how}`
    case "Writable":
      return "writable"
    case "Switched":
      return `switched ${text(event.surplus)}`
    case "Failed":
      return `failed ${why(event.error)}`
    case "Pong":
      return "pong"
    case "Retired":
      return event.error === undefined ? `retired ${event.why}` : `retired ${event.why} ${why(event.error)}`
  }
}

const why = (error: (Event & { readonly _tag: "Failed" })["error"]): string => {
  switch (error._tag) {
    case "ProtocolFault":
      return [error.rule, error.part, error.at, ...(error.limit === undefined ? [] : [error.limit])].join(" ")
    case "MessageCut":
      return [error.how, error.part, error.received, ...(error.expected === undefined ? [] : [error.expected])].join(
        " ",
      )
    case "StreamReset":
      return `reset ${error.code} ${error.part} ${error.received}${error.unprocessed ? " unprocessed" : ""}`
    case "GoneAway":
      return `gone ${error.code} ${error.last}`
    case "InvalidRequest":
      return `lost ${error.field}`
  }
}

/** What all events say: bytes that came one after another as one, those behind a switch among them. */
export const told = (events: ReadonlyArray<Event>): ReadonlyArray<string> => {
  const lines: Array<string> = []
  for (const line of events.map(said)) {
    const last = lines.at(-1)
    if (line.startsWith("data ") && last !== undefined && /^(data|switched) /.test(last)) {
      lines[lines.length - 1] = last + line.slice(5)
    } else lines.push(line)
  }
  return lines
}

/** What one response, in one piece, makes a connection say. */
export const answer = (
  response: string,
  request: HttpRequest = get,
  options: Http1.Options = {},
): ReadonlyArray<string> => told(asked(request, options).receive(bytes(response)))

/** The rule that a response breaks, with the part, the byte and the limit; undefined where it breaks none. */
export const broken = (
  response: string,
  request: HttpRequest = get,
  options: Http1.Options = {},
): string | undefined => {
  const last = answer(response, request, options).at(-1)
  return last?.startsWith("retired fault ") === true ? last.slice("retired fault ".length) : undefined
}

/** Feeds a response in pieces of the given sizes, in turn, until all of it went in. */
export const fed = (
  connection: EngineConnection,
  response: Uint8Array,
  sizes: ReadonlyArray<number>,
): ReadonlyArray<Event> => {
  const events: Array<Event> = []
  let at = 0
  for (let turn = 0; at < response.length; turn++) {
    const to = at + Math.max(1, sizes[turn % sizes.length] ?? 1)
    events.push(...connection.receive(response.slice(at, to)))
    at = to
  }
  return events
}
