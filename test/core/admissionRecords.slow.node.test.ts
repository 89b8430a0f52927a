/** A million tenants, one after another: what is kept of them does not grow. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import process from "node:process"
import * as Admission from "../../core/Admission.ts"
import * as Books from "../support/Books.ts"
import * as Garbage from "../support/Garbage.ts"

it.effect("AD-32: 1,000,000 distinct tenants and providers leave the memory flat", () =>
  Effect.gen(function* () {
    const used = () => {
      Garbage.collect()
      return process.memoryUsage().heapUsed
    }
    const admission = yield* Admission.make({ maxRunning: 1, maxPerPair: 1, weights: () => 1 })
    const come = function* (from: number, to: number) {
      for (let i = from; i < to; i++) {
        yield* admission.run({ tenant: `tenant ${i}`, provider: `provider ${i}` })(Effect.void)
      }
    }
    yield* come(0, 100_000)
    const before = used()
    yield* come(100_000, 1_000_000)
    // Kept, they would take hundreds of megabytes.
    assert.isBelow(used() - before, 16e6)
    assert.deepInclude(yield* Books.balanced(admission), { tenants: 0, providers: 0, pairs: 0, granted: 1_000_000 })
    yield* Books.whole(admission)
  }))
