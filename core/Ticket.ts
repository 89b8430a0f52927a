/**
 * A caller's side of an ask: how its fiber waits and is told, what its exit stands over, and the permit that it is given.
 * A ticket is owned by whoever let it wait; nothing here changes an account.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { priorities, type Priority } from "./AdmissionOptions.ts"
import * as Kernel from "./kernel/Ask.ts"
import * as LeaseState from "./kernel/LeaseState.ts"
import type { Permit } from "./Permit.ts"

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

/** Waits for the answer to a ticket, which may have been decided before its fiber came to this step. */
export const awaitAnswer = (ticket: Ticket): Effect.Effect<never> =>
  Effect.callback((resume) => {
    if (ticket.answer !== undefined) resume(ticket.answer as Effect.Effect<never>)
    else ticket.resume = resume as (effect: Answer) => void
  })

/**
 * The scope that a permit was meant for has closed, and its ask has left: a caller that still waits is interrupted. One that was
 * refused before it came to wait, and counted as that, hears that.
 */
export const interruptWaiter = ({ ask }: Lease): void => {
  if (!(ask instanceof Ticket)) return
  if (ask.resume !== undefined) ask.resume(Effect.interrupt)
  else if (ask.state !== LeaseState.Expired && ask.state !== LeaseState.Refused) ask.answer = Effect.interrupt
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
