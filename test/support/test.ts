/**
 * `npm test`: the checks, then the suite on Node, and beside it on Deno, on Bun, and of what the platforms supply on the
 * oldest and the newest Node.
 *
 * - `--quick`: on Node alone unless `--runtime` names another, without the checks and without `*.slow.*` files
 * - `--runtime NAME`: on that runtime alone, without the checks
 * - anything else goes to vitest (file filters, `-t PATTERN`), without the checks
 *
 * Status 0: all that ran has passed; 1: something failed, or nothing ran; 2: an argument is wrong.
 */
import { readFileSync } from "node:fs"
import { availableParallelism } from "node:os"
import process from "node:process"
import * as Command from "./Command.ts"
import * as Table from "../conformance/Table.ts"
import * as Runtime from "./Runtime.ts"
import * as Suite from "./Suite.ts"
import * as Workerd from "./Workerd.ts"

const misused = (problem: string): never => {
  console.error(`test: ${problem}`)
  process.exit(2)
}

const line = ({ passed, failed, skipped }: Suite.Tally): string =>
  `${passed} passed, ${failed} failed, ${skipped} skipped`

/** What vitest says of arguments that it does not know. */
let refused: string | undefined = undefined

/** What came of each, for the table of runtimes. */
const runs: Partial<Record<Table.Column, readonly Suite.Test[]>> = {}

const suite = async (
  runtime: Runtime.Name | Runtime.OtherNode,
  args: readonly string[],
  workers: number,
): Promise<readonly Suite.Test[]> => {
  // Beside the results, so that nobody takes a minute or two without a word for a hang.
  console.error(`${runtime}: running`)
  const { tests, output } = await Suite.run(runtime, [`--maxWorkers=${Math.max(1, workers)}`, ...args])
  const unread = tests.length === 1 ? /CACError: (.*)/.exec(output)?.[1] : undefined
  if (unread !== undefined) {
    refused = unread
    return []
  }
  const failed = tests.filter((test) => test.status === "failed")
  if (failed.length > 0) console.log(output.trimEnd())
  for (const test of failed) console.log(`${runtime} FAILED ${test.file}: ${[...test.within, test.title].join(" > ")}`)
  console.log(`${runtime}: ${line(Suite.tally(tests))}`)
  runs[runtime] = tests
  return tests
}

const check = async (): Promise<readonly Suite.Test[]> => {
  // The suite on Node has the test of the architecture.
  const program = [...Runtime.command("node"), "test/support/check.ts", "--all-but", "architecture"]
  const ended = await Command.run(program, { cwd: Runtime.root })
  console.log(ended.output.trimEnd())
  return ended.status === 0 ? [] : [Suite.broken("check", "a step failed")]
}

const rest = process.argv.slice(2)
const take = (flag: string, values: number): readonly string[] | undefined => {
  const at = rest.indexOf(flag)
  return at < 0 ? undefined : rest.splice(at, values + 1).slice(1)
}
const quick = take("--quick", 0) !== undefined
const known: readonly string[] = [...Runtime.names, ...Runtime.otherNodes]
const wanted = take("--runtime", 1) ?? (quick ? ["node"] : Runtime.names)
if (wanted.length === 0 || !wanted.every((name) => known.includes(name))) {
  misused(`--runtime must be one of ${known.join(", ")}, got ${wanted[0] ?? "nothing"}`)
}
if (rest.includes("--runtime")) misused("--runtime must be given once")
const runtimes = Runtime.names.filter((name) => wanted.includes(name))
const whole = !quick && runtimes.length === Runtime.names.length && rest.length === 0
const args = quick ? ["--project=!slow", ...rest] : rest

const cores = availableParallelism()
const results: Suite.Test[] = []
const otherNodes = Runtime.otherNodes.filter((name) => whole || wanted.includes(name))
await Promise.all([...[...runtimes, ...otherNodes].map(Runtime.install), ...whole ? [Workerd.install()] : []])
// Before the suites, since they write beside the sources what no check is for.
if (whole) results.push(...await check())
/** One after the other, each with so many workers. */
const suites = async (
  names: readonly (Runtime.Name | Runtime.OtherNode)[],
  workers: number,
  ...more: readonly string[]
): Promise<readonly Suite.Test[]> => {
  const tests: Suite.Test[] = []
  for (const name of names) tests.push(...await suite(name, [...args, ...more], workers))
  return tests
}
// Two lanes of about the same length. Many tests wait for a real clock or another process, so that one worker a core in each
// of them keeps the cores busy to the end, and one more in a lane that is alone.
const workers = runtimes.length > 1 ? cores : cores + 1
const lanes = await Promise.all([
  suites(runtimes.filter((name) => name === "node"), workers),
  suites(runtimes.filter((name) => name !== "node"), workers).then(async (tests) => [
    ...tests,
    ...await suites(otherNodes, workers, "test/conformance", "--project=!slow"),
  ]),
])
if (refused !== undefined) misused(`${refused}; there are --quick, --runtime NAME, and those of vitest`)
results.push(...lanes.flat())

if (whole) {
  const conformance = Object.entries(runs).map(([name, tests]) =>
    [name, tests.filter(({ file }) => file.startsWith("test/conformance/"))] as const
  )
  const { node } = Object.fromEntries(conformance)
  const seen: Table.Runs = { ...Object.fromEntries(conformance), edge: node ?? [] }
  const stale = Table.stale(readFileSync(`${Runtime.root}README.md`, "utf8"), seen)
  for (const fault of stale) console.log(fault)
  results.push(...stale.map((fault) => Suite.broken("README.md", fault)))
}

const total = Suite.tally(results)
console.log(line(total))
process.exit(total.failed > 0 || total.passed === 0 ? 1 : 0)
