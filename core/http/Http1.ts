/**
 * HTTP/1.1 as an engine: the client's side of one connection, over bytes (RFC 9110, RFC 9112), strict and bounded.
 *
 * A connection owns the bytes of an unfinished head or of unfinished trailers, and output that nobody has taken. It lets go
 * of the one when they are whole or wrong, of the other when it is taken. One exchange at a time: nothing is pipelined.
 */
import * as Result from "effect/Result"
import type { InvalidLimits } from "../Refusal.ts"
import { Http1Connection } from "./Http1Connection.ts"
import { type Http1Limits, ranges } from "./Http1Limits.ts"
import { ResponseReader } from "./Http1Response.ts"
import type { HttpEngine } from "./HttpEngine.ts"
import { decode } from "./HttpLimits.ts"
import type { Latin1 } from "./Latin1.ts"
import { Slab } from "./Slab.ts"

export interface Options extends Http1Limits {
  /** The platform's own decoder; the core's is right, and slower. */
  readonly latin1?: Latin1 | undefined
}

/**
 * An engine whose connections have these limits. It owns nothing itself.
 *
 * @example
 * ```ts
 * import * as Result from "effect/Result"
 * import * as Http1 from "holdfast/http1"
 *
 * const connection = Result.getOrThrow(Http1.make()).open()
 * connection.trySend({ method: "GET", scheme: "http", authority: "example.com", path: "/", fields: [] })
 * console.log(connection.takeOutput()[0]?.length) // 37
 * const answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
 * const events = connection.receive(Uint8Array.from(answer, (letter) => letter.charCodeAt(0)))
 * console.log(events.map(({ _tag }) => _tag).join(" "), connection.room) // Head Data End 1
 * ```
 */
export const make = (options: Options = {}): Result.Result<HttpEngine, InvalidLimits> =>
  Result.map(decode("Http1", ranges, options), ({ latin1, limits }): HttpEngine => {
    const { maxHeadBytes } = limits
    const slab = new Slab()
    return {
      protocol: "h1",
      open: (opening) =>
        new Http1Connection(new ResponseReader(limits, latin1), {
          proxied: opening?.proxied === true,
          maxHeadBytes,
          slab,
        }),
    }
  })
