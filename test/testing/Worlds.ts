/** Explorations for tests that look behind the public words: every run is told of, also those that go wrong. */
import * as Effect from "effect/Effect"
import { DepthFirst } from "../../core/testing/DepthFirst.ts"
import { type AnyProgram, outcome, play } from "../../core/testing/ExplorerRun.ts"
import { World } from "../../core/testing/ExplorerWorld.ts"
import { Words } from "../../core/testing/Schedule.ts"

export interface Bounds {
  readonly preemptions?: number
  readonly interruptions?: number
  readonly interrupt?: ReadonlyArray<string>
  readonly maxRuns?: number
  /** `"plain"`: every turn of a loop is a step, and nothing is left out; `"pruned"`: by what the program says is shared. */
  readonly how?: "plain" | "pruned"
}

export interface Told {
  readonly runs: number
  /** Runs that came into a known state. */
  readonly repeats: number
  /** Whether there are no more. */
  readonly isThrough: boolean
  /** Every end that a run came to, with what `end` says of the state. */
  readonly ends: ReadonlySet<string>
}

/** Runs all schedules within the bounds and goes on where one fails. */
export const tell = (program: AnyProgram, bounds: Bounds, end: (state: unknown) => string): Told => {
  const { interrupt, interruptions = 0, maxRuns = 1_000_000, preemptions = Infinity } = bounds
  const world = new World(new Words(), {
    preemptions,
    interruptions,
    maxSteps: 1_000,
    targets: interrupt === undefined ? "own" : new Set(interrupt),
    alike: new Set(bounds.how === "pruned" ? program.alike : []),
    isPlain: bounds.how === "plain",
  })
  const search = new DepthFirst(world.words, { prune: bounds.how === "pruned" && program.shared !== undefined })
  let state: unknown
  const prepare = Effect.tap(program.prepare, (made) => Effect.sync(() => void (state = made)))
  const ends = new Set<string>()
  let runs = 0
  let repeats = 0
  do {
    const finding = play({ ...program, prepare }, world, search, 0)
    const schedule = world.words.print(world.agenda.log)
    if (search.isDiverged) throw new Error(`diverged: ${schedule}`)
    const told = `${outcome(world, finding)} ${end(state)}`
    if (!search.ended(world.agenda.log, told)) throw new Error(`not the same as before: ${schedule}`)
    runs++
    if (search.isRepeat) repeats++
    ends.add(told)
  } while (search.next() && runs < maxRuns)
  return { runs, repeats, isThrough: runs < maxRuns, ends }
}
