/**
 * All that is left out together, which is the turns that nobody can tell apart and what `shared` and `alike` say, leaves a
 * tenth at most and misses nothing: what is found so is compared with what is found where every turn is a step.
 */
import { describe, expect, it } from "vitest"
import { type Bounds, tell } from "./Worlds.ts"
import { faults } from "./faulty/faults.ts"

/** Forced switches, where all schedules are too many to be compared. */
const preemptions: Readonly<Record<string, number>> = {
  "a permit lost when a grantee is interrupted before it runs": 3,
}

describe.each(Object.entries(faults))("%s", (name, { bounds, faulty }) => {
  it(
    "is searched through in a tenth of the schedules at most, and every end that the others come to is found",
    () => {
      const within: Bounds = { ...bounds, preemptions: preemptions[name] ?? Infinity }
      const pruned = tell(faulty, { ...within, how: "pruned" }, () => "")
      const plain = tell(faulty, { ...within, how: "plain", maxRuns: 10 * pruned.runs }, () => "")
      expect({ pruned: pruned.isThrough, plain: plain.isThrough }).toEqual({ pruned: true, plain: false })
      expect([...plain.ends].filter((end) => !pruned.ends.has(end))).toEqual([])
      expect([...pruned.ends].filter((end) => !end.startsWith("undefined")).length).toBeGreaterThan(0)
    },
  )
})
