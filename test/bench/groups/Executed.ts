/**
 * E. Blocking work: a job's round trip through an executor, beside the same through a bare `node:worker_threads` worker.
 *
 * Both sides answer what they are sent. The floor has one listener, no line, no names, no errors and no cancellation. What is
 * measured is the CPU of the process, both threads and the waking of each by the other included: in wall time the machine's
 * load would say more than either.
 */
import { Worker } from "node:worker_threads"
import process from "node:process"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import { threads as bun } from "../../../adapters/bun/BlockingExecutor.ts"
import { threads as deno } from "../../../adapters/deno/BlockingExecutor.ts"
import { threads as node } from "../../../adapters/node/BlockingExecutor.ts"
import * as BlockingExecutor from "../../../core/BlockingExecutor.ts"
import { inFiber } from "../Cases.ts"
import { median } from "../Interval.ts"
import { alternate, type Loop, type Measure } from "../Rounds.ts"
import { type Emit, figures } from "../Row.ts"

const name = "holdfast executor"
const floorName = "bare worker (floor)"
const perTurn = 500
const threads = process.versions["bun"] ? bun : process.versions["deno"] ? deno : node
const module = new URL("../BareWorker.ts", import.meta.url)

/** Nanoseconds of CPU an operation, of all threads of this process. */
const turn = (loop: Loop): Measure => async () => {
  const before = process.cpuUsage()
  await loop(perTurn)
  const { system, user } = process.cpuUsage(before)
  return ((system + user) * 1e3) / perTurn
}

/** One thing at a time, as a promise. */
const bare = () => {
  const worker = new Worker(module, { workerData: "bare" })
  let answer = (_: unknown): void => {}
  worker.on("message", (value) => answer(value))
  return (input: unknown, transfer: Array<ArrayBuffer> = []): Promise<unknown> =>
    new Promise((resolve) => {
      answer = resolve
      worker.postMessage(input, transfer)
    })
}

export const measure = async (emit: Emit): Promise<void> => {
  const scope = Scope.makeUnsafe()
  const executor = await Effect.runPromise(Scope.provide(BlockingExecutor.make({ threads: 2 }, threads), scope))
  const ask = bare()
  const job = { module, name: "same", input: 1 }
  const rounds: Loop = inFiber(() => executor.run(job))
  const floor: Loop = async (n) => {
    for (let i = 0; i < n; i++) await ask(1)
  }
  let own = new ArrayBuffer(1 << 20)
  const moved: Loop = inFiber(() =>
    Effect.map(
      executor.run({ module, name: "same", input: own, transfer: [own] }),
      (back) => own = back as ArrayBuffer,
    )
  )
  let theirs = new ArrayBuffer(1 << 20)
  const movedFloor: Loop = async (n) => {
    for (let i = 0; i < n; i++) theirs = await ask(theirs, [theirs]) as ArrayBuffer
  }
  const cases = {
    "round trip, one at a time": [rounds, floor],
    "1 MiB handed over and back": [moved, movedFloor],
  } as const
  const samples = await alternate(
    Object.values(cases).map(([work, floor]) => ({ subject: turn(work), floor: turn(floor), slices: 9 })),
  )
  for (const [i, title] of Object.keys(cases).entries()) {
    emit({ group: "E", subject: name, case: title, ...figures(samples[i]!) })
    emit({ group: "E", subject: floorName, case: title, nsPerOp: median(samples[i]!.floors) })
  }
}
