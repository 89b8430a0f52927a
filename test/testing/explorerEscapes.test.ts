/** What waits for the outside is told of, also where it would be interrupted; what waits for the program is not blamed. */
import { describe, expect } from "vitest"
import { it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Pool from "effect/Pool"
import * as PubSub from "effect/PubSub"
import * as Queue from "effect/Queue"
import * as Result from "effect/Result"
import * as Scheduler from "effect/Scheduler"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Tracer from "effect/Tracer"
import * as Explorer from "../../core/testing/Explorer.ts"
import type { Bounds } from "../../core/testing/ExplorerBounds.ts"
import type { Allowed } from "../../core/testing/ExplorerProgram.ts"
import * as Answerer from "../../core/testing/Answerer.ts"
import { Uncontrolled } from "../../core/testing/ExplorerFailure.ts"
import { HandClock } from "../../core/testing/HandClock.ts"
import * as Script from "../../core/testing/Script.ts"

type Wait = Effect.Effect<unknown, unknown, Scope.Scope>

/** Waits that are never answered, cut off in three ways. */
const cuts: ReadonlyArray<(wait: Wait) => Effect.Effect<unknown, unknown>> = [
  (wait) => Effect.timeoutOption(Effect.scoped(wait), 1),
  (wait) => Effect.race(Effect.scoped(wait), Effect.yieldNow),
  (wait) =>
    Effect.flatMap(
      Effect.forkChild(Effect.scoped(wait)),
      (fiber) => Effect.andThen(Effect.sleep(2), Fiber.interrupt(fiber)),
    ),
]
const explored = (
  a: Effect.Effect<unknown, unknown>,
  allow: ReadonlyArray<Allowed> = [],
  bounds: Bounds = { preemptions: 0 },
) =>
  Explorer.explore({ prepare: Effect.void, fibers: () => ({ a, b: Effect.yieldNow }), allow, oracle: () => {} }, bounds)

/** Waits that only the outside ends. */
const unmade = new Promise<void>(() => {})
const tracer = Tracer.make({ span: (options) => Tracer.nativeTracer.span(options) })
const outside: Readonly<Record<string, Wait>> = {
  "a promise": Effect.promise(() => unmade),
  "a promise that hears of an interruption": Effect.promise((signal) => Promise.race([unmade, signal.aborted])),
  "a promise that is there": Effect.promise(() => Promise.resolve(1)),
  "a promise that may fail": Effect.tryPromise({ try: () => unmade, catch: String }),
  "the clock of the host": Clock.Clock.defaultValue().sleep(Duration.hours(1)),
  "more than its longest timer": Clock.Clock.defaultValue().sleep(Duration.days(100)),
  "a promise, under a tracer of its own": Effect.provideService(Effect.promise(() => unmade), Tracer.Tracer, tracer),
  "another scheduler": Effect.provideService(
    Effect.yieldNow,
    Scheduler.Scheduler,
    Scheduler.Scheduler.defaultValue(),
  ),
}

/** Waits that fibers end, or nobody. */
const never = Effect.never
const inside: Readonly<Record<string, Wait>> = {
  never,
  "a callback that takes no answer": Effect.callback(() => {}),
  "a deferred": Effect.suspend(() => Deferred.await(Deferred.makeUnsafe())),
  "a latch": Effect.suspend(() => Latch.makeUnsafe().await),
  "a semaphore": Effect.suspend(() => Semaphore.makeUnsafe(0).withPermits(1)(Effect.void)),
  "a queue that is empty": Effect.flatMap(Queue.bounded<number>(1), Queue.take),
  "all of a queue": Effect.flatMap(Queue.bounded<number>(1), Queue.takeAll),
  "the end of a queue": Effect.flatMap(Queue.bounded<number>(1), Queue.await),
  "a queue without room": Effect.flatMap(Queue.bounded<number>(0), (queue) => Queue.offer(queue, 1)),
  "a queue without room for all": Effect.flatMap(Queue.bounded<number>(1), (queue) => Queue.offerAll(queue, [1, 2])),
  "a subscription": Effect.flatMap(
    PubSub.bounded<number>(1),
    (pubsub) => Effect.flatMap(PubSub.subscribe(pubsub), PubSub.take),
  ),
  "room for what is published": Effect.flatMap(
    PubSub.bounded<number>(1),
    (pubsub) => Effect.andThen(PubSub.subscribe(pubsub), PubSub.publishAll(pubsub, [1, 2])),
  ),
  "a pool": Effect.flatMap(Pool.make({ acquire: never, size: 1 }), Pool.get),
  "a fiber": Effect.flatMap(Effect.forkChild(never), Fiber.await),
  "what a fiber ends with": Effect.flatMap(Effect.forkChild(never), Fiber.join),
  "several fibers": Effect.flatMap(Effect.forkChild(never), (fiber) => Fiber.awaitAll([fiber])),
  "what several end with": Effect.flatMap(Effect.forkChild(never), (fiber) => Fiber.joinAll([fiber])),
  "others at once": Effect.all([never, never], { concurrency: 2 }),
  "the first of two": Effect.raceFirst(never, never),
  "the better of two": Effect.race(never, never),
  "a transaction": Effect.tx(Effect.txRetry),
  "a sleep": Effect.sleep("1 hour"),
  "a sleep by a clock that is moved by hand": Effect.suspend(() => new HandClock().sleep(Duration.hours(1))),
  "an event": Explorer.event("answer", Effect.void),
  "a port that is scripted": Effect.flatMap(Script.make, (script) => {
    script.plan(1, Script.hold)
    return script.port("port", { call: Effect.void }).call
  }),
}

describe("a wait for the outside ends the search, whatever would cut it off", () => {
  it.effect.each(Object.entries(outside))("%s", ([, wait]) =>
    Effect.gen(function* () {
      for (const cut of cuts) {
        const failed = yield* Effect.flip(explored(cut(wait)))
        if (!(failed instanceof Uncontrolled)) throw failed
        expect([failed.reason, failed.fiber]).toEqual(["escaped", "a.1"])
        expect(failed.message).toMatch(/^a\.1 waits for the outside, .*\nschedule: "a\*\d.*"$/)
      }
    }))

  it.effect("also in what prepares it, judges it and closes it, in a sample and in a replay", () =>
    Effect.gen(function* () {
      const wait = Effect.promise(() => Promise.resolve())
      const cut = Effect.timeoutOption(wait, 1)
      const fibers = () => ({ a: Effect.void })
      const programs = [
        { prepare: cut, fibers },
        { prepare: Effect.forkScoped(wait), fibers },
        { prepare: Effect.void, fibers, oracle: () => cut },
        { prepare: Effect.addFinalizer(() => cut), fibers },
      ]
      for (const program of programs) {
        expect(yield* Effect.flip(Explorer.explore(program))).toMatchObject({ _tag: "Uncontrolled", reason: "escaped" })
      }
      const program = { prepare: Effect.void, fibers: () => ({ a: cut }) }
      const failures = [
        yield* Effect.flip(Explorer.sample(program, { seed: 1 })),
        yield* Effect.flip(Explorer.replay(program, "a")),
      ]
      for (const failed of failures) {
        expect(failed).toMatchObject({ _tag: "Uncontrolled", reason: "escaped", fiber: "a.1" })
      }
    }))
})

describe("a callback that nobody makes in any schedule is told of, and nothing is called exhaustive", () => {
  const timer = Effect.callback<void>((resume) => {
    const handle = setTimeout(() => resume(Effect.void), 3_600_000)
    return Effect.sync(() => clearTimeout(handle))
  })

  it.effect("unless the program says that it may", () =>
    Effect.gen(function* () {
      for (const cut of cuts) {
        const told = yield* explored(cut(timer))
        expect(told).toMatchObject({ exhaustive: false, unanswered: [{ fiber: "a.1" }] })
        expect(told.unanswered[0]!.schedule).toMatch(/^a/)
        expect(yield* explored(cut(timer), ["unanswered"])).toMatchObject({ exhaustive: true, unanswered: [] })
      }
    }))

  it.effect("also where it is left, and where it is interrupted only from outside", () =>
    Effect.gen(function* () {
      expect(yield* explored(Effect.forkDetach(timer), ["fibers"])).toMatchObject({ exhaustive: false })
      const program = {
        prepare: Effect.sync((): Array<() => void> => []),
        fibers: (woken: Array<() => void>) => ({
          a: Effect.callback<void>((resume) => void woken.push(() => resume(Effect.void))),
          b: Effect.suspend(() => Effect.sync(() => woken.pop()?.())),
        }),
        oracle: () => {},
      }
      const failed = yield* Effect.flip(Explorer.explore(program))
      expect(failed).toMatchObject({ _tag: "ScheduleFailed", reason: "stuck", fibers: ["a"] })
    }))

  /** A helper as people write it, which waits for whatever is put on the list. */
  const once = (list: Array<() => void>) => Effect.callback<void>((resume) => void list.push(() => resume(Effect.void)))

  it.effect("also where a wait by the same code was answered before", () =>
    Effect.gen(function* () {
      const program = (second: boolean) => ({
        prepare: Effect.sync(() => ({ inner: [] as Array<() => void>, socket: [] as Array<() => void> })),
        fibers: ({ inner, socket }: { readonly inner: Array<() => void>; readonly socket: Array<() => void> }) => {
          const both = Effect.andThen(once(inner), second ? once(socket) : Effect.void)
          return { a: Effect.timeoutOption(both, 2), b: Effect.delay(Effect.sync(() => inner.pop()?.()), 1) }
        },
      })
      const bounds = { preemptions: 0 }
      expect(yield* Explorer.explore(program(false), bounds)).toMatchObject({ exhaustive: true, unanswered: [] })
      const told = yield* Explorer.explore(program(true), bounds)
      expect(told).toMatchObject({ exhaustive: false, unanswered: [{ fiber: "a.1" }] })
    }))

  it.effect("also where the way to answer has a default, or is taken by a function that does not show it", () =>
    Effect.gen(function* () {
      type Resume = (effect: Effect.Effect<void>) => void
      const keep = (resume: Resume): void => void setTimeout(resume, 3_600_000, Effect.void).unref?.()
      const hidden: ReadonlyArray<(resume: Resume) => void> = [
        (resume = () => {}) => keep(resume),
        (...args) => keep(args[0]),
        function () {
          keep(arguments[0] as Resume)
        },
        ((resume: Resume = () => {}): void => keep(resume)).bind(undefined),
      ]
      for (const register of hidden) {
        const told = yield* explored(cuts[0]!(Effect.callback(register)))
        expect([String(register), told.exhaustive, told.unanswered.length]).toEqual([String(register), false, 1])
      }
    }))

  it.effect("but not one that a fiber makes in some, whether it can be interrupted or not", () =>
    Effect.gen(function* () {
      for (const mask of [Effect.interruptible, Effect.uninterruptible]) {
        const program = {
          prepare: Effect.sync(() => ({ wake: () => {}, isThere: false })),
          fibers: (state: { wake: () => void; isThere: boolean }) => ({
            a: mask(Effect.callback<void>((resume) => {
              if (state.isThere) resume(Effect.void)
              state.wake = () => resume(Effect.void)
            })),
            b: Effect.sync(() => {
              state.isThere = true
              state.wake()
            }),
          }),
          oracle: () => {},
        }
        expect(yield* Explorer.explore(program, { interruptions: 1, interrupt: ["a"] })).toMatchObject({
          exhaustive: true,
          unanswered: [],
        })
      }
    }))
})

it.effect("an event that is cut off before it can happen is no such callback, nor one that is made under an interruption", () =>
  Effect.gen(function* () {
    const event = Effect.race(Explorer.event("answer", Effect.void), Effect.void)
    expect(yield* explored(event)).toMatchObject({ exhaustive: true, unanswered: [] })
    const made = Effect.suspend(() => {
      let wake = (): void => {}
      const waits = Effect.callback<void>((resume) => {
        wake = () => resume(Effect.void)
      })
      return Effect.flatMap(
        Effect.forkChild(Effect.uninterruptible(waits), { startImmediately: true }),
        (child) => Effect.andThen(Effect.sync(() => child.interruptUnsafe()), Effect.sync(() => wake())),
      )
    })
    expect(yield* explored(made)).toMatchObject({ exhaustive: true, unanswered: [] })
  }))

it.effect("a tracer of the program's own is asked at each turn, and takes no step away", () =>
  Effect.gen(function* () {
    let turns = 0
    const tracer = Tracer.make({
      span: (options) => Tracer.nativeTracer.span(options),
      context: (operation, fiber) => {
        turns++
        return operation["~effect/Effect/evaluate"](fiber)
      },
    })
    const step = Effect.andThen(Effect.sync(() => {}), Effect.sync(() => {}))
    const program = (fiber: Effect.Effect<unknown>) => ({
      prepare: Effect.void,
      fibers: () => ({ a: fiber, b: fiber }),
    })
    const bounds = { preemptions: Infinity }
    const plain = yield* Explorer.explore(program(step), bounds)
    expect(turns).toBe(0)
    const traced = yield* Explorer.explore(program(Effect.provideService(step, Tracer.Tracer, tracer)), bounds)
    expect([plain.exhaustive, traced.exhaustive, turns > traced.schedules * 4]).toEqual([true, true, true])
    expect(traced.schedules).toBeGreaterThanOrEqual(plain.schedules)
  }))

describe("who answers a wait", () => {
  /** All that a wait begins to wait for. */
  const begun = (wait: Wait) => {
    const operations: Array<object> = []
    const listening = Tracer.make({
      span: (options) => Tracer.nativeTracer.span(options),
      context: (operation, fiber) => {
        operations.push(operation)
        return operation["~effect/Effect/evaluate"](fiber)
      },
    })
    const cut = cuts[0]!(Effect.provideService(wait, Tracer.Tracer, listening))
    return Effect.as(Effect.result(explored(cut)), operations)
  }

  it.effect("is told by its text, and is found out without a timer of the host", () =>
    Effect.gen(function* () {
      const { setTimeout } = globalThis
      let timers = 0
      Object.assign(globalThis, { setTimeout: () => ++timers })
      const table = Answerer.table()
      Object.assign(globalThis, { setTimeout })
      expect([timers, table.has("undefined")]).toEqual([0, false])
      const answerers = (wait: Wait) =>
        Effect.map(
          begun(wait),
          (begun) => new Set(begun.map((each) => Answerer.of(each, () => table)).filter((each) => each !== undefined)),
        )
      const { "an event": event, ...others } = inside
      for (const [name, wait] of Object.entries(others)) {
        const told = yield* answerers(wait)
        expect([name, told.size > 0, told.has("unknown"), told.has("outside")]).toEqual([name, true, false, false])
      }
      expect([...yield* answerers(event!)]).toContain("unknown")
      // One goes by a tracer that does not tell, and one waits by no callback.
      const { "a promise, under a tracer of its own": _, "another scheduler": scheduler, ...bridges } = outside
      for (const [name, wait] of Object.entries(bridges)) {
        expect([name, ...yield* answerers(wait)]).toEqual([name, "outside"])
      }
      expect([...yield* answerers(scheduler!)]).toEqual([])
    }))

  it("is found out once, and is nobody where it is no wait", () => {
    expect(Answerer.waits()).toBe(Answerer.waits())
    for (const none of [{}, { register: () => {} }, { "~effect/Effect/identifier": "Async" }]) {
      expect(Answerer.of(none)).toBe(undefined)
    }
  })
})

describe("what waits for the program is not blamed", () => {
  it.effect.each(Object.entries(inside))("%s", ([, wait]) =>
    Effect.gen(function* () {
      for (const cut of cuts.slice(0, 2)) {
        const told = yield* Effect.result(explored(cut(wait)))
        if (Result.isFailure(told)) throw told.failure
        expect(told.success).toMatchObject({ exhaustive: true, unanswered: [] })
      }
    }))
})
