/**
 * Every command of README is executed. Those that install, build or pack are in `pack.slow.node.test.ts`. Ports are free
 * ones here. What takes many minutes is run in its smallest part: `npm test` would run this file again, so it runs another.
 */
import { afterEach, describe, expect, it } from "vitest"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Runtime from "../support/Runtime.ts"
import * as Documents from "./Documents.ts"
import * as Markdown from "./Markdown.ts"
import { packing } from "./Packing.ts"
import * as Shell from "./Shell.ts"

const told = Markdown.commands(Documents.readme)
/** The one command of README that begins so. Not every one is written out here: a law's id would make this a test of it. */
const that = (beginning: string): string => {
  const found = told.filter((command) => command.startsWith(beginning))
  expect(found, beginning).toHaveLength(1)
  return found[0] ?? ""
}

const ended: (() => void)[] = []
afterEach(() => ended.splice(0).forEach((end) => end()))
const started = (line: string, options?: Shell.Options): Shell.Started => {
  const one = Shell.start(line, options)
  ended.push(one.kill)
  return one
}

const anywhere = "--port 0 --operator-port 0"
const ports = async (gateway: Shell.Started): Promise<readonly [string, string]> => {
  const [, port = "", operator = ""] = await gateway.prints(/gateway http:\S+:(\d+)\noperator http:\S+:(\d+)\n/)
  return [port, operator]
}
/** npm's own shell gets the Ctrl-C too and, unlike bash, dash ends by it whatever the status of the gateway was. */
const behindNpm: readonly unknown[] = [0, 130, null]
const stops = async (gateway: Shell.Started, statuses: readonly unknown[]): Promise<void> => {
  const [status, output] = await gateway.interrupt()
  expect(output).toMatch(/drained in \d+ ms: nothing was held/)
  expect(statuses).toContain(status)
}

/** What the suite ran, by its last line. */
const passed = (output: string): number => Number(/(\d+) passed, 0 failed, 0 skipped\s*$/.exec(output)?.[1] ?? 0)

const curls = told.filter((command) => command.startsWith("curl "))

