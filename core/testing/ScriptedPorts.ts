/**
 * The ports of the systems to come, as the smallest peer that their specifications fix, each of its calls scripted:
 * sockets, a blocking executor, an identity directory, a versioned store, a database driver. A peer owns what it holds
 * in memory.
 *
 * The decision: a port's noun, its errors and its data belong to the system that consumes it, and are declared there. So
 * the mechanism (`Script.port`) knows none of them and wraps any. What is here is what a specification says of the far
 * side: that a socket is closed later than it is told to, that a job which has begun goes on, that a directory may do
 * what it is told twice, that a store compares versions and fences writers. Where a specification leaves a type open it
 * is a parameter here; when the noun comes, its test makes one of these into the noun's own interface, and the noun does
 * not change for it.
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import * as BlockingExecutor from "../BlockingExecutor.ts"
import type { JobContext } from "../Job.ts"
import type { JobError } from "../JobFault.ts"
import type { InvalidLimits } from "../Refusal.ts"
import type { Hear, Order, WorkerThread, WorkerThreads } from "../WorkerThreads.ts"
import type { Handle, Script } from "./Script.ts"

/** A connection. Its handle is open from the dial until `closed`, which may be long after `destroy`. */
export interface Transport<T> {
  readonly target: T
  readonly isOpen: boolean
  /** Asks for the close, which goes on by itself; at once, and once. */
  readonly destroy: Effect.Effect<void>
  /** Completes when the handle is really closed. */
  readonly closed: Effect.Effect<void>
}

export interface Sockets<T> {
  /** Calls `sockets.dial` and, for each, `socket.close`. The scope destroys, and waits until it is closed. */
  readonly dial: (target: T) => Effect.Effect<Transport<T>, never, Scope.Scope>
}

export const sockets = <T>(script: Script): Sockets<T> => {
  const dial = (target: T): Effect.Effect<Transport<T>> =>
    Effect.map(script.open("socket"), (handle) => {
      const closed = Deferred.makeUnsafe<void>()
      const closing = Effect.andThen(handle.close, Deferred.succeed(closed, undefined))
      let destroyed = false
      return {
        target,
        get isOpen(): boolean {
          return handle.isOpen
        },
        destroy: Effect.suspend(() => {
          if (destroyed) return Effect.void
          destroyed = true
          return Effect.asVoid(Effect.forkDetach(closing, { startImmediately: true }))
        }),
        closed: Deferred.await(closed),
      }
    })
  const over = (transport: Transport<T>): Effect.Effect<void> => Effect.andThen(transport.destroy, transport.closed)
  return {
    dial: (target) => script.effect("sockets.dial", Effect.acquireRelease(dial(target), over), [target]),
  }
}

/** Jobs of a scripted executor by the name of their export; their module is not looked at. */
export type Jobs = Readonly<Record<string, (input: never, context: JobContext) => unknown>>

/**
 * Worker threads whose jobs are functions of the test: the back end of a real executor. Each job is the call
 * `executor.job`, done at once where it is not held; one that is planned to fail has thrown, and one that is planned to die
 * takes its thread with it. Open are a `thread` until it is gone, and a `job` until it has ended: with `joins` false, one
 * that was terminated is never closed.
 */
export const workerThreads = (script: Script, jobs: Jobs, joins: boolean = true): WorkerThreads => ({
  joins,
  spawn: (flag, hear) => new ScriptedThread(script, jobs, joins, flag, hear),
})

/** An executor over {@link workerThreads}. */
export const blockingExecutor = (
  script: Script,
  jobs: Jobs,
  options: BlockingExecutor.Options,
): Effect.Effect<BlockingExecutor.BlockingExecutor, InvalidLimits, Scope.Scope> =>
  BlockingExecutor.make(options, workerThreads(script, jobs))

class ScriptedThread implements WorkerThread {
  readonly #script: Script
  readonly #jobs: Jobs
  readonly #joins: boolean
  readonly #flag: Int32Array
  readonly #hear: Hear
  readonly #context: Context.Context<never>
  readonly #handle: Handle
  #job: Handle | undefined = undefined

  constructor(script: Script, jobs: Jobs, joins: boolean, flag: Int32Array, hear: Hear) {
    this.#script = script
    this.#jobs = jobs
    this.#joins = joins
    this.#flag = flag
    this.#hear = hear
    this.#context = Fiber.getCurrent()?.context ?? Context.empty()
    this.#handle = Effect.runSync(script.open("thread"))
  }

  send({ input, name, number }: Order): undefined {
    const job = this.#job = Effect.runSync(this.#script.open("job"))
    const cancelled = (): boolean => Atomics.load(this.#flag, 0) === number
    const context: JobContext = { cancelled, pause: cancelled, transfer: () => {} }
    const work = (): unknown => this.#jobs[name]!(input as never, context)
    const call = this.#script.callback("executor.job", () => Effect.runSyncExit(Effect.sync(work)), [name, input])
    call((exit) => {
      if (this.#job === job) this.#over(job, number, exit)
    })
    return undefined
  }

  hold(): void {}

  leave(): void {
    this.#end(0, undefined)
  }

  terminate(): void {
    if (this.#joins) this.#end(1, undefined)
  }

  #over(job: Handle, number: number, exit: Exit.Exit<unknown, unknown>): void {
    // Not by the job's own end, but by the plan of its call.
    if (Exit.hasDies(exit)) return this.#end(1, errorOf(Cause.squash((exit as Exit.Failure<unknown, unknown>).cause)))
    const ended = Exit.isSuccess(exit) && Exit.isExit(exit.value) ? exit.value : exit
    this.#job = undefined
    this.#then(job.close, () =>
      this.#hear.answered(
        Exit.isSuccess(ended)
          ? { number, kind: "value", value: ended.value }
          : { number, kind: "threw", error: errorOf(Cause.squash(ended.cause)) },
      ))
  }

