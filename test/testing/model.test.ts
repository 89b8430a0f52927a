/** The model runner has to find a difference, make the life short, keep its interruption, and live it again. */
import { assert, describe, it } from "vitest"
import fc from "fast-check"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Semaphore from "effect/Semaphore"
import { InvalidLimits } from "../../core/Refusal.ts"
import * as Model from "../../core/testing/Model.ts"
import { hostile } from "../support/Hostile.ts"

/** Places that are counted; `fault` names what is wrong with them. */
type Fault = "none" | "gap" | "fifth" | "leak"
interface Places {
  free: number
  taken: number
}
const places = 3

const taken = (pool: Places, fault: Fault): Effect.Effect<void, "full"> => {
  const take = Effect.suspend(() => {
    if (pool.free === 0) return Effect.fail("full" as const)
    pool.free--
    pool.taken++
    return Effect.void
  })
  const back = Effect.sync(() => void pool.free++)
  // The faulty one says that it will give back one step after it has taken.
  const used = Effect.andThen(Effect.yieldNow, Effect.yieldNow)
  if (fault !== "gap") return Effect.acquireUseRelease(take, () => used, () => back)
  return Effect.andThen(take, Effect.ensuring(used, back))
}

const life = (fault: Fault): Model.Life<{ held: number; turns: number }, Places> => ({
  prepare: Effect.sync(() => ({ free: places, taken: 0 })),
  model: () => ({ held: 0, turns: 0 }),
  commands: [
    fc.constant<Model.Command<{ held: number; turns: number }, Places>>({
      name: "use",
      run: (_, pool, stage) => {
        const exit = stage.now(taken(pool, fault))
        assert.isTrue(Exit.isSuccess(exit) || Exit.hasInterrupts(exit), String(exit))
      },
    }),
    fc.nat({ max: 9 }).map((n) => ({
      name: `turn(${n})`,
      when: ({ turns }) => turns < 20,
      run: (model, pool) => {
        model.turns++
        if (fault === "fifth" && pool.taken === 5) pool.free--
        return Effect.void
      },
    })),
  ],
  invariant: (_, pool) => assert.strictEqual(pool.free, places),
  finish: (_, pool) => fault === "leak" && pool.taken > 3 ? Effect.fail("leak") : Effect.void,
})

const failure = (fault: Fault, options: Model.Options = {}): Model.ModelFailed =>
  Effect.runSync(
    Effect.flip(Model.check(fc, life(fault), { runs: 200, maxCommands: 40, maxCut: 30, seed: 7, ...options })),
  )

describe("a right pool", () => {
  it("agrees with its model in all lives, and was interrupted in them", () => {
    const checked = Effect.runSync(Model.check(fc, life("none"), { runs: 50, maxCut: 30, seed: 7 }))
    assert.deepInclude(checked, { seed: 7, runs: 50 })
    assert.isAbove(checked.commands, 500)
    assert.isAbove(checked.cuts, 100)
  })

  it("is judged by the same lives for the same seed, and by no interruption where none is asked for", () => {
    const check = (options: Model.Options) => Effect.runSync(Model.check(fc, life("none"), { runs: 20, ...options }))
    assert.deepStrictEqual(check({ seed: 1, maxCut: 30 }), check({ seed: 1, maxCut: 30 }))
    assert.notDeepEqual(check({ seed: 1, maxCut: 30 }), check({ seed: 2, maxCut: 30 }))
    assert.strictEqual(check({ seed: 1 }).cuts, 0)
  })

  it("of Effect's own agrees, whichever task is next", () => {
    const semaphores: Model.Life<object, Semaphore.Semaphore> = {
      prepare: Semaphore.make(2),
      model: () => ({}),
      commands: [fc.constant({
        name: "use",
        run: (_, semaphore, { now }) => void now(semaphore.withPermits(2)(Effect.yieldNow)),
      })],
      finish: (_, semaphore) => semaphore.withPermits(2)(Effect.void),
    }
    for (const order of ["oldest", "newest"] as const) {
      assert.isAbove(Effect.runSync(Model.check(fc, semaphores, { order, maxCut: 12, runs: 30 })).cuts, 50)
    }
  })
})

