/**
 * A head or trailers that may come in pieces. It owns the bytes of an unfinished one, up to its limit and a copy as large
 * again while that grows, and lets go of them when it is whole.
 */
import type { ProtocolFault } from "./HttpFault.ts"
import type { Field, Fields, ResponseHead } from "./HttpMessage.ts"
import { type LineLimits, Lines, More } from "./Http1Lines.ts"
import type { Latin1 } from "./Latin1.ts"

const space = 0x20
const tab = 0x09
const leastKept = 512

export class HeadReader {
  readonly #latin1: Latin1
  readonly #lines: Lines
  /** What came before, of which `kept` bytes count. */
  #carry: Uint8Array | undefined = undefined
  #kept = 0
  #text = ""

  constructor(latin1: Latin1, limits: LineLimits) {
    this.#latin1 = latin1
    this.#lines = new Lines(limits)
  }

  begin(limits: LineLimits, withStatus: boolean): void {
    this.#lines.begin(limits, withStatus)
  }

  /** Bytes of it so far. */
  get length(): number {
    return this.#lines.length
  }

  /** Bytes that an unfinished one keeps. */
  get retainedBytes(): number {
    return this.#carry?.length ?? 0
  }

  /** Reads on at `from`: the index behind it, `More` or `Broken`. */
  read(bytes: Uint8Array, from: number): number {
    const next = this.#lines.read(bytes, from)
    if (next >= 0) {
      this.#text = this.#carry === undefined
        ? this.#latin1(bytes, from, next)
        : this.#latin1(this.#keep(bytes, from, next), 0, this.#kept)
    } else if (next === More) {
      this.#keep(bytes, from, bytes.length)
      return next
    }
    this.drop()
    return next
  }

  /** Keeps nothing of an unfinished one. */
  drop(): void {
    this.#carry = undefined
    this.#kept = 0
  }

  /** What was read, once; trailers are its fields alone. */
  take(): ResponseHead {
    const { marked, marks, minor, reasonEnd, reasonStart, status } = this.#lines
    const text = this.#text
    this.#text = ""
    const version = minor === 1 ? "1.1" : "1.0"
    return { version, status, reason: text.slice(reasonStart, reasonEnd), fields: fieldsOf(text, marks, marked) }
  }

  /** The rule that was broken. */
  get broken(): Pick<ProtocolFault, "rule" | "at" | "limit"> {
    const { rule, at, limit } = this.#lines
    return { rule, at, limit }
  }

  /** Adds bytes to what is kept, in doubled room where it is full, so that a byte is copied a fixed number of times. */
  #keep(bytes: Uint8Array, from: number, to: number): Uint8Array {
    const length = this.#kept + to - from
    let carry = this.#carry ?? new Uint8Array(Math.max(leastKept, length))
    if (length > carry.length) {
      const larger = new Uint8Array(Math.max(2 * carry.length, length))
      larger.set(carry.subarray(0, this.#kept))
      carry = larger
    }
    carry.set(bytes.subarray(from, to), this.#kept)
    this.#kept = length
    return this.#carry = carry
  }
}

/** Names in lower case, values without the blanks around them. */
const fieldsOf = (text: string, marks: ReadonlyArray<number>, marked: number): Fields => {
  const fields: Array<Field> = []
  // One call for all names costs less than one for each.
  const lower = text.toLowerCase()
  for (let i = 0; i < marked; i += 4) {
    const start = marks[i + 2]!
    let end = marks[i + 3]!
    while (end > start && isBlank(text.charCodeAt(end - 1))) end--
    fields.push([lower.slice(marks[i], marks[i + 1]), text.slice(start, end)])
  }
  return fields
}

const isBlank = (code: number): boolean => code === space || code === tab
