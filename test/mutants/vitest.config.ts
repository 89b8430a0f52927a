import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { mergeConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"
import { relative } from "node:path"
import { suite } from "../../vitest.config.ts"
import * as Plan from "./Plan.ts"
import * as Schemata from "./Schemata.ts"

const [plan] = Plan.mine()
const root = fileURLToPath(new URL("../../", import.meta.url))

class Sequencer extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => plan.order.indexOf(relative(root, moduleId))
    return Promise.resolve(files.toSorted((a, b) => place(a) - place(b)))
  }
}

/** The configuration of the tests, with the mutants woven into the files that have any. */
export default mergeConfig(suite, {
  root,
  plugins: [{
    name: "mutants",
    enforce: "pre",
    load(id: string): string | undefined {
      const file = relative(root, id)
      const mutants = plan.mutants.filter((mutant) => mutant.file === file)
      return mutants.length === 0 ? undefined : Schemata.weave(file, readFileSync(id, "utf8"), mutants)
    },
  }],
  test: {
    runner: fileURLToPath(new URL("Runner.ts", import.meta.url)),
    // One file after the other, since each leaves to the next what it has not killed.
    maxWorkers: 1,
    fileParallelism: false,
    sequence: { sequencer: Sequencer },
    // What is woven depends on the plan, which is no part of the cache's key.
    fsModuleCache: false,
    dangerouslyIgnoreUnhandledErrors: true,
    testTimeout: plan.alone.length > 0 ? Plan.aloneMillis : 0,
    silent: true,
  },
})
