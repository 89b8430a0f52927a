/**
 * The gateway as a process, with a provider that the test plays: what crosses it, what becomes of a provider's faults and
 * of clients that leave. After each law the operator's counts are back at zero.
 */
import { existsSync, readFileSync } from "node:fs"
import * as net from "node:net"
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import * as GatewayProcess from "../support/GatewayProcess.ts"
import * as Wire from "../support/Wire.ts"

const hashes = {
  alpha: "sha256:5bff3ad2afa32f97bd6af0f4a9901aad72a21b9f711fb6d82e2648dbc18e8575",
  bravo: "sha256:3532beafb222b78c196fe091f64aba9b467b359c7d1f2befc754c369975e0913",
}
const configOf = (port: number, plainPort: number): object => ({
  tenants: {
    alpha: { tokens: [hashes.alpha], providers: ["up", "quick", "dead", "plain", "keyed"] },
    bravo: { tokens: [hashes.bravo], providers: ["up"] },
  },
  providers: {
    // Its faults are what is looked at here, one by one: a circuit would keep the later ones away.
    up: { url: `http://127.0.0.1:${port}/base/`, timeout: "20 seconds", gate: { failureThreshold: 1_000 } },
    quick: { url: `http://127.0.0.1:${port}`, timeout: "400 millis" },
    dead: { url: "http://127.0.0.1:1" },
    plain: { url: `https://127.0.0.1:${plainPort}` },
    keyed: { url: `http://127.0.0.1:${port}`, headers: { authorization: { env: "PROVIDER_KEY" } } },
    unused: { url: `http://127.0.0.1:${port}` },
  },
  admission: { maxRunning: 2 },
  http: { bodyIdle: "2 seconds", maxBodyBytes: 70_000_000 },
})

const alpha = { token: "demo-alpha" }
const head = (method: string, path: string, more = ""): string =>
  `${method} ${path} HTTP/1.1\r\nhost: gateway\r\nauthorization: Bearer demo-alpha\r\n${more}\r\n`

/** What the provider does with a visit, by its path; nothing where there is no entry. */
const scripts = new Map<string, (visit: Wire.Visit) => void>()
const at = (path: string, script: (visit: Wire.Visit) => void): void => void scripts.set(path, script)
const endless = (visit: Wire.Visit): void => {
  const chunk = new Uint8Array(65_536)
  const more = (): void => {
    while (visit.socket.write(chunk));
    visit.socket.once("drain", more)
  }
  visit.send("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n")
  more()
}

/** The most resident bytes that a process ever had; 0 where the system does not tell. */
const mostMemory = (pid: number): number =>
  existsSync(`/proc/${pid}/status`)
    ? Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1_024
    : 0

/** Hangs up on whatever it hears, so that no TLS comes about. */
const plain = net.createServer((socket) => socket.on("error", () => {}).once("data", () => socket.destroy()))
let provider: Wire.Provider
let gateway: GatewayProcess.Running
beforeAll(async () => {
  provider = await Wire.provide((visit) => scripts.get(visit.path)?.(visit))
  await new Promise<void>((resolve) => plain.listen(0, "127.0.0.1", resolve))
  const config = configOf(provider.port, (plain.address() as net.AddressInfo).port)
  gateway = await GatewayProcess.start(config, { PROVIDER_KEY: "Bearer canary-key" })
})
afterEach(async () => {
  await Wire.quiet(gateway.operatorPort)
  scripts.clear()
})
afterAll(async () => {
  expect(gateway.errors()).toBe("")
  await gateway.stop()
  await provider.stop()
  await new Promise((resolve) => plain.close(resolve))
})

const ask = (path: string, asking: Wire.Asking = alpha): Promise<Wire.Answer> => Wire.ask(gateway.port, path, asking)

