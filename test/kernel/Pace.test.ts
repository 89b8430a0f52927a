import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Pace } from "../../core/kernel/Pace.ts"

/** The mean of all gaps so far, and from the 33rd on the old mean moved by a 32nd of the way to the new gap. */
const meanOf = (gaps: readonly number[]): number | undefined => {
  if (gaps.length < 32) return undefined
  let mean = gaps.slice(0, 32).reduce((sum, gap) => sum + gap, 0) / 32
  for (const gap of gaps.slice(32)) mean += (gap - mean) / 32
  return mean
}

describe("the pace of grants", () => {
  it("AD-25: is the moving mean of the gaps that begin and end with somebody in the line, unknown before 32 of them", () => {
    const grant = fc.record({ gap: fc.nat({ max: 1_000 }), waiting: fc.integer({ min: 0, max: 9 }).map((n) => n > 0) })
    fc.assert(
      fc.property(fc.array(grant, { maxLength: 120, size: "max" }), (grants) => {
        const pace = new Pace()
        const gaps: number[] = []
        let now = 0
        let counts = false
        for (const { gap, waiting } of grants) {
          now += gap
          if (counts) gaps.push(gap)
          counts = waiting
          pace.note(now, waiting)
          const mean = meanOf(gaps)
          if (mean === undefined) expect(pace.intervalNanos(1)).toBe(undefined)
          else expect(pace.intervalNanos(1)).toBeCloseTo(mean, 6)
        }
      }),
      { numRuns: 300, seed: 1 },
    )
  })

  it("AD-25: knows nothing from 32 grants and speaks at the 33rd", () => {
    const pace = new Pace()
    for (let n = 0; n < 32; n++) pace.note(n * 10, true)
    expect(pace.intervalNanos(1)).toBe(undefined)
    pace.note(320, true)
    expect(pace.intervalNanos(1)).toBe(10)
  })

  describe("and how much later than by it asks of one size are granted", () => {
    /** Ten nanoseconds a turn for all. */
    const steady = (): Pace => {
      const pace = new Pace()
      for (let n = 0; n < 33; n++) pace.note(n * 10, true)
      return pace
    }
    const intervals = (pace: Pace): readonly (number | undefined)[] =>
      [1, 2, 3, 4, 7, 8].map((cost) => pace.intervalNanos(cost))
    const step = (steps: number): number => 1 + steps / 32

    it("AD-25: is learned apart for each power of two that a cost reaches", () => {
      const pace = steady()
      pace.learn(false, 3)
      const late = 10 * step(0.85)
      expect(intervals(pace)).toEqual([10, late, late, 10, 10, 10])
      pace.learn(false, 4)
      pace.learn(false, 7)
      expect(intervals(pace)).toEqual([10, late, late, 10 * step(0.85) ** 2, 10 * step(0.85) ** 2, 10])
    })

    it("AD-25: falls by what a grant in time is worth, and not below the mean", () => {
      const pace = steady()
      pace.learn(true, 1)
      expect(pace.intervalNanos(1)).toBe(10)
      pace.learn(false, 1)
      pace.learn(true, 1)
      expect(pace.intervalNanos(1)).toBeCloseTo(10 * step(0.85) * step(-0.15), 9)
      for (let n = 0; n < 10; n++) pace.learn(true, 1)
      expect(pace.intervalNanos(1)).toBe(10)
    })

    it("AD-25: is sixteen times the mean at most, however late all come", () => {
      const pace = steady()
      for (let n = 0; n < 200; n++) pace.learn(false, 1)
      expect(pace.intervalNanos(1)).toBe(160)
    })

    it("AD-25: falls for every size where the line runs empty, and then alone", () => {
      const pace = steady()
      for (const cost of [1, 4]) pace.learn(false, cost)
      pace.note(330, true)
      expect(pace.intervalNanos(4)).toBe(10 * step(0.85))
      pace.note(340, false)
      const fallen = 10 * step(0.85) * step(-0.5)
      for (const cost of [1, 4]) expect(pace.intervalNanos(cost)).toBeCloseTo(fallen, 9)
      expect(pace.intervalNanos(2)).toBe(10)
    })
  })
})
