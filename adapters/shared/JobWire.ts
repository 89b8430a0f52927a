/**
 * What goes between an executor and its threads. A round trip is mostly the cloning of its messages, so they are as small
 * as they can be: a task is named once a thread and is a number from then on. Owns the names that a thread has been told.
 */
import type { Answer, Order } from "../../core/WorkerThreads.ts"

/** The number of an order, its task, its input; and the names of the task, where the thread has not been told them. */
export type Sent = readonly [number, number, unknown] | readonly [number, number, unknown, string, string]

/** The number of an order and what it came to; a fault is told in full. */
export type Told = readonly [number, unknown] | Exclude<Answer, { readonly kind: "value" }>

export const leave = "leave"

/** Tasks that a thread is told to keep; those beyond are named each time, as task 0. */
export const maxTasks = 256

/** The tasks of one thread. */
export class Tasks {
  readonly #numbers = new Map<string, Map<string, number>>()
  #count = 0
  #last: { readonly module: string; readonly name: string; readonly task: number } | undefined = undefined

  sent({ input, module, name, number }: Order): Sent {
    const last = this.#last
    if (last !== undefined && last.module === module && last.name === name) return [number, last.task, input]
    const names = this.#numbers.get(module)
    const known = names?.get(name)
    if (known === undefined) return [number, this.#count < maxTasks ? this.#count + 1 : 0, input, module, name]
    this.#last = { module, name, task: known }
    return [number, known, input]
  }

  /** It has been sent: the thread knows its task. */
  know([, task, , module, name]: Sent): void {
    if (task === 0 || module === undefined || name === undefined) return
    const names = this.#numbers.get(module) ?? new Map<string, number>()
    this.#numbers.set(module, names.set(name, task))
    this.#count = task
    this.#last = { module, name, task }
  }
}

const faults: ReadonlyArray<unknown> = ["threw", "module", "export", "result", "input"] satisfies Array<Answer["kind"]>

/** What a thread has told; undefined where that is no answer. */
export const answerOf = (told: unknown): Answer | undefined => {
  if (typeof told !== "object" || told === null) return undefined
  if (Array.isArray(told)) return told.length === 2 ? { number: told[0], kind: "value", value: told[1] } : undefined
  const { error, kind, number } = told as Exclude<Told, readonly [number, unknown]>
  return faults.includes(kind) && typeof error === "object" ? { number, kind, error } : undefined
}
