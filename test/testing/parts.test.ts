/** The parts that explorer and sweep are made of, each by itself, by what it is given and what it says. */
import { assert, describe, it } from "vitest"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Outcome from "../../core/Outcome.ts"
import * as Chance from "../../core/testing/Chance.ts"
import { Follower, type Place, Sampler } from "../../core/testing/Chooser.ts"
import { DepthFirst } from "../../core/testing/DepthFirst.ts"
import * as Ending from "../../core/testing/Ending.ts"
import { Endings } from "../../core/testing/Endings.ts"
import * as ExplorerBounds from "../../core/testing/ExplorerBounds.ts"
import type { Actor } from "../../core/testing/ExplorerActors.ts"
import { ExplorerClock } from "../../core/testing/ExplorerClock.ts"
import { type InvalidSchedule, ScheduleFailed } from "../../core/testing/ExplorerFailure.ts"
import { type Failing, shrink } from "../../core/testing/ExplorerShrink.ts"
import { Story } from "../../core/testing/ExplorerStory.ts"
import * as OptionRules from "../../core/testing/OptionRules.ts"
import * as Point from "../../core/testing/Point.ts"
import * as Reading from "../../core/testing/Reading.ts"
import * as Schedule from "../../core/testing/Schedule.ts"

describe("chance", () => {
  it("is Mulberry32, in [0, 1), by the whole seed", () => {
    // The generator once more, word by word from its description: a counter, and two rounds that mix it.
    const reference = (seed: number, count: number): ReadonlyArray<number> =>
      Array.from({ length: count }, (_, i) => {
        const state = BigInt.asUintN(32, BigInt(seed) + BigInt(i + 1) * 0x6d2b79f5n)
        const low = (n: bigint): bigint => BigInt.asUintN(32, n)
        const once = low((state ^ (state >> 15n)) * (1n | state))
        const mixed = low((once + low((once ^ (once >> 7n)) * (61n | once))) ^ once)
        return Number(mixed ^ (mixed >> 14n)) / 2 ** 32
      })
    for (const seed of [0, 1, 0x5eed, 2 ** 31, -7]) {
      const draw = Chance.draws(seed)
      assert.deepStrictEqual(Array.from({ length: 50 }, draw), reference(seed, 50))
    }
  })

  it("makes whole numbers over all that are safe", () => {
    const of = (drawn: number): number => Chance.service(() => drawn).nextIntUnsafe()
    assert.deepStrictEqual([of(0), of(2 ** -60), of(0.5)], [Number.MIN_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 0])
    assert.isTrue(Number.isSafeInteger(of(1 - 2 ** -32)) && of(1 - 2 ** -32) > Number.MAX_SAFE_INTEGER - 2 ** 23)
    assert.strictEqual(Chance.service(() => 0.25).nextDoubleUnsafe(), 0.25)
  })
})

describe("a schedule as text", () => {
  it("has each word once for all that are alike in a row, and is read back as it was", () => {
    for (const words of [[], ["a"], ["a", "a"], ["a", "b", "b", "b", "a.1", "-", "!a", "~", "a:dial/1", "a:dial/1"]]) {
      assert.deepStrictEqual(Schedule.parse(Schedule.print(words)), words)
    }
    assert.strictEqual(Schedule.print(["a", "a", "b", "-", "b", "b", "b"]), "a*2 b - b*3")
    assert.strictEqual(Schedule.print([]), "")
    assert.deepInclude(Schedule.parse("a a*0") as InvalidSchedule, { word: "a*0", at: 1 })
  })

  it("names its words by small numbers, each the same whenever it is asked for", () => {
    const words = new Schedule.Words()
    assert.deepStrictEqual(["a", "b", "a", "c", "b"].map((word) => words.id(word)), [0, 1, 0, 2, 1])
    assert.deepStrictEqual([words.word(2), words.print([0, 0, 1])], ["c", "a*2 b"])
  })

  it("is at most so long, and shows of a wrong word its beginning", () => {
    assert.strictEqual((Schedule.parse("a*99999 b") as ReadonlyArray<string>).length, 100_000)
    const long = Schedule.parse("a*99999 b*2") as InvalidSchedule
    assert.deepInclude(long, { word: "b*2", at: 99_999 })
    const wrong = Schedule.parse(`a ?${"x".repeat(200)}`) as InvalidSchedule
    assert.deepInclude(wrong, { word: `?${"x".repeat(99)}`, at: 1, possible: [] })
  })

  it("has names of letters, digits and _ alone", () => {
    for (const name of ["a", "_", "A9_"]) assert.isTrue(Schedule.isName(name), name)
    for (const name of ["", "9", "a b", "a.1", "!a", "a\n", "ä"]) assert.isFalse(Schedule.isName(name), name)
  })
})

