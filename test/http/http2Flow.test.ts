/** Flow control of HTTP/2, both ways and on both levels: nothing is sent that no window allows, and none opens by itself. */
import { assert, describe, it, vi } from "vitest"
import * as fc from "fast-check"
import * as Result from "effect/Result"
import { Streams } from "../../core/http/Http2Streams.ts"
import type { EngineConnection, Event } from "../../core/http/HttpEngine.ts"
import type { Fields, HttpRequest } from "../../core/http/HttpMessage.ts"
import * as Lab from "../support/http/Lab.ts"
import * as Lab2 from "../support/http/Lab2.ts"

const { ask, data, endStream, get, open, response, says, send, settings, windowUpdate, written } = Lab2
const post = (body: HttpRequest["body"]): HttpRequest => ({ ...get, method: "POST", body })
const upload = (connection: EngineConnection, exchange: number, bytes: number): number =>
  Result.getOrThrow(connection.upload(exchange, new Uint8Array(bytes)))
const lines = (connection: EngineConnection): ReadonlyArray<string> =>
  written(connection).filter((line) => line.startsWith("data"))
/** Data in frames as large as may be. */
const bulk = (stream: number, bytes: number): Uint8Array =>
  Lab2.join(
    ...Array.from({ length: Math.ceil(bytes / 16_384) }, (_, i) =>
      data(stream, "x".repeat(Math.min(16_384, bytes - i * 16_384)))),
  )

