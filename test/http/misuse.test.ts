/** What no type would let through, from callers without types: refused as such, with nothing written, and never thrown. */
import { assert, describe, it } from "vitest"
import * as Result from "effect/Result"
import type { EngineConnection, Exchange } from "../../core/http/HttpEngine.ts"
import * as Http1 from "../../core/http/Http1.ts"
import { ranges as http1 } from "../../core/http/Http1Limits.ts"
import * as Http2 from "../../core/http/Http2.ts"
import { ranges as http2 } from "../../core/http/Http2Limits.ts"
import type { Fields, HttpRequest } from "../../core/http/HttpMessage.ts"
import { InvalidRequest } from "../../core/Refusal.ts"
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

/** What a refusal shows of a value whose type is wrong. */
const shown = (value: unknown): unknown => value === null ? null : `<${typeof value}>`

/** Without a value where none is shown. */
type Refused = readonly [field: string, rule: string, value?: unknown]

const text = (part: string, rule: string, fits: ReadonlyArray<unknown> = []) => (value: unknown): Refused | undefined =>
  fits.includes(value) ? undefined : typeof value === "string" ? [part, rule] : [part, "text", shown(value)]

/** Of each part of a request, how a value is refused; undefined where it fits. */
const parts: Readonly<Record<keyof HttpRequest, (value: unknown) => Refused | undefined>> = {
  method: text("method", "a token in capitals"),
  scheme: text("scheme", "http or https"),
  authority: text("authority", "host or host:port", ["text"]),
  path: text("path", "from / on, * with OPTIONS, empty with CONNECT"),
  protocol: text("protocol", "a token, and with CONNECT", [undefined]),
  fields: (value) => {
    if (!Array.isArray(value) || ![...value].every(Array.isArray)) {
      return ["fields", "a list of names and values", shown(value)]
    }
    return value.length > 0 ? ["field", "two texts", shown(value[0][1])] : undefined
  },
  body: (value) =>
    value === undefined ? undefined : ["body", "a Uint8Array that was not transferred, or an upload", shown(value)],
}

const protocols: Readonly<Record<string, readonly [() => EngineConnection, typeof Http1.make | typeof Http2.make]>> = {
  "HTTP/1.1": [Lab.open, Http1.make],
  "HTTP/2": [Lab2.open, Http2.make],
}

const limits: Readonly<Record<string, object>> = { "HTTP/1.1": http1, "HTTP/2": http2 }

