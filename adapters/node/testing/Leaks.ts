/**
 * What is left open on Node.
 *
 * - Sockets of TCP and UDP: exact, on Linux, those that are dialling included; a descriptor is gone once 'close' has been heard.
 * - Unix sockets, child processes, open files: not seen. The first two keep the process from ending.
 * - Threads: those of workers and of native code by name, exact once a worker's 'exit' has been heard. Before Node 24 all
 *   threads have one name, and none is seen.
 * - Timers: those that keep the process alive, exact. One with `unref` is not seen, here or by how the process ends.
 */
import process from "node:process"
import type * as Effect from "effect/Effect"
import * as LeakCheck from "../../shared/testing/LeakCheck.ts"
import * as LiveSweep from "../../shared/testing/LiveSweep.ts"
import { threads } from "../../shared/testing/ProcessTable.ts"

export { CannotSee, type Census, Leaked } from "../../shared/testing/LeakCheck.ts"
export { GoesOn, type Options, type Swept } from "../../shared/testing/LiveSweep.ts"

const own = /^(MainThread|DelayedTaskSche|V8Worker|SignalInspector|libuv-worker|Signal Inspecto|node)$/

/** Whether threads have names of their own. */
const named = (): boolean => {
  try {
    return threads().includes("MainThread")
  } catch {
    return false
  }
}

const kit = LeakCheck.make({
  ownThread: named() ? (name) => own.test(name) : undefined,
  timers: () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length,
})

/** What is open now. */
export const census: Effect.Effect<LeakCheck.Census, LeakCheck.CannotSee> = kit.census
/**
 * Runs an effect, and fails with `Leaked` where it has left something open. What else has to hear of the end first, it waits for
 * itself: `Effect.ensuring(effect, heard)`.
 */
export const check: LeakCheck.LeakCheck["check"] = kit.check
/** Runs an effect on the live scheduler, interrupted at each of its operations in turn, and checks each run. */
export const sweep: LiveSweep.Sweep = LiveSweep.make(kit.check)
