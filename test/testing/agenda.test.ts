/** What the agenda of an explored run offers at each step, in which order and at which price, and what it notes of it. */
import { assert, describe, it } from "vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Chooser, Place } from "../../core/testing/Chooser.ts"
import { type Actor, Actors, type AnyFiber, type Task } from "../../core/testing/ExplorerActors.ts"
import { Agenda, type Limits } from "../../core/testing/ExplorerAgenda.ts"
import { ExplorerClock } from "../../core/testing/ExplorerClock.ts"
import { Words } from "../../core/testing/Schedule.ts"

/** An agenda whose chooser takes what it is told to by its word, and the first where it is told nothing. */
const stage = (given: Partial<Limits> = {}) => {
  const limits: Limits = {
    ...{ preemptions: 1, interruptions: 0, maxSteps: 9, targets: "own", alike: new Set<string>() },
    ...given,
  }
  const [words, clock] = [new Words(), new ExplorerClock()]
  const actors = new Actors(words)
  const agenda = new Agenda(words, actors, clock, limits)
  const offers: Array<string> = []
  const places: Array<Place> = []
  const chosen: Array<string> = []
  let isKnown = false
  const again = () => agenda.reset(chooser)
  const chooser: Chooser = {
    begin: () => {},
    stepped: () => {},
    between: (place) => {
      places.push(place)
      return isKnown
    },
    decide: (options) => {
      offers.push(options.map((id) => words.word(id)).join(" "))
      const word = chosen.shift()
      return word === undefined ? 0 : options.findIndex((id) => words.word(id) === word)
    },
  }
  again()
  /** What is offered when these are chosen, and what comes of it. */
  const offered = <A>(does: () => A, ...choices: ReadonlyArray<string>): readonly [string | undefined, A] => {
    chosen.push(...choices)
    offers.length = 0
    const made = does()
    return [offers.at(-1), made]
  }
  const actor = (name: string, isReady: boolean = true, isDue: boolean = false): Actor => {
    const fiber = { pollUnsafe: () => undefined } as unknown as AnyFiber
    const made = actors.meet(fiber, words.id(name))
    actors.mayBeInterrupted(made)
    if (isReady) {
      const task: Task = { kind: "task", run: () => {}, word: made.word, actor: made, sure: true, isDue }
      actors.ready.push(task)
      made.task = task
    }
    return made
  }
  const log = () => words.print(agenda.log)
  const known = (is: boolean) => void (isKnown = is)
  const sleep = () => Effect.runFork(clock.sleep(Duration.seconds(1)))
  return { actor, actors, again, agenda, clock, known, log, offered, places, sleep, words }
}

