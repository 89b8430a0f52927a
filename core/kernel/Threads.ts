/**
 * The threads of an executor: what each is doing, and how many there may be, as a table of (state, event) pairs and the
 * counts that follow from it.
 *
 * Idle -> Busy -> Idle, until it is Gone: by itself, told to leave, or terminated. Where a runtime's termination is no
 * join, a thread that was terminated at work is Abandoned: it may work on for ever, and keeps its place.
 */
import { List, type Node } from "./List.ts"

export type State = 0 | 1 | 2 | 3 | 4 | 5
export type Event = 0 | 1 | 2 | 3 | 4 | 5

export const Idle = 0
export const Busy = 1
/** Terminated at work; it is gone once the runtime says so. */
export const Ending = 2
/** Told to leave while idle. */
export const Leaving = 3
export const Abandoned = 4
export const Gone = 5

export const Assign = 0
export const Answer = 1
export const Leave = 2
export const Terminate = 3
export const Abandon = 4
export const Exit = 5

export const stateNames: ReadonlyArray<string> = ["Idle", "Busy", "Ending", "Leaving", "Abandoned", "Gone"]

/** No such arrow: the event is late or misuse, and changes nothing. */
export const none = -1

const table: ReadonlyArray<ReadonlyArray<State | typeof none>> = [
  // Assign, Answer, Leave, Terminate, Abandon, Exit
  /* Idle      */ [Busy, none, Leaving, none, none, Gone],
  // One that is at work is not told to leave: it would go on, and nobody would wait for it.
  /* Busy      */ [none, Idle, none, Ending, Abandoned, Gone],
  // An answer that crosses a termination is late: the thread goes, and its job with it.
  /* Ending    */ [none, none, none, none, none, Gone],
  /* Leaving   */ [none, none, none, none, none, Gone],
  // What the runtime says of it is not believed: the thread may work on.
  /* Abandoned */ [none, none, none, none, none, none],
  /* Gone      */ [none, none, none, none, none, none],
]

/** Where `event` takes `state`, or {@link none}. */
export const next = (state: State, event: Event): State | typeof none => table[state]![event]!

/** One thread; its links put it among the idle ones. */
export class Thread implements Node<Thread> {
  state: State = Idle
  list: List<Thread> | undefined = undefined
  prev: Thread | undefined = undefined
  next: Thread | undefined = undefined
}

export class Threads<T extends Thread> {
  /** The most threads at a time, whatever they do; one that is gone is none. */
  readonly capacity: number
  readonly #idle = new List<Thread>()
  readonly #counts: Array<number> = [0, 0, 0, 0, 0, 0]

  constructor(capacity: number) {
    this.capacity = capacity
  }

  count(state: State): number {
    return this.#counts[state]!
  }

  /** Threads that there are, abandoned ones among them. */
  get size(): number {
    let size = 0
    for (let state = Idle; state < Gone; state++) size += this.#counts[state]!
    return size
  }

  /** Every thread is abandoned, so that no job can ever run here again. */
  get isSpent(): boolean {
    return this.#counts[Abandoned] === this.capacity
  }

  /** A thread that has just been started, and is idle. A job that has its place finds an idle one, or room for one. */
  add(thread: T): void {
    this.#counts[Idle]!++
    this.#idle.push(thread)
  }

  /** Puts the thread that became idle last to work, whose caches are the warmest; undefined without any. */
  take(): T | undefined {
    const thread = this.#idle.tail as T | undefined
    if (thread !== undefined) this.step(thread, Assign)
    return thread
  }

  idle(): ReadonlyArray<T> {
    return this.#idle.toArray() as Array<T>
  }

  /** One event of one thread; false, and no change, where it has no such arrow. */
  step(thread: T, event: Event): boolean {
    const state = next(thread.state, event)
    if (state === none) return false
    this.#idle.remove(thread)
    this.#counts[thread.state]!--
    this.#counts[state]!++
    thread.state = state
    if (state === Idle) this.#idle.push(thread)
    return true
  }
}
