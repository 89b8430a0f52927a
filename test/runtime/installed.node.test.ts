/** What several ask for in one folder at the same time, with a package manager of the test's own that stands still half-way. */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import * as net from "node:net"
import { tmpdir } from "node:os"
import process from "node:process"
import * as Installed from "../support/Installed.ts"

const folder = `${mkdtempSync(`${tmpdir()}/holdfast-installed-`)}/`
const cache = new URL("../../node_modules/.cache/", import.meta.url)
const aside = (): number => readdirSync(cache).filter((name) => name.startsWith("install-")).length
const { PATH } = process.env

/** Each `npm` that has come half-way, in order; it ends with the status that it is sent. */
const halfway: net.Socket[] = []
let heard = (): void => {}
const server = net.createServer((socket) => {
  halfway.push(socket)
  heard()
})
const reach = (count: number): Promise<void> =>
  new Promise((resolve) => {
    heard = () => halfway.length >= count && resolve()
    heard()
  })

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(`${folder}held`, resolve))
  mkdirSync(`${folder}bin`)
  writeFileSync(
    `${folder}bin/npm`,
    `#!${process.execPath}
const fs = require("node:fs")
fs.mkdirSync("node_modules/thing", { recursive: true })
require("node:net").connect(${JSON.stringify(`${folder}held`)}).once("data", (status) => {
  fs.writeFileSync("node_modules/thing/package.json", '{"version":"1.2.3"}')
  console.log("what it says")
  process.exit(Number(status))
})
`,
  )
  chmodSync(`${folder}bin/npm`, 0o755)
  process.env["PATH"] = `${folder}bin:${PATH}`
})
afterAll(() => {
  process.env["PATH"] = PATH
  server.close()
  rmSync(folder, { recursive: true })
})

const pinning = (name: string, version: string): string => {
  const at = `${folder}${name}/`
  mkdirSync(at, { recursive: true })
  for (const file of ["package.json", "package-lock.json"]) {
    writeFileSync(`${at}${file}`, JSON.stringify({ dependencies: { thing: version } }))
  }
  return at
}

describe("what a folder has of its own", () => {
  it("comes into its place in one step, whoever else installs it at the same time", async () => {
    const at = pinning("twice", "1.2.3")
    const before = aside()
    const both = [Installed.install(at), Installed.install(at)]
    await reach(2)
    assert.isFalse(existsSync(`${at}node_modules`))
    halfway[0]!.write("0")
    await Promise.race(both)
    assert.strictEqual(Installed.version(at, "thing"), "1.2.3")
    const first = statSync(`${at}node_modules`).ino
    halfway[1]!.write("0")
    assert.deepStrictEqual(await Promise.all(both), ["what it says\n", "what it says\n"])
    assert.strictEqual(statSync(`${at}node_modules`).ino, first)
    assert.strictEqual(await Installed.install(at), "")
    assert.strictEqual(aside(), before)
  })

  it("takes the place of another version, and of nothing where it could not be installed", async () => {
    const at = pinning("moved", "1.2.3")
    mkdirSync(`${at}node_modules/thing`, { recursive: true })
    writeFileSync(`${at}node_modules/thing/package.json`, JSON.stringify({ version: "1.2.2" }))
    const before = aside()
    const ask = async (count: number, status: string): Promise<string> => {
      const asked = Installed.install(at).catch(String)
      await reach(count)
      halfway.at(-1)!.write(status)
      return asked
    }
    assert.strictEqual(await ask(3, "1"), "Error: what it says\n")
    assert.strictEqual(Installed.version(at, "thing"), "1.2.2")
    assert.strictEqual(await ask(4, "0"), "what it says\n")
    assert.strictEqual(Installed.version(at, "thing"), "1.2.3")
    assert.strictEqual(aside(), before)
  })
})