describe("a life", () => {
  it("leaves out what makes no sense where its model is", () => {
    const bounded: Model.Life<{ runs: number }, void> = {
      prepare: Effect.void,
      model: () => ({ runs: 0 }),
      commands: [fc.constant({ name: "once", when: ({ runs }) => runs === 0, run: (model) => void model.runs++ })],
      invariant: ({ runs }) => assert.isAtMost(runs, 1),
    }
    assert.isAtMost(Effect.runSync(Model.check(fc, bounded, { runs: 9 })).commands, 9)
  })

  it("is lived in the order that was asked for", () => {
    const raced: Model.Life<object, Array<string>> = {
      prepare: Effect.sync(() => []),
      model: () => ({}),
      commands: [fc.constant({
        name: "race",
        run: (_, log, { start }) => {
          log.length = 0
          const both = ["a", "b"].map((name) => Effect.sync(() => log.push(name)))
          start(Effect.all(both, { concurrency: "unbounded" }))
        },
      })],
      invariant: (_, log) => assert.strictEqual(log.join(""), "ab"),
    }
    Effect.runSync(Model.check(fc, raced, { order: "oldest", runs: 9 }))
    assert.deepStrictEqual(Effect.runSync(Effect.flip(Model.check(fc, raced, { order: "newest", runs: 9 }))).life, [
      "race",
    ])
  })
})

describe("what fast-check is asked for", () => {
  /** What it is asked for by these options, and what came of it. */
  const asked = (options: Model.Options) => {
    const seen: Record<string, unknown> = {}
    const noting = (name: "check" | "commands" | "nat" | "option") => (...given: ReadonlyArray<unknown>): unknown => {
      seen[name] = given.at(-1)
      return (fc[name] as unknown as (...given: ReadonlyArray<unknown>) => unknown)(...given)
    }
    const noted = { check: noting("check"), commands: noting("commands"), nat: noting("nat"), option: noting("option") }
    return { checked: Effect.runSync(Model.check({ ...fc, ...noted }, life("none"), options)), seen }
  }

  it("is what is said of the options, and nothing about interruptions where none is drawn", () => {
    const { checked, seen } = asked({ seed: 1 })
    assert.deepStrictEqual(seen, {
      check: { numRuns: 100, seed: 1 },
      commands: { maxCommands: 50, size: "max", replayPath: undefined },
    })
    assert.deepInclude(checked, { runs: 100, seed: 1, cuts: 0 })
    assert.deepStrictEqual(asked({ runs: 3 }).seen["check"], { numRuns: 3 })
  })

  it("is as much as it is told, with an interruption for every second command", () => {
    const { seen } = asked({ maxCommands: 7, maxCut: 9, runs: 2, seed: 4 })
    assert.deepStrictEqual(seen, {
      check: { numRuns: 2, seed: 4 },
      commands: { maxCommands: 7, size: "max", replayPath: undefined },
      nat: { max: 9 },
      option: { freq: 2, nil: undefined },
    })
  })
})

describe("what fast-check says", () => {
  const given = life("none")
  const says = (check: (property: never, parameters: never) => unknown, options: Model.Options = {}): unknown => {
    const exit = Effect.runSyncExit(Model.check({ ...fc, check }, given, options))
    return Exit.isFailure(exit) ? Cause.squash(exit.cause) : exit.value
  }

  it("is a defect where it throws, or gives up, with what it says of that", () => {
    const odd = new Error("odd")
    const thrown = () => {
      throw odd
    }
    assert.strictEqual(says(thrown), odd)
    assert.strictEqual(says(thrown, { replay: { seed: 1, path: "0", replayPath: ":" } }), odd)
    assert.strictEqual(says(() => ({ failed: true, errorInstance: odd })), odd)
    assert.strictEqual((says(() => ({ failed: true })) as Error).message, "fast-check gave up")
  })

  it("may lack what a life is lived again by", () => {
    const wrong = { ...given, prepare: Effect.fail("no") }
    const check = (property: never, parameters: never) => ({
      ...fc.check(property, parameters),
      ...{ counterexample: null, counterexamplePath: null },
    })
    const failed = Effect.runSync(Effect.flip(Model.check({ ...fc, check }, wrong, { seed: 1 })))
    assert.deepStrictEqual(failed.replay, { seed: 1, path: "", replayPath: "" })
  })
})

