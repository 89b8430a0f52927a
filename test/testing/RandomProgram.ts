/** Small programs drawn by a seed, of what races are made of. Two of the same seed are the same. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Queue from "effect/Queue"
import * as Ref from "effect/Ref"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { draws } from "../../core/testing/Chance.ts"
import type { AnyProgram } from "../../core/testing/ExplorerRun.ts"
import { tell, type Told } from "./Worlds.ts"

interface Shared {
  readonly cells: Array<number>
  readonly gates: ReadonlyArray<Deferred.Deferred<number>>
  readonly semaphore: Semaphore.Semaphore
  readonly queue: Queue.Queue<number>
  readonly line: Queue.Queue<number>
  readonly ref: Ref.Ref<number>
  readonly latch: Latch.Latch
  readonly scope: Scope.Closeable
  /** Who waits in a line that the program keeps by itself. */
  readonly waiters: Array<() => void>
  /** Who has told the others of itself. */
  readonly fibers: Array<Fiber.Fiber<unknown, unknown>>
}

type Piece = (shared: Shared) => Effect.Effect<unknown>
type Draw = () => number

const change = (shared: Shared, at: number, f: (n: number) => number): Effect.Effect<void> =>
  Effect.sync(() => void (shared.cells[at] = f(shared.cells[at]!)))

const withSome = (
  { fibers }: Shared,
  at: number,
  use: (fiber: Fiber.Fiber<unknown, unknown>) => Effect.Effect<unknown>,
): Effect.Effect<unknown> =>
  Effect.suspend((): Effect.Effect<unknown> => fibers.length === 0 ? Effect.void : use(fibers[at % fibers.length]!))

/** What a fiber does in a step or a few. */
const simple = (draw: Draw): Piece => {
  const at = Math.floor(draw() * 2)
  const pieces: ReadonlyArray<Piece> = [
    // A lost update, where somebody else's comes between.
    (shared) =>
      Effect.flatMap(Effect.sync(() => shared.cells[at]!), (n) =>
        Effect.sync(() => {
          shared.cells[at] = n + 1
        })),
    (shared) => change(shared, at, (n) => 2 * n + 1),
    () => Effect.yieldNow,
    (shared) => Deferred.succeed(shared.gates[at]!, shared.cells[0]!),
    (shared) => Effect.flatMap(Deferred.await(shared.gates[at]!), (n) => change(shared, 1, (m) => m + n)),
    (shared) => Queue.offer(shared.queue, shared.cells[1]!),
    (shared) => Effect.flatMap(Queue.take(shared.queue), (n) => change(shared, 0, () => n + 3)),
    (shared) => Effect.flatMap(Ref.get(shared.ref), (n) => Ref.set(shared.ref, n + 1)),
    (shared) => Effect.andThen(Effect.sleep(1 + at), change(shared, 1, (n) => n + 1)),
    () => Effect.sleep(3 * at + 2),
    (shared) => Queue.offer(shared.line, shared.cells[0]!),
    (shared) => Effect.flatMap(Queue.take(shared.line), (n) => change(shared, at, (m) => m + n)),
    (shared) => at === 0 ? shared.latch.await : shared.latch.open,
    (shared) => Deferred.interrupt(shared.gates[at]!),
    (shared) => Effect.withFiber((fiber) => Effect.sync(() => void shared.fibers.push(fiber))),
    (shared) => withSome(shared, at, Fiber.interrupt),
    (shared) => withSome(shared, at, (fiber) => Effect.sync(() => fiber.interruptUnsafe())),
    (shared) =>
      Effect.flatMap(
        withSome(shared, at, Fiber.await),
        (exit) =>
          change(shared, 0, (n) => n + (exit === undefined || Exit.isSuccess(exit as Exit.Exit<unknown>) ? 1 : 2)),
      ),
    (shared) => Scope.close(shared.scope, Exit.void),
    (shared) =>
      Effect.callback<void>((resume) => {
        const wake = (): void => resume(Effect.void)
        shared.waiters.push(wake)
        return Effect.sync(() => {
          const at = shared.waiters.indexOf(wake)
          if (at >= 0) shared.waiters.splice(at, 1)
        })
      }),
    (shared) => Effect.sync(() => shared.waiters.shift()?.()),
    (shared) =>
      Effect.withFiber((fiber) =>
        Effect.callback<void>((resume) =>
          fiber.currentDispatcher.scheduleTask(() => {
            shared.cells[at]! += 7
            if (at === 0) resume(Effect.void)
          }, 0)
        )
      ),
    (shared) => Scope.addFinalizer(shared.scope, change(shared, at, (n) => 3 * n + 1)),
    (shared) =>
      Effect.flatMap(
        Effect.exit(Effect.interruptible(Effect.yieldNow)),
        (exit) => change(shared, at, (n) => n + (Exit.isSuccess(exit) ? 1 : 100)),
      ),
  ]
  return pieces[Math.floor(draw() * pieces.length)]!
}

