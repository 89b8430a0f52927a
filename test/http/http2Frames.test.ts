/** What lies below a connection of HTTP/2, each part by itself: frames read and written, settings, and what is for no exchange. */
import { assert, describe, it } from "vitest"
import { HpackEncoder } from "../../core/http/HpackEncoder.ts"
import { Output } from "../../core/http/Http2Output.ts"
import { Quota } from "../../core/http/Http2Quota.ts"
import { FrameReader, type FrameSink } from "../../core/http/Http2Reader.ts"
import * as Settings from "../../core/http/Http2Settings.ts"
import { Streams } from "../../core/http/Http2Streams.ts"
import { Slab } from "../../core/http/Slab.ts"

/** RFC 9113, 6. */
const Type = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const
const Flag = { endStream: 1, ack: 1, endHeaders: 4, padded: 8, priority: 32 } as const
const uint32 = (value: number): ReadonlyArray<number> => [value >>> 24, value >>> 16, value >>> 8, value]
const frame = (type: number, flags: number, stream: number, ...payload: ReadonlyArray<number>): Uint8Array =>
  Uint8Array.from([...uint32(payload.length).slice(1), type, flags, ...uint32(stream), ...payload])
const joined = (parts: ReadonlyArray<Uint8Array>): Uint8Array => Uint8Array.from(parts.flatMap((part) => [...part]))
const hex = (bytes: Uint8Array, from = 0, to = bytes.length): string =>
  [...bytes.subarray(from, to)].map((byte) => byte.toString(16)).join(" ")

const limits = { maxFrameBytes: 100_000, maxHeadBytes: 64, maxContinuations: 3 }

/** A reader, and what it has told; pieces of one body are put together. */
const listening = () => {
  const told: Array<string> = []
  let body: string | undefined
  const tell = (line: string): undefined => {
    if (body !== undefined) told.push(`body ${body}`)
    body = undefined
    told.push(line)
  }
  const sink: FrameSink = {
    begin: (type, stream) => tell(`frame ${type} of ${stream}`),
    headers: (stream, isLast, bytes, from, to) => tell(`headers ${stream} ${isLast}: ${hex(bytes, from, to)}`),
    openData: (stream, payload) => tell(`open ${stream} ${payload}`),
    sizeData: (stream, size, other, isLast) => tell(`size ${stream} ${size} ${other} ${isLast}`),
    data: (_, bytes) => {
      assert.isAbove(bytes.length, 0)
      body = body === undefined ? hex(bytes) : `${body} ${hex(bytes)}`
    },
    endData: (stream, isLast) => tell(`end ${stream} ${isLast}`),
    settings: (bytes, from, to) => tell(`settings ${hex(bytes, from, to)}`),
    settingsAck: () => tell("settings ack"),
    ping: (bytes, from) => tell(`ping ${hex(bytes, from, from + 8)}`),
    pong: (bytes, from) => tell(`pong ${hex(bytes, from, from + 8)}`),
    goAway: (last, code) => tell(`goaway ${last} ${code}`),
    windowUpdate: (stream, bytes) => tell(`window ${stream} ${bytes}`),
    reset: (stream, code) => tell(`reset ${stream} ${code}`),
  }
  return { reader: new FrameReader(limits, sink), told }
}

const eight = [1, 2, 3, 4, 5, 6, 7, 8]
const { endHeaders, endStream, padded, priority } = Flag
const preface = frame(Type.settings, 0, 0, 0, 3, 0, 0, 0, 9)