describe("a command of a life", () => {
  it("is cut where it was drawn to be, once it has begun so many operations, and what is no operation of it is not", () => {
    const seen: Array<readonly [number, boolean]> = []
    const cutting: Model.Life<object, void> = {
      prepare: Effect.void,
      model: () => ({}),
      finish: (_, __, { now }) =>
        assert.isTrue(Exit.isSuccess(now(Effect.forEach(Array.from({ length: 40 }), () => Effect.yieldNow)))),
      commands: [fc.constant({
        name: "work",
        run: (_, __, { now, undisturbed }) => {
          let done = 0
          const work = Effect.forEach(Array.from({ length: 4 }), () => Effect.sync(() => void done++))
          assert.isTrue(Exit.isSuccess(undisturbed(work)))
          assert.strictEqual(done, 4)
          done = 0
          const exit = now(work)
          seen.push([done, Exit.hasInterrupts(exit)])
        },
      })],
    }
    const { commands, cuts } = Effect.runSync(Model.check(fc, cutting, { maxCut: 30, runs: 20, seed: 3 }))
    assert.strictEqual(seen.length, commands)
    assert.strictEqual(seen.filter(([, isCut]) => isCut).length, cuts)
    assert.isTrue(cuts > 50 && cuts < commands)
    assert.isTrue(seen.every(([done, isCut]) => isCut || done === 4))
    assert.isAtLeast(new Set(seen.map(([done]) => done)).size, 4)
  })

  it("is followed by the invariant where it went right, and each life has a scope and a model of its own", () => {
    const log: Array<string> = []
    const logged = (name: string) => Effect.sync(() => void log.push(name))
    const lived: Model.Life<{ n: number }, void> = {
      prepare: Effect.andThen(Effect.addFinalizer(() => logged("closed")), logged("prepared")),
      model: () => ({ n: 0 }),
      commands: [fc.constant({ name: "up", run: (model) => void log.push(`run ${model.n++}`) })],
      invariant: (model) => void log.push(`invariant ${model.n}`),
      finish: (model) => logged(`finish ${model.n}`),
    }
    const { commands } = Effect.runSync(Model.check(fc, lived, { maxCommands: 3, runs: 5, seed: 2 }))
    const lives = log.join(", ").split(/(?<=closed), /)
    assert.strictEqual(lives.length, 5)
    let ran = 0
    for (const life of lives) {
      const n = life.split("run ").length - 1
      ran += n
      const turns = Array.from({ length: n }, (_, i) => `run ${i}, invariant ${i + 1}, `).join("")
      assert.strictEqual(life, `prepared, ${turns}finish ${n}, closed`)
    }
    assert.strictEqual(ran, commands)
    const failed = Effect.runSync(Effect.flip(Model.check(fc, {
      ...lived,
      commands: [fc.constant({ name: "up", run: () => assert.fail("differs") })],
      invariant: () => assert.fail("looked at"),
    })))
    assert.match(failed.why, /differs/)
  })

  it("that goes wrong is the last of its life, also where nothing was thrown", () => {
    const log: Array<string> = []
    const failed = Effect.runSync(Effect.flip(Model.check(fc, {
      prepare: Effect.sync(() => void log.push("|")),
      model: () => ({}),
      commands: [fc.constant<Model.Command<object, void>>({
        name: "bad",
        run: () => {
          log.push("bad")
          return false as never
        },
      })],
    })))
    assert.match(failed.why, /neither nothing nor an effect$/)
    assert.deepStrictEqual(log.join("").match(/(bad){2}/), null)
  })

  it("that was never run is told as nothing", () => {
    const failed = Effect.runSync(
      Effect.flip(Model.check(fc, { ...life("none"), prepare: Effect.fail("no") }, { seed: 1 })),
    )
    assert.match(
      failed.message,
      /^it cannot be prepared: no \[after nothing; replay \{"seed":1,"path":"0.*","replayPath":".*"\}\]$/,
    )
    assert.deepStrictEqual([failed.life, failed.runs], [[], 1])
  })
})

describe("a life that waits for the outside", () => {
  it("goes wrong, though the wait was cut off", () => {
    const failed = Effect.runSync(Effect.flip(Model.check(fc, {
      prepare: Effect.void,
      model: () => ({}),
      commands: [fc.constant<Model.Command<object, void>>({
        name: "ask",
        run: (_, __, { clock, settle, start }) => {
          start(Effect.timeoutOption(Effect.promise(() => Promise.resolve()), 1))
          clock.advance(1)
          settle()
        },
      })],
    })))
    assert.match(failed.why, /^a fiber waits for the outside, a promise or /)
    assert.deepStrictEqual(failed.life, ["ask"])
  })
})

