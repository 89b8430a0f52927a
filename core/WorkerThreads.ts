/**
 * The port that a platform supplies to `BlockingExecutor`: threads, and what is said to them and by them. It owns a thread
 * from `spawn` until its end is heard; when to start, use, spare and end one is the executor's to decide.
 */
import type { JobError } from "./JobFault.ts"

/** What a thread is asked to do. `number` tells the answer's order, and is what the flag holds once it is cancelled. */
export interface Order {
  readonly number: number
  readonly module: string
  readonly name: string
  readonly input: unknown
}

/** What came of an order; a fault names where it arose. */
export type Answer =
  | { readonly number: number; readonly kind: "value"; readonly value: unknown }
  | {
    readonly number: number
    readonly kind: "threw" | "module" | "export" | "result" | "input"
    readonly error: JobError
  }

/** How a thread ended: its exit code, and the error that nobody caught in it, if that was why. */
export interface Ended {
  readonly code: number
  readonly error: JobError | undefined
  /** What it answered with its last breath: an answer after which it could not go on, or that was heard of with its end. */
  readonly last?: Answer | undefined
  /** Its last order never reached it: it was gone before, and nothing of the job has run. */
  readonly unheard?: boolean | undefined
}

/** Called by the platform in a turn of its own, never while the executor calls the thread. */
export interface Hear {
  /** An order was answered. */
  readonly answered: (answer: Answer) => void
  /** The thread is no more: nothing of it runs. Said once. */
  readonly gone: (ended: Ended) => void
}

export interface WorkerThread {
  /** Sends an order to an idle thread; or says why it could not be sent, and the thread has not heard of it. */
  readonly send: (order: Order, transfer: ReadonlyArray<object>) => JobError | undefined
  /** Whether it keeps the process alive: while it works, and not while it is idle. It does not when it is new. */
  readonly hold: (held: boolean) => void
  /** Asks an idle thread to end, which is heard of. */
  readonly leave: () => void
  /** Ends it whatever it does. Called at most once, at work, and when somebody has asked for just that. */
  readonly terminate: () => void
}

export interface WorkerThreads {
  /** Starts a thread that reads `flag`, or says why it cannot. Called when a job has to run and no thread is idle. */
  readonly spawn: (flag: Int32Array, hear: Hear) => WorkerThread | JobError
  /**
   * Whether `terminate` is a join: `gone` is heard, and only once the thread has ended. Where it is not, a thread that was
   * terminated may work on, and counts as abandoned.
   */
  readonly joins: boolean
}
