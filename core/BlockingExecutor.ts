/**
 * Blocking work on worker threads, of which there are so many and no more; one line in front of them, first come, first
 * served.
 *
 * It owns the threads and every job that has begun. A job that has begun is joined, never presumed dead: its thread and
 * what it was charged go back when it has ended, whoever has left meanwhile.
 *
 * What an interruption means to a job is detach-and-join. While it waits, it leaves the line. Once it has begun, `run`
 * tells it by a flag that nobody wants it, and ends when it has ended; `start` lets it go on, and anybody may `join` it.
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { decode as decodeLine } from "./AdmissionOptions.ts"
import { Closed, type QueueFull, type WaitExpired } from "./AdmissionRefused.ts"
import { closeScope, Crew, Running } from "./Crew.ts"
import * as Deadline from "./Deadline.ts"
import * as Job from "./Job.ts"
import { type JobFault, NoSuchJob } from "./JobFault.ts"
import * as Kernel from "./kernel/Threads.ts"
import * as Limit from "./Limits.ts"
import { InvalidLimits, InvalidRequest } from "./Refusal.ts"
import { frozen } from "./Snapshot.ts"
import { Turnstile } from "./Turnstile.ts"
import type { WorkerThreads } from "./WorkerThreads.ts"

export interface Options {
  /** Threads at a time, 1 to 1,024; each is started when it is first needed, and kept. */
  readonly threads: number
  /** Jobs that may wait for a thread, 0 to 1,048,576; 128 by default. */
  readonly maxQueued?: number | undefined
  /** The longest wait of a job, above 0 and at most 1 hour; 30 seconds by default. It bounds the wait, not the work. */
  readonly maxWait?: Duration.Input | undefined
  /** How long the end of the scope waits for jobs that run, above 0 and at most 1 hour; 5 seconds by default. */
  readonly closeWithin?: Duration.Input | undefined
}

/** No thread for a job: too many wait, its time to wait is over, or no job begins any more. It has not begun. */
export type ExecutorRefused = QueueFull | WaitExpired | Closed

/** A job that goes on by itself. */
export interface Started<A> {
  readonly number: number
  /** Its result, whoever asks and however often. Interrupting this touches nothing of the job. */
  readonly join: Effect.Effect<A, JobFault>
  /** Sets the flag that the job may read; at once, and waits for nothing. */
  readonly cancel: Effect.Effect<void>
}

export interface ExecutorSnapshot {
  /** Closed from the beginning of a drain, and once every thread is abandoned. */
  readonly state: "open" | "closed"
  /** The option. The counts from `busy` to `abandoned` add up to it at most; the rest has not been started. */
  readonly threads: number
  readonly busy: number
  readonly idle: number
  /** Terminated at work, and not gone yet. */
  readonly ending: number
  /** Told to end while idle, and not gone yet. */
  readonly leaving: number
  /** Terminated where that is no join: they may work on, and are never replaced. */
  readonly abandoned: number
  /** Jobs in the line. */
  readonly waiting: number
  /** Totals since it was made. A job that has begun ends in one of the three; `lost` went with its thread. */
  readonly spawned: number
  readonly begun: number
  readonly completed: number
  readonly failed: number
  readonly lost: number
  readonly refused: { readonly QueueFull: number; readonly WaitExpired: number; readonly Closed: number }
}

/** What a drain came to. `clean`: nothing runs, no thread is left, nothing was abandoned. */
export interface ExecutorDrained {
  readonly clean: boolean
  /** Jobs that have not ended, longest first; abandoned ones among them. */
  readonly running: ReadonlyArray<Job.RunningJob>
  /** Threads that are still there, abandoned ones among them. */
  readonly threads: number
  /** Jobs that waited and got `Closed`. */
  readonly refused: number
  readonly waited: Duration.Duration
}