describe("toward the peer", () => {
  it("an upload goes as far as the stream's window, and on when that opens", () => {
    const connection = open({}, settings([4, 10]))
    ask(connection, post({ bytes: undefined }))
    assert.deepStrictEqual([upload(connection, 1, 8), upload(connection, 1, 8), upload(connection, 1, 8)], [8, 2, 0])
    assert.deepStrictEqual(says(connection, windowUpdate(1, 5)), ["1: writable"])
    assert.deepStrictEqual(says(connection, windowUpdate(1, 1)), [])
    assert.strictEqual(upload(connection, 1, 8), 6)
    assert.deepStrictEqual(says(connection, settings([4, 12])), ["1: writable"])
    assert.deepStrictEqual([upload(connection, 1, 8), connection.isSendEnded(1)], [2, false])
  })

  it("and as far as the connection's", () => {
    const connection = open({}, settings([4, 1_000_000]))
    for (const exchange of [1, 3]) {
      ask(connection, post({ bytes: undefined }))
      assert.strictEqual(upload(connection, exchange, 65_000), exchange === 1 ? 65_000 : 535)
    }
    assert.deepStrictEqual(says(connection, windowUpdate(3, 100)), [])
    assert.deepStrictEqual(says(connection, windowUpdate(0, 10)), ["3: writable"])
    // What was opened for the one that waited is not for who comes before it.
    assert.deepStrictEqual([upload(connection, 1, 4), upload(connection, 3, 100)], [0, 10])
  })

  const ways: Readonly<Record<string, (connection: EngineConnection) => unknown>> = {
    "is cancelled": (connection) => connection.cancel(1),
    "is reset": (connection) => connection.receive(Lab2.reset(1, 8)),
    "breaks a rule": (connection) => connection.receive(windowUpdate(1, 0)),
    "is finished": (connection) => connection.finish(1),
    "is finished with trailers": (connection) => connection.finish(1, [["x", "y"]]),
  }
  for (const [title, ends] of Object.entries(ways)) {
    it(`what was kept for one that ${title} is another's in that step`, () => {
      const connection = open({}, settings([4, 1_000_000]))
      ask(connection, post({ bytes: undefined }))
      assert.strictEqual(upload(connection, 1, 65_545), 65_535)
      ask(connection, post(Lab.bytes("0123456789abcdefghij")))
      assert.deepStrictEqual(says(connection, windowUpdate(0, 10)), ["1: writable"])
      assert.deepStrictEqual(lines(connection), [])
      ends(connection)
      assert.deepStrictEqual(lines(connection).filter((line) => line.startsWith("data 3")), ["data 3 0123456789"])
    })
  }

  it("what was kept for one that the peer did not get is another's in that step", () => {
    const connection = open({}, settings([4, 1_000_000]))
    for (let i = 0; i < 2; i++) ask(connection, post({ bytes: undefined }))
    assert.deepStrictEqual([upload(connection, 3, 65_545), upload(connection, 1, 20)], [65_535, 0])
    assert.deepStrictEqual(says(connection, windowUpdate(0, 10)), ["3: writable"])
    assert.include(says(connection, Lab2.goAway(1, 0)), "1: writable")
    assert.strictEqual(upload(connection, 1, 20), 10)
  })

  it("of one that is cancelled in the line nothing is kept", () => {
    const connection = open({}, settings([4, 1_000_000]))
    ask(connection, post({ bytes: undefined }))
    assert.strictEqual(upload(connection, 1, 65_545), 65_535)
    ask(connection, post(Lab.bytes("0123456789abcdefghij")))
    connection.cancel(1)
    assert.deepStrictEqual(lines(connection), [])
    connection.receive(windowUpdate(0, 20))
    assert.deepStrictEqual(lines(connection), ["data 3 0123456789abcdefghij end"])
  })

  it("SETTINGS look at none that they may not open, and GOAWAY at all of them once", () => {
    const connection = open({ maxIdleFrames: 1_000 }, settings([4, 100]))
    for (let i = 0; i < 50; i++) send(connection)
    send(connection, post(new Uint8Array(1_000)))
    connection.takeOutput()
    const looks = vi.spyOn(Streams.prototype, "all")
    for (let i = 0; i < 100; i++) connection.receive(settings([4, 100 - i]))
    for (let i = 0; i < 50; i++) connection.receive(settings([4, 1 + i]))
    assert.strictEqual(looks.mock.calls.length, 0)
    for (let i = 0; i < 100; i++) connection.receive(Lab2.goAway(200 - 2 * i - 1, 0))
    assert.strictEqual(looks.mock.calls.length, 1)
    looks.mockRestore()
    assert.strictEqual(connection.isRetired, true)
    assert.isTrue(connection.isSendEnded(101))
  })

  it("SETTINGS that make one window too large are a fault, while its stream is under way and has not used it", () => {
    const most = 2 ** 31 - 1
    const begin = (): EngineConnection => {
      const connection = open({}, settings([4, 1_000]))
      for (let i = 0; i < 2; i++) ask(connection, post({ bytes: undefined }))
      assert.deepStrictEqual(says(connection, windowUpdate(1, most - 1_000)), [])
      return connection
    }
    assert.match(says(begin(), settings([4, 1_001])).join(), /retired fault window-overflow settings/)
    const over = begin()
    over.cancel(1)
    assert.deepStrictEqual(says(over, settings([4, most])), [])
    assert.match(says(over, windowUpdate(3, 1)).join(), /^3: failed window-overflow window-update/)
    // Also where there are bytes of it that nobody has consumed.
    const unread = begin()
    says(unread, response(1, 200), data(1, "x", endStream))
    Result.getOrThrow(unread.finish(1))
    assert.deepStrictEqual(says(unread, settings([4, most])), [])
    const used = begin()
    assert.strictEqual(upload(used, 1, 500), 500)
    assert.deepStrictEqual(says(used, settings([4, 1_500])), [])
    assert.match(says(used, settings([4, 1_501])).join(), /retired fault window-overflow settings/)
  })

  it("who waits for the connection's window and has lost his own to SETTINGS is told when both are open", () => {
    const connection = open({}, settings([4, 100_000]))
    for (let i = 0; i < 2; i++) ask(connection, post({ bytes: undefined }))
    assert.deepStrictEqual([upload(connection, 1, 65_535), upload(connection, 3, 10)], [65_535, 0])
    assert.deepStrictEqual(says(connection, settings([4, 0]), windowUpdate(0, 10)), [])
    assert.deepStrictEqual(says(connection, settings([4, 1])), ["3: writable"])
    assert.deepStrictEqual([upload(connection, 3, 10), says(connection, settings([4, 5]))], [1, ["3: writable"]])
    assert.strictEqual(upload(connection, 3, 10), 4)
  })

  it("a connection's window that is too large is a fault, though somebody waits who would use it", () => {
    const connection = open({}, settings([4, 1_000_000]))
    ask(connection, post({ bytes: undefined }))
    assert.strictEqual(upload(connection, 1, 65_545), 65_535)
    send(connection, post(new Uint8Array(20_000)))
    assert.deepStrictEqual(says(connection, windowUpdate(0, 10)), ["1: writable"])
    assert.match(says(connection, windowUpdate(0, 2 ** 31 - 1)).at(-1)!, /^retired fault window-overflow/)
    assert.deepStrictEqual(says(open(), windowUpdate(0, 2 ** 31 - 1 - 65_535)), [])
  })

  it("in frames as large as the peer takes them", () => {
    const connection = open({}, settings([5, 20_000]))
    send(connection, post(new Uint8Array(50_000)))
    assert.deepStrictEqual(lines(connection), ["data 1 20000", "data 1 20000", "data 1 10000 end"])
  })

  it("a body of bytes is held for lack of a window, and its end is told", () => {
    const connection = open()
    send(connection, post(new Uint8Array(100_000)))
    assert.deepStrictEqual(lines(connection), ["data 1 16384", "data 1 16384", "data 1 16384", "data 1 16383"])
    assert.isFalse(connection.isSendEnded(1))
    assert.strictEqual(Result.isFailure(connection.upload(1, new Uint8Array(1))), true)
    assert.strictEqual(Result.isFailure(connection.finish(1)), true)
    assert.deepStrictEqual(says(connection, windowUpdate(0, 30_000), windowUpdate(1, 34_465)), [])
    assert.deepStrictEqual(says(connection, windowUpdate(0, 4_464)), [])
    assert.deepStrictEqual([says(connection, windowUpdate(0, 1)), connection.isSendEnded(1)], [[], false])
    assert.deepStrictEqual([lines(connection).at(-1), connection.isSendEnded(1)], ["data 1 \0 end", true])
    assert.deepStrictEqual([says(connection), says(connection)], [["1: sent whole"], []])
  })

  it("those that wait take turns, a frame each", () => {
    const connection = open({}, settings([4, 1_000_000]))
    send(connection, post(new Uint8Array(65_535)))
    for (let i = 0; i < 3; i++) send(connection, post(new Uint8Array(20_000)))
    connection.takeOutput()
    assert.deepStrictEqual(says(connection, windowUpdate(0, 50_000)), [])
    assert.deepStrictEqual(lines(connection), ["data 3 16384", "data 5 16384", "data 7 16384", "data 3 848"])
    assert.deepStrictEqual(says(connection, windowUpdate(0, 50_000)), [])
    connection.takeOutput()
    assert.deepStrictEqual(says(connection), ["5: sent whole", "7: sent whole", "3: sent whole"])
  })

  /** Uploads that wait, and a peer whose connection window is what all of them wait for. */
  const waiting = (count: number): EngineConnection => {
    const connection = open({}, settings([4, 2_147_483_647]))
    for (let i = 0; i < count; i++) {
      send(connection, post({ bytes: undefined }))
      upload(connection, 2 * i + 1, 100_000)
    }
    connection.takeOutput()
    return connection
  }

  it("only as many are told as there is credit for, in turn", () => {
    const connection = waiting(100)
    for (let i = 0; i < 200; i++) {
      const exchange = 2 * (i % 100) + 1
      assert.deepStrictEqual(says(connection, windowUpdate(0, 1)), [`${exchange}: writable`])
      assert.strictEqual(upload(connection, exchange, 100_000), 1)
    }
    assert.strictEqual(says(connection, windowUpdate(0, 4 * 16_384)).length, 4)
  })

  it("uploads and held bodies have like parts of a window, all of which is used", () => {
    const connection = waiting(3)
    send(connection, post(new Uint8Array(20_000_000)))
    const parts = [0, 0, 0]
    let used = 0
    for (let i = 0; i < 100; i++) {
      const events = connection.receive(windowUpdate(0, 65_535))
      assert.isAtMost(events.length, 3)
      for (const event of events) {
        if (event._tag === "Writable") {
          const at = (event.exchange - 1) / 2
          parts[at] = parts[at]! + upload(connection, event.exchange, 1_000_000)
        }
      }
      for (const line of lines(connection)) used += Number(line.split(" ")[2])
      assert.strictEqual(used, (i + 1) * 65_535)
    }
    const fair = used / 4
    for (const part of [...parts, used - parts[0]! - parts[1]! - parts[2]!]) {
      assert.isBelow(Math.abs(part - fair), 2 * 16_384)
    }
  })

  it("what was kept for one that ends or is cancelled goes to those that wait", () => {
    const connection = waiting(3)
    assert.deepStrictEqual(says(connection, windowUpdate(0, 20_000)), ["1: writable", "3: writable"])
    connection.cancel(1)
    Result.getOrThrow(connection.finish(3))
    assert.deepStrictEqual(Lab2.told(connection.receive(new Uint8Array(0))), ["5: writable"])
    assert.strictEqual(upload(connection, 5, 100_000), 20_000)
  })

  it("as does what is left of it by one that comes with less than he had waited to give", () => {
    const connection = open({}, settings([4, 1_000_000]))
    for (const body of [{ bytes: undefined }, { bytes: undefined }]) ask(connection, post(body))
    assert.deepStrictEqual([upload(connection, 1, 70_000), upload(connection, 3, 100)], [65_535, 0])
    assert.deepStrictEqual(says(connection, windowUpdate(0, 100)), ["1: writable"])
    assert.strictEqual(upload(connection, 1, 10), 10)
    assert.deepStrictEqual([says(connection), upload(connection, 3, 100)], [["3: writable"], 90])
  })

  it("and nobody whose sending side has ended is told", () => {
    const connection = open({}, settings([4, 10]))
    ask(connection, post({ bytes: undefined }))
    upload(connection, 1, 20)
    Result.getOrThrow(connection.finish(1))
    assert.deepStrictEqual(says(connection, windowUpdate(1, 100), settings([4, 1_000])), [])
  })

  it("a window that settings make negative lets nothing out until it is above zero", () => {
    const connection = open({}, settings([4, 100]))
    ask(connection, post({ bytes: undefined }))
    assert.strictEqual(upload(connection, 1, 200), 100)
    connection.receive(settings([4, 20]))
    assert.deepStrictEqual(says(connection, windowUpdate(1, 80)), [])
    assert.strictEqual(upload(connection, 1, 100), 0)
    assert.deepStrictEqual(says(connection, windowUpdate(1, 1)), ["1: writable"])
    assert.strictEqual(upload(connection, 1, 100), 1)
  })

  it("a window that settings make smaller than what was kept for its upload gives nothing of others' away", () => {
    const waits = (): EngineConnection => {
      const connection = open({}, settings([4, 100_000]))
      for (const body of [{ bytes: undefined }, { bytes: undefined }]) ask(connection, post(body))
      assert.strictEqual(upload(connection, 1, 70_000), 65_535)
      assert.deepStrictEqual(says(connection, windowUpdate(0, 1_000)), ["1: writable"])
      return connection
    }
    // What it was told of stays its own, though it may use only half of it now.
    const half = waits()
    assert.deepStrictEqual(says(half, settings([4, 66_035]), windowUpdate(0, 1_000)), [])
    assert.deepStrictEqual([upload(half, 3, 5_000), upload(half, 1, 5_000)], [1_000, 500])
    const connection = waits()
    // Its window is 65,535 less than this, so below zero, and the connection's opens.
    assert.deepStrictEqual(says(connection, settings([4, 60_000]), windowUpdate(0, 1_000)), [])
    assert.strictEqual(upload(connection, 3, 5_000), 1_000)
    // All that is left of the connection's window is kept for the first one, so that nobody else may write.
    assert.deepStrictEqual(says(connection, settings([4, 60_001])), [])
    assert.deepStrictEqual(says(connection, windowUpdate(0, 7)), ["3: writable"])
    assert.deepStrictEqual([upload(connection, 3, 100), upload(connection, 1, 100)], [7, 0])
    // What was kept for the first goes on to the second when that has come, and found its window shut.
    assert.deepStrictEqual(says(connection, windowUpdate(0, 1)), ["3: writable"])
    assert.strictEqual(upload(connection, 3, 5_000), 1_001)
  })

  it("no more is kept for one that waits than it was short of, so that the rest is for others though it never comes", () => {
    const connection = open({}, settings([4, 1_000_000]))
    for (const body of [{ bytes: undefined }, { bytes: undefined }]) ask(connection, post(body))
    assert.strictEqual(upload(connection, 1, 66_000), 65_535)
    assert.deepStrictEqual(says(connection, windowUpdate(0, 10_000)), ["1: writable"])
    assert.strictEqual(upload(connection, 3, 20_000), 10_000 - 465)
    assert.deepStrictEqual(says(connection, windowUpdate(0, 1)), ["3: writable"])
    assert.deepStrictEqual([upload(connection, 1, 465), upload(connection, 3, 10)], [465, 1])
  })

  it("what one waits for grows with each turn until it comes, up to what it was short of", () => {
    const connection = open({}, settings([4, 1_000_000]))
    for (const body of [{ bytes: undefined }, { bytes: undefined }]) ask(connection, post(body))
    assert.strictEqual(upload(connection, 1, 66_000), 65_535)
    assert.deepStrictEqual(says(connection, windowUpdate(0, 10), windowUpdate(0, 10)), ["1: writable"])
    assert.deepStrictEqual([upload(connection, 3, 100), upload(connection, 1, 465)], [0, 20])
  })

  it("nothing is kept for one that has ended, whatever it was short of, nor more than that for one that has not", () => {
    const connection = open({}, settings([4, 10]))
    for (let i = 0; i < 2; i++) ask(connection, post({ bytes: undefined }))
    assert.strictEqual(upload(connection, 1, 20), 10)
    Result.getOrThrow(connection.finish(1))
    assert.deepStrictEqual(says(connection, settings([4, 1_000_000])), [])
    assert.strictEqual(upload(connection, 3, 66_000), 65_525)
    const other = open({}, settings([4, 1_000_000]))
    for (let i = 0; i < 2; i++) ask(other, post({ bytes: undefined }))
    assert.strictEqual(upload(other, 1, 66_000), 65_535)
    assert.deepStrictEqual(says(other, windowUpdate(0, 10), windowUpdate(0, 10), windowUpdate(0, 1_000)), [
      "1: writable",
    ])
    assert.strictEqual(upload(other, 3, 2_000), 1_020 - 465)
  })

  it("a tunnel that was given bytes ahead of its answer has its turn when that opens it", () => {
    const connection = open({}, settings([4, 1_000_000]))
    ask(connection, { ...get, method: "CONNECT", authority: "example.com:443", path: "" })
    ask(connection, post({ bytes: undefined }))
    assert.deepStrictEqual([upload(connection, 1, 100), upload(connection, 3, 65_485)], [0, 65_485])
    assert.deepStrictEqual(says(connection, response(1, 200)), ["1: 200 ?", "1: writable"])
    assert.deepStrictEqual([upload(connection, 3, 100), upload(connection, 1, 100)], [0, 50])
  })

  it("nothing is told of what its owner has gone on with since", () => {
    const steps: Readonly<Record<string, (connection: EngineConnection) => unknown>> = {
      "upload": (connection) => upload(connection, 3, 10),
      "finish": (connection) => connection.finish(3),
      "cancel": (connection) => connection.cancel(3),
      "cancel of a body that is held": (connection) => connection.cancel(5),
    }
    for (const [what, step] of Object.entries(steps)) {
      const connection = open({}, settings([4, 1_000_000]))
      for (const body of [{ bytes: undefined }, { bytes: undefined }]) ask(connection, post(body))
      assert.deepStrictEqual([upload(connection, 1, 70_000), upload(connection, 3, 10)], [65_535, 0])
      send(connection, post(new Uint8Array(20)))
      assert.deepStrictEqual(says(connection, windowUpdate(0, 30)), ["1: writable"])
      // What was kept for the first goes to the others, and before anybody hears of it they have gone on.
      connection.cancel(1)
      step(connection)
      connection.takeOutput()
      const heard = Lab2.told(connection.receive(new Uint8Array(0)))
      const others = what.endsWith("held") ? ["3: writable"] : ["5: sent whole"]
      assert.deepStrictEqual(heard, others, what)
      // What comes later is news.
      assert.deepStrictEqual(says(connection, response(3, 200)), what === "cancel" ? [] : ["3: 200 ?"], what)
    }
  })

  it("a body is told as sent once it was taken, and not where it was cut before", () => {
    /** All of a held body is in the output. */
    const opened = (): EngineConnection => {
      const connection = open({}, settings([4, 10]))
      ask(connection, post(Lab.bytes("0123456789abcdefghij")))
      assert.deepStrictEqual([says(connection, windowUpdate(1, 10)), connection.isSendEnded(1)], [[], false])
      return connection
    }
    const failed = "1: failed reset 8 head 0"
    const [reset, cancelled, late, lateCancelled] = [opened(), opened(), opened(), opened()]
    assert.deepStrictEqual(says(reset, Lab2.reset(1, 8)), [failed])
    assert.strictEqual(Lab.cancel(cancelled, 1), "cut")
    for (const connection of [reset, cancelled, late, lateCancelled]) connection.takeOutput()
    assert.deepStrictEqual([says(reset), says(cancelled)], [[], []])
    assert.deepStrictEqual(says(late, Lab2.reset(1, 8)), ["1: sent whole", failed])
    assert.strictEqual(Lab.cancel(lateCancelled, 1), "cut")
    assert.deepStrictEqual(says(lateCancelled), [])
    for (const connection of [reset, cancelled, late, lateCancelled]) assert.isTrue(connection.isSendEnded(1))
  })

  it("what is still to be told of an exchange that is over is not forgotten when that is cancelled", () => {
    const connection = open({}, settings([4, 10]))
    ask(connection, post(Lab.bytes("0123456789abcdefghij")))
    assert.deepStrictEqual(says(connection, response(1, 200, [], endStream), windowUpdate(1, 10)), [
      "1: 200 0",
      "1: end",
    ])
    connection.takeOutput()
    assert.strictEqual(Lab.cancel(connection, 1), "drained")
    assert.deepStrictEqual([says(connection), connection.takeOutput()], [["1: sent whole"], []])
  })

  it("a held body that was transferred fails its exchange alone, or is stopped behind a whole response", () => {
    for (const isAnswered of [false, true]) {
      const connection = open({}, settings([4, 1_000_000]))
      const body = new Uint8Array(100_000)
      ask(connection, post(body))
      ask(connection, post(new Uint8Array(10)))
      if (isAnswered) says(connection, response(1, 200, [], endStream))
      structuredClone(body.buffer, { transfer: [body.buffer] })
      const line = isAnswered ? "1: sent stopped" : "1: failed lost body"
      assert.deepStrictEqual(says(connection, windowUpdate(0, 100_000)), [line])
      assert.deepStrictEqual(written(connection), ["reset 1 2", `data 3 ${"\0".repeat(10)} end`])
      assert.deepStrictEqual([says(connection), connection.isSendEnded(1), connection.isRetired], [
        ["3: sent whole"],
        true,
        false,
      ])
      assert.deepStrictEqual(says(connection, windowUpdate(1, 5), data(1, "late")), [])
    }
  })

  /** Three uploads, of which 3 has bytes in the output that are then transferred, a small part and an end behind them. */
  const losing = (trailers?: Fields): EngineConnection => {
    const connection = open({}, settings([4, 1_000_000]))
    for (let i = 0; i < 3; i++) ask(connection, post({ bytes: undefined }))
    assert.strictEqual(upload(connection, 1, 5), 5)
    const bytes = new Uint8Array(20_000)
    assert.strictEqual(Result.getOrThrow(connection.upload(3, bytes)), 20_000)
    assert.deepStrictEqual([upload(connection, 3, 7), upload(connection, 5, 6)], [7, 6])
    Result.getOrThrow(connection.finish(3, trailers))
    structuredClone(bytes.buffer, { transfer: [bytes.buffer] })
    return connection
  }
  const five: readonly [string, string] = ["data 1 \0\0\0\0\0", "data 5 \0\0\0\0\0\0"]

  it("bytes that are transferred of an exchange that is over are its own affair: the rest of it is not written either", () => {
    const ends: Readonly<Record<string, readonly [(connection: EngineConnection) => unknown, ReadonlyArray<string>]>> =
      {
        cancelled: [(connection) => connection.cancel(3), ["reset 3 8"]],
        "that broke a rule": [(connection) => says(connection, data(3, "early")), ["reset 3 1"]],
        reset: [(connection) => says(connection, Lab2.reset(3, 8)), []],
        "not served": [(connection) => says(connection, Lab2.goAway(1, 0)), []],
      }
    for (const [title, [end, behind]] of Object.entries(ends)) {
      const connection = losing()
      end(connection)
      const isFive = title !== "not served"
      assert.deepStrictEqual(written(connection), isFive ? [...five, ...behind] : five.slice(0, 1), title)
      assert.deepStrictEqual([says(connection), connection.isSendEnded(3)], [[], true], title)
      // What did not come out is in the connection's window again.
      assert.strictEqual(upload(connection, 1, 65_536), 65_535 - (isFive ? 11 : 5), title)
    }
  })

  it("its trailers are, since the table may hold them, and end nothing", () => {
    const connection = losing([["x-sum", "1"]])
    connection.cancel(3)
    assert.deepStrictEqual(written(connection), [five[0], five[1], "headers 3 x-sum=1", "reset 3 8"])
  })

  it("and what it leaves of the window goes to those that wait, in that step", () => {
    const connection = open({}, settings([4, 1_000_000]))
    ask(connection, post({ bytes: undefined }))
    const bytes = new Uint8Array(65_535)
    assert.strictEqual(Result.getOrThrow(connection.upload(1, bytes)), 65_535)
    send(connection, post(new Uint8Array(70_000)))
    connection.cancel(1)
    structuredClone(bytes.buffer, { transfer: [bytes.buffer] })
    const [head, reset, ...rest] = written(connection)
    assert.match(head!, /^headers 3/)
    assert.strictEqual(reset, "reset 1 8")
    assert.deepStrictEqual(rest, ["data 3 16384", "data 3 16384", "data 3 16384", "data 3 16383"])
  })

  it("as are bytes that were lost ahead of the preface", () => {
    const connection = Lab2.engine().open()
    const bytes = new Uint8Array(20_000)
    send(connection, post(bytes))
    send(connection)
    connection.cancel(1)
    structuredClone(bytes.buffer, { transfer: [bytes.buffer] })
    const [first, ...lines] = written(connection)
    assert.strictEqual(first, "settings")
    assert.deepStrictEqual(lines.map((line) => line.replace(/ :.*/, "")), [
      "window 0 983041",
      "headers 1",
      "headers 3",
      "reset 1 8",
    ])
  })

  it("those of one that is under way fail all, wherever its own frames are", () => {
    const connection = losing()
    assert.deepStrictEqual(connection.takeOutput(), [])
    assert.deepStrictEqual(says(connection), [
      "1: failed lost body",
      "3: failed lost body",
      "5: failed lost body",
      "retired cut lost body",
    ])
  })

  it("what is not told any more is looked for once, however many exchanges are cancelled", () => {
    const connection = open({}, settings([4, 1_000_000]))
    send(connection, post({ bytes: undefined }))
    upload(connection, 1, 65_535)
    for (let i = 0; i < 60; i++) {
      send(connection, post({ bytes: undefined }))
      upload(connection, 2 * i + 3, 10)
    }
    connection.takeOutput()
    connection.receive(windowUpdate(0, 5))
    connection.cancel(3)
    let looked = 0
    const { filter } = Array.prototype
    const spy = vi.spyOn(Array.prototype, "filter").mockImplementation(function (this: Array<unknown>, ...given) {
      looked += this.length
      return filter.apply(this, given)
    })
    for (let i = 1; i < 60; i++) connection.cancel(2 * i + 3)
    const events = connection.receive(new Uint8Array(0))
    spy.mockRestore()
    assert.deepStrictEqual(events, [])
    assert.isAtMost(looked, 60)
  })

  it("one that is over waits no more", () => {
    const connection = open({}, settings([4, 10]))
    send(connection, post(new Uint8Array(100)))
    send(connection, post({ bytes: undefined }))
    upload(connection, 3, 100)
    connection.cancel(1)
    says(connection, Lab2.reset(3, 8))
    connection.takeOutput()
    assert.deepStrictEqual(
      says(connection, windowUpdate(0, 100), windowUpdate(1, 100), windowUpdate(3, 100), settings([4, 99])),
      [],
    )
    assert.deepStrictEqual(lines(connection), [])
  })

  it("what goes out is what went in, within every window, however these open", () => {
    const step = fc.record({ of: fc.integer({ min: 0, max: 3 }), bytes: fc.integer({ min: 1, max: 40_000 }) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), fc.integer({ min: 0, max: 50_000 }), (steps, first) => {
        const connection = open({}, settings([4, first]))
        const sizes = [80_000, 1, 123_456]
        for (const size of sizes) send(connection, post(new Uint8Array(size)))
        const left = [65_535, first, first, first]
        const out = [0, 0, 0]
        const check = (): void => {
          for (const line of lines(connection)) {
            const [, stream = "", text = ""] = line.split(" ")
            const [at, bytes] = [(Number(stream) - 1) / 2, /^\d+$/.test(text) ? Number(text) : text.length]
            out[at] = out[at]! + bytes
            left[0] = left[0]! - bytes
            left[at + 1] = left[at + 1]! - bytes
          }
          for (const window of left) assert.isAtLeast(window, 0)
        }
        check()
        for (const { bytes, of } of steps) {
          connection.receive(windowUpdate(of === 0 ? 0 : 2 * of - 1, bytes))
          left[of] = left[of]! + bytes
          check()
          for (const [i, size] of sizes.entries()) {
            const isHeld = out[i]! < size
            assert.strictEqual(connection.isSendEnded(2 * i + 1), !isHeld)
            // Nothing waits where both windows are open.
            assert.isFalse(isHeld && left[0]! > 0 && left[i + 1]! > 0)
          }
        }
      }),
      { seed: 20_261_129, numRuns: 200 },
    )
  })
})

