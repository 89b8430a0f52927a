/** Sockets on Node: `node:net` and `node:tls`, for the reasons told in `adapters/shared/Sockets.ts`. */
import * as Layer from "effect/Layer"
import type { SocketDriver } from "../../core/SocketDriver.ts"
import * as Core from "../../core/Sockets.ts"
import * as Shared from "../shared/Sockets.ts"

/**
 * What Node supplies. What is below TLS must not be closed first there: a TLS socket that is told of its end while it says that
 * it is secure takes the process down (seen on Node 22, 24 and 26).
 */
export const driver: SocketDriver = Shared.driver({
  reset: (raw, secured) => {
    // How a socket of `node:net` is told to end in a reset; not public.
    Object.assign(raw, { resetAndClosing: true })
    secured.destroy()
    raw.destroy()
  },
})

export const layer: Layer.Layer<Core.Sockets> = Layer.effect(Core.Sockets, Core.make(driver))
