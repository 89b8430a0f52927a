/** The floors of group E: bare threads that answer each message, with nothing of ours in them. Exports the job as well. */
import { parentPort, workerData } from "node:worker_threads"

/** The executor's job: the same work. */
export const same = (
  input: unknown,
  job?: { readonly transfer: (...parts: ReadonlyArray<object>) => void },
): unknown => {
  if (input instanceof ArrayBuffer) job?.transfer(input)
  return input
}

if (workerData === "bare") {
  parentPort!.on("message", (input) => {
    if (input instanceof ArrayBuffer) parentPort!.postMessage(input, [input])
    else parentPort!.postMessage(input)
  })
}

if (workerData === "numbered") {
  parentPort!.on("message", ([number, input]) => {
    try {
      parentPort!.postMessage([number, same(input)])
    } catch (thrown) {
      parentPort!.postMessage([number, undefined, String(thrown)])
    }
  })
}
