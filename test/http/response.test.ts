/** Responses as the codec reads them: where each ends, what becomes of its connection, and each rule that it can break. */
import { assert, describe, it } from "vitest"
import * as Lab from "../support/http/Lab.ts"

const { answer, broken, connect, get, head, upgrade } = Lab

/** A response of HTTP/1.1 with these lines. */
const response = (lines: ReadonlyArray<string>, body = "", status = "200 OK"): string =>
  [`HTTP/1.1 ${status}`, ...lines, "", body].join("\r\n")

describe("a head", () => {
  it("tells version, status, reason and fields, names in lower case and values without the blanks around them", () => {
    const [event] = Lab.asked().receive(
      Lab.bytes("HTTP/1.0 404 Not \t here\xe9\r\nX-A:1\r\nx-a: \t two words \t \r\nEmpty:\r\nContent-Length: 0\r\n\r\n"),
    )
    assert.deepStrictEqual(event, {
      _tag: "Head",
      exchange: 1,
      length: 0,
      head: {
        version: "1.0",
        status: 404,
        reason: "Not \t here\xe9",
        fields: [["x-a", "1"], ["x-a", "two words"], ["empty", ""], ["content-length", "0"]],
      },
    })
  })

  it("may have no reason, with the space before it or without", () => {
    for (const line of ["HTTP/1.1 200", "HTTP/1.1 200 "]) {
      const [event] = Lab.asked().receive(Lab.bytes(`${line}\r\ncontent-length: 0\r\n\r\n`))
      assert.strictEqual(event?._tag === "Head" && event.head.reason, "")
    }
  })

  it("may have a status that nobody knows: 600 to 999 are framed as any other", () => {
    assert.deepStrictEqual(answer(response(["content-length: 2"], "hi", "999 Denied")), ["999 2", "data hi", "end"])
  })

  it("keeps bytes beyond ASCII as they are, one character a byte", () => {
    const [event] = Lab.asked().receive(Lab.bytes(response(["x: \x80\xff", "content-length: 0"])))
    assert.deepStrictEqual(event?._tag === "Head" && event.head.fields[0], ["x", "\x80\xff"])
  })
})

describe("a body ends", () => {
  it("at its length", () => {
    assert.deepStrictEqual(answer(response(["content-length: 5"], "hello")), ["200 5", "data hello", "end"])
    assert.deepStrictEqual(answer(response(["content-length: 0"])), ["200 0", "end"])
  })

  it("behind the last chunk and its trailers, which are kept apart", () => {
    const chunks = "5\r\nhello\r\n1;a=b;c=\"d\"\r\n \r\n0a \t;x\r\n0123456789\r\n000\r\nX-Sum: 9\r\nX-Sum:10\r\n\r\n"
    assert.deepStrictEqual(answer(response(["Transfer-Encoding: Chunked"], chunks)), [
      "200 ?",
      "data hello 0123456789",
      "end x-sum=9 x-sum=10",
    ])
  })

  it("with the connection, where nothing else says so, and the connection with it", () => {
    const connection = Lab.asked()
    assert.deepStrictEqual(Lab.told(connection.receive(Lab.bytes(response([], "all that")))), ["200 ?", "data all that"])
    assert.strictEqual(connection.room, 0)
    assert.deepStrictEqual(Lab.told(connection.receive(Lab.bytes(" comes"))), ["data  comes"])
    assert.deepStrictEqual(Lab.told(connection.closed("ended")), ["end", "retired announced"])
  })

  it("at once where the status or the method has none", () => {
    for (const status of ["204 No Content", "304 Not Modified"]) {
      assert.deepStrictEqual(answer(response([], "", status)), [`${status.slice(0, 3)} 0`, "end"])
    }
    assert.deepStrictEqual(answer(response(["content-length: 10"], "", "304 Not Modified")), ["304 0", "end"])
    assert.deepStrictEqual(answer(response(["transfer-encoding: chunked"], "", "304 Not Modified")), ["304 0", "end"])
    for (const line of ["content-length: 10", "transfer-encoding: chunked", "x: y"]) {
      assert.deepStrictEqual(answer(response([line]), head), ["200 0", "end"])
    }
    assert.deepStrictEqual(answer(response(["content-length: 0"], "", "204 No Content")), ["204 0", "end"])
    assert.deepStrictEqual(answer(response(["content-length: 3"], "abc", "205 Reset Content")), ["205 3", "data abc", "end"])
  })
})