const place = (current: number): Place => ({ current, running: false, log: [], preemptions: 1, interruptions: 0 })

describe("who follows a schedule", () => {
  it("takes each word where it is possible, and the defaults from its end on", () => {
    const follower = new Follower([5, 7], { from: 0 })
    assert.deepStrictEqual([follower.unused, follower.between()], [{ at: 0, options: [] }, false])
    assert.deepStrictEqual([follower.decide([5, 6]), follower.unused], [0, { at: 1, options: [] }])
    assert.deepStrictEqual([follower.decide([5, 6, 7]), follower.unused], [2, undefined])
    assert.deepStrictEqual([follower.decide([1, 2]), follower.lost], [0, undefined])
  })

  it("begins where it is told to, and ends the run at a word that is not possible, or leaves it out", () => {
    assert.strictEqual(new Follower([5, 7]).decide([7, 5]), 1)
    const strict = new Follower([5, 7, 9], { from: 1 })
    assert.deepStrictEqual([strict.decide([9, 5]), strict.lost], [-1, { at: 1, options: [9, 5] }])
    assert.deepStrictEqual(strict.unused, strict.lost)
    const lenient = new Follower([5, 7, 9], { lenient: true })
    assert.deepStrictEqual([lenient.decide([1, 9]), lenient.lost, lenient.decide([4])], [1, undefined, 0])
  })
})

describe("who draws a schedule", () => {
  const picks = (current: number): ReadonlyArray<number> =>
    Array.from({ length: 2_000 }, (_, seed) => {
      const sampler = new Sampler(seed)
      sampler.between(place(current))
      return sampler.decide([0, 1, 2, 3])
    })
  const counts = (of: ReadonlyArray<number>): ReadonlyArray<number> =>
    [0, 1, 2, 3].map((pick) => of.filter((each) => each === pick).length)

  it("takes any option as often as another where nobody is forced off", () => {
    for (const count of counts(picks(-1))) assert.isTrue(count > 400 && count < 600, String(count))
  })

  it("leaves the default from every second time to one in 32, and takes the others as often as it", () => {
    // Half, a quarter and so on to a 32nd of the time, each as likely: 0.19375 of 2,000, by four options.
    const [, ...others] = counts(picks(0))
    for (const count of others) assert.isTrue(count > 60 && count < 140, String(count))
    const shares = Array.from({ length: 100 }, (_, seed) => {
      const sampler = new Sampler(seed)
      return Array.from({ length: 400 }, () => sampler.decide([0, 1])).filter((pick) => pick === 1).length / 400
    })
    assert.isTrue(Math.min(...shares) < 0.03 && Math.max(...shares) > 0.2 && Math.max(...shares) < 0.35)
    // Of those that leave it one time in 32, half take the default all the same.
    const rare = Array.from({ length: 40 }, (_, seed) => {
      const sampler = new Sampler(seed)
      return Array.from({ length: 6_400 }, () => sampler.decide([0, 1])).filter((pick) => pick === 1).length
    })
    assert.isAbove(Math.min(...rare), 75)
  })

  it("is free for one choice alone, and has none where there is one option", () => {
    const free = new Sampler(1)
    free.between(place(-1))
    assert.strictEqual(free.decide([7]), 0)
    const unasked = Array.from({ length: 400 }, (_, seed) => new Sampler(seed).decide([0, 1]))
    assert.isBelow(unasked.filter((pick) => pick === 1).length, 80)
    const sampler = new Sampler(3)
    assert.isFalse(sampler.between(place(-1)))
    sampler.decide([0, 1])
    const later = Array.from({ length: 200 }, () => sampler.decide([0, 1])).filter((pick) => pick === 1).length
    assert.isBelow(later, 80)
  })
})

