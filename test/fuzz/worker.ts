/** The thread that fuzzes. It says after every execution how far it is, so that its owner sees where it hangs. */
import { parentPort, workerData } from "node:worker_threads"
import * as Case from "./Case.ts"
import { Coverage } from "./Coverage.ts"
import * as Laws from "./Laws.ts"
import { shrink } from "./Shrink.ts"

/** `progress`: executions and bytes. */
export interface Order {
  readonly seed: number
  readonly millis: number
  readonly progress: Float64Array
}

/** What it posts at its end; without a law it found nothing. */
export interface Verdict {
  readonly law?: string
  readonly case?: string
  /** What was reached. */
  readonly reached: ReadonlyArray<string>
}

const { millis, progress, seed }: Order = workerData
const coverage = new Coverage()
const on = Laws.engines(coverage.watch)
const until = performance.now() + millis
let found: Omit<Verdict, "reached"> = {}
for (let index = 0; performance.now() < until && found.law === undefined; index++) {
  const one = Case.make(seed, index)
  const law = Laws.broken(one, on)
  progress[1] = progress[1]! + Laws.bytesOf(one)
  progress[0] = index + 1
  if (law === undefined) continue
  const least = shrink(one, (smaller) => Laws.broken(smaller, on) !== undefined)
  found = { law: Laws.broken(least, on) ?? law, case: Case.print(least) }
}
parentPort!.postMessage({ ...found, reached: coverage.lines() } satisfies Verdict)
