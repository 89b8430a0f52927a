/**
 * Tries mutants in rounds: first with the tests that are quick, then what is left with the slow ones that are nearest to
 * each, and at last those that only a process of their own can judge. It owns the folder of plan and log, and one process at
 * a time.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, posix } from "node:path"
import process from "node:process"
import * as Command from "../support/Command.ts"
import * as Runtime from "../support/Runtime.ts"
import * as Source from "../support/Source.ts"
import * as Plan from "./Plan.ts"
import type { Numbered } from "./Schemata.ts"

export interface Options {
  /** Those that are woven in, and the numbers of those that are tried. */
  readonly mutants: readonly Numbered[]
  /** Numbers that slow tests and processes of their own are not spent on. */
  readonly spared: ReadonlySet<number>
  /** No test is run for the sake of these alone. */
  readonly isBrief: boolean
  /** All slow tests are spent on every mutant that is left, those in `*.slow.*` too. */
  readonly isThorough: boolean
  /**
   * Test files, those to be run first ahead; those that load none of the mutated files are left out, and where these are of
   * one folder the tests nearest to it go first.
   */
  readonly tests: readonly string[]
  readonly say: (line: string) => void
}

export interface Verdict {
  readonly mutant: Numbered
  /** Who killed it, and how; undefined for a survivor. */
  readonly killed: { readonly how: Plan.How; readonly file: string; readonly test: string } | undefined
  /** False where no test has come to it. */
  readonly isReached: boolean
}

export interface Result {
  readonly verdicts: readonly Verdict[]
  /** Tests that could not judge, since they fail with the switches woven in. */
  readonly unfit: readonly string[]
}

/** What one test may take in the first round, over all its mutants. */
const mostMillis = 10_000
/** The log does not grow for so long: the process is caught in a loop that has no switch in it. */
const patienceMillis = { quick: 90_000, slow: 240_000 }

/** The folders of tests, cheapest first, that load core in their own process. */
const folders = ["kernel", "model", "core", "http", "testing", "hazard"]

/** All test files that may judge, in the order of their folders, and within one by size; sweeps last. */
export const testFiles = (): readonly string[] => {
  const isSweep = (file: string): number => +/sweep/i.test(file)
  return folders.flatMap((folder) =>
    readdirSync(`${Runtime.root}test/${folder}`).filter((name) => name.endsWith(".test.ts"))
      .map((name) => `test/${folder}/${name}`)
      .toSorted((a, b) => statSync(Runtime.root + a).size - statSync(Runtime.root + b).size)
  ).toSorted((a, b) => isSweep(a) - isSweep(b))
}

/** How many test files are spent on one mutant that needs a process of its own. */
const aloneFiles = 12
/** How many slow tests are spent on one mutant, unless it is to be thorough. */
const slowTests = 8

/**
 * Which slow test tries which mutants: for each of these so many tests, first those in the file of its own noun, then those
 * that compare with a model, then those that cost the least for what they come to.
 */
const errandsOf = (
  left: readonly Numbered[],
  slow: readonly Plan.SlowRun[],
  most: number,
): readonly Plan.Errand[] => {
  const tests = slow.map((test) => ({ ...test, reached: new Set(test.reached), ids: [] as number[] }))
    .toSorted((a, b) => a.millis / a.reached.size - b.millis / b.reached.size)
  for (const { file, id } of left) {
    const own = tests.filter(({ reached }) => reached.has(id))
    for (const { ids } of own.toSorted((a, b) => far(a.file, file) - far(b.file, file)).slice(0, most)) ids.push(id)
  }
  const errands = tests.filter(({ ids }) => ids.length > 0).map(({ file, test, ids }) => ({ file, test, ids }))
  // Those of one noun alone need the least time to tell.
  const isOfKernel = ({ file }: Plan.Errand): boolean => file.startsWith("test/kernel/")
  return errands.toSorted((a, b) => +isOfKernel(b) - +isOfKernel(a))
}

