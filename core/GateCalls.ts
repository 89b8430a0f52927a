/**
 * The calls that `run` has in flight: their child fibers and their time limit, with one timer for all of them.
 *
 * A call is over when its work has ended, finalizers included: then its places go back, and its caller goes on. It owns
 * the children, and the alarm while there are any; what a call stands for is its owner's affair.
 */
import * as Cause from "effect/Cause"
import type * as Clock from "effect/Clock"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { Alarm } from "./Alarm.ts"
import * as Deadline from "./Deadline.ts"
import { CallTimedOut } from "./GateRefused.ts"
import { type Judge, verdictOf } from "./GateVerdict.ts"
import { absent, DeadlineOrder, type Due } from "./kernel/DeadlineOrder.ts"
import type { Entry, Verdict } from "./kernel/Gate.ts"

/** What an exit finalizer stands over: empty until a place is taken; with a call while its work goes on. */
export interface Lease {
  entry: Entry | undefined
  call?: Call | undefined
}

/** Whoever gave the places out. */
export interface Desk {
  /** The work has ended: its verdict, and the places are free. */
  readonly settle: (entry: Entry, verdict: Verdict) => boolean
  /** The time is over: it is a failure at that instant, and the places stay taken. */
  readonly fail: (entry: Entry, dueNanos: number) => void
  /** A step is over that failed calls. */
  readonly tell: () => void
  /** Work that was judged before has ended: the places are free. */
  readonly leave: (lease: Lease) => undefined
}

type Answer = Effect.Effect<unknown, unknown>

/** What a mask hands to the effect under it. */
export type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** A call whose work had not ended at once. */
export class Call implements Due<Call> {
  readonly entry: Entry
  readonly child: Fiber.Fiber<unknown, unknown>
  readonly startedNanos: number
  dueNanos: number
  dueIndex: number = absent
  dueBefore: Call | undefined = undefined
  dueAfter: Call | undefined = undefined
  /** Interrupted by its own time limit; then it has been judged. */
  timedOut = false
  /** Interrupted by its caller, which is nobody's failure. */
  abandoned = false
  answer: Answer | undefined = undefined
  resume: ((answer: Answer) => void) | undefined = undefined

  constructor(entry: Entry, child: Fiber.Fiber<unknown, unknown>, startedNanos: number, maxNanos: number) {
    this.entry = entry
    this.child = child
    this.startedNanos = startedNanos
    this.dueNanos = startedNanos + maxNanos
  }
}

export class GateCalls {
  readonly #desk: Desk
  readonly #clock: Clock.Clock
  readonly #inFlight = new DeadlineOrder<Call>()
  readonly #alarm: Alarm

  constructor(options: { readonly desk: Desk; readonly clock: Clock.Clock; readonly context: Context.Context<never> }) {
    this.#desk = options.desk
    this.#clock = options.clock
    this.#alarm = new Alarm({ clock: options.clock, context: options.context, ring: () => this.#ring() })
  }

  /**
   * Starts `work` at once in a child; only one that has not ended by then has a time limit. Called where nothing
   * interrupts; `restore` gives back what the caller of `run` allows while it waits.
   */
  start<A, E, R>(
    lease: Lease,
    work: Effect.Effect<A, E, R>,
    restore: Restore,
    options: { readonly judge: Judge<E> | undefined; readonly maxNanos: number },
  ): Effect.Effect<A, E | CallTimedOut> {
    const entry = lease.entry!
    const child = Effect.runForkWith(Fiber.getCurrent()!.context as Context.Context<R>)(work)
    const exit = child.pollUnsafe()
    if (exit !== undefined) return this.#finish(entry, exit, options.judge)
    const call = new Call(entry, child, Deadline.nowNanos(this.#clock), options.maxNanos)
    lease.call = call
    this.#inFlight.add(call)
    this.#rearm()
    child.addObserver((ended) => this.#over(call, this.#ended(call, ended, options.judge)))
    const wait = Effect.callback<A, E | CallTimedOut>((resume) => {
      if (call.answer !== undefined) resume(call.answer as Effect.Effect<A, E | CallTimedOut>)
      else call.resume = resume as (answer: Answer) => void
    })
    return Effect.onExitPrimitive(restore(wait), () => this.leave(lease))
  }

  /** The caller is through. Work that still runs is interrupted and awaited; a defect of its end is passed on. */
  leave(lease: Lease): Effect.Effect<void> | undefined {
    const { call } = lease
    if (call === undefined || call.child.pollUnsafe() !== undefined) return this.#desk.leave(lease)
    call.abandoned = true
    this.#inFlight.remove(call)
    this.#rearm()
    call.child.interruptUnsafe()
    return Effect.flatMap(Fiber.await(call.child), (exit) => {
      const defects = defectsOf(exit)
      return defects === undefined ? Effect.void : Effect.failCause(defects)
    })
  }

  #over(call: Call, answer: Answer): void {
    if (call.resume === undefined) call.answer = answer
    else call.resume(answer)
  }

  #ended<A, E>(call: Call, exit: Exit.Exit<A, E>, judge: Judge<E> | undefined): Effect.Effect<A, E | CallTimedOut> {
    this.#inFlight.remove(call)
    this.#rearm()
    if (call.timedOut) {
      this.#desk.leave(call)
      const timedOut = Cause.fail(new CallTimedOut({ after: Deadline.nanos(call.dueNanos - call.startedNanos) }))
      const defects = defectsOf(exit)
      return Effect.failCause(defects === undefined ? timedOut : Cause.combine(timedOut, defects))
    }
    if (!call.abandoned) return this.#finish(call.entry, exit, judge)
    this.#desk.settle(call.entry, "neutral")
    return exit
  }

  /** Settles by how the work ended: success, a typed failure as it is judged, anything else neutral. */
  #finish<A, E>(entry: Entry, exit: Exit.Exit<A, E>, judge: Judge<E> | undefined): Effect.Effect<A, E> {
    const verdict = verdictOf(exit, judge)
    this.#desk.settle(entry, verdict._tag === "Success" ? verdict.value : "neutral")
    return verdict._tag === "Success" ? exit : Exit.failCause(verdict.cause)
  }

  /** All whose time is over are judged in one step, before any of them is interrupted, which may run any code. */
  #ring(): void {
    const now = Deadline.nowNanos(this.#clock)
    const late: Array<Call> = []
    for (let call = this.#inFlight.takeDue(now); call !== undefined; call = this.#inFlight.takeDue(now)) {
      call.timedOut = true
      late.push(call)
      this.#desk.fail(call.entry, call.dueNanos)
    }
    this.#rearm()
    this.#desk.tell()
    // An observer of an ending fiber may throw, and the others are late all the same.
    for (const { child } of late) Effect.runSyncExit(Effect.sync(() => child.interruptUnsafe()))
  }

  #rearm(): void {
    this.#alarm.set(this.#inFlight.first()?.dueNanos ?? Infinity)
  }
}

const defectsOf = (exit: Exit.Exit<unknown, unknown>): Cause.Cause<never> | undefined => {
  if (exit._tag === "Success") return undefined
  const defects = exit.cause.reasons.filter((reason) => reason._tag === "Die")
  return defects.length === 0 ? undefined : Cause.fromReasons(defects)
}
