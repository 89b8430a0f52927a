/**
 * The interruption sweep: a program is run again and again, and at each of its steps in turn something is done to it: a
 * fiber is interrupted, a scope is closed, time passes. Whatever the step, the end has to be right.
 *
 * It owns the schedule, the clock and the fibers of each run; a run is over when nothing is left to do.
 *
 * What "each step" means: Effect's run loop may let another fiber run before any operation, and after each continuation
 * of a success that goes on with a plain value; the sweep stops at all of these points, in every fiber, finalizers
 * included, and disturbs at each. A fiber that is interrupted by name is also interrupted from inside, at each point where
 * an operation hands on to the next, as it is where code that it runs itself interrupts it. What is not tried is every
 * order of the fibers: two are, the oldest ready task first and the newest first. What it cannot see is what runs
 * elsewhere: a fiber on another scheduler or with `Scheduler.PreventSchedulerYield`, a promise, a timer of the runtime.
 * Whoever waits for one shows as a fiber that hangs; one that nobody waits for does not show.
 */
import type * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Outcome from "../Outcome.ts"
import * as Ending from "./Ending.ts"
import { Endings } from "./Endings.ts"
import type { HandClock } from "./HandClock.ts"
import * as OptionRules from "./OptionRules.ts"
import * as Point from "./Point.ts"
import * as Reading from "./Reading.ts"
import { because } from "./Wording.ts"
import { type AnyFiber, defaultMaxSteps, escapes, hangs, watch, World } from "./World.ts"

/** A moment of a run, as a disturbance finds it. */
export interface Moment<S, N extends string> {
  readonly fibers: { readonly [name in N]: AnyFiber }
  readonly state: S
  readonly clock: HandClock
  /** The scope that `prepare` ran in. */
  readonly scope: Scope.Closeable
}

/** A fiber that is interrupted, by its name; or what is done. An effect is started, not waited for, and may fail. */
export type Disturbance<S, N extends string> =
  | N
  | ((moment: Moment<S, N>) => void | Effect.Effect<unknown, unknown>)

export type Exits<N extends string = string> = { readonly [name in N]: Exit.Exit<unknown, unknown> }

/**
 * What is played with the state that `prepare` made: who takes part, what is done to them, and what must hold in the
 * end.
 */
export interface Scene<S, N extends string> {
  /** The program: these are started in order, and run side by side. */
  readonly fibers: (state: S, stage: Pick<Moment<S, N>, "clock" | "scope">) => {
    readonly [name in N]: Effect.Effect<unknown, unknown>
  }
  /** What is done at the step that the run is for. */
  readonly disturb: Disturbance<S, NoInfer<N>>
  /** A second disturbance, tried at the step of the first one and at each of the next twelve. */
  readonly again?: Disturbance<S, NoInfer<N>> | undefined
  /**
   * How each fiber may end. One that is not listed ends as it does undisturbed, with the same typed error if it fails
   * then; one that is interrupted by name may also end `Interrupted`. A defect is an ending only where it is listed.
   */
  readonly ends?: { readonly [name in NoInfer<N>]?: ReadonlyArray<Ending.Ending> } | undefined
  /**
   * What is the same again once all fibers have ended: free places, open connections. Compared by `Equal.equals` and by
   * how it prints, so that an object which changes in place is seen to have changed.
   */
  readonly conserved?: ((state: S) => Effect.Effect<unknown, unknown>) | undefined
  /** Whatever else must hold once all fibers have ended; it throws, or is an effect that fails, where that does not. */
  readonly oracle?: ((state: S, exits: Exits<N>) => Effect.Effect<unknown, unknown> | void) | undefined
  /** Names of what is still open once the scope is closed as well; there must be none. */
  readonly left?: ((state: S) => ReadonlyArray<string>) | undefined
  /**
   * Whether a fiber that was interrupted has to end by itself: before time passes, and before another fiber of the scene
   * does anything for it. True, unless its work may take its time, or what it holds may not be given back without
   * others.
   */
  readonly prompt?: boolean | undefined
  /** How long the program may go on in the background after its fibers have ended, at most 365 days; none by default. */
  readonly rest?: Duration.Duration | undefined
  /** After so many steps a run is taken for one that never ends, 1 to 1,000,000; 20,000 by default. */
  readonly maxSteps?: number | undefined
}

