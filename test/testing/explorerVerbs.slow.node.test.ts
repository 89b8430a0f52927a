/** Every verb in every order, within two forced switches and one interruption. On Node alone: it is a matter of patience. */
import { describe, expect } from "vitest"
import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Explorer from "../../core/testing/Explorer.ts"
import { admission, gates } from "./Verbs.ts"

describe("within two forced switches and one interruption", () => {
  it.effect.each(Object.entries({ ...admission, ...gates }))(
    "%s settles the books in every order",
    ([, program]) =>
      Effect.gen(function* () {
        const bounds = { preemptions: 2, interruptions: 1, maxSchedules: 1_000_000 }
        const { cutBy, exhaustive, schedules } = yield* Explorer.explore(program, bounds)
        expect({ cutBy, exhaustive }).toEqual({ cutBy: ["preemptions"], exhaustive: true })
        expect(schedules).toBeGreaterThan(4_000)
      }),
    300_000,
  )
})
