/** Requests as the codec writes them, and what it refuses before a byte of them is out. */
import { assert, describe, it } from "vitest"
import * as Result from "effect/Result"
import type { HttpRequest } from "../../core/http/HttpMessage.ts"
import * as Lab from "../support/http/Lab.ts"

const { connect, get } = Lab
const post: HttpRequest = { ...get, method: "POST", path: "/in" }

/** The bytes of a request on a fresh connection, as text. */
const sent = (request: HttpRequest, proxied = false): string => {
  const connection = Lab.open({}, proxied)
  const answer = connection.trySend(request)
  return answer._tag === "Accepted" ? Lab.text(...connection.takeOutput()) : answer._tag
}

describe("a request", () => {
  it("has its line, the host first, the fields as they were given, and an empty line", () => {
    const fields = [["X-One", "1"], ["accept", "*/*"], ["X-One", "2"]] as const
    assert.strictEqual(
      sent({ ...get, path: "/a?b=c|d", fields }),
      "GET /a?b=c|d HTTP/1.1\r\nhost: example.com\r\nX-One: 1\r\naccept: */*\r\nX-One: 2\r\n\r\n",
    )
  })

  it("WT10: has a target from the path on, and the authority as its host, port included", () => {
    assert.strictEqual(sent({ ...get, authority: "h:8080" }), "GET / HTTP/1.1\r\nhost: h:8080\r\n\r\n")
    assert.strictEqual(sent({ ...get, authority: "[::1]:8080" }), "GET / HTTP/1.1\r\nhost: [::1]:8080\r\n\r\n")
  })

  it("has an absolute target toward a proxy, an authority with CONNECT, and * for OPTIONS of a server", () => {
    assert.strictEqual(sent(get, true), "GET http://example.com/ HTTP/1.1\r\nhost: example.com\r\n\r\n")
    const tunnel = "CONNECT example.com:443 HTTP/1.1\r\nhost: example.com:443\r\n\r\n"
    assert.deepStrictEqual([sent(connect), sent(connect, true)], [tunnel, tunnel])
    const options: HttpRequest = { ...get, method: "OPTIONS", path: "*" }
    assert.strictEqual(sent(options), "OPTIONS * HTTP/1.1\r\nhost: example.com\r\n\r\n")
    assert.strictEqual(sent(options, true), "OPTIONS http://example.com HTTP/1.1\r\nhost: example.com\r\n\r\n")
  })

  it("has the host that its fields name, in the first place, unless its target names another", () => {
    const other: HttpRequest = { ...get, fields: [["x", "y"], ["Host", "other:1"]] }
    assert.strictEqual(sent(other), "GET / HTTP/1.1\r\nhost: other:1\r\nx: y\r\n\r\n")
    assert.strictEqual(sent(other, true), "Malformed")
    assert.strictEqual(sent({ ...connect, fields: [["host", "example.com"]] }), "Malformed")
  })

  it("keeps characters up to U+00FF as one byte each", () => {
    const connection = Lab.open()
    connection.trySend({ ...get, fields: [["x", "\x80\xff\t!"]] })
    assert.include(Lab.text(...connection.takeOutput()), "\r\nx: \x80\xff\t!\r\n")
  })

  it("may say what the next one on the way is asked for, where its connection names it", () => {
    const fields = [["te", "trailers"], ["Connection", "TE, keep-alive"]] as const
    assert.include(sent({ ...get, fields }), "\r\nte: trailers\r\nConnection: TE, keep-alive\r\n")
  })

  it("may have a method of its own, and an empty value", () => {
    assert.strictEqual(
      sent({ ...get, method: "M-SEARCH", fields: [["x", ""]] }),
      "M-SEARCH / HTTP/1.1\r\nhost: example.com\r\nx: \r\n\r\n",
    )
  })
})

