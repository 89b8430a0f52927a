/**
 * What the frames of a response say (RFC 9113, 8.1): heads, data, trailers, an end, or the rule of the stream that they break.
 * It owns nothing beyond the block that it reads; how far a response is stands in its stream.
 */
import type { Block } from "./Http2Block.ts"
import type { Stream } from "./Http2Streams.ts"
import type { Event } from "./HttpEngine.ts"
import type { Rule } from "./HttpFault.ts"
import type { Fields } from "./HttpMessage.ts"

const none: Fields = Object.freeze([])

export class Responses {
  readonly #maxInformational: number
  readonly #tell: (event: Event) => void

  constructor(maxInformational: number, tell: (event: Event) => void) {
    this.#maxInformational = maxInformational
    this.#tell = tell
  }

  /** A header block, of which `isLast` ends the stream. */
  block(stream: Stream, block: Block, isLast: boolean): Rule | undefined {
    if (block.rule !== undefined) return block.rule
    if (stream.part === "body") return this.#trailers(stream, block, isLast)
    if (block.status === 0) return "pseudo-field"
    // RFC 9110, 9.3.6: what a 2xx to CONNECT says of a body must be ignored.
    const opens = stream.isTunnel && block.status >= 200 && block.status < 300
    if (block.lengths > 1 && !opens) return "content-length"
    return block.status < 200 ? this.#informational(stream, block, isLast) : this.#head(stream, block, isLast)
  }

  /** So many bytes of a body are about to come. */
  sizeData(stream: Stream, bytes: number): Rule | undefined {
    if (stream.part === "head") return "early-data"
    return stream.expected !== undefined && stream.received + bytes > stream.expected ? "body-length" : undefined
  }

  data(stream: Stream, bytes: Uint8Array): void {
    stream.received += bytes.length
    stream.unread += bytes.length
    this.#tell({ _tag: "Data", exchange: stream.id, bytes })
  }

  end(stream: Stream, trailers: Fields = none): Rule | undefined {
    if (stream.expected !== undefined && stream.received < stream.expected) return "body-length"
    stream.part = "ended"
    this.#tell({ _tag: "End", exchange: stream.id, trailers })
    return undefined
  }

  #informational(stream: Stream, { fields, length, status }: Block, isLast: boolean): Rule | undefined {
    if (status === 101) return "status"
    if (isLast) return "early-end"
    if (length > 0) return "framed-without-body"
    if (++stream.informational > this.#maxInformational) return "informational"
    this.#tell({ _tag: "Informational", exchange: stream.id, status, fields })
    return undefined
  }

  #head(stream: Stream, { fields, length, lengths, status }: Block, isLast: boolean): Rule | undefined {
    if (!stream.isTunnel || status >= 300) {
      stream.isTunnel = false
      const announced = lengths > 0 ? length : undefined
      if (status === 204 && length > 0) return "framed-without-body"
      const isBare = stream.isHead || status === 204 || status === 304
      if (isLast && !isBare && length > 0) return "body-length"
      stream.expected = isBare || isLast ? 0 : announced
    }
    stream.part = "body"
    const head = { version: "2", status, reason: "", fields } as const
    this.#tell({ _tag: "Head", exchange: stream.id, head, length: isLast ? 0 : stream.expected })
    return isLast ? this.end(stream) : undefined
  }

  #trailers(stream: Stream, { fields }: Block, isLast: boolean): Rule | undefined {
    // A tunnel has data alone (RFC 9113, 8.5).
    return !isLast || stream.isTunnel ? "open-trailers" : this.end(stream, fields)
  }
}
