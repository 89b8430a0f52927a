/**
 * The one state of a provider gate: its places, its circuit, and the calls in flight. Each method is one step, followed
 * by whatever the step left to be told.
 *
 * It owns the calls of `run`, which alone have fibers and a timer, and the events that have not been told yet.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import { priorities } from "./AdmissionOptions.ts"
import { BelowUse } from "./AdmissionRefused.ts"
import * as Deadline from "./Deadline.ts"
import { Call, GateCalls, type Restore } from "./GateCalls.ts"
import type { Complete, Settings } from "./GateOptions.ts"
import * as Refused from "./GateRefused.ts"
import { type Totals, totals } from "./GateSnapshot.ts"
import type { Judge } from "./GateVerdict.ts"
import type { Pair } from "./kernel/Ask.ts"
import type { CircuitEvent, Shut } from "./kernel/Circuit.ts"
import { Delivery } from "./kernel/Delivery.ts"
import { type Entry, Gate, type GateRules, type Verdict } from "./kernel/Gate.ts"
import type { Class } from "./kernel/Ledger.ts"
import * as Limit from "./Limits.ts"
import { arrivalOf } from "./AskRecord.ts"
import { InvalidRequest } from "./Refusal.ts"
import { Transition } from "./Transition.ts"

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

/** A caller that keeps every rule, with the record of its tenant if there is one. */
export interface Asked {
  readonly tenant: string
  readonly pair: Pair | undefined
  readonly arrival: Class
}

/** The line in front of a gate. `freed` and `opened` come in the step itself, `tell` after it. */
export interface Observer {
  readonly isWaiting: boolean
  /** There is more room: the places of a call, or with no pair that of a lower reserve. */
  readonly freed: (pair: Pair | undefined, arrival: Class) => void
  readonly opened: () => void
  /** The step is over: whoever it answered may be told. */
  readonly tell: () => void
}

export class Wicket {
  readonly clock: Clock.Clock
  readonly gate: Gate
  readonly counted: Totals = totals()
  readonly calls: GateCalls
  readonly #events = new Delivery<CircuitEvent>()
  readonly #transition: Transition<CircuitEvent>
  readonly #listening: boolean
  #limits: Complete
  /** The instant of the last failure that was judged. */
  #failedNanos = -Infinity
  /** How often a place was taken or given back, the circuit judged, or a limit lowered. */
  #moves = 0
  /** Its key, where it is one of many. */
  provider: string | undefined = undefined
  /** The line in front of the gate, if there is one. */
  line: Observer | undefined = undefined

