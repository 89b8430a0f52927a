/** Rows as tables for people. Owns nothing. */
import * as Goals from "./Goals.ts"
import * as Holdfast from "./Holdfast.ts"
import type { Group, Row } from "./Row.ts"

const titles: Readonly<Record<Group, string>> = {
  A: "Uncontended: a permit is free, one caller at a time",
  B: "Contended: waiters behind held permits, cost a waiter of queueing and being served",
  C: "Keyed: many tenants, what they cost and what they leave behind",
  D: "Cancelled: cost of a waiter that leaves the line",
  E: "Executed: a job on a worker thread, there and back",
  F: "Guarded: a breaker and a bulkhead around a call, and the price of a refusal",
  G: "Fairness: who is served",
  H: "HTTP/1.1 and HTTP/2: what a request costs the client's process",
  K: "Dialled: what a socket costs over the runtime's own",
  I: "Bundled: gzip over Effect alone, and what an import costs",
  J: "Explored: what a schedule costs, in CPU",
}

type Cell = (row: Row) => string
const columns: Readonly<Record<string, Cell>> = {
  "subject": (row) => row.subject,
  "case": (row) => row.case,
  "ns an op": ({ nsPerOp }) => show(nsPerOp),
  "x floor": ({ ratioToFloor }) => show(ratioToFloor),
  "95 % below": ({ ratioHigh }) => show(ratioHigh),
  "growth a decade": ({ growth }) => show(growth),
  "x floor's, 95 % below": ({ growthHigh }) => show(growthHigh),
  "bytes": ({ bytes }) => show(bytes),
  "figure": ({ figure }) => show(figure),
  "figure, 95 % below": ({ figureHigh }) => show(figureHigh),
}

/** One group on one runtime; columns that say nothing are left out. */
export const group = (
  name: Group,
  runtime: string,
  rows: ReadonlyArray<Row>,
): string => {
  const own = rows.filter((row) => row.group === name && row.runtime === runtime)
  const used = Object.entries(columns).filter(([, cell]) => own.some((row) => cell(row) !== ""))
  const body = own.map((row) => used.map(([, cell]) => cell(row)))
  return `## ${name} on ${runtime}. ${titles[name]}\n\n${table(used.map(([head]) => head), body)}`
}

/** The goals of the groups that ran, a column a runtime that measures them; and how many were reached. */
export const goals = (rows: ReadonlyArray<Row>): string => {
  const runtimes = [...new Set(rows.map((row) => row.runtime))]
  let count = 0
  let good = 0
  const body: Array<ReadonlyArray<string>> = []
  for (
    const goal of Goals.goals.filter(({ group }) => rows.some((row) => row.group === group))
  ) {
    const cells = runtimes.map((runtime) => {
      const value = Goals.measured(goal, rows, runtime)
      if (value === undefined) return ""
      count++
      if (Goals.reached(goal, value)) good++
      return `${show(value)} ${Goals.reached(goal, value) ? "reached" : "NOT reached"}`
    })
    body.push([
      goal.group,
      goal.subject ?? Holdfast.name,
      goal.case,
      goal.says,
      ...cells,
    ])
  }
  const head = ["group", "subject", "case", "goal", ...runtimes]
  return `## Goals, by the upper end of the 95 % interval\n\n${table(head, body)}\n\n${good} of ${count} reached`
}

const table = (
  head: ReadonlyArray<string>,
  body: ReadonlyArray<ReadonlyArray<string>>,
): string => {
  const widths = head.map((title, i) => Math.max(title.length, ...body.map((cells) => cells[i]?.length ?? 0)))
  const line = (cells: ReadonlyArray<string>): string =>
    `| ${cells.map((cell, i) => pad(cell, widths[i] ?? 0)).join(" | ")} |`
  return [
    line(head),
    `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`,
    ...body.map(line),
  ].join("\n")
}

const pad = (cell: string, width: number): string =>
  /^[\d.,]+( |$)/.test(cell) && !cell.includes("permit") ? cell.padStart(width) : cell.padEnd(width)

/** Three digits that count. */
const show = (value: number | undefined): string => {
  if (value === undefined) return ""
  if (value >= 1000) return Math.round(value).toLocaleString("en-US")
  return String(Number(value.toPrecision(3)))
}
