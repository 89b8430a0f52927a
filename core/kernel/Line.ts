/**
 * The one line in front of the accounts: who is granted at once, who waits, whose turn it is, who is turned away.
 *
 * Every operation is one step: it changes the records, decides in the same step what becomes of whatever got free, and
 * puts the answers on `answers`, to be handed over after the step. It reads no clock, calls nothing and cannot suspend.
 */
import { Ask, Group, onAccount, type Pair, unstamped, type WaitingAsk } from "./Ask.ts"
import { DeadlineOrder } from "./DeadlineOrder.ts"
import { Delivery } from "./Delivery.ts"
import type { Keys } from "./Keys.ts"
import * as Ledger from "./Ledger.ts"
import type { AccountName, Class, Total } from "./Ledger.ts"
import * as LeaseState from "./LeaseState.ts"
import { List } from "./List.ts"
import { Pace } from "./Pace.ts"
import { Places } from "./Places.ts"

export interface Bounds {
  maxQueued: number
  maxQueuedPerTenant: number
  readonly maxBypass: number
}

/** No release can ever make room. */
export interface Never {
  readonly kind: "never"
  readonly account: AccountName
  readonly limit: number
}

/** No place to wait. */
export interface Full {
  readonly kind: "full"
  readonly scope: "all" | "tenant"
  readonly limit: number
}

/** No room now, for an ask that may not wait. */
export interface Short {
  readonly kind: "short"
  readonly account: AccountName
}

/** Why an ask was not granted. */
export type Refusal = Never | Full | Short

/** Undefined is granted or waiting: the ask's state says which. */
type Verdict = Refusal | undefined

export class Line {
  readonly keys: Keys
  readonly total: Total<Group>
  readonly bounds: Bounds
  /** Asks granted, expired or refused whose fibers have not heard of it. */
  readonly answers: Delivery<WaitingAsk> = new Delivery<WaitingAsk>()
  readonly held: List<Ask> = new List<Ask>()
  readonly pace: Pace = new Pace()
  waiting = 0
  /** By class of arrival: asks that wait, and tenants that have one. */
  readonly waitingIn: [number, number, number, number] = [0, 0, 0, 0]
  readonly tenantsIn: [number, number, number, number] = [0, 0, 0, 0]
  readonly #expiries = new DeadlineOrder<WaitingAsk>()
  readonly #places: Places

  constructor(keys: Keys, total: Total<Group>, bounds: Bounds) {
    this.keys = keys
    this.total = total
    this.bounds = bounds
    this.#places = new Places(total, bounds.maxBypass)
  }

  /** True while somebody waits or an answer has not been told: a step may have left something to do. */
  get isBusy(): boolean {
    return this.waiting > 0 || this.answers.size > 0
  }

  /** The instant at which the first waiting ask expires; `Infinity` while none waits. */
  get nextDue(): number {
    return this.#expiries.first()?.dueNanos ?? Infinity
  }

  /**
   * Grants at once what needs no decision: nobody waits and every account has room. Undefined, and no change, otherwise.
   * The instant is left open, since reading a clock would be a fifth of it all; see {@link stamp}.
   */
  pass(pair: Pair, arrival: Class, cost: number): Ask | undefined {
    if (this.waiting > 0 || Ledger.reserve(pair.accountsOf(arrival), this.total, arrival, cost) !== undefined) {
      return undefined
    }
    this.keys.hold(pair)
    const ask = new Ask(pair, arrival, cost)
    ask.state = LeaseState.Held
    this.held.push(ask)
    return ask
  }

  /** The clock has been read: whatever was granted since it was read last counts from now. Amortised O(1). */
  stamp(now: number): void {
    for (let ask = this.held.tail; ask !== undefined && ask.sinceNanos === unstamped; ask = ask.prev) {
      ask.sinceNanos = now
    }
  }

