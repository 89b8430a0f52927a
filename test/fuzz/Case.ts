/** One execution of the fuzzer: what is asked and what comes back, a pure function of seed and index. Owns nothing. */
import type { Fields, HttpRequest } from "../../core/http/HttpMessage.ts"
import { Chance } from "../model/Chance.ts"
import * as Corpus from "./Corpus.ts"
import * as FramesCase from "./FramesCase.ts"
import * as PeerCase from "./PeerCase.ts"

/** A response to a request, in pieces of these sizes, in turn. One character a byte. */
export interface ResponseCase {
  readonly kind: "response"
  readonly request: HttpRequest
  readonly input: string
  readonly sizes: ReadonlyArray<number>
  /** Whether the limits are so small that inputs reach them. */
  readonly small: boolean
  readonly end: "ended" | "reset"
}

/** A request, with the pieces of its body where it is an upload. */
export interface RequestCase {
  readonly kind: "request"
  readonly request: HttpRequest
  readonly proxied: boolean
  readonly body: ReadonlyArray<string>
  readonly trailers: Fields
}

export type Case = ResponseCase | RequestCase | FramesCase.FramesCase | PeerCase.PeerCase

/** Every third one is of HTTP/2, and every other one of those is with a sound peer. */
export const make = (seed: number, index: number): Case => {
  const [round, turn] = [Math.floor(index / 3), index % 3]
  if (turn === 2) return (round % 2 === 1 ? PeerCase : FramesCase).make(chanceOf(seed, round))
  const chance = chanceOf(seed, 2 * round + turn)
  return chance.yes(0.15) ? requestCase(chance) : responseCase(chance)
}

/** Neighbouring seeds of this generator give alike first numbers, so the index is spread over all bits. */
const chanceOf = (seed: number, index: number): Chance =>
  new Chance(Math.imul(seed, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b))

/** As one line that {@link parse} reads. */
export const print = (one: Case): string => JSON.stringify(one)

export const parse = (line: string): Case => {
  const one: Case = JSON.parse(line)
  // JSON has no undefined, which is what an upload of unknown length says.
  return (one.kind === "response" || one.kind === "request") && "body" in one.request
    ? { ...one, request: { ...one.request, body: { bytes: undefined, ...one.request.body } } }
    : one
}

const inputs = [...Corpus.responses, ...Corpus.disputed]

const responseCase = (chance: Chance): ResponseCase => ({
  kind: "response",
  request: chance.pick(Corpus.requests),
  input: mutated(chance, chance.yes(0.3) ? valid(chance) : chance.pick(inputs)),
  sizes: Array.from({ length: chance.whole(1, 4) }, () => chance.pick([1, 2, 3, 7, 16, 64, 600])),
  small: chance.yes(0.3),
  end: chance.pick(["ended", "reset"]),
})

const many = (chance: Chance, most: number, each: () => string): string =>
  Array.from({ length: chance.whole(0, most) }, each).join("")

/** A response that keeps every rule, of a form by chance. */
const valid = (chance: Chance): string => {
  const field = (): string =>
    `${chance.pick(["X", "set-cookie", "Via", "~!"])}: ${chance.pick(["", "a", "b  c", "\xe9"])}\r\n`
  const body = many(chance, 40, () => chance.pick(["a", "\r\n", "0", "\xff"]))
  const head = `HTTP/1.1 ${chance.pick(["200 OK", "404", "500 ", "206 \xe9"])}\r\n${many(chance, 4, field)}`
  if (chance.yes(0.4)) return `${head}Content-Length: ${body.length}\r\n\r\n${body}`
  if (chance.yes(0.2)) return `${head}\r\n${body}`
  const chunk = (): string => {
    const bytes = "q".repeat(chance.pick([1, 2, 15, 16, 300, 700]))
    return `${bytes.length.toString(16)}${chance.pick(["", "", ";a", '\t;b="c"'])}\r\n${bytes}\r\n`
  }
  return `${head}transfer-encoding: chunked\r\n\r\n${many(chance, 6, chunk)}0\r\n${many(chance, 2, field)}\r\n`
}

const mutated = (chance: Chance, text: string): string => {
  let changed = text
  for (let left = chance.pick([0, 1, 1, 1, 2, 2, 3, 5]); left > 0; left--) changed = mutation(chance, changed)
  return changed
}

const mutation = (chance: Chance, text: string): string => {
  const at = chance.whole(0, text.length)
  const to = Math.min(text.length, at + chance.pick([1, 1, 2, 4, 16]))
  const [before, part, behind] = [text.slice(0, at), text.slice(at, to), text.slice(to)]
  switch (chance.whole(0, 7)) {
    case 0:
      return before + String.fromCharCode(chance.whole(0, 255)) + part.slice(1) + behind
    case 1:
      return before + chance.pick(Corpus.pieces) + part + behind
    case 2:
      return before + chance.pick(Corpus.pieces) + behind
    case 3:
      return before + behind
    case 4:
      return before + part + part + behind
    case 5:
      return before
    case 6:
      return before + chance.pick(Corpus.responses).slice(chance.whole(0, 40))
    default: {
      // Lines are where most rules are: one is put in before another, or taken out.
      const lines = text.split("\r\n")
      const line = chance.whole(0, lines.length - 1)
      const put = chance.yes(0.7) ? [chance.pick(Corpus.pieces).replace(/\r\n$/, "")] : []
      return [...lines.slice(0, line), ...put, ...lines.slice(line + (chance.yes(0.5) ? 1 : 0))].join("\r\n")
    }
  }
}

const requestCase = (chance: Chance): RequestCase => {
  const piece = (): string =>
    chance.yes(0.5) ? chance.pick(Corpus.pieces) : chance.pick(["a", "b", "/", "\u010a", "\u2028"])
  const near = (right: string): string => {
    if (chance.yes(0.95)) return right
    const at = chance.whole(0, right.length)
    return right.slice(0, at) + piece() + right.slice(at)
  }
  const fields = (most: number) =>
    Array.from({ length: chance.whole(0, most) }, () => {
      const [name, value] = chance.pick(Corpus.fields)
      return [near(name), near(value)] as const
    })
  const method = chance.pick(["GET", "GET", "POST", "HEAD", "OPTIONS", "CONNECT", "TRACE", "X"])
  const body = Array.from(
    { length: chance.whole(0, 3) },
    () => chance.pick(["", "a", "bc", "\r\n0\r\n\r\n", "d".repeat(300)]),
  )
  const bytes = body.join("").length
  const isUpload = !/^(CONNECT|TRACE)$/.test(method) && (bytes > 0 || chance.yes(0.5))
  return {
    kind: "request",
    request: {
      method: near(method),
      scheme: chance.pick(["http", "http", "http", "https"]),
      authority: near(chance.pick(method === "CONNECT" ? ["example.com:443"] : ["example.com", "h:443", "[::1]:80"])),
      path: near(method === "CONNECT" ? "" : chance.pick(["/", "/a?b=%20", method === "OPTIONS" ? "*" : "/x"])),
      fields: fields(3),
      ...(isUpload && { body: { bytes: chance.pick([undefined, undefined, bytes, bytes + 1]) } }),
    },
    proxied: chance.yes(0.2),
    body: isUpload ? body : [],
    trailers: fields(2),
  }
}
