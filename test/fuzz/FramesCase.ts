/** One execution of the fuzzer on HTTP/2: frames that a peer sends, and what this side does between them. Owns nothing. */
import * as Lab2 from "../support/http/Lab2.ts"
import { text } from "../support/http/Lab.ts"
import type { Chance } from "../model/Chance.ts"

/** What this side does, at a byte of the input. */
export interface Act {
  readonly at: number
  readonly what:
    | "send"
    | "post"
    | "upload"
    | "upload-much"
    | "finish"
    | "consume"
    | "cancel"
    | "take"
    | "ping"
    | "leave"
  readonly exchange: number
}

/** Frames behind requests, in pieces of these sizes, in turn. One character a byte. */
export interface FramesCase {
  readonly kind: "frames"
  readonly requests: ReadonlyArray<"GET" | "HEAD" | "POST" | "short" | "CONNECT" | "upload">
  readonly input: string
  readonly acts: ReadonlyArray<Act>
  readonly sizes: ReadonlyArray<number>
  readonly small: boolean
  /** Whether nothing in it limits the streams, so that room can be reckoned. */
  readonly limitless: boolean
  readonly end: "ended" | "reset"
}

const { Type, block, data, endHeaders, endStream, frame, padded, settings } = Lab2

export const make = (chance: Chance): FramesCase => {
  const requests = Array.from(
    { length: chance.whole(1, 4) },
    () => chance.pick(["GET", "GET", "HEAD", "POST", "short", "short", "CONNECT", "upload"] as const),
  )
  const frames: Array<Uint8Array> = []
  const limitless = chance.yes(0.4)
  if (limitless) frames.push(settings([4, chance.pick([0, 10, 10, 10, 100_000])]))
  else if (!chance.yes(0.03)) frames.push(setting(chance))
  for (let left = chance.whole(1, 14); left > 0; left--) {
    const next = anyFrame(chance, requests.length)
    // A frame of settings is the one thing that may limit the streams.
    if (!limitless || next[3] !== Type.settings) frames.push(next)
  }
  let input = text(...frames)
  for (let left = limitless ? 0 : chance.pick([0, 0, 0, 1, 1, 2, 4]); left > 0; left--) input = mutated(chance, input)
  const acts = Array.from({ length: chance.whole(0, 6) }, (): Act => ({
    at: chance.whole(0, input.length),
    what: chance.pick([
      "send",
      "post",
      "upload",
      "upload-much",
      "finish",
      "consume",
      "consume",
      "cancel",
      "take",
      "ping",
      "leave",
    ]),
    exchange: stream(chance, requests.length),
  }))
  return {
    kind: "frames",
    requests,
    input,
    acts: acts.toSorted((a, b) => a.at - b.at),
    sizes: Array.from({ length: chance.whole(1, 4) }, () => chance.pick([1, 2, 3, 8, 9, 10, 64, 600])),
    small: chance.yes(0.4),
    limitless,
    end: chance.pick(["ended", "reset"]),
  }
}

/** The answer to the first PING of this side. */
const pong: Uint8Array = frame(Type.ping, 1, 0, "\0\0\0\0\0\0\0\x01")

const stream = (chance: Chance, requests: number): number =>
  chance.yes(0.05) ? chance.pick([0, 2, 2 * requests + 1, 0x7fff_ffff]) : 2 * chance.whole(0, requests - 1) + 1

const setting = (chance: Chance): Uint8Array =>
  settings(...Array.from({ length: chance.whole(0, 3) }, () => {
    const id = chance.pick([1, 3, 3, 4, 4, 5, 6, 8, 9, 77])
    const value = chance.yes(0.1)
      ? chance.pick([0xffff_ffff, 0x8000_0000, 16_383, 2])
      : chance.pick(sensible[id] ?? [0])
    return [id, value] as const
  }))

const sensible: Readonly<Record<number, ReadonlyArray<number>>> = {
  1: [0, 40, 4_096, 65_536],
  3: [0, 1, 3, 100],
  4: [0, 1, 10, 65_535, 1_000_000],
  5: [16_384, 20_000],
  6: [200, 10_000],
  8: [1],
  9: [0, 1],
}

const anyFrame = (chance: Chance, requests: number): Uint8Array => {
  const id = stream(chance, requests)
  const last = chance.yes(0.3) ? endStream : 0
  switch (chance.whole(0, 17)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return heads(chance, id, last, [[
        ":status",
        chance.pick(["200", "200", "204", "304", "404", "100", "103", "99"]),
      ]])
    case 4:
      return heads(chance, id, endStream, [])
    case 5:
    case 6:
    case 7:
      return data(id, "d".repeat(chance.pick([0, 1, 3, 5, 5, 300])), last)
    case 8:
      return frame(Type.data, padded | last, id, `${chance.pick(["\0", "\x02", "\x09"])}data\0\0`)
    case 9:
      return setting(chance)
    case 10:
      return Lab2.windowUpdate(chance.yes(0.4) ? 0 : id, chance.pick([0, 1, 100, 70_000, 0x7fff_ffff]))
    case 11:
      return Lab2.reset(id, chance.pick([0, 2, 7, 8]))
    case 12:
      return Lab2.goAway(chance.pick([0, 1, 3, 0x7fff_ffff]), chance.pick([0, 0, 2]), chance.pick(["", "why"]))
    case 13:
      return chance.pick([Lab2.ping, pong, Lab2.settingsAck, frame(Type.priority, 0, id, [0, 0, 0, 1, 2])])
    case 14:
      return frame(chance.whole(0, 17), chance.pick([0, 1, 4, 5, 8, 32, 255]), id, "p".repeat(chance.whole(0, 12)))
    case 15:
      return message(chance, id)
    default:
      return Lab2.windowUpdate(id, 100)
  }
}

