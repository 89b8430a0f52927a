/** A run as people read it: a line for each turn that a fiber had, with what came of it. Owns what was told so far. */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Exit from "effect/Exit"
import type { Actor } from "./ExplorerActors.ts"
import { short } from "./ExplorerFailure.ts"
import type { Words } from "./Schedule.ts"
import { read } from "./Wording.ts"

interface Note {
  /** The word of the log in whose step it was. */
  readonly at: number
  /** Whom it is about, as a word; undefined for what is nobody's. */
  readonly who: number | undefined
  readonly what: string
}

export class Story {
  readonly #words: Words
  readonly #notes: Array<Note> = []
  readonly #told = new Set<Actor>()

  constructor(words: Words) {
    this.#words = words
  }

  /** Those who have ended by now are not told of. */
  begin(actors: Iterable<Actor>): void {
    for (const actor of actors) if (actor.isDone) this.#told.add(actor)
  }

  /** A fiber goes on in a step of another, or of nobody's. */
  met(at: number, actor: Actor, isNew: boolean): void {
    this.#notes.push({ at, who: undefined, what: `${isNew ? "starts" : "wakes"} ${this.#words.word(actor.word)}` })
  }

  passed(at: number, nanos: number): void {
    const since = Duration.format(Duration.nanos(BigInt(nanos)))
    this.#notes.push({ at, who: undefined, what: `${since} since the start` })
  }

  /** A step is over: who has ended in it, and what the fiber that made it does if it is off by that. */
  settled(at: number, actors: Iterable<Actor>, off: Actor | undefined): void {
    for (const actor of actors) {
      const exit = actor.fiber.pollUnsafe()
      if (exit === undefined || this.#told.has(actor)) continue
      this.#told.add(actor)
      this.#notes.push({ at, who: actor.word, what: ending(exit) })
    }
    if (off === undefined || off.isDone) return
    this.#notes.push({ at, who: off.word, what: off.task === undefined ? "waits" : "steps aside" })
  }

  /** One line for each word of the schedule that is unlike the one before it. */
  lines(log: ReadonlyArray<number>): ReadonlyArray<string> {
    const lines: Array<string> = []
    for (let from = 0, to = 0; from < log.length; from = to) {
      while (to < log.length && log[to] === log[from]) to++
      const word = this.#words.word(log[from]!)
      const notes = this.#notes.filter(({ at }) => at >= from && at < to).map(({ what, who }) =>
        who === undefined || word.replace(/^!|:.*/g, "") === this.#words.word(who)
          ? what
          : `${this.#words.word(who)} ${what}`
      )
      const head = to - from > 1 ? `${word}*${to - from}` : word
      lines.push(
        [head, ...word === "-" ? ["forced off"] : [], ...notes.length > 0 ? [short(notes).join(", ")] : []].join("  "),
      )
    }
    return lines
  }
}

const ending = (exit: Exit.Exit<unknown, unknown>): string => {
  if (Exit.isSuccess(exit)) return "ends"
  const words = read(() => String(Cause.squash(exit.cause)))
  if (Cause.hasDies(exit.cause)) return `dies of ${words}`
  return Cause.hasFails(exit.cause) ? `fails with ${words}` : "ends interrupted"
}
