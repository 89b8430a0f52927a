import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Epoch from "../../core/kernel/Epoch.ts"

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ advanceFrom: fc.nat({ max: 8 }) }) },
  { weight: 6, arbitrary: fc.constant({ advanceFrom: "current" as const }) },
  { weight: 1, arbitrary: fc.constant({ retire: true }) },
)

describe("an epoch", () => {
  it("K-9: gives numbers that never repeat and never fall, to those alone who knew the current one", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const epoch = Epoch.make()
        const given = [epoch.current]
        let retired = false
        for (const each of steps) {
          const last = given.at(-1)!
          if ("retire" in each) {
            expect(Epoch.retire(epoch)).toBe(!retired)
            retired = true
          } else {
            const expected = each.advanceFrom === "current" ? last : each.advanceFrom
            const number = Epoch.advance(epoch, expected)
            expect(number !== undefined).toBe(!retired && expected === last)
            if (number !== undefined) given.push(number)
          }
          for (const number of given) {
            expect(Epoch.isCurrent(epoch, number)).toBe(!retired && number === given.at(-1))
          }
        }
        expect(given).toEqual([...new Set(given)].sort((a, b) => a - b))
      }),
      { numRuns: 300, seed: 1 },
    )
  })

  it("K-9: ends rather than give a number twice, where numbers are no longer told apart", () => {
    const epoch = Epoch.make()
    epoch.current = Number.MAX_SAFE_INTEGER
    expect(Epoch.advance(epoch, Number.MAX_SAFE_INTEGER)).toBe(undefined)
    expect(epoch.current).toBe(Number.MAX_SAFE_INTEGER)
  })

  it("K-9: has no current number again once it is retired", () => {
    const epoch = Epoch.make()
    expect(Epoch.isCurrent(epoch, 0)).toBe(true)
    expect(Epoch.retire(epoch)).toBe(true)
    expect(Epoch.advance(epoch, 0)).toBe(undefined)
    expect(Epoch.isCurrent(epoch, 0)).toBe(false)
    expect(Epoch.retire(epoch)).toBe(false)
  })
})