/** What was swept. */
export interface Swept<N extends string> {
  /** Steps of the undisturbed program, in both orders. */
  readonly steps: number
  /** Runs that were judged, the undisturbed ones apart. */
  readonly runs: number
  /** How each fiber was seen to end, undisturbed or not: a sweep that never met a wait proves nothing of it. */
  readonly endings: { readonly [name in N]: ReadonlyArray<Ending.Ending> }
}

/** One run of a sweep: `replay` plays it again by `point`. */
export class SweepFailed extends Data.Error<{
  readonly point: string
  readonly where: string
  readonly why: string
  readonly cause?: Cause.Cause<unknown> | undefined
}> {
  readonly _tag = "SweepFailed"
  override readonly name = "SweepFailed"
  override get message(): string {
    return `${this.why} [${this.where}; replay "${this.point}"]`
  }
}

/**
 * An operation in a scope of its own, between neighbours: a finalizer that was there before it and one that came after,
 * which take a few steps each. Swept, its own finalizer is met at the steps next to those of others.
 */
export const amid = <A, E, R>(operation: Effect.Effect<A, E, R>): Effect.Effect<A, E, Exclude<R, Scope.Scope>> => {
  const neighbour = Effect.addFinalizer(() => Effect.yieldNow)
  return Effect.scoped(Effect.andThen(neighbour, Effect.flatMap(operation, (made) => Effect.as(neighbour, made))))
}

/** A sweep over what `prepare` makes, which each run makes anew, in a scope of its own. */
export interface Stage<S> {
  /** Sweeps with the oldest ready task first and with the newest first; fails at the first run that ends wrong. */
  readonly sweep: <N extends string>(scene: Scene<S, N>) => Effect.Effect<Swept<N>, SweepFailed>
  /**
   * Plays the one run that a failure names: it fails as it did, or succeeds where the fault is gone. The program must be
   * the one that failed: a point that it is over before is `InvalidPoint`, as is a text that is no point.
   */
  readonly replay: <N extends string>(
    scene: Scene<S, N>,
    point: string,
  ) => Effect.Effect<void, SweepFailed | Point.InvalidPoint>
}

/**
 * Where scenes are played.
 *
 * All of it is synchronous: `Effect.runSync` does in a test of any runner. A program of n steps is played n times in each
 * order, thirteen times as often with a second disturbance. An option that breaks its rule is a defect, `InvalidLimits`.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import { Sweep } from "holdfast/testing"
 *
 * // Takes a place in one step and says that it will be given back in the next: between the two it can be lost.
 * const swept = Sweep.on(Effect.sync(() => ({ free: 1 }))).sweep({
 *   fibers: (pool) => ({
 *     user: Effect.andThen(
 *       Effect.sync(() => pool.free--),
 *       Effect.ensuring(Effect.yieldNow, Effect.sync(() => pool.free++)),
 *     ),
 *   }),
 *   disturb: "user",
 *   conserved: (pool) => Effect.sync(() => pool.free),
 * })
 * console.log(Effect.runSync(Effect.flip(swept)).why) // not conserved: 1 before, 0 after
 * ```
 */
export const on = <S>(prepare: Effect.Effect<S, unknown, Scope.Scope>): Stage<S> => ({
  sweep: (scene) => OptionRules.ofScene(scene, sweep(prepare, scene)),
  replay: (scene, point) => OptionRules.ofScene(scene, replay(prepare, scene, point)),
})

