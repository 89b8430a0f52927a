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
import { Delivery } from "./kernel/Delivery.ts"
import { absent, DeadlineOrder, type Due } from "./kernel/DeadlineOrder.ts"
import type { Entry, Verdict } from "./kernel/Gate.ts"
import { shielded, Transition } from "./Transition.ts"

/** Whoever gave the places out. */
export interface Desk {
  /** The work has ended: its verdict, and the places are free. */
  readonly settle: (entry: Entry, verdict: Verdict) => boolean
  /** The time is over: it is a failure at that instant, and the places stay taken. */
  readonly fail: (entry: Entry, dueNanos: number) => void
  /** A step is over that failed calls. */
  readonly tell: () => void
  /** Work that was judged before, or never began, has ended: the places are free. */
  readonly leave: (entry: Entry) => void
}

/**
 * Calls within calls that start on one stack; the next one starts on its own. Some 500 fill the stack of Node, and whoever
 * runs out of it in the middle of a step leaves half a step.
 */
const deepest = 64

type Answer = Effect.Effect<unknown, unknown>

/** What a mask hands to the effect under it. */
export type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** A call whose work is about to start, and then goes on. */
export class Call<E = never> implements Due<Call> {
  readonly entry: Entry
  readonly judge: Judge<E> | undefined
  /** Undefined where it could not even be started. */
  child: Fiber.Fiber<unknown, unknown> | undefined = undefined
  /** The instant of its pass, so that a probe is due no later than its lease. */
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

  constructor(
    { entry, judge, maxNanos, startedNanos }: {
      readonly entry: Entry
      readonly judge: Judge<E> | undefined
      readonly startedNanos: number
      readonly maxNanos: number
    },
  ) {
    this.entry = entry
    this.judge = judge
    this.startedNanos = startedNanos
    this.dueNanos = startedNanos + maxNanos
  }
}

export class GateCalls {
  readonly #desk: Desk
  readonly #clock: Clock.Clock
  readonly #context: Context.Context<never>
  readonly #inFlight = new DeadlineOrder<Call>()
  readonly #alarm: Alarm
  /** Judged, and to be interrupted when the alarm rings: it is due. */
  readonly #late: Array<Call> = []
  readonly #answered = new Delivery<Call>()
  readonly #transition: Transition<Call>
  /** Calls that are being started on this stack, one in another. */
  #depth = 0