describe("informational heads", () => {
  it("go ahead of the final one and end nothing", () => {
    const heads = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 102\r\nx: y\r\n\r\n"
    const connection = Lab.asked()
    const events = connection.receive(Lab.bytes(heads))
    assert.deepStrictEqual(Lab.told(events), ["100", "103", "102"])
    assert.deepStrictEqual(events[1]?._tag === "Informational" && events[1].fields, [["link", "</a>"]])
    assert.deepStrictEqual(Lab.told(connection.receive(Lab.bytes(response(["content-length: 0"])))), ["200 0", "end"])
    assert.strictEqual(connection.room, 1)
  })

  it("are counted, anew for every exchange", () => {
    const options = { maxInformational: 2 }
    const hint = "HTTP/1.1 103 Early Hints\r\n\r\n"
    const connection = Lab.asked(get, options)
    for (let exchange = 1; exchange <= 3; exchange++) {
      const events = connection.receive(Lab.bytes(hint + hint + response(["content-length: 0"])))
      assert.deepStrictEqual(Lab.told(events), ["103", "103", "200 0", "end"])
      connection.trySend(get)
    }
    assert.strictEqual(broken(hint + hint + hint, get, options), "informational head 28 2")
    assert.strictEqual(broken(hint, get, { maxInformational: 0 }), "informational head 28 0")
  })
})

describe("a switch of protocols", () => {
  const accepted = response(["Connection: Upgrade", "Upgrade: WebSocket"], "\x81\x00rest", "101 Switching Protocols")

  it("hands over what came behind the head, and takes no request any more", () => {
    const connection = Lab.asked(upgrade)
    assert.deepStrictEqual(Lab.told(connection.receive(Lab.bytes(accepted))), ["101 0", "switched \x81\x00rest"])
    assert.strictEqual(connection.isRetired, true)
    assert.deepStrictEqual(connection.trySend(get), { _tag: "Unsent", request: get, why: "retired" })
    assert.deepStrictEqual(Lab.told(connection.receive(Lab.bytes("raw"))), ["data raw"])
    assert.deepStrictEqual(connection.closed("ended"), [])
  })

  it("follows a 2xx to CONNECT, whatever that says of a body", () => {
    for (const lines of [[], ["content-length: 5"], ["transfer-encoding: chunked"], ["content-length: x"]]) {
      assert.deepStrictEqual(answer(response(lines, "hello"), connect), ["200 0", "switched hello"])
    }
    assert.deepStrictEqual(answer(response([], "", "299 Well"), connect), ["299 0", "switched "])
  })

  it("does not follow another answer, which is read as any other", () => {
    assert.deepStrictEqual(answer(response(["content-length: 2"], "no", "407 Auth"), connect), ["407 2", "data no", "end"])
    assert.deepStrictEqual(answer(response(["content-length: 2"], "ok"), upgrade), ["200 2", "data ok", "end"])
  })

  it("may come behind informational heads", () => {
    assert.deepStrictEqual(answer(`HTTP/1.1 100\r\n\r\n${accepted}`, upgrade), ["100", "101 0", "switched \x81\x00rest"])
  })

  it("is refused where it was not offered, or is to something else", () => {
    const lines = ["connection: upgrade", "upgrade: websocket"]
    const to = (changed: ReadonlyArray<string>) => response(changed, "", "101 Switching Protocols")
    assert.match(broken(to(lines))!, /^unasked-switch head /)
    for (const bad of [["upgrade: websocket"], ["connection: upgrade"], [lines[0]!, "upgrade: h2c"], [...lines, "upgrade: h2c"]]) {
      assert.match(broken(to(bad), upgrade)!, /^unasked-switch head /)
    }
    assert.match(broken(to(lines).replace("1.1", "1.0"), upgrade)!, /^unasked-switch head /)
    assert.match(broken(to(lines), connect)!, /^unasked-switch head /)
  })

  it("is refused before all of the request was sent", () => {
    const connection = Lab.asked({ ...upgrade, method: "POST", body: { bytes: 2 } })
    const [failed] = Lab.told(connection.receive(Lab.bytes(accepted)))
    assert.match(failed!, /^failed unasked-switch head /)
    const whole = Lab.asked({ ...upgrade, method: "POST", body: Lab.bytes("ab") })
    assert.deepStrictEqual(Lab.told(whole.receive(Lab.bytes(accepted))), ["101 0", "switched \x81\x00rest"])
  })
})