const sweep = <S, N extends string>(
  prepare: Effect.Effect<S, unknown, Scope.Scope>,
  scene: Scene<S, N>,
): Effect.Effect<Swept<N>, SweepFailed> =>
  Effect.gen(function* () {
    let [steps, runs] = [0, 0]
    const seen = new Endings<N>()
    const play = (point: Point.Point, undisturbed?: Played) => {
      const played = new Run(prepare, scene, point, undisturbed).play()
      if (played instanceof SweepFailed) return Effect.fail(played)
      seen.add(played.endings)
      return Effect.succeed(played)
    }
    for (const order of ["oldest", "newest"] as const) {
      const undisturbed = yield* play({ order })
      const again = yield* play({ order })
      if (again.steps !== undisturbed.steps) {
        const why = `not the same program twice: ${undisturbed.steps} steps, then ${again.steps}`
        return yield* Effect.fail(new SweepFailed({ point: order, where: `${order} first, undisturbed`, why }))
      }
      steps += undisturbed.steps
      for (const point of Point.all(order, undisturbed, scene.again !== undefined)) {
        yield* play(point, undisturbed)
        runs++
      }
    }
    return { steps, runs, endings: seen.all }
  })

const replay = <S, N extends string>(
  prepare: Effect.Effect<S, unknown, Scope.Scope>,
  scene: Scene<S, N>,
  point: string,
): Effect.Effect<void, SweepFailed | Point.InvalidPoint> =>
  Effect.suspend((): Effect.Effect<void, SweepFailed | Point.InvalidPoint> => {
    const parsed = Point.parse(point)
    if (parsed === undefined) return Effect.fail(new Point.InvalidPoint({ point, why: "it is no point of a sweep" }))
    if (parsed.again !== undefined && scene.again === undefined) {
      return Effect.fail(new Point.InvalidPoint({ point, why: "the scene has no second disturbance" }))
    }
    const undisturbed = new Run(prepare, scene, { order: parsed.order }, undefined).play()
    if (undisturbed instanceof SweepFailed) return Effect.fail(undisturbed)
    const run = new Run(prepare, scene, parsed, undisturbed)
    const played = run.play()
    if (played instanceof SweepFailed) return Effect.fail(played)
    const due = [parsed.at, parsed.again, parsed.inside].filter((each) => each !== undefined).length
    return run.disturbed === due ? Effect.void : Effect.fail(
      new Point.InvalidPoint({ point, why: `the program is over before it, after ${played.steps} steps` }),
    )
  })

/** What a run that ended right was like. */
interface Played {
  readonly steps: number
  /** Continuations of the fiber that `disturb` names; none where it is no name. */
  readonly inside: number
  readonly endings: Readonly<Record<string, Ending.Ending>>
}

const unhurried = "which `prompt: false` allows"

/** One run of a scene. */
class Run<S, N extends string> {
  /** Disturbances that it came to. */
  disturbed = 0
  readonly #prepare: Effect.Effect<S, unknown, Scope.Scope>
  readonly #scene: Scene<S, N>
  readonly #point: Point.Point
  readonly #undisturbed: Played | undefined
  readonly #world: World
  readonly #maxSteps: number
  readonly #interrupted = new Set<string>()
  readonly #disturbers: Array<AnyFiber> = []
  #moment!: Moment<S, N>
  #where = "undisturbed"
  #inside = 0

  constructor(
    prepare: Effect.Effect<S, unknown, Scope.Scope>,
    scene: Scene<S, N>,
    point: Point.Point,
    undisturbed: Played | undefined,
  ) {
    this.#prepare = prepare
    this.#scene = scene
    this.#point = point
    this.#undisturbed = undisturbed
    this.#world = new World(point.order)
    this.#maxSteps = scene.maxSteps ?? defaultMaxSteps
  }

