/**
 * Alternating rounds in one process: subject and floor in turns, so that a noisy neighbour hits both. Owns nothing.
 *
 * A round of a pair is a few slices, each a turn of the floor and a turn of the subject in changing order; the ratio of
 * the round is that of the medians of its slices. All pairs take part in every round.
 */
import { median } from "./Interval.ts"

/** One turn. Nanoseconds an operation, or whatever unit the group says; less is better. */
export type Measure = () => Promise<number>

export interface Pair {
  readonly subject: Measure
  readonly floor: Measure
  /** Turns of each a round. */
  readonly slices: number
  /** Ends after the round that spent it, and starts without the round that is not counted; none for what is judged. */
  readonly budgetMillis?: number
}

/** One entry a round. */
export interface Sample {
  readonly values: ReadonlyArray<number>
  readonly floors: ReadonlyArray<number>
  readonly ratios: ReadonlyArray<number>
}

export const rounds = 9

/** Nine rounds of every pair, after one that is not counted. */
export const alternate = async (
  pairs: ReadonlyArray<Pair>,
): Promise<ReadonlyArray<Sample>> => {
  const runs = pairs.map((pair) => ({
    pair,
    spent: 0,
    values: [] as Array<number>,
    floors: [] as Array<number>,
  }))
  for (let round = -1; round < rounds; round++) {
    for (const run of round % 2 === 0 ? runs : runs.toReversed()) {
      const { budgetMillis } = run.pair
      if (
        budgetMillis !== undefined && (round < 0 || run.spent > budgetMillis)
      ) continue
      const started = performance.now()
      const [value, floor] = await once(run.pair)
      run.spent += performance.now() - started
      if (round < 0) continue
      run.values.push(value)
      run.floors.push(floor)
    }
  }
  return runs.map(({ values, floors }) => ({
    values,
    floors,
    ratios: values.map((v, i) => v / (floors[i] ?? NaN)),
  }))
}

const once = async (pair: Pair): Promise<readonly [number, number]> => {
  const values: Array<number> = []
  const floors: Array<number> = []
  for (let slice = 0; slice < pair.slices; slice++) {
    if (slice % 2 === 0) floors.push(await pair.floor())
    values.push(await pair.subject())
    if (slice % 2 === 1) floors.push(await pair.floor())
  }
  return [median(values), median(floors)]
}

/** Does `n` operations. */
export type Loop = (n: number) => void | Promise<void>

/**
 * Nanoseconds an operation of `work` in turns of about `millis`. It is warm by then: an engine compiles what has run often,
 * which after one turn is not yet so of work that is many calls deep, and is long so of a floor.
 */
export const loop = async (work: Loop, millis: number): Promise<Measure> => {
  let n = 16
  const turn = millis * 1e6
  for (let [spent, all] = [0, 0]; all < warmTurns * turn || (spent < turn && n < 1e7); all += spent) {
    spent = await nanosOf(work, n)
    if (spent < turn) n = Math.min(1e7, Math.ceil(n * Math.min(8, Math.max(1.2, (turn * 1.1) / spent))))
    else if (spent > 1.5 * turn) n = Math.ceil((n * turn * 1.1) / spent)
  }
  return async () => (await nanosOf(work, n)) / n
}

const warmTurns = 40

const nanosOf = async (work: Loop, n: number): Promise<number> => {
  const started = performance.now()
  await work(n)
  return (performance.now() - started) * 1e6
}
