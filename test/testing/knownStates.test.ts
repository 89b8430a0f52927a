/**
 * Which two moments of two runs are one state to the search, and which are not: by what was shared, by who ran, how fibers
 * ended, and what of the bounds was left.
 */
import { assert, describe, it } from "vitest"
import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import type { Place, Scene, Step } from "../../core/testing/Chooser.ts"
import { KnownStates } from "../../core/testing/KnownStates.ts"

/** What is seen of a fiber, as the test sets it. */
interface Seen {
  readonly word: number
  exit?: Exit.Exit<unknown, unknown>
  observers?: ReadonlyArray<unknown>
  interruptions?: number
  readonly isOwn?: boolean
}
const [a, b, c] = [1, 2, 3]

/** One run: what is shared, who is there, and the steps so far. */
class Played {
  readonly known: KnownStates
  readonly fibers: Array<Seen>
  ready: Array<{ readonly actor?: object; readonly word: number }> = []
  moment = "0 0"
  log: Array<number> = []
  state: unknown

  constructor(known: KnownStates, state: unknown, fibers: Array<Seen> = [a, b].map((word) => ({ word, isOwn: true }))) {
    this.known = known
    this.state = state
    this.fibers = fibers
    const all = () =>
      this.fibers.map((each) => ({
        ...{ observers: [], interruptions: 0, isOwn: false, ...each },
        fiber: { pollUnsafe: () => each.exit },
        isDone: each.exit !== undefined,
      }))
    known.begin({
      actors: Object.defineProperties({}, { all: { get: all }, ready: { get: () => this.ready } }),
      shared: () => this.state,
      moment: () => this.moment,
    } as unknown as Scene)
  }

  /** A step of a fiber, in which it does this. */
  step(word: number, does: () => void = () => {}, given: Partial<Step> & { readonly isOld?: boolean } = {}): this {
    const from = this.log.length
    this.log.push(word)
    does()
    const { isOld = false, ...rest } = given
    this.known.stepped({ cast: [word], born: [], log: this.log, from, isBlind: false, ...rest }, isOld)
    return this
  }

  /** True where the state was known by then, with what is left here. */
  isKnown(place: Partial<Place> = {}): boolean {
    const here = { current: -1, running: false, log: this.log, preemptions: 1, interruptions: 0, ...place }
    return this.known.visit(here, { log: this.log, outcome: undefined }) !== undefined
  }
}

/** Whether a second run comes into the state that a first one was in. */
const isSame = (
  first: (run: Played) => void,
  second: (run: Played) => void,
  make: () => unknown = () => ({ n: 0 }),
) => {
  const known = new KnownStates()
  const [one, two] = [first, second].map((does) => {
    const run = new Played(known, make())
    does(run)
    return run.isKnown()
  })
  assert.isFalse(one)
  assert.isUndefined(known.unreadable)
  return two
}
const state = (run: Played) => run.state as { n: number; thing?: object | undefined }