describe("the body of a request", () => {
  it("goes out in one piece with the head, framed by its length", () => {
    const connection = Lab.open()
    connection.trySend({ ...post, body: Lab.bytes("hello") })
    const output = connection.takeOutput()
    assert.strictEqual(output.length, 1)
    assert.strictEqual(Lab.text(...output), "POST /in HTTP/1.1\r\nhost: example.com\r\ncontent-length: 5\r\n\r\nhello")
    assert.deepStrictEqual(connection.takeOutput(), [])
  })

  it("is not copied where it is long", () => {
    const body = new Uint8Array(20_000).fill(65)
    const connection = Lab.open()
    connection.trySend({ ...post, body })
    const [head, rest] = connection.takeOutput()
    assert.match(Lab.text(head!), /content-length: 20000\r\n\r\n$/)
    assert.strictEqual(rest!.buffer, body.buffer)
    for (const [length, pieces] of [[16_384, 1], [16_385, 2]] as const) {
      const other = Lab.open()
      other.trySend({ ...post, body: new Uint8Array(length) })
      assert.strictEqual(other.takeOutput().length, pieces)
    }
  })

  it("is announced as empty where the method means to carry one, and not where it does not", () => {
    for (const method of ["POST", "PUT", "PATCH"]) assert.include(sent({ ...get, method }), "content-length: 0\r\n")
    for (const method of ["GET", "HEAD", "DELETE", "OPTIONS", "TRACE"]) {
      assert.notInclude(sent({ ...get, method }), "content-length")
    }
    assert.include(sent({ ...get, method: "DELETE", body: new Uint8Array(0) }), "content-length: 0\r\n")
  })

  it("may be announced by the caller as well, if that says the same", () => {
    const said = (length: string, body: HttpRequest["body"]): string =>
      sent({ ...post, body, fields: [["Content-Length", length]] })
    const right = said("5", Lab.bytes("hello"))
    assert.strictEqual(right.match(/content-length/gi)?.length, 1)
    assert.include(said("0", undefined), "content-length: 0\r\n")
    assert.include(said("7", { bytes: 7 }), "content-length: 7\r\n")
    for (const bad of ["4", "6", "05", "+5", "5, 5", "", "x"]) {
      assert.strictEqual(said(bad, Lab.bytes("hello")), "Malformed")
    }
    assert.deepStrictEqual([said("5", undefined), said("5", { bytes: undefined })], ["Malformed", "Malformed"])
  })

  it("comes piece by piece up to its length, not more, and ends with the last byte of it", () => {
    const connection = Lab.open()
    connection.trySend({ ...post, body: { bytes: 5 } })
    connection.takeOutput()
    const upload = (text: string) => Result.getOrThrow(connection.upload(1, Lab.bytes(text)))
    assert.strictEqual(upload("hel"), 3)
    assert.strictEqual(upload(""), 0)
    const over = connection.upload(1, Lab.bytes("low"))
    assert.deepInclude(Result.isFailure(over) && over.failure, { _tag: "InvalidRequest", field: "upload", value: 3 })
    const early = connection.finish(1)
    assert.deepInclude(Result.isFailure(early) && early.failure, { _tag: "InvalidRequest", field: "upload" })
    assert.strictEqual(upload("lo"), 2)
    assert.strictEqual(Lab.text(...connection.takeOutput()), "hello")
    const more = Result.map(connection.upload(1, Lab.bytes("!")), () => undefined)
    for (const late of [more, connection.finish(1), connection.finish(2)]) {
      assert.strictEqual(Result.isFailure(late) && late.failure._tag, "ExchangeOver")
    }
  })

  it("is no longer than a head may be in its trailers", () => {
    const connection = Lab.open({ maxHeadBytes: 1_024 })
    connection.trySend({ ...post, body: { bytes: undefined } })
    connection.takeOutput()
    const ended = (length: number) => connection.finish(1, [["x-sum", "a".repeat(length)]])
    assert.match(String(Result.getOrThrow(Result.flip(ended(1_024)))), /trailers/)
    assert.isFalse(connection.isSendEnded(1))
    assert.strictEqual(Lab.text(...connection.takeOutput()), "")
    Result.getOrThrow(ended(1_000))
    assert.match(Lab.text(...connection.takeOutput()), /^0\r\nx-sum: a{1000}\r\n\r\n$/)
  })

  it("leaves no room behind that was made for one that was refused", () => {
    const connection = Lab.open()
    const large = connection.trySend({ ...get, fields: [["x-large", "a".repeat(1_000_000)]] })
    assert.strictEqual(large._tag, "Malformed")
    connection.trySend(get)
    assert.deepStrictEqual(connection.takeOutput().map(({ buffer }) => buffer.byteLength), [8_192])
  })

  it("comes in chunks where its length is unknown, with trailers at the end", () => {
    const connection = Lab.open()
    connection.trySend({ ...post, body: { bytes: undefined } })
    assert.include(Lab.text(...connection.takeOutput()), "transfer-encoding: chunked\r\n\r\n")
    for (const text of ["hello", "", "0123456789abcdef"]) {
      assert.strictEqual(Result.getOrThrow(connection.upload(1, Lab.bytes(text))), text.length)
    }
    assert.strictEqual(Lab.text(...connection.takeOutput()), "5\r\nhello\r\n10\r\n0123456789abcdef\r\n")
    for (const [name, value] of [["content-length", "1"], ["Trailer", "x"], ["x", "a\r\nb"], ["a b", "c"]] as const) {
      const bad = connection.finish(1, [["ok", "ok"], [name, value]])
      assert.strictEqual(Result.isFailure(bad) && bad.failure._tag, "InvalidRequest")
    }
    assert.deepStrictEqual(connection.takeOutput(), [])
    assert.isTrue(Result.isSuccess(connection.finish(1, [["X-Sum", "9"]])))
    assert.strictEqual(Lab.text(...connection.takeOutput()), "0\r\nX-Sum: 9\r\n\r\n")
    const again = connection.finish(1)
    assert.strictEqual(Result.isFailure(again) && again.failure._tag, "ExchangeOver")
    assert.deepStrictEqual(connection.takeOutput(), [])
  })

  it("is not copied into its chunk where it is long", () => {
    const connection = Lab.open()
    connection.trySend({ ...post, body: { bytes: undefined } })
    connection.takeOutput()
    const piece = new Uint8Array(20_000)
    connection.upload(1, piece)
    const [line, same, end] = connection.takeOutput()
    assert.deepStrictEqual([Lab.text(line!), same!.buffer === piece.buffer, Lab.text(end!)], ["4e20\r\n", true, "\r\n"])
  })
})