/** 0 for a test file of the mutated file's own noun, 1 for one that compares with a model, else 2. */
const far = (testFile: string, file: string): number => {
  const nounOf = (path: string): string => posix.basename(path).split(".")[0]!.toLowerCase()
  return nounOf(testFile) === nounOf(file) ? 0 : /^test\/model\/(line|admission|gate)\./.test(testFile) ? 1 : 2
}

/** 0 for the test file of a mutated file's own noun, 1 for one of its own folder, else 2. */
const away = (testFile: string, file: string): number => {
  const folder = /^core\/(kernel|http|testing)\//.exec(file)?.[1] ?? "core"
  return far(testFile, file) === 0 ? 0 : testFile.startsWith(`test/${folder}/`) ? 1 : 2
}

/**
 * Where all that is mutated is of one folder, its own tests come first, of those the ones that import it themselves, and
 * last what runs on Node alone as it takes long.
 */
const nearestFirst = (tests: readonly string[], sources: ReadonlySet<string>): readonly string[] => {
  const [first, ...others] = [...sources]
  if (first === undefined || others.some((file) => posix.dirname(file) !== posix.dirname(first))) return tests
  const ranks = new Map(tests.map((test) => {
    const { imports } = Source.read(test, readFileSync(Runtime.root + test, "utf8"))
    const nearest = Math.min(...[...sources].map((file) => away(test, file)))
    const isDirect = imports.some(({ name }) => sources.has(name))
    return [test, nearest + (isDirect ? -0.5 : 0) + (test.includes(".node.") ? 0.25 : 0)]
  }))
  return tests.toSorted((a, b) => ranks.get(a)! - ranks.get(b)!)
}

const isSlowFile = (file: string): boolean => file.includes(".slow.")

/** True where a file loads one of `targets`, by itself or through others. */
const loads = (targets: ReadonlySet<string>): (file: string) => boolean => {
  const known = new Map<string, boolean>()
  const ask = (file: string): boolean => {
    const answer = known.get(file)
    if (answer !== undefined) return answer
    known.set(file, targets.has(file))
    const path = posix.normalize(file)
    const found = targets.has(path) ||
      Source.read(path, readFileSync(Runtime.root + path, "utf8")).imports
        .some(({ name }) => /^(core|adapters|test)\/.*\.ts$/.test(name) && ask(name))
    known.set(file, found)
    return found
  }
  return ask
}

export const run = async (options: Options): Promise<Result> => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-mutants-"))
  process.once("exit", () => rmSync(folder, { recursive: true }))
  return await rounds(folder, options)
}

const rounds = async (
  folder: string,
  { isBrief, isThorough, mutants, spared, tests, say }: Options,
): Promise<Result> => {
  const sources = new Set(mutants.map(({ file }) => file))
  const files = nearestFirst(tests.filter(loads(sources)), sources)
  const all = mutants.map(({ id }) => id)
  const wanted = isBrief ? all.filter((id) => !spared.has(id)) : all
  const plan: Plan.Plan = {
    mutants,
    tried: all,
    wanted,
    order: files,
    mostMillis,
    slow: undefined,
    alone: [],
    on: undefined,
  }
  say(`${mutants.length} mutants, ${files.length} test files`)
  await round(folder, plan, files.filter((file) => !isSlowFile(file)), patienceMillis.quick)

  const first = Plan.findings(Plan.events(folder))
  const left = new Set(all.filter((id) => !first.killed.has(id) && !spared.has(id)))
  say(`${first.killed.size} killed by quick tests`)
  const errands = errandsOf(mutants.filter(({ id }) => left.has(id)), first.slow, isThorough ? Infinity : slowTests)
  if (errands.length > 0) {
    const slowFiles = [...new Set(errands.map(({ file }) => file))]
    await round(folder, { ...plan, order: slowFiles, tried: [...left], slow: errands }, slowFiles, patienceMillis.slow)
  }
  if (isThorough) {
    const slowFiles = files.filter(isSlowFile)
    if (slowFiles.length > 0) {
      await round(folder, { ...plan, mostMillis: Infinity }, slowFiles, patienceMillis.slow)
    }
  }

  const then = Plan.findings(Plan.events(folder))
  // What was evaluated as a file was loaded, and never again, has been so without the mutant, whatever the tests in it said.
  const alone = mutants.filter(({ id }) =>
    !then.killed.has(id) && !spared.has(id) && (then.unsure.has(id) || then.loaded.has(id) && !then.reached.has(id))
  )
  say(`${then.killed.size} killed with slow tests, ${alone.length} to be tried alone`)
  await judgeAlone(folder, plan, alone.map((mutant) => soloOf(mutant, then.loaded.get(mutant.id) ?? files)))

  const last = Plan.findings(Plan.events(folder))
  return {
    verdicts: mutants.map((mutant) => ({
      mutant,
      killed: last.killed.get(mutant.id),
      isReached: last.reached.has(mutant.id) || last.loaded.has(mutant.id),
    })),
    unfit: last.unfit.map(({ file, test }) => `${file}: ${test}`),
  }
}

