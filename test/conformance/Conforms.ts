/**
 * The laws of a port as tests of the runtime that runs them. A law that a platform cannot keep is named with the reason, and
 * is shown to be broken there: once it holds, the gap is closed and has to go.
 */
import { assert, describe, it } from "vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Gaps, Law } from "./Law.ts"
import { titleOf } from "./Table.ts"

export interface Suite<Rig> {
  readonly port: string
  readonly laws: ReadonlyArray<Law<Rig>>
  /** Keeps a law, and fails where it does not hold or leaves something behind. */
  readonly keep: (law: Law<Rig>) => Effect.Effect<void, unknown>
}

/** How long a law may take; one that cannot be kept is broken well before. */
const limitMillis = 40_000
const brokenMillis = 2_000

export const conforms = <Rig>(suite: Suite<Rig>, { cannot }: { readonly cannot: Gaps }): void => {
  describe(suite.port, () => {
    it("has no gap but in a law that there is", () => {
      const names = suite.laws.map(({ name }) => name)
      assert.deepStrictEqual(Object.keys(cannot).filter((name) => !names.includes(name)), [])
    })
    for (const what of new Set(suite.laws.map(({ about }) => about))) {
      describe(what, () => suite.laws.filter(({ about }) => about === what).forEach((law) => test(law, suite, cannot)))
    }
  })
}

const test = <Rig>(law: Law<Rig>, { keep }: Suite<Rig>, cannot: Gaps): void => {
  const why = cannot[law.name]
  if (why === undefined) {
    it(law.name, { timeout: limitMillis }, () => Effect.runPromise(keep(law)))
    return
  }
  it(titleOf(law.name, why), { timeout: limitMillis }, async () => {
    const kept = Effect.timeoutOrElse(keep(law), { duration: brokenMillis, orElse: () => Effect.fail("it goes on") })
    assert.isTrue(Exit.isFailure(await Effect.runPromiseExit(kept)), "it holds by now: take the gap away")
  })
}
