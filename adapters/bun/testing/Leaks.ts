/**
 * What is left open on Bun.
 *
 * - Sockets of TCP and UDP: exact, on Linux, those of `Bun.connect` included, whose dial cannot be cancelled.
 * - Unix sockets, child processes, open files: not seen. The first two keep the process from ending.
 * - Threads: those of workers of both kinds and of native code by name, exact once a worker's 'exit' has been heard.
 * - Timers: not seen. `process.getActiveResourcesInfo()` is always empty, and a heap's count of timers lags behind; only a
 *   process that does not end shows that one was left.
 */
import type * as Effect from "effect/Effect"
import * as LeakCheck from "../../shared/testing/LeakCheck.ts"
import * as LiveSweep from "../../shared/testing/LiveSweep.ts"

export { CannotSee, type Census, Leaked } from "../../shared/testing/LeakCheck.ts"
export { GoesOn, type Options, type Swept } from "../../shared/testing/LiveSweep.ts"

/** Of its engine's names Linux shows the last fifteen characters, so of that of the collector as well. */
const own =
  /^(bun|Bun |JITWorker|mi-scavenger|JSC|HeapHelper|ollector Thread|.* ?Signal Sender|HTTP Client|IO Watcher|File Watcher)/

const kit = LeakCheck.make({ ownThread: (name) => own.test(name), timers: () => undefined })

/** What is open now. */
export const census: Effect.Effect<LeakCheck.Census, LeakCheck.CannotSee> = kit.census
/**
 * Runs an effect, and fails with `Leaked` where it has left something open. What else has to hear of the end first, it waits for
 * itself: `Effect.ensuring(effect, heard)`.
 */
export const check: LeakCheck.LeakCheck["check"] = kit.check
/** Runs an effect on the live scheduler, interrupted at each of its operations in turn, and checks each run. */
export const sweep: LiveSweep.Sweep = LiveSweep.make(kit.check)
