/**
 * Tries the mutants that the plan names, each on in a process of its own from before the first module is loaded, since what
 * a module evaluates as it loads cannot be evaluated again in it. One Vitest compiles for all of them, so that such a
 * process costs half a second. A file that does not pass with none of them on judges none.
 */
import { relative } from "node:path"
import process from "node:process"
import { createVitest } from "vitest/node"
import * as Runtime from "../support/Runtime.ts"
import * as Plan from "./Plan.ts"

const [plan, folder] = Plan.mine()

const vitest = await createVitest("test", {
  root: Runtime.root,
  config: "test/mutants/vitest.config.ts",
  watch: false,
  reporters: [{}],
})

/** What a file says with one mutant on: the title of the test that fails, "" where it cannot be loaded, or undefined. */
const failure = async (file: string, on: number): Promise<string | undefined> => {
  Plan.write(folder, { ...plan, on })
  const specifications = await vitest.getRelevantTestSpecifications([file])
  // Nothing of the run before may be taken for one of this.
  vitest.state.filesMap.clear()
  vitest.state.errorsSet.clear()
  const { testModules } = await vitest.runTestSpecifications(specifications)
  const own = testModules.find(({ moduleId }) => relative(Runtime.root, moduleId) === file)
  if (own?.state() === "passed") return undefined
  return [...own?.children.allTests("failed") ?? []][0]?.fullName ?? ""
}

const sound = new Map<string, boolean>()
const isSound = async (file: string): Promise<boolean> => {
  const known = sound.get(file) ?? await failure(file, 0) === undefined
  if (!known && !sound.has(file)) Plan.tell(folder, { kind: "unfit", file, test: "all of it, in a process of its own" })
  sound.set(file, known)
  return known
}

const killed = new Map<string, number[]>()
for (const { files, id } of plan.alone) {
  for (const file of files) {
    if (!await isSound(file)) continue
    Plan.tell(folder, { kind: "trying", id, file, test: "" })
    const test = await failure(file, id)
    if (test === undefined) continue
    Plan.tell(folder, { kind: "killed", id, how: "failed", file, test })
    killed.set(file, [...killed.get(file) ?? [], id])
    break
  }
}
for (const [file, ids] of killed) {
  const test = await failure(file, 0)
  if (test !== undefined) Plan.tell(folder, { kind: "void", ids, file, test })
}
await vitest.close()
process.exit(0)
