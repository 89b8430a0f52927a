/**
 * Explores the orders in which the fibers of a program can run: all of them within bounds, or a sample drawn by a seed.
 *
 * A program is made of what runs at the same time, and of what must hold at the end; it runs under a scheduler and a clock
 * that choose, so that no order depends on chance. A schedule that fails is made as simple as possible and told as text,
 * and {@link replay} runs it again. Nothing of a run outlives it.
 */
import * as Effect from "effect/Effect"
import * as Scheduler from "effect/Scheduler"
import { type InvalidLimits, InvalidRequest } from "../Refusal.ts"
import { type Bounds, type Complete, decode, decodeSampling, type Sampling } from "./ExplorerBounds.ts"
import { InvalidSchedule, ScheduleFailed, Uncontrolled } from "./ExplorerFailure.ts"
import type { Fibers, Program } from "./ExplorerProgram.ts"
import type { Unanswered } from "./ExplorerWaits.ts"
import { Replay } from "./ExplorerReplay.ts"
import { check, nobody } from "./ExplorerRules.ts"
import { Search } from "./ExplorerSearch.ts"
import { World } from "./ExplorerWorld.ts"
import { isName, maxChars, nameRule, parse, Words } from "./Schedule.ts"

/** What was explored without finding anything wrong. */
export interface Explored {
  /** Schedules that were run to their ends. */
  readonly schedules: number
  /** Those of them that came into a state which an earlier one had been in, so that what else follows was left out. */
  readonly repeats: number
  /**
   * Whether every schedule within the bounds was run, or is known to end as one that was; not where a callback was waited
   * for that nobody made.
   */
  readonly exhaustive: boolean
  /** The bounds that kept schedules out: `maxSchedules` where the search was cut, `preemptions` where there are more. */
  readonly cutBy: ReadonlyArray<"maxSchedules" | "preemptions">
  /**
   * Who waited for a callback that no fiber, no timer and no event of the program made in any schedule, by name, and where.
   * It may have been for the outside; what is done with its answer was never run. None where the program allows it.
   */
  readonly unanswered: ReadonlyArray<Unanswered>
  /** The most steps that each of the program's own fibers made in a run. */
  readonly steps: Readonly<Record<string, number>>
}

/**
 * Runs a program in every order within the bounds, depth first, and succeeds if nothing was wrong in any.
 *
 * A schedule is exactly what Effect would do, but for the order: which of the ready fibers is next, when a fiber is made
 * to yield, when time goes on to the next timer, when an {@link event} happens, and when a fiber is interrupted from
 * outside. Any ready fiber may be next, also where Effect's own scheduler would take another. It fails at the first
 * schedule under which something is wrong, made as simple as possible; for what counts as wrong see `Program` and
 * `ScheduleFailed`. The program needs no services; it finds a clock, random numbers and a scheduler that are the same in
 * every run, and logs nothing. It works through runs without waiting, and lets others run between them.
 *
 * What it does not do: Effect runs up to 32 operations inline, one continuation in the other, and looks for others only
 * between such runs. So what is inline is one step, and nothing comes between two continuations of it, as in `map` after
 * `map`; in Effect something may at every 32nd operation, if it is the one at which the fiber is told to yield. What a
 * continuation does to its own fiber, such as interrupting it, is done as Effect does it.
 *
 * A fiber that waits for the outside ends the search, also where it would be interrupted: `Uncontrolled`, as soon as one
 * begins to wait for a promise or by the clock of the host. Of any other callback nobody can tell who will make it, before
 * it is made; one that was made in no schedule is told of as `unanswered`, and nothing is called exhaustive then. It is
 * told from others by who waits, after how many of its steps, and by the code that it waits by: of two that agree in all
 * of that, made for one is made for both. What is not seen is an answer that comes from outside by way of something of
 * Effect's, such as a `Deferred`, to a fiber that has been interrupted by then. Put an {@link event} in the place of the
 * outside.
 *
 * What is left out, and why nothing is missed by it:
 *
 * - A turn of Effect's loop in which none of the program's code runs is part of the step after it: neither another fiber
 *   nor an interruption can tell before from after. One that only installs what to do on an exit is a point for the
 *   interruption of its own fiber, and for nothing else.
 * - One of the program's own fibers that has not begun is interrupted at the start or not before it has: nobody has it in
 *   hand, so that it ends unseen whenever that comes. One that a fiber has started is interrupted at any point.
 * - Of fibers that are `alike` and have not begun only the first is next: another one would do the same under its name.
 * - With `shared`, a state that the search has been in is not gone on from again, unless with more forced switches left:
 *   from the same state on the same can happen. `KnownStates` says what a state is, and what that rests on.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import { Explorer } from "holdfast/testing"
 *
 * const visit = (counter: { seen: number }) =>
 *   Effect.gen(function*() {
 *     const before = yield* Effect.sync(() => counter.seen)
 *     yield* Effect.sync(() => { counter.seen = before + 1 })
 *   })
 * const visits = {
 *   prepare: Effect.sync(() => ({ seen: 0 })),
 *   fibers: (counter: { seen: number }) => ({ a: visit(counter), b: visit(counter) }),
 *   oracle: (counter: { seen: number }) => counter.seen === 2 ? undefined : Effect.fail(`${counter.seen} of 2`),
 * }
 * const failed = await Effect.runPromise(Effect.flip(Explorer.explore(visits)))
 * if (failed._tag === "ScheduleFailed") console.log(failed.schedule, "|", failed.cause) // a*3 - b | 1 of 2
 * ```
 */
export const explore = <S, F extends Fibers>(
  program: Program<S, F>,
  bounds: Bounds = {},
): Effect.Effect<Explored, ScheduleFailed | Uncontrolled | InvalidLimits | InvalidRequest> =>
  Effect.flatMap(decode(bounds), (limits) => searched(program, limits, (search) => search.all))