describe("two moments are one state", () => {
  it("where the same was done, and where those did it who did not see each other", () => {
    const steps = (run: Played) => void run.step(a).step(b)
    assert.isTrue(isSame(steps, steps))
    assert.isTrue(isSame(steps, (run) => void run.step(b).step(a)))
    // What none of the two looked at is no difference to either.
    assert.isTrue(isSame(
      (run) => void run.step(a, () => state(run).n = 1, { isBlind: true }).step(b, () => {}, { isBlind: true }),
      (run) => void run.step(b, () => {}, { isBlind: true }).step(a, () => state(run).n = 1, { isBlind: true }),
    ))
  })

  it("but not where another has run, more often, or by another choice", () => {
    const once = (run: Played) => void run.step(a)
    assert.isFalse(isSame(once, (run) => void run.step(b)))
    assert.isFalse(isSame(once, (run) => void run.step(a).step(a)))
    assert.isFalse(isSame(once, (run) => void run.step(a, () => run.log.push(9))))
    assert.isFalse(isSame(once, () => {}))
    assert.isFalse(isSame((run) => void run.step(a, () => {}, { cast: [a, b] }), once))
    assert.isFalse(isSame((run) => void run.step(a, () => {}, { born: [b] }), once))
  })

  it("but not where what is shared, or the time, is another", () => {
    assert.isFalse(isSame((run) => void run.step(a, () => state(run).n = 1), (run) => void run.step(a)))
    assert.isFalse(isSame((run) => void run.step(a), (run) => void run.step(a, () => run.moment = "1 0")))
    // Who has seen another state is at another point, though what is shared is the same again.
    const back = (run: Played, seen: number) => {
      run.step(a, () => state(run).n = seen)
      run.step(b).step(a, () => state(run).n = 0)
    }
    assert.isFalse(isSame((run) => back(run, 1), (run) => back(run, 2)))
    assert.isTrue(isSame((run) => back(run, 1), (run) => back(run, 1)))
  })

  it("but not where a thing of the same content is in the place of another that somebody may have", () => {
    const put = (run: Played) => state(run).thing = { n: 1 }
    const same = (run: Played) => void run.step(a, () => put(run)).step(b)
    assert.isTrue(isSame(same, same))
    assert.isFalse(isSame(same, (run) => void run.step(a, () => put(run)).step(b, () => put(run))))
  })

  it("by what is out of sight for as long as anybody lives who may have it in hand", () => {
    const hidden = (run: Played, n: number, end: boolean) => {
      const thing = { n: 0 }
      run.step(a, () => state(run).thing = thing)
      run.step(a, () => {
        thing.n = n
        state(run).thing = undefined
        if (end) { for (const fiber of run.fibers) fiber.exit = Exit.void }
      })
    }
    assert.isFalse(isSame((run) => hidden(run, 1, false), (run) => hidden(run, 2, false)))
    assert.isTrue(isSame((run) => hidden(run, 1, false), (run) => hidden(run, 1, false)))
    assert.isTrue(isSame((run) => hidden(run, 1, true), (run) => hidden(run, 2, true)))
    // One that comes into sight again is the same one.
    const again = (run: Played, comes: boolean) => {
      const thing = { n: 0 }
      run.step(a, () => state(run).thing = thing).step(a, () => state(run).thing = undefined)
      run.step(a, () => state(run).thing = comes ? thing : { n: 0 })
    }
    assert.isTrue(isSame((run) => again(run, true), (run) => again(run, true)))
    assert.isFalse(isSame((run) => again(run, true), (run) => again(run, false)))
  })

  it("by what is out of sight and who ran while it was in sight, and by nobody else", () => {
    /** What `b` may have in hand, or not, is told by whether its content makes a difference once `a` has ended. */
    type Steps = (run: Played, thing: object, ends: () => void) => void
    const isHeld = (steps: Steps, make: (thing: object) => object = () => ({ n: 0 })): boolean => {
      const known = new KnownStates()
      // A long run before, of which nothing is left.
      const long = new Played(known, { n: 0 })
      for (let i = 0; i < 9; i++) long.step(b)
      const [one, two] = [1, 2].map((n) => {
        const thing = { n: 0 }
        const run = new Played(known, make(thing))
        steps(run, thing, () => {
          thing.n = n
          run.fibers[0]!.exit = Exit.void
        })
        return run.isKnown()
      })
      assert.isFalse(one)
      return two !== true
    }
    const show = (run: Played, thing: object) => () => void (state(run).thing = thing)
    const hide = (run: Played, does: () => void = () => {}) => () => {
      state(run).thing = undefined
      does()
    }
    // `b` ran before it was there, after it was gone, or never.
    assert.isFalse(isHeld((run, thing, ends) => void run.step(b).step(a, show(run, thing)).step(a, hide(run, ends))))
    assert.isFalse(isHeld((run, thing, ends) => void run.step(a, show(run, thing)).step(a, hide(run)).step(b, ends)))
    assert.isFalse(isHeld((run, thing, ends) => void run.step(a, show(run, thing)).step(a, hide(run, ends))))
    // It ran while it was there, or made it, or it was there when the run began.
    assert.isTrue(isHeld((run, thing, ends) => void run.step(a, show(run, thing)).step(b).step(a, hide(run, ends))))
    assert.isTrue(isHeld((run, thing, ends) => void run.step(b, show(run, thing)).step(a, hide(run, ends))))
    assert.isTrue(isHeld((run, _, ends) => void run.step(a, hide(run, ends)), (thing) => ({ n: 0, thing })))
    // It ran while it was there for the second time.
    assert.isTrue(isHeld((run, thing, ends) => {
      run.step(a, show(run, thing)).step(a, hide(run)).step(a, show(run, thing))
      run.step(b).step(a, hide(run, ends))
    }))
    // So may what was left to be run, though no fiber is left.
    assert.isTrue(isHeld((run, thing, ends) => {
      run.ready = [{ word: c }]
      run.fibers[1]!.exit = Exit.void
      run.step(a, show(run, thing), { born: [c] }).step(a, hide(run, ends))
    }))
    assert.isFalse(isHeld((run, thing, ends) => {
      run.fibers[1]!.exit = Exit.void
      run.step(a, show(run, thing), { born: [c] }).step(a, hide(run, ends))
    }))
  })

  it("by the same things out of sight, in whichever order they went there", () => {
    const gone = (first: number, second: number) => (run: Played) => {
      run.fibers.push({ word: c, isOwn: true })
      run.step(c)
      const things = run.state as Record<number, object | undefined>
      for (const word of [first, second]) {
        run.step(word, () => {
          things[word] = undefined
          run.fibers[word - 1]!.exit = Exit.void
        })
      }
    }
    const make = () => ({ [a]: { a }, [b]: { b } })
    assert.isTrue(isSame(gone(a, b), gone(b, a), make))
  })

  it("not by which of two came first where neither sees the other, in an end, an interruption or a wait", () => {
    const either = (one: (run: Played) => void, other: (run: Played) => void) =>
      isSame((run) => {
        one(run)
        other(run)
      }, (run) => {
        other(run)
        one(run)
      })
    const [x, y] = [{}, {}]
    const stepOf = (word: number) => (run: Played) => void run.step(word)
    assert.isTrue(either((run) => void run.step(a, () => run.fibers[0]!.exit = Exit.void), stepOf(b)))
    assert.isTrue(either((run) => void run.step(c, () => run.fibers[0]!.interruptions = 1), stepOf(b)))
    assert.isTrue(either((run) => void run.step(b, () => run.fibers[0]!.observers = [x, y]), stepOf(c)))
    // Who waits as it begins has waited before all.
    const known = new KnownStates()
    const waiting = (first: number, second: number) => {
      const fibers: Array<Seen> = [{ word: a, isOwn: true, observers: [{}, {}] }, { word: b, isOwn: true }]
      return new Played(known, { n: 0 }, fibers).step(first).step(second).isKnown()
    }
    assert.deepStrictEqual([waiting(b, c), waiting(c, b)], [false, true])
  })

  it("by how fibers have ended, and who waits for those that have not, in which order", () => {
    const ended = (exit: Exit.Exit<unknown, unknown>) => (run: Played) =>
      void run.step(a, () => run.fibers[0]!.exit = exit)
    const exits = [
      Exit.void,
      Exit.succeed(1),
      Exit.fail(1),
      Exit.die(1),
      Exit.die(undefined),
      Exit.failCause(Cause.interrupt()),
      Exit.fail({ n: 1 }),
      Exit.fail({ n: 2 }),
    ]
    for (const [i, one] of exits.entries()) {
      for (const [j, two] of exits.entries()) assert.strictEqual(isSame(ended(one), ended(two)), i === j, `${i} ${j}`)
    }
    // What an end has for itself is not what is shared, though it is the same to look at.
    const thing = { n: 0 }
    const make = () => ({ n: 0, thing })
    assert.isFalse(isSame(ended(Exit.succeed([{}, {}, { n: 0 }])), ended(Exit.succeed([{}, {}, thing])), make))
    const waits = (first: object, second: object, all: ReadonlyArray<object>) => (run: Played) => {
      run.step(b, () => run.fibers[0]!.observers = [first])
      run.step(b, () => run.fibers[0]!.observers = [first, second])
      run.fibers[0]!.observers = all
    }
    const [x, y] = [{}, {}]
    assert.isTrue(isSame(waits(x, y, [x, y]), waits(x, y, [x, y])))
    assert.isFalse(isSame(waits(x, y, [x, y]), waits(x, y, [y, x])))
    assert.isTrue(isSame(waits(x, y, [x]), waits(x, y, [y])))
  })

  it("by the order in which those ended that something waited for, and of no others", () => {
    const ends = (first: number, second: number, seen: Partial<Seen>) => (run: Played) => {
      const children = [b, c].map((word): Seen => ({ word, ...seen }))
      run.fibers.splice(1, 1, ...children)
      run.step(a)
      for (const word of [first, second]) {
        run.step(word, () => children[word - b]!.exit = Exit.void, { isBlind: true })
      }
    }
    const isSameEitherWay = (seen: Partial<Seen>) => isSame(ends(b, c, seen), ends(c, b, seen))
    assert.isTrue(isSameEitherWay({}))
    assert.isFalse(isSameEitherWay({ observers: [{}] }))
    assert.isTrue(isSame(ends(b, c, { observers: [{}] }), ends(b, c, { observers: [{}] })))
    // What something waited for in a run before is nothing to this one.
    const known = new KnownStates()
    ends(b, c, { observers: [{}] })(new Played(known, { n: 0 }))
    const [one, two] = [[b, c], [c, b]].map(([first, second]) => {
      const run = new Played(known, { n: 0 })
      ends(first!, second!, {})(run)
      return run.isKnown()
    })
    assert.deepStrictEqual([one, two], [false, true])
    // Nobody has a handle of one of the program's own, unless something waits for it.
    assert.isTrue(isSameEitherWay({ isOwn: true }))
    assert.isFalse(isSameEitherWay({ isOwn: true, observers: [{}] }))
  })

  it("by what is ready without being a fiber's", () => {
    const ready = (words: ReadonlyArray<number>) => (run: Played) => {
      run.step(a)
      run.ready = words.map((word) => ({ word }))
    }
    assert.isTrue(isSame(ready([7, 8]), ready([8, 7])))
    assert.isFalse(isSame(ready([7]), ready([8])))
    assert.isFalse(isSame(ready([7]), ready([])))
    // That a fiber is ready shows in its history.
    assert.isTrue(isSame((run) => void run.step(a), (run) => {
      run.step(a)
      run.ready = [{ actor: {}, word: a }]
    }))
  })

  it("by an interruption that came in a step of another, and how many", () => {
    const interrupted = (times: number, cast = [b]) => (run: Played) =>
      void run.step(b, () => run.fibers[0]!.interruptions = times, { cast })
    assert.isFalse(isSame(interrupted(0), interrupted(1)))
    assert.isTrue(isSame(interrupted(1), interrupted(1)))
    assert.isTrue(isSame(interrupted(0, [a, b]), interrupted(1, [a, b])))
    assert.isFalse(isSame(interrupted(1), (run) => [2, 1].forEach((times) => interrupted(times)(run))))
  })

  it("by the ends of what fibers started, which whoever runs next may have seen", () => {
    const started = (exit: Exit.Exit<unknown> | undefined) => (run: Played) => {
      const child: Seen = { word: c }
      run.step(a, () => run.fibers.push(child), { born: [c] })
      run.step(b, () => {
        if (exit !== undefined) child.exit = exit
      })
      run.step(a)
      run.fibers.pop()
    }
    assert.isTrue(isSame(started(Exit.succeed(1)), started(Exit.succeed(1))))
    assert.isFalse(isSame(started(Exit.succeed(1)), started(Exit.succeed(2))))
    assert.isFalse(isSame(started(Exit.succeed(1)), started(undefined)))
  })
})