describe("a connection lives on", () => {
  const kept = (version: string, ...lines: ReadonlyArray<string>): boolean => {
    const connection = Lab.asked()
    const events = Lab.told(
      connection.receive(Lab.bytes([`HTTP/${version} 200 OK`, "content-length: 0", ...lines, "", ""].join("\r\n"))),
    )
    assert.deepStrictEqual(events, connection.room === 1 ? ["200 0", "end"] : ["200 0", "end", "retired announced"])
    return connection.room === 1
  }

  it("in HTTP/1.1 unless somebody says close, in HTTP/1.0 where the peer says keep-alive", () => {
    assert.deepStrictEqual(
      [kept("1.1"), kept("1.1", "connection: keep-alive"), kept("1.0"), kept("1.0", "connection: Keep-Alive")],
      [true, true, false, true],
    )
    for (const value of ["close", "Close", "keep-alive, close", "close,x", " , close", "x ,\tclose"]) {
      assert.deepStrictEqual([kept("1.1", `connection: ${value}`), kept("1.0", `connection: ${value}`)], [false, false])
    }
    assert.strictEqual(kept("1.1", "connection: keep-alive", "connection: close"), false)
    assert.strictEqual(kept("1.1", "connection: closed, clos, x-close"), true)
  })

  it("not where the list cannot be read, since it may say close to somebody else", () => {
    for (const value of ["\"close\"", "close;q=1", "keep-alive close", "a b"]) {
      assert.strictEqual(kept("1.1", `connection: ${value}`), false)
    }
  })

  it("not where the request itself said close", () => {
    const connection = Lab.asked({ ...get, fields: [["Connection", "x, Close"]] })
    assert.deepStrictEqual(Lab.told(connection.receive(Lab.bytes(response(["content-length: 0"])))), [
      "200 0",
      "end",
      "retired announced",
    ])
  })
})

