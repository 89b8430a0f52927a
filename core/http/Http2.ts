/**
 * HTTP/2 as an engine: the client's side of one connection, over bytes (RFC 9113, RFC 7541, RFC 8441), strict and bounded.
 *
 * Experimental: until its fuzzing is behind it, any version may change what it takes and says. A connection owns an
 * unfinished frame or header block, the tables of HPACK, a record of each stream, bodies that wait for the peer's windows,
 * and output that nobody has taken; it lets go of them when they are whole, over, sent or taken, and of all when it ends.
 */
import * as Result from "effect/Result"
import { InvalidLimits } from "../Refusal.ts"
import { type ConnectionLimits, Http2Connection } from "./Http2Connection.ts"
import { firstFrame, firstWindow } from "./Http2Frames.ts"
import type { HttpEngine } from "./HttpEngine.ts"
import { decode, type HttpLimits, type Range, ranges, stranger } from "./HttpLimits.ts"
import * as Latin1 from "./Latin1.ts"

/**
 * In HTTP/2, bytes of a head or of trailers are those of names and values, and 32 for each field; `maxHeadBytes` also bounds
 * a header block as it was sent, and the head of a request.
 */
export interface Options extends HttpLimits {
  /** Exchanges at a time, if the peer allows as many: 1 to 65,536; 1,024 by default. */
  readonly maxStreams?: number | undefined
  /** Exchanges at a time as long as the peer's first SETTINGS have not come: 0 to 65,536; 100 by default. */
  readonly maxStreamsAtFirst?: number | undefined
  /** Bytes of a response that may be sent and not consumed: 65,535 to 16,777,216; 262,144 by default. */
  readonly maxStreamWindowBytes?: number | undefined
  /** The same for all exchanges of a connection together: 65,535 to 1,073,741,824; 1,048,576 by default. */
  readonly maxConnectionWindowBytes?: number | undefined
  /** Bytes of a frame's payload: 16,384 to 1,048,576; 16,384 by default. */
  readonly maxFrameBytes?: number | undefined
  /** Bytes of the table of fields that the peer may refer to: 4,096 to 65,536; 4,096 by default. */
  readonly maxTableBytes?: number | undefined
  /** Frames that a header block goes on in: 0 to 1,024; 32 by default. */
  readonly maxContinuations?: number | undefined
  /** Streams that are remembered as reset, whose late frames are passed over: 16 to 65,536; 1,024 by default. */
  readonly maxResets?: number | undefined
  /**
   * Frames that carry nothing for an exchange, and answers to them that nobody takes: 100 to 1,048,576; 10,000 by default.
   * An exchange allows 16 of them, and every 256 bytes of a body one.
   */
  readonly maxIdleFrames?: number | undefined
  /** The platform's own decoder; the core's is right, and slower. */
  readonly latin1?: Latin1.Latin1 | undefined
}

const system = "Http2"

const table: Readonly<Record<Exclude<keyof ConnectionLimits, symbol>, Range>> = {
  ...ranges,
  maxStreams: { min: 1, max: 65_536, otherwise: 1_024 },
  maxStreamsAtFirst: { min: 0, max: 65_536, otherwise: 100 },
  maxStreamWindowBytes: { min: firstWindow, max: 16_777_216, otherwise: 262_144 },
  maxConnectionWindowBytes: { min: firstWindow, max: 1_073_741_824, otherwise: 1_048_576 },
  maxFrameBytes: { min: firstFrame, max: 1_048_576, otherwise: firstFrame },
  maxTableBytes: { min: 4_096, max: 65_536, otherwise: 4_096 },
  maxContinuations: { min: 0, max: 1_024, otherwise: 32 },
  maxResets: { min: 16, max: 65_536, otherwise: 1_024 },
  maxIdleFrames: { min: 100, max: 1_048_576, otherwise: 10_000 },
}

/**
 * An engine whose connections have these limits. It owns nothing itself.
 *
 * Its exchanges have the numbers of their streams: 1, 3, 5 and so on. `Switched` is never told: behind a 2xx to CONNECT, the
 * data and the upload of the exchange are the tunnel. One that was cancelled has its stream reset, and the others go on. What
 * a peer does to one stream fails one exchange; a fault of the connection fails all, and a GOAWAY for the peer is the last
 * output. A GOAWAY of the peer's fails those that it says it did not serve, retires the connection, and leaves the others.
 *
 * @example
 * ```ts
 * import * as Result from "effect/Result"
 * import * as Http2 from "holdfast/http2"
 *
 * const connection = Result.getOrThrow(Http2.make()).open()
 * connection.trySend({ method: "GET", scheme: "https", authority: "example.com", path: "/", fields: [] })
 * connection.takeOutput()
 * const settings = [0, 0, 0, 4, 0, 0, 0, 0, 0]
 * const ok = [0, 0, 1, 1, 5, 0, 0, 0, 1, 0x88] // HEADERS of stream 1, its last frame: the 8th entry is :status 200
 * const events = connection.receive(Uint8Array.from([...settings, ...ok]))
 * console.log(events.map(({ _tag }) => _tag).join(" "), connection.room) // Head End 1024
 * ```
 */
export const make = (options: Options = {}): Result.Result<HttpEngine, InvalidLimits> => {
  const unknown = stranger(system, [...Object.keys(table), "latin1"], options)
  if (unknown !== undefined) return Result.fail(unknown)
  const { latin1 = Latin1.portable, ...limits } = options
  if (typeof latin1 !== "function") {
    return Result.fail(new InvalidLimits({ system, limit: "latin1", rule: "a function", value: latin1 }))
  }
  return Result.map(decode(system, table, limits), (decoded): HttpEngine => ({
    protocol: "h2",
    open: () => new Http2Connection(decoded, latin1),
  }))
}
