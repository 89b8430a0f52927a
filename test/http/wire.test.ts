/** The codec on sockets, against a server of `node:http`: what one side sent is what the other one got, and ends are told apart. */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import type { HttpRequest } from "../../core/http/HttpMessage.ts"
import { Driver } from "../support/http/Driver.ts"
import * as Lab from "../support/http/Lab.ts"
import * as Upstream from "../support/http/Upstream.ts"
import * as Wire from "../support/Wire.ts"

let server: Upstream.Upstream
beforeAll(async () => void (server = await Upstream.start()))
afterAll(() => server.stop())

const get = (path: string, fields: HttpRequest["fields"] = []): HttpRequest => (
  { method: "GET", scheme: "http", authority: `127.0.0.1:${server.port}`, path, fields }
)
const post = (path: string, body: HttpRequest["body"], fields: HttpRequest["fields"] = []): HttpRequest => (
  { ...get(path, fields), method: "POST", body }
)
const { seen } = Upstream
const using = async <A>(use: (driver: Driver) => Promise<A>, proxied = false): Promise<A> => {
  const driver = await Driver.connect(server.port, proxied)
  try {
    return await use(driver)
  } finally {
    await driver.leave()
  }
}
const failure = (driver: Driver, request: HttpRequest): Promise<unknown> =>
  driver.ask(request).then((reply) => reply, (error) => ({ ...error }))

describe("what the server saw is what was sent", () => {
  it("WT10: of a request without a body, on one connection again and again", () =>
    using(async (driver) => {
      server.used.clear()
      for (let i = 0; i < 3; i++) {
        const { method, raw, url } = seen(await driver.ask(get(`/echo?${i}=%20|`, [["X-One", "1"], ["x-two", "\xe9"]])))
        assert.deepStrictEqual([method, url], ["GET", `/echo?${i}=%20|`])
        assert.deepStrictEqual(raw, ["host", `127.0.0.1:${server.port}`, "X-One", "1", "x-two", "\xe9"])
      }
      assert.deepStrictEqual([server.used.size, driver.connection.room], [1, 1])
    }))

  it("of bodies in bytes, in pieces and in chunks with trailers", () =>
    using(async (driver) => {
      const long = "long ".repeat(10_000)
      assert.strictEqual(seen(await driver.ask(post("/echo", Lab.bytes("bytes")))).body, "bytes")
      assert.strictEqual(seen(await driver.ask(post("/echo", Lab.bytes(long)))).body, long)
      assert.strictEqual(seen(await driver.ask(post("/echo", undefined))).body, "")
      const sized = await driver.ask(post("/echo", { bytes: 7 }), { pieces: ["a", "bcd", "", "efg"] })
      assert.strictEqual(seen(sized).body, "abcdefg")
      const pieces = ["a", "0\r\n\r\n", long]
      const chunked = seen(
        await driver.ask(post("/echo", { bytes: undefined }), { pieces, trailers: [["X-Sum", "3"]] }),
      )
      assert.deepStrictEqual([chunked.body, chunked.trailers], [pieces.join(""), ["X-Sum", "3"]])
      assert.strictEqual(driver.connection.room, 1)
    }))

  it("of an upload that waits to be told to go on", () =>
    using(async (driver) => {
      const request = post("/echo", { bytes: 5 }, [["expect", "100-continue"]])
      const reply = await driver.ask(request, { pieces: ["hello"], waits: true })
      assert.deepStrictEqual([reply.informational, seen(reply).body], [[100], "hello"])
    }))

  it("of an absolute target, and of OPTIONS of the whole server", async () => {
    await using(async (driver) => {
      const { url } = seen(await driver.ask(get("/echo?a")))
      assert.strictEqual(url, `http://127.0.0.1:${server.port}/echo?a`)
    }, true)
    await using(async (driver) => {
      const reply = await driver.ask({ ...get("*"), method: "OPTIONS" })
      // Bun's server refuses it before any handler is asked.
      if ("Bun" in globalThis) assert.strictEqual(reply.status, 400)
      else assert.deepInclude(seen(reply), { method: "OPTIONS", url: "*" })
    })
  })
})

