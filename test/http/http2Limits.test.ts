/** What bounds an HTTP/2 peer: sizes of heads, floods of frames, bombs of HPACK, and what is kept of what it sent. */
import { assert, describe, it } from "vitest"
import * as fc from "fast-check"
import * as Result from "effect/Result"
import type { EngineConnection } from "../../core/http/HttpEngine.ts"
import * as Http2 from "../../core/http/Http2.ts"
import { type Http2Limits, ranges } from "../../core/http/Http2Limits.ts"
import { decode } from "../../core/http/HttpLimits.ts"
import * as Lab2 from "../support/http/Lab2.ts"

const {
  ask,
  asked,
  block,
  data,
  endHeaders,
  endStream,
  frame,
  get,
  headers,
  open,
  ping,
  response,
  says,
  send,
  settings,
  Type,
} = Lab2
const field = (bytes: number): readonly [string, string] => ["x", "y".repeat(bytes - 33)]
const statusBytes = ":status".length + 3 + 32

describe("options are checked at the door:", () => {
  it("each has the least, the most and the default that its documentation says", () => {
    const most = 1_048_576
    const rows: ReadonlyArray<readonly [keyof Http2Limits, min: number, max: number, otherwise: number]> = [
      ["maxHeadBytes", 256, most, 65_536],
      ["maxFields", 1, most, 256],
      ["maxTrailerBytes", 1, most, 8_192],
      ["maxInformational", 1, most, 32],
      ["maxStreams", 1, 65_536, 1_024],
      ["maxStreamsAtFirst", 0, 65_536, 100],
      ["maxStreamWindowBytes", 65_535, 16_777_216, 262_144],
      ["maxConnectionWindowBytes", 65_535, 1_073_741_824, 1_048_576],
      ["maxFrameBytes", 16_384, 1_048_576, 16_384],
      ["maxTableBytes", 4_096, 65_536, 4_096],
      ["maxContinuations", 0, 1_024, 32],
      ["maxResets", 16, 16_384, 1_024],
      ["maxIdleFrames", 100, most, 10_000],
    ]
    const value = (name: keyof Http2Limits, given: Http2Limits): number | undefined =>
      Result.getOrUndefined(decode("Http2", ranges, given))?.limits[name]
    for (const [name, min, max, otherwise] of rows) {
      assert.strictEqual(value(name, {}), otherwise)
      for (const each of [min, max]) assert.strictEqual(value(name, { [name]: each }), each)
      for (const each of [min - 1, max + 1]) assert.isUndefined(value(name, { [name]: each }), `${name} ${each}`)
    }
    assert.sameMembers(rows.map(([name]) => name), Object.keys(Result.getOrThrow(decode("Http2", ranges, {})).limits))
  })

  const given: ReadonlyArray<readonly [Http2.Options, string]> = [
    [{ maxStreams: 0 }, "maxStreams"],
    [{ maxStreamsAtFirst: -1 }, "maxStreamsAtFirst"],
    [{ maxStreamWindowBytes: 65_534 }, "maxStreamWindowBytes"],
    [{ maxConnectionWindowBytes: 2 ** 31 }, "maxConnectionWindowBytes"],
    [{ maxFrameBytes: 16_383 }, "maxFrameBytes"],
    [{ maxTableBytes: 4_095 }, "maxTableBytes"],
    [{ maxContinuations: 1.5 }, "maxContinuations"],
    [{ maxResets: NaN }, "maxResets"],
    [{ maxResets: 16_385 }, "maxResets"],
    [{ maxIdleFrames: 99 }, "maxIdleFrames"],
    [{ maxHeadBytes: 255 }, "maxHeadBytes"],
    [{ latin1: "latin1" as never }, "latin1"],
    [{ maxStrems: 1 } as Http2.Options, "maxStrems"],
  ]
  for (const [options, limit] of given) {
    it(`${limit} ${String(Object.values(options)[0])}`, () => {
      const error = Result.getOrThrow(Result.flip(Http2.make(options)))
      assert.deepInclude({ ...error }, { _tag: "InvalidLimits", system: "Http2", limit })
    })
  }
})