describe("the search through a tree", () => {
  /** All leaves of a tree whose nodes have so many branches by depth. */
  const leaves = (branches: ReadonlyArray<number>): ReadonlyArray<string> => {
    const search = new DepthFirst(new Schedule.Words(), { prune: false })
    const found: Array<string> = []
    do {
      search.begin({} as never)
      found.push(branches.map((count) => search.decide(Array.from({ length: count }, (_, i) => i))).join(""))
      assert.isTrue(search.ended([], ""))
    } while (search.next())
    assert.isFalse(search.isDiverged || search.isRepeat)
    return found
  }

  it("comes to each leaf once, the last choice first", () => {
    assert.deepStrictEqual(leaves([2, 1, 3]), ["000", "001", "002", "100", "101", "102"])
    assert.deepStrictEqual(leaves([1, 1]), ["00"])
    assert.deepStrictEqual(leaves([]), [""])
  })

  it("ends where a run had other options than the one before it, or others in their place", () => {
    const again = (first: ReadonlyArray<ReadonlyArray<number>>, second: ReadonlyArray<ReadonlyArray<number>>) => {
      const search = new DepthFirst(new Schedule.Words(), { prune: false })
      search.begin({} as never)
      for (const options of first) search.decide(options)
      search.next()
      search.begin({} as never)
      return [...second.map((options) => search.decide(options)), search.isDiverged]
    }
    assert.deepStrictEqual(again([[1, 2], [3, 4]], [[1, 2], [3, 4]]), [0, 1, false])
    assert.deepStrictEqual(again([[1, 2], [3, 4]], [[1, 2], [3, 5]]), [0, 1, false])
    assert.deepStrictEqual(again([[1, 2], [3, 4]], [[9, 2], [3, 4]]).slice(0, 1), [-1])
    assert.deepStrictEqual(again([[1, 2], [3, 4]], [[1, 2], [3, 4, 5]]), [0, -1, true])
  })
})

describe("the clock of an explored program", () => {
  const sleeper = (clock: ExplorerClock, duration: Duration.Duration) => Effect.runFork(clock.sleep(duration))

  it("goes on to the nearest instant alone, and hands over who is due, the longest asleep first", () => {
    const clock = new ExplorerClock()
    const begun = [clock.currentTimeMillisUnsafe(), clock.monotonicTimeNanosUnsafe()] as const
    assert.isTrue(begun[0] > 0 && begun[1] > 0n && clock.elapsed === 0)
    const fibers = [3, 1, 1, 2].map((millis) => sleeper(clock, Duration.millis(millis)))
    assert.deepStrictEqual([clock.sleeping, clock.sleepers], [4, fibers])
    const due = clock.advance()
    assert.deepStrictEqual([due.map(({ fiber }) => fiber), clock.elapsed, clock.sleeping], [
      [fibers[1], fibers[2]],
      1e6,
      2,
    ])
    assert.strictEqual(fibers[1]!.pollUnsafe(), undefined)
    for (const { wake } of due) wake()
    assert.deepStrictEqual(fibers.map((fiber) => fiber.pollUnsafe() !== undefined), [false, true, true, false])
    assert.deepStrictEqual([clock.advance().length, clock.elapsed], [1, 2e6])
    assert.deepStrictEqual(
      [clock.currentTimeMillisUnsafe() - begun[0], clock.monotonicTimeNanosUnsafe() - begun[1]],
      [2, 2_000_000n],
    )
    assert.strictEqual(clock.currentTimeNanosUnsafe(), BigInt(clock.currentTimeMillisUnsafe()) * 1_000_000n)
    assert.deepStrictEqual(
      Effect.runSync(Effect.all([clock.currentTimeMillis, clock.currentTimeNanos, clock.monotonicTimeNanos])),
      [clock.currentTimeMillisUnsafe(), clock.currentTimeNanosUnsafe(), clock.monotonicTimeNanosUnsafe()],
    )
    fibers[0]!.interruptUnsafe()
    assert.strictEqual(clock.sleeping, 0)
    clock.reset()
    // Where nobody sleeps it stands still.
    assert.deepStrictEqual([clock.sleeping, clock.advance(), clock.elapsed], [0, [], 0])
  })

  it("goes by whole nanoseconds, and takes a sleep of nothing for none and one without end for a wait", () => {
    const clock = new ExplorerClock()
    // The last two are a little more and a little less as milliseconds.
    for (const nanos of [1, 5, 123, 249]) {
      const before = clock.elapsed
      sleeper(clock, Duration.nanos(BigInt(nanos)))
      clock.advance()
      assert.strictEqual(clock.elapsed - before, nanos)
    }
    Effect.runSync(clock.sleep(Duration.zero))
    const endless = sleeper(clock, Duration.infinity)
    assert.deepStrictEqual([clock.sleeping, endless.pollUnsafe()], [0, undefined])
    endless.interruptUnsafe()
    assert.strictEqual(Math.round(clock.currentTimeMillisUnsafe()), new ExplorerClock().currentTimeMillisUnsafe())
    const fiber = sleeper(clock, Duration.seconds(1))
    clock.reset()
    assert.strictEqual(clock.sleeping, 0)
    fiber.interruptUnsafe()
  })
})

