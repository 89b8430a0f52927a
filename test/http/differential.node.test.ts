/**
 * The codec beside other readers, over sockets: `node:http` and undici get the same responses, and what differs is written
 * down here; nginx and haproxy get the same requests, where they are installed.
 */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as http from "node:http"
import * as net from "node:net"
import * as undici from "undici"
import type { HttpRequest } from "../../core/http/HttpMessage.ts"
import * as Corpus from "../fuzz/Corpus.ts"
import { rows } from "../support/http/Broken.ts"
import { Driver, type Upload } from "../support/http/Driver.ts"
import * as Lab from "../support/http/Lab.ts"
import * as Proxies from "../support/http/Proxies.ts"
import * as Upstream from "../support/http/Upstream.ts"
import * as Wire from "../support/Wire.ts"

/** What a client makes of a response to a GET: status and body, or that it refused or lost it. */
type Client = (port: number) => Promise<string>

const refused = "refused"

const clients: Readonly<Record<"holdfast" | "node:http" | "undici", Client>> = {
  holdfast: async (port) => {
    const driver = await Driver.connect(port)
    const answer = await driver.ask(Lab.get).then(({ body, status }) => `${status} ${body}`, () => refused)
    await driver.leave()
    return answer
  },
  "node:http": (port) =>
    new Promise((resolve) => {
      const request = http.get({ host: "127.0.0.1", port, agent: false }, (response) => {
        const pieces: Array<Uint8Array> = []
        response.on("data", (piece) => pieces.push(piece))
        response.on("end", () => {
          const body = Buffer.concat(pieces).toString("latin1")
          resolve(response.complete ? `${response.statusCode} ${body}` : refused)
        })
        response.on("error", () => resolve(refused))
      })
      request.on("error", () => resolve(refused))
      request.on("upgrade", (_, socket) => {
        socket.destroy()
        resolve("switched")
      })
      request.on("close", () => resolve(refused))
    }),
  undici: async (port) => {
    const client = new undici.Client(`http://127.0.0.1:${port}`)
    try {
      const { body, statusCode } = await client.request({ path: "/", method: "GET" })
      return `${statusCode} ${Buffer.from(await body.arrayBuffer()).toString("latin1")}`
    } catch {
      return refused
    } finally {
      await client.destroy()
    }
  },
}
type Name = keyof typeof clients

describe("beside other clients", () => {
  let answer = ""
  const server = net.createServer((socket) => {
    let head = ""
    socket.on("error", () => {})
    socket.on("data", (piece) => {
      head += piece
      if (head.includes("\r\n\r\n")) socket.end(Buffer.from(answer, "latin1"))
    })
  })
  beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)))
  afterAll(() => new Promise((resolve) => server.close(resolve)))

  const ask = (name: Name, response: string): Promise<string> => {
    answer = response
    return Wire.within(clients[name]((server.address() as net.AddressInfo).port), `what ${name} makes of it`)
  }

  /** Responses of the corpus that the others read in another way, and how. */
  const differing: Readonly<Record<string, Partial<Record<Name, string>>>> = {
    // A blank before an extension is within the grammar (RFC 9112, 7.1.1).
    [Corpus.responses[5]!]: { "node:http": refused, undici: refused },
    // undici wants no 100 that it did not ask for; RFC 9110, 15.2, has a client take it.
    [Corpus.responses[10]!]: { undici: refused },
    // Nobody offered a switch.
    [Corpus.responses[15]!]: { "node:http": "switched" },
    [Corpus.responses[16]!]: { "node:http": "switched" },
    // One byte behind the end: too late for a response that was whole.
    [Corpus.responses[18]!]: { "node:http": refused },
  }

  for (const response of Corpus.responses) {
    it(`the same is read of ${JSON.stringify(response.slice(0, 60))}`, async () => {
      const own = await ask("holdfast", response)
      for (const name of ["node:http", "undici"] as const) {
        assert.strictEqual(await ask(name, response), differing[response]?.[name] ?? own, name)
      }
    })
  }

  /** What breaks a rule here, and is taken by one of the others. */
  const taken: Readonly<Record<string, ReadonlyArray<Name>>> = {
    "HTTP/2.0": ["node:http", "undici"],
    "an empty line ahead": ["node:http", "undici"],
    "a line feed ahead": ["node:http", "undici"],
    "a status below 100": ["node:http"],
    "NUL in the reason": ["node:http", "undici"],
    "DEL in the reason": ["node:http", "undici"],
    "two zeros": ["node:http", "undici"],
    "another coding": ["node:http", "undici"],
    "chunked that is not last": ["node:http", "undici"],
    "identity": ["node:http", "undici"],
    "chunked with a parameter": ["node:http", "undici"],
    "chunked in quotes": ["node:http", "undici"],
    "xchunked": ["node:http", "undici"],
    "no coding": ["undici"],
    "a comma behind chunked": ["node:http", "undici"],
    "a coding in HTTP/1.0": ["node:http", "undici"],
    "a body with 204": ["undici"],
    "chunks with 204": ["undici"],
    "a coding among the trailers": ["node:http", "undici"],
    "a connection among the trailers": ["node:http", "undici"],
  }

  /** These are whole before the rule is broken, and what is behind them is nobody's. */
  const behind = rows.filter(([, , rule]) => rule.startsWith("unasked-response"))

  it("all that breaks a rule is refused here, and the others take of it what is written down", async () => {
    const seen: Record<string, ReadonlyArray<Name>> = {}
    for (const row of rows.filter((row) => !behind.includes(row))) {
      const [title, sent] = row
      assert.strictEqual(await ask("holdfast", sent), refused, title)
      const takers: Array<Name> = []
      for (const name of ["node:http", "undici"] as const) if (await ask(name, sent) !== refused) takers.push(name)
      if (takers.length > 0) seen[title] = takers
    }
    assert.deepStrictEqual(seen, taken)
  })

  it("a response is whole before anything behind it breaks a rule", async () => {
    for (const [title, sent] of behind) assert.match(await ask("holdfast", sent), /^200 /, title)
  })
})

