/**
 * The list of mutants that survive, each with its reason, and what of it is no longer true. Owns the file `survivors.json`.
 */
import { readFileSync } from "node:fs"
import * as Operators from "./Operators.ts"

/** The kinds of reasons, which are their first words. All but the first count as not killed. */
export const kinds = {
  equivalent: "no test could kill it, since nothing that can be observed differs: it is taken out of the share",
  choice: "what differs is left open by the specification and the documentation",
  cost: "only time or memory differs",
  bound: "a limit, a default or a count moves by one, which no test counts out",
  words: "only the text or a fact of a message differs",
  guard: "it is there for what nobody who keeps the types and the documented order can bring about",
  platform:
    "a real socket, thread or process alone shows it: the tests of the adapters look there, which no mutant is tried on",
  open: "it could be told apart, and nobody has written that test",
} as const

/** A mutant by what names it, and why no test kills it: one of {@link kinds}, a colon, and what it shows. */
export interface Survivor extends Pick<Operators.Mutant, "file" | "line" | "text" | "replacement"> {
  readonly nth?: number
  readonly reason: string
}

export const read = (from: URL = new URL("survivors.json", import.meta.url)): readonly Survivor[] =>
  JSON.parse(readFileSync(from, "utf8"))

export const nameOf = (survivor: Survivor): string => Operators.name({ nth: 1, ...survivor })

/** Reasons by the name of a mutant. */
export const reasons = (list: readonly Survivor[]): ReadonlyMap<string, string> =>
  new Map(list.map((survivor) => [nameOf(survivor), survivor.reason]))

/**
 * What is wrong with the list: an entry without a reason, one that is there twice, and one that names no mutant of a file
 * that was looked at.
 */
export const rot = (list: readonly Survivor[], mutants: readonly Operators.Mutant[]): readonly string[] => {
  const files = new Set(mutants.map(({ file }) => file))
  const names = new Set(mutants.map(Operators.name))
  const seen = new Set<string>()
  return list.flatMap((survivor) => {
    const name = nameOf(survivor)
    const isTwice = seen.has(name)
    seen.add(name)
    return [
      ...isTwice ? [`listed twice: ${name}`] : [],
      ...survivor.reason.trim() === "" ? [`listed without a reason: ${name}`] : [],
      ...files.has(survivor.file) && !names.has(name) ? [`listed, and not there: ${name}`] : [],
    ]
  })
}
