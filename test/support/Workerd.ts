/** A program bundled for workerd and run by it, with the tools of `test/runtimes/workerd`, which are installed on first use. */
import { pathToFileURL } from "node:url"
import * as Installed from "./Installed.ts"
import { root } from "./Runtime.ts"

const folder = `${root}test/runtimes/workerd/`

/** As much of the two tools as is used; they are installed where a test runs, so their own types are not there before. */
interface Tools {
  readonly build: (options: object) => Promise<{ readonly outputFiles: ReadonlyArray<{ readonly text: string }> }>
  readonly Miniflare: new (options: object) => Edge
}

export interface Edge {
  /** Where it listens. */
  readonly ready: Promise<URL>
  readonly dispatchFetch: (url: string, init?: object) => Promise<Response>
  readonly dispose: () => Promise<void>
}

const load = (path: string): Promise<Partial<Tools>> => import(pathToFileURL(`${folder}node_modules/${path}`).href)

/** Installs the tools unless they are there. */
export const install = (): Promise<unknown> => Installed.install(folder)

/** Starts a program, named by its path in this repository. `options` are miniflare's. */
export const start = async (program: string, options: object = {}): Promise<Edge> => {
  const { build } = await load("esbuild/lib/main.js")
  const { Miniflare } = await load("miniflare/dist/src/index.js")
  const bundle = await build!({
    entryPoints: [`${root}${program}`],
    bundle: true,
    format: "esm",
    platform: "neutral",
    external: ["node:*", "cloudflare:*"],
    write: false,
  })
  return new Miniflare!({
    modules: true,
    script: bundle.outputFiles[0]!.text,
    compatibilityDate: "2026-04-01",
    ...options,
  })
}
