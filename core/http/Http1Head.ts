/**
 * A head or trailers that may come in pieces, read byte by byte and never twice. It owns the bytes of an unfinished one, up
 * to its limit and a copy as large again while that grows, and lets go of them when it is whole.
 *
 * How the bytes are cut into pieces makes no difference. Where RFC 9112 lets a recipient be lenient (2.2: a line that ends
 * in LF alone; 5.1: space before the colon; 5.2: a folded line), this one refuses, since two readers may differ there.
 */
import { nothing } from "./Carry.ts"
import { fault, type ProtocolFault, type Rule } from "./HttpFault.ts"
import type { Field, Fields, ResponseHead } from "./HttpMessage.ts"
import * as Syntax from "./HttpSyntax.ts"
import type { Latin1 } from "./Latin1.ts"

export interface HeadLimits {
  readonly maxLineBytes: number
  readonly maxFields: number
}

const token = Syntax.token.bytes
const text = Syntax.text.bytes
const blank = text.map((_, byte) => +(byte === 0x20 || byte === 0x09))
const cr = 0x0d
const lf = 0x0a
const colon = 0x3a
const zero = 0x30

// States, each named after what is awaited. Those of a field are counted up; a status line goes on as a value.
const Status = 0
const LineStart = 1
const Name = 2
const Blank = 3
const Value = 4
const LineEnd = 5
const LastEnd = 6
const Done = 7

/** What a status line begins with; behind it come the minor version, a space and three digits. */
const version = Uint8Array.from("HTTP/1.", (letter) => letter.charCodeAt(0))
const minorAt = version.length
const statusAt = minorAt + 2
const reasonAt = statusAt + 3

/**
 * A head up to here becomes text in one call, of which its fields are slices. An engine lets a slice keep the whole text, so
 * of a larger one each part becomes text by itself: whoever keeps one value keeps no more than this of the others.
 */
const together = 1_024

/** Bytes that are kept at least, once any are; and marks that are kept for the next head, of 64 fields. */
const leastKept = 512
const mostIdleMarks = 256

export class HeadReader {
  readonly #latin1: Latin1
  readonly #limits: HeadLimits
  /** Bytes read so far. */
  length = 0
  #part: "head" | "trailers" = "head"
  #mostBytes = 0
  #mostMarks = 0
  #state = Done
  #lineStart = 0
  /** Where the reason ends, if there is a status line; then of each field, where its name begins and ends, and its value. */
  #marks: Array<number> = []
  /** How many of the marks count: the array stays as long as it was, since growing it anew would cost more than reading. */
  #marked = 0
  /** What came before, of which `kept` bytes count. */
  #carry: Uint8Array | undefined = undefined
  #kept = 0
  /** Where a whole one lies until it is taken, and its text where it has one. */
  #source = nothing
  #offset = 0
  #text: string | undefined = undefined

  constructor(limits: HeadLimits, latin1: Latin1) {
    this.#limits = limits
    this.#latin1 = latin1
  }

  /** Begins a head, or trailers, which have no status line, of so many bytes at most. */
  begin(part: "head" | "trailers", mostBytes: number): void {
    const isHead = part === "head"
    this.#part = part
    this.#mostBytes = mostBytes
    this.#mostMarks = 4 * this.#limits.maxFields + +isHead
    this.#state = isHead ? Status : LineStart
    this.length = this.#lineStart = this.#marked = 0
  }

  /** Whether the empty line was read. */
  get isWhole(): boolean {
    return this.#state === Done
  }

  /** Bytes that an unfinished one keeps. */
  get retainedBytes(): number {
    return this.#carry?.length ?? 0
  }

  /** Keeps nothing of an unfinished one. */
  drop(): void {
    this.#carry = undefined
    this.#kept = 0
  }

  /** Reads on at `from`: the index behind what was read, or the rule that a byte breaks. */
  read(bytes: Uint8Array, from: number): number | ProtocolFault {
    const base = from - this.length
    let at: number | ProtocolFault = from
    while (at < bytes.length && !this.isWhole) {
      const stop = this.#stop(bytes.length, base)
      // Only a limit stops short of what there is.
      if (at === stop) return this.#passed(at - base)
      at = this.#state === Status ? this.#status(bytes, at, stop, base) : this.#fields(bytes, at, stop, base)
      if (typeof at !== "number") return at
    }
    this.length = at - base
    const isCarried = this.#kept > 0
    // What is whole in one piece is never copied.
    if (isCarried || !this.isWhole) this.#keep(bytes, from, at)
    if (this.isWhole) {
      this.#source = isCarried ? this.#carry! : bytes
      // What was carried ends in a later piece than it began in, and so goes on where that begins.
      this.#offset = from
      if (this.length <= together) this.#text = this.#slice(0, this.length)
      this.drop()
    }
    return at
  }

  /** The head that was read, once. */
  take(): ResponseHead {
    return {
      version: this.#slice(minorAt, minorAt + 1) === "1" ? "1.1" : "1.0",
      status: +this.#slice(statusAt, reasonAt),
      reason: this.#slice(reasonAt + 1, this.#marks[0]!),
      fields: this.takeFields(1),
    }
  }

