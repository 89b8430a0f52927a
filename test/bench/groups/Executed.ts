/**
 * E. Blocking work: a job's round trip through an executor, beside the same through a bare `node:worker_threads` worker.
 *
 * Both sides answer what they are sent. The floor has one listener, no line, no names, no errors and no cancellation. It is
 * waited for by a promise; and again by a fiber, which every effect needs and which costs most on Deno, where Effect keeps the
 * async context at each wait: what is above that is the executor's own, and no effect can be nearer to a promise than that
 * fiber is, which is told too. A program that asks for more than one thing at a time and wants to hear of errors needs a bit
 * more of a bare worker, so that there is a floor which numbers its messages, too. What is measured is the CPU of the process
 * on one core, both threads and the waking of each by the other included: in wall time the machine's load would say more than
 * either.
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

/** The least that serves several who ask at once: answers are told apart by numbers, and may be errors. */
const numbered = () => {
  const worker = new Worker(module, { workerData: "numbered" })
  const waiting = new Map<number, ReturnType<typeof Promise.withResolvers<unknown>>>()
  let last = 0
  worker.on("message", ([number, value, error]) => {
    const { reject, resolve } = waiting.get(number)!
    waiting.delete(number)
    if (error === undefined) resolve(value)
    else reject(new Error(error))
  })
  return (input: unknown): Promise<unknown> => {
    const asked = Promise.withResolvers<unknown>()
    waiting.set(++last, asked)
    worker.postMessage([last, input])
    return asked.promise
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
  const inOneFiber: Loop = inFiber(() => inEffect(1))
  const askNumbered = numbered()
  let own = new ArrayBuffer(1 << 20)
  const keep = (back: unknown): void => void (own = back as ArrayBuffer)
  const moved: Loop = inFiber(() =>
    Effect.map(executor.run({ module, name: "same", input: own, transfer: [own] }), keep)
  )
  let theirs = new ArrayBuffer(1 << 20)
  const keepTheirs = (back: unknown): void => void (theirs = back as ArrayBuffer)
  const cases: ReadonlyArray<readonly [subject: string, title: string, work: Loop, floor: Loop]> = [
    [name, "round trip, one at a time", run, promised],
    [name, "round trip, of one fiber", run, inOneFiber],
    [name, "round trip, told apart by numbers", run, inLoop(() => askNumbered(1))],
    ["bare worker, of one fiber", "round trip, one at a time", inOneFiber, promised],
    [name, "1 MiB handed over and back", moved, inLoop(() => asPromise(theirs).then(keepTheirs))],
    [name, "1 MiB handed over and back, of one fiber", moved, inFiber(() => Effect.map(inEffect(theirs), keepTheirs))],
  ]
  for (const [, , ...loops] of cases) for (const loop of loops) await loop(warm / 10)
  await run(warm)
  await promised(warm)
  const samples = await alternate(
    cases.map(([, , work, floor]) => ({ subject: turn(work), floor: turn(floor), slices: 9 })),
  )
  for (const [i, [subject, title]] of cases.entries()) {
    emit({ group: "E", subject, case: title, ...figures(samples[i]!) })
    if (subject === name) emit({ group: "E", subject: floorName, case: title, nsPerOp: median(samples[i]!.floors) })
  }
}
