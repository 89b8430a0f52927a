/**
 * A waiting line in front of a provider gate, for callers who would rather wait a little than be told that it is full.
 *
 * It stands on the kernel's line and charges the gate's own places: higher priorities first, turns between tenants,
 * ageing at half of the time. While somebody waits the gate itself answers `Saturated`, except to the line. An open
 * circuit is never waited out: who asks, or waits when it opens, gets `CircuitOpen`. What a gate lends goes to those in
 * line as well. It owns those who wait, no permit, and leaves the gate once the scope it was made in closes.
 *
 * A tenant that waits has a record, as one that holds has: of those, not of idle ones, the gate keeps what `maxQueued` allows
 * beyond the bound of PG-35.
 */
import type * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import * as Refused from "./AdmissionRefused.ts"
import { Alarm } from "./Alarm.ts"
import * as Deadline from "./Deadline.ts"
import { onlyKnown, or } from "./GateOptions.ts"
import type { CircuitOpen } from "./GateRefused.ts"
import type { Pair } from "./kernel/Ask.ts"
import type { Entry } from "./kernel/Gate.ts"
import * as LeaseState from "./kernel/LeaseState.ts"
import type { Class } from "./kernel/Ledger.ts"
import { Line } from "./kernel/Line.ts"
import * as Lease from "./Lease.ts"
import * as Limit from "./Limits.ts"
import type { GateAsk, GatePermit, ProviderGate } from "./ProviderGate.ts"
import { permitOf } from "./ProviderGate.ts"
import { InvalidLimits, InvalidRequest } from "./Refusal.ts"
import { type Answer, awaitAnswer, interruptWaiter, Ticket } from "./Ticket.ts"
import { shielded, Transition } from "./Transition.ts"
import { type Asked, type Observer, type Wicket, wicketOf } from "./Wicket.ts"

export interface Options {
  /** Asks that wait at most, 1 to 1,024; 128 by default. */
  readonly maxQueued?: number | undefined
  /** The longest wait, above 0 and at most 1 minute; 5 seconds by default. The fiber's Deadline may end it earlier. */
  readonly maxWait?: Duration.Input | undefined
}

export type Refusal = CircuitOpen | Refused.Closed | Refused.QueueFull | Refused.WaitExpired | InvalidRequest

export interface GateLine {
  /** Waits for its turn and takes a place, which the scope gives back without judgement; `gate.settle` judges it. */
  readonly enter: (ask: GateAsk) => Effect.Effect<GatePermit, Refusal, Scope.Scope>
  /** Asks that wait. */
  readonly waiting: Effect.Effect<number>
}

const system = "GateLine"

const known = { maxQueued: true, maxWait: true } satisfies Record<keyof Options, true>

/**
 * The one line of a gate, for as long as the scope is open; a gate that has one is refused. Once the scope closes, those who
 * wait and those who ask get `Closed`, permits stay with those who have them, and the gate answers as one without a line.
 */
export const make = (
  gate: ProviderGate,
  options: Options = {},
): Effect.Effect<GateLine, InvalidLimits, Scope.Scope> =>
  Effect.gen(function* () {
    yield* onlyKnown(options, known, system)
    const maxQueued = yield* Effect.fromResult(
      Limit.count(system, "maxQueued", or(options.maxQueued, 128), { min: 1, max: 1_024 }),
    )
    const maxWait = yield* Effect.fromResult(
      Limit.duration(system, "maxWait", or(options.maxWait, "5 seconds"), 60_000),
    )
    const attached = Effect.withFiber((fiber) => {
      const wicket = wicketOf(gate)
      if (wicket !== undefined && wicket.line === undefined) {
        return Effect.succeed(new Queue(wicket, maxQueued, maxWait * 1e6, fiber))
      }
      const rule = "a gate of this library without a line"
      return Effect.fail(new InvalidLimits({ system, limit: "gate", rule, value: gate }))
    })
    return service(yield* Effect.acquireRelease(attached, (queue) => Effect.sync(() => queue.close())))
  })

const service = (queue: Queue): GateLine => ({
  enter: (ask) =>
    Lease.scoped({
      empty: (): Standing => ({ ticket: undefined, entry: undefined }),
      take: (standing, scope) => Effect.withFiber((fiber) => queue.take(standing, ask, fiber, scope)),
      leave: (standing) => queue.leave(standing),
    }),
  waiting: Effect.sync(() => queue.waiting),
})

/** A caller that waits, and then the place it has. */
interface Standing {
  ticket: Ticket | undefined
  entry: Entry | undefined
}

class Queue implements Observer {
  readonly #wicket: Wicket
  readonly #context: Context.Context<never>
  readonly #line: Line
  readonly #maxWaitNanos: number
  readonly #alarm: Alarm
  readonly #transition: Transition<Ticket>
  readonly #standings = new WeakMap<Ticket, Standing>()
  /** Tenants with a control call in line that may come to be lent a place. */
  readonly #borrowers = new Set<Pair>()
  #closedNanos: number | undefined = undefined

