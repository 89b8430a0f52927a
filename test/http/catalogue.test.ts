/**
 * The contracts of HTTP/1.1 over the wire, `WT1` to `WT27` of the specification of the connection pool: those that the codec
 * alone decides have a test in this folder whose title begins with their ids; the others wait for the pool.
 */
import { assert, it } from "vitest"
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const codec = [1, 5, 6, 7, 9, 10, 12, 16, 17, 18, 19, 20, 22, 23, 24, 26]
const pool: Readonly<Record<number, string>> = {
  2: "idle time is the pool's",
  3: "idle time is the pool's",
  4: "opening another connection is the pool's",
  8: "the wait before reuse, and the replacement, are the pool's",
  11: "which connection serves an authority is the pool's choice",
  13: "metadata and poisoning are the pool's",
  14: "poisoning is the pool's",
  15: "metadata is the pool's",
  21: "time limits are the pool's",
  25: "opening connections is the pool's",
  27: "names are the connector's",
}

/** The ids that titles in a text begin with. */
const named = (text: string): ReadonlySet<number> =>
  new Set(
    [...text.matchAll(/\bit\(\s*["'`]((?:WT\d+ ?)+): /g)].flatMap(([, ids = ""]) =>
      ids.split(" ").map((id) => Number(id.slice(2)))
    ),
  )

const missing = (text: string): ReadonlyArray<number> => codec.filter((id) => !named(text).has(id))

const folder = fileURLToPath(new URL("./", import.meta.url))
const texts = readdirSync(folder).filter((name) => name.endsWith(".test.ts"))
  .map((name) => readFileSync(folder + name, "utf8")).join("\n")

it("every contract of the catalogue is the codec's or the pool's", () => {
  const all = [...codec, ...Object.keys(pool).map(Number)].toSorted((a, b) => a - b)
  assert.deepStrictEqual(all, Array.from({ length: 27 }, (_, i) => i + 1))
})

it("the codec's have tests that name them, and none that is not named is passed over", () => {
  assert.deepStrictEqual(missing(texts), [])
  assert.deepStrictEqual(missing(texts.replaceAll("WT26: ", "")), [26])
  assert.deepStrictEqual([...named('it("WT1 WT2: a", f)\nit(\n  "WT3: b"')], [1, 2, 3])
  assert.deepStrictEqual([...named('it("as WT1: a")\nit("WT2 a")\nit("WT3:a")')], [])
})
