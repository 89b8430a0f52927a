/** The table of runtimes is made of tests that passed, and one that no longer says what they came to is noticed. */
import { describe, expect, it } from "vitest"
import type { Test } from "../support/Suite.ts"
import * as Table from "./Table.ts"

const test = (title: string, more: Partial<Test> = {}): Test => ({
  file: "test/conformance/sockets.test.ts",
  within: ["Sockets", "TLS"],
  title,
  status: "passed",
  ...more,
})
const edge = { file: "test/conformance/edge.slow.node.test.ts" }
const good: Table.Runs = {
  node22: [test("a")],
  node: [test("a"), test("b"), test("a", edge), test("other", { within: ["Sockets"] })],
  node26: [test("a")],
  deno: [test("a"), test(Table.titleOf("b", "it cannot")), test(Table.titleOf("c", "it cannot"))],
  bun: [test("a"), test("b", { within: ["Sockets", "ends"] })],
  edge: [test("a", edge), test("b")],
}
const made = (runs: Table.Runs): string => {
  const table = Table.make(runs)
  return "text" in table ? table.text : table.faults.join("\n")
}
const page = `above\n${made(good)}\nbelow`

describe("the table of runtimes", () => {
  it("counts the laws that each keeps, and gives the reason for those that it does not", () => {
    const rows = made(good).split("\n")
    expect(rows[1]).toMatch(
      /^\| laws kept \| Node 22\.\S+ \| Node 24\.\S+ \| Node 26\.\S+ \| Deno \S+ \| Bun \S+ \| workerd \S+ \|$/,
    )
    expect(rows[3]).toBe("| TLS | all 1 | all 2 | all 1 | 1 of 3 | all 1 | all 1 |")
    expect(rows[4]).toBe("| ends | - | - | - | - | all 1 | - |")
    expect(rows.at(-2)).toMatch(/^- Deno \S+: it cannot \(TLS, 2 laws\)$/)
  })

  it("is not made of a run that failed, nor of one that tried nothing", () => {
    expect(made({ ...good, bun: [test("a", { status: "failed" })] })).toMatch(/^Bun \S+: a$/)
    expect(made({ ...good, edge: [test("a")] })).toMatch(/^workerd \S+: no law was tried$/)
  })

  it("stands in the place of the one that the page has", () => {
    expect(Table.placed("above\n<!-- runtimes -->\nold\n<!-- /runtimes -->\nbelow", made(good))).toBe(page)
    expect(() => Table.placed("nothing", "table")).toThrow("README has no")
  })

  it("is stale where a count, a reason or a version is another by now, for the runtimes that were tried", () => {
    const { bun = [], deno = [], node = [] } = good
    expect(Table.stale(page, { node, deno })).toEqual([])
    expect(Table.stale(page, { node: [...node, test("c")] })).toEqual([
      expect.stringMatching(/table .* stale for Node 24/),
    ])
    expect(Table.stale(page, { deno: [...deno.slice(0, 2), test(Table.titleOf("c", "it will not"))] })).toEqual([
      expect.stringMatching(/gaps of Deno \S+ are stale/),
    ])
    expect(Table.stale(page.replace("Bun ", "Bun 0."), { bun }).length).toBe(1)
    expect(Table.stale(page, { bun: [] })).toContainEqual(expect.stringMatching(/no law was tried/))
  })
})
