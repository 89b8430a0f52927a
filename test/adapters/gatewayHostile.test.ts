/**
 * Hostile requests, byte by byte, at the gateway as a process: none reaches a provider, none is charged, and nobody is
 * taken for another tenant.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as GatewayProcess from "../support/GatewayProcess.ts"
import * as Wire from "../support/Wire.ts"

const alphaHash = "sha256:5bff3ad2afa32f97bd6af0f4a9901aad72a21b9f711fb6d82e2648dbc18e8575"
const bravoHash = "sha256:3532beafb222b78c196fe091f64aba9b467b359c7d1f2befc754c369975e0913"
const configOf = (port: number, identity: object): object => ({
  identity,
  tenants: {
    alpha: { tokens: [alphaHash], providers: ["up"] },
    bravo: { tokens: [bravoHash], providers: ["up"] },
  },
  providers: { up: { url: `http://127.0.0.1:${port}` } },
  admission: { maxRunning: 4 },
  http: { headerTimeout: "500 millis", maxTargetBytes: 2_000, maxHeaderBytes: 8_192, maxHeaderLines: 30 },
})

let provider: Wire.Provider
let gateway: GatewayProcess.Running
beforeAll(async () => {
  provider = await Wire.provide((visit) => {
    if (visit.path === "/begun") visit.send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nbegun\r\n")
    else visit.send(Wire.reply(200, "ok"))
  })
  gateway = await GatewayProcess.start(configOf(provider.port, { by: "bearer" }))
})
afterAll(async () => {
  expect(gateway.errors()).toBe("")
  await gateway.stop()
  await provider.stop()
})

const auth = "Authorization: Bearer demo-alpha\r\n"
const basic = `Host: gateway\r\n${auth}`
const get = (target: string, more = ""): string => `GET ${target} HTTP/1.1\r\n${basic}${more}\r\n`
const post = (more: string, body = ""): string => `POST /up/x HTTP/1.1\r\n${basic}${more}\r\n${body}`
const old = (version: string, more: string): string =>
  `POST /up/x HTTP/${version}\r\n${basic}${more}\r\n2\r\nab\r\n0\r\n\r\n`

/** Statuses of all responses in a text. */
const statuses = (text: string): readonly number[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status)).filter((status) => status !== 100)

const refused = async (requests: Readonly<Record<string, readonly [number, string]>>): Promise<void> => {
  const visits = provider.visits.length
  const { admission: before } = await Wire.overview(gateway.operatorPort)
  const answers: Record<string, readonly number[]> = {}
  for (const [name, [, request]] of Object.entries(requests)) {
    const wire = await Wire.connect(gateway.port)
    wire.send(request)
    await wire.reads(/^HTTP\/1\.1 [^]*\r\n\r\n/)
    answers[name] = statuses(wire.text()).slice(0, 1)
    // What has a body says that it is no provider's.
    if (/^content-type: application\/json/im.test(wire.text())) expect(wire.text()).toMatch(/^holdfast-error: \w+\r$/im)
    wire.leave()
  }
  expect(answers).toEqual(Object.fromEntries(Object.entries(requests).map(([name, [status]]) => [name, [status]])))
  expect(provider.visits.length).toBe(visits)
  const { admission: after } = await Wire.quiet(gateway.operatorPort)
  expect(after.granted).toBe(before.granted)
}

describe("a request target", () => {
  it("that climbs, however it is written, is refused", () =>
    refused({
      dots: [400, get("/up/../x")],
      encoded: [400, get("/up/%2e%2E/x")],
      half: [400, get("/up/.%2e/x")],
      twice: [400, get("/up/%252e%252e/x")],
      slash: [400, get("/up/a%2f..%2fx")],
      dot: [400, get("/up/./x")],
      last: [400, get("/up/..")],
      parameter: [400, get("/up/..;a/x")],
      backslash: [400, get("/up/..\\x")],
      encodedBackslash: [400, get("/up/..%5cx")],
      provider: [400, get("/../up/x")],
    }))

  it("that names a host, or nothing, is refused", () =>
    refused({
      absolute: [400, get("http://elsewhere/up/x")],
      absoluteOurs: [400, get("http://gateway/up/x")],
      network: [400, get("//elsewhere/up/x")],
      connect: [405, `CONNECT elsewhere:443 HTTP/1.1\r\n${basic}\r\n`],
      star: [400, `OPTIONS * HTTP/1.1\r\n${basic}\r\n`],
      nothing: [400, get("/")],
      noName: [400, get("/%75p/x")],
    }))

  it("with bytes that no target has is refused", () =>
    refused({
      fragment: [400, get("/up/x#y")],
      nul: [400, get("/up/x%00y")],
      percent: [400, get("/up/x%zz")],
      end: [400, get("/up/x%2")],
      latin1: [400, get("/up/\xe9")],
      tooLong: [414, get(`/up/${"a".repeat(2_000)}`)],
    }))
})

