/** What an exploration ends with if the program is wrong, or cannot be explored. Owns nothing. */
import * as Data from "effect/Data"
import { read } from "./Wording.ts"

/**
 * What was wrong at the end of a schedule.
 *
 * - `prepare`: that failed, or waited for ever
 * - `stuck`: fibers of the program wait for what none of its fibers, timers and events will bring
 * - `endless`: the run had more than `maxSteps` steps
 * - `defect`: a fiber of the program, or an observer of one, died
 * - `failure`: a fiber of the program failed, and there is no `oracle` to judge that
 * - `oracle`: the oracle said so
 * - `cleanup`: closing the scope of `prepare` failed, or waited for ever
 * - `fibers`: a fiber was left that had not ended
 * - `timers`: a timer was left that was still set
 */
export type Reason =
  | "prepare"
  | "stuck"
  | "endless"
  | "defect"
  | "failure"
  | "oracle"
  | "cleanup"
  | "fibers"
  | "timers"

const told: Readonly<Record<Reason, string>> = {
  prepare: "what prepares it does not end well",
  stuck: "these wait for what nothing in the program will bring (or for a promise, a timer or a socket of the outside)",
  endless: "the run does not end within maxSteps: these were at work",
  defect: "these died",
  failure: "these failed, and no oracle says that they may",
  oracle: "the oracle says no",
  cleanup: "the scope of what prepares it does not close well",
  fibers: "these fibers have not ended",
  timers: "these left timers that are still set",
}

/** A schedule under which the program goes wrong: the simplest that was found, with what happened in it. */
export class ScheduleFailed extends Data.Error<{
  readonly reason: Reason
  /** Whom the reason is about, by name. */
  readonly fibers: ReadonlyArray<string>
  /** What was thrown or failed, where something was. */
  readonly cause: unknown
  /** The text that `Explorer.replay` runs again. */
  readonly schedule: string
  /** The same for people, a line for each turn of a fiber; of a long one the message shows the first and the last 50. */
  readonly story: ReadonlyArray<string>
  /** How many schedules were run before one failed, that one included; not those that were run to simplify it. */
  readonly schedules: number
}> {
  readonly _tag = "ScheduleFailed"
  override readonly name = "ScheduleFailed"
  override get message(): string {
    const who = this.fibers.length === 0 ? "" : `: ${this.fibers.join(", ")}`
    const why = this.cause === undefined ? "" : `\n${textOf(this.cause)}`
    const lines = short(this.story).map((line) => `  ${line}`).join("\n")
    return `${told[this.reason]}${who}, in schedule ${this.schedules}${why}\nschedule: "${this.schedule}"\n${lines}`
  }
}

/** The first and the last of many, which is what people can read. */
export const short = (many: ReadonlyArray<string>): ReadonlyArray<string> =>
  many.length <= 2 * most
    ? many
    : [...many.slice(0, most), `... ${many.length - 2 * most} more ...`, ...many.slice(-most)]
const most = 50

const textOf = (cause: unknown): string =>
  read(() => cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause))

/**
 * The program does not depend on its schedule alone, so that nothing could be concluded from exploring it.
 *
 * - `diverged`: run the same way, it did something else. It kept something from an earlier run, which `prepare` has to
 *   make anew, or it goes by a date, a random number or an id that is not Effect's own.
 * - `escaped`: a fiber began to wait for a promise, for a timer of the host or by another scheduler. When that is answered
 *   is nobody's choice, and whatever follows it is run in no schedule.
 * - `woken`: a fiber went on after the run by something from outside, such as a callback of the host.
 * - `unreadable`: `shared` threw, or showed something that cannot be read in full: one of a class with private fields, or
 *   of the platform, such as a `URL` or a `WeakMap`.
 * - `unshared`: two orders of steps that touched nothing shared came to different ends, so `shared` does not tell all.
 */
export class Uncontrolled extends Data.Error<{
  readonly reason: "diverged" | "escaped" | "woken" | "unreadable" | "unshared"
  /** The schedule up to where that was seen. */
  readonly schedule: string
  /** Who waits, or was woken. */
  readonly fiber?: string | undefined
  /** What `shared` threw, or the class that cannot be read. */
  readonly cause?: unknown
}> {
  readonly _tag = "Uncontrolled"
  override readonly name = "Uncontrolled"
  override get message(): string {
    const { cause, fiber, reason } = this
    const why = {
      diverged:
        "the program did something else when it was run the same way again: it must make all its state in prepare, " +
        "and go by no date, random number or id but Effect's",
      escaped:
        `${fiber} waits for the outside, a promise, a timer of the host or another scheduler: put an Explorer.event there`,
      woken: `${fiber} was woken from outside the program: by a promise, or by a timer or a socket of the host`,
      unreadable: `what \`shared\` shows cannot be read (${
        textOf(cause)
      }): show what it holds instead, as numbers or text`,
      unshared:
        "the program ended otherwise when steps changed places that touched nothing shared: `shared` does not " +
        "tell all that one fiber can change and another can see: show that too, or, where it lies in a closure or in a " +
        "part of Effect's made on the way, such as a merged stream, explore without `shared`",
    }
    return `${why[reason]}\nschedule: "${this.schedule}"`
  }
}

/** A text that is no schedule, or one that this program cannot follow. It says nothing of whether the program is right. */
export class InvalidSchedule extends Data.Error<{
  /** The word that could not be followed, its first 100 characters at most, and how many steps came before it. */
  readonly word: string
  readonly at: number
  /** What could have been chosen there; empty where the text itself is wrong. */
  readonly possible: ReadonlyArray<string>
}> {
  readonly _tag = "InvalidSchedule"
  override readonly name = "InvalidSchedule"
  override get message(): string {
    const where = `step ${this.at + 1} of the schedule is ${JSON.stringify(this.word)}`
    return this.possible.length === 0 ? `${where}, which is no step` : `${where}; possible: ${this.possible.join(", ")}`
  }
}
