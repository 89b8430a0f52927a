import { describe, expect, it } from "vitest"
import * as LeaseState from "../../core/kernel/LeaseState.ts"

const events: ReadonlyArray<readonly [string, LeaseState.Event]> = [
  ["Enqueue", LeaseState.Enqueue],
  ["Grant", LeaseState.Grant],
  ["Deliver", LeaseState.Deliver],
  ["Release", LeaseState.Release],
  ["Refuse", LeaseState.Refuse],
  ["Expire", LeaseState.Expire],
  ["Interrupt", LeaseState.Interrupt],
]
const states = LeaseState.stateNames

/** The arrows, as the specification draws them; every pair that is not here is misuse. */
const arrows: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  New: {
    Enqueue: "Waiting",
    Grant: "Granted", // nobody waited
    Refuse: "Refused",
    Expire: "Expired", // its deadline had come before it asked
    Interrupt: "Interrupted",
  },
  Waiting: { Grant: "Granted", Refuse: "Refused", Expire: "Expired", Interrupt: "Interrupted" },
  Granted: {
    Deliver: "Held",
    Release: "Released", // given back before its fiber ran
    Interrupt: "Interrupted", // its units go to the next one
  },
  Held: { Release: "Released" },
}
const charged = ["Granted", "Held"]
const ends = ["Released", "Refused", "Expired", "Interrupted"]

const answer = (state: string, event: LeaseState.Event): string => {
  const next = LeaseState.next(states.indexOf(state) as LeaseState.State, event)
  return next === LeaseState.misuse ? "misuse" : states[next]!
}

describe("the states of an ask", () => {
  it("are numbered in the order of their names, as events are, and misuse is none of them", () => {
    const { Expired, Granted, Held, Interrupted, New, Refused, Released, Waiting } = LeaseState
    const own: readonly number[] = [New, Waiting, Granted, Held, Released, Refused, Expired, Interrupted]
    expect([own, events.map(([, event]) => event)]).toEqual([states.map((_, i) => i), events.map((_, i) => i)])
    expect(own.includes(LeaseState.misuse)).toBe(false)
  })

  for (const state of states) {
    for (const [name, event] of events) {
      const next = arrows[state]?.[name] ?? "misuse"
      it(`${state} and ${name} give ${next}`, () => expect(answer(state, event)).toBe(next))
    }
  }

  it("AD-4 K-3: no path of at most seven events charges an ask twice or gives its units back twice", () => {
    let paths = 0
    const walk = (state: string, length: number, taken: number, given: number): void => {
      paths++
      expect(taken - given).toBe(charged.includes(state) ? 1 : 0)
      expect(given).toBeLessThanOrEqual(1)
      expect(LeaseState.isCharged(states.indexOf(state) as LeaseState.State)).toBe(charged.includes(state))
      if (length === 0) return
      for (const [, event] of events) {
        const next = answer(state, event)
        if (next === "misuse") continue
        const [was, is] = [charged.includes(state), charged.includes(next)]
        walk(next, length - 1, taken + (!was && is ? 1 : 0), given + (was && !is ? 1 : 0))
      }
    }
    walk("New", 7, 0, 0)
    expect(paths).toBe(18)
  })

  it("AD-20: an ask that has ended stays as it is, and one that has not can end", () => {
    for (const state of states) {
      const nexts = events.map(([, event]) => answer(state, event)).filter((next) => next !== "misuse")
      if (ends.includes(state)) expect(nexts).toEqual([])
      else expect(nexts.some((next) => ends.includes(next))).toBe(true)
    }
  })

  it("AD-22 K-4: of grant, expiry, refusal and interruption of one waiting ask, the first wins and the others are misuse", () => {
    const rivals: readonly LeaseState.Event[] = [LeaseState.Grant, LeaseState.Expire, LeaseState.Refuse]
    const all: readonly LeaseState.Event[] = [...rivals, LeaseState.Interrupt]
    for (const first of all) {
      const state = answer("Waiting", first)
      expect(state).not.toBe("misuse")
      for (const second of rivals) expect(answer(state, second)).toBe("misuse")
    }
    // Only a grant can still be interrupted, before its fiber runs; it then gives its units back.
    expect(answer("Granted", LeaseState.Interrupt)).toBe("Interrupted")
  })
})
