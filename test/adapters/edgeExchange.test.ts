/** Exchanges by `fetch`, which is how the gateway calls providers at the edge; every runtime has it, so every runtime runs this. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as http from "node:http"
import type { AddressInfo } from "node:net"
import { gzipSync } from "node:zlib"
import { type Call, exchange, type ExchangeFailed } from "../../adapters/edge/Exchange.ts"

type Answering = (request: http.IncomingMessage, response: http.ServerResponse) => void

/** A provider on loopback that answers as told, and what is sent to it. */
const provided = (answering: Answering) =>
  Effect.acquireRelease(
    Effect.callback<http.Server>((resume) => {
      const server = http.createServer(answering)
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      }),
  ).pipe(Effect.map((server) => (over: Partial<Call> = {}): Call => ({
    secure: false,
    host: "127.0.0.1",
    port: (server.address() as AddressInfo).port,
    method: "GET",
    path: "/a%20b?c=d",
    fields: [["host", "elsewhere"], ["x-one", "1"], ["content-length", "77"]],
    body: null,
    length: 0,
    ...over,
  })))

/** How often it was told of. */
const counted = () => {
  const seen = { opened: 0, closed: 0 }
  return { seen, witness: { onOpen: () => void seen.opened++, onClose: () => void seen.closed++ } }
}
const bodyOf = (...chunks: ReadonlyArray<string>): ReadableStream<Uint8Array> =>
  new Blob(chunks as Array<string>).stream()
const textOf = (body: ReadableStream<Uint8Array> | null) => Effect.promise(() => new Response(body).text())
const failed = (exit: Exit.Exit<unknown, ExchangeFailed>) => Exit.isFailure(exit) ? String(exit.cause) : "no failure"

describe("an exchange at the edge", () => {
  it.live("sends the call as it is, but for the lines that the runtime writes, and answers with the head", () =>
    Effect.gen(function* () {
      const { seen, witness } = counted()
      const call = yield* provided((request, response) => {
        response.writeHead(302, { location: "/elsewhere", "x-said": `${request.url} ${request.headers["x-one"]}` })
        response.end(request.headers.host)
      })
      yield* Effect.scoped(Effect.gen(function* () {
        const reply = yield* exchange(call(), witness)
        assert.strictEqual(reply.status, 302)
        assert.deepInclude(Object.fromEntries(reply.fields), { location: "/elsewhere", "x-said": "/a%20b?c=d 1" })
        assert.strictEqual(yield* textOf(reply.body), `127.0.0.1:${call().port}`)
        assert.deepStrictEqual(seen, { opened: 1, closed: 0 })
      }))
      assert.deepStrictEqual(seen, { opened: 1, closed: 1 })
    }).pipe(Effect.scoped))

  it.live("carries a body each way", () =>
    Effect.gen(function* () {
      const call = yield* provided((request, response) => void request.pipe(response))
      for (const length of [6, undefined]) {
        const reply = yield* exchange(call({ method: "POST", body: bodyOf("abc", "def"), length }), counted().witness)
        assert.strictEqual(yield* textOf(reply.body), "abcdef")
      }
    }).pipe(Effect.scoped))

  it.live("gives a body that came encoded decoded, and says nothing of its bytes on the wire", () =>
    Effect.gen(function* () {
      const packed = gzipSync("plain ".repeat(100))
      const call = yield* provided((_, response) => {
        response.writeHead(200, { "content-encoding": "gzip", "content-length": packed.byteLength, "x-kept": "1" })
        response.end(packed)
      })
      const reply = yield* exchange(call(), counted().witness)
      assert.strictEqual(yield* textOf(reply.body), "plain ".repeat(100))
      const names = reply.fields.map(([name]) => name)
      assert.include(names, "x-kept")
      assert.notInclude(names, "content-encoding")
      assert.notInclude(names, "content-length")
    }).pipe(Effect.scoped))

  it.live("ends at once with its fiber, and with its scope", () =>
    Effect.gen(function* () {
      let asked = (): void => {}
      let gone = (): void => {}
      let body = ""
      const call = yield* provided((request, response) => {
        request.socket.once("close", () => gone())
        if (body !== "") response.write(body)
        asked()
      })
      const { seen, witness } = counted()
      const left = new Promise<void>((resolve) => gone = resolve)
      const arrived = new Promise<void>((resolve) => asked = resolve)
      const waiting = yield* Effect.forkChild(Effect.scoped(exchange(call(), witness)))
      yield* Effect.promise(() => arrived)
      yield* Fiber.interrupt(waiting)
      yield* Effect.promise(() => left)
      assert.deepStrictEqual(seen, { opened: 1, closed: 1 })

      body = "half"
      const cut = new Promise<void>((resolve) => gone = resolve)
      const scope = yield* Scope.make()
      const reply = yield* Scope.provide(exchange(call(), witness), scope)
      const read = yield* Effect.forkChild(Effect.exit(Effect.tryPromise(() => new Response(reply.body).text())))
      yield* Scope.close(scope, Exit.void)
      yield* Effect.promise(() => cut)
      assert.strictEqual((yield* Fiber.join(read))._tag, "Failure")
      assert.deepStrictEqual(seen, { opened: 2, closed: 2 })
    }).pipe(Effect.scoped))

  it.live("tells an upload that broke from a provider that did not answer", () =>
    Effect.gen(function* () {
      const call = yield* provided((request) => void request.resume())
      const body = new ReadableStream<Uint8Array>({
        pull: (controller) => controller.error(new Error("secret")),
      })
      const upload = yield* Effect.exit(exchange(call({ method: "POST", body, length: undefined }), counted().witness))
      assert.include(failed(upload), "the exchange failed (upload: BODY)")
      assert.notInclude(failed(upload), "secret")
      const nobody = yield* Effect.exit(exchange(call({ port: 1 }), counted().witness))
      assert.include(failed(nobody), "the exchange failed (head: FETCH_FAILED)")
    }).pipe(Effect.scoped))
})