describe("toward this side", () => {
  const small = { maxStreamWindowBytes: 65_535, maxConnectionWindowBytes: 100_000 }

  it("a stream's window opens by what was consumed of it, once that is half of it or as much as is left", () => {
    const connection = Lab2.asked(small)
    connection.receive(Lab2.join(response(1, 200), bulk(1, 60_000)))
    assert.deepStrictEqual(written(connection), [])
    connection.consumed(1, 5_534)
    assert.deepStrictEqual(written(connection), [])
    connection.consumed(1, 1)
    assert.deepStrictEqual(written(connection), ["window 1 5535"])
    connection.consumed(1, 32_767)
    assert.deepStrictEqual(written(connection), ["window 1 32767"])
    connection.consumed(1, 1e9)
    assert.deepStrictEqual(written(connection), ["window 0 60000"])
    connection.consumed(1, 5)
    connection.consumed(1, NaN)
    connection.consumed(1, -5)
    assert.deepStrictEqual(written(connection), [])
  })

  it("none is opened behind the end of the connection", () => {
    const connection = Lab2.asked(small)
    connection.receive(Lab2.join(response(1, 200), bulk(1, 60_000)))
    connection.consumed(1, 30_000)
    connection.takeOutput()
    // A frame that has taken its part of the window, and of which the connection ends before anything else comes.
    connection.receive(Lab2.frame(Lab2.Type.data, Lab2.padded, 1, [], 15_000))
    connection.closed("reset")
    connection.cancel(1)
    connection.consumed(1, 5)
    assert.deepStrictEqual(connection.takeOutput(), [])
  })

  it("one that is not read takes no more than its window, nor all together more than the connection's", () => {
    const connection = Lab2.asked(small, [get, get])
    connection.receive(Lab2.join(response(1, 200), bulk(1, 65_535)))
    assert.match(says(connection, data(1, "x")).at(-1)!, /^retired fault flow-control/)
    const both = Lab2.asked(small, [get, get])
    both.receive(Lab2.join(response(1, 200), bulk(1, 60_000), response(3, 200), bulk(3, 40_000)))
    assert.isFalse(both.isRetired)
    assert.match(says(both, data(3, "x")).at(-1)!, /^retired fault flow-control/)
    assert.strictEqual(written(both).at(-1), "goaway 0 3")
  })

  it("padding and frames that nobody wants are consumed as they come", () => {
    const connection = Lab2.asked(small)
    connection.receive(response(1, 200))
    const padded = Lab2.frame(0, Lab2.padded, 1, [255, ...new Uint8Array(256)])
    const updates: Array<string> = []
    for (let i = 0; i < 400; i++) {
      assert.deepStrictEqual(says(connection, padded).map((line) => line.length), [9])
      connection.consumed(1, 1)
      updates.push(...written(connection))
    }
    assert.isAbove(updates.filter((line) => line.startsWith("window 0")).length, 1)
    assert.isAbove(updates.filter((line) => line.startsWith("window 1")).length, 2)
    connection.cancel(1)
    connection.receive(bulk(1, 20_000))
    assert.isFalse(connection.isRetired)
  })

  it("what was told of an exchange that is over still counts, until it is consumed or cancelled", () => {
    const connection = Lab2.asked(small, [get, get, get])
    connection.receive(Lab2.join(response(1, 200), bulk(1, 50_000), data(1, "", endStream)))
    connection.receive(Lab2.join(response(3, 200), bulk(3, 40_000), Lab2.reset(3, 2)))
    connection.receive(response(5, 200))
    assert.deepStrictEqual(written(connection), [])
    connection.consumed(1, 50_000)
    assert.deepStrictEqual(written(connection), ["window 0 50000"])
    assert.strictEqual(Lab.cancel(connection, 3), "drained")
    connection.receive(bulk(5, 20_000))
    connection.consumed(5, 20_000)
    assert.deepStrictEqual(written(connection), ["window 0 60000"])
  })

  it("what was consumed before opens it for a message that its reader takes as a whole", () => {
    const connection = Lab2.asked(small)
    connection.receive(Lab2.join(response(1, 200), bulk(1, 30_000)))
    connection.consumed(1, 30_000)
    assert.deepStrictEqual(written(connection), [])
    connection.receive(bulk(1, 35_535))
    assert.deepStrictEqual(written(connection), ["window 1 30000"])
  })

  it("a reader that goes on has what those that stand still have left of the connection's window", () => {
    const connection = Lab2.asked(small, [get, get])
    connection.receive(Lab2.join(response(1, 200), bulk(1, 65_000), response(3, 200)))
    for (let i = 0; i < 20; i++) {
      connection.receive(bulk(3, 30_000))
      connection.consumed(3, 30_000)
      assert.include(written(connection), "window 0 30000")
    }
    assert.isFalse(connection.isRetired)
  })

  it("a cancelled exchange gives back what nobody will read, in the middle of a frame, too", () => {
    const connection = Lab2.asked(small)
    const frame = data(1, "x".repeat(10_000))
    connection.receive(Lab2.join(response(1, 200), bulk(1, 45_000), frame.slice(0, 5_009)))
    connection.cancel(1)
    assert.deepStrictEqual(written(connection), ["reset 1 8", "window 0 50000"])
    connection.receive(frame.slice(5_009))
    assert.deepStrictEqual(written(connection), [])
    ask(connection)
    connection.receive(Lab2.join(response(3, 200), bulk(3, 45_000)))
    connection.consumed(3, 45_000)
    assert.deepStrictEqual(written(connection), ["window 0 50000", "window 3 45000"])
  })

  it("a window that opens again and again is told once, and may not be used before", () => {
    const connection = Lab2.asked({ ...small, maxStreamWindowBytes: 100_000 }, [get, get, get])
    connection.receive(Lab2.join(response(1, 200), bulk(1, 99_000), response(3, 200), response(5, 200)))
    const parts = (count: number): ReadonlyArray<string> => {
      for (let i = 0; i < count; i++) {
        says(connection, data(3, "x"))
        connection.consumed(3, 1)
      }
      return written(connection)
    }
    says(connection, data(3, "x".repeat(1_000)))
    connection.consumed(3, 1)
    assert.deepStrictEqual(written(connection), ["window 0 1"])
    connection.consumed(3, 999)
    assert.deepStrictEqual(written(connection), ["window 0 999"])
    assert.deepStrictEqual(parts(600), ["window 0 600"])
    assert.deepStrictEqual(parts(1_000), ["window 0 1000"])
    connection.cancel(1)
    assert.deepStrictEqual(written(connection), ["reset 1 8", "window 0 99000"])
    // Nor is one of a stream that has ended since.
    connection.receive(bulk(5, 60_000))
    connection.consumed(5, 60_000)
    connection.receive(bulk(3, 30_000))
    connection.consumed(3, 30_000)
    connection.receive(data(5, "", endStream))
    connection.cancel(3)
    assert.deepStrictEqual(written(connection), ["reset 3 8", "window 0 90000"])
    connection.receive(bulk(1, 1_000))
    ask(connection)
    connection.receive(Lab2.join(response(7, 200), bulk(7, 99_000)))
    connection.consumed(7, 99_000)
    assert.match(says(connection, data(7, "xx")).at(-1)!, /^retired fault flow-control/)
  })

  it("the windows that are told never come to more than was consumed", () => {
    const step = fc.record({
      stream: fc.constantFrom(1, 3, 5),
      bytes: fc.integer({ min: 1, max: 16_384 }),
      consumed: fc.integer({ min: 0, max: 40_000 }),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const connection = Lab2.asked(small, [get, get, get])
        connection.receive(Lab2.join(response(1, 200), response(3, 200), response(5, 200)))
        const unread: Record<number, number> = { 0: 0, 1: 0, 3: 0, 5: 0 }
        const window: Record<number, number> = { 0: 100_000, 1: 65_535, 3: 65_535, 5: 65_535 }
        for (const { bytes, consumed, stream } of steps) {
          if (bytes <= window[0]! && bytes <= window[stream]!) {
            const events: ReadonlyArray<Event> = connection.receive(data(stream, "x".repeat(bytes)))
            assert.deepStrictEqual(events.map(({ _tag }) => _tag), ["Data"])
            for (const id of [0, stream]) {
              window[id] = window[id]! - bytes
              unread[id] = unread[id]! + bytes
            }
          }
          const read = Math.min(consumed, unread[stream]!)
          for (const id of [0, stream]) unread[id] = unread[id]! - read
          connection.consumed(stream, consumed)
          for (const line of written(connection)) {
            const [, id = "", more = ""] = line.split(" ")
            window[Number(id)] = window[Number(id)]! + Number(more)
          }
          for (const [id, size] of [[0, 100_000], [1, 65_535], [3, 65_535], [5, 65_535]] as const) {
            assert.isAtMost(window[id]! + unread[id]!, size)
            // A reader that keeps up has at least half of its window open.
            if (unread[id] === 0) assert.isAtLeast(window[id]!, size / 2 - 1)
          }
        }
      }),
      { seed: 20_261_129, numRuns: 200 },
    )
  })
})

it("a peer that is slow to hear of a reset may use the window it knew, and no more", () => {
  const connection = Lab2.asked({ maxStreamWindowBytes: 65_535 })
  connection.receive(response(1, 200))
  connection.cancel(1)
  connection.receive(bulk(1, 65_535))
  assert.isFalse(connection.isRetired)
  assert.match(says(connection, data(1, "x")).join(), /^retired fault flow-control/)
})