/** A response from its first head to its trailers, which frames by chance seldom make. */
const message = (chance: Chance, id: number): Uint8Array =>
  Lab2.join(
    ...Array.from({ length: chance.pick([0, 0, 1, 2]) }, () => Lab2.response(id, 103)),
    Lab2.response(id, chance.pick([200, 200, 204]), chance.yes(0.5) ? [["content-length", "5"]] : []),
    ...(chance.yes(0.8) ? [data(id, "hello")] : []),
    heads(chance, id, chance.yes(0.7) ? endStream : 0, []),
  )

/** A header block, whole or in parts, with fields of every form. */
const heads = (
  chance: Chance,
  id: number,
  last: number,
  first: ReadonlyArray<readonly [string, string]>,
): Uint8Array => {
  const bytes: Array<number> = chance.yes(0.15) ? [...chance.pick(sizes)] : []
  bytes.push(...block(...first))
  for (let left = chance.whole(0, 3); left > 0; left--) {
    const name = chance.pick(["x", "content-length", "content-length", ...others])
    const value = name === "content-length"
      ? chance.pick(["0", "5", "5", "05"])
      : chance.pick(["", "v", " v", "a\nb", "w".repeat(200)])
    const literal = block([name, value])
    // Kept in the table, an entry of the table or of none, a text by Huffman's code, or one that may be none.
    const form = chance.whole(0, 5)
    if (form === 0) bytes.push(0x40, ...literal.slice(1))
    else if (form === 1) bytes.push(chance.pick([0xbe, 0xbf, 0xc0, 0x88, 0x80, 0xff]))
    else if (form === 2) bytes.push(0x40, 0x82, 0xf3, 0xeb, 0x82, 0xf3, 0xeb)
    else if (form === 3) bytes.push(0x0f, 0x00, ...code(chance))
    else if (form === 4 && chance.yes(0.1)) bytes.push(0x7f, ...chance.pick(integers))
    else bytes.push(...literal)
  }
  if (chance.yes(0.7)) return frame(Type.headers, endHeaders | last, id, bytes)
  const at = chance.whole(0, bytes.length)
  return Lab2.join(
    frame(Type.headers, last, id, bytes.slice(0, at)),
    frame(Type.continuation, chance.yes(0.8) ? endHeaders : 0, id, bytes.slice(at)),
  )
}

/** Indices of entries that there cannot be, to the largest that is read and beyond it; and one that is cut. */
const integers: ReadonlyArray<ReadonlyArray<number>> = [
  [0xff, 0xff, 0xff, 0x7f],
  [0x80, 0x80, 0x80, 0x80, 0],
  [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1],
  [0xff],
]

/** An entry of 34 bytes, which the table is to keep. */
const entry = [0x40, 1, 0x78, 1, 0x76]

/** Sizes of the table: of nothing, beyond what was announced, cut; and those that are as large as entries, or a byte less. */
const sizes: ReadonlyArray<ReadonlyArray<number>> = [
  [0x20],
  [0x3f],
  [0x20, 0x3f, 0xe1, 0x1f],
  [0x20, 0x20, 0x20],
  [0x3f, 0xe2, 0x1f],
  [0x3f, 0x03, ...entry, 0xbe],
  [0x3f, 0x02, ...entry, 0xbe],
  [0x3f, 0x25, ...entry, ...entry, 0xbf],
  [0x3f, 0x24, ...entry, ...entry, 0xbf],
]

/** What a field is named besides. */
const others = "connection keep-alive transfer-encoding upgrade te trailer host X :path :status long server \x7f".split(
  " ",
)

/** A text of HPACK by Huffman's code, or nearly so. */
const code = (chance: Chance): ReadonlyArray<number> => {
  const bytes = Array.from({ length: chance.whole(0, 6) }, () => chance.yes(0.4) ? 255 : chance.whole(0, 255))
  return [0x80 | bytes.length, ...bytes]
}

const mutated = (chance: Chance, input: string): string => {
  const at = chance.whole(0, input.length)
  const byte = String.fromCharCode(chance.whole(0, 255))
  switch (chance.whole(0, 3)) {
    case 0:
      return input.slice(0, at) + byte + input.slice(at + 1)
    case 1:
      return input.slice(0, at) + byte + input.slice(at)
    case 2:
      return input.slice(0, at) + input.slice(at + chance.whole(1, 9))
    default:
      return input.slice(0, at)
  }
}
