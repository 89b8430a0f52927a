/** The package as its users get it: built and packed in a fresh clone, installed beside `effect` into an empty folder. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Command from "../support/Command.ts"
import * as Runtime from "../support/Runtime.ts"
import * as Documents from "./Documents.ts"
import * as Example from "./Example.ts"
import * as Packing from "./Packing.ts"
import * as Shell from "./Shell.ts"

const { folder, remove } = Shell.clone()
const clone = join(folder, "holdfast")
const app = join(folder, "app")
// Removing what npm installed takes a while on a busy disk.
afterAll(remove, 300_000)

beforeAll(async () => {
  for (const name of ["deno", "bun"]) {
    symlinkSync(`${Runtime.root}test/runtimes/${name}/node_modules`, join(clone, `test/runtimes/${name}/node_modules`))
  }
  for (const command of Packing.packing.filter((one) => one !== Packing.install)) {
    await Shell.run(command === "npm ci" ? "npm ci --prefer-offline --no-audit" : command, { cwd: clone })
  }
  mkdirSync(app)
  writeFileSync(join(app, "package.json"), JSON.stringify({ type: "module", private: true }))
  await Shell.run(Packing.install, { cwd: app })
  // What the page on testing hands in.
  symlinkSync(`${Runtime.root}node_modules/fast-check`, join(app, "node_modules/fast-check"))
}, 600_000)

const write = (name: string, text: string): string => {
  writeFileSync(join(app, name), text)
  return join(app, name)
}
const project: Example.Project = { folder: app, write, remove }

/** No condition of the repository is set: what is found is what was built. */
const outside = (name: Runtime.Name): readonly string[] =>
  Runtime.command(name).filter((word) => word !== "--conditions=holdfast-source")

describe("the packed package", () => {
  it("brings effect as its only company, and no test", () => {
    expect(readdirSync(join(app, "node_modules")).filter((name) => !name.startsWith("."))).toContain("effect")
    const packed = readdirSync(join(app, "node_modules/holdfast"))
    expect(packed.toSorted()).toEqual(
      ["CHANGELOG.md", "LICENSE", "README.md", "SECURITY.md", "adapters", "core", "dist", "package.json"],
    )
  })

  it.each(Runtime.names)("runs every example of the pages on %s", async (name) => {
    const programs = Documents.programs.filter(({ path }) => Documents.pages.includes(path))
    const faults = await Promise.all(programs.map((block) => Example.faults(project, block, outside(name))))
    expect(faults.flat()).toEqual([])
    expect(programs.length).toBeGreaterThan(5)
  })

  it.each(
    [
      ["nodenext", "of the core", (text: string) => !/holdfast\/(gateway|node)/.test(text)],
      ["bundler", "of all that imports nothing of Node, without @types/node", (text: string) => !/"node:/.test(text)],
    ] as const,
  )("has types that a strict project checks: %s, %s", async (resolution, _, wanted) => {
    const programs = Documents.programs.filter(({ text }) => wanted(text)).map((block) => {
      const name = `types-${block.path.replaceAll("/", "-")}-${block.line}.ts`
      write(name, block.text)
      return name
    })
    const options = {
      strict: true,
      noEmit: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      target: "es2023",
      lib: ["es2023", "dom"],
      module: resolution === "bundler" ? "preserve" : resolution,
      moduleResolution: resolution,
      types: [],
      skipLibCheck: resolution === "bundler",
    }
    const config = write("tsconfig.json", JSON.stringify({ compilerOptions: options, include: programs }))
    const tsc = [
      ...Runtime.command("node"),
      `${Runtime.root}node_modules/typescript/bin/tsc`,
      "--pretty",
      "false",
      "-p",
    ]
    const ended = await Command.run([...tsc, config], { cwd: app })
    expect([ended.status, ended.output]).toEqual([0, ""])
  })
})