/** Frames in turn, each with what is told of it, and with whether a header block goes on behind it. */
const frames: ReadonlyArray<readonly [Uint8Array, ReadonlyArray<string>, isOpen?: boolean]> = [
  [preface, ["settings 0 3 0 0 0 9"]],
  [frame(Type.settings, Flag.ack, 0), ["settings ack"]],
  [frame(Type.headers, endHeaders, 1, 7, 8, 9), ["headers 1 false: 7 8 9"]],
  [frame(Type.headers, endHeaders | endStream | padded | priority, 1, 2, 0, 0, 0, 0, 0, 7, 0, 0), [
    "headers 1 true: 7",
  ]],
  [frame(Type.headers, endHeaders | priority, 1, 0, 0, 0, 0, 0), ["headers 1 false: "]],
  [frame(Type.headers, endHeaders | padded, 1, 0), ["headers 1 false: "]],
  // Blocks in several frames, of one byte and of none too.
  [frame(Type.headers, endStream, 1, 7), [], true],
  [frame(Type.continuation, endHeaders, 1, 8, 9), ["headers 1 true: 7 8 9"]],
  [frame(Type.headers, 0, 3), [], true],
  [frame(Type.continuation, 0, 3, 7, 8), [], true],
  [frame(Type.continuation, 0, 3), [], true],
  [frame(Type.continuation, endHeaders, 3), ["headers 3 false: 7 8"]],
  [frame(Type.data, 0, 3, 5, 6), ["open 3 2", "size 3 2 0 false", "body 5 6", "end 3 false"]],
  [frame(Type.data, 0, 3), ["open 3 0", "size 3 0 0 false", "end 3 false"]],
  [frame(Type.data, padded, 3, 2, 5, 6, 0, 0), ["open 3 5", "size 3 2 3 false", "body 5 6", "end 3 false"]],
  [frame(Type.data, padded, 3, 1, 0), ["open 3 2", "size 3 0 2 false", "end 3 false"]],
  [frame(Type.ping, 0, 0, ...eight), ["ping 1 2 3 4 5 6 7 8"]],
  [frame(Type.ping, Flag.ack, 0, ...eight), ["pong 1 2 3 4 5 6 7 8"]],
  [frame(Type.priority, 0, 5, 0, 0, 0, 0, 1), []],
  [frame(0x20, 0xff, 5, 1, 2, 3), []],
  [frame(0x20, 0, 0), []],
  [frame(Type.windowUpdate, 0, 0, 0, 1, 2, 3), ["window 0 66051"]],
  [frame(Type.windowUpdate, 0, 0x8000_0003, 0x80, 0, 0, 1), ["window 3 1"]],
  [frame(Type.reset, 0, 3, 0xff, 0, 0, 8), ["reset 3 4278190088"]],
  [frame(Type.goAway, 0, 0, 0x80, 0, 0, 3, 0, 0, 0, 2, 9, 9), ["goaway 3 2"]],
  [frame(Type.data, padded | endStream, 3, 0), ["open 3 1", "size 3 0 1 true", "end 3 true"]],
]
const typeOf = (bytes: Uint8Array): string =>
  `frame ${bytes[3]} of ${new DataView(bytes.buffer).getUint32(5) & 0x7fff_ffff}`
const expected = frames.flatMap(([bytes, lines]) => [typeOf(bytes), ...lines])
const all = joined(frames.map(([bytes]) => bytes))

