/**
 * What work costs, in steps and not in time: how often the blocks of its code ran, as V8 counts them for coverage. What is
 * not JavaScript, as the search of an array, is one step. Node alone can tell, and only of functions first called after
 * this was loaded; it counts from then on.
 */
import { Session } from "node:inspector"

interface Script {
  readonly url: string
  readonly functions: ReadonlyArray<{ readonly ranges: ReadonlyArray<{ readonly count: number }> }>
}

const session = new Session()
session.connect()
session.post("Profiler.enable")
session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true })

/** What ran since this was last asked. */
const taken = (): Promise<ReadonlyArray<Script>> =>
  new Promise((resolve, reject) =>
    session.post(
      "Profiler.takePreciseCoverage",
      (error, coverage) => error === null ? resolve(coverage.result) : reject(error),
    )
  )

/** The blocks of holdfast's core and of Effect that ran in the work; the same in every run, on whatever machine. */
export const counted = async (work: () => Promise<void> | void): Promise<number> => {
  await taken()
  await work()
  let steps = 0
  for (const { functions, url } of await taken()) {
    if (!/\/(core|effect)\//.test(url)) continue
    for (const { ranges } of functions) for (const { count } of ranges) steps += count
  }
  return steps
}
