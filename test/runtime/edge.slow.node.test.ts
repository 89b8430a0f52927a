/** The core on an edge runtime: bundled for workerd, without Node's compatibility, and asked by a request. */
import { assert, beforeAll, describe, it } from "vitest"
import { existsSync } from "node:fs"
import { pathToFileURL } from "node:url"
import * as Command from "../support/Command.ts"
import { root } from "../support/Runtime.ts"

const folder = `${root}test/runtimes/workerd/`

/** As much of the two tools as is used; they are installed where this test runs, so their own types are not there before. */
interface Tools {
  readonly build: (options: object) => Promise<{ readonly outputFiles: ReadonlyArray<{ readonly text: string }> }>
  readonly Miniflare: new (options: object) => {
    readonly dispatchFetch: (url: string) => Promise<{ readonly json: () => Promise<unknown> }>
    readonly dispose: () => Promise<void>
  }
}

const load = (path: string): Promise<Partial<Tools>> => import(pathToFileURL(`${folder}node_modules/${path}`).href)

describe("the core on workerd", () => {
  beforeAll(async () => {
    if (existsSync(`${folder}node_modules/miniflare/package.json`)) return
    const { output, status } = await Command.run(["npm", "ci", "--no-audit", "--no-fund"], { cwd: folder })
    assert.strictEqual(status, 0, output)
  }, 120_000)

  it("loads and runs: turns, a deadline, a circuit, and books that add up", { timeout: 60_000 }, async () => {
    const { build } = await load("esbuild/lib/main.js")
    const { Miniflare } = await load("miniflare/dist/src/index.js")
    const bundle = await build!({
      entryPoints: [`${root}test/runtime/edgeProgram.ts`],
      bundle: true,
      format: "esm",
      platform: "neutral",
      write: false,
    })
    const edge = new Miniflare!({
      modules: true,
      script: bundle.outputFiles[0]!.text,
      compatibilityDate: "2026-04-01",
    })
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
