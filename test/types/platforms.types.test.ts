/** The types of what a platform supplies at once, of its idle timer and its signals, exactly. The compiler is the test. */
import { it } from "vitest"
import type * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type * as BunIdle from "../../adapters/bun/IdleTimer.ts"
import type * as BunPlatform from "../../adapters/bun/Platform.ts"
import type * as BunSignals from "../../adapters/bun/Signals.ts"
import type * as DenoIdle from "../../adapters/deno/IdleTimer.ts"
import type * as DenoPlatform from "../../adapters/deno/Platform.ts"
import type * as DenoSignals from "../../adapters/deno/Signals.ts"
import type * as EdgePlatform from "../../adapters/edge/Platform.ts"
import type { Connect } from "../../adapters/edge/Sockets.ts"
import * as NodeExecutor from "../../adapters/node/BlockingExecutor.ts"
import type * as NodeIdle from "../../adapters/node/IdleTimer.ts"
import type * as NodePlatform from "../../adapters/node/Platform.ts"
import * as NodeSignals from "../../adapters/node/Signals.ts"
import type * as NodeSockets from "../../adapters/node/Sockets.ts"
import type { Admission } from "../../core/Admission.ts"
import type { DrainReport } from "../../core/AdmissionSnapshot.ts"
import type * as BlockingExecutor from "../../core/BlockingExecutor.ts"
import type { Deadline } from "../../core/Deadline.ts"
import type * as IdleTimer from "../../core/IdleTimer.ts"
import type * as Job from "../../core/Job.ts"
import type { InvalidLimits, InvalidRequest } from "../../core/Refusal.ts"
import type * as Sockets from "../../core/Sockets.ts"

/** `true` only where both are the same type; unions, optional and readonly count. */
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false
/** Accepts no type but `true`. */
type Law<_ extends true> = never

type Of<E> = E extends Effect.Effect<infer A, infer X, infer R> ? [A, X, R] : never
type Provided<L> = L extends Layer.Layer<infer A, infer E, infer R> ? [A, E, R] : never

type IsAny<T> = 0 extends 1 & T ? true : false
/** The types in a value's type that a caller meets: its own, and what it takes, gives, fails with and needs. */
type Parts<T> = IsAny<T> extends true ? true
  : T extends (...args: infer P) => infer R ? { [K in keyof P]: IsAny<P[K]> }[number] | IsAny<R> | Parts<R>
  : T extends Effect.Effect<infer A, infer E, infer R> ? IsAny<A> | IsAny<E> | IsAny<R>
  : T extends Layer.Layer<infer A, infer E, infer R> ? IsAny<A> | IsAny<E> | IsAny<R>
  : false
/** The names of a module's exports, or of a record's fields, in whose types there is an `any`. */
type Anys<M> = { [K in keyof M]-?: true extends Parts<M[K]> ? K : never }[keyof M]

type Executor = BlockingExecutor.BlockingExecutor
type Within = Duration.Input

declare const admission: Admission
declare const executor: Executor
declare const timer: IdleTimer.IdleTimer
declare const needy: (deadline: Deadline) => Effect.Effect<1, "broken", "needed">

const drained = () => NodeSignals.drain(admission.drain, "1 second")
const joined = () => NodeSignals.drain(executor.drain, "1 second")
const needing = () => NodeSignals.drain(needy, "1 second")