describe("a schedule that is made simpler", () => {
  /** Fails where all of these words come in this order; what is run is what is tried, and turns are all but zeros. */
  const simplest = (log: ReadonlyArray<number>, needed: ReadonlyArray<number>) => {
    let runs = 0
    const failing = (words: ReadonlyArray<number>): Failing => ({
      log: words,
      turns: words.flatMap((word, at) => word === 0 ? [] : [at]),
    })
    const found = Effect.runSync(shrink(failing(log), (words) =>
      Effect.sync(() => {
        runs++
        let at = 0
        for (const word of words) if (word === needed[at]) at++
        return at === needed.length ? failing(words) : undefined
      })))
    return { log: found.log, turns: found.turns, runs }
  }

  it("has the turns that it needs alone, each as early as it can be", () => {
    assert.deepStrictEqual(simplest([1, 0, 2, 3, 0, 0, 4, 5, 0, 6], [2, 5]).log.filter((word) => word > 0), [2, 5])
    const { log, runs, turns } = simplest([0, 0, 0, 0, 7, 0, 0], [7])
    assert.deepStrictEqual([log, turns], [[7, 0, 0], [0]])
    assert.isAtMost(runs, 20)
    assert.deepStrictEqual(simplest([1, 2, 3], []).log, [])
    assert.deepStrictEqual(simplest([1, 2, 3], [1, 2, 3]).log, [1, 2, 3])
  })

  it("is tried without all behind a turn, without turns in groups and alone, and with a turn a step earlier", () => {
    const tried: Array<string> = []
    const first = { log: [1, 2, 3, 4, 5, 6, 7], turns: [0, 2, 5] }
    Effect.runSync(shrink(first, (words) => Effect.sync(() => void tried.push(words.join("")))))
    const far = { log: Array.from({ length: 10 }, (_, at) => at), turns: [0, 2, 4, 6, 8] }
    const lengths: Array<number> = []
    Effect.runSync(shrink(far, (words) => Effect.sync(() => void lengths.push(words.length))))
    // Five turns: in groups of three, of two, and alone.
    const groups = [7, 4, 8, 6, 8, 6, 8, 6, 9, 8, 9, 8, 9, 8, 9, 8, 9, 8, 9, 8]
    assert.deepStrictEqual(lengths, [0, 2, 4, 6, 8, ...groups, 9, 9, 9, 9])
    const without = (...gone: ReadonlyArray<number>): string => first.log.filter((_, at) => !gone.includes(at)).join("")
    assert.deepStrictEqual(tried, [
      ...["", "12", "12345"],
      ...[without(0, 2), without(0, 1, 2, 3), without(5), without(5, 6)],
      ...[without(0), without(0, 1), without(2), without(2, 3), without(5), without(5, 6)],
      ...[without(1), without(4)],
    ])
  })

  it("is the one with fewer turns, then the one whose last turn is earlier", () => {
    const better = (turns: ReadonlyArray<number>, found: ReadonlyArray<number>): boolean => {
      const first = { log: [1, 2, 3], turns }
      return Effect.runSync(shrink(first, () => Effect.succeed({ log: [9], turns: found }))) !== first
    }
    assert.deepStrictEqual(
      [
        better([0, 1], [500]),
        better([500], [0, 1]),
        better([3, 9], [4, 5]),
        better([4, 5], [3, 9]),
        better([1], [1]),
        better([0], []),
      ],
      [true, false, true, false, false, true],
    )
  })

  it("is what it was where nothing simpler fails, and is not tried for ever", () => {
    const first = { log: [1, 2], turns: [0, 1] }
    assert.strictEqual(Effect.runSync(shrink(first, () => Effect.succeed(undefined))), first)
    let runs = 0
    const same = Effect.runSync(shrink(first, () => Effect.sync(() => (runs++, { log: [2, 1], turns: [0, 1] }))))
    assert.strictEqual(same, first)
    const long = Array.from({ length: 3_000 }, () => 1)
    const turns = long.map((_, at) => at)
    runs = 0
    Effect.runSync(shrink({ log: long, turns }, () => Effect.sync(() => void runs++)))
    assert.strictEqual(runs, 2_000)
  })
})

