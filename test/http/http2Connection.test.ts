/** What an HTTP/2 connection certifies: unsent, accepted, sent, boundary, room, drained, cut, and how it goes away. */
import { assert, describe, it } from "vitest"
import * as Result from "effect/Result"
import type { HttpRequest } from "../../core/http/HttpMessage.ts"
import * as Lab from "../support/http/Lab.ts"
import * as Lab2 from "../support/http/Lab2.ts"

const { ask, data, endHeaders, endStream, frame, get, headers, open, response, says, send, settings, Type, written } =
  Lab2
const whole = (stream: number): Uint8Array => response(stream, 200, [], endStream)
const post: HttpRequest = { ...get, method: "POST", body: { bytes: undefined } }

describe("a connection begins", () => {
  it("with the preface, its settings, and the window of the connection", () => {
    assert.isTrue(Lab.text(...Lab2.engine().open().takeOutput()).startsWith("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
    assert.deepStrictEqual(written(Lab2.engine().open()), ["settings", "window 0 983041"])
  })

  it("and takes requests before the peer has said anything, as many as the option says", () => {
    const connection = Lab2.engine({ maxStreamsAtFirst: 2 }).open()
    assert.strictEqual(connection.room, 2)
    send(connection)
    send(connection)
    assert.deepInclude(connection.trySend(get), { _tag: "Unsent", why: "busy" })
    connection.receive(settings())
    assert.strictEqual(connection.room, 1_022)
  })

  it("and answers each SETTINGS once", () => {
    const connection = open()
    connection.receive(Lab2.join(settings([1, 100]), Lab2.settingsAck, settings()))
    assert.deepStrictEqual(written(connection), ["settings ack", "settings ack"])
  })
})

describe("a request is", () => {
  it("not answered before it was written: what comes then breaks the connection", () => {
    for (const frame of [whole(3), Lab2.windowUpdate(3, 1), Lab2.reset(3, 8)]) {
      const connection = Lab2.asked()
      send(connection)
      assert.match(says(connection, whole(1), frame).at(-1)!, /^retired fault frame-stream/)
    }
  })

  it("XT1 XT2: accepted under the number of its stream, one after another or all at a time", () => {
    const connection = open()
    for (let i = 0; i < 5; i++) {
      const exchange = ask(connection)
      assert.strictEqual(exchange, 2 * i + 1)
      assert.deepStrictEqual(says(connection, whole(exchange)), [`${exchange}: 200 0`, `${exchange}: end`])
    }
    const all = [ask(connection), ask(connection), ask(connection), ask(connection)]
    assert.deepStrictEqual([connection.room, says(connection, ...all.toReversed().map(whole)).length], [1_020, 8])
    assert.strictEqual(connection.room, 1_024)
  })

  it("written with its pseudo-fields first and its own fields in lower case", () => {
    const connection = open()
    send(connection, {
      ...get,
      path: "/a?b",
      fields: [["User-Agent", "x"], ["Host", "other.example"], ["TE", "trailers"]],
    })
    send(connection, { ...get, method: "POST", body: Lab.bytes("hi"), fields: [["content-length", "2"]] })
    send(connection, { ...get, method: "PUT" })
    send(connection, { ...post, body: { bytes: 0 } })
    assert.deepStrictEqual(written(connection), [
      "headers 1 :method=GET :authority=other.example :scheme=https :path=/a?b user-agent=x te=trailers end",
      "headers 3 :method=POST :authority=example.com :scheme=https :path=/ content-length=2",
      "data 3 hi end",
      "headers 5 :method=PUT :authority=example.com :scheme=https :path=/ content-length=0 end",
      "headers 7 :method=POST :authority=example.com :scheme=https :path=/ content-length=0 end",
    ])
  })

  it("XT13: handed back unsent where the peer's limit is reached, which may change at any time", () => {
    const connection = open({}, settings([3, 2]))
    send(connection)
    send(connection)
    connection.takeOutput()
    const answer = connection.trySend(post)
    assert.deepStrictEqual(answer, { _tag: "Unsent", request: post, why: "busy" })
    assert.strictEqual(answer._tag === "Unsent" && answer.request, post)
    assert.deepStrictEqual(connection.takeOutput(), [])
    connection.receive(settings([3, 0]))
    assert.strictEqual(connection.room, 0)
    says(connection, whole(1), whole(3))
    assert.strictEqual(connection.room, 0)
    connection.receive(settings([3, 1]))
    assert.strictEqual(connection.room, 1)
  })

  it("handed back unsent by a connection that is retired", () => {
    const connection = open()
    connection.receive(Lab2.goAway(0, 0))
    connection.takeOutput()
    assert.deepStrictEqual(connection.trySend(get), { _tag: "Unsent", request: get, why: "retired" })
    assert.deepStrictEqual(connection.takeOutput(), [])
  })

  const refused: ReadonlyArray<readonly [string, Partial<HttpRequest>, string]> = [
    ["a method that is none", { method: "GE T" }, "method"],
    ["a line end in a path", { path: "/\r\nx" }, "path"],
    ["another scheme", { scheme: "ftp" as "http" }, "scheme"],
    ["a line end in a value", { fields: [["x", "a\r\nb: c"]] }, "field x"],
    ["a pseudo-field", { fields: [[":path", "/"]] }, "field"],
    ["a connection field", { fields: [["Connection", "close"]] }, "connection"],
    ["an upgrade", { fields: [["upgrade", "websocket"]] }, "upgrade"],
    ["a coding", { fields: [["transfer-encoding", "chunked"]] }, "transfer-encoding"],
    ["another length", { fields: [["content-length", "1"]] }, "content-length"],
    ["a host that is none", { fields: [["host", "a b"]] }, "host"],
    ["another host than the one to be connected with", {
      method: "CONNECT",
      authority: "example.com:1",
      path: "",
      fields: [["host", "example.com:2"]],
    }, "host"],
    ["two hosts", { fields: [["host", "a"], ["host", "a"]] }, "host"],
    ["an expectation without a body", { fields: [["expect", "100-continue"]] }, "expect"],
    ["an expectation of a body of nothing", {
      ...post,
      body: new Uint8Array(0),
      fields: [["expect", "100-continue"]],
    }, "expect"],
    ["an expectation that is unknown", { ...post, fields: [["expect", "x"]] }, "expect"],
    ["other codings", { fields: [["te", "gzip"]] }, "te"],
    ["a text as a body", { method: "POST", body: "text" as unknown as Uint8Array }, "body"],
    ["a protocol without CONNECT", { protocol: "websocket" }, "protocol"],
    ["a protocol that is no token", { method: "CONNECT", protocol: "web socket" }, "protocol"],
    ["a body with CONNECT", { method: "CONNECT", protocol: "websocket", body: { bytes: 1 } }, "body"],
    ["a head beyond the limit", { fields: [["x", "y".repeat(70_000)]] }, "head"],
  ]
  for (const [title, own, field] of refused) {
    it(`refused with ${title}, and nothing has changed`, () => {
      const connection = open()
      const answer = connection.trySend({ ...get, ...own })
      assert.deepInclude(answer._tag === "Malformed" ? answer.error : answer, { _tag: "InvalidRequest", field })
      assert.deepStrictEqual([connection.takeOutput(), connection.room], [[], 1_024])
      assert.strictEqual(send(connection), 1)
    })
  }

  it("written with its host as the authority, and with what it expects", () => {
    const connection = open({}, settings([8, 1]))
    const tunnel: HttpRequest = { ...get, method: "CONNECT", authority: "example.com:1", path: "" }
    send(connection, { ...tunnel, fields: [["host", "example.com:1"]] })
    send(connection, { ...get, method: "CONNECT", protocol: "websocket", fields: [["host", "example.org"]] })
    send(connection, { ...post, fields: [["expect", "100-continue"], ["content-length", "4"]], body: { bytes: 4 } })
    assert.deepStrictEqual(written(connection), [
      "headers 1 :method=CONNECT :authority=example.com:1",
      "headers 3 :method=CONNECT :authority=example.org :scheme=https :path=/ :protocol=websocket",
      "headers 5 :method=POST :authority=example.com :scheme=https :path=/ expect=100-continue content-length=4",
    ])
  })

  it("refused where its head is beyond what the peer reads", () => {
    const connection = open({}, settings([6, 200]))
    const answer = connection.trySend({ ...get, fields: [["x", "y".repeat(100)]] })
    assert.deepInclude(answer._tag === "Malformed" ? answer.error : answer, { field: "head", value: 310 })
  })

  it("written in as many frames as the peer's limit makes of its head", () => {
    const connection = open()
    send(connection, { ...get, fields: [["x", "\x80".repeat(40_000)]] })
    assert.deepStrictEqual(written(connection), ["headers 1 goes on end", "type 9 1 16384", "type 9 1 7252"])
    const large = open({}, settings([5, 100_000]))
    send(large, { ...get, fields: [["x", "\x80".repeat(40_000)]] })
    assert.match(written(large)[0]!, /^headers 1 .* x=\x80{40000} end$/)
  })
})

it("an upload goes out by the byte, and of nothing nothing goes out", () => {
  const connection = open()
  send(connection, post)
  written(connection)
  const taken = ["", "a"].map((text) => Result.getOrThrow(connection.upload(1, Lab.bytes(text))))
  assert.deepStrictEqual([taken, written(connection)], [[0, 1], ["data 1 a"]])
})

describe("both sides of an exchange end by themselves", () => {
  it("XT12: a response that ends before its upload leaves the exchange and its place", () => {
    const connection = open({}, settings([3, 1]))
    ask(connection, post)
    assert.deepStrictEqual(says(connection, whole(1)), ["1: 200 0", "1: end"])
    assert.deepStrictEqual([connection.room, connection.isSendEnded(1)], [0, false])
    assert.strictEqual(Result.getOrThrow(connection.upload(1, Lab.bytes("late"))), 4)
    Result.getOrThrow(connection.finish(1, [["X-Sum", "1"]]))
    assert.deepStrictEqual([connection.room, connection.isSendEnded(1)], [1, false])
    assert.deepStrictEqual(written(connection), ["data 1 late", "headers 1 x-sum=1 end"])
    assert.isTrue(connection.isSendEnded(1))
  })

  it("a body that was held when its response ended gives the place back once it is out", () => {
    const connection = open({}, settings([3, 1], [4, 10]))
    ask(connection, { ...post, body: Lab.bytes("0123456789abc") })
    assert.deepStrictEqual(says(connection, whole(1)), ["1: 200 0", "1: end"])
    assert.deepStrictEqual([connection.room, connection.isSendEnded(1)], [0, false])
    assert.deepStrictEqual(says(connection, Lab2.windowUpdate(1, 3)), [])
    assert.deepStrictEqual([connection.room, connection.isSendEnded(1)], [1, false])
    ask(connection, { ...post, body: Lab.bytes("0123456789abc") })
    assert.isTrue(connection.isSendEnded(1))
    const behind = ["1: sent whole", "3: 200 0", "3: end"]
    assert.deepStrictEqual(says(connection, whole(3), settings([4, 20])), behind)
    assert.strictEqual(connection.room, 1)
    connection.takeOutput()
    assert.deepStrictEqual(says(connection), ["3: sent whole"])
  })

  it("an upload that ends before its response leaves it, too", () => {
    const connection = open()
    send(connection, { ...post, body: { bytes: 4 } })
    assert.deepInclude(Result.getFailure(connection.upload(1, Lab.bytes("five!"))), { _tag: "Some" })
    assert.deepInclude(Result.getFailure(connection.finish(1)), { _tag: "Some" })
    Result.getOrThrow(connection.upload(1, Lab.bytes("fo")))
    Result.getOrThrow(connection.upload(1, Lab.bytes("ur")))
    assert.isFalse(connection.isSendEnded(1))
    assert.isTrue(Result.isFailure(connection.finish(1)))
    assert.deepStrictEqual(written(connection).slice(1), ["data 1 fo", "data 1 ur end"])
    assert.isTrue(connection.isSendEnded(1))
    assert.deepInclude(Result.getFailure(connection.upload(1, Lab.bytes("x"))), { _tag: "Some" })
    assert.deepStrictEqual(says(connection, whole(1)), ["1: 200 0", "1: end"])
  })

  it("a peer that wants no more of an upload says so behind its whole response, which stands", () => {
    const connection = open()
    ask(connection, post)
    assert.deepStrictEqual(says(connection, whole(1), Lab2.reset(1, 0)), ["1: 200 0", "1: end", "1: sent stopped"])
    assert.deepInclude(Result.getFailure(connection.upload(1, Lab.bytes("x"))), { _tag: "Some" })
    assert.strictEqual(connection.room, 1_024)
  })

  it("an upload without trailers ends with an empty frame", () => {
    const connection = open()
    send(connection, post)
    Result.getOrThrow(connection.finish(1))
    assert.deepStrictEqual(written(connection).slice(1), ["data 1  end"])
    send(connection, post)
    assert.deepInclude(Result.getFailure(connection.finish(3, [["content-length", "1"]])), { _tag: "Some" })
    assert.isFalse(connection.isSendEnded(3))
  })
})

describe("a tunnel", () => {
  const connect: HttpRequest = { ...get, method: "CONNECT", authority: "example.com:443", path: "" }
  const websocket: HttpRequest = { ...get, method: "CONNECT", path: "/chat", protocol: "websocket" }

  it("that its peer ends with its answer has a body of nothing", () => {
    const connection = open()
    ask(connection, connect)
    const [head] = connection.receive(Lab2.response(1, 200, [], 1))
    assert.strictEqual(head?._tag === "Head" ? head.length : head, 0)
  })

  it("XT14: takes and gives behind a 2xx, and is over when both sides have ended it", () => {
    const connection = open()
    send(connection, connect)
    assert.deepStrictEqual(written(connection), ["headers 1 :method=CONNECT :authority=example.com:443"])
    assert.strictEqual(Result.getOrThrow(connection.upload(1, Lab.bytes("early"))), 0)
    assert.deepStrictEqual(says(connection, Lab2.windowUpdate(1, 5), Lab2.windowUpdate(0, 5)), [])
    assert.deepStrictEqual(says(connection, response(1, 200, [["content-length", "5"]])), ["1: 200 ?", "1: writable"])
    assert.strictEqual(Result.getOrThrow(connection.upload(1, Lab.bytes("ping"))), 4)
    assert.deepStrictEqual(says(connection, data(1, "pong pong"), data(1, "", endStream)), [
      "1: data pong pong",
      "1: end",
    ])
    assert.deepStrictEqual([connection.isSendEnded(1), connection.room], [false, 1_023])
    Result.getOrThrow(connection.upload(1, Lab.bytes("more")))
    Result.getOrThrow(connection.finish(1))
    assert.deepStrictEqual(written(connection), ["data 1 ping", "data 1 more", "data 1  end"])
    assert.strictEqual(connection.room, 1_024)
  })

  it("that the peer does not open is an exchange as any other, and its sending side is ended", () => {
    const connection = open()
    send(connection, connect)
    connection.takeOutput()
    const sent = [response(1, 407, [["content-length", "3"]]), data(1, "who", endStream)]
    assert.deepStrictEqual(says(connection, ...sent), ["1: 407 3", "1: data who", "1: end"])
    // Its end is told when it was taken, and not before.
    assert.deepStrictEqual([connection.isSendEnded(1), connection.room], [false, 1_024])
    assert.deepStrictEqual([written(connection), connection.isSendEnded(1)], [["data 1  end"], true])
    assert.deepStrictEqual([says(connection), says(connection)], [["1: sent stopped"], []])
  })

  it("whatever its 2xx says of a length: that is ignored, and nowhere else", () => {
    for (const lengths of [["1"], ["5", "6"], ["abc"]]) {
      const fields = lengths.map((length) => ["content-length", length] as const)
      const connection = Lab2.asked({}, [connect, connect])
      assert.deepStrictEqual(says(connection, response(1, 200, fields), data(1, "tunnel")), [
        "1: 200 ?",
        "1: data tunnel",
      ])
      if (lengths[0] === "1") continue
      for (const status of [103, 407]) {
        const other = Lab2.asked({}, [connect])
        assert.match(says(other, response(1, status, fields)).join(), /^1: failed content-length/)
      }
    }
  })

  it("that was refused ends with trailers as any other response", () => {
    const connection = Lab2.asked({}, [connect])
    const sent = [response(1, 407), data(1, "no"), headers(1, [["x", "y"]], endStream)]
    assert.deepStrictEqual(says(connection, ...sent), ["1: 407 ?", "1: data no", "1: end x=y"])
  })

  it("that its owner has ended sends nothing more when it is refused, and nobody is told what he did himself", () => {
    for (const flags of [0, endStream]) {
      const connection = Lab2.asked({}, [connect])
      Result.getOrThrow(connection.finish(1))
      assert.deepStrictEqual(written(connection), ["data 1  end"])
      const end = flags === 0 ? [] : ["1: end"]
      assert.deepStrictEqual(says(connection, response(1, 407, [], flags)), [`1: 407 ${flags === 0 ? "?" : 0}`, ...end])
      assert.deepStrictEqual(
        says(connection, ...(flags === 0 ? [data(1, "no", endStream)] : [])).at(-1),
        flags === 0 ? "1: end" : undefined,
      )
      assert.deepStrictEqual([written(connection), connection.room], [[], 1_024])
    }
  })

  it("has no trailers", () => {
    const connection = open()
    ask(connection, connect)
    const sent = [response(1, 200), headers(1, [["x", "y"]], endStream)]
    assert.match(says(connection, ...sent).at(-1)!, /^1: failed open-trailers/)
  })

  it("of another protocol is asked for where the peer has said that it has it, and nowhere else", () => {
    const silent = Lab2.engine().open()
    assert.deepInclude(silent.trySend(websocket), { why: "busy" })
    assert.deepInclude(open().trySend(websocket), { why: "unsupported" })
    const connection = open({}, settings([8, 1]))
    send(connection, websocket)
    assert.deepStrictEqual(written(connection), [
      "headers 1 :method=CONNECT :authority=example.com :scheme=https :path=/chat :protocol=websocket",
    ])
    assert.deepStrictEqual(says(connection, response(1, 200), data(1, "hi")), ["1: 200 ?", "1: data hi"])
    assert.strictEqual(Result.getOrThrow(connection.upload(1, Lab.bytes("ho"))), 2)
  })
})

describe("an exchange is cut", () => {
  it("XT5: by the peer's reset, with its code, and the others go on", () => {
    const connection = Lab2.asked({}, [get, get, get])
    const sent = [response(1, 200), data(1, "half"), Lab2.reset(1, 2), Lab2.reset(3, 7), whole(5)]
    assert.deepStrictEqual(says(connection, ...sent), [
      "1: 200 ?",
      "1: data half",
      "1: failed reset 2 body 4",
      "3: failed reset 7 head 0 unprocessed",
      "5: 200 0",
      "5: end",
    ])
    assert.deepStrictEqual([connection.room, connection.isRetired], [1_024, false])
  })

  it("by a reset without an error as by any other: a body without its end is never whole", () => {
    for (const code of [0, 8]) {
      const connection = Lab2.asked()
      const sent = [response(1, 200, [["content-length", "4"]]), data(1, "abcd"), Lab2.reset(1, code)]
      assert.deepStrictEqual(says(connection, ...sent), ["1: 200 4", "1: data abcd", `1: failed reset ${code} body 4`])
    }
  })

  it("XT6: by its owner, who hears nothing more of it, and the peer is told of this stream alone", () => {
    const connection = Lab2.asked({}, [get, get])
    says(connection, response(1, 200), data(1, "half"))
    assert.strictEqual(Lab.cancel(connection, 1), "cut")
    assert.deepStrictEqual([written(connection), connection.room], [["reset 1 8"], 1_023])
    const late = [data(1, "more"), headers(1, [["x", "y"]], endStream), Lab2.reset(1, 0), whole(3)]
    assert.deepStrictEqual(says(connection, ...late), ["3: 200 0", "3: end"])
    assert.deepStrictEqual(
      [Lab.cancel(connection, 1), Lab.cancel(connection, 3), Lab.cancel(connection, 99)],
      Array(3).fill("drained"),
    )
    assert.deepStrictEqual(connection.takeOutput(), [])
  })

  it("by its owner with a code of his own", () => {
    const connection = Lab2.asked({}, [get, get])
    assert.deepStrictEqual([Lab.cancel(connection, 1, 2), Lab.cancel(connection, 3, 0xffff_ffff)], ["cut", "cut"])
    assert.deepStrictEqual(written(connection), ["reset 1 2", "reset 3 4294967295"])
  })

  it("by the end of the connection, clean or not, wherever it is", () => {
    for (const how of ["ended", "reset"] as const) {
      const connection = Lab2.asked({}, [get, get, get])
      says(connection, response(1, 200, [["content-length", "9"]]), data(1, "half"), response(3, 200))
      assert.deepStrictEqual(Lab2.told(connection.closed(how)), [
        `1: failed ${how} body 4 9`,
        `3: failed ${how} body 0`,
        `5: failed ${how} head 0`,
        "retired cut",
      ])
      assert.deepStrictEqual([connection.closed("reset"), connection.retainedBytes], [[], 0])
    }
  })
})

describe("a connection ends", () => {
  it("cleanly between exchanges, and is cut within a frame or by a reset", () => {
    const idle = open()
    assert.deepStrictEqual(Lab2.told(idle.closed("ended")), ["retired closed"])
    assert.deepStrictEqual(Lab2.told(open().closed("reset")), ["retired cut"])
    const within = open()
    within.receive(Lab2.ping.slice(0, 12))
    assert.deepStrictEqual(Lab2.told(within.closed("ended")), ["retired cut"])
    assert.deepStrictEqual(Lab2.told(Lab2.engine().open().closed("ended")), ["retired closed"])
  })

  it("XT7: by a graceful GOAWAY, which lets the exchanges that are under way end", () => {
    const connection = Lab2.asked({}, [get, post])
    assert.deepStrictEqual(says(connection, Lab2.goAway(0x7fff_ffff, 0)), ["retired announced"])
    assert.deepStrictEqual([connection.room, connection.isRetired], [0, true])
    assert.deepStrictEqual(says(connection, Lab2.goAway(3, 0), whole(1)), ["1: 200 0", "1: end"])
    Result.getOrThrow(connection.upload(3, Lab.bytes("still")))
    Result.getOrThrow(connection.finish(3))
    assert.deepStrictEqual(says(connection, whole(3)), ["3: 200 0", "3: end"])
    connection.takeOutput()
    assert.deepStrictEqual([Lab.cancel(connection, 3), connection.closed("ended")], ["drained", []])
  })

  it("by a GOAWAY, ahead of which a request was to say that the table is smaller: trailers say it (RFC 7541, 4.2)", () => {
    for (const sizes of [[], [50]]) {
      const connection = Lab2.asked({}, [post])
      connection.receive(settings([1, 0]))
      connection.takeOutput()
      // Says it, and is never written.
      send(connection)
      connection.receive(Lab2.goAway(0x7fff_ffff, 0))
      for (const size of sizes) connection.receive(settings([1, size]))
      connection.takeOutput()
      Result.getOrThrow(connection.finish(1, [["accept", "x"]]))
      const [first, second] = Lab2.join(...connection.takeOutput()).subarray(9)
      assert.deepStrictEqual([first, second], sizes.length === 0 ? [0x20, 0x53] : [0x20, 0x3f])
    }
  })

  it("by a GOAWAY that leaves some exchanges out, which were not served", () => {
    const connection = Lab2.asked({}, [get, get, get])
    assert.deepStrictEqual(says(connection, Lab2.goAway(3, 11, "too much")), [
      "retired announced gone 11 3",
      "5: failed gone 11 3",
    ])
    assert.deepStrictEqual(says(connection, whole(1), Lab2.goAway(1, 11)), [
      "1: 200 0",
      "1: end",
      "3: failed gone 11 1",
    ])
  })

  it("and what it answers all the same is passed over, and its table goes on as it has it", () => {
    const connection = Lab2.asked({ maxConnectionWindowBytes: 65_535 }, [get, get, post])
    says(connection, Lab2.goAway(1, 0))
    const head = frame(Type.headers, endHeaders, 3, [0x88, 0x40, 1, 0x61, 1, 0x62])
    assert.deepStrictEqual(says(connection, head, data(3, "x".repeat(16_000)), data(3, "", endStream)), [])
    assert.deepStrictEqual(says(connection, whole(5), Lab2.reset(3, 0), Lab2.windowUpdate(5, 1)), [])
    const field = connection.receive(frame(Type.headers, endHeaders, 1, [0x88, 0xbe]))
    assert.deepStrictEqual(field.map((event) => event._tag === "Head" && event.head.fields), [[["a", "b"]]])
  })

  it("and what it has answered it served, whatever its GOAWAY or its refusal says", () => {
    for (const begun of [response(1, 103), response(1, 200)]) {
      const left = Lab2.asked({}, [get, get])
      assert.deepStrictEqual(says(left, begun, Lab2.goAway(0, 0)).slice(1).map((line) => line.replace(/ \d+$/, "")), [
        "retired announced",
        "1: failed last-stream goaway",
        "3: failed gone 0",
      ])
      assert.deepStrictEqual(written(left), ["reset 1 1"])
      const refused = Lab2.asked()
      assert.notMatch(says(refused, begun, Lab2.reset(1, 7)).at(-1)!, /unprocessed/)
    }
    assert.match(says(Lab2.asked(), Lab2.reset(1, 7)).join(), /unprocessed/)
  })

  it("by a GOAWAY ahead of requests that nobody took, none of which is written", () => {
    const connection = open()
    ask(connection, { ...post, body: { bytes: undefined } })
    send(connection, { ...get, fields: [["accept", "text/x"]] })
    send(connection, { ...post, body: Lab.bytes("charge the card") })
    assert.strictEqual(Result.getOrThrow(connection.upload(1, Lab.bytes("a"))), 1)
    const large = send(connection, { ...post, fields: [["x", "y".repeat(20_000)]], body: new Uint8Array(10_000) })
    assert.deepStrictEqual(says(connection, Lab2.ping, Lab2.goAway(0x7fff_ffff, 0)), [
      "retired announced",
      ...[3, 5, large].map((exchange) => `${exchange}: failed gone 0 2147483647`),
    ])
    assert.deepStrictEqual([3, 5, large].map((exchange) => connection.isSendEnded(exchange)), [true, true, true])
    Result.getOrThrow(connection.finish(1, [["accept", "text/x"]]))
    // What the table took from them is in no table of the peer's, and no byte of their bodies went out of a window.
    assert.deepStrictEqual(written(connection), [
      "data 1 a",
      "ping 1 12345678",
      "headers 1 accept=text/x end",
    ])
    assert.match(says(connection, whole(3)).at(-1)!, /^retired fault|failed frame-stream/)
  })

  it("and ahead of all output, of which only what opens the connection is written", () => {
    const connection = Lab2.engine().open()
    send(connection)
    assert.deepStrictEqual(says(connection, settings(), Lab2.goAway(0x7fff_ffff, 0)), [
      "retired announced",
      "1: failed gone 0 2147483647",
    ])
    const bytes = Lab2.join(...connection.takeOutput())
    assert.strictEqual(Lab.text(bytes.subarray(0, 14)), "PRI * HTTP/2.0")
    assert.deepStrictEqual(new Lab2.Written().say(bytes), ["settings", "window 0 983041", "settings ack"])
    const idle = open()
    says(idle, Lab2.ping, Lab2.goAway(0, 0), Lab2.ping)
    assert.deepStrictEqual(written(idle), ["ping 1 12345678", "ping 1 12345678"])
  })

  it("and tells nothing of what has ended since an earlier one", () => {
    const connection = Lab2.asked({}, [get, get])
    says(connection, Lab2.goAway(3, 0))
    assert.deepStrictEqual(says(connection, whole(3), Lab2.goAway(1, 0)), ["3: 200 0", "3: end"])
    assert.deepStrictEqual(written(connection), [])
  })

  it("and what is in the output of one that is over comes out behind it as it would have", () => {
    const connection = open()
    ask(connection, { ...post, body: { bytes: undefined } })
    Result.getOrThrow(connection.upload(1, Lab.bytes("early")))
    connection.cancel(1)
    assert.deepStrictEqual(says(connection, Lab2.goAway(1, 0)), ["retired announced"])
    assert.deepStrictEqual(written(connection), ["data 1 early", "reset 1 8"])
  })

  it("but for those that trailers follow, which may refer to them; the peer says whether it serves them", () => {
    const connection = open()
    send(connection, { ...post, body: { bytes: undefined } })
    const out = new Lab2.Written()
    out.read(connection)
    for (const path of ["/a", "/b"]) send(connection, { ...get, path, fields: [["accept", "text/x"]] })
    Result.getOrThrow(connection.finish(1, [["accept", "text/x"]]))
    send(connection, { ...get, path: "/c" })
    assert.deepStrictEqual(says(connection, Lab2.goAway(3, 0)), [
      "retired announced",
      "5: failed gone 0 3",
      "7: failed gone 0 3",
    ])
    const lines = out.read(connection).map((line) => line.replace(/ :.*path=/, " "))
    assert.deepStrictEqual(lines, [
      "headers 3 /a accept=text/x end",
      "headers 5 /b accept=text/x end",
      "headers 1 accept=text/x end",
    ])
    assert.deepStrictEqual(says(connection, whole(3), whole(1)), ["3: 200 0", "3: end", "1: 200 0", "1: end"])
  })

  it("XT11: by GOAWAY once, however often it is said", () => {
    const connection = open()
    const events = says(connection, Lab2.goAway(0, 0), Lab2.goAway(0, 0), Lab2.goAway(0, 2))
    assert.deepStrictEqual(events, ["retired announced"])
    assert.deepStrictEqual(connection.closed("ended"), [])
  })
})

describe("a peer is asked whether it is there", () => {
  const answer = (number: number): Uint8Array =>
    Lab2.frame(Lab2.Type.ping, 1, 0, [0, 0, 0, 0, 0, 0, number >> 8, number])

  it("once at a time, by another number each time, and its answer is told", () => {
    const connection = open()
    for (let number = 1; number <= 300; number++) {
      assert.deepStrictEqual([connection.ping(), connection.ping()], [true, false])
      const bytes = [...Lab2.join(...connection.takeOutput())]
      assert.deepStrictEqual(bytes, [0, 0, 8, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, number >> 8, number & 255])
      assert.deepStrictEqual(says(connection, answer(number)), ["pong"])
    }
  })

  it("and an answer that it did not ask for, or asked for before, ends the connection", () => {
    for (const sent of [[answer(2)], [answer(1), answer(1)]]) {
      const connection = open()
      connection.ping()
      connection.takeOutput()
      assert.match(says(connection, ...sent).at(-1)!, /^retired fault unasked-ack ping/)
      assert.isFalse(connection.ping())
    }
  })

  it("and an answer to what nobody took, a PING or SETTINGS, answers nothing", () => {
    const asking = open()
    assert.isTrue(asking.ping())
    assert.match(says(asking, answer(1)).join(), /^retired fault unasked-ack ping/)
    const settling = Lab2.engine().open()
    assert.match(says(settling, settings(), Lab2.settingsAck).join(), /^retired fault unasked-ack settings/)
    const settled = open()
    assert.deepStrictEqual(says(settled, Lab2.settingsAck), [])
    settled.takeOutput()
    assert.match(says(settled, Lab2.settingsAck).join(), /^retired fault unasked-ack settings/)
  })

  it("before its SETTINGS and behind its GOAWAY too, and not when the connection is over", () => {
    const connection = Lab2.engine().open()
    assert.isTrue(connection.ping())
    connection.takeOutput()
    assert.deepStrictEqual(says(connection, settings(), answer(1), Lab2.goAway(0, 0)), ["pong", "retired announced"])
    assert.isTrue(connection.ping())
    connection.closed("ended")
    assert.deepStrictEqual([connection.ping(), open().ping()], [false, true])
  })
})

describe("a connection that its owner leaves", () => {
  it("says so once, and lets what is under way end", () => {
    const connection = Lab2.asked({}, [get, post])
    connection.leave()
    connection.leave()
    assert.deepStrictEqual(written(connection), ["goaway 0 0"])
    assert.deepStrictEqual([connection.room, connection.isRetired], [0, true])
    assert.deepInclude(connection.trySend(get), { _tag: "Unsent", why: "retired" })
    assert.deepStrictEqual(says(connection, whole(1), whole(3)), ["1: 200 0", "1: end", "3: 200 0", "3: end"])
    Result.getOrThrow(connection.finish(3))
    assert.deepStrictEqual(written(connection), ["data 3  end"])
    assert.deepStrictEqual(Lab2.told(connection.closed("ended")), ["retired closed"])
    connection.leave()
    assert.deepStrictEqual(connection.takeOutput(), [])
  })

  it("says it behind the peer's GOAWAY, too, and a fault is still told of", () => {
    const connection = Lab2.asked()
    assert.deepStrictEqual(says(connection, Lab2.goAway(1, 0)), ["retired announced"])
    connection.leave()
    assert.deepStrictEqual(written(connection), ["goaway 0 0"])
    const left = Lab2.asked()
    left.leave()
    assert.match(says(left, data(0, "x")).join(), /^1: failed frame-stream \S+ \d+,retired fault frame-stream/)
    assert.deepStrictEqual(written(left), ["goaway 0 1"])
  })
})

it("errors show nothing of what was sent", () => {
  const connection = Lab2.asked()
  const [failed] = connection.receive(response(1, 200, [["x", "canary\n"], ["canary", "canary"]]))
  assert.notInclude(JSON.stringify(failed), "canary")
  const gone = Lab2.asked().receive(Lab2.goAway(0, 2, "canary"))
  assert.notInclude(JSON.stringify(gone), "canary")
})
