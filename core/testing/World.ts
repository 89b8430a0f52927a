/**
 * A world of its own for a program: one list of ready tasks, of which the caller runs one at a time, a clock that moves
 * only by hand, and random numbers that are the same each time. Between any two operations of a fiber the world may do
 * something else.
 *
 * Here the order is given and an operation is a step, since a sweep asks where a program can be disturbed; the explorer,
 * which asks in which orders it can run, has a world of its own in which order, time and interruption are chosen.
 *
 * It owns the tasks, the clock, and the list of fibers that have begun in it and have not ended.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Random from "effect/Random"
import type * as Scheduler from "effect/Scheduler"
import * as Tracer from "effect/Tracer"
import * as Answerer from "./Answerer.ts"
import * as Chance from "./Chance.ts"
import { HandClock, nanosOf } from "./HandClock.ts"

/** Something that is ready to be done, and the fiber whose operation made it so; none where something else did. */
interface Task {
  readonly run: () => void
  readonly owner: AnyFiber | undefined
}

/** What the world knows of a fiber that runs in it. */
interface Trace {
  /** Operations that it has begun. */
  steps: number
  /** Operations that are let by without a pause: the two that follow a pause, its own end and what it was put before. */
  passes: number
}

/**
 * Which of the tasks that are ready is next. What wakes at one instant is ready in the order in which it fell asleep, so
 * that of two timers of one tick each is first in one of the orders.
 */
export type Order = "oldest" | "newest"

/** Any fiber, whatever it makes. */
export type AnyFiber = Fiber.Fiber<unknown, unknown>

/** A task that takes so many others before time is asked to pass is taken for one that never ends. */
export const defaultMaxSteps = 20_000

export class World {
  readonly clock: HandClock = new HandClock()
  /** The fiber that began an operation last. */
  last: AnyFiber | undefined = undefined
  /** The first fiber that began to wait for the outside, which never answers in here. */
  outside: AnyFiber | undefined = undefined
  readonly #newestFirst: boolean
  readonly #tasks: Array<Task> = []
  readonly #context: Context.Context<never>
  readonly #traces = new Map<AnyFiber, Trace>()
  /** The fiber that was just told to give way; the next task to come is the one that resumes it. */
  #givingWay: { readonly fiber: AnyFiber; readonly trace: Trace } | undefined = undefined

  /** Sync, so that the whole program runs without a promise; priorities of tasks are not heeded. */
  readonly scheduler: Scheduler.Scheduler = {
    executionMode: "sync",
    shouldYield: (fiber) => this.#givesWay(fiber),
    makeDispatcher: () => ({ scheduleTask: (task) => this.#add(task), flush: () => {} }),
  }

  constructor(order: Order) {
    this.#newestFirst = order === "newest"
    this.#context = Context.make(Clock.Clock, this.clock).pipe(
      Context.add(Random.Random, Chance.service(Chance.draws(0x5eed))),
      Context.add(Tracer.Tracer, this.#tracer),
    )
  }

  readonly #tracer: Tracer.Tracer = Tracer.make({
    span: (options) => Tracer.nativeTracer.span(options),
    context: (operation, fiber) => {
      const next = operation["~effect/Effect/evaluate"](fiber)
      if (typeof next === "symbol" && Answerer.of(operation) === "outside") this.outside ??= fiber
      return next
    },
  })

