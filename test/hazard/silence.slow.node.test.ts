/**
 * A peer that is gone without a word, on every runtime, where a network of one's own can be made. On each a program in such a
 * network keeps all laws, many at a time: it takes as long as the system does to give a dial up, 3 s, most of it idle.
 */
import { assert, beforeAll, describe, it } from "vitest"
import { silenceGaps } from "../conformance/gaps.ts"
import { lateLaws, laws } from "../conformance/SilenceLaws.ts"
import { titleOf } from "../conformance/Table.ts"
import * as Command from "../support/Command.ts"
import * as Runtime from "../support/Runtime.ts"
import * as SilentPeer from "../support/SilentPeer.ts"

const runtimes = [...Runtime.names, ...Runtime.otherNodes]
const gapsOf = (runtime: Runtime.Name | Runtime.OtherNode) =>
  silenceGaps[runtime === "deno" || runtime === "bun" ? runtime : "node"]
const names = [...laws, ...lateLaws].map(({ name }) => name)

/** What is wrong with each law; null where it holds. */
type Faults = ReadonlyMap<string, string | null>

const run = async (runtime: Runtime.Name | Runtime.OtherNode): Promise<Faults> => {
  await Runtime.install(runtime)
  const program = [...Runtime.command(runtime), `${Runtime.root}test/conformance/SilenceProgram.ts`]
  const { output, status } = await Command.run(SilentPeer.command(program), { limitMillis: 100_000 })
  const lines = output.split("\n").filter((line) => line.startsWith("{")).map((line) => JSON.parse(line))
  const faults = new Map<string, string | null>(lines.map(({ fault, name }) => [name, fault]))
  return faults.set("the program", status === 0 ? null : output)
}

const why = await SilentPeer.unavailable()

describe("a peer that is gone without a word", () => {
  it("has no gap but in a law that there is", () => {
    const gaps = runtimes.flatMap((runtime) => Object.keys(gapsOf(runtime)))
    assert.deepStrictEqual(gaps.filter((name) => !names.includes(name)), [])
  })

  if (why !== undefined) {
    it("no network of one's own can be made here, so nothing was tried", async () => {
      assert.strictEqual(await SilentPeer.unavailable(), why)
    })
    return
  }

  const faults = new Map<string, Faults>()
  beforeAll(async () => {
    await Promise.all(runtimes.map(async (runtime) => faults.set(runtime, await run(runtime))))
  }, 300_000)

  describe.each(runtimes)("on %s", (runtime) => {
    const cannot = gapsOf(runtime)
    it("the program comes to its end", () => assert.isNull(faults.get(runtime)?.get("the program")))
    for (const name of names) {
      const reason = cannot[name]
      const fault = () => faults.get(runtime)?.get(name)
      if (reason === undefined) it(name, () => assert.isNull(fault()))
      // All else of the law comes before the word for it.
      else it(titleOf(name, reason), () => assert.match(`${fault()}`, /^Broken: fault: /, "is it no gap any more?"))
    }
  })
})
