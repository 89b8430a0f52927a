/** What an HTTP/2 peer may send, a row a rule: what is read, what fails one stream, and what ends the connection. */
import { assert, describe, it } from "vitest"
import type { HttpRequest } from "../../core/http/HttpMessage.ts"
import { connections, type Sent, streams } from "../support/http/Broken2.ts"
import * as Lab from "../support/http/Lab.ts"
import * as Lab2 from "../support/http/Lab2.ts"

const { data, endHeaders, endStream, frame, headers, padded, priority, reset, response, settings, Type, windowUpdate } =
  Lab2
const ok = response(1, 200)
const whole = response(1, 200, [], endStream)
const length = (value: string): readonly [string, string] => ["content-length", value]

const codes: Readonly<Record<string, number>> = { "window-overflow": 3 }

describe("a rule of a stream fails it and leaves the others:", () => {
  for (const [title, sent, rule] of streams) {
    it(`${title}: ${rule}`, () => {
      const connection = Lab2.asked({}, [Lab2.get, Lab2.get])
      const before = Lab2.says(connection, ...sent.slice(0, -1))
      const at = Lab2.settings().length + sent.slice(0, -1).reduce((bytes, each) => bytes + each.length, 0)
      assert.isFalse(before.some((line) => line.includes("failed")))
      const events = connection.receive(sent.at(-1)!)
      assert.deepStrictEqual(Lab2.told(events.slice(-1)), [`1: failed ${rule} ${at}`])
      const [last] = events.slice(-1)
      assert.deepInclude({ ...(last?._tag === "Failed" ? last.error : {}) }, { scope: "stream", protocol: "h2" })
      assert.deepStrictEqual(Lab2.written(connection), [`reset 1 ${codes[rule.split(" ")[0]!] ?? 1}`])
      assert.deepStrictEqual(Lab2.says(connection, data(1, "late"), response(3, 200, [], endStream)), [
        "3: 200 0",
        "3: end",
      ])
      assert.deepStrictEqual([connection.isRetired, connection.room], [false, 1024])
    })
  }
})

describe("a rule of the connection ends it, and fails what is left:", () => {
  for (const [title, sent, rule, code] of connections) {
    it(`${title}: ${rule}`, () => {
      const connection = Lab2.asked({}, [Lab2.get, Lab2.get])
      Lab2.says(connection, ...sent.slice(0, -1))
      const at = Lab2.settings().length + sent.slice(0, -1).reduce((bytes, each) => bytes + each.length, 0)
      const events = connection.receive(Lab2.join(sent.at(-1)!, response(3, 200, [], endStream)))
      const goneBefore = /GOAWAY that/.test(title)
      assert.deepStrictEqual(Lab2.told(events).slice(goneBefore ? -1 : -2), [
        `${goneBefore ? 1 : 3}: failed ${rule} ${at}`,
        ...goneBefore ? [] : [`retired fault ${rule} ${at}`],
      ])
      assert.strictEqual(Lab2.written(connection).at(-1), `goaway 0 ${code}`)
      assert.deepStrictEqual([connection.isRetired, connection.room, connection.retainedBytes], [true, 0, 0])
      assert.deepStrictEqual([connection.receive(ok), connection.closed("reset")], [[], []])
      assert.deepStrictEqual(connection.takeOutput(), [])
    })
  }

  it("anything but SETTINGS as the first frame: preface", () => {
    for (
      const first of [
        Lab2.ping,
        Lab2.settingsAck,
        Lab.bytes("HTTP/1.1 400 Bad Request\r\n\r\n"),
        Lab.bytes("\x15\x03\x03\0\x02\x02\x50..."),
      ]
    ) {
      assert.deepStrictEqual(Lab2.says(Lab2.open({}, new Uint8Array(0)), first), ["retired fault preface preface 0"])
    }
  })
})

const from = (request: HttpRequest, ...sent: Sent): ReadonlyArray<string> =>
  Lab2.says(Lab2.asked({}, [request]), ...sent)
const { get } = Lab2

