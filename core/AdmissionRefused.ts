/**
 * What `Admission` answers in place of a permit. After each of these the caller holds nothing and waits for nothing.
 *
 * They name accounts by kind, never a tenant or provider, so a refusal tells a caller nothing about others.
 */
import * as Duration from "effect/Duration"
import * as Deadline from "./Deadline.ts"
import { Refusal } from "./Refusal.ts"

/** One cap with its use, from narrow to wide. A pair is one provider as used by one tenant. */
export type AccountName = "pair" | "provider" | "tenant" | "total"

/**
 * The cost is above a cap, or above what reserves leave of the total, so no release can ever make room. Answered at once,
 * however long the line.
 */
export class NeverFits extends Refusal {
  readonly _tag = "NeverFits"
  override readonly name = "NeverFits"
  readonly account: AccountName
  readonly cost: number
  readonly limit: number
  constructor(facts: { readonly account: AccountName; readonly cost: number; readonly limit: number }) {
    super()
    this.account = facts.account
    this.cost = facts.cost
    this.limit = facts.limit
  }
  override get message(): string {
    return `a cost of ${this.cost} is above the ${this.limit} that the ${this.account} may ever hold for it`
  }
}

/** Every place to wait is taken: in all, or those of the tenant. */
export class QueueFull extends Refusal {
  readonly _tag = "QueueFull"
  override readonly name = "QueueFull"
  readonly scope: "all" | "tenant"
  readonly limit: number
  constructor(facts: { readonly scope: "all" | "tenant"; readonly limit: number }) {
    super()
    this.scope = facts.scope
    this.limit = facts.limit
  }
  override get message(): string {
    return `${this.limit} asks ${this.scope === "all" ? "" : "of the tenant "}wait already, and no more may`
  }
}

/** `tryEnter` only: it could not be granted at once. `account` was short, or it is not this ask's turn (`total`). */
export class WouldWait extends Refusal {
  readonly _tag = "WouldWait"
  override readonly name = "WouldWait"
  readonly account: AccountName
  constructor(facts: { readonly account: AccountName }) {
    super()
    this.account = facts.account
  }
  override get message(): string {
    return `the ${this.account} has no room for it now`
  }
}

/**
 * The time to wait was over before the ask's turn came: its fiber's deadline, or `maxWait` if that was nearer.
 *
 * `waited` is the time spent in the line, zero for a deadline that had passed before; `account` was short last.
 */
export class WaitExpired extends Refusal {
  readonly _tag = "WaitExpired"
  override readonly name = "WaitExpired"
  readonly waited: Duration.Duration
  readonly bound: "deadline" | "maxWait"
  readonly account: AccountName
  constructor(facts: {
    readonly waited: Duration.Duration
    readonly bound: "deadline" | "maxWait"
    readonly account: AccountName
  }) {
    super()
    this.waited = facts.waited
    this.bound = facts.bound
    this.account = facts.account
  }
  override get message(): string {
    return `not admitted within ${this.bound}: waited ${Deadline.shown(this.waited)} for the ${this.account}`
  }
}

/** `estimate` is on, and at the rate observed over 32 grants and more the ask would not be granted in the time that remains. */
export class TooLate extends Refusal {
  readonly _tag = "TooLate"
  override readonly name = "TooLate"
  readonly estimate: Duration.Duration
  readonly remaining: Duration.Duration
  constructor(facts: { readonly estimate: Duration.Duration; readonly remaining: Duration.Duration }) {
    super()
    this.estimate = facts.estimate
    this.remaining = facts.remaining
  }
  override get message(): string {
    return `a wait of about ${Deadline.shown(this.estimate)} is ahead, and ${Deadline.shown(this.remaining)} remain`
  }
}

/** No new asks: a drain has begun, or the Admission, the gate's line or the executor is closed; `since` says for how long. */
export class Closed extends Refusal {
  readonly _tag = "Closed"
  override readonly name = "Closed"
  readonly state: "draining" | "closed"
  readonly since: Duration.Duration
  constructor(facts: { readonly state: "draining" | "closed"; readonly since: Duration.Duration }) {
    super()
    this.state = facts.state
    this.since = facts.since
  }
  override get message(): string {
    return `${this.state} since ${Duration.format(Duration.millis(Math.ceil(Duration.toMillis(this.since))))}`
  }
}

export type AdmissionRefused = NeverFits | QueueFull | WaitExpired | TooLate | Closed

/** `lower` only: more is in use than the new limit allows. No limit was changed. */
export class BelowUse extends Refusal {
  readonly _tag = "BelowUse"
  override readonly name = "BelowUse"
  readonly account: AccountName | "queue" | "tenantQueue"
  readonly limit: number
  readonly use: number
  constructor(facts: {
    readonly account: AccountName | "queue" | "tenantQueue"
    readonly limit: number
    readonly use: number
  }) {
    super()
    this.account = facts.account
    this.limit = facts.limit
    this.use = facts.use
  }
  override get message(): string {
    return `the ${this.account} uses ${this.use}, more than the new limit of ${this.limit}`
  }
}
