import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { absent, DeadlineOrder, type Due } from "../../core/kernel/DeadlineOrder.ts"

class Item implements Due<Item> {
  dueNanos = 0
  dueIndex = absent
  dueBefore: Item | undefined = undefined
  dueAfter: Item | undefined = undefined
}

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ add: fc.nat({ max: 15 }), due: fc.nat({ max: 20 }) }) },
  { weight: 1, arbitrary: fc.record({ add: fc.nat({ max: 15 }), due: fc.constant(Infinity) }) },
  { weight: 3, arbitrary: fc.record({ remove: fc.nat({ max: 15 }) }) },
  { weight: 2, arbitrary: fc.record({ now: fc.nat({ max: 20 }) }) },
)

describe("the order of due instants", () => {
  it("AD-20 AD-21: gives out whoever is due first, at its instant and not before, over any additions and removals", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80, size: "max" }), (steps) => {
        const order = new DeadlineOrder<Item>()
        const all = Array.from({ length: 16 }, () => new Item())
        const inside = new Set<Item>()
        const earliest = (): number => Math.min(...[...inside].map((item) => item.dueNanos))
        for (const each of steps) {
          if ("add" in each) {
            const item = all[each.add]!
            if (inside.has(item)) continue
            item.dueNanos = each.due
            order.add(item)
            inside.add(item)
          } else if ("remove" in each) {
            order.remove(all[each.remove]!)
            inside.delete(all[each.remove]!)
          } else {
            const first = earliest()
            const taken = order.takeDue(each.now)
            expect(taken !== undefined).toBe(first <= each.now)
            if (taken === undefined) continue
            expect(taken.dueNanos).toBe(first)
            expect(inside.delete(taken)).toBe(true)
          }
          expect(order.size).toBe(inside.size)
          expect(order.first()?.dueNanos ?? Infinity).toBe(earliest())
          expect(order.first() === undefined).toBe(inside.size === 0)
          for (const item of all) expect(item.dueIndex === absent).toBe(!inside.has(item))
        }
        const sorted = [...inside].map((item) => item.dueNanos).sort((a, b) => a - b)
        const taken = sorted.map(() => order.takeDue(Infinity)?.dueNanos)
        expect(taken).toEqual(sorted)
        expect([order.size, order.first()]).toEqual([0, undefined])
      }),
      { numRuns: 150, seed: 1 },
    )
  })

  it("gives out those that are due at the same instant in the order of their arrival, where all came in order", () => {
    const order = new DeadlineOrder<Item>()
    const items = Array.from({ length: 5 }, () => new Item())
    for (const item of items) {
      item.dueNanos = 7
      order.add(item)
    }
    // By their places: items that are due at one instant are all alike.
    expect(items.map(() => items.indexOf(order.takeDue(7)!))).toEqual([0, 1, 2, 3, 4])
  })

  it("AD-20: keeps its order where one is taken from the middle, and the last that fills its place is due early", () => {
    const dues = [100, 1, 50, 2, 60, 70, 10, 4]
    const order = new DeadlineOrder<Item>()
    const items = dues.map((due) => Object.assign(new Item(), { dueNanos: due }))
    for (const item of items) order.add(item)
    order.remove(items[4]!)
    expect(items.slice(1).map(() => order.takeDue(Infinity)?.dueNanos)).toEqual([1, 2, 4, 10, 50, 70, 100])
  })

  it("keeps 10,000 instants that came in order, or in reverse, or mixed, in order", () => {
    const instants = Array.from({ length: 10_000 }, (_, at) => at)
    const mixed = instants.map((at) => (at * 7_919) % 10_000)
    for (const dues of [instants, instants.toReversed(), mixed]) {
      const order = new DeadlineOrder<Item>()
      for (const due of dues) order.add(Object.assign(new Item(), { dueNanos: due }))
      expect(dues.map(() => order.takeDue(Infinity)!.dueNanos)).toEqual(instants)
    }
  })
})
