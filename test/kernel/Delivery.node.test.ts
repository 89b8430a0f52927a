/** What a delivery keeps reachable, seen by a collection that is forced; so on Node alone. */
import { setTimeout } from "node:timers/promises"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { describe, expect, it } from "vitest"
import { Delivery } from "../../core/kernel/Delivery.ts"

setFlagsFromString("--expose-gc")
const collect: () => void = runInNewContext("gc")

/** How many of the items are still reachable after a collection. */
const reachable = async (items: readonly WeakRef<object>[]): Promise<number> => {
  await setTimeout(1)
  collect()
  return items.filter((item) => item.deref() !== undefined).length
}

const fill = (delivery: Delivery<object>, count: number): readonly WeakRef<object>[] =>
  Array.from({ length: count }, () => {
    const item = { answer: new Array(8).fill(0) }
    delivery.add(item)
    return new WeakRef(item)
  })

describe("a delivery", () => {
  it("lets go of what it has handed over while others still wait", async () => {
    const delivery = new Delivery<object>()
    const items = fill(delivery, 3_000)
    for (let n = 0; n < 700; n++) delivery.take()
    expect(await reachable(items)).toBe(2_300)
    for (let n = 0; n < 2_200; n++) delivery.take()
    expect(await reachable(items)).toBe(100)
    expect(delivery.size).toBe(100)
  })

  it("does not keep the array of a burst, nor grow with what went by while it never ran empty", async () => {
    const delivery = new Delivery<object>()
    await reachable([])
    const before = process.memoryUsage().heapUsed
    const same = {}
    for (let n = 0; n < 2_000_000; n++) delivery.add(same)
    for (let n = 0; n < 2_000_000; n++) delivery.take()
    delivery.add(same)
    for (let n = 0; n < 2_000_000; n++) {
      delivery.add(same)
      delivery.take()
    }
    await reachable([])
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(2_000_000)
    expect(delivery.size).toBe(1)
  })
})