describe("to a fiber that runs", () => {
  it("going on comes first, and going off where there is somebody else, or something that happens", () => {
    const { actor, agenda, log, offered } = stage()
    const a = actor("a", false)
    assert.deepStrictEqual(offered(() => agenda.running(a, "acts", false)), ["a", "goesOn"])
    assert.deepStrictEqual(offered(() => agenda.running(a, "acts", true)), ["a -", "goesOn"])
    const takeBack = agenda.await(a, "dial", [() => {}])
    assert.deepStrictEqual(offered(() => agenda.running(a, "acts", false)), ["a -", "goesOn"])
    takeBack()
    actor("b")
    assert.deepStrictEqual(offered(() => agenda.running(a, "acts", false)), ["a -", "goesOn"])
    assert.deepStrictEqual([log(), agenda.turns, agenda.isLimited], ["a*4", [], false])
  })

  it("going off costs a forced switch, and is kept out where none is left, which is told", () => {
    const { actor, agenda, log, offered } = stage()
    const [a] = [actor("a", false), actor("b")]
    assert.deepStrictEqual(offered(() => agenda.running(a, "acts", false), "-"), ["a -", "off"])
    assert.deepStrictEqual([agenda.isLimited, agenda.turns], [false, [0]])
    assert.deepStrictEqual(offered(() => agenda.running(a, "acts", false)), ["a", "goesOn"])
    assert.deepStrictEqual([agenda.isLimited, log(), agenda.turns], [true, "- a", [0]])
  })

  it("time may run ahead of it, where somebody sleeps and nobody is due, and every one may be interrupted", () => {
    const { actor, actors, agenda, offered, sleep } = stage({ interruptions: 1 })
    const [a, b] = [actor("a", false), actor("b")]
    assert.deepStrictEqual(offered(() => agenda.running(a, "acts", false)), ["a - !a !b", "goesOn"])
    const fiber = sleep()
    assert.deepStrictEqual(offered(() => agenda.running(a, "acts", false)), ["a - ~ !a !b", "goesOn"])
    assert.deepStrictEqual(offered(() => agenda.running(a, "acts", true)), ["a -", "goesOn"])
    actor("c", true, true)
    assert.deepStrictEqual(offered(() => agenda.running(a, "acts", false)), ["a - !a !b !c", "goesOn"])
    assert.deepStrictEqual(offered(() => agenda.running(a, "acts", false), "!b"), ["a - !a !b !c", b.interruption!])
    assert.deepStrictEqual(offered(() => agenda.running(a, "acts", false)), ["a -", "goesOn"])
    assert.strictEqual(actors.ready.length, 2)
    fiber.interruptUnsafe()
  })

  it("that only guards, its own interruption alone is offered, and none inside a step of another", () => {
    const { actor, agenda, offered } = stage({ interruptions: 1 })
    const [a] = [actor("a", false), actor("b")]
    assert.deepStrictEqual(offered(() => agenda.running(a, "guards", false)), ["a !a", "goesOn"])
    assert.deepStrictEqual(offered(() => agenda.running(a, "guards", true)), ["a", "goesOn"])
    assert.deepStrictEqual(offered(() => agenda.running(a, "guards", false), "!a"), ["a !a", a.interruption!])
    assert.deepStrictEqual(offered(() => agenda.running(a, "guards", false)), ["a", "goesOn"])
  })

  it("time that runs ahead costs a forced switch", () => {
    const { actor, agenda, offered, sleep } = stage()
    const a = actor("a", false)
    const fiber = sleep()
    assert.deepStrictEqual(offered(() => agenda.running(a, "acts", false), "~"), ["a ~", { kind: "time" }])
    assert.deepStrictEqual(offered(() => agenda.running(a, "acts", false)), ["a", "goesOn"])
    assert.isTrue(agenda.isLimited)
    fiber.interruptUnsafe()
  })

  it("a choice that is not there is a run that is lost", () => {
    const { actor, agenda, log, offered } = stage()
    const a = actor("a", false)
    assert.deepStrictEqual(offered(() => agenda.running(a, "acts", false), "z"), ["a", "lost"])
    assert.deepStrictEqual([agenda.isLost, log()], [true, ""])
    actor("b")
    assert.deepStrictEqual(offered(() => agenda.next(true), "z"), ["b", undefined])
  })
})

describe("a run that begins", () => {
  it("has the bounds in full, and nothing of the run before", () => {
    const { actor, actors, again, agenda, log, offered, places } = stage({ interruptions: 1, preemptions: 1 })
    const [a, b] = [actor("a"), actor("b")]
    agenda.await(a, "dial", [() => {}])
    offered(() => agenda.next(true), "b")
    offered(() => agenda.running(b, "acts", false), "!a")
    offered(() => agenda.running(b, "acts", false), "-")
    offered(() => agenda.running(a, "acts", false), "z")
    again()
    assert.deepStrictEqual([log(), agenda.turns, agenda.isLost, agenda.happenings.size], ["", [], false, 0])
    for (const each of actors.all) each.isFresh = true
    // Nobody is barred or could go on, and whoever has not begun may be interrupted, since no step was made.
    assert.deepStrictEqual(offered(() => agenda.next(true)), ["a b !a !b", a.task])
    assert.deepInclude(places.at(-1), { current: -1, preemptions: 1, interruptions: 1 })
  })

  it("has not begun for an interruption alone", () => {
    const { actor, agenda, offered } = stage({ interruptions: 2 })
    const [a, b] = [actor("a"), actor("b")]
    for (const each of [a, b]) each.isFresh = true
    offered(() => agenda.next(true), "!a")
    assert.deepStrictEqual(offered(() => agenda.next(true)), ["a b !a !b", a.task])
    assert.deepStrictEqual(offered(() => agenda.next(true)), ["a b", a.task])
  })
})

