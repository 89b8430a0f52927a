/**
 * Random lives of a pool, judged after every command by a model of plain data: fast-check's commands, run in a world of
 * their own, with interruptions among what is drawn.
 *
 * fast-check is handed in by the caller; nothing of it is imported. It owns each life: its world, its scope, its fibers.
 */
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import type { HandClock } from "./HandClock.ts"
import * as OptionRules from "./OptionRules.ts"
import { because } from "./Wording.ts"
import { escapes, hangs, type Order, World } from "./World.ts"

/** What is used of an arbitrary of fast-check. */
export interface Arbitrary<T> {
  generate(random: never, bias: number | undefined): { readonly value: T }
  map<U>(mapper: (value: T) => U): Arbitrary<U>
}

/** What is used of fast-check 3 or 4: `import fc from "fast-check"` is one. */
export interface FastCheck {
  readonly commands: (arbitraries: never, constraints: never) => unknown
  readonly property: (arbitrary: never, predicate: never) => unknown
  readonly check: (property: never, parameters: never) => unknown
  readonly tuple: (first: never, second: never) => unknown
  readonly option: (arbitrary: never, constraints: never) => unknown
  readonly nat: (constraints: { readonly max: number }) => unknown
}

/**
 * What a command does its work with. All that is ready has run when one of these returns; time passes by `clock` alone.
 */
export interface Stage {
  readonly clock: HandClock
  /**
   * Starts `effect`. Where the command was drawn with an interruption, the fiber is interrupted once it has begun so many
   * operations, or at once where it waits before that.
   */
  readonly start: <A, E>(effect: Effect.Effect<A, E>) => Fiber.Fiber<A, E>
  /** {@link start} of something that may not wait: how it ended, or a defect where it has not. */
  readonly now: <A, E>(effect: Effect.Effect<A, E>) => Exit.Exit<A, E>
  /** {@link now} without the interruption, for what is no operation of the command. */
  readonly undisturbed: <A, E>(effect: Effect.Effect<A, E>) => Exit.Exit<A, E>
  /** Runs all that is ready: after whatever was done to a fiber or to the clock by hand. */
  readonly settle: () => void
}

/** One step of a life. */
export interface Command<M, R> {
  /** What is printed. */
  readonly name: string
  /** Whether it makes sense where the model is; always, unless it says so. */
  readonly when?: ((model: M) => boolean) | undefined
  /**
   * Does it to the pool and to the model, and compares; throws, or answers with an effect that fails, where they differ.
   */
  readonly run: (model: M, real: R, stage: Stage) => void | Effect.Effect<unknown, unknown>
}

export interface Life<M, R> {
  /** What each life begins with; the scope is closed at its end. */
  readonly prepare: Effect.Effect<R, unknown, Scope.Scope>
  readonly model: () => M
  readonly commands: ReadonlyArray<Arbitrary<Command<M, R>>>
  /** What holds at every moment, looked at after each command. */
  readonly invariant?: ((model: M, real: R) => void | Effect.Effect<unknown, unknown>) | undefined
  /** Gives back what the life still holds, and looks at what is left then. */
  readonly finish?: ((model: M, real: R, stage: Stage) => void | Effect.Effect<unknown, unknown>) | undefined
}

export interface Options {
  /** Lives, 1 to 1,000,000; 100 by default. */
  readonly runs?: number | undefined
  /** Commands of a life, at most, 1 to 100,000; 50 by default. */
  readonly maxCommands?: number | undefined
  /**
   * Interruptions are drawn for every second command, at up to so many operations, 0 to 1,000,000; 0, which is the
   * default, draws none. A replay needs the same.
   */
  readonly maxCut?: number | undefined
  /** Which ready task is next: the oldest, which is the default, or the newest. */
  readonly order?: Order | undefined
  /** A whole number; a random one by default, which is printed. */
  readonly seed?: number | undefined
  /** What a failure printed: that one life is lived again. One by which none is come to is refused as well. */
  readonly replay?: Replay | undefined
}

/** A life by fast-check's own words for it. */
export interface Replay {
  readonly seed: number
  readonly path: string
  readonly replayPath: string
}

export interface Checked {
  readonly seed: number
  readonly runs: number
  /** Commands that ran, and interruptions among them that met a fiber before it had ended. */
  readonly commands: number
  readonly cuts: number
}

/**
 * The pool and the model differ, or the life itself threw: its `when`, its model. The life is the shortest that was found, its
 * interruptions where they were drawn.
 */
export class ModelFailed extends Data.Error<{
  readonly why: string
  readonly life: ReadonlyArray<string>
  readonly replay: Replay
  readonly runs: number
  readonly shrinks: number
  readonly cause?: Cause.Cause<unknown> | undefined
}> {
  readonly _tag = "ModelFailed"
  override readonly name = "ModelFailed"
  override get message(): string {
    return `${this.why} [after ${this.life.join(", ") || "nothing"}; replay ${JSON.stringify(this.replay)}]`
  }
}

