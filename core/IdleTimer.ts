/**
 * Waiting that does not keep a process alive, for what is done when there is nothing else to do: closing what is idle, looking
 * after what is old. A waiter's deadline and a drain are no such thing; they sleep on the Clock, which keeps it alive.
 *
 * It owns one timer of the runtime while somebody sleeps, and gives it back when the sleep is over or interrupted.
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { millisOf } from "./Deadline.ts"
import { InvalidRequest } from "./Refusal.ts"

/** What a platform supplies, monotonic, in milliseconds. */
export interface TimerDriver {
  readonly nowMillis: () => number
  /** Rings once after so many milliseconds, or a little earlier; the answer takes the timer away. */
  readonly set: (millis: number, ring: () => void) => () => void
}

export interface IdleTimer {
  /**
   * Waits for so long; a duration that is infinite never ends. One that is negative or no number is `InvalidRequest`: what is
   * done again and again after a sleep would be done without one.
   */
  readonly sleep: (duration: Duration.Input) => Effect.Effect<void, InvalidRequest>
}

/**
 * The idle timer of the running fiber.
 *
 * Where no platform has given one, as on the edge and in tests, it is the Clock's own sleep: `TestClock` moves it, and it
 * keeps a process alive.
 */
export const IdleTimer: Context.Reference<IdleTimer> = Context.Reference<IdleTimer>("holdfast/IdleTimer", {
  defaultValue: () => ({ sleep: checked((millis) => Effect.sleep(Duration.millis(millis))) }),
})

const checked = (sleep: (millis: number) => Effect.Effect<void>): IdleTimer["sleep"] => (duration) =>
  Effect.suspend((): Effect.Effect<void, InvalidRequest> => {
    const millis = millisOf(duration)
    if (millis >= 0) return sleep(millis)
    return Effect.fail(new InvalidRequest({ field: "duration", rule: "a duration of zero or more", value: duration }))
  })

/** The longest wait of a timer; a longer one would end at once. */
const maxMillis = 2_147_483_647

/**
 * An idle timer over a platform's. Timers ring early by up to a millisecond and take no wait beyond 2^31 - 1 ms, so what is
 * left is compared with the platform's monotonic clock, and waited for, again.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import { IdleTimer } from "holdfast"
 * import { NodePlatform } from "holdfast/node"
 *
 * const closeIdle = Effect.gen(function*() {
 *   const timer = yield* IdleTimer.IdleTimer
 *   yield* timer.sleep("1 hour")
 * })
 * // The process ends though an hour is not over.
 * Effect.runFork(Effect.provide(closeIdle, NodePlatform.layer))
 * console.log("the end") // the end
 * ```
 */
export const make = (driver: TimerDriver): IdleTimer => ({
  sleep: checked((millis) => until(driver, driver.nowMillis() + millis)),
})

const until = (driver: TimerDriver, atMillis: number): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    let cancel = (): void => {}
    const next = (): void => {
      const left = atMillis - driver.nowMillis()
      if (left <= 0) return resume(Effect.void)
      cancel = driver.set(Math.min(Math.ceil(left), maxMillis), next)
    }
    next()
    return Effect.sync(() => cancel())
  })
