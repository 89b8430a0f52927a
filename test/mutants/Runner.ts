/**
 * Runs each test once as it is, and then once more for each mutant that it reaches and that nobody has killed yet. So a
 * mutant costs the time of one test and not that of a process. It owns the switch that tells which mutant is on.
 *
 * A mutant is killed by a test that fails, that takes more than twenty times the steps it takes without it (`looped`), or
 * that is not through in ten times its time and a second, or in three times and five seconds, or waits for what cannot come
 * since no timer, socket or thread is left that could bring it (`hung`). After its mutants each test runs once more without:
 * what it said is void where it does not pass then.
 */
import { type RunnerTestCase, type RunnerTestFile, TestRunner, type TestRunnerConfig } from "vitest"
import { relative } from "node:path"
import process from "node:process"
import * as Runtime from "../support/Runtime.ts"
import * as Plan from "./Plan.ts"
import { global } from "./Schemata.ts"

const [plan, folder] = Plan.mine()
const reached = new Uint8Array(plan.mutants.length + 1)
let active = plan.on ?? 0
let steps = 0
let most = Infinity
// What a module does as it loads is bounded too.
let until = plan.on === undefined ? Infinity : performance.now() + 5_000
let looped = false
let thrown = 0

/** What goes on beyond its bounds is thrown out; where that is caught each time, this process ends with its whole group. */
const throwOut = (): never => {
  looped = true
  if (active > 0 && ++thrown > mostThrown) {
    Plan.tell(folder, { kind: "stuck", id: active, ...at })
    process.kill(0, "SIGKILL")
  }
  throw new Error("a mutant goes on and on")
}
const mostThrown = 100_000
let at: Plan.Title = { file: "", test: "" }

Object.assign(globalThis, {
  [global]: {
    isOn: (id: number): boolean => {
      if (looped || ++steps > most || ((steps & 1023) === 0 && performance.now() > until)) throwOut()
      reached[id] = 1
      return id === active
    },
  },
})

/** The numbers that were reached since this was asked last. */
const takeReached = (): readonly number[] => {
  const ids = [...reached.entries()].filter(([, is]) => is === 1).map(([id]) => id)
  reached.fill(0)
  steps = 0
  return ids
}

const titleOf = (test: RunnerTestCase): string => test.fullTestName
const fileOf = (test: RunnerTestCase | RunnerTestFile): string => relative(Runtime.root, test.file.filepath)

const quietly = async <A>(run: () => Promise<A>): Promise<A> => {
  const { log, error, warn } = console
  console.log = console.error = console.warn = () => {}
  try {
    return await run()
  } finally {
    Object.assign(console, { log, error, warn })
  }
}

type Body = () => unknown

/** How many of each kind keep the process alive: timers, sockets, threads, files. */
const resources = (): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return counts
}
/** Those that there were before the first test of a file. */
let usual: ReadonlyMap<string, number> = new Map()
const lookMillis = 25
/** So many looks in a row find nothing that could go on. */
const looks = 6

/** Tells once nothing is left that could go on, but for the two timers of an attempt. */
const watchStill = (tell: () => void): ReturnType<typeof setInterval> => {
  let [seen, still] = [-1, 0]
  return setInterval(() => {
    const isStill = seen === steps &&
      [...resources()].every(([kind, count]) => count <= (usual.get(kind) ?? 0) + (kind === "Timeout" ? 2 : 0))
    seen = steps
    still = isStill ? still + 1 : 0
    if (still === looks) tell()
  }, lookMillis)
}

/** Runs a test with a mutant on. Undefined where it passes all the same. A step beyond its bounds in either unit throws. */
const attempt = async (body: Body, id: number, limitMillis: number): Promise<Plan.How | undefined> => {
  const over = Promise.withResolvers<Plan.How>()
  const timer = setTimeout(over.resolve, limitMillis, "hung")
  const watch = watchStill(() => over.resolve("hung"))
  looped = false
  thrown = 0
  steps = 0
  until = performance.now() + limitMillis
  active = id
  try {
    return await Promise.race([
      over.promise,
      Promise.resolve(body()).then(() => looped ? "looped" as const : undefined),
    ])
  } catch {
    return looped ? "looped" : "failed"
  } finally {
    clearTimeout(timer)
    clearInterval(watch)
    active = 0
    until = Infinity
    looped = false
  }
}

export default class Runner extends TestRunner {
  readonly #live: Set<number>

  constructor(config: TestRunnerConfig) {
    super(config)
    const { killed } = Plan.findings(Plan.events(folder))
    this.#live = new Set(plan.tried.filter((id) => !killed.has(id)))
  }

  get #isThrough(): boolean {
    return !plan.wanted.some((id) => this.#live.has(id))
  }

  onCollected(files: RunnerTestFile[]): void {
    usual = resources()
    const ids = takeReached()
    for (const file of files) Plan.tell(folder, { kind: "loaded", file: fileOf(file), reached: ids })
  }

  async runTask(test: RunnerTestCase): Promise<void> {
    const body: Body = TestRunner.getTestFn(test)
    if (plan.on !== undefined) {
      looped = false
      until = performance.now() + Plan.aloneMillis
      return void await body()
    }
    if (this.#isThrough) return
    const [file, title] = [fileOf(test), titleOf(test)]
    const errand = plan.slow?.find((each) => each.file === file && each.test === title)
    if (plan.slow !== undefined && !errand?.ids.some((id) => this.#live.has(id))) return
    takeReached()
    const started = performance.now()
    try {
      await body()
    } catch (error) {
      Plan.tell(folder, { kind: "unfit", file, test: title })
      throw error
    }
    const millis = performance.now() - started
    const taken = steps
    const ids = takeReached()
    const isSlow = plan.slow === undefined && millis * ids.filter((id) => this.#live.has(id)).length > plan.mostMillis
    Plan.tell(folder, { kind: "ran", file, test: title, millis, isSlow, reached: ids })
    if (!isSlow) await quietly(() => this.#tryAll(test, body, errand?.ids ?? ids, { millis, taken }))
    most = Infinity
  }

  async #tryAll(
    test: RunnerTestCase,
    body: Body,
    ids: readonly number[],
    { millis, taken }: { readonly millis: number; readonly taken: number },
  ): Promise<void> {
    const [file, title] = [fileOf(test), titleOf(test)]
    const killed: number[] = []
    for (const id of ids) {
      // Where the test's own time limit has come, it would be told of no more than that.
      if (!this.#live.has(id) || test.context.signal.aborted) continue
      at = { file, test: title }
      Plan.tell(folder, { kind: "trying", id, ...at })
      most = 100_000 + 20 * taken
      const how = await attempt(body, id, Math.min(1_000 + 10 * millis, 5_000 + 3 * millis))
      if (how === undefined || test.context.signal.aborted) continue
      this.#live.delete(id)
      killed.push(id)
      Plan.tell(folder, { kind: "killed", id, how, file, test: title })
    }
    if (killed.length === 0) return
    most = Infinity
    if (await attempt(body, 0, 10_000 + 10 * millis) !== undefined) {
      Plan.tell(folder, { kind: "void", ids: killed, file, test: title })
      for (const id of killed) this.#live.add(id)
    }
  }
}
