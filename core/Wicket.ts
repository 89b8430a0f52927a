/**
 * The one state of a provider gate: its places, its circuit, and the calls that `run` has in flight. Each method is one
 * step, followed by whatever the step left to be told.
 *
 * It owns the child fibers of running calls and one alarm while there are any; without calls it owns no fiber and no timer.
 */
import * as Clock from "effect/Clock"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { priorities } from "./AdmissionOptions.ts"
import { BelowUse } from "./AdmissionRefused.ts"
import { Alarm } from "./Alarm.ts"
import * as Deadline from "./Deadline.ts"
import type { Complete, Settings } from "./GateOptions.ts"
import * as Refused from "./GateRefused.ts"
import { type Totals, totals } from "./GateSnapshot.ts"
import { type Judge, verdictOf } from "./GateVerdict.ts"
import type { Pair } from "./kernel/Ask.ts"
import type { CircuitEvent } from "./kernel/Circuit.ts"
import { absent, DeadlineOrder, type Due } from "./kernel/DeadlineOrder.ts"
import { Delivery } from "./kernel/Delivery.ts"
import { type Entry, Gate, type GateRules, type Verdict } from "./kernel/Gate.ts"
import * as Ledger from "./kernel/Ledger.ts"
import type { Class } from "./kernel/Ledger.ts"
import * as Limit from "./Limits.ts"
import { arrivalOf } from "./Permit.ts"
import { InvalidRequest } from "./Refusal.ts"
import { Transition } from "./Transition.ts"

/** A call of `run` whose work had not ended at once. */
class Call implements Due<Call> {
  readonly entry: Entry
  readonly child: Fiber.Fiber<unknown, unknown>
  dueNanos: number
  dueIndex: number = absent
  dueBefore: Call | undefined = undefined
  dueAfter: Call | undefined = undefined
  /** Interrupted by its own time limit; then it has been judged. */
  timedOut = false
  /** Interrupted by its caller, which is nobody's failure. */
  abandoned = false

  constructor(entry: Entry, child: Fiber.Fiber<unknown, unknown>, dueNanos: number) {
    this.entry = entry
    this.child = child
    this.dueNanos = dueNanos
  }
}

/** What an exit finalizer stands over: empty until a place is taken. */
export interface Lease {
  entry: Entry | undefined
}

const wickets = new WeakMap<object, Wicket>()

/** The state behind a gate, for the nouns that stand on one; undefined for anything else. */
export const wicketOf = (gate: object): Wicket | undefined => wickets.get(gate)

export const register = <G extends object>(gate: G, wicket: Wicket): G => {
  wickets.set(gate, wicket)
  return gate
}

/** Who asks, and how urgently. */
export interface Caller {
  readonly tenant: string
  readonly priority?: string | undefined
}

/** The line in front of a gate: it is told, after the step, of freed places and of an opening. */
export interface Observer {
  readonly isWaiting: boolean
  readonly freed: (pair: Pair, arrival: Class) => void
  readonly opened: () => void
  /** The step is over: whoever it answered may be told. */
  readonly tell: () => void
}

export class Wicket {
  readonly clock: Clock.Clock
  readonly gate: Gate
  readonly counted: Totals = totals()
  readonly #caps: { readonly places: Ledger.Cap; readonly tenant: Ledger.Cap }
  readonly #calls = new DeadlineOrder<Call>()
  readonly #alarm: Alarm
  readonly #events = new Delivery<CircuitEvent>()
  readonly #transition: Transition<CircuitEvent>
  readonly #listening: boolean
  #limits: Complete
  /** The line in front of the gate, if there is one. */
  line: Observer | undefined = undefined