describe("a state that was known", () => {
  /** Whether a visit with these is spared by one with those. */
  const spares = (first: Partial<Place>, second: Partial<Place>): boolean => {
    const known = new KnownStates()
    assert.isFalse(new Played(known, { n: 0 }).step(a).isKnown(first))
    return new Played(known, { n: 0 }).step(a).isKnown(second)
  }

  it("spares what follows where no more of the bounds is left than was", () => {
    assert.isTrue(spares({ preemptions: 2 }, { preemptions: 2 }))
    assert.isTrue(spares({ preemptions: 2 }, { preemptions: 1 }))
    assert.isFalse(spares({ preemptions: 1 }, { preemptions: 2 }))
    for (const interruptions of [1, 3]) assert.isFalse(spares({ interruptions: 2 }, { interruptions }))
  })

  it("costs a switch to whom another fiber was running, and nothing where none was, or the same", () => {
    assert.isTrue(spares({ current: -1, preemptions: 1 }, { current: a, preemptions: 1 }))
    assert.isTrue(spares({ current: a, preemptions: 1 }, { current: a, preemptions: 1 }))
    assert.isFalse(spares({ current: a, preemptions: 1 }, { current: b, preemptions: 1 }))
    assert.isFalse(spares({ current: a, preemptions: 1 }, { current: -1, preemptions: 1 }))
    assert.isTrue(spares({ current: a, preemptions: 2 }, { current: b, preemptions: 1 }))
    assert.isTrue(spares({ current: 0, preemptions: 1 }, { current: 0, preemptions: 1 }))
    assert.isFalse(spares({ current: 0, preemptions: 1 }, { current: 1, preemptions: 1 }))
  })

  it("is told with its run and where in it, the first that is enough", () => {
    const known = new KnownStates()
    const runs = [1, 2, 3].map(() => ({ log: [a], outcome: undefined }))
    const visit = (nth: number, preemptions: number) =>
      known.visit(
        {
          ...{ current: a, running: true, log: new Played(known, { n: 0 }).step(a).log },
          preemptions,
          interruptions: 0,
        },
        runs[nth]!,
      )
    assert.isUndefined(visit(0, 1))
    assert.isUndefined(visit(1, 2))
    assert.deepStrictEqual(visit(2, 2), { run: runs[1]!, at: 1, current: a, preemptions: 2 })
    assert.strictEqual(visit(2, 1)?.run, runs[0])
  })

  it("is none where an end may hide something, unless it was there before the run", () => {
    const known = new KnownStates()
    const comes = (exit: Exit.Exit<unknown>) => {
      const run = new Played(known, { n: 0 })
      return run.step(a, () => run.fibers[0]!.exit = exit).isKnown()
    }
    for (const hidden of [() => {}, new WeakMap()]) {
      for (let times = 0; times < 3; times++) assert.isFalse(comes(Exit.succeed(hidden)))
    }
    const early = () => {
      const run = new Played(known, { n: 0 }, [{ word: a, exit: Exit.succeed(() => {}) }, { word: b }])
      return run.step(b).isKnown()
    }
    assert.deepStrictEqual([early(), early()], [false, true])
  })

  it("is told in the same way where the steps are those of the run before", () => {
    const known = new KnownStates()
    const steps = (isOld: boolean, last: number) => {
      const run = new Played(known, { n: 0, thing: undefined })
      run.step(a, () => state(run).n++, { isOld })
      run.step(b, () => state(run).thing = {}, { isOld })
      run.step(a, () => {}, { isOld })
      return run.step(last).isKnown()
    }
    assert.deepStrictEqual([steps(false, a), steps(true, a), steps(true, b), steps(false, b), steps(true, b)], [
      false,
      true,
      false,
      true,
      true,
    ])
    const other = new KnownStates()
    /** Steps of these fibers, of which so many are those of the run before. */
    const runs = (old: number, ...words: ReadonlyArray<number>) => {
      const run = new Played(other, { n: 0 })
      for (const [at, word] of words.entries()) run.step(word, () => state(run).n++, { isOld: at < old })
      return run.isKnown()
    }
    assert.deepStrictEqual([runs(0, a, b, c), runs(1, a, b, c)], [false, true])
    assert.deepStrictEqual([runs(1, a, c, b), runs(2, a, c, b), runs(2, a, c, c)], [false, true, false])
    // What went out of sight in a step of theirs is held by who ran before it did.
    const hiding = (isOld: boolean) => {
      const run = new Played(other, { n: 0, thing: undefined })
      const thing = { n: 0 }
      run.step(a, () => state(run).thing = thing, { isOld }).step(a, () => state(run).thing = undefined, { isOld })
      run.step(b, () => run.fibers[0]!.exit = Exit.void)
      return run.isKnown()
    }
    assert.deepStrictEqual([hiding(false), hiding(true)], [false, true])
  })
})

describe("what cannot be read", () => {
  it("is told by what was thrown, or by the class that hides it, the first of all", () => {
    const known = new KnownStates()
    const run = new Played(known, { n: 0 })
    assert.isUndefined(known.unreadable)
    run.step(a, () => run.state = { hidden: new WeakMap() })
    assert.deepStrictEqual(known.unreadable, { cause: "WeakMap" })
    run.step(a, () => run.state = { hidden: new WeakSet() })
    assert.deepStrictEqual(known.unreadable, { cause: "WeakMap" })
    const other = new KnownStates()
    const thrown = new Error("no state")
    new Played(other, {
      get n() {
        throw thrown
      },
    })
    assert.strictEqual(other.unreadable?.cause, thrown)
    let reads = 0
    const throwing = new KnownStates()
    const again = new Played(throwing, {
      get n() {
        throw new Error(String(++reads))
      },
    })
    again.step(a)
    assert.strictEqual(String(throwing.unreadable?.cause), "Error: 1")
  })
})
