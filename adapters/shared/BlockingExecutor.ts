/**
 * Worker threads over `node:worker_threads`, which is there on Node, Deno and Bun alike. It owns nothing: a thread is its
 * executor's from `spawn` on.
 */
import process from "node:process"
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from "node:worker_threads"
import type { Answer, Ended, Hear, WorkerThread, WorkerThreads } from "../../core/WorkerThreads.ts"
import type { Channel } from "./JobChannel.ts"
import { errorOf } from "./JobErrors.ts"
import { answerOf, Orders, wordsOf } from "./JobWire.ts"

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

const isDeno = "deno" in process.versions

/**
 * Threads of this process. Deno's `terminate()` does not wait for the thread, which may work on; the others' does. It is asked of
 * the runtime that runs this, whichever platform's layer it was.
 */
export const threads: WorkerThreads = {
  joins: !isDeno,
  spawn: (flag, hear) => {
    const ports = isDeno ? undefined : new MessageChannel()
    const words = wordsOf()
    try {
      const worker = new Worker(program, {
        workerData: { flag, words, port: ports?.port2 },
        transferList: ports === undefined ? [] : [ports.port2],
        execArgv: execArgv(process.execArgv),
      })
      return threadOf(worker, ports?.port1, words, hear)
    } catch (thrown) {
      ports?.port1.close()
      return errorOf(thrown)
    }
  },
}

/** An answer that has come and was not heard. */
const unheardOf = (port: MessagePort, words: Int32Array, order: number): Answer | undefined => {
  try {
    const received = receiveMessageOnPort(port)
    return received === undefined ? undefined : answerOf(words, order, received.message)
  } catch {
    return undefined
  }
}

/** `port` and `words` are for it and its program alone; without a port, the thread's own channel is. */
const threadOf = (worker: Worker, port: MessagePort | undefined, words: Int32Array, hear: Hear): WorkerThread => {
  const channel: Channel = port ?? worker
  const orders = new Orders(channel, words)
  let error: Ended["error"]
  let last: Answer | undefined
  // An order that cannot be read there, or an answer here, is the last one, for nothing may be heard after it (Deno): the
  // thread ends, and its end is what is heard.
  channel.on("message", (told: unknown) => {
    const answer = answerOf(words, orders.last, told)
    if (answer?.kind === "input") last = answer
    else if (answer !== undefined && last === undefined) hear.answered(answer)
  })
  channel.on("messageerror", (thrown) => {
    last = { number: orders.last, kind: "result", error: errorOf(thrown) }
    orders.leave()
  })
  worker.on("error", (thrown) => error = errorOf(thrown))
  worker.once("exit", (code) => {
    // What it said just before may not have been heard yet (Node). Its own channel is in order.
    if (port !== undefined) last ??= unheardOf(port, words, orders.last)
    port?.close()
    hear.gone({ code, error, last, unheard: !orders.heard })
  })
  worker.unref()
  port?.unref()
  return {
    send: (order, transfer) => {
      try {
        orders.send(order, transfer)
        return undefined
      } catch (thrown) {
        return errorOf(thrown)
      }
    },
    hold: (held) => held ? worker.ref() : worker.unref(),
    leave: () => orders.leave(),
    terminate: () => void worker.terminate(),
  }
}
