/**
 * The program of a worker thread: imports modules, calls their exports, and answers. Started by `BlockingExecutor.ts`, which
 * finds it beside itself, as a source or as built.
 *
 * It imports nothing of Effect, so that a thread starts as fast as it can. What it imports for jobs it keeps, as the
 * runtime does.
 */
import { Buffer } from "node:buffer"
import process from "node:process"
import { type MessagePort, workerData } from "node:worker_threads"
import type { JobContext, Task } from "../../core/Job.ts"
import type { Answer } from "../../core/WorkerThreads.ts"
import { ownChannel, type ThreadChannel } from "./JobChannel.ts"
import { errorOf } from "./JobErrors.ts"
import { Full, kinds, Leave, type Named, none, post, Undefined, Word } from "./JobWire.ts"

const { flag, port, words } = workerData as {
  readonly flag: Int32Array
  readonly words: Int32Array
  readonly port: MessagePort | undefined
}
// A job may read `workerData` and post on `parentPort` as it likes: its answers are told where it has no hand.
for (const name of Object.keys(workerData)) Reflect.deleteProperty(workerData, name)
// As they were before any job had a hand on them.
const ask = process.exit.bind(process)
const channel: ThreadChannel = port ?? ownChannel()
/** Ends the thread. A job may have left somebody to be told of that, who throws: asked once more, nobody is told (Node). */
const exit = (): void => {
  try {
    ask(0)
  } finally {
    ask(0)
  }
}
/** The tasks that this thread was told to keep, by number: their names, and their functions once they were found. */
const tasks: Array<{ readonly module: string; readonly name: string; made: Task | undefined }> = []

const tell = (number: number, kind: Answer["kind"], told: unknown, parts: ReadonlyArray<object>): void => {
  words[Word.kind] = told === undefined ? Undefined : kinds.indexOf(kind)
  words[Word.answered] = number
  post(channel, told, parts)
}
const fault = (number: number, kind: Exclude<Answer["kind"], "value">, thrown: unknown): void =>
  tell(number, kind, errorOf(thrown), none)

class Context implements JobContext {
  readonly #number: number
  parts: ReadonlyArray<object> = none

  constructor(number: number) {
    this.#number = number
  }

  readonly cancelled = (): boolean => Atomics.load(flag, 0) === this.#number

  readonly pause = (millis: number): boolean => {
    if (!(millis >= 0 || millis < 0)) throw new RangeError("a pause takes a number of milliseconds")
    const until = performance.now() + millis
    // It wakes early where the flag has changed for another order.
    for (let left = millis; left > 0; left = until - performance.now()) {
      const seen = Atomics.load(flag, 0)
      if (seen === this.#number) return true
      // On the value that was looked at: where it has changed since, there is no wait.
      Atomics.wait(flag, 0, seen, left)
    }
    return this.cancelled()
  }

  readonly transfer = (...more: ReadonlyArray<object>): void => void (this.parts = [...this.parts, ...more])
}

interface Module {
  readonly exports: Readonly<Record<string, unknown>>
}

/**
 * A module, as a part of one of ours: an import takes a module for a promise that exports a function `then`, and may never
 * end. Where that cannot be, and for the error in the runtime's own words, it is imported by itself.
 */
const imported = async (module: string): Promise<Module> => {
  const text = `export * as exports from ${JSON.stringify(module)}`
  try {
    // As plain text Bun takes it for a file of the ending that it has.
    const { exports }: Partial<Module> = await import(
      `data:text/javascript;base64,${Buffer.from(text).toString("base64")}`
    )
    if (exports !== undefined) return { exports }
  } catch {
    // The next line says why.
  }
  return { exports: await import(module) }
}

const found = async (number: number, module: string, name: string): Promise<Task | undefined> => {
  try {
    const { exports } = await imported(module)
    const made = Object.hasOwn(exports, name) ? exports[name] : undefined
    if (typeof made === "function") return made as Task
    fault(number, "export", new TypeError(`it exports no function "${name}"`))
  } catch (thrown) {
    fault(number, "module", thrown)
  }
  return undefined
}

const answer = (number: number, value: unknown, { parts }: Context): void => {
  try {
    tell(number, "value", value, parts)
  } catch (thrown) {
    fault(number, "result", thrown)
  }
}

/** What is a promise is waited for; what is not is answered in the same turn. */
const call = (number: number, task: Task, input: unknown): void => {
  const context = new Context(number)
  try {
    const value = task(input as never, context)
    if (!isThenable(value)) return answer(number, value, context)
    Promise.resolve(value).then(
      (value) => answer(number, value, context),
      (thrown) => fault(number, "threw", thrown),
    )
  } catch (thrown) {
    fault(number, "threw", thrown)
  }
}

const isThenable = (value: unknown): boolean =>
  typeof value === "object" && value !== null && typeof Reflect.get(value, "then") === "function"

/** The first time of a task, and each further one for as long as it is not found. */
const perform = async (number: number, task: number, input: unknown, module: string, name: string): Promise<void> => {
  const made = await found(number, module, name)
  if (task !== 0) tasks[task] = { module, name, made }
  if (made !== undefined) call(number, made, input)
}

channel.on("message", (sent: unknown) => {
  const kind = words[Word.sent]
  if (kind === Leave) return exit()
  const number = words[Word.heard] = words[Word.order]!
  const task = words[Word.task]!
  if (kind === Full) {
    const [input, module, name] = sent as Named
    return void perform(number, task, input, module, name)
  }
  const { made, module, name } = tasks[task]!
  const input = kind === Undefined ? undefined : sent
  if (made === undefined) void perform(number, task, input, module, name)
  else call(number, made, input)
})
// What was sent and cannot be read here belongs to the order that is due. Nothing more may be heard after that.
channel.on("messageerror", (thrown) => {
  fault(words[Word.order]!, "input", thrown)
  exit()
})
