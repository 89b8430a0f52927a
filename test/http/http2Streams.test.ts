/** The record of streams by itself: what is live, and what is over and was not consumed. */
import { assert, it } from "vitest"
import type { Exchange } from "../../core/http/HttpEngine.ts"
import { type Stream, Streams } from "../../core/http/Http2Streams.ts"
import * as Lab2 from "../support/http/Lab2.ts"

const asked = { isHead: false, isTunnel: false, left: 0, isSent: true }
const ids = (streams: Streams): ReadonlyArray<Exchange> =>
  [...streams.all()].filter(({ isLive }) => isLive).map(({ id }) => id)

/** Streams 1, 3 and 5, of which the second has so many bytes that nobody consumed. */
const three = (unread: number): readonly [Streams, Stream] => {
  const streams = new Streams(16)
  const [, second] = Array.from({ length: 3 }, () => streams.open(asked, 100))
  second!.unread = unread
  return [streams, second!]
}

it("one that is over is not among the live, and stays counted until it is consumed", () => {
  for (const looks of [0, 1, 2]) {
    const [streams, second] = three(5)
    streams.close(second)
    streams.close(second)
    for (let i = 0; i < looks; i++) assert.deepStrictEqual(ids(streams), [1, 5])
    assert.deepStrictEqual([streams.count, streams.get(3), streams.isPast(3), streams.isPast(5)], [
      2,
      undefined,
      true,
      false,
    ])
    assert.deepStrictEqual([3, 0, -1, NaN, 10, 10].map((bytes) => streams.consume(3, bytes)), [3, 0, 0, 0, 2, 0])
    assert.deepStrictEqual([streams.count, ids(streams)], [2, [1, 5]])
  }
})

it("one that is live is consumed and stays, and what was let go of is asked for in vain", () => {
  const [streams, second] = three(5)
  assert.deepStrictEqual([streams.consume(3, Infinity), streams.consume(3, 1), streams.get(3)], [5, 0, second])
  streams.close(second)
  streams.clear()
  assert.deepStrictEqual([streams.count, ids(streams), streams.consume(3, 1)], [0, [], 0])
})

it("no number that no exchange had is past", () => {
  const [streams] = three(0)
  assert.deepStrictEqual([-1, 0, 1, 2, 4, 7].filter((id) => streams.isPast(id)), [])
})

it("many requests that nobody has taken come out one after another, each whole", () => {
  const connection = Lab2.open({ maxStreams: 1_000 })
  for (let i = 0; i < 300; i++) Lab2.send(connection, { ...Lab2.get, path: `/${"p".repeat(i % 97)}${i}` })
  const paths = Lab2.written(connection).map((line) =>
    /^headers (\d+) .*:path=(\S+) end$/.exec(line)?.slice(1).join(" ")
  )
  assert.deepStrictEqual(paths, Array.from({ length: 300 }, (_, i) => `${2 * i + 1} /${"p".repeat(i % 97)}${i}`))
})
