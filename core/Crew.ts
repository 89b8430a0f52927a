/**
 * The threads of an executor and the jobs that they run. Each method is one step; nothing else changes the records.
 *
 * It owns every thread from its start until its end is heard, and every job from its first order until it has ended and
 * its charge is back. What waits for a thread is the line's (`Turnstile`); a job takes its place over from there.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as Deadline from "./Deadline.ts"
import type { Checked, RunningJob } from "./Job.ts"
import * as Fault from "./JobFault.ts"
import * as JobModule from "./JobModule.ts"
import { List, type Node } from "./kernel/List.ts"
import * as Kernel from "./kernel/Threads.ts"
import type { Lease as Visit } from "./Ticket.ts"
import { shielded } from "./Transition.ts"
import type { Answer, Ended, WorkerThread, WorkerThreads } from "./WorkerThreads.ts"

/** A thread as the crew knows it, with what it runs. */
class Hand extends Kernel.Thread {
  readonly flag: Int32Array = new Int32Array(new SharedArrayBuffer(4))
  thread: WorkerThread | undefined = undefined
  job: Running | undefined = undefined
  /** The number of its last order, from 1; the flag is 0 until the first of them is cancelled. */
  order = 0
  /** Whether it was told to keep the process alive. */
  isHeld = false

  hold(held: boolean): void {
    if (held === this.isHeld) return
    this.isHeld = held
    this.thread!.hold(held)
  }
}

type JobExit = Exit.Exit<unknown, Fault.JobFault>
type Waiter = (exit: JobExit) => void

/** One call, over nothing until it has a place, and over a job once that has begun. It is its own place in the line. */
export class Running implements Visit, Node<Running> {
  readonly job: Checked
  ask: Visit["ask"] = undefined
  /** Holds what it is charged; undefined where that is nothing. */
  readonly charges: Scope.Closeable | undefined
  /** What the job came to, once its charge is back. */
  exit: JobExit | undefined = undefined
  /** Who called it and waits. */
  caller: Waiter | undefined = undefined
  /** Who else waits. */
  #joiners: Set<Waiter> | undefined = undefined
  /** From 1; 0 until it has begun. */
  number = 0
  sinceNanos = 0
  state: RunningJob["state"] = "running"
  /** The thread that runs it, until it has ended. */
  hand: Hand | undefined = undefined
  list: List<Running> | undefined = undefined
  prev: Running | undefined = undefined
  next: Running | undefined = undefined

  constructor(job: Checked) {
    this.job = job
    this.charges = job.charge === undefined ? undefined : Scope.makeUnsafe()
  }

  get hasBegun(): boolean {
    return this.number > 0
  }

  /** Waits until it is over, whoever asks and however often. */
  get join(): Effect.Effect<unknown, Fault.JobFault> {
    return Effect.callback((resume) => {
      if (this.exit !== undefined) return resume(this.exit)
      const joiners = this.#joiners ??= new Set()
      joiners.add(resume)
      return Effect.sync(() => void joiners.delete(resume))
    })
  }