const tests: readonly (readonly [commands: readonly string[], run: () => Promise<void>])[] = [
  [["npm start", ...curls], async () => {
    const gateway = started(`npm start -- ${anywhere}`)
    const [port, operator] = await ports(gateway)
    const answers = await Promise.all(
      curls.map((curl) => Shell.run(curl.replace(":8080", `:${port}`).replace(":8081", `:${operator}`))),
    )
    expect(answers[0]).toContain("hello from the demo provider")
    expect(answers[1]).toContain("holdfast_admission_limit")
    expect(curls).toHaveLength(2)
    await stops(gateway, behindNpm)
  }],
  [[that("MAIL_AUTHORIZATION=")], async () => {
    const folder = mkdtempSync(join(tmpdir(), "holdfast-docs-"))
    ended.push(() => rmSync(folder, { recursive: true, force: true }))
    const path = join(folder, "gateway.json")
    writeFileSync(path, Documents.blocks.find(({ kind }) => kind === "json")!.text)
    const line = `${that("MAIL_AUTHORIZATION=").replace("gateway.json", path)} ${anywhere}`
    const gateway = started(line)
    const [port] = await ports(gateway)
    // The token is the one whose hash README makes, and its tenant may not use what is not there.
    const answer = await Shell.run(`curl -s -H "authorization: Bearer acme-token" http://127.0.0.1:${port}/fax/`)
    expect(answer).toContain("UnknownProvider")
    await stops(gateway, behindNpm)
    const unset = line.slice(line.indexOf("npm "))
    await expect(Shell.run(unset, { env: { MAIL_AUTHORIZATION: "" } })).rejects.toThrow(
      "$.providers.mail.headers.authorization.env: MAIL_AUTHORIZATION must be set in the environment",
    )
  }],
  [["npm start -- --help"], async () => {
    const help = await Shell.run("npm start -- --help")
    for (const flag of ["--config", "--port", "--operator-port", "--demo"]) expect(help).toContain(flag)
  }],
  [["npm start -- --demo"], async () => {
    // Its ten seconds and its table are waited for in `test/adapters/gatewayDemo.slow.test.ts`.
    const demo = started("npm start -- --demo")
    await demo.prints(/^1\/10 s, served: alpha \d+, bravo \d+, charlie \d+$/m)
    await stops(demo, behindNpm)
  }],
  [["deno task start"], async () => {
    const { folder, remove } = Shell.clone(["core", "adapters", "deno.json", "package.json"])
    ended.push(remove)
    const gateway = started(`deno task start ${anywhere}`, { cwd: join(folder, "holdfast") })
    const [port] = await ports(gateway)
    expect(await Shell.run(curls[0]!.replace(":8080", `:${port}`))).toContain("hello from the demo provider")
    await stops(gateway, [0])
  }],
  [["printf %s acme-token | sha256sum"], async () => {
    const [hash = ""] = (await Shell.run("printf %s acme-token | sha256sum")).split(" ")
    expect(Documents.readme).toContain(`"sha256:${hash}"`)
  }],
  [["npm run test:quick -- test/kernel/Epoch.test.ts"], async () => {
    expect(passed(await Shell.run("npm run test:quick -- test/kernel/Epoch.test.ts"))).toBeGreaterThan(0)
  }],
  [["npm test", "npm run test:quick", "deno task test"], async () => {
    const some = "-- --runtime node test/docs/readme"
    expect(passed(await Shell.run(`npm test ${some}`))).toBeGreaterThan(30)
    expect(passed(await Shell.run(`npm run test:quick ${some}`))).toBeGreaterThan(30)
    expect(passed(await Shell.run(`deno task test --runtime node test/docs/readme`))).toBeGreaterThan(30)
  }],
  [["npm run check", that("npm run check -- ")], async () => {
    expect(await Shell.run(that("npm run check -- "))).toMatch(/^check lint: ok/m)
  }],
  [["npm run obligations", that("npm run obligations -- ")], async () => {
    expect(await Shell.run(that("npm run obligations -- "))).toMatch(/^1 of 1 obligations proved/m)
  }],
  [["npm run mutants", that("npm run mutants -- --only "), that("npm run mutants -- --generated ")], async () => {
    expect(await Shell.run(that("npm run mutants -- --only "))).toMatch(/^1 of 1 breaks caught/m)
    expect(await Shell.run(that("npm run mutants -- --generated "))).toMatch(
      /^core\/kernel: \d+ of \d+ mutants killed/m,
    )
  }],
  [["npm run runtimes", that("npm run runtimes -- ")], async () => {
    // Those of the edge alone, which are the fewest. `npm test` compares the whole table with what it has seen.
    expect(await Shell.run(`${that("npm run runtimes -- ")} --runtime edge`)).toMatch(
      /^the table of runtimes is right: edge$/m,
    )
  }],
  [["npm run bench", that("npm run bench -- ")], async () => {
    expect(await Shell.run(that("npm run bench -- "))).toMatch(/^3 of 3 reached/m)
  }],
  [["npm run fuzz", that("npm run fuzz -- ")], async () => {
    expect(await Shell.run(that("npm run fuzz -- "))).toMatch(/^fuzz: every law held$/m)
  }],
]

describe("README's commands", () => {
  it("are all executed, here or where the package is packed", () => {
    const known = [...tests.flatMap(([commands]) => commands), ...packing]
    expect(known.toSorted()).toEqual(told.toSorted())
    expect(Markdown.commands("`npm run nothing` and `deno` and `a b`\n```sh\nnpm ci && rm x\n```")).toEqual([
      "npm ci",
      "rm x",
      "npm run nothing",
    ])
  })

  for (const [commands, run] of tests) it(commands.join(" · "), run, 170_000)

  it("of npm and Deno run the same programs", () => {
    const of = (path: string, key: string): Record<string, string> => JSON.parse(Documents.read(path))[key]
    const program = (line: string | undefined): string | undefined =>
      /(test|adapters)\/[\w/]+\.ts.*$/.exec(line ?? "")?.[0]
    const [scripts, tasks] = [of("package.json", "scripts"), of("deno.json", "tasks")]
    const twins = Object.keys(scripts).filter((name) => name !== "fmt")
    expect(twins.map((name) => [name, program(tasks[name])])).toEqual(
      twins.map((name) => [name, program(scripts[name])]),
    )
  })

  it("of a fresh clone are those that the CI runs", () => {
    const lines = Documents.read(".ci/run").trimEnd().split("\n")
    expect(lines.filter((line) => line.startsWith("npm "))).toEqual([expect.stringMatching(/^npm ci\b/), "npm test"])
    expect(lines.at(-1)).toBe("npm test")
    expect(Runtime.names).toEqual(["node", "deno", "bun"])
  })
})
