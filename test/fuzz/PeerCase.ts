/** One execution of the fuzzer with a peer of HTTP/2 that keeps every rule: what both sides do, step by step. Owns nothing. */
import type { Chance } from "../model/Chance.ts"

const whats = [
  "get",
  "head",
  "post",
  "sized",
  "open",
  "open",
  "tunnel",
  "upload",
  "upload",
  "upload",
  "upload",
  "finish",
  "cancel",
  "cancel",
  "consume",
  "consume",
  "inform",
  "answer",
  "answer",
  "data",
  "data",
  "trailers",
  "reset",
  "window",
  "window",
  "connection",
  "connection",
  "windows",
  "windows",
  "frames",
  "table",
  "table",
  "ping",
  "go",
] as const

export type What = (typeof whats)[number]

/** `which` picks an exchange and whatever else there is to pick; `bytes` how much. A step that does not fit is passed over. */
export type Step = readonly [what: What, which: number, bytes: number]

export interface PeerCase {
  readonly kind: "peer"
  readonly steps: ReadonlyArray<Step>
}

/** How much each does: windows are mostly so large that the connection's is the one that uploads wait for. */
const sizes: Readonly<Partial<Record<What, ReadonlyArray<number>>>> = {
  post: [0, 1, 40_000, 70_000],
  upload: [0, 1, 5_000, 40_000, 70_000, 70_000],
  connection: [0, 6, 299, 5_000, 16_383, 40_000],
  table: [0, 0, 50, 200, 4_096, 8_192],
  windows: [0, 7, 60_000, 100_000, 100_000, 1_000_000],
}
const others = [0, 1, 7, 300, 5_000, 16_384, 40_000, 70_000]

/** What is often next: a peer that goes away takes back blocks of requests that nobody took, and what they said of the table. */
const sequels: Readonly<Partial<Record<What, What>>> = { table: "get", get: "go", go: "finish" }

export const make = (chance: Chance): PeerCase => {
  let last: What = "ping"
  return {
    kind: "peer",
    steps: Array.from({ length: chance.whole(10, 150) }, () => {
      last = (chance.whole(0, 1) === 0 ? sequels[last] : undefined) ?? chance.pick(whats)
      return [last, chance.whole(0, 5_039), chance.pick(sizes[last] ?? others)]
    }),
  }
}