describe("a limit of a message fails its stream behind the last that is within it:", () => {
  const fails = (options: Http2.Options, ...sent: ReadonlyArray<Uint8Array>): string | undefined =>
    says(asked(options), ...sent).map((line) => /^1: failed (\S+) \S+ \d+ (\d+)$/.exec(line)?.slice(1).join(" ")).at(-1)

  it("head-bytes, with 32 a field", () => {
    const options = { maxHeadBytes: 1_000 }
    assert.isUndefined(fails(options, response(1, 200, [field(1_000 - statusBytes)])))
    assert.strictEqual(fails(options, response(1, 200, [field(1_001 - statusBytes)])), "head-bytes 1000")
    assert.strictEqual(fails(options, response(1, 103, [field(1_001 - statusBytes)])), "head-bytes 1000")
  })

  it("fields, of a head and of trailers", () => {
    const options = { maxFields: 2 }
    assert.isUndefined(fails(options, response(1, 200, [field(40), field(40)])))
    assert.strictEqual(fails(options, response(1, 200, [field(40), field(40), field(40)])), "fields 2")
    assert.strictEqual(
      fails(options, response(1, 200), headers(1, [field(40), field(40), field(40)], endStream)),
      "fields 2",
    )
  })

  it("trailers-bytes", () => {
    const options = { maxTrailerBytes: 100 }
    assert.isUndefined(fails(options, response(1, 200), headers(1, [field(100)], endStream)))
    assert.strictEqual(fails(options, response(1, 200), headers(1, [field(101)], endStream)), "trailers-bytes 100")
  })

  it("informational", () => {
    const options = { maxInformational: 2 }
    const hints = response(1, 103)
    assert.isUndefined(fails(options, hints, hints, response(1, 200)))
    assert.strictEqual(fails(options, hints, hints, hints), "informational 2")
  })

  it("and the table goes on as the peer has it", () => {
    const connection = asked({ maxHeadBytes: 256 }, [get, get])
    const kept = [0x88, 0x40, 1, 0x61, 1, 0x62]
    const large = frame(Type.headers, endHeaders, 1, [...block([":status", "200"]), ...block(field(240)), ...kept])
    assert.match(says(connection, large).join(), /^1: failed head-bytes/)
    const [head] = connection.receive(frame(Type.headers, endHeaders, 3, [0x88, 0xbe]))
    assert.deepStrictEqual(head?._tag === "Head" && head.head.fields, [["a", "b"]])
  })
})

/** How many of such frames are taken by a connection with this limit, and what ends it. */
const taken = (sent: (i: number) => Uint8Array, connection: EngineConnection): readonly [number, string] => {
  for (let i = 0; i < 1_000; i++) {
    const lines = says(connection, sent(i))
    if (connection.isRetired) return [i, lines.at(-1)!.replace(/ \d+ (\d+)$/, " $1")]
  }
  return [1_000, ""]
}
const options = { maxIdleFrames: 100 }
const upload = { ...get, method: "POST", body: { bytes: undefined } }

