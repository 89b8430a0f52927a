/**
 * What is left open on Deno.
 *
 * - Sockets of TCP and UDP: exact, on Linux, those of `Deno.connect` included, of which Deno itself may have lost track.
 * - Unix sockets, child processes, open files: not seen. The first two keep the process from ending.
 * - Threads: those of workers of both kinds by name. `terminate()` is over before the thread is, and a thread that never gives
 *   way stays for ever: that is what is then told.
 * - Timers: those that keep the process alive, exact. One with `unref` is not seen, here or by how the process ends.
 *
 * `deno test --sanitize-resources` sees neither sockets of `node:net` nor workers.
 */
import process from "node:process"
import type * as Effect from "effect/Effect"
import * as LeakCheck from "../../shared/testing/LeakCheck.ts"
import * as LiveSweep from "../../shared/testing/LiveSweep.ts"

export { CannotSee, type Census, Leaked } from "../../shared/testing/LeakCheck.ts"
export { GoesOn, type Options, type Swept } from "../../shared/testing/LiveSweep.ts"

const own = /^(deno|V8 |tokio-|DelayedTask|notify-|blocking)/

const kit = LeakCheck.make({
  ownThread: (name) => own.test(name),
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
