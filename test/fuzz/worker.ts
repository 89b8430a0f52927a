/** The thread that fuzzes. It says after every execution how far it is, so that its owner sees where it hangs. */
import { parentPort, workerData } from "node:worker_threads"
import * as Case from "./Case.ts"
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
}

const { millis, progress, seed }: Order = workerData
const on = Laws.engines()
const until = performance.now() + millis
let verdict: Verdict = {}
for (let index = 0; performance.now() < until && verdict.law === undefined; index++) {
  const one = Case.make(seed, index)
  const law = Laws.broken(one, on)
  progress[1] = progress[1]! + Laws.bytesOf(one)
  progress[0] = index + 1
  if (law === undefined) continue
  const least = shrink(one, (smaller) => Laws.broken(smaller, on) !== undefined)
  verdict = { law: Laws.broken(least, on) ?? law, case: Case.print(least) }
}
parentPort!.postMessage(verdict)
