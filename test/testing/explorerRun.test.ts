/** One run of an explored program, the search that makes many of it, and the simplest that fails: what each of them is. */
import { describe, expect } from "vitest"
import { it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Random from "effect/Random"
import * as Scheduler from "effect/Scheduler"
import { Follower } from "../../core/testing/Chooser.ts"
import * as Explorer from "../../core/testing/Explorer.ts"
import type { Limits } from "../../core/testing/ExplorerAgenda.ts"
import type { Bounds } from "../../core/testing/ExplorerBounds.ts"
import { type Reason, ScheduleFailed } from "../../core/testing/ExplorerFailure.ts"
import type { Fibers, Program } from "../../core/testing/ExplorerProgram.ts"
import { guarded } from "../../core/testing/ExplorerReplay.ts"
import { isSame, outcome, play } from "../../core/testing/ExplorerRun.ts"
import { World } from "../../core/testing/ExplorerWorld.ts"
import { Words } from "../../core/testing/Schedule.ts"
import { hostile } from "../support/Hostile.ts"

const of = (fibers: Fibers) => ({ prepare: Effect.void, fibers: () => fibers, oracle: () => {} })

const world = (): World =>
  new World(new Words(), {
    preemptions: 0,
    interruptions: 0,
    maxSteps: 100,
    targets: "own",
    alike: new Set<string>(),
  })

/** A world whose chooser takes what it is told to by its word, and the first where it is told nothing. */
const stage = (given: Partial<Limits> = {}) => {
  const words = new Words()
  const own = new World(words, {
    ...{ preemptions: 9, interruptions: 0, maxSteps: 100, targets: "own", alike: new Set<string>() },
    ...given,
  })
  const name = (id: number): string => id < 0 ? "nobody" : words.word(id)
  const names = (ids: ReadonlyArray<number>): string => ids.map(name).join(" ")
  /** What it was asked and told: offers, steps with who ran in them, and places with the time and what was drawn by then. */
  const traced = <S, F extends Fibers>(program: Program<S, F>, ...choices: Array<string>): ReadonlyArray<string> => {
    const told: Array<string> = []
    let moment = (): string => ""
    const finding = play(
      program as never,
      own,
      {
        begin: (scene) => void (moment = scene.moment),
        decide: (options) => {
          told.push(`? ${names(options)}`)
          const word = choices.shift()
          return word === undefined ? 0 : options.findIndex((id) => name(id) === word)
        },
        stepped: ({ born, cast, from, isBlind, log }) => {
          const leaves = born.length > 0 ? [`leaves ${names(born)}`] : []
          told.push(
            [cast.length === 0 ? "nobody" : names(cast), names(log.slice(from)), ...leaves, ...isBlind ? ["blind"] : []]
              .join(" | "),
          )
        },
        between: ({ current, running }) => {
          told.push(`at ${running ? `${name(current)}, running` : name(current)}, ${moment()}`)
          return false
        },
      },
      0,
    )
    const ends = new Set([own.cut, finding?.reason].filter((each) => each !== undefined))
    return [...told, [...ends, ...own.actors.alive].join(" ") || "right"]
  }
  return { own, traced }
}

const step = Effect.sync(() => {})
const steps = (count: number): Effect.Effect<void> => count === 1 ? step : Effect.andThen(step, steps(count - 1))
/** What runs by another scheduler, at once. */
const elsewhere = (effect: Effect.Effect<void>): Effect.Effect<void> =>
  Effect.withFiber(({ context }) => {
    const scheduler: Scheduler.Scheduler = {
      executionMode: "sync",
      shouldYield: () => false,
      makeDispatcher: () => ({ scheduleTask: (run) => run(), flush: () => {} }),
    }
    Effect.runForkWith(context)(effect, { scheduler })
    return step
  })
const foreign = elsewhere(Effect.sleep(1))

const lines = (text: string): ReadonlyArray<string> => text.trim().split("\n").map((line) => line.trim())

const failed = <S, F extends Fibers>(program: Program<S, F>, bounds?: Bounds) =>
  Effect.map(Effect.flip(Explorer.explore(program, bounds)), (failed) => {
    if (!(failed instanceof ScheduleFailed)) throw failed
    return failed
  })

describe("a run", () => {
  it.effect("ends in words that tell each end from another", () =>
    Effect.sync(() => {
      const ends = {
        a: Effect.succeed(1),
        b: Effect.succeed({}),
        c: Effect.fail({ _tag: "Down" }),
        d: Effect.fail({}),
        e: Effect.fail(null),
        f: Effect.fail("no"),
        g: Effect.die("no"),
        h: Effect.interrupt,
        i: Effect.never,
        j: Effect.fail(Object.assign(() => {}, { _tag: "Down" })),
      }
      const own = world()
      const finding = play(of(ends), own, new Follower([]), 0)
      expect(outcome(own, finding)).toBe(
        "stuck a=ok 1,b=ok,c=Fail Down,d=Fail object,e=Fail object,f=Fail string,g=Die,h=Interrupt,i=-,j=Fail function," +
          "prepare=ok",
      )
    }))

  it.effect("that was lost is judged by nobody, though its own fibers have ended", () =>
    Effect.gen(function* () {
      let judged = 0
      const child = Effect.andThen(Effect.yieldNow, Effect.yieldNow)
      const program = { ...of({ a: Effect.asVoid(Effect.forkDetach(child)) }), oracle: () => void judged++ }
      const lost = yield* Effect.flip(Explorer.replay(program, "a*3 z"))
      expect(lost).toMatchObject({ _tag: "InvalidSchedule", at: 3, possible: ["a.1"] })
      expect(judged).toBe(0)
      yield* Explorer.replay(program, "a*3 a.1")
      expect(judged).toBe(1)
    }))

  it.effect("in which somebody waited for the outside is none that fails, however it ended", () =>
    Effect.gen(function* () {
      const outside = Effect.promise(() => new Promise<void>(() => {}))
      const program = {
        prepare: Effect.sync((): Array<string> => []),
        fibers: (order: Array<string>) => {
          const step = (name: string) => Effect.sync(() => void order.push(name))
          return { a: step("a"), b: step("b") }
        },
        oracle: ([first]: Array<string>) => first === "a" ? outside : Effect.fail("b was first"),
      }
      // Two seeds, of which one draws `a` first.
      const drawn = yield* Effect.forEach([1, 2, 3, 4], (seed) => Effect.flip(Explorer.sample(program, { seed })))
      const told = drawn.map((failed) =>
        failed instanceof ScheduleFailed ? [failed.schedule, failed.cause] : failed._tag
      )
      expect(new Set(told.map(String))).toEqual(new Set(["b,b was first", "Uncontrolled"]))
    }))

  it.effect("has run what the end of its scope made ready", () =>
    Effect.gen(function* () {
      const woken = Effect.andThen(Effect.yieldNow, Effect.yieldNow)
      const prepare = Effect.flatMap(Deferred.make<void>(), (gate) =>
        Effect.andThen(
          Effect.forkDetach(Effect.andThen(Deferred.await(gate), woken)),
          Effect.addFinalizer(() => Deferred.succeed(gate, undefined)),
        ))
      expect((yield* Explorer.explore({ ...of({ a: Effect.void }), prepare })).exhaustive).toBe(true)
    }))

  it.effect("does not run for ever what the end of its scope made ready", () =>
    Effect.gen(function* () {
      const prepare = Effect.addFinalizer(() => Effect.forkDetach(Effect.forever(Effect.yieldNow)))
      const { fibers, reason } = yield* failed({ ...of({ a: Effect.void }), prepare })
      expect([reason, ...fibers]).toEqual(["endless", "cleanup.1"])
    }))

  it.effect("is prepared in as many steps as it takes, one after the other, and time goes on for it", () =>
    Effect.gen(function* () {
      const order: Array<string> = []
      const says = (word: string) => Effect.sync(() => void order.push(word))
      const prepare = Effect.gen(function* () {
        const children = yield* Effect.forEach(
          ["a", "b"],
          (name) => Effect.forkChild(Effect.andThen(Effect.andThen(says(name), Effect.sleep(5)), says(name))),
        )
        for (let i = 0; i < 20; i++) yield* Effect.yieldNow
        yield* Fiber.awaitAll(children)
      })
      yield* Explorer.replay({ ...of({ a: says("end") }), prepare }, "", { maxSteps: 3 })
      expect(order.join(" ")).toBe("a b a b a b a b end")
    }))

  it.effect("has spans, as elsewhere", () =>
    Effect.gen(function* () {
      const named = Effect.map(Effect.withSpan(Effect.currentSpan, "work"), ({ name }) => name)
      const read = (_: void, { a }: Readonly<Record<string, Exit.Exit<unknown, unknown>>>) =>
        expect(a).toEqual(Exit.succeed("work"))
      expect(
        (yield* Explorer.explore({ ...of({}), fibers: () => ({ a: named }), oracle: (s: void, e) => void read(s, e) }))
          .exhaustive,
      ).toBe(true)
    }))

  it.effect("is cut at the very step that is too many", () =>
    Effect.gen(function* () {
      let count = 0
      const forever = of({ a: Effect.forever(Effect.sync(() => void count++)) })
      const counts: Array<number> = []
      for (const maxSteps of [1, 2, 3, 4]) {
        count = 0
        const failed = yield* Effect.flip(Explorer.replay(forever, "", { maxSteps }))
        expect((failed as ScheduleFailed).reason).toBe("endless")
        counts.push(count)
      }
      // Every second step is one that begins the next round.
      expect(counts).toEqual([0, 1, 1, 2])
    }))

  it.effect("tells whose the fibers and timers are that it leaves", () =>
    Effect.gen(function* () {
      const leaves = Effect.forkDetach(Effect.never, { startImmediately: true })
      const judged = yield* failed({ ...of({ a: Effect.void }), oracle: () => leaves })
      expect([judged.reason, judged.fibers]).toEqual(["fibers", ["oracle.1"]])
      const strange = yield* failed(of({ a: foreign }))
      expect([strange.reason, strange.fibers]).toEqual(["timers", ["main"]])
    }))

  it.effect("leaves nothing open or at work, also where it was made for its names alone, or something threw", () =>
    Effect.gen(function* () {
      const [wakes, counts] = [[] as Array<() => void>, { open: 0, opened: 0, woken: 0 }]
      const waits = Effect.andThen(
        Effect.callback<void>((resume) => void wakes.push(() => resume(Effect.void))),
        Effect.sync(() => void counts.woken++),
      )
      const opens = Effect.acquireRelease(
        Effect.sync(() => void (counts.open++, counts.opened++)),
        () => Effect.sync(() => void counts.open--),
      )
      yield* Explorer.explore({
        ...of({ a: Effect.void }),
        prepare: Effect.andThen(opens, Effect.forkDetach(waits, { startImmediately: true })),
        allow: ["fibers", "unanswered"],
      })
      expect([counts.open, counts.opened > 1, wakes.length > 1]).toEqual([0, true, true])
      const own = world()
      own.begin(new Follower([]), 0)
      own.aside("a", waits)
      expect(
        yield* guarded(() => {
          throw "oh"
        }, own),
      ).toEqual({ reason: "defect", fibers: [], cause: "oh" })
      for (const wake of wakes) wake()
      expect(counts.woken).toBe(0)
    }))

  it.effect("draws the same numbers whatever it is made for", () =>
    Effect.gen(function* () {
      const drawn = new Set<number>()
      const program = {
        prepare: Effect.tap(Random.nextIntBetween(0, 1_000_000), (n) => Effect.sync(() => void drawn.add(n))),
        fibers: (n: number) => ({ [`f${n}`]: Effect.yieldNow, b: Effect.void }),
      }
      const { steps } = yield* Explorer.explore(program)
      const [name = ""] = Object.keys(steps)
      expect((yield* Explorer.explore(program, { interruptions: 1, interrupt: [name] })).exhaustive).toBe(true)
      // What fails is made simpler by a search of its own, and played once more.
      const tells = {
        ...program,
        prepare: Effect.map(program.prepare, (n) => ({ n, seen: 0 })),
        fibers: (state: { n: number; seen: number }) => ({
          a: Effect.andThen(Effect.sync(() => void (state.seen = state.n)), Effect.sync(() => void (state.seen = 0))),
          b: Effect.suspend(() => state.seen === 0 ? Effect.void : Effect.fail(state.seen)),
        }),
      }
      const { cause, schedule } = yield* failed(tells)
      expect(schedule).toBe("a - b")
      expect([...drawn]).toEqual([cause])
    }))
})

describe("a run asks its chooser, and tells it what each step was", () => {
  const gated = {
    ...of({}),
    prepare: Deferred.make<void>(),
    fibers: (gate: Deferred.Deferred<void>) => ({
      a: Effect.andThen(Deferred.await(gate), steps(2)),
      b: Effect.andThen(Deferred.succeed(gate, undefined), step),
    }),
  }
  const leaving = Effect.withFiber(({ currentDispatcher: dispatcher }) => {
    dispatcher.scheduleTask(() => dispatcher.scheduleTask(() => {}, 0), 0)
    dispatcher.scheduleTask(() => {}, 0)
    return step
  })
  it("between two steps of a fiber, and who goes on where it was forced off", () => {
    const { traced } = stage({ interruptions: 1 })
    expect(traced(of({ a: Effect.andThen(step, Effect.ensuring(step, step)), b: step }), "a", "a", "-")).toEqual(lines(`
      at nobody, 0 0
      ? a b !a !b
      a | a
      ? a !a
      a | a | blind
      at a, running, 0 0
      ? a - !a
      ? b
      b | b
      at nobody, 0 0
      ? a !a
      a | a
      at a, running, 0 0
      ? a !a
      a | a
      at a, running, 0 0
      ? a !a
      a | a
      right
    `))
  })

  it("of no fiber that only guards, but for its interruption", () => {
    const { traced } = stage({ interruptions: 1 })
    expect(traced(of({ a: Effect.andThen(step, Effect.ensuring(step, step)), b: step }), "a", "!a")).toEqual(lines(`
      at nobody, 0 0
      ? a b !a !b
      a | a
      ? a !a
      a | !a
      at nobody, 0 0
      ? b
      b | b
      right
    `))
  })

  it("inside a step of another, from which it may be forced off", () => {
    const { traced } = stage({ interruptions: 1 })
    expect(traced(gated, "a", "b", "-")).toEqual(lines(`
      at nobody, 0 0
      ? a b !a !b
      a | a
      at nobody, 0 0
      ? b !a
      ? a -
      b a | b -
      at b, running, 0 0
      ? b - !a !b
      b | b
      at nobody, 0 0
      ? a !a
      a | a
      at a, running, 0 0
      ? a !a
      a | a
      at a, running, 0 0
      ? a !a
      a | a
      right
    `))
  })

  it("that runs in it to its end otherwise", () => {
    const { traced } = stage()
    expect(traced(gated, "a", "b", "a")).toEqual(lines(`
      at nobody, 0 0
      ? a b
      a | a
      at nobody, 0 0
      ? b
      ? a -
      ? a -
      ? a -
      b a | b a a a
      at b, running, 0 0
      ? b
      b | b
      right
    `))
  })

  it("of a fiber that was forced off and interrupted", () => {
    const { traced } = stage({ interruptions: 1 })
    expect(traced(of({ a: steps(3), b: steps(2) }), "a", "-", "b", "!a")).toEqual(lines(`
      at nobody, 0 0
      ? a b !a !b
      a | a
      at a, running, 0 0
      ? a - !a
      ? b
      b | b
      at b, running, 0 0
      ? b - !a !b
      a | !a
      at b, 0 0
      ? b
      b | b
      right
    `))
  })

  it("and cannot be, so that it goes on as it would have", () => {
    const { traced } = stage({ interruptions: 1 })
    expect(traced(of({ a: Effect.uninterruptible(steps(2)), b: steps(2) }), "a", "-", "b", "!a")).toEqual(lines(`
      at nobody, 0 0
      ? a b !a !b
      a | a
      at a, running, 0 0
      ? a - !a
      ? b
      b | b
      at b, running, 0 0
      ? b - !a !b
      a | !a
      at b, 0 0
      ? b a
      b | b
      at nobody, 0 0
      ? a
      a | a
      at a, running, 0 0
      ? a
      a | a
      at a, running, 0 0
      ? a
      a | a
      right
    `))
  })

  it("of one that a fiber starts, where it is named", () => {
    const { traced } = stage({ interruptions: 1, targets: new Set(["a.1"]) })
    expect(traced(of({ a: Effect.flatMap(Effect.forkChild(steps(2)), Fiber.await), b: step }))).toEqual(lines(`
      at nobody, 0 0
      ? a b
      a | a | leaves a.1
      at a, running, 0 0
      ? a - !a.1
      a | a
      at a, running, 0 0
      ? a - !a.1
      a | a
      at nobody, 0 0
      ? b a.1 !a.1
      b | b
      at nobody, 0 0
      ? a.1 !a.1
      a.1 | a.1
      at a.1, running, 0 0
      ? a.1 !a.1
      a.1 | a.1
      at a.1, running, 0 0
      ? a.1 !a.1
      a.1 a | a.1
      right
    `))
  })

  it("of each that has begun, where all may be interrupted, and that begins at once", () => {
    const { traced } = stage({ interruptions: 1, targets: "any" })
    expect(traced(of({ a: Effect.andThen(Effect.forkChild(steps(2), { startImmediately: true }), step) }))).toEqual(
      lines(`
      at nobody, 0 0
      ? a !a
      ? a.1 -
      ? a.1 -
      a a.1 | a a.1 a.1
      at a, running, 0 0
      ? a !a
      a | a
      at a, running, 0 0
      ? a !a
      a | a
      right
    `),
    )
  })

  it("as time goes on, also ahead of who is ready, and not while somebody is due", () => {
    const { traced } = stage()
    expect(
      traced(
        of({ a: Effect.andThen(Effect.sleep(5), Effect.map(Random.next, () => {})), b: steps(2) }),
        "a",
        "a",
        "b",
        "~",
      ),
    ).toEqual(lines(`
      at nobody, 0 0
      ? a b
      a | a
      at a, running, 0 0
      ? a -
      a | a
      at nobody, 0 0
      ? b ~
      b | b
      at b, running, 0 0
      ? b ~
      nobody | ~
      at nobody, 5000000 0
      ? b a
      b | b
      at nobody, 5000000 0
      ? a
      a | a
      at a, running, 5000000 0
      ? a
      a | a
      at a, running, 5000000 1
      ? a
      a | a
      right
    `))
  })

  it("of two that are due at one instant, one of which is interrupted then", () => {
    const { traced } = stage({ interruptions: 1 })
    expect(traced(of({ a: Effect.sleep(5), b: Effect.sleep(5) }), "a", "a", "b", "b", "~", "!a")).toEqual(lines(`
      at nobody, 0 0
      ? a b !a !b
      a | a
      at a, running, 0 0
      ? a - !a
      a | a
      at nobody, 0 0
      ? b ~ !a
      b | b
      at b, running, 0 0
      ? b ~ !a !b
      b | b
      at nobody, 0 0
      ? ~ !a !b
      nobody | ~
      at nobody, 5000000 0
      ? a b !a !b
      a | !a
      ? a
      a | a | blind
      at a, running, 5000000 0
      ? a -
      a | a
      at a, running, 5000000 0
      ? a -
      a | a
      at nobody, 5000000 0
      ? b
      b | b
      right
    `))
  })

  it("of what a fiber leaves to be run, and what that leaves, which is nobody's", () => {
    const { traced } = stage()
    expect(traced(of({ a: leaving, b: step }), "a", "-")).toEqual(lines(`
      at nobody, 0 0
      ? a b
      a | a | leaves a.1 a.2
      at a, running, 0 0
      ? a -
      ? b a.1 a.2
      b | b
      at nobody, 0 0
      ? a.1 a.2 a
      a.1 | a.1 | leaves main.1
      at nobody, 0 0
      ? a.2 a main.1
      a.2 | a.2
      at nobody, 0 0
      ? a main.1
      a | a
      at nobody, 0 0
      ? main.1
      main.1 | main.1
      right
    `))
  })

  it("of a sleeper that is none of the run's, and of one that is", () => {
    const { traced } = stage()
    expect(traced(of({ a: Effect.andThen(foreign, Effect.sleep(1)) }))).toEqual(lines(`
      at nobody, 0 0
      ? a
      a | a
      at a, running, 0 0
      ? a ~
      a | a
      at a, running, 0 0
      ? a ~
      a | a
      at a, running, 0 0
      ? a ~
      a | a
      at nobody, 0 0
      ? ~
      nobody | ~ | leaves main.1
      at nobody, 1000000 0
      ? main.1 a
      main.1 | main.1
      at nobody, 1000000 0
      ? a
      a | a
      right
    `))
  })

  it("of fibers that step aside", () => {
    const { traced } = stage()
    expect(traced(of({ a: Effect.andThen(Effect.yieldNow, step), b: Effect.andThen(Effect.yieldNow, step) }))).toEqual(
      lines(`
      at nobody, 0 0
      ? a b
      a | a
      at nobody, 0 0
      ? b a
      b | b
      at nobody, 0 0
      ? a b
      a | a
      at a, running, 0 0
      ? a -
      a | a
      at nobody, 0 0
      ? b
      b | b
      at b, running, 0 0
      ? b
      b | b
      right
    `),
    )
  })

  it("of every turn of a loop in a plain search", () => {
    const { traced } = stage({ isPlain: true })
    expect(traced(of({ a: Effect.flatMap(Effect.flatMap(step, () => step), () => step), b: step }))).toEqual(lines(`
      at nobody, 0 0
      ? a b
      a | a
      at a, running, 0 0
      ? a -
      a | a
      at a, running, 0 0
      ? a -
      a | a
      at a, running, 0 0
      ? a -
      a | a
      at a, running, 0 0
      ? a -
      a | a
      at nobody, 0 0
      ? b
      b | b
      right
    `))
  })

  it("until there are too many", () => {
    const { traced } = stage({ maxSteps: 4 })
    expect(traced(of({ a: steps(9), b: step }))).toEqual(lines(`
      at nobody, 0 0
      ? a b
      a | a
      at a, running, 0 0
      ? a -
      a | a
      at a, running, 0 0
      ? a -
      a | a
      at a, running, 0 0
      ? a -
      a | a
      at a, running, 0 0
      ? a -
      endless a b
    `))
  })

  it("until it knows no further, while a fiber runs", () => {
    const { traced } = stage()
    expect(traced(of({ a: steps(9), b: step }), "a", "a", "z")).toEqual(lines(`
      at nobody, 0 0
      ? a b
      a | a
      at a, running, 0 0
      ? a -
      a | a
      at a, running, 0 0
      ? a -
      lost a b
    `))
  })

  it("or while none does", () => {
    const { traced } = stage()
    expect(traced(of({ a: steps(9), b: step }), "z")).toEqual(lines(`
      at nobody, 0 0
      ? a b
      lost a b
    `))
  })

  it("or somebody waits for the outside", () => {
    const { traced } = stage()
    expect(traced(of({ a: Effect.andThen(step, Effect.promise(() => Promise.resolve())), b: step }))).toEqual(lines(`
      at nobody, 0 0
      ? a b
      a | a
      at a, running, 0 0
      ? a -
      escaped a b
    `))
  })

  const waiting = Effect.callback<void>(() => void Fiber.getCurrent()?.currentDispatcher.scheduleTask(() => {}, 0))
  const over = Effect.withFiber((fiber) =>
    elsewhere(Effect.provideService(steps(2), Scheduler.Scheduler, fiber.getRef(Scheduler.Scheduler)))
  )
  const woken = Effect.callback<void>((resume) =>
    void Fiber.getCurrent()?.currentDispatcher.scheduleTask(() => resume(Effect.void), 0)
  )
  const twice = Effect.suspend(() => {
    const wakes: Array<() => void> = []
    const waits = Effect.callback<void>((resume) => void wakes.push(() => resume(Effect.void)))
    return Effect.withFiber(({ currentDispatcher }) => {
      currentDispatcher.scheduleTask(() => {
        for (const wake of wakes) wake()
      }, 0)
      return Effect.andThen(waits, waits)
    })
  })

  it("of what a fiber that was forced off before leaves where it waits", () => {
    const { traced } = stage({ interruptions: 1 })
    expect(traced(of({ a: Effect.andThen(step, waiting), b: step }), "a", "-", "b", "a", "!a")).toEqual(lines(`
      at nobody, 0 0
      ? a b !a !b
      a | a
      at a, running, 0 0
      ? a - !a
      ? b
      b | b
      at nobody, 0 0
      ? a !a
      a | a | leaves a.1
      at nobody, 0 0
      ? a.1 !a
      a | !a
      at nobody, 0 0
      ? a.1
      a.1 | a.1
      right
    `))
  })

  it("of a fiber that was forced off and does something as it is interrupted", () => {
    const { traced } = stage({ interruptions: 1 })
    expect(traced(of({ a: Effect.onInterrupt(steps(2), () => steps(2)), b: steps(2) }), "a", "a", "-", "b", "!a"))
      .toEqual(lines(`
      at nobody, 0 0
      ? a b !a !b
      a | a
      at a, running, 0 0
      ? a - !a
      a | a
      at a, running, 0 0
      ? a - !a
      ? b
      b | b
      at b, running, 0 0
      ? b - !a !b
      a | !a
      ? a
      a | a | blind
      at a, running, 0 0
      ? a -
      a | a
      at a, running, 0 0
      ? a -
      a | a
      at a, running, 0 0
      ? a -
      a | a
      at b, 0 0
      ? b
      b | b
      right
    `))
  })

  it("of one that comes over from another scheduler", () => {
    const { traced } = stage()
    expect(traced(of({ a: over, b: step }))).toEqual(lines(`
      at nobody, 0 0
      ? a b
      a | a
      at a, running, 0 0
      ? a -
      ? a.1 -
      ? a.1 -
      a | a a.1 a.1
      at a, running, 0 0
      ? a -
      a | a
      at nobody, 0 0
      ? b
      b | b
      right
    `))
  })

  it("of prepared steps, none of which it is told of", () => {
    const { traced } = stage()
    expect(traced({ ...of({ a: step }), prepare: Effect.andThen(Effect.yieldNow, Effect.sleep(1)) })).toEqual(lines(`
      at nobody, 1000000 0
      ? a
      a | a
      right
    `))
  })

  it("not of time, while somebody is due", () => {
    const { traced } = stage()
    expect(traced(of({ a: Effect.sleep(5), b: Effect.sleep(9), c: steps(2) }), "a", "a", "b", "b", "c", "~")).toEqual(
      lines(`
      at nobody, 0 0
      ? a b c
      a | a
      at a, running, 0 0
      ? a -
      a | a
      at nobody, 0 0
      ? b c ~
      b | b
      at b, running, 0 0
      ? b - ~
      b | b
      at nobody, 0 0
      ? c ~
      c | c
      at c, running, 0 0
      ? c ~
      nobody | ~
      at nobody, 5000000 0
      ? c a
      c | c
      at nobody, 5000000 0
      ? a
      a | a
      at nobody, 5000000 0
      ? ~
      nobody | ~
      at nobody, 9000000 0
      ? b
      b | b
      right
    `),
    )
  })

  it("of one that is interrupted and forced off before it leaves its sleep", () => {
    const { traced } = stage({ interruptions: 1 })
    expect(traced(of({ a: Effect.sleep(5), b: steps(2) }), "a", "a", "b", "!a", "a", "-", "b", "~")).toEqual(lines(`
      at nobody, 0 0
      ? a b !a !b
      a | a
      at a, running, 0 0
      ? a - !a
      a | a
      at nobody, 0 0
      ? b ~ !a
      b | b
      at b, running, 0 0
      ? b ~ !a !b
      a | !a
      ? a
      a | a | blind
      at a, running, 0 0
      ? a - ~
      ? b
      b | b
      at nobody, 0 0
      ? a ~
      nobody | ~
      at nobody, 5000000 0
      ? a
      a | a
      at a, running, 5000000 0
      ? a
      a | a
      right
    `))
  })

  it("of none behind one that is lost inside another", () => {
    const { traced } = stage()
    expect(traced(gated, "a", "b", "z")).toEqual(lines(`
      at nobody, 0 0
      ? a b
      a | a
      at nobody, 0 0
      ? b
      ? a -
      lost a b
    `))
  })

  it("of what a step does in two fibers, and the one behind it in one", () => {
    const { traced } = stage()
    expect(
      traced({
        ...gated,
        fibers: (gate: Deferred.Deferred<void>) => ({
          a: Deferred.await(gate),
          b: Effect.andThen(
            Deferred.succeed(gate, undefined),
            Effect.flatMap(Effect.flatMap(step, () => step), () => step),
          ),
        }),
      }),
    ).toEqual(lines(`
      at nobody, 0 0
      ? a b
      a | a
      at nobody, 0 0
      ? b
      b a | b
      at b, running, 0 0
      ? b
      b | b
      at b, running, 0 0
      ? b
      b | b
      at b, running, 0 0
      ? b
      b | b
      at b, running, 0 0
      ? b
      b | b
      right
    `))
  })

  it("of a fiber that is woken by what is nobody's, in which it is no step of its own", () => {
    const { traced } = stage({ interruptions: 1 })
    expect(traced(of({ a: Effect.andThen(woken, steps(2)), b: step }), "a", "b")).toEqual(lines(`
      at nobody, 0 0
      ? a b !a !b
      a | a | leaves a.1
      at nobody, 0 0
      ? b a.1 !a
      b | b
      at nobody, 0 0
      ? a.1 !a
      ? a -
      ? a -
      a.1 a | a.1 a a
      right
    `))
  })

  it("of a fiber that is woken twice in one step, in which it is but one", () => {
    const { traced } = stage()
    const more = Effect.flatMap(Effect.flatMap(step, () => step), () => step)
    expect(traced(of({ a: Effect.flatMap(twice, () => more) }))).toEqual(lines(`
      at nobody, 0 0
      ? a
      a | a
      at a, running, 0 0
      ? a
      a | a | leaves a.1
      at a, running, 0 0
      ? a -
      a | a
      at nobody, 0 0
      ? a.1
      ? a -
      ? a -
      ? a -
      ? a -
      a.1 a | a.1 a a a a
      right
    `))
  })

  it("of a fiber that was forced off and goes on behind its interruption, at each step", () => {
    const { traced } = stage({ interruptions: 1 })
    const masked = Effect.uninterruptible(Effect.exit(Effect.interruptible(steps(3))))
    expect(traced(of({ a: masked, b: steps(3) }), "a", "a", "a", "-", "b", "!a")).toEqual(lines(`
      at nobody, 0 0
      ? a b !a !b
      a | a
      at a, running, 0 0
      ? a - !a
      a | a
      at a, running, 0 0
      ? a - !a
      a | a
      at a, running, 0 0
      ? a - !a
      ? b
      b | b
      at b, running, 0 0
      ? b - !a !b
      a | !a
      at a, running, 0 0
      ? a -
      a | a
      at b, 0 0
      ? b
      b | b
      at b, running, 0 0
      ? b
      b | b
      right
    `))
  })

  it("as it did before, whatever became of the run before", () => {
    const program = of({ a: Effect.andThen(Effect.map(Random.next, () => {}), steps(4)), b: step })
    const [fresh, used] = [stage({ maxSteps: 6 }), stage({ maxSteps: 6 })]
    const whole = fresh.traced(program)
    const throwing = Effect.withFiber((fiber) => {
      fiber.addObserver(() => {
        throw new Error("observed")
      })
      return step
    })
    expect(used.traced(of({ a: steps(9) })).at(-1)).toBe("endless a")
    expect(used.traced(program)).toEqual(whole)
    expect(used.traced(program, "a", "a", "z").at(-1)).toBe("lost a b")
    expect(used.traced(program)).toEqual(whole)
    expect(() => used.traced(of({ a: throwing, b: step }))).toThrow("observed")
    used.own.end()
    expect(used.traced(program)).toEqual(whole)
    expect(fresh.traced(program)).toEqual(whole)
  })
})

describe("a search", () => {
  it.effect("tells of each of the program's own fibers the most steps that it made", () =>
    Effect.gen(function* () {
      const program = {
        prepare: Effect.sync(() => ({ isOpen: false })),
        fibers: (state: { isOpen: boolean }) => ({
          // The longer way is taken neither in the first run nor in the last.
          a: Effect.suspend(() => state.isOpen ? Effect.andThen(step, step) : Effect.void),
          b: Effect.andThen(
            Effect.sync(() => void (state.isOpen = true)),
            Effect.sync(() => void (state.isOpen = false)),
          ),
        }),
      }
      const explored = yield* Explorer.explore(program, { preemptions: Infinity })
      expect(explored).toMatchObject({ repeats: 0, cutBy: [], exhaustive: true })
      expect(explored.steps).toEqual({ a: 3, b: 2 })
      expect(yield* Explorer.explore(program, { preemptions: 0 })).toMatchObject({
        ...{ cutBy: ["preemptions"], exhaustive: true, steps: { a: 2, b: 2 } },
      })
      const { steps } = yield* Explorer.explore(of({ a: Effect.forkChild(Effect.andThen(step, step)) }))
      expect(Object.keys(steps)).toEqual(["a"])
    }))

  it.effect("lets others run after each 64 runs, and at its end", () =>
    Effect.sync(() => {
      const pauses = (schedules: number): number => {
        const tasks: Array<() => void> = []
        const scheduler: Scheduler.Scheduler = {
          executionMode: "sync",
          shouldYield: () => false,
          makeDispatcher: () => ({ scheduleTask: (run) => void tasks.push(run), flush: () => {} }),
        }
        const search = Effect.runFork(Explorer.sample(of({ a: Effect.void }), { seed: 1, schedules }), { scheduler })
        let count = 0
        for (let run = tasks.shift(); run !== undefined; run = tasks.shift(), count++) run()
        return search.pollUnsafe() === undefined ? 0 : count
      }
      const one = pauses(1)
      expect([64, 65, 128, 129].map((schedules) => pauses(schedules) - one)).toEqual([0, 1, 1, 2])
    }))

  it.live("sees a fiber that waits for ever be woken by a timer of the host", () =>
    Effect.gen(function* () {
      const timer = Effect.callback<void>((resume) => void setTimeout(() => resume(Effect.void), 1))
      const failed = yield* Effect.flip(Explorer.explore(of({ a: timer })))
      expect(failed).toMatchObject({ _tag: "Uncontrolled", reason: "woken", fiber: "a" })
    }))

  it.effect("begins with one of those that are alike", () =>
    Effect.gen(function* () {
      const program = of({ a: step, b: step, c: step })
      expect((yield* Explorer.explore(program)).schedules).toBe(6)
      expect((yield* Explorer.explore({ ...program, alike: ["a", "b", "c"] })).schedules).toBe(1)
    }))

  it.live("tells of the first that was woken from outside, also where it was of an earlier run", () =>
    Effect.gen(function* () {
      const answered = Effect.callback<void>((resume) => void Promise.resolve().then(() => resume(Effect.void)))
      const first = yield* Effect.flip(Explorer.explore(of({ a: answered, b: answered })))
      expect(first).toMatchObject({ reason: "woken", fiber: "a" })
      const leaving = {
        ...of({ a: Effect.forkDetach(answered), b: step }),
        allow: ["fibers", "unanswered"] as const,
      }
      const earlier = yield* Effect.flip(Explorer.explore(leaving))
      expect(earlier).toMatchObject({ reason: "woken", fiber: "a fiber of an earlier run" })
    }))

  it.effect("repeats an order as soon as it comes into a state that it knows", () =>
    Effect.gen(function* () {
      const program = {
        prepare: Effect.sync(() => ({ a: 0, b: 0, c: 0 })),
        fibers: (state: { a: number; b: number; c: number }) => {
          const add = (name: "a" | "b" | "c") => Effect.sync(() => void state[name]++)
          const twice = (name: "a" | "b" | "c") => Effect.andThen(add(name), add(name))
          return { a: twice("a"), b: twice("b"), c: twice("c") }
        },
        shared: (state: object) => state,
      }
      // As many as there are ways to merge three fibers of two steps.
      const explored = yield* Explorer.explore(program, { preemptions: Infinity })
      expect([explored.schedules, explored.repeats, explored.exhaustive]).toEqual([90, 63, true])
    }))

  it.effect("ends where it cannot read what is shared, and says where that was", () =>
    Effect.gen(function* () {
      const program = {
        prepare: Effect.sync((): { hidden?: object } => ({})),
        fibers: (state: { hidden?: object }) => ({
          a: Effect.andThen(step, Effect.andThen(Effect.sync(() => void (state.hidden = new WeakMap())), steps(3))),
        }),
        shared: (state: object) => state,
      }
      const failed = yield* Effect.flip(Explorer.explore(program))
      expect(failed).toMatchObject({ reason: "unreadable", cause: "WeakMap", schedule: "a*2" })
    }))

  it.effect("draws more orders than a few seeds would, whatever is shared", () =>
    Effect.gen(function* () {
      const orders: Array<string> = []
      const program = {
        prepare: Effect.sync(() => void orders.push("")),
        fibers: () =>
          Object.fromEntries(["a", "b", "c", "d", "e"].map((name) => [
            name,
            Effect.andThen(Effect.yieldNow, Effect.sync(() => void orders.push(orders.pop() + name))),
          ])),
      }
      yield* Explorer.sample({ ...program, shared: () => new WeakMap() }, { seed: 1, schedules: 400 })
      expect(new Set(orders).size).toBeGreaterThan(70)
    }))
})

describe("the simplest that fails", () => {
  /** Wrong unless `a` has made its two steps before `b` makes its one. */
  const ordered = (
    isWrong: (exits: Readonly<Record<string, Exit.Exit<unknown, unknown>>>) => boolean = () => true,
  ) => ({
    prepare: Effect.sync((): Array<string> => []),
    fibers: (log: Array<string>) => {
      const step = (name: string) => Effect.sync(() => void log.push(name))
      return { a: Effect.andThen(step("a"), step("a")), b: step("b") }
    },
    oracle: (log: Array<string>, exits: Readonly<Record<string, Exit.Exit<unknown, unknown>>>) =>
      log.join("") !== "aab" && isWrong(exits) ? Effect.fail(log.join("")) : undefined,
  })

  it.effect("has none of its choices where the first schedule fails", () =>
    Effect.gen(function* () {
      expect((yield* failed({ ...of({ a: Effect.fail("no") }), oracle: undefined })).schedule).toBe("")
    }))

  it.effect("is looked for with fewer forced switches first, and ends with its last choice", () =>
    Effect.gen(function* () {
      expect(yield* failed(ordered())).toMatchObject({ schedule: "b", cause: "baa" })
      // What is shared is nothing to a sample.
      const hidden = { ...ordered(), shared: () => new WeakMap() }
      const drawn = yield* Effect.forEach(
        [1, 2, 3, 4, 5, 6, 7, 8],
        (seed) => Effect.flip(Explorer.sample(hidden, { seed })),
      )
      for (const each of drawn) expect(each).toMatchObject({ _tag: "ScheduleFailed", schedule: "b" })
    }))

  it.effect("is looked for with fewer interruptions first, and then with as many", () =>
    Effect.gen(function* () {
      const { fibers, ...program } = ordered(({ c }) => c !== undefined && Exit.isFailure(c))
      const interrupted = { ...program, fibers: (log: Array<string>) => ({ ...fibers(log), c: Effect.yieldNow }) }
      const found = yield* failed(interrupted, { interruptions: 1, interrupt: ["c"] })
      expect([found.schedule.includes("!c"), found.schedule.includes("-")]).toEqual([true, false])
      // What is shared is nothing to a sample, nor to what makes it simple.
      for (let seed = 0; seed < 9; seed++) {
        const drawn = (program: typeof interrupted) =>
          Effect.map(
            Effect.flip(Explorer.sample(program, { seed, interruptions: 1, interrupt: ["c"] })),
            (failed) => (failed as ScheduleFailed).schedule,
          )
        const hidden = { ...interrupted, shared: () => new WeakMap() }
        expect(yield* drawn(hidden)).toBe(yield* drawn(interrupted))
      }
      // One that is interrupted is not traded for one that is forced off, where none was.
      const either = {
        prepare: Effect.sync(() => ({ taken: 0 })),
        fibers: (state: { taken: number }) => ({
          a: Effect.andThen(Effect.sync(() => void state.taken++), Effect.sync(() => void state.taken--)),
          b: Effect.sync(() => void (state.taken += state.taken)),
        }),
        oracle: ({ taken }: { taken: number }) => taken === 0 ? undefined : Effect.fail(taken),
      }
      expect((yield* failed(either, { preemptions: 0, interruptions: 1 })).schedule).toBe("a !a")
    }))

  it.effect("with as many as it had is not looked for: it is the one that was found", () =>
    Effect.gen(function* () {
      const lost = {
        prepare: Effect.sync(() => ({ n: 0 })),
        fibers: (counter: { n: number }) => {
          const add = Effect.flatMap(Effect.sync(() => counter.n), (n) => Effect.sync(() => void (counter.n = n + 1)))
          return { a: add, b: add }
        },
        oracle: ({ n }: { n: number }) => n === 2 ? undefined : Effect.fail(n),
      }
      const drawn = yield* Effect.forEach(
        Array.from({ length: 12 }, (_, seed) => seed),
        (seed) => Effect.flip(Explorer.sample(lost, { seed })),
      )
      const schedules = new Set(drawn.map((failed) => failed instanceof ScheduleFailed ? failed.schedule : ""))
      expect(schedules).toEqual(new Set(["a - b", "b - a"]))
    }))

  it.effect("is what it was where something throws on the way to a simpler one", () =>
    Effect.gen(function* () {
      const { fibers, prepare } = ordered()
      const program = {
        prepare,
        fibers: (log: Array<string>) => {
          const { a, b } = fibers(log)
          const watched = Effect.withFiber((fiber) => {
            fiber.addObserver(() => {
              if (log.join("") !== "aa") throw new Error("observed")
            })
            return a
          })
          return { a: watched, b }
        },
      }
      const { fibers: whom, reason, schedule } = yield* failed(program)
      expect([reason, whom, schedule]).toEqual(["defect", [], "b"])
    }))

  it.effect("is not looked for without end", () =>
    Effect.gen(function* () {
      let runs = 0
      const names = ["a", "b", "c", "d", "e", "f", "g"]
      const program = {
        prepare: Effect.sync(() => (runs++, { taken: 0 })),
        fibers: (state: { taken: number }) =>
          Object.fromEntries(names.map((name) => [
            name,
            Effect.andThen(Effect.sync(() => void state.taken++), Effect.sync(() => void state.taken--)),
          ])),
        oracle: ({ taken }: { taken: number }) => taken === 0 ? undefined : Effect.fail(taken),
      }
      const busy = {
        ...program,
        oracle: () => {},
        fibers: (state: { taken: number }) => {
          const fibers = program.fibers(state)
          const sees = Effect.suspend(() => state.taken > 0 ? Effect.fail("seen") : Effect.void)
          return { ...fibers, z: sees }
        },
      }
      const { schedule } = yield* failed({ ...busy, oracle: undefined }, { preemptions: 1 })
      expect(schedule).toContain("- z")
      expect(runs).toBeLessThan(1_100)
    }))

  it.effect("fails by the same tag or class of error, and may fail in other words", () =>
    Effect.gen(function* () {
      const causes = {
        tags: [{ _tag: "DoubleGrant" }, { _tag: "OrderNote" }],
        classes: [new TypeError("one"), new RangeError("two")],
      }
      for (const [first, simpler] of Object.values(causes)) {
        const wrong: Readonly<Record<string, unknown>> = { aba: first, baa: simpler }
        const oracle = (log: Array<string>) => log.join("") in wrong ? Effect.fail(wrong[log.join("")]) : undefined
        const { cause, schedule } = yield* failed({ ...ordered(), oracle })
        expect([cause, schedule]).toEqual([first, "a - b"])
      }
    }))

  it.effect("that does not fail again is no result", () =>
    Effect.gen(function* () {
      let runs = 0
      const program = { ...of({ a: Effect.void }), oracle: () => ++runs === 1 ? Effect.fail("once") : undefined }
      const told = yield* Effect.flip(Explorer.explore(program))
      expect(told).toMatchObject({ _tag: "Uncontrolled", reason: "diverged", schedule: "" })
      runs = 0
      const other = { ...program, oracle: () => Effect.fail({ _tag: ++runs === 1 ? "First" : "Other" }) }
      expect(yield* Effect.flip(Explorer.explore(other))).toMatchObject({ _tag: "Uncontrolled", reason: "diverged" })
    }))
})

it("two findings are the same by the reason and by the kind of what was thrown", () => {
  const tagged = Object.assign(new Error("m"), { _tag: "Tagged" })
  const causes = ["m", 5, {}, { _tag: "Own" }, tagged, new Error("m"), new TypeError("m"), undefined]
  const of = (cause: unknown, reason: Reason = "oracle") => ({ reason, fibers: [], cause })
  for (const [i, one] of causes.entries()) {
    expect(causes.map((other) => isSame(of(one), of(other)))).toEqual(causes.map((_, j) => i === j))
    expect(isSame(of(one), of(one, "defect"))).toBe(false)
  }
  expect(isSame(of(tagged), of({ _tag: "Tagged" }))).toBe(true)
  expect(isSame(undefined, of("m"))).toBe(false)
})

describe("what throws when it is looked at", () => {
  it.effect("is told as any other that a program dies of, or fails with, and its schedule is run again", () =>
    Effect.gen(function* () {
      for (const odd of hostile()) {
        const programs = [
          [of({ a: Effect.die(odd) }), "defect"],
          [{ ...of({ a: Effect.fail(odd) }), oracle: undefined }, "failure"],
          [{ ...of({ a: Effect.void }), oracle: () => Effect.fail(odd) }, "oracle"],
        ] as const
        for (const [program, reason] of programs) {
          const failed = yield* Effect.flip(Explorer.explore(program))
          if (!(failed instanceof ScheduleFailed)) throw failed
          expect(failed.reason).toBe(reason)
          expect(failed.cause === odd).toBe(true)
          expect(failed.message.split("\n")[1]).toBe("something that cannot be read")
          expect((yield* Effect.flip(Explorer.replay(program, failed.schedule)))._tag).toBe("ScheduleFailed")
        }
      }
    }))

  it.effect("or is too deep to be drawn, and is the end of a fiber, keeps no search from its end", () =>
    Effect.gen(function* () {
      let deep: object = {}
      for (let i = 0; i < 20_000; i++) deep = { deep }
      for (const odd of [deep, ...hostile()]) {
        const ends = { ...of({ a: Effect.as(step, odd), b: step }), shared: () => 0 }
        expect(yield* Explorer.explore(ends)).toMatchObject({ exhaustive: true })
      }
    }))
})

describe("a replay", () => {
  it.effect("is of a program whose fibers have names, by a text of a length, and counts one schedule", () =>
    Effect.gen(function* () {
      const named = yield* Effect.flip(Explorer.replay(of({ "a b": Effect.void }), ""))
      expect(named).toMatchObject({ _tag: "InvalidRequest", field: "fibers" })
      expect(yield* Explorer.replay(of({ a: Effect.void }), " ".repeat(1_000_000))).toEqual(["a  ends"])
      const long = yield* Effect.flip(Explorer.replay(of({ a: Effect.void }), " ".repeat(1_000_001)))
      expect(long).toMatchObject({ field: "schedule", value: "1000001 characters" })
      class Odd extends Error {
        override toString(): string {
          return "odd"
        }
      }
      const odd = yield* Effect.flip(
        Explorer.replay({ ...of({ a: Effect.void }), oracle: () => Effect.fail(new Odd("m")) }, ""),
      )
      expect([(odd as ScheduleFailed).schedules, odd.message.split("\n")[1]]).toEqual([1, "Error: m"])
    }))
})
