/** What an HTTP/2 peer may send, a row a rule: what is read, what fails one stream, and what ends the connection. */
import { assert, describe, it } from "vitest"
import type { HttpRequest } from "../../core/http/HttpMessage.ts"
import * as Lab from "../support/http/Lab.ts"
import * as Lab2 from "../support/http/Lab2.ts"

const { data, endHeaders, endStream, frame, headers, padded, priority, reset, response, settings, Type, windowUpdate } =
  Lab2
const ok = response(1, 200)
const whole = response(1, 200, [], endStream)
const length = (value: string): readonly [string, string] => ["content-length", value]

/** What is sent in answer to two GETs, of which the second one stays. */
type Sent = ReadonlyArray<Uint8Array>
type Row = readonly [title: string, sent: Sent, rule: string]

const streams: ReadonlyArray<Row> = [
  ["no status", [headers(1, [["x", "y"]])], "pseudo-field headers"],
  ["an empty block", [headers(1, [])], "pseudo-field headers"],
  ["two statuses", [headers(1, [[":status", "200"], [":status", "200"]])], "pseudo-field headers"],
  ["a status behind a field", [headers(1, [["x", "y"], [":status", "200"]])], "pseudo-field headers"],
  ["a method", [response(1, 200, [[":method", "GET"]])], "pseudo-field headers"],
  ["a pseudo-field of no RFC", [response(1, 200, [[":x", "y"]])], "pseudo-field headers"],
  ["a status of two digits", [headers(1, [[":status", "99"]])], "status headers"],
  ["a status below 100", [headers(1, [[":status", "099"]])], "status headers"],
  ["a status of four digits", [headers(1, [[":status", "2000"]])], "status headers"],
  ["a status with a reason", [headers(1, [[":status", "200 OK"]])], "status headers"],
  ["a switch of protocols", [response(1, 101)], "status headers"],
  ["a name in capitals", [response(1, 200, [["X-Y", "z"]])], "field-name headers"],
  ["no name", [response(1, 200, [["", "z"]])], "field-name headers"],
  ["a name with a blank", [response(1, 200, [["x y", "z"]])], "field-name headers"],
  ["a name with a colon", [response(1, 200, [["x:y", "z"]])], "field-name headers"],
  ["a name beyond ASCII", [response(1, 200, [["x\xe9", "z"]])], "field-name headers"],
  ["NUL in a name", [response(1, 200, [["x\0", "z"]])], "field-name headers"],
  ["NUL in a value", [response(1, 200, [["x", "a\0b"]])], "control headers"],
  ["CR in a value", [response(1, 200, [["x", "a\rb"]])], "control headers"],
  ["LF in a value", [response(1, 200, [["x", "a\nb: c"]])], "control headers"],
  ["CR LF in a value", [response(1, 200, [["x", "a\r\nb: c"]])], "control headers"],
  ["DEL in a value", [response(1, 200, [["x", "\x7f"]])], "control headers"],
  ["a blank before a value", [response(1, 200, [["x", " y"]])], "blank headers"],
  ["a tab behind a value", [response(1, 200, [["x", "y\t"]])], "blank headers"],
  ...["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"].map((name): Row => [
    name,
    [response(1, 200, [[name, "x"]])],
    "connection-field headers",
  ]),
  ["a length with a sign", [response(1, 200, [length("+5")])], "content-length headers"],
  ["a length with a leading zero", [response(1, 200, [length("05")])], "content-length headers"],
  ["no length", [response(1, 200, [length("")])], "content-length headers"],
  ["two lengths that are one", [response(1, 200, [length("5"), length("5")])], "content-length headers"],
  ["a list of lengths", [response(1, 200, [length("5, 5")])], "content-length headers"],
  ["a length above 2^53 - 1", [response(1, 200, [length("9007199254740992")])], "content-length headers"],
  ["a length with 204", [response(1, 204, [length("5")])], "framed-without-body headers"],
  ["a length with 103", [response(1, 103, [length("5")])], "framed-without-body headers"],
  ["a length, and an end at once", [response(1, 200, [length("5")], endStream)], "body-length headers"],
  ["less than its length", [response(1, 200, [length("5")]), data(1, "hell", endStream)], "body-length data"],
  ["more than its length", [response(1, 200, [length("5")]), data(1, "hello!")], "body-length data"],
  ["more than its length in padding's frame", [
    response(1, 200, [length("1")]),
    frame(Type.data, padded, 1, "\x01ab\0"),
  ], "body-length data"],
  ["less than its length, and trailers", [
    response(1, 200, [length("5")]),
    data(1, "hell"),
    headers(1, [["x", "y"]], endStream),
  ], "body-length headers"],
  ["a body with 204", [response(1, 204), data(1, "x")], "body-length data"],
  ["a body with 304", [response(1, 304, [length("1")]), data(1, "x")], "body-length data"],
  ["a body ahead of its head", [data(1, "x")], "early-data data"],
  ["a body behind an informational head", [response(1, 100), data(1, "x")], "early-data data"],
  ["an empty end ahead of a head", [data(1, "", endStream)], "early-data data"],
  ["an end with an informational head", [response(1, 103, [], endStream)], "early-end headers"],
  ["trailers that do not end it", [ok, headers(1, [["x", "y"]])], "open-trailers headers"],
  ["a second final head", [ok, whole], "pseudo-field headers"],
  ["a status among trailers", [ok, headers(1, [[":status", "200"]], endStream)], "pseudo-field headers"],
  ["a length among trailers", [ok, headers(1, [length("0")], endStream)], "trailer-field headers"],
  ["a host among trailers", [ok, headers(1, [["host", "x"]], endStream)], "trailer-field headers"],
  ["connection among trailers", [ok, headers(1, [["connection", "x"]], endStream)], "connection-field headers"],
  ["a window of nothing", [windowUpdate(1, 0)], "window-increment window-update"],
  ["a window beyond 2^31 - 1", [windowUpdate(1, 0x7fff_ffff)], "window-overflow window-update"],
]

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