  /**
   * Grants at once, lets wait, or refuses. A refusal charges nothing and takes no place; what it may start is the setting
   * aside for a head that it would have passed once too often.
   */
  ask(ask: WaitingAsk, now: number, mayWait: true): Never | Full | undefined
  ask(ask: WaitingAsk, now: number, mayWait: false): Never | Short | undefined
  ask(ask: WaitingAsk, now: number, mayWait: boolean): Verdict {
    this.stamp(now)
    this.keys.hold(ask.pair)
    // Those whose instant has come make room for others, who were here first.
    if (this.nextDue <= now) this.#decide(now)
    const verdict = this.#refusedAtOnce(ask, mayWait) ?? this.#enqueue(ask, now, mayWait)
    if (verdict === undefined) return undefined
    this.#settle(ask, LeaseState.Refuse)
    this.keys.drop(ask.pair)
    return verdict
  }

  /** Gives the units of a granted or held ask back, once; false, and no change, where it holds none. */
  giveBack(ask: Ask, now: number): boolean {
    if (!this.#settle(ask, LeaseState.Release)) return false
    // With nobody waiting there is nobody to tell, to wake or to let in.
    if (this.waiting === 0) this.#uncharge(ask)
    else this.#refund(ask, now)
    return true
  }

  /** Lets a running ask out of the line's hands with its units: whoever has it now gives them back, and says so. */
  handOver(ask: Ask): void {
    ask.state = LeaseState.Released
    this.held.remove(ask)
  }

  /** Units that had been handed over are free again. */
  freed(pair: Pair, arrival: Class, now: number): void {
    if (this.waiting === 0) return this.#places.wakeOpened()
    const accounts = pair.accountsOf(arrival)
    for (let i = 0; i < accounts.length; i++) this.#places.open(accounts[i]!)
    this.#decide(now)
  }

  /** The caller has gone: a waiting ask leaves, a granted one passes its units on. False where there was neither. */
  leave(ask: WaitingAsk, now: number): boolean {
    const state = ask.state
    if (!this.#settle(ask, LeaseState.Interrupt)) return false
    if (state === LeaseState.Granted) this.#refund(ask, now)
    else this.#depart(ask, now)
    return true
  }

  /** Marks a granted ask as running; false where it is void. */
  deliver(ask: WaitingAsk): boolean {
    return this.#settle(ask, LeaseState.Deliver)
  }

  /** Answers every ask whose instant has come, and decides about whatever that lets through. */
  expire(now: number): void {
    this.#decide(now)
  }

  /** Refuses all that wait. */
  refuseAll(now: number): number {
    const asks = this.waitingAsks()
    for (const ask of asks) this.#dismiss(ask, LeaseState.Refuse)
    this.#decide(now)
    return asks.length
  }

  /** After limits were lowered: refuses the asks that can never fit any more. */
  review(now: number): void {
    for (const ask of this.waitingAsks()) {
      if (this.neverFits(ask) !== undefined) this.#dismiss(ask, LeaseState.Refuse)
    }
    this.#places.putAside(this.#waitingGroups())
    this.#places.lookAgain(this.#waitingGroups())
    this.#decide(now)
  }

  /** Takes `units` out of the total, under use if need be; false, and no change, where fewer are left. */
  withhold(units: number, now: number): boolean {
    if (!Ledger.withhold(this.total, units)) return false
    this.#places.putAside(this.#waitingGroups())
    this.#decide(now)
    return true
  }

  restore(units: number, now: number): void {
    this.total.withheld -= units
    this.#places.comeBack()
    this.#decide(now)
  }

  /** The waiting asks in order of arrival. O(n log n), for operators and for sweeps over the whole line. */
  waitingAsks(): Array<WaitingAsk> {
    const all: Array<WaitingAsk> = []
    for (const group of this.#waitingGroups()) all.push(...group.asks.toArray() as Array<WaitingAsk>)
    return all.sort((a, b) => a.sinceNanos - b.sinceNanos)
  }

  *#waitingGroups(): IterableIterator<Group> {
    for (const pair of this.keys.pairs()) {
      for (const group of pair.groups) if (group !== undefined && group.asks.size > 0) yield group
    }
  }

  /** The limit that makes an ask impossible, if one does. */
  neverFits(ask: Ask): Never | undefined {
    const never = Ledger.neverFits(ask.pair.accountsOf(ask.arrival), this.total, ask.arrival, ask.cost)
    return never === undefined ? undefined : { kind: "never", account: never.name, limit: never.most(ask.arrival) }
  }

  /**
   * The account that is short for an ask now, narrow to wide; where all have room, the one that it is parked on, since what
   * that has is kept for others; the total where only its turn has not come.
   */
  shortOf(ask: Ask): AccountName {
    const short = Ledger.firstShort(ask.pair.accountsOf(ask.arrival), ask.cost)
    if (short !== undefined) return short.name
    if (this.total.room(ask.arrival) < ask.cost) return "total"
    const group = ask.pair.groups[ask.arrival]
    return group?.place === onAccount && group.head === ask ? group.account!.name : "total"
  }

  /** Grants before this ask's own, by its place in its tenant and the tenants of its class (AD-25). */
  turnsTo(ask: Ask): number {
    const { arrival } = ask
    let higher = 0
    for (let k = 0; k < arrival; k++) higher += this.waitingIn[k]!
    const place = ask.pair.tenant.waiting[arrival]
    return Math.min(this.waitingIn[arrival], place * this.tenantsIn[arrival]) + higher
  }

  /** Takes back an ask that was let wait a moment ago; nothing else has moved since. */
  withdraw(ask: WaitingAsk): void {
    this.#dismiss(ask, LeaseState.Refuse, false)
    this.#places.rotation.unsee()
    this.#decide(ask.sinceNanos)
  }

  // --- steps inside a step

  #settle(ask: Ask, event: LeaseState.Event): boolean {
    const state = LeaseState.next(ask.state, event)
    if (state === LeaseState.misuse) return false
    ask.state = state
    return true
  }

  #refusedAtOnce(ask: Ask, mayWait: boolean): Verdict {
    const never = this.neverFits(ask)
    if (never !== undefined) return never
    // Where units are free the ask may be granted, whoever waits, so only the turn can tell.
    if (this.total.room(ask.arrival) >= ask.cost) return undefined
    return this.#noPlace(ask, mayWait, 1)
  }

