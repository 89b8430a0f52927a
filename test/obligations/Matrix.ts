/**
 * What a run of the tests proves. A title that starts with ids, as in `XY-1 XY-7: a refusal changes nothing`, speaks
 * for these. An obligation is proved when a test that names it passed and none that names it failed, since a law with a
 * counterexample is no law; what was skipped proves nothing. Pure: owns nothing.
 */
import type * as Suite from "../support/Suite.ts"
import * as Register from "./Register.ts"

export type Standing =
  | "proved"
  | "a test that names it failed"
  | "every test that names it was skipped"
  | "no test names it"

export interface Row extends Register.Obligation {
  readonly standing: Standing
  /** Why it comes later, if it does. */
  readonly later: string | undefined
}

export interface Matrix {
  /** What was asked for, in the order of the register. */
  readonly rows: readonly Row[]
  /** The rows that neither are proved nor come later. */
  readonly gaps: readonly Row[]
  /** What makes the run no evidence. */
  readonly errors: readonly string[]
}

export const make = (
  register: Register.Register,
  asked: readonly string[],
  tests: readonly Suite.Test[],
): Matrix => {
  const chosen = new Set(asked)
  const statuses = new Map<string, Set<Suite.Test["status"]>>()
  for (const { title, status } of tests) {
    for (const id of ids(title)) statuses.set(id, (statuses.get(id) ?? new Set()).add(status))
  }
  const rows = register.obligations.filter(({ id }) => chosen.has(id)).map((obligation): Row => ({
    ...obligation,
    standing: standing(statuses.get(obligation.id) ?? new Set()),
    later: register.later.get(obligation.id),
  }))
  const known = new Set(register.obligations.map(({ id }) => id))
  return {
    rows,
    gaps: rows.filter((row) => row.standing !== "proved" && row.later === undefined),
    errors: [...tests.flatMap((test) => mistakes(test, known)), ...emptiness(rows)],
  }
}

export const isProof = ({ gaps, errors }: Matrix): boolean => gaps.length === 0 && errors.length === 0

/** P of N per prefix and profile, then what comes later, the gaps, the errors, and P of N in all. */
export const report = ({ rows, gaps, errors }: Matrix): readonly string[] => [
  ...[...new Set(rows.map(group))].map((name) => `${name}: ${tally(rows.filter((row) => group(row) === name))}`),
  ...rows.filter(({ later, standing }) => later !== undefined && standing !== "proved")
    .map(({ id, later }) => `later ${id}: ${later}`),
  ...gaps.map(({ id, kind, standing, text }) => `GAP ${id} (${Register.kinds[kind]}; ${standing}): ${text}`),
  ...errors.map((error) => `ERROR ${error}`),
  `${tally(rows)} obligations proved`,
]

/** The ids that a title starts with; none if it does not start with ids, one space between two, and a colon. */
export const ids = (title: string): readonly string[] =>
  /^([A-Z]+-[A-Z]?\d+ )*[A-Z]+-[A-Z]?\d+(?=: \S)/.exec(title)?.[0].split(" ") ?? []

/** The ids that stand anywhere in a text. A file whose text holds no id has no title that starts with one. */
export const mentioned = (text: string): readonly string[] => text.match(/\b[A-Z]+-[A-Z]?\d+\b/g) ?? []

const group = ({ id, profile }: Row): string => `${Register.prefix(id)} ${profile}`

const tally = (rows: readonly Row[]): string =>
  `${rows.filter(({ standing }) => standing === "proved").length} of ${rows.length}`

const standing = (statuses: ReadonlySet<Suite.Test["status"]>): Standing => {
  if (statuses.has("failed")) return "a test that names it failed"
  if (statuses.has("passed")) return "proved"
  return statuses.has("skipped") ? "every test that names it was skipped" : "no test names it"
}

const mistakes = ({ file, title, status }: Suite.Test, known: ReadonlySet<string>): readonly string[] => {
  const named = ids(title)
  const unknown = named.filter((id) => !known.has(id))
  if (unknown.length > 0) return [`${file}: the register does not know ${unknown.join(", ")} of "${title}"`]
  if (named.length > 0) return []
  const start = /^[a-z]+(?=-[a-z]?\d)/i.exec(title)?.[0].toUpperCase()
  if ([...known].some((id) => Register.prefix(id) === start)) {
    return [`${file}: "${title}" does not start with full ids, one space between two, and a colon`]
  }
  return status === "failed" ? [`${file}: "${title}" failed, and nobody knows for which id`] : []
}

const emptiness = (rows: readonly Row[]): readonly string[] => {
  if (rows.length === 0) return ["nothing is declared built"]
  const judged = rows.some(({ later, standing }) => later === undefined || standing === "proved")
  return judged ? [] : ["all that was asked for comes later"]
}
