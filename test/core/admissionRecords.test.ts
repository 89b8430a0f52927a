/** Records: an idle key costs nothing beyond 1,024 of them, and the snapshot counts only keys in use. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Admission from "../../core/Admission.ts"
import type { Ask } from "../../core/Permit.ts"
import * as Books from "../support/Books.ts"

/** An Admission that tells, by asking for its weight, when a tenant is new to it. */
const remembering = Effect.gen(function* () {
  let made = 0
  const admission = yield* Admission.make({ maxRunning: 2_000, weights: () => (made++, 1) })
  /** True where the tenant was known. */
  const knows = (tenant: string, provider?: string) =>
    Effect.suspend(() => {
      const before = made
      return Effect.map(admission.run({ tenant, provider })(Effect.void), () => made === before)
    })
  return { admission, knows }
})

describe("records", () => {
  it.effect("AD-32: of the 1,024 idle longest ago are kept, and the one that is idle longest goes first", () =>
    Effect.gen(function* () {
      const { admission, knows } = yield* remembering
      for (let i = 0; i < 1_024; i++) assert.isFalse(yield* knows(`t${i}`))
      for (let i = 0; i < 1_024; i++) assert.isTrue(yield* knows(`t${i}`))
      assert.isTrue(yield* knows("t0")) // used last now
      assert.isFalse(yield* knows("new"))
      assert.isTrue(yield* knows("t0"))
      assert.isFalse(yield* knows("t1"))
      assert.isTrue(yield* knows("t3"))
      assert.isFalse(yield* knows("t2"))
      yield* Books.whole(admission)
    }))

  it.effect("AD-32: in use are never dropped, and leave less room for idle ones", () =>
    Effect.gen(function* () {
      const { admission, knows } = yield* remembering
      yield* Effect.scoped(Effect.gen(function* () {
        for (let i = 0; i < 1_020; i++) yield* admission.enter({ tenant: `held${i}` })
        for (let i = 0; i < 5; i++) yield* knows(`idle${i}`)
        assert.isTrue(yield* knows("idle4"))
        assert.isFalse(yield* knows("idle0"))
        for (let i = 0; i < 100; i++) yield* knows(`more${i}`)
        for (let i = 0; i < 1_020; i++) assert.isTrue(yield* knows(`held${i}`))
        assert.deepInclude(yield* Books.balanced(admission), { tenants: 1_020, running: 1_020 })
      }))
      yield* Books.whole(admission)
    }))

  it.effect("AD-32: are counted in the snapshot only while they are charged or waited on", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 2 })
      const asks: ReadonlyArray<Ask> = [{ tenant: "a", provider: "p" }, { tenant: "a", provider: "q" }, { tenant: "b" }]
      for (let i = 0; i < 50; i++) yield* admission.run({ tenant: `t${i}`, provider: `p${i}` })(Effect.void)
      yield* Effect.scoped(Effect.gen(function* () {
        yield* Effect.forEach(asks.slice(0, 2), (ask) => admission.enter(ask))
        yield* Effect.forkScoped(admission.run(asks[2]!)(Effect.void), { startImmediately: true })
        assert.deepInclude(yield* Books.balanced(admission), { tenants: 2, providers: 2, pairs: 2, waiting: 1 })
      }))
      yield* Books.whole(admission)
    }))
})
