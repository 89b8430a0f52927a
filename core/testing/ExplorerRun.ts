/** One run of a program under one chooser, from `prepare` to the end of its scope, and what was wrong with it. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { type Chooser, Follower } from "./Chooser.ts"
import type { Actor } from "./ExplorerActors.ts"
import type { Limits } from "./ExplorerAgenda.ts"
import type { Reason } from "./ExplorerFailure.ts"
import type { Exits, Fibers, Program } from "./ExplorerProgram.ts"
import { World } from "./ExplorerWorld.ts"
import { Words } from "./Schedule.ts"
import { read, tagOf } from "./Wording.ts"

export interface Finding {
  readonly reason: Reason
  readonly fibers: ReadonlyArray<string>
  readonly cause: unknown
}

/** Whether two runs failed in the same way: for the same reason, and by the same tag or class of error where there is one. */
export const isSame = (one: Finding | undefined, other: Finding): boolean =>
  one?.reason === other.reason && kindOf(one.cause) === kindOf(other.cause)

const kindOf = (cause: unknown): string =>
  read(() => cause instanceof Error && !("_tag" in cause) ? cause.name : tagOf(cause))

/** The program with its types forgotten. */
export type AnyProgram = Program<unknown, Fibers>

/** Runs the program once. What is wrong with its end; undefined where nothing is, or where the chooser ended the run. */
export const play = (program: AnyProgram, world: World, chooser: Chooser, seed: number): Finding | undefined => {
  world.begin(chooser, seed)
  const scope = Scope.makeUnsafe()
  const finding = through(program, world, scope)
  world.end()
  // What came after somebody waited for the outside is no run of the program.
  return world.cut === "escaped" ? undefined : finding
}

interface Staged {
  readonly state: unknown
  readonly fibers: Fibers
}

/** What `fibers` returns, where `prepare` ends well. */
export const fibersOf = (program: AnyProgram): Pick<Staged, "fibers"> | undefined => {
  const limits: Limits = {
    preemptions: 0,
    interruptions: 0,
    maxSteps: 100_000,
    targets: "own",
    alike: new Set<string>(),
  }
  const world = new World(new Words(), limits)
  world.begin(new Follower([]), 0)
  const scope = Scope.makeUnsafe()
  const exit = world.aside("prepare", Scope.provide(staging(program), scope)).fiber.pollUnsafe()
  closed(world, scope)
  world.end()
  return exit !== undefined && Exit.isSuccess(exit) ? exit.value as Staged : undefined
}

const staging = ({ fibers, prepare }: AnyProgram): Effect.Effect<Staged, unknown, Scope.Scope> =>
  Effect.map(prepare, (state) => ({ state, fibers: fibers(state) }))

const through = (program: AnyProgram, world: World, scope: Scope.Closeable): Finding | undefined => {
  const ready = world.aside("prepare", Scope.provide(staging(program), scope)).fiber.pollUnsafe()
  if (ready === undefined || Exit.isFailure(ready)) return found("prepare", [], ready)
  const { fibers, state } = ready.value as Staged
  const own = Object.entries(fibers).map(([name, effect]) => world.launch(name, effect))
  world.explore(() => program.shared?.(state), () => own.some((actor) => !actor.isDone))
  if (world.cut === "lost" || world.cut === "escaped") return undefined
  if (world.cut === "endless") return found("endless", world.actors.alive)
  return ended(program, world, own) ?? judged(program, world, state, own) ?? closed(world, scope) ??
    left(program, world)
}

const found = (reason: Reason, fibers: ReadonlyArray<string>, exit?: Exit.Exit<unknown, unknown>): Finding => ({
  reason,
  fibers,
  cause: exit === undefined || Exit.isSuccess(exit) ? undefined : Cause.squash(exit.cause),
})

/** Whether the program's own fibers have ended, and as they may. */
const ended = (program: AnyProgram, world: World, own: ReadonlyArray<Actor>): Finding | undefined => {
  const waiting = own.filter((actor) => !actor.isDone)
  if (waiting.length > 0) return found("stuck", waiting.map((actor) => world.words.word(actor.word)))
  const mayDie = program.allow?.includes("defects") === true
  for (const actor of own) {
    const exit = actor.fiber.pollUnsafe()!
    if (Exit.isSuccess(exit)) continue
    const name = world.words.word(actor.word)
    if (Cause.hasDies(exit.cause) && !mayDie) return found("defect", [name], exit)
    if (Cause.hasFails(exit.cause) && program.oracle === undefined) return found("failure", [name], exit)
  }
  return undefined
}

const judged = (
  { oracle }: AnyProgram,
  world: World,
  state: unknown,
  own: ReadonlyArray<Actor>,
): Finding | undefined => {
  if (oracle === undefined) return undefined
  const exits = Object.fromEntries(own.map(({ fiber, word }) => [world.words.word(word), fiber.pollUnsafe()!]))
  const interrupted = Object.fromEntries(
    own.flatMap(({ interruptedAt, steps, word }) =>
      interruptedAt === undefined ? [] : [[world.words.word(word), steps - interruptedAt]]
    ),
  )
  const judge = Effect.suspend(() => oracle(state, exits as Exits<Fibers>, interrupted) ?? Effect.void)
  const { fiber } = world.aside("oracle", judge)
  const exit = fiber.pollUnsafe()
  return exit !== undefined && Exit.isSuccess(exit) ? undefined : found("oracle", [], exit)
}

const closed = (world: World, scope: Scope.Closeable): Finding | undefined => {
  if (scope.state._tag === "Empty") return undefined
  const exit = world.aside("cleanup", Scope.close(scope, Exit.void)).fiber.pollUnsafe()
  return exit !== undefined && Exit.isSuccess(exit) ? undefined : found("cleanup", [], exit)
}

const left = ({ allow }: AnyProgram, world: World): Finding | undefined => {
  world.drain()
  if (world.cut === "endless") return found("endless", world.actors.alive)
  const fibers = allow?.includes("fibers") === true ? [] : world.actors.alive
  if (fibers.length > 0) return found("fibers", fibers)
  const timers = allow?.includes("timers") === true ? [] : sleepers(world)
  return timers.length > 0 ? found("timers", timers) : undefined
}

/** Who sleeps, by name. */
const sleepers = ({ actors, clock, words }: World): ReadonlyArray<string> => {
  const main = words.id("main")
  return clock.sleepers.map((fiber) => words.word(actors.of(fiber)?.word ?? main))
}

/** How a run ended, for comparing it with another. */
export const outcome = (world: World, finding: Finding | undefined): string => {
  const exits = [...world.actors.all].map(({ fiber, word }) => `${world.words.word(word)}=${brief(fiber.pollUnsafe())}`)
  return `${finding?.reason} ${exits.sort().join()}`
}

const brief = (exit: Exit.Exit<unknown, unknown> | undefined): string => {
  if (exit === undefined) return "-"
  if (Exit.isSuccess(exit)) return typeof exit.value === "object" ? "ok" : read(() => `ok ${String(exit.value)}`)
  return exit.cause.reasons.map((reason) => reason._tag === "Fail" ? `Fail ${tagOf(reason.error)}` : reason._tag).join()
}
