/**
 * Whether breaks are caught, each by the test that it names. A break lives in the memory of a process of its own, so no
 * file is ever changed.
 */
import { availableParallelism } from "node:os"
import * as Suite from "../support/Suite.ts"
import type { Break } from "./Breaks.ts"

export interface Verdict {
  readonly break: Break
  /** Undefined where the named test failed, as it has to. */
  readonly wrong: string | undefined
  readonly seconds: number
}

/** What makes a table rotten: edits that find no place or several, or nothing to change, and titles that are there twice. */
export const rot = (breaks: readonly Break[], read: (file: string) => string | undefined): readonly string[] =>
  breaks.flatMap(({ file, find, replace, testFile }) => {
    const text = read(file)
    const places = text === undefined ? 0 : text.split(find).length - 1
    return [
      ...text === undefined ? [`${file} is not there`] : [],
      ...text !== undefined && places !== 1 ? [`${file} has ${places} times, not once: ${find}`] : [],
      ...find === replace ? [`${file} is not changed: ${find}`] : [],
      ...read(testFile) === undefined ? [`${testFile} is not there`] : [],
    ]
  })

/**
 * What the tests that are named say of the code as it is: each has to be there, and to pass. One may be there once for each
 * of several engines, of which any may notice.
 */
export const baseline = async (breaks: readonly Break[]): Promise<readonly string[]> => {
  const files = [...new Set(breaks.map(({ testFile }) => testFile))]
  const { tests, output } = await run(files, pattern(breaks.map(({ test }) => test)), undefined)
  const wrong = breaks.flatMap(({ test, testFile }) => {
    const own = tests.filter((each) => each.file === testFile && each.title === test)
    if (new Set(own.map(({ within }) => within.join())).size !== own.length || own.length === 0) {
      return [`${testFile} has ${own.length} tests, not one: ${test}`]
    }
    return own.filter(({ status }) => status !== "passed")
      .map(({ status }) => `${testFile}: without any break ${status}: ${test}`)
  })
  return wrong.length === 0 ? [] : [...new Set(wrong), output]
}

/** Tries one break: the named test alone and, where that passes, all of its file, to say who else would notice. */
export const judge = async (one: Break): Promise<Verdict> => {
  const started = performance.now()
  const verdict = (wrong?: string): Verdict => ({ break: one, wrong, seconds: (performance.now() - started) / 1000 })
  const isNamed = ({ file, title }: Suite.Test): boolean => file === one.testFile && title === one.test
  const own = await run([one.testFile], pattern([one.test]), one)
  const failed = failures(own.tests)
  if (failed.some(isNamed)) return verdict()
  // What does not even load shows nothing of the named test.
  if (failed.length > 0) return verdict(`it does not run: ${failed[0]?.title}`)
  const others = failures((await run([one.testFile], [], one)).tests)
  const who = others.map(({ title }) => title).join("; ")
  return verdict(others.length === 0 ? "SURVIVED" : `caught by others alone: ${who}`)
}

/** Tries all, as many at a time as there are cores, and tells of each as it is done. */
export const judgeAll = async (
  breaks: readonly Break[],
  say: (line: string) => void,
): Promise<readonly Verdict[]> => {
  const rest = [...breaks]
  const verdicts: Verdict[] = []
  const work = async (): Promise<void> => {
    for (let one = rest.shift(); one !== undefined; one = rest.shift()) {
      const verdict = await judge(one)
      verdicts.push(verdict)
      const facts = `${one.file}: ${one.why} · ${one.testFile}: ${one.test}`
      say(`${verdict.wrong ?? "caught"} ${verdict.seconds.toFixed(1)} s ${facts}`)
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, work))
  return verdicts
}

const failures = (tests: readonly Suite.Test[]): readonly Suite.Test[] =>
  tests.filter(({ status }) => status === "failed")

const pattern = (titles: readonly string[]): readonly string[] => [
  "-t",
  `(?:${[...new Set(titles)].map((title) => title.replaceAll(/[^\w ]/g, "\\$&")).join("|")})$`,
]

const run = (files: readonly string[], filter: readonly string[], one: Break | undefined): Promise<Suite.Run> =>
  Suite.run("node", ["--config=test/mutants/breaks.config.ts", ...filter, ...files], {
    HOLDFAST_BREAK: JSON.stringify(one ?? {}),
  })
