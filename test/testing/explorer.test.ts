/** What the explorer says: of what is wrong, of what it cannot know, and of what it was asked wrongly. */
import { describe, expect } from "vitest"
import { it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Random from "effect/Random"
import * as Scheduler from "effect/Scheduler"
import * as Explorer from "../../core/testing/Explorer.ts"
import type { Bounds } from "../../core/testing/ExplorerBounds.ts"
import { InvalidSchedule, ScheduleFailed, Uncontrolled } from "../../core/testing/ExplorerFailure.ts"
import type { Allowed, Program } from "../../core/testing/ExplorerProgram.ts"

type Fibers = Readonly<Record<string, Effect.Effect<unknown, unknown>>>

/** A program that shares nothing. */
const of = (fibers: Fibers, allow: ReadonlyArray<Allowed> = []) => ({
  prepare: Effect.void,
  fibers: () => fibers,
  allow,
})

/** Why the first schedule that fails does, and of whom it tells. */
const failure = <S, F extends Fibers>(program: Program<S, F>, bounds: Bounds = {}) =>
  Effect.map(Effect.flip(Explorer.explore(program, bounds)), (failed) => {
    if (!(failed instanceof ScheduleFailed)) throw failed
    return failed
  })

const about = <S, F extends Fibers>(program: Program<S, F>, bounds: Bounds = {}) =>
  Effect.map(
    failure(program, bounds),
    ({ cause, fibers, reason }) => [reason, ...fibers, ...cause === undefined ? [] : [cause]],
  )

const lost = {
  prepare: Effect.sync(() => ({ n: 0 })),
  fibers: (counter: { n: number }) => {
    const add = Effect.flatMap(Effect.sync(() => counter.n), (n) =>
      Effect.sync(() => {
        counter.n = n + 1
      }))
    return { a: add, b: add }
  },
  oracle: (counter: { n: number }) => counter.n === 2 ? undefined : Effect.fail(`${counter.n} of 2`),
}

describe("a schedule fails", () => {
  it.effect("where a fiber waits for what nobody brings", () =>
    Effect.gen(function* () {
      const gate = Deferred.makeUnsafe<void>()
      expect(yield* about(of({ a: Deferred.await(gate), b: Effect.void }))).toEqual(["stuck", "a"])
      const failed = yield* failure(of({ a: Effect.never }))
      expect(failed.message).toContain("these wait for what nothing in the program will bring")
    }))

  it.effect("where two fibers wait for each other, in the one order in which they do", () =>
    Effect.gen(function* () {
      const locks = { prepare: Effect.sync(() => ({ x: false, y: false })) }
      const lock = (locks: { x: boolean; y: boolean }, name: "x" | "y"): Effect.Effect<void> =>
        Effect.suspend(() => {
          if (locks[name]) return Effect.never
          locks[name] = true
          return Effect.void
        })
      const both = (locks: { x: boolean; y: boolean }, one: "x" | "y", two: "x" | "y") =>
        Effect.andThen(lock(locks, one), lock(locks, two)).pipe(
          Effect.andThen(Effect.sync(() => void (locks.x = locks.y = false))),
        )
      const failed = yield* failure({
        ...locks,
        fibers: (state: { x: boolean; y: boolean }) => ({ a: both(state, "x", "y"), b: both(state, "y", "x") }),
      })
      expect([failed.reason, failed.fibers, failed.schedule]).toEqual(["stuck", ["a", "b"], "a - b"])
      expect(failed.story).toEqual(["a", "-  forced off", "b*4  waits", "a*3  waits"])
    }))

  it.effect("where a fiber dies, whatever the oracle says", () =>
    Effect.gen(function* () {
      const dying = { ...of({ a: Effect.void, b: Effect.die("oh") }), oracle: () => {} }
      expect(yield* about(dying)).toEqual(["defect", "b", "oh"])
      expect(yield* Explorer.explore({ ...dying, allow: ["defects"] })).toMatchObject({
        schedules: 2,
        exhaustive: true,
      })
    }))

  it.effect("where a fiber fails and no oracle says that it may", () =>
    Effect.gen(function* () {
      const failing = of({ a: Effect.fail("no") })
      expect(yield* about(failing)).toEqual(["failure", "a", "no"])
      expect((yield* Explorer.explore({ ...failing, oracle: () => {} })).schedules).toBe(1)
    }))

  it.effect("where the oracle fails, dies or throws", () =>
    Effect.gen(function* () {
      const thrown = new Error("thrown")
      const oracles = [() => Effect.fail("failed"), () => Effect.die("died"), () => {
        throw thrown
      }]
      const causes: Array<unknown> = []
      for (const oracle of oracles) causes.push((yield* about({ ...of({ a: Effect.void }), oracle }))[1])
      expect(causes).toEqual(["failed", "died", thrown])
    }))

  it.effect("where `prepare` fails or waits, and where the end of its scope dies", () =>
    Effect.gen(function* () {
      const fibers = () => ({ a: Effect.void })
      expect(yield* about({ prepare: Effect.fail("closed"), fibers })).toEqual(["prepare", "closed"])
      expect(yield* about({ prepare: Effect.never, fibers })).toEqual(["prepare"])
      const prepare = Effect.addFinalizer(() => Effect.die("jammed"))
      expect(yield* about({ prepare, fibers })).toEqual(["cleanup", "jammed"])
    }))

  it.effect("where it does not end", () =>
    Effect.gen(function* () {
      const forever = of({ a: Effect.forever(Effect.yieldNow), b: Effect.void })
      expect(yield* about(forever, { maxSteps: 50 })).toEqual(["endless", "a"])
      expect(yield* about(of({ a: Effect.forever(Effect.void) }), { maxSteps: 50 })).toEqual(["endless", "a"])
      expect((yield* about({ prepare: Effect.forever(Effect.yieldNow), fibers: () => ({}) }))[0]).toBe("prepare")
    }))

  it.effect("where a fiber is left, unless it may be", () =>
    Effect.gen(function* () {
      const leaving = { a: Effect.asVoid(Effect.forkDetach(Effect.never)) }
      expect(yield* about(of(leaving))).toEqual(["fibers", "a.1"])
      expect((yield* Explorer.explore(of(leaving, ["fibers"]))).exhaustive).toBe(true)
      // One that is ready is run first; one in the scope of `prepare` ends with it.
      expect((yield* Explorer.explore(of({ a: Effect.forkDetach(Effect.yieldNow) }))).exhaustive).toBe(true)
      const scoped = { prepare: Effect.forkScoped(Effect.never), fibers: () => ({ a: Effect.void }) }
      expect((yield* Explorer.explore(scoped)).exhaustive).toBe(true)
    }))

  it.effect("where a timer is left, unless it may be", () =>
    Effect.gen(function* () {
      const leaving = { a: Effect.asVoid(Effect.forkDetach(Effect.sleep("1 hour"))) }
      expect(yield* about(of(leaving))).toEqual(["fibers", "a.1"])
      expect(yield* about(of(leaving, ["fibers"]))).toEqual(["timers", "a.1"])
      expect((yield* Explorer.explore(of(leaving, ["fibers", "timers"]))).exhaustive).toBe(true)
    }))

  it.effect("where an observer throws, and says so", () =>
    Effect.gen(function* () {
      const watched = Effect.withFiber((fiber) => {
        fiber.addObserver(() => {
          throw new Error("observed")
        })
        return Effect.void
      })
      expect(String((yield* about(of({ a: watched })))[1])).toBe("Error: observed")
    }))
})

describe("what it tells of a failure", () => {
  it.effect("has the reason, the cause, the schedule and the story in its message", () =>
    Effect.gen(function* () {
      const failed = yield* failure(lost)
      expect(failed.message).toBe(
        `the oracle says no, in schedule ${failed.schedules}\n1 of 2\nschedule: "a - b"\n` +
          "  a\n  -  forced off\n  b*2  ends\n  a  ends",
      )
      expect([failed._tag, failed.name, failed instanceof Error]).toEqual(["ScheduleFailed", "ScheduleFailed", true])
      expect(JSON.parse(JSON.stringify(failed))).toMatchObject({ reason: "oracle", schedule: "a - b", cause: "1 of 2" })
    }))

  it.effect("says who woke, started, waited, slept, was interrupted and failed", () =>
    Effect.gen(function* () {
      const program = {
        prepare: Deferred.make<void>(),
        fibers: (gate: Deferred.Deferred<void>) => ({
          a: Effect.andThen(Deferred.await(gate), Effect.fail("late")),
          b: Effect.andThen(Effect.sleep("2 seconds"), Deferred.succeed(gate, undefined)),
          c: Effect.never,
        }),
        oracle: () => Effect.fail("told"),
      }
      const failed = yield* Effect.flip(Explorer.replay(program, "a b*2 c !c ~ b*2"))
      expect((failed as ScheduleFailed).story).toEqual([
        "a  waits",
        "b*2  waits",
        "c  waits",
        "!c  ends interrupted",
        "~  2s since the start",
        "b*2  wakes a",
        "a  fails with late, b ends",
      ])
    }))

  it.effect("is the simplest that was found, however long the first was", () =>
    Effect.gen(function* () {
      const drawn = yield* Effect.flip(Explorer.sample(lost, { seed: 3, schedules: 100 }))
      expect((drawn as ScheduleFailed).schedule).toMatch(/^(a - b|b - a)$/)
      const busy = {
        ...lost,
        fibers: (counter: { n: number }) => {
          const pauses = Effect.repeat(Effect.yieldNow, { times: 6 })
          const { a, b } = lost.fibers(counter)
          return { a: Effect.andThen(pauses, a), b: Effect.andThen(pauses, b), c: pauses }
        },
      }
      const long = yield* Effect.flip(Explorer.sample(busy, { seed: 11, schedules: 2_000 }))
      expect((long as ScheduleFailed).schedule.split(" ").filter((word) => word === "-").length).toBeLessThanOrEqual(1)
    }))
})

describe("what it cannot know is no result", () => {
  it.effect("where a run is no repetition of the last", () =>
    Effect.gen(function* () {
      let runs = 0
      const kept = of({ a: Effect.suspend(() => runs++ % 3 === 2 ? Effect.void : Effect.yieldNow), b: Effect.yieldNow })
      const failed = yield* Effect.flip(Explorer.explore(kept))
      expect(failed).toBeInstanceOf(Uncontrolled)
      expect([(failed as Uncontrolled).reason, failed.message.includes("make all its state in prepare")]).toEqual(
        ["diverged", true],
      )
    }))

  it.live("where the outside wakes a fiber", () =>
    Effect.gen(function* () {
      const outside = Effect.callback<void>((resume) => void Promise.resolve().then(() => resume(Effect.void)))
      const failed = yield* Effect.flip(Explorer.explore(of({ a: Effect.void, b: outside })))
      expect(failed).toBeInstanceOf(Uncontrolled)
      expect([(failed as Uncontrolled).reason, (failed as Uncontrolled).fiber]).toEqual(["woken", "b"])
    }))

  it.effect("where what is shared was not told, and that shows", () =>
    Effect.gen(function* () {
      const hidden = { ...lost, oracle: () => {}, shared: () => "nothing" }
      const told = {
        ...hidden,
        fibers: (counter: { n: number }) => {
          const { a, b } = lost.fibers(counter)
          const last = Effect.sync(() => counter.n)
          return { a: Effect.andThen(a, last), b: Effect.andThen(b, last) }
        },
      }
      const failed = yield* Effect.flip(Explorer.explore(told, { preemptions: Infinity }))
      expect((failed as Uncontrolled).reason).toBe("unshared")
      expect((yield* Explorer.explore({ ...told, shared: (n: object) => n }, { preemptions: Infinity })).cutBy).toEqual(
        [],
      )
    }))
})

describe("what is the same in every run", () => {
  it.effect("is the time, which goes on only to the next timer, and never back", () =>
    Effect.gen(function* () {
      const times: Array<readonly [bigint, number]> = []
      const now = Clock.clockWith((clock) =>
        Effect.sync(() => void times.push([clock.monotonicTimeNanosUnsafe(), clock.currentTimeMillisUnsafe()]))
      )
      const sleep = Effect.andThen(now, Effect.andThen(Effect.sleep("3 seconds"), now))
      yield* Explorer.replay(of({ a: sleep }), "")
      const [[before, millis], [after, later]] = times as never as [[bigint, number], [bigint, number]]
      expect([after - before, later - millis]).toEqual([3_000_000_000n, 3_000])
      times.length = 0
      yield* Explorer.explore(of({ a: sleep, b: Effect.andThen(Effect.sleep("1 second"), now) }))
      expect(new Set(times.map(([nanos]) => Number(nanos - before) / 1e9))).toEqual(new Set([0, 1, 3, 4]))
    }))

  it.effect("wakes sleepers in the order of their instants, and those of one instant in either order", () =>
    Effect.gen(function* () {
      const woken: Array<string> = []
      const slept = (name: string, seconds: number) =>
        Effect.andThen(
          Effect.sleep(`${seconds} seconds`),
          Clock.clockWith((clock) =>
            Effect.sync(() => void woken.push(`${name} ${(clock.monotonicTimeNanosUnsafe() - start) / 1_000_000_000n}`))
          ),
        )
      let start = 0n
      const prepare = Clock.clockWith((clock) =>
        Effect.sync(() => {
          start = clock.monotonicTimeNanosUnsafe()
        })
      )
      yield* Explorer.replay(
        { prepare, fibers: () => ({ a: slept("a", 3), b: slept("b", 1), c: slept("c", 2) }) },
        "",
      )
      expect(woken).toEqual(["b 1", "c 2", "a 3"])
      woken.length = 0
      yield* Explorer.explore({ prepare, fibers: () => ({ a: slept("a", 1), b: slept("b", 1) }) }, { preemptions: 0 })
      expect(new Set(woken.map((_, i) => woken.slice(2 * (i >> 1), 2 * (i >> 1) + 2).join()))).toEqual(
        new Set(["a 1,b 1", "b 1,a 1"]),
      )
    }))

  it.effect("is chance, drawn anew from the same seed", () =>
    Effect.gen(function* () {
      const drawn: Array<number> = []
      const draw = Effect.map(Random.next, (n) => void drawn.push(n))
      yield* Explorer.explore(of({ a: draw, b: draw }))
      const runs = Array.from({ length: drawn.length / 2 }, (_, run) => drawn.slice(2 * run, 2 * run + 2).sort().join())
      expect([runs.length, new Set(runs).size]).toEqual([6, 1])
      expect(drawn[0]).not.toBe(drawn[1])
      expect(yield* Explorer.replay(of({ a: Random.nextInt, b: Random.nextIntBetween(1, 6) }), "b*2 a")).toHaveLength(2)
    }))

  it.effect("is a sample of the same seed, and not one of another", () =>
    Effect.gen(function* () {
      const draw = (seed: number) => {
        const orders: Array<string> = []
        const step = (name: string) => Effect.sync(() => void orders.push(name))
        const fiber = (name: string) => Effect.andThen(step(name), Effect.andThen(step(name), step(name)))
        const program = of({ a: fiber("a"), b: fiber("b"), c: fiber("c") })
        return Effect.map(
          Explorer.sample(program, { seed, schedules: 50 }),
          (explored) => ({ orders: orders.join(""), explored }),
        )
      }
      const [one, same, other] = [yield* draw(5), yield* draw(5), yield* draw(6)]
      expect(one.orders).toBe(same.orders)
      expect(one.orders).not.toBe(other.orders)
      expect(one.explored).toMatchObject({ schedules: 50, repeats: 0, exhaustive: false, cutBy: ["maxSchedules"] })
    }))
})

describe("a step", () => {
  it.effect.each(
    Object.entries({
      "that yields": Effect.yieldNow,
      "that yields, and does nothing": Effect.andThen(Effect.yieldNow, Effect.void),
      "that sleeps": Effect.sleep(1),
      "that does nothing": Effect.void,
    }),
  )("of its own is what follows code behind a first operation %s", ([, first]) =>
    Effect.gen(function* () {
      const add = (counter: { n: number }) =>
        Effect.flatMap(first, () => {
          const n = counter.n
          return Effect.sync(() => {
            counter.n = n + 1
          })
        })
      const program = { ...lost, fibers: (counter: { n: number }) => ({ a: add(counter), b: add(counter) }) }
      expect(yield* about(program)).toEqual(["oracle", "1 of 2"])
      const drawn = yield* Effect.flip(Explorer.sample(program, { seed: 1, schedules: 500 }))
      expect(drawn).toMatchObject({ _tag: "ScheduleFailed", cause: "1 of 2" })
    }))
})

describe("an interruption", () => {
  it.effect("comes between what is taken and the exit that gives it back, and not between two that are one step", () =>
    Effect.gen(function* () {
      const job = (printers: { free: number }, isSafe: boolean) => {
        const take = Effect.sync(() => void printers.free--)
        const give = Effect.sync(() => void printers.free++)
        return isSafe
          ? Effect.acquireUseRelease(take, () => Effect.void, () => give)
          : Effect.andThen(take, Effect.ensuring(Effect.void, give))
      }
      const program = (isSafe: boolean) => ({
        prepare: Effect.sync(() => ({ free: 1 })),
        fibers: (printers: { free: number }) => ({ a: job(printers, isSafe) }),
        oracle: ({ free }: { free: number }) => free === 1 ? Effect.void : Effect.fail(`${free} free`),
      })
      const failed = yield* failure(program(false), { preemptions: 0, interruptions: 1 })
      expect([failed.cause, failed.schedule]).toEqual(["0 free", "a !a"])
      expect((yield* Explorer.explore(program(true), { preemptions: 0, interruptions: 1 })).exhaustive).toBe(true)
    }))

  it.effect("that is swallowed shows in the steps that the fiber makes after it", () =>
    Effect.gen(function* () {
      const after = new Map<string, number>()
      const job = (wait: (step: Effect.Effect<void>) => Effect.Effect<unknown>) =>
        Effect.andThen(wait(Effect.yieldNow), Effect.andThen(wait(Effect.yieldNow), Effect.sync(() => {})))
      const swallowed = Effect.uninterruptibleMask((restore) => job((step) => Effect.exit(restore(step))))
      const most = (a: Effect.Effect<unknown>) =>
        Effect.map(
          Explorer.explore({
            prepare: Effect.void,
            fibers: () => ({ a, b: Effect.yieldNow }),
            oracle: (_state, _exits, interrupted) => {
              for (const [name, steps] of Object.entries(interrupted)) {
                after.set(name, Math.max(steps, after.get(name) ?? 0))
              }
            },
          }, { interruptions: 2, interrupt: ["a"] }),
          () => Object.fromEntries(after),
        )
      expect(yield* most(job((step) => step))).toEqual({ a: 1 })
      expect((yield* most(swallowed)).a).toBeGreaterThan(5)
    }))

  it.effect("comes to those who are named, at every point, to one that a fiber starts too", () =>
    Effect.gen(function* () {
      const ends = new Map<string, number>()
      const program = {
        prepare: Effect.sync(() => ({ steps: 0 })),
        fibers: (state: { steps: number }) => {
          const step = Effect.sync(() => void state.steps++)
          return { a: Effect.flatMap(Effect.forkChild(Effect.andThen(step, Effect.andThen(step, step))), Fiber.await) }
        },
        oracle: ({ steps }: { steps: number }, { a }: { a: Exit.Exit<Exit.Exit<unknown>> }) => {
          const end = `${steps} ${Exit.isSuccess(a) ? a.value._tag : "a interrupted"}`
          ends.set(end, (ends.get(end) ?? 0) + 1)
        },
      }
      const child = yield* Explorer.explore(program, { preemptions: 1, interruptions: 1, interrupt: ["a.1"] })
      expect([child.exhaustive, [...ends.keys()].sort()]).toEqual([
        true,
        ["0 Failure", "1 Failure", "2 Failure", "3 Success"],
      ])
      ends.clear()
      yield* Explorer.explore(program, { preemptions: 1, interruptions: 1 })
      expect([...ends.keys()].sort()).toEqual([
        "0 a interrupted",
        "1 a interrupted",
        "2 a interrupted",
        "3 Success",
        "3 a interrupted",
      ])
      expect(yield* Explorer.replay(program, "a*3 a.1*2 !a.1")).toContain("!a.1  wakes a, a ends, ends interrupted")
    }))
})

describe("a fiber that another one has started", () => {
  const forks = { forkChild: Effect.forkChild, forkDetach: Effect.forkDetach }
  const bounds = { interruptions: 1, interrupt: ["a.1"] }
  const free = ({ free }: { readonly free: number }) => free === 1 ? Effect.void : Effect.fail(`${free} free`)

  it.effect.each(Object.entries(forks))(
    "is interrupted before it begins too, and gives nothing back: %s",
    ([, fork]) =>
      Effect.gen(function* () {
        const handing = (isEarly: boolean) => ({
          prepare: Effect.sync(() => ({ free: 1 })),
          fibers: (printers: { free: number }) => {
            const take = Effect.sync(() => void printers.free--)
            const give = Effect.sync(() => void printers.free++)
            const job = isEarly ? Effect.ensuring(Effect.void, give) : Effect.andThen(take, give)
            return { a: Effect.flatMap(isEarly ? Effect.andThen(take, fork(job)) : fork(job), Fiber.await) }
          },
          oracle: free,
        })
        const early = yield* failure(handing(true), bounds)
        expect([early.cause, early.schedule]).toEqual(["0 free", "a*2 !a.1"])
        expect(early.story).toContain("!a.1  ends interrupted")
        expect((yield* failure(handing(false), bounds)).schedule).toBe("a*3 a.1*2 !a.1")
      }),
  )

  it.effect("is let be where it is uninterruptible, and does not run before its turn", () =>
    Effect.gen(function* () {
      const program = (isAsked: boolean) => ({
        prepare: Effect.sync(() => ({ free: 1 })),
        fibers: (printers: { free: number }) => {
          const child = Effect.forkChild(Effect.sync(() => void printers.free--), { uninterruptible: true })
          const both = Effect.flatMap(child, (fiber) => Effect.sync(() => [fiber, printers.free] as const))
          const started = Effect.provideService(both, Scheduler.PreventSchedulerYield, !isAsked)
          return {
            a: Effect.flatMap(started, ([fiber, seen]) =>
              Effect.map(Fiber.await(fiber), ({ _tag }) => {
                printers.free = _tag === "Success" && printers.free === 0 ? seen : -1
              })),
          }
        },
        oracle: free,
      })
      expect((yield* Explorer.explore(program(true), { ...bounds, preemptions: 0 })).exhaustive).toBe(true)
      // In a replay all may be interrupted, also one that is never asked whether it steps aside.
      expect((yield* Explorer.replay(program(false), "")).at(-1)).toMatch(/^a.*ends$/)
    }))

  it.effect("makes no step more for that it may be interrupted before it begins", () =>
    Effect.gen(function* () {
      const one = of({ a: Effect.forkDetach(Effect.sync(() => {})) })
      expect(yield* Explorer.replay(one, "")).toContain("a.1  ends")
    }))

  it.effect("may have been started by what prepares it", () =>
    Effect.gen(function* () {
      const ends = new Set<string>()
      const program = {
        prepare: Effect.forkDetach(Effect.yieldNow),
        fibers: () => ({ a: Effect.void }),
        oracle: (fiber: Fiber.Fiber<void>) => Effect.map(Fiber.await(fiber), ({ _tag }) => void ends.add(_tag)),
      }
      const told = yield* Explorer.explore(program, { interruptions: 1, interrupt: ["prepare.1"] })
      expect([told.exhaustive, [...ends].sort()]).toEqual([true, ["Failure", "Success"]])
    }))
})

describe("an outside event", () => {
  it.effect("happens at any time, with any of its outcomes, or not any more", () =>
    Effect.gen(function* () {
      const ends = new Set<string>()
      const dial = Explorer.event("dial", Effect.succeed("up"), Effect.fail("down"))
      const program = {
        ...of({ a: Effect.timeoutOption(dial, "1 second"), b: Effect.sleep("1 second") }),
        oracle: (_: void, exits: Readonly<Record<string, unknown>>) => void ends.add(JSON.stringify(exits)),
      }
      yield* Explorer.explore(program, { preemptions: 1 })
      expect([...ends].map((end) => /up|down|None/.exec(end)?.[0]).sort()).toEqual(["None", "down", "up"])
      expect(yield* Explorer.replay(of({ a: Effect.exit(dial) }), "a*3 a:dial/1")).toEqual([
        "a*3  waits",
        "a:dial/1",
        "a  ends",
      ])
      const gone = of({ a: Effect.andThen(Effect.flatMap(Effect.forkChild(dial), Fiber.interrupt), Effect.void) })
      expect((yield* Explorer.explore(gone)).exhaustive).toBe(true)
    }))

  it.effect("happens in an explored program only, and has a name", () =>
    Effect.gen(function* () {
      expect(String(yield* Effect.catchDefect(Explorer.event("dial", Effect.void), Effect.succeed))).toContain(
        'the event "dial" happens in an explored program only',
      )
      expect((yield* about(of({ a: Explorer.event("a b", Effect.void) })))[0]).toBe("defect")
    }))

  const rule = 'outcomes of the event "dial" must be one Effect or more, each an argument of its own, got'
  const outcomes: ReadonlyArray<readonly [what: string, given: ReadonlyArray<unknown>, shown: string]> = [
    ["none", [], "undefined"],
    ["a list", [[Effect.void, Effect.void]], '"<object>"'],
    ["a text behind an effect", [Effect.void, "up"], '"up"'],
    ["one that is undefined", [undefined], "undefined"],
  ]
  it.effect.each(outcomes)("has outcomes that are effects, not %s", ([, given, shown]) =>
    Effect.gen(function* () {
      const event = Reflect.apply(Explorer.event, undefined, ["dial", ...given]) as Effect.Effect<never>
      const defect = yield* Effect.catchDefect(event, Effect.succeed)
      expect(String(defect)).toContain(`${rule} ${shown}`)
    }))
})

describe("a schedule that cannot be followed", () => {
  const program = of({ a: Effect.yieldNow, b: Effect.void })
  const refused = (text: string) =>
    Effect.map(Effect.flip(Explorer.replay(program, text)), (failed) => {
      if (!(failed instanceof InvalidSchedule)) throw failed
      return [failed.word, failed.at, ...failed.possible]
    })

  it.effect.each(
    [
      ["a *2", ["*2", 1]],
      ["a*0", ["a*0", 0]],
      ["a*200000", ["a*200000", 0]],
      ["!", ["!", 0]],
      ["b c", ["c", 1, "a"]],
      ["a:dial", ["a:dial", 0, "a", "b", "!a", "!b"]],
      ["a b a a", ["a", 3]],
      ["a !a !a", ["!a", 2, "b"]],
      ["-", ["-", 0, "a", "b", "!a", "!b"]],
      ["constructor", ["constructor", 0, "a", "b", "!a", "!b"]],
      ["a*1e9", ["a*1e9", 0]],
      ["a*-1", ["a*-1", 0]],
      [`a*${"9".repeat(400)}`, [`a*${"9".repeat(98)}`, 0]],
      ["a:b/1/2", ["a:b/1/2", 0]],
      ["a.1.", ["a.1.", 0]],
      ["__proto__*99999 a*2", ["a*2", 99_999]],
    ] as const,
  )("%s", ([text, expected]) =>
    Effect.gen(function* () {
      expect(yield* refused(text)).toEqual(expected)
    }))

  it.effect("is told with its word, and with what was possible", () =>
    Effect.gen(function* () {
      expect((yield* Effect.flip(Explorer.replay(program, "b c"))).message).toBe(
        'step 2 of the schedule is "c"; possible: a',
      )
      expect((yield* Effect.flip(Explorer.replay(program, "?\u001b[2J"))).message).toBe(
        'step 1 of the schedule is "?\\u001b[2J", which is no step',
      )
    }))

  it.effect("is no text, or one that is too long to be one", () =>
    Effect.gen(function* () {
      for (const schedule of [undefined, 3, { split: () => [] }, "a ".repeat(500_001)]) {
        const failed = yield* Effect.flip(Explorer.replay(program, schedule as never))
        expect(failed).toMatchObject({ _tag: "InvalidRequest", field: "schedule" })
      }
      expect(yield* Explorer.replay(program, "\n a\ta  b ")).toEqual(["a*2  steps aside, ends", "b  ends"])
    }))
})

describe("what it is asked is checked at the door", () => {
  it.effect.each(
    [
      [{ preemptions: -1 }, "preemptions"],
      [{ preemptions: 1.5 }, "preemptions"],
      [{ interruptions: 101 }, "interruptions"],
      [{ maxSteps: 0 }, "maxSteps"],
      [{ maxSchedules: 0 }, "maxSchedules"],
      [{ premptions: 1 } as object, "premptions"],
    ] as const,
  )("%j", ([bounds, limit]) =>
    Effect.gen(function* () {
      expect(yield* Effect.flip(Explorer.explore(lost, bounds))).toMatchObject({ _tag: "InvalidLimits", limit })
    }))

  it.effect("what is no bound is told so, and what belongs to the program where to put it", () =>
    Effect.gen(function* () {
      const refused = (bounds: object) => Effect.map(Effect.flip(Explorer.explore(lost, bounds)), String)
      const bounds = "preemptions, interruptions, interrupt, maxSteps, maxSchedules"
      expect(yield* refused({ premptions: 1 })).toContain(`premptions must be one of the bounds ${bounds}, got 1`)
      expect(yield* refused({ toString: 1 })).toContain(`toString must be one of the bounds ${bounds}, got 1`)
      expect(yield* refused({ shared: () => 0 })).toContain(
        'Explorer: shared must be in the program, which is the first argument, got "<function>"',
      )
    }))

  it.effect("bounds are an object", () =>
    Effect.gen(function* () {
      for (const bounds of [null, 3, "2"]) {
        const failed = yield* Effect.flip(Explorer.explore(lost, bounds as never))
        expect(failed).toMatchObject({ _tag: "InvalidLimits", limit: "bounds", value: bounds })
      }
    }))

  it.effect("a sample has a seed", () =>
    Effect.gen(function* () {
      for (const sampling of [{}, { seed: 0.5 }, { seed: 1, maxSchedules: 3 }]) {
        expect((yield* Effect.flip(Explorer.sample(lost, sampling as never)))._tag).toBe("InvalidLimits")
      }
    }))

  it.effect.each(
    [["1a", "fibers"], ["a b", "fibers"], ["", "fibers"], ["prepare", "fibers"], ["a.1", "fibers"]] as const,
  )(
    "a fiber is not called %j",
    ([name, field]) =>
      Effect.gen(function* () {
        expect(yield* Effect.flip(Explorer.explore(of({ [name]: Effect.void })))).toMatchObject({
          _tag: "InvalidRequest",
          field,
        })
      }),
  )

  it.effect("nobody is interrupted or alike who is not there", () =>
    Effect.gen(function* () {
      const unknown = yield* Effect.flip(Explorer.explore(lost, { interruptions: 1, interrupt: ["z"] }))
      expect(unknown.message).toBe('interrupt must be one of a, b, got "z"')
      const unlike = yield* Effect.flip(Explorer.explore({ ...lost, alike: ["z"] } as never))
      expect(unlike.message).toBe('alike must be one of a, b, got "z"')
    }))

  it.effect("nor one that is there in no schedule, and whoever is named can be", () =>
    Effect.gen(function* () {
      const program = of({ a: Effect.forkDetach(Effect.void) })
      const search = (interrupt: string) => Explorer.explore(program, { interruptions: 1, interrupt: [interrupt] })
      for (const name of ["a.2", "prepare.1"]) {
        const absent = yield* Effect.flip(search(name))
        const rule = "the name of a fiber that is there in some schedule"
        expect(absent).toMatchObject({ _tag: "InvalidRequest", field: "interrupt", rule, value: name })
      }
      for (const value of ["prepare", "prepare.x", "oracle.1", "a.x"]) {
        expect(yield* Effect.flip(search(value))).toMatchObject({ field: "interrupt", rule: "one of a", value })
      }
      expect((yield* search("a.1")).exhaustive).toBe(true)
      const cut = yield* Explorer.explore(program, { interruptions: 1, interrupt: ["a.2"], maxSchedules: 1 })
      expect(cut).toMatchObject({ exhaustive: false, cutBy: ["maxSchedules"] })
    }))

  const parts: ReadonlyArray<readonly [field: string, given: unknown, rule: RegExp]> = [
    ["program", undefined, /^an object with prepare and fibers$/],
    ["program", null, /^an object/],
    ["prepare", {}, /^an Effect$/],
    ["fibers", { fibers: 1 }, /^a function$/],
    ["fibers", { fibers: () => ({}) }, /^one Effect or more, by name$/],
    ["fibers", { fibers: () => null }, /^one Effect or more/],
    ["fibers", { fibers: () => ({ a: Effect.void, b: 5 }) }, /^one Effect or more/],
    ["oracle", { oracle: 5 }, /^a function$/],
    ["shared", { shared: {} }, /^a function$/],
    ["alike", { alike: "ab" }, /^a list of names$/],
    ["alike", { alike: [5] }, /^a list of names$/],
    ["allow", { allow: "fibers" }, /^a list of defects, fibers, timers, unanswered$/],
    ["allow", { allow: ["fibres"] }, /^a list of defects/],
    ["allow", { allow: ["toString"] }, /^a list of defects/],
  ]
  it.effect.each(parts)("a program whose %s are wrong: %j", ([field, given, rule]) =>
    Effect.gen(function* () {
      const program = typeof given === "object" && given !== null && field !== "prepare"
        ? { ...of({ a: Effect.void, b: Effect.void }), ...given }
        : given
      for (const run of [Explorer.explore, (program: never) => Explorer.sample(program, { seed: 1 })]) {
        const refused = yield* Effect.flip(run(program as never))
        expect(refused).toMatchObject({ _tag: "InvalidRequest", field, rule: expect.stringMatching(rule) })
      }
    }))

  it.effect("a search that is cut says so", () =>
    Effect.gen(function* () {
      const cut = yield* Explorer.explore({ ...lost, oracle: () => {} }, { preemptions: Infinity, maxSchedules: 3 })
      expect(cut).toMatchObject({ schedules: 3, exhaustive: false, cutBy: ["maxSchedules"] })
    }))
})