describe("where no fiber runs", () => {
  it("each that is ready is next for nothing, the longest ready first; then what happens, and time", () => {
    const { actor, agenda, log, offered, places, sleep } = stage({ preemptions: 0 })
    const [a, b] = [actor("a"), actor("b")]
    const c = actor("c", false)
    agenda.await(c, "dial", [() => {}, () => {}])
    const fiber = sleep()
    assert.deepStrictEqual(offered(() => agenda.next(false)), ["a b", a.task])
    // Time would run ahead of those that are ready, for which no switch is left.
    assert.deepStrictEqual(offered(() => agenda.next(true), "b"), ["a b c:dial c:dial/1", b.task])
    assert.isTrue(agenda.isLimited)
    assert.deepStrictEqual([log(), agenda.turns], ["a b", [1]])
    assert.deepStrictEqual(places.map(({ current, running }) => [current, running]), [[-1, false], [-1, false]])
    fiber.interruptUnsafe()
  })

  it("time is for nothing where nobody is ready", () => {
    const { agenda, offered, sleep } = stage({ preemptions: 0 })
    assert.deepStrictEqual(offered(() => agenda.next(true)), [undefined, undefined])
    const fiber = sleep()
    assert.deepStrictEqual(offered(() => agenda.next(true)), ["~", { kind: "time" }])
    assert.deepStrictEqual(offered(() => agenda.next(false)), [undefined, undefined])
    assert.isFalse(agenda.isLimited)
    fiber.interruptUnsafe()
  })

  it("interruption alone is no way on", () => {
    const { actor, agenda, offered } = stage({ interruptions: 1 })
    actor("a", false)
    assert.deepStrictEqual(offered(() => agenda.next(true)), [undefined, undefined])
    const b = actor("b")
    assert.deepStrictEqual(offered(() => agenda.next(true), "!b"), ["b !a !b", b.interruption])
    assert.deepStrictEqual(offered(() => agenda.next(true)), ["b", b.task])
  })

  it("whoever was forced off is not next, and may be after that", () => {
    const { actor, agenda, offered, sleep } = stage({ interruptions: 1, preemptions: 9 })
    const [a, b] = [actor("a"), actor("b")]
    const fiber = sleep()
    offered(() => agenda.running(a, "acts", false), "-")
    assert.deepStrictEqual(offered(() => agenda.next(true)), ["b", b.task])
    assert.deepStrictEqual(offered(() => agenda.next(true)), ["a b ~ !a !b", a.task])
    // Inside a step of another nobody is barred.
    offered(() => agenda.running(a, "acts", true), "-")
    assert.deepStrictEqual(offered(() => agenda.next(true)), ["a b ~ !a !b", a.task])
    fiber.interruptUnsafe()
  })

  it("whoever could go on comes first, and another one costs a forced switch", () => {
    const { actor, agenda, offered, places } = stage({ interruptions: 3, preemptions: 1 })
    const [b, a] = [actor("b"), actor("a")]
    // What is chosen while it runs leaves it as the one that could go on.
    offered(() => agenda.running(a, "acts", false), "!b")
    assert.deepStrictEqual(offered(() => agenda.next(true), "b"), ["a b !b !a", b.task])
    assert.strictEqual(places.at(-1)?.current, a.word)
    // It was left for another, so that it costs nothing any more who is next.
    assert.deepStrictEqual(offered(() => agenda.next(true)), ["b a !b !a", b.task])
    offered(() => agenda.running(a, "acts", false), "!b")
    assert.deepStrictEqual(offered(() => agenda.next(true), "!a"), ["a !b !a", a.interruption])
    // It is interrupted, and goes on as anybody does.
    assert.deepStrictEqual(offered(() => agenda.next(true)), ["b a", b.task])
    assert.isTrue(places.every(({ running }) => !running))
  })

  it("whoever was left as the one that could go on, and waits, costs nobody anything", () => {
    const { actor, agenda, offered, places } = stage({ interruptions: 1, preemptions: 0 })
    const [a, b] = [actor("a", false), actor("b")]
    offered(() => agenda.running(a, "acts", false), "!b")
    assert.deepStrictEqual(offered(() => agenda.next(true)), ["b", b.task])
    assert.strictEqual(places.at(-1)?.current, -1)
  })

  it("time for which nobody was ready has cost nothing", () => {
    const { actor, agenda, offered, places, sleep } = stage({ preemptions: 1 })
    const fiber = sleep()
    offered(() => agenda.next(true))
    actor("a")
    offered(() => agenda.next(true))
    assert.deepStrictEqual(places.map(({ preemptions }) => preemptions), [1, 1])
    fiber.interruptUnsafe()
  })

  it("one of those that are alike is offered before it has begun, and of those that have each", () => {
    const { actor, agenda, offered } = stage({ interruptions: 1 })
    const [a, b, c] = [actor("a"), actor("b"), actor("c")]
    for (const each of [a, b, c]) each.isFresh = true
    for (const each of [a, b]) each.isAlike = true
    assert.deepStrictEqual(offered(() => agenda.next(true)), ["a c !a !c", a.task])
    // Behind a step, whoever has not begun is interrupted for nothing: nobody would know.
    a.isFresh = false
    assert.deepStrictEqual(offered(() => agenda.next(true)), ["a b c !a", a.task])
    b.isFresh = false
    assert.deepStrictEqual(offered(() => agenda.next(true)), ["a b c !a !b", a.task])
  })

  it("in a plain search whoever has not begun is interrupted all the same", () => {
    const { actor, agenda, offered } = stage({ interruptions: 1, isPlain: true })
    const [a, b] = [actor("a"), actor("b")]
    b.isFresh = true
    offered(() => agenda.next(true))
    assert.deepStrictEqual(offered(() => agenda.next(true)), ["a b !a !b", a.task])
  })

  it("whoever has ended is not interrupted, nor who may not be", () => {
    const { actor, agenda, offered } = stage({ interruptions: 1 })
    const [a, b] = [actor("a"), actor("b")]
    b.interruption = undefined
    const ended = actor("ended", false)
    Object.assign(ended.fiber, { pollUnsafe: () => Exit.void })
    assert.deepStrictEqual(offered(() => agenda.next(true)), ["a b !a", a.task])
  })
})

