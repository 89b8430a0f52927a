/** The table of runtimes in README, made of what the tests of conformance came to: the laws that each keeps, and why not others. */
import { readFileSync } from "node:fs"
import * as Runtime from "../support/Runtime.ts"
import type { Test } from "../support/Suite.ts"

export type Column = Runtime.Name | Runtime.OtherNode | "edge"
export const columns: readonly Column[] = ["node22", "node", "node26", "deno", "bun", "edge"]

/** What came of the tests, by where they ran. */
export type Runs = Partial<Record<Column, readonly Test[]>>

/** The title of a law that does not hold, and is shown not to. */
export const titleOf = (law: string, why: string): string => `${law} (cannot: ${why})`

type Lines = Readonly<Record<Column, readonly string[]>>

const begin = "<!-- runtimes -->"
const end = "<!-- /runtimes -->"

const headOf = (column: Column): string => {
  if (column === "edge") {
    const lock = JSON.parse(readFileSync(`${Runtime.root}test/runtimes/workerd/package-lock.json`, "utf8"))
    return `workerd ${lock.packages["node_modules/workerd"].version}`
  }
  const name = column === "deno" ? "Deno" : column === "bun" ? "Bun" : "Node"
  return `${name} ${Runtime.pinned(column)}`
}

/** A law as it was met: what it is about, and why it does not hold. */
interface Met {
  readonly about: string
  readonly why: string | undefined
}

const edgeFile = "test/conformance/edge.slow.node.test.ts"

const executorFile = "test/conformance/blockingExecutor.test.ts"

/** The tests of the laws alone, which are two levels deep; and those of the executor, all about one thing. */
const metOf = (column: Column, tests: readonly Test[]): readonly Met[] =>
  tests.filter(({ file, within }) =>
    file.startsWith("test/conformance/") && (within.length === 2 || file === executorFile) &&
    (file === edgeFile) === (column === "edge")
  ).map(({ file, title, within }) => ({
    about: file === executorFile ? "blocking jobs" : within[1] ?? "",
    why: /(?:\(cannot: |cannot do so here \()(.*)\)$/.exec(title)?.[1],
  }))

/** What is wrong with a run, so that no table may be made of it. */
const faults = (column: Column, tests: readonly Test[]): readonly string[] => [
  ...tests.filter(({ status }) => status !== "passed").map(({ title }) => `${headOf(column)}: ${title}`),
  ...metOf(column, tests).length === 0 ? [`${headOf(column)}: no law was tried`] : [],
]

const none = "-"
const cell = (met: readonly Met[]): string => {
  if (met.length === 0) return none
  const kept = met.filter(({ why }) => why === undefined).length
  return kept === met.length ? `all ${kept}` : `${kept} of ${met.length}`
}

/** Each runtime's cells from the top down, and its gaps by reason. */
const parts = (runs: Runs): { readonly rows: readonly string[]; readonly cells: Lines; readonly gaps: Lines } => {
  const met = columns.map((column) => [column, metOf(column, runs[column] ?? [])] as const)
  const rows = [...new Set(met.flatMap(([, all]) => all.map(({ about }) => about)))]
  const cells = met.map(([column, all]) => [column, rows.map((row) => cell(all.filter(({ about }) => about === row)))])
  const gaps = met.map(([column, all]) => {
    const reasons = all.flatMap(({ about, why }) => why === undefined ? [] : [`${why} (${about})`])
    return [
      column,
      [...new Set(reasons)].map((reason) => {
        const times = reasons.filter((each) => each === reason).length
        return `- ${headOf(column)}: ${times === 1 ? reason : `${reason.slice(0, -1)}, ${times} laws)`}`
      }),
    ]
  })
  return { rows, cells: Object.fromEntries(cells), gaps: Object.fromEntries(gaps) }
}

/** The table, its markers included; or what has failed, one line each. */
export const make = (runs: Runs): { readonly text: string } | { readonly faults: readonly string[] } => {
  const wrong = columns.flatMap((column) => faults(column, runs[column] ?? []))
  if (wrong.length > 0) return { faults: wrong }
  const { cells, gaps, rows } = parts(runs)
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`
  const text = [
    begin,
    line(["laws kept", ...columns.map(headOf)]),
    line(["laws kept", ...columns].map(() => "---")),
    ...rows.map((row, i) => line([row, ...columns.map((column) => cells[column][i] ?? "")])),
    "",
    "What is not kept, and why:",
    "",
    ...columns.flatMap((column) => gaps[column]),
    end,
  ].join("\n")
  return { text }
}

/** The page with the table in the place of the one that it has. */
export const placed = (page: string, table: string): string => {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`README has no ${begin} … ${end}`)
  return page.slice(0, from) + table + page.slice(to + end.length)
}

/** What is out of date on the page, for the runs that there are. */
export const stale = (page: string, runs: Runs): readonly string[] => {
  const table = page.slice(page.indexOf(begin), page.indexOf(end)).split("\n")
  const told = table.filter((line) => line.startsWith("| ")).map((line) => line.slice(2, -2).split(" | "))
  const [head = [], , ...body] = told
  const { cells, gaps, rows } = parts(runs)
  return columns.filter((column) => runs[column] !== undefined).flatMap((column) => {
    const at = head.indexOf(headOf(column))
    const seen = body.map((line) => [line[0], line[at]])
    const now = rows.map((row, i) => [row, cells[column][i]])
    const sorted = (lines: typeof seen): readonly string[] =>
      lines.filter(([, cell]) => cell !== none).map((line) => line.join(": ")).toSorted()
    const reasons = table.filter((line) => line.startsWith(`- ${headOf(column)}: `))
    const same = (one: readonly string[], other: readonly string[]): boolean => one.join("\n") === other.join("\n")
    return [
      ...faults(column, runs[column] ?? []),
      ...(same(sorted(seen), sorted(now))
        ? []
        : [`README's table of runtimes is stale for ${headOf(column)}; run: npm run runtimes`]),
      ...(same(reasons, gaps[column]) ? [] : [`README's gaps of ${headOf(column)} are stale; run: npm run runtimes`]),
    ]
  })
}
