/**
 * Blocking work on threads on Node: `node:worker_threads`, as on all three.
 *
 * `terminate()` is a join: it waits for a native call that the thread is in, and then the thread is gone.
 */
import type * as Layer from "effect/Layer"
import * as Core from "../../core/BlockingExecutor.ts"
import type { InvalidLimits } from "../../core/Refusal.ts"
import * as Shared from "../shared/BlockingExecutor.ts"
import type { WorkerThreads } from "../../core/WorkerThreads.ts"

export const threads: WorkerThreads = Shared.threads

/** An executor on threads of this process, for as long as the layer lives. */
export const layer = (options: Core.Options): Layer.Layer<Core.BlockingExecutor, InvalidLimits> =>
  Core.layer(options, threads)
