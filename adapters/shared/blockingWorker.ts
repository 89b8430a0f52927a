/**
 * The program of a worker thread: imports modules, calls their exports, and answers. Started by `BlockingExecutor.ts`, which
 * finds it beside itself, as a source or as built.
 *
 * It imports nothing of Effect, so that a thread starts as fast as it can. It keeps the modules that it has imported, as
 * the runtime does.
 */
import process from "node:process"
import { parentPort, workerData } from "node:worker_threads"
import type { JobContext } from "../../core/Job.ts"
import type { Answer, Order } from "../../core/WorkerThreads.ts"
import { errorOf } from "./JobErrors.ts"

const port = parentPort!
const flag: Int32Array = workerData.flag
const modules = new Map<string, Readonly<Record<string, unknown>>>()

type Fault = Exclude<Answer, { readonly kind: "value" }>
const fault = (number: number, kind: Fault["kind"], thrown: unknown): void =>
  port.postMessage({ number, kind, error: errorOf(thrown) } satisfies Fault)

const contextOf = (number: number, parts: Array<object>): JobContext => {
  const cancelled = (): boolean => Atomics.load(flag, 0) === number
  return {
    cancelled,
    pause: (millis) => {
      const until = performance.now() + millis
      // It wakes early where the flag has changed for another order.
      for (let left = millis; left > 0 && !cancelled(); left = until - performance.now()) {
        Atomics.wait(flag, 0, Atomics.load(flag, 0), left)
      }
      return cancelled()
    },
    transfer: (...more) => void parts.push(...more),
  }
}

const perform = async ({ input, module, name, number }: Order): Promise<void> => {
  let task: unknown
  try {
    const exports = modules.get(module) ?? await import(module)
    modules.set(module, exports)
    task = Object.hasOwn(exports, name) ? exports[name] : undefined
  } catch (thrown) {
    return fault(number, "module", thrown)
  }
  if (typeof task !== "function") return fault(number, "export", new TypeError(`it exports no function "${name}"`))
  const parts: Array<object> = []
  let value: unknown
  try {
    value = await task(input, contextOf(number, parts))
  } catch (thrown) {
    return fault(number, "threw", thrown)
  }
  try {
    port.postMessage({ number, kind: "value", value } satisfies Answer, parts as Array<ArrayBuffer>)
  } catch (thrown) {
    fault(number, "result", thrown)
  }
}

port.on("message", (order: Order | "leave") => order === "leave" ? process.exit(0) : void perform(order))
// What was sent and cannot be read here belongs to the order that is due.
port.on("messageerror", (thrown) => fault(0, "input", thrown))