describe("a run as it is told", () => {
  const words = new Schedule.Words()
  const actor = (name: string, exit?: Exit.Exit<unknown, unknown>, task?: object): Actor =>
    ({
      word: words.id(name),
      fiber: { pollUnsafe: () => exit },
      task,
      isDone: exit !== undefined,
    }) as unknown as Actor

  it("has a line for all words that are alike in a row, with what came of them", () => {
    const story = new Story(words)
    const [early, a, b] = [actor("early", Exit.void), actor("a", undefined, {}), actor("b")]
    story.begin([early, a, b])
    story.met(0, b, true)
    story.settled(0, [early, a, b], a)
    story.settled(1, [early, a, b], b)
    story.met(2, a, false)
    story.settled(3, [a, b], undefined)
    story.passed(4, 1_500_000_000)
    story.settled(5, [a, actor("c", Exit.fail("no"))], undefined)
    const log = ["a", "b", "b", "-", "~", "!c", "a"].map((word) => words.id(word))
    assert.deepStrictEqual(story.lines(log), [
      "a  starts b, steps aside",
      "b*2  waits, wakes a",
      "-  forced off",
      "~  1s 500ms since the start",
      "!c  fails with no",
      "a",
    ])
  })

  it("has the first and the last of what came of very many words", () => {
    const long = (count: number): string => {
      const story = new Story(words)
      const aside = actor("a", undefined, {})
      for (let at = 0; at < count; at++) story.settled(at, [aside], aside)
      return story.lines(Array.from({ length: count }, () => aside.word)).join()
    }
    const aside = (count: number): string => Array.from({ length: count }, () => "steps aside").join(", ")
    assert.strictEqual(long(100), `a*100  ${aside(100)}`)
    assert.strictEqual(long(101), `a*101  ${aside(50)}, ... 1 more ..., ${aside(50)}`)
    assert.isBelow(long(100_000).length, 2_000)
    const facts = { reason: "endless", fibers: ["a"], cause: undefined, schedule: "a*999 b", schedules: 1 } as const
    const story = Array.from({ length: 102 }, (_, at) => `line ${at}`)
    const { message } = new ScheduleFailed({ ...facts, story })
    assert.include(message, 'schedule: "a*999 b"\n  line 0\n')
    assert.include(message, "  line 49\n  ... 2 more ...\n  line 52\n")
  })

  it("tells of those who had not ended when it began", () => {
    const story = new Story(words)
    const late: { exit: Exit.Exit<unknown> | undefined } = { exit: undefined }
    const fiber = { pollUnsafe: () => late.exit }
    const living = { word: words.id("a"), fiber, isDone: false } as unknown as Actor
    story.begin([living])
    late.exit = Exit.void
    story.settled(0, [living], undefined)
    assert.deepStrictEqual(story.lines([words.id("a")]), ["a  ends"])
  })

  it("says how a fiber ended, once", () => {
    const told = (exit: Exit.Exit<unknown, unknown>): string => {
      const story = new Story(words)
      const ended = actor("a", exit)
      story.settled(0, [ended], ended)
      story.settled(1, [ended], ended)
      return story.lines([words.id("a"), words.id("b"), words.id("b:dial")]).join("; ")
    }
    assert.strictEqual(told(Exit.void), "a  ends; b; b:dial")
    assert.strictEqual(told(Exit.die("bug")), "a  dies of bug; b; b:dial")
    assert.strictEqual(told(Exit.failCause(Cause.interrupt())), "a  ends interrupted; b; b:dial")
    const other = new Story(words)
    other.settled(0, [actor("a", Exit.fail("no"))], undefined)
    assert.deepStrictEqual(other.lines([words.id("b")]), ["b  a fails with no"])
    assert.deepStrictEqual(other.lines([]), [])
  })
})

