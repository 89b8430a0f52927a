/**
 * The lines of a head or of trailers, read byte by byte and never twice: where each name and value stands, or the rule that
 * the first wrong byte breaks. It keeps positions alone; the bytes are its owner's.
 *
 * How the bytes are cut into pieces makes no difference. Where RFC 9112 lets a recipient be lenient (2.2: a line that ends
 * in LF alone; 5.1: space before the colon; 5.2: a folded line), this one refuses, since two readers may differ there.
 */
import type { Rule } from "./HttpFault.ts"
import * as Syntax from "./HttpSyntax.ts"

export interface LineLimits {
  readonly bytes: number
  readonly bytesRule: Rule
  readonly lineBytes: number
  readonly fields: number
}

/** What readers return in place of the index behind what they read. */
export const More = -1
export const Broken = -2

const token = Syntax.token.bytes
const text = Syntax.text.bytes
const blank = Uint8Array.from(text, (_, byte) => byte === 0x20 || byte === 0x09 ? 1 : 0)
const cr = 0x0d
const lf = 0x0a
const space = 0x20
const tab = 0x09
const colon = 0x3a
const zero = 0x30

// States, each named after what is awaited: those of the status line, then those of a field in their order.
const Status = 0
const ReasonText = 1
const LineStart = 2
const Name = 3
const Blank = 4
const Value = 5
const LineEnd = 6
const LastEnd = 7
const Done = 8

/** Marks that are kept for the next head: of 64 fields. */
const mostIdleMarks = 256

const version = Uint8Array.from("HTTP/1.", (letter) => letter.charCodeAt(0))
const minorAt = version.length
const statusAt = minorAt + 2
const reasonAt = statusAt + 3

export class Lines {
  /** Of each field: where its name begins and ends, and where its value does, spaces behind it included. */
  marks: Array<number> = []
  /** How many of the marks count: the array stays as long as it was, since growing it anew would cost more than reading. */
  marked = 0
  /** Bytes read so far. */
  length = 0
  minor = 0
  status = 0
  reasonStart = 0
  reasonEnd = 0
  /** Once broken: the rule, the byte that broke it, and the limit where it is one. */
  rule: Rule = "status-line"
  at = 0
  limit: number | undefined = undefined
  #limits: LineLimits
  #state = Done
  #lineStart = 0

  constructor(limits: LineLimits) {
    this.#limits = limits
  }

  /** Begins a head, or trailers, which have no status line. */
  begin(limits: LineLimits, withStatus: boolean): void {
    this.#limits = limits
    this.#state = withStatus ? Status : LineStart
    if (this.marks.length > mostIdleMarks) this.marks = []
    this.#lineStart =
      this.length =
      this.status =
      this.marked =
        0
  }

  /** Reads on at `from`: the index behind the empty line, {@link More} or {@link Broken}. */
  read(bytes: Uint8Array, from: number): number {
    const base = from - this.length
    let at = from
    while (this.#state !== Done) {
      if (at === bytes.length) return this.length = at - base, More
      const stop = this.#stop(bytes.length, base)
      // Only a limit stops short of what there is.
      if (at === stop) return this.#passed(at - base)
      at = this.#state <= ReasonText ? this.#statusLine(bytes, at, stop, base) : this.#fields(bytes, at, stop, base)
      if (at === Broken) return Broken
    }
    this.length = at - base
    return at
  }

  /** Where reading has to stop: behind the piece, or where a limit is reached. */
  #stop(length: number, base: number): number {
    return Math.min(length, base + this.#limits.bytes, base + this.#lineStart + this.#limits.lineBytes)
  }

  #statusLine(bytes: Uint8Array, from: number, stop: number, base: number): number {
    if (this.#state === ReasonText) return this.#reason(bytes, from, stop, base)
    let at = from
    for (; at < stop && at - base < reasonAt; at++) {
      const place = at - base
      const byte = bytes[at]!
      if (place < minorAt) {
        if (byte !== version[place]) return this.#break("version", place)
      } else if (place === minorAt) {
        this.minor = byte - zero
        if (this.minor !== 0 && this.minor !== 1) return this.#break("version", place)
      } else if (place < statusAt) {
        if (byte !== space) return this.#break("status-line", place)
      } else {
        // A first digit of 0 would be no class of status at all, and readers differ on what such a message is.
        if (byte < (place === statusAt ? zero + 1 : zero) || byte > zero + 9) return this.#break("status-line", place)
        this.status = this.status * 10 + byte - zero
      }
    }
    if (at === stop) return at
    // RFC 9112, 4, wants a space even where no reason follows; many leave it out, and nothing can be misread by that.
    const byte = bytes[at]!
    if (byte !== space && byte !== cr) return this.#breakBy(byte, "status-line", at - base)
    this.reasonStart = this.reasonEnd = at - base + 1
    this.#state = byte === cr ? LineEnd : ReasonText
    return at + 1
  }

  #reason(bytes: Uint8Array, from: number, stop: number, base: number): number {
    let at = from
    while (at < stop && text[bytes[at]!] === 1) at++
    if (at === stop) return at
    if (bytes[at] !== cr) return this.#breakBy(bytes[at]!, "control", at - base)
    this.reasonEnd = at - base
    this.#state = LineEnd
    return at + 1
  }

  /** The fields from here on, and the empty line. */
  #fields(bytes: Uint8Array, from: number, until: number, base: number): number {
    const { marks } = this
    let { marked } = this
    let state = this.#state
    let stop = until
    let at = from
    while (at < stop) {
      if (state === LineStart) {
        state = this.#opens(bytes[at]!, at - base, marked)
        if (state === Broken) return Broken
        if (state === Name) marks[marked++] = at - base
        else at++
      } else if (state < LineEnd) {
        const inside = state === Name ? token : state === Blank ? blank : text
        while (at < stop && inside[bytes[at]!] === 1) at++
        if (at === stop) break
        if (state === Name && (bytes[at] !== colon || at - base === this.#lineStart)) {
          return this.#breakBy(bytes[at]!, "field-name", at - base)
        }
        if (state === Value && bytes[at] !== cr) return this.#breakBy(bytes[at]!, "control", at - base)
        marks[marked++] = at - base
        if (state !== Blank) at++
        // The parts of a field are counted up.
        state++
      } else {
        if (bytes[at] !== lf) return this.#break("bare-cr", at - base)
        this.#lineStart = ++at - base
        state = state === LastEnd ? Done : LineStart
        stop = state === Done ? at : this.#stop(bytes.length, base)
      }
    }
    this.marked = marked
    this.#state = state
    return at
  }

  /** What the first byte of a line begins. */
  #opens(byte: number, at: number, marked: number): number {
    if (byte === cr) return LastEnd
    if (byte === space || byte === tab) return this.#break("fold", at)
    const { fields } = this.#limits
    return marked === 4 * fields ? this.#break("fields", at, fields) : Name
  }

  #passed(at: number): number {
    const { bytes, bytesRule, lineBytes } = this.#limits
    return at === this.#lineStart + lineBytes
      ? this.#break("line-bytes", at, lineBytes)
      : this.#break(bytesRule, at, bytes)
  }

  #breakBy(byte: number, rule: Rule, at: number): number {
    return this.#break(byte === lf ? "bare-lf" : rule, at)
  }

  #break(rule: Rule, at: number, limit?: number): number {
    this.rule = rule
    this.at = at
    this.limit = limit
    return Broken
  }
}
