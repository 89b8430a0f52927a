/** Timers on Bun that do not keep the process alive. */
import * as Layer from "effect/Layer"
import * as Core from "../../core/IdleTimer.ts"
import { idleTimer } from "../shared/IdleTimer.ts"

export const layer: Layer.Layer<never> = Layer.succeed(Core.IdleTimer, idleTimer)