export interface BlockingExecutor {
  /**
   * Runs a job to its end. It waits for a thread until the fiber's {@link Deadline}, or for `maxWait` if that is nearer.
   *
   * Interrupted while it waits, it holds nothing. Interrupted once the job has begun, it sets the job's flag and ends when
   * the job has ended: at once where the job looks at its flag, and maybe never where it does not. `Deadline.enforce`
   * bounds the whole in this way.
   */
  readonly run: <J extends Job.Job<unknown, unknown, unknown>>(
    job: J,
  ) => Effect.Effect<
    Job.Success<J>,
    Job.Error<J> | JobFault | ExecutorRefused | InvalidRequest,
    Exclude<Job.Services<J>, Scope.Scope>
  >
  /**
   * Waits for a thread as `run` does, and answers once the job has begun. From then on the job is the executor's: nothing
   * that becomes of the caller ends it, and its charge goes back at its end though nobody joins it.
   */
  readonly start: <J extends Job.Job<unknown, unknown, unknown>>(
    job: J,
  ) => Effect.Effect<
    Started<Job.Success<J>>,
    Job.Error<J> | JobFault | ExecutorRefused | InvalidRequest,
    Exclude<Job.Services<J>, Scope.Scope>
  >
  /** Counts at this moment. */
  readonly snapshot: Effect.Effect<ExecutorSnapshot>
  /** For operators: jobs that have begun and not ended, and those abandoned, longest first. */
  readonly jobs: Effect.Effect<ReadonlyArray<Job.RunningJob>>
  /** Sets the flag of a job by its number. */
  readonly cancel: (number: number) => Effect.Effect<void, NoSuchJob>
  /**
   * The last resort: ends the thread of a job, whatever it does; one that has ended is `NoSuchJob`. `ended`: the thread is
   * gone, the job has failed as `WorkerLost` and its charge is back; that may take until a native call returns. `abandoned`,
   * where the runtime's termination is no join (Deno): the job may run on, whoever joined it got `JobAbandoned`, and its thread
   * and its charge stay taken.
   */
  readonly terminate: (number: number) => Effect.Effect<"ended" | "abandoned", NoSuchJob>
  /**
   * Lets no job begin any more, refuses those that wait, and joins those that run and the threads, until `deadline` at
   * most; then says what is left. It stops no job: `cancel` and `terminate` do. May be called again. What is no deadline is
   * `InvalidRequest`, and nothing is drained.
   */
  readonly drain: (deadline: Deadline.Deadline) => Effect.Effect<ExecutorDrained, InvalidRequest>
}

export const BlockingExecutor: Context.Service<BlockingExecutor, BlockingExecutor> = Context.Service(
  "holdfast/BlockingExecutor",
)

/**
 * An executor that lives as long as its scope. Closing that refuses what waits, sets the flag of every job, joins them for
 * `closeWithin`, and logs a warning with those that still run; they go on, and their threads end after them.
 *
 * `threads` is the platform's: the layers of `holdfast/node`, `holdfast/deno` and `holdfast/bun` have theirs.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import { BlockingExecutor } from "holdfast/node"
 * import * as Executor from "holdfast/BlockingExecutor"
 * import * as Job from "holdfast/Job"
 *
 * const double = Job.of<(n: number) => number>("data:text/javascript,export const double = (n) => 2 * n", "double")
 * const program = Effect.gen(function*() {
 *   const executor = yield* Executor.BlockingExecutor
 *   console.log(yield* executor.run(double(21))) // 42
 * })
 * await Effect.runPromise(Effect.provide(program, BlockingExecutor.layer({ threads: 2 })))
 * ```
 */
export const make = (
  options: Options,
  threads: WorkerThreads,
): Effect.Effect<BlockingExecutor, InvalidLimits, Scope.Scope> =>
  Effect.flatMap(decode(options), (settings) =>
    Effect.map(
      Effect.acquireRelease(
        Effect.withFiber((fiber) => Effect.succeed(new Executor(settings, threads, fiber))),
        (executor) => executor.close,
      ),
      service,
    ))

/** {@link make} as a layer. */
export const layer = (options: Options, threads: WorkerThreads): Layer.Layer<BlockingExecutor, InvalidLimits> =>
  Layer.effect(BlockingExecutor, make(options, threads))

type Settings = Effect.Success<ReturnType<typeof decode>>

const system = "BlockingExecutor"
const known: Readonly<Record<keyof Options, true>> = {
  threads: true,
  maxQueued: true,
  maxWait: true,
  closeWithin: true,
}
const hourMillis = 3_600_000

const decode = (options: Options) =>
  Effect.gen(function* () {
    if (typeof options !== "object" || options === null) {
      return yield* Effect.fail(new InvalidLimits({ system, limit: "options", rule: "an object", value: options }))
    }
    const stranger = Object.keys(options).find((name) => !Object.hasOwn(known, name))
    if (stranger !== undefined) {
      const rule = `one of the options ${Object.keys(known).join(", ")}`
      return yield* Effect.fail(
        new InvalidLimits({ system, limit: stranger, rule, value: Reflect.get(options, stranger) }),
      )
    }
    const { closeWithin = "5 seconds", maxQueued = 128, maxWait = "30 seconds", threads } = options
    const capacity = yield* Effect.fromResult(Limit.count(system, "threads", threads, { min: 1, max: 1_024 }))
    yield* Effect.fromResult(Limit.count(system, "maxQueued", maxQueued, { min: 0, max: Limit.most }))
    yield* Effect.fromResult(Limit.duration(system, "maxWait", maxWait, hourMillis))
    const closeMillis = yield* Effect.fromResult(Limit.duration(system, "closeWithin", closeWithin, hourMillis))
    const line = yield* decodeLine({
      maxRunning: capacity,
      maxQueued,
      maxQueuedPerTenant: maxQueued,
      maxWait,
      drainWaiting: "refuse",
    })
    return { capacity, line, closeMillis }
  })