describe("an option that breaks its rule", () => {
  const refused = (options: object, fault: Fault = "none"): string => {
    const exit = Effect.runSyncExit(Model.check(fc, life(fault), { maxCommands: 40, ...options }))
    const defect = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
    return defect instanceof InvalidLimits ? defect.message : `not refused: ${String(exit)}`
  }

  it("is refused before a life is lived, by name, rule and value", () => {
    for (const value of [0, -1, 1.5, NaN, Infinity, "9"]) {
      assert.match(refused({ runs: value }), /^Model: runs must be a whole number from 1 to 1000000, got /)
      assert.match(refused({ maxCommands: value }), /^Model: maxCommands must be a whole number from 1 to 100000, got /)
      if (value !== 0) assert.match(refused({ maxCut: value }), /^Model: maxCut must be a whole number from 0 to /)
      if (value !== 0 && value !== -1) assert.match(refused({ seed: value }), /^Model: seed must be a whole number/)
    }
    assert.strictEqual(refused({ order: "any" }), 'Model: order must be one of oldest, newest, got "any"')
    assert.strictEqual(
      refused({ maxRuns: 9 }),
      "Model: maxRuns must be one of the options runs, maxCommands, maxCut, order, seed, replay, got 9",
    )
    assert.match(refused({ replay: { seed: NaN, path: "0", replayPath: "" } }), /^Model replay: seed must be /)
    assert.match(refused({ replay: { seed: 1, path: 0, replayPath: "" } }), /^Model replay: path must be text, got 0/)
    assert.match(refused({ replay: "0" }), /^Model: replay must be what a failure printed, got "0"/)
  })

  it("is a replay that has the form of one, and is of a life that there is", () => {
    const { replay } = failure("fifth", { maxCut: 0 })
    const digits = "whole numbers with a colon between each two, the first below 1,000,000"
    for (const path of ["", "abc", "-1", "1.5", "1e3", " 0", ":", "0:", "1000000", "0".repeat(1_000)]) {
      const told = refused({ replay: { ...replay, path } }, "fifth")
      assert.isTrue(told.startsWith(`Model replay: path must be ${digits}, got "${path.slice(0, 50)}`), told)
    }
    for (const replayPath of ["", "AA", "A=:B", "A:B:C", "A_:B", "A:B\n", `${"A".repeat(100_000)}:B`]) {
      const told = refused({ replay: { ...replay, replayPath } }, "fifth")
      assert.match(told, /^Model replay: replayPath must be two texts of letters, digits, \+ and \/ with a colon /)
    }
    for (const absent of ["seed", "path", "replayPath"]) {
      const told = refused({ replay: { ...replay, [absent]: undefined } }, "fifth")
      assert.strictEqual(told, `Model replay: ${absent} must be what a failure printed, got undefined`)
      assert.strictEqual(refused({ replay: { [absent]: 1 } }).includes("must be"), true)
    }
    // Well formed, and of no life that is drawn here: none is lived, and nothing is called right.
    const { path } = replay
    const others = [
      { path: `${path}:999999` },
      { path: "0:1:2:999" },
      { path: `${"9:".repeat(1_000)}9` },
      { replayPath: "A:A" },
      { replayPath: "////:////" },
    ]
    for (const other of others) {
      assert.match(
        refused({ maxCut: 0, replay: { ...replay, ...other } }, "fifth"),
        /^Model: replay must be one that this life printed, with the same options, got "\{/,
      )
    }
  })
})

