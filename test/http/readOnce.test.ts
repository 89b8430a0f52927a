/** What a caller gives is read once: what answers otherwise the second time, or changes while it is read, changes nothing. */
import { assert, describe, it } from "vitest"
import * as Result from "effect/Result"
import type { EngineConnection } from "../../core/http/HttpEngine.ts"
import type { Fields, HttpRequest } from "../../core/http/HttpMessage.ts"
import * as Lab from "../support/http/Lab.ts"
import * as Lab2 from "../support/http/Lab2.ts"

const protocols: Readonly<Record<string, () => EngineConnection>> = { "HTTP/1.1": Lab.open, "HTTP/2": Lab2.open }

const post: HttpRequest = {
  ...Lab.get,
  method: "POST",
  path: "/in",
  fields: [["x-one", "1"], ["x-two", "2"]],
  body: Lab.bytes("hello"),
}

const evil = "x\r\nevil: 1\r\n\r\nGET /evil HTTP/1.1\r\n"

/** What would do harm in the place of each part. */
const second: Readonly<Record<keyof HttpRequest, unknown>> = {
  method: evil,
  scheme: evil,
  authority: evil,
  path: evil,
  fields: [["transfer-encoding", "chunked"], [evil, evil]],
  body: Lab.bytes("longer than hello"),
  protocol: "websocket",
}

/** The value on the first reading, something else from then on; `reads` counts. */
const changing = (target: object, name: PropertyKey, first: unknown, then: unknown, reads: Map<PropertyKey, number>) =>
  Object.defineProperty(target, name, {
    enumerable: true,
    configurable: true,
    get: () => {
      const before = reads.get(name) ?? 0
      reads.set(name, before + 1)
      return before === 0 ? first : then
    },
  })

/** All that a connection writes for a request, and what it said of it. */
const written = (connection: EngineConnection, request: HttpRequest): readonly [string, string] => [
  connection.trySend(request)._tag,
  Lab.text(...connection.takeOutput()),
]

