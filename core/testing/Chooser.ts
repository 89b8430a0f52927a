/**
 * Who decides what is next: a schedule that is followed, or a seed; the search is `DepthFirst`. Each owns its place.
 */
import { draws } from "./Chance.ts"
import type { Actors } from "./ExplorerActors.ts"

/** What decides at each step of a run. Steps are words by number, and the first option is the default. */
export interface Chooser {
  /** The program is set up, and its fibers are ready. */
  begin(scene: Scene): void
  /** The index of what is next; below zero ends the run. */
  decide(options: ReadonlyArray<number>): number
  /** A step is over. */
  stepped(step: Step): void
  /** Nothing is half done. True where the rest of the run is one that was within the bounds before. */
  between(place: Place): boolean
}

/** What can be seen of a run between its steps. */
export interface Scene {
  readonly actors: Actors
  readonly shared: () => unknown
  /** The time, and how many random numbers were drawn. */
  readonly moment: () => string
}

export interface Step {
  /** Who ran in it, by name, or what it was if that was nobody's; the first one made the step. */
  readonly cast: ReadonlyArray<number>
  /** Names of what was left to be run for the first time. */
  readonly born: ReadonlyArray<number>
  /** Its own words are those from `from` on. */
  readonly log: ReadonlyArray<number>
  readonly from: number
  /** None of the program's code ran. */
  readonly isBlind: boolean
}

export interface Place {
  /** The fiber that could go on, as a word; below zero where none could. */
  readonly current: number
  /** Whether it is still running, so that it is asked before each step whether it goes on. */
  readonly running: boolean
  readonly log: ReadonlyArray<number>
  /** Forced switches and interruptions that are left. */
  readonly preemptions: number
  readonly interruptions: number
}

/** Follows a schedule, and takes the defaults after it. */
export class Follower implements Chooser {
  readonly #steps: ReadonlyArray<number>
  readonly #lenient: boolean
  #at: number
  /** Where a step was not possible: its index in the schedule, and what was. */
  lost: { readonly at: number; readonly options: ReadonlyArray<number> } | undefined = undefined

  /** A lenient one leaves out what is not possible, where a strict one ends the run. */
  constructor(steps: ReadonlyArray<number>, options: { readonly from?: number; readonly lenient?: boolean } = {}) {
    this.#steps = steps
    this.#at = options.from ?? 0
    this.#lenient = options.lenient ?? false
  }

  begin(): void {}
  stepped(): void {}
  between(): boolean {
    return false
  }

  decide(options: ReadonlyArray<number>): number {
    while (this.#at < this.#steps.length) {
      const at = this.#at++
      const index = options.indexOf(this.#steps[at]!)
      if (index >= 0) return index
      if (this.#lenient) continue
      this.lost = { at, options: [...options] }
      return -1
    }
    return 0
  }

  /** The first word that the run came too early to an end for; undefined where it was followed to its end. */
  get unused(): { readonly at: number; readonly options: ReadonlyArray<number> } | undefined {
    return this.lost ?? (this.#at < this.#steps.length ? { at: this.#at, options: [] } : undefined)
  }
}

/**
 * Chooses by a seed. How often it leaves the default differs from run to run, from every second step to one in 32: some
 * faults need many switches close together, most need a few far apart.
 */
export class Sampler implements Chooser {
  readonly #random: () => number
  readonly #often: number
  /** Nobody would be forced off by what is chosen next. */
  #free = false

  constructor(seed: number) {
    this.#random = draws(seed)
    this.#often = 2 ** -(1 + Math.floor(this.#random() * 5))
  }

  begin(): void {}
  stepped(): void {}

  between({ current }: Place): boolean {
    this.#free = current < 0
    return false
  }

  decide(options: ReadonlyArray<number>): number {
    const free = this.#free
    this.#free = false
    if (options.length === 1 || !(free || this.#random() < this.#often)) return 0
    return Math.floor(this.#random() * options.length)
  }
}
