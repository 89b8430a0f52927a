/** A process that has an Admission ends by itself when nobody waits on it. */
import { assert, describe, it } from "vitest"
import process from "node:process"
import { fileURLToPath } from "node:url"
import * as Command from "../support/Command.ts"

const script = fileURLToPath(new URL("../support/Loiterer.ts", import.meta.url))
const flags = "Deno" in globalThis ? ["run", "-A", "--node-modules-dir=manual"] : "Bun" in globalThis ? ["--bun"] : []

const play = (part: string, limitMillis = 15_000): Promise<Command.Ended> =>
  Command.run([process.execPath, ...flags, script, part], { limitMillis })

describe("a process", () => {
  it("AD-24: ends though a permit is held and never given back", async () => {
    const { output, status } = await play("hold")
    assert.deepStrictEqual([output, status], ["the end\n", 0])
  })

  it("AD-24: ends when the last waiter has left the line, though its hour is not over", async () => {
    const { output, status } = await play("leave")
    assert.deepStrictEqual([output, status], ["the end\nleft\n", 0])
  })

  it("AD-24: ends when a drain is over, and not before", async () => {
    const { output, status } = await play("drain")
    assert.deepStrictEqual([output, status], ["the end\ndrained 1\n", 0])
  })

  it("AD-20 AD-24: goes on while somebody waits", async () => {
    const { output, status } = await play("wait", 2_500)
    assert.match(output, /^the end\n\n.*killed after/)
    assert.notStrictEqual(status, 0)
  })
})
