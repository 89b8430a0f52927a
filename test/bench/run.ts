/**
 * `npm run bench`: Admission, the gate, the executor, the HTTP codecs and the explorer beside their peers and the floors, in
 * one process a group and runtime, and the goals at the end.
 *
 * - `--group A`: that group alone (A, B, C, D, E, F, G, H, I, J, K); may be given again
 * - `--runtime node`: on that runtime alone; may be given again (A, B, E, F, H, J and K run on all three, the others on Node)
 * - `--json FILE`: also writes the rows there
 *
 * A ratio is the median of nine rounds, and is judged by the upper end of its 95 % interval, which for nine rounds is the
 * second largest of them. The peers' packages are installed into this folder when they are first needed.
 */
import { writeFileSync } from "node:fs"
import { cpus, loadavg, totalmem } from "node:os"
import process from "node:process"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import * as Command from "../support/Command.ts"
import * as Installed from "../support/Installed.ts"
import * as Runtime from "../support/Runtime.ts"
import * as Row from "./Row.ts"
import * as Tables from "./Tables.ts"

const here = fileURLToPath(new URL("./", import.meta.url))
const everywhere: ReadonlySet<Row.Group> = new Set(["A", "B", "E", "F", "H", "J", "K"])

const usage = (problem: string): never => {
  console.error(
    `${problem}\nusage: npm run bench -- [--group ${Row.groups.join("|")}] [--runtime node|deno|bun] [--json FILE]`,
  )
  process.exit(2)
}

const flags = (() => {
  const many = { type: "string", multiple: true } as const
  try {
    return parseArgs({
      options: { group: many, runtime: many, json: { type: "string" } },
    }).values
  } catch (error) {
    return usage(error instanceof Error ? error.message : String(error))
  }
})()

/** The named ones of `all`, or all. */
const choose = <A extends string>(
  all: ReadonlyArray<A>,
  named: ReadonlyArray<string> | undefined,
): ReadonlyArray<A> => {
  const unknown = named?.find((name) => !all.some((one) => one === name))
  if (unknown !== undefined) return usage(`there is no ${unknown}`)
  return all.filter((one) => named === undefined || named.includes(one))
}
const groups = choose(Row.groups, flags.group)
const runtimes = choose(Row.runtimes, flags.runtime)

const machine = async (): Promise<string> => {
  const versions = await Promise.all(runtimes.map(async (runtime) => {
    const { output } = await Command.run([
      Runtime.command(runtime)[0] ?? runtime,
      "--version",
    ])
    return `${runtime} ${/\d+\.\d+\.\d+/.exec(output)?.[0]}`
  }))
  const peers = Object.entries(Installed.pins(here)).map(([name, pin]) => `${name} ${pin}`)
  return [
    `Date: ${new Date().toISOString().slice(0, 16)}Z`,
    `Machine: ${cpus().length} x ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, ` +
    `${process.platform} ${process.arch}, load ${loadavg()[0]?.toFixed(2)}`,
    `Versions: ${
      [
        ...versions,
        ...["effect", "undici"].map((name) => `${name} ${Installed.version(Runtime.root, name)}`),
        ...peers,
      ]
        .join(", ")
    }`,
  ].join("\n")
}

/** The memory of waiters is read on Node alone, after a collection on demand. */
const command = (runtime: Row.Runtime): ReadonlyArray<string> => {
  const [binary = runtime, ...args] = Runtime.command(runtime)
  return runtime === "node" ? [binary, "--expose-gc", ...args] : [binary, ...args]
}

const measure = async (
  group: Row.Group,
  runtime: Row.Runtime,
): Promise<ReadonlyArray<Row.Row> | undefined> => {
  const ended = await Command.run([
    ...command(runtime),
    `${here}measure.ts`,
    group,
  ], {
    cwd: Runtime.root,
    limitMillis: 900_000,
  })
  const rows = ended.output.split("\n").map(Row.parse).filter((row) => row !== undefined)
  if (ended.status === 0) return rows
  console.error(
    `bench: ${group} on ${runtime} ended with status ${ended.status}\n${ended.output.slice(-2000)}`,
  )
  return undefined
}

await Promise.all([Installed.install(here), ...runtimes.map(Runtime.install)])
console.log(`# holdfast benchmark\n\n${await machine()}`)
const rows: Array<Row.Row> = []
let failed = false
for (const group of groups) {
  for (const runtime of runtimes) {
    if (runtime !== "node" && !everywhere.has(group)) continue
    const seen = await measure(group, runtime)
    if (seen === undefined) failed = true
    else {
      rows.push(...seen)
      console.log(`\n${Tables.group(group, runtime, rows)}`)
    }
  }
}
console.log(`\n${Tables.goals(rows)}`)
if (flags.json !== undefined) {
  writeFileSync(flags.json, `${JSON.stringify(rows, undefined, 1)}\n`)
}
process.exit(failed ? 1 : 0)
