/** The core on an edge runtime: bundled for workerd, without Node's compatibility, and asked by a request. */
import { assert, beforeAll, describe, it } from "vitest"
import * as Workerd from "../support/Workerd.ts"

describe("the core on workerd", () => {
  beforeAll(Workerd.install, 600_000)

  it("loads and runs: turns, a deadline, a circuit, and books that add up", async () => {
    const edge = await Workerd.start("test/runtime/edgeProgram.ts")
    try {
      const response = await edge.dispatchFetch("http://edge/")
      assert.deepStrictEqual(await response.json(), {
        order: ["flood", "flood", "acme", "flood"],
        late: "WaitExpired",
        open: "CircuitOpen",
        granted: 5,
        released: 5,
        running: 0,
        waiting: 0,
      })
    } finally {
      await edge.dispose()
    }
  })
})