  play(): Played | SweepFailed {
    const { conserved } = this.#scene
    const scope = Scope.makeUnsafe()
    const prepared = this.#world.run(Scope.provide(this.#prepare, scope), this.#maxSteps)
    if (Exit.isFailure(prepared)) return this.#failed("it cannot be prepared", prepared.cause)
    const state = prepared.value
    const before = conserved === undefined ? undefined : this.#read(conserved, state)
    const unbegun = this.#begin(state, scope)
    if (unbegun !== undefined) return unbegun
    const steps = this.#run()
    if (typeof steps !== "number") return steps
    this.#world.pass(Duration.toMillis(this.#scene.rest ?? Duration.zero))
    const exits = this.#exits()
    if (exits instanceof SweepFailed) return exits
    const endings = Object.fromEntries(this.#names.map((name) => [name, Ending.of(exits[name])]))
    return this.#judge(exits, before) ?? this.#close() ?? { steps, inside: this.#inside, endings }
  }

  get #names(): ReadonlyArray<N> {
    return Object.keys(this.#moment.fibers) as Array<N>
  }

  /** Starts the fibers. Fails where there are none to start, or none of a name that the scene speaks of. */
  #begin(state: S, scope: Scope.Closeable): SweepFailed | undefined {
    const { clock } = this.#world
    const fibers: Record<string, AnyFiber> = Object.create(null)
    this.#moment = { fibers: fibers as Moment<S, N>["fibers"], state, clock, scope }
    const made = Effect.runSyncExit(Effect.sync(() => this.#scene.fibers(state, { clock, scope })))
    if (Exit.isFailure(made)) return this.#failed("the fibers cannot be made", made.cause)
    for (const [name, effect] of Object.entries(made.value)) {
      fibers[name] = this.#world.fork(effect as Effect.Effect<unknown, unknown>)
    }
    const { again, disturb, ends = {} } = this.#scene
    const named = [disturb, again, ...Object.keys(ends)].filter((each) => typeof each === "string")
    const stranger = named.find((name) => !Object.hasOwn(fibers, name))
    if (stranger !== undefined) return this.#failed(`no fiber is named ${JSON.stringify(stranger)}`)
    if (typeof disturb !== "string") return undefined
    watch(fibers[disturb]!, (nth) => {
      this.#inside = nth
      if (nth === this.#point.inside) this.#disturb(disturb, `inside ${disturb}, before its continuation ${nth}`)
    })
    return undefined
  }

  #read(conserved: NonNullable<Scene<S, N>["conserved"]>, state: S): Reading.Reading {
    return Reading.of(this.#world.run(Effect.suspend(() => conserved(state)), this.#maxSteps))
  }

  /** Runs until nothing is left to do, and disturbs on the way. The number of steps, or why it failed. */
  #run(): number | SweepFailed {
    const { again, disturb } = this.#scene
    for (let steps = 0; steps <= this.#maxSteps; steps++) {
      if (steps === this.#point.at) this.#disturb(disturb, `at step ${steps}${this.#whose()}`)
      if (steps === this.#point.again) this.#disturb(again!, `${this.#where} and ${steps}${this.#whose()}`)
      const slow = this.#slow()
      if (slow !== undefined) return slow
      if (this.#world.step()) continue
      if (this.#running().length === 0 || !this.#world.clock.advanceToNext()) return steps
    }
    return this.#failed(`it is not over after ${this.#maxSteps} steps`)
  }

  /** A fiber that was interrupted, and waits for what is not its own doing. */
  #slow(): SweepFailed | undefined {
    const late = this.#scene.prompt === false ? [] : this.#running().filter((name) => this.#interrupted.has(name))
    if (late.length === 0) return undefined
    const others = this.#running().filter((name) => !this.#interrupted.has(name))
    const fibers = new Set<AnyFiber>(others.map((name) => this.#moment.fibers[name]))
    if (this.#world.isReadyBeyond(fibers)) return undefined
    if (this.#world.isReadyBeyond(new Set())) {
      return this.#failed(`${late.join()} was interrupted and waits for ${others.join()}, ${unhurried}`)
    }
    return this.#world.clock.sleeping > 0
      ? this.#failed(`${late.join()} was interrupted and goes on until time passes, ${unhurried}`)
      : undefined
  }

  #running(): ReadonlyArray<N> {
    return this.#names.filter((name) => this.#moment.fibers[name].pollUnsafe() === undefined)
  }

  /** Which fiber began the last operation, where it is one of the scene's. */
  #whose(): string {
    const { last } = this.#world
    const name = this.#names.find((each) => this.#moment.fibers[each] === last)
    return name === undefined || last === undefined ? "" : ` (${name}'s ${this.#world.stepsOf(last) || "last"})`
  }

  #disturb(how: Disturbance<S, N>, where: string): void {
    this.#where = where
    this.disturbed++
    if (typeof how === "string") {
      this.#interrupted.add(how)
      return this.#moment.fibers[how].interruptUnsafe()
    }
    const answer: Exit.Exit<void | Effect.Effect<unknown, unknown>> = Effect.runSyncExit(
      Effect.sync(() => how(this.#moment)),
    )
    const effect = Exit.isSuccess(answer) ? answer.value : answer
    if (effect !== undefined) this.#disturbers.push(this.#world.fork<unknown, unknown>(effect))
  }

  #exits(): Exits<N> | SweepFailed {
    const running = this.#running()
    if (running.length > 0) return this.#failed(`${running.join()}: ${hangs}`)
    for (const fiber of this.#disturbers) {
      const exit = fiber.pollUnsafe()
      if (exit === undefined) return this.#failed(`what disturbs: ${hangs}`)
      if (Outcome.fromExit(exit) === "Died") {
        return this.#failed("what disturbs died", Exit.isFailure(exit) ? exit.cause : undefined)
      }
    }
    return Object.fromEntries(this.#names.map((name) => [name, this.#moment.fibers[name].pollUnsafe()!])) as Exits<N>
  }

  #judge(exits: Exits<N>, before: Reading.Reading | undefined): SweepFailed | undefined {
    const { conserved, oracle } = this.#scene
    for (const name of this.#names) {
      const wrong = this.#wrong(name, exits[name])
      if (wrong !== undefined) return wrong
    }
    const { state } = this.#moment
    if (conserved !== undefined && before !== undefined) {
      const wrong = Reading.wrong(before, this.#read(conserved, state))
      if (wrong !== undefined) return this.#failed(wrong.why, wrong.cause)
    }
    const judged = oracle === undefined
      ? Exit.void
      : this.#world.run(Effect.suspend(() => oracle(state, exits) ?? Effect.void), this.#maxSteps)
    return Exit.isFailure(judged) ? this.#failed("the oracle says no", judged.cause) : undefined
  }

  /** A fiber that ended in another way than it may. */
  #wrong(name: N, exit: Exit.Exit<unknown, unknown>): SweepFailed | undefined {
    const ending = Ending.of(exit)
    const { ends } = this.#scene
    const listed = ends !== undefined && Object.hasOwn(ends, name) ? ends[name] : undefined
    const usual = this.#undisturbed === undefined
      ? ending === "Died" ? [] : [ending]
      : [this.#undisturbed.endings[name]!]
    const may = [...listed ?? usual, ...this.#interrupted.has(name) ? ["Interrupted"] : []]
    if (may.includes(ending) || may.includes(Outcome.fromExit(exit))) return undefined
    return this.#failed(
      `${name} ended ${ending} (${Ending.instead(listed, usual)})`,
      Exit.isFailure(exit) ? exit.cause : undefined,
    )
  }

  /** Closes the scope, after which nothing may be left: no fiber, no sleeper, nothing that is named as open. */
  #close(): SweepFailed | undefined {
    const closed = this.#world.run(Scope.close(this.#moment.scope, Exit.void), this.#maxSteps)
    if (Exit.isFailure(closed)) return this.#failed("closing the scope failed", closed.cause)
    const fibers = this.#world.fibers.size
    if (fibers > 0) return this.#failed(`fibers are left: ${fibers}`)
    const { sleeping } = this.#world.clock
    if (sleeping > 0) return this.#failed(`sleepers are left: ${sleeping}`)
    const left = Effect.runSyncExit(Effect.sync(() => this.#scene.left?.(this.#moment.state) ?? []))
    if (Exit.isFailure(left)) return this.#failed("what is left cannot be told", left.cause)
    if (left.value.length > 0) return this.#failed(`left open: ${left.value.join(", ")}`)
    return this.#world.outside && this.#failed(escapes)
  }

  #failed(why: string, cause?: Cause.Cause<unknown>): SweepFailed {
    const where = `${this.#point.order} first, ${this.#where}`
    return new SweepFailed({ point: Point.print(this.#point), where, why: because(why, cause), cause })
  }
}
