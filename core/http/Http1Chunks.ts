/**
 * A chunked body (RFC 9112, 7.1) that may come in pieces, less its trailers. It owns nothing between two pieces but the
 * number that it was reading.
 *
 * Short chunks of one piece are gathered and told as one, so that a body in chunks of one byte costs no event a byte.
 */
import type { Rule } from "./HttpFault.ts"
import { text } from "./HttpSyntax.ts"
import { Broken, More } from "./Http1Lines.ts"

export interface ChunkLimits {
  readonly maxChunkLineBytes: number
  readonly maxChunkOverheadBytes: number
}

/** Who is told of the bytes of a body, in their order. */
export interface BodySink {
  readonly data: (bytes: Uint8Array) => void
}

const cr = 0x0d
const lf = 0x0a
const space = 0x20
const tab = 0x09
const semicolon = 0x3b
const zero = 0x30

const mostDigits = 16
/** Parts of chunks below this are gathered; longer ones are told as they lie. */
const short = 512

// States, each named after what is awaited.
const Size = 0
const Semicolon = 1
const Extension = 2
const LineEnd = 3
const Bytes = 4
const BytesCr = 5
const BytesLf = 6
const Over = 7

export class ChunkReader {
  readonly #limits: ChunkLimits
  #state = Over
  /** Bytes read so far, framing included. */
  length = 0
  /** Bytes of the body so far. */
  received = 0
  rule: Rule = "chunk-size"
  limit: number | undefined = undefined
  #digits = 0
  #size = 0
  #left = 0
  #line = 0
  #overhead = 0
  /** The run of short parts that is not told yet: its first part, and where all of it stands in the store from the second on. */
  #run: Uint8Array | undefined = undefined
  #store: Uint8Array | undefined = undefined
  #runStart = 0
  #runEnd = 0

  constructor(limits: ChunkLimits) {
    this.#limits = limits
  }

  begin(): void {
    this.length = this.received = this.#overhead = 0
    this.#beginLine()
  }

  /** Reads on at `from`: the index behind the line of the last chunk, `More`, or `Broken` by the byte at `length`. */
  read(bytes: Uint8Array, from: number, sink: BodySink): number {
    let at = from
    while (at < bytes.length && this.#state !== Over) {
      if (this.#state === Bytes) {
        const to = Math.min(bytes.length, at + this.#left)
        this.#data(bytes, at, to, sink)
        this.length += to - at
        at = to
      } else if (this.#framing(bytes[at]!)) {
        this.length++
        at++
      } else {
        this.#endPiece(sink)
        return Broken
      }
    }
    this.#endPiece(sink)
    return this.#state === Over ? at : More
  }

  #data(bytes: Uint8Array, from: number, to: number, sink: BodySink): void {
    const part = bytes.subarray(from, to)
    this.received += part.length
    this.#left -= part.length
    if (this.#left === 0) this.#state = BytesCr
    if (part.length >= short) {
      this.#tell(sink)
      sink.data(part)
    } else if (this.#run === undefined) this.#run = part
    else {
      this.#store ??= new Uint8Array(bytes.length)
      if (this.#runStart === this.#runEnd) this.#copy(this.#run)
      this.#copy(part)
    }
  }

  #copy(part: Uint8Array): void {
    this.#store!.set(part, this.#runEnd)
    this.#runEnd += part.length
  }

  /** Tells the run of short parts, where there is one: as it lies if it is a single part. */
  #tell(sink: BodySink): void {
    if (this.#run === undefined) return
    sink.data(this.#runStart === this.#runEnd ? this.#run : this.#store!.subarray(this.#runStart, this.#runEnd))
    this.#run = undefined
    this.#runStart = this.#runEnd
  }

  #endPiece(sink: BodySink): void {
    this.#tell(sink)
    this.#store = undefined
    this.#runStart = this.#runEnd = 0
  }

  /** One byte of the framing; false where it breaks a rule. */
  #framing(byte: number): boolean {
    if (this.#state === BytesCr) return this.#expect(byte, cr, "chunk-end", BytesLf)
    if (this.#state === BytesLf) {
      if (!this.#expect(byte, lf, "chunk-end", Size)) return false
      this.#beginLine()
      return true
    }
    const { maxChunkLineBytes } = this.#limits
    if (++this.#line > maxChunkLineBytes) return this.#break("chunk-line-bytes", maxChunkLineBytes)
    if (this.#state === LineEnd) return this.#expect(byte, lf, "bare-cr", Bytes) && this.#beginChunk()
    if (byte === lf) return this.#break("bare-lf")
    return this.#state === Size ? this.#digit(byte) : this.#extension(byte)
  }

  #digit(byte: number): boolean {
    const digit = digitOf(byte)
    if (digit >= 0) {
      this.#size = this.#size * 16 + digit
      return ++this.#digits <= mostDigits && this.#size <= Number.MAX_SAFE_INTEGER || this.#break("chunk-size")
    }
    if (this.#digits === 0) return this.#break("chunk-size")
    if (byte === cr) this.#state = LineEnd
    else if (byte === semicolon) this.#state = Extension
    else if (byte === space || byte === tab) this.#state = Semicolon
    else return this.#break("chunk-size")
    return true
  }

  /** Extensions mean nothing here, so their bytes are only looked at. Blanks may stand before one, not in place of one. */
  #extension(byte: number): boolean {
    if (this.#state === Semicolon) {
      if (byte === semicolon) this.#state = Extension
      else if (byte !== space && byte !== tab) return this.#break("chunk-size")
    } else if (byte === cr) this.#state = LineEnd
    else if (text.bytes[byte] === 0) return this.#break("control")
    return true
  }

  #beginLine(): void {
    this.#state = Size
    this.#digits = this.#size = this.#line = 0
  }

  /**
   * A chunk may have 16 bytes of framing and two for each of its own; what is beyond adds up, and what it leaves unused is
   * taken off again. So a peer cannot keep a connection busy that carries next to nothing. The rule is that of Go's
   * `net/http` since 1.21.5 (CVE-2023-39326).
   */
  #beginChunk(): boolean {
    this.#left = this.#size
    this.#overhead = Math.max(0, this.#overhead + this.#line + 2 - 16 - 2 * this.#size)
    const { maxChunkOverheadBytes } = this.#limits
    if (this.#overhead > maxChunkOverheadBytes) return this.#break("chunk-overhead", maxChunkOverheadBytes)
    if (this.#size === 0) this.#state = Over
    return true
  }

  #expect(byte: number, wanted: number, rule: Rule, next: number): boolean {
    if (byte !== wanted) return this.#break(rule)
    this.#state = next
    return true
  }

  #break(rule: Rule, limit?: number): false {
    this.rule = rule
    this.limit = limit
    return false
  }
}

/** The value of a hexadecimal digit, or -1. */
const digitOf = (byte: number): number => {
  if (byte >= zero && byte <= zero + 9) return byte - zero
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}