describe("framing that two servers could read differently is refused", () => {
  it("in the header", () =>
    refused({
      both: [400, post("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n")],
      twice: [400, post("Content-Length: 3\r\nContent-Length: 3\r\n", "abc")],
      differing: [400, post("Content-Length: 3\r\nContent-Length: 4\r\n", "abcd")],
      list: [400, post("Content-Length: 3, 3\r\n", "abc")],
      sign: [400, post("Content-Length: +3\r\n", "abc")],
      negative: [400, post("Content-Length: -3\r\n")],
      hex: [400, post("Content-Length: 0x3\r\n", "abc")],
      space: [400, post("Content-Length : 3\r\n", "abc")],
      codings: [400, post("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n")],
      codingTwice: [400, post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n")],
      identity: [400, post("Transfer-Encoding: identity\r\n")],
      almost: [400, post("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n")],
      vertical: [400, post("Transfer-Encoding: \x0bchunked\r\n", "0\r\n\r\n")],
      chunkedBefore11: [400, old("1.0", "Transfer-Encoding: chunked\r\n")],
      chunkedKept: [400, old("1.0", "Transfer-Encoding: chunked\r\nConnection: keep-alive\r\n")],
      chunkedLongAgo: [400, old("0.9", "Transfer-Encoding: chunked\r\n")],
      onGet: [400, get("/up/x", "Content-Length: 3\r\n") + "abc"],
      chunkedGet: [400, get("/up/x", "Transfer-Encoding: chunked\r\n") + "0\r\n\r\n"],
    }))

  it("in lines that are none", () =>
    refused({
      bareLineFeed: [400, `GET /up/x HTTP/1.1\n${basic.replaceAll("\r", "")}\n`],
      folded: [400, get("/up/x", "X-A: 1\r\n folded\r\n")],
      nul: [400, get("/up/x", "X-A: 1\x002\r\n")],
      carriageReturn: [400, get("/up/x", "X-A: 1\rX-B: 2\r\n")],
      nameWithSpace: [400, get("/up/x", "X A: 1\r\n")],
      noName: [400, get("/up/x", ": 1\r\n")],
      noHost: [400, `GET /up/x HTTP/1.1\r\n${auth}\r\n`],
      twoHosts: [400, get("/up/x", "Host: elsewhere\r\n")],
      method: [400, `get /up/x HTTP/1.1\r\n${basic}\r\n`],
      trace: [405, `TRACE /up/x HTTP/1.1\r\n${basic}\r\n`],
      tls: [400, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"],
      http2: [400, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    }))

  it("in chunks, before the rest could be taken for a second request", async () => {
    const second = "GET /up/smuggled HTTP/1.1\r\nHost: gateway\r\n\r\n"
    for (const chunk of ["0x5\r\nabcde\r\n", "5 ;\nabcde\r\n", "5\nabcde\n", "-1\r\n", "5\r\nabcdeXX"]) {
      const text = await Wire.talk(gateway.port, post("Transfer-Encoding: chunked\r\n", `${chunk}0\r\n\r\n${second}`))
      expect([chunk, statuses(text).filter((status) => status !== 400 && status !== 200)]).toEqual([chunk, []])
    }
    expect(provider.visits.filter(({ path }) => path === "/smuggled")).toEqual([])
    await Wire.quiet(gateway.operatorPort)
  })

  it("in a version that has no such framing, and the connection is closed", async () => {
    const text = await Wire.talk(gateway.port, old("1.0", "Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n"))
    expect(text).toMatch(
      /^HTTP\/1.1 400 [^]*holdfast-error: BadFraming[^]*"have no transfer-encoding before HTTP\/1.1"/,
    )
    expect(statuses(await Wire.talk(gateway.port, `GET /up/x HTTP/1.0\r\n${basic}\r\n`))).toEqual([200])
  })

  it("and no answer is written into a response that has begun", async () => {
    const client = await Wire.connect(gateway.port)
    client.send("POST /up/begun HTTP/1.1\r\n" + basic + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
    await client.reads("begun")
    client.send("ZZ\r\n")
    expect(statuses(await client.closed)).toEqual([200])
    await Wire.quiet(gateway.operatorPort)
  })
})

describe("a header", () => {
  it("of too many bytes or lines is refused with 431", () =>
    refused({
      bytes: [431, get("/up/x", `X-A: ${"a".repeat(10_000)}\r\n`)],
      lines: [431, get("/up/x", "X-A: 1\r\n".repeat(40))],
      manyLines: [431, get("/up/x", "X-A: 1\r\n".repeat(900))],
    }))

  it("that never ends is answered 408 and its connection closed", async () => {
    expect(await Wire.talk(gateway.port, "GET /up/x HTT")).toMatch(/^HTTP\/1.1 408 /)
    expect(await Wire.talk(gateway.port, "")).toMatch(/^(HTTP\/1.1 408 |$)/)
  })

  it("that asks for another protocol is served as if it did not", async () => {
    const upgrade = "Connection: upgrade, close\r\nUpgrade: websocket\r\nSec-WebSocket-Key: a\r\n"
    const text = await Wire.talk(gateway.port, get("/up/socket", upgrade))
    expect(statuses(text)).toEqual([200])
    expect((await provider.visited("/socket")).head).not.toMatch(/upgrade/i)
  })
})

describe("nobody is taken for another tenant", () => {
  const served = async (): Promise<Readonly<Record<string, number>>> => {
    const { requests } = await Wire.quiet(gateway.operatorPort)
    const rows = requests.filter(({ outcome }) => outcome === "Served")
    return Object.fromEntries(rows.map(({ tenant, requests }) => [tenant ?? "", requests]))
  }

  it("by any header beside its own token", async () => {
    const before = await served()
    const claims = "X-Tenant: bravo\r\nX-Forwarded-User: bravo\r\nHoldfast-Tenant: bravo\r\nForwarded: for=bravo\r\n"
    await Wire.talk(gateway.port, get("/up/x?tenant=bravo", `${claims}Connection: close, Authorization\r\n`))
    const after = await served()
    expect(after["bravo"]).toBe(before["bravo"])
    expect(after["alpha"]).toBe((before["alpha"] ?? 0) + 1)
  })

  it("with two tokens, a part of one, one in another scheme, or none", () => {
    const line = (value: string): string => `GET /up/x HTTP/1.1\r\nHost: gateway\r\n${value}\r\n`
    return refused({
      two: [401, line(`${auth}Authorization: Bearer demo-bravo\r\n`)],
      list: [401, line("Authorization: Bearer demo-alpha, Bearer demo-bravo\r\n")],
      part: [401, line("Authorization: Bearer demo-alph\r\n")],
      more: [401, line("Authorization: Bearer demo-alphaa\r\n")],
      scheme: [401, line("Authorization: Basic demo-alpha\r\n")],
      hash: [401, line(`Authorization: Bearer ${alphaHash}\r\n`)],
      empty: [401, line("Authorization: Bearer \r\n")],
      long: [401, line(`Authorization: Bearer ${"a".repeat(2_000)}\r\n`)],
      none: [401, line("")],
    })
  })

  it("through a header, unless a listed proxy sends it, once", async () => {
    const line = (more: string): string =>
      `GET /up/proxied HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\n${more}\r\n`
    const identity = { by: "proxy", header: "X-Tenant" }
    const far = await GatewayProcess.start(configOf(provider.port, { ...identity, addresses: ["10.9.8.7"] }))
    expect(statuses(await Wire.talk(far.port, line("X-Tenant: alpha\r\n")))).toEqual([401])
    expect(statuses(await Wire.talk(far.port, line(`X-Forwarded-For: 10.9.8.7\r\nX-Tenant: alpha\r\n`)))).toEqual([401])
    await far.stop()
    const near = await GatewayProcess.start(configOf(provider.port, { ...identity, addresses: ["127.0.0.1"] }))
    expect(statuses(await Wire.talk(near.port, line("X-Tenant: alpha\r\nX-Tenant: bravo\r\n")))).toEqual([401])
    expect(statuses(await Wire.talk(near.port, line("X-Tenant: zulu\r\n")))).toEqual([401])
    expect(statuses(await Wire.talk(near.port, line(auth)))).toEqual([401])
    expect(statuses(await Wire.talk(near.port, line("X-Tenant: bravo\r\n")))).toEqual([200])
    expect((await provider.visited("/proxied")).head).not.toMatch(/x-tenant/i)
    await near.stop()
  })

  it("and no token is told again, by no answer, page, metric or line of output", async () => {
    const canary = "canary-token-5f3a"
    const line = (target: string): string =>
      `GET ${target} HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer ${canary}\r\nConnection: close\r\n\r\n`
    const answers = [
      await Wire.talk(gateway.port, line("/up/x")),
      await Wire.talk(gateway.port, line(`/up/..?${canary}`)),
      await Wire.talk(gateway.port, line(`/up/${canary}${"a".repeat(2_000)}`)),
      await Wire.talk(gateway.port, `GET /up/x HTTP/1.1\r\nHost: a\r\nX ${canary}: a\r\n\r\n`),
      (await Wire.ask(gateway.operatorPort, "/")).body,
      (await Wire.ask(gateway.operatorPort, "/snapshot")).body,
      (await Wire.ask(gateway.operatorPort, "/metrics?labels=tenant")).body,
      gateway.output(),
      gateway.errors(),
    ]
    expect(answers.filter((answer) => answer.includes(canary) || answer.includes("demo-alpha"))).toEqual([])
  })
})
