/**
 * `npm run fuzz`: hostile responses and requests against the codecs of HTTP/1.1 and HTTP/2, each a function of seed and index.
 *
 * - `--seconds N`: for how long; 60 if left out
 * - `--seed N`: another row of inputs; 1 if left out
 * - `--replay CASE`: one input, as a find is printed
 *
 * It prints what it reached, with counts: the rules that were broken and in which part, what was told, and what was refused.
 *
 * Status 0: every law held; 1: one was broken, or an execution did not end within ten seconds; 2: an argument is wrong.
 */
import process from "node:process"
import { parseArgs } from "node:util"
import { Worker } from "node:worker_threads"
import * as Case from "./Case.ts"
import * as Laws from "./Laws.ts"
import type { Order, Verdict } from "./worker.ts"

const patienceMillis = 10_000

const stop = (status: number, line: string): never => {
  console.log(line)
  process.exit(status)
}

const options = { seconds: { type: "string" }, seed: { type: "string" }, replay: { type: "string" } } as const
const flags = (() => {
  try {
    return parseArgs({ options }).values
  } catch (error) {
    return stop(2, `fuzz: ${error instanceof Error ? error.message : error}`)
  }
})()

const number = (name: "seconds" | "seed", otherwise: number): number => {
  const value = Number(flags[name] ?? otherwise)
  return value > 0 && value < 1e6 ? value : stop(2, `fuzz: --${name} must be a number above 0 and below 1,000,000`)
}

const found = (law: string, one: string): never =>
  stop(1, `fuzz: BROKEN: ${law}\nfuzz: again with: npm run fuzz -- --replay '${one.replaceAll("'", "\\u0027")}'`)

if (flags.replay !== undefined) {
  const law = Laws.broken(Case.parse(flags.replay), Laws.engines())
  stop(law === undefined ? 0 : 1, law === undefined ? "fuzz: every law holds" : `fuzz: BROKEN: ${law}`)
}

const seed = number("seed", 1)
const seconds = number("seconds", 60)
const progress = new Float64Array(new SharedArrayBuffer(16))
const order: Order = { seed, millis: seconds * 1000, progress }
const worker = new Worker(new URL("./worker.ts", import.meta.url), { workerData: order })

let last = -1
let watch: ReturnType<typeof setInterval> | undefined = undefined
watch = setInterval(() => {
  const [executions = 0] = progress
  if (executions === last) found("an execution does not end", Case.print(Case.make(seed, executions)))
  last = executions
}, patienceMillis)

worker.once("error", (error) => stop(1, `fuzz: the worker died: ${error}`))
worker.once("message", (verdict: Verdict) => {
  clearInterval(watch)
  const [executions = 0, bytes = 0] = progress
  console.log(`fuzz: seed ${seed}, ${executions} executions, ${bytes} bytes in ${seconds} s at most`)
  for (const line of verdict.reached) console.log(`fuzz: reached ${line}`)
  if (verdict.law !== undefined) found(verdict.law, verdict.case ?? "")
  stop(0, "fuzz: every law held")
})
