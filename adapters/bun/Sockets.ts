/** Sockets on Bun: `node:net` and `node:tls`, for the reasons told in `adapters/shared/Sockets.ts`. */
import * as Layer from "effect/Layer"
import type { SocketDriver } from "../../core/SocketDriver.ts"
import * as Core from "../../core/Sockets.ts"
import * as Shared from "../shared/Sockets.ts"

/** What Bun supplies. */
export const driver: SocketDriver = Shared.driver({})

export const layer: Layer.Layer<Core.Sockets> = Layer.effect(Core.Sockets, Core.make(driver))
