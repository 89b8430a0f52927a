/** What a connection certifies: unsent, accepted, boundary, reusable, drained, closed cleanly, cut. */
import { assert, describe, it } from "vitest"
import * as Result from "effect/Result"
import type { EngineConnection } from "../../core/http/HttpEngine.ts"
import type { HttpRequest } from "../../core/http/HttpMessage.ts"
import * as Lab from "../support/http/Lab.ts"

const { get, head } = Lab
const ok = (body: string, ...lines: ReadonlyArray<string>): Uint8Array =>
  Lab.bytes([`HTTP/1.1 200 OK`, `content-length: ${body.length}`, ...lines, "", body].join("\r\n"))
const half = Lab.bytes("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhello")
const standing = ({ isRetired, room }: EngineConnection) => ({ room, isRetired })
const open = { room: 1, isRetired: false }
const busy = { room: 0, isRetired: false }
const retired = { room: 0, isRetired: true }

describe("a request is", () => {
  it("accepted where there is room, under a number that is not used again", () => {
    const connection = Lab.open()
    for (let exchange = 1; exchange <= 3; exchange++) {
      assert.deepStrictEqual(standing(connection), open)
      assert.deepStrictEqual(connection.trySend(get), { _tag: "Accepted", exchange })
      assert.deepStrictEqual(standing(connection), busy)
      connection.takeOutput()
      const events = connection.receive(ok("hi"))
      assert.deepStrictEqual(events.map((event) => "exchange" in event && event.exchange), Array(3).fill(exchange))
    }
  })

  it("WT26: handed back unsent, and no byte of it is out, as long as a response is incomplete", () => {
    const connection = Lab.asked()
    const other = { ...get, path: "/other" }
    for (const piece of [half.slice(0, 10), half.slice(10), Lab.bytes("worl")]) {
      connection.receive(piece)
      const answer = connection.trySend(other)
      assert.deepStrictEqual(answer, { _tag: "Unsent", request: other, why: "busy" })
      assert.strictEqual(answer._tag === "Unsent" && answer.request, other)
      assert.deepStrictEqual(connection.takeOutput(), [])
    }
    connection.receive(Lab.bytes("d"))
    assert.strictEqual(connection.trySend(other)._tag, "Accepted")
  })

  it("handed back unsent as long as its predecessor is not all out, though that was answered", () => {
    const connection = Lab.asked({ ...get, method: "POST", body: { bytes: 3 } })
    assert.deepStrictEqual(Lab.told(connection.receive(ok("early"))), ["200 5", "data early", "end"])
    assert.deepStrictEqual(standing(connection), busy)
    assert.strictEqual(Result.getOrThrow(connection.upload(1, Lab.bytes("abc"))), 3)
    assert.deepStrictEqual(standing(connection), busy)
    assert.strictEqual(Lab.text(...connection.takeOutput()), "abc")
    assert.deepStrictEqual(standing(connection), open)
    assert.strictEqual(connection.trySend(get)._tag, "Accepted")
  })

  it("handed back unsent where it asks for what the protocol has not", () => {
    const connection = Lab.open()
    const request = { ...get, method: "CONNECT", protocol: "websocket", path: "/chat" }
    assert.deepStrictEqual(connection.trySend(request), { _tag: "Unsent", request, why: "unsupported" })
    assert.deepStrictEqual([standing(connection), connection.takeOutput()], [open, []])
  })

  it("handed back unsent where it has chunks and its peer is of HTTP/1.0, and of any length sent", () => {
    const connection = Lab.asked()
    connection.receive(Lab.bytes("HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 0\r\n\r\n"))
    assert.deepStrictEqual(standing(connection), open)
    const chunked: HttpRequest = { ...get, method: "POST", body: { bytes: undefined } }
    assert.deepStrictEqual(connection.trySend(chunked), { _tag: "Unsent", request: chunked, why: "unsupported" })
    assert.deepStrictEqual([connection.takeOutput(), standing(connection)], [[], open])
    assert.strictEqual(connection.trySend({ ...chunked, body: { bytes: 0 } })._tag, "Accepted")
    connection.takeOutput()
    connection.receive(ok(""))
    assert.strictEqual(connection.trySend(chunked)._tag, "Accepted")
  })

  it("not answered before it was written: what comes then nobody asked for", () => {
    const connection = Lab.open()
    connection.trySend(get)
    const said = ["failed unasked-response idle 0", "retired fault unasked-response idle 0"]
    assert.deepStrictEqual(Lab.told(connection.receive(ok("hi"))), said)
    const next = Lab.asked()
    next.receive(ok("hi"))
    next.trySend(get)
    assert.deepStrictEqual(Lab.told(next.receive(ok("hi"))), said)
  })

  it("handed back unsent by a retired connection", () => {
    const connection = Lab.open()
    connection.closed("ended")
    assert.deepStrictEqual(connection.trySend(get), { _tag: "Unsent", request: get, why: "retired" })
    assert.deepStrictEqual(connection.takeOutput(), [])
  })
})

