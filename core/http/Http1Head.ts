/**
 * A head or trailers that may come in pieces. It owns the bytes of an unfinished one, up to its limit and a copy as large
 * again while that grows, and lets go of them when it is whole.
 */
import type { ProtocolFault } from "./HttpFault.ts"
import type { Field, Fields, ResponseHead } from "./HttpMessage.ts"
import { type LineLimits, Lines, More } from "./Http1Lines.ts"
import type { Latin1 } from "./Latin1.ts"

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

  begin(limits: LineLimits): void {
    this.#lines.begin(limits)
  }

  /** Bytes of it so far. */
  get length(): number {
    return this.#lines.length
  }

  /** Bytes that an unfinished one keeps. */
  get retainedBytes(): number {
    return this.#carry?.length ?? 0
  }

  /** Reads on at `from`: the index behind it, `More`, or the rule that a byte breaks. */
  read(bytes: Uint8Array, from: number): number | ProtocolFault {
    const next = this.#lines.read(bytes, from)
    if (next === More) {
      this.#keep(bytes, from, bytes.length)
      return next
    }
    if (typeof next === "number") {
      this.#text = this.#carry === undefined
        ? this.#latin1(bytes, from, next)
        : this.#latin1(this.#keep(bytes, from, next), 0, this.#kept)
    }
    this.drop()
    return next
  }

  /** Keeps nothing of an unfinished one. */
  drop(): void {
    this.#carry = undefined
    this.#kept = 0
  }

  /** The head that was read, once. */
  take(): ResponseHead {
    const text = this.#text
    return {
      version: text[7] === "1" ? "1.1" : "1.0",
      status: +text.slice(9, 12),
      reason: text.slice(13, this.#lines.marks[0]),
      fields: this.takeFields(1),
    }
  }

  /** The fields from a mark on, once: names in lower case, values without the blanks around them. */
  takeFields(from: number): Fields {
    const { marked, marks } = this.#lines
    const text = this.#text
    // One call for all names costs less than one for each.
    const lower = text.toLowerCase()
    const fields: Array<Field> = []
    for (let i = from; i < marked; i += 4) {
      const start = marks[i + 2]!
      let end = marks[i + 3]!
      while (end > start && (text[end - 1] === " " || text[end - 1] === "\t")) end--
      fields.push([lower.slice(marks[i], marks[i + 1]), text.slice(start, end)])
    }
    this.#text = ""
    return fields
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
