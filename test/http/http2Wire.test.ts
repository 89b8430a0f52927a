/** The HTTP/2 codec on sockets, against a server of `node:http2`: what one side sent is what the other one got. */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import type { Event } from "../../core/http/HttpEngine.ts"
import type * as Http2 from "../../core/http/Http2.ts"
import type { HttpRequest } from "../../core/http/HttpMessage.ts"
import { Driver2 } from "../support/http/Driver2.ts"
import * as Lab from "../support/http/Lab.ts"
import * as Upstream2 from "../support/http/Upstream2.ts"
import * as Wire from "../support/Wire.ts"

let server: Upstream2.Upstream2
beforeAll(async () => void (server = await Upstream2.start({ enableConnectProtocol: true })))
afterAll(() => server.stop())

const get = (path: string, fields: HttpRequest["fields"] = []): HttpRequest => (
  { method: "GET", scheme: "http", authority: `127.0.0.1:${server.port}`, path, fields }
)
const post = (body: HttpRequest["body"]): HttpRequest => ({ ...get("/echo"), method: "POST", body })
const using = async <A>(
  use: (driver: Driver2) => Promise<A>,
  options: Http2.Options = {},
  reads = true,
): Promise<A> => {
  const driver = await Driver2.connect(server.port, options, reads)
  try {
    return await use(driver)
  } finally {
    await driver.leave()
  }
}
const failure = (driver: Driver2, path: string): Promise<unknown> =>
  driver.ask(get(path)).then((reply) => reply, (error) => ({ ...error }))
const seen = (reply: { readonly body: string }): Upstream2.Seen =>
  JSON.parse(Buffer.from(reply.body, "latin1").toString())
const isSettled = (event: Event): boolean => event._tag === "Head"

describe("what the server saw is what was sent", () => {
  it("XT1: five requests on one connection, and the table of fields serves all of them", () =>
    using(async (driver) => {
      for (let i = 0; i < 5; i++) {
        const fields = [["user-agent", "holdfast"], ["x-two", "\xe9"], ["authorization", "Bearer canary"]] as const
        const { raw } = seen(await driver.ask(get(`/echo?${i}=%20|`, fields)))
        const pairs = Object.fromEntries(raw.flatMap((name, at) => at % 2 === 0 ? [[name, raw[at + 1]]] : []))
        assert.deepInclude(pairs, {
          ":method": "GET",
          ":scheme": "http",
          ":authority": `127.0.0.1:${server.port}`,
          ":path": `/echo?${i}=%20|`,
          "user-agent": "holdfast",
          authorization: "Bearer canary",
        })
      }
      assert.strictEqual(driver.retired, undefined)
    }))

  it("XT2: a hundred at a time, answered on one connection", () =>
    using(async (driver) => {
      await driver.ask(get("/nothing"))
      const all = await Promise.all(Array.from({ length: 100 }, (_, i) => driver.ask(post(Lab.bytes(`body ${i}`)))))
      assert.deepStrictEqual(all.map((reply) => seen(reply).body), Array.from(all, (_, i) => `body ${i}`))
      assert.deepStrictEqual([server.sessions.size, driver.connection.isRetired], [1, false])
    }))

  it("bodies that are larger than every window: given whole, in pieces, with trailers, several at a time", () =>
    using(async (driver) => {
      const long = "0123456789abcdef".repeat(20_000)
      const [whole, pieces, sized] = await Promise.all([
        driver.ask(post(Lab.bytes(long))),
        driver.ask(post({ bytes: undefined }), { pieces: ["a", long, "", "b"], trailers: [["X-Sum", "3"]] }),
        driver.ask(post({ bytes: long.length }), { pieces: [long.slice(0, 7), long.slice(7)] }),
      ])
      assert.deepStrictEqual([seen(whole).body === long, seen(sized).body === long], [true, true])
      assert.deepStrictEqual([seen(pieces).body === `a${long}b`, seen(pieces).trailers["x-sum"]], [true, "3"])
    }))

  it("a head that takes several frames", () =>
    using(async (driver) => {
      const long = "\xe9".repeat(30_000)
      const { raw } = seen(await driver.ask(get("/echo", [["x-long", long]])))
      assert.strictEqual(raw[raw.indexOf("x-long") + 1]?.length, 30_000)
    }))
})

describe("what was read is what the server sent", () => {
  it("a megabyte of it, through windows that are opened as it is read", () =>
    using(
      async (driver) => {
        const all = await Promise.all([driver.ask(get("/large")), driver.ask(get("/large")), driver.ask(get("/hints"))])
        assert.deepStrictEqual(all.map(({ body }) => body.length), [1e6, 1e6, 2])
      },
      { maxConnectionWindowBytes: 65_535, maxStreamWindowBytes: 65_535 },
    ))

  it("no more than the window of one that is not read, and the others go on", () =>
    using(
      async (driver) => {
        const stuck = driver.ask(get("/large")).then(() => "whole", (error) => error._tag)
        await driver.hears(isSettled)
        assert.strictEqual((await driver.ask(get("/busy"))).body, "busy")
        driver.socket.end()
        await driver.closed
        assert.strictEqual(await stuck, "MessageCut")
      },
      { maxStreamWindowBytes: 65_535 },
      false,
    ))

  it("trailers, informational heads, no body, fields that are there twice, and a head that takes several frames", () =>
    using(async (driver) => {
      const trailers = await driver.ask(get("/trailers"))
      assert.deepStrictEqual([trailers.body, trailers.trailers], ["one two three", [["x-sum", "3"]]])
      const hints = await driver.ask(get("/hints"))
      assert.deepStrictEqual([hints.informational, hints.body], [[103], "ok"])
      assert.strictEqual((await driver.ask(get("/nothing"))).status, 204)
      assert.strictEqual((await driver.ask({ ...get("/large"), method: "HEAD" })).body, "")
      const { fields } = await driver.ask(get("/fields"))
      assert.deepStrictEqual(fields.filter(([name]) => name === "set-cookie").map(([, value]) => value), ["a=1", "b=2"])
      assert.strictEqual(fields.find(([name]) => name === "x-long")?.[1].length, 20_000)
    }))
})

