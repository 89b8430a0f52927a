/**
 * The interruption sweep on the runtime's own scheduler, for what a world of its own cannot hold: sockets, workers,
 * promises. An effect is run again and again, interrupted one continuation later each time, and checked for what it has
 * left open.
 *
 * Continuations are counted in the effect's own fiber. Twice at each: from inside, before it, and one turn of the event
 * loop behind it, when the fiber waits. What happens meanwhile is the runtime's: no run can be replayed, and none is the
 * same. With `maxSteps` of the number that a failure names, the sweep ends at the place of it.
 */
import * as Context from "effect/Context"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scheduler from "effect/Scheduler"
import * as OptionRules from "../../../core/testing/OptionRules.ts"
import { watch } from "../../../core/testing/World.ts"
import * as LeakCheck from "./LeakCheck.ts"

export interface Options {
  /** Waited for after each run, before anything is counted: an Effect that ends once a far side in this process has heard. */
  readonly rest?: Effect.Effect<unknown> | undefined
  /** How long an interrupted run may take to end, above zero and at most 365 days; 5 seconds by default. */
  readonly within?: Duration.Input | undefined
  /** The most continuations that are tried, 1 to 1,000,000; 1,000 by default. */
  readonly maxSteps?: number | undefined
}

export interface Swept<A, E> {
  readonly runs: number
  readonly interrupted: number
  /**
   * How the last run ended, which was not interrupted any more; undefined where `maxSteps` is fewer than the effect has.
   */
  readonly last: Exit.Exit<A, E> | undefined
}

/** An interrupted run went on until its time was over. It may go on still. */
export class GoesOn extends Data.Error<{ readonly where: string }> {
  readonly _tag = "GoesOn"
  override readonly name = "GoesOn"
  override get message(): string {
    return `it was interrupted and goes on [${this.where}]`
  }
}

export type Sweep = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  options?: Options,
) => Effect.Effect<Swept<A, E>, LeakCheck.Leaked | LeakCheck.CannotSee | GoesOn, R>

const rules: Readonly<Record<string, OptionRules.Rule>> = {
  rest: OptionRules.effect,
  within: OptionRules.limit,
  maxSteps: OptionRules.whole(1, 1_000_000),
}

/**
 * Fails with the first run that leaves something open, by `check`, or that goes on. An option that breaks its rule is a defect,
 * `InvalidLimits`.
 */
export const make =
  (check: LeakCheck.LeakCheck["check"]): Sweep => <A, E, R>(effect: Effect.Effect<A, E, R>, options: Options = {}) =>
    Effect.gen(function* () {
      const broken = OptionRules.broken("Leaks.sweep", options, rules)
      if (broken !== undefined) return yield* Effect.die(broken)
      const context = yield* Effect.context<R>()
      const within = Duration.fromInputUnsafe(options.within ?? "5 seconds")
      let [runs, interrupted] = [0, 0]
      let last: Exit.Exit<A, E> | undefined
      for (let step = 1; step <= (options.maxSteps ?? 1_000); step++) {
        for (const place of ["inside", "behind"] as const) {
          const where = `interrupted ${place === "inside" ? "inside, before" : "behind"} continuation ${step}`
          const victim = new Victim(step, place)
          const ended = Effect.timeoutOrElse(
            Effect.map(
              Effect.suspend(() => Fiber.await(Effect.runForkWith(context)(effect, { scheduler: victim.scheduler }))),
              (exit) => last = exit,
            ),
            { duration: within, orElse: () => Effect.fail(new GoesOn({ where })) },
          )
          const run = Effect.provideService(Effect.andThen(ended, options.rest ?? Effect.void), Clock.Clock, liveClock)
          yield* Effect.catchTag(
            check(run),
            "Leaked",
            (leaked) => Effect.fail(new LeakCheck.Leaked({ ...leaked, where })),
          )
          runs++
          if (!victim.met) return { runs, interrupted, last }
          interrupted++
        }
      }
      return { runs, interrupted, last: undefined }
    })

const liveClock = Context.get(Context.empty(), Clock.Clock)

/** The fiber of one run, which is the first that its scheduler hears of. */
class Victim {
  met = false
  readonly scheduler: Scheduler.Scheduler

  constructor(step: number, place: "inside" | "behind") {
    const base = new Scheduler.MixedScheduler()
    let victim: Fiber.Fiber<unknown, unknown> | undefined
    const watched = (fiber: Fiber.Fiber<unknown, unknown>): Fiber.Fiber<unknown, unknown> => {
      watch(fiber, (nth) => {
        if (nth !== step) return
        this.met = true
        if (place === "inside") fiber.interruptUnsafe()
        else setImmediate(() => fiber.interruptUnsafe())
      })
      return fiber
    }
    this.scheduler = {
      executionMode: base.executionMode,
      makeDispatcher: () => base.makeDispatcher(),
      shouldYield: (fiber) => {
        victim ??= watched(fiber)
        return base.shouldYield(fiber)
      },
    }
  }
}