  /** Fibers that have begun an operation here and have not ended. */
  get fibers(): ReadonlySet<AnyFiber> {
    return new Set(this.#traces.keys())
  }

  /** How many operations a fiber that has not ended has begun. */
  stepsOf(fiber: AnyFiber): number {
    return this.#traces.get(fiber)?.steps ?? 0
  }

  /** Starts `effect`, which waits before its first operation. */
  fork<A, E>(effect: Effect.Effect<A, E>): Fiber.Fiber<A, E> {
    return Effect.runForkWith(this.#context)(effect, { scheduler: this.scheduler })
  }

  /** Runs one task; false where none is ready. */
  step(): boolean {
    const task = this.#newestFirst ? this.#tasks.pop() : this.#tasks.shift()
    task?.run()
    return task !== undefined
  }

  /** Whether something is ready that is none of these fibers' doing. */
  isReadyBeyond(fibers: ReadonlySet<AnyFiber>): boolean {
    return this.#tasks.some(({ owner }) => owner === undefined || !fibers.has(owner))
  }

  /** Runs all that is ready, however much that makes ready; false where it was still going on after so many tasks. */
  settle(maxSteps: number = defaultMaxSteps): boolean {
    for (let left = maxSteps; left > 0; left--) if (!this.step()) return true
    return false
  }

  /** Runs `effect` to its end and all that is ready besides. Time passes while it waits for time. */
  run<A, E>(effect: Effect.Effect<A, E>, maxSteps: number = defaultMaxSteps): Exit.Exit<A, E> {
    const fiber = this.fork(effect)
    for (let left = maxSteps; left > 0; left--) {
      if (this.step()) continue
      const exit = fiber.pollUnsafe()
      if (exit !== undefined) return exit
      if (!this.clock.advanceToNext()) return Exit.die(new Error(hangs))
    }
    return fiber.pollUnsafe() ?? Exit.die(new Error(`it is not over after ${maxSteps} steps`))
  }

  /** Lets so many milliseconds pass, and at each instant on the way all that is ready run. */
  pass(millis: number): void {
    const until = this.clock.nanos + nanosOf(millis)
    const left = (): number => Math.max(0, Number(until - this.clock.nanos) / 1e6)
    do this.settle()
    while (this.clock.advanceToNext(left()))
    this.clock.advance(left())
  }

  #givesWay(fiber: AnyFiber): boolean {
    const trace = this.#traces.get(fiber) ?? this.#begun(fiber)
    if (trace.passes === 0) {
      this.#givingWay = { fiber, trace }
      return true
    }
    trace.passes--
    if (trace.passes > 0) return false
    goFinely(fiber)
    trace.steps++
    this.last = fiber
    return false
  }

  #begun(fiber: AnyFiber): Trace {
    const trace: Trace = { steps: 0, passes: 0 }
    this.#traces.set(fiber, trace)
    fiber.addObserver(() => void this.#traces.delete(fiber))
    return trace
  }

  #add(run: () => void): void {
    const given = this.#givingWay
    this.#givingWay = undefined
    if (given === undefined) return void this.#tasks.push({ run, owner: this.last })
    const { fiber: owner, trace } = given
    this.#tasks.push({
      owner,
      run: () => {
        trace.passes = 2
        run()
        // Nothing was let by where the fiber was interrupted meanwhile: its task does nothing then.
        trace.passes = 0
      },
    })
  }
}

/**
 * Effect runs the continuations of a success in a row, and goes back to its loop whenever this count gets to a multiple
 * of 32; from -1 on it does so after each. By an Effect that paid no heed to it a fiber would be met at fewer points.
 */
const goFinely = (fiber: AnyFiber): void => {
  const counted: { currentOpCount: number } = fiber
  counted.currentOpCount = -1
}

/**
 * Calls `look`, with its number from 1, whenever `fiber` is about to hand what it has to the next of its continuations,
 * from inside its run loop. An interruption that comes there is one that came while the operation before it ran.
 *
 * By a way that Effect does not document; false where it is not there, and `look` is never called then.
 */
export const watch = (fiber: AnyFiber, look: (nth: number) => void): boolean => {
  const watched = fiber as unknown as { getCont?: (symbol: string) => unknown }
  const { getCont } = watched
  if (getCont === undefined) return false
  let nth = 0
  watched.getCont = (symbol) => {
    look(++nth)
    return getCont.call(fiber, symbol)
  }
  return true
}

/** Why a run says nothing though it ended well: whoever waited was cut off, and what follows the answer was not run. */
export const escapes =
  "a fiber waits for the outside, a promise or a timer of the runtime, which does not answer in here: script it"

/** Why nothing may be ready for ever. */
export const hangs =
  "it hangs: what it waits for was lost, or comes from outside (a promise, a timer of the runtime, another scheduler)"
