/** A process that has an Admission ends by itself when nobody waits on it. */
import { assert, describe, it } from "vitest"
import * as Effect from "effect/Effect"
import { fileURLToPath } from "node:url"
import * as Ending from "../../adapters/shared/testing/Ending.ts"

const script = fileURLToPath(new URL("../support/Loiterer.ts", import.meta.url))
const flags = "Deno" in globalThis ? ["run", "-A", "--node-modules-dir=manual"] : "Bun" in globalThis ? ["--bun"] : []

const play = (part: string) => Ending.byItself({ command: [...flags, script, part], within: "45 seconds" })
const ends = async (part: string, output: string): Promise<void> =>
  assert.deepStrictEqual(await Effect.runPromise(play(part)), { output, code: 0 })

describe("a process", () => {
  it("AD-24: ends though a permit is held and never given back", () => ends("hold", "the end\n"))

  it("AD-24: ends when the last waiter has left the line, though its hour is not over", () =>
    ends("leave", "the end\nleft\n"))

  it("AD-24: ends when a drain is over, and not before", () => ends("drain", "the end\ndrained 1\n"))

  it("AD-20 AD-24: goes on while somebody waits", async () => {
    const waits = Ending.byItself({ command: [...flags, script, "wait"], within: "5 seconds" })
    const stays = await Effect.runPromise(Effect.flip(waits))
    assert.deepInclude(stays, { _tag: "DoesNotEnd", output: "the end\n" })
  })
})
