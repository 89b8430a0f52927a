/**
 * Blocking work on threads on Deno: `node:worker_threads`, as on all three.
 *
 * What a job posts on its thread's own channel goes nowhere, and it hears nothing there. A port that a result hands over has the
 * methods of the web alone (`addEventListener`, `start`).
 *
 * `terminate()` is over at once and the thread may work on, so that a terminated job is abandoned: its thread
 * and its charges stay taken. The process can end all the same. The end of any thread is told a little before the system has
 * done with it. One that runs out of memory takes the process with it; on Node it is a crash of its own.
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