describe("answers of the gateway itself", () => {
  it("say 401 without a known token, 404 for no provider, 403 for another tenant's provider", async () => {
    const nobody = await ask("/up/x", {})
    expect([nobody.status, nobody.headers["www-authenticate"], nobody.json()["error"]])
      .toEqual([401, "Bearer", "Unauthenticated"])
    expect((await ask("/up/x", { token: "demo-zulu" })).status).toBe(401)
    expect((await ask("/nowhere/x")).json()).toMatchObject({ error: "UnknownProvider", provider: "nowhere" })
    const foreign = await ask("/quick/x", { token: "demo-bravo" })
    expect([foreign.status, foreign.json()]).toMatchObject([403, { error: "NotGranted", tenant: "bravo" }])
    expect((await ask("/unused/x")).status).toBe(403)
    expect(provider.visits).toEqual([])
  })

  it("are 502 where no provider listens or TLS does not come about, and name the code and not the address", async () => {
    const answer = await ask("/dead/x")
    expect([answer.status, answer.headers["holdfast-error"]]).toEqual([502, "UpstreamFailed"])
    expect(answer.json()).toMatchObject({ provider: "dead", phase: "connect", code: "ECONNREFUSED" })
    expect(answer.body).not.toContain("127.0.0.1")
    expect((await ask("/plain/x")).json()).toMatchObject({ error: "UpstreamFailed", phase: "connect" })
  })

  it("are 413 for a body announced as too large, before anything is charged", async () => {
    const { admission: before } = await Wire.overview(gateway.operatorPort)
    const text = await Wire.talk(gateway.port, head("POST", "/up/big", "content-length: 70000001\r\n"))
    expect(text).toMatch(/^HTTP\/1.1 413 [^]*connection: close[^]*"limit":70000000/i)
    expect((await Wire.overview(gateway.operatorPort)).admission.granted).toBe(before.granted)
  })
})

describe("an expectation", () => {
  const expecting = (what: string, body = "content-length: 2\r\n", token = "alpha"): string =>
    head("POST", "/up/expecting", `connection: close\r\nexpect: ${what}\r\n${body}`).replace(
      "demo-alpha",
      `demo-${token}`,
    )

  it("that nobody can meet is refused as anything else is, once it is known who asks", async () => {
    const before = provider.visits.length
    const whats = ["banana", "100-continue, banana", "banana=100-continue", "100-continue\r\nexpect: banana"]
    const bodies = ["content-length: 2\r\n", "transfer-encoding: chunked\r\n", ""]
    const answer = /^HTTP\/1.1 417 [^]*holdfast-error: ExpectationFailed\r[^]*"error":"ExpectationFailed"/i
    // At once, since each connection lingers for the upload that nobody wants.
    const asked = whats.flatMap((what) => bodies.map((body) => expecting(what, body)))
    const told = await Promise.all(asked.map((request) => Wire.talk(gateway.port, request)))
    for (const [nth, text] of told.entries()) {
      expect([asked[nth], text]).toEqual([asked[nth], expect.stringMatching(answer)])
    }
    expect(await Wire.talk(gateway.port, expecting("banana", "", "zulu"))).toMatch(/^HTTP\/1.1 401 /)
    expect(provider.visits.length).toBe(before)
  })

  it("of 100-continue is met, however it is written", async () => {
    at("/base/expecting", (visit) => void visit.reads("ab").then(() => visit.send(Wire.reply(200, "ok"))))
    for (const what of ["100-Continue", "100-continue,", "100-continue\r\nexpect: 100-continue"]) {
      const client = await Wire.connect(gateway.port)
      client.send(expecting(what))
      await client.reads("100 Continue\r\n\r\n")
      client.send("ab")
      expect(await client.closed).toMatch(/HTTP\/1.1 200 [^]*ok$/)
    }
  })
})