describe("a place that was known before", () => {
  it("takes the bounds off from there, and offers once more what they kept out", () => {
    const { actor, agenda, known, log, offered, places, sleep } = stage({ preemptions: 0, interruptions: 0 })
    const a = actor("a")
    const fiber = sleep()
    assert.deepStrictEqual(offered(() => agenda.next(true)), ["a", a.task])
    known(true)
    assert.deepStrictEqual(offered(() => agenda.next(true)), ["a ~ !a", a.task])
    assert.deepStrictEqual(places.map(({ interruptions, preemptions }) => [preemptions, interruptions]), [[0, 0], [
      0,
      0,
    ]])
    assert.deepStrictEqual([agenda.place(a, true), log()], [true, "a*2"])
    assert.deepInclude(places.at(-1), {
      current: a.word,
      running: true,
      preemptions: Infinity,
      interruptions: Infinity,
    })
    known(false)
    assert.isFalse(agenda.place(undefined, false))
    fiber.interruptUnsafe()
  })
})

describe("what happens from outside", () => {
  it("has a word for each outcome, and takes back the others as it happens", () => {
    const { actor, agenda, offered, words } = stage()
    const [a, b] = [actor("a", false), actor("b", false)]
    const heard: Array<number> = []
    agenda.await(a, "dial", [0, 1, 2].map((n) => () => void heard.push(n)))
    const other = agenda.await(b, "dial", [() => void heard.push(9)])
    assert.deepStrictEqual([...agenda.happenings].map(({ word }) => words.word(word)), [
      "a:dial",
      "a:dial/1",
      "a:dial/2",
      "b:dial",
    ])
    assert.deepStrictEqual([agenda.awaits(a), agenda.awaits(b), agenda.awaits(actor("c"))], [true, true, false])
    const [, act] = offered(() => agenda.next(true), "a:dial/1")
    assert.strictEqual(act?.kind, "happening")
    if (act?.kind === "happening") act.run()
    assert.deepStrictEqual([heard, agenda.awaits(a), agenda.awaits(b)], [[1], false, true])
    other()
    assert.strictEqual(agenda.happenings.size, 0)
  })
})
