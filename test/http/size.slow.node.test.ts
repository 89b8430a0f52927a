/**
 * What the codec adds to a bundle: minified and gzipped, without `effect`, which its user has. The codec is what reads and
 * writes bytes; the entry point adds the connection's certificates and the options. `npm run bench -- --group I` prints the
 * same beside Effect's own parts.
 *
 * Why the whole entry point of HTTP/1.1 is more than 6 kB: its reader and writer are 5.8, the connection around them is 1.5,
 * and limits, the check of all options at the door and the port 0.8. In all of it the texts of rules and refusals are 1.1, and the errors
 * that every noun of holdfast shares 0.5. Checking a text once instead of as it is written would save 60 bytes, and cost a
 * tenth of the time.
 */
import { assert, it } from "vitest"
import { build } from "vite"
import { gzipSync } from "node:zlib"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { root } from "../support/Runtime.ts"

/** Bytes of a program that exports all of these, as a bundler makes it. */
const gzipped = async (program: string): Promise<number> => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-size-"))
  try {
    const entry = join(folder, "entry.ts")
    writeFileSync(entry, program)
    const built = await build({
      configFile: false,
      logLevel: "silent",
      build: {
        write: false,
        target: "es2023",
        lib: { entry, formats: ["es"] },
        rolldownOptions: { external: [/^effect\//], output: { minify: true } },
      },
    })
    const outputs = Array.isArray(built) ? built.flatMap(({ output }) => output) : "output" in built ? built.output : []
    const [code, ...more] = outputs.map((output) => output.type === "chunk" ? output.code : "")
    assert.deepStrictEqual([more, code!.includes("effect/Result")], [[], true])
    return gzipSync(code!, { level: 9 }).length
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const from = (...names: ReadonlyArray<string>): string =>
  names.map((name) => `export * from ${JSON.stringify(`${root}core/http/${name}.ts`)}\n`).join("")

it(
  "reader and writer of HTTP/1.1 are at most 6 kB, and 8.2 kB with all that the entry point has",
  async () => {
    const codec = await gzipped(`${from("Http1Request", "Http1Response")}export * from "effect/Result"\n`)
    const entry = await gzipped(from("Http1"))
    assert.isAtMost(codec, 6_000)
    assert.isAtMost(entry, 8_200)
    // Both are there: what is empty would be small, too.
    assert.isAbove(codec, 4_000)
    assert.isAbove(entry, codec)
  },
)

it("HTTP/2 is at most 14 kB, with all that the entry point has", async () => {
  const entry = await gzipped(from("Http2"))
  assert.isAtMost(entry, 14_000)
  assert.isAbove(entry, 9_000)
})
