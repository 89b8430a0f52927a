/**
 * All that Bun supplies, in one layer: `withExecutor`, as so many threads are for the application to say; or `layer` without
 * them.
 */
import * as Layer from "effect/Layer"
import type * as Executor from "../../core/BlockingExecutor.ts"
import type { InvalidLimits } from "../../core/Refusal.ts"
import type * as Core from "../../core/Sockets.ts"
import * as BlockingExecutor from "./BlockingExecutor.ts"
import * as IdleTimer from "./IdleTimer.ts"
import * as Sockets from "./Sockets.ts"

/** What asks for nothing: sockets, and the timer of the running fiber that lets the process end. */
export const layer: Layer.Layer<Core.Sockets> = Layer.mergeAll(Sockets.layer, IdleTimer.layer)

/** The same, and an executor on threads of this process. */
export const withExecutor = (
  options: Executor.Options,
): Layer.Layer<Core.Sockets | Executor.BlockingExecutor, InvalidLimits> =>
  Layer.mergeAll(layer, BlockingExecutor.layer(options))
