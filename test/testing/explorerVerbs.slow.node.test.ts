/**
 * Every public verb of Admission and of the gates, in every order of three fibers within two forced switches and one
 * interruption of any of them at any step: all of the schedules, none of them sampled and none pruned, but for those in
 * which fibers that are alike change their names.
 *
 * Each fiber makes as many steps as its verb takes, up to 17: together they make three times eight at least. They are
 * some 700,000 schedules and 40 seconds of a core: on Node alone.
 */
import { describe, expect } from "vitest"
import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Explorer from "../../core/testing/Explorer.ts"
import { admission, gates } from "./Verbs.ts"

/** Schedules that there are at least, half of what there were: a program that comes to do much less is seen. */
const least: Readonly<Record<string, number>> = {
  run: 30_000,
  "enter, release": 50_000,
  tryEnter: 12_000,
  "lower, snapshot, holders": 20_000,
  withhold: 35_000,
  drain: 22_000,
  "gate: tryEnter, settle": 5_000,
  "gate: run, peek, snapshot": 4_000,
  "gate: run, lower": 13_000,
  "line: enter, waiting": 55_000,
  "breaker: tryEnter, settle": 10_000,
  "breaker: run, peek, snapshot": 8_000,
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
        expect(Object.values(steps).reduce((sum, n) => sum + n)).toBeGreaterThanOrEqual(24)
      }),
    300_000,
  )
})
