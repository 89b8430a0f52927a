/** `--demo` as a user runs it. */
import { expect, it } from "vitest"
import * as GatewayProcess from "../support/GatewayProcess.ts"

it("the demo shares out what it has, refuses the flood alone, and leaks nothing", async () => {
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
  expect(Number(/^fairness: ([\d.]+) /m.exec(output)?.[1])).toBeGreaterThan(0.9)
  expect(output).toMatch(/^leaks: none\n$/m)
}, 40_000)
