/** The types of every verb, exactly: what it may fail with and what it needs. The compiler is the test. */
import { it } from "vitest"
import type * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type * as Admission from "../../core/Admission.ts"
import type { Limits } from "../../core/AdmissionLimits.ts"
import type { Options, Priority } from "../../core/AdmissionOptions.ts"
import type * as Refused from "../../core/AdmissionRefused.ts"
import type { AdmissionSnapshot, DrainReport, Holder } from "../../core/AdmissionSnapshot.ts"
import type * as Deadline from "../../core/Deadline.ts"
import type { ForeignLease, LeaseSpent } from "../../core/Lease.ts"
import type * as Outcome from "../../core/Outcome.ts"
import type { Ask, Permit } from "../../core/Permit.ts"
import type { InvalidLimits, InvalidRequest } from "../../core/Refusal.ts"

/** `true` only where both are the same type; unions, optional and readonly count. */
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false
/** Accepts no type but `true`. */
type Law<_ extends true> = never

type Of<E> = E extends Effect.Effect<infer A, infer X, infer R> ? [A, X, R] : never
type Verb<K extends keyof Admission.Admission> = Admission.Admission[K]
type Answer<K extends "enter" | "tryEnter" | "release" | "lower" | "withhold" | "drain"> = Of<ReturnType<Verb<K>>>
type Ran<A, E, R> = Of<Effect.Effect<A, E | AdmissionRefused | InvalidRequest, R>>
type AdmissionRefused =
  | Refused.NeverFits
  | Refused.QueueFull
  | Refused.WaitExpired
  | Refused.TooLate
  | Refused.Closed

/** What `run` makes of work with these types. */
declare const ran: ReturnType<Verb<"run">>
declare const work: Effect.Effect<"done", "broken", "needed">
const outcome = () => ran(work)

export type Laws = [
  Law<Equal<Refused.AdmissionRefused, AdmissionRefused>>,
  Law<Equal<Answer<"enter">, [Permit, AdmissionRefused | InvalidRequest, Scope.Scope]>>,
  Law<
    Equal<
      Answer<"tryEnter">,
      [Permit, Refused.WouldWait | Refused.NeverFits | Refused.Closed | InvalidRequest, Scope.Scope]
    >
  >,
  Law<Equal<Of<ReturnType<typeof outcome>>, Ran<"done", "broken", "needed">>>,
  Law<Equal<Answer<"release">, [void, LeaseSpent | ForeignLease, never]>>,
  Law<Equal<Of<Verb<"snapshot">>, [AdmissionSnapshot, never, never]>>,
  Law<Equal<Of<Verb<"holders">>, [ReadonlyArray<Holder>, never, never]>>,
  Law<Equal<Answer<"lower">, [void, InvalidLimits | Refused.BelowUse, never]>>,
  Law<Equal<Answer<"withhold">, [void, InvalidRequest, Scope.Scope]>>,
  Law<Equal<Answer<"drain">, [DrainReport, never, never]>>,
  Law<
    Equal<
      keyof Admission.Admission,
      "enter" | "run" | "tryEnter" | "release" | "snapshot" | "holders" | "lower" | "withhold" | "drain"
    >
  >,
  // What goes in.
  Law<Equal<Parameters<Verb<"enter">>, [ask: Ask]>>,
  Law<Equal<Parameters<Verb<"lower">>, [next: Partial<Limits>]>>,
  Law<Equal<Parameters<Verb<"drain">>, [deadline: Deadline.Deadline]>>,
  Law<Equal<keyof Ask, "tenant" | "provider" | "priority" | "cost">>,
  Law<Equal<Priority, "emergency" | "control" | "normal" | "notification">>,
  Law<
    Equal<
      keyof Options,
      | keyof Limits
      | "maxWait"
      | "reserved"
      | "weights"
      | "maxBypass"
      | "estimate"
      | "drainWaiting"
      | "labels"
    >
  >,
  // How one is made.
  Law<Equal<Of<ReturnType<typeof Admission.make>>, [Admission.Admission, InvalidLimits, Scope.Scope]>>,
  Law<Equal<ReturnType<typeof Admission.layer>, Layer.Layer<Admission.Admission, InvalidLimits>>>,
  Law<Equal<typeof Admission.Admission, Context.Service<Admission.Admission, Admission.Admission>>>,
  // What is around it.
  Law<Equal<Of<ReturnType<typeof Deadline.after>>, [Deadline.Deadline, InvalidRequest, never]>>,
  Law<Equal<Of<typeof enforced>, ["done", "broken" | Deadline.DeadlineExceeded, "needed"]>>,
  Law<Equal<Of<ReturnType<typeof within>>, ["done", "broken" | InvalidRequest, "needed"]>>,
  Law<Equal<Of<ReturnType<typeof provided>>, ["done", "broken", "needed"]>>,
  Law<Equal<typeof Outcome.fromExit, (exit: Exit.Exit<unknown, unknown>) => Outcome.Outcome>>,
  Law<Equal<Outcome.Outcome, "Completed" | "Failed" | "Expired" | "Interrupted" | "Died">>,
]
declare const withinOf: ReturnType<typeof Deadline.within>
declare const provideOf: ReturnType<typeof Deadline.provide>
declare const enforced: ReturnType<typeof Deadline.enforce<"done", "broken", "needed">>
const within = () => withinOf(work)
const provided = () => provideOf(work)

// And the compiler does refuse what is not so.
export type Noticed = [
  // @ts-expect-error another error
  Law<Equal<Answer<"drain">, [DrainReport, Refused.Closed, never]>>,
  // @ts-expect-error an error too many
  Law<Equal<Answer<"tryEnter">, [Permit, AdmissionRefused | Refused.WouldWait | InvalidRequest, Scope.Scope]>>,
  // @ts-expect-error a wider type
  Law<Equal<Answer<"release">, [unknown, LeaseSpent | ForeignLease, never]>>,
]

it("the types of Admission are checked by the compiler", () => {})