/** One row a way to break a rule: what is sent, and the rule with its part and byte. */
const status = (line: string): string => `${line}\r\ncontent-length: 0\r\n\r\n`
const fields = (...lines: ReadonlyArray<string>): string => `HTTP/1.1 200 OK\r\n${lines.join("\r\n")}\r\n\r\n`
const chunked = (body: string): string => `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${body}`
const rows: ReadonlyArray<readonly [title: string, sent: string, rule: string]> = [
  ["another protocol", "SSH-2.0-x\r\n", "version head 0"],
  ["HTTP/0.9, which is no head at all", "<html>", "version head 0"],
  ["a lower-case name", status("http/1.1 200 OK"), "version head 0"],
  ["HTTP/2.0", status("HTTP/2.0 200 OK"), "version head 5"],
  ["HTTP/1.2, of which nobody knows how it is framed", status("HTTP/1.2 200 OK"), "version head 7"],
  ["HTTP/1.", status("HTTP/1. 200 OK"), "version head 7"],
  ["HTTP/1.10", status("HTTP/1.10 200 OK"), "status-line head 8"],
  ["an empty line ahead", `\r\n${status("HTTP/1.1 200 OK")}`, "version head 0"],
  ["a line feed ahead", `\n${status("HTTP/1.1 200 OK")}`, "version head 0"],
  ["a space ahead", ` ${status("HTTP/1.1 200 OK")}`, "version head 0"],
  ["two spaces before the status", status("HTTP/1.1  200 OK"), "status-line head 9"],
  ["a tab before the status", status("HTTP/1.1\t200 OK"), "status-line head 8"],
  ["a status of two digits", status("HTTP/1.1 99 OK"), "status-line head 11"],
  ["a status of four digits", status("HTTP/1.1 1000 OK"), "status-line head 12"],
  ["a status below 100", status("HTTP/1.1 099 OK"), "status-line head 9"],
  ["a status with a sign", status("HTTP/1.1 +20 OK"), "status-line head 9"],
  ["no status", status("HTTP/1.1 OK"), "status-line head 9"],
  ["a tab before the reason", status("HTTP/1.1 200\tOK"), "status-line head 12"],
  ["NUL in the reason", status("HTTP/1.1 200 O\0K"), "control head 14"],
  ["DEL in the reason", status("HTTP/1.1 200 O\x7fK"), "control head 14"],
  ["LF behind the status", "HTTP/1.1 200\ncontent-length: 0\n\n", "bare-lf head 12"],
  ["LF behind the reason", "HTTP/1.1 200 OK\ncontent-length: 0\n\n", "bare-lf head 15"],
  ["CR alone behind the reason", "HTTP/1.1 200 OK\rx: y\r\n\r\n", "bare-cr head 16"],
  ["LF behind a value", "HTTP/1.1 200 OK\r\nx: y\ncontent-length: 0\r\n\r\n", "bare-lf head 21"],
  ["LF as the empty line", "HTTP/1.1 200 OK\r\nx: y\r\n\n", "bare-lf head 23"],
  ["CR alone in a value", fields("x: y\rz"), "bare-cr head 22"],
  ["CR CR LF", fields("x: y\r"), "bare-cr head 22"],
  ["CR alone as the empty line", "HTTP/1.1 200 OK\r\nx: y\r\n\rz", "bare-cr head 24"],
  ["NUL in a value", fields("x: a\0b"), "control head 21"],
  ["a bell in a value", fields("x: \x07"), "control head 20"],
  ["DEL in a value", fields("x: \x7f"), "control head 20"],
  ["a folded line", fields("x: a", " b"), "fold head 23"],
  ["a folded line by a tab", fields("x: a", "\tb"), "fold head 23"],
  ["a fold as the first line", fields(" x: a"), "fold head 17"],
  ["a space before the colon", fields("content-length : 5"), "field-name head 31"],
  ["a tab before the colon", fields("content-length\t: 5"), "field-name head 31"],
  ["no name", fields(": a"), "field-name head 17"],
  ["no colon", fields("content-length"), "field-name head 31"],
  ["a line feed in a name", fields("x\ny: z"), "bare-lf head 18"],
  ["a byte beyond ASCII in a name", fields("x\xe9: y"), "field-name head 18"],
  ["NUL in a name", fields("x\0: y"), "field-name head 18"],
  ["a name in quotes", fields("\"x\": y"), "field-name head 17"],
  ["a name in brackets", fields("a[b]: y"), "field-name head 18"],
  ["a length with a sign", fields("content-length: +5"), "content-length head 39"],
  ["a negative length", fields("content-length: -1"), "content-length head 39"],
  ["a hexadecimal length", fields("content-length: 0x5"), "content-length head 40"],
  ["a length with a leading zero", fields("content-length: 05"), "content-length head 39"],
  ["two zeros", fields("content-length: 00"), "content-length head 39"],
  ["a length with a fraction", fields("content-length: 5.0"), "content-length head 40"],
  ["a length with an exponent", fields("content-length: 5e1"), "content-length head 40"],
  ["a length with a separator", fields("content-length: 1_0"), "content-length head 40"],
  ["no length", fields("content-length: "), "content-length head 37"],
  ["a length with a blank in it", fields("content-length: 1 0"), "content-length head 40"],
  ["a list of lengths that are one", fields("content-length: 5, 5"), "content-length head 41"],
  ["two lengths that are one", fields("content-length: 5", "content-length: 5"), "content-length head 57"],
  ["two lengths", fields("content-length: 5", "Content-Length: 6"), "content-length head 57"],
  ["a length above 2^53 - 1", fields("content-length: 9007199254740992"), "content-length head 53"],
  ["a length beyond 64 bits", fields("content-length: 18446744073709551617"), "content-length head 57"],
  ["a length in other digits", fields("content-length: \xb2"), "content-length head 38"],
  ["a length and a coding", fields("content-length: 5", "transfer-encoding: chunked"), "two-framings head 66"],
  ["a coding and a length", fields("transfer-encoding: chunked", "content-length: 5"), "two-framings head 66"],
  ["a coding and a length of 0", fields("transfer-encoding: chunked", "content-length: 0"), "two-framings head 66"],
  ["chunked twice in a list", fields("transfer-encoding: chunked, chunked"), "transfer-encoding head 56"],
  ["chunked twice in two lines", fields("transfer-encoding: chunked", "transfer-encoding: chunked"), "transfer-encoding head 75"],
  ["another coding", fields("transfer-encoding: gzip"), "transfer-encoding head 44"],
  ["a coding around chunked", fields("transfer-encoding: gzip, chunked"), "transfer-encoding head 53"],
  ["chunked that is not last", fields("transfer-encoding: chunked, gzip"), "transfer-encoding head 53"],
  ["identity", fields("transfer-encoding: identity"), "transfer-encoding head 48"],
  ["chunked with a parameter", fields("transfer-encoding: chunked;q=1"), "transfer-encoding head 51"],
  ["chunked in quotes", fields("transfer-encoding: \"chunked\""), "transfer-encoding head 49"],
  ["xchunked", fields("transfer-encoding: xchunked"), "transfer-encoding head 48"],
  ["no coding", fields("transfer-encoding:"), "transfer-encoding head 39"],
  ["a comma behind chunked", fields("transfer-encoding: chunked,"), "transfer-encoding head 48"],
  ["a vertical tab before chunked", fields("transfer-encoding: \x0bchunked"), "control head 36"],
  ["a coding in HTTP/1.0", chunked("0\r\n\r\n").replace("/1.1", "/1.0"), "old-transfer-encoding head 47"],
  ["a body with 204", "HTTP/1.1 204 No\r\ncontent-length: 5\r\n\r\nhello", "framed-without-body head 38"],
  ["chunks with 204", "HTTP/1.1 204 No\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n", "framed-without-body head 47"],
  ["a body with 100", "HTTP/1.1 100 Go\r\ncontent-length: 5\r\n\r\nhello", "framed-without-body head 38"],
  ["chunks with 103", "HTTP/1.1 103 Go\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n", "framed-without-body head 47"],
  ["no size of a chunk", chunked("\r\n"), "chunk-size body 0"],
  ["an extension in place of a size", chunked(";a\r\n"), "chunk-size body 0"],
  ["a size with a sign", chunked("+5\r\nhello\r\n"), "chunk-size body 0"],
  ["a negative size", chunked("-5\r\nhello\r\n"), "chunk-size body 0"],
  ["a size with a prefix", chunked("0x5\r\nhello\r\n"), "chunk-size body 1"],
  ["a size with a separator", chunked("1_0\r\n"), "chunk-size body 1"],
  ["a size that is no number", chunked("g\r\n"), "chunk-size body 0"],
  ["a blank before a size", chunked(" 5\r\nhello\r\n"), "chunk-size body 0"],
  ["a blank behind a size", chunked("5 \r\nhello\r\n"), "chunk-size body 2"],
  ["a blank in a size", chunked("5 5\r\n"), "chunk-size body 2"],
  ["a size of 2^53", chunked("20000000000000\r\n"), "chunk-size body 13"],
  ["a size beyond 64 bits", chunked("10000000000000005\r\n"), "chunk-size body 14"],
  ["a size of seventeen digits", chunked("00000000000000005\r\n"), "chunk-size body 16"],
  ["LF behind a size", chunked("5\nhello\r\n"), "bare-lf body 1"],
  ["LF behind an extension", chunked("5;a\nhello\r\n"), "bare-lf body 3"],
  ["CR alone behind a size", chunked("5\rhello\r\n"), "bare-cr body 2"],
  ["CR alone in an extension", chunked("5;a\rb\r\nhello\r\n"), "bare-cr body 4"],
  ["NUL in an extension", chunked("5;a\0\r\nhello\r\n"), "control body 3"],
  ["a chunk that is longer than its size", chunked("5\r\nhello!\r\n"), "chunk-end body 8"],
  ["LF behind a chunk", chunked("5\r\nhello\n0\r\n\r\n"), "chunk-end body 8"],
  ["CR alone behind a chunk", chunked("5\r\nhello\r0\r\n\r\n"), "chunk-end body 9"],
  ["no end of a chunk", chunked("5\r\nhello0\r\n\r\n"), "chunk-end body 8"],
  ["a folded trailer", chunked("0\r\nx: y\r\n z\r\n\r\n"), "fold trailers 6"],
  ["a trailer without a colon", chunked("0\r\nx\r\n\r\n"), "field-name trailers 1"],
  ["LF behind a trailer", chunked("0\r\nx: y\n\r\n"), "bare-lf trailers 4"],
  ["LF as the end of trailers", chunked("0\r\n\n"), "bare-lf trailers 0"],
  ["a length among the trailers", chunked("0\r\nContent-Length: 5\r\n\r\n"), "trailer-field trailers 21"],
  ["a coding among the trailers", chunked("0\r\ntransfer-encoding: chunked\r\n\r\n"), "trailer-field trailers 30"],
  ["a connection among the trailers", chunked("0\r\nx: y\r\nconnection: close\r\n\r\n"), "trailer-field trailers 27"],
  ["a response that nobody asked for", fields("content-length: 0").repeat(2), "unasked-response idle 0"],
  ["a byte behind the end", `${fields("content-length: 2")}abc`, "unasked-response idle 0"],
  ["an empty line behind the end", `${fields("content-length: 2")}ab\r\n`, "unasked-response idle 0"],
  ["a byte behind the last chunk", `${chunked("0\r\n\r\n")}x`, "unasked-response idle 0"],
]

