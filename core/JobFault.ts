/**
 * What can become of a job instead of its result, each a typed error. What was thrown in another thread comes over as
 * data: no prototype, no stack and no field of its own but these. Owns nothing.
 */
import { Refusal } from "./Refusal.ts"

/** An error of another thread as plain data: its text cut at 4,096 characters, its causes at eight. */
export interface JobError {
  readonly name: string
  readonly message: string
  readonly code: string | number | undefined
  readonly cause: JobError | undefined
}

const described = ({ message, name }: JobError): string => message === "" ? name : `${name}: ${message}`

/** The job ran and threw, or its promise was rejected. */
export class JobFailed extends Refusal {
  readonly _tag = "JobFailed"
  override readonly name = "JobFailed"
  /** The export that was called. */
  readonly job: string
  readonly error: JobError
  constructor(facts: { readonly job: string; readonly error: JobError }) {
    super()
    this.job = facts.job
    this.error = facts.error
  }
  override get message(): string {
    return `${this.job} failed: ${described(this.error)}`
  }
}

/**
 * There is no such job: its module cannot be imported, or has no function of this name. Nothing of the job has run. Where
 * the module's URL has parts that may be secret, of its error only the name and the code are told.
 */
export class JobNotFound extends Refusal {
  readonly _tag = "JobNotFound"
  override readonly name = "JobNotFound"
  readonly job: string
  readonly missing: "module" | "export"
  readonly error: JobError
  constructor(facts: { readonly job: string; readonly missing: "module" | "export"; readonly error: JobError }) {
    super()
    this.job = facts.job
    this.missing = facts.missing
    this.error = facts.error
  }
  override get message(): string {
    return `${this.job} was not found: ${described(this.error)}`
  }
}

/**
 * The input or the result cannot cross: it cannot be cloned, or what is to be transferred cannot be. With the input, the
 * job has not begun; on Deno what was to be transferred may be detached all the same. With the result, it has ended.
 */
export class JobUnsendable extends Refusal {
  readonly _tag = "JobUnsendable"
  override readonly name = "JobUnsendable"
  readonly job: string
  readonly part: "input" | "result"
  readonly error: JobError
  constructor(facts: { readonly job: string; readonly part: "input" | "result"; readonly error: JobError }) {
    super()
    this.job = facts.job
    this.part = facts.part
    this.error = facts.error
  }
  override get message(): string {
    return `the ${this.part} of ${this.job} cannot be sent: ${described(this.error)}`
  }
}

const ends = {
  crashed: "crashed",
  exited: "exited",
  terminated: "was terminated",
  "not-started": "did not start",
} as const

/**
 * The thread of the job is no more, and the job with it: it crashed on an error that nobody caught, exited (as by
 * `process.exit`), was terminated, or could not be started. The next job that needs a thread gets a new one.
 *
 * A job that never reached its thread, which was idle and died just then, goes to another one where its input is plain (no
 * object, which may have been changed since it was cloned) and nothing was handed over with it; elsewhere it is `unheard`.
 */
export class WorkerLost extends Refusal {
  readonly _tag = "WorkerLost"
  override readonly name = "WorkerLost"
  readonly job: string
  readonly reason: "crashed" | "exited" | "terminated" | "not-started"
  /** Undefined where the thread never ran. */
  readonly exitCode: number | undefined
  readonly error: JobError | undefined
  /** Whether the job never reached the thread: nothing of it has run, and it may be run again. */
  readonly unheard: boolean
  constructor(facts: {
    readonly job: string
    readonly reason: "crashed" | "exited" | "terminated" | "not-started"
    readonly exitCode?: number | undefined
    readonly error?: JobError | undefined
    readonly unheard?: boolean | undefined
  }) {
    super()
    this.job = facts.job
    this.reason = facts.reason
    this.exitCode = facts.exitCode
    this.error = facts.error
    this.unheard = facts.unheard ?? this.reason === "not-started"
  }
  override get message(): string {
    const code = this.exitCode === undefined ? "" : ` with code ${this.exitCode}`
    const why = this.error === undefined ? "" : `: ${described(this.error)}`
    return `the thread of ${this.job} ${ends[this.reason]}${code}${why}`
  }
}

/**
 * The job was terminated on a runtime where that is no join: it may run on, unseen. Nobody waits for it any more; its
 * thread and all that it was charged stay taken for as long as the executor lives.
 */
export class JobAbandoned extends Refusal {
  readonly _tag = "JobAbandoned"
  override readonly name = "JobAbandoned"
  readonly job: string
  constructor(facts: { readonly job: string }) {
    super()
    this.job = facts.job
  }
  override get message(): string {
    return `${this.job} was terminated and may run on: its thread and its charges stay taken`
  }
}

/** `terminate` and `cancel` only: no job of this number runs. Nothing was done. */
export class NoSuchJob extends Refusal {
  readonly _tag = "NoSuchJob"
  override readonly name = "NoSuchJob"
  readonly number: number
  constructor(facts: { readonly number: number }) {
    super()
    this.number = facts.number
  }
  override get message(): string {
    return `no job ${this.number} is running`
  }
}

export type JobFault = JobFailed | JobNotFound | JobUnsendable | WorkerLost | JobAbandoned