describe("the reader of frames", () => {
  it("tells the same however the bytes are cut", () => {
    const whole = listening()
    assert.isUndefined(whole.reader.read(all))
    assert.deepStrictEqual(whole.told, expected)
    for (let cut = 1; cut < all.length; cut++) {
      const { reader, told } = listening()
      assert.isUndefined(reader.read(all.subarray(0, cut)))
      assert.isUndefined(reader.read(all.subarray(cut)))
      assert.deepStrictEqual(told, expected, `cut at ${cut}`)
    }
    for (const size of [1, 2, 7, 9, 10]) {
      const { reader, told } = listening()
      for (let at = 0; at < all.length; at += size) assert.isUndefined(reader.read(all.subarray(at, at + size)))
      assert.deepStrictEqual(told, expected, `${size} at a time`)
    }
  })

  it("tells each frame as soon as its last byte is there, and says whether one or a block is unfinished", () => {
    const { reader, told } = listening()
    let [at, lines] = [0, 0]
    for (const [bytes, own, isOpen = false] of frames) {
      for (const byte of bytes) {
        reader.read(Uint8Array.of(byte))
        assert.strictEqual(reader.isWithin, ++at < bytes.length || isOpen)
      }
      at = 0
      lines += 1 + own.length
      assert.strictEqual(told.length, lines)
    }
  })

  it("puts a long frame together from many pieces", () => {
    const payload = Array.from({ length: 600 }, (_, i) => i & 127)
    const { reader, told } = listening()
    const bytes = frame(Type.settings, 0, 0, ...payload)
    for (let at = 0; at < bytes.length; at += 100) reader.read(bytes.subarray(at, at + 100))
    assert.strictEqual(told[1], `settings ${hex(Uint8Array.from(payload))}`)
  })

  it("hands on a piece that is nothing but a body as it came", () => {
    const pieces: Array<Uint8Array> = []
    const sink = { begin: () => undefined, openData: () => undefined, sizeData: () => undefined, endData: () => {} }
    const data = (_: number, bytes: Uint8Array): void => void pieces.push(bytes)
    const settings = (): undefined => undefined
    const taking = new FrameReader(limits, { ...sink, data, settings } as unknown as FrameSink)
    taking.read(preface)
    // A length of three bytes.
    const long = frame(Type.data, 0, 1, ...new Uint8Array(70_000).fill(7))
    taking.read(long.subarray(0, 9))
    const [body, rest] = [long.subarray(9, 40_000), long.subarray(40_000)]
    taking.read(body)
    taking.read(rest)
    assert.strictEqual(pieces[0], body)
    assert.strictEqual(pieces[1], rest)
    taking.read(frame(Type.data, 0, 1, 1, 2))
    assert.strictEqual(pieces[2]?.length, 2)
  })

  const wrong: ReadonlyArray<readonly [string, string, ...ReadonlyArray<Uint8Array>]> = [
    ["padding beyond DATA", "padding", frame(Type.data, padded, 1, 3, 0, 0)],
    ["DATA that is padded and empty", "frame-size", frame(Type.data, padded, 1)],
    ["padding beyond HEADERS", "padding", frame(Type.headers, endHeaders | padded, 1, 3, 0, 0)],
    ["padding into the priority", "padding", frame(Type.headers, endHeaders | padded | priority, 1, 1, 0, 0, 0, 0, 0)],
    ["HEADERS without room for the padding", "frame-size", frame(Type.headers, endHeaders | padded, 1)],
    ["HEADERS without room for the priority", "frame-size", frame(Type.headers, endHeaders | priority, 1, 0, 0, 0, 0)],
    ["both of them", "frame-size", frame(Type.headers, padded | priority, 1, 0, 0, 0, 0, 0)],
    ["a block that is too long", "block-bytes", frame(Type.headers, endHeaders, 1, ...new Uint8Array(65))],
    [
      "one that grows too long",
      "block-bytes",
      frame(Type.headers, 0, 1, ...new Uint8Array(64)),
      frame(Type.continuation, 0, 1, 0),
    ],
    [
      "too many continuations",
      "continuations",
      frame(Type.headers, 0, 1),
      ...Array.from({ length: 4 }, () => frame(Type.continuation, 0, 1)),
    ],
    ["another frame within a block", "continuation", frame(Type.headers, 0, 1), frame(Type.ping, 0, 0, ...eight)],
    ["another stream within a block", "continuation", frame(Type.headers, 0, 1), frame(Type.continuation, 0, 3)],
    ["a continuation of nothing", "continuation", frame(Type.continuation, 0, 1)],
    ["a ping of seven bytes", "frame-size", frame(Type.ping, 0, 0, ...eight.slice(1))],
    ["settings of seven bytes", "frame-size", frame(Type.settings, 0, 0, ...eight.slice(1))],
    ["an answer to settings with a byte", "frame-size", frame(Type.settings, Flag.ack, 0, ...eight.slice(2))],
    ["a goaway of seven bytes", "frame-size", frame(Type.goAway, 0, 0, ...eight.slice(1))],
    ["a reset of five bytes", "frame-size", frame(Type.reset, 0, 1, ...eight.slice(3))],
    ["a priority of four bytes", "frame-size", frame(Type.priority, 0, 1, ...eight.slice(4))],
    ["a frame that is too long", "frame-size", frame(Type.data, 0, 1, ...new Uint8Array(100_001))],
  ]
  for (const [title, rule, ...bytes] of wrong) {
    it(`refuses ${title}: ${rule}`, () => {
      const parts = joined([preface, ...bytes])
      for (let cut = parts.length < 200 ? 0 : parts.length; cut <= parts.length; cut++) {
        const { reader } = listening()
        const first = reader.read(parts.subarray(0, cut))
        assert.strictEqual(first ?? reader.read(parts.subarray(cut)), rule, `cut at ${cut}`)
      }
    })
  }

  it("keeps nothing of what is unfinished once it is dropped, nor of what has ended", () => {
    const { reader } = listening()
    reader.read(joined([preface, frame(Type.ping, 0, 0, ...eight)]).subarray(0, 27))
    assert.isAbove(reader.retainedBytes, 0)
    reader.read(Uint8Array.from(eight.slice(3)))
    assert.strictEqual(reader.retainedBytes, 0)
    reader.read(joined([frame(Type.headers, 0, 1, 7), frame(Type.continuation, 0, 1, 8, 9).subarray(0, 10)]))
    const both = reader.retainedBytes
    reader.read(Uint8Array.of(9))
    assert.isBelow(reader.retainedBytes, both)
    reader.read(frame(Type.continuation, 0, 1, 8, 9).subarray(0, 10))
    reader.drop()
    assert.strictEqual(reader.retainedBytes, 0)
  })
})

