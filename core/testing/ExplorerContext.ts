/**
 * What an explored program is given in place of what it would find outside: scheduler, clock, random numbers, and no log.
 * Owns the random numbers of a run.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Random from "effect/Random"
import * as References from "effect/References"
import * as Scheduler from "effect/Scheduler"
import * as Tracer from "effect/Tracer"
import { nameOf } from "./Answerer.ts"
import * as Chance from "./Chance.ts"
import type { AnyFiber } from "./ExplorerActors.ts"

/**
 * What the next turn of a fiber's loop will do.
 *
 * - `"nothing"`: it remembers what to do with a success, or steps aside. None of the program's code runs, nobody else can
 *   tell before from after, and neither can an interruption: such a turn is no step, but a part of the next one.
 * - `"guards"`: it installs what to do on an exit. Others cannot tell before from after, an interruption can.
 * - `"acts"`: anything else, which may run the program's code.
 */
export type Turn = "nothing" | "guards" | "acts"

const turns: Readonly<Record<string, Turn>> = {
  OnSuccess: "nothing",
  Yield: "nothing",
  OnExit: "guards",
  OnFailure: "guards",
  OnSuccessAndFailure: "guards",
}

type AtTurn = NonNullable<Tracer.Tracer["context"]>
/** What a tracer of a program's own does at each turn, by what was put in its place. */
const brought = new WeakMap<AtTurn, AtTurn | undefined>()

/** What Effect tells of each turn of each loop: what it hands to the next one, or that the fiber goes off by it. */
export class Forecast {
  readonly #suspended: (fiber: AnyFiber, operation: object) => void
  #fiber: AnyFiber | undefined = undefined
  #next: object | undefined = undefined

  constructor(suspended: (fiber: AnyFiber, operation: object) => void) {
    this.#suspended = suspended
  }

  /** The next turn of `fiber`, which must have had the turn before it; asked for once. What is not known acts. */
  of(fiber: AnyFiber): Turn {
    if (this.#fiber !== fiber) return "acts"
    this.#fiber = undefined
    // Effect's own name of the operation. Should it be called otherwise one day, such a turn is a step of its own.
    return turns[nameOf(this.#next!)!] ?? "acts"
  }

  readonly #context: AtTurn = (operation, fiber) =>
    this.#hear(fiber, operation, operation["~effect/Effect/evaluate"](fiber))
  readonly #ours = new WeakSet<AtTurn>([this.#context])

  readonly tracer: Tracer.Tracer = Tracer.make({
    span: (options) => Tracer.nativeTracer.span(options),
    context: this.#context,
  })

  /** Before a turn of a fiber: one that goes by a tracer of the program's own is heard all the same. */
  attend(fiber: AnyFiber): void {
    const { tracerContext: theirs } = fiber.cache
    if (this.#ours.has(theirs!)) return
    const given = brought.has(theirs!) ? brought.get(theirs!) : theirs
    const ours: AtTurn = (operation, fiber) =>
      this.#hear(fiber, operation, given?.(operation, fiber) ?? operation["~effect/Effect/evaluate"](fiber))
    brought.set(ours, given)
    this.#ours.add(ours)
    const cache: { tracerContext: AtTurn | undefined } = fiber.cache
    cache.tracerContext = ours
  }

  #hear<X>(fiber: AnyFiber, operation: object, next: X): X {
    if (typeof next === "symbol") this.#suspended(fiber, operation)
    else {
      this.#fiber = fiber
      this.#next = next as object
    }
    return next
  }
}

/** What worlds have given to their programs. */
const given = new WeakSet<object>()

/** Whether a service is a world's own: what it does is part of the schedule, and none of what a program shares. */
export const isGiven = (service: unknown): boolean =>
  typeof service === "object" && service !== null && given.has(service)

/** The services of an explored program. `drawn` is told of each random number that is taken. */
export const make = (world: {
  readonly scheduler: Scheduler.Scheduler
  readonly clock: Clock.Clock
  readonly forecast: Forecast
  readonly random: () => number
}): Context.Context<never> => {
  const random = Chance.service(world.random)
  for (const service of [world.scheduler, world.clock, random, world.forecast.tracer]) given.add(service)
  return Context.empty().pipe(
    Context.add(Scheduler.Scheduler, world.scheduler),
    Context.add(Scheduler.PreventSchedulerYield, false),
    Context.add(Clock.Clock, world.clock),
    Context.add(Random.Random, random),
    Context.add(Tracer.Tracer, world.forecast.tracer),
    Context.add(References.MinimumLogLevel, "None"),
  )
}