describe("how fibers ended, and what is conserved", () => {
  it("is the tag of an error, its text, or what it comes to", () => {
    class Tagged {
      readonly _tag = "Down"
    }
    const ends = [Exit.void, Exit.fail(new Tagged()), Exit.fail("no"), Exit.fail(7), Exit.fail(null), Exit.fail({})]
    assert.deepStrictEqual(ends.map(Ending.of), ["Completed", "Down", "no", "Failed", "Failed", "Failed"])
    assert.deepStrictEqual(
      [Exit.die("bug"), Exit.failCause(Cause.interrupt())].map((exit) => [Ending.of(exit), Outcome.fromExit(exit)]),
      [["Died", "Died"], ["Interrupted", "Interrupted"]],
    )
  })

  it("is counted once for each fiber, in order, over all runs", () => {
    const endings = new Endings<"a" | "b">()
    endings.add({ a: "Died", b: ["x", "w"] })
    endings.add({ a: "Completed" })
    endings.add({ a: "Died", b: "x" })
    assert.deepStrictEqual(endings.all, { a: ["Completed", "Died"], b: ["w", "x"] })
  })

  it("is not conserved where it is another, prints in another way, or cannot be read", () => {
    const [one, two, unread] = [Exit.succeed(1), Exit.succeed(2), Exit.fail("no")].map(Reading.of)
    assert.isUndefined(Reading.wrong(one!, Reading.of(Exit.succeed(1))))
    assert.deepStrictEqual(Reading.wrong(one!, two!), { why: "not conserved: 1 before, 2 after" })
    for (const pair of [[one!, unread!], [unread!, one!]] as const) {
      const wrong = Reading.wrong(...pair)
      assert.strictEqual(wrong?.why, "what is conserved cannot be read")
      assert.strictEqual(wrong?.cause === undefined ? undefined : Cause.squash(wrong.cause), "no")
    }
    const same = { n: 1 }
    const before = Reading.of(Exit.succeed(same))
    same.n = 2
    assert.include(Reading.wrong(before, Reading.of(Exit.succeed(same)))?.why, "not conserved")
    // Two of one text that are not equal.
    const functions = [() => {}, () => {}].map((each) => ({ exit: Exit.succeed(each), text: "same" }))
    assert.include(Reading.wrong(functions[0]!, functions[1]!)?.why, "not conserved")
  })
})

