/**
 * The generated mutants of some files: made, drawn from, tried, counted by part, and held against the list of survivors.
 */
import * as Operators from "./Operators.ts"
import * as Rounds from "./Rounds.ts"
import type { Numbered } from "./Schemata.ts"
import * as Survivors from "./Survivors.ts"

/** The share that has to be killed, by where a file is; the first that fits counts. */
export const goals: readonly (readonly [part: string, percent: number])[] = [["core/kernel", 95], ["core", 85]]

export interface Options {
  /** Files with their texts. */
  readonly sources: readonly (readonly [file: string, text: string])[]
  readonly isAsked: (mutant: Operators.Mutant) => boolean
  /** Some of the files alone, of which a share says little: it is printed and no goal is held against it. */
  readonly isPart: boolean
  /** No survivor may be unlisted. */
  readonly isStrict: boolean
  readonly sample: number | undefined
  readonly seed: number
  readonly isThorough: boolean
  readonly isListOnly: boolean
  readonly say: (line: string) => void
}

/** True where what was asked for was reached. */
export const run = async (options: Options): Promise<boolean> => {
  const { say, isListOnly } = options
  const all = options.sources.flatMap(([file, text]) => Operators.mutants(file, text))
  const list = Survivors.read()
  const reasons = Survivors.reasons(list)
  const rotten = Survivors.rot(list, all)
  for (const line of rotten) say(`ROTTEN ${line}`)
  const asked = all.filter(options.isAsked)
  const drawn = options.sample === undefined ? asked : draw(asked, options.sample, options.seed)
  const share = drawn.length < asked.length ? ` (${percent(drawn.length, asked.length)} by seed ${options.seed})` : ""
  if (isListOnly) { for (const mutant of drawn) say(Operators.name(mutant)) }
  say(`${drawn.length} of ${all.length} mutants in ${options.sources.length} files${share}`)
  if (isListOnly || drawn.length === 0) return rotten.length === 0

  const mutants = drawn.map((mutant, i): Numbered => ({ ...mutant, id: i + 1 }))
  const listed = mutants.filter((mutant) => reasons.has(Operators.name(mutant))).map(({ id }) => id)
  const { unfit, verdicts } = await Rounds.run({
    mutants,
    isThorough: options.isThorough,
    isBrief: options.isPart && !options.isThorough,
    spared: new Set(options.isThorough ? [] : listed),
    tests: Rounds.testFiles(),
    say,
  })
  for (const test of unfit) say(`UNFIT, as it fails with the switches woven in: ${test}`)
  const open = report(verdicts, reasons, say)
  const reached = tally(verdicts, reasons, say)
  if (rotten.length > 0 || (options.isStrict && open.unlisted > 0)) return false
  // With few mutants more of the tests are quick enough for each, and kill what lives through a run of all.
  return options.isStrict || options.isPart || (reached && open.stale === 0)
}

/** Tells of survivors without a reason, and of reasons without a survivor. */
const report = (
  verdicts: readonly Rounds.Verdict[],
  reasons: ReadonlyMap<string, string>,
  say: (line: string) => void,
): { readonly unlisted: number; readonly stale: number } => {
  let [unlisted, stale] = [0, 0]
  for (const { isReached, killed, mutant } of verdicts) {
    const name = Operators.name(mutant)
    const reason = reasons.get(name)
    if (killed === undefined && reason === undefined) {
      unlisted++
      say(`SURVIVED ${mutant.file}:${mutant.lineNumber}${isReached ? "" : ", and no test comes to it"}: ${name}`)
    } else if (killed !== undefined && reason !== undefined) {
      stale++
      say(`LISTED, and killed by ${killed.file}: ${killed.test}: ${name}`)
    }
  }
  return { unlisted, stale }
}

/**
 * The share of each part, without those that are listed as equivalent: no test could kill them. True where each is what its
 * goal says. R. DeMillo, R. Lipton and F. Sayward, "Hints on Test Data Selection", IEEE Computer, 1978.
 */
const tally = (
  verdicts: readonly Rounds.Verdict[],
  reasons: ReadonlyMap<string, string>,
  say: (line: string) => void,
): boolean => {
  const partOf = ({ mutant }: Rounds.Verdict): string => goals.find(([part]) => mutant.file.startsWith(`${part}/`))![0]
  const isEquivalent = ({ killed, mutant }: Rounds.Verdict): boolean =>
    killed === undefined && reasons.get(Operators.name(mutant))?.startsWith("equivalent: ") === true
  const results = goals.map(([part, goal]) => {
    const own = verdicts.filter((verdict) => partOf(verdict) === part)
    const killed = own.filter((verdict) => verdict.killed !== undefined)
    const how = (word: string): number => killed.filter((verdict) => verdict.killed?.how === word).length
    const equivalent = own.filter(isEquivalent).length
    const counted = own.length - equivalent
    if (own.length > 0) {
      say(
        `${part}: ${killed.length} of ${counted} mutants killed, ${percent(killed.length, counted)} (${
          how("looped")
        } in a ` +
          `loop, ${how("hung")} by time; goal ${goal} %); ${equivalent} more are listed as equivalent`,
      )
    }
    return killed.length * 100 >= counted * goal
  })
  return results.every(Boolean)
}

const percent = (part: number, whole: number): string => `${(100 * part / whole).toFixed(1)} %`

/** So many of all, in their order: those that come first by a number that depends on seed and place alone. */
const draw = <A>(all: readonly A[], count: number, seed: number): readonly A[] => {
  const chosen = new Set(all.map((_, i) => i).toSorted((a, b) => mixed(a, seed) - mixed(b, seed)).slice(0, count))
  return all.filter((_, i) => chosen.has(i))
}

/** The finalizer of MurmurHash3 (A. Appleby) over both. */
const mixed = (value: number, seed: number): number => {
  let h = Math.imul(value + 1, 0x9e3779b1) ^ Math.imul(seed, 0x85ebca6b)
  h = Math.imul(h ^ h >>> 16, 0x85ebca6b)
  h = Math.imul(h ^ h >>> 13, 0xc2b2ae35)
  return (h ^ h >>> 16) >>> 0
}
