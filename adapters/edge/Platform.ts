/** All that the edge supplies, in one layer. It has no timer that lets a process end: `IdleTimer` sleeps on the Clock there. */
import type * as Layer from "effect/Layer"
import type * as Core from "../../core/Sockets.ts"
import * as Sockets from "./Sockets.ts"

/** Sockets; `connect` is that of `cloudflare:sockets`. */
export const layer = (connect: Sockets.Connect): Layer.Layer<Core.Sockets> => Sockets.layer(connect)
