/** How many schedules there are, counted by the explorer and by hand. */
import { describe, expect, it } from "vitest"
import * as Effect from "effect/Effect"
import * as Explorer from "../../core/testing/Explorer.ts"

/** A fiber of so many steps that each change something. */
const steps = (counter: { n: number }, count: number): Effect.Effect<void> =>
  Array.from({ length: count }, () => Effect.sync(() => void counter.n++)).reduce((all, one) =>
    Effect.andThen(all, one)
  )

const names = ["a", "b", "c", "d"]
const program = (lengths: ReadonlyArray<number>) => ({
  prepare: Effect.sync(() => ({ n: 0 })),
  fibers: (counter: { n: number }) =>
    Object.fromEntries(lengths.map((length, i) => [names[i]!, steps(counter, length)] as const)),
})

const factorial = (n: number): number => n <= 1 ? 1 : n * factorial(n - 1)
const multinomial = (lengths: ReadonlyArray<number>): number =>
  factorial(lengths.reduce((sum, n) => sum + n)) / lengths.reduce((product, n) => product * factorial(n), 1)

const schedules = (lengths: ReadonlyArray<number>, bounds: { preemptions: number; interruptions?: number }) =>
  Effect.runPromise(Explorer.explore(program(lengths), bounds))

describe("without a bound", () => {
  it.each([[[1]], [[5]], [[1, 1]], [[2, 3]], [[4, 4]], [[6, 5]], [[1, 2, 3]], [[3, 3, 3]], [[1, 1, 1, 1]], [[
    2,
    2,
    2,
    2,
  ]]])(
    "fibers of %j steps have as many schedules as there are ways to merge them",
    async (lengths) => {
      const explored = await schedules(lengths, { preemptions: Infinity })
      expect(explored).toEqual({
        schedules: multinomial(lengths),
        repeats: 0,
        exhaustive: true,
        cutBy: [],
        unanswered: [],
        steps: Object.fromEntries(lengths.map((length, i) => [names[i], length])),
      })
    },
  )
})

/**
 * The schedules of fibers that only make steps, counted without running any: who may go on, who may be forced off, and who
 * may be interrupted, by the words in which `Schedule.ts` tells them. One that is interrupted ends.
 */
const count = (lengths: ReadonlyArray<number>, preemptions: number, interruptions: number): number => {
  const go = (
    left: ReadonlyArray<number>,
    fresh: ReadonlyArray<boolean>,
    current: number | undefined,
    p: number,
    q: number,
    hasBegun: boolean,
  ): number => {
    if (left.every((n) => n === 0)) return 1
    const step = (i: number, cost: number): number => {
      const rest = left.with(i, left[i]! - 1)
      return go(rest, fresh.with(i, false), rest[i] === 0 ? undefined : i, p - cost, q, true)
    }
    const others = left.flatMap((n, i) => n > 0 && i !== current ? [i] : [])
    let sum = current === undefined ? 0 : step(current, 0)
    // A running fiber is forced off for another one; one that is off already is just not chosen: the price is the same.
    for (const i of others) if (current === undefined || p > 0) sum += step(i, current === undefined ? 0 : 1)
    for (const [i, n] of left.entries()) {
      if (q === 0 || n === 0 || (fresh[i] && hasBegun)) continue
      sum += go(left.with(i, 0), fresh, i === current ? undefined : current, p, q - 1, hasBegun)
    }
    return sum
  }
  return go(lengths, lengths.map(() => true), undefined, preemptions, interruptions, false)
}

describe("within bounds", () => {
  for (const lengths of [[3, 3], [4, 2], [2, 2, 2], [3, 1, 2]]) {
    for (const preemptions of [0, 1, 2, 3, Infinity]) {
      for (const interruptions of [0, 1, 2]) {
        it(`fibers of ${lengths} steps, ${preemptions} forced switches, ${interruptions} interruptions`, async () => {
          const explored = await schedules(lengths, { preemptions, interruptions })
          expect(explored.schedules).toBe(count(lengths, preemptions, interruptions))
          expect(explored.exhaustive).toBe(true)
          expect(explored.cutBy.includes("preemptions")).toBe(
            count(lengths, preemptions, interruptions) < count(lengths, Infinity, interruptions),
          )
        })
      }
    }
  }
})