for (const [protocol, [open, make]] of Object.entries(protocols)) {
  describe(protocol, () => {
    /** How a request is refused, with nothing written. */
    const refused = (request: unknown): Refused | undefined => {
      const connection = open()
      const sent = connection.trySend(request as HttpRequest)
      if (sent._tag === "Accepted") return undefined
      assert.deepStrictEqual([connection.takeOutput(), connection.room > 0], [[], true])
      if (sent._tag === "Unsent") return assert.fail(sent.why)
      const { field, rule, value } = sent.error
      const isShown = "value" in sent.error
      assert.strictEqual(sent.error.message.includes(", got "), isShown)
      return isShown ? [field, rule, value] : [field, rule]
    }

    for (const [part, rule] of Object.entries(parts)) {
      it(`refuses what is no ${part}, with the rule and the value`, () => {
        const method = part === "body" ? "POST" : "GET"
        for (const value of odd) {
          assert.deepStrictEqual(refused({ ...Lab.get, method, [part]: value }), rule(value), String(value))
        }
      })
    }

    it("asks for a port with CONNECT, up to the last there is", () => {
      const connect = (authority: string): Refused | undefined => refused({ ...Lab.connect, authority })
      assert.deepStrictEqual(connect("example.com"), ["authority", "host:port"])
      assert.deepStrictEqual([connect("example.com:65535"), connect("[::1]:1")], [undefined, undefined])
    })

    it("refuses what is no request", () => {
      for (const value of odd) {
        const [field, rule, shows] = refused(value)!
        if (typeof value !== "object" || value === null) {
          assert.deepStrictEqual([field, rule, shows], ["request", "an object", shown(value)])
        } else assert.deepStrictEqual([field, rule, shows], ["method", "text", "<undefined>"])
      }
    })

    it("refuses options that are none, each of them, and a name that is none", () => {
      const why = (options: unknown): Refused | undefined => {
        const made = make(options as Http1.Options)
        if (Result.isSuccess(made)) return undefined
        const { limit, rule, value } = made.failure
        return [limit, rule, value]
      }
      for (const value of odd) {
        // What an error keeps of it is the matter of all systems.
        const kept = new InvalidRequest({ field: "", rule: "", value }).value
        const isObject = typeof value === "object" && value !== null
        if (!isObject && value !== undefined) assert.deepStrictEqual(why(value), ["options", "an object", kept])
        assert.deepStrictEqual(
          why({ latin1: value }),
          value === undefined || typeof value === "function" ? undefined : ["latin1", "a function", kept],
        )
        for (const [name, [min, max]] of Object.entries(limits[protocol]!)) {
          const rule = `a whole number from ${min} to ${max}`
          const isFit = value === undefined || value === min
          assert.deepStrictEqual(why({ [name]: value }), isFit ? undefined : [name, rule, kept])
        }
        const rule = `one of the options ${Object.keys(limits[protocol]!).join(", ")}`
        assert.deepStrictEqual(why({ maxHeaders: value }), ["maxHeaders", rule, kept])
      }
    })

    it("ends a connection that is fed what are no bytes, and tells whose fault it is", () => {
      for (const value of [...odd, new Uint8ClampedArray(2), Object.create(Uint8Array.prototype), Lab.lost("gone")]) {
        const connection = open()
        connection.trySend(Lab.get)
        const error = { field: "received", rule: "a Uint8Array that was not transferred", value: shown(value) }
        const [failed, retired, ...rest] = connection.receive(value as Uint8Array)
        assert.deepInclude(failed, { _tag: "Failed", exchange: 1 })
        assert.deepInclude(retired, { _tag: "Retired", why: "cut" })
        for (const event of [failed, retired]) {
          assert.deepInclude(event?._tag === "Failed" || event?._tag === "Retired" ? event.error : undefined, error)
        }
        assert.deepStrictEqual([...rest, ...connection.takeOutput(), connection.room], [0])
        assert.deepStrictEqual(connection.receive(value as Uint8Array), [])
      }
    })

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

    it("ends where what was written beside what was transferred is not there any more, and says so", () => {
      const connection = open()
      connection.trySend({ ...Lab.get, method: "POST", body: { bytes: undefined } })
      const pieces = connection.takeOutput()
      connection.upload(1, Lab.bytes("more"))
      for (const { buffer } of pieces) structuredClone(buffer, { transfer: [buffer as ArrayBuffer] })
      assert.isTrue(Result.isSuccess(connection.upload(1, Lab.bytes("and more"))))
      assert.deepStrictEqual(connection.takeOutput(), [])
      const [failed, retired, ...rest] = connection.receive(new Uint8Array(0))
      assert.deepInclude(failed?._tag === "Failed" && failed.error, {
        field: "body",
        rule: "left alone until it is written",
      })
      assert.deepInclude(retired, { _tag: "Retired", why: "cut" })
      assert.deepStrictEqual([rest, connection.room, connection.trySend(Lab.get)._tag], [[], 0, "Unsent"])
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

    it("knows of no exchange by what is none, whether one is under way, none is, or nothing is any more", () => {
      const begin = (): EngineConnection => {
        const connection = open()
        connection.trySend({ ...Lab.get, method: "POST", body: { bytes: undefined } })
        connection.takeOutput()
        return connection
      }
      const over = begin()
      over.closed("reset")
      for (const connection of [open(), begin(), over]) {
        connection.takeOutput()
        for (const value of odd) {
          const exchange = value as Exchange
          assert.isTrue(Result.isFailure(connection.upload(exchange, new Uint8Array(1))))
          assert.isTrue(Result.isFailure(connection.finish(exchange)))
          assert.deepStrictEqual([connection.isSendEnded(exchange), Lab.cancel(connection, exchange)], [
            false,
            "drained",
          ])
          connection.consumed(exchange, 1)
          connection.consumed(1, exchange)
        }
        assert.deepStrictEqual(connection.takeOutput(), [])
      }
    })

    it("refuses an upload that is no bytes, and trailers that are no list", () => {
      for (const value of odd) {
        const connection = open()
        connection.trySend({ ...Lab.get, method: "POST", body: { bytes: undefined } })
        connection.takeOutput()
        const upload = connection.upload(1, value as Uint8Array)
        const refusal = { _tag: "InvalidRequest" as const, field: "upload", value: shown(value) }
        assert.deepInclude(Result.getOrThrow(Result.flip(upload)), refusal)
        const isFit = value === undefined || parts.fields(value) === undefined
        assert.strictEqual(Result.isSuccess(connection.finish(1, value as Fields)), isFit, String(value))
        assert.strictEqual(connection.takeOutput().length, isFit ? 1 : 0)
      }
    })
  })
}
