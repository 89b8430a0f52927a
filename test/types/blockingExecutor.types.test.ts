/** The types of the executor's verbs, exactly: what a job makes, may fail with and needs. The compiler is the test. */
import { it } from "vitest"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type * as BunExecutor from "../../adapters/bun/BlockingExecutor.ts"
import type * as DenoExecutor from "../../adapters/deno/BlockingExecutor.ts"
import type * as NodeExecutor from "../../adapters/node/BlockingExecutor.ts"
import type { Admission } from "../../core/Admission.ts"
import type * as Refused from "../../core/AdmissionRefused.ts"
import type * as BlockingExecutor from "../../core/BlockingExecutor.ts"
import type { Deadline } from "../../core/Deadline.ts"
import * as Job from "../../core/Job.ts"
import type * as Fault from "../../core/JobFault.ts"
import type { InvalidLimits, InvalidRequest } from "../../core/Refusal.ts"
import type { Answer, WorkerThread, WorkerThreads } from "../../core/WorkerThreads.ts"

/** `true` only where both are the same type; unions, optional and readonly count. */
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false
/** Accepts no type but `true`. */
type Law<_ extends true> = never

type Of<E> = E extends Effect.Effect<infer A, infer X, infer R> ? [A, X, R] : never
type Executor = BlockingExecutor.BlockingExecutor
type Faults = Fault.JobFault | Refused.QueueFull | Refused.WaitExpired | Refused.Closed | InvalidRequest

declare const executor: Executor
declare const admission: Admission
declare const needy: Effect.Effect<void, "broke", Scope.Scope | "needed">
type Hash = (input: { readonly text: string }, job: Job.JobContext) => Promise<number>
const hash = Job.of<Hash>("file:///jobs.js", "hash")

const plain = () => executor.run({ module: "file:///jobs.js", name: "hash" })
const job: Job.Job<number> = { module: "file:///jobs.js", name: "hash" }
const named = () => executor.run(job)
const typed = () => executor.run(hash({ text: "a" }))
const charged = () => executor.run(hash({ text: "a" }, { charge: needy }))
const admitted = () => executor.run(hash({ text: "a" }, { charge: admission.enter({ tenant: "a" }) }))
const begun = () => executor.start(hash({ text: "a" }, { charge: needy }))
const all = () => Effect.all([executor.run(hash({ text: "a" })), plain()])

export type Laws = [
  Law<Equal<Of<ReturnType<typeof plain>>, [unknown, Faults, never]>>,
  Law<Equal<Of<ReturnType<typeof named>>, [number, Faults, never]>>,
  Law<Equal<Of<ReturnType<typeof typed>>, [number, Faults, never]>>,
  // The scope of a charge is the job's; what else it needs, the caller gives.
  Law<Equal<Of<ReturnType<typeof charged>>, [number, Faults | "broke", "needed"]>>,
  Law<Equal<Of<ReturnType<typeof admitted>>, [number, Faults | Refused.AdmissionRefused, never]>>,
  Law<Equal<Of<ReturnType<typeof begun>>, [BlockingExecutor.Started<number>, Faults | "broke", "needed"]>>,
  // Nothing is inferred from where a result goes.
  Law<Equal<Of<ReturnType<typeof all>>, [[number, unknown], Faults, never]>>,
  Law<Equal<Of<BlockingExecutor.Started<1>["join"]>, [1, Fault.JobFault, never]>>,
  Law<Equal<Of<BlockingExecutor.Started<1>["cancel"]>, [void, never, never]>>,
  Law<Equal<keyof BlockingExecutor.Started<1>, "number" | "join" | "cancel">>,
  Law<Equal<keyof Executor, "run" | "start" | "snapshot" | "jobs" | "cancel" | "terminate" | "drain">>,
  Law<Equal<Of<Executor["snapshot"]>, [BlockingExecutor.ExecutorSnapshot, never, never]>>,
  Law<Equal<Of<ReturnType<Executor["cancel"]>>, [void, Fault.NoSuchJob, never]>>,
  Law<Equal<Of<ReturnType<Executor["terminate"]>>, ["ended" | "abandoned", Fault.NoSuchJob, never]>>,
  Law<Equal<Of<ReturnType<Executor["drain"]>>, [BlockingExecutor.ExecutorDrained, InvalidRequest, never]>>,
  Law<Equal<Parameters<Executor["drain"]>, [deadline: Deadline]>>,
  Law<Equal<Of<ReturnType<typeof BlockingExecutor.make>>, [Executor, InvalidLimits, Scope.Scope]>>,
  Law<Equal<ReturnType<typeof BlockingExecutor.layer>, Layer.Layer<Executor, InvalidLimits>>>,
  Law<Equal<typeof BlockingExecutor.BlockingExecutor, Context.Service<Executor, Executor>>>,
  Law<
    Equal<
      Fault.JobFault["_tag"],
      "JobFailed" | "JobNotFound" | "JobUnsendable" | "WorkerLost" | "JobAbandoned"
    >
  >,
  Law<Equal<Fault.WorkerLost["reason"], "crashed" | "exited" | "terminated" | "not-started">>,
  Law<Equal<keyof Fault.JobError, "name" | "message" | "code" | "cause">>,
  Law<Equal<keyof WorkerThreads, "spawn" | "joins">>,
  Law<Equal<keyof WorkerThread, "send" | "hold" | "leave" | "terminate">>,
  Law<Equal<Answer["kind"], "value" | "threw" | "module" | "export" | "result" | "input">>,
  // The same noun in each runtime's folder.
  Law<Equal<typeof NodeExecutor, typeof DenoExecutor>>,
  Law<Equal<typeof NodeExecutor, typeof BunExecutor>>,
]

// @ts-expect-error: the input is the function's
export const mistyped = () => hash({ text: 1 })
// @ts-expect-error: a job is no effect by itself
export const direct = () => Effect.runPromise(hash({ text: "a" }))
// @ts-expect-error: what a charge needs must be given
export const unprovided = () => Effect.runPromise(charged())

it("the types of the executor are checked by the compiler", () => {})
