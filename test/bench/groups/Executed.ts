/**
 * E. Blocking work: a job's round trip through an executor, beside the same through a bare `node:worker_threads` worker.
 *
 * Both sides answer what they are sent. The floor has one listener, no line, no names, no errors and no cancellation.
 */
import { Worker } from "node:worker_threads"
import process from "node:process"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import { threads as bun } from "../../../adapters/bun/BlockingExecutor.ts"
import { threads as deno } from "../../../adapters/deno/BlockingExecutor.ts"
import { threads as node } from "../../../adapters/node/BlockingExecutor.ts"
import * as BlockingExecutor from "../../../core/BlockingExecutor.ts"
import { type Case, inFiber, stage } from "../Cases.ts"
import type { Loop } from "../Rounds.ts"
import type { Emit } from "../Row.ts"

const name = "holdfast executor"
const floorName = "bare worker (floor)"
const threads = process.versions["bun"] ? bun : process.versions["deno"] ? deno : node
const module = new URL("../BareWorker.ts", import.meta.url)

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
  const cases: ReadonlyArray<Case> = [
    { subject: name, case: "round trip, one at a time", work: rounds, floor },
    { subject: name, case: "1 MiB handed over and back", work: moved, floor: movedFloor },
    { subject: floorName, case: "round trip, one at a time", work: floor },
    { subject: floorName, case: "1 MiB handed over and back", work: movedFloor },
  ]
  await stage(emit, "E", cases, floor)
}