describe("a limit of the connection ends it behind the last that is within it:", () => {
  // SETTINGS that came before, and 32 that two exchanges allow.
  const flooded = (): EngineConnection => asked(options, [get, get])

  const floods: ReadonlyArray<readonly [string, (i: number) => Uint8Array, string]> = [
    ["of SETTINGS", () => settings(), "settings"],
    ["of SETTINGS that change a window to and fro", (i) => settings([4, i % 2]), "settings"],
    ["of PING", () => ping, "ping"],
    ["of SETTINGS and PING by turns", (i) => i % 2 === 0 ? settings() : ping, "settings"],
    ["of PRIORITY", () => frame(Type.priority, 0, 1, [0, 0, 0, 0, 1]), "priority"],
    ["of unknown frames", () => frame(99, 0, 1, "x"), "unknown"],
    ["of WINDOW_UPDATE", () => Lab2.windowUpdate(1, 1), "window-update"],
    ["of WINDOW_UPDATE of the connection", () => Lab2.windowUpdate(0, 1), "window-update"],
    ["of GOAWAY", (i) => i === 0 ? response(1, 200) : frame(Type.goAway, 0, 0, new Uint8Array(8)), "goaway"],
    ["of empty DATA", (i) => i === 0 ? response(1, 200) : data(1, ""), "data"],
    ["of DATA of padding alone", (i) => i === 0 ? response(1, 200) : frame(0, 8, 1, "\x01\0"), "data"],
  ]
  for (const [title, sent, part] of floods) {
    it(`a flood ${title}`, () => {
      const connection = flooded()
      if (part === "goaway") {
        let last = ""
        for (let i = 0; i < 200; i++) {
          last = Lab2.written(connection).find((line) => line.startsWith("goaway")) ?? last
          says(connection, sent(i))
        }
        assert.strictEqual(last, "goaway 0 11")
        return
      }
      const [count, why] = taken(sent, connection)
      assert.strictEqual(why, `retired fault flood ${part} 100`)
      // What is answered is bounded by itself, whatever exchanges allow.
      const [least, most] = part === "settings" || part === "ping" ? [100, 101] : [131, 132]
      assert.isAtLeast(count, least)
      assert.isAtMost(count, most)
      assert.strictEqual(Lab2.written(connection).at(-1), "goaway 0 11")
    })
  }

  it("a flood of RST_STREAM, window and data of a stream that is over", () => {
    for (const sent of [Lab2.reset(1, 8), Lab2.windowUpdate(1, 1), data(1, ""), response(1, 200)]) {
      const connection = flooded()
      connection.cancel(1)
      const [count, why] = taken(() => sent, connection)
      assert.match(why, /^retired fault flood \S+ 100$/)
      assert.isAtMost(count, 131)
    }
  })

  it("a flood of answers that nobody takes, though bodies pay for the frames", () => {
    const connection = flooded()
    connection.receive(response(1, 200))
    const [count, why] = taken(() => {
      connection.consumed(1, 1_000)
      return Lab2.join(data(1, "x".repeat(1_000)), ping)
    }, connection)
    assert.deepStrictEqual([count, why], [100, "retired fault flood ping 100"])
  })

  it("a flood of SETTINGS, though the peer's own bodies pay for other frames", () => {
    const connection = flooded()
    connection.receive(response(1, 200))
    const [count, why] = taken((i) => {
      connection.takeOutput()
      connection.consumed(1, 1_000)
      return Lab2.join(data(1, "x".repeat(1_000)), settings([4, i % 2]))
    }, connection)
    // One came before, of which two exchanges begun behind it have paid.
    assert.deepStrictEqual([count, why], [100, "retired fault flood settings 100"])
  })

  it("a flood of SETTINGS that open the windows of many bodies a little, by as many streams as they are", () => {
    const connection = open({ maxIdleFrames: 1_000 }, settings([4, 0]))
    for (let i = 0; i < 90; i++) send(connection, { ...get, method: "POST", body: new Uint8Array(5_000) })
    let frames = 0
    const [count, why] = taken((i) => {
      frames += Lab2.written(connection).filter((line) => line.startsWith("data")).length
      return settings([4, i + 1])
    }, connection)
    // Each costs 91, of which 90 bytes that go out pay for a third of a frame.
    assert.deepStrictEqual([count, why], [11, "retired fault flood settings 1000"])
    assert.strictEqual(frames, 11 * 90)
  })

  it("a flood of SETTINGS that shut the windows of many bodies and open them, of which none is sent more than a byte", () => {
    for (const count of [90, 450]) {
      const connection = open({ maxIdleFrames: 1_000, maxStreamsAtFirst: 450 }, settings([4, 20_000]))
      for (let i = 0; i < count; i++) send(connection, { ...get, method: "POST", body: new Uint8Array(20_000) })
      connection.takeOutput()
      const [cycles, why] = taken(
        () => Lab2.join(settings([4, 0]), Lab2.windowUpdate(0, 1), settings([4, 20_000])),
        connection,
      )
      // Each is looked at but for those that were sent whole; two of the frames count as well.
      assert.strictEqual(why, "retired fault flood settings 1000")
      assert.strictEqual(cycles, count === 90 ? 11 : 2)
    }
  })

  it("a flood of SETTINGS that have the owners of many uploads told in vain", () => {
    const connection = open({ maxIdleFrames: 1_000 }, Lab2.join(settings([4, 0]), Lab2.windowUpdate(0, 1e9)))
    const part = new Uint8Array(1_000)
    for (let i = 0; i < 90; i++) connection.upload(ask(connection, upload), part)
    let told = 0
    while (!connection.isRetired && told < 10_000) {
      for (const event of connection.receive(Lab2.join(settings([4, 256]), settings([4, 0])))) {
        if (event._tag !== "Writable") continue
        told++
        assert.strictEqual(Result.getOrElse(connection.upload(event.exchange, part), () => 0), 0)
      }
    }
    assert.strictEqual(told, 11 * 90)
  })

  it("no flood are the first SETTINGS that open a window at all, however many wait for it", () => {
    const connection = open({ ...options, maxStreamsAtFirst: 500 }, settings([4, 0]))
    for (let i = 0; i < 500; i++) connection.upload(ask(connection, upload), new Uint8Array(10))
    const told = connection.receive(settings([4, 10]))
    assert.deepStrictEqual([told.length, connection.isRetired], [500, false])
    connection.receive(settings([4, 0]))
    assert.isFalse(connection.isRetired)
  })

  it("a flood of windows that dribble an upload, of which nobody takes what comes out", () => {
    const connection = flooded()
    const exchange = ask(connection, upload)
    const part = new Uint8Array(100_000)
    connection.receive(Lab2.windowUpdate(exchange, 1_000_000))
    connection.upload(exchange, part)
    const [count, why] = taken(() => {
      connection.upload(exchange, part)
      return Lab2.windowUpdate(0, 1)
    }, connection)
    assert.strictEqual(why, "retired fault flood window-update 100")
    // The first window and three exchanges paid ahead, and each byte pays its part.
    assert.isAtMost(count, 403)
  })

  it("no flood are SETTINGS that open many windows far, or nothing that waits", () => {
    const connection = open(options, settings([4, 0]))
    for (let i = 0; i < 90; i++) send(connection, { ...get, method: "POST", body: new Uint8Array(5_120) })
    for (let i = 1; i <= 20; i++) {
      connection.takeOutput()
      connection.receive(Lab2.join(settings([4, 256 * i]), Lab2.windowUpdate(0, 90 * 256)))
    }
    assert.isFalse(connection.isRetired)
    connection.takeOutput()
    for (let i = 0; i < 50; i++) connection.receive(settings([4, 6_000 + i]))
    assert.isFalse(connection.isRetired)
    const shut = open(options, settings([4, 50]))
    for (let i = 0; i < 90; i++) send(shut, { ...get, method: "POST", body: new Uint8Array(5_000) })
    for (let i = 0; i < 50; i++) shut.receive(settings([4, 49 - (i >> 1)]))
    assert.isFalse(shut.isRetired)
  })

  it("each late frame counts once, a window as a reset does", () => {
    for (const late of [Lab2.windowUpdate(1, 1), Lab2.reset(1, 8)]) {
      const connection = asked(options)
      says(connection, response(1, 200, [], endStream))
      says(connection, ...Array.from({ length: 115 }, () => late))
      assert.isFalse(connection.isRetired)
      says(connection, late)
      assert.isTrue(connection.isRetired)
    }
  })

  it("no flood are frames that exchanges and bodies account for", () => {
    const connection = open(options)
    for (let i = 0; i < 500; i++) {
      const exchange = ask(connection)
      const sent = Array.from({ length: 5 }, () => [ping, Lab2.windowUpdate(0, 1), settings()]).flat()
      says(connection, ...sent, response(exchange, 200, [], endStream))
      connection.takeOutput()
    }
    const exchange = ask(connection)
    says(connection, response(exchange, 200))
    for (let i = 0; i < 1_000; i++) {
      says(connection, data(exchange, "x".repeat(512)), ping, Lab2.windowUpdate(0, 1))
      connection.consumed(exchange, 512)
      connection.takeOutput()
    }
    assert.isFalse(connection.isRetired)
  })

  it("no flood are the windows and ends of exchanges that all began ahead of them, under way or cancelled", () => {
    const connection = open({ ...options, maxStreamsAtFirst: 500 })
    const all = Array.from({ length: 500 }, () => ask(connection, upload))
    connection.takeOutput()
    for (let i = 0; i < 4; i++) says(connection, ...all.map((exchange) => Lab2.windowUpdate(exchange, 1_000)))
    for (const exchange of all) connection.cancel(exchange)
    ask(connection)
    says(connection, ...all.flatMap((exchange) => [response(exchange, 200), Lab2.reset(exchange, 8)]))
    assert.isFalse(connection.isRetired)
  })

  it("no flood are the windows of many small parts that all went out ahead of them", () => {
    const connection = open(options)
    const exchange = ask(connection, upload)
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 700; i++) connection.upload(exchange, new Uint8Array(10))
      connection.takeOutput()
      for (let i = 0; i < 700; i++) {
        says(connection, Lab2.windowUpdate(exchange, 10), Lab2.windowUpdate(0, 10))
        if (i % 7 === 0) says(connection, ping)
      }
      connection.takeOutput()
      assert.isFalse(connection.isRetired)
    }
  })

  it("no flood are the windows of each frame of bodies whose ends cut the connection's ever smaller", () => {
    const connection = open(options)
    connection.takeOutput()
    let begun = 0
    let ended = 0
    const begin = (): void =>
      void send(connection, { ...get, method: "POST", body: new Uint8Array(5_000 - begun++ % 7 * 501) })
    while (begun < 30) begin()
    let frames = 0
    while (ended < 1_700 && !connection.isRetired) {
      const bytes = Lab2.join(...connection.takeOutput())
      const answers: Array<Uint8Array> = []
      for (let at = 0, length = 0; at < bytes.length; at += 9 + length) {
        const view = new DataView(bytes.buffer, bytes.byteOffset + at)
        length = view.getUint32(0) >>> 8
        if (view.getUint8(3) !== Type.data) continue
        frames++
        const exchange = view.getUint32(5)
        answers.push(Lab2.windowUpdate(0, length))
        if ((view.getUint8(4) & endStream) === 0) answers.push(Lab2.windowUpdate(exchange, length))
        else {
          answers.push(response(exchange, 200, [], endStream))
          ended++
        }
      }
      says(connection, ...answers)
      while (begun < 30 + ended && !connection.isRetired) begin()
    }
    assert.isFalse(connection.isRetired)
    assert.isAbove(frames, 16 * ended)
  })

  it("no flood are the bodies of what was cancelled, still within their windows", () => {
    const connection = open(options)
    for (let i = 0; i < 200; i++) {
      const exchange = ask(connection)
      says(connection, response(exchange, 200))
      connection.cancel(exchange)
      says(connection, ...Array.from({ length: 40 }, () => data(exchange, "x".repeat(100))))
      connection.takeOutput()
    }
    assert.isFalse(connection.isRetired)
  })

  it("no flood are the windows and pings beside small parts, in one direction or the other", () => {
    const connection = open(options)
    const tunnel = ask(connection, upload)
    says(connection, response(tunnel, 200))
    for (let i = 0; i < 1_000; i++) {
      if (i < 500) connection.upload(tunnel, new Uint8Array(5))
      else says(connection, data(tunnel, "small"))
      connection.takeOutput()
      says(connection, Lab2.windowUpdate(tunnel, 5), Lab2.windowUpdate(0, 5), ping)
      connection.consumed(tunnel, 5)
    }
    assert.isFalse(connection.isRetired)
  })

  it("continuations", () => {
    const flood = (count: number): ReadonlyArray<string> => {
      const parts = Array.from(
        { length: count },
        (_, i) => frame(Type.continuation, i === count - 1 ? endHeaders : 0, 1),
      )
      return says(
        asked({ maxContinuations: 3 }),
        frame(Type.headers, endStream, 1, block([":status", "200"])),
        ...parts,
      )
    }
    assert.deepStrictEqual(flood(3), ["1: 200 0", "1: end"])
    assert.match(flood(4).at(-1)!, /^retired fault continuations continuation \d+ 3$/)
  })

  it("block-bytes: of a header block as it was sent, whatever it stands for", () => {
    const repeated = (count: number): string =>
      says(asked({ maxHeadBytes: 1_000 }), frame(Type.headers, endHeaders, 1, Array(count).fill(0x88))).at(-1)!
    assert.match(repeated(1_000), /^1: failed pseudo-field/)
    assert.match(repeated(1_001), /^retired fault block-bytes headers \d+ 1000$/)
  })
})