const cut = (type: number, flags: number, stream: number, bytes: number): Uint8Array =>
  frame(type, flags, stream, new Uint8Array(bytes))
const openBlock = frame(Type.headers, 0, 1, Lab2.block([":status", "200"]))

const connections: ReadonlyArray<readonly [...Row, code: number]> = [
  ["a frame beyond the limit", [frame(Type.data, 0, 1, [], 16_385)], "frame-size data", 6],
  ["PING of seven bytes", [cut(Type.ping, 0, 0, 7)], "frame-size ping", 6],
  ["WINDOW_UPDATE of five bytes", [cut(Type.windowUpdate, 0, 1, 5)], "frame-size window-update", 6],
  ["RST_STREAM of three bytes", [cut(Type.reset, 0, 1, 3)], "frame-size rst-stream", 6],
  ["PRIORITY of four bytes", [cut(Type.priority, 0, 1, 4)], "frame-size priority", 6],
  ["GOAWAY of seven bytes", [cut(Type.goAway, 0, 0, 7)], "frame-size goaway", 6],
  ["SETTINGS of five bytes", [cut(Type.settings, 0, 0, 5)], "frame-size settings", 6],
  ["an acknowledgement with a setting", [cut(Type.settings, 1, 0, 6)], "frame-size settings", 6],
  ["padded DATA without the length of its padding", [cut(Type.data, padded, 1, 0)], "frame-size data", 6],
  ["HEADERS too short for a priority", [cut(Type.headers, priority | endHeaders, 1, 4)], "frame-size headers", 6],
  ["DATA of no stream", [data(0, "x")], "frame-stream data", 1],
  ["HEADERS of no stream", [headers(0, [[":status", "200"]])], "frame-stream headers", 1],
  ["RST_STREAM of no stream", [reset(0, 8)], "frame-stream rst-stream", 1],
  ["PRIORITY of no stream", [cut(Type.priority, 0, 0, 5)], "frame-stream priority", 1],
  ["SETTINGS of a stream", [cut(Type.settings, 0, 1, 0)], "frame-stream settings", 1],
  ["PING of a stream", [cut(Type.ping, 0, 1, 8)], "frame-stream ping", 1],
  ["GOAWAY of a stream", [cut(Type.goAway, 0, 1, 8)], "frame-stream goaway", 1],
  ["DATA of a stream that was not opened", [data(5, "x")], "frame-stream data", 1],
  ["HEADERS of a stream that was not opened", [response(5, 200)], "frame-stream headers", 1],
  ["RST_STREAM of a stream that was not opened", [reset(5, 8)], "frame-stream rst-stream", 1],
  ["WINDOW_UPDATE of a stream that was not opened", [windowUpdate(5, 1)], "frame-stream window-update", 1],
  ["HEADERS of a stream of the peer's", [response(2, 200)], "frame-stream headers", 1],
  ["DATA behind an end", [whole, data(1, "x")], "closed-stream data", 5],
  ["HEADERS behind an end", [whole, response(1, 200)], "closed-stream headers", 5],
  ["DATA behind the peer's reset", [reset(1, 8), data(1, "x")], "closed-stream data", 5],
  ["HEADERS behind the peer's reset", [reset(1, 8), ok], "closed-stream headers", 5],
  ["PUSH_PROMISE", [frame(Type.push, endHeaders, 1, [0, 0, 0, 2])], "frame-type push-promise", 1],
  ["PRIORITY_UPDATE", [frame(Type.priorityUpdate, 0, 0, [0, 0, 0, 1])], "frame-type unknown", 1],
  ["padding longer than DATA", [frame(Type.data, padded, 1, "\x03ab")], "padding data", 1],
  ["padding longer than HEADERS", [frame(Type.headers, padded | endHeaders, 1, "\x03ab")], "padding headers", 1],
  ["CONTINUATION without a block", [frame(Type.continuation, endHeaders, 1)], "continuation continuation", 1],
  ["CONTINUATION behind a whole block", [ok, frame(Type.continuation, endHeaders, 1)], "continuation continuation", 1],
  ["CONTINUATION of another stream", [openBlock, frame(Type.continuation, 4, 3)], "continuation continuation", 1],
  ["DATA in a block", [openBlock, data(1, "x")], "continuation data", 1],
  ["PING in a block", [openBlock, Lab2.ping], "continuation ping", 1],
  ["an unknown frame in a block", [openBlock, frame(77, 0, 1)], "continuation unknown", 1],
  ["HEADERS in a block", [openBlock, ok], "continuation headers", 1],
  ["a setting to push", [settings([2, 1])], "settings-value settings", 1],
  ["a window of settings beyond 2^31 - 1", [settings([4, 0x8000_0000])], "flow-control settings", 3],
  [
    "windows that settings make overflow",
    [windowUpdate(1, 1_000), settings([4, 0x7fff_ffff])],
    "window-overflow settings",
    3,
  ],
  ["frames below 16,384", [settings([5, 16_383])], "settings-value settings", 1],
  ["frames beyond 2^24 - 1", [settings([5, 0x100_0000])], "settings-value settings", 1],
  ["a setting of CONNECT that is neither", [settings([8, 2])], "settings-value settings", 1],
  ["a setting of CONNECT that is taken back", [settings([8, 1]), settings([8, 0])], "settings-value settings", 1],
  ["a setting of priorities that changes", [settings([9, 1])], "settings-value settings", 1],
  ["an acknowledgement too much", [Lab2.settingsAck, Lab2.settingsAck], "unasked-ack settings", 1],
  ["an answer to no PING", [frame(Type.ping, 1, 0, "12345678")], "unasked-ack ping", 1],
  ["GOAWAY that takes back what it said", [Lab2.goAway(1, 0), Lab2.goAway(3, 0)], "last-stream goaway", 1],
  ["a window of nothing", [windowUpdate(0, 0)], "window-increment window-update", 1],
  ["a window beyond 2^31 - 1", [windowUpdate(0, 0x7fff_ffff)], "window-overflow window-update", 3],
  ["an index of no entry", [frame(Type.headers, endHeaders, 1, [0xbe])], "hpack-index headers", 9],
  ["a block that ends in a field", [frame(Type.headers, endHeaders, 1, [0x88, 0x40])], "hpack-cut headers", 9],
  ["a code that is none", [frame(Type.headers, endHeaders, 1, [0, 1, 0x78, 0x81, 0])], "hpack-huffman headers", 9],
  [
    "a table larger than announced",
    [frame(Type.headers, endHeaders, 1, [0x3f, 0xe2, 0x1f])],
    "hpack-table-size headers",
    9,
  ],
  [
    "an integer beyond 2^28",
    [frame(Type.headers, endHeaders, 1, [0xff, 255, 255, 255, 255, 1])],
    "hpack-integer headers",
    9,
  ],
]

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