describe("what crosses the gateway", () => {
  it("is the path below the configured one, with its query and its encoding as they were", async () => {
    at("/base/a%2Fb/c%20d?q=%2e%2e/..&x", (visit) => visit.send(Wire.reply(200, "ok")))
    expect((await ask("/up/a%2Fb/c%20d?q=%2e%2e/..&x")).body).toBe("ok")
  })

  it("is every header line but those that end at a hop, name the client or claim another place", async () => {
    at("/base/head", (visit) => visit.send(Wire.reply(200, "ok")))
    await Wire.talk(
      gateway.port,
      head(
        "GET",
        "/up/head",
        "Connection: close, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: 1\r\nProxy-Authorization: p\r\nTE: trailers\r\n" +
          "Upgrade: h2c\r\nHTTP2-Settings: a\r\nCookie: c\r\nX-Forwarded-For: f\r\nX_Forwarded_Host: f\r\n" +
          "Forwarded: for=f\r\nX-Real-IP: f\r\nX-Original-URL: /admin\r\nHoldfast-Tenant: bravo\r\nVia: 1.0 old\r\n" +
          "Accept-Encoding: gzip\r\nX-Twice: 1\r\nX-Twice: 2\r\nX-Tenant: bravo\r\n",
      ),
    )
    const lines = (await provider.visited("/base/head")).head.toLowerCase().split("\r\n").slice(1).toSorted()
    expect(lines).toEqual([
      "accept-encoding: gzip",
      "connection: close",
      `host: 127.0.0.1:${provider.port}`,
      "via: 1.0 old, 1.1 holdfast",
      "x-tenant: bravo",
      "x-twice: 1",
      "x-twice: 2",
    ])
  })

  it("is the provider's own credential from the environment, in place of the client's", async () => {
    at("/key", (visit) => visit.send(Wire.reply(200, "ok")))
    await ask("/keyed/key")
    expect((await provider.visited("/key")).head).toMatch(/authorization: Bearer canary-key/i)
    expect((await provider.visited("/key")).head).not.toContain("demo-alpha")
  })

  it("is the response as it is, compressed bytes and statuses included, less hop-by-hop lines and cookies", async () => {
    const fields = "content-encoding: gzip\r\nset-cookie: a=1\r\nalt-svc: h3\r\nx-hop: 1\r\nconnection: x-hop\r\n" +
      "holdfast-error: Forged\r\nx-a: 1\r\nx-a: 2\r\n"
    at("/base/gzip", (visit) => visit.send(Wire.reply(500, "\x1f\x8bnot really", fields)))
    const answer = await ask("/up/gzip")
    expect([answer.status, answer.body]).toEqual([500, "\x1f\x8bnot really"])
    const { date: _, connection: __, ...rest } = answer.headers
    expect(rest).toEqual({ "content-encoding": "gzip", "content-length": "12", "x-a": "1, 2", via: "1.1 holdfast" })
  })

  it("is every header line byte by byte, UTF-8 or not, whether there is a body or none", async () => {
    const bytes = "\xc3\xa9 \xe9 \x80\xff"
    at(
      "/base/bytes",
      (visit) => visit.send(Wire.reply(200, visit.head.startsWith("HEAD") ? "" : "ok", `x-there: ${bytes}\r\n`)),
    )
    const fields = `x-here: ${bytes}\r\nconnection: close\r\n`
    const requests = [
      head("GET", "/up/bytes", fields),
      head("HEAD", "/up/bytes", fields),
      head("DELETE", "/up/bytes", fields),
      head("POST", "/up/bytes", `${fields}content-length: 2\r\n`) + "ab",
      head("POST", "/up/bytes", `${fields}transfer-encoding: chunked\r\n`) + "2\r\nab\r\n0\r\n\r\n",
    ]
    for (const [nth, request] of requests.entries()) {
      expect([nth, /x-there: (.*)\r/.exec(await Wire.talk(gateway.port, request))?.[1]]).toEqual([nth, bytes])
      expect([nth, /x-here: (.*)\r/.exec((await provider.visited("/base/bytes", nth)).head)?.[1]]).toEqual([nth, bytes])
    }
  })

  it("is a redirection, a HEAD and a 204 as they are", async () => {
    at("/base/to", (visit) => visit.send(Wire.reply(302, "", "location: http://elsewhere/\r\n")))
    expect((await ask("/up/to")).headers.location).toBe("http://elsewhere/")
    at("/base/head-only", (visit) => visit.send("HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\n"))
    expect((await ask("/up/head-only", { ...alpha, method: "HEAD" })).headers["content-length"]).toBe("7")
    at("/base/none", (visit) => visit.send("HTTP/1.1 204 No\r\n\r\n"))
    expect((await ask("/up/none", { ...alpha, method: "DELETE" })).status).toBe(204)
  })

  it("streams: the first bytes arrive on either side before the last are sent on the other", async () => {
    const client = await Wire.connect(gateway.port)
    client.send(head("POST", "/up/stream", "transfer-encoding: chunked\r\n") + "5\r\nfirst\r\n")
    const visit = await provider.visited("/base/stream")
    await visit.reads("first")
    visit.send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nearly\r\n")
    await client.reads("early")
    client.send("4\r\nlast\r\n0\r\n\r\n")
    await visit.reads(/last\r\n0\r\n\r\n$/)
    visit.send("4\r\nlate\r\n0\r\n\r\n")
    await client.reads(/late\r\n0\r\n\r\n$/)
    client.leave()
  })

  it("waits for a client that expects 100-continue until the provider wants the body", async () => {
    at("/base/patient", (visit) => void visit.reads("body").then(() => visit.send(Wire.reply(200, "ok"))))
    const client = await Wire.connect(gateway.port)
    client.send(head("PUT", "/up/patient", "expect: 100-continue\r\ncontent-length: 4\r\n"))
    await client.reads("100 Continue\r\n\r\n")
    client.send("body")
    expect(await client.reads(/ok$/)).toContain("HTTP/1.1 200")
    expect((await provider.visited("/base/patient")).head).not.toMatch(/expect/i)
    client.leave()
  })

  it("passes 64 MiB up and down whole, again and again, and keeps neither", { timeout: 180_000 }, async () => {
    const size = 67_108_864
    const chunk = new Uint8Array(1_048_576)
    at("/base/up", (visit) => void visit.reads(/end$/).then(() => visit.send(Wire.reply(200, "ok"))))
    at("/base/down", (visit) => {
      visit.send(`HTTP/1.1 200 OK\r\ncontent-length: ${size}\r\n\r\n`)
      for (let sent = 0; sent < size; sent += chunk.length) visit.send(chunk)
    })
    const pass = async (nth: number): Promise<void> => {
      const up = await Wire.connect(gateway.port)
      up.send(head("POST", "/up/up", `content-length: ${size + 3}\r\n`))
      for (let sent = 0; sent < size; sent += chunk.length) {
        if (!up.socket.write(chunk)) await new Promise((drained) => up.socket.once("drain", drained))
      }
      up.send("end")
      await up.reads(/ok$/)
      up.leave()
      const visit = await provider.visited("/base/up", nth)
      expect(visit.bytes()).toBe(visit.head.length + 4 + size + 3)
      const down = await Wire.connect(gateway.port)
      down.send(head("GET", "/up/down", "connection: close\r\n"))
      const text = await down.closed
      expect(down.bytes()).toBe(text.indexOf("\r\n\r\n") + 4 + size)
    }
    // What a collector leaves lying about is not counted: the first passes let it find its level, and it may yet rise by more
    // than one of them where the machine is busy. If one way were kept, three passes would take three times its size.
    for (const nth of [0, 1]) await pass(nth)
    const level = mostMemory(gateway.pid)
    for (const nth of [2, 3, 4]) await pass(nth)
    expect(mostMemory(gateway.pid) - level).toBeLessThan(2.5 * size)
  })
})