describe("frames that are written", () => {
  it("are the bytes of their parts, in rooms that are never overrun", () => {
    const output = new Output()
    const written: Array<Uint8Array> = []
    const view = new DataView(Uint8Array.from(eight).buffer)
    const [high, low] = [view.getUint32(0), view.getUint32(4)]
    for (let i = 0; i < 1_200; i++) {
      const kind = i % 7
      if (kind === 0) output.ping(high, low, true)
      else if (kind === 1) output.ping(high, low, false)
      else if (kind === 2) output.windowUpdate(3, 66_051)
      else if (kind === 3) output.reset(3, 8)
      else if (kind === 4) output.goAway(11)
      else if (kind === 5) output.settings([4, 9])
      else output.settingsAck()
      written.push(
        [
          frame(Type.ping, Flag.ack, 0, ...eight),
          frame(Type.ping, 0, 0, ...eight),
          frame(Type.windowUpdate, 0, 3, 0, 1, 2, 3),
          frame(Type.reset, 0, 3, 0, 0, 0, 8),
          frame(Type.goAway, 0, 0, 0, 0, 0, 0, 0, 0, 0, 11),
          frame(Type.settings, 0, 0, 0, 4, 0, 0, 0, 9),
          frame(Type.settings, Flag.ack, 0),
        ][kind]!,
      )
    }
    assert.deepStrictEqual(joined(output.take()), joined(written))
    assert.isEmpty(output.take())
    // A block that is whole frames, to the byte.
    const block = (length: number): ReadonlyArray<number> => {
      output.headers(1, new HpackEncoder(), ["x-long", "!".repeat(length)], true, 16_384)
      const bytes = joined(output.take())
      const heads: Array<number> = []
      for (let at = 0; at < bytes.length; at += 9 + ((bytes[at + 1]! << 8) | bytes[at + 2]!)) {
        heads.push((bytes[at + 1]! << 8) | bytes[at + 2]!, bytes[at + 3]!, bytes[at + 4]!)
      }
      return heads
    }
    const [first = 0, , , second = 0] = block(20_000)
    const exact = 20_000 + 2 * 16_384 - first - second
    assert.deepStrictEqual(block(exact), [16_384, 1, 1, 16_384, 9, 4])
    assert.deepStrictEqual(block(exact + 1), [16_384, 1, 1, 16_384, 9, 0, 1, 9, 4])
    // A length of three bytes.
    output.data(1, new Uint8Array(70_000), true)
    output.data(1, Uint8Array.of(7), false)
    const [head, body, ...rest] = output.take()
    assert.deepStrictEqual([...head!], [1, 0x11, 0x70, 0, 1, 0, 0, 0, 1])
    assert.strictEqual(body!.length, 70_000)
    assert.deepStrictEqual(joined(rest), frame(Type.data, 0, 1, 7))
  })
})

