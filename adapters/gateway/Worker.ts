/**
 * The gateway as a `fetch` handler, for runtimes that hand over requests and have no listener, such as workerd. It owns the
 * gateway behind it until the scope closes.
 *
 * Callers wait for one another in it, so all of its requests must share one context of the runtime: on Cloudflare that is a
 * Durable Object, in which one request may end what another began; among a Worker's own requests none may.
 *
 * Two things it cannot do there. A response in chunks that its provider cut ends as if it were whole; one of a known length
 * keeps it, so that its client sees that bytes are missing. And where the runtime does not tell that a client has left, its
 * call goes on until the provider's `timeout`.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { DrainReport } from "../../core/AdmissionSnapshot.ts"
import * as Deadline from "../../core/Deadline.ts"
import type { GateCapacity } from "../../core/GateRefused.ts"
import type { InvalidLimits, InvalidRequest } from "../../core/Refusal.ts"
import type { Config } from "./Config.ts"
import * as Gateway from "./Gateway.ts"
import type { Handler, Info } from "./Handler.ts"
import type { Platform } from "./Platform.ts"

export interface Worker {
  /** Answers as the gateway's listener does, and never rejects. The body must be read or cancelled. */
  readonly fetch: (request: Request) => Promise<Response>
  /** The operator's page, snapshot and metrics, with names in them: whoever routes to it keeps it from clients, by any name. */
  readonly operator: (request: Request) => Promise<Response>
  /** Answers what still comes with 503, and waits for what was accepted, at most for the configured time. */
  readonly drain: Effect.Effect<DrainReport, InvalidRequest>
}

export interface Options {
  readonly exchange: Platform["exchange"]
  /**
   * Who is at the other end, as only the platform can know, for `identity` by proxy; nobody by default. On Cloudflare the
   * header `cf-connecting-ip`, which no client can set there.
   */
  readonly peerOf?: ((request: Request) => string) | undefined
  /** A body that goes out with its length: `FixedLength.of` of `holdfast/edge`. Without it, in chunks. */
  readonly fixedLength?: ((body: Body, length: number) => Body) | undefined
}

type Body = ReadableStream<Uint8Array>

export const make = (
  config: Config,
  { exchange, fixedLength = unchanged, peerOf = () => "" }: Options,
): Effect.Effect<Worker, GateCapacity | InvalidLimits | InvalidRequest, Scope.Scope> =>
  Effect.map(Gateway.mount(config, { exchange }), ({ admission, handler, operator }) => {
    const answered = (by: Handler, host?: string) => async (request: Request): Promise<Response> => {
      const response = await by(request, infoOf(request, peerOf(request), host))
      const length = response.headers.get("content-length")
      if (response.body === null || length === null) return response
      return new Response(fixedLength(response.body, Number(length)), response)
    }
    return {
      fetch: answered(handler),
      operator: answered(operator, config.operator.host),
      drain: Effect.flatMap(Deadline.after(config.drain), admission.drain),
    }
  })

const unchanged = (body: Body): Body => body

/** The runtime has read the target and the header already: `..` is resolved, and lines of one name are one. */
const infoOf = (request: Request, peer: string, host: string | undefined): Info => {
  const { pathname, search } = new URL(request.url)
  const given = [...request.headers]
  const fields = host === undefined ? given : [...given.filter(([name]) => name !== "host"), ["host", host] as const]
  // What came in chunks may come without a line that says so.
  const isFramed = request.headers.has("content-length") || request.headers.has("transfer-encoding")
  if (request.body !== null && !isFramed) fields.push(["transfer-encoding", "chunked"])
  return { target: pathname + search, version: "1.1", fields, peer, gone: request.signal }
}
