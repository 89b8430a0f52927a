/** The HTTP/2 codec against nghttpd, which shares no code with `node:http2` but its library; where it is installed. */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import * as net from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { HttpRequest } from "../../core/http/HttpMessage.ts"
import { Driver2 } from "../support/http/Driver2.ts"
import * as Lab from "../support/http/Lab.ts"
import * as Proxies from "../support/http/Proxies.ts"
import { within } from "../support/Wire.ts"

const path = Proxies.find("nghttpd")

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = net.createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as net.AddressInfo
      server.close(() => resolve(port))
    })
  })

if (path === undefined) {
  it("nghttpd: it is not installed here, so nothing was asked of it", () => assert.isUndefined(Proxies.find("nghttpd")))
} else {
  describe("through nghttpd", () => {
    const folder = mkdtempSync(join(tmpdir(), "holdfast-nghttpd-"))
    const large = "0123456789abcdef".repeat(20_000)
    let server: ChildProcess
    let port = 0
    beforeAll(async () => {
      writeFileSync(join(folder, "small"), "hello")
      writeFileSync(join(folder, "large"), large)
      port = await freePort()
      // Only with -v does it say at once that it listens.
      const args = [
        "-v",
        "--no-tls",
        "-a",
        "127.0.0.1",
        "-d",
        folder,
        "--echo-upload",
        "--trailer=x-sum: 3",
        "-m",
        "10",
      ]
      server = spawn(path, [...args, String(port)], { stdio: ["ignore", "pipe", "inherit"] })
      await within(
        new Promise<void>((resolve) => server.stdout!.on("data", (text) => /listen/.test(`${text}`) && resolve())),
        "nghttpd",
      )
    })
    afterAll(() => {
      server.kill()
      rmSync(folder, { recursive: true })
    })

    const get = (path: string): HttpRequest => (
      { method: "GET", scheme: "http", authority: `127.0.0.1:${port}`, path, fields: [["user-agent", "holdfast"]] }
    )
    const using = async (use: (driver: Driver2) => Promise<void>): Promise<void> => {
      const driver = await Driver2.connect(port)
      try {
        await use(driver)
      } finally {
        await driver.leave()
      }
    }

    it("files come whole, with trailers, ten at a time, again and again", () =>
      using(async (driver) => {
        const first = await driver.ask(get("/small"))
        assert.deepStrictEqual([first.status, first.body, first.trailers], [200, "hello", [["x-sum", "3"]]])
        assert.strictEqual(driver.connection.room, 10)
        for (let i = 0; i < 5; i++) {
          const all = await Promise.all(
            Array.from({ length: 10 }, () => driver.ask(get(i === 0 ? "/large" : "/small"))),
          )
          assert.isTrue(all.every(({ body }) => body === (i === 0 ? large : "hello")))
        }
        assert.strictEqual((await driver.ask(get("/none"))).status, 404)
        assert.strictEqual((await driver.ask({ ...get("/large"), method: "HEAD" })).body, "")
        assert.isFalse(driver.connection.isRetired)
      }))

    it("what is uploaded comes back, whole, in pieces and with trailers", () =>
      using(async (driver) => {
        const post = (body: HttpRequest["body"]): HttpRequest => ({ ...get("/echo"), method: "POST", body })
        assert.isTrue((await driver.ask(post(Lab.bytes(large)))).body === large)
        const pieces = await driver.ask(post({ bytes: undefined }), {
          pieces: ["a", large, "b"],
          trailers: [["x", "y"]],
        })
        assert.isTrue(pieces.body === `a${large}b`)
      }))
  })
}