describe("settings", () => {
  const apply = (settings: Settings.PeerSettings, ...pairs: ReadonlyArray<readonly [id: number, value: number]>) => {
    const bytes = Uint8Array.from([
      9,
      ...pairs.flatMap(([id, value]) => [id >> 8, id, ...uint32(value)]),
      0,
      2,
      0,
      0,
      0,
      7,
    ])
    return settings.apply(bytes, 1, bytes.length - 6)
  }

  it("of one's own are in order, with no push and no priorities", () => {
    const given = { maxTableBytes: 11, maxStreamWindowBytes: 12, maxFrameBytes: 13, maxHeadBytes: 14 }
    assert.deepStrictEqual(Settings.own(given), [1, 11, 2, 0, 4, 12, 5, 13, 6, 14, 9, 1])
  })

  it("of the peer are those it said last, of a table the smallest of one frame too", () => {
    const encoder = new HpackEncoder()
    /** What a block says of the table, ahead of its one field. */
    const sizes = (): ReadonlyArray<number> => {
      const bytes = new Uint8Array(64)
      return [...bytes.subarray(0, encoder.encode([":method", "GET"], bytes, 0))].slice(0, -1)
    }
    const settings = new Settings.PeerSettings(encoder)
    const { areKnown, connectProtocol, maxFrame, maxHead, maxStreams, window } = settings
    assert.deepStrictEqual(
      [areKnown, connectProtocol, maxFrame, maxHead, maxStreams, window],
      [false, false, 16_384, Infinity, Infinity, 65_535],
    )
    assert.deepStrictEqual(sizes(), [])
    assert.isUndefined(
      apply(settings, [1, 20], [1, 50], [1, 30], [3, 4], [4, 5], [5, 20_000], [6, 7], [8, 1], [0x102, 9]),
    )
    assert.deepInclude(settings, {
      areKnown: true,
      connectProtocol: true,
      maxFrame: 20_000,
      maxHead: 7,
      maxStreams: 4,
      window: 5,
    })
    assert.deepStrictEqual(sizes(), [0x20 | 20, 0x20 | 30])
    assert.isUndefined(apply(settings, [3, 5]))
    assert.deepInclude(settings, { maxStreams: 5, maxHead: 7 })
    assert.deepStrictEqual(sizes(), [])
    assert.isUndefined(apply(settings, [1, 25]))
    assert.deepStrictEqual(sizes(), [0x20 | 25])
  })

  it("that break a rule are told from those that do not", () => {
    const most = 0x7fff_ffff
    const rows: ReadonlyArray<readonly [id: number, right: ReadonlyArray<number>, wrong: ReadonlyArray<number>]> = [
      [2, [0], [1, 2]],
      [4, [0, most], [most + 1]],
      [5, [16_384, 0xff_ffff], [16_383, 0x100_0000]],
      [8, [0, 1], [2]],
      [9, [0, 1], [2]],
    ]
    for (const [id, right, wrong] of rows) {
      for (const value of right) assert.isUndefined(apply(new Settings.PeerSettings(new HpackEncoder()), [id, value]))
      for (const value of wrong) {
        const rule = id === 4 ? "flow-control" : "settings-value"
        assert.strictEqual(apply(new Settings.PeerSettings(new HpackEncoder()), [id, value], [3, 1]), rule)
      }
    }
    // What is served is so for good, and the priorities are those of the first frame.
    for (const [id, first, then, isRight] of [[8, 1, 1, true], [8, 1, 0, false], [8, 0, 1, true], [8, 0, 0, true]]) {
      const settings = new Settings.PeerSettings(new HpackEncoder())
      apply(settings, [id as number, first as number])
      assert.strictEqual(apply(settings, [id as number, then as number]) === undefined, isRight)
    }
    for (const first of [undefined, 0, 1]) {
      for (const then of [0, 1]) {
        const settings = new Settings.PeerSettings(new HpackEncoder())
        apply(settings, ...first === undefined ? [] : [[9, first]] as const)
        assert.strictEqual(apply(settings, [9, then]) === undefined, then === (first ?? 0))
      }
    }
  })
})

