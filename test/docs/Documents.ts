/** The documents that have examples, and what may be in them. */
import { readdirSync, readFileSync } from "node:fs"
import * as Runtime from "../support/Runtime.ts"
import * as Markdown from "./Markdown.ts"

export const read = (path: string): string => readFileSync(Runtime.root + path, "utf8")

export const readme: string = read("README.md")

/** The files of the core that users see: its nouns, those of HTTP and those of tests. */
export const sources: readonly string[] = ["core", "core/http", "core/testing"].flatMap((folder) =>
  readdirSync(Runtime.root + folder).filter((name) => name.endsWith(".ts")).map((name) => `${folder}/${name}`)
)

/** Every page that is written in Markdown. */
export const pages: readonly string[] = ["README.md", "core/testing/README.md"]

/** Every block of the pages and of the doc comments of the core. */
export const blocks: readonly Markdown.Block[] = [
  ...pages.flatMap((path) => Markdown.blocks(path, read(path))),
  ...sources.flatMap((path) => Markdown.docBlocks(path, read(path))),
]

/** Every kind of block that is known, and what is done with it. A drawing is the only one that cannot be run. */
export const kinds: Readonly<Record<string, string>> = {
  ts: "type-checked, run on each runtime, its output compared",
  sh: "each command executed",
  json: "decoded as a configuration of the gateway, and started with",
  text: "a drawing",
}

export const unknown = (found: readonly Markdown.Block[]): readonly string[] =>
  found.filter(({ kind }) => !(kind in kinds)).map(({ path, line, kind }) =>
    `${path}:${line} is of no known kind: "${kind}"`
  )

export const programs: readonly Markdown.Block[] = blocks.filter(({ kind }) => kind === "ts")
