/**
 * Worker threads over `node:worker_threads`, which is there on Node, Deno and Bun alike. It owns nothing: a thread is its
 * executor's from `spawn` on.
 */
import process from "node:process"
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from "node:worker_threads"
import type { Answer, Ended, Hear, WorkerThread, WorkerThreads } from "../../core/WorkerThreads.ts"
import { errorOf } from "./JobErrors.ts"
import { answerOf, leave, Tasks } from "./JobWire.ts"

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
    const heard = new Int32Array(new SharedArrayBuffer(4))
    try {
      const worker = new Worker(program, {
        workerData: { flag, heard, port: port2 },
        transferList: [port2],
        execArgv: execArgv(process.execArgv),
      })
      return threadOf(worker, port, heard, hear)
    } catch (thrown) {
      port.close()
      return errorOf(thrown)
    }
  },
})

/** An answer that has come and was not heard. */
const unheardOf = (port: MessagePort): Answer | undefined => {
  try {
    return answerOf(receiveMessageOnPort(port)?.message)
  } catch {
    return undefined
  }
}

/** `port` is for it and its program alone; `heard` is the number of the last order that has reached it. */
const threadOf = (worker: Worker, port: MessagePort, heard: Int32Array, { answered, gone }: Hear): WorkerThread => {
  const tasks = new Tasks()
  let error: Ended["error"]
  let last: Answer | undefined
  let order = 0
  // An order that cannot be read there, or an answer here, is the last one, for a port may hear nothing after it (Deno):
  // the thread ends, and its end is what is heard.
  port.on("message", (told: unknown) => {
    const answer = answerOf(told)
    if (answer?.kind === "input") last = { ...answer, number: order }
    else if (answer !== undefined && last === undefined) answered(answer)
  })
  port.on("messageerror", (thrown) => {
    last = { number: order, kind: "result", error: errorOf(thrown) }
    port.postMessage(leave)
  })
  worker.on("error", (thrown) => error = errorOf(thrown))
  worker.once("exit", (code) => {
    // What it said just before may not have been heard yet (Node).
    last ??= unheardOf(port)
    port.close()
    gone({ code, error, last, unheard: order !== 0 && Atomics.load(heard, 0) !== order })
  })
  worker.unref()
  port.unref()
  return {
    send: (next, transfer) => {
      const sent = tasks.sent(next)
      try {
        port.postMessage(sent, transfer as Array<ArrayBuffer>)
      } catch (thrown) {
        return errorOf(thrown)
      }
      order = next.number
      if (sent.length > 3) tasks.know(sent)
      return undefined
    },
    hold: (held) => held ? worker.ref() : worker.unref(),
    leave: () => port.postMessage(leave),
    terminate: () => void worker.terminate(),
  }
}
