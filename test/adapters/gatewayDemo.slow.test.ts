/** `--demo` as a user runs it. */
import { expect, it } from "vitest"
import * as GatewayProcess from "../support/GatewayProcess.ts"

it(
  "the demo shares out what it has, refuses the flood alone, spares a provider that fails, and leaks nothing",
  async () => {
    const { code, errors, output } = await GatewayProcess.run(["--demo"])
    expect([code, errors]).toEqual([0, ""])
    expect(output.match(/^\d+\/10 s, served: /gm)).toHaveLength(10)
    const rows = [...output.matchAll(/^(alpha|bravo|charlie) +(\d+) +(\d+) +\d+ ms +\d+ ms +[\d.]+ ms$/gm)]
    expect(rows.map(([, tenant, served, refused]) => [tenant, Number(served) > 0, Number(refused) > 0])).toEqual([
      ["alpha", true, true],
      ["bravo", true, false],
      ["charlie", true, false],
    ])
    // First come, first served would come to 0.67.
    expect(Number(/^fairness: ([\d.]+) /m.exec(output)?.[1])).toBeGreaterThan(0.8)
    const events = [...output.matchAll(/^(begins to fail|is well again|circuit \w+) +(\d+\.\d\d) s$/gm)]
    const times = events.map(([, , seconds]) => Number(seconds))
    expect(times).toEqual(times.toSorted((a, b) => a - b))
    expect(events.filter(([, what]) => !what!.startsWith("circuit"))).toHaveLength(2)
    // How many probes fail in two seconds, if any, and how many calls come meanwhile, is the machine's affair; the circuit opens, tries and closes in this order.
    expect(events.flatMap(([, what]) => what!.startsWith("circuit ") ? [what!.slice(8)] : []).join(" ")).toMatch(
      /^opened( probing reopened)* probing closed$/,
    )
    const [, faulty] = /^flaky failed (\d+) calls and was spared \d+; its circuit is closed$/m.exec(output) ??
      []
    expect([Number(faulty) >= 5, Number(faulty) < 20]).toEqual([true, true])
    expect(output).toMatch(/^leaks: none\n$/m)
  },
  40_000,
)
