/**
 * E. Blocking work: a job's round trip through an executor, beside the same through a bare `node:worker_threads` worker.
 *
 * Both sides answer what they are sent. The floor has one listener, no line, no names, no errors and no cancellation. It is
 * waited for by a promise; and again by a fiber, which every effect needs and which costs most on Deno, where Effect keeps the
 * async context at each wait: what is above that is the executor's own. What is measured is the CPU of the process on one core,
 * both threads and the waking of each by the other included: in wall time the machine's load would say more than either.
 */
import { Worker } from "node:worker_threads"
import process from "node:process"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import { threads as bun } from "../../../adapters/bun/BlockingExecutor.ts"
import { threads as deno } from "../../../adapters/deno/BlockingExecutor.ts"
import { threads as node } from "../../../adapters/node/BlockingExecutor.ts"
import * as BlockingExecutor from "../../../core/BlockingExecutor.ts"
import { inFiber, inLoop } from "../Cases.ts"
import { median } from "../Interval.ts"
import { pin } from "../OneCore.ts"
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

/** One thing at a time; nothing is listed for transfer where nothing is, which costs some runtimes an eighth. */
const bare = () => {
  const worker = new Worker(module, { workerData: "bare" })
  let answer = (_: unknown): void => {}
  worker.on("message", (value) => answer(value))
  return (input: unknown, answered: (value: unknown) => void): void => {
    answer = answered
    if (input instanceof ArrayBuffer) worker.postMessage(input, [input])
    else worker.postMessage(input)
  }
}

/** Goes there and back so often before anything is counted: until then a compiler works beside both. */
const warm = 20_000

export const measure = async (emit: Emit): Promise<void> => {
  pin()
  const scope = Scope.makeUnsafe()
  const executor = await Effect.runPromise(Scope.provide(BlockingExecutor.make({ threads: 2 }, threads), scope))
  const ask = bare()
  const asPromise = (input: unknown): Promise<unknown> => new Promise((resolve) => ask(input, resolve))
  const inEffect = (input: unknown): Effect.Effect<unknown> =>
    Effect.callback((resume) => ask(input, (value) => resume(Effect.succeed(value))))
  const job = { module, name: "same", input: 1 }
  const run: Loop = inFiber(() => executor.run(job))
  const promised: Loop = inLoop(() => asPromise(1))
  let own = new ArrayBuffer(1 << 20)
  const keep = (back: unknown): void => void (own = back as ArrayBuffer)
  const moved: Loop = inFiber(() =>
    Effect.map(executor.run({ module, name: "same", input: own, transfer: [own] }), keep)
  )
  let theirs = new ArrayBuffer(1 << 20)
  const keepTheirs = (back: unknown): void => void (theirs = back as ArrayBuffer)
  const cases: Readonly<Record<string, readonly [Loop, Loop]>> = {
    "round trip, one at a time": [run, promised],
    "round trip, of one fiber": [run, inFiber(() => inEffect(1))],
    "1 MiB handed over and back": [moved, inLoop(() => asPromise(theirs).then(keepTheirs))],
    "1 MiB handed over and back, of one fiber": [moved, inFiber(() => Effect.map(inEffect(theirs), keepTheirs))],
  }
  for (const loops of Object.values(cases)) for (const loop of loops) await loop(warm / 10)
  await run(warm)
  await promised(warm)
  const samples = await alternate(
    Object.values(cases).map(([work, floor]) => ({ subject: turn(work), floor: turn(floor), slices: 9 })),
  )
  for (const [i, title] of Object.keys(cases).entries()) {
    emit({ group: "E", subject: name, case: title, ...figures(samples[i]!) })
    emit({ group: "E", subject: floorName, case: title, nsPerOp: median(samples[i]!.floors) })
  }
}
