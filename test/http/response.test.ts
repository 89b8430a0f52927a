/** Responses as the codec reads them: where each ends, what becomes of its connection, and each rule that it can break. */
import { assert, describe, it } from "vitest"
import { rows } from "../support/http/Broken.ts"
import * as Lab from "../support/http/Lab.ts"

const { answer, broken, connect, get, head, upgrade } = Lab

/** A response of HTTP/1.1 with these lines. */
const response = (lines: ReadonlyArray<string>, body = "", status = "200 OK"): string =>
  [`HTTP/1.1 ${status}`, ...lines, "", body].join("\r\n")

describe("a head", () => {
  it("tells version, status, reason and fields, names in lower case and values without the blanks around them", () => {
    const [event] = Lab.asked().receive(
      Lab.bytes(
        "HTTP/1.0 404 Not \t here\xe9\r\nX-A:1\r\nx-a: \t two words \t \r\nEmpty:\r\nContent-Length: 0\r\n\r\n",
      ),
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

  it("is framed by four names alone, and by none that is as long as one of them", () => {
    const others = ["x-agree: a", "x-offering: close", "x-wants-length: 7", "x-transfer-coding: chunked"]
    assert.deepStrictEqual(answer(response(["content-length: 2", ...others], "hi")), ["200 2", "data hi", "end"])
    const lines = ["connection: upgrade", "x-agree: websocket"]
    assert.match(broken(response(lines, "", "101 Switching Protocols"), upgrade) ?? "", /^unasked-switch /)
  })

  it("may have a list of nothing but commas", () => {
    assert.deepStrictEqual(answer(response(["connection: , ,", "content-length: 2"], "hi")), [
      "200 2",
      "data hi",
      "end",
    ])
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
    const chunks = '5\r\nhello\r\n1;a=b;c="d"\r\n \r\n0a \t;x\r\n0123456789\r\n000\r\nX-Sum: 9\r\nX-Sum:10\r\n\r\n'
    assert.deepStrictEqual(answer(response(["Transfer-Encoding: Chunked"], chunks)), [
      "200 ?",
      "data hello 0123456789",
      "end x-sum=9 x-sum=10",
    ])
  })

  it("with the connection, where nothing else says so, and the connection with it", () => {
    const connection = Lab.asked()
    assert.deepStrictEqual(Lab.told(connection.receive(Lab.bytes(response([], "all that")))), [
      "200 ?",
      "data all that",
    ])
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
    assert.deepStrictEqual(answer(response(["content-length: 3"], "abc", "205 Reset Content")), [
      "205 3",
      "data abc",
      "end",
    ])
  })
})

describe("informational heads", () => {
  it("go ahead of the final one and end nothing", () => {
    const heads =
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 102\r\nx: y\r\n\r\n"
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
      connection.takeOutput()
    }
    assert.strictEqual(broken(hint + hint + hint, get, options), "informational head 28 2")
  })
})

describe("a switch of protocols", () => {
  const accepted = response(["Connection: Upgrade", "Upgrade: WebSocket"], "\x81\x00rest", "101 Switching Protocols")

  it("is refused while the end of the request is not out yet, whether that was given or not", () => {
    const fields = upgrade.fields
    const switching = Lab.bytes("HTTP/1.1 101 x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n")
    for (const isTaken of [false, true]) {
      const connection = Lab.asked({ ...upgrade, method: "POST", fields, body: { bytes: 3 } })
      connection.upload(1, Lab.bytes("abc"))
      if (isTaken) connection.takeOutput()
      const [first = ""] = Lab.told(connection.receive(switching))
      assert.strictEqual(/unasked-switch/.test(first), !isTaken, first)
    }
  })

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
    assert.deepStrictEqual(answer(response(["content-length: 2"], "no", "407 Auth"), connect), [
      "407 2",
      "data no",
      "end",
    ])
    assert.deepStrictEqual(answer(response(["content-length: 2"], "ok"), upgrade), ["200 2", "data ok", "end"])
  })

  it("may come behind informational heads", () => {
    assert.deepStrictEqual(answer(`HTTP/1.1 100\r\n\r\n${accepted}`, upgrade), [
      "100",
      "101 0",
      "switched \x81\x00rest",
    ])
  })

  it("is refused where it was not offered, or is to something else", () => {
    const lines = ["connection: upgrade", "upgrade: websocket"]
    const to = (changed: ReadonlyArray<string>) => response(changed, "", "101 Switching Protocols")
    assert.match(broken(to(lines))!, /^unasked-switch head /)
    for (
      const bad of [["upgrade: websocket"], ["connection: upgrade"], [lines[0]!, "upgrade: h2c"], [
        ...lines,
        "upgrade: h2c",
      ]]
    ) {
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
    for (const value of ['"close"', "close;q=1", "keep-alive close", "a b"]) {
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
    const limits = ["line-bytes", "head-bytes", "trailers-bytes", "fields", "informational"]
    const others = [...limits, "chunk-line-bytes", "chunk-overhead", "unasked-switch"]
    const seen = new Set(rows.map(([, , rule]) => rule.split(" ")[0]!))
    assert.deepStrictEqual(rules.filter((rule) => !seen.has(rule)), others)
    assert.strictEqual(rules.length, seen.size + others.length)
  })
})
