/**
 * HTTP/2 as an engine: the client's side of one connection, over bytes (RFC 9113, RFC 7541, RFC 8441), strict and bounded.
 *
 * Experimental: while hostile readings still find faults in it, any version may change what it takes and says. A connection
 * owns an unfinished frame or header block, the tables of HPACK, a record of each stream, bodies that wait for the peer's
 * windows, and output that nobody has taken; it lets go of them when they are whole, over, sent or taken, and of all of them
 * when it ends.
 */
import * as Result from "effect/Result"
import type { InvalidLimits } from "../Refusal.ts"
import { Http2Connection } from "./Http2Connection.ts"
import { type Http2Limits, ranges } from "./Http2Limits.ts"
import type { HttpEngine } from "./HttpEngine.ts"
import { decode } from "./HttpLimits.ts"
import type { Latin1 } from "./Latin1.ts"

export interface Options extends Http2Limits {
  /** The platform's own decoder; the core's is right, and slower. */
  readonly latin1?: Latin1 | undefined
}

/**
 * An engine whose connections have these limits. It owns nothing itself.
 *
 * Its exchanges have the numbers of their streams: 1, 3, 5 and so on. `Switched` is never told: behind a 2xx to CONNECT, the
 * data and the upload of the exchange are the tunnel. One that was cancelled has its stream reset, and the others go on. What
 * a peer does to one stream fails one exchange; a fault of the connection fails all, and a GOAWAY for the peer is all that
 * comes out then. A GOAWAY of the peer's fails those that it says it did not serve, retires the connection, and leaves the
 * others.
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
export const make = (options: Options = {}): Result.Result<HttpEngine, InvalidLimits> =>
  Result.map(decode("Http2", ranges, options), ({ latin1, limits }): HttpEngine => ({
    protocol: "h2",
    open: () => new Http2Connection(limits, latin1),
  }))