describe("byte by byte it says the same:", () => {
  for (const [title, sent] of [...streams, ...connections]) {
    it(title, () => {
      const [whole, cut] = [Lab2.asked({}, [get, get]), Lab2.asked({}, [get, get])]
      const bytes = Lab2.join(...sent, response(3, 200, [], endStream))
      const events = [...bytes].flatMap((byte) => cut.receive(Uint8Array.of(byte)))
      assert.deepStrictEqual(Lab2.told(events), Lab2.told(whole.receive(bytes)))
      assert.deepStrictEqual(Lab2.written(cut), Lab2.written(whole))
    })
  }
})

describe("what is read is", () => {
  it("a head and an end in one frame", () => assert.deepStrictEqual(from(get, whole), ["1: 200 0", "1: end"]))

  it("informational heads, a head, data and trailers", () => {
    const all = [
      response(1, 100),
      response(1, 103, [["link", "</a>"]]),
      response(1, 200, [length("4"), ["x", "\xe9"]]),
      data(1, "ab"),
      data(1, ""),
      data(1, "cd"),
      headers(1, [["x-sum", "1"], ["x-sum", "2"]], endStream),
    ]
    assert.deepStrictEqual(from(get, ...all), [
      "1: 100",
      "1: 103",
      "1: 200 4",
      "1: data abcd",
      "1: end x-sum=1 x-sum=2",
    ])
  })

  it("a response to HEAD, 204 and 304, whose lengths are not of a body", () => {
    for (const [request, status] of [[{ ...get, method: "HEAD" }, 200], [get, 304]] as const) {
      assert.deepStrictEqual(from(request, response(1, status, [length("5")], endStream)), [`1: ${status} 0`, "1: end"])
      assert.deepStrictEqual(from(request, response(1, status, [length("5")]), data(1, "", endStream)), [
        `1: ${status} 0`,
        "1: end",
      ])
    }
    assert.deepStrictEqual(from(get, response(1, 204, [length("0")], endStream)), ["1: 204 0", "1: end"])
  })

  it("padding, priorities, unknown frames and unknown settings, of which nothing is told", () => {
    const heads = frame(Type.headers, padded | priority | endHeaders, 1, [
      2,
      ...Lab2.uint32(0x8000_0003),
      7,
      ...Lab2.block([":status", "200"]),
      0,
      0,
    ])
    const sent = [
      frame(Type.priority, 0, 1, [0, 0, 0, 0, 9]),
      frame(Type.priority, 0, 1, [0, 0, 0, 1, 9]),
      frame(Type.priority, 0, 99, [0, 0, 0, 0, 9]),
      frame(77, 255, 1, "what"),
      frame(0x0a, 0, 0, "altsvc"),
      settings([77, 1], [0x9a, 5]),
      heads,
      frame(Type.data, padded, 1, "\x03body\0\0\0"),
      frame(Type.data, padded | endStream, 1, "\x02\0\0"),
    ]
    assert.deepStrictEqual(from(get, ...sent), ["1: 200 ?", "1: data body", "1: end"])
  })

  it("a block in as many frames as it comes in, an empty one among them", () => {
    const block = Lab2.block([":status", "200"], ["x", "y"])
    const sent = [
      frame(Type.headers, endStream, 1, block.slice(0, 3)),
      frame(Type.continuation, 0, 1),
      frame(Type.continuation, 0, 1, block.slice(3, 9)),
      frame(Type.continuation, endHeaders, 1, block.slice(9)),
    ]
    assert.deepStrictEqual(from(get, ...sent), ["1: 200 0", "1: end"])
  })

  it("streams whose frames come in any order", () => {
    const connection = Lab2.asked({}, [get, get, get])
    const sent = [
      response(5, 200),
      ok,
      data(5, "five"),
      response(3, 404, [], endStream),
      data(1, "one", endStream),
      data(5, "", endStream),
    ]
    assert.deepStrictEqual(Lab2.says(connection, ...sent), [
      "5: 200 ?",
      "1: 200 ?",
      "5: data five",
      "3: 404 0",
      "3: end",
      "1: data one",
      "1: end",
      "5: end",
    ])
  })

  it("late frames of a stream that is over: its reset, its window, its priority", () => {
    assert.deepStrictEqual(from(get, whole, reset(1, 0), windowUpdate(1, 5), windowUpdate(1, 0)), [
      "1: 200 0",
      "1: end",
    ])
  })
})
