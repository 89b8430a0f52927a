/** All that Bun supplies, in one layer. */
import * as Layer from "effect/Layer"
import type * as Core from "../../core/Sockets.ts"
import * as IdleTimer from "./IdleTimer.ts"
import * as Sockets from "./Sockets.ts"

/** Sockets, and the timer of the running fiber for what may wait for ever. */
export const layer: Layer.Layer<Core.Sockets> = Layer.mergeAll(
  Sockets.layer,
  IdleTimer.layer,
)
