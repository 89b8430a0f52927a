/** Programs that nobody chose: what is left out changes nothing, and what is told can be run again. */
import { describe, expect, it } from "vitest"
import * as Effect from "effect/Effect"
import { Follower, Sampler } from "../../core/testing/Chooser.ts"
import { outcome, play } from "../../core/testing/ExplorerRun.ts"
import { World } from "../../core/testing/ExplorerWorld.ts"
import { parse, Words } from "../../core/testing/Schedule.ts"
import * as RandomProgram from "./RandomProgram.ts"

/** More of them, and longer, by hand: `hunt.ts`. */
const seeds = Array.from({ length: 30 }, (_, i) => i)

describe("of programs drawn by a seed", () => {
  it("all ends are come to also where turns without code are no steps, and where known states are left", () => {
    let whole = 0
    let left = 0
    for (const seed of seeds) {
      const { all, difference, isWhole, plain, pruned } = RandomProgram.compared(seed, 250)
      expect([seed, difference]).toEqual([seed, undefined])
      if (!isWhole) continue
      whole++
      if (pruned < all && all < plain) left++
    }
    expect(whole).toBeGreaterThan(8)
    expect(left).toBeGreaterThan(3)
  })

  it("every schedule that is drawn is run again from its text, step by step to the same end", () => {
    const limits = {
      preemptions: Infinity,
      interruptions: 2,
      maxSteps: 1_000,
      targets: "own" as const,
      alike: new Set<string>(),
    }
    let turns = 0
    for (const seed of seeds) {
      const { end, program } = RandomProgram.make(seed)
      let state: unknown
      const watched = {
        ...program,
        prepare: Effect.tap(program.prepare, (made) => Effect.sync(() => void (state = made))),
      }
      for (let draw = 0; draw < 5; draw++) {
        const world = new World(new Words(), limits)
        const told = outcome(world, play(watched, world, new Sampler(1_000 * seed + draw), 0)) + end(state)
        const text = world.words.print(world.agenda.log)
        const other = new World(new Words(), { ...limits, interruptions: Infinity })
        const follower = new Follower((parse(text) as ReadonlyArray<string>).map((word) => other.words.id(word)))
        const again = outcome(other, play(watched, other, follower, 0)) + end(state)
        expect([text, again, follower.unused]).toEqual([other.words.print(other.agenda.log), told, undefined])
        turns += other.agenda.turns.length
      }
    }
    expect(turns).toBeGreaterThan(300)
  })
})