/** All jobs stand in one line: whose they are is for a charge to say. */
const ask = { tenant: "jobs" }

/** The line and the crew behind it. */
class Executor {
  readonly crew: Crew
  readonly #door = new Job.Door()
  readonly #line: Turnstile
  readonly #closeMillis: number

  constructor({ capacity, closeMillis, line }: Settings, threads: WorkerThreads, fiber: Fiber.Fiber<unknown, unknown>) {
    this.#line = new Turnstile(line, fiber)
    this.#closeMillis = closeMillis
    this.crew = new Crew({
      capacity,
      threads,
      fiber,
      leave: (running) => this.#line.leave(running),
      // With every thread lost for good nobody who waits will ever be served.
      spent: () => void Effect.runForkWith(fiber.context)(this.#refuse),
    })
  }

  called(job: Job.Job<unknown, unknown, unknown>): Running | InvalidRequest {
    const checked = this.#door.check(job)
    return checked instanceof InvalidRequest ? checked : new Running(checked)
  }

  /** Acquires the charge, and goes on with it. The call's own handler stands over all of it. */
  charge<A, E>({ charges, job }: Running, then: Effect.Effect<A, E>): Effect.Effect<A, E> {
    if (charges === undefined) return then
    return Effect.andThen(Scope.provide(job.charge!, charges) as Effect.Effect<unknown>, then)
  }

  /** Takes a place, or waits for one, and goes on with `then`; it is that itself where the place is taken at once. */
  enter<A, E>(
    running: Running,
    fiber: Fiber.Fiber<unknown, unknown>,
    then: Effect.Effect<A, E>,
  ): Effect.Effect<A, E | ExecutorRefused> {
    // A cost of one always fits, the key is in order, and nothing is estimated.
    return this.#line.take(running, ask, fiber, then) as Effect.Effect<A, E | ExecutorRefused>
  }

  /** Begins a job that has its place; or says why it has not begun. */
  begin(running: Running): JobFault | Closed | undefined {
    const since = this.crew.closedNanos
    if (since === undefined) return this.crew.begin(running)
    return new Closed({ state: "closed", since: Deadline.nanos(this.crew.now - since) })
  }

  /** The caller is through and no job has begun: its place goes back, and then what it was charged. */
  withdraw(running: Running, exit: Exit.Exit<unknown, unknown>): Effect.Effect<void> | undefined {
    const { charges } = running
    this.#line.leave(running)
    return charges === undefined ? undefined : closeScope(charges, exit)
  }

  /** The caller is through and its job runs: it is told so, and joined. */
  join(running: Running): Effect.Effect<void> | undefined {
    if (running.exit !== undefined) return undefined
    this.crew.cancel(running)
    return Effect.asVoid(Effect.exit(running.join))
  }

  snapshot(): ExecutorSnapshot {
    const { totals, workers } = this.crew
    const { refused: { Closed, QueueFull, WaitExpired }, waiting } = this.#line.snapshot()
    return frozen({
      state: this.crew.closedNanos === undefined ? "open" : "closed",
      threads: workers.capacity,
      busy: workers.count(Kernel.Busy),
      idle: workers.count(Kernel.Idle),
      ending: workers.count(Kernel.Ending),
      leaving: workers.count(Kernel.Leaving),
      abandoned: workers.count(Kernel.Abandoned),
      waiting,
      ...totals,
      refused: { QueueFull, WaitExpired, Closed },
    })
  }

  /** Nothing begins any more, and nobody waits. How many were refused. */
  readonly #refuse: Effect.Effect<number> = Effect.suspend(() => {
    this.crew.close()
    return Effect.map(this.#line.drain({ atNanos: -Infinity, clock: this.crew.clock }), ({ refused }) => refused)
  })

