/**
 * Worker threads over `node:worker_threads`, which is there on Node, Deno and Bun alike. It owns nothing: a thread is its
 * executor's from `spawn` on.
 */
import { Worker } from "node:worker_threads"
import type { Ended, Hear, WorkerThread, WorkerThreads } from "../../core/WorkerThreads.ts"
import { errorOf } from "./JobErrors.ts"
import { answerOf, leave, Tasks, type Told } from "./JobWire.ts"

/** Beside this file, as a source or as built; a bundle has to keep it as a file beside itself. */
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
  const tasks = new Tasks()
  let error: Ended["error"]
  let order = 0
  worker.on("message", (told: Told) => {
    const answer = answerOf(told)
    // An order that could not be read is the last one.
    answered(answer.number === 0 ? { ...answer, number: order } : answer)
  })
  worker.on("messageerror", (thrown) => answered({ number: order, kind: "result", error: errorOf(thrown) }))
  worker.on("error", (thrown) => error = errorOf(thrown))
  worker.once("exit", (code) => gone({ code, error }))
  worker.unref()
  return {
    send: (next, transfer) => {
      const sent = tasks.sent(next)
      try {
        worker.postMessage(sent, transfer as Array<ArrayBuffer>)
      } catch (thrown) {
        return errorOf(thrown)
      }
      order = next.number
      if (sent.length > 3) tasks.know(sent)
      return undefined
    },
    hold: (held) => held ? worker.ref() : worker.unref(),
    leave: () => worker.postMessage(leave),
    terminate: () => void worker.terminate(),
  }
}
