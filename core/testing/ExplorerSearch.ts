/** Runs schedules of a program until one fails or there are no more. Owns the world that they are run in. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { draws } from "./Chance.ts"
import { type Chooser, Sampler } from "./Chooser.ts"
import { DepthFirst } from "./DepthFirst.ts"
import type { Complete } from "./ExplorerBounds.ts"
import { type ScheduleFailed, Uncontrolled } from "./ExplorerFailure.ts"
import { guarded, Replay } from "./ExplorerReplay.ts"
import { type AnyProgram, type Finding, outcome, play } from "./ExplorerRun.ts"
import { World } from "./ExplorerWorld.ts"
import { Words } from "./Schedule.ts"

/** How a search stands after a run: it goes on, is through, was cut by its bound, or has come upon something. */
type Standing = "on" | "through" | "cut" | "diverged" | "escaped" | "unreadable" | "unshared" | Finding

/** Runs between two looks at the outside, so that nobody else waits for a search to end. */
const batch = 64
/** What a fiber that waits for ever is given to show that it waits for the host: a timer, or a promise, that is near. */
const grace = Duration.millis(20)

export class Search {
  readonly world: World
  readonly #program: AnyProgram
  readonly #limits: Complete
  readonly #words = new Words()
  /** Schedules that were run, and those of them that repeated an earlier one from some state on. */
  runs = 0
  repeats = 0
  readonly #steps: Array<number> = []
  #unreadable: unknown = undefined

  constructor(program: AnyProgram, limits: Complete) {
    this.#program = program
    this.#limits = limits
    this.world = new World(this.#words, limits)
  }

  /** All schedules within the bounds, depth first. True where none is left. */
  get all(): Effect.Effect<boolean, ScheduleFailed | Uncontrolled> {
    const prune = this.#program.shared !== undefined
    const search = new DepthFirst(this.#words, { prune })
    return this.#until(() => {
      const finding = this.#play(search)
      if (this.world.escaped !== undefined) return "escaped"
      if (search.unreadable !== undefined) {
        this.#unreadable = search.unreadable.cause
        return "unreadable"
      }
      if (search.isDiverged) return "diverged"
      const fits = search.ended(this.world.agenda.log, prune ? outcome(this.world, finding) : "")
      if (search.isRepeat) this.repeats++
      if (finding !== undefined) return finding
      if (!fits) return "unshared"
      if (!search.next()) return "through"
      return this.runs === this.#limits.schedules ? "cut" : "on"
    })
  }

  /** As many schedules as were asked for, drawn by the seed. False, since there may always be others. */
  get some(): Effect.Effect<boolean, ScheduleFailed | Uncontrolled> {
    const draw = draws(this.#limits.seed)
    return this.#until(() => {
      const finding = this.#play(new Sampler(draw() * 2 ** 32))
      if (this.world.escaped !== undefined) return "escaped"
      return finding ?? (this.runs === this.#limits.schedules ? "cut" : "on")
    })
  }

  #play(chooser: Chooser): Finding | undefined {
    this.runs++
    const finding = play(this.#program, this.world, chooser, 0)
    for (const { isOwn, steps, word } of this.world.actors.all) {
      if (isOwn && !(this.#steps[word]! >= steps)) this.#steps[word] = steps
    }
    return finding
  }

  /** The most steps that each of the program's own fibers made in a run. */
  get steps(): Readonly<Record<string, number>> {
    return Object.fromEntries(Object.entries(this.#steps).map(([word, steps]) => [this.#words.word(+word), steps]))
  }

  #until(step: () => Standing): Effect.Effect<boolean, ScheduleFailed | Uncontrolled> {
    const steps = (): Standing => {
      for (let i = 0; i < batch; i++) {
        const standing = step()
        if (standing !== "on") return standing
      }
      return "on"
    }
    return Effect.gen({ self: this }, function* () {
      for (;;) {
        const standing = yield* guarded(steps, this.world)
        // What it waits for must not come before it is told of.
        if (standing === "escaped") return yield* this.#uncontrolled(standing)
        yield* this.#watched(Effect.yieldNow)
        if (typeof standing !== "string") {
          if (standing.reason === "stuck") yield* this.#watched(Clock.Clock.defaultValue().sleep(grace))
          const { log, turns } = this.world.agenda
          const replay = new Replay(this.#program, this.#words, this.#limits)
          return yield* replay.explain({ log, turns }, standing, this.runs)
        }
        if (standing === "through" || standing === "cut") return standing === "through"
        if (standing !== "on") return yield* this.#uncontrolled(standing)
      }
    })
  }

  /** Lets the host run meanwhile, and fails if that wakes a fiber of the program. */
  #watched(pause: Effect.Effect<void>): Effect.Effect<void, Uncontrolled> {
    return Effect.flatMap(
      pause,
      () => this.world.intruder === undefined ? Effect.void : this.#uncontrolled("woken"),
    )
  }

  #uncontrolled(reason: Uncontrolled["reason"]): Effect.Effect<never, Uncontrolled> {
    const schedule = this.#words.print(this.world.agenda.log)
    const fiber = this.world.escaped ?? this.world.intruder
    return Effect.fail(new Uncontrolled({ reason, schedule, fiber, cause: this.#unreadable }))
  }
}