  constructor(settings: Settings, fiber: Fiber.Fiber<unknown, unknown>) {
    const { events, limits } = settings
    this.clock = fiber.getRef(Clock.Clock)
    const { context } = fiber
    this.#limits = limits
    this.#listening = events !== undefined
    this.#caps = {
      places: new Ledger.Cap("total", limits.concurrency),
      tenant: new Ledger.Cap("tenant", limits.tenantConcurrency),
    }
    this.gate = new Gate(this.#caps, limits.reservedControl, {
      ...circuitRules(limits),
      applyStale: settings.staleOutcomes === "apply",
      reservedForTenantControl: settings.reservedForTenantControl,
      reservedProbe: settings.reservedProbe,
    })
    this.#alarm = new Alarm({ clock: this.clock, context, ring: () => this.#ring() })
    this.#transition = new Transition({
      delivery: this.#events,
      // What the sink throws is its own affair.
      perform: (event) => void Effect.runSyncExit(Effect.sync(() => events?.(event))),
      context,
    })
  }

  /** The record of an ask that keeps every rule. */
  pair({ priority, tenant }: Caller): { readonly pair: Pair; readonly arrival: Class } | InvalidRequest {
    const arrival = arrivalOf(priority)
    if (arrival === undefined) {
      return new InvalidRequest({ field: "priority", rule: `one of ${priorities.join(", ")}`, value: priority })
    }
    const { keys } = this.gate
    const known = keys.find(tenant, undefined)
    if (known !== undefined) return { pair: known, arrival }
    return Limit.key("tenant", tenant) ?? { pair: keys.make(tenant, undefined, 1), arrival }
  }

  /** Check 1 alone, as {@link enter} would answer it now. It changes nothing. */
  peek(): Refused.CircuitOpen | undefined {
    const shut = this.gate.circuit.state === "closed" ? undefined : this.gate.circuit.shut(this.now())
    return shut === undefined ? undefined : Refused.circuitOpen(shut)
  }

  /** Takes a place at once, or says why not; those who wait in line go first, unless it is the line that asks. */
  enter(
    lease: Lease,
    pair: Pair,
    arrival: Class,
    fromLine = false,
  ): Refused.CircuitOpen | Refused.Saturated | undefined {
    const closed = this.gate.circuit.state === "closed"
    // A closed circuit asks no clock.
    const now = closed ? 0 : this.now()
    const refusal = this.gate.refusal(pair, arrival, now) ??
      (!fromLine && this.line?.isWaiting === true ? { kind: "full", scope: "provider" } as const : undefined)
    if (refusal === undefined) {
      lease.entry = this.gate.enter(pair, arrival, now)
      this.counted.granted++
      if (!closed) this.#publish("probing")
      return undefined
    }
    if (refusal.kind === "open") {
      this.counted.refusedOpen++
      return Refused.circuitOpen(refusal.shut)
    }
    this.counted.saturated[refusal.scope]++
    return new Refused.Saturated({ scope: refusal.scope })
  }

  /** Lets by a call that the line has charged. */
  adopt(pair: Pair, arrival: Class, now: number): Entry {
    const closed = this.gate.circuit.state === "closed"
    const entry = this.gate.adopt(pair, arrival, now)
    this.counted.granted++
    if (!closed) this.#publish("probing")
    return entry
  }

  /** Ends an entry with a verdict: the circuit is judged, then the places go back, in one step. False where it was over. */
  settle(entry: Entry, verdict: Verdict): boolean {
    if (entry.judged || !entry.held) return false
    this.#judge(entry, verdict, verdict === "failure" ? this.now() : 0)
    this.#leave(entry)
    return true
  }

  /** The caller is through: what was not settled is given back without judgement. Silent twice. */
  leave({ entry }: Lease): undefined {
    if (entry === undefined || !entry.held) return undefined
    if (!entry.judged) this.#judge(entry, "neutral", 0)
    this.#leave(entry)
    return undefined
  }

  /** Runs `work` in a child fiber, which a call that ends at once never waits for, and bounds it by `maxElapsed`. */
  call<A, E, R>(
    entry: Entry,
    work: Effect.Effect<A, E, R>,
    fiber: Fiber.Fiber<unknown, unknown>,
    judge: Judge<E> | undefined,
  ): Effect.Effect<A, E | Refused.CallTimedOut> {
    const child = Effect.runForkWith(fiber.context as Context.Context<R>)(work)
    const exit = child.pollUnsafe()
    return exit === undefined ? this.#await(entry, child, judge) : this.#finish(entry, exit, judge)
  }

  #await<A, E>(
    entry: Entry,
    child: Fiber.Fiber<A, E>,
    judge: Judge<E> | undefined,
  ): Effect.Effect<A, E | Refused.CallTimedOut> {
    const started = this.now()
    const call = new Call(entry, child, started + this.#limits.maxElapsedMillis * 1e6)
    this.#calls.add(call)
    this.#rearm()
    return Effect.callback((resume) => {
      child.addObserver((exit) => {
        this.#calls.remove(call)
        this.#rearm()
        resume(this.#ended(call, exit, judge, started))
      })
      return Effect.suspend(() => {
        call.abandoned = true
        child.interruptUnsafe()
        return Effect.exit(Fiber.await(child))
      })
    })
  }

  #ended<A, E>(
    call: Call,
    exit: Exit.Exit<A, E>,
    judge: Judge<E> | undefined,
    started: number,
  ): Effect.Effect<A, E | Refused.CallTimedOut> {
    if (call.timedOut) {
      this.#leave(call.entry)
      return Effect.fail(new Refused.CallTimedOut({ after: Deadline.nanos(call.dueNanos - started) }))
    }
    if (!call.abandoned) return this.#finish(call.entry, exit, judge)
    this.settle(call.entry, "neutral")
    return exit
  }

  /** Settles by how the work ended: success, a typed failure as it is judged, anything else neutral. */
  #finish<A, E>(entry: Entry, exit: Exit.Exit<A, E>, judge: Judge<E> | undefined): Effect.Effect<A, E> {
    const verdict = verdictOf(exit, judge)
    this.settle(entry, verdict._tag === "Success" ? verdict.value : "neutral")
    return verdict._tag === "Success" ? exit : Exit.failCause(verdict.cause)
  }

  /** Lowers all that are given or none: a limit only falls, and not below its use. */
  lower(next: Complete): BelowUse | undefined {
    const { total } = this.gate
    const ordinary = next.concurrency - next.reservedControl
    const above = Ledger.firstAbove([total], next.concurrency) ??
      (total.sumOf(2) > ordinary ? { name: "total" as const, limit: ordinary, use: total.sumOf(2) } : undefined) ??
      Ledger.firstAbove([...this.gate.keys.tenants.values()].map((each) => each.account), next.tenantConcurrency)
    if (above !== undefined) return new BelowUse({ account: above.name, limit: above.limit, use: above.use })
    this.#limits = next
    this.#caps.places.limit = next.concurrency
    this.#caps.tenant.limit = next.tenantConcurrency
    total.reserves[1] = next.reservedControl
    Object.assign(this.gate.rules, circuitRules(next))
    return undefined
  }

  /** True where nothing would be lost with it: it holds no call, and its circuit has nothing to remember. */
  get isSpare(): boolean {
    return this.gate.total.used === 0 && this.gate.circuit.state === "closed" && this.line?.isWaiting !== true
  }

  get limits(): Complete {
    return this.#limits
  }

  now(): number {
    return Deadline.nowNanos(this.clock)
  }

  /** The time of some calls is over: the circuit hears of it now, their places go back when they have ended. */
  #ring(): void {
    const now = this.now()
    for (let call = this.#calls.takeDue(now); call !== undefined; call = this.#calls.takeDue(now)) {
      call.timedOut = true
      this.counted.timedOut++
      this.#judge(call.entry, "failure", call.dueNanos)
      call.child.interruptUnsafe()
    }
    this.#tell()
    this.#rearm()
  }

  #rearm(): void {
    this.#alarm.set(this.#calls.first()?.dueNanos ?? Infinity)
  }

  #judge(entry: Entry, verdict: Verdict, now: number): void {
    this.#count(verdict, this.gate.circuit.isCurrent(entry.pass))
    const event = this.gate.judge(entry, verdict, now)
    if (event !== undefined) this.#publish(event)
  }

  #count(verdict: Verdict, current: boolean): void {
    if (verdict === "neutral") this.counted.neutral++
    else if (!current) this.counted.stale++
    else if (verdict === "success") this.counted.successes++
    else this.counted.failures++
  }

  #leave(entry: Entry): void {
    if (this.gate.leave(entry)) this.line?.freed(entry.pair, entry.arrival)
    this.#tell()
  }

  #tell(): void {
    this.#transition.flush()
    this.line?.tell()
  }

  #publish(event: CircuitEvent): void {
    if (event === "opened" || event === "reopened") this.counted.opened++
    // Nobody waits out an opening, nor a probe.
    if (event !== "closed") this.line?.opened()
    if (this.#listening) this.#events.add(event)
  }
}

const circuitRules = (limits: Complete): Pick<GateRules, "failureThreshold" | "recoveryNanos" | "probeNanos"> => ({
  failureThreshold: limits.failureThreshold,
  recoveryNanos: limits.recoveryMillis * 1e6,
  probeNanos: limits.maxElapsedMillis * 1e6,
})