describe("what is for no exchange", () => {
  const room = (quota: Quota): number => {
    let frames = 0
    while (!quota.isOver()) frames++
    return frames
  }

  const asked = { isHead: false, isTunnel: false, left: 0, isSent: true }
  const allowing = (max: number, streams: Streams = new Streams(16)): Quota => new Quota(max, streams)

  it("is as much as there may be, and what exchanges, pieces and bytes pay for", () => {
    assert.strictEqual(room(allowing(10)), 10)
    const quota = allowing(100)
    for (let i = 0; i < 90; i++) quota.isOver()
    quota.began()
    quota.carried()
    assert.strictEqual(room(quota), 10 + 16 + 3)
    // By the peer's own bodies, what is paid for ahead is nothing.
    const early = allowing(10)
    early.carried()
    early.moved(1e9)
    assert.strictEqual(room(early), 10)
  })

  it("is paid for ahead by what this side did, up to twenty times the limit", () => {
    const quota = allowing(10)
    quota.gave()
    assert.strictEqual(room(quota), 10)
    // It pays once, when it is taken.
    for (const frames of [2, 0]) {
      quota.taken()
      assert.strictEqual(room(quota), frames)
    }
    quota.began()
    quota.began()
    quota.sent(2_560)
    assert.strictEqual(room(quota), 16 + 16 + 10 - 2)
    for (let i = 0; i < 80; i++) quota.gave()
    quota.taken()
    assert.strictEqual(room(quota), 10 + 200)
    quota.sent(1e9)
    quota.moved(1)
    assert.strictEqual(room(quota), 10 + 200)
  })

  it("is paid for ahead by exchanges that are under way, and what they paid stays paid when they end", () => {
    const streams = new Streams(16)
    const quota = allowing(10, streams)
    const all = [1, 2, 3].map(() => {
      const stream = streams.open(asked, 1)
      quota.began()
      return stream
    })
    quota.moved(1e9)
    streams.close(all[0]!)
    quota.moved(1e9)
    assert.strictEqual(room(quota), 10 + 3 * 16)
    quota.moved(1e9)
    assert.strictEqual(room(quota), 10 + 2 * 16)
  })

  it("has each byte pay once, in whatever parts they come", () => {
    for (const part of [1, 255, 256, 257, 1_000, 5_120]) {
      const quota = allowing(100)
      for (let i = 0; i < 100; i++) quota.isOver()
      let bytes = 0
      for (; bytes + part <= 5_120; bytes += part) quota.moved(part)
      assert.strictEqual(room(quota), Math.floor(bytes / 256))
    }
  })

  it("counts answers until they are taken", () => {
    const quota = allowing(2)
    const answers = [1, 2, 3].map(() => quota.isOverAnswered())
    assert.deepStrictEqual(answers, [false, false, true])
    quota.taken()
    quota.began()
    assert.isFalse(quota.isOverAnswered())
  })

  it("is paid for by the peer's own bodies, but for what its settings cost", () => {
    const streams = new Streams(16)
    const quota = allowing(100, streams)
    for (const count of [1, 99]) assert.isFalse(quota.isOverSettings(count))
    quota.carried()
    quota.moved(1e9)
    assert.isTrue(quota.isOverSettings(1))
    quota.began()
    assert.isFalse(quota.isOverSettings(15))
    quota.sent(2_560)
    assert.isFalse(quota.isOverSettings(10))
    for (let i = 0; i < 50; i++) streams.open(asked, 1)
    assert.isTrue(quota.isOverSettings(1))
    // Twice as many as the streams are none too many.
    streams.open(asked, 1)
    assert.isFalse(quota.isOverSettings(1))
    assert.isTrue(quota.isOverSettings(1))
  })
})

describe("streams", () => {
  const asked = { isHead: false, isTunnel: false, left: 0, isSent: true }

  it("are found while they are live, and count until what was told of them is consumed", () => {
    const streams = new Streams(2)
    assert.isBelow(streams.written, 1)
    const [one, three, five] = [1, 2, 3].map(() => streams.open(asked, 100))
    assert.deepStrictEqual([[...streams.all()].map(({ id }) => id), streams.count, streams.last], [[1, 3, 5], 3, 5])
    assert.deepStrictEqual([0, 1, 2, 5, 7].map((id) => streams.isPast(id)), [false, false, false, false, false])
    one!.unread = 10
    three!.unread = 10
    for (const stream of [one!, three!, five!, one!]) streams.close(stream)
    assert.deepStrictEqual([streams.count, [...streams.all()], streams.get(1)], [0, [one!, three!], undefined])
    assert.deepStrictEqual([0, 1, 2, 3, 5, 7].map((id) => streams.isPast(id)), [false, true, false, true, true, false])
    assert.deepStrictEqual([-1, NaN, 4, 1, 100, 1].map((bytes) => streams.consume(1, bytes)), [0, 0, 4, 1, 5, 0])
    assert.strictEqual(streams.consume(5, 1), 0)
    assert.strictEqual(streams.consume(3, 1), 1)
    streams.clear()
    assert.strictEqual(streams.consume(3, 1), 0)
  })

  it("that are over and consumed leave nothing behind, whoever looked at them meanwhile", () => {
    const maps = new Set<Map<unknown, unknown>>()
    const { set } = Map.prototype
    Map.prototype.set = function (this: Map<unknown, unknown>, key: unknown, value: unknown) {
      maps.add(this)
      return set.call(this, key, value)
    }
    try {
      const streams = new Streams(2)
      const all = [0, 0, 5, 5, 5].map((unread) => Object.assign(streams.open(asked, 100), { unread }))
      for (const stream of all.slice(1)) streams.close(stream)
      streams.consume(5, 5)
      assert.strictEqual([...streams.all()].length, 3)
      for (const id of [7, 9]) streams.consume(id, 5)
      streams.close(all[0]!)
    } finally {
      Map.prototype.set = set
    }
    assert.deepStrictEqual([...maps].map(({ size }) => size), [0])
  })

  it("that were reset are remembered, the last of them", () => {
    const streams = new Streams(2)
    const all = [1, 2, 3].map(() => streams.open(asked, 100))
    for (const stream of all) streams.reset(stream)
    const late = streams.inflow(1)!
    assert.deepStrictEqual([3, 5, 7].map((id) => streams.inflow(id)), [all[1]!.inflow, all[2]!.inflow, undefined])
    // Of those that are forgotten, as much may come as their windows had left in all.
    streams.reset(streams.open(asked, 50))
    assert.deepStrictEqual([streams.inflow(1), streams.inflow(3)], [late, late])
    assert.deepStrictEqual([late.take(150), late.take(50), late.take(1)], [true, true, false])
    streams.clear()
    assert.isUndefined(streams.inflow(5))
  })
})

