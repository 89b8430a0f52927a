/** Small programs drawn by a seed, of what races are made of. Two of the same seed are the same. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Ref from "effect/Ref"
import * as Semaphore from "effect/Semaphore"
import { draws } from "../../core/testing/Chance.ts"
import type { AnyProgram } from "../../core/testing/ExplorerRun.ts"

interface Shared {
  readonly cells: Array<number>
  readonly gates: ReadonlyArray<Deferred.Deferred<number>>
  readonly semaphore: Semaphore.Semaphore
  readonly queue: Queue.Queue<number>
  readonly ref: Ref.Ref<number>
}

type Piece = (shared: Shared) => Effect.Effect<unknown>
type Draw = () => number

const change = (shared: Shared, at: number, f: (n: number) => number): Effect.Effect<void> =>
  Effect.sync(() => void (shared.cells[at] = f(shared.cells[at]!)))

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
    ref: Ref.make(0),
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
      allow: ["fibers", "timers"],
    },
    bounds: { preemptions, interruptions },
    end: (state) => {
      const { cells, gates, queue, ref } = state as Shared
      return JSON.stringify([cells, gates.map(Deferred.isDoneUnsafe), Queue.sizeUnsafe(queue), Ref.getUnsafe(ref)])
    },
  }
}
