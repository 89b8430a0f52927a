/**
 * The search through all schedules, depth first: each run takes the first option where it has not been before, and the
 * next run differs from it in the last choice that has an option left.
 *
 * It owns its way through the tree of choices and, with pruning, what it knows of states that it has been in.
 */
import { type Chooser, Follower, type Place, type Scene, type Step } from "./Chooser.ts"
import { KnownStates, type Run, type Visit } from "./KnownStates.ts"
import type { Words } from "./Schedule.ts"

export class DepthFirst implements Chooser {
  /** The choices of the last run that had more than one option: what was taken, of how many, and as which word. */
  readonly #taken: Array<number> = []
  readonly #counts: Array<number> = []
  readonly #options: Array<number> = []
  readonly #words: Words
  readonly #known: KnownStates | undefined
  #depth = 0
  #run: Run = { log: [], outcome: undefined }
  #follower: Follower | undefined = undefined
  #followed: Run | undefined = undefined
  /** The program did not do the same when it was run the same way. */
  isDiverged = false

  constructor(words: Words, options: { readonly prune: boolean }) {
    this.#words = words
    this.#known = options.prune ? new KnownStates() : undefined
  }

  /** Whether this run came into a state that it had been in before, and does what was done from there. */
  get isRepeat(): boolean {
    return this.#follower !== undefined
  }

  /** What is shared could not be read: by what was thrown, or by a class that hides something. */
  get unreadable(): { readonly cause: unknown } | undefined {
    return this.#known?.unreadable
  }

  begin(scene: Scene): void {
    this.#depth = 0
    this.#follower = undefined
    this.#run = { log: [], outcome: undefined }
    this.#known?.begin(scene)
  }

  decide(options: ReadonlyArray<number>): number {
    if (this.unreadable !== undefined) return -1
    if (this.#follower !== undefined) return this.#follower.decide(options)
    if (options.length === 1) return 0
    const at = this.#depth++
    if (at < this.#taken.length) return this.#again(at, options)
    this.#taken.push(0)
    this.#counts.push(options.length)
    this.#options.push(options[0]!)
    return 0
  }

  /** A choice of the run before; only the last one differs. */
  #again(at: number, options: ReadonlyArray<number>): number {
    const index = this.#taken[at]!
    const isLast = at === this.#taken.length - 1
    if (options.length !== this.#counts[at] || (!isLast && options[index] !== this.#options[at])) {
      this.isDiverged = true
      return -1
    }
    if (isLast) this.#options[at] = options[index]!
    return index
  }

  stepped(step: Step): void {
    if (this.#follower === undefined) this.#known?.stepped(step, this.#depth < this.#taken.length)
  }

  between(place: Place): boolean {
    // Up to its last choice the run is one that was made before.
    if (this.#known === undefined || this.#follower !== undefined || this.#depth < this.#taken.length) return false
    const visit = this.#known.visit(place, this.#run)
    if (visit === undefined) return false
    this.#followed = visit.run
    this.#follower = new Follower(this.#asThere(visit, place))
    return true
  }

  /**
   * What was done from there, which began with the first option that there was, in the words in which it is done from here:
   * somebody may have to be forced off for it.
   */
  #asThere({ at, run }: Visit, place: Place): ReadonlyArray<number> {
    const steps = run.log.slice(at)
    const [first] = steps
    const needsRoom = first !== undefined && first !== place.current && !/^[~!]/.test(this.#words.word(first))
    return place.running && needsRoom ? [this.#words.id("-"), ...steps] : steps
  }

  /** The run is over. False where it went another way, or came to another end, than the one that it should have repeated. */
  ended(log: ReadonlyArray<number>, outcome: string): boolean {
    this.#run.log = log
    this.#run.outcome = outcome
    if (this.#follower === undefined) return true
    return this.#follower.unused === undefined && this.#followed!.outcome === outcome
  }

  /** Turns to the next schedule; false where there is none. */
  next(): boolean {
    for (let at = this.#taken.length - 1; at >= 0; at--) {
      if (++this.#taken[at]! < this.#counts[at]!) return true
      this.#taken.pop()
      this.#counts.pop()
      this.#options.pop()
    }
    return false
  }
}