/** One of those, or something with one or two of them inside. */
const piece = (draw: Draw): Piece => {
  if (draw() < 0.6) return simple(draw)
  const [one, two] = [simple(draw), simple(draw)]
  const pieces: ReadonlyArray<Piece> = [
    (shared) => shared.semaphore.withPermits(1)(Effect.andThen(one(shared), two(shared))),
    (shared) => Effect.forkChild(one(shared)),
    (shared) => Effect.all([one(shared), two(shared)], { concurrency: 2 }),
    (shared) => Effect.uninterruptible(one(shared)),
    (shared) => Effect.ensuring(one(shared), Effect.andThen(Effect.yieldNow, change(shared, 0, (n) => n + 10))),
    (shared) => Effect.timeoutOption(one(shared), 1),
    (shared) => Effect.forkChild(Effect.uninterruptible(Effect.andThen(one(shared), two(shared)))),
    (shared) => Effect.forkIn(Effect.andThen(one(shared), two(shared)), shared.scope),
    (shared) =>
      Effect.flatMap(Effect.forkDetach(one(shared)), (child) => Effect.andThen(two(shared), Fiber.await(child))),
    (shared) => Effect.race(one(shared), two(shared)),
    (shared) => Effect.raceFirst(one(shared), two(shared)),
    (shared) => Effect.flatMap(Effect.forkChild(one(shared)), Fiber.interrupt),
    (shared) => Effect.onInterrupt(one(shared), () => change(shared, 1, (n) => n + 50)),
  ]
  return pieces[Math.floor(draw() * pieces.length)]!
}

export interface RandomProgram {
  readonly program: AnyProgram
  readonly bounds: { readonly preemptions: number; readonly interruptions: number }
  /** What an end looks like, beside the exits. */
  readonly end: (state: unknown) => string
}

export const make = (seed: number): RandomProgram => {
  const draw = draws(seed)
  const fibers = Array.from(
    { length: draw() < 0.25 ? 3 : 2 },
    () => draw() < 0.5 ? [piece(draw)] : [piece(draw), piece(draw)],
  )
  const preemptions = [0, 1, 2, Infinity][Math.floor(draw() * 4)]!
  const interruptions = draw() < 0.5 ? 1 : 0
  const prepare = Effect.all({
    cells: Effect.sync(() => [0, 0]),
    gates: Effect.all([Deferred.make<number>(), Deferred.make<number>()]),
    semaphore: Semaphore.make(1),
    queue: Queue.unbounded<number>(),
    line: Queue.bounded<number>(1),
    ref: Ref.make(0),
    latch: Latch.make(),
    scope: Scope.make(),
    waiters: Effect.sync((): Array<() => void> => []),
    fibers: Effect.sync((): Array<Fiber.Fiber<unknown, unknown>> => []),
  })
  const whole = (pieces: ReadonlyArray<Piece>, shared: Shared): Effect.Effect<unknown> =>
    pieces.map((each) => each(shared)).reduce((all, each) => Effect.andThen(all, each))
  return {
    program: {
      prepare,
      fibers: (shared) =>
        Object.fromEntries(fibers.map((pieces, i) => [["a", "b", "c"][i]!, whole(pieces, shared as Shared)])),
      oracle: () => {},
      shared: (shared) => shared,
      allow: ["fibers", "timers", "defects"],
    },
    bounds: { preemptions, interruptions },
    end: (state) => {
      const { cells, gates, queue, ref } = state as Shared
      return JSON.stringify([cells, gates.map(Deferred.isDoneUnsafe), Queue.sizeUnsafe(queue), Ref.getUnsafe(ref)])
    },
  }
}

export interface Compared {
  /** Runs of every turn, of every step, and of those that lead to no known state; the first two where there are no more. */
  readonly plain: number
  readonly all: number
  readonly pruned: number
  /** All schedules were run, so that all ends are known. */
  readonly isWhole: boolean
  /** What pruning has doubted for nothing, or passed over. */
  readonly difference: string | undefined
}

/** Runs a program as it is and pruned, each at most so often, and says what is not the same. */
export const compared = (seed: number, maxRuns: number): Compared => {
  const { bounds, end, program } = make(seed)
  const [pruned, doubt] = told(() => tell(program, { ...bounds, how: "pruned", maxRuns }, end))
  if (pruned === undefined) return { plain: 0, all: 0, pruned: 0, isWhole: false, difference: doubt }
  const plain = tell(program, { ...bounds, how: "plain", maxRuns }, end)
  // Where there are too many of one kind, the others say nothing of what was missed.
  const all = plain.isThrough ? tell(program, { ...bounds, maxRuns }, end) : plain
  const isWhole = pruned.isThrough && plain.isThrough
  const difference = !isWhole ? undefined : unlike("known states", pruned, all) ?? unlike("steps", all, plain)
  return { plain: plain.runs, all: all.runs, pruned: pruned.runs, isWhole, difference }
}

const told = (run: () => Told): readonly [Told | undefined, string | undefined] => {
  try {
    return [run(), undefined]
  } catch (error) {
    return [undefined, String(error)]
  }
}

const unlike = (by: string, fewer: Told, more: Told): string | undefined => {
  const missed = [...more.ends].filter((end) => !fewer.ends.has(end))
  const added = [...fewer.ends].filter((end) => !more.ends.has(end))
  return missed.length + added.length === 0 ? undefined : `by ${by}: missed ${missed[0]}, added ${added[0]}`
}