export type Laws = [
  // All that a platform supplies, for nothing; with an executor, options may be refused.
  Law<Equal<Provided<typeof NodePlatform.layer>, [Sockets.Sockets, never, never]>>,
  Law<
    Equal<
      Provided<ReturnType<typeof NodePlatform.withExecutor>>,
      [Sockets.Sockets | Executor, InvalidLimits, never]
    >
  >,
  Law<Equal<Parameters<typeof NodePlatform.withExecutor>, [options: BlockingExecutor.Options]>>,
  Law<Equal<typeof NodePlatform, typeof DenoPlatform>>,
  Law<Equal<typeof NodePlatform, typeof BunPlatform>>,
  Law<Equal<typeof EdgePlatform.layer, (connect: Connect) => Layer.Layer<Sockets.Sockets>>>,
  // Timers: a reference has a default, so that a layer of it gives no service that anybody needs.
  Law<Equal<typeof NodeIdle.layer, Layer.Layer<never>>>,
  Law<Equal<typeof NodeIdle, typeof DenoIdle>>,
  Law<Equal<typeof NodeIdle, typeof BunIdle>>,
  Law<Equal<typeof IdleTimer.IdleTimer, Context.Reference<IdleTimer.IdleTimer>>>,
  Law<Equal<Of<ReturnType<IdleTimer.IdleTimer["sleep"]>>, [void, InvalidRequest, never]>>,
  Law<Equal<Parameters<IdleTimer.IdleTimer["sleep"]>, [duration: Within]>>,
  Law<Equal<keyof IdleTimer.IdleTimer, "sleep">>,
  Law<Equal<keyof IdleTimer.TimerDriver, "nowMillis" | "set">>,
  Law<Equal<typeof IdleTimer.make, (driver: IdleTimer.TimerDriver) => IdleTimer.IdleTimer>>,
  // Signals: what a drain gives, fails with and needs, and a time that is none.
  Law<Equal<Of<typeof NodeSignals.listen>, [Effect.Effect<void>, never, Scope.Scope]>>,
  Law<Equal<Of<ReturnType<typeof drained>>, [DrainReport, InvalidRequest, never]>>,
  Law<Equal<Of<ReturnType<typeof joined>>, [BlockingExecutor.ExecutorDrained, InvalidRequest, never]>>,
  Law<Equal<Of<ReturnType<typeof needing>>, [1, "broken" | InvalidRequest, "needed"]>>,
  Law<Equal<typeof NodeSignals, typeof DenoSignals>>,
  Law<Equal<typeof NodeSignals, typeof BunSignals>>,
  // No `any` anywhere in what is met.
  Law<Equal<Anys<typeof NodePlatform | typeof NodeIdle>, never>>,
  Law<Equal<Anys<typeof NodeSignals> | Anys<typeof NodeExecutor> | Anys<typeof NodeSockets>, never>>,
  Law<Equal<Anys<typeof BlockingExecutor> | Anys<Executor> | Anys<BlockingExecutor.Started<1>>, never>>,
  Law<Equal<Anys<BlockingExecutor.ExecutorSnapshot> | Anys<BlockingExecutor.ExecutorDrained>, never>>,
  Law<Equal<Anys<typeof Job> | Anys<Job.JobContext> | Anys<Job.Job<1>> | Anys<Job.RunningJob>, never>>,
  Law<Equal<Anys<typeof IdleTimer> | Anys<IdleTimer.IdleTimer> | Anys<IdleTimer.TimerDriver>, never>>,
  Law<Equal<Anys<typeof Sockets> | Anys<Sockets.Sockets> | Anys<Sockets.Socket>, never>>,
]

// @ts-expect-error: a sleep may be refused
export const slept = (): Effect.Effect<void> => timer.sleep("1 second")
// @ts-expect-error: an executor needs its options
export const optionless = () => NodeExecutor.layer()
// @ts-expect-error: what a drain needs must be given
export const unprovided = () => Effect.runPromise(needing())

it("the types of the platforms are checked by the compiler", () => {})

// And the compiler does notice an `any`, wherever it is.
type Any = ReturnType<typeof JSON.parse>
interface Loose {
  readonly plain: Any
  readonly takes: (value: Any) => void
  readonly gives: () => Any
  readonly fails: Effect.Effect<void, Any>
  readonly needs: (n: number) => Effect.Effect<void, never, Any>
  readonly layer: Layer.Layer<never, Any>
  readonly exact: (n: number) => Effect.Effect<unknown, "no", "needed">
}
export type Noticed = [Law<Equal<Anys<Loose>, Exclude<keyof Loose, "exact">>>]
