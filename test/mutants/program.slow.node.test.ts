/** `npm run mutants` as a command: its statuses, and that a break that survives is one of them. */
import { assert, it } from "vitest"
import * as Command from "../support/Command.ts"
import * as Runtime from "../support/Runtime.ts"

const command = (...args: readonly string[]): Promise<Command.Ended> =>
  Command.run([...Runtime.command("node"), "test/mutants/run.ts", ...args], { cwd: Runtime.root })

it("a break that no test notices makes the status 1, though another is caught", async () => {
  const { output, status } = await command("--table", "test/mutants/Planted.ts")
  assert.match(output, /^caught .* what was retired is current/m)
  assert.match(output, /^SURVIVED .* nothing/m)
  assert.match(output, /^1 of 2 breaks caught by the test that is named$/m)
  assert.strictEqual(status, 1)
})

it(
  "a generated mutant that survives is told, and those that are killed are counted",
  async () => {
    const { output, status } = await command("--generated", "--only", "core/kernel/Epoch.ts", "--sample", "8")
    assert.match(output, /^8 of \d+ mutants in 1 files \(\d+\.\d % by seed 1\)$/m)
    assert.match(output, /^core\/kernel: \d of 8 mutants killed/m)
    assert.strictEqual(status, 0)
  },
)

it("a wrong argument makes the status 2", async () => {
  const tables = ["test/Nothing.ts", "core/mod.ts"].map((path) => ["--table", path])
  for (const args of [["--only", "core/Nothing"], ["--sample", "0"], ["--unknown"], ...tables]) {
    assert.strictEqual((await command(...args)).status, 2)
  }
})
