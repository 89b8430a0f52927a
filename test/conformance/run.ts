/**
 * `npm run runtimes`: tries what the platforms supply on every runtime, and writes the table of README.
 *
 * - `--check`: writes nothing, and fails where the table is stale
 * - `--runtime NAME`: with `--check`, that one alone (node22, node, node26, deno, bun, edge)
 *
 * Status 0: the table is right, or written; 1: it is not; 2: an argument is wrong.
 */
import { readFileSync, writeFileSync } from "node:fs"
import process from "node:process"
import { parseArgs } from "node:util"
import * as Runtime from "../support/Runtime.ts"
import * as Suite from "../support/Suite.ts"
import * as Table from "./Table.ts"

const page = `${Runtime.root}README.md`

const misused = (problem: string): never => {
  console.error(`runtimes: ${problem}; there are --check, and with it --runtime ${Table.columns.join("|")}`)
  process.exit(2)
}

const values = (() => {
  try {
    return parseArgs({ options: { check: { type: "boolean" }, runtime: { type: "string" } } }).values
  } catch (error) {
    // Its first sentence: the others are about arguments that begin with a dash.
    return misused(`${error}`.replace(/^.*?: |\.\s.*$/gs, ""))
  }
})()
const wanted = Table.columns.filter((column) => values.runtime === undefined || column === values.runtime)
if (wanted.length === 0) misused(`no runtime ${values.runtime}`)
if (values.runtime !== undefined && values.check !== true) misused("--runtime alone")

const run = async (column: Table.Column): Promise<readonly Suite.Test[]> => {
  console.error(`${column}: running`)
  const { tests } = column === "edge"
    ? await Suite.run("node", ["test/conformance/edge"])
    : await Suite.run(column, ["test/conformance", "--project=!slow"])
  return tests
}

const runs: Record<string, readonly Suite.Test[]> = {}
for (const column of wanted) runs[column] = await run(column)

/** Says what is wrong, and ends. */
const end = (faults: readonly string[]): never => {
  for (const fault of faults) console.error(fault)
  process.exit(faults.length === 0 ? 0 : 1)
}

if (values.check === true) {
  const stale = Table.stale(readFileSync(page, "utf8"), runs)
  if (stale.length === 0) console.log(`the table of runtimes is right: ${wanted.join(", ")}`)
  end(stale)
}
const made = Table.make(runs)
if ("faults" in made) end(made.faults)
else writeFileSync(page, Table.placed(readFileSync(page, "utf8"), made.text))
