/** One line of results, as the group's process prints it and as `--json` keeps it. Owns nothing. */
import { high, median } from "./Interval.ts"
import type { Sample } from "./Rounds.ts"

export const groups = ["A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K"] as const
export type Group = typeof groups[number]
export const runtimes = ["node", "deno", "bun"] as const
export type Runtime = typeof runtimes[number]

export interface Row {
  readonly group: Group
  readonly subject: string
  readonly case: string
  readonly runtime: string
  /** Nanoseconds an operation: median of the rounds. */
  readonly nsPerOp?: number | undefined
  /** Median of the ratios of the rounds to the subject's floor, and the upper end of its 95 % interval. */
  readonly ratioToFloor?: number | undefined
  readonly ratioHigh?: number | undefined
  /** Cost of an operation over that with a tenth of the waiters: 1 is O(1), 10 is O(n). */
  readonly growth?: number | undefined
  /** Upper end of the interval of this growth over the floor's own. */
  readonly growthHigh?: number | undefined
  /** Bytes of heap a waiter or a tenant, or of a bundle. */
  readonly bytes?: number | undefined
  /** What the case names where it is none of these (requests, a share, milliseconds); the upper end where it has one. */
  readonly figure?: number | undefined
  readonly figureHigh?: number | undefined
}

/** A row without its runtime, which the process that prints it knows. */
export type Result = Omit<Row, "runtime">
export type Emit = (result: Result) => void

/** What a sample says; `smaller` is the same subject's at a size `factor` times smaller. JSON leaves out what is undefined. */
export const figures = (
  sample: Sample,
  smaller?: { readonly sample: Sample; readonly factor: number },
): Partial<Row> => {
  const own = {
    nsPerOp: median(sample.values),
    ratioToFloor: median(sample.ratios),
    ratioHigh: high(sample.ratios),
  }
  if (smaller === undefined) return own
  const decades = Math.log10(smaller.factor)
  const growths = sample.ratios.flatMap((ratio, i) => {
    const before = smaller.sample.ratios[i]
    return before === undefined ? [] : [(ratio / before) ** (1 / decades)]
  })
  const growth = (median(sample.values) / median(smaller.sample.values)) **
    (1 / decades)
  return { ...own, growth, growthHigh: high(growths) }
}

const mark = "@row "

export const print = (row: Row): void => console.log(mark + JSON.stringify(row))

export const parse = (line: string): Row | undefined =>
  line.startsWith(mark) ? JSON.parse(line.slice(mark.length)) as Row : undefined
