import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { List, type Node } from "../../core/kernel/List.ts"

class Item implements Node<Item> {
  list: List<Item> | undefined = undefined
  prev: Item | undefined = undefined
  next: Item | undefined = undefined
  readonly name: number
  constructor(name: number) {
    this.name = name
  }
}

/** Forwards, backwards and by the links of each node it says the same as the array. */
const matches = (list: List<Item>, items: readonly Item[]): void => {
  expect(list.toArray()).toEqual(items)
  expect(list.size).toBe(items.length)
  expect(list.head).toBe(items[0])
  expect(list.tail).toBe(items.at(-1))
  for (const [at, item] of items.entries()) {
    expect(item.list).toBe(list)
    expect(item.prev).toBe(items[at - 1])
    expect(item.next).toBe(items[at + 1])
  }
}

const step = fc.record({
  action: fc.constantFrom("push", "pushFront", "insertBefore", "remove", "rotate"),
  item: fc.nat({ max: 7 }),
  at: fc.nat({ max: 7 }),
})

describe("a list", () => {
  it("says what an array says, over any order of pushes, insertions, removals and rotations", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const all = Array.from({ length: 8 }, (_, name) => new Item(name))
        const list = new List<Item>()
        let items: Item[] = []
        for (const { action, at, item: name } of steps) {
          const item = all[name]!
          const other = all[at]!
          const isIn = items.includes(item)
          const without = items.filter((each) => each !== item)
          if (action === "remove") {
            expect(list.remove(item)).toBe(isIn)
            items = without
          } else if (action === "rotate" && isIn) {
            list.rotate(item)
            items = [...without, item]
          } else if (action === "push" && !isIn) {
            list.push(item)
            items = [...items, item]
          } else if (action === "pushFront" && !isIn) {
            list.pushFront(item)
            items = [item, ...items]
          } else if (action === "insertBefore" && !isIn && items.includes(other)) {
            list.insertBefore(other, item)
            items = items.flatMap((each) => each === other ? [item, other] : [each])
          }
          matches(list, items)
        }
      }),
      { numRuns: 300, seed: 1 },
    )
  })

  it("lets go of a node that was removed, and does not remove it from another list", () => {
    const [first, second] = [new List<Item>(), new List<Item>()]
    const [a, b] = [new Item(1), new Item(2)]
    first.push(a)
    first.push(b)
    expect(second.remove(a)).toBe(false)
    matches(first, [a, b])
    expect(first.remove(a)).toBe(true)
    expect([a.list, a.prev, a.next]).toEqual([undefined, undefined, undefined])
    expect(first.remove(a)).toBe(false)
    matches(first, [b])
    first.push(a)
    expect(first.remove(a)).toBe(true)
    expect([a.list, a.prev, a.next]).toEqual([undefined, undefined, undefined])
  })
})
