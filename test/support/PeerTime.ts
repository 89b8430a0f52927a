/**
 * The time of libraries that ask the runtime for it: global timers and the wall clock, moved by hand while `trial` runs.
 * Effect's own scheduler is left alone, so a fiber may wait for the trial.
 */
import * as Effect from "effect/Effect"
import { vi } from "vitest"

export interface Time {
  /** Moves both on, wakes whoever is due, and lets every promise go as far as it can. */
  readonly advance: (millis: number) => Promise<void>
  /** The wall clock is set; no timer is due by that. */
  readonly setWall: (byMillis: number) => void
  /** What has become of a promise by now: `"waits"`, `"done"`, or the code or class of its error. */
  readonly seen: (promise: Promise<unknown>) => Promise<string>
}

const time: Time = {
  advance: async (millis) => void await vi.advanceTimersByTimeAsync(millis),
  setWall: (byMillis) => void vi.setSystemTime(Date.now() + byMillis),
  seen: async (promise) => {
    let state = "waits"
    promise.then(
      () => state = "done",
      (error: { readonly code?: string }) => state = error.code ?? error.constructor.name,
    )
    await vi.advanceTimersByTimeAsync(0)
    return state
  },
}

export const run = <A>(trial: (time: Time) => Promise<A>): Effect.Effect<A> =>
  Effect.promise(async () => {
    vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout", "setInterval", "clearInterval"] })
    try {
      return await trial(time)
    } finally {
      vi.useRealTimers()
    }
  })
