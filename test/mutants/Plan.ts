/**
 * What one run of the tests is to try, and what came of it: a plan that the driver writes, and a log to which the tests'
 * process adds a line for each thing that happens. Both are files in a folder of their own, since either side may end.
 */
import { appendFileSync, readFileSync, writeFileSync } from "node:fs"
import process from "node:process"
import type { Numbered } from "./Schemata.ts"

export interface Plan {
  /** Every mutant that is woven in, by rising number. */
  readonly mutants: readonly Numbered[]
  /** Those to be tried, and those of them for whose sake a test is run. */
  readonly tried: readonly number[]
  readonly wanted: readonly number[]
  /** Test files in the order in which they run, from the top of the repository. */
  readonly order: readonly string[]
  /** A test that would take longer over all that it reaches is left for the second round, which runs such tests alone. */
  readonly mostMillis: number
  /** The second round: tests that were too slow for the first, and what each is to try. Undefined in the first. */
  readonly slow: readonly Errand[] | undefined
  /** Mutants that are tried in processes of their own, each with its files in their order. */
  readonly alone: readonly Solo[]
  /** The mutant that is on from the start, in a process of its own; 0 for none, and undefined in the rounds. */
  readonly on: number | undefined
}

/** One mutant and the test files that are to load with it on. */
export interface Solo {
  readonly id: number
  readonly files: readonly string[]
}

export interface Title {
  readonly file: string
  readonly test: string
}

export interface Errand extends Title {
  readonly ids: readonly number[]
}

export type How = "failed" | "looped" | "hung"

export type Event =
  /** A file's tests were collected; the numbers that loading it reached. */
  | { readonly kind: "loaded"; readonly file: string; readonly reached: readonly number[] }
  /** A test passed without any mutant. */
  | {
    readonly kind: "ran"
    readonly file: string
    readonly test: string
    readonly millis: number
    readonly isSlow: boolean
    readonly reached: readonly number[]
  }
  /** The test does not pass with the switches woven in, though none is on: it cannot judge. */
  | { readonly kind: "unfit"; readonly file: string; readonly test: string }
  | { readonly kind: "trying"; readonly id: number; readonly file: string; readonly test: string }
  /** It goes on whatever is thrown: the process has ended itself. */
  | { readonly kind: "stuck"; readonly id: number; readonly file: string; readonly test: string }
  | { readonly kind: "killed"; readonly id: number; readonly how: How; readonly file: string; readonly test: string }
  /** The test does not pass after these mutants as it did before: what it said of them is void. */
  | { readonly kind: "void"; readonly ids: readonly number[]; readonly file: string; readonly test: string }

/** What a test may take in a process that is for one mutant alone, where nobody knows what it takes without. */
export const aloneMillis = 20_000

/** The variable that names the folder of plan and log. */
export const variable = "HOLDFAST_MUTANTS"
export const file = (folder: string): string => `${folder}/plan.json`
export const log = (folder: string): string => `${folder}/log.jsonl`

export const write = (folder: string, plan: Plan): void => writeFileSync(file(folder), JSON.stringify(plan))

/** The plan of this process, and its folder. */
export const mine = (): readonly [Plan, folder: string] => {
  const folder = process.env[variable]
  if (folder === undefined) throw new Error(`${variable} names no folder: run npm run mutants`)
  return [JSON.parse(readFileSync(file(folder), "utf8")), folder]
}

export const tell = (folder: string, event: Event): void => appendFileSync(log(folder), `${JSON.stringify(event)}\n`)

/** What has happened so far. A line that is not whole is one that is just being written. */
export const events = (folder: string): readonly Event[] =>
  readFileSync(log(folder), { encoding: "utf8", flag: "a+" }).split("\n").slice(0, -1).map((line) => JSON.parse(line))

export interface SlowRun extends Title {
  readonly millis: number
  readonly reached: readonly number[]
}

/** What the log says in the end: who killed what, and what was reached by whom. */
export interface Findings {
  readonly killed: ReadonlyMap<number, Event & { readonly kind: "killed" }>
  /** Numbers whose verdict is void. */
  readonly unsure: ReadonlySet<number>
  readonly reached: ReadonlySet<number>
  /** By number: the files that reach it as they load. */
  readonly loaded: ReadonlyMap<number, readonly string[]>
  /** Slow tests, with what they reach. */
  readonly slow: readonly SlowRun[]
  readonly unfit: readonly Title[]
}

export const findings = (events: readonly Event[]): Findings => {
  const killed = new Map<number, Event & { readonly kind: "killed" }>()
  const unsure = new Set<number>()
  const reached = new Set<number>()
  const loaded = new Map<number, string[]>()
  const slow: SlowRun[] = []
  const unfit: Title[] = []
  for (const event of events) {
    switch (event.kind) {
      case "loaded":
        for (const id of event.reached) loaded.set(id, [...loaded.get(id) ?? [], event.file])
        break
      case "ran":
        for (const id of event.reached) reached.add(id)
        if (event.isSlow) slow.push(event)
        break
      case "unfit":
        unfit.push(event)
        break
      case "killed":
        killed.set(event.id, event)
        unsure.delete(event.id)
        break
      case "void":
        for (const id of event.ids) {
          if (killed.get(id)?.file !== event.file) continue
          killed.delete(id)
          unsure.add(id)
        }
    }
  }
  return { killed, unsure, reached, loaded, slow, unfit }
}