describe("the sending side of an exchange has ended", () => {
  it("once its request was taken, with the last byte or the end of an upload of unknown length", () => {
    assert.isTrue(Lab.asked().isSendEnded(1))
    const sized = Lab.asked({ ...get, method: "POST", body: { bytes: 3 } })
    const open = Lab.asked({ ...get, method: "POST", body: { bytes: undefined } })
    const ended = (): ReadonlyArray<boolean> => [sized.isSendEnded(1), open.isSendEnded(1)]
    sized.upload(1, Lab.bytes("ab"))
    open.upload(1, Lab.bytes("abc"))
    assert.deepStrictEqual(ended(), [false, false])
    sized.upload(1, Lab.bytes("c"))
    open.finish(1)
    assert.deepStrictEqual(ended(), [false, false])
    for (const connection of [sized, open]) connection.takeOutput()
    assert.deepStrictEqual(ended(), [true, true])
  })

  it("or once it is cut", () => {
    const connection = Lab.asked({ ...get, method: "POST", body: { bytes: 3 } })
    connection.cancel(1)
    assert.isTrue(connection.isSendEnded(1))
  })
})

describe("a boundary", () => {
  it("WT1: of a response that was read to its end leaves the connection reusable", () => {
    const connection = Lab.open()
    for (let i = 0; i < 3; i++) {
      assert.strictEqual(connection.trySend(get)._tag, "Accepted")
      connection.takeOutput()
      assert.deepStrictEqual(Lab.told(connection.receive(ok("hi"))), ["200 2", "data hi", "end"])
    }
    assert.deepStrictEqual(standing(connection), open)
  })

  it("WT9: of a response that says close retires it", () => {
    const connection = Lab.asked()
    assert.deepStrictEqual(Lab.told(connection.receive(ok("", "Connection: close"))), [
      "200 0",
      "end",
      "retired announced",
    ])
    assert.deepStrictEqual(standing(connection), retired)
    assert.deepStrictEqual(connection.closed("ended"), [])
  })

  it("of a response that an informational head said close ahead of retires it, too", () => {
    const connection = Lab.asked()
    const hints = Lab.bytes("HTTP/1.1 103 Early Hints\r\nconnection: close\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n")
    assert.deepStrictEqual(Lab.told(connection.receive(hints)), ["103", "103"])
    assert.deepStrictEqual(Lab.told(connection.receive(ok(""))), ["200 0", "end", "retired announced"])
  })

  it("WT12: of a 503 leaves it reusable", () => {
    const connection = Lab.asked()
    connection.receive(Lab.bytes("HTTP/1.1 503 Busy\r\ncontent-length: 4\r\n\r\nbusy"))
    assert.deepStrictEqual(standing(connection), open)
  })

  it("WT22: of a HEAD with a length comes with its head, and what follows is the next response", () => {
    const connection = Lab.asked(head)
    assert.deepStrictEqual(Lab.told(connection.receive(Lab.bytes("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n"))), [
      "200 0",
      "end",
    ])
    connection.trySend(get)
    connection.takeOutput()
    assert.deepStrictEqual(Lab.told(connection.receive(ok("hello"))), ["200 5", "data hello", "end"])
  })

  it("WT23 WT24: of a 204 without a length and of a 304 with one leaves it reusable", () => {
    const connection = Lab.asked()
    for (
      const answer of ["HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 304 Not Modified\r\ncontent-length: 9\r\n\r\n"]
    ) {
      assert.strictEqual(Lab.told(connection.receive(Lab.bytes(answer))).at(-1), "end")
      assert.deepStrictEqual(standing(connection), open)
      connection.trySend(get)
      connection.takeOutput()
    }
    assert.deepStrictEqual(Lab.told(connection.receive(ok("hello"))), ["200 5", "data hello", "end"])
  })

  it("with bytes behind it retires it, whether they come with it or later", () => {
    const connection = Lab.asked()
    connection.receive(ok("hi"))
    assert.deepStrictEqual(Lab.told(connection.receive(Lab.bytes("H"))), ["retired fault unasked-response idle 0"])
    assert.deepStrictEqual(standing(connection), retired)
    assert.deepStrictEqual(Lab.answer(Lab.text(ok("hi"), ok("no"))), [
      "200 2",
      "data hi",
      "end",
      "retired fault unasked-response idle 0",
    ])
    assert.deepStrictEqual(Lab.told(Lab.open().receive(Lab.bytes("H"))), ["retired fault unasked-response idle 0"])
  })

  it("with bytes behind it retires it also while the upload goes on", () => {
    const connection = Lab.asked({ ...get, method: "POST", body: { bytes: undefined } })
    connection.receive(ok("hi"))
    assert.deepStrictEqual(Lab.told(connection.receive(ok("no"))), [
      "sent stopped",
      "retired fault unasked-response idle 0",
    ])
    const late = connection.upload(1, Lab.bytes("x"))
    assert.strictEqual(Result.isFailure(late) && late.failure._tag, "ExchangeOver")
    assert.strictEqual(Lab.cancel(connection, 1), "drained")
  })
})