describe("a faulty pool", () => {
  it("fails with the shortest life, which its seed lives again", () => {
    const failed = failure("fifth", { maxCut: 0 })
    assert.deepStrictEqual(failed.life, ["use", "use", "use", "use", "use", "turn(0)"])
    assert.isAbove(failed.shrinks, 0)
    assert.include(failed.why, "the invariant is broken: AssertionError")
    const again = failure("fifth", { maxCut: 0, replay: failed.replay })
    assert.deepStrictEqual([again.life, again.why, again.runs], [failed.life, failed.why, 1])
    // Of a pool that was mended it lives that one life, too, and no other.
    const mended = Model.check(fc, life("none"), { maxCommands: 40, maxCut: 0, replay: failed.replay })
    assert.deepInclude(Effect.runSync(mended), { runs: 1, commands: failed.life.length })
  })

  it("that an interruption alone shows keeps it while all else is shrunk away", () => {
    const failed = failure("gap")
    assert.strictEqual(failed.life.length, 1)
    const [, cut] = /^use cut at (\d+)$/.exec(failed.life[0]!)!
    // Before that operation nothing is taken, and after the last all is back: only between the two is there a gap.
    assert.isAbove(Number(cut), 1)
    assert.include(failed.message, `replay ${JSON.stringify(failed.replay)}`)
    assert.deepStrictEqual(failure("gap", { replay: failed.replay }).life, failed.life)
    assert.deepStrictEqual(failure("gap").life, failed.life)
  })

  it("that is wrong in the end alone is found in the end", () => {
    const failed = failure("leak", { maxCut: 0 })
    assert.deepStrictEqual([failed.why, failed.life], ["the end is wrong: leak", ["use", "use", "use", "use"]])
  })

  it("that leaves a fiber or a sleeper, cannot be prepared, or never comes to rest is found", () => {
    const why = (
      run: Model.Command<object, void>["run"],
      prepare: Model.Life<object, void>["prepare"] = Effect.void,
    ): string => {
      const commands = [fc.constant({ name: "it", run })]
      return Effect.runSync(
        Effect.flip(Model.check(fc, { prepare, model: () => ({}), commands }, { runs: 9, seed: 1 })),
      ).why
    }
    assert.strictEqual(why((_, __, { start }) => void start(Effect.never)), "fibers are left: 1")
    assert.strictEqual(
      why((_, __, { clock, start }) =>
        void start(Effect.sync(() => void Effect.runFork(clock.sleep(Duration.minutes(1)))))
      ),
      "sleepers are left: 1",
    )
    assert.match(why((_, __, { now }) => now(Effect.never)), /^the command went wrong: .*it waits, which it may not/)
    assert.strictEqual(why((_, __, { start }) => void start(Effect.forever(Effect.yieldNow))), "it never comes to rest")
    assert.strictEqual(why(() => {}, Effect.fail("no")), "it cannot be prepared: no")
    assert.match(why(() => {}, Effect.addFinalizer(() => Effect.die("no"))), /^closing the scope failed: .*no/)
    for (const answer of [false, Promise.resolve()]) {
      assert.match(why((() => answer) as never), /^the command went wrong: it answered neither nothing nor an effect$/)
    }
    assert.match(why(() => assert.fail("differs")), /^the command went wrong: AssertionError: differs/)
    for (const odd of hostile()) {
      assert.strictEqual(why(() => Effect.fail(odd)), "the command went wrong: something that cannot be read")
    }
  })

  it("whose `when` or model throws is found, told with its cause, and lived again by its replay", () => {
    const defect = new Error("no such place")
    const thrown = (): never => {
      throw defect
    }
    const check = (given: Partial<Model.Life<{ turns: number }, void>>, options: Model.Options = {}) =>
      Effect.runSync(Effect.flip(Model.check(fc, {
        prepare: Effect.void,
        model: () => ({ turns: 0 }),
        commands: [
          fc.constant<Model.Command<{ turns: number }, void>>({
            name: "turn",
            when: ({ turns }) => turns < 3 || thrown(),
            run: (model) => void model.turns++,
          }),
          fc.constant({ name: "look", run: () => {} }),
        ],
        ...given,
      }, { seed: 1, ...options })))
    const failed = check({})
    assert.deepStrictEqual(failed.life, ["turn", "turn", "turn", "turn"])
    assert.strictEqual(failed.why, "the command's `when` went wrong: Error: no such place")
    assert.strictEqual(failed.cause === undefined ? undefined : Cause.squash(failed.cause), defect)
    const again = check({}, { replay: failed.replay })
    assert.deepStrictEqual([again.life, again.why, again.runs], [failed.life, failed.why, 1])
    const modelless = check({ model: thrown })
    assert.deepStrictEqual([modelless.why, modelless.life], ["the model cannot be made: Error: no such place", []])
    assert.strictEqual(check({ model: thrown }, { replay: modelless.replay }).why, modelless.why)
  })

  it("is no success where fast-check gave up for a reason of its own", () => {
    const skips = fc.constant<Model.Command<object, void>>({ name: "skip", run: () => {} })
    const given = { prepare: Effect.void, model: () => ({}), commands: [skips] }
    const exit = Effect.runSyncExit(
      Model.check({
        ...fc,
        check: (property: never) => fc.check(property, { interruptAfterTimeLimit: 0, markInterruptAsFailure: true }),
      }, given),
    )
    assert.isTrue(Exit.hasDies(exit))
  })
})
