/**
 * Which states a search has been in: its pruning.
 *
 * What a fiber does in a step depends on what it has been through, on what is shared, and on the time. Its *history* is all
 * of that: its history before its last step, what was shared before that step, by name and content, how the fibers that
 * others had started had ended by then, and the choices in it; in a step in which several fibers ran, the histories of all
 * of them; and that it was interrupted meanwhile. So fibers with the same history are at the same point with the same
 * values in their hands. A *state* is what is shared, the time, and for each fiber its end or, if it has not ended, its
 * history and the order in which others wait for that end; and the order in which those ended that something was told of,
 * since a race keeps it and goes on only after the last. From the same state on, the same can happen.
 *
 * Things are named by the history of the step after which they were first seen, so that the same name in two runs means the
 * same thing also to a fiber that holds it. One that is out of sight stays in the picture for as long as anybody lives who
 * ran while it was in sight, and may have it in hand.
 *
 * The search goes on from a state that it has been in only with more forced switches left than it had, counting that to
 * have another fiber running may have cost one of them; whatever else could follow has been tried. States that differ in
 * what is left of the interruptions are different.
 *
 * Two things are assumed: that a step depends on nothing else, and that `shared` shows, between any two steps, all that one
 * fiber can change and another can see. A run that comes into a known state is therefore not broken off: it repeats what
 * was done from there, and if it cannot, or comes to another end, the assumption is wrong and the search ends with an error.
 *
 * Owns a record for each state. Nothing is hashed: what is the same has the same text.
 */
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import type { Place, Scene, Step } from "./Chooser.ts"
import { Drawing, Kinds, type Known, type Thing } from "./SharedState.ts"

/** A run, complete once it has an outcome. */
export interface Run {
  log: ReadonlyArray<number>
  outcome: string | undefined
}

/** How a state was come to, and what of the bounds was left. */
export interface Visit {
  readonly run: Run
  /** The length of the log. */
  readonly at: number
  readonly current: number
  readonly preemptions: number
}

/** A step of the last run, for the next one that begins the same way. */
interface Past {
  readonly step: number
  readonly shown: number
  /** No thing came into sight, out of it, or was forgotten. */
  readonly isStill: boolean
}

export class KnownStates {
  #scene!: Scene
  /** By the word of a fiber, and of what will start one or wake some. */
  #histories = new Map<number, number>()
  /** The last step in which each of them ran, or was made. */
  #lastRun = new Map<number, number>()
  /** All that is in sight, or may be in the hands of somebody. */
  #things: ReadonlyMap<Thing, Known> = new Map()
  readonly #kinds = new Kinds()
  /** Symbols that somebody ended with: whoever has code that names one has it in hand. */
  readonly #symbols = new Map<symbol, number>()
  /** What is shared, with the time, as the number of its text. */
  #shown = 0
  /** How often each was interrupted that goes on all the same. */
  #interrupted = new Map<number, number>()
  /** Fibers that others may have in hand, and that have ended, with their ends. */
  #endings = new Map<number, string>()
  #ended = ""
  /** In which order those of them ended that something was told of: it may have kept that, though it did not go on. */
  #order = ""
  /** Fibers that something waited for. */
  #watched = new Set<number>()
  /** What waits for the end of a fiber, by the step that it began in: they hear of it one after the other. */
  #observers = new Map<unknown, number>()
  #steps = 0
  /** Who had ended by then, in every run in the same way. */
  #early: ReadonlySet<number> = new Set()
  readonly #past: Array<Past> = []
  readonly #numbers = new Map<string, number>()
  readonly #visits = new Map<string, Array<Visit>>()
  /** Why what is shared could not be drawn: what was thrown, or a class that hides something. */
  unreadable: { readonly cause: unknown } | undefined = undefined