describe("a slow side is waited for without a buffer, and not for ever", () => {
  const mebibytes = (socket: { readonly bytesWritten: number }): number => socket.bytesWritten / 1_048_576

  it("a client that does not read holds its provider back, and is cut after bodyIdle", async () => {
    at("/base/flood", endless)
    const client = await Wire.connect(gateway.port)
    client.socket.pause()
    client.send(head("GET", "/up/flood"))
    const visit = await provider.visited("/base/flood")
    await visit.closed
    expect(mebibytes(visit.socket)).toBeLessThan(24)
    client.leave()
  })

  it("a provider that does not read holds its client back, and the client is told 504 after bodyIdle", async () => {
    at("/base/sink", (visit) => void visit.socket.pause())
    const client = await Wire.connect(gateway.port)
    client.send(head("POST", "/up/sink", "content-length: 69999999\r\n"))
    client.socket.write(new Uint8Array(50_000_000))
    expect(await client.reads("waitedFor")).toMatch(/^HTTP\/1.1 504 [^]*"waitedFor":"upstream"/)
    expect(mebibytes(client.socket) - client.socket.writableLength / 1_048_576).toBeLessThan(24)
    client.leave()
    ;(await provider.visited("/base/sink")).leave()
  })

  it("a client that stops in the middle of its upload is told 408 after bodyIdle", async () => {
    const text = await Wire.talk(gateway.port, head("POST", "/up/half", "content-length: 10\r\n") + "half")
    expect(text).toMatch(/^HTTP\/1.1 408 [^]*"error":"BodyStalled"[^]*"waitedFor":"client","idleMillis":2000/)
    await (await provider.visited("/base/half")).closed
  })

  it("an upload above the limit without an announced length is cut there, with 413", async () => {
    const client = await Wire.connect(gateway.port)
    client.send(head("POST", "/up/large", "transfer-encoding: chunked\r\n"))
    const chunk = new Uint8Array(10_000_000)
    for (let i = 0; i < 8 && !client.isClosed(); i++) {
      client.send(`${chunk.length.toString(16)}\r\n`)
      client.send(chunk)
      client.send("\r\n")
    }
    expect(await client.reads("limit")).toMatch(/^HTTP\/1.1 413 [^]*"error":"BodyTooLarge"/)
    await client.closed
  })
})

