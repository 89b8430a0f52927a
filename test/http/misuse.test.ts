/** What no type would let through, from callers without types: refused as such, with nothing written, and never thrown. */
import { assert, describe, it } from "vitest"
import * as Result from "effect/Result"
import type { EngineConnection } from "../../core/http/HttpEngine.ts"
import * as Http1 from "../../core/http/Http1.ts"
import * as Http2 from "../../core/http/Http2.ts"
import type { Fields, HttpRequest } from "../../core/http/HttpMessage.ts"
import * as Lab from "../support/http/Lab.ts"
import * as Lab2 from "../support/http/Lab2.ts"

const odd: ReadonlyArray<unknown> = [
  undefined,
  null,
  0,
  1.5,
  NaN,
  5n,
  "",
  "text",
  true,
  Symbol("odd"),
  () => {},
  {},
  { accept: "*/*" },
  { bytes: -1 },
  { bytes: "5" },
  [],
  [null],
  Array(1),
  ["x: y"],
  [["x"]],
  [["x", 1]],
  [["accept", 1]],
  new Map([["x", "y"]]),
  new ArrayBuffer(4),
]

/** What of it may stand in a part all the same. */
const fits: Readonly<Record<string, (value: unknown) => boolean>> = {
  authority: (value) => value === "text",
  fields: (value) => Array.isArray(value) && value.length === 0,
  body: (value) => value === undefined,
  protocol: (value) => value === undefined,
}

const protocols: Readonly<Record<string, readonly [() => EngineConnection, typeof Http1.make | typeof Http2.make]>> = {
  "HTTP/1.1": [Lab.open, Http1.make],
  "HTTP/2": [Lab2.open, Http2.make],
}

for (const [protocol, [open, make]] of Object.entries(protocols)) {
  describe(protocol, () => {
    for (const part of ["method", "scheme", "authority", "path", "fields", "body", "protocol"]) {
      it(`refuses what is no ${part}`, () => {
        for (const value of odd) {
          const connection = open()
          const method = part === "body" ? "POST" : "GET"
          const sent = connection.trySend({ ...Lab.get, method, [part]: value } as HttpRequest)
          const isFit = fits[part]?.(value) === true
          // HTTP/1.1 hands back whatever asks for a protocol inside of a stream.
          const refusals = part === "protocol" && protocol === "HTTP/1.1" ? ["Unsent"] : ["Malformed"]
          assert.include(isFit ? ["Accepted"] : refusals, sent._tag, String(value))
          if (!isFit) assert.deepStrictEqual(connection.takeOutput(), [])
        }
      })
    }

    it("goes on though what it handed out was transferred", () => {
      const engine = Result.getOrThrow(make())
      const [connection, other] = [engine.open(), engine.open()]
      assert.strictEqual(
        connection.trySend({ ...Lab.get, method: "POST", body: { bytes: undefined } })._tag,
        "Accepted",
      )
      for (const { buffer } of connection.takeOutput()) structuredClone(buffer, { transfer: [buffer as ArrayBuffer] })
      assert.isTrue(Result.isSuccess(connection.upload(1, Lab.bytes("more"))))
      assert.include(Lab.text(...connection.takeOutput()), "more")
      assert.strictEqual(other.trySend(Lab.get)._tag, "Accepted")
      assert.isAbove(Lab.text(...other.takeOutput()).length, 30)
    })

    it("shares with nobody what stands around a large part of an upload", () => {
      const engine = Result.getOrThrow(make())
      const written = (): string => {
        const connection = engine.open()
        connection.trySend({ ...Lab.get, method: "POST", body: { bytes: undefined } })
        connection.takeOutput()
        assert.isTrue(Result.isSuccess(connection.upload(1, new Uint8Array(20_000))))
        const pieces = connection.takeOutput()
        const text = Lab.text(...pieces)
        for (const buffer of new Set(pieces.map(({ buffer }) => buffer as ArrayBuffer))) {
          structuredClone(buffer, { transfer: [buffer] })
        }
        return text
      }
      const first = written()
      assert.isAbove(first.length, 20_000)
      assert.strictEqual(written(), first)
    })

    it("refuses an upload that is no bytes, and trailers that are no list", () => {
      for (const value of odd) {
        const connection = open()
        connection.trySend({ ...Lab.get, method: "POST", body: { bytes: undefined } })
        connection.takeOutput()
        const upload = connection.upload(1, value as Uint8Array)
        assert.deepInclude(Result.getOrThrow(Result.flip(upload)), { field: "upload", _tag: "InvalidRequest" })
        const isFit = value === undefined || fits["fields"]!(value)
        assert.strictEqual(Result.isSuccess(connection.finish(1, value as Fields)), isFit, String(value))
        assert.strictEqual(connection.takeOutput().length, isFit ? 1 : 0)
      }
    })
  })
}
