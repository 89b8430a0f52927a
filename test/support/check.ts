/**
 * `npm run check`: everything that can be known without running the library. One line a step, its output only if it fails.
 * Names as arguments run those steps alone: `npm run check -- lint types`; `--write` lets `format` repair the files;
 * `--all-but NAME` leaves one out.
 */
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import * as Command from "./Command.ts"
import * as Runtime from "./Runtime.ts"

const rest = process.argv.slice(2)
const write = rest.includes("--write")
const allBut = rest.includes("--all-but") ? rest.splice(rest.indexOf("--all-but"), 2)[1] : undefined
const names = rest.filter((name) => name !== "--write")

const packed = mkdtempSync(join(tmpdir(), "holdfast-check-"))
process.once("exit", () => rmSync(packed, { recursive: true }))
const tarball = (): string => join(packed, readdirSync(packed)[0] ?? "no tarball")

const node = Runtime.command("node")
const tool = (name: string, ...args: readonly string[]): readonly string[] => [...node, `node_modules/${name}`, ...args]
const tsc = (...args: readonly string[]): readonly string[] => tool("typescript/bin/tsc", "--pretty", "false", ...args)

/** Steps of one list wait for each other; the lists run side by side. */
const lists: readonly Readonly<Record<string, () => readonly string[]>>[] = [{
  // The build starts from nothing, so that the package holds no file whose source is gone.
  build: () => (rmSync(`${Runtime.root}dist`, { recursive: true, force: true }), tsc("-p", "tsconfig.json")),
  pack: () => ["npm", "pack", "--ignore-scripts", "--pack-destination", packed],
  publint: () => tool("publint/src/cli.js", "run", tarball(), "--strict"),
  attw: () =>
    tool("@arethetypeswrong/cli/dist/index.js", tarball(), "--profile", "esm-only", "--no-emoji", "--no-color"),
}, {
  format: () => [Runtime.deno, "fmt", ...(write ? [] : ["--check"])],
  lint: () => [Runtime.deno, "lint", "--quiet"],
  "core-types": () => tsc("-p", "core"),
  types: () => tsc("-p", "test"),
  architecture: () => tool("vitest/vitest.mjs", "run", "test/architecture.node.test.ts"),
  jsr: () => [Runtime.deno, "publish", "--dry-run", "--allow-dirty", "--quiet"],
}]

const unknown = [...names, ...allBut === undefined ? [] : [allBut]].filter((name) =>
  !lists.some((list) => name in list)
)
if (unknown.length > 0) {
  console.error(`No such step: ${unknown.join(", ")}. There are: ${lists.flatMap(Object.keys).join(", ")}`)
  process.exit(2)
}

const step = async (name: string, command: readonly string[]): Promise<boolean> => {
  const ended = await Command.run(command, { cwd: Runtime.root, env: { NO_COLOR: "1" } })
  console.log(`check ${name}: ${ended.status === 0 ? "ok" : "FAILED"} ${ended.seconds.toFixed(1)} s`)
  if (ended.status !== 0) console.log(`$ ${command.join(" ")}\n${ended.output.trimEnd()}`)
  return ended.status === 0
}

await Runtime.install("deno")
const passed = await Promise.all(lists.map(async (list) => {
  let good = true
  for (const [name, command] of Object.entries(list)) {
    if (name === allBut || (names.length > 0 && !names.includes(name))) continue
    good = await step(name, command()) && good
  }
  return good
}))
process.exit(passed.every(Boolean) ? 0 : 1)