  /** The fields from a mark on, once: names in lower case, values without the blanks around them. */
  takeFields(from: number): Fields {
    const marks = this.#marks
    const source = this.#source
    const offset = this.#offset
    // One call for all names costs less than one for each.
    const lower = this.#text?.toLowerCase()
    const fields: Array<Field> = []
    for (let i = from; i < this.#marked; i += 4) {
      const name = marks[i]!
      const nameEnd = marks[i + 1]!
      const start = marks[i + 2]!
      let end = marks[i + 3]!
      while (end > start && blank[source[offset + end - 1]!] === 1) end--
      fields.push([lower?.slice(name, nameEnd) ?? this.#slice(name, nameEnd).toLowerCase(), this.#slice(start, end)])
    }
    this.#source = nothing
    this.#text = undefined
    if (marks.length > mostIdleMarks) this.#marks = []
    return fields
  }

  /** A part of what is whole, as text. */
  #slice(from: number, to: number): string {
    return this.#text?.slice(from, to) ?? this.#latin1(this.#source, this.#offset + from, this.#offset + to)
  }

  /** Adds bytes to what is kept, in doubled room where it is full, so that a byte is copied a fixed number of times. */
  #keep(bytes: Uint8Array, from: number, to: number): void {
    const length = this.#kept + to - from
    let carry = this.#carry ?? new Uint8Array(Math.max(leastKept, length))
    if (length > carry.length) {
      const larger = new Uint8Array(Math.max(2 * carry.length, length))
      larger.set(carry.subarray(0, this.#kept))
      carry = larger
    }
    carry.set(bytes.subarray(from, to), this.#kept)
    this.#kept = length
    this.#carry = carry
  }

  /** Where reading has to stop: behind the piece, or where a limit is reached. */
  #stop(length: number, base: number): number {
    return Math.min(length, base + this.#mostBytes, base + this.#lineStart + this.#limits.maxLineBytes)
  }

  #status(bytes: Uint8Array, from: number, stop: number, base: number): number | ProtocolFault {
    let at = from
    for (; at < stop && at - base < reasonAt; at++) {
      const place = at - base
      const digit = bytes[at]! - zero
      if (place < minorAt ? bytes[at] !== version[place] : place === minorAt && digit !== 0 && digit !== 1) {
        return this.#fault("version", place)
      }
      // A first digit of 0 would be no class of status at all, and readers differ on what such a message is.
      if (
        place === minorAt + 1 ? bytes[at] !== 0x20 : place >= statusAt && (digit < +(place === statusAt) || digit > 9)
      ) {
        return this.#fault("status-line", place)
      }
    }
    if (at === stop) return at
    // RFC 9112, 4, wants a space even where no reason follows; many leave it out, and nothing can be misread by that.
    if (bytes[at] !== 0x20 && bytes[at] !== cr) return this.#faultBy(bytes[at]!, "status-line", at - base)
    this.#state = Value
    return at
  }

  /** The fields from here on, and the empty line. */
  #fields(bytes: Uint8Array, from: number, until: number, base: number): number | ProtocolFault {
    const marks = this.#marks
    let marked = this.#marked
    let state = this.#state
    let stop = until
    let at = from
    while (at < stop) {
      if (state === LineStart) {
        if (blank[bytes[at]!] === 1) return this.#fault("fold", at - base)
        state = bytes[at] === cr ? LastEnd : Name
        if (state === LastEnd) at++
        else if (marked === this.#mostMarks) return this.#fault("fields", at - base, this.#limits.maxFields)
        else marks[marked++] = at - base
      } else if (state < LineEnd) {
        const inside = state === Name ? token : state === Blank ? blank : text
        while (at < stop && inside[bytes[at]!] === 1) at++
        if (at === stop) break
        if (state === Name && (bytes[at] !== colon || at - base === this.#lineStart)) {
          return this.#faultBy(bytes[at]!, "field-name", at - base)
        }
        if (state === Value && bytes[at] !== cr) return this.#faultBy(bytes[at]!, "control", at - base)
        marks[marked++] = at - base
        if (state !== Blank) at++
        state++
      } else {
        if (bytes[at] !== lf) return this.#fault("bare-cr", at - base)
        this.#lineStart = ++at - base
        state = state === LastEnd ? Done : LineStart
        stop = state === Done ? at : this.#stop(bytes.length, base)
      }
    }
    this.#marked = marked
    this.#state = state
    return at
  }

  #passed(at: number): ProtocolFault {
    const { maxLineBytes } = this.#limits
    return at === this.#lineStart + maxLineBytes
      ? this.#fault("line-bytes", at, maxLineBytes)
      : this.#fault(`${this.#part}-bytes`, at, this.#mostBytes)
  }

  #faultBy(byte: number, rule: Rule, at: number): ProtocolFault {
    return this.#fault(byte === lf ? "bare-lf" : rule, at)
  }

  #fault(rule: Rule, at: number, limit?: number): ProtocolFault {
    return fault(rule, this.#part, at, limit)
  }
}