describe("a provider's fault", () => {
  it("by hanging ends at the provider's timeout with 504, and its connection is closed", async () => {
    const answer = await ask("/quick/hang")
    expect([answer.status, answer.headers["retry-after"]]).toEqual([504, "1"])
    expect(answer.json()).toMatchObject({ error: "DeadlineExceeded" })
    await (await provider.visited("/hang")).closed
  })

  it("before a response is 502, whether it resets, leaves, or speaks no HTTP", async () => {
    at("/base/reset", (visit) => visit.reset())
    at("/base/leave", (visit) => visit.leave())
    at("/base/noise", (visit) => visit.send("SSH-2.0-noise\r\n\r\n"))
    at("/base/smuggle", (visit) => visit.send("HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab"))
    at("/base/switch", (visit) => visit.send("HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"))
    for (const path of ["reset", "leave", "noise", "smuggle", "switch"]) {
      const answer = await ask(`/up/${path}`)
      expect([path, answer.status, answer.json()["phase"]]).toEqual([path, 502, "head"])
    }
  })

  it("in the middle of a response cuts the client's connection, so that a part is never taken for the whole", async () => {
    at("/base/length", (visit) => visit.send("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc"))
    at("/base/chunked", (visit) => visit.send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n"))
    for (const path of ["length", "chunked"]) {
      const client = await Wire.connect(gateway.port)
      client.send(head("GET", `/up/${path}`))
      await client.reads("abc")
      ;(await provider.visited(`/base/${path}`)).reset()
      expect(await client.closed).not.toMatch(/0\r\n\r\n$/)
    }
  })

  it("by never ending a response is cut at the provider's timeout", async () => {
    at("/endless", endless)
    const client = await Wire.connect(gateway.port)
    client.send(head("GET", "/quick/endless"))
    expect(await client.closed).toContain("HTTP/1.1 200")
    await (await provider.visited("/endless")).closed
  })

  it("by answering before the upload is over does not cost the client its answer", async () => {
    at("/base/early", (visit) => visit.send(Wire.reply(422, "no thanks")))
    const client = await Wire.connect(gateway.port)
    // It looks at the answer only after it has sent everything, as simple clients do.
    client.socket.pause()
    client.send(head("POST", "/up/early", "content-length: 5000000\r\n"))
    await provider.visited("/base/early")
    await new Promise((flushed) => client.socket.write(new Uint8Array(5_000_000), flushed))
    client.socket.resume()
    expect(await client.reads(/no thanks$/)).toMatch(/^HTTP\/1.1 422 [^]*connection: close/i)
    client.leave()
  })
})

describe("a client that leaves frees its place at once", () => {
  it("in the middle of an upload, and its provider's connection ends", async () => {
    for (const way of ["leave", "reset"] as const) {
      const client = await Wire.connect(gateway.port)
      client.send(head("POST", `/up/upload-${way}`, "content-length: 1000\r\n") + "abc")
      const visit = await provider.visited(`/base/upload-${way}`)
      await visit.reads("abc")
      client[way]()
      await visit.closed
    }
  })

  it("in the middle of a response, and its provider's connection ends", async () => {
    for (const way of ["leave", "reset"] as const) {
      at(`/base/download-${way}`, (visit) => visit.send("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc"))
      const client = await Wire.connect(gateway.port)
      client.send(head("GET", `/up/download-${way}`))
      await client.reads("abc")
      client[way]()
      await (await provider.visited(`/base/download-${way}`)).closed
    }
  })

  it("with requests that wait behind another on its connection", async () => {
    for (const way of ["leave", "reset"] as const) {
      const client = await Wire.connect(gateway.port)
      client.send([1, 2, 3].map((nth) => head("GET", `/up/pipe-${way}-${nth}`)).join(""))
      await Wire.eventually(() => Wire.overview(gateway.operatorPort), ({ admission }) => admission.waiting === 1)
      const visits = await Promise.all([1, 2].map((nth) => provider.visited(`/base/pipe-${way}-${nth}`)))
      client[way]()
      await Promise.all(visits.map((visit) => visit.closed))
      await Wire.quiet(gateway.operatorPort)
    }
  })

  it("while the provider thinks, and while it waits in the line", async () => {
    const clients = await Promise.all([0, 1, 2].map(() => Wire.connect(gateway.port)))
    for (const client of clients) client.send(head("GET", "/up/think"))
    await Wire.eventually(() => Wire.overview(gateway.operatorPort), ({ admission }) => admission.waiting === 1)
    const last = await provider.visited("/base/think", 1)
    clients.forEach((client) => client.leave())
    await last.closed
    const { requests } = await Wire.quiet(gateway.operatorPort)
    expect(requests.find(({ outcome }) => outcome === "ClientGone")?.requests).toBeGreaterThanOrEqual(3)
  })

  it("and so does any mixture of clients that leave and providers that fail", async () => {
    at("/base/mix-ok", (visit) => visit.send(Wire.reply(200, "ok")))
    at("/base/mix-part", (visit) => visit.send("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc"))
    at("/base/mix-reset", (visit) => visit.reset())
    at("/base/mix-endless", endless)
    // The provider hangs on /mix-hang. Of these, the first two end by themselves.
    const paths = ["ok", "reset", "part", "endless", "hang"]
    // Lehmer's generator (Park and Miller, 1988), so that a failure can be run again.
    let state = 20_261_129
    const random = (count: number): number => (state = state * 48_271 % 2_147_483_647) % count
    const visitor = async (): Promise<void> => {
      const [path, upload, stay, reset] = [random(paths.length), random(2) === 0, random(3), random(2) === 0]
      const client = await Wire.connect(gateway.port)
      const more = `connection: close\r\n${upload ? "content-length: 70000\r\n" : ""}`
      client.send(head(upload ? "POST" : "GET", `/up/mix-${paths[path]}`, more))
      if (upload) client.send(new Uint8Array(random(2) === 0 ? 70_000 : 10))
      if (stay > 0 && path < 4) await client.reads("HTTP/1.1 ").catch(() => {})
      if (stay > 1 && path < 2) await client.closed
      client[reset ? "reset" : "leave"]()
    }
    await Promise.all(Array.from({ length: 300 }, visitor))
    const { admission } = await Wire.quiet(gateway.operatorPort)
    expect(admission.granted).toBe(admission.released)
    expect((await ask("/up/mix-ok")).body).toBe("ok")
  })
})
