/**
 * A chunked body (RFC 9112, 7.1) that may come in pieces, less its trailers. It owns the line of a chunk while that is
 * unfinished, up to its limit.
 *
 * Short chunks of one piece are gathered and told as one, so that a body in chunks of one byte costs no event a byte.
 */
import { ProtocolFault, type Rule } from "./HttpFault.ts"
import { More } from "./Http1Lines.ts"

export interface ChunkLimits {
  readonly maxChunkLineBytes: number
  readonly maxChunkOverheadBytes: number
}

/** Who is told of the bytes of a body, in their order. */
export interface BodySink {
  readonly data: (bytes: Uint8Array) => void
}

/** Parts of chunks below this are gathered; longer ones are told as they lie. */
const short = 512

/**
 * The line of a chunk, with its CR. Extensions mean nothing here; blanks may stand before one, not in place of one. Digits
 * beyond 16 would only be zeros, or too large.
 */
const chunkLine = /^([\da-f]{1,16})(?:[\t ]*;[\t\x20-\x7e\x80-\xff]*)?\r$/i

// States, each named after what is awaited.
const Line = 0
const Bytes = 1
const End = 2
const Over = 3

export class ChunkReader {
  readonly #limits: ChunkLimits
  #state = Over
  /** Bytes read so far, framing included, and those of the body alone. */
  #length = 0
  received = 0
  /** What there is of a line, or of the end of a chunk. */
  #line = ""
  #left = 0
  #overhead = 0
  /** The short parts of a piece that were not told yet: a single one as it lies, more of them in the store from `start` on. */
  #run: Uint8Array | undefined = undefined
  #store: Uint8Array | undefined = undefined
  #start = 0
  #end = 0

  constructor(limits: ChunkLimits) {
    this.#limits = limits
  }

  begin(): void {
    this.#state = Line
    this.#line = ""
    this.#length = this.received = this.#overhead = 0
  }

  /** Reads on at `from`: the index behind the line of the last chunk, `More`, or the rule that a byte breaks. */
  read(bytes: Uint8Array, from: number, sink: BodySink): number | ProtocolFault {
    let at = from
    let fault: ProtocolFault | undefined = undefined
    while (at < bytes.length && this.#state !== Over && fault === undefined) {
      const to = this.#state === Bytes ? Math.min(bytes.length, at + this.#left) : at + 1
      if (this.#state === Bytes) this.#data(bytes.subarray(at, to), bytes.length, sink)
      else fault = this.#framing(bytes[at]!)
      this.#length += to - at
      at = to
    }
    this.#tell(sink)
    this.#store = undefined
    this.#start = this.#end = 0
    return fault ?? (this.#state === Over ? at : More)
  }

  #data(part: Uint8Array, room: number, sink: BodySink): void {
    this.received += part.length
    this.#left -= part.length
    if (this.#left === 0) this.#state = End
    if (part.length >= short) {
      this.#tell(sink)
      sink.data(part)
    } else if (this.#run === undefined) this.#run = part
    else {
      this.#store ??= new Uint8Array(room)
      if (this.#start === this.#end) this.#keep(this.#run)
      this.#keep(part)
    }
  }

  #keep(part: Uint8Array): void {
    this.#store!.set(part, this.#end)
    this.#end += part.length
  }

  #tell(sink: BodySink): void {
    if (this.#run === undefined) return
    sink.data(this.#start === this.#end ? this.#run : this.#store!.subarray(this.#start, this.#end))
    this.#run = undefined
    this.#start = this.#end
  }

  /** One byte of the framing, and the rule that it breaks. */
  #framing(byte: number): ProtocolFault | undefined {
    const { maxChunkLineBytes } = this.#limits
    this.#line += String.fromCharCode(byte)
    if (this.#state === End) {
      if (this.#line === "\r") return undefined
      if (this.#line !== "\r\n") return this.#fault("chunk-end")
      this.#state = Line
      this.#line = ""
    } else if (this.#line.length > maxChunkLineBytes) return this.#fault("chunk-line-bytes", maxChunkLineBytes)
    else if (byte === 0x0a) return this.#beginChunk(this.#line.slice(0, -1))
    return undefined
  }

  /**
   * A chunk may have 16 bytes of framing and two for each of its own; what is beyond adds up, and what it leaves unused is
   * taken off again. So a peer cannot keep a connection busy that carries next to nothing. The rule is that of Go's
   * `net/http` since 1.21.5 (CVE-2023-39326).
   */
  #beginChunk(line: string): ProtocolFault | undefined {
    const size = Number.parseInt(chunkLine.exec(line)?.[1] ?? "", 16)
    if (!Number.isSafeInteger(size)) return this.#fault("chunk-line")
    this.#overhead = Math.max(0, this.#overhead + line.length + 3 - 16 - 2 * size)
    const { maxChunkOverheadBytes } = this.#limits
    if (this.#overhead > maxChunkOverheadBytes) return this.#fault("chunk-overhead", maxChunkOverheadBytes)
    this.#left = size
    this.#line = ""
    this.#state = size === 0 ? Over : Bytes
    return undefined
  }

  #fault(rule: Rule, limit?: number): ProtocolFault {
    return new ProtocolFault({ protocol: "h1", rule, part: "body", at: this.#length, limit })
  }
}
