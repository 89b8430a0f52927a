/** The explorer finds every planted fault, and finds nothing in the right version beside it. */
import { describe, expect } from "vitest"
import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Explorer from "../../core/testing/Explorer.ts"
import { ScheduleFailed } from "../../core/testing/ExplorerFailure.ts"
import { faults } from "./faulty/faults.ts"

/** What is wrong under the simplest schedule that is found, and that schedule. */
const found: Readonly<Record<string, readonly [reason: string, what: string, schedule: string]>> = {
  "a permit lost when a grantee is interrupted before it runs": ["oracle", "0 free of 1", "a*5 b*5 a*2 !b"],
  "a wake-up lost between check and enqueue": ["stuck", "b", "a*3 b - a"],
  "a double grant": ["oracle", "2 held 1", "a*4 b - c"],
  "a single flight poisoned by its first caller": ["oracle", "b was not served", "a*2 b !a"],
  "a late success after the deadline with no owner": [
    "oracle",
    "1 open and not owned",
    "caller deadline*2 opener*2 ~",
  ],
  "an old cleanup that hits a new entry under the same key": ["oracle", "1 entries are lost", "a - b"],
}

describe.each(Object.entries(faults))("%s", (name, { bounds, faulty, right }) => {
  it.effect("is found, made simple, told as text and run again from it", () =>
    Effect.gen(function* () {
      const failed = yield* Effect.flip(Explorer.explore(faulty, bounds))
      if (!(failed instanceof ScheduleFailed)) throw failed
      expect([failed.reason, String(failed.cause ?? failed.fibers), failed.schedule]).toEqual(found[name])
      expect(failed.message).toContain(`"${failed.schedule}"`)
      const again = yield* Effect.flip(Explorer.replay(faulty, failed.schedule))
      if (!(again instanceof ScheduleFailed)) throw again
      expect([again.reason, again.cause, again.fibers, again.story]).toEqual(
        [failed.reason, failed.cause, failed.fibers, failed.story],
      )
    }))

  it.effect("is found by a sample too", () =>
    Effect.gen(function* () {
      const failed = yield* Effect.flip(Explorer.sample(faulty, { ...bounds, seed: 7, schedules: 20_000 }))
      if (!(failed instanceof ScheduleFailed)) throw failed
      expect(failed.reason).toBe(found[name]?.[0])
      const again = yield* Effect.flip(Explorer.replay(faulty, failed.schedule))
      expect((again as ScheduleFailed).reason).toBe(failed.reason)
    }))

  it.effect("is not in the right version, in any order", () =>
    Effect.gen(function* () {
      const { cutBy, exhaustive, repeats, schedules } = yield* Explorer.explore(right, bounds)
      expect({ exhaustive, cutBy }).toEqual({ exhaustive: true, cutBy: ["preemptions"] })
      expect(schedules).toBeGreaterThan(repeats)
    }))
})