describe("a point of a sweep", () => {
  it("is read as it is printed", () => {
    for (const text of ["oldest", "newest 0", "oldest 3 15", "newest inside 2"]) {
      assert.strictEqual(Point.print(Point.parse(text)!), text)
    }
    for (const text of ["", "oldest ", "middle", "oldest -1", "oldest 1 2 3", "oldest inside", " oldest"]) {
      assert.isUndefined(Point.parse(text), text)
    }
  })

  it("is every step from before the first to after the last, and every continuation", () => {
    const all = (twice: boolean) => [...Point.all("oldest", { steps: 2, inside: 2 }, twice)].map(Point.print)
    assert.deepStrictEqual(all(false), ["oldest 0", "oldest 1", "oldest 2", "oldest inside 1", "oldest inside 2"])
    const twice = all(true)
    assert.deepStrictEqual([twice.length, twice[0], twice[12], twice[13], twice[38], twice[39]], [
      3 * 13 + 2,
      "oldest 0 0",
      "oldest 0 12",
      "oldest 1 1",
      "oldest 2 14",
      "oldest inside 1",
    ])
  })
})

describe("what an option may be", () => {
  const rules: Readonly<Record<string, OptionRules.Rule>> = {
    any: OptionRules.any,
    effect: OptionRules.effect,
    limit: OptionRules.limit,
    rest: OptionRules.rest,
    text: OptionRules.text,
    whole: OptionRules.whole(2, 5),
    word: OptionRules.word("a", "b"),
  }
  const broken = (given: object): readonly unknown[] | undefined => {
    const found = OptionRules.broken("Kit", given, rules)
    return found && [found.system, found.limit, found.rule, found.value]
  }

  it("is told by the first that is broken, in full", () => {
    const right = {
      any: {},
      effect: Effect.void,
      limit: "365 days",
      rest: Duration.days(365),
      text: "",
      whole: 5,
      word: "b",
    }
    for (const given of [{}, right, { ...right, rest: Duration.zero, whole: 2 }, { whole: undefined }]) {
      assert.isUndefined(broken(given))
    }
    const rest = "a Duration from zero to 365 days"
    assert.deepStrictEqual(broken({ whole: 6, word: "c" }), ["Kit", "whole", "a whole number from 2 to 5", 6])
    assert.deepStrictEqual(broken({ whole: 1 })?.[3], 1)
    assert.deepStrictEqual(broken({ word: "c" }), ["Kit", "word", "one of a, b", "c"])
    assert.deepStrictEqual(broken({ text: 1 }), ["Kit", "text", "text", 1])
    assert.deepStrictEqual(broken({ rest: Duration.days(366) }), ["Kit", "rest", rest, "366d"])
    for (const effect of [5, "1 second", null]) {
      assert.deepStrictEqual(broken({ effect }), ["Kit", "effect", "an Effect", effect])
    }
    const limit = 'a duration such as "500 millis" or "5 seconds", above zero and at most 365d'
    for (const wrong of ["soon", 0, 31_536_000_001]) {
      assert.deepStrictEqual(broken({ limit: wrong }), ["Kit", "limit", limit, wrong])
    }
    assert.deepStrictEqual(broken({ rest: 5 }), ["Kit", "rest", rest, 5])
    assert.deepStrictEqual(broken({ other: undefined }), [
      "Kit",
      "other",
      "one of the options any, effect, limit, rest, text, whole, word",
      undefined,
    ])
  })

  it("of lives and of their replay goes to its bounds and no further", () => {
    const most = { runs: 1_000_000, maxCommands: 100_000, maxCut: 1_000_000, seed: Number.MAX_SAFE_INTEGER }
    const least = { runs: 1, maxCommands: 1, maxCut: 0, seed: Number.MIN_SAFE_INTEGER }
    const lives = (given: object) => OptionRules.brokenLives(given)
    for (const given of [most, least]) assert.isUndefined(lives(given))
    for (const name of Object.keys(most) as Array<keyof typeof most>) {
      assert.strictEqual(lives({ [name]: most[name] + 1 })?.limit, name)
      assert.strictEqual(lives({ [name]: least[name] - 1 })?.limit, name)
    }
    const replay = { seed: 1, path: "999999:999999999:0", replayPath: "AZaz09+/:/" }
    assert.isUndefined(lives({ replay }))
    assert.isUndefined(lives({ replay: { ...replay, replayPath: `${"A".repeat(99_998)}:B` } }))
    assert.strictEqual(lives({ replay: { ...replay, replayPath: `${"A".repeat(99_999)}:B` } })?.limit, "replayPath")
    assert.strictEqual(lives({ replay: { ...replay, path: "0:1000000000" } })?.limit, "path")
    const unfit = OptionRules.unfit({ ...replay, replayPath: "A".repeat(500) })
    assert.deepInclude(unfit, { system: "Model", limit: "replay" })
    assert.isTrue((unfit.value as string).startsWith('{"seed":1,"path":"999999:'))
  })

  it("of a scene is judged before it is played", () => {
    const played = (given: object): string => {
      const exit = Effect.runSyncExit(OptionRules.ofScene(given, Effect.succeed("played")))
      return Exit.isSuccess(exit) ? exit.value : (Cause.squash(exit.cause) as Error).message
    }
    for (const maxSteps of [1, 1_000_000]) assert.strictEqual(played({ maxSteps }), "played")
    assert.match(played({ maxSteps: 1_000_001 }), /^Sweep: maxSteps must be a whole number from 1 to 1000000, got/)
  })
})

