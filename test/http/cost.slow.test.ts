/** The work for a message grows as its bytes do, however small the pieces are and whatever they hold. */
import { assert, describe, it } from "vitest"
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

/** The least of several times: what disturbs a run makes it longer, never shorter. */
const millis = (bytes: Uint8Array, size: number): number => {
  let least = Infinity
  for (let round = 0; round < 5; round++) {
    const connection = Lab.asked(Lab.get, most)
    const started = performance.now()
    for (let at = 0; at < bytes.length; at += size) connection.receive(bytes.subarray(at, at + size))
    least = Math.min(least, performance.now() - started)
  }
  return least
}

/** Linear work takes 16 times the time, and reading everything anew with each piece 256 times; a busy machine is in between. */
describe("sixteen times the bytes take at most eighty times the time", () => {
  for (const [title, input] of Object.entries(inputs)) {
    for (const [how, size] of [["byte by byte", 1], ["in one piece", Infinity]] as const) {
      it(`${title}, ${how}`, { timeout: 30_000 }, () => {
        const [few, many] = [Lab.bytes(input(20_000)), Lab.bytes(input(320_000))]
        millis(few, size)
        // Below a tenth of a millisecond the clock says more than the work does.
        const [short, long] = [Math.max(0.1, millis(few, size)), millis(many, size)]
        assert.isAtMost(long / short, 80, `${short.toFixed(2)} ms and ${long.toFixed(2)} ms`)
      })
    }
  }
})
