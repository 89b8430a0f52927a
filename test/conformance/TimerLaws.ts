/** The laws of the idle timer. That a process ends while it runs is not for a program to see of itself: `idleTimer.test.ts`. */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { IdleTimer } from "../../core/IdleTimer.ts"
import { about, type Law, same, truly } from "./Law.ts"

export interface TimerRig {
  readonly timer: IdleTimer
  readonly nowMillis: () => number
}

export const timerLaws: ReadonlyArray<Law<TimerRig>> = about("idle timers", [
  {
    name: "a sleep is never over early",
    holds: ({ nowMillis, timer }) =>
      Effect.forEach([1, 2, 3, 5, 8, 13, 21], (millis) =>
        Effect.gen(function* () {
          // As a point in time: the difference of two floats may round to less than was slept.
          const due = nowMillis() + millis
          yield* timer.sleep(millis)
          const now = nowMillis()
          yield* truly(`it woke ${due - now} ms early of ${millis}`, now >= due)
        }), { discard: true }),
  },
  {
    name: "a sleep of more than 2^31 - 1 ms, or for ever, is not over at once, and ends when it is interrupted",
    holds: ({ timer }) =>
      Effect.forEach(["60 days", "Infinity"] as const, (duration) =>
        Effect.gen(function* () {
          const sleeping = yield* Effect.forkChild(timer.sleep(duration), { startImmediately: true })
          yield* Effect.sleep(30)
          yield* same("its end", sleeping.pollUnsafe(), undefined)
          yield* Fiber.interrupt(sleeping)
        }), { discard: true }),
  },
])
