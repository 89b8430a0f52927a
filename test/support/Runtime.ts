/**
 * The runtimes that the tests run on. Node is the one that npm installed; the others are installed into `test/runtimes/` when
 * they are first needed, so that `npm ci` stays light.
 */
import { readFileSync } from "node:fs"
import process from "node:process"
import { fileURLToPath } from "node:url"
import * as Command from "./Command.ts"
import * as Installed from "./Installed.ts"

export type Name = "node" | "deno" | "bun"
export const names: readonly Name[] = ["node", "deno", "bun"]

/** The oldest and the newest Node that is supported, which what the platforms supply is tried on as well. */
export type OtherNode = "node22" | "node26"
export const otherNodes: readonly OtherNode[] = ["node22", "node26"]

/** The top of the repository, with a slash at its end. */
export const root: string = fileURLToPath(new URL("../../", import.meta.url))

/** For what is started dozens of times: Node need not compile the same sources as often. */
export const compiled: Readonly<Record<string, string>> = { NODE_COMPILE_CACHE: `${root}node_modules/.cache/holdfast` }

const folder = (name: Name | OtherNode): string => `${root}test/runtimes/${name}/`
const packageOf = (name: Name | OtherNode): Name => name === "node22" || name === "node26" ? "node" : name
const binary = (name: Name | OtherNode): string => {
  if (name !== "node") return `${folder(name)}node_modules/.bin/${packageOf(name)}`
  return "deno" in process.versions || "bun" in process.versions ? "node" : process.execPath
}

/** The command that runs a script of the repository on `name`: append the script and its arguments. */
export const command = (name: Name | OtherNode): readonly string[] => {
  const conditions = "--conditions=holdfast-source"
  switch (name) {
    case "node":
    case "node22":
    case "node26":
      return [binary(name), conditions]
    case "deno":
      return [binary(name), "run", "-A", "--node-modules-dir=manual", conditions]
    case "bun":
      return [binary(name), "--bun", conditions]
  }
}

/** The Deno program itself, for `fmt`, `lint` and `publish`. */
export const deno: string = binary("deno")

/** Installs `name` unless the pinned version is there. Where that fails, ends this process with a line on what to do. */
export const install = async (name: Name | OtherNode): Promise<void> => {
  if (name === "node" || await isInstalled(name)) return
  const output = await Installed.install(folder(name)).catch(String)
  if (await isInstalled(name)) return
  console.error(
    `${output}\nholdfast: ${name} could not be installed in test/runtimes/${name}. ` +
      `If install scripts are switched off, run: npm ci --ignore-scripts=false --prefix test/runtimes/${name}`,
  )
  process.exit(1)
}

/** The version that is pinned. */
export const pinned = (name: Name | OtherNode): string => {
  const at = name === "node" ? `${root}package.json` : `${folder(name)}package.json`
  const { dependencies, devDependencies } = JSON.parse(readFileSync(at, "utf8"))
  return { ...devDependencies, ...dependencies }[packageOf(name)]
}

const isInstalled = async (name: Name | OtherNode): Promise<boolean> => {
  const version = await Command.run([binary(name), "--version"])
  return version.status === 0 && version.output.includes(pinned(name))
}
