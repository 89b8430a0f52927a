/** Limits: checked at the door, exact to the byte, and what they bound: memory, and work on what carries nothing. */
import { assert, describe, it } from "vitest"
import * as Result from "effect/Result"
import { latin1 as platform } from "../../adapters/shared/Latin1.ts"
import * as Http1 from "../../core/http/Http1.ts"
import * as Latin1 from "../../core/http/Latin1.ts"
import * as Lab from "../support/http/Lab.ts"
import { limits } from "../support/http/Reference.ts"

const { answer, broken, get } = Lab
const refused = (options: object): { readonly limit?: string; readonly rule?: string } => {
  const made = Http1.make(options as Http1.Options)
  return Result.isFailure(made) ? made.failure : {}
}

describe("options are refused at the door", () => {
  for (const name of Object.keys(limits)) {
    it(`${name}: a whole number from 1 to 1048576`, () => {
      for (const good of [1, 1_048_576, undefined]) assert.deepStrictEqual(refused({ [name]: good }), {})
      for (const bad of [0, -1, 1_048_577, 1.5, NaN, Infinity, "1000", null]) {
        assert.deepInclude(refused({ [name]: bad }), { limit: name, rule: "a whole number from 1 to 1048576" })
      }
    })
  }

  it("where a name is unknown, or a decoder no function", () => {
    assert.deepInclude(refused({ maxHeaderBytes: 1 }), { limit: "maxHeaderBytes" })
    assert.deepInclude(refused({ latin1: "latin1" }), { limit: "latin1", rule: "a function" })
    assert.deepStrictEqual([refused({}), refused({ latin1: () => "" })], [{}, {}])
  })

  it("and have the defaults that are told", () => {
    const line = (bytes: number): string => `HTTP/1.1 200 OK\r\nx:${"v".repeat(bytes - 4)}\r\n\r\n`
    assert.deepStrictEqual(answer(line(limits.maxLineBytes)), ["200 ?"])
    assert.strictEqual(broken(line(limits.maxLineBytes + 1)), `line-bytes head ${17 + limits.maxLineBytes} 32768`)
  })
})

