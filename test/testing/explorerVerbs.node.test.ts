/** Every verb in every order, within one forced switch and one interruption; within two, on Node, in the slow file. */
import { describe, expect } from "vitest"
import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Explorer from "../../core/testing/Explorer.ts"
import { admission, crowd, gates, set } from "./Verbs.ts"

const within = { preemptions: 1, interruptions: 1 }

describe("Admission", () => {
  it.effect.each(Object.entries(admission))(
    "AD-4 AD-5: %s settles the books in every order",
    ([, program]) =>
      Effect.gen(function* () {
        const { cutBy, exhaustive, schedules } = yield* Explorer.explore(program, within)
        expect({ cutBy, exhaustive }).toEqual({ cutBy: ["preemptions"], exhaustive: true })
        expect(schedules).toBeGreaterThan(1_000)
      }),
  )

  it.effect("AD-4 AD-5: all verbs at once settle the books in 2,000 orders that a seed draws", () =>
    Effect.gen(function* () {
      const drawn = yield* Explorer.sample(crowd, { seed: 20_261_129, schedules: 2_000, interruptions: 2 })
      expect(drawn).toMatchObject({ schedules: 2_000, exhaustive: false, cutBy: ["maxSchedules"] })
    }))
})

describe("gates", () => {
  it.effect.each(Object.entries({ ...gates, "gates: get, snapshotAll": set }))(
    "%s settles the books in every order",
    ([, program]) =>
      Effect.gen(function* () {
        const { cutBy, exhaustive, schedules } = yield* Explorer.explore(program, within)
        expect({ cutBy, exhaustive }).toEqual({ cutBy: ["preemptions"], exhaustive: true })
        expect(schedules).toBeGreaterThan(400)
      }),
  )
})