describe("refused with the rule that is broken, in one piece and byte by byte", () => {
  for (const [title, sent, rule] of rows) {
    it(`${title}: ${rule}`, () => {
      assert.strictEqual(broken(sent), rule)
      const drip = Lab.asked()
      const events = Lab.told(Lab.fed(drip, Lab.bytes(sent), [1]))
      assert.deepStrictEqual(events, answer(sent))
      assert.deepStrictEqual([drip.room, drip.isRetired, drip.retainedBytes], [0, true, 0])
      assert.deepStrictEqual([drip.receive(Lab.bytes("more")), drip.closed("reset")], [[], []])
    })
  }

  it("has a row for every rule but the limits and the switch, which have tests of their own", async () => {
    const { readFileSync } = await import("node:fs")
    const source = readFileSync(new URL("../../core/http/HttpFault.ts", import.meta.url), "utf8")
    const rules = [...source.matchAll(/^ {2}\| "([\w-]+)"$/gm)].map((one) => one[1]!)
    const limits = ["line-bytes", "head-bytes", "trailer-bytes", "fields", "informational"]
    const others = [...limits, "chunk-line-bytes", "chunk-overhead", "unasked-switch"]
    const seen = new Set(rows.map(([, , rule]) => rule.split(" ")[0]!))
    assert.deepStrictEqual(rules.filter((rule) => !seen.has(rule)), others)
    assert.strictEqual(rules.length, seen.size + others.length)
  })
})
