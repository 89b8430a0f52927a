/**
 * What a caller asks for and what it gets: an ask, and the permit that is the lease of its units.
 *
 * A permit has a single owner and goes back once; the scope that it was entered in gives it back if nobody did before.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { priorities, type Priority } from "./AdmissionOptions.ts"
import * as Kernel from "./kernel/Ask.ts"
import type { Keys } from "./kernel/Keys.ts"
import type { Class } from "./kernel/Ledger.ts"
import * as Limit from "./Limits.ts"
import { InvalidRequest } from "./Refusal.ts"

/** What a caller wants to enter with. */
export interface Ask {
  /** 1 to 256 bytes of UTF-8 without control characters. Decided by whoever asks; nothing reads it from context. */
  readonly tenant: string
  readonly provider?: string | undefined
  /** `"normal"` by default. */
  readonly priority?: Priority | undefined
  /** Whole units on every account, 1 by default. */
  readonly cost?: number | undefined
}

/** Proof of having been admitted. Opaque: `release` takes it back, and only the Admission that gave it out does. */
export interface Permit {
  readonly tenant: string
  readonly provider: string | undefined
  readonly priority: Priority
  readonly cost: number
}

/** What a caller's fiber goes on with; the types are those of the call that waits for it. */
export type Answer = Effect.Effect<unknown, unknown, unknown>

/** An ask that may wait, with its caller: how it is told, and by what effect it goes on. */
export class Ticket extends Kernel.WaitingAsk {
  /** What the caller's fiber goes on with once granted. */
  body: Answer | undefined = undefined
  /** The answer, where it was decided before the fiber could be resumed. */
  answer: Answer | undefined = undefined
  /** The instant by which an estimate let it in; undefined where there was none. */
  expectedNanos: number | undefined = undefined
  /** Which of the two bounds its due instant is: the fiber's deadline, or `maxWait`. */
  byDeadline = false
  resume: ((effect: Answer) => void) | undefined = undefined
}

/** What an exit finalizer stands over: empty until the ask is in the line or through. */
export interface Lease {
  /** A {@link Ticket} unless it was granted at once. */
  ask: Kernel.Ask | undefined
}

/** A permit as callers see it; what it stands for is private, so that printing one shows nothing of other tenants. */
export class PermitOf implements Permit {
  readonly tenant: string
  readonly provider: string | undefined
  readonly priority: Priority
  readonly cost: number
  readonly #owner: object
  readonly #ask: Kernel.Ask
  readonly #scope: Scope.Closeable

  constructor(owner: object, ask: Kernel.Ask, scope: Scope.Closeable) {
    this.tenant = ask.pair.tenant.key
    this.provider = ask.pair.provider?.key
    this.priority = priorities[ask.arrival]!
    this.cost = ask.cost
    this.#owner = owner
    this.#ask = ask
    this.#scope = scope
  }

  /** The ask and scope behind a permit that `owner` gave out; undefined for anything else. */
  static open(
    permit: unknown,
    owner: object,
  ): { readonly ask: Kernel.Ask; readonly scope: Scope.Closeable } | undefined {
    if (typeof permit !== "object" || permit === null || !(#ask in permit)) return undefined
    const own = permit as PermitOf
    return own.#owner === owner ? { ask: own.#ask, scope: own.#scope } : undefined
  }
}

/** The class of a priority; undefined where it is none. */
export const arrivalOf = (priority: unknown): Class | undefined => {
  switch (priority) {
    case undefined:
    case "normal":
      return 2
    case "emergency":
      return 0
    case "control":
      return 1
    case "notification":
      return 3
    default:
      return undefined
  }
}

/** Waits for the answer to a ticket, which may have been decided before its fiber came to this step. */
export const awaitAnswer = (ticket: Ticket): Effect.Effect<never> =>
  Effect.callback((resume) => {
    if (ticket.answer !== undefined) resume(ticket.answer as Effect.Effect<never>)
    else ticket.resume = resume as (effect: Answer) => void
  })

/** The scope that a permit was meant for has closed, and its ask has left: a caller that still waits is interrupted. */
export const interruptWaiter = ({ ask }: Lease): void => {
  if (!(ask instanceof Ticket)) return
  if (ask.resume === undefined) ask.answer ??= Effect.interrupt
  else ask.resume(Effect.interrupt)
}

/** The record of an ask that keeps every rule, or the rule that it breaks. It runs `weights` for a tenant it does not know. */
export const recordOf = (
  keys: Keys,
  ask: Ask,
  arrival: Class | undefined,
  cost: number,
  weights: ((tenant: string) => number) | undefined,
): Kernel.Pair | InvalidRequest => {
  if (typeof ask !== "object" || ask === null) {
    return new InvalidRequest({ field: "ask", rule: "an object that names a tenant", value: ask })
  }
  if (arrival === undefined) {
    return new InvalidRequest({ field: "priority", rule: `one of ${priorities.join(", ")}`, value: ask.priority })
  }
  if (!(Number.isSafeInteger(cost) && cost >= 1)) {
    return new InvalidRequest({ field: "cost", rule: "a whole number of at least 1", value: cost })
  }
  // A key that is known was checked when its record was made.
  return keys.find(ask.tenant, ask.provider) ?? newRecord(keys, ask, weights)
}

/** `weights` is the user's code: it runs before anything is made, and may itself have made the record meanwhile. */
const newRecord = (
  keys: Keys,
  { provider, tenant }: Ask,
  weights: ((tenant: string) => number) | undefined,
): Kernel.Pair | InvalidRequest => {
  const wrong = Limit.key("tenant", tenant) ?? (provider === undefined ? undefined : Limit.key("provider", provider))
  if (wrong !== undefined) return wrong
  const weight = keys.tenants.get(tenant)?.weight ?? (weights === undefined ? 1 : weights(tenant))
  const rule = Limit.wholeRule(weight, { min: 1, max: 1_000 })
  if (rule !== undefined) return new InvalidRequest({ field: "weights", rule, value: weight })
  return keys.find(tenant, provider) ?? keys.make(tenant, provider, weight)
}