describe("an exchange that nobody reads on is", () => {
  it("WT5: drained where both of its messages had ended, and nothing has changed", () => {
    const connection = Lab.asked()
    connection.receive(ok("hello"))
    assert.strictEqual(Lab.cancel(connection, 1), "drained")
    assert.deepStrictEqual(standing(connection), open)
  })

  it("WT6: cut where its response has not, and the connection with it", () => {
    for (const piece of ["", "HTTP/1.1 2", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nh"]) {
      const connection = Lab.asked()
      connection.receive(Lab.bytes(piece))
      assert.strictEqual(Lab.cancel(connection, 1), "cut")
      assert.deepStrictEqual([standing(connection), connection.retainedBytes], [retired, 0])
      assert.deepStrictEqual([connection.receive(Lab.bytes("i")), connection.closed("ended")], [[], []])
      assert.strictEqual(Lab.cancel(connection, 1), "drained")
    }
  })

  it("cut where its request has not, though the response has", () => {
    const connection = Lab.asked({ ...get, method: "POST", body: { bytes: 9 } })
    connection.receive(ok("early"))
    assert.strictEqual(Lab.cancel(connection, 1), "cut")
    assert.deepStrictEqual(standing(connection), retired)
  })

  it("drained though the connection retired at its boundary", () => {
    const connection = Lab.asked()
    connection.receive(ok("", "connection: close"))
    assert.strictEqual(Lab.cancel(connection, 1), "drained")
  })

  it("never another exchange than the one that is named", () => {
    const connection = Lab.asked()
    connection.receive(ok("hi"))
    connection.trySend(get)
    connection.takeOutput()
    assert.deepStrictEqual([Lab.cancel(connection, 1), Lab.cancel(connection, 3)], ["drained", "drained"])
    assert.deepStrictEqual(standing(connection), busy)
    assert.deepStrictEqual(Lab.told(connection.receive(ok("hi"))), ["200 2", "data hi", "end"])
  })
})

describe("the end of a connection", () => {
  const end = (how: "ended" | "reset", ...pieces: ReadonlyArray<string>): ReadonlyArray<string> => {
    const connection = Lab.asked()
    for (const piece of pieces) connection.receive(Lab.bytes(piece))
    const told = Lab.told(connection.closed(how))
    assert.deepStrictEqual([standing(connection), connection.retainedBytes], [retired, 0])
    assert.deepStrictEqual([connection.closed("reset"), connection.receive(Lab.bytes("x"))], [[], []])
    return told
  }
  const chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"

  it("WT7: between two exchanges is clean, or cut where it is a reset", () => {
    const fresh = Lab.open()
    assert.deepStrictEqual(Lab.told(fresh.closed("ended")), ["retired closed"])
    const used = Lab.asked()
    used.receive(ok("hi"))
    assert.deepStrictEqual(Lab.told(used.closed("ended")), ["retired closed"])
    assert.deepStrictEqual(Lab.told(Lab.open().closed("reset")), ["retired cut"])
  })

  it("WT20: before the head tells a clean end from a reset, and how much of the head there was", () => {
    assert.deepStrictEqual(end("ended"), ["failed ended head 0", "retired cut ended head 0"])
    assert.deepStrictEqual(end("ended", "HTTP/1.1 2", "00"), ["failed ended head 12", "retired cut ended head 12"])
    assert.deepStrictEqual(end("ended", "HTTP/1.1 100\r\n\r\n"), ["failed ended head 0", "retired cut ended head 0"])
  })

  it("WT16 WT17: by a reset before the head is no clean end", () => {
    assert.deepStrictEqual(end("reset"), ["failed reset head 0", "retired cut reset head 0"])
  })

  it("WT18: by a reset inside a body cuts it, however it is framed", () => {
    assert.deepStrictEqual(end("reset", Lab.text(half)), ["failed reset body 5 10", "retired cut reset body 5 10"])
    assert.deepStrictEqual(end("reset", `${chunked}5\r\nhel`), ["failed reset body 3", "retired cut reset body 3"])
    assert.deepStrictEqual(end("reset", "HTTP/1.1 200 OK\r\n\r\nhello"), [
      "failed reset body 5",
      "retired cut reset body 5",
    ])
  })

  it("WT19: by a clean end inside a body truncates it, unless it was to end so", () => {
    assert.deepStrictEqual(end("ended", Lab.text(half)), ["failed ended body 5 10", "retired cut ended body 5 10"])
    for (
      const rest of ["", "5", "5\r\nhello", "5\r\nhello\r\n", "5\r\nhello\r\n0\r\n", "5\r\nhello\r\n0\r\nx: y\r\n"]
    ) {
      const received = rest.includes("hello") ? 5 : 0
      assert.deepStrictEqual(end("ended", chunked + rest), [
        `failed ended body ${received}`,
        `retired cut ended body ${received}`,
      ])
    }
    assert.deepStrictEqual(end("ended", "HTTP/1.1 200 OK\r\n\r\nhello"), ["end", "retired announced"])
  })

  it("while an upload goes on whose response has ended is no clean end", () => {
    const connection = Lab.asked({ ...get, method: "POST", body: { bytes: 9 } })
    connection.receive(ok("early"))
    assert.deepStrictEqual(Lab.told(connection.closed("ended")), ["sent stopped", "retired cut"])
    assert.strictEqual(Lab.cancel(connection, 1), "drained")
  })

  it("that ends a body stops an unfinished upload", () => {
    const connection = Lab.asked({ ...get, method: "POST", body: { bytes: 9 } })
    connection.receive(Lab.bytes("HTTP/1.1 413 No\r\n\r\ntoo much"))
    assert.deepStrictEqual(Lab.told(connection.closed("ended")), ["end", "sent stopped", "retired announced"])
    const whole = Lab.asked()
    whole.receive(Lab.bytes("HTTP/1.1 200 OK\r\n\r\n"))
    assert.deepStrictEqual(Lab.told(whole.closed("ended")), ["end", "retired announced"])
    for (const each of [connection, whole]) assert.strictEqual(Lab.cancel(each, 1), "drained")
  })
})

it("an upload goes on behind an informational head, and stops at a response that closes", () => {
  const connection = Lab.asked({ ...get, method: "POST", body: { bytes: 4 }, fields: [["expect", "100-continue"]] })
  assert.deepStrictEqual(Lab.told(connection.receive(Lab.bytes("HTTP/1.1 100 Continue\r\n\r\n"))), ["100"])
  assert.strictEqual(Result.getOrThrow(connection.upload(1, Lab.bytes("ab"))), 2)
  const refused = Lab.bytes("HTTP/1.1 413 No\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
  assert.deepStrictEqual(Lab.told(connection.receive(refused)), ["413 0", "end", "sent stopped", "retired announced"])
  const late = connection.upload(1, Lab.bytes("cd"))
  assert.deepInclude(Result.isFailure(late) && late.failure, { _tag: "ExchangeOver", exchange: 1 })
  const end = connection.finish(1)
  assert.strictEqual(Result.isFailure(end) && end.failure._tag, "ExchangeOver")
  assert.strictEqual(Lab.cancel(connection, 1), "drained")
})

describe("a request that says close itself", () => {
  const last = { ...get, method: "POST", body: { bytes: undefined }, fields: [["connection", "close"]] } as const
  const early = (...lines: ReadonlyArray<string>): EngineConnection => {
    const connection = Lab.asked(last)
    connection.upload(1, Lab.bytes("a"))
    const told = Lab.told(connection.receive(ok("early", ...lines)))
    const stopped = lines.length > 0 ? ["sent stopped"] : []
    assert.deepStrictEqual(told, ["200 5", "data early", "end", ...stopped, "retired announced"])
    assert.deepStrictEqual([standing(connection), connection.isSendEnded(1)], [retired, lines.length > 0])
    return connection
  }

  it("retires its connection at the end of its response", () => {
    const connection = Lab.asked({ ...get, fields: [["connection", "close"]] })
    assert.deepStrictEqual(Lab.told(connection.receive(ok(""))), ["200 0", "end", "retired announced"])
    assert.deepStrictEqual([connection.receive(ok("more")), connection.closed("reset")], [[], []])
  })

  it("goes on behind its response, where the peer did not say that it closes, and is whole", () => {
    const connection = early()
    assert.deepStrictEqual(connection.receive(Lab.bytes("what follows is nobody's")), [])
    assert.strictEqual(Result.getOrThrow(connection.upload(1, Lab.bytes("b"))), 1)
    assert.deepStrictEqual(connection.trySend(get), { _tag: "Unsent", request: get, why: "retired" })
    Result.getOrThrow(connection.finish(1))
    assert.strictEqual(Lab.text(...connection.takeOutput()), "1\r\na\r\n1\r\nb\r\n0\r\n\r\n")
    assert.deepStrictEqual([standing(connection), connection.isSendEnded(1)], [retired, true])
    assert.deepStrictEqual([connection.receive(ok("more")), connection.closed("ended")], [[], []])
  })

  it("stops where the peer said so, too, or ends", () => {
    const said = early("connection: close")
    assert.deepStrictEqual([said.closed("ended"), said.takeOutput()], [[], []])
    for (const how of ["ended", "reset"] as const) {
      const connection = early()
      assert.deepStrictEqual(Lab.told(connection.closed(how)), ["sent stopped"])
      assert.deepStrictEqual([connection.takeOutput(), connection.isSendEnded(1)], [[], true])
    }
  })

  it("is cut where nobody wants the rest", () => {
    const connection = early()
    assert.deepStrictEqual([Lab.cancel(connection, 1), Lab.cancel(connection, 1)], ["cut", "drained"])
    assert.deepStrictEqual([connection.takeOutput(), connection.closed("ended")], [[], []])
  })
})

it("what came behind a switch is a copy, whatever becomes of what was fed", () => {
  /** As Node's buffer: what it slices is a view. */
  class Pool extends Uint8Array {
    override slice(from?: number, to?: number): Uint8Array<ArrayBuffer> {
      return super.subarray(from, to) as Uint8Array<ArrayBuffer>
    }
  }
  const fed = new Pool(Lab.bytes("HTTP/1.1 101 Yes\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\nfirst"))
  const [, switched] = Lab.asked(Lab.upgrade).receive(fed)
  fed.fill(0)
  assert.strictEqual(switched?._tag === "Switched" && Lab.text(switched.surplus), "first")
})

it("an exchange that has switched has nothing under way: neither cancelling it nor an end of its transport changes it", () => {
  const connection = Lab.asked(Lab.connect)
  const switched = Lab.bytes("HTTP/1.1 200 OK\r\n\r\nfirst")
  assert.deepStrictEqual(Lab.told(connection.receive(switched)), ["200 0", "switched first"])
  assert.deepStrictEqual([Lab.cancel(connection, 1), connection.isSendEnded(1)], ["drained", true])
  assert.deepStrictEqual(Lab.told(connection.receive(Lab.bytes("more"))), ["data more"])
  assert.deepStrictEqual([connection.closed("reset"), standing(connection)], [[], retired])
})

describe("a connection that its owner leaves", () => {
  it("takes no request, and is closed as any other between two of them", () => {
    const connection = Lab.open()
    connection.leave()
    assert.deepStrictEqual(standing(connection), retired)
    assert.deepStrictEqual(connection.trySend(get), { _tag: "Unsent", request: get, why: "retired" })
    assert.deepStrictEqual([connection.takeOutput(), Lab.told(connection.closed("ended"))], [[], ["retired closed"]])
  })

  it("lets its exchange end, both ways", () => {
    const connection = Lab.asked({ ...get, method: "POST", body: { bytes: undefined } })
    connection.leave()
    connection.leave()
    assert.strictEqual(Result.getOrThrow(connection.upload(1, Lab.bytes("a"))), 1)
    assert.deepStrictEqual(Lab.told(connection.receive(ok("hi"))), ["200 2", "data hi", "end"])
    assert.isFalse(connection.isSendEnded(1))
    Result.getOrThrow(connection.finish(1))
    connection.takeOutput()
    assert.deepStrictEqual([standing(connection), connection.isSendEnded(1)], [retired, true])
    assert.match(Lab.told(connection.receive(Lab.bytes("x"))).join(), /^retired fault unasked-response/)
  })

  it("and nobody can be asked whether he is there", () => {
    assert.deepStrictEqual([Lab.open().ping(), Lab.asked().ping()], [false, false])
  })
})

it("nothing is told of an empty piece, and consuming changes nothing", () => {
  const connection = Lab.asked()
  assert.deepStrictEqual(connection.receive(new Uint8Array(0)), [])
  connection.consumed(1, 5)
  assert.deepStrictEqual(standing(connection), busy)
  assert.deepStrictEqual(Lab.open().receive(new Uint8Array(0)), [])
})

it("faults and cuts say where, and nothing of what was sent", () => {
  const [failed] = Lab.asked().receive(Lab.bytes("HTTP/1.1 200 OK\r\nset-cookie: canary\0\r\n\r\n"))
  assert.strictEqual(failed?._tag, "Failed")
  const error = failed?._tag === "Failed" ? failed.error : undefined
  assert.strictEqual(error?.message, "the peer broke the rule control of h1: head, byte 35")
  assert.notInclude(`${error} ${JSON.stringify(error)}`, "canary")
  assert.deepStrictEqual(JSON.parse(JSON.stringify(error)), {
    _tag: "ProtocolFault",
    name: "ProtocolFault",
    protocol: "h1",
    rule: "control",
    part: "head",
    at: 35,
    message: error!.message,
  })
  const cut = Lab.asked()
  cut.receive(half)
  const [, gone] = cut.closed("ended")
  const truncated = gone?._tag === "Retired" ? gone.error?.message : undefined
  assert.strictEqual(truncated, "the connection ended in the body of a response, 5 of 10 bytes in")
})
