/**
 * An example as its reader would run it: in a folder of its own beside `holdfast` and `effect`, in a process of the runtime
 * that runs the test. A comment behind `console.log(…)` is what that line prints, in the order of the lines.
 */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import * as Command from "../support/Command.ts"
import * as Runtime from "../support/Runtime.ts"
import type { Block } from "./Markdown.ts"

/** A folder that uses the package as its sources are, until it is removed. */
export interface Project {
  readonly folder: string
  readonly write: (name: string, text: string) => string
  readonly remove: () => void
}

export const project = (): Project => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-docs-"))
  mkdirSync(join(folder, "node_modules"))
  symlinkSync(Runtime.root.slice(0, -1), join(folder, "node_modules/holdfast"))
  for (const name of ["effect", "fast-check"]) {
    symlinkSync(`${Runtime.root}node_modules/${name}`, join(folder, `node_modules/${name}`))
  }
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  write(
    "package.json",
    JSON.stringify({ type: "module", dependencies: { effect: "*", "fast-check": "*", holdfast: "*" } }),
  )
  return { folder, write, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** The runtime of this process, and the command that runs a script on it. */
export const runtime: Runtime.Name = "Deno" in globalThis ? "deno" : "Bun" in globalThis ? "bun" : "node"
const command: readonly string[] = [process.execPath, ...Runtime.command(runtime).slice(1)]

/** What the block says it prints; undefined for a line that prints and does not say what. */
export const promised = (block: Block): readonly (string | undefined)[] =>
  block.text.split("\n").filter((line) => line.includes("console.log("))
    .map((line) => /console\.log\(.*\) \/\/ (.+)$/.exec(line)?.[1])

/** What is wrong with a block, one line each: that it does not run, or prints something else than it says. */
export const faults = async (project: Project, block: Block, run = command): Promise<readonly string[]> => {
  const at = `${block.path}:${block.line}`
  const wanted = promised(block)
  if (wanted.length === 0) return [`${at} prints nothing, so it shows nothing`]
  if (wanted.includes(undefined)) return [`${at} prints something and does not say what`]
  const file = project.write(`${block.path.replaceAll("/", "-")}-${block.line}.ts`, block.text)
  const ended = await Command.run([...run, file], {
    cwd: project.folder,
    env: { ...Runtime.compiled, NO_COLOR: "1" },
    limitMillis: 60_000,
  })
  if (ended.status !== 0) return [`${at} ended with status ${ended.status}: ${ended.output}`]
  const printed = ended.output.trimEnd().split("\n")
  return printed.join("\n") === wanted.join("\n")
    ? []
    : [`${at} printed ${JSON.stringify(printed)} and says ${JSON.stringify(wanted)}`]
}

/** What the compiler says of the blocks, in strict mode, one line each. */
export const typeFaults = async (project: Project, blocks: readonly Block[]): Promise<readonly string[]> => {
  const names = blocks.map((block) => {
    const name = `${block.path.replaceAll("/", "-")}-${block.line}.ts`
    project.write(name, block.text)
    return name
  })
  // The options are those of the sources, since it is the sources that `holdfast` stands for here.
  const options = { rootDir: "/", noEmit: true, declaration: false, declarationMap: false, isolatedDeclarations: false }
  const typeRoots = [`${Runtime.root}node_modules/@types`]
  const config = { extends: `${Runtime.root}tsconfig.json`, compilerOptions: { ...options, typeRoots }, include: names }
  const path = project.write("tsconfig.json", JSON.stringify(config))
  const tsc = [...Runtime.command("node"), `${Runtime.root}node_modules/typescript/bin/tsc`, "--pretty", "false", "-p"]
  const ended = await Command.run([...tsc, path], { cwd: project.folder })
  return ended.status === 0 ? [] : ended.output.trimEnd().split("\n")
}
