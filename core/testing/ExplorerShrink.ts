/** From a schedule that fails to a simpler one that fails in the same way. Owns nothing. */
import * as Effect from "effect/Effect"

/** A run that failed: its words, and where it left the defaults. */
export interface Failing {
  readonly log: ReadonlyArray<number>
  readonly turns: ReadonlyArray<number>
}

const maxRuns = 2_000

/**
 * Tries shorter and straighter schedules, each by leaving out a turn or all that comes after one, until none of them
 * fails any more. `attempt` follows words as far as it can, and says what was run if it failed in the same way.
 */
export const shrink = (
  first: Failing,
  attempt: (words: ReadonlyArray<number>) => Effect.Effect<Failing | undefined>,
): Effect.Effect<Failing> =>
  Effect.gen(function* () {
    let best = first
    let runs = 0
    for (let isBetter = true; isBetter && runs < maxRuns;) {
      isBetter = false
      for (const words of simpler(best)) {
        if (++runs > maxRuns) break
        const found = yield* attempt(words)
        if (found === undefined || !(weight(found) < weight(best))) continue
        best = found
        isBetter = true
        break
      }
    }
    return best
  })

/** How often it left the defaults counts first, then how late it did last. */
const weight = ({ turns }: Failing): number => turns.length * 1_000_000 + (turns.at(-1) ?? 0)

/** All that comes after a turn left out, from the boldest on; then turns left out in groups and alone. */
function* simpler({ log, turns }: Failing): Iterable<ReadonlyArray<number>> {
  for (const turn of turns) yield log.slice(0, turn)
  for (let size = Math.ceil(turns.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < turns.length; from += size) {
      const gone = new Set(turns.slice(from, from + size))
      yield log.filter((_, at) => !gone.has(at))
      // A turn is often a fiber forced off, and the word after it the one that ran instead.
      yield log.filter((_, at) => !gone.has(at) && !gone.has(at - 1))
    }
  }
  // The same turns, each a step earlier.
  for (const turn of turns) if (turn > 0) yield log.filter((_, at) => at !== turn - 1)
}
