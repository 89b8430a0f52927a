/**
 * The contracts of HTTP/2 over the wire, `XT1` to `XT14` of the specification of the connection pool: those that the codec
 * alone decides have a test in this folder whose title begins with their ids; the others wait for the pool.
 */
import { assert, it } from "vitest"
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const codec = [1, 2, 5, 6, 7, 11, 12, 13, 14]
const pool: Readonly<Record<number, string>> = {
  3: "convergence on one connection is the pool's",
  4: "poisoning is the pool's",
  8: "TLS and ALPN are the connector's",
  9: "idle time is the pool's",
  10: "idle time is the pool's",
}

/** The ids that titles in a text begin with. */
const named = (text: string): ReadonlySet<number> =>
  new Set(
    [...text.matchAll(/\bit\(\s*["'`]((?:XT\d+ ?)+): /g)].flatMap(([, ids = ""]) =>
      ids.split(" ").map((id) => Number(id.slice(2)))
    ),
  )

const folder = fileURLToPath(new URL("./", import.meta.url))
const texts = readdirSync(folder).filter((name) => name.startsWith("http2") && name.endsWith(".test.ts"))
  .map((name) => readFileSync(folder + name, "utf8")).join("\n")

it("every contract of the catalogue is the codec's or the pool's", () => {
  const all = [...codec, ...Object.keys(pool).map(Number)].toSorted((a, b) => a - b)
  assert.deepStrictEqual(all, Array.from({ length: 14 }, (_, i) => i + 1))
})

it("each of the codec's has a test, and a missing one is noticed", () => {
  assert.deepStrictEqual(codec.filter((id) => !named(texts).has(id)), [])
  assert.isFalse(named(texts.replaceAll("XT6: ", "")).has(6))
})
