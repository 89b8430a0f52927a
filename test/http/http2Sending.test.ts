/** What own calls of HTTP/2 come to: the flags of long blocks, trailers that a peer reads, parts of nothing, and what pays. */
import { assert, describe, it } from "vitest"
import * as Result from "effect/Result"
import type { EngineConnection } from "../../core/http/HttpEngine.ts"
import type { Fields, HttpRequest } from "../../core/http/HttpMessage.ts"
import * as Lab from "../support/http/Lab.ts"
import * as Lab2 from "../support/http/Lab2.ts"

const { ask, data, endHeaders, endStream, frame, get, open, padded, ping, response, says, send, settings, Type } = Lab2
const post: HttpRequest = { ...get, method: "POST", body: { bytes: undefined } }
const refusal = (connection: EngineConnection, trailers: Fields): readonly [string, string] | undefined => {
  const answer = connection.finish(1, trailers)
  if (Result.isSuccess(answer)) return undefined
  const error = answer.failure
  return error._tag === "InvalidRequest" ? [error.field, error.rule] : assert.fail(error._tag)
}

it("a connection begins with the preface, to the letter", () => {
  const [first] = Lab2.engine().open().takeOutput()
  assert.strictEqual(Lab.text(first!.subarray(0, 24)), "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
})

describe("a block that is longer than a frame", () => {
  /** The frames of what came out: type, flags, length. */
  const frames = (connection: EngineConnection): ReadonlyArray<readonly [number, number, number]> => {
    const bytes = Lab2.join(...connection.takeOutput())
    const all: Array<readonly [number, number, number]> = []
    for (let at = 0; at < bytes.length;) {
      const length = (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!
      all.push([bytes[at + 3]!, bytes[at + 4]!, length])
      at += 9 + length
    }
    return all
  }
  // Its code is longer than it is, so that it goes out as it is.
  const long: Fields = [["x", "~".repeat(40_000)]]

  for (const [method, body, end] of [["GET", undefined, endStream], ["POST", { bytes: undefined }, 0]] as const) {
    it(`says in its first frame whether the stream ends, and in its last that the block does: ${method}`, () => {
      const connection = open()
      send(connection, { ...get, method, body, fields: long })
      const all = frames(connection)
      assert.deepStrictEqual(all.map(([type, flags]) => [type, flags]), [
        [Type.headers, end],
        [Type.continuation, 0],
        [Type.continuation, endHeaders],
      ])
      assert.deepStrictEqual(all.slice(0, 2).map(([, , length]) => length), [16_384, 16_384])
    })
  }

  it("is cut to the byte, with no frame of nothing behind it", () => {
    const sent = (length: number): ReadonlyArray<readonly [number, number, number]> => {
      const connection = open()
      send(connection, { ...get, fields: [["x", "~".repeat(length)]] })
      return frames(connection)
    }
    /** Frames of a block of so many bytes; what is around the value grows with the length of that. */
    const block = (bytes: number): ReadonlyArray<readonly [number, number, number]> =>
      sent(2 * bytes - 100 - sent(bytes - 100).reduce((sum, [, , length]) => sum + length, 0))
    const first = [Type.headers, endStream, 16_384] as const
    assert.deepStrictEqual(block(16_384), [[Type.headers, endStream | endHeaders, 16_384]])
    assert.deepStrictEqual(block(16_385), [first, [Type.continuation, endHeaders, 1]])
    assert.deepStrictEqual(block(32_768), [first, [Type.continuation, endHeaders, 16_384]])
  })
})

describe("trailers", () => {
  const two: Fields = [["x-sum", "1"], ["X-Other", "2"]]
  // Names and values, and 32 for each.
  const size = "x-sum1x-other2".length + 64

  it("go out all of them, in lower case", () => {
    const connection = open()
    ask(connection, post)
    assert.strictEqual(refusal(connection, two), undefined)
    assert.deepStrictEqual(Lab2.written(connection), ["headers 1 x-sum=1 x-other=2 end"])
  })

  it("are held to what the peer reads, and to the own limit, to the byte", () => {
    const limits: ReadonlyArray<readonly [() => EngineConnection, most: number]> = [
      [() => open({}, settings([6, 200])), 200],
      [() => open({ maxHeadBytes: 256 }, settings([6, 100_000])), 256],
    ]
    for (const [connect, most] of limits) {
      const refused = (bytes: number): readonly [string, string] | undefined => {
        const connection = connect()
        ask(connection, post)
        return refusal(connection, [...two, ["x", "y".repeat(bytes - size - 33)]])
      }
      assert.deepStrictEqual(refused(most), undefined)
      assert.deepStrictEqual(refused(most + 1), ["trailers", `at most ${most} bytes, with 32 a field`])
    }
  })

  it("are none with CONNECT", () => {
    const connection = open()
    ask(connection, { ...get, method: "CONNECT", authority: "example.com:443", path: "" })
    says(connection, response(1, 200))
    assert.deepStrictEqual(refusal(connection, [["x", "y"]]), ["trailers", "left out with CONNECT"])
    assert.strictEqual(refusal(connection, []), undefined)
    assert.deepStrictEqual(Lab2.written(connection), ["data 1  end"])
  })
})

it("a part of nothing changes nothing for one that waits", () => {
  const connection = open({}, settings([4, 10]))
  ask(connection, post)
  assert.strictEqual(Result.getOrThrow(connection.upload(1, new Uint8Array(20))), 10)
  assert.strictEqual(Result.getOrThrow(connection.upload(1, new Uint8Array(0))), 0)
  assert.deepStrictEqual(says(connection, Lab2.windowUpdate(1, 5)), ["1: writable"])
})

describe("what pays for frames that carry nothing", () => {
  const options = { maxIdleFrames: 100 }
  const wide = settings([4, 1_000_000])
  /** Whether the connection stands so many rounds of an exchange. */
  const stands = (round: (connection: EngineConnection) => void, first = wide): boolean => {
    const connection = open(options, first)
    ask(connection, post)
    says(connection, response(1, 200))
    for (let i = 0; i < 400 && !connection.isRetired; i++) {
      round(connection)
      connection.takeOutput()
    }
    return !connection.isRetired
  }
  const pings = (count: number): ReadonlyArray<Uint8Array> => Array.from({ length: count }, () => ping)
  const upload = (connection: EngineConnection, bytes: number): unknown => connection.upload(1, new Uint8Array(bytes))

  it("is a part of a single byte, either way", () => {
    assert.isTrue(stands((connection) => {
      upload(connection, 1)
      says(connection, ...pings(2))
    }))
    assert.isTrue(stands((connection) => {
      says(connection, data(1, "x"), ...pings(2))
      connection.consumed(1, 1)
    }))
  })

  it("is every 256 bytes of a larger one, either way", () => {
    assert.isTrue(stands((connection) => {
      upload(connection, 2_048)
      says(connection, Lab2.windowUpdate(0, 2_048), ...pings(8))
    }))
    assert.isTrue(stands((connection) => {
      says(connection, data(1, "x".repeat(2_048)), ...pings(8))
      connection.consumed(1, 2_048)
    }))
  })

  it("is no part of which nothing was taken", () => {
    assert.isFalse(stands((connection) => {
      upload(connection, 5)
      says(connection, ping)
    }, settings([4, 0])))
  })

  it("is what a block in many frames needs of its own", () => {
    const connection = open(options)
    const [first, ...rest] = [...Lab2.block([":status", "200"], ["x", "y".repeat(40)])]
    for (let i = 0; i < 20; i++) {
      const exchange = ask(connection)
      says(
        connection,
        frame(Type.headers, endStream, exchange, [first!]),
        ...rest.slice(0, 20).map((byte) => frame(Type.continuation, 0, exchange, [byte])),
        frame(Type.continuation, endHeaders, exchange, rest.slice(20)),
      )
    }
    assert.isFalse(connection.isRetired)
  })
})

it("the window of a stream is not opened by the padding of its last frame", () => {
  /** What is told of windows behind so many frames of padding, the last of which ends the stream or does not. */
  const told = (count: number, last: number): ReadonlyArray<string> => {
    const connection = open({ maxStreamWindowBytes: 65_535 })
    ask(connection)
    says(connection, response(1, 200))
    const payload = [255, ...new Uint8Array(255)]
    for (let i = 0; i < count; i++) {
      says(connection, frame(Type.data, padded | (i === count - 1 ? last : 0), 1, payload))
    }
    return Lab2.written(connection).filter((line) => line.startsWith("window 1 "))
  }
  const count = Array.from({ length: 200 }, (_, i) => i + 1).find((count) => told(count, 0).length > 0)
  assert.deepStrictEqual([told(count!, 0).length, told(count!, endStream).length], [1, 0])
})

it("what an unfinished frame and the table hold is told together", () => {
  const connection = open()
  ask(connection)
  says(connection, frame(Type.headers, endHeaders, 1, [0x88, 0x40, 1, 0x61, 1, 0x62]))
  const table = connection.retainedBytes
  assert.strictEqual(table, 34)
  connection.receive(frame(Type.headers, endHeaders, 1, new Uint8Array(300)).subarray(0, 200))
  assert.isAtLeast(connection.retainedBytes, table + 191)
})

it("nothing of a response comes behind its end, though its request goes on", () => {
  for (const late of [data(1, "late"), Lab2.headers(1, [["x", "y"]], endStream)]) {
    const connection = open()
    ask(connection, post)
    says(connection, response(1, 200, [], endStream))
    assert.match(says(connection, late).join(), /closed-stream/)
    assert.match(Lab2.written(connection).at(-1)!, / 5$/)
  }
})

it("a request that ends behind its response leaves its place at once", () => {
  const ends: ReadonlyArray<readonly [HttpRequest["body"], (connection: EngineConnection) => unknown]> = [
    [{ bytes: 4 }, (connection) => connection.upload(1, new Uint8Array(4))],
    [{ bytes: undefined }, (connection) => connection.finish(1)],
    [{ bytes: undefined }, (connection) => connection.finish(1, [["x", "y"]])],
  ]
  for (const [body, end] of ends) {
    const connection = open({ maxStreams: 1 })
    ask(connection, { ...post, body })
    says(connection, response(1, 200, [], endStream))
    assert.strictEqual(connection.room, 0)
    end(connection)
    assert.strictEqual(connection.room, 1)
  }
})

it("what a window has left behind a round of turns goes out in another round, a frame each", () => {
  const connection = open({}, settings([4, 10_000_000]))
  ask(connection, { ...post, body: new Uint8Array(65_535) })
  for (let i = 0; i < 3; i++) ask(connection, { ...post, body: new Uint8Array(1_000_000) })
  says(connection, Lab2.windowUpdate(0, 11 * 16_384))
  const frames = Lab2.written(connection).map((line) => line.replace(/^data (\d) 16384$/, "$1"))
  assert.deepStrictEqual(frames.toSorted(), ["3", "3", "3", "3", "5", "5", "5", "5", "7", "7", "7"])
})

it("one that gave less than it had waited to give waits no more", () => {
  const connection = open({}, settings([4, 1_000_000]))
  for (let i = 0; i < 2; i++) ask(connection, post)
  const upload = (exchange: number, bytes: number): number =>
    Result.getOrThrow(connection.upload(exchange, new Uint8Array(bytes)))
  assert.strictEqual(upload(1, 100_000), 65_535)
  assert.deepStrictEqual(says(connection, Lab2.windowUpdate(0, 100)), ["1: writable"])
  assert.strictEqual(upload(1, 50), 50)
  assert.deepStrictEqual(says(connection, Lab2.windowUpdate(0, 100)), [])
  assert.strictEqual(upload(3, 1_000), 150)
})
