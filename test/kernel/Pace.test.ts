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
})