  constructor(settings: Settings, fiber: Fiber.Fiber<unknown, unknown>) {
    const { events, limits } = settings
    this.clock = fiber.getRef(Clock.Clock)
    const { context } = fiber
    this.#limits = limits
    this.#listening = events !== undefined
    this.gate = new Gate(limits, {
      ...circuitRules(limits),
      applyStale: settings.staleOutcomes === "apply",
      reservedForTenantControl: settings.reservedForTenantControl,
      reservedProbe: settings.reservedProbe,
    })
    this.calls = new GateCalls({
      clock: this.clock,
      context,
      desk: {
        settle: (entry, verdict) => this.settle(entry, verdict),
        fail: (entry, dueNanos) => {
          this.counted.timedOut++
          // One that is heard of late does not begin an opening ahead of a failure that was heard of before it.
          this.#judge(entry, "failure", Math.max(dueNanos, this.#failedNanos))
        },
        tell: () => this.tell(),
        leave: (entry) => this.leave(entry),
      },
    })
    this.#transition = new Transition({
      delivery: this.#events,
      // What the sink throws is its own affair, at once or later.
      perform: (event) => void Effect.runSyncExit(Effect.sync(() => disown(events?.(event)))),
      context,
    })
  }

  /** Who asks, checked; the record of a tenant that is not known is made only once it is let in. */
  asked(caller: Caller): Asked | InvalidRequest {
    if (typeof caller !== "object" || caller === null) {
      return new InvalidRequest({ field: "ask", rule: "an object that names a tenant", value: caller })
    }
    const { priority, tenant } = caller
    const arrival = arrivalOf(priority)
    if (arrival === undefined) {
      return new InvalidRequest({ field: "priority", rule: `one of ${priorities.join(", ")}`, value: priority })
    }
    const pair = this.gate.keys.find(tenant, undefined)
    return (pair === undefined ? Limit.key("tenant", tenant) : undefined) ?? { tenant, pair, arrival }
  }

  /** The record of an ask that was checked in this very step, made where there is none. */
  pairOf({ pair, tenant }: Asked): Pair {
    return pair ?? this.gate.keys.make(tenant, undefined, 1)
  }

  /** The same behind a reading of the clock, which may be anybody's code: the tenant may have come or gone meanwhile. */
  #again(asked: Asked): Asked {
    const pair = this.gate.keys.find(asked.tenant, undefined)
    return pair === asked.pair ? asked : { ...asked, pair }
  }

  /** Check 1 alone, as {@link enter} would answer it at `now`. It changes nothing but what is due. */
  peek(now?: number): Refused.CircuitOpen | undefined {
    const shut = this.gate.circuit.shut(this.#gateTime(now))
    return shut === undefined ? undefined : this.circuitOpen(shut)
  }

  /** What a caller is told of a circuit that is shut. */
  circuitOpen(shut: Shut): Refused.CircuitOpen {
    return Refused.circuitOpen(shut, this.provider)
  }

  /** Takes a place at once, or says why not; those who wait in line go first. */
  enter(asked: Asked): Entry | Refused.CircuitOpen | Refused.Saturated {
    if (this.gate.circuit.isClosed) return this.#refusal(asked, 0) ?? this.#letIn(asked, 0)
    const now = this.#gateTime()
    const still = this.#again(asked)
    return this.#refusal(still, now) ?? this.#letIn(still, now)
  }

  /**
   * Takes a place for somebody before whom nobody in line could have it. Undefined, and no change, where there is none. What
   * it leaves to be told, as {@link adopt} does, the line tells with {@link tell} once its own records are in order.
   */
  enterFirst(asked: Asked, now: number): Entry | undefined {
    return this.gate.refusal(asked.pair, asked.arrival, now) === undefined ? this.#take(asked, now) : undefined
  }

  /** Lets by, at `now`, a call that the line has charged. */
  adopt(pair: Pair, arrival: Class, now: number): Entry {
    return this.#granted(this.gate.adopt(pair, arrival, this.#gateTime(now)))
  }

  /** Counts a refusal of the circuit. */
  turnedAway(refusal: Refused.CircuitOpen): Refused.CircuitOpen {
    this.counted.refusedOpen++
    return refusal
  }

  /** Ends an entry with a verdict: the circuit is judged, then the places go back, in one step. False where it was over. */
  settle(entry: Entry, verdict: Verdict): boolean {
    if (entry.judged || !entry.held) return false
    this.#judge(entry, verdict, verdict === "failure" ? this.now() : 0)
    this.#leave(entry)
    return true
  }

  /** The caller is through: what was not settled is given back without judgement. Silent twice. */
  leave(entry: Entry): void {
    if (!entry.judged) this.#judge(entry, "neutral", 0)
    this.#leave(entry)
  }

  /**
   * Takes a place as {@link enter} does, and runs `work` in a child fiber, which a call that ends at once never waits for,
   * for at most `maxElapsed`. Called where nothing interrupts.
   */
  call<A, E, R>(
    asked: Asked,
    work: Effect.Effect<A, E, R>,
    restore: Restore,
    judge: Judge<E> | undefined,
  ): Effect.Effect<A, E | Refused.CircuitOpen | Refused.Saturated | Refused.CallTimedOut> {
    const { isClosed } = this.gate.circuit
    // Who finds no place behind a closed circuit asks no clock.
    const full = isClosed ? this.#refusal(asked, 0) : undefined
    if (full !== undefined) return Effect.fail(full)
    const before = this.#moves
    // A probe counts from its pass, as its lease does.
    const startedNanos = this.now()
    const now = this.#gateTime(startedNanos)
    const isSame = isClosed && this.#moves === before
    const still = isSame ? asked : this.#again(asked)
    const refusal = isSame ? undefined : this.#refusal(still, now)
    if (refusal !== undefined) return Effect.fail(refusal)
    // A clock that went back: nothing of before is of the time that it tells now.
    if (startedNanos < this.#failedNanos) this.#failedNanos = -Infinity
    const entry = this.#letIn(still, now)
    const maxNanos = Math.round(this.#limits.maxElapsedMillis * 1e6)
    return this.calls.start(new Call({ entry, judge, startedNanos, maxNanos }), work, restore)
  }

  /** Lowers all that are given or none: a limit only falls, and not below its use. */
  lower(next: Complete): BelowUse | undefined {
    const above = this.gate.firstAbove(next)
    if (above !== undefined) return new BelowUse({ account: above.name, limit: above.limit, use: above.use })
    this.#moves++
    this.#limits = next
    this.gate.lower(next, circuitRules(next))
    // Where less is reserved there is more for ordinary work.
    this.line?.freed(undefined, 2)
    this.tell()
    return undefined
  }

  /** True where it may go: it holds no call, its circuit is closed, and no line lets callers into it behind a new one. */
  get isSpare(): boolean {
    return this.gate.total.used === 0 && this.gate.circuit.isClosed && this.line === undefined
  }

  get limits(): Complete {
    return this.#limits
  }

  now(): number {
    return Deadline.nowNanos(this.clock)
  }

  /**
   * A closed circuit asks no clock, nor does one that is told the time. A probe whose time is over is judged before anybody
   * takes its lease over, whichever timer comes first.
   */
  #gateTime(told?: number): number {
    const { circuit } = this.gate
    if (circuit.isClosed) return 0
    const now = told ?? this.now()
    if (circuit.state === "half-open") this.calls.judgeDue(now)
    return now
  }

  #refusal(asked: Asked, now: number): Refused.CircuitOpen | Refused.Saturated | undefined {
    const refusal = this.gate.refusal(asked.pair, asked.arrival, now) ??
      (this.line?.isWaiting === true ? queued : undefined)
    if (refusal === undefined) return undefined
    if (refusal.kind === "open") return this.turnedAway(this.circuitOpen(refusal.shut))
    this.counted.saturated[refusal.scope]++
    return new Refused.Saturated({ scope: refusal.scope })
  }

  #letIn(asked: Asked, now: number): Entry {
    const entry = this.#take(asked, now)
    if (entry.pass.probe) this.tell()
    return entry
  }

  #take(asked: Asked, now: number): Entry {
    return this.#granted(this.gate.enter(this.pairOf(asked), asked.arrival, now))
  }

  #granted(entry: Entry): Entry {
    this.#moves++
    this.counted.granted++
    if (entry.pass.probe) this.#publish("probing")
    return entry
  }

  #judge(entry: Entry, verdict: Verdict, now: number): void {
    this.#moves++
    if (verdict === "failure") this.#failedNanos = now
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
    this.#moves++
    if (this.gate.leave(entry)) this.line?.freed(entry.pair, entry.arrival)
    this.tell()
  }

  /** The step is over: tells of the circuit, and then those in line. Any code may run in it. */
  tell(): void {
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

/**
 * Those in line go before whoever asks the gate itself: all of them, emergencies too (PG-46). Where a gate has a line, the
 * way in is the line, and it has an emergency's place for it at once, whoever waits (PG-28).
 */
const queued = { kind: "full", scope: "provider" } as const

/** A sink may be an async function, whose rejection nobody else would look at: a runtime may end a process for that. */
const disown = (told: unknown): void => {
  if (typeof told !== "object" || told === null || !("then" in told)) return
  if (typeof told.then === "function") told.then(undefined, () => {})
}

const circuitRules = (limits: Complete): Pick<GateRules, "failureThreshold" | "recoveryNanos" | "probeNanos"> => ({
  failureThreshold: limits.failureThreshold,
  recoveryNanos: Math.round(limits.recoveryMillis * 1e6),
  probeNanos: Math.round(limits.maxElapsedMillis * 1e6),
})
