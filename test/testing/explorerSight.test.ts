/**
 * What pruning sees: a change of anything that is shared, and of any end, is a difference; what cannot be read is refused,
 * or makes the search go on as if it knew no states.
 */
import { describe, expect } from "vitest"
import { it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as PartitionedSemaphore from "effect/PartitionedSemaphore"
import * as Redacted from "effect/Redacted"
import * as Explorer from "../../core/testing/Explorer.ts"
import { ScheduleFailed, Uncontrolled } from "../../core/testing/ExplorerFailure.ts"
import type { Fibers, Program } from "../../core/testing/ExplorerProgram.ts"
import { Drawing, type Known, type Thing } from "../../core/testing/SharedState.ts"
import { hostile } from "../support/Hostile.ts"

class Private {
  #word: string
  constructor(word: string) {
    this.#word = word
  }
  get word(): string {
    return this.#word
  }
  say(word: string): void {
    this.#word = word
  }
}

/** Draws a thing before and after a change, as one that stays the same between two steps. */
const drawn = <A>(thing: A, change: (thing: A) => void) => {
  const known = new Map<Thing, Known>()
  const draw = () => {
    const drawing = new Drawing(known, () => ({ name: known.size, since: 0, holders: undefined }))
    const text = drawing.tell({ thing })
    for (const [each, is] of drawing.things) known.set(each, is)
    return { text, unread: drawing.unread }
  }
  draw()
  const before = draw()
  change(thing)
  return { before, after: draw() }
}

const of = <A>(thing: A, change: (thing: A) => void) => () => drawn(thing, change)

describe("what is shared is another", () => {
  it.each(Object.entries({
    "by a key that is a symbol": of({} as Record<symbol, number>, (thing) => thing[Symbol.for("taken")] = 1),
    "by a name of an array": of(Object.assign([1], { taken: 0 }), (thing) => thing.taken = 1),
    "by a hole": of([undefined], (thing) => delete thing[0]),
    "by a property that is not listed": of(
      Object.defineProperty({}, "taken", { value: 0, writable: true }) as { taken: number },
      (thing) => thing.taken = 1,
    ),
    "by a property of a function": of(Object.assign(() => {}, { calls: 0 }), (thing) => thing.calls = 1),
    "by the bytes of a buffer": of(new ArrayBuffer(8), (thing) => new Uint8Array(thing)[0] = 1),
    "by what a view shows": of(new DataView(new ArrayBuffer(8)), (thing) => thing.setInt8(0, 1)),
    "by an element of typed ones": of(new Uint8Array(2), (thing) => thing[0] = 1),
    "by the message of an error": of(new Error("a"), (thing) => thing.message = "b"),
    "by whether it can still be changed": of({ n: 0 }, (thing) => Object.freeze(thing)),
    "by where an expression goes on": of(/a/g, (thing) => thing.lastIndex = 3),
    "by what a prototype leads to": of(
      Object.create({ inner: { n: 0 } }) as { inner: { n: number } },
      (thing) => thing.inner.n = 1,
    ),
    "by a property of an instance": of(
      new (class {
        n = 0
      })(),
      (thing) => thing.n = 1,
    ),
  }))("%s", (_, draw) => {
    const { after, before } = draw()
    expect(after.text).not.toBe(before.text)
    expect(after.unread).toBe(undefined)
  })
})

it.effect("what a service of a context holds is seen: a fault that it keeps is found", () =>
  Effect.gen(function* () {
    interface Line {
      first: string
      readonly served: Array<string>
    }
    const Line = Context.Service<Line>("Line")
    const use = (name: string) =>
      Effect.flatMap(Line, (line) =>
        Effect.andThen(
          Effect.sync(() => void (line.first ||= name)),
          Effect.sync(() => void line.served.push(name)),
        ))
    const program = {
      prepare: Layer.build(Layer.sync(Line, () => ({ first: "", served: [] }))),
      fibers: (context: Context.Context<Line>) => ({
        a: Effect.provide(use("a"), context),
        b: Effect.provide(use("b"), context),
      }),
      oracle: (context: Context.Context<Line>) => {
        const { first, served } = Context.get(context, Line)
        return first === "b" && served[0] === "a" ? Effect.fail("not in order") : undefined
      },
    }
    const shares = [(context: Context.Context<Line>) => context, (context: Context.Context<Line>) => ({ context })]
    for (const shared of shares) {
      const failed = yield* Effect.flip(Explorer.explore({ ...program, shared }, { preemptions: Infinity }))
      expect(failed).toMatchObject({ _tag: "ScheduleFailed", cause: "not in order" })
    }
  }))

describe("what cannot be read is not passed over", () => {
  const hidden: Readonly<Record<string, () => object>> = {
    Private: () => new Private("a"),
    URL: () => new URL("http://a"),
    WeakMap: () => new WeakMap(),
    Promise: () => Promise.resolve(),
    generator: () => (function* () {})(),
    iterator: () => [1][Symbol.iterator](),
    "subclass of one that hides": () => new (class extends Private {})("a"),
    Redacted: () => Redacted.make("a"),
    PartitionedSemaphore: () => PartitionedSemaphore.makeUnsafe<string>({ permits: 2 }),
  }

  it.effect.each(Object.entries(hidden))("%s", ([, make]) =>
    Effect.gen(function* () {
      const program = {
        prepare: Effect.sync(() => ({ deep: [make()] })),
        fibers: () => ({ a: Effect.yieldNow, b: Effect.yieldNow }),
      }
      const failed = yield* Effect.flip(Explorer.explore({ ...program, shared: (state: object) => state }))
      expect(failed).toMatchObject({ _tag: "Uncontrolled", reason: "unreadable" })
      expect((yield* Explorer.explore({ ...program, shared: () => ({ n: 1 }) })).exhaustive).toBe(true)
    }))

  it.effect("nor is what throws taken for something else", () =>
    Effect.gen(function* () {
      const shared = () => {
        throw new Error("no state")
      }
      const program = { prepare: Effect.void, fibers: () => ({ a: Effect.yieldNow, b: Effect.yieldNow }), shared }
      const failed = yield* Effect.flip(Explorer.explore(program))
      if (!(failed instanceof Uncontrolled)) throw failed
      expect([failed.reason, String(failed.cause)]).toEqual(["unreadable", "Error: no state"])
      expect(failed.message).toContain("`shared` shows cannot be read (Error: no state)")
    }))
})

describe("ends are told apart", () => {
  /**
   * The fault needs another end of `a` than the first that the search comes to, in a state that is the same but for it,
   * and an update that is lost between two that sleep.
   */
  const program = <A, E>(
    end: (word: "first" | "second") => Effect.Effect<A, E>,
    read: (exit: Exit.Exit<A, E>) => string,
  ) => ({
    prepare: Effect.gen(function* () {
      const state = { x: 0, y: 0, k: 0 }
      const add = Effect.suspend(() => {
        if (state.x !== 0) return Effect.void
        return Effect.flatMap(Effect.sync(() => state.y), (y) =>
          Effect.sync(() => {
            state.y = y + 1
            state.k++
          }))
      })
      for (let i = 0; i < 2; i++) {
        yield* Effect.forkDetach(Effect.andThen(Effect.sleep(1), add), { startImmediately: true })
      }
      return state
    }),
    fibers: (state: { x: number; y: number; k: number }) => ({
      a: Effect.suspend(() => end(state.x === 0 ? "first" : "second")),
      b: Effect.andThen(
        Effect.andThen(Effect.sync(() => void (state.x = 1)), Effect.sync(() => void (state.x = 0))),
        Effect.sleep(5),
      ),
    }),
    oracle: (state: { y: number; k: number }, exits: { readonly a: Exit.Exit<A, E> }) =>
      read(exits.a) === "second" && state.y === 1 && state.k === 2 ? Effect.fail("planted") : undefined,
    shared: (state: object) => state,
  })
  const failure = (exit: Exit.Exit<unknown, Error>): Error =>
    Exit.isFailure(exit) && exit.cause.reasons[0]?._tag === "Fail" ? exit.cause.reasons[0].error : new Error("none")
  const value = <A>(exit: Exit.Exit<A, unknown>, read: (value: A) => string): string =>
    Exit.isSuccess(exit) ? read(exit.value) : "none"
  const found = <S, F extends Fibers>(program: Program<S, F>) =>
    Effect.map(Effect.flip(Explorer.explore(program)), (failed) => {
      if (!(failed instanceof ScheduleFailed)) throw failed
      return failed.schedules
    })
  /** How many runs it takes without pruning. */
  const unpruned = 2_514

  it.effect("by the words of an error", () =>
    Effect.gen(function* () {
      const runs = yield* found(program((word) => Effect.fail(new Error(word)), (exit) => failure(exit).message))
      expect(runs).toBeLessThan(unpruned)
    }))

  it.effect("by its class", () =>
    Effect.gen(function* () {
      const runs = yield* found(program(
        (word) => Effect.fail(word === "first" ? new TypeError("") : new RangeError("")),
        (exit) => failure(exit) instanceof TypeError ? "first" : "second",
      ))
      expect(runs).toBeLessThan(unpruned)
    }))

  it.effect.each(Object.entries({
    "by a symbol": program(
      (word) => Effect.succeed(Symbol.for(word)),
      (exit) => value(exit, ({ description = "" }) => description),
    ),
    "by a key that is one": program(
      (word) => Effect.sync(() => ({ [Symbol.for(word)]: 1 })),
      (exit) => value(exit, (end) => Symbol.for("second") in end ? "second" : "first"),
    ),
    "by what a class is marked with alone": program(
      (word) => Effect.sync((): object => word === "first" ? {} : Option.none()),
      (exit) => value(exit, (end) => Option.isOption(end) ? "second" : "first"),
    ),
    "by the kind of its elements": program(
      (word) => Effect.sync(() => word === "first" ? Uint8Array.of(1) : Int8Array.of(1)),
      (exit) => value(exit, (end) => end instanceof Int8Array ? "second" : "first"),
    ),
    "by whether it can still be changed": program(
      (word) => Effect.sync(() => word === "first" ? { n: 1 } : Object.freeze({ n: 1 })),
      (exit) => value(exit, (end) => Object.isFrozen(end) ? "second" : "first"),
    ),
  }))("%s", ([, each]) => Effect.map(found(each as never), (runs) => expect(runs).toBeLessThan(unpruned)))

  it.effect("and of those that cannot be read, each is another", () =>
    Effect.gen(function* () {
      const words = new WeakMap<object, string>()
      const ends = [
        program((word) => Effect.sync(() => new Private(word)), (exit) => value(exit, ({ word }) => word)),
        program((word) => Effect.sync(() => new URL(`http://${word}`)), (exit) => value(exit, (url) => url.hostname)),
        program((word) => Effect.sync(() => () => word), (exit) => value(exit, (read) => read())),
        program(
          (word) =>
            Effect.sync(() => {
              const [, odd] = hostile()
              words.set(odd!, word)
              return odd!
            }),
          (exit) => value(exit, (odd) => words.get(odd)!),
        ),
      ]
      for (const each of ends) expect(yield* found(each as never)).toBeLessThanOrEqual(unpruned)
    }))
})