/** The files that are nearest to a mutant, the nearest first. */
const soloOf = ({ file, id }: Numbered, files: readonly string[]): Plan.Solo => ({
  id,
  files: files.filter((test) => !isSlowFile(test)).toSorted((a, b) => away(a, file) - away(b, file)).slice(
    0,
    aloneFiles,
  ),
})

const vitest = ["node_modules/vitest/vitest.mjs", "run", "--config=test/mutants/vitest.config.ts", "--reporter=dot"]

/**
 * Runs a program on the plan to its end. Undefined where it is caught by a mutant: that is then killed, and the answer is
 * what it was just trying.
 */
const watched = async (
  folder: string,
  args: readonly string[],
  patience: number,
): Promise<{ readonly trying: Plan.Title & { readonly id: number } } | { readonly output: string }> => {
  const caught = new AbortController()
  let size = -1
  const watch = setInterval(() => {
    const grown = statSync(Plan.log(folder), { throwIfNoEntry: false })?.size ?? 0
    if (grown === size) caught.abort()
    size = grown
  }, patience)
  const { output } = await Command.run([...Runtime.command("node"), ...args], {
    cwd: Runtime.root,
    env: { NO_COLOR: "1", [Plan.variable]: folder },
    limitMillis: 86_400_000,
    signal: caught.signal,
  })
  clearInterval(watch)
  const last = Plan.events(folder).at(-1)
  if (!caught.signal.aborted && last?.kind !== "stuck") return { output }
  if (last?.kind !== "trying" && last?.kind !== "stuck") {
    throw new Error(`the tests stand still: ${JSON.stringify(last)}\n${output}`)
  }
  Plan.tell(folder, { ...last, kind: "killed", how: last.kind === "stuck" ? "looped" : "hung" })
  return { trying: last }
}

/** Runs the files to the end of the last. Where the process is caught by a mutant, it goes on with the file. */
const round = async (
  folder: string,
  plan: Plan.Plan,
  files: readonly string[],
  patience: number,
): Promise<void> => {
  Plan.write(folder, plan)
  for (let rest = files; rest.length > 0;) {
    const ended = await watched(folder, [...vitest, ...rest], patience)
    if ("trying" in ended) {
      rest = rest.slice(rest.indexOf(ended.trying.file))
    } else if (Plan.events(folder).some(({ kind }) => kind === "loaded")) {
      return
    } else {
      throw new Error(`no test ran:\n${ended.output}`)
    }
  }
}

/** Tries mutants that are evaluated as a module loads, each with the processes that `Alone.ts` starts for it. */
const judgeAlone = async (folder: string, plan: Plan.Plan, alone: readonly Plan.Solo[]): Promise<void> => {
  for (let rest = alone; rest.length > 0;) {
    Plan.write(folder, { ...plan, alone: rest })
    const ended = await watched(folder, ["test/mutants/Alone.ts"], patienceMillis.slow)
    if ("output" in ended) return
    rest = rest.slice(rest.findIndex(({ id }) => id === ended.trying.id) + 1)
  }
}
