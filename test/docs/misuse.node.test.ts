/** An argument that the commands of this repository do not know: one line says so and what there is, and the status is 2. */
import { assert, it } from "vitest"
import * as Command from "../support/Command.ts"
import * as Runtime from "../support/Runtime.ts"

const known = "node, deno, bun, node22, node26"
const ofTests = "there are --quick, --runtime NAME, and those of vitest"
const ofTable = "there are --check, and with it --runtime node22|node|node26|deno|bun|edge"

const rows: ReadonlyArray<readonly [program: string, args: string, line: string]> = [
  ["support/test.ts", "--quick --runtime Deno", `test: --runtime must be one of ${known}, got Deno`],
  ["support/test.ts", "--runtime", `test: --runtime must be one of ${known}, got nothing`],
  ["support/test.ts", "--runtime node --runtime bun", "test: --runtime must be given once"],
  ["support/test.ts", "--quick --bogus", `test: Unknown option \`--bogus\`; ${ofTests}`],
  ["conformance/run.ts", "--bogus", `runtimes: Unknown option '--bogus'; ${ofTable}`],
  ["conformance/run.ts", "--runtime --check", `runtimes: Option '--runtime' argument is ambiguous; ${ofTable}`],
  ["conformance/run.ts", "--check --runtime Deno", `runtimes: no runtime Deno; ${ofTable}`],
  ["conformance/run.ts", "--runtime node", `runtimes: --runtime alone; ${ofTable}`],
]

it.each(rows)("test/%s %s", async (program, args, line) => {
  const command = [...Runtime.command("node"), `test/${program}`, ...args.split(" ")]
  const { output, status } = await Command.run(command, { cwd: Runtime.root })
  assert.deepStrictEqual([status, output.replace("node: running\n", "")], [2, `${line}\n`])
})
