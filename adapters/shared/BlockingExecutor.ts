/**
 * Worker threads over `node:worker_threads`, which is there on Node, Deno and Bun alike. It owns nothing: a thread is its
 * executor's from `spawn` on.
 */
import process from "node:process"
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from "node:worker_threads"
import type { Answer, Ended, Hear, WorkerThread, WorkerThreads } from "../../core/WorkerThreads.ts"
import { errorOf } from "./JobErrors.ts"
import { answerOf, Bare, Full, Leave, type Named, Tasks, Word, wordsOf } from "./JobWire.ts"

/** Beside this file, as a source or as built; a bundle has to keep it as a file beside itself. */
const program = new URL(
  import.meta.url.endsWith(".ts") ? "./blockingWorker.ts" : "./blockingWorker.js",
  import.meta.url,
)

/** Options that say how modules are found and loaded. Any other may not be given to a thread, which would not start. */
const ofModules = /^(-C|-r|--(conditions|require|import|(experimental-)?loader|no-warnings|enable-source-maps)(=|$))/

/**
 * A thread has the options of its process (undefined), except where the process was started on a text (`--input-type`, Node):
 * a thread has a file, and refuses to start with that option among the others.
 */
const execArgv = (options: ReadonlyArray<string>): Array<string> | undefined => {
  if (!options.some((each) => /^--input-type(=|$)/.test(each))) return undefined
  // What is no option is the value of the one before it.
  return options.filter((each, i) => ofModules.test(each.startsWith("-") ? each : options[i - 1] ?? ""))
}

/** `joins`: whether the runtime's `terminate()` waits for the thread. */
export const threads = (joins: boolean): WorkerThreads => ({
  joins,
  spawn: (flag, hear) => {
    const { port1: port, port2 } = new MessageChannel()
    const words = wordsOf()
    try {
      const worker = new Worker(program, {
        workerData: { flag, words, port: port2 },
        transferList: [port2],
        execArgv: execArgv(process.execArgv),
      })
      return threadOf(worker, port, words, hear)
    } catch (thrown) {
      port.close()
      return errorOf(thrown)
    }
  },
})

/** An answer that has come and was not heard. */
const unheardOf = (port: MessagePort, words: Int32Array, order: number): Answer | undefined => {
  try {
    const received = receiveMessageOnPort(port)
    return received === undefined ? undefined : answerOf(words, order, received.message)
  } catch {
    return undefined
  }
}

/** `port` and `words` are for it and its program alone. */
const threadOf = (worker: Worker, port: MessagePort, words: Int32Array, { answered, gone }: Hear): WorkerThread => {
  const tasks = new Tasks()
  let error: Ended["error"]
  let last: Answer | undefined
  let order = 0
  const leave = (): void => {
    Atomics.store(words, Word.sent, Leave)
    port.postMessage(undefined)
  }
  // An order that cannot be read there, or an answer here, is the last one, for a port may hear nothing after it (Deno):
  // the thread ends, and its end is what is heard.
  port.on("message", (told: unknown) => {
    const answer = answerOf(words, order, told)
    if (answer?.kind === "input") last = answer
    else if (answer !== undefined && last === undefined) answered(answer)
  })
  port.on("messageerror", (thrown) => {
    last = { number: order, kind: "result", error: errorOf(thrown) }
    leave()
  })
  worker.on("error", (thrown) => error = errorOf(thrown))
  worker.once("exit", (code) => {
    // What it said just before may not have been heard yet (Node).
    last ??= unheardOf(port, words, order)
    port.close()
    gone({ code, error, last, unheard: order !== 0 && Atomics.load(words, Word.heard) !== order })
  })
  worker.unref()
  port.unref()
  /** A list of nothing to transfer costs an eighth of a round trip on Bun. */
  const post = (message: unknown, transfer: ReadonlyArray<object>): void =>
    transfer.length === 0 ? port.postMessage(message) : port.postMessage(message, transfer as Array<ArrayBuffer>)
  return {
    send: ({ input, module, name, number }, transfer) => {
      const task = tasks.known(module, name)
      Atomics.store(words, Word.order, number)
      Atomics.store(words, Word.task, task ?? tasks.next)
      Atomics.store(words, Word.sent, task === undefined ? Full : Bare)
      try {
        post(task === undefined ? [input, module, name] satisfies Named : input, transfer)
      } catch (thrown) {
        return errorOf(thrown)
      }
      order = number
      if (task === undefined) tasks.told(module, name)
      return undefined
    },
    hold: (held) => held ? worker.ref() : worker.unref(),
    leave,
    terminate: () => void worker.terminate(),
  }
}