for (const [protocol, open] of Object.entries(protocols)) {
  describe(protocol, () => {
    const expected = written(open(), post)
    const same = (request: HttpRequest, what: string): void =>
      assert.deepStrictEqual(written(open(), request), expected, what)

    it("reads each part of a request once", () => {
      assert.strictEqual(expected[0], "Accepted")
      for (const part of Object.keys(second) as Array<keyof HttpRequest>) {
        const reads = new Map<PropertyKey, number>()
        same(changing({ ...post }, part, post[part], second[part], reads) as HttpRequest, part)
        assert.deepStrictEqual([...reads], [[part, 1]])
      }
    })

    it("reads each field once, and the list of them", () => {
      const reads = new Map<PropertyKey, number>()
      const list = new Proxy(post.fields as Array<readonly [string, string]>, {
        get: (target, name) => {
          reads.set(name, (reads.get(name) ?? 0) + 1)
          return reads.get(name) === 1 ? Reflect.get(target, name) : [evil, evil]
        },
      })
      same({ ...post, fields: list }, "a list")
      assert.deepStrictEqual([...reads].toSorted(), [["0", 1], ["1", 1], ["length", 1]])
      for (const at of [0, 1]) {
        const counts = new Map<PropertyKey, number>()
        const field = changing(["x-one", "1"], at, post.fields[0]![at], evil, counts) as unknown as [string, string]
        same({ ...post, fields: [field, post.fields[1]!] }, `part ${at} of a field`)
        assert.deepStrictEqual([...counts.values()], [1])
      }
    })

    it("takes a list of fields as long as it is when it is begun, and by its places alone", () => {
      const growing: Array<readonly [string, string]> = [...post.fields]
      Object.defineProperty(growing, 0, {
        get: () => {
          growing.push([evil, evil])
          return post.fields[0]
        },
      })
      same({ ...post, fields: growing }, "one that grows")
      const iterated = [...post.fields]
      iterated[Symbol.iterator] = function* () {
        yield [evil, evil]
      } as never
      same({ ...post, fields: iterated }, "one that iterates over others")
      const shrinking: Array<readonly [string, string]> = [...post.fields]
      Object.defineProperty(shrinking, 0, {
        configurable: true,
        get: () => {
          shrinking.length = 1
          return post.fields[0]
        },
      })
      assert.deepStrictEqual(written(open(), { ...post, fields: shrinking })[0], "Malformed")
    })

    it("takes bytes for what they are, and not for what they say of themselves", () => {
      for (const lie of ["length", "byteLength", "byteOffset", "buffer", "subarray", "slice", "constructor"]) {
        for (const value of [3, 9, () => Lab.bytes(evil), evil]) {
          const body = Object.defineProperty(Lab.bytes("hello"), lie, { get: () => value })
          same({ ...post, body }, `${lie} is ${value}`)
        }
      }
      class Liar extends Uint8Array {
        override get length(): never {
          return 2 as never
        }
        override subarray(): never {
          return Lab.bytes(evil) as never
        }
        static get [Symbol.species]() {
          return Array
        }
      }
      same({ ...post, body: new Liar(Lab.bytes("hello")) }, "a class of its own")
      const none = { ...post, body: Object.create(Uint8Array.prototype) }
      assert.deepStrictEqual(written(open(), none), ["Malformed", written(open(), { ...post, path: "" })[1]])
    })

    it("takes bytes of an upload so, too, and reads its length once", () => {
      const reads = new Map<PropertyKey, number>()
      const upload = changing({}, "bytes", 5, 9, reads) as { readonly bytes: number }
      const connection = open()
      assert.strictEqual(connection.trySend({ ...post, body: upload })._tag, "Accepted")
      assert.deepStrictEqual([...reads], [["bytes", 1]])
      const part = Object.defineProperty(Lab.bytes("hello"), "length", { get: () => 1 })
      assert.strictEqual(Result.getOrThrow(connection.upload(1, part)), 5)
      assert.isTrue(Lab.text(...connection.takeOutput()).endsWith("hello"))
      assert.isTrue(connection.isSendEnded(1))
    })

    it("reads trailers once, each of them", () => {
      const finished = (trailers: Fields): string => {
        const connection = open()
        connection.trySend({ ...post, body: { bytes: undefined } })
        connection.takeOutput()
        assert.isTrue(Result.isSuccess(connection.finish(1, trailers)))
        return Lab.text(...connection.takeOutput())
      }
      const plain = finished([["x-sum", "1"]])
      for (const [at, value] of ["x-sum", "1"].entries()) {
        const field = changing(["x-sum", "1"], at, value, evil, new Map()) as unknown as [string, string]
        assert.strictEqual(finished([field]), plain)
      }
      const list = changing([["x-sum", "1"]], 0, ["x-sum", "1"], [evil, evil], new Map()) as unknown as Fields
      assert.strictEqual(finished(list), plain)
    })

    it("begins what a request begins while it is read ahead of that request", () => {
      const connection = open()
      const inner: Array<string> = []
      const request = Object.defineProperty({ ...Lab.get }, "path", {
        get: () => {
          inner.push(connection.trySend({ ...Lab.get, path: "/inner" })._tag)
          return "/outer"
        },
      })
      const sent = connection.trySend(request)
      // HTTP/1.1 has one exchange at a time, and that is the inner one.
      assert.deepStrictEqual([inner, sent._tag], [["Accepted"], protocol === "HTTP/2" ? "Accepted" : "Unsent"])
      if (sent._tag === "Accepted") assert.strictEqual(sent.exchange, 3)
      else assert.strictEqual(Lab.text(...connection.takeOutput()), "GET /inner HTTP/1.1\r\nhost: example.com\r\n\r\n")
    })

    it("ends nothing twice, though trailers that are read end it first", () => {
      for (const first of ["finish", "cancel"] as const) {
        const connection = open()
        connection.trySend({ ...post, body: { bytes: undefined } })
        const trailers = Object.defineProperty([["x-sum", "1"]], 0, {
          get: () => {
            connection[first](1)
            return ["x-sum", "1"]
          },
        }) as unknown as Fields
        const late = connection.finish(1, trailers)
        assert.strictEqual(Result.isFailure(late) ? late.failure._tag : "taken", "ExchangeOver")
        assert.notInclude(Lab.text(...connection.takeOutput()), "x-sum")
      }
    })

    it("hands on what reading throws, and nothing has changed", () => {
      const connection = open()
      for (const part of Object.keys(second)) {
        const request = Object.defineProperty({ ...post }, part, {
          get: () => {
            throw new Error(part)
          },
        })
        assert.throws(() => connection.trySend(request), part)
      }
      assert.deepStrictEqual(written(connection, post), expected)
    })

    it("counts nothing that is no number as consumed", () => {
      const connection = open()
      connection.trySend({ ...post, body: { bytes: undefined } })
      connection.takeOutput()
      const odd = [5n, "7", { valueOf: () => connection.finish(1) }, null, [], () => 7] as ReadonlyArray<
        unknown
      > as ReadonlyArray<never>
      for (const each of odd) connection.consumed(1, each)
      assert.isFalse(connection.isSendEnded(1))
    })
  })
}
