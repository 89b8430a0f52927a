/** What is copied of a message grows as its bytes do, however small the pieces are and whatever they hold. */
import { afterEach, assert, describe, it, vi } from "vitest"
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

  it("and a head that comes in pieces is copied, so that the count counts", () => {
    assert.isAtLeast(copied(Lab.bytes(inputs["many fields"]!(40_000)), 100), 40_000)
  })
})