  constructor(wicket: Wicket, maxQueued: number, maxWaitNanos: number, fiber: Fiber.Fiber<unknown, unknown>) {
    this.#wicket = wicket
    this.#maxWaitNanos = maxWaitNanos
    const { keys, total } = wicket.gate
    this.#line = new Line(keys, total, { maxQueued, maxQueuedPerTenant: maxQueued, maxBypass: total.cap.limit })
    const { context } = fiber
    this.#context = context
    this.#alarm = new Alarm({
      clock: wicket.clock,
      context,
      ring: () => {
        this.#line.expire(wicket.now())
        this.#tellAll()
      },
    })
    this.#transition = new Transition({
      delivery: this.#line.answers as never,
      perform: (ticket) => this.#tell(ticket),
      context,
    })
    wicket.line = this
  }

  get isWaiting(): boolean {
    return this.#line.waiting > 0
  }

  get waiting(): number {
    return this.#line.waiting
  }

  take(
    standing: Standing,
    ask: GateAsk,
    fiber: Fiber.Fiber<unknown, unknown>,
    scope: Scope.Closeable,
  ): Effect.Effect<GatePermit, Refusal> {
    const wicket = this.#wicket
    // The clocks, which may be anybody's code, are asked before anything is looked at; and one instant goes for gate and line: a
    // place that the gate has not is then none that the line has.
    const now = wicket.now()
    const deadline = fiber.getRef(Deadline.Current)
    const due = deadline === undefined ? Infinity : Deadline.onClock(deadline, wicket.clock, now)
    const asked = wicket.asked(ask)
    if (asked instanceof InvalidRequest) return Effect.fail(asked)
    if (this.#closedNanos !== undefined) return Effect.fail(this.#closed())
    const shut = wicket.peek(now)
    if (shut !== undefined) return Effect.fail(wicket.turnedAway(shut))
    if (!(due > now)) return Effect.fail(this.#tooOld(asked))
    // Nobody is overtaken: whoever in line could have this place was given it in the step that freed it.
    const entry = standing.entry = wicket.enterFirst(asked, now)
    if (entry !== undefined) {
      this.#tellAll()
      return Effect.succeed(permitOf(wicket, entry, scope))
    }
    const ticket = new Ticket(wicket.pairOf(asked), asked.arrival, 1)
    const patience = now + this.#maxWaitNanos
    ticket.byDeadline = due < patience
    ticket.dueNanos = Math.min(due, patience)
    ticket.body = Effect.sync(() => permitOf(wicket, standing.entry!, scope))
    return this.#stand(ticket, standing, now, asked.pair !== undefined)
  }

  #stand(ticket: Ticket, standing: Standing, now: number, known: boolean): Effect.Effect<GatePermit, Refusal> {
    standing.ticket = ticket
    this.#standings.set(ticket, standing)
    const verdict = this.#line.ask(ticket, now, true)
    if (verdict === undefined) this.#mayBorrow(ticket)
    else if (!known) this.#wicket.gate.keys.unmake(ticket.pair)
    // Refused or not, it has made way for those whose time was over.
    this.#tellAll()
    return verdict?.kind === "full" ? Effect.fail(new Refused.QueueFull(verdict)) : awaitAnswer(ticket)
  }

  /** The caller is through: a place goes back without judgement, and who still waits leaves. */
  leave(standing: Standing): void {
    const { entry, ticket } = standing
    if (entry !== undefined) this.#wicket.leave(entry)
    if (ticket === undefined) return
    const now = this.#wicket.now()
    const granted = ticket.state === LeaseState.Granted
    if (entry === undefined && !this.#line.leave(ticket, now)) return
    this.#forget(ticket)
    // A place that it had not heard of is free again.
    if (granted) this.#lend(ticket.pair, now)
    // It may not have heard of its place yet. To one that has, this is nothing.
    shielded(this.#context, () => interruptWaiter({ ask: ticket }))
    this.#tellAll()
  }

  #mayBorrow({ arrival, pair }: Ticket): void {
    if (arrival === 1) this.#borrowers.add(pair)
  }

  /** A ticket has left the line. */
  #forget({ arrival, pair }: Ticket): void {
    if (arrival === 1 && pair.groups[1]?.head === undefined) this.#borrowers.delete(pair)
  }

  freed(pair: Pair | undefined, arrival: Class): void {
    if (!this.isWaiting) return
    const now = this.#wicket.now()
    if (pair === undefined) this.#line.expire(now)
    else this.#line.freed(pair, arrival, now)
    this.#lend(pair, now)
  }

  /**
   * The line leaves its gate. Who waits is told so; who was answered before is told that, but for grants: nobody has heard
   * of them, so their places go back in this step, and nothing of theirs is left to go by a line that is gone.
   */
  close(): void {
    const now = this.#wicket.now()
    const { answers } = this.#line
    const untold: Array<Ticket> = []
    for (let ticket = answers.take(); ticket !== undefined; ticket = answers.take()) untold.push(ticket as Ticket)
    const granted = untold.filter(({ state }) => state === LeaseState.Granted)
    for (const ticket of untold) {
      if (ticket.state !== LeaseState.Granted) ticket.answer = this.#hand(ticket)
      answers.add(ticket)
    }
    this.#closedNanos = now
    this.#line.refuseAll(now)
    for (const ticket of granted) {
      this.#line.giveBack(ticket, now)
      ticket.answer = Effect.fail(this.#closed())
    }
    this.#line.keys.clearPlaces()
    this.#wicket.line = undefined
    this.#tellAll()
  }

  opened(): void {
    if (this.isWaiting) this.#line.refuseAll(this.#wicket.now())
  }

  tell(): void {
    this.#alarm.set(this.#line.nextDue)
    this.#transition.flush()
  }

  /** What the gate has to tell, and what the line has, of which the gate knows nothing more once it has left. */
  #tellAll(): void {
    this.#wicket.tell()
    this.tell()
  }

  /** The place passes from the line to the gate, with the circuit's leave. */
  #adopt(ticket: Ticket, now: number): void {
    this.#line.handOver(ticket)
    this.#standings.get(ticket)!.entry = this.#wicket.adopt(ticket.pair, ticket.arrival, now)
  }

  /** What the line had no use for may be a place that the gate lends: to a tenant's control call, or to the probe. */
  #lend(freed: Pair | undefined, now: number): void {
    const { gate } = this.#wicket
    if (!gate.lends) return this.#borrowers.clear()
    if (freed?.groups[1]?.head !== undefined) this.#borrowers.add(freed)
    for (const pair of this.#borrowers) {
      const ticket = pair.groups[1]?.head
      if (ticket === undefined || gate.hasExtra(pair)) this.#borrowers.delete(pair)
      else if (gate.refusal(pair, 1, now) === undefined) {
        // Back at the end once its extra place is free again: tenants take turns at what is lent.
        this.#borrowers.delete(pair)
        this.#lendTo(ticket as Ticket, now)
      } else break
    }
    // It looks at all, and yet rarely: once there is a probe, nobody waits.
    if (gate.circuit.isClosed || gate.circuit.shut(now) !== undefined) return
    const first = this.#line.waitingAsks().sort((a, b) => a.arrival - b.arrival)
      .find(({ arrival, pair }) => gate.refusal(pair, arrival, now) === undefined)
    if (first !== undefined) this.#lendTo(first as Ticket, now)
  }

  /** The ticket leaves the line, takes its place at the gate, and is told as one that was granted. */
  #lendTo(ticket: Ticket, now: number): void {
    const { arrival, pair } = ticket
    const { keys } = this.#wicket.gate
    // Its record must not be forgotten between the two.
    keys.hold(pair)
    this.#line.leave(ticket, now)
    this.#standings.get(ticket)!.entry = this.#wicket.enterFirst({ tenant: pair.tenant.key, pair, arrival }, now)
    keys.drop(pair)
    this.#line.answers.add(ticket)
  }

  #hand(ticket: Ticket): Answer | undefined {
    const now = this.#wicket.now()
    switch (ticket.state) {
      case LeaseState.Granted: {
        // At the instant that was read above: another reading could be anybody's code, which takes the ticket away.
        const shut = this.#wicket.peek(now)
        if (shut === undefined) {
          this.#adopt(ticket, now)
          return ticket.body
        }
        // Between its grant and now the circuit opened, or another one became the probe. So nobody waits for its place.
        this.#line.giveBack(ticket, now)
        return Effect.fail(this.#wicket.turnedAway(shut))
      }
      case LeaseState.Expired:
        return Effect.fail(this.#expired(ticket, ticket.sinceNanos, now, ticket.byDeadline ? "deadline" : "maxWait"))
      case LeaseState.Refused:
        if (this.#closedNanos !== undefined) return Effect.fail(this.#closed())
        // It was open when it refused those in line, whatever has become of it since.
        return Effect.fail(
          this.#wicket.turnedAway(this.#wicket.peek() ?? this.#wicket.circuitOpen({ retryNanos: 0, probing: false })),
        )
      default:
        // It has left the line: with a place that was lent to it, or with its caller.
        return this.#standings.get(ticket)?.entry?.held === true ? ticket.body : undefined
    }
  }

  #tell(ticket: Ticket): void {
    this.#forget(ticket)
    const answer = ticket.answer ?? this.#hand(ticket)
    if (answer === undefined) return
    if (ticket.resume === undefined) ticket.answer = answer
    else ticket.resume(answer)
    // It may be the probe.
    this.#wicket.tell()
  }

  #closed(): Refused.Closed {
    const since = Deadline.nanos(this.#wicket.now() - this.#closedNanos!)
    return new Refused.Closed({ state: "closed", since })
  }

  #tooOld({ arrival, pair }: Asked): Refused.WaitExpired {
    const account = pair === undefined ? "total" : this.#line.shortOf(new Ticket(pair, arrival, 1))
    return new Refused.WaitExpired({ waited: Deadline.nanos(0), bound: "deadline", account })
  }

  #expired(ticket: Ticket, since: number, now: number, bound: "deadline" | "maxWait"): Refused.WaitExpired {
    const waited = Deadline.nanos(now - since)
    return new Refused.WaitExpired({ waited, bound, account: this.#line.shortOf(ticket) })
  }
}
