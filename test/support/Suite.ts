/**
 * One run of the test suite on one runtime. It owns the report file that vitest writes, and deletes it when it has read it.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"
import * as Command from "./Command.ts"
import * as Runtime from "./Runtime.ts"

export interface Test {
  readonly file: string
  /** The titles of the suites around the test, outermost first. */
  readonly within: readonly string[]
  readonly title: string
  readonly status: "passed" | "failed" | "skipped"
}

/** What came of one run: its tests, and all that vitest and they printed. */
export interface Run {
  readonly tests: readonly Test[]
  readonly output: string
}

export interface Tally {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

/** What vitest's JSON report holds, as far as it is read here. */
interface Report {
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly assertionResults: readonly {
      readonly ancestorTitles: readonly string[]
      readonly title: string
      readonly status: string
    }[]
  }[]
}

/**
 * Runs vitest inside `runtime` with further arguments and variables. What breaks outside a test (a file that does not
 * load, an unhandled error, a run without any test, a run out of time) counts as one failed test, so that it cannot pass
 * unseen.
 */
export const run = async (
  runtime: Runtime.Name | Runtime.OtherNode,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Run> => {
  await Runtime.install(runtime)
  const folder = mkdtempSync(join(tmpdir(), "holdfast-suite-"))
  const file = join(folder, "report.json")
  const vitest = ["node_modules/vitest/vitest.mjs", "run", "--reporter=dot", "--reporter=json", `--outputFile=${file}`]
  const ended = await Command.run([...Runtime.command(runtime), ...vitest, ...args], {
    cwd: Runtime.root,
    env: { NO_COLOR: "1", ...env },
    limitMillis: 1_200_000,
  })
  const tests = read(file)
  rmSync(folder, { recursive: true })
  const sound = tests.length > 0 && (ended.status === 0 || tests.some((test) => test.status === "failed"))
  if (sound) return { tests, output: ended.output }
  const title = tests.length === 0 ? "no test ran" : `vitest ended with status ${ended.status} though no test failed`
  return { tests: [...tests, broken("vitest", title)], output: ended.output }
}

export const tally = (tests: readonly Test[]): Tally => {
  const count = (status: Test["status"]): number => tests.filter((test) => test.status === status).length
  return { passed: count("passed"), failed: count("failed"), skipped: count("skipped") }
}

/** What broke outside a test, as a failed test. */
export const broken = (file: string, title: string): Test => ({ file, within: [], title, status: "failed" })

const read = (file: string): readonly Test[] => {
  let report: Report
  try {
    report = JSON.parse(readFileSync(file, "utf8"))
  } catch {
    return []
  }
  return report.testResults.flatMap((result): readonly Test[] => {
    const name = relative(Runtime.root, result.name)
    const tests = result.assertionResults.map((test): Test => ({
      file: name,
      within: test.ancestorTitles,
      title: test.title,
      status: test.status === "passed" || test.status === "failed" ? test.status : "skipped",
    }))
    if (result.status !== "failed" || tests.some((test) => test.status === "failed")) return tests
    return [...tests, broken(name, "the file did not load")]
  })
}
