/** What is copied of a message grows as its bytes do, however small the pieces are and whatever they hold. What is kept, too. */
import { afterEach, assert, describe, it, vi } from "vitest"
import { portable } from "../../core/http/Latin1.ts"
import * as Lab from "../support/http/Lab.ts"

const head = "HTTP/1.1 200 OK\r\n"
const chunked = `${head}transfer-encoding: chunked\r\n\r\n`

/** Inputs of about `n` bytes, all of which are read. */
const inputs: Readonly<Record<string, (n: number) => string>> = {
  "one long value": (n) => `${head}x: ${"v".repeat(n)}\r\n\r\n`,
  "one long name": (n) => `${head}${"n".repeat(n)}: v\r\n\r\n`,
  "blanks before a value": (n) => `${head}x:${" ".repeat(n)}v\r\n\r\n`,
  "blanks behind a value": (n) => `${head}x: v${" ".repeat(n)}\r\n\r\n`,
  "many fields": (n) => `${head}${"x: y\r\n".repeat(n / 6)}\r\n`,
  "many lengths": (n) => `${head}${"content-length: 1\r\n".repeat(n / 19)}\r\n`,
  "many options": (n) => `${head}connection: ${"a,".repeat(n / 2)}b\r\n\r\n`,
  "many lines of options": (n) => `${head}${"connection: a\r\n".repeat(n / 15)}\r\n`,
  "chunks of one byte": (n) => `${chunked}${"1\r\nx\r\n".repeat(n / 6)}0\r\n\r\n`,
  "short and long chunks": (n) => `${chunked}${`1\r\nx\r\n200\r\n${"y".repeat(512)}\r\n`.repeat(n / 525)}0\r\n\r\n`,
  "trailers": (n) => `${chunked}0\r\n${"x: y\r\n".repeat(n / 6)}\r\n`,
  "informational heads": (n) => `${"HTTP/1.1 103\r\n\r\n".repeat(n / 16)}${head}content-length: 0\r\n\r\n`,
}

const most = {
  maxHeadBytes: 1_048_576,
  maxLineBytes: 1_048_576,
  maxTrailerBytes: 1_048_576,
  maxFields: 65_536,
  maxInformational: 65_536,
}

/** Bytes that are copied from one array to another while a response is read in pieces of `size`. */
const copied = (bytes: Uint8Array, size: number): number => {
  const connection = Lab.asked(Lab.get, most)
  // One that has thrown has left its own behind.
  vi.restoreAllMocks()
  let sum = 0
  const { set } = Uint8Array.prototype
  vi.spyOn(Uint8Array.prototype, "set").mockImplementation(function (this: Uint8Array, from, at) {
    sum += from.length
    set.call(this, from, at)
  })
  for (let at = 0; at < bytes.length; at += size) connection.receive(bytes.subarray(at, at + size))
  vi.restoreAllMocks()
  return sum
}

afterEach(() => void vi.restoreAllMocks())

describe("each byte is copied at most three times", () => {
  for (const [title, input] of Object.entries(inputs)) {
    for (
      const [how, size] of [["byte by byte", 1], ["in pieces of a hundred", 100], ["in one piece", Infinity]] as const
    ) {
      it(`${title}, ${how}`, () => {
        const bytes = Lab.bytes(input(40_000))
        assert.isAtMost(copied(bytes, size), 3 * bytes.length)
      })
    }
  }

  it("but for a head and trailers that come in one piece, which are copied not at all", () => {
    const sent = `${chunked}0\r\n${"x: y\r\n".repeat(100)}\r\n`
    assert.strictEqual(copied(Lab.bytes(sent), Infinity), 0)
  })

  it("and a head that comes in pieces is copied, so that the count counts", () => {
    assert.isAtLeast(copied(Lab.bytes(inputs["many fields"]!(40_000)), 100), 40_000)
  })
})

/** Engines let a slice of a text keep all of it, so what becomes text in one call is kept with each of its parts. */
describe("a text that is kept", () => {
  const start = 'HTTP/1.1 200 Reason\r\nETag: "0123456789abcdef"\r\nx: '
  const end = "\r\ncontent-length: 0\r\n\r\n"
  const sized = (bytes: number): string => `${start}${"y".repeat(bytes - start.length - end.length)}${end}`
  /** The lengths of what became text. */
  const texts = (sent: string, ...sizes: ReadonlyArray<number>): ReadonlyArray<number> => {
    const lengths: Array<number> = []
    const connection = Lab.asked(Lab.get, {
      latin1: (bytes, from, to) => {
        lengths.push(to - from)
        return portable(bytes, from, to)
      },
    })
    const [head] = Lab.fed(connection, Lab.bytes(sent), sizes)
    const fields = head?._tag === "Head" ? head.head.fields : []
    const long = sent.slice(sent.indexOf("y"), sent.lastIndexOf("y") + 1)
    assert.deepStrictEqual(fields, [["etag", '"0123456789abcdef"'], ["x", long], ["content-length", "0"]])
    return lengths
  }

  it("keeps up to 1,024 bytes of its head, which become text in one call", () => {
    for (const size of [1, 100, 1_024]) assert.deepStrictEqual(texts(sized(1_024), size), [1_024])
    assert.deepStrictEqual(texts(sized(1_024), 1, 1_023), [1_024])
  })

  it("keeps nothing of a larger one, each part of which becomes text by itself, without the blanks around it", () => {
    const parts = [1, 3, 6, 4, 18, 1, 1_025 - start.length - end.length, 14, 1]
    for (const size of [1, 100, 1_025]) assert.deepStrictEqual(texts(sized(1_025), size), parts)
    const padded = sized(1_025).replace('def"\r', `def"${" ".repeat(900)}\r`)
    assert.deepStrictEqual(texts(padded, 2_000), parts)
  })

  it("of a larger one is what it is of a small one, an empty reason and an empty value too", () => {
    const fields = (bytes: number): string => `\r\nX-Empty:\r\nx:  \r\ny: ${"y".repeat(bytes)}\r\n\r\n`
    for (const line of ["HTTP/1.0 404", "HTTP/1.0 404 ", "HTTP/1.1 200 O K"]) {
      for (const bytes of [5, 2_000]) {
        const [head] = Lab.asked().receive(Lab.bytes(line + fields(bytes)))
        assert.deepStrictEqual(head?._tag === "Head" ? head.head : undefined, {
          version: line.slice(5, 8) as "1.0" | "1.1",
          status: Number(line.slice(9, 12)),
          reason: line.slice(13),
          fields: [["x-empty", ""], ["x", ""], ["y", "y".repeat(bytes)]],
        })
      }
    }
  })
})