/**
 * Lives so many lives and fails with the first that goes wrong, made as short as it can be.
 *
 * Shrinking leaves out commands; an interruption is counted in operations of its own command's fiber, so that it stays
 * where it was when others go. Lives are the same for the same seed. An option that breaks its rule is a
 * defect, `InvalidLimits`.
 */
export const check = <M, R>(
  fastCheck: FastCheck,
  life: Life<M, R>,
  options: Options = {},
): Effect.Effect<Checked, ModelFailed> =>
  Effect.suspend(() => {
    const broken = OptionRules.brokenLives(options)
    if (broken !== undefined) return Effect.die(broken)
    const fc = fastCheck as unknown as Used
    const { maxCommands = 50, maxCut = 0, order = "oldest", replay, runs = 100, seed } = options
    const tally = { lives: 0, commands: 0, cuts: 0 }
    let last: Lived<M, R> | undefined
    const property = fc.property(
      fc.commands(drawn(fc, life, maxCut), { maxCommands, size: "max", replayPath: replay?.replayPath }),
      (steps) => {
        // Those that fast-check would try behind the one that a replay names were not asked for.
        if (replay !== undefined && tally.lives++ > 0) return true
        const lived = new Lived(life, order)
        const right = lived.live(steps)
        tally.commands += lived.names.length
        tally.cuts += lived.cuts
        // Shrinking goes on from a life that failed alone: the last of them is the one that is reported.
        if (!right) last = lived
        return right
      },
    )
    const given = { numRuns: runs, ...replay ?? (seed === undefined ? {} : { seed }) }
    const checked = Effect.runSyncExit(Effect.sync(() => fc.check(property, given)))
    if (replay !== undefined && isLost(checked)) return Effect.die(OptionRules.unfit(replay))
    if (Exit.isFailure(checked)) return Effect.failCause(checked.cause)
    const details = checked.value
    if (last !== undefined) return Effect.fail(failure(last, details))
    // No life went wrong, and it says that it failed: it gave up, and nothing is known of the pool.
    if (details.failed) return Effect.die(details.errorInstance ?? new Error("fast-check gave up"))
    const { commands, cuts } = tally
    return Effect.succeed({ seed: details.seed, runs: replay === undefined ? details.numRuns : 1, commands, cuts })
  })

/** Whether a replay came to no life: fast-check says so by what it throws, or by a run of none. */
const isLost = (checked: Exit.Exit<Details>): boolean => {
  if (Exit.isSuccess(checked)) return !checked.value.failed && checked.value.numRuns === 0
  const thrown = Cause.squash(checked.cause)
  return thrown instanceof Error && /\breplay/i.test(thrown.message)
}

/** The commands of a life as fast-check draws them, each with an interruption or without. */
const drawn = <M, R>(fc: Used, life: Life<M, R>, maxCut: number): ReadonlyArray<Arbitrary<Step<M, R>>> => {
  if (maxCut === 0) return life.commands.map((each) => each.map((command) => new Step(command, undefined)))
  const cut = fc.option(fc.nat({ max: maxCut }), { nil: undefined, freq: 2 })
  return life.commands.map((each) => fc.tuple(each, cut).map(([command, at]) => new Step(command, at)))
}

const failure = <M, R>(lived: Lived<M, R>, details: Details): ModelFailed =>
  new ModelFailed({
    why: lived.why,
    cause: lived.cause,
    life: lived.names,
    replay: {
      seed: details.seed,
      path: details.counterexamplePath ?? "",
      replayPath: /replayPath="([^"]*)"/.exec(String(details.counterexample?.[0]))?.[1] ?? "",
    },
    runs: details.numRuns,
    shrinks: details.numShrinks,
  })

/** What fast-check says of a property. */
interface Details {
  readonly failed: boolean
  readonly errorInstance?: unknown
  readonly numRuns: number
  readonly numShrinks: number
  readonly seed: number
  readonly counterexample: ReadonlyArray<unknown> | null
  readonly counterexamplePath: string | null
}

/** {@link FastCheck} as it is called here. */
interface Used {
  readonly commands: <T>(arbitraries: ReadonlyArray<Arbitrary<T>>, constraints: object) => Arbitrary<Iterable<T>>
  readonly property: <T>(arbitrary: Arbitrary<T>, predicate: (value: T) => boolean) => object
  readonly check: (property: object, parameters: object) => Details
  readonly tuple: <A, B>(first: Arbitrary<A>, second: Arbitrary<B>) => Arbitrary<readonly [A, B]>
  readonly option: <T>(arbitrary: Arbitrary<T>, constraints: object) => Arbitrary<T | undefined>
  readonly nat: (constraints: { readonly max: number }) => Arbitrary<number>
}

/** A command as it was drawn; a command of fast-check's. */
class Step<M, R> {
  readonly #command: Command<M, R>
  readonly #cut: number | undefined
  #asked: Exit.Exit<boolean> = Exit.succeed(true)

  constructor(command: Command<M, R>, cut: number | undefined) {
    this.#command = command
    this.#cut = cut
  }

