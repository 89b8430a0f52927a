/**
 * What fibers of an explored program wait for where Effect hands on a way to answer them, `Effect.callback`: something that
 * the program does, or something of the outside. Owns, for a search, what nobody has answered yet.
 *
 * Of a callback that is not Effect's own it shows only when it is answered, and nobody else than a fiber of the run, its
 * clock or an event can answer it in there: one that was answered in no schedule may wait for the outside. A wait is told
 * from others by who waits, after how many of its steps, and by the code that it waits by.
 */
import type * as Scheduler from "effect/Scheduler"
import * as Answerer from "./Answerer.ts"
import type { Actor } from "./ExplorerActors.ts"
import type { Agenda } from "./ExplorerAgenda.ts"
import type { Words } from "./Schedule.ts"

/** Who waits, and the schedule up to where it began to. */
export interface Unanswered {
  readonly fiber: string
  readonly schedule: string
}

/** A wait that goes on. */
interface Wait {
  readonly key: string
  /** How often the fiber had been interrupted by then, where an interruption ends the wait. */
  readonly interruptions: number | undefined
}

export class Waits {
  readonly #words: Words
  readonly #agenda: Agenda
  #going = new Map<Actor, Wait>()
  /** What nobody has answered; undefined once it was. */
  readonly #seen = new Map<string, Unanswered | undefined>()

  constructor(words: Words, agenda: Agenda) {
    this.#words = words
    this.#agenda = agenda
  }

  /** A run begins. */
  reset(): void {
    this.#going = new Map()
  }

  /** A fiber is off by an operation of its own, or has ended. Who it is, where it waits for the outside. */
  suspended(actor: Actor, operation: Answerer.Operation, scheduler: Scheduler.Scheduler): string | undefined {
    // By a scheduler that the program brings it goes on when that one says so.
    if (Answerer.nameOf(operation) === "Yield" && actor.fiber.cache.scheduler !== scheduler) {
      return this.#words.word(actor.word)
    }
    const answerer = this.#agenda.awaits(actor) ? undefined : Answerer.of(operation)
    const who = this.#words.word(actor.word)
    if (answerer === "outside") return who
    if (answerer === "unknown") this.#begins(actor, who, String(operation.register))
    return undefined
  }

  #begins(actor: Actor, who: string, text: string): void {
    const key = `${who} ${actor.steps} ${text}`
    if (!this.#seen.has(key)) this.#seen.set(key, { fiber: who, schedule: this.#words.print(this.#agenda.log) })
    this.#going.set(actor, { key, interruptions: actor.isInterruptible ? actor.interruptions : undefined })
  }

  /** A fiber goes on within the run: it was answered, unless it was interrupted. */
  ends(actor: Actor): void {
    const wait = this.#going.get(actor)
    if (wait === undefined) return
    this.#going.delete(actor)
    if (wait.interruptions === undefined || wait.interruptions === actor.interruptions) {
      this.#seen.set(wait.key, undefined)
    }
  }

  get unanswered(): ReadonlyArray<Unanswered> {
    return [...this.#seen.values()].filter((each) => each !== undefined)
  }
}
