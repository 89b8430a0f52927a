/** Runs a program by given schedules: to simplify one that fails, and to show it. Owns a world without bounds. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { Follower } from "./Chooser.ts"
import { DepthFirst } from "./DepthFirst.ts"
import type { Limits } from "./ExplorerAgenda.ts"
import { ScheduleFailed, Uncontrolled } from "./ExplorerFailure.ts"
import { type AnyProgram, type Finding, isSame, play } from "./ExplorerRun.ts"
import { type Failing, shrink } from "./ExplorerShrink.ts"
import { Story } from "./ExplorerStory.ts"
import { World } from "./ExplorerWorld.ts"
import type { Words } from "./Schedule.ts"

/** A run, or what threw in it: an observer of a fiber may, which ends the run. */
export const guarded = <A>(run: () => A, world: World): Effect.Effect<A | Finding> =>
  Effect.map(Effect.exit(Effect.sync(run)), (exit) => {
    if (Exit.isSuccess(exit)) return exit.value
    world.end()
    return { reason: "defect", fibers: [], cause: Cause.squash(exit.cause) }
  })

/** How far a search for something simpler goes: forced switches, and runs within each bound. */
const mostForced = 2
const mostRuns = 1_000

/** What came of a schedule. */
export interface Replayed {
  readonly finding: Finding | undefined
  /** Where it could not be followed: the index of the word, and what was possible there. */
  readonly lost: Follower["unused"]
  readonly run: Failing
  readonly story: ReadonlyArray<string>
  /** Who waited for the outside, which ended the run. */
  readonly escaped: string | undefined
}

export class Replay {
  readonly #program: AnyProgram
  readonly #words: Words
  readonly #limits: Limits
  readonly #world: World

  constructor(program: AnyProgram, words: Words, limits: Limits) {
    this.#program = program
    this.#words = words
    this.#limits = limits
    const alike: ReadonlySet<string> = new Set()
    this.#world = new World(words, { ...limits, preemptions: Infinity, interruptions: Infinity, targets: "any", alike })
  }

  /** Follows `steps` to their end and takes the defaults from there. */
  run(steps: ReadonlyArray<number>): Effect.Effect<Replayed> {
    const follower = new Follower(steps)
    const story = this.#world.story = new Story(this.#words)
    return Effect.map(this.#play(follower), (finding) => {
      const { log, turns } = this.#world.agenda
      return {
        finding,
        lost: follower.unused,
        run: { log, turns },
        story: story.lines(log),
        escaped: this.#world.escaped,
      }
    })
  }

  #play(follower: Follower): Effect.Effect<Finding | undefined> {
    return guarded(() => play(this.#program, this.#world, follower, 0), this.#world)
  }

  /** The simplest schedule that can be made of one that failed, and what happens in it. */
  explain(failing: Failing, finding: Finding, schedules: number): Effect.Effect<never, ScheduleFailed | Uncontrolled> {
    return Effect.gen({ self: this }, function* () {
      const fewer = yield* this.#withFewer(failing, finding)
      const simple = yield* shrink(fewer ?? failing, (steps) => this.#attempt(steps, finding))
      const last = simple.turns.at(-1) ?? -1
      // Who is next where one was forced off is a default too, and is told for its reader.
      const steps = simple.log.slice(0, simple.log[last] === this.#words.id("-") ? last + 2 : last + 1)
      const schedule = this.#words.print(steps)
      const { finding: again, story } = yield* this.run(steps)
      if (again === undefined || !isSame(again, finding)) {
        return yield* Effect.fail(new Uncontrolled({ reason: "diverged", schedule }))
      }
      return yield* Effect.fail(new ScheduleFailed({ ...again, schedule, story, schedules }))
    })
  }

  /** The first that fails in the same way with fewer interruptions or forced switches, where a short search finds one. */
  #withFewer({ log }: Failing, finding: Finding): Effect.Effect<Failing | undefined> {
    const words = log.map((id) => this.#words.word(id))
    const used = words.filter((word) => word.startsWith("!")).length
    const forced = words.filter((word) => word === "-" || word === "~").length
    return Effect.gen({ self: this }, function* () {
      for (let interruptions = 0; interruptions <= used; interruptions++) {
        for (let preemptions = 0; preemptions <= Math.min(forced, mostForced); preemptions++) {
          if (interruptions === used && preemptions === forced) return undefined
          const found = yield* this.#within({ preemptions, interruptions }, finding)
          if (found !== undefined) return found
        }
      }
      return undefined
    })
  }

  #within(
    bounds: Pick<Limits, "preemptions" | "interruptions">,
    finding: Finding,
  ): Effect.Effect<Failing | undefined> {
    const world = new World(this.#words, { ...this.#limits, ...bounds })
    const search = new DepthFirst(this.#words, { prune: false })
    const first = (): Failing | undefined => {
      for (let run = 0; run < mostRuns; run++) {
        if (isSame(play(this.#program, world, search, 0), finding)) return world.agenda
        if (search.isDiverged || !search.next()) return undefined
      }
      return undefined
    }
    return Effect.map(guarded(first, world), (found) => found !== undefined && "log" in found ? found : undefined)
  }

  #attempt(steps: ReadonlyArray<number>, finding: Finding): Effect.Effect<Failing | undefined> {
    return Effect.map(this.#play(new Follower(steps, { lenient: true })), (found) => {
      if (!isSame(found, finding)) return undefined
      const { log, turns } = this.#world.agenda
      return { log, turns }
    })
  }
}