describe("of a peer that is hostile, nothing grows beyond the limits", () => {
  it("a bomb of HPACK is read in room of its bytes, and fails its stream", () => {
    const connection = asked({}, [get, get])
    // One entry of 4,000 bytes, then 60,000 references to it: 240 MB, if they were copies.
    const entry = [0x40, 1, 0x61, 127, 0xa1, 30, ...new Uint8Array(4_000).fill(0x62)]
    const bomb = [...block([":status", "200"]), ...entry, ...new Uint8Array(55_000).fill(0xbe)]
    const parts: Array<Uint8Array> = []
    for (let at = 0; at < bomb.length; at += 16_384) {
      const isLast = at + 16_384 >= bomb.length
      parts.push(frame(at === 0 ? 1 : 9, isLast ? endHeaders : 0, 1, bomb.slice(at, at + 16_384)))
    }
    assert.match(says(connection, ...parts).join(), /^1: failed head-bytes \S+ \d+ 65536$/)
    assert.isAtMost(connection.retainedBytes, 4_096)
    assert.deepStrictEqual(says(connection, response(3, 200, [], endStream)), ["3: 200 0", "3: end"])
  })

  it("it makes this side tell and write no more than was begun, sent and left to it, however it turns its windows", () => {
    const turns = [
      ...[0, 0, 1, 256, 20_000].map((window) => settings([4, window])),
      ...[[0, 1], [0, 256], [3, 300]].map(([id, bytes]) => Lab2.windowUpdate(id!, bytes!)),
    ]
    const part = new Uint8Array(5_000)
    const turn = fc.array(fc.constantFrom(...turns), { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(fc.array(turn, { minLength: 1, maxLength: 8 }), (all) => {
        const connection = open(options, settings([4, 0]))
        for (let i = 0; i < 30; i++) {
          if (i % 3 === 0) send(connection, { ...get, method: "POST", body: part })
          else connection.upload(ask(connection, upload), part)
        }
        let [work, sent] = [0, 0]
        for (let i = 0; i < 2_000 && !connection.isRetired; i++) {
          for (const event of connection.receive(Lab2.join(...all[i % all.length]!))) {
            work++
            if (event._tag === "Writable") connection.upload(event.exchange, part)
          }
          for (const line of Lab2.written(connection)) {
            const [, bytes] = /^data \d+ (\d+)$/.exec(line) ?? []
            if (line.startsWith("data")) work++
            sent += Number(bytes ?? 0)
          }
        }
        assert.isAtMost(work, 2 * (100 + 2 * 30 + sent / 256) + 30)
      }),
      { seed: 20_261_130, numRuns: 50 },
    )
  })

  it("a block and a frame that drip are kept up to their limits, a body not at all", () => {
    const limits = { maxHeadBytes: 20_000 }
    const connection = asked(limits)
    let most = 0
    const drip = (bytes: Uint8Array): void => {
      for (const byte of bytes) {
        connection.receive(Uint8Array.of(byte))
        most = Math.max(most, connection.retainedBytes)
      }
    }
    drip(frame(Type.headers, 0, 1, block([":status", "200"], ["x", "y".repeat(10_000)])))
    drip(frame(Type.continuation, endHeaders, 1, block(["z", "y".repeat(9_000)])))
    assert.isAtMost(most, 2 * (16_384 + 20_000))
    assert.isAbove(most, 19_000)
    assert.strictEqual(connection.retainedBytes, 0)
    most = 0
    drip(data(1, "x".repeat(16_000)))
    assert.strictEqual(most, 0)
  })

  it("what was reset is remembered so far; what comes of older ones, of which nobody knows more, is passed over", () => {
    const late = (...frames: ReadonlyArray<Uint8Array>): string => {
      const connection = asked({ maxResets: 16 }, Array(20).fill(get))
      says(connection, response(3, 200, [], endStream), response(39, 200, [], endStream))
      for (let exchange = 5; exchange <= 37; exchange += 2) connection.cancel(exchange)
      // A field for the table, which goes on as the peer has it.
      const head = frame(Type.headers, endHeaders, 5, [0x88, 0x40, 1, 0x61, 1, 0x62])
      assert.deepStrictEqual(says(connection, data(37, "x"), head, data(5, "x"), response(5, 200, [], endStream)), [])
      return says(connection, ...frames, frame(Type.headers, endHeaders, 1, [0x88, 0xbe])).join()
    }
    assert.strictEqual(late(), "1: 200 ?")
    // One that ended, and is older than one that is forgotten; and one that is not.
    assert.strictEqual(late(data(3, "x"), response(3, 200)), "1: 200 ?")
    assert.match(late(data(39, "x")), /failed closed-stream data/)
  })

  it("of those that are forgotten no more comes than their windows had left, and no more heads than the limit", () => {
    const begin = (): EngineConnection => {
      const connection = asked({ ...options, maxResets: 16, maxStreamWindowBytes: 65_535 }, Array(18).fill(get))
      for (let exchange = 1; exchange <= 35; exchange += 2) connection.cancel(exchange)
      connection.takeOutput()
      return connection
    }
    const half = data(1, "x".repeat(13_107))
    const bytes = begin()
    for (let i = 0; i < 10; i++) assert.deepStrictEqual(says(bytes, half), [])
    assert.match(says(bytes, data(1, "x")).join(), /^retired fault flow-control/)
    const [heads, why] = taken(() => response(1, 200), begin())
    assert.match(why, /^retired fault flood headers/)
    assert.isAtMost(heads, 99 + 18 * 16)
  })
})
