/** Sockets on Deno: `node:net` and `node:tls`, for the reasons told in `adapters/shared/Sockets.ts`. */
import * as Layer from "effect/Layer"
import type { SocketDriver } from "../../core/SocketDriver.ts"
import * as Core from "../../core/Sockets.ts"
import * as Shared from "../shared/Sockets.ts"

/** What a socket of `node:net` is over; not public, and the only way to what is below TLS. */
interface Over {
  readonly _handle?: {
    readonly readStart: () => void
    readonly readStop: () => void
    /** Zero, or what the system says is wrong. */
    readonly getpeername: (told: object) => number
  } | null
}

/**
 * What Deno supplies. A paused TLS socket would go on reading without bound there. And where the connection below TLS is reset,
 * or the system gives its peer up, Deno tells of an end; the system, asked for the peer, knows it behind an end alone.
 */
export const driver: SocketDriver = Shared.driver({
  flow: (raw, flows) => {
    const handle = (raw as Over)._handle
    if (flows) handle?.readStart()
    else handle?.readStop()
  },
  // Ended on both sides, it is let go of by the system, whatever came first.
  isCut: (raw, secured) => {
    if (raw === secured || secured.writableEnded) return false
    return ((raw as Over)._handle?.getpeername({}) ?? 0) !== 0
  },
})

export const layer: Layer.Layer<Core.Sockets> = Layer.effect(Core.Sockets, Core.make(driver))
