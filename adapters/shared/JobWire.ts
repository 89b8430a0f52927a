/**
 * What goes between an executor and its threads. A round trip is mostly the cloning of its messages, so what crosses is the
 * bare input and the bare result: all else are numbers in words that both share, and a task is named once a thread and is a
 * number from then on. It owns the names that a thread has been told.
 *
 * One message at a time is on its way, and it is read before the next is written: so the words are always those of the
 * message that is read. They are read and written plainly, for a message and the end of a thread come after all that was done
 * before them (ECMA-262, host-synchronizes-with); as atomics they would cost a 20th of a round trip.
 */
import type { JobError } from "../../core/JobFault.ts"
import type { Answer, Order } from "../../core/WorkerThreads.ts"
import type { Channel, ThreadChannel } from "./JobChannel.ts"

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
  /** What was answered, by its place in {@link kinds}; or {@link Undefined}. */
  kind: 5,
} as const

export const wordsOf = (): Int32Array => new Int32Array(new SharedArrayBuffer(6 * Int32Array.BYTES_PER_ELEMENT))

/** An input alone, of a task that the thread knows. */
export const Bare = 0
/** A {@link Named}. */
export const Full = 1
/** Nothing: the thread is to end. */
export const Leave = 2
/** An input or a result that is undefined, which by itself comes as null on Deno. */
export const Undefined = -1

/** An input, and the names of its task. */
export type Named = readonly [unknown, string, string]

/** Tasks that a thread is told to keep; those beyond are named each time, as task 0. */
export const maxTasks = 256

/** The tasks of one thread. */
class Tasks {
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

/** What is sent to one thread. */
export class Orders {
  readonly #tasks = new Tasks()
  readonly #channel: Channel
  readonly #words: Int32Array
  /** The number of the last order that was sent; 0 before the first. */
  last = 0

  constructor(channel: Channel, words: Int32Array) {
    this.#channel = channel
    this.#words = words
  }

  /** Whether the last order has reached the thread. */
  get heard(): boolean {
    return this.#words[Word.heard] === this.last
  }

  /** Throws where it cannot be sent; then the thread hears nothing of it. */
  send({ input, module, name, number }: Order, transfer: ReadonlyArray<object>): void {
    const task = this.#tasks.known(module, name)
    this.#words[Word.order] = number
    this.#words[Word.task] = task ?? this.#tasks.next
    this.#words[Word.sent] = task === undefined ? Full : input === undefined ? Undefined : Bare
    post(this.#channel, task === undefined ? [input, module, name] satisfies Named : input, transfer)
    this.last = number
    if (task === undefined) this.#tasks.told(module, name)
  }

  leave(): void {
    this.#words[Word.sent] = Leave
    post(this.#channel, undefined, none)
  }
}

export const none: ReadonlyArray<object> = []

/** A list of nothing to transfer costs an eighth of a round trip on Bun. */
export const post = (to: Channel | ThreadChannel, message: unknown, transfer: ReadonlyArray<object>): void =>
  transfer.length === 0 ? to.postMessage(message) : to.postMessage(message, transfer as Array<ArrayBuffer>)

export const kinds: ReadonlyArray<Answer["kind"]> = ["value", "threw", "module", "export", "result", "input"]

/** What a thread has told of the order `number`; undefined where that is no answer to it. */
export const answerOf = (words: Int32Array, number: number, told: unknown): Answer | undefined => {
  if (words[Word.answered] !== number) return undefined
  const said = words[Word.kind]!
  if (said === Undefined) return { number, kind: "value", value: undefined }
  const kind = kinds[said]!
  return kind === "value" ? { number, kind, value: told } : { number, kind, error: told as JobError }
}