describe("a slab", () => {
  const text = (bytes: Uint8Array): string => String.fromCharCode(...bytes)

  it("puts pieces one behind the other while they fit, and a piece that does not into a room of its own size", () => {
    const slab = new Slab()
    const write = (...texts: ReadonlyArray<string>): Uint8Array => {
      slab.begin()
      for (const each of texts) assert.isTrue(slab.add(each))
      return slab.end()
    }
    const first = write("a")
    assert.deepStrictEqual([first.byteOffset, first.buffer.byteLength], [0, 8_192])
    const second = write("b".repeat(8_000), "c")
    assert.deepStrictEqual([second.byteOffset, second.buffer === first.buffer], [1, true])
    // To the last byte.
    const third = write("d".repeat(190))
    assert.deepStrictEqual([third.byteOffset, third.buffer === first.buffer], [8_002, true])
    const fourth = write("e".repeat(100))
    assert.deepStrictEqual([fourth.byteOffset, fourth.buffer === first.buffer], [0, false])
    // It moves with what was written of it.
    const fifth = write("f".repeat(5_000), "g".repeat(5_000), "h".repeat(5_000))
    assert.strictEqual(text(fifth), "f".repeat(5_000) + "g".repeat(5_000) + "h".repeat(5_000))
    // What is left behind a large one is used.
    const sixth = write("i")
    assert.strictEqual(sixth.buffer, fifth.buffer)
    assert.deepStrictEqual([first, second, third, fourth, sixth].map((each) => text(each).slice(-1)), [..."acdei"])
  })

  it("forgets a piece that was not ended, and the room that was made for a large one", () => {
    const slab = new Slab()
    slab.begin()
    slab.add("a")
    const { buffer } = slab.end()
    slab.begin()
    slab.add("b".repeat(100))
    slab.begin()
    slab.bytes(Uint8Array.of(99))
    assert.strictEqual(slab.length, 1)
    const next = slab.end()
    assert.deepStrictEqual([text(next), next.byteOffset, next.buffer === buffer], ["c", 1, true])
    slab.begin()
    slab.add("d".repeat(20_000))
    slab.begin()
    slab.add("e")
    assert.strictEqual(slab.end().buffer.byteLength, 8_192)
  })

  it("goes on where whoever had a piece transferred it, and takes no character beyond a byte", () => {
    const slab = new Slab()
    slab.begin()
    slab.add("a".repeat(100))
    const { buffer } = slab.end()
    structuredClone(buffer, { transfer: [buffer] })
    slab.begin()
    assert.isTrue(slab.add("b\xff"))
    assert.strictEqual(text(slab.end()), "b\xff")
    slab.begin()
    assert.isFalse(slab.add("b\u0100c"))
    assert.isTrue(slab.add("b", Uint8Array.from({ length: 99 }, (_, code) => +(code === 98))))
  })
})