/** What is refused: the request, and the field and rule that the refusal names. */
const rows: ReadonlyArray<readonly [title: string, request: object, field: string]> = [
  ["no method", { method: "" }, "method"],
  ["a method with a space", { method: "GET / HTTP/1.1\r\nx:" }, "method"],
  ["a method with a line end", { method: "GET\r\n" }, "method"],
  ["a standard method in other letters", { method: "head" }, "method"],
  ["a method with a small letter", { method: "PURGe" }, "method"],
  ["CONNECT in other letters", { method: "Connect" }, "method"],
  ["a method beyond ASCII", { method: "G\xc9T" }, "method"],
  ["no authority", { authority: "" }, "authority"],
  ["user information", { authority: "user:secret@example.com" }, "authority"],
  ["a path in the authority", { authority: "example.com/x" }, "authority"],
  ["a line end in the authority", { authority: "example.com\r\nx: y" }, "authority"],
  ["a blank in the authority", { authority: "example.com " }, "authority"],
  ["a percent sign in the authority", { authority: "ex%61mple.com" }, "authority"],
  ["a port that is none", { authority: "example.com:99999" }, "authority"],
  ["port 0", { authority: "example.com:0" }, "authority"],
  ["port 65536", { authority: "example.com:65536" }, "authority"],
  ["an empty port", { authority: "example.com:" }, "authority"],
  ["an address without brackets", { authority: "::1" }, "authority"],
  ["two hosts", { authority: "a,b@c" }, "authority"],
  ["no path", { path: "" }, "path"],
  ["a relative path", { path: "a" }, "path"],
  ["an absolute target", { path: "http://other/" }, "path"],
  ["* with another method", { path: "*" }, "path"],
  ["a space in the path", { path: "/a b" }, "path"],
  ["a line end in the path", { path: "/ HTTP/1.1\r\nx: y\r\n\r\n" }, "path"],
  ["a tab in the path", { path: "/\t" }, "path"],
  ["NUL in the path", { path: "/\0" }, "path"],
  ["a fragment", { path: "/a#b" }, "path"],
  ["a path beyond ASCII", { path: "/\xe9" }, "path"],
  ["a path beyond bytes that ends as a line does", { path: "/\u010d\u010a" }, "path"],
  ["a path with CONNECT", { ...connect, path: "/" }, "path"],
  ["CONNECT without a port", { ...connect, authority: "example.com" }, "authority"],
  ["a body with CONNECT", { ...connect, body: new Uint8Array(1) }, "body"],
  ["a body with TRACE", { method: "TRACE", body: new Uint8Array(1) }, "body"],
  ["a length that is no whole number", { body: { bytes: 1.5 } }, "body"],
  ["a negative length", { body: { bytes: -1 } }, "body"],
  ["a length that is no number", { body: { bytes: NaN } }, "body"],
  ["a body of text", { body: "hello" }, "body"],
  ["a buffer", { body: new ArrayBuffer(4) }, "body"],
  ["an array", { body: [1, 2] }, "body"],
  ["null", { body: null }, "body"],
  ["a name with a colon", { fields: [["x:", "y"]] }, "field"],
  ["a name with a space", { fields: [["x y", "z"]] }, "field"],
  ["a name with a line end", { fields: [["x\r\ny", "z"]] }, "field"],
  ["no name", { fields: [["", "z"]] }, "field"],
  ["a name beyond ASCII", { fields: [["x\xe9", "z"]] }, "field"],
  ["a name that ends as a line does", { fields: [["x\u010a", "z"]] }, "field"],
  ["a value with CR LF", { fields: [["x", "y\r\nz: a"]] }, "field x"],
  ["a value with LF", { fields: [["x", "y\nz: a"]] }, "field x"],
  ["a value with CR", { fields: [["x", "y\rz"]] }, "field x"],
  ["a value with NUL", { fields: [["x", "y\0"]] }, "field x"],
  ["a value with DEL", { fields: [["x", "\x7f"]] }, "field x"],
  ["a value beyond bytes that ends as a line does", { fields: [["x", "y\u010d\u010az"]] }, "field x"],
  ["a value that begins with a blank", { fields: [["x", " y"]] }, "field x"],
  ["a value that ends with a blank", { fields: [["x", "y\t"]] }, "field x"],
  ["a value that is no text", { fields: [["x", 5]] }, "field"],
  ["a name that is no text", { fields: [[null, "x"]] }, "field"],
  ["two hosts among the fields", { fields: [["host", "a"], ["Host", "a"]] }, "host"],
  ["a host that is none", { fields: [["host", "a b"]] }, "host"],
  ["a coding", { fields: [["Transfer-Encoding", "chunked"]] }, "transfer-encoding"],
  ["another length than the body has", { fields: [["content-length", "5"]] }, "content-length"],
  ["a connection that is no list", { fields: [["connection", "a b"]] }, "connection"],
  ["a connection that takes out the length", { fields: [["connection", "close, Content-Length"]] }, "connection"],
  ["a connection that takes out the coding", { fields: [["connection", "transfer-encoding"]] }, "connection"],
  ["a connection that takes out the host", { fields: [["connection", "HOST"]] }, "connection"],
  ["an upgrade that is not named", { fields: [["upgrade", "websocket"]] }, "connection"],
  ["an expectation without a body", { fields: [["expect", "100-continue"]] }, "expect"],
  ["an expectation of a body of nothing", {
    method: "POST",
    body: { bytes: 0 },
    fields: [["expect", "100-continue"]],
  }, "expect"],
  ["an expectation that is unknown", { body: { bytes: 1 }, fields: [["expect", "x"]] }, "expect"],
  ["a coding that is asked for", { fields: [["te", "gzip"], ["connection", "te"]] }, "te"],
  ["trailers that are not named", { fields: [["te", "trailers"]] }, "connection"],
  ["a method that is no text", { method: 5 }, "method"],
]

