import { readFileSync } from "node:fs"
import process from "node:process"
import { relative } from "node:path"
import { fileURLToPath } from "node:url"
import { mergeConfig } from "vitest/config"
import { suite } from "../../vitest.config.ts"

const root = fileURLToPath(new URL("../../", import.meta.url))
const { file, find, replace } = JSON.parse(process.env["HOLDFAST_BREAK"] ?? "{}")

/** The configuration of the tests, with one break in one file, which is not touched. */
export default mergeConfig(suite, {
  root,
  plugins: [{
    name: "break",
    enforce: "pre",
    load: (id: string): string | undefined =>
      relative(root, id) === file ? readFileSync(id, "utf8").replace(find, () => replace) : undefined,
  }],
  // A file with a break in it must not be found there by anybody else, nor one without it here.
  test: { fsModuleCache: false },
})