  constructor(options: { readonly desk: Desk; readonly clock: Clock.Clock; readonly context: Context.Context<never> }) {
    this.#desk = options.desk
    this.#clock = options.clock
    this.#context = options.context
    this.#alarm = new Alarm({ clock: options.clock, context: options.context, ring: () => this.#ring() })
    this.#transition = new Transition({
      delivery: this.#answered,
      perform: (call) => call.resume!(call.answer!),
      context: options.context,
    })
  }

  /**
   * Starts `work` at once in a child; only one that has not ended by then has a time limit, and an exit over it. Called
   * where nothing interrupts; `restore` gives back what the caller of `run` allows while it waits.
   */
  start<A, E, R>(
    call: Call<E>,
    work: Effect.Effect<A, E, R>,
    restore: Restore,
  ): Effect.Effect<A, E | CallTimedOut> {
    type Wanted = Effect.Effect<A, E | CallTimedOut>
    const observe = (child: Fiber.Fiber<unknown, unknown>): Effect.Effect<A, E, R> => {
      if (call.child === undefined) {
        call.child = child
        child.addObserver((exit) => this.#over(call, this.#ended(call, exit as Exit.Exit<A, E>)))
      }
      return work
    }
    // Observed before all others: one of the work's own that throws keeps only those after it from hearing of the end.
    const observed = Effect.withFiber(observe)
    const fork = Effect.runForkWith(Fiber.getCurrent()!.context as Context.Context<R>)
    const depth = this.#depth
    const begun = depth < deepest ? observed : Effect.andThen(Effect.yieldNow, observed)
    this.#depth = depth + 1
    shielded(this.#context, () => observe(fork(begun)))
    this.#depth = depth
    if (call.answer !== undefined) return call.answer as Wanted
    const { child } = call
    if (child === undefined) {
      this.#desk.leave(call.entry)
      return Effect.die(new Error("the work of a call could not be started"))
    }
    this.#inFlight.add(call)
    this.#rearm()
    const answered = Effect.callback<A, E | CallTimedOut>((resume) => {
      if (call.answer !== undefined) resume(call.answer as Wanted)
      else call.resume = resume as (answer: Answer) => void
    })
    return Effect.onExitPrimitive(restore(answered), () => this.#leave(call, child))
  }

  /** The caller is through. Work that still runs is interrupted and awaited; a defect of its end is passed on. */
  #leave(call: Call, child: Fiber.Fiber<unknown, unknown>): Effect.Effect<void> | undefined {
    if (child.pollUnsafe() !== undefined) return undefined
    call.abandoned = true
    this.#inFlight.remove(call)
    this.#rearm()
    child.interruptUnsafe()
    return Effect.flatMap(Fiber.await(child), (exit) => {
      const defects = defectsOf(exit)
      return defects === undefined ? Effect.void : Effect.failCause(defects)
    })
  }

  #over(call: Call, answer: Answer): void {
    call.answer = answer
    if (call.resume === undefined) return
    // A caller that is a call itself ends in here, and so on outward: one after the other, not one in the other.
    this.#answered.add(call)
    this.#transition.flush()
  }

  #ended<A, E>(call: Call<E>, exit: Exit.Exit<A, E>): Effect.Effect<A, E | CallTimedOut> {
    if (call.dueIndex !== absent) {
      this.#inFlight.remove(call)
      this.#rearm()
    }
    if (call.timedOut) {
      this.#desk.leave(call.entry)
      const timedOut = Cause.fail(new CallTimedOut({ after: Deadline.nanos(call.dueNanos - call.startedNanos) }))
      const defects = defectsOf(exit)
      return Effect.failCause(defects === undefined ? timedOut : Cause.combine(timedOut, defects))
    }
    if (!call.abandoned) return this.#finish(call, exit)
    this.#desk.settle(call.entry, "neutral")
    return exit
  }

  /** Settles by how the work ended: success, a typed failure as it is judged, anything else neutral. */
  #finish<A, E>({ entry, judge }: Call<E>, exit: Exit.Exit<A, E>): Effect.Effect<A, E> {
    const verdict = verdictOf(exit, judge)
    this.#desk.settle(entry, verdict._tag === "Success" ? verdict.value : "neutral")
    return verdict._tag === "Success" ? exit : Exit.failCause(verdict.cause)
  }

  /**
   * Judges all whose time is over at `now`, in one step, before any of them is interrupted, which may run any code: the
   * alarm, which is due as well, does that.
   */
  judgeDue(now: number): void {
    for (let call = this.#inFlight.takeDue(now); call !== undefined; call = this.#inFlight.takeDue(now)) {
      call.timedOut = true
      this.#late.push(call)
      this.#desk.fail(call.entry, call.dueNanos)
    }
  }

  #ring(): void {
    this.judgeDue(Deadline.nowNanos(this.#clock))
    const late = this.#late.splice(0)
    this.#rearm()
    this.#desk.tell()
    // An observer of an ending fiber may throw, and the others are late all the same.
    for (const { child } of late) Effect.runSyncExit(Effect.sync(() => child!.interruptUnsafe()))
  }

  #rearm(): void {
    this.#alarm.set((this.#late[0] ?? this.#inFlight.first())?.dueNanos ?? Infinity)
  }
}

const defectsOf = (exit: Exit.Exit<unknown, unknown>): Cause.Cause<never> | undefined => {
  if (exit._tag === "Success") return undefined
  const defects = exit.cause.reasons.filter((reason) => reason._tag === "Die")
  return defects.length === 0 ? undefined : Cause.fromReasons(defects)
}
