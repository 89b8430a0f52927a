/**
 * Every order in which the events of a few asks can happen, each played on a Line of its own and judged after each step.
 *
 * The asks come in the order given (all assignments are given, so another order is another assignment). Each that waits
 * or is granted may be cancelled, each that holds gives back, the clock may go on to the next due instant, and the next
 * answer may be told, whenever there is one.
 */
import { type Entry, type Setup, type Wish, Witness } from "./Witness.ts"

type Event =
  | { readonly kind: "ask" }
  | { readonly kind: "cancel"; readonly at: number }
  | { readonly kind: "giveBack"; readonly at: number }
  | { readonly kind: "deliver" }
  | { readonly kind: "expire" }

interface Play {
  readonly witness: Witness
  readonly wishes: readonly Wish[]
  readonly asked: Array<Entry | undefined>
}

const begin = (setup: Setup, wishes: readonly Wish[]): Play => ({ witness: new Witness(setup), wishes, asked: [] })

const possible = ({ asked, wishes, witness }: Play): readonly Event[] => {
  const events: Event[] = []
  if (asked.length < wishes.length) events.push({ kind: "ask" })
  for (const [at, entry] of asked.entries()) {
    if (entry?.status === "waiting" || entry?.status === "granted") events.push({ kind: "cancel", at })
    else if (entry?.status === "held") events.push({ kind: "giveBack", at })
  }
  if (witness.line.answers.size > 0) events.push({ kind: "deliver" })
  if (witness.line.nextDue < Infinity) events.push({ kind: "expire" })
  return events
}

const play = ({ asked, wishes, witness }: Play, event: Event): void => {
  if (event.kind === "ask") asked.push(witness.ask(wishes[asked.length]!).entry)
  else if (event.kind === "cancel") witness.leave(asked[event.at]!)
  else if (event.kind === "giveBack") witness.giveBack(asked[event.at]!)
  else if (event.kind === "deliver") witness.deliver()
  else witness.advance(Math.max(0, witness.line.nextDue - witness.now))
}

/** Plays all orders to their ends; the number of them. A broken law is told with the order that broke it. */
export const playAll = (setup: Setup, wishes: readonly Wish[]): number => {
  let orders = 0
  const walk = (current: Play, past: readonly Event[]): void => {
    const events = possible(current)
    if (events.length === 0) {
      current.witness.finish()
      orders++
    }
    for (const [at, event] of events.entries()) {
      let branch = current
      if (at > 0) {
        branch = begin(setup, wishes)
        branch.witness.checks = false
        for (const each of past) play(branch, each)
        branch.witness.checks = true
      }
      const next = [...past, event]
      try {
        play(branch, event)
      } catch (cause) {
        throw new Error(JSON.stringify({ setup, wishes, events: next }), { cause })
      }
      walk(branch, next)
    }
  }
  walk(begin(setup, wishes), [])
  return orders
}

/** Two tenants, two providers, costs 1 and 2, for so many asks; the first is a's at p, since names do not matter. */
export const assignments = (count: number): readonly (readonly Wish[])[] => {
  const one = (first: boolean): readonly Wish[] =>
    (first ? ["a"] : ["a", "b"]).flatMap((tenant) =>
      (first ? ["p"] : ["p", "q"]).flatMap((provider) => [1, 2].map((cost) => ({ tenant, provider, cost })))
    )
  let all: readonly (readonly Wish[])[] = [[]]
  for (let n = 0; n < count; n++) all = all.flatMap((wishes) => one(n === 0).map((wish) => [...wishes, wish]))
  return all
}
