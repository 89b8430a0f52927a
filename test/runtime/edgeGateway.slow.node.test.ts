/** The gateway on workerd, in a Durable Object, with providers on loopback that it reaches by `fetch`. */
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "vitest"
import * as http from "node:http"
import type { AddressInfo } from "node:net"
import { gzipSync } from "node:zlib"
import type { Overview } from "../../adapters/gateway/Overview.ts"
import * as Wire from "../support/Wire.ts"
import * as Workerd from "../support/Workerd.ts"

const alpha = "sha256:5bff3ad2afa32f97bd6af0f4a9901aad72a21b9f711fb6d82e2648dbc18e8575"

type Answering = (request: http.IncomingMessage, response: http.ServerResponse) => void
let answering: Answering
const provider = http.createServer((request, response) => answering(request, response))
let edge: Workerd.Edge

const echo: Answering = (request, response) => {
  response.writeHead(200, {
    "x-method": request.method,
    "x-target": request.url,
    "x-length": request.headers["content-length"] ?? "none",
    "x-authorization": request.headers.authorization ?? "none",
  })
  request.pipe(response)
}
/** A request of the wire's own, since the tool in between sends every body in chunks. */
const head = "host: gateway\r\nauthorization: Bearer demo-alpha\r\nconnection: close\r\n"
const configOf = (port: number): object => ({
  tenants: { alpha: { tokens: [alpha], providers: ["up"] } },
  providers: {
    up: {
      url: `http://127.0.0.1:${port}/base`,
      timeout: "2 seconds",
      gate: { failureThreshold: 3, recoveryAfter: "200 millis" },
    },
  },
  admission: { maxRunning: 1, maxQueued: 2 },
})
const ask = (path: string, init: object = {}): Promise<Response> =>
  edge.dispatchFetch(`http://gateway/up${path}`, { headers: { authorization: "Bearer demo-alpha" }, ...init })
const overview = async (): Promise<Overview> =>
  await (await edge.dispatchFetch("http://operator/snapshot")).json() as Overview
/** What is said of it once everything that was begun is over. */
const settled = async (): Promise<Overview> => {
  const seen = await overview()
  return seen.admission.running === 0 && seen.upstream.open === 0 ? seen : settled()
}

describe("the gateway on workerd", () => {
  beforeAll(async () => {
    await Workerd.install()
    await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve))
    edge = await Workerd.start("test/runtime/edgeGateway.ts", {
      compatibilityFlags: ["nodejs_compat"],
      durableObjects: { GATEWAY: "Gateway" },
      bindings: { CONFIG: JSON.stringify(configOf((provider.address() as AddressInfo).port)) },
    })
  }, 600_000)
  beforeEach(() => {
    answering = echo
  })
  afterAll(async () => {
    await edge.dispose()
    provider.closeAllConnections()
    provider.close()
  })

  it(
    "passes a call through, keeps its own credentials to itself, and turns away who may not",
    async () => {
      const answer = await ask("/a%20b?c=d")
      assert.strictEqual(answer.status, 200)
      assert.strictEqual(answer.headers.get("x-target"), "/base/a%20b?c=d")
      assert.strictEqual(answer.headers.get("x-authorization"), "none")
      await answer.text()
      assert.strictEqual((await ask("/", { headers: {} })).status, 401)
      assert.strictEqual(
        (await edge.dispatchFetch("http://gateway/none/", { headers: { authorization: "Bearer demo-alpha" } })).status,
        404,
      )
    },
  )

  it("carries bodies both ways, with their length where it is known", async () => {
    const text = "0123456789".repeat(20_000)
    const wire = await Wire.connect(Number((await edge.ready).port))
    wire.send(`POST /up/ HTTP/1.1\r\n${head}content-length: 5\r\n\r\nhello`)
    assert.match(await wire.reads("hello"), /^x-length: 5\r\n/im)
    wire.leave()
    const chunks = new ReadableStream({
      start: (controller) => {
        for (let i = 0; i < 20; i++) controller.enqueue(new TextEncoder().encode(text.slice(0, 10_000)))
        controller.close()
      },
    })
    const chunked = await ask("/", { method: "PUT", body: chunks, duplex: "half" })
    assert.strictEqual(await chunked.text(), text)
    answering = (_, response) => {
      response.writeHead(200, { "content-encoding": "gzip" })
      response.end(gzipSync(text))
    }
    const packed = await ask("/")
    assert.isNull(packed.headers.get("content-encoding"))
    assert.strictEqual(await packed.text(), text)
  })

  it("lets requests wait for one another, in turn, and refuses what does not fit", async () => {
    const held: Array<() => void> = []
    let seen = () => {}
    answering = (_, response) => {
      held.push(() => response.end("done"))
      seen()
    }
    const first = ask("/1")
    await new Promise<void>((resolve) => seen = resolve)
    const others = [ask("/2"), ask("/3"), ask("/4")]
    const refused = await Promise.race(others)
    assert.strictEqual(refused.status, 503)
    assert.include(await refused.text(), "QueueFull")
    assert.deepInclude((await overview()).admission, { running: 1, waiting: 2 })
    for (let i = 0; i < 3; i++) {
      const next = new Promise<void>((resolve) => seen = resolve)
      held[i]!()
      if (i < 2) await next
    }
    assert.strictEqual(await (await first).text(), "done")
    const statuses = (await Promise.all(others)).map(({ status }) => status).sort()
    assert.deepStrictEqual(statuses, [200, 200, 503])
    assert.deepInclude((await settled()).admission, { running: 0, waiting: 0 })
  })

  it("opens a circuit by its provider's failures, and closes it by one probe", async () => {
    answering = (request) => request.socket.destroy()
    for (let i = 0; i < 3; i++) assert.strictEqual((await ask("/")).status, 502)
    assert.strictEqual((await ask("/")).status, 503)
    assert.include((await settled()).gates[0], { provider: "up", circuit: "open", failures: 3 })
    answering = echo
    await new Promise((resolve) => setTimeout(resolve, 250))
    assert.strictEqual((await ask("/")).status, 200)
    assert.include((await settled()).gates[0], { circuit: "closed", held: 0 })
  })

  it(
    "gives the place back in time when its client leaves, and at once when its provider is cut",
    async () => {
      let gone = () => {}
      const closed = new Promise<void>((resolve) => gone = resolve)
      answering = (request, response) => {
        const more = setInterval(() => response.write("x".repeat(10_000)), 10)
        request.socket.once("close", () => {
          clearInterval(more)
          gone()
        })
      }
      const leaver = await Wire.connect(Number((await edge.ready).port))
      leaver.send(`GET /up/ HTTP/1.1\r\n${head}\r\n`)
      await leaver.reads("xxx")
      leaver.leave()
      // Nobody tells, so it is the timeout of its provider that ends the call.
      await closed
      await settled()
      answering = (request, response) => {
        response.writeHead(200, { "content-length": "10" })
        response.write("half", () => request.socket.destroy())
      }
      const wire = await Wire.connect(Number((await edge.ready).port))
      wire.send(`GET /up/ HTTP/1.1\r\n${head}\r\n`)
      const cut = await wire.closed
      assert.match(cut, /^content-length: 10\r\n/im)
      assert.match(cut, /\r\n\r\nhalf$/)
      assert.deepInclude((await settled()).bodies, { live: 0 })
    },
  )
})
