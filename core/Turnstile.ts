/**
 * The one state of an Admission: its accounts, its line, and the fibers that wait on it. Each method is one step, followed
 * by whatever the step left to be told; nothing else changes the records.
 *
 * It owns the tickets of those who hold or wait, one alarm while there is something to wait for, and the fiber that tells
 * a burst of answers.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import { AdmissionLimits, type Limits } from "./AdmissionLimits.ts"
import type { Settings } from "./AdmissionOptions.ts"
import * as Refused from "./AdmissionRefused.ts"
import * as Snapshot from "./AdmissionSnapshot.ts"
import { fromVerdict } from "./AdmissionVerdict.ts"
import { Alarm } from "./Alarm.ts"
import { arrivalOf, recordOf } from "./AskRecord.ts"
import * as Deadline from "./Deadline.ts"
import { type Drain, Drains } from "./Drains.ts"
import { type Ask as KernelAsk, type Group, Pair, type WaitingAsk } from "./kernel/Ask.ts"
import { Keys } from "./kernel/Keys.ts"
import * as LeaseState from "./kernel/LeaseState.ts"
import * as Ledger from "./kernel/Ledger.ts"
import { Line } from "./kernel/Line.ts"
import * as Limit from "./Limits.ts"
import type { Ask } from "./Permit.ts"
import { type InvalidLimits, InvalidRequest } from "./Refusal.ts"
import { type Answer, awaitAnswer, interruptWaiter, type Lease, Ticket } from "./Ticket.ts"
import { shielded, Transition } from "./Transition.ts"

export class Turnstile {
  readonly #clock: Clock.Clock
  readonly #context: Context.Context<never>
  readonly #settings: Settings
  readonly #limits: AdmissionLimits
  readonly #line: Line
  readonly #transition: Transition<WaitingAsk>
  readonly #alarm: Alarm
  readonly #totals = Snapshot.totals()
  readonly #drains = new Drains()
  #state: Snapshot.AdmissionSnapshot["state"] = "open"
  #closedNanos = 0
  #lastContext: Context.Context<never> | undefined = undefined
  #lastDeadline: Deadline.Deadline | undefined = undefined

  constructor(settings: Settings, fiber: Fiber.Fiber<unknown, unknown>) {
    this.#clock = fiber.getRef(Clock.Clock)
    this.#settings = settings
    this.#limits = new AdmissionLimits(settings.limits, settings.maxBypass)
    const { bounds, caps } = this.#limits
    this.#line = new Line(new Keys(caps), new Ledger.Total<Group>(caps.total, settings.reserves), bounds)
    const { context } = fiber
    this.#context = context
    this.#transition = new Transition({
      delivery: this.#line.answers,
      perform: (ask) => this.#tell(ask as Ticket),
      context,
    })
    this.#alarm = new Alarm({ clock: this.#clock, context, ring: () => this.#ring() })
  }

  /** Takes the units at once, or waits for them, and goes on with `body`. */
  take<A, E, R>(
    lease: Lease,
    ask: Ask,
    fiber: Fiber.Fiber<unknown, unknown>,
    body: Effect.Effect<A, E, R>,
  ): Effect.Effect<A, E | Refused.AdmissionRefused | InvalidRequest, R> {
    const arrival = arrivalOf(ask?.priority)
    const cost = ask?.cost === undefined ? 1 : ask.cost
    const pair = this.#pair(ask, arrival, cost)
    if (!(pair instanceof Pair)) return Effect.fail(pair)
    const deadline = this.#deadlineOf(fiber.context)
    let now: number | undefined
    let due = Infinity
    if (deadline !== undefined) {
      now = this.#now()
      due = Deadline.onClock(deadline, this.#clock, now)
      if (!(due > now)) return Effect.fail(this.#refuse(this.#tooOld(new Ticket(pair, arrival!, cost))))
    }
    lease.ask = this.#line.pass(pair, arrival!, cost)
    if (lease.ask === undefined) return this.#stand(lease, new Ticket(pair, arrival!, cost), now, due, body)
    if (now !== undefined) this.#line.stamp(now)
    this.#totals.granted++
    return body
  }

  /** Most fibers share one context, and looking up a reference that is not in it takes a tenth of an uncontended run. */
  #deadlineOf(context: Context.Context<never>): Deadline.Deadline | undefined {
    if (context === this.#lastContext) return this.#lastDeadline
    this.#lastContext = context
    return this.#lastDeadline = Context.get(context, Deadline.Current)
  }

  /** The way through the line, of an ask that could not pass at once. */
  #stand<A, E, R>(
    lease: Lease,
    ticket: Ticket,
    read: number | undefined,
    due: number,
    body: Effect.Effect<A, E, R>,
  ): Effect.Effect<A, E | Refused.AdmissionRefused, R> {
    const now = read ?? this.#now()
    const patience = now + this.#settings.maxWaitNanos
    ticket.byDeadline = due < patience
    ticket.dueNanos = Math.min(due, patience)
    lease.ask = ticket
    const verdict = this.#line.ask(ticket, now, true)
    if (verdict === undefined && ticket.state === LeaseState.Held) {
      this.#totals.granted++
      this.#after()
      return body
    }
    const refusal = verdict === undefined ? this.#tooLate(ticket, now) : fromVerdict(verdict, ticket.cost)
    if (refusal === undefined) ticket.body = body
    this.#after()
    return refusal === undefined ? awaitAnswer(ticket) : Effect.fail(this.#refuse(refusal))
  }

  /** Takes the units at once, or says why not. */
  tryTake(
    lease: Lease,
    ask: Ask,
  ): Refused.WouldWait | Refused.NeverFits | Refused.Closed | InvalidRequest | undefined {
    const arrival = arrivalOf(ask?.priority)
    const cost = ask?.cost === undefined ? 1 : ask.cost
    const pair = this.#pair(ask, arrival, cost)
    if (!(pair instanceof Pair)) return pair
    lease.ask = this.#line.pass(pair, arrival!, cost)
    const refusal = lease.ask === undefined ? this.#tryStand(lease, new Ticket(pair, arrival!, cost)) : undefined
    if (refusal !== undefined) return this.#refuse(refusal)
    this.#totals.granted++
    return undefined
  }

  #tryStand(lease: Lease, ticket: Ticket): Refused.WouldWait | Refused.NeverFits | undefined {
    lease.ask = ticket
    const verdict = this.#line.ask(ticket, this.#now(), false)
    this.#after()
    return verdict === undefined ? undefined : fromVerdict(verdict, ticket.cost)
  }

  /** The record of an ask that keeps every rule; or why it may not come. */
  #pair(ask: Ask, arrival: Ledger.Class | undefined, cost: number): Pair | InvalidRequest | Refused.Closed {
    const pair = recordOf(this.#line.keys, ask, arrival, cost, this.#settings.weights)
    return this.#state === "open" || !(pair instanceof Pair) ? pair : this.#refuse(this.#closed())
  }

  /** Its deadline has come. What could never fit is told so all the same: time is not what it lacks. */
  #tooOld(ticket: Ticket): Refused.WaitExpired | Refused.NeverFits {
    const never = this.#line.neverFits(ticket)
    if (never !== undefined) return fromVerdict(never, ticket.cost)
    const account = this.#line.shortOf(ticket)
    return new Refused.WaitExpired({ waited: Deadline.nanos(0), bound: "deadline", account })
  }

  /** The caller is through, whatever state its ask is in: what it holds goes back, what waits leaves. Silent twice. */
  leave({ ask }: Lease): undefined {
    if (ask === undefined || this.giveBack(ask)) return undefined
    if (!(ask instanceof Ticket) || !this.#line.leave(ask, this.#nowIfWaiting())) return undefined
    this.#totals.interrupted++
    this.#after()
    return undefined
  }

  /** The scope that a permit was meant for has closed: its ask leaves, and a caller that still waits is interrupted. */
  abandon(lease: Lease): void {
    this.leave(lease)
    shielded(this.#context, () => interruptWaiter(lease))
  }

  /** Gives back what a running ask holds; false where it holds nothing. */
  giveBack(ask: KernelAsk): boolean {
    if (ask.state !== LeaseState.Held) return false
    this.#line.giveBack(ask, this.#nowIfWaiting())
    this.#totals.released++
    if (this.#line.isBusy || !this.#drains.isEmpty) this.#after()
    return true
  }

  snapshot(): Snapshot.AdmissionSnapshot {
    return Snapshot.of(this.#line, this.#limits.given, this.#state, this.#totals, this.#settings.labels)
  }

  holders(): ReadonlyArray<Snapshot.Holder> {
    const now = this.#now()
    this.#line.stamp(now)
    return Snapshot.holders(this.#line, now)
  }

  lower(next: Partial<Limits>): Result.Result<void, InvalidLimits | Refused.BelowUse> {
    const lowered = this.#limits.lower(next, this.#line)
    if (Result.isSuccess(lowered)) this.#line.review(this.#now())
    this.#after()
    return lowered
  }

  /** Takes units out of the total, or says why not. */
  withhold(units: number): InvalidRequest | undefined {
    const max = this.#line.total.cap.limit - this.#line.total.withheld
    const wrong = Limit.wholeRule(units, { min: 1, max })
    if (wrong !== undefined) {
      const rule = max === 0 ? "absent, since nothing is left to withhold" : wrong
      return new InvalidRequest({ field: "units", rule, value: units })
    }
    this.#line.withhold(units, this.#now())
    this.#after()
    return undefined
  }

  restore(units: number): void {
    this.#line.restore(units, this.#now())
    this.#after()
  }

  drain(deadline: Deadline.Deadline): Effect.Effect<Snapshot.DrainReport> {
    return Effect.callback((resume) => {
      const now = this.#now()
      const due = Deadline.onClock(deadline, this.#clock, now)
      const drain: Drain = {
        startedNanos: now,
        dueNanos: due,
        refused: 0,
        // In a fiber of its own: what runs on from here is no part of the step that ended the drain.
        report: (report) => Effect.runForkWith(this.#context)(Effect.sync(() => resume(Effect.succeed(report)))),
      }
      this.#drains.add(drain)
      this.#stopAsking(now)
      if (this.#settings.drainWaiting === "refuse") this.#refuseWaiting(now)
      // A deadline that is no instant has come.
      if (!(due > now)) this.#endDrains(now)
      this.#after()
      return Effect.sync(() => {
        this.#drains.remove(drain)
        this.#after()
      })
    })
  }

  /** Drains with a zero deadline; what is held stays charged until its owners give it back. Waits for the telling. */
  readonly close: Effect.Effect<void> = Effect.suspend(() => {
    const now = this.#now()
    this.#stopAsking(now)
    this.#refuseWaiting(now)
    this.#report(Infinity, now)
    this.#after()
    return this.#transition.idle
  })

  // --- after a step

  /**
   * Sets the alarm, ends drains that have nothing left to wait for, and tells whoever was answered: last, since those
   * run their code at once, take steps of their own, and each ends here.
   */
  #after(): void {
    if (!this.#drains.isEmpty && this.#line.held.size === 0 && this.#line.waiting === 0) {
      this.#report(Infinity, this.#now())
    }
    this.#alarm.set(Math.min(this.#line.nextDue, this.#drains.nextDue))
    this.#transition.flush()
  }

  #ring(): void {
    const now = this.#now()
    this.#line.expire(now)
    if (this.#drains.nextDue <= now) this.#endDrains(now)
    this.#after()
  }

  /** The time of some drain is over: whoever still waits is refused. */
  #endDrains(now: number): void {
    this.#refuseWaiting(now)
    this.#report(now, now)
  }

  #report(upToNanos: number, now: number): void {
    this.#state = "closed"
    this.#drains.finish(upToNanos, now, this.#line.total.used, () => Snapshot.holders(this.#line, now))
  }

  #stopAsking(now: number): void {
    if (this.#state !== "open") return
    this.#state = "draining"
    this.#closedNanos = now
  }

  #refuseWaiting(now: number): void {
    this.#drains.noteRefused(this.#line.refuseAll(now))
  }

  #tell(ticket: Ticket): void {
    const answer = this.#answer(ticket)
    if (answer === undefined) return
    ticket.body = undefined
    if (ticket.resume === undefined) ticket.answer = answer
    else ticket.resume(answer)
  }

  /** What a decided ask is told; undefined where its caller has left meanwhile. */
  #answer(ticket: Ticket): Answer | undefined {
    const { expectedNanos } = ticket
    switch (ticket.state) {
      case LeaseState.Granted:
        if (expectedNanos !== undefined) this.#line.pace.learn(ticket.sinceNanos <= expectedNanos, ticket.cost)
        this.#line.deliver(ticket)
        this.#totals.granted++
        return ticket.body
      case LeaseState.Expired: {
        if (expectedNanos !== undefined) this.#line.pace.learn(false, ticket.cost)
        const waited = Deadline.nanos(this.#now() - ticket.sinceNanos)
        const bound = ticket.byDeadline ? "deadline" : "maxWait"
        return Effect.fail(
          this.#refuse(new Refused.WaitExpired({ waited, bound, account: ticket.short ?? "total" })),
        )
      }
      case LeaseState.Refused: {
        const never = this.#line.neverFits(ticket)
        return Effect.fail(this.#refuse(never === undefined ? this.#closed() : fromVerdict(never, ticket.cost)))
      }
      default:
        return undefined
    }
  }

  #tooLate(ticket: Ticket, now: number): Refused.TooLate | undefined {
    const interval = this.#settings.estimate ? this.#line.pace.intervalNanos(ticket.cost) : undefined
    if (interval === undefined) return undefined
    const estimate = this.#line.turnsTo(ticket) * interval
    const remaining = ticket.dueNanos - now
    ticket.expectedNanos = now + estimate
    if (estimate <= remaining) return undefined
    this.#line.withdraw(ticket)
    return new Refused.TooLate({ estimate: Deadline.nanos(estimate), remaining: Deadline.nanos(remaining) })
  }

  #closed(): Refused.Closed {
    const state = this.#state === "closed" ? "closed" : "draining"
    return new Refused.Closed({ state, since: Deadline.nanos(this.#now() - this.#closedNanos) })
  }

  #refuse<E extends { readonly _tag: Snapshot.RefusedTag }>(refusal: E): E {
    this.#totals.refused[refusal._tag]++
    return refusal
  }

  #now(): number {
    return Deadline.nowNanos(this.#clock)
  }

  /** Without anybody waiting no instant matters, and reading the clock would be a fifth of a release. */
  #nowIfWaiting(): number {
    return this.#line.waiting === 0 ? 0 : this.#now()
  }
}
