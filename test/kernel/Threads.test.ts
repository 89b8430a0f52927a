/** The threads of an executor alone: every state and event, and every life of two of them up to a length. */
import { assert, describe, it } from "vitest"
import * as Kernel from "../../core/kernel/Threads.ts"

const events = {
  Assign: Kernel.Assign,
  Answer: Kernel.Answer,
  Leave: Kernel.Leave,
  Terminate: Kernel.Terminate,
  Abandon: Kernel.Abandon,
  Exit: Kernel.Exit,
} as const
type EventName = keyof typeof events
const names = Object.keys(events) as ReadonlyArray<EventName>
const states = Kernel.stateNames

/** The arrows, written out; every pair that is not here changes nothing. */
const arrows: Readonly<Record<string, Readonly<Partial<Record<EventName, string>>>>> = {
  Idle: { Assign: "Busy", Leave: "Leaving", Exit: "Gone" },
  Busy: { Answer: "Idle", Terminate: "Ending", Abandon: "Abandoned", Exit: "Gone" },
  Ending: { Exit: "Gone" },
  Leaving: { Exit: "Gone" },
  Abandoned: {},
  Gone: {},
}

describe("one thread", () => {
  it("has the arrows that are drawn and no other, over every state and event", () => {
    for (const [index, state] of states.entries()) {
      for (const name of names) {
        const next = Kernel.next(index as Kernel.State, events[name])
        const wanted = arrows[state]![name]
        assert.strictEqual(next === Kernel.none ? undefined : states[next], wanted, `${state} ${name}`)
      }
    }
  })

  it("that is abandoned is so for ever, whatever is said of it, and one that is gone is gone", () => {
    for (const end of [Kernel.Abandoned, Kernel.Gone] as const) {
      for (const name of names) assert.strictEqual(Kernel.next(end, events[name]), Kernel.none)
    }
  })

  it("can be idle again only from work, and by an answer", () => {
    const ways = states.flatMap((state, index) =>
      names.filter((name) => Kernel.next(index as Kernel.State, events[name]) === Kernel.Idle).map((name) =>
        `${state} ${name}`
      )
    )
    assert.deepStrictEqual(ways, ["Busy Answer"])
  })
})

describe("a set of threads", () => {
  it("counts what its threads are, at every step of every life of four events, and of five with both at work", () => {
    const capacity = 2
    type Move = "begin" | readonly [number, EventName]
    const moves: ReadonlyArray<Move> = [
      "begin",
      ...[0, 1].flatMap((nth) => names.filter((name) => name !== "Assign").map((name) => [nth, name] as const)),
    ]
    let lives = 0
    const play = (life: ReadonlyArray<Move>): void => {
      const threads = new Kernel.Threads(capacity)
      const all: Array<Kernel.Thread> = []
      const model = new Map<Kernel.Thread, string>()
      const idle: Array<Kernel.Thread> = []
      const to = (thread: Kernel.Thread, state: string): void => {
        if (idle.includes(thread)) idle.splice(idle.indexOf(thread), 1)
        if (state === "Idle") idle.push(thread)
        if (state === "Gone") model.delete(thread)
        else model.set(thread, state)
      }
      for (const move of life) {
        if (move === "begin") {
          const warm = idle.at(-1)
          const fresh = warm === undefined && threads.size < capacity ? new Kernel.Thread() : undefined
          if (fresh !== undefined) {
            threads.add(fresh)
            all.push(fresh)
          }
          const taken = threads.take()
          assert.strictEqual(taken, warm ?? fresh)
          if (taken !== undefined) to(taken, "Busy")
        } else {
          const thread = all[all.length - 1 - move[0]]
          if (thread === undefined) return
          const wanted = arrows[states[thread.state]!]![move[1]]
          assert.strictEqual(threads.step(thread, events[move[1]]), wanted !== undefined)
          if (wanted !== undefined) to(thread, wanted)
        }
        for (const [index, state] of states.entries()) {
          const there = [...model.values()].filter((each) => each === state).length
          const wanted = state === "Gone" ? all.length - model.size : there
          assert.strictEqual(threads.count(index as Kernel.State), wanted, state)
        }
        assert.strictEqual(threads.size, model.size)
        assert.isAtMost(threads.size, capacity)
        assert.deepStrictEqual(threads.idle(), idle)
        const abandoned = [...model.values()].filter((state) => state === "Abandoned").length
        assert.strictEqual(threads.isSpent, abandoned === capacity)
      }
      lives++
    }
    const walk = (life: ReadonlyArray<Move>, left: number): void => {
      if (left === 0) return play(life)
      for (const move of moves) walk([...life, move], left - 1)
    }
    // Every life of four events, and those of five that begin with two threads at work.
    walk([], 4)
    walk(["begin", "begin"], 3)
    assert.isAbove(lives, 1_500)
  })
})