describe("ends are told apart", () => {
  it("XT5: a reset of the server's fails one response, and the connection is used again", () =>
    using(async (driver) => {
      const [reset, refused, busy] = await Promise.all([
        failure(driver, "/reset"),
        failure(driver, "/refused"),
        driver.ask(get("/busy")),
      ])
      // Bun's server sometimes ends a stream of its own accord, short or without a head, before it resets it.
      const isBun = "Bun" in globalThis
      for (
        const [error, seen] of [
          [reset, { _tag: "StreamReset", code: 2, expected: 10, unprocessed: false }],
          [refused, { _tag: "StreamReset", code: 7, part: "head", unprocessed: true }],
        ] as const
      ) {
        const isShort = isBun && (error as { readonly _tag: string })._tag === "ProtocolFault"
        assert.deepInclude(error, isShort ? { scope: "stream" } : seen)
      }
      assert.deepStrictEqual([busy.body, (await driver.ask(get("/hints"))).body], ["busy", "ok"])
    }))

  it("a body that ends short of its length is no whole one", () =>
    using(async (driver) => {
      assert.deepInclude(await failure(driver, "/short"), {
        _tag: "ProtocolFault",
        rule: "body-length",
        scope: "stream",
      })
      assert.strictEqual((await driver.ask(get("/busy"))).body, "busy")
    }))

  it("the end of the connection inside of a body cuts it, where node:http2 says that it is whole", () =>
    using(async (driver) => {
      const cut = failure(driver, "/open")
      await driver.hears(({ _tag }) => _tag === "Data")
      server.sever(driver.socket.localPort!)
      assert.deepInclude(await cut, { _tag: "MessageCut", part: "body", received: 4 })
      assert.deepInclude(driver.retired, { why: "cut" })
    }))

  it("XT6: a response that is cancelled is reset at the server, and the connection is used again", () =>
    using(async (driver) => {
      driver.ask(get("/open")).catch(() => {})
      const head = await driver.hears(isSettled)
      assert.strictEqual(driver.cancel((head as Event & { readonly _tag: "Head" }).exchange), "cut")
      assert.strictEqual((await driver.ask(get("/busy"))).body, "busy")
    }))

  it("XT7: a graceful GOAWAY lets what is under way end, and nothing else begin", () =>
    using(async (driver) => {
      const announced = driver.hears(({ _tag }) => _tag === "Retired")
      assert.strictEqual((await driver.ask(get("/leave"))).body, "bye")
      assert.deepInclude(await announced, { why: "announced", error: undefined })
      assert.deepInclude(driver.connection.trySend(get("/")), { why: "retired" })
      await Wire.within(driver.closed, "the end")
    }))

  it("a server that is asked answers, and hears that this side goes away, which lets what is under way end", () =>
    using(async (driver) => {
      const answered = driver.hears(({ _tag }) => _tag === "Pong")
      assert.isTrue(driver.ping())
      await answered
      const reply = driver.ask(get("/large"))
      driver.say()
      assert.strictEqual((await reply).body.length, 1_000_000)
      await Wire.within(driver.closed, "the end, which is the server's")
    }))

  it("XT12: an answer that comes while the upload goes on", () =>
    using(async (driver) => {
      const reply = await driver.ask({ ...post({ bytes: 100 }), path: "/early" }, { pieces: ["some"] })
      assert.deepStrictEqual([reply.status, reply.body], [413, "enough"])
      assert.strictEqual((await driver.ask(get("/busy"))).body, "busy")
    }))
})

it("XT13: settings that change the number of streams are kept to, between requests and during them", async () => {
  const limited = await Upstream2.start({ maxConcurrentStreams: 2 })
  const driver = await Driver2.connect(limited.port)
  await driver.ask(get("/nothing"))
  assert.strictEqual(driver.connection.room, 2)
  const opened = driver.hears(isSettled)
  driver.ask(get("/open")).catch(() => {})
  await opened
  assert.strictEqual(driver.connection.room, 1)
  await driver.leave()
  await limited.stop()
})

it("XT14: a tunnel echoes what is put in, plain or of another protocol, until both sides end it", () =>
  using(async (driver) => {
    await driver.ask(get("/nothing"))
    for (const own of [{ path: "" }, { path: "/chat", protocol: "websocket" }]) {
      const request: HttpRequest = { ...get(""), method: "CONNECT", authority: "example.com:443", ...own }
      const reply = await driver.ask(request, { pieces: ["ping ", "pong"] })
      assert.deepStrictEqual([reply.status, reply.body], [200, "ping pong"])
    }
  }))
