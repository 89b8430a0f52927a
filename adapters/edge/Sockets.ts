/**
 * Sockets on the edge, over `cloudflare:sockets`: experimental. A connection belongs to the request, or to the Durable Object,
 * that dialled it, and so must the scope.
 *
 * What is not to be had there: a dial that is cancelled (it is abandoned, and counted until it is over), authorities and
 * certificates of one's own, application protocols, a path, a local address, probes, a reset, and most reasons of a failure.
 * What is asked for and cannot be had is refused; `noDelay` is not for the caller to say.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { InvalidRequest } from "../../core/Refusal.ts"
import type { SocketDriver } from "../../core/SocketDriver.ts"
import * as Core from "../../core/Sockets.ts"
import type { Tls } from "../../core/SocketTarget.ts"
import type { Connect } from "./SocketCodes.ts"
import { EdgeWire } from "./SocketWire.ts"

export type { Connect, EdgeInfo, EdgeSocket } from "./SocketCodes.ts"

/** What the edge supplies; `connect` is that of `cloudflare:sockets`, which only a worker can import. */
export const driver = (connect: Connect): SocketDriver => ({
  cancelling: "abandons",
  // It looks names up itself.
  resolve: (host) => Effect.succeed([{ ip: host, family: undefined }]),
  credentials,
  connect: (point, events) => new EdgeWire(connect, point, events),
})

const credentials = (tls: Tls): Result.Result<unknown, InvalidRequest> => {
  const asked = (["ca", "certificate", "protocols"] as const).find((field) => tls[field] !== undefined)
  if (asked === undefined) return Result.succeed(undefined)
  return Result.fail(new InvalidRequest({ field: `tls.${asked}`, rule: "left out on the edge" }))
}

export const layer = (connect: Connect): Layer.Layer<Core.Sockets> =>
  Layer.effect(Core.Sockets, Core.make(driver(connect)))