describe("a limit is kept to the byte, however the bytes are cut", () => {
  const both = (sent: string, options: Http1.Options): string | undefined => {
    const whole = broken(sent, get, options)
    const drip = Lab.told(Lab.fed(Lab.asked(get, options), Lab.bytes(sent), [1])).at(-1)
    assert.strictEqual(whole, drip?.startsWith("retired fault") === true ? drip.slice(14) : undefined)
    return whole
  }
  const start = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n"

  it("head-bytes: 256 are a head, 257 are none", () => {
    const sized = (bytes: number): string => {
      const fields = `${"x: y\r\n".repeat(30)}`
      return `${start}${fields}z: ${"w".repeat(bytes - start.length - fields.length - 7)}\r\n\r\n`
    }
    assert.deepStrictEqual([sized(256).length, both(sized(256), { maxHeadBytes: 256 })], [256, undefined])
    assert.strictEqual(both(sized(257), { maxHeadBytes: 256 }), "head-bytes head 256 256")
    assert.strictEqual(both(`HTTP/1.1 200 ${"r".repeat(300)}`, { maxHeadBytes: 256 }), "head-bytes head 256 256")
    assert.strictEqual(both(`HTTP/1.1 100\r\n\r\n${sized(256)}`, { maxHeadBytes: 256 }), undefined)
  })

  it("line-bytes: 64 are a line, its end included, 65 are none", () => {
    const sized = (bytes: number): string => `${start}x: ${"v".repeat(bytes - 5)}\r\n\r\n`
    const options = { maxLineBytes: 64 }
    assert.strictEqual(both(sized(64), options), undefined)
    assert.strictEqual(both(sized(65), options), "line-bytes head 100 64")
    assert.strictEqual(both(`${start}${"n".repeat(65)}`, options), "line-bytes head 100 64")
    assert.strictEqual(both(`HTTP/1.1 200 ${"r".repeat(50)}\r\n`, options), "line-bytes head 64 64")
    assert.strictEqual(both(`${start}x:${" ".repeat(70)}`, options), "line-bytes head 100 64")
  })

  it("fields: as many as may be, of a head and of trailers", () => {
    const sized = (count: number): string => `${start}${"x: y\r\n".repeat(count - 1)}\r\n`
    assert.strictEqual(both(sized(3), { maxFields: 3 }), undefined)
    assert.strictEqual(both(sized(4), { maxFields: 3 }), "fields head 48 3")
    const chunked = (count: number): string =>
      `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n${"x: y\r\n".repeat(count)}\r\n`
    assert.strictEqual(both(chunked(3), { maxFields: 3 }), undefined)
    assert.strictEqual(both(chunked(4), { maxFields: 3 }), "fields trailers 18 3")
  })

  it("trailers-bytes: the empty line included", () => {
    const chunked = (bytes: number): string =>
      `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\nx: ${"y".repeat(bytes - 7)}\r\n\r\n`
    assert.strictEqual(both(chunked(40), { maxTrailerBytes: 40 }), undefined)
    assert.strictEqual(both(chunked(41), { maxTrailerBytes: 40 }), "trailers-bytes trailers 40 40")
    assert.strictEqual(both(chunked(7).replace("x: \r\n", ""), { maxTrailerBytes: 2 }), undefined)
  })

  const chunks = (body: string): string => `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${body}`

  it("chunk-line-bytes: of the line of any chunk, the last one too", () => {
    const sized = (bytes: number, size = "1"): string => `${size};${"e".repeat(bytes - size.length - 3)}\r\n`
    const options = { maxChunkLineBytes: 32 }
    assert.strictEqual(both(chunks(`${sized(32)}x\r\n${sized(32, "0")}\r\n`), options), undefined)
    assert.strictEqual(both(chunks(`${sized(33)}x\r\n`), options), "chunk-line-bytes body 32 32")
    assert.strictEqual(both(chunks(`1\r\nx\r\n${sized(33, "0")}`), options), "chunk-line-bytes body 38 32")
  })

  it("chunk-overhead: what small chunks leave unused is taken off again", () => {
    // A line of 64 bytes and the end of the chunk, less the 16 that are free and 2 for the byte: 48 too much.
    const heavy = `1;${"e".repeat(60)}\r\nx\r\n`
    const options = { maxChunkOverheadBytes: 100 }
    assert.strictEqual(both(chunks(`${heavy.repeat(2)}0\r\n\r\n`), options), undefined)
    assert.strictEqual(both(chunks(heavy.repeat(3)), options), "chunk-overhead body 197 100")
    const light = `10\r\n${"y".repeat(16)}\r\n`
    assert.strictEqual(both(chunks(`${(heavy + light + light).repeat(50)}0\r\n\r\n`), options), undefined)
    assert.strictEqual(both(chunks(`${"1\r\nx\r\n".repeat(5_000)}0\r\n\r\n`), { maxChunkOverheadBytes: 1 }), undefined)
  })

  it("chunk-overhead: to the byte, with two for each byte of a chunk, nothing saved up, and anew for every body", () => {
    const heavy = `1;${"e".repeat(60)}\r\nx\r\n`
    const of = (maxChunkOverheadBytes: number, body: string) =>
      both(chunks(`${body}0\r\n\r\n`), { maxChunkOverheadBytes })
    assert.deepStrictEqual([of(96, heavy + heavy), of(95, heavy + heavy)], [undefined, "chunk-overhead body 130 95"])
    const two = heavy.replace("1;", "2;").replace("x", "xy")
    assert.deepStrictEqual([of(46, two), of(45, two)], [undefined, "chunk-overhead body 63 45"])
    const large = `3e8\r\n${"y".repeat(1_000)}\r\n`
    assert.deepStrictEqual([of(48, large + heavy), of(47, large + heavy)], [undefined, "chunk-overhead body 1070 47"])
    const connection = Lab.asked(get, { maxChunkOverheadBytes: 60 })
    for (let i = 0; i < 3; i++) {
      assert.strictEqual(Lab.told(connection.receive(Lab.bytes(chunks(`${heavy}0\r\n\r\n`)))).at(-1), "end")
      connection.trySend(get)
      connection.takeOutput()
    }
  })

  it("chunk-overhead: bodies that are nearly all extensions end early by default", () => {
    const heavy = `1;${"e".repeat(250)}\r\nx\r\n`
    const rule = broken(chunks(heavy.repeat(1_000)))
    assert.match(rule!, /^chunk-overhead body \d+ 16384$/)
    assert.isBelow(Number(rule!.split(" ")[2]), 20_000)
  })
})

