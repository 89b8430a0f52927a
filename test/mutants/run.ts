/**
 * `npm run mutants`: breaks the code on purpose and sees that the tests notice. Two ways, on Node:
 *
 * - without `--generated`, the list of breaks in `Breaks.ts`, each of which the test that it names has to catch
 * - `--generated`: every small change of `core` that the operators in `Operators.ts` make, those of one file in one build.
 *   All take hours: file by file, with `--only`, one can stop between two and go on later, and `SURVIVED` is what to see to
 *
 * Either way:
 *
 * - `--only PATH`: those in files whose path begins so; may be given more than once
 * - `--changed [REV]`: those in files, of generated ones in lines, that differ from where this left REV; the last commit if
 *   left out. Of generated ones none may live then that is not listed
 * - `--list-only`: says which these are, and runs nothing
 *
 * `--table FILE` takes another table of breaks. Of generated ones `--sample N` draws so many by `--seed S`, and `--thorough`
 * spends all slow tests on all that is left, listed survivors too.
 *
 * Status 0: all were caught, or of the generated ones as many as `goals` says; 1: not so, or a table that is not true any
 * more; 2: an argument is wrong.
 */
import { spawnSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import process from "node:process"
import { parseArgs } from "node:util"
import * as Runtime from "../support/Runtime.ts"
import { type Break, breaks as own } from "./Breaks.ts"
import * as Catch from "./Catch.ts"
import * as Changes from "./Changes.ts"
import * as Generated from "./Generated.ts"

const stop = (status: number, line: string): never => {
  console.error(line)
  process.exit(status)
}

const options = {
  generated: { type: "boolean" },
  thorough: { type: "boolean" },
  "list-only": { type: "boolean" },
  only: { type: "string", multiple: true },
  changed: { type: "string" },
  table: { type: "string" },
  sample: { type: "string" },
  seed: { type: "string" },
} as const

/** `--changed` alone means: since the last commit. */
const words = process.argv.slice(2).flatMap((word, i, all) =>
  word === "--changed" && (all[i + 1]?.startsWith("--") ?? true) ? [word, "HEAD"] : [word]
)
const flags = (() => {
  try {
    return parseArgs({ options, args: words }).values
  } catch (error) {
    return stop(2, `mutants: ${error instanceof Error ? error.message : error}`)
  }
})()
const number = (name: "sample" | "seed"): number | undefined => {
  const value = flags[name]
  if (value === undefined) return undefined
  return /^[1-9]\d{0,8}$/.test(value) ? Number(value) : stop(2, `mutants: --${name} must be a whole number above 0`)
}

const [sample, seed] = [number("sample"), number("seed") ?? 1]

const git = (...args: readonly string[]): string => {
  const ended = spawnSync("git", args, { cwd: Runtime.root, encoding: "utf8", maxBuffer: 1 << 28 })
  return ended.status === 0 ? ended.stdout : stop(2, `mutants: git ${args.join(" ")}: ${ended.stderr ?? ended.error}`)
}
const changed = flags.changed === undefined ? undefined : Changes.parse(
  git("diff", "--merge-base", "--unified=0", "--no-color", "--no-ext-diff", flags.changed, "--", "core", "adapters"),
)
const isAsked = (file: string): boolean =>
  (flags.only?.some((path) => file.startsWith(path)) ?? true) && (changed?.has(file) ?? true)

const table = async (path: string): Promise<readonly Break[]> => {
  const { breaks } = existsSync(Runtime.root + path) ? await import(Runtime.root + path) : {}
  return Array.isArray(breaks) ? breaks : stop(2, `mutants: ${path} is no table of breaks`)
}
const breaks = flags.table === undefined ? own : await table(flags.table)
const read = (file: string): string | undefined =>
  existsSync(Runtime.root + file) ? readFileSync(Runtime.root + file, "utf8") : undefined
const files = readdirSync(`${Runtime.root}core`, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts")).map((file) => `core/${file}`).sort()
const known = [...files, ...new Set(breaks.map(({ file }) => file))]
for (const path of flags.only ?? []) {
  if (!known.some((file) => file.startsWith(path))) stop(2, `mutants: no file begins with ${path}`)
}

/** The list of breaks. */
const list = async (): Promise<boolean> => {
  const rotten = Catch.rot(breaks, read)
  for (const line of rotten) console.log(`ROTTEN ${line}`)
  const asked = breaks.filter(({ file }) => isAsked(file))
  if (flags["list-only"] === true) {
    for (const one of asked) console.log(`${one.file}: ${one.why}\n  ${one.testFile}: ${one.test}`)
  } else if (rotten.length === 0 && asked.length > 0) {
    const wrong = await Catch.baseline(asked)
    for (const line of wrong) console.log(line)
    if (wrong.length > 0) return false
    const verdicts = await Catch.judgeAll(asked, (line) => console.log(line))
    const caught = verdicts.filter((verdict) => verdict.wrong === undefined).length
    console.log(`${caught} of ${asked.length} breaks caught by the test that is named`)
    return caught === asked.length
  }
  console.log(`${asked.length} of ${breaks.length} breaks asked for`)
  return rotten.length === 0
}

const generated = (): Promise<boolean> =>
  Generated.run({
    sources: files.filter(isAsked).map((file) => [file, read(file)!] as const),
    isAsked: ({ file, lineNumber }) => changed === undefined || Changes.has(changed, file, lineNumber),
    isPart: flags.only !== undefined || changed !== undefined,
    isStrict: changed !== undefined,
    sample,
    seed,
    isThorough: flags.thorough === true,
    isListOnly: flags["list-only"] === true,
    say: (line) => console.log(line),
  })

process.exit(await (flags.generated === true ? generated() : list()) ? 0 : 1)