/**
 * Runs a program in as many orders as are asked for, drawn by the seed; for programs that have too many.
 *
 * As {@link explore}, but that schedules may be drawn twice, that there is no bound on forced switches unless one is given,
 * and that `shared` changes nothing. It says nothing of the schedules that were not drawn.
 */
export const sample = <S, F extends Fibers>(
  program: Program<S, F>,
  sampling: Sampling,
): Effect.Effect<Explored, ScheduleFailed | Uncontrolled | InvalidLimits | InvalidRequest> =>
  Effect.flatMap(decodeSampling(sampling), (limits) => searched(program, limits, (search) => search.some))

/**
 * Runs a program once, in the order of `schedule`, as `ScheduleFailed` tells it. Fails as `explore` did if it goes wrong,
 * and otherwise succeeds with what happened, a line for each turn of a fiber.
 *
 * The program must be the one that failed: another one is `InvalidSchedule` as soon as it cannot do what the text says.
 */
export const replay = <S, F extends Fibers>(
  program: Program<S, F>,
  schedule: string,
  bounds: Pick<Bounds, "maxSteps"> = {},
): Effect.Effect<
  ReadonlyArray<string>,
  ScheduleFailed | Uncontrolled | InvalidSchedule | InvalidLimits | InvalidRequest
> =>
  Effect.gen(function* () {
    if (typeof schedule !== "string" || schedule.length > maxChars) {
      const value = typeof schedule === "string" ? `${schedule.length} characters` : schedule
      return yield* Effect.fail(new InvalidRequest({ field: "schedule", rule: scheduleRule, value }))
    }
    const words = parse(schedule)
    if (words instanceof InvalidSchedule) return yield* Effect.fail(words)
    const limits = yield* decode(bounds)
    yield* check(program as never, [])
    const ids = new Words()
    const replay = new Replay(program as never, ids, limits)
    const { escaped, finding, lost, run, story } = yield* replay.run(words.map((word) => ids.id(word)))
    if (escaped !== undefined) {
      return yield* Effect.fail(new Uncontrolled({ reason: "escaped", schedule: ids.print(run.log), fiber: escaped }))
    }
    if (lost !== undefined) {
      const possible = lost.options.map((id) => ids.word(id))
      return yield* Effect.fail(new InvalidSchedule({ word: words[lost.at]!, at: lost.at, possible }))
    }
    if (finding === undefined) return story
    return yield* Effect.fail(
      new ScheduleFailed({ ...finding, schedule: ids.print(run.log), story, schedules: 1 }),
    )
  })

/**
 * Waits for something from outside, such as the answer of a peer, in an explored program: when it happens, and with which
 * of the outcomes, is chosen as the order is: `Explorer.event("answer", Effect.succeed("up"), Effect.fail("down"))`. A
 * schedule tells the first as `a:answer` and the second as `a:answer/1`. Interrupted meanwhile, it does not happen any more.
 *
 * Without an outcome, or with one that is no Effect, it is a defect, `InvalidRequest`.
 */
export const event = <Outcomes extends readonly [AnyEffect, ...ReadonlyArray<AnyEffect>]>(
  name: string,
  ...outcomes: Outcomes
): Effect.Effect<
  Effect.Success<Outcomes[number]>,
  Effect.Error<Outcomes[number]>,
  Effect.Services<Outcomes[number]>
> =>
  Effect.withFiber((fiber) => {
    const world = fiber.getRef(Scheduler.Scheduler)
    if (!isName(name)) return Effect.die(new InvalidRequest({ field: "event", rule: nameRule, value: name }))
    if (outcomes.length === 0 || !outcomes.every(Effect.isEffect)) {
      const value = outcomes.find((outcome) => !Effect.isEffect(outcome))
      return Effect.die(new InvalidRequest({ field: `outcomes of the event "${name}"`, rule: outcomesRule, value }))
    }
    if (!(world instanceof World)) {
      return Effect.die(new Error(`the event "${name}" happens in an explored program only`))
    }
    return Effect.callback((resume) =>
      Effect.sync(
        world.agenda.await(world.actors.of(fiber)!, name, outcomes.map((each) => () => resume(each as never))),
      )
    )
  })

type AnyEffect = Effect.Effect<unknown, unknown, unknown>

const searched = <S, F extends Fibers>(
  program: Program<S, F>,
  limits: Complete,
  how: (search: Search) => Effect.Effect<boolean, ScheduleFailed | Uncontrolled>,
): Effect.Effect<Explored, ScheduleFailed | Uncontrolled | InvalidRequest> =>
  Effect.gen(function* () {
    const targets = typeof limits.targets === "string" ? [] : [...limits.targets]
    yield* check(program as never, targets)
    const search = new Search(program as never, { ...limits, alike: new Set(program.alike) })
    const isThrough = yield* how(search)
    const absent = targets.find((name) => !search.world.agenda.targeted.has(search.world.words.id(name)))
    if (isThrough && absent !== undefined) return yield* Effect.fail(nobody(absent))
    const cutBy: Array<"maxSchedules" | "preemptions"> = isThrough ? [] : ["maxSchedules"]
    if (search.world.agenda.isLimited) cutBy.push("preemptions")
    const unanswered = program.allow?.includes("unanswered") === true ? [] : search.world.waits.unanswered
    const exhaustive = isThrough && unanswered.length === 0
    return { schedules: search.runs, repeats: search.repeats, exhaustive, cutBy, unanswered, steps: search.steps }
  })

const outcomesRule = "one Effect or more, each an argument of its own"
const scheduleRule = `a text of at most ${maxChars} characters`
