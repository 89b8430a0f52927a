/**
 * What may come next in a run, what is chosen of it, and how much of the bounds is left. Owns the log of the run and what
 * is awaited from outside.
 */
import type { Chooser } from "./Chooser.ts"
import type { Actor, Actors, Interruption, Task } from "./ExplorerActors.ts"
import type { ExplorerClock } from "./ExplorerClock.ts"
import type { Turn } from "./ExplorerContext.ts"
import type { Words } from "./Schedule.ts"

/** Something that `actor` awaits from outside, with one of its outcomes. */
export interface Happening {
  readonly kind: "happening"
  readonly actor: Actor
  readonly word: number
  readonly run: () => void
}

const time = { kind: "time" } as const

export type Act = Task | Happening | Interruption | typeof time

export interface Limits {
  readonly preemptions: number
  readonly interruptions: number
  readonly maxSteps: number
  /** Who may be interrupted: every fiber of the program's own, every one that has begun at all, or those of these names. */
  readonly targets: ReadonlySet<string> | "own" | "any"
  /** Those of whom it does not matter who is who. */
  readonly alike: ReadonlySet<string>
  /** Every turn of a loop is a step, and nothing is left out because it could not matter: what pruning is compared with. */
  readonly isPlain?: boolean | undefined
}

/** `"goesOn"`, or what the fiber goes off for: `"off"` for another one. `"lost"` where the chooser knows no further. */
export type Decision = "goesOn" | "off" | "lost" | Interruption | typeof time

export class Agenda {
  readonly #words: Words
  readonly #actors: Actors
  readonly #clock: ExplorerClock
  readonly #limits: Limits
  readonly #off: number
  readonly #later: number
  readonly #options: Array<number> = []
  readonly #acts: Array<Act | undefined> = []
  #chooser!: Chooser
  #preemptions = 0
  #interruptions = 0
  /** Who was last to run and could go on. */
  #current: Actor | undefined = undefined
  /** Something else than an interruption was chosen before. */
  #hasBegun = false
  /** Who was forced off just now: somebody else is next. */
  #barred: Actor | undefined = undefined

  happenings: Set<Happening> = new Set<Happening>()
  /** The words of this run, and at which of them something else than the default was chosen. */
  log: Array<number> = []
  turns: Array<number> = []
  /** The bound on forced switches has kept something out, in this run or in one before. */
  isLimited = false
  isLost = false
  /** Those named who may be interrupted and were there in some run. */
  readonly targeted: Set<number> = new Set<number>()

  constructor(words: Words, actors: Actors, clock: ExplorerClock, limits: Limits) {
    this.#words = words
    this.#actors = actors
    this.#clock = clock
    this.#limits = limits
    this.#off = words.id("-")
    this.#later = words.id("~")
  }

  reset(chooser: Chooser): void {
    this.#chooser = chooser
    this.#preemptions = this.#limits.preemptions
    this.#interruptions = this.#limits.interruptions
    this.#current = this.#barred = undefined
    this.#hasBegun = false
    this.happenings = new Set()
    this.log = []
    this.turns = []
    this.isLost = false
  }

