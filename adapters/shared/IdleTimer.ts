/** A timer with `unref`, and the monotonic clock beside it; Node, Deno and Bun have both alike. */
import { clearTimeout, setTimeout } from "node:timers"
import { type IdleTimer, make } from "../../core/IdleTimer.ts"

/** The idle timer of the process. */
export const idleTimer: IdleTimer = make({
  nowMillis: () => performance.now(),
  set: (millis, ring) => {
    const timer = setTimeout(ring, millis)
    timer.unref()
    return () => clearTimeout(timer)
  },
})
