/**
 * What a folder of this repository has of its own from npm, beside what `npm ci` at the top installs: the other runtimes,
 * the tools of the edge, the peers of the benchmark. They are installed when they are first needed.
 */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs"
import { fileURLToPath } from "node:url"
import * as Command from "./Command.ts"

const cache = fileURLToPath(new URL("../../node_modules/.cache/", import.meta.url))

/** The packages that a folder asks for, each with the one version that it pins. */
export const pins = (folder: string): Readonly<Record<string, string>> =>
  JSON.parse(readFileSync(`${folder}package.json`, "utf8")).dependencies

/** The version of a package that is there; undefined where none is. */
export const version = (folder: string, name: string): string | undefined => {
  const at = `${folder}node_modules/${name}/package.json`
  return existsSync(at) ? JSON.parse(readFileSync(at, "utf8")).version : undefined
}

const isWhole = (folder: string): boolean =>
  Object.entries(pins(folder)).every(([name, pin]) => version(folder, name) === pin)

/**
 * Installs what `folder`, named with a slash at its end, pins, unless it is there; what npm said, and nothing where nothing was
 * to do. It comes into its place in one step when it is whole, so that others may ask for it at the same time: each installs
 * its own aside, and the first one's stays. Throws what npm said where it could not be done.
 */
export const install = async (folder: string): Promise<string> => {
  if (isWhole(folder)) return ""
  mkdirSync(cache, { recursive: true })
  const aside = mkdtempSync(`${cache}install-`)
  try {
    for (const file of ["package.json", "package-lock.json"]) copyFileSync(`${folder}${file}`, `${aside}/${file}`)
    const { output, status } = await Command.run(["npm", "ci", "--no-audit", "--no-fund"], { cwd: aside })
    if (status !== 0) throw new Error(output)
    if (!isWhole(folder)) {
      if (existsSync(`${folder}node_modules`)) renameSync(`${folder}node_modules`, `${aside}/before`)
      renameSync(`${aside}/node_modules`, `${folder}node_modules`)
    }
    return output
  } finally {
    rmSync(aside, { recursive: true })
  }
}
