/** A flood and somebody small behind it, through the noun itself. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import * as Admission from "../../core/Admission.ts"
import type { Ask } from "../../core/Permit.ts"

const flood = 10_000
const units = 64

/** The order in which the bodies of 10,000 of one kind and 10 of another started, the ten having come last. */
const starts = (one: Ask, other: Ask): Effect.Effect<ReadonlyArray<Ask>> =>
  Effect.scoped(Effect.gen(function* () {
    const admission = yield* Admission.make({
      maxRunning: units,
      maxQueued: 20_000,
      maxQueuedPerTenant: 20_000,
      maxWait: "1 hour",
    })
    const started: Array<Ask> = []
    const come = (ask: Ask) =>
      Effect.sync(() => void started.push(ask)).pipe(
        Effect.andThen(Effect.sleep("10 millis")),
        admission.run(ask),
        Effect.forkChild({ startImmediately: true }),
      )
    for (let i = 0; i < flood; i++) yield* come(one)
    for (let i = 0; i < 10; i++) yield* come(other)
    while (started.length < flood + 10) yield* TestClock.adjust("10 millis")
    yield* TestClock.adjust("10 millis")
    const { running, waiting } = yield* admission.snapshot
    assert.deepStrictEqual([running, waiting], [0, 0])
    return started
  })).pipe(Effect.orDie)

/** How many of the flood started before the last of the ten. */
const before = (started: ReadonlyArray<Ask>, one: Ask, other: Ask): number =>
  started.slice(0, started.lastIndexOf(other)).filter((ask) => ask === one).length

describe("a flood of 10,000, then ten small ones", () => {
  it.effect("AD-8: of another tenant, 64 and 10 of the flood start before the tenth of them", () =>
    Effect.gen(function* () {
      const [one, other] = [{ tenant: "flood" }, { tenant: "small" }]
      assert.strictEqual(before(yield* starts(one, other), one, other), 74)
    }))

  it.effect("AD-10: of another provider of the same tenant, 64 and 10 as well", () =>
    Effect.gen(function* () {
      const [one, other] = [{ tenant: "t", provider: "flood" }, { tenant: "t", provider: "small" }]
      assert.strictEqual(before(yield* starts(one, other), one, other), 74)
    }))

  it.effect("AD-10: a tenant that is split over 100 providers gets half beside one that is not", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: units, maxQueued: 20_000, maxQueuedPerTenant: 20_000 })
      const started = { split: 0, whole: 0 }
      const come = (tenant: "split" | "whole", provider: string) =>
        Effect.sync(() => void started[tenant]++).pipe(
          Effect.andThen(Effect.sleep("10 millis")),
          admission.run({ tenant, provider }),
          Effect.forever,
          Effect.forkChild({ startImmediately: true }),
        )
      for (let i = 0; i < 300; i++) {
        yield* come("split", `p${i % 100}`)
        yield* come("whole", "p")
      }
      for (let i = 0; i < 100; i++) yield* TestClock.adjust("10 millis")
      assert.closeTo(started.split / (started.split + started.whole), 0.5, 0.01)
      assert.isAtLeast(started.split, 3_000)
    }))
})