  /** A run begins. */
  begin(scene: Scene): void {
    this.#scene = scene
    this.#histories = new Map()
    this.#lastRun = new Map()
    this.#things = new Map()
    this.#interrupted = new Map()
    this.#endings = new Map()
    this.#ended = this.#order = ""
    this.#watched = new Set()
    this.#observers = new Map()
    this.#steps = 0
    // Whatever is there when it begins may be in the hands of all.
    for (const word of this.#alive()) this.#lastRun.set(word, 0)
    this.#early = new Set([...scene.actors.all].filter(({ isDone }) => isDone).map(({ word }) => word))
    const step = this.#number("begin")
    this.#observe(step)
    this.#show(step)
  }

  /** A step is over; `isOld` where it is one of the run before. */
  stepped({ born, cast, from, isBlind, log }: Step, isOld: boolean): void {
    const at = this.#steps++
    const past = isOld ? this.#past[at] : undefined
    const step = past?.step ?? this.#step(cast, isBlind, log.slice(from))
    for (const word of cast) this.#ran(word, step)
    for (const word of born) this.#ran(word, step)
    this.#notice(cast)
    if (!isBlind) this.#observe(step)
    const isStill = past?.isStill ?? false
    if (past !== undefined && isStill) this.#shown = past.shown
    else {
      const moved = isBlind || this.#show(step)
      if (past !== undefined) return
      this.#past.length = at
      this.#past.push({ step, shown: this.#shown, isStill: isBlind || !moved })
    }
  }

  #step(cast: ReadonlyArray<number>, isBlind: boolean, words: ReadonlyArray<number>): number {
    const before = cast.map((word) => `${word}=${this.#history(word)}`).join()
    return this.#number(`${before} ${isBlind ? "" : `${this.#shown} ${this.#ended}`} ${words.join()}`)
  }

