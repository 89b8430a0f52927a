/** Every program of README and of the doc comments type-checks in strict mode, against what the package exports. */
import { afterAll, describe, expect, it } from "vitest"
import * as Documents from "./Documents.ts"
import * as Example from "./Example.ts"

const project = Example.project()
afterAll(() => project.remove())

describe("the examples", () => {
  it("type-check", async () => {
    expect(await Example.typeFaults(project, Documents.programs)).toEqual([])
  })

  it("are checked strictly, by types that are there", async () => {
    const text = `import * as Admission from "holdfast/Admission"
export const wrong: number = "1"
export const missing = Admission.makes({ maxRunning: 1 })
export const bad = Admission.make({ maxRunnings: 1 })
export const implicit = (x) => x
`
    const faults = await Example.typeFaults(project, [{ path: "planted", line: 1, kind: "ts", text }])
    const codes = faults.filter((line) => /error TS/.test(line)).map((line) =>
      /\((\d+),.*error (TS\d+)/.exec(line)?.slice(1)
    )
    expect(codes).toEqual([["2", "TS2322"], ["3", "TS2551"], ["4", "TS2561"], ["5", "TS7006"]])
  })
})
