/**
 * A chunked body (RFC 9112, 7.1) that may come in pieces, less its trailers. It owns the line of a chunk while that is
 * unfinished, up to its limit.
 *
 * Short chunks of one piece are gathered and told as one, so that a body in chunks of one byte costs no event a byte.
 */
import { fault, type ProtocolFault, type Rule } from "./HttpFault.ts"

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

export class ChunkReader {
  readonly #limits: ChunkLimits
  #state: "line" | "bytes" | "end" | "whole" = "whole"
  /** Bytes read so far, framing included. */
  #length = 0
  /** What there is of a line, or of the end of a chunk. */
  #line = ""
  #left = 0
  #overhead = 0
  /** The short parts of a piece, and how many bytes of them were told. */
  #store: Uint8Array | undefined = undefined
  #stored = 0
  #told = 0

  constructor(limits: ChunkLimits) {
    this.#limits = limits
  }

  /** Whether the line of the last chunk was read. */
  get isWhole(): boolean {
    return this.#state === "whole"
  }

  /** Bytes that an unfinished line keeps. */
  get retainedBytes(): number {
    return this.#line.length
  }

  begin(): void {
    this.#state = "line"
    this.#line = ""
    this.#length = this.#overhead = 0
  }

  /** Reads on at `from`: the index behind what was read, or the rule that a byte breaks. */
  read(bytes: Uint8Array, from: number, sink: BodySink): number | ProtocolFault {
    let at = from
    let broken: ProtocolFault | undefined = undefined
    while (at < bytes.length && !this.isWhole && broken === undefined) {
      const isData = this.#state === "bytes"
      const to = isData ? Math.min(bytes.length, at + this.#left) : at + 1
      if (isData) this.#data(bytes.subarray(at, to), bytes.length - from, sink)
      else broken = this.#framing(bytes[at]!)
      this.#length += to - at
      at = to
    }
    this.#tell(sink)
    this.#store = undefined
    this.#stored = this.#told = 0
    return broken ?? at
  }

  #data(part: Uint8Array, room: number, sink: BodySink): void {
    this.#left -= part.length
    if (this.#left === 0) this.#state = "end"
    if (part.length >= short) {
      this.#tell(sink)
      sink.data(part)
    } else {
      this.#store ??= new Uint8Array(room)
      this.#store.set(part, this.#stored)
      this.#stored += part.length
    }
  }

  #tell(sink: BodySink): void {
    if (this.#told < this.#stored) sink.data(this.#store!.subarray(this.#told, this.#stored))
    this.#told = this.#stored
  }

  /** One byte of the framing, and the rule that it breaks. */
  #framing(byte: number): ProtocolFault | undefined {
    const { maxChunkLineBytes } = this.#limits
    this.#line += String.fromCharCode(byte)
    if (this.#state === "end") {
      if (this.#line === "\r") return undefined
      if (this.#line !== "\r\n") return this.#fault("chunk-end")
      this.#state = "line"
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
    this.#state = size === 0 ? "whole" : "bytes"
    return undefined
  }

  #fault(rule: Rule, limit?: number): ProtocolFault {
    return fault(rule, "body", this.#length, limit)
  }
}