  #end(code: number, error: JobError | undefined): void {
    const job = this.#job
    this.#job = undefined
    const closed = Effect.andThen(job === undefined ? Effect.void : job.close, this.#handle.close)
    this.#then(closed, () => this.#hear.gone({ code, error }))
  }

  #then(effect: Effect.Effect<void>, told: () => void): void {
    // In a turn of its own, as a platform would.
    Effect.runForkWith(this.#context)(Effect.andThen(Effect.andThen(effect, Effect.yieldNow), Effect.sync(told)))
  }
}

const errorOf = (thrown: unknown): JobError => {
  const { message = String(thrown), name = "Error" } = thrown instanceof Error ? thrown : {}
  return { name, message, code: undefined, cause: undefined }
}

/** Calls `directory.…`. Every one may be repeated with the same arguments without harm; nothing creates or destroys. */
export interface Directory {
  readonly issue: (grant: string) => Effect.Effect<void>
  readonly stamp: (alias: string, stamp: string) => Effect.Effect<void>
  readonly readStamp: (alias: string) => Effect.Effect<string | undefined>
  readonly revoke: (grant: string) => Effect.Effect<void>
  readonly rotate: (principal: string) => Effect.Effect<void>
}

/** What the far side knows, for the test alone. */
export interface DirectoryState {
  readonly grants: ReadonlySet<string>
  readonly stamps: ReadonlyMap<string, string>
  readonly rotations: ReadonlyMap<string, number>
}

export const directory = (script: Script): { readonly port: Directory; readonly state: DirectoryState } => {
  const [grants, stamps, rotations] = [new Set<string>(), new Map<string, string>(), new Map<string, number>()]
  const port = script.port<Directory>("directory", {
    issue: (grant) => Effect.sync(() => void grants.add(grant)),
    stamp: (alias, stamp) => Effect.sync(() => void stamps.set(alias, stamp)),
    readStamp: (alias) => Effect.sync(() => stamps.get(alias)),
    revoke: (grant) => Effect.sync(() => void grants.delete(grant)),
    rotate: (principal) => Effect.sync(() => void rotations.set(principal, 1 + (rotations.get(principal) ?? 0))),
  })
  return { port, state: { grants, stamps, rotations } }
}

/** The record has another version by now. */
export class Conflict extends Data.Error<{ readonly key: string; readonly expected: number; readonly found: number }> {
  readonly _tag = "Conflict"
  override readonly name = "Conflict"
}

/** Somebody has claimed the store since. */
export class Fenced extends Data.Error<{ readonly fence: number; readonly current: number }> {
  readonly _tag = "Fenced"
  override readonly name = "Fenced"
}

export interface Versioned<R> {
  readonly record: R
  readonly version: number
}

/** Calls `store.…`. A key that has no record has version 0. */
export interface Store<R> {
  readonly load: Effect.Effect<ReadonlyMap<string, Versioned<R>>>
  /** The version that it has then. */
  readonly compareAndPut: (
    key: string,
    record: R,
    expectedVersion: number,
    fence: number,
  ) => Effect.Effect<number, Conflict | Fenced>
  /** A number greater than all before; writers with a smaller one are fenced from here on. */
  readonly claimFence: Effect.Effect<number>
}

/** The store, and its records by key for the test alone. */
export const store = <R>(
  script: Script,
): { readonly port: Store<R>; readonly records: ReadonlyMap<string, Versioned<R>> } => {
  const records = new Map<string, Versioned<R>>()
  let current = 0
  const port = script.port<Store<R>>("store", {
    load: Effect.sync(() => new Map(records)),
    compareAndPut: (key, record, expected, fence) =>
      Effect.suspend((): Effect.Effect<number, Conflict | Fenced> => {
        if (fence !== current) return Effect.fail(new Fenced({ fence, current }))
        const found = records.get(key)?.version ?? 0
        if (found !== expected) return Effect.fail(new Conflict({ key, expected, found }))
        records.set(key, { record, version: found + 1 })
        return Effect.succeed(found + 1)
      }),
    claimFence: Effect.sync(() => ++current),
  })
  return { port, records }
}

/** A pool as its driver makes it. Calls `pool.connect`, `pool.close` and `connection.close`. */
export interface DriverPool {
  readonly connect: Effect.Effect<{ readonly isOpen: boolean }, never, Scope.Scope>
  readonly close: Effect.Effect<void>
}

export interface DatabaseDriver<D> {
  /**
   * Calls `driver.open`. Opening makes a connection at least, so that a bad address fails here; the scope closes the
   * pool.
   */
  readonly open: (dsn: D) => Effect.Effect<DriverPool, never, Scope.Scope>
}

export const databaseDriver = <D>(script: Script): DatabaseDriver<D> =>
  script.port<DatabaseDriver<D>>("driver", {
    open: () =>
      Effect.map(script.scoped("pool"), (pool) => ({
        connect: script.effect("pool.connect", script.scoped("connection")),
        close: pool.close,
      })),
  })