describe("refused, with nothing written and nothing changed", () => {
  for (const [title, changed, field] of rows) {
    it(`${title}: ${field}`, () => {
      const connection = Lab.open()
      const answer = connection.trySend({ ...get, ...changed } as HttpRequest)
      assert.strictEqual(answer._tag === "Malformed" && answer.error.field, field)
      assert.deepStrictEqual([connection.takeOutput(), connection.room, connection.isRetired], [[], 1, false])
      assert.strictEqual(connection.trySend(get)._tag, "Accepted")
    })
  }

  it("toward a proxy, what is not for its eyes", () => {
    assert.strictEqual(sent({ ...get, scheme: "https" }, true), "Malformed")
    assert.notStrictEqual(sent({ ...get, scheme: "https" }), "Malformed")
  })

  it("a head above the limit, by its length", () => {
    const sized = (value: number): string => sent({ ...get, fields: [["x", "v".repeat(value)]] })
    const other = sized(1).length - 1
    assert.strictEqual(sized(65_536 - other).length, 65_536)
    assert.strictEqual(sized(65_537 - other), "Malformed")
  })

  it("without showing what may be secret", () => {
    const secrets: ReadonlyArray<object> = [
      { authority: "user:canary@example.com" },
      { path: "/?token=canary x" },
      { fields: [["authorization", "Bearer canary\n"]] },
      { fields: [["host", "canary@x"]] },
      { fields: [["content-length", "canary"]] },
      { fields: [["connection", "canary b"]] },
      { fields: [["upgrade", "canary"]] },
      { fields: [["expect", "canary"]] },
      { fields: [["te", "canary"]] },
      { fields: [["x", "canary "]] },
      { body: "canary" },
    ]
    for (const secret of secrets) {
      const answer = Lab.open().trySend({ ...get, ...secret } as HttpRequest)
      assert.strictEqual(answer._tag, "Malformed")
      const error = answer._tag === "Malformed" ? answer.error : undefined
      assert.notInclude(`${error} ${error?.message} ${JSON.stringify(error)}`, "canary")
      assert.match(error!.message, /^\w.* must be [^,]+/)
    }
  })
})