describe("the bounds of an exploration", () => {
  const decoded = (given: object) => Effect.runSync(ExplorerBounds.decode(given))
  const sampled = (given: object) => Effect.runSync(ExplorerBounds.decodeSampling(given as never))

  it("are by default what is said of them", () => {
    const common = { interruptions: 0, targets: "own", maxSteps: 1_000 } as const
    assert.deepInclude(decoded({}), { ...common, preemptions: 2, schedules: 100_000, seed: 0 })
    assert.deepInclude(sampled({ seed: 9 }), { ...common, preemptions: Infinity, schedules: 1_000, seed: 9 })
    assert.deepStrictEqual([...decoded({}).alike], [])
    assert.deepStrictEqual(decoded({ interruptions: 1, interrupt: ["a", "b"] }).targets, new Set(["a", "b"]))
  })

  it("name those who are interrupted where somebody is", () => {
    const refused = (given: object) => Effect.runSync(Effect.flip(ExplorerBounds.decode(given)))
    for (const interrupt of ["a", 5, [], [5], ["a", 5], null]) {
      assert.deepInclude(refused({ interruptions: 1, interrupt }), {
        limit: "interrupt",
        rule: "a list of names, of one at least",
      })
    }
    for (const given of [{}, { interruptions: 0 }]) {
      const told = refused({ ...given, interrupt: ["a"] })
      assert.deepInclude(told, { limit: "interrupt", rule: "given with interruptions of 1 at least" })
    }
  })

  it("go so far and no further, by name, rule and value", () => {
    const most = 100_000_000
    const ends: ReadonlyArray<readonly [string, number, number]> = [
      ["preemptions", 0, most],
      ["interruptions", 0, 100],
      ["maxSteps", 1, 100_000],
      ["maxSchedules", 1, most],
    ]
    for (const [limit, least, greatest] of ends) {
      for (const value of [least, greatest]) assert.include(Object.values(decoded({ [limit]: value })), value)
      for (const value of [least - 1, greatest + 1]) {
        const failed = Effect.runSync(Effect.flip(ExplorerBounds.decode({ [limit]: value })))
        const rule = `a whole number from ${least} to ${greatest}`
        assert.deepInclude(failed, { system: "Explorer", limit, rule, value })
      }
    }
    assert.strictEqual(decoded({ preemptions: Infinity }).preemptions, Infinity)
    for (const seed of [-most, most]) assert.strictEqual(sampled({ seed, schedules: most }).seed, seed)
    for (const given of [{ seed: -most - 1 }, { seed: most + 1 }, { seed: 1, schedules: 0 }]) {
      assert.strictEqual(Effect.runSync(Effect.flip(ExplorerBounds.decodeSampling(given)))._tag, "InvalidLimits")
    }
    const stranger = Effect.runSync(Effect.flip(ExplorerBounds.decode({ seed: 1 } as never)))
    const rule = "one of the bounds preemptions, interruptions, interrupt, maxSteps, maxSchedules"
    assert.deepInclude(stranger, { limit: "seed", rule, value: 1 })
  })
})
