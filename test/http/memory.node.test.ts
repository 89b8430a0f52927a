/** What a hostile peer makes a connection keep, by the heap and not by what the connection says of itself. */
import { assert, describe, it } from "vitest"
import process from "node:process"
import { latin1 } from "../../adapters/shared/Latin1.ts"
import type { EngineConnection } from "../../core/http/HttpEngine.ts"
import * as Garbage from "../support/Garbage.ts"
import * as Lab from "../support/http/Lab.ts"
import * as Lab2 from "../support/http/Lab2.ts"

const connections = 50

/** Buffers are given back behind a turn of the loop. */
const used = async (): Promise<number> => {
  for (let turn = 0; turn < 3; turn++) {
    Garbage.collect()
    await new Promise((resolve) => setImmediate(resolve))
  }
  const { arrayBuffers, heapUsed } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

/** Bytes of the heap that one of many such connections takes. */
const bytesOf = async (make: () => EngineConnection): Promise<number> => {
  const warm = Array.from({ length: 20 }, make)
  warm.length = 0
  const before = await used()
  const all = Array.from({ length: connections }, make)
  const bytes = (await used() - before) / connections
  assert.strictEqual(all.length, connections)
  return bytes
}

/** What the peer adds to a connection that has asked. */
const added = async (
  asked: () => EngineConnection,
  hostile: (connection: EngineConnection) => void,
): Promise<number> =>
  await bytesOf(() => {
    const connection = asked()
    hostile(connection)
    assert.isFalse(connection.isRetired)
    return connection
  }) - await bytesOf(asked)

const http1 = (): EngineConnection => Lab.asked(Lab.get, { latin1 })
const http2 = (): EngineConnection => Lab2.asked({ latin1 })

const dripped = (text: string) => (connection: EngineConnection): void => {
  for (let at = 0; at < text.length; at += 1_000) connection.receive(Lab.bytes(text.slice(at, at + 1_000)))
}

describe("of HTTP/1.1: twice a head, and 64 bytes for each of its fields", () => {
  const stated = 2 * 65_536 + 64 * 256
  const heads: Readonly<Record<string, string>> = {
    "small fields": "x:\r\n".repeat(255),
    "large fields": `x: ${"y".repeat(250)}\r\n`.repeat(250),
    "one field": `x: ${"y".repeat(30_000)}`,
  }
  for (const [title, fields] of Object.entries(heads)) {
    it(`an unfinished head of ${title}`, async () => {
      const bytes = await added(http1, dripped(`HTTP/1.1 200 OK\r\n${fields}`))
      assert.isBelow(bytes, stated)
      assert.isAbove(bytes, fields.length)
    })
  }
})

describe("of HTTP/2: twice a frame and a block, and six times the table", () => {
  const stated = 2 * (16_384 + 65_536) + 6 * 4_096

  it("a table of the smallest entries, behind it an unfinished block, and in that an unfinished frame", async () => {
    const bytes = await added(http2, (connection) => {
      const entries = Array.from({ length: 124 }, (_, i) => [0x40, 1, 97 + (i % 26), 0])
      connection.receive(Lab2.frame(Lab2.Type.headers, Lab2.endHeaders, 1, [0x88, ...entries.flat()]))
      const part = new Uint8Array(16_384).fill(0x88)
      connection.receive(Lab2.frame(Lab2.Type.headers, Lab2.endStream, 1, part))
      for (let i = 0; i < 2; i++) connection.receive(Lab2.frame(Lab2.Type.continuation, 0, 1, part))
      const last = Lab2.frame(Lab2.Type.continuation, 0, 1, part)
      for (let at = 0; at < 16_300; at += 100) connection.receive(last.slice(at, at + 100))
    })
    assert.isBelow(bytes, stated)
    assert.isAbove(bytes, 3 * 16_384 + 16_300 + 4_096)
  })

  it("answers that nobody takes: 24 bytes for each of the frames that carry nothing", async () => {
    const bytes = await added(http2, (connection) => {
      for (let i = 0; i < 9_000; i++) connection.receive(Lab2.ping)
    })
    assert.isBelow(bytes, 24 * 10_000)
    assert.isAbove(bytes, 16 * 9_000)
  })
})

describe("of its own side HTTP/1.1 keeps nothing that was taken or that nobody may take any more", () => {
  const ended = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"
  const ends: Readonly<Record<string, (connection: EngineConnection) => void>> = {
    "while the response goes on": (connection) => {
      connection.takeOutput()
      connection.receive(Lab.bytes("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"))
    },
    "between two exchanges": (connection) => {
      connection.takeOutput()
      connection.receive(Lab.bytes(ended))
    },
    "behind the end of the connection": (connection) => void connection.closed("reset"),
    "behind a cancelled exchange": (connection) => void connection.cancel(1),
  }
  for (const [title, end] of Object.entries(ends)) {
    it(`a body, ${title}`, async () => {
      const connection = Lab.open({ latin1 })
      const kept = ((): WeakRef<Uint8Array> => {
        const body = new Uint8Array(1_000_000)
        connection.trySend({ ...Lab.get, method: "POST", body })
        return new WeakRef(body)
      })()
      end(connection)
      await used()
      assert.isTrue(kept.deref() === undefined)
      assert.isBoolean(connection.isRetired)
    })
  }
})

it("HTTP/1.1 keeps no piece that was read, nor what was told of it", async () => {
  const connection = http1()
  const kept = ((): ReadonlyArray<WeakRef<object>> => {
    const piece = Lab.bytes(`HTTP/1.1 200 OK\r\ncontent-length: 0\r\nx: ${"y".repeat(10_000)}\r\n\r\n`)
    const [event] = connection.receive(piece)
    return [new WeakRef(piece), new WeakRef(event?._tag === "Head" ? event.head.fields : assert.fail())]
  })()
  await used()
  assert.deepStrictEqual(kept.map((each) => each.deref()), [undefined, undefined])
  assert.strictEqual(connection.room, 1)
})

it("HTTP/2 keeps no head that was told", async () => {
  const connection = http2()
  const kept = ((): WeakRef<object> => {
    const [event] = connection.receive(Lab2.response(1, 200, [["x", "y".repeat(10_000)]]))
    return new WeakRef(event?._tag === "Head" ? event.head.fields : assert.fail())
  })()
  connection.closed("ended")
  await used()
  assert.isTrue(kept.deref() === undefined)
  assert.isTrue(connection.isRetired)
})

it("HTTP/2 keeps no record of an exchange that has ended behind a GOAWAY", async () => {
  const count = 10_000
  const ended = (): EngineConnection => {
    const connection = Lab2.asked({ latin1, maxStreams: count, maxStreamsAtFirst: count }, Array(count).fill(Lab2.get))
    connection.receive(Lab2.goAway(0x7fff_ffff, 0))
    for (let i = 0; i < count; i++) connection.receive(Lab2.frame(1, 5, 2 * i + 1, [0x88]))
    return connection
  }
  ended()
  const before = await used()
  const connection = ended()
  assert.isBelow((await used() - before) / count, 50)
  assert.deepStrictEqual(connection.closed("ended"), [])
})