  #ran(word: number, step: number): void {
    this.#histories.set(word, this.#number(`${step}.${word}`))
    this.#lastRun.set(word, this.#steps)
  }

  /**
   * One that is interrupted in a step in which it does not run has been through that, and goes on otherwise; and whether a
   * fiber has ended, and how, is seen by whoever has it in hand.
   */
  #notice(cast: ReadonlyArray<number>): void {
    for (const { fiber, interruptions: times, isOwn, word } of this.#scene.actors.all) {
      const exit = fiber.pollUnsafe()
      if (exit !== undefined) {
        const isWatched = this.#watched.has(word)
        if ((isOwn && !isWatched) || this.#early.has(word) || this.#endings.has(word)) continue
        this.#endings.set(word, this.#end(exit).text)
        if (isWatched) this.#order += ` ${word}`
        this.#ended = `${[...this.#endings].map(([of, end]) => `${of}:${end}`).sort().join()}${this.#order}`
        continue
      }
      if (times === (this.#interrupted.get(word) ?? 0)) continue
      this.#interrupted.set(word, times)
      if (!cast.includes(word)) this.#histories.set(word, this.#number(`${this.#history(word)}!`))
    }
  }

  #observe(step: number): void {
    let ordinal = 0
    for (const { observers, word } of this.#scene.actors.all) {
      if (observers.length > 0) this.#watched.add(word)
      for (const each of observers) {
        if (!this.#observers.has(each)) this.#observers.set(each, this.#number(`${step}@${ordinal++}`))
      }
    }
  }

  /** A visit that makes this one needless; undefined where there was none, and this one is recorded. */
  visit({ current, interruptions, log, preemptions }: Place, run: Run): Visit | undefined {
    const parts = this.#parts()
    if (parts === undefined) return undefined
    const state = `${parts} ${this.#shown} ${interruptions}${this.#order}`
    const visits = this.#visits.get(state)
    const visit: Visit = { run, at: log.length, current, preemptions }
    const enough = visits?.find((other) => covers(other, visit))
    if (enough !== undefined) return enough
    if (visits === undefined) this.#visits.set(state, [visit])
    else visits.push(visit)
    return undefined
  }

  /** Draws what is shared, and whatever is out of sight and may be in hand. True where that are not the same things. */
  #show(step: number): boolean {
    const since = this.#steps
    const drawing = new Drawing(
      this.#things,
      (ordinal) => ({ name: this.#number(`${step}:${ordinal}`), since, holders: undefined }),
      this.#kinds,
    )
    const told = Result.try(() => drawing.tell(this.#scene.shared()))
    let text = Result.isSuccess(told) ? told.success : ""
    if (Result.isFailure(told)) this.unreadable ??= { cause: told.failure }
    else if (drawing.unread !== undefined) this.unreadable ??= { cause: drawing.unread }
    let hasMoved = drawing.news > 0
    const gone: Array<readonly [Thing, Known]> = []
    for (const entry of this.#things) {
      const [thing, known] = entry
      const isInSight = drawing.things.has(thing)
      if (isInSight !== (known.holders === undefined)) hasMoved = true
      if (isInSight) known.holders = undefined
      else gone.push(entry)
    }
    if (gone.length > 0) {
      const alive = this.#alive()
      for (const [thing, known] of gone.sort(([, a], [, b]) => a.name - b.name)) {
        known.holders ??= this.#since(known.since)
        if (known.holders.some((word) => alive.has(word))) text += ` ${drawing.draw(thing)}`
        else hasMoved = true
      }
    }
    this.#things = drawing.things
    this.#shown = this.#number(`${text} ${this.#scene.moment()}`)
    return hasMoved
  }

  /** Who ran in a step, or was made in it. */
  #since(step: number): ReadonlyArray<number> {
    return [...this.#lastRun].filter(([, last]) => last >= step).map(([word]) => word)
  }

  /** Who runs or will: fibers that have not ended, and what was left to be run. */
  #alive(): ReadonlySet<number> {
    const { all, ready } = this.#scene.actors
    const alive = new Set<number>()
    for (const actor of all) if (!actor.isDone) alive.add(actor.word)
    for (const { word } of ready) alive.add(word)
    return alive
  }

  /** Every fiber with its history or its end, and what is ready without being a known fiber's; undefined if not known. */
  #parts(): string | undefined {
    const { all, ready } = this.#scene.actors
    const parts: Array<string> = []
    for (const { fiber, observers, word } of all) {
      const exit = fiber.pollUnsafe()
      if (exit === undefined) {
        // That a fiber waits for this one is in its history; which of two came first is in neither's.
        const line = observers.length < 2 ? "" : `@${observers.map((each) => this.#observers.get(each)).join("@")}`
        parts.push(`${word}=${this.#history(word)}${line}`)
      } else {
        const end = this.#end(exit)
        if (!end.isWhole && !this.#early.has(word)) return undefined
        parts.push(`${word}:${end.text}`)
      }
    }
    for (const { actor, word } of ready) if (actor === undefined) parts.push(`${word}<${this.#history(word)}`)
    return parts.sort().join()
  }

  /**
   * An end as text, by content: what of it others share has a name, and the rest nobody else has. It is not whole where it
   * may hide something from whoever looks: a state with such an end is not known, and is gone on from each time.
   */
  #end(exit: Exit.Exit<unknown, unknown>): { readonly text: string; readonly isWhole: boolean } {
    const meet = (ordinal: number, thing: Thing): Known => ({
      name: typeof thing === "symbol" ? this.#symbol(thing) : -1 - ordinal,
      since: 0,
      holders: undefined,
    })
    const drawing = new Drawing(this.#things, meet, this.#kinds)
    const text = Result.try(() =>
      Exit.isSuccess(exit)
        ? drawing.draw(exit.value)
        : exit.cause.reasons.map((reason) =>
          reason._tag === "Fail"
            ? `!${drawing.draw(reason.error)}`
            : reason._tag === "Die"
            ? `?${drawing.draw(reason.defect)}`
            : "!"
        ).join()
    )
    // What throws when it is looked at, or is too deep, hides what it is.
    if (Result.isFailure(text)) return { text: "", isWhole: false }
    return { text: text.success, isWhole: drawing.unread === undefined && !drawing.isDoubtful }
  }

  #symbol(symbol: symbol): number {
    const known = this.#symbols.get(symbol)
    if (known !== undefined) return known
    const name = this.#number(`symbol ${this.#symbols.size}`)
    this.#symbols.set(symbol, name)
    return name
  }

  #history(word: number): number {
    return this.#histories.get(word) ?? this.#number(`.${word}`)
  }

  #number(text: string): number {
    const known = this.#numbers.get(text)
    if (known !== undefined) return known
    this.#numbers.set(text, this.#numbers.size + 1)
    return this.#numbers.size
  }
}

/** Whether all that can follow here could follow there: to be where this one is may cost a forced switch there. */
const covers = (other: Visit, visit: Visit): boolean => {
  const cost = other.current < 0 || other.current === visit.current ? 0 : 1
  return other.preemptions - cost >= visit.preemptions
}
