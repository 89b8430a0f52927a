/**
 * The fibers that a run has met, under names that are the same in every run, and the queue of what is ready to go on
 * with them. Owns both until the next run.
 */
import type * as Fiber from "effect/Fiber"
import type { Words } from "./Schedule.ts"

export type AnyFiber = Fiber.Fiber<unknown, unknown>

/** Something that Effect, or the clock, left to be run. */
export interface Task {
  readonly kind: "task"
  readonly run: () => void
  word: number
  /** Whom it goes on with; undefined for the start of a fiber, and for what may wake several. */
  actor: Actor | undefined
  /** Whether it is known that `actor` goes on by it: it sleeps, or has stepped aside. A guess while it still runs. */
  sure: boolean
  /** A wake-up whose instant has come: time stands still until it has run. */
  readonly isDue: boolean
}

export interface Interruption {
  readonly kind: "interruption"
  readonly actor: Actor
  readonly word: number
}

interface Noted {
  readonly interruptible?: boolean
  readonly _interruptedCause?: { readonly reasons: ReadonlyArray<unknown> }
  readonly _observers?: ReadonlyArray<unknown>
}
const none: ReadonlyArray<unknown> = []

/** A fiber in its part. */
export class Actor {
  readonly fiber: AnyFiber
  readonly word: number
  /** What it goes on with, where that is in the queue. */
  task: Task | undefined = undefined
  /**
   * The first turns of its loop only fetch what it was about to do: `"there"` where it was forced off, `"atWork"` where it
   * begins, which is where it does something.
   */
  resuming: "there" | "atWork" | undefined = undefined
  steps = 0
  /** How many it had made when it was last interrupted from outside. */
  interruptedAt: number | undefined = undefined
  /** It is one of the program's own that has not been chosen yet. */
  isFresh = false
  /** It is one of those of whom it does not matter who is who. */
  isAlike = false
  /** How many fibers it started and other things it left to be run. */
  offspring = 0
  /** One of the program's own, of which no fiber has a handle. */
  isOwn = false
  /** For one that may be interrupted from outside. */
  interruption: Interruption | undefined = undefined

  constructor(fiber: AnyFiber, word: number) {
    this.fiber = fiber
    this.word = word
  }

  /** The first turn of its loop, or of one after a wait. */
  begun(): void {
    // Whose first turns did nothing has stepped aside before it was at work, and goes on as anybody does.
    if (!this.isFresh && this.resuming === "atWork") this.resuming = undefined
    this.isFresh = false
  }

  get isDone(): boolean {
    return this.fiber.pollUnsafe() !== undefined
  }

  // Effect's own notes, which it gives to nobody.

  /** How often it was interrupted, also where it has not taken notice. */
  get interruptions(): number {
    return (this.fiber as Noted)._interruptedCause?.reasons.length ?? 0
  }

  get isInterruptible(): boolean {
    return (this.fiber as Noted).interruptible === true
  }

  /** Who is told, in that order, once it has ended. */
  get observers(): ReadonlyArray<unknown> {
    return (this.fiber as Noted)._observers ?? none
  }
}

export class Actors {
  readonly ready: Array<Task> = []
  readonly #words: Words
  #all = new Map<AnyFiber, Actor>()
  #orphans = 0
  #last: Actor | undefined = undefined

  constructor(words: Words) {
    this.#words = words
  }

  reset(): void {
    // A map that is cleared keeps its old table linked to the new one, and with it every run that was promoted on the heap.
    this.#all = new Map()
    this.ready.length = 0
    this.#orphans = 0
    this.#last = undefined
  }

  get all(): Iterable<Actor> {
    return this.#all.values()
  }

  /** Who has not ended, by name. */
  get alive(): ReadonlyArray<string> {
    return [...this.all].filter((actor) => !actor.isDone).map(({ word }) => this.#words.word(word))
  }

  /** The actor of a fiber that was met before. */
  of(fiber: AnyFiber | undefined): Actor | undefined {
    // Nine times in ten it is the one that was asked for before.
    if (fiber === this.#last?.fiber) return this.#last
    const actor = this.#all.get(fiber!)
    if (actor !== undefined) this.#last = actor
    return actor
  }

  meet(fiber: AnyFiber, word: number): Actor {
    const actor = new Actor(fiber, word)
    this.#all.set(fiber, actor)
    return this.#last = actor
  }

  mayBeInterrupted(actor: Actor): void {
    const word = this.#words.id(`!${this.#words.word(actor.word)}`)
    actor.interruption = { kind: "interruption", actor, word }
  }

  /** The name of what `parent` starts or leaves to be run; of what nobody started, where there is no parent. */
  offspring(parent: Actor | undefined): number {
    if (parent === undefined) return this.#words.id(`main.${++this.#orphans}`)
    return this.#words.id(`${this.#words.word(parent.word)}.${++parent.offspring}`)
  }

  /** The fiber went on after it had left this to be run: it is for somebody else. */
  disown(task: Task, actor: Actor): void {
    actor.task = undefined
    task.actor = undefined
    task.word = this.offspring(actor)
  }

  remove(task: Task): void {
    const at = this.ready.indexOf(task)
    if (at >= 0) this.ready.splice(at, 1)
  }
}
