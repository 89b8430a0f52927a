/**
 * What goes between an executor and its threads. A round trip is mostly the cloning of its messages, so what crosses is the
 * bare input and the bare result: all else are numbers in words that both share, and a task is named once a thread and is a
 * number from then on. Owns the names that a thread has been told.
 *
 * One message at a time is on its way, and it is read before the next is written: so the words are always those of the
 * message that is read.
 */
import type { JobError } from "../../core/JobFault.ts"
import type { Answer } from "../../core/WorkerThreads.ts"

/** The words that an executor and one of its threads share, by their index. */
export const Word = {
  /** The number of the last order. */
  order: 0,
  /** Its task. */
  task: 1,
  /** What is sent with it. */
  sent: 2,
  /** The number of the last order that has reached the thread. */
  heard: 3,
  /** The number of the last order that was answered. */
  answered: 4,
  /** What was answered, by its place in {@link kinds}. */
  kind: 5,
} as const

export const wordsOf = (): Int32Array => new Int32Array(new SharedArrayBuffer(6 * Int32Array.BYTES_PER_ELEMENT))

/** An input alone, of a task that the thread knows. */
export const Bare = 0
/** A {@link Named}. */
export const Full = 1
/** Nothing: the thread is to end. */
export const Leave = 2

/** An input, and the names of its task. */
export type Named = readonly [unknown, string, string]

/** Tasks that a thread is told to keep; those beyond are named each time, as task 0. */
export const maxTasks = 256

/** The tasks of one thread. */
export class Tasks {
  readonly #numbers = new Map<string, Map<string, number>>()
  #count = 0
  #module: string | undefined = undefined
  #name: string | undefined = undefined
  #task = 0

  /** The number of a task that the thread has been told; undefined where it has not. */
  known(module: string, name: string): number | undefined {
    if (module === this.#module && name === this.#name) return this.#task
    const task = this.#numbers.get(module)?.get(name)
    if (task !== undefined) this.#last(module, name, task)
    return task
  }

  /** The number that the next one to be told gets. */
  get next(): number {
    return this.#count < maxTasks ? this.#count + 1 : 0
  }

  /** It has been told the task {@link next}. */
  told(module: string, name: string): void {
    const task = this.next
    if (task === 0) return
    const names = this.#numbers.get(module) ?? new Map<string, number>()
    this.#numbers.set(module, names.set(name, task))
    this.#count = task
    this.#last(module, name, task)
  }

  #last(module: string, name: string, task: number): void {
    this.#module = module
    this.#name = name
    this.#task = task
  }
}

export const kinds: ReadonlyArray<Answer["kind"]> = ["value", "threw", "module", "export", "result", "input"]

/** What a thread has told of the order `number`; undefined where that is no answer to it. */
export const answerOf = (words: Int32Array, number: number, told: unknown): Answer | undefined => {
  if (Atomics.load(words, Word.answered) !== number) return undefined
  const kind = kinds[Atomics.load(words, Word.kind)]!
  return kind === "value" ? { number, kind, value: told } : { number, kind, error: told as JobError }
}
