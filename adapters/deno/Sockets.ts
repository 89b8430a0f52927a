/** Sockets on Deno: `node:net` and `node:tls`, for the reasons told in `adapters/shared/Sockets.ts`. */
import * as Layer from "effect/Layer"
import type { SocketDriver } from "../../core/SocketDriver.ts"
import * as Core from "../../core/Sockets.ts"
import * as Shared from "../shared/Sockets.ts"

/** What a socket of `node:net` reads from; not public, and the only way to stop what is below TLS. */
interface Reading {
  readonly _handle?: { readonly readStart: () => void; readonly readStop: () => void } | null
}

/** What Deno supplies. A paused TLS socket would go on reading without bound there. */
export const driver: SocketDriver = Shared.driver({
  flow: (raw, flows) => {
    const handle = (raw as Reading)._handle
    if (flows) handle?.readStart()
    else handle?.readStop()
  },
})

export const layer: Layer.Layer<Core.Sockets> = Layer.effect(Core.Sockets, Core.make(driver))