  /** Whether it is named as one that may be interrupted, or all may. */
  isTarget(word: number): boolean {
    const { targets } = this.#limits
    return targets !== "own" && (targets === "any" || targets.has(this.#words.word(word)))
  }

  /** A fiber is there. */
  met(actor: Actor): void {
    if (!this.isTarget(actor.word)) return
    this.targeted.add(actor.word)
    this.#actors.mayBeInterrupted(actor)
  }

  /** Whether `actor`, which runs, goes on. An inner one runs inside a step of another, which nothing can come between. */
  running(actor: Actor, turn: Turn, isInner: boolean): Decision {
    this.#clear()
    this.#offer(actor.word, undefined)
    if (turn === "guards") this.#offerInterruption(isInner ? undefined : actor)
    else {
      if (isInner || this.#actors.ready.length > 0 || this.happenings.size > 0) this.#offerIf(this.#off, undefined)
      if (!isInner) this.#offerOutside(true)
    }
    const at = this.#decide()
    if (at <= 0) return at === 0 ? "goesOn" : "lost"
    const act = this.#acts[at]
    if (act === undefined) {
      this.#preemptions--
      if (!isInner) this.#barred = actor
      return "off"
    }
    this.#current = actor
    return this.#taken(act) as Decision
  }

  /** What comes while no fiber runs; undefined where nothing is left. Time and the outside come only where `isWanted`. */
  next(isWanted: boolean): Act | undefined {
    if (this.#current?.task === undefined) this.#current = undefined
    this.#collect(isWanted)
    // Interruption alone is no way on.
    if (this.#acts.every(isInterruption)) return undefined
    if (this.#barred === undefined && this.place(this.#current, false)) this.#collect(isWanted)
    this.#barred = undefined
    const at = this.#decide()
    return at < 0 ? undefined : this.#taken(this.#acts[at]!)
  }

  #collect(isWanted: boolean): void {
    this.#clear()
    const barred = this.#barred
    const current = this.#current
    if (current !== undefined) this.#offer(current.word, current.task)
    for (const task of this.#actors.ready) {
      if (task !== current?.task && task !== barred?.task && !this.#isSecond(task.actor)) this.#offerNext(task)
    }
    if (!isWanted) return
    for (const happening of this.happenings) this.#offerNext(happening)
    if (barred === undefined) this.#offerOutside(false)
  }

  /** One that has not begun, behind another one that has not and that it is like: to choose it comes to the same. */
  #isSecond(actor: Actor | undefined): boolean {
    if (actor === undefined || !actor.isAlike || !actor.isFresh) return false
    for (const other of this.#actors.all) if (other.isAlike && other.isFresh) return other !== actor
    return false
  }

  /** Something else than the fiber that could go on, which costs if there is one. */
  #offerNext(act: Task | Happening): void {
    if (this.#current === undefined) this.#offer(act.word, act)
    else this.#offerIf(act.word, act)
  }

  /** Takes what was chosen out of the bounds. */
  #taken(act: Act): Act {
    const current = this.#current
    if (act.kind !== "interruption") this.#hasBegun = true
    switch (act.kind) {
      case "interruption":
        this.#interruptions--
        if (act.actor === current) this.#current = undefined
        return act
      case "time":
        if (this.#isBusy) this.#preemptions--
        break
      default:
        if (current !== undefined && act !== current.task) this.#preemptions--
    }
    this.#current = undefined
    return act
  }

  /** Somebody could go on, so that time would run ahead. */
  get #isBusy(): boolean {
    return this.#current !== undefined || this.#actors.ready.length > 0
  }

  /** Nothing is half done; `current` could go on. True where the bounds are off from here. */
  place(current: Actor | undefined, running: boolean): boolean {
    const isKnown = this.#chooser.between({
      current: current?.word ?? -1,
      running,
      log: this.log,
      preemptions: this.#preemptions,
      interruptions: this.#interruptions,
    })
    // What follows was within the bounds when it was found, by another way.
    if (isKnown) this.#preemptions = this.#interruptions = Infinity
    return isKnown
  }

  /** Lets one of the outcomes happen to a fiber that waits for it, when it is chosen; returns what takes them back. */
  await(actor: Actor, name: string, outcomes: ReadonlyArray<() => void>): () => void {
    const who = this.#words.word(actor.word)
    const takeBack = (): void => {
      for (const each of all) this.happenings.delete(each)
    }
    const all = outcomes.map((run, i): Happening => ({
      kind: "happening",
      actor,
      word: this.#words.id(i === 0 ? `${who}:${name}` : `${who}:${name}/${i}`),
      run: () => {
        takeBack()
        run()
      },
    }))
    for (const each of all) this.happenings.add(each)
    return takeBack
  }

  /** Whether it waits for something that may happen. */
  awaits(actor: Actor): boolean {
    for (const happening of this.happenings) if (happening.actor === actor) return true
    return false
  }

  #clear(): void {
    this.#options.length = this.#acts.length = 0
  }

  #offer(word: number, act: Act | undefined): void {
    this.#options.push(word)
    this.#acts.push(act)
  }

  /** What somebody would be forced off for. */
  #offerIf(word: number, act: Act | undefined): void {
    if (this.#preemptions > 0) this.#offer(word, act)
    else this.isLimited = true
  }

  /** Time, which costs where it runs ahead of what is ready, and interruption. */
  #offerOutside(running: boolean): void {
    if (this.#clock.sleeping > 0 && !this.#actors.ready.some(isDue)) {
      if (running || this.#isBusy) this.#offerIf(this.#later, time)
      else this.#offer(this.#later, time)
    }
    if (this.#interruptions === 0) return
    for (const actor of this.#actors.all) this.#offerInterruption(actor)
  }

  #offerInterruption(actor: Actor | undefined): void {
    const interruption = actor?.interruption
    if (interruption === undefined || this.#interruptions === 0 || interruption.actor.isDone) return
    // Before its first step it ends without having run, and nobody knows of it: when that happens is all the same.
    if (interruption.actor.isFresh && this.#hasBegun && this.#limits.isPlain !== true) return
    if (this.#isSecond(interruption.actor)) return
    this.#offer(interruption.word, interruption)
  }

  #decide(): number {
    const at = this.#chooser.decide(this.#options)
    if (at < 0) this.isLost = true
    else {
      if (at > 0) this.turns.push(this.log.length)
      this.log.push(this.#options[at]!)
    }
    return at
  }
}

const isDue = (task: Task): boolean => task.isDue
const isInterruption = (act: Act | undefined): boolean => act?.kind === "interruption"
