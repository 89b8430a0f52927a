/** How far an exploration goes: its bounds, checked at the door. Owns nothing. */
import * as Effect from "effect/Effect"
import * as Limit from "../Limits.ts"
import { InvalidLimits } from "../Refusal.ts"
import type { Limits } from "./ExplorerAgenda.ts"
import { isPart } from "./ExplorerRules.ts"

/** What `explore` and `sample` have in common. */
interface Common {
  /**
   * Forced switches in a schedule: that another fiber runs though the one that ran could go on. Switches at the end of a
   * fiber and where it waits or yields are free. `Infinity` for all. "Preemption bound": M. Musuvathi, S. Qadeer,
   * "Iterative Context Bounding for Systematic Testing of Multithreaded Programs", 2007.
   */
  readonly preemptions?: number | undefined
  /** Interruptions from outside in a schedule, 0 to 100; 0 by default. They may come between any two steps. */
  readonly interruptions?: number | undefined
  /**
   * Who may be interrupted, by name; all of the program's own fibers by default. One that a fiber starts has a name too,
   * which a story shows: `a.1` is the first thing that `a` leaves to be run, and `prepare.1` the first of `prepare`. It can
   * be interrupted before it begins, too, and ends then without its finalizers, as in Effect. A name that is there in no
   * schedule is refused, at the end of a search that is through.
   */
  readonly interrupt?: ReadonlyArray<string> | undefined
  /** Steps of a run, 1 to 100,000; 1,000 by default. A run with more is a failure. */
  readonly maxSteps?: number | undefined
}

/** The bounds of a search. */
export interface Bounds extends Common {
  /** Forced switches in a schedule; 2 by default, which finds most faults, and `Infinity` for all. See {@link Common}. */
  readonly preemptions?: number | undefined
  /** Schedules that are run at most, 1 to 100,000,000; 100,000 by default. */
  readonly maxSchedules?: number | undefined
}

/** The bounds of a sample. */
export interface Sampling extends Common {
  /** A whole number; the same seed draws the same schedules. */
  readonly seed: number
  /** How many schedules are drawn, 1 to 100,000,000; 1,000 by default. */
  readonly schedules?: number | undefined
}

export interface Complete extends Limits {
  readonly schedules: number
  readonly seed: number
}

const system = "Explorer"
const most = 100_000_000
const names = ["preemptions", "interruptions", "interrupt", "maxSteps"]

export const decode = (bounds: Bounds): Effect.Effect<Complete, InvalidLimits> =>
  complete(bounds, [...names, "maxSchedules"], { preemptions: 2, schedules: 100_000, limit: "maxSchedules" })

export const decodeSampling = (sampling: Sampling): Effect.Effect<Complete, InvalidLimits> =>
  complete(sampling, [...names, "seed", "schedules"], { preemptions: Infinity, schedules: 1_000, limit: "schedules" })

interface Given extends Common {
  readonly maxSchedules?: number | undefined
  readonly schedules?: number | undefined
  readonly seed?: number | undefined
}

const complete = (
  given: Given,
  known: ReadonlyArray<string>,
  defaults: { readonly preemptions: number; readonly schedules: number; readonly limit: "maxSchedules" | "schedules" },
): Effect.Effect<Complete, InvalidLimits> =>
  Effect.gen(function* () {
    const stranger = unknown(given, known)
    if (stranger !== undefined) return yield* Effect.fail(stranger)
    const count = (limit: string, value: number, min: number, max: number): Effect.Effect<number, InvalidLimits> =>
      Effect.fromResult(Limit.count(system, limit, value, { min, max }))
    const preemptions = given.preemptions ?? defaults.preemptions
    if (preemptions !== Infinity) yield* count("preemptions", preemptions, 0, most)
    const { limit } = defaults
    const isSample = limit === "schedules"
    const interruptions = yield* count("interruptions", given.interruptions ?? 0, 0, 100)
    const { interrupt } = given
    const isList = Array.isArray(interrupt) && interrupt.every((name) => typeof name === "string")
    if (interrupt !== undefined && !(isList && interrupt.length > 0 && interruptions > 0)) {
      const rule = isList && interrupt.length > 0
        ? "given with interruptions of 1 at least"
        : "a list of names, of one at least"
      return yield* Effect.fail(new InvalidLimits({ system, limit: "interrupt", rule, value: interrupt }))
    }
    return {
      preemptions,
      interruptions,
      targets: given.interrupt === undefined ? "own" : new Set(given.interrupt),
      alike: new Set<string>(),
      maxSteps: yield* count("maxSteps", given.maxSteps ?? 1_000, 1, 100_000),
      schedules: yield* count(limit, given[limit] ?? defaults.schedules, 1, most),
      seed: isSample ? yield* count("seed", given.seed!, -most, most) : 0,
    }
  })

/** What is no bound of those that are known. */
const unknown = (given: Given, known: ReadonlyArray<string>): InvalidLimits | undefined => {
  if (typeof given !== "object" || given === null) {
    return new InvalidLimits({ system, limit: "bounds", rule: "an object", value: given })
  }
  const stranger = Object.entries(given).find(([name]) => !known.includes(name))
  if (stranger === undefined) return undefined
  const [limit, value] = stranger
  const rule = isPart(limit) ? "in the program, which is the first argument" : `one of the bounds ${known.join(", ")}`
  return new InvalidLimits({ system, limit, rule, value })
}