/** What a proxy is asked on one connection, and what must come of it. */
type Step = (
  ask: (request: Partial<HttpRequest>, upload?: Upload) => ReturnType<Driver["ask"]>,
) => Promise<void>
const steps: Readonly<Record<string, Step>> = {
  "a GET with a query and fields": async (ask) => {
    const { body, status } = await ask({ path: "/echo?a=%20b|c", fields: [["X-One", "1"]] })
    const { method, raw, url } = Upstream.seen({ body })
    assert.deepStrictEqual([status, method, url], [200, "GET", "/echo?a=%20b|c"])
    assert.include(raw.map((each) => each.toLowerCase()), "x-one")
  },
  "a body in bytes": async (ask) => {
    assert.strictEqual(Upstream.seen(await ask({ method: "POST", body: Lab.bytes("hello") })).body, "hello")
  },
  "a body in pieces": async (ask) => {
    const reply = await ask({ method: "PUT", body: { bytes: 6 } }, { pieces: ["abc", "def"] })
    assert.strictEqual(Upstream.seen(reply).body, "abcdef")
  },
  "a body in chunks": async (ask) => {
    const pieces = ["0\r\n\r\n", "x".repeat(20_000), "!"]
    const reply = await ask({ method: "POST", body: { bytes: undefined } }, { pieces, trailers: [["x-sum", "1"]] })
    assert.strictEqual(Upstream.seen(reply).body, pieces.join(""))
  },
  "a HEAD, then a GET": async (ask) => {
    assert.deepInclude(await ask({ method: "HEAD" }), { status: 200, body: "" })
    assert.deepInclude(await ask({ path: "/busy" }), { status: 503, body: "busy" })
  },
  "a 204 and a 304, then a GET": async (ask) => {
    assert.deepInclude(await ask({ path: "/nothing" }), { status: 204, body: "" })
    assert.deepInclude(await ask({ path: "/same" }), { status: 304, body: "" })
    assert.deepInclude(await ask({ path: "/busy" }), { status: 503, body: "busy" })
  },
  "a response in chunks": async (ask) => {
    assert.deepInclude(await ask({ path: "/chunked" }), { status: 200, body: "one two three" })
  },
  "a megabyte": async (ask) => assert.strictEqual((await ask({ path: "/large" })).body.length, 1e6),
  "an upload that waits for 100": async (ask) => {
    const fields = [["expect", "100-continue"]] as const
    const reply = await ask({ method: "POST", body: { bytes: 5 }, fields }, { pieces: ["hello"], waits: true })
    assert.deepStrictEqual([reply.informational, Upstream.seen(reply).body], [[100], "hello"])
  },
  "a switch of protocols": async (ask) => {
    const fields = [["connection", "upgrade"], ["upgrade", "echo"]] as const
    assert.deepInclude(await ask({ fields }), { status: 101 })
  },
  "a method that the proxy does not know": async (ask) => {
    assert.strictEqual(Upstream.seen(await ask({ method: "M-SEARCH" })).method, "M-SEARCH")
  },
}

for (const name of ["nginx", "haproxy"] as const) {
  const path = Proxies.find(name)
  if (path === undefined) {
    it(`${name}: it is not installed here, so nothing was asked of it`, () => assert.isUndefined(Proxies.find(name)))
    continue
  }
  describe(`through ${name}`, () => {
    let upstream: Upstream.Upstream
    let proxy: Proxies.Proxy
    beforeAll(async () => {
      upstream = await Upstream.start()
      proxy = await Proxies.start(name, path, upstream.port)
    })
    afterAll(async () => {
      await proxy?.stop()
      await upstream.stop()
    })
    const using = async (
      use: (driver: Driver, ask: Parameters<Step>[0]) => Promise<void>,
      port = proxy.port,
    ): Promise<void> => {
      const driver = await Driver.connect(port)
      const request: HttpRequest = { ...Lab.get, authority: `127.0.0.1:${port}` }
      await use(driver, (changed, upload) => driver.ask({ ...request, ...changed }, upload))
      await driver.leave()
    }

    for (const [title, step] of Object.entries(steps)) it(title, () => using((_, ask) => step(ask)))

    it("an idle connection that it closes is closed cleanly", () =>
      using(async (driver, ask) => {
        await ask({})
        await Wire.within(driver.closed, "the end")
        assert.deepInclude(driver.retired, { why: "closed", error: undefined })
      }, proxy.hastyPort))

    it("an upstream that is cut inside a body is no whole response", () =>
      using(async (_, ask) => {
        const error = await ask({ path: "/cut" }).then(() => undefined, (error) => error)
        assert.strictEqual(error?._tag, "MessageCut")
      }))

    if (name === "nginx") {
      it("the last request that it takes on a connection is announced", () =>
        using(async (driver, ask) => {
          for (let i = 1; i < Proxies.nginxRequests; i++) {
            await ask({})
            assert.strictEqual(driver.connection.room, 1)
          }
          await ask({})
          assert.strictEqual(driver.retired?.why, "announced")
        }))
    }
  })
}
