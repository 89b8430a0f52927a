/** The list of breaks, as laws; each is shown to notice what is planted against it. */
import { describe, expect, it } from "vitest"
import { existsSync, readFileSync } from "node:fs"
import * as Runtime from "../support/Runtime.ts"
import { type Break, breaks } from "./Breaks.ts"
import * as Catch from "./Catch.ts"
import * as Changes from "./Changes.ts"

const read = (file: string): string | undefined =>
  existsSync(Runtime.root + file) ? readFileSync(Runtime.root + file, "utf8") : undefined

describe("the list of breaks", () => {
  it("has a place in the code as it is for each", () => expect(Catch.rot(breaks, read)).toEqual([]))

  it("names tests that are there", () => {
    for (const { test, testFile } of breaks) {
      // Titles that are put together from a table are found by their parts.
      const tables = [
        "test/support/http/Broken.ts",
        "test/conformance/BlockingExecutor.ts",
        "test/conformance/SocketLaws.ts",
      ]
      const text = [testFile, ...tables].map(read).join("\n")
      for (const part of test.split(/: (?=[a-z-]+(?: |$))/)) {
        expect(text.includes(part.split(" head ")[0]!.split(" body ")[0]!), `${testFile}: ${part}`).toBe(true)
      }
    }
  })

  it("covers every system that is built, and says why of each", () => {
    const parts = [
      "core/kernel/",
      "core/http/",
      "core/testing/",
      "adapters/gateway/",
      "core/Socket",
      "adapters/shared/",
    ]
    for (const part of parts) expect(breaks.filter(({ file }) => file.startsWith(part)).length).toBeGreaterThan(2)
    expect(breaks.length).toBeGreaterThan(60)
    expect(breaks.filter(({ why }) => why.length < 10)).toEqual([])
  })

  it("that is rotten is refused with what is wrong", () => {
    const files: Readonly<Record<string, string>> = { "a.ts": "one two two", "a.test.ts": "" }
    const rot = (fields: Partial<Break>): readonly string[] =>
      Catch.rot([{
        file: "a.ts",
        find: "one",
        replace: "",
        why: "",
        testFile: "a.test.ts",
        test: "",
        ...fields,
      }], (file) => files[file])
    expect(rot({})).toEqual([])
    expect(rot({ find: "two" })).toEqual(["a.ts has 2 times, not once: two"])
    expect(rot({ find: "three" })).toEqual(["a.ts has 0 times, not once: three"])
    expect(rot({ replace: "one" })).toEqual(["a.ts is not changed: one"])
    expect(rot({ file: "b.ts" })).toEqual(["b.ts is not there"])
    expect(rot({ testFile: "b.test.ts" })).toEqual(["b.test.ts is not there"])
  })
})

it("a diff says which lines are new or changed", () => {
  const changes = Changes.parse(
    [
      "+++ b/core/A.ts",
      "@@ -1,0 +2,3 @@ x",
      "+a",
      "@@ -9 +12 @@",
      "@@ -20,2 +22,0 @@",
      "+++ b/core/B.ts",
      "@@ -1 +1 @@",
    ]
      .join("\n"),
  )
  const lines = (file: string): readonly number[] =>
    Array.from({ length: 30 }, (_, line) => line).filter((line) => Changes.has(changes, file, line))
  expect([lines("core/A.ts"), lines("core/B.ts"), lines("core/C.ts")]).toEqual([[2, 3, 4, 12], [1], []])
})