  drain(deadline: Deadline.Deadline): Effect.Effect<ExecutorDrained> {
    return Effect.suspend(() => {
      const started = this.crew.now
      const joined = Effect.catchTag(Deadline.enforce(this.crew.quiet), "DeadlineExceeded", () => Effect.void)
      return Effect.flatMap(
        this.#refuse,
        (refused) =>
          Effect.map(Effect.provideService(joined, Deadline.Current, deadline), () => {
            const { workers } = this.crew
            const running = this.crew.jobs()
            const clean = running.length === 0 && workers.size === 0
            return { clean, running, threads: workers.size, refused, waited: Deadline.nanos(this.crew.now - started) }
          }),
      )
    })
  }

  readonly close: Effect.Effect<void> = Effect.suspend(() => {
    this.crew.cancelAll()
    const atNanos = this.crew.now + this.#closeMillis * 1e6
    return Effect.flatMap(this.drain({ atNanos, clock: this.crew.clock }), ({ clean, running, threads }) => {
      const left = running.map(({ name, number, state }) => `${name} (${number}, ${state})`).join(", ") || "none"
      const warned = Effect.logWarning(`an executor closed with ${threads} threads left; jobs that run: ${left}`)
      return Effect.andThen(clean ? Effect.void : warned, this.#line.close)
    })
  })
}

const service = (executor: Executor): BlockingExecutor => ({
  // What a job makes, and what its charge fails with and needs, is in its type alone.
  run: (job) => run(executor, job) as never,
  start: (job) => start(executor, job) as never,
  snapshot: Effect.sync(() => executor.snapshot()),
  jobs: Effect.sync(() => executor.crew.jobs()),
  cancel: (number) => Effect.map(found(executor, number), (running) => executor.crew.cancel(running)),
  terminate: (number) =>
    Effect.flatMap(
      found(executor, number),
      (running) =>
        executor.crew.terminate(running)
          ? Effect.as(Effect.exit(running.join), "ended" as const)
          : Effect.succeed("abandoned" as const),
    ),
  drain: (deadline) =>
    Effect.suspend((): Effect.Effect<ExecutorDrained, InvalidRequest> => {
      const wrong = Limit.deadline(deadline)
      return wrong === undefined ? executor.drain(deadline) : Effect.fail(wrong)
    }),
})

type Faults = JobFault | ExecutorRefused | InvalidRequest

/** The handler is over the whole of the call: at no step can an interruption find a place or a job without an owner. */
const run = (executor: Executor, job: Job.Job<unknown, unknown, unknown>): Effect.Effect<unknown, Faults> =>
  Effect.withFiber((fiber): Effect.Effect<unknown, Faults> => {
    const running = executor.called(job)
    if (running instanceof InvalidRequest) return Effect.fail(running)
    // Asked for its place in the step in which it may begin; where it has to wait, it comes back here with the place.
    const joined: Effect.Effect<unknown, Faults> = Effect.callback((resume) => {
      const entered = running.ask === undefined ? executor.enter(running, fiber, joined) : joined
      if (entered !== joined) return resume(entered)
      running.caller = resume
      const refused = executor.begin(running)
      if (refused !== undefined) resume(Effect.fail(refused))
    })
    return Effect.onExitPrimitive(
      executor.charge(running, joined),
      (exit) => running.hasBegun ? executor.join(running) : executor.withdraw(running, exit),
    )
  })

const start = (executor: Executor, job: Job.Job<unknown, unknown, unknown>): Effect.Effect<Started<unknown>, Faults> =>
  Effect.withFiber((fiber): Effect.Effect<Started<unknown>, Faults> => {
    const running = executor.called(job)
    if (running instanceof InvalidRequest) return Effect.fail(running)
    const started = Effect.suspend((): Effect.Effect<Started<unknown>, Faults> => {
      const refused = executor.begin(running)
      if (refused !== undefined) return Effect.fail(refused)
      const { join, number } = running
      return Effect.succeed({ number, join, cancel: Effect.sync(() => executor.crew.cancel(running)) })
    })
    const entered = Effect.suspend(() => executor.enter(running, fiber, started))
    return Effect.onExitPrimitive(executor.charge(running, entered), (exit) => {
      if (!running.hasBegun) return executor.withdraw(running, exit)
      // Interrupted in the step in which it began: nobody will ever have a hold of it.
      if (Exit.isFailure(exit)) executor.crew.cancel(running)
      return undefined
    })
  })

const found = (executor: Executor, number: number): Effect.Effect<Running, NoSuchJob> =>
  Effect.suspend(() => {
    const running = executor.crew.find(number)
    // One that has ended by itself may still be giving its charge back, and is nobody's to end.
    return running === undefined || running.state === "ended"
      ? Effect.fail(new NoSuchJob({ number }))
      : Effect.succeed(running)
  })