  /** Where `when` throws the step is taken, since fast-check shrinks and replays what it saw run alone; and goes wrong. */
  check(model: M): boolean {
    this.#asked = Effect.runSyncExit(Effect.sync(() => this.#command.when?.(model) ?? true))
    return Exit.isFailure(this.#asked) || this.#asked.value
  }

  run(_: M, lived: Lived<M, R>): void {
    if (Exit.isFailure(this.#asked)) lived.refuse(this.#command, this.#asked)
    else lived.step(this.#command, this.#cut)
  }

  toString(): string {
    return this.#command.name
  }
}

/** One life, while it is lived and afterwards. */
class Lived<M, R> implements Stage {
  readonly names: Array<string> = []
  cuts = 0
  why = ""
  cause: Cause.Cause<unknown> | undefined = undefined
  readonly clock: HandClock
  readonly #world: World
  readonly #life: Life<M, R>
  #model!: M
  #real!: R
  #cut: number | undefined = undefined

  constructor(life: Life<M, R>, order: Order) {
    this.#life = life
    this.#world = new World(order)
    this.clock = this.#world.clock
  }

  /** Whether all of it went right. */
  live(steps: Iterable<Step<M, R>>): boolean {
    const scope = Scope.makeUnsafe()
    const prepared = this.#world.run(Scope.provide(this.#life.prepare, scope))
    if (Exit.isFailure(prepared)) return this.#wrong("it cannot be prepared", prepared)
    this.#real = prepared.value
    const model = Effect.runSyncExit(Effect.sync(() => this.#life.model()))
    if (Exit.isFailure(model)) return this.#wrong("the model cannot be made", model)
    this.#model = model.value
    for (const step of steps) {
      if (!step.check(this.#model)) continue
      step.run(this.#model, this)
      if (this.cause !== undefined || this.why !== "") return false
    }
    return this.#judge("the end is wrong", () => this.#life.finish?.(this.#model, this.#real, this)) &&
      this.#close(scope)
  }

  refuse(command: Command<M, R>, asked: Exit.Exit<boolean>): void {
    this.names.push(command.name)
    this.#wrong("the command's `when` went wrong", asked)
  }

  step(command: Command<M, R>, cut: number | undefined): void {
    const before = this.cuts
    this.#cut = cut
    this.names.push(command.name)
    const right = this.#judge("the command went wrong", () => command.run(this.#model, this.#real, this))
    this.#cut = undefined
    if (this.cuts > before) this.names.push(`${this.names.pop()} cut at ${cut}`)
    if (right) this.#judge("the invariant is broken", () => this.#life.invariant?.(this.#model, this.#real))
  }

  readonly start = <A, E>(effect: Effect.Effect<A, E>): Fiber.Fiber<A, E> => {
    const fiber = this.#world.fork(effect)
    const cut = this.#cut
    if (cut !== undefined) {
      while (fiber.pollUnsafe() === undefined && this.#world.stepsOf(fiber) < cut && this.#world.step());
      if (fiber.pollUnsafe() === undefined) {
        this.cuts++
        fiber.interruptUnsafe()
      }
    }
    this.settle()
    return fiber
  }

  readonly now = <A, E>(effect: Effect.Effect<A, E>): Exit.Exit<A, E> =>
    this.start(effect).pollUnsafe() ?? Exit.die(new Error(`it waits, which it may not; ${hangs}`))

  readonly undisturbed = <A, E>(effect: Effect.Effect<A, E>): Exit.Exit<A, E> => {
    const cut = this.#cut
    this.#cut = undefined
    const exit = this.now(effect)
    this.#cut = cut
    return exit
  }

  readonly settle = (): void => {
    if (!this.#world.settle()) this.#wrong("it never comes to rest", Exit.void)
  }

  #judge(what: string, does: () => void | Effect.Effect<unknown, unknown>): boolean {
    const done: Exit.Exit<unknown> = Effect.runSyncExit(Effect.sync(does))
    const answer = Exit.isSuccess(done) ? done.value : undefined
    if (Effect.isEffect(answer)) {
      const exit = this.#world.run(answer as Effect.Effect<unknown, unknown>)
      return Exit.isFailure(exit) ? this.#wrong(what, exit) : this.why === ""
    }
    // A promise would be judged by nobody, and a `false` was meant to say something.
    if (answer !== undefined) return this.#wrong(`${what}: it answered neither nothing nor an effect`, Exit.void)
    return Exit.isFailure(done) ? this.#wrong(what, done) : this.why === ""
  }

  #close(scope: Scope.Closeable): boolean {
    const closed = this.#world.run(Scope.close(scope, Exit.void))
    if (Exit.isFailure(closed)) return this.#wrong("closing the scope failed", closed)
    if (this.#world.outside !== undefined) return this.#wrong(escapes, Exit.void)
    const [fibers, sleepers] = [this.#world.fibers.size, this.clock.sleeping]
    if (fibers > 0) return this.#wrong(`fibers are left: ${fibers}`, Exit.void)
    return sleepers > 0 ? this.#wrong(`sleepers are left: ${sleepers}`, Exit.void) : true
  }

  #wrong(what: string, exit: Exit.Exit<unknown, unknown>): false {
    this.cause = Exit.isFailure(exit) ? exit.cause : undefined
    this.why = because(what, this.cause)
    return false
  }
}
