/** The floor of group E: a bare thread that answers each message, with nothing of ours in it. Exports the job as well. */
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
