/** HTTP/2 where one more or one less decides: values of settings, sizes of frames, and pieces that end within a frame. */
import { assert, describe, it } from "vitest"
import type { HttpRequest } from "../../core/http/HttpMessage.ts"
import * as Lab2 from "../support/http/Lab2.ts"

const {
  data,
  endHeaders,
  endStream,
  frame,
  get,
  headers,
  open,
  padded,
  priority,
  response,
  says,
  send,
  settings,
  Type,
} = Lab2

/** What the engine says of the SETTINGS that come one after another: the rule that is broken, if one is. */
const ruleOf = (...all: ReadonlyArray<ReadonlyArray<readonly [number, number]>>): string | undefined => {
  const connection = Lab2.engine().open()
  const told = says(connection, ...all.map((values) => settings(...values)))
  return told.map((line) => /fault (\S+)/.exec(line)?.[1]).find((rule) => rule !== undefined)
}

describe("a value of SETTINGS", () => {
  it("is refused where it is beyond its range, and taken at its end", () => {
    const cases: ReadonlyArray<readonly [number, number, string | undefined]> = [
      [2, 0, undefined],
      [2, 1, "settings-value"],
      [4, 0x7fff_ffff, undefined],
      [4, 0x8000_0000, "flow-control"],
      [5, 16_383, "settings-value"],
      [5, 16_384, undefined],
      [5, 16_777_215, undefined],
      [5, 16_777_216, "settings-value"],
      [8, 0, undefined],
      [8, 1, undefined],
      [8, 2, "settings-value"],
      [9, 0, undefined],
      [9, 1, undefined],
      [9, 2, "settings-value"],
    ]
    for (const [id, value, rule] of cases) assert.strictEqual(ruleOf([[id, value]]), rule, `${id}: ${value}`)
  })

  it("that may not be taken back is refused when it is, and that may not change when it does", () => {
    assert.strictEqual(ruleOf([[8, 1]], [[8, 1]]), undefined)
    assert.strictEqual(ruleOf([[8, 1]], [[8, 0]]), "settings-value")
    for (const [first, second, rule] of [[0, 0], [1, 1], [0, 1, "settings-value"], [1, 0, "settings-value"]] as const) {
      assert.strictEqual(ruleOf([[9, first]], [[9, second]]), rule, `${first}, then ${second}`)
    }
    assert.strictEqual(ruleOf([], [[9, 0]]), undefined)
    assert.strictEqual(ruleOf([], [[9, 1]]), "settings-value")
    assert.strictEqual(ruleOf([[9, 0], [9, 1]]), undefined)
  })

  it("of another kind is passed over, whatever its first byte is", () => {
    const unknown = frame(Type.settings, 0, 0, [1, 2, 0, 0, 0, 1])
    assert.deepStrictEqual(says(Lab2.engine().open(), unknown), says(Lab2.engine().open(), settings()))
  })
})

describe("the table of the encoder", () => {
  /** The bytes of the next header block. */
  const blockOf = (connection: ReturnType<typeof open>, request: HttpRequest = get): ReadonlyArray<number> => {
    send(connection, request)
    return [...Lab2.join(...connection.takeOutput())].slice(9)
  }

  it("says at its next block the least that the peer has kept since, and then what it keeps now", () => {
    const plain = blockOf(open())
    const sizes = (...values: ReadonlyArray<number>): ReadonlyArray<number> => {
      const connection = open()
      connection.receive(Lab2.join(...values.map((value) => settings([1, value]))))
      connection.takeOutput()
      const block = blockOf(connection)
      assert.deepStrictEqual(block.slice(-plain.length), plain)
      return block.slice(0, block.length - plain.length)
    }
    assert.deepStrictEqual(sizes(4_096), [])
    assert.deepStrictEqual(sizes(100_000), [])
    assert.deepStrictEqual(sizes(0), [0x20])
    assert.deepStrictEqual(sizes(30), [0x20 | 30])
    assert.deepStrictEqual(sizes(31), [0x3f, 0])
    assert.deepStrictEqual(sizes(0, 30), [0x20, 0x20 | 30])
    assert.deepStrictEqual(sizes(20, 10, 30), [0x20 | 10, 0x20 | 30])
    assert.deepStrictEqual(sizes(0, 4_096), [0x20, 0x3f, 0xe1, 0x1f])
  })

  it("does so where both sizes came in one frame", () => {
    const connection = open()
    connection.receive(settings([1, 7], [1, 9], [1, 8]))
    connection.takeOutput()
    assert.deepStrictEqual(blockOf(connection).slice(0, 2), [0x20 | 7, 0x20 | 8])
  })
})

describe("a frame", () => {
  it("that says it is longer than may be is refused, though the lower half of its length is short", () => {
    for (const length of [0x01_0005, 0x02_0005, 0x80_0005, 16_385]) {
      const connection = open()
      const told = says(connection, frame(77, 0, 0, "12345", length))
      assert.match(told.at(-1) ?? "", /^retired fault frame-size/, `${length}`)
    }
    assert.deepStrictEqual(says(open(), frame(77, 0, 0, new Uint8Array(16_384))), [])
  })

  it("that asks whether this side is there is answered, with what it holds", () => {
    const connection = open()
    connection.receive(Lab2.ping)
    assert.deepStrictEqual([...Lab2.join(...connection.takeOutput())], [...frame(Type.ping, 1, 0, "12345678")])
  })

  it("is read alike in pieces of any size, wherever they end", () => {
    const block = Lab2.block([":status", "200"], ["x", "y".repeat(40)])
    const sent = Lab2.join(
      settings([3, 100], [4, 70_000]),
      frame(Type.priority, 0, 1, [0, 0, 0, 3, 9]),
      frame(Type.headers, padded | priority, 1, [4, 0, 0, 0, 3, 9, ...block.slice(0, 7), 0, 0, 0, 0]),
      frame(Type.continuation, 0, 1),
      frame(Type.continuation, 0, 1, block.slice(7, 20)),
      frame(Type.continuation, endHeaders, 1, block.slice(20)),
      frame(77, 255, 0, "unknown"),
      data(1, "first"),
      frame(Type.data, padded, 1, [3, ...Lab2.block().slice(0), 1, 2, 3, 4, 5, 0, 0, 0]),
      Lab2.ping,
      response(3, 404, [["content-length", "3"]]),
      data(3, "abc", endStream),
      frame(Type.data, padded | endStream, 1, [0, 7]),
      frame(Type.windowUpdate, 0, 0, [0, 1, 0, 0]),
      headers(5, [[":status", "204"]], endStream),
    )
    const read = (size: number): readonly [ReadonlyArray<string>, ReadonlyArray<string>] => {
      const connection = open()
      for (let i = 0; i < 3; i++) Lab2.ask(connection)
      const events = []
      for (let at = 0; at < sent.length; at += size) events.push(...connection.receive(sent.slice(at, at + size)))
      return [Lab2.told(events), Lab2.written(connection)]
    }
    const whole = read(sent.length)
    assert.deepStrictEqual([whole[0].at(-1), whole[1].length > 1], ["5: end", true])
    for (let size = 1; size <= 40; size++) assert.deepStrictEqual(read(size), whole, `pieces of ${size}`)
  })
})
