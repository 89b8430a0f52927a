/** A process that has an Admission ends by itself when nobody waits on it. Each runtime is asked as a process of its own. */
import { assert, describe, it } from "vitest"
import * as Command from "../support/Command.ts"
import * as Runtime from "../support/Runtime.ts"

const program = (body: string) => `
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Admission from "./core/Admission.ts"
import * as Deadline from "./core/Deadline.ts"
const admission = Effect.runSync(Scope.provide(Admission.make({ maxRunning: 1, maxWait: "1 hour" }), Scope.makeUnsafe()))
const permit = Effect.runSync(Scope.provide(admission.enter({ tenant: "a" }), Scope.makeUnsafe()))
${body}
console.log("the end")
`

const ends = (name: Runtime.Name, body: string, limitMillis = 10_000): Promise<Command.Ended> => {
  const [file = "", ...args] = Runtime.command(name)
  const run = name === "deno" ? ["eval", "--ext=ts", ...args.filter((arg) => /^--(cond|node-mod)/.test(arg))] : [...args]
  const evaluate = name === "node" ? ["--input-type=module", "-e"] : name === "bun" ? ["-e"] : []
  return Command.run([file, ...run, ...evaluate, program(body)], { cwd: Runtime.root, limitMillis })
}

describe("a process", () => {
  it("AD-24: ends though a permit is held and never given back", async () => {
    const { output, seconds, status } = await ends("node", "")
    assert.deepStrictEqual([output, status], ["the end\n", 0])
    assert.isBelow(seconds, 8)
  })

  it("AD-24: ends when the last waiter has left the line, though its hour is not over", async () => {
    const { output, status } = await ends(
      "node",
      `const waiter = Effect.runFork(admission.run({ tenant: "b" })(Effect.void))
       setTimeout(() => { waiter.interruptUnsafe(); console.log("left") }, 50)`,
    )
    assert.deepStrictEqual([output, status], ["the end\nleft\n", 0])
  })

  it("AD-24: ends when a drain is over, and not before", async () => {
    const { output, status } = await ends(
      "node",
      `Effect.runPromise(Effect.flatMap(Deadline.after("100 millis"), (deadline) => admission.drain(deadline)))
         .then(({ held }) => console.log("drained", held))`,
    )
    assert.deepStrictEqual([output, status], ["the end\ndrained 1\n", 0])
  })

  it("AD-24: goes on while somebody waits", async () => {
    const { output, status } = await ends("node", `Effect.runFork(admission.run({ tenant: "b" })(Effect.void))`, 1_500)
    assert.include(output, "killed after")
    assert.notStrictEqual(status, 0)
  })
})