describe("what was read is what the server sent", () => {
  it("in chunks, with trailers", () =>
    using(async (driver) => {
      const reply = await driver.ask(get("/chunked"))
      assert.deepStrictEqual([reply.status, reply.body, reply.trailers], [200, "one two three", [["x-sum", "3"]]])
    }))

  it("a megabyte of it", () =>
    using(async (driver) => assert.strictEqual((await driver.ask(get("/large"))).body.length, 1e6)))

  it("behind informational heads", () =>
    using(async (driver) => {
      const reply = await driver.ask(get("/hints"))
      assert.deepStrictEqual([reply.informational, reply.body], [[102], "ok"])
    }))

  it("WT12 WT22 WT23 WT24: without a body for HEAD, 204 and 304, on one connection, a 503 among them", () =>
    using(async (driver) => {
      server.used.clear()
      const replies: Array<readonly [number, string]> = []
      for (
        const request of [
          { ...get("/echo"), method: "HEAD" },
          get("/nothing"),
          get("/same"),
          get("/busy"),
          get("/hints"),
        ]
      ) {
        const { body, status } = await driver.ask(request)
        replies.push([status, body])
      }
      assert.deepStrictEqual(replies, [[200, ""], [204, ""], [304, ""], [503, "busy"], [200, "ok"]])
      assert.strictEqual(server.used.size, 1)
    }))
})

describe("ends are told apart", () => {
  it("WT9: a response that says close", () =>
    using(async (driver) => {
      assert.strictEqual((await driver.ask(get("/last"))).body, "bye")
      await driver.closed
      assert.deepInclude(driver.retired, { why: "announced", error: undefined })
    }))

  it("WT7: an idle connection that the server closes", () =>
    using(async (driver) => {
      await driver.ask(get("/hints"))
      const [socket] = [...server.open].filter(({ remotePort }) => remotePort === driver.socket.localPort)
      socket!.end()
      await Wire.within(driver.closed, "the end")
      assert.deepInclude(driver.retired, { why: "closed", error: undefined })
    }))

  it("WT19: a clean end inside a body", () =>
    using(async (driver) =>
      assert.deepInclude(await failure(driver, get("/cut")), {
        _tag: "MessageCut",
        part: "body",
        how: "ended",
        expected: 10,
      })
    ))

  it("WT18: a reset inside a body", () =>
    using(async (driver) =>
      assert.deepInclude(await failure(driver, get("/reset")), { _tag: "MessageCut", how: "reset" })
    ))

  it("WT20: a clean end before the head", () =>
    using(async (driver) =>
      assert.deepInclude(await failure(driver, get("/gone")), { part: "head", how: "ended", received: 0 })
    ))

  it("WT17: a reset before the head", () =>
    using(async (driver) =>
      assert.deepInclude(await failure(driver, get("/reset-head")), { part: "head", how: "reset", received: 0 })
    ))

  it("an answer that comes while the upload goes on, and closes", () =>
    using(async (driver) => {
      const reply = await driver.ask(post("/early", { bytes: 1_000_000 }))
      assert.strictEqual(reply.status, 413)
      assert.deepStrictEqual([driver.connection.isSendEnded(1), driver.retired?.why], [true, "announced"])
    }))
})

describe("a switch of protocols hands over the connection", () => {
  const talks = async (driver: Driver, request: HttpRequest, first: string): Promise<void> => {
    const reply = await driver.ask(request)
    const heard = new Promise<string>((resolve) => {
      let text = reply.surplus!
      driver.socket.removeAllListeners("data")
      const look = (): void => {
        if (text === `${first}ping`) resolve(text)
      }
      driver.socket.on("data", (piece: Uint8Array) => {
        text += Lab.text(piece)
        look()
      })
      driver.socket.write("ping")
      look()
    })
    assert.strictEqual(await Wire.within(heard, "the echo"), `${first}ping`)
    assert.strictEqual(driver.connection.isRetired, true)
  }

  it("by an upgrade, with what came behind its head", () =>
    using((driver) => talks(driver, get("/", [["connection", "upgrade"], ["upgrade", "echo"]]), "first")))

  it("by CONNECT", () =>
    using((driver) => talks(driver, { ...get(""), method: "CONNECT", authority: "example.com:443" }, "")))
})
