/** A run as people read it: a line for each turn that a fiber had, with what came of it. Owns what was told so far. */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Exit from "effect/Exit"
import type { Actor } from "./ExplorerActors.ts"
import type { Words } from "./Schedule.ts"

export class Story {
  readonly #words: Words
  readonly #notes: Array<{ readonly at: number; readonly what: string }> = []
  readonly #told = new Set<Actor>()

  constructor(words: Words) {
    this.#words = words
  }

  /** Something happens in the step that was chosen by the word at `at`. */
  tell(at: number, what: string): void {
    this.#notes.push({ at, what })
  }

  met(at: number, actor: Actor, isNew: boolean): void {
    this.tell(at, `${isNew ? "starts" : "wakes"} ${this.#words.word(actor.word)}`)
  }

  passed(at: number, nanos: number): void {
    this.tell(at, `${Duration.format(Duration.nanos(BigInt(nanos)))} since the start`)
  }

  /** Those who have ended by now are not told of. */
  begin(actors: Iterable<Actor>): void {
    for (const actor of actors) if (actor.isDone) this.#told.add(actor)
  }

  /** A step is over: who has ended in it, and what the fiber that made it does now. */
  settled(at: number, actors: Iterable<Actor>, actor: Actor | undefined, isOff: boolean): void {
    for (const each of actors) {
      const exit = each.fiber.pollUnsafe()
      if (exit === undefined || this.#told.has(each)) continue
      this.#told.add(each)
      this.tell(at, `${each === actor ? "" : `${this.#words.word(each.word)} `}${ending(exit)}`)
    }
    if (isOff && actor !== undefined && !actor.isDone) this.tell(at, actor.task === undefined ? "waits" : "steps aside")
  }

  /** One line for each word of the schedule that is unlike the one before it. */
  lines(log: ReadonlyArray<number>): ReadonlyArray<string> {
    const lines: Array<string> = []
    for (let from = 0, to = 0; from < log.length; from = to) {
      while (to < log.length && log[to] === log[from]) to++
      const notes = this.#notes.filter(({ at }) => at >= from && at < to).map(({ what }) => what)
      const word = this.#words.word(log[from]!)
      const head = word === "-" ? "-  forced off" : to - from > 1 ? `${word}*${to - from}` : word
      lines.push(notes.length === 0 ? head : `${head}  ${notes.join(", ")}`)
    }
    return lines
  }
}

const ending = (exit: Exit.Exit<unknown, unknown>): string => {
  if (Exit.isSuccess(exit)) return "ends"
  if (Cause.hasDies(exit.cause)) return `dies of ${String(Cause.squash(exit.cause))}`
  return Cause.hasFails(exit.cause) ? `fails with ${String(Cause.squash(exit.cause))}` : "ends interrupted"
}
