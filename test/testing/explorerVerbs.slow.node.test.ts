/**
 * Every public verb of Admission and of the gates, in every order of three fibers within two forced switches and one
 * interruption of any of them at any step: all of the schedules, none of them sampled and none pruned, but for those in
 * which fibers that are alike change their names.
 *
 * Each fiber makes as many steps as its verb takes; in each program one at least makes eight, and up to 17. They are some
 * 580,000 schedules and half a minute of a core: on Node alone.
 */
import { describe, expect } from "vitest"
import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Explorer from "../../core/testing/Explorer.ts"
import { admission, gates } from "./Verbs.ts"

/** Schedules that there are at least: about as many as there were, so that a program that came to do less is seen. */
const least: Readonly<Record<string, number>> = {
  run: 60_000,
  "enter, release": 100_000,
  tryEnter: 23_000,
  "lower, snapshot, holders": 40_000,
  withhold: 60_000,
  drain: 44_000,
  "gate: tryEnter, settle": 10_000,
  "gate: run, peek, snapshot": 20_000,
  "gate: run, lower": 60_000,
  "line: enter, waiting": 110_000,
  "breaker: tryEnter, settle": 20_000,
  "breaker: run, peek, snapshot": 16_000,
}

describe("within two forced switches and one interruption", () => {
  it.effect.each(Object.entries({ ...admission, ...gates }))(
    "%s settles the books in every order",
    ([name, program]) =>
      Effect.gen(function* () {
        const bounds = { preemptions: 2, interruptions: 1, maxSchedules: 1_000_000 }
        const { cutBy, exhaustive, repeats, schedules, steps } = yield* Explorer.explore(program, bounds)
        expect({ cutBy, exhaustive, repeats }).toEqual({ cutBy: ["preemptions"], exhaustive: true, repeats: 0 })
        expect(schedules).toBeGreaterThanOrEqual(least[name]!)
        expect(Object.keys(steps)).toEqual(["a", "b", "c"])
        expect(Math.max(...Object.values(steps))).toBeGreaterThanOrEqual(8)
      }),
    300_000,
  )
})
