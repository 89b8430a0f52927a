/**
 * Worker threads over `node:worker_threads`, which is there on Node, Deno and Bun alike. It owns nothing: a thread is its
 * executor's from `spawn` on.
 */
import { Worker } from "node:worker_threads"
import type { Answer, Ended, Hear, WorkerThread, WorkerThreads } from "../../core/WorkerThreads.ts"
import { errorOf } from "./JobErrors.ts"

/** Beside this file, as a source or as built. */
const program = new URL(
  import.meta.url.endsWith(".ts") ? "./blockingWorker.ts" : "./blockingWorker.js",
  import.meta.url,
)

/** `joins`: whether the runtime's `terminate()` waits for the thread. */
export const threads = (joins: boolean): WorkerThreads => ({
  joins,
  spawn: (flag, hear) => {
    try {
      return threadOf(new Worker(program, { workerData: { flag } }), hear)
    } catch (thrown) {
      return errorOf(thrown)
    }
  },
})

const threadOf = (worker: Worker, { answered, gone }: Hear): WorkerThread => {
  let error: Ended["error"]
  let order = 0
  // An answer that cannot be read here is that of the last order, and so is a fault with an order that could not be read.
  const due = (answer: Answer): void => answered({ ...answer, number: order })
  worker.on("message", (answer: Answer) => answer.number === 0 ? due(answer) : answered(answer))
  worker.on("messageerror", (thrown) => due({ number: 0, kind: "result", error: errorOf(thrown) }))
  worker.on("error", (thrown) => error = errorOf(thrown))
  worker.once("exit", (code) => gone({ code, error }))
  worker.unref()
  return {
    send: (next, transfer) => {
      try {
        worker.postMessage(next, transfer as Array<ArrayBuffer>)
        order = next.number
        return undefined
      } catch (thrown) {
        return errorOf(thrown)
      }
    },
    hold: (held) => held ? worker.ref() : worker.unref(),
    leave: () => worker.postMessage("leave"),
    terminate: () => void worker.terminate(),
  }
}
