import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Delivery } from "../../core/kernel/Delivery.ts"

describe("a delivery", () => {
  it("K-5: hands every answer over once, first in, first out, over any bursts and any batches", () => {
    const burst = fc.record({ add: fc.nat({ max: 3_000 }), take: fc.nat({ max: 3_000 }) })
    fc.assert(
      fc.property(fc.array(burst, { maxLength: 12 }), (bursts) => {
        const delivery = new Delivery<number>()
        let [added, taken] = [0, 0]
        for (const { add, take } of bursts) {
          for (let n = 0; n < add; n++) delivery.add(added++)
          expect(delivery.size).toBe(added - taken)
          for (let n = 0; n < take; n++) {
            const item = delivery.take()
            if (item !== (taken < added ? taken : undefined)) expect.unreachable(`${item} came, not ${taken}`)
            if (item !== undefined) taken++
          }
          expect(delivery.size).toBe(added - taken)
        }
        while (taken < added) if (delivery.take() !== taken++) expect.unreachable(`${taken} is missing`)
        expect(delivery.take()).toBe(undefined)
        expect(delivery.size).toBe(0)
      }),
      { numRuns: 60, seed: 1 },
    )
  })
})
