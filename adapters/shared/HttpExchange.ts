/**
 * One HTTP/1.1 exchange over `node:http`: a connection of its own, made for it and closed with its scope.
 *
 * No connection is used twice, so no request can meet one that the peer is closing. `fetch` will not do here: on Node and
 * Deno it decodes a compressed body but leaves `content-encoding` and `content-length` as they were, with no way to turn
 * that off, adds headers of its own and rewrites paths; `node:http` passes bytes and paths as they are on all three.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as http from "node:http"
import * as https from "node:https"
import { fromReadable, writeTo } from "./ByteStream.ts"
import { type Call, ExchangeFailed, type Phase, type Reply, type Witness } from "./HttpCall.ts"

export { type Call, ExchangeFailed, type Fields, type Phase, type Reply, type Witness } from "./HttpCall.ts"

/**
 * Sends the call and succeeds with the response's head, while an upload may still be under way.
 *
 * Waits for the head without a limit of its own. Interruption before, and closing the scope after it, destroys the
 * connection and cancels both bodies; a response that came early leaves the rest of the upload to that end.
 */
export const exchange = (call: Call, witness: Witness): Effect.Effect<Reply, ExchangeFailed, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => open(call, witness)),
    // A request's error after this point has no listener that cares: the one from `open` keeps it from being thrown.
    ({ request }) => Effect.sync(() => request.destroy()),
  ).pipe(Effect.flatMap((opened) => send(call, opened)))

interface Opened {
  readonly request: http.ClientRequest
  phase: "connect" | "head"
}

const open = (call: Call, witness: Witness): Opened => {
  const options: https.RequestOptions = {
    host: call.host,
    port: call.port,
    method: call.method,
    path: call.path,
    agent: false,
    setHost: false,
    setDefaultHeaders: false,
    headers: headersOf(call),
  }
  witness.onOpen()
  const request = call.secure ? https.request(options) : http.request(options)
  const opened: Opened = { request, phase: "connect" }
  request.once("socket", (socket) => {
    socket.once(call.secure ? "secureConnect" : "connect", () => opened.phase = "head")
  })
  request.once("close", witness.onClose)
  request.on("error", () => {})
  return opened
}

const headersOf = (call: Call): Record<string, string | Array<string>> => {
  const headers: Record<string, string | Array<string>> = Object.create(null)
  for (const [name, value] of call.fields) {
    const had = headers[name]
    headers[name] = had === undefined ? value : Array.isArray(had) ? [...had, value] : [had, value]
  }
  headers["connection"] = "close"
  if (call.body !== null && call.length === undefined) headers["transfer-encoding"] = "chunked"
  // Methods that mean to carry something say so when they carry nothing; others need not.
  const says = call.body !== null || /^(POST|PUT|PATCH)$/.test(call.method)
  if (says && call.length !== undefined) headers["content-length"] = String(call.length)
  return headers
}

const send = (call: Call, opened: Opened): Effect.Effect<Reply, ExchangeFailed> =>
  Effect.callback<Reply, ExchangeFailed>((resume) => {
    const { request } = opened
    const fail = (phase: Phase, code: string): void => resume(Effect.fail(new ExchangeFailed({ phase, code })))
    request.on("error", (error: NodeJS.ErrnoException) => fail(opened.phase, error.code ?? "UNKNOWN"))
    // A 101 that nobody asked for, and a connection closed without an answer, end in `close` alone.
    request.once("close", () => fail(opened.phase, "CLOSED"))
    request.once("response", (response) => {
      response.on("error", () => {})
      resume(Effect.succeed(replyOf(call, response)))
    })
    if (call.body === null) {
      request.end()
      return
    }
    // Header text has one character a byte, and a flushed head goes in the socket's encoding.
    request.once("socket", (socket) => socket.setDefaultEncoding("latin1"))
    // Without this the head would wait for the first byte of the body, and a provider could not refuse before it.
    request.flushHeaders()
    writeTo(request, call.body).then(
      (whole) => {
        if (whole) request.end()
      },
      () => {
        fail("upload", "BODY")
        request.destroy()
      },
    )
  })

const replyOf = (call: Call, response: http.IncomingMessage): Reply => {
  const status = response.statusCode ?? 0
  const fields: Array<readonly [string, string]> = []
  const raw = response.rawHeaders
  for (let i = 0; i + 1 < raw.length; i += 2) fields.push([raw[i]!, raw[i + 1]!])
  const empty = call.method === "HEAD" || status === 204 || status === 205 || status === 304
  if (!empty) return { status, fields, body: fromReadable(response, { complete: () => response.complete }) }
  response.resume()
  // A length that no bytes follow would take as many of the next answer's: to a client a 205 is framed like a 200.
  const announces = status === 204 || status === 205
  return {
    status,
    fields: announces ? fields.filter(([name]) => name.toLowerCase() !== "content-length") : fields,
    body: null,
  }
}
