/**
 * The lines of a head or of trailers, read byte by byte and never twice: where each name and value stands, or the rule that
 * the first wrong byte breaks. It keeps positions alone; the bytes are its owner's.
 *
 * How the bytes are cut into pieces makes no difference. Where RFC 9112 lets a recipient be lenient (2.2: a line that ends
 * in LF alone; 5.1: space before the colon; 5.2: a folded line), this one refuses, since two readers may differ there.
 */
import { type Part, ProtocolFault, type Rule } from "./HttpFault.ts"
import * as Syntax from "./HttpSyntax.ts"

export interface LineLimits {
  readonly part: Part
  readonly bytes: number
  readonly bytesRule: Rule
  readonly lineBytes: number
  readonly fields: number
}

/** What a reader returns in place of the index behind what it read, when all of a piece was read and more is to come. */
export const More = -1

const token = Syntax.token.bytes
const text = Syntax.text.bytes
const blank = Uint8Array.from(text, (_, byte) => +(byte === 0x20 || byte === 0x09))
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

/** The fixed part of a status line: `x` is 0 or 1, and `d` a digit. */
const statusLine = "HTTP/1.x ddd"
const statusAt = 9

/** Marks that are kept for the next head: of 64 fields. */
const mostIdleMarks = 256

export class Lines {
  /** Where the reason ends, if there is a status line; then of each field, where its name begins and ends, and its value. */
  marks: Array<number> = []
  /** How many of the marks count: the array stays as long as it was, since growing it anew would cost more than reading. */
  marked = 0
  /** Bytes read so far. */
  length = 0
  #limits: LineLimits
  #most = 0
  #state = Done
  #lineStart = 0

  constructor(limits: LineLimits) {
    this.#limits = limits
  }

  /** Begins a head, or trailers, which have no status line. */
  begin(limits: LineLimits): void {
    const isHead = limits.part === "head"
    this.#limits = limits
    this.#most = 4 * limits.fields + +isHead
    this.#state = isHead ? Status : LineStart
    if (this.marks.length > mostIdleMarks) this.marks = []
    this.#lineStart = this.length = this.marked = 0
  }

  /** Reads on at `from`: the index behind the empty line, {@link More}, or the rule that a byte breaks. */
  read(bytes: Uint8Array, from: number): number | ProtocolFault {
    const base = from - this.length
    let at: number | ProtocolFault = from
    while (this.#state !== Done) {
      if (at === bytes.length) return this.length = at - base, More
      const stop = this.#stop(bytes.length, base)
      // Only a limit stops short of what there is.
      if (at === stop) return this.#passed(at - base)
      at = this.#state === Status ? this.#status(bytes, at, stop, base) : this.#fields(bytes, at, stop, base)
      if (typeof at !== "number") return at
    }
    this.length = at - base
    return at
  }

  /** Where reading has to stop: behind the piece, or where a limit is reached. */
  #stop(length: number, base: number): number {
    return Math.min(length, base + this.#limits.bytes, base + this.#lineStart + this.#limits.lineBytes)
  }

  #status(bytes: Uint8Array, from: number, stop: number, base: number): number | ProtocolFault {
    let at = from
    for (; at < stop && at - base < statusLine.length; at++) {
      const place = at - base
      const wanted = statusLine[place]
      const digit = bytes[at]! - zero
      // A first digit of 0 would be no class of status at all, and readers differ on what such a message is.
      const fits = wanted === "d"
        ? digit >= +(place === statusAt) && digit <= 9
        : wanted === "x"
        ? digit === 0 || digit === 1
        : bytes[at] === statusLine.charCodeAt(place)
      if (!fits) return this.#fault(place < statusAt - 1 ? "version" : "status-line", place)
    }
    if (at === stop) return at
    // RFC 9112, 4, wants a space even where no reason follows; many leave it out, and nothing can be misread by that.
    if (bytes[at] !== 0x20 && bytes[at] !== cr) return this.#faultBy(bytes[at]!, "status-line", at - base)
    this.#state = Value
    return at
  }

  /** The fields from here on, and the empty line. */
  #fields(bytes: Uint8Array, from: number, until: number, base: number): number | ProtocolFault {
    const { marks } = this
    let { marked } = this
    let state = this.#state
    let stop = until
    let at = from
    while (at < stop) {
      if (state === LineStart) {
        if (blank[bytes[at]!] === 1) return this.#fault("fold", at - base)
        state = bytes[at] === cr ? LastEnd : Name
        if (state === LastEnd) at++
        else if (marked === this.#most) return this.#fault("fields", at - base, this.#limits.fields)
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
    this.marked = marked
    this.#state = state
    return at
  }

  #passed(at: number): ProtocolFault {
    const { bytes, bytesRule, lineBytes } = this.#limits
    return at === this.#lineStart + lineBytes
      ? this.#fault("line-bytes", at, lineBytes)
      : this.#fault(bytesRule, at, bytes)
  }

  #faultBy(byte: number, rule: Rule, at: number): ProtocolFault {
    return this.#fault(byte === lf ? "bare-lf" : rule, at)
  }

  #fault(rule: Rule, at: number, limit?: number): ProtocolFault {
    return new ProtocolFault({ protocol: "h1", rule, part: this.#limits.part, at, limit })
  }
}