  /** Why `ask` may not stand in the line, with `coming` of those counted yet to come. */
  #noPlace(ask: Ask, mayWait: boolean, coming: number): Verdict {
    if (!mayWait) return { kind: "short", account: this.shortOf(ask) }
    const { maxQueued, maxQueuedPerTenant } = this.bounds
    if (this.waiting + coming > maxQueued) return { kind: "full", scope: "all", limit: maxQueued }
    if (ask.arrival === 0 || ask.pair.tenant.queued + coming <= maxQueuedPerTenant) return undefined
    return { kind: "full", scope: "tenant", limit: maxQueuedPerTenant }
  }

  #enqueue(ask: WaitingAsk, now: number, mayWait: boolean): Verdict {
    this.#settle(ask, LeaseState.Enqueue)
    ask.sinceNanos = now
    this.#count(ask, 1)
    this.#places.rotation.see(ask.cost, ask.pair.tenant.weight, this.waiting === 1)
    const group = ask.pair.groups[ask.arrival] ??= new Group(ask.pair, ask.arrival)
    group.asks.push(ask)
    this.#expiries.add(ask)
    if (group.asks.size === 1) this.#places.enter(group)
    // Nothing else has changed, so without room for this ask there is nothing to decide.
    if (this.total.room(ask.arrival) >= ask.cost) this.#decide(now)
    if (ask.state !== LeaseState.Waiting) {
      // Granted in its own step: it is told by the return, not by an answer. Expired at birth is told by an answer.
      this.#settle(ask, LeaseState.Deliver)
      return undefined
    }
    const verdict = this.#noPlace(ask, mayWait, 0)
    if (verdict !== undefined) {
      this.#take(ask)
      this.#places.rotation.unsee()
      this.#decide(now)
    }
    return verdict
  }

  #count(ask: Ask, by: 1 | -1): void {
    const { arrival, pair: { tenant } } = ask
    this.waiting += by
    this.waitingIn[arrival] += by
    if (arrival !== 0) tenant.queued += by
    const before = tenant.waiting[arrival]
    tenant.waiting[arrival] += by
    if (before === 0) this.tenantsIn[arrival]++
    else if (tenant.waiting[arrival] === 0) this.tenantsIn[arrival]--
  }

  #expireDue(now: number): void {
    for (let ask = this.#expiries.first(); ask !== undefined && ask.dueNanos <= now; ask = this.#expiries.first()) {
      ask.short = this.shortOf(ask)
      this.#dismiss(ask, LeaseState.Expire)
    }
  }

  #refund(ask: Ask, now: number): void {
    // Whose time was over before these units came back is told of what was short for it then.
    this.#expireDue(now)
    this.#uncharge(ask)
    this.freed(ask.pair, ask.arrival, now)
  }

  #uncharge(ask: Ask): void {
    Ledger.refund(ask.pair.accountsOf(ask.arrival), this.total, ask.arrival, ask.cost)
    this.held.remove(ask)
    this.keys.drop(ask.pair)
  }

  #depart(ask: WaitingAsk, now: number): void {
    const wasHead = ask.list?.head === ask
    this.#take(ask)
    this.keys.drop(ask.pair)
    if (wasHead) this.#decide(now)
  }

  /** A waiting ask that is answered without a grant. */
  #dismiss(ask: WaitingAsk, event: LeaseState.Event, tell = true): void {
    this.#settle(ask, event)
    this.#take(ask)
    this.keys.drop(ask.pair)
    if (tell) this.answers.add(ask)
  }

  /** Takes a waiting ask out of its group. */
  #take(ask: WaitingAsk): void {
    const group = ask.pair.groups[ask.arrival]!
    const wasHead = group.asks.head === ask
    group.asks.remove(ask)
    this.#expiries.remove(ask)
    this.#count(ask, -1)
    if (wasHead) this.#places.headLeft(group)
  }

  // --- the decision

  /** Who gets what is free: expiries first, then ageing, then class by class until nobody else can be granted. */
  #decide(now: number): void {
    this.stamp(now)
    this.#expireDue(now)
    // Without anybody waiting this only clears the list of accounts to be looked at.
    if (this.waiting === 0) return this.#places.wakeOpened()
    this.#places.raiseDue(now)
    do {
      this.#places.wakeOpened()
      for (let turnClass = 0; turnClass < 4; turnClass++) {
        if (!this.#places.rotation.isEmpty(turnClass as Class)) this.#serve(turnClass as Class, now)
      }
    } while (this.#places.hasOpened)
    this.#places.rotation.endStep()
  }

  #serve(turnClass: Class, now: number): void {
    const places = this.#places
    for (let group = places.next(turnClass); group !== undefined; group = places.next(turnClass)) {
      if (places.exceedsWithholding(group)) {
        places.relocate(group)
        continue
      }
      const short = places.obstacle(group)
      if (short === undefined) this.#grant(group, now)
      else if (short !== this.total) places.parkNarrow(group, short)
      else if (!places.fallShort(group, now)) return
    }
  }

  /** Charges the head and puts its answer out; the group goes on with its next ask. */
  #grant(group: Group, now: number): void {
    const ask = group.head!
    const accounts = group.pair.accountsOf(group.arrival)
    this.#places.noteGrant(group, accounts)
    Ledger.charge(accounts, this.total, group.arrival, group.need)
    this.#settle(ask, LeaseState.Grant)
    group.asks.remove(ask)
    this.#expiries.remove(ask)
    this.#count(ask, -1)
    ask.sinceNanos = now
    this.held.push(ask)
    this.answers.add(ask)
    this.pace.note(now, this.waiting > 0)
    this.#places.advance(group)
  }
}