  /** It is over: goes on with each who waits for that. What they do then must not keep the others from it. */
  tell(exit: JobExit, context: Context.Context<never>): void {
    this.exit = exit
    if (this.caller !== undefined) shielded(context, () => this.caller!(exit))
    if (this.#joiners === undefined) return
    for (const joiner of this.#joiners) shielded(context, () => joiner(exit))
  }
}

/** Totals since it was made. */
interface Totals {
  spawned: number
  begun: number
  completed: number
  failed: number
  lost: number
}

export class Crew {
  readonly totals: Totals = { spawned: 0, begun: 0, completed: 0, failed: 0, lost: 0 }
  readonly workers: Kernel.Threads<Hand>
  readonly #threads: WorkerThreads
  readonly clock: Clock.Clock
  readonly #context: Context.Context<never>
  /** In the order in which they began. A list, since a job pays for each, and a look by number is for operators. */
  readonly #running = new List<Running>()
  readonly #leaving = new Set<Hand>()
  readonly #watchers = new Set<() => void>()
  readonly #leave: (running: Running) => void
  readonly #spent: () => void
  #numbers = 0
  #closedNanos: number | undefined = undefined

  constructor(options: {
    readonly capacity: number
    readonly threads: WorkerThreads
    readonly fiber: Fiber.Fiber<unknown, unknown>
    /** Gives the job's place back. */
    readonly leave: (running: Running) => void
    /** Called once every thread is abandoned. */
    readonly spent: () => void
  }) {
    this.workers = new Kernel.Threads(options.capacity)
    this.#threads = options.threads
    this.clock = options.fiber.getRef(Clock.Clock)
    // Whoever made the executor may have had little time for that; what it gives back later is not bound by it.
    this.#context = Context.add(options.fiber.context, Deadline.Current, undefined)
    this.#leave = options.leave
    this.#spent = options.spent
  }

  /** Whether no job begins any more; since when, on this crew's clock. */
  get closedNanos(): number | undefined {
    return this.#closedNanos
  }

  get now(): number {
    return Deadline.nowNanos(this.clock)
  }

  /** Sends a job that has its place to an idle thread or a new one; or says why it has not begun. The crew is not closed. */
  begin(running: Running): Fault.JobUnsendable | Fault.WorkerLost | undefined {
    const hand = this.workers.take() ?? this.#spawn(running.job)
    if (!(hand instanceof Hand)) return hand
    // It is the job's before it is sent, so that no answer can come too early.
    running.number = ++this.#numbers
    running.sinceNanos = this.now
    this.#running.push(running)
    const error = this.#order(running, hand)
    if (error === undefined) {
      this.totals.begun++
      return undefined
    }
    this.#running.remove(running)
    running.number = 0
    const fault = new Fault.JobUnsendable({ job: running.job.name, part: "input", error })
    // What is cloned may run code of the caller's, which may have found the job and wait for it.
    running.tell(Exit.fail(fault), this.#context)
    return fault
  }

  /** Sends the order to a thread that was taken; one that it cannot be sent to is idle again. */
  #order(running: Running, hand: Hand): Fault.JobError | undefined {
    const { input, module, name, transfer } = running.job
    // Held before it is sent, for the answer may be all that the process waits for.
    hand.hold(true)
    hand.order = hand.order === 0x7fffffff ? 1 : hand.order + 1
    if (running.state === "cancelled") Atomics.store(hand.flag, 0, hand.order)
    running.hand = hand
    hand.job = running
    const error = hand.thread!.send({ number: hand.order, module, name, input }, transfer)
    if (error === undefined) return undefined
    running.hand = undefined
    this.#free(hand)
    this.#spare(hand)
    return error
  }

  /**
   * Sends a job again that its thread has never heard of; false where it cannot be. What was handed over is gone; and an object
   * was cloned in the call, after which it is the caller's to change, so that what is cloned now may be another input.
   */
  #again(running: Running): boolean {
    const { input, transfer } = running.job
    if (transfer.length > 0 || (typeof input === "object" && input !== null)) return false
    const hand = this.workers.take() ?? this.#spawn(running.job)
    return hand instanceof Hand && this.#order(running, hand) === undefined
  }

  /** Sets the flag that the job may read. What it does then is its own affair. */
  cancel(running: Running): void {
    const { hand } = running
    if (hand === undefined || running.state !== "running") return
    running.state = "cancelled"
    Atomics.store(hand.flag, 0, hand.order)
    Atomics.notify(hand.flag, 0)
  }

  find(number: number): Running | undefined {
    return this.#running.toArray().find((running) => running.number === number)
  }

  cancelAll(): void {
    for (const running of this.#running.toArray()) this.cancel(running)
  }

  /** Ends the job's thread; false where that is no join, and both are abandoned now. */
  terminate(running: Running): boolean {
    const { hand } = running
    if (hand === undefined) return true
    const { joins } = this.#threads
    if (!this.workers.step(hand, joins ? Kernel.Terminate : Kernel.Abandon)) return joins
    running.state = joins ? "terminated" : "abandoned"
    hand.thread!.terminate()
    if (joins) return true
    hand.hold(false)
    this.totals.lost++
    running.tell(Exit.fail(new Fault.JobAbandoned({ job: running.job.name })), this.#context)
    if (this.workers.isSpent) this.#spent()
    this.#look()
    return false
  }

  /** Lets nothing begin any more; idle threads leave now, and each other one once it is idle. */
  close(): void {
    if (this.#closedNanos !== undefined) return
    this.#closedNanos = this.now
    for (const hand of this.workers.idle()) this.#dismiss(hand)
  }

  /** Nothing runs, and no thread is left, but for what was abandoned. */
  get isQuiet(): boolean {
    const { workers } = this
    if (workers.size > workers.count(Kernel.Abandoned)) return false
    return this.#running.toArray().every(({ state }) => state === "abandoned")
  }

  /** Waits until it is quiet. */
  readonly quiet: Effect.Effect<void> = Effect.callback((resume) => {
    if (this.isQuiet) return resume(Effect.void)
    const look = (): void => {
      if (!this.isQuiet) return
      this.#watchers.delete(look)
      resume(Effect.void)
    }
    this.#watchers.add(look)
    this.#holdLeaving()
    return Effect.sync(() => {
      this.#watchers.delete(look)
      this.#holdLeaving()
    })
  })

  /** Jobs that run, longest first. */
  jobs(): ReadonlyArray<RunningJob> {
    const { now } = this
    return this.#running.toArray().map(({ job: { module, name }, number, sinceNanos, state }) => ({
      number,
      module: JobModule.shown(module),
      name,
      state,
      age: Deadline.nanos(now - sinceNanos),
    }))
  }

  #spawn({ name }: Checked): Hand | Fault.WorkerLost {
    const hand = new Hand()
    const thread = this.#threads.spawn(hand.flag, {
      answered: (answer) => this.#answered(hand, answer),
      gone: (ended) => this.#gone(hand, ended),
    })
    if (!("send" in thread)) return new Fault.WorkerLost({ job: name, reason: "not-started", error: thread })
    hand.thread = thread
    this.totals.spawned++
    this.workers.add(hand)
    return this.workers.take()!
  }

  #answered(hand: Hand, answer: Answer): void {
    const running = hand.job
    // One of an earlier order, or that crosses the end of its thread, is nobody's.
    if (running === undefined || answer.number !== hand.order || hand.state !== Kernel.Busy) return
    this.#free(hand)
    this.#end(running, exitOf(running.job, answer))
    this.#spare(hand)
  }

  #gone(hand: Hand, { code, error, last, unheard = false }: Ended): void {
    const was = hand.state
    if (!this.workers.step(hand, Kernel.Exit)) return
    this.#leaving.delete(hand)
    const running = hand.job
    hand.job = undefined
    const answer = was === Kernel.Busy && last?.number === hand.order ? last : undefined
    // One that dies before its first order would do so again; one that died while it was idle was no job's fault.
    const lives = was === Kernel.Busy && answer === undefined && unheard && hand.order > 1
    if (running === undefined || (lives && this.#again(running))) return this.#look()
    if (answer !== undefined) this.#end(running, exitOf(running.job, answer))
    else {
      const reason = was === Kernel.Ending ? "terminated" : error === undefined ? "exited" : "crashed"
      const job = running.job.name
      this.#end(running, Exit.fail(new Fault.WorkerLost({ job, reason, exitCode: code, error, unheard })))
    }
  }

  /** Its thread is idle again, and may leave. */
  #free(hand: Hand): void {
    hand.job = undefined
    this.workers.step(hand, Kernel.Answer)
    if (this.#closedNanos !== undefined) this.#dismiss(hand)
  }

  /** One that is idle keeps the process alive no more. Asked last, for mostly it has its next job by then. */
  #spare(hand: Hand): void {
    if (hand.state === Kernel.Idle) hand.hold(false)
  }

  #dismiss(hand: Hand): void {
    this.workers.step(hand, Kernel.Leave)
    this.#leaving.add(hand)
    this.#holdLeaving()
    hand.thread!.leave()
  }

  /** A thread that leaves keeps the process alive for as long as somebody waits for that, and no longer: it may hang. */
  #holdLeaving(): void {
    for (const hand of this.#leaving) hand.hold(this.#watchers.size > 0)
  }

  /** The place goes to whoever is next, then the charge goes back, and only then is anybody told. */
  #end(running: Running, exit: JobExit): void {
    const { charges } = running
    running.hand = undefined
    running.state = "ended"
    if (Exit.isSuccess(exit)) this.totals.completed++
    else if (exit.cause.reasons.some((each) => each._tag === "Fail" && each.error._tag === "WorkerLost")) {
      this.totals.lost++
    } else this.totals.failed++
    this.#leave(running)
    if (charges === undefined) return this.#over(running, exit)
    const closed = Effect.andThen(closeScope(charges, exit), Effect.sync(() => this.#over(running, exit)))
    // In no scope: the charge goes back whoever has left, the executor's own scope included.
    Effect.runForkWith(this.#context)(Effect.uninterruptible(closed))
  }

  #over(running: Running, exit: JobExit): void {
    this.#running.remove(running)
    running.tell(exit, this.#context)
    this.#look()
  }

  #look(): void {
    for (const look of this.#watchers) shielded(this.#context, look)
  }
}

/** Gives a charge back. A defect of whoever gave it is theirs alone: it is logged, and must not be taken for the job's. */
export const closeScope = (scope: Scope.Closeable, exit: Exit.Exit<unknown, unknown>): Effect.Effect<void> =>
  Effect.catchCause(
    Scope.close(scope, exit),
    (cause) => Effect.logError("the charge of a job was not given back", cause),
  )

const exitOf = ({ module, name: job }: Checked, answer: Answer): JobExit => {
  switch (answer.kind) {
    case "value":
      return Exit.succeed(answer.value)
    case "threw":
      return Exit.fail(new Fault.JobFailed({ job, error: answer.error }))
    case "module": {
      const error = JobModule.shownError(module, answer.error)
      return Exit.fail(new Fault.JobNotFound({ job, missing: "module", error }))
    }
    case "export":
      return Exit.fail(new Fault.JobNotFound({ job, missing: answer.kind, error: answer.error }))
    case "result":
    case "input":
      return Exit.fail(new Fault.JobUnsendable({ job, part: answer.kind, error: answer.error }))
  }
}
