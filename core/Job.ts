/**
 * A job: a function that a module exports, its input, and what it is charged. Plain data, checked at the door; the module
 * is imported in the thread that runs it, and nowhere else. Owns nothing.
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { shown } from "./JobModule.ts"
import * as Limit from "./Limits.ts"
import { InvalidRequest } from "./Refusal.ts"

/** What a job's function is given besides its input, in its own thread. */
export interface JobContext {
  /** Whether nobody wants the result any more. Cheap enough for every turn of a loop; what to do about it is the job's. */
  readonly cancelled: () => boolean
  /**
   * Blocks the thread for so many milliseconds, or until it is cancelled; true where it is. Not at all for zero or less, and
   * NaN is a `RangeError`.
   */
  readonly pause: (millis: number) => boolean
  /** Names parts of the result that are handed over and not copied: buffers and ports. They are gone here afterwards. */
  readonly transfer: (...parts: ReadonlyArray<object>) => void
}

/** The function of a job. What it returns, or its promise comes to, is cloned to whoever waits. */
export type Task = (input: never, context: JobContext) => unknown

declare const Result: unique symbol

export interface Job<out A, out E = never, out R = never> {
  /**
   * The absolute URL of a module, as text or as a `URL`. It is code that runs with all rights: never one from outside.
   */
  readonly module: string | { readonly href: string }
  /** The export of that module to call. */
  readonly name: string
  /** What can be cloned: no function, no symbol, no object of a class that matters. */
  readonly input?: unknown
  /** Parts of the input that are handed over and not copied. Always worth it for a large buffer, above all on Deno. */
  readonly transfer?: ReadonlyArray<object> | undefined
  /**
   * What the job holds while it runs: acquired before it waits for a thread, and given back once it has ended, whatever
   * became of the caller. A permit or a lease: `admission.enter({ tenant })`.
   */
  readonly charge?: Effect.Effect<unknown, E, R> | undefined
  /** The result's type; there is no such field. */
  readonly [Result]?: A
}

/** What a job comes to, by its type. */
export type Success<J> = J extends { readonly [Result]?: infer A } ? A : unknown
/** How its charge may fail. */
export type Error<J> = J extends { readonly charge?: infer C }
  ? C extends Effect.Effect<infer _A, infer E, infer _R> ? E : never
  : never
/** What its charge needs. */
export type Services<J> = J extends { readonly charge?: infer C }
  ? C extends Effect.Effect<infer _A, infer _E, infer R> ? R : never
  : never

/**
 * A job by the type of its function, so that input and result are checked.
 *
 * @example
 * ```ts
 * import * as Job from "holdfast/Job"
 *
 * const double = (n: number): number => 2 * n
 * const job = Job.of<typeof double>("data:text/javascript,export const double = (n) => 2 * n", "double")(21)
 * console.log(job.name, job.input) // double 21
 * ```
 */
export const of = <T extends Task>(module: string | { readonly href: string }, name: string) =>
<E = never, R = never>(
  input: Parameters<T>[0],
  held: Pick<Job<unknown, E, R>, "transfer" | "charge"> = {},
): Job<Awaited<ReturnType<T>>, E, R> => ({ ...held, module, name, input })

/** A job that has begun and not ended, or that was abandoned; for operators. */
export interface RunningJob {
  /** Names it to `cancel` and `terminate`. */
  readonly number: number
  /** Without a user, a query and a fragment, of a `data:` URL the media type alone; cut at 256 characters. */
  readonly module: string
  readonly name: string
  /** `ended`: the job is over, and its charge is being given back. */
  readonly state: "running" | "cancelled" | "terminated" | "abandoned" | "ended"
  /** Since it began. */
  readonly age: Duration.Duration
}

/** A job after the door. */
export interface Checked {
  readonly module: string
  readonly name: string
  readonly input: unknown
  readonly transfer: ReadonlyArray<object>
  readonly charge: Effect.Effect<unknown, unknown, unknown> | undefined
}

const known: Readonly<Record<string, true>> = { module: true, name: true, input: true, transfer: true, charge: true }
const nothing: ReadonlyArray<object> = []
const maxModuleBytes = 65_536

/** The door of an executor: checks jobs, and remembers the names of the last one that was good. */
export class Door {
  #module: string | undefined = undefined
  #name: string | undefined = undefined

  /** The job; or the first rule that it breaks. */
  check(job: Job<unknown, unknown, unknown>): Checked | InvalidRequest {
    if (typeof job !== "object" || job === null) return wrong("job", "an object", job)
    for (const field in job) {
      if (!Object.hasOwn(known, field)) {
        return new InvalidRequest({ field, rule: `one of the fields ${Object.keys(known).join(", ")}` })
      }
    }
    const module = typeof job.module === "object" && job.module !== null ? job.module.href : job.module
    const { charge, input, name, transfer } = job
    // Most jobs are as the one before them, and reading a name costs more than the rest.
    if (module !== this.#module || name !== this.#name) {
      if (!isUrl(module)) {
        const value = typeof module === "string" ? shown(module) : module
        return wrong("module", `an absolute URL of at most ${maxModuleBytes} bytes`, value)
      }
      const unnamed = Limit.key("name", name)
      if (unnamed !== undefined) return unnamed
      this.#module = module
      this.#name = name
    }
    if (transfer !== undefined && !(Array.isArray(transfer) && transfer.every(isObject))) {
      return wrong("transfer", "a list of objects", transfer)
    }
    if (charge !== undefined && !Effect.isEffect(charge)) return wrong("charge", "an effect", charge)
    return { module: module as string, name, input, transfer: transfer ?? nothing, charge }
  }
}

const wrong = (field: string, rule: string, value: unknown): InvalidRequest =>
  new InvalidRequest({ field, rule, value })

/** A scheme of two letters at least, since one alone is a drive. A relative path would be one of the thread's own file. */
const isUrl = (module: unknown): module is string =>
  typeof module === "string" && /^[a-z][a-z\d+.-]+:./i.test(module) && Limit.utf8Bytes(module) <= maxModuleBytes

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null
