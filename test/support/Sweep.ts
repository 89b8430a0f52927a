/**
 * The interruption sweep: a program is run again and again under a scheduler that yields between every two of its
 * steps, and at each step in turn something is done to it. Whatever the step, the end has to be right.
 *
 * It owns the schedule, the clock and the fibers of each run; a run is over when nothing is left to do.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import type * as Scheduler from "effect/Scheduler"
import * as Scope from "effect/Scope"
import { HandClock } from "./HandClock.ts"

/** A world of its own, where a task runs only when the sweep says so. */
export class World {
  readonly clock: HandClock = new HandClock()
  readonly #tasks: Array<() => void> = []
  readonly #newestFirst: boolean
  readonly scheduler: Scheduler.Scheduler = {
    executionMode: "sync",
    // The yield is an operation itself: at 3 there is a yield between all steps, at less no step would ever be reached.
    shouldYield: (fiber) => fiber.currentOpCount >= 3,
    makeDispatcher: () => ({ scheduleTask: (task) => void this.#tasks.push(task), flush: () => {} }),
  }

  constructor(newestFirst: boolean) {
    this.#newestFirst = newestFirst
  }

  fork<A, E>(effect: Effect.Effect<A, E>): Fiber.Fiber<A, E> {
    return Effect.runFork(Effect.provideService(effect, Clock.Clock, this.clock), { scheduler: this.scheduler })
  }

  /** Runs one task; false where none is ready. */
  step(): boolean {
    const task = this.#newestFirst ? this.#tasks.pop() : this.#tasks.shift()
    task?.()
    return task !== undefined
  }

  /** Runs `effect` to its end, and everything that is ready besides. */
  run<A, E>(effect: Effect.Effect<A, E>): Exit.Exit<A, E> {
    const fiber = this.fork(effect)
    this.settle(() => fiber.pollUnsafe() !== undefined)
    return fiber.pollUnsafe() ?? Exit.die(new Error("it hangs"))
  }

  /** Runs all that is ready; while `done` says no, time passes too. */
  settle(done: () => boolean): void {
    do while (this.step());
    while (!done() && this.clock.advanceToNext())
  }
}

type Fibers = Readonly<Record<string, Fiber.Fiber<unknown, unknown>>>
export type Exits = Readonly<Record<string, Exit.Exit<unknown, unknown>>>

export interface Scene<S> {
  /** What each run starts from; the scope is closed at the end of the run. */
  readonly prepare: Effect.Effect<S, unknown, Scope.Scope>
  /** The program: these are started in order, and run side by side. */
  readonly fibers: (state: S) => Readonly<Record<string, Effect.Effect<unknown, unknown>>>
  /** What is done at the step that the run is for. An effect is started, not waited for. */
  readonly disturb: (fibers: Fibers, state: S) => void | Effect.Effect<unknown, unknown>
  /** A second disturbance, tried at the step of the first one and at each of the next six. */
  readonly again?: Scene<S>["disturb"]
  /** Judges each end: no fiber is left and, once the scope is closed as well, no sleeper. */
  readonly oracle: (state: S, exits: Exits) => Effect.Effect<unknown>
}

/** How many steps the undisturbed program has, and how many runs were judged. */
export interface Swept {
  readonly steps: number
  readonly runs: number
}

/** Sweeps with the oldest ready task first and with the newest first; throws at the first run that ends wrong. */
export const sweep = <S>(scene: Scene<S>): Swept => {
  let [steps, runs] = [0, 0]
  for (const newestFirst of [false, true]) {
    const undisturbed = play(scene, newestFirst, Infinity, Infinity)
    steps += undisturbed
    for (let first = 0; first <= undisturbed; first++) {
      const last = scene.again === undefined ? first : Math.min(undisturbed, first + 6)
      for (let second = first; second <= last; second++, runs++) play(scene, newestFirst, first, second)
    }
  }
  return { steps, runs }
}

/** Plays the scene once and returns the number of its steps. */
const play = <S>(scene: Scene<S>, newestFirst: boolean, first: number, second: number): number => {
  const world = new World(newestFirst)
  const scope = Scope.makeUnsafe()
  const where = `${newestFirst ? "newest" : "oldest"} first, steps ${first} and ${second}`
  const must = <A, E>(exit: Exit.Exit<A, E>): A => {
    if (Exit.isSuccess(exit)) return exit.value
    throw new Error(`${where}: ${String(exit.cause)}`, { cause: exit.cause })
  }
  const state = must(world.run(Scope.provide(scene.prepare, scope)))
  const fibers: Record<string, Fiber.Fiber<unknown, unknown>> = {}
  for (const [name, effect] of Object.entries(scene.fibers(state))) fibers[name] = world.fork(effect)
  const disturb = (how: Scene<S>["disturb"] | undefined): void => {
    const effect = how?.(fibers, state)
    if (effect !== undefined) world.fork(effect)
  }
  let steps = 0
  for (;;) {
    if (steps === first) disturb(scene.disturb)
    if (steps === second) disturb(scene.again)
    if (!world.step()) break
    steps++
  }
  const all = Object.entries(fibers)
  world.settle(() => all.every(([, fiber]) => fiber.pollUnsafe() !== undefined))
  const exits: Record<string, Exit.Exit<unknown, unknown>> = {}
  for (const [name, fiber] of all) {
    const exit = fiber.pollUnsafe()
    if (exit === undefined) throw new Error(`${where}: ${name} hangs`)
    exits[name] = exit
  }
  must(world.run(scene.oracle(state, exits)))
  must(world.run(Scope.close(scope, Exit.void)))
  if (world.clock.sleeping > 0) throw new Error(`${where}: ${world.clock.sleeping} sleepers are left`)
  return steps
}
