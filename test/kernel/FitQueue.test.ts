import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { FitQueue, type Member } from "../../core/kernel/FitQueue.ts"
import type { List } from "../../core/kernel/List.ts"

class Item implements Member<Item> {
  list: List<Item> | undefined = undefined
  prev: Item | undefined = undefined
  next: Item | undefined = undefined
  ticket: number
  need: number
  constructor(ticket: number, need: number) {
    this.ticket = ticket
    this.need = need
  }
}

/** All that the queue knows, the slow way. */
class Naive {
  readonly items = new Set<Item>()
  firstFitting(units: number): Item | undefined {
    let first: Item | undefined
    for (const item of this.items) {
      if (item.need <= units && (first === undefined || item.ticket < first.ticket)) first = item
    }
    return first
  }
}

const needs = fc.oneof(
  { weight: 5, arbitrary: fc.integer({ min: 1, max: 6 }) },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 300 }) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 1_048_576 }) },
)
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ add: needs }) },
  { weight: 4, arbitrary: fc.record({ remove: fc.nat() }) },
  // One that was in before comes back with the ticket that it had, and perhaps another need.
  { weight: 2, arbitrary: fc.record({ addAgain: fc.nat(), need: fc.option(needs, { nil: undefined }) }) },
  { weight: 1, arbitrary: fc.constant({ clear: true }) },
)

describe("a queue of those who need units", () => {
  it("AD-13 AD-14: answers like a search through all: the lowest ticket of those that need no more than is there", () => {
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 120, size: "max" }),
        fc.array(needs, { maxLength: 6 }),
        (steps, probes) => {
          const queue = new FitQueue<Item>()
          const naive = new Naive()
          const out: Item[] = []
          let tickets = 0
          const add = (item: Item): void => {
            queue.add(item)
            naive.items.add(item)
          }
          const remove = (item: Item): void => {
            queue.remove(item)
            naive.items.delete(item)
            out.push(item)
          }
          for (const each of steps) {
            if ("add" in each) add(new Item(++tickets, each.add))
            else if ("clear" in each) { for (const item of naive.items) remove(item) }
            else if ("remove" in each) {
              const item = [...naive.items][each.remove % Math.max(1, naive.items.size)]
              if (item !== undefined) remove(item)
            } else {
              const [item] = out.splice(each.addAgain % Math.max(1, out.length), 1)
              if (item === undefined) continue
              item.need = each.need ?? item.need
              add(item)
            }
            expect(queue.size).toBe(naive.items.size)
            expect(queue.first()).toBe(naive.firstFitting(Infinity))
            for (const units of [-1, 0, 1, 2, 4, ...probes]) {
              expect(queue.firstFitting(units)).toBe(naive.firstFitting(units))
            }
          }
          expect(queue.toArray()).toEqual([...naive.items].sort((a, b) => a.ticket - b.ticket))
        },
      ),
      { numRuns: 100, seed: 1 },
    )
  })

  it("keeps a thousand distinct needs in order while they come and go", () => {
    const queue = new FitQueue<Item>()
    const naive = new Naive()
    for (let n = 0; n < 1_000; n++) {
      const item = new Item(n, ((n * 617) % 1_000) + 1)
      queue.add(item)
      naive.items.add(item)
    }
    for (let units = 1_000; naive.items.size > 0; units = (units * 31) % 1_009) {
      const first = naive.firstFitting(units)
      expect(queue.firstFitting(units)).toBe(first)
      const gone = first ?? naive.firstFitting(Infinity)!
      queue.remove(gone)
      naive.items.delete(gone)
    }
    expect([queue.size, queue.first()]).toEqual([0, undefined])
  })

  it("does not remove a member of another queue", () => {
    const [first, second] = [new FitQueue<Item>(), new FitQueue<Item>()]
    const [a, b] = [new Item(1, 2), new Item(1, 2)]
    first.add(a)
    second.add(b)
    second.remove(a)
    second.remove(new Item(3, 1))
    expect([first.size, second.size, first.first(), second.first()]).toEqual([1, 1, a, b])
  })
})