describe("of a peer that drips, nothing grows beyond the limits", () => {
  it("no more is kept than twice the head, and nothing behind it", () => {
    const connection = Lab.asked(get, { maxHeadBytes: 4_096 })
    const head = Lab.bytes(`HTTP/1.1 200 OK\r\ncontent-length: 9\r\n${"x: yyyyyyyy\r\n".repeat(250)}\r\n`)
    let most = 0
    for (const byte of head) {
      connection.receive(Uint8Array.of(byte))
      most = Math.max(most, connection.retainedBytes)
    }
    assert.isAtMost(most, 2 * 4_096)
    assert.isAbove(most, 3_000)
    assert.strictEqual(connection.retainedBytes, 0)
  })

  it("a body is never kept, nor more of the framing of chunks than a line", () => {
    const connection = Lab.asked()
    connection.receive(Lab.bytes("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"))
    let most = 0
    for (const byte of Lab.bytes(`${"3;ext=1\r\nabc\r\n".repeat(100)}0;ext\r\n`)) {
      connection.receive(Uint8Array.of(byte))
      most = Math.max(most, connection.retainedBytes)
    }
    assert.strictEqual(most, "3;ext=1\r".length)
  })

  it("small chunks of one piece come as one, so there are fewer events than bytes of any chunk", () => {
    const connection = Lab.asked()
    const bytes = Lab.bytes(
      `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${"1\r\nx\r\n".repeat(20_000)}0\r\n\r\n`,
    )
    const events = connection.receive(bytes)
    assert.deepStrictEqual(events.map(({ _tag }) => _tag), ["Head", "Data", "End"])
    const data = events[1]?._tag === "Data" ? events[1].bytes : assert.fail()
    assert.strictEqual(data.length, 20_000)
    assert.isAtMost(
      data.buffer.byteLength,
      bytes.length - "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".length,
    )
    const mixed = Lab.asked()
    const large = `258\r\n${"y".repeat(600)}\r\n`
    const told = mixed.receive(
      Lab.bytes(
        `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${("1\r\na\r\n2\r\nbc\r\n" + large).repeat(50)}0\r\n\r\n`,
      ),
    )
    assert.strictEqual(told.length, 102)
    assert.strictEqual(Lab.told(told)[1], `data ${("abc" + "y".repeat(600)).repeat(50)}`)
  })

  it("what is fed is not changed, and a body is handed on as it lies", () => {
    const connection = Lab.asked()
    connection.receive(Lab.bytes("HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n"))
    const piece = new Uint8Array(900).fill(7)
    const [event] = connection.receive(piece)
    assert.strictEqual(event?._tag === "Data" && event.bytes, piece)
    const chunked = Lab.bytes("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n1\r\nb\r\n0\r\n\r\n")
    const before = chunked.slice()
    Lab.asked().receive(chunked)
    assert.deepStrictEqual(chunked, before)
  })
})

describe("what a connection is made of", () => {
  it("the core's own decoder reads as the platform's does, at any length", () => {
    const bytes = Uint8Array.from({ length: 9_000 }, (_, i) => (i * 7919) % 256)
    for (const [start, end] of [[0, 0], [3, 4], [0, 4_095], [0, 4_096], [1, 4_098], [0, 8_192], [5, 9_000]] as const) {
      assert.strictEqual(Latin1.portable(bytes, start, end), Buffer.from(bytes).toString("latin1", start, end))
      assert.strictEqual(platform(bytes, start, end), Latin1.portable(bytes, start, end))
    }
  })

  it("output of all sizes stands by itself, whatever comes after it", () => {
    const engine = Result.getOrThrow(Http1.make())
    const outputs: Array<readonly [Uint8Array, string]> = []
    // Enough of them that one ends at every distance from the end of an allocation.
    for (let i = 0; i < 9_000; i++) {
      const connection = engine.open()
      const path = `/${"p".repeat(i % (i < 8_000 ? 83 : 1_100))}${i}`
      connection.trySend({ ...get, path })
      outputs.push([connection.takeOutput()[0]!, `GET ${path} HTTP/1.1\r\nhost: example.com\r\n\r\n`])
    }
    for (const [bytes, expected] of outputs) assert.strictEqual(Lab.text(bytes), expected)
  })

  it("output that is refused, or begun anew, leaves nothing of itself behind", () => {
    const engine = Result.getOrThrow(Http1.make())
    for (let i = 0; i < 40; i++) {
      const connection = engine.open()
      const long = "v".repeat(i * 700)
      assert.strictEqual(connection.trySend({ ...get, fields: [["x", long], ["y", "\n"]] })._tag, "Malformed")
      connection.trySend({ ...get, fields: [["x", long], ["Host", "other"]], method: "POST", body: Lab.bytes("body") })
      assert.strictEqual(
        Lab.text(...connection.takeOutput()),
        `POST / HTTP/1.1\r\nhost: other\r\nx: ${long}\r\ncontent-length: 4\r\n\r\nbody`,
      )
    }
  })
})
