/**
 * The register of obligations: what holdfast promises, numbered, in one file a prefix (`AD.json`, …), and what of it is
 * declared built (`built.json`). Read once, never written.
 */
import { readdirSync, readFileSync } from "node:fs"

export const kinds = { S: "safety", L: "liveness", B: "bound", X: "secrecy" } as const
export const profiles = ["single", "fleet", "multi-isolate"] as const
export type Kind = keyof typeof kinds
/** What has to run for the obligation to be broken: one process, several processes, or several isolates of one. */
export type Profile = typeof profiles[number]

export interface Obligation {
  readonly id: string
  readonly kind: Kind
  readonly text: string
  readonly profile: Profile
}

export interface Register {
  /** By file, and in the order of the file. */
  readonly obligations: readonly Obligation[]
  /** Every id that is declared built, the later ones included. */
  readonly built: readonly string[]
  /** Why an id that is declared built comes later; it is counted, but its absence is no gap. */
  readonly later: ReadonlyMap<string, string>
}

/** The parsed files by name. Nothing is known of their shape. */
export type Files = Readonly<Record<string, unknown>>

export const read = (folder: URL = new URL("./", import.meta.url)): Files =>
  Object.fromEntries(
    readdirSync(folder).filter((name) => name.endsWith(".json")).sort()
      .map((name) => [name, JSON.parse(readFileSync(new URL(name, folder), "utf8"))]),
  )

/** The register in `files`, and what is wrong with them. With a fault the register is not to be relied on. */
export const parse = (files: Files): { readonly register: Register; readonly faults: readonly string[] } => {
  const faults: string[] = []
  const obligations = Object.entries(files).filter(([name]) => name !== declarations).flatMap(([name, content]) => {
    const sound = list(content, name, faults).flatMap((entry) => obligation(entry, name, faults))
    faults.push(...outOfSeries(sound, name))
    return sound
  })
  const declared = files[declarations]
  if (!isRecord(declared)) {
    return { register: { obligations, built: [], later: new Map() }, faults: [...faults, absent] }
  }
  const words = list(declared["built"], `${declarations}: built`, faults).map(String)
  const { ids: built, unknown } = select(obligations, words)
  for (const word of unknown) faults.push(`${declarations}: built names ${word}, which is no id and no prefix`)
  const later = new Map<string, string>()
  for (const entry of list(declared["later"], `${declarations}: later`, faults)) {
    const { id, why } = isRecord(entry) ? entry : {}
    if (filled(id) && filled(why) && built.includes(id) && !later.has(id)) later.set(id, why)
    else {faults.push(
        `${declarations}: not one id that is declared built and why it comes later: ${JSON.stringify(entry)}`,
      )}
  }
  return { register: { obligations, built, later }, faults }
}

/** The prefix of an id: `HP` of `HP-S3`. */
export const prefix = (id: string): string => id.slice(0, id.indexOf("-"))

/** The ids that `words` (prefixes and single ids) ask for, in the register's order, and the words that ask for none. */
export const select = (
  obligations: readonly Obligation[],
  words: readonly string[],
): { readonly ids: readonly string[]; readonly unknown: readonly string[] } => {
  const asksFor = (word: string) => ({ id }: Obligation): boolean => word === id || word === prefix(id)
  return {
    ids: obligations.filter((each) => words.some((word) => asksFor(word)(each))).map(({ id }) => id),
    unknown: words.filter((word) => !obligations.some(asksFor(word))),
  }
}

const declarations = "built.json"
const absent = `${declarations} is no object`
const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
const filled = (value: unknown): value is string => typeof value === "string" && /^\S(.*\S)?$/.test(value)

const list = (value: unknown, name: string, faults: string[]): readonly unknown[] => {
  if (Array.isArray(value)) return value
  faults.push(`${name} is no array`)
  return []
}

const obligation = (entry: unknown, file: string, faults: string[]): readonly Obligation[] => {
  const { id, kind, text, profile, ...rest } = isRecord(entry) ? entry : {}
  const wrong = [
    ...(filled(id) && /^[A-Z]+-[A-Z]?[1-9]\d*$/.test(id) ? [] : ["id"]),
    ...(typeof kind === "string" && Object.hasOwn(kinds, kind) ? [] : ["kind"]),
    ...(filled(text) ? [] : ["text"]),
    ...(profiles.some((name) => name === profile) ? [] : ["profile"]),
    ...Object.keys(rest),
  ]
  if (wrong.length === 0) return [{ id, kind, text, profile } as Obligation]
  faults.push(`${file}: wrong ${wrong.join(", ")} in ${JSON.stringify(entry)}`)
  return []
}

/** Numbers of a series (`HP-S`, `HP-L`) count from 1 in the order of the file, so that none is lost or there twice. */
const outOfSeries = (sound: readonly Obligation[], file: string): readonly string[] => {
  const last = new Map<string, number>()
  return sound.flatMap(({ id }) => {
    const series = id.replace(/\d+$/, "")
    const number = Number(id.slice(series.length))
    const due = (last.get(series) ?? 0) + 1
    last.set(series, number)
    if (`${prefix(id)}.json` !== file) return [`${file}: ${id} is in the wrong file`]
    return number === due ? [] : [`${file}: ${id} stands where ${series}${due} is due`]
  })
}
