/** The gateway from its start to its end: what keeps it from starting, what a flood does to others, how it drains. */
import { afterEach, describe, expect, it } from "vitest"
import * as GatewayProcess from "../support/GatewayProcess.ts"
import * as Wire from "../support/Wire.ts"

const hashOf = (tenant: "alpha" | "bravo" | "charlie"): string =>
  `sha256:${
    {
      alpha: "5bff3ad2afa32f97bd6af0f4a9901aad72a21b9f711fb6d82e2648dbc18e8575",
      bravo: "3532beafb222b78c196fe091f64aba9b467b359c7d1f2befc754c369975e0913",
      charlie: "55fee9b0ab63afe8063e4565ae1a91b016c303ed12a6ad72b3d808985b9e717b",
    }[tenant]
  }`
const configOf = (port: number, admission: object, drain = "10 seconds"): object => ({
  tenants: {
    alpha: { tokens: [hashOf("alpha")], providers: ["up"] },
    bravo: { tokens: [hashOf("bravo")], providers: ["up"] },
    charlie: { tokens: [hashOf("charlie")], providers: ["up"] },
  },
  providers: { up: { url: `http://127.0.0.1:${port}`, timeout: "1 minute" } },
  admission: { maxWait: "1 minute", ...admission },
  drain,
})

const running: { readonly stop: () => Promise<void> }[] = []
const kept = <A extends { readonly stop: () => Promise<void> }>(one: A): A => {
  running.push(one)
  return one
}
afterEach(() => Promise.all(running.splice(0).map((one) => one.stop())))

const waitingFor = (gateway: GatewayProcess.Running, count: number): Promise<Wire.Overview> =>
  Wire.eventually(() => Wire.overview(gateway.operatorPort), ({ admission }) => admission.waiting === count)

describe("a start", () => {
  it("without a configuration serves three tenants and the provider demo", async () => {
    const gateway = kept(await GatewayProcess.start())
    await gateway.prints(`curl -H "authorization: Bearer demo-alpha" http://127.0.0.1:${gateway.port}/demo/\n`)
    await gateway.prints("Ctrl-C or SIGTERM drains, at most 10s; --help lists the flags\n")
    for (const tenant of ["alpha", "bravo", "charlie"]) {
      const answer = await Wire.ask(gateway.port, "/demo/echo", { method: "POST", token: `demo-${tenant}`, body: "hi" })
      expect([answer.status, answer.body]).toEqual([200, "hi"])
    }
    expect((await Wire.ask(gateway.port, "/demo/status/418", { token: "demo-alpha" })).status).toBe(418)
    expect((await Wire.ask(gateway.port, "/demo/bytes/1000", { token: "demo-alpha" })).body.length).toBe(1_000)
    await Wire.quiet(gateway.operatorPort)
  })

  it("with a broken configuration names each mistake with its path, and nothing starts", async () => {
    const secret = "canary-plain-token"
    const { code, errors, output } = await GatewayProcess.runWith({
      gateway: { port: 70_000, hosts: "a" },
      identity: { by: "bearer", header: "x-tenant" },
      tenants: {
        alpha: { tokens: [secret], providers: ["nowhere"], weight: 0 },
        "bad name": { providers: [] },
        bravo: { tokens: [hashOf("bravo"), hashOf("bravo")], providers: "demo" },
      },
      providers: {
        demo: { serves: "demo", url: "ftp://a" },
        none: {},
        keyed: { url: "https://user:pw@a/", timeout: "soon", headers: { host: { env: "NO_SUCH_VARIABLE" } } },
      },
      admission: { maxRunning: 1.5, maxPerTenant: -1, maxPerPair: "3" },
      http: { maxTargetBytes: 60_000 },
      drain: "2 hours",
      extra: true,
    })
    expect([code, output]).toEqual([2, ""])
    const paths = errors.split("\n").slice(1, -1).map((line) => line.trim().split(": ")[0])
    expect(paths.toSorted()).toEqual([
      "$.admission.maxPerPair",
      "$.admission.maxPerTenant",
      "$.admission.maxRunning",
      "$.drain",
      "$.extra",
      "$.gateway.hosts",
      "$.gateway.port",
      "$.http.maxTargetBytes",
      "$.identity.header",
      "$.providers.demo",
      "$.providers.demo.url",
      "$.providers.keyed.headers.host",
      "$.providers.keyed.headers.host.env",
      "$.providers.keyed.timeout",
      "$.providers.keyed.url",
      "$.providers.none",
      "$.tenants.alpha.providers.0",
      "$.tenants.alpha.tokens.0",
      "$.tenants.alpha.weight",
      "$.tenants.bad name",
      "$.tenants.bad name.tokens",
      "$.tenants.bravo.providers",
      "$.tenants.bravo.tokens.1",
    ])
    expect(errors).toMatch(/^the configuration has 23 mistakes:/)
    expect(errors).not.toMatch(new RegExp(`${secret}|user:pw|undefined|\\[object`))
  })

  it("with text that is no JSON, no file, or a flag that is not known says so, and nothing starts", async () => {
    expect(await GatewayProcess.runWith("{ canary"))
      .toEqual({
        code: 2,
        output: "",
        errors: "the configuration has a mistake:\n  $: is not JSON at line 1, column 3\n",
      })
    expect(await GatewayProcess.run(["--port", "9", "--operator-port", "9"])).toEqual({
      code: 2,
      output: "",
      errors:
        "the configuration has a mistake:\n  $.operator.port: must differ from the gateway's, which is 9 as well\n",
    })
    expect(await GatewayProcess.run(["--config", "/no/such/file"])).toMatchObject({
      code: 2,
      output: "",
      errors: "the configuration has a mistake:\n  /no/such/file: cannot be read: ENOENT\n",
    })
    expect(await GatewayProcess.run(["--prot", "0"]))
      .toEqual({ code: 2, output: "", errors: "--prot is not a flag; --help lists them\n" })
    expect((await GatewayProcess.run(["--port=65536"])).errors).toBe("--port must be a port from 0 to 65535\n")
    expect(await GatewayProcess.run(["--help"])).toMatchObject({ code: 0, errors: "" })
  })

  it("on a port that is taken says so, and leaves nothing listening", async () => {
    const gateway = kept(await GatewayProcess.start())
    const taken = await GatewayProcess.run(["--port", String(gateway.port), "--operator-port", "0"])
    const flags = "--port and --operator-port take others, and of 0 any that is free"
    const errors = `cannot listen on 127.0.0.1:${gateway.port}: EADDRINUSE; ${flags}\n`
    expect(taken).toEqual({ code: 2, output: "", errors })
  })
})

describe("the operator's listener", () => {
  it("has a page, the counts, and metrics with tenants on request alone", async () => {
    const gateway = kept(await GatewayProcess.start())
    await Wire.ask(gateway.port, "/demo/", { token: "demo-alpha" })
    const page = await Wire.ask(gateway.operatorPort, "/")
    expect([page.status, page.headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"])
    const { body } = await Wire.ask(gateway.operatorPort, "/metrics")
    const names = body.split("\n").filter((line) => line !== "").map((line) => line.replace(/^# (HELP|TYPE) /, ""))
    expect(names.filter((name) => !name.startsWith("holdfast_"))).toEqual([])
    expect(body).toContain('holdfast_gateway_requests_total{provider="demo",outcome="Served"} 1\n')
    expect(body).toMatch(/^# TYPE holdfast_gateway_wait_seconds summary$/m)
    expect(body).toMatch(/^holdfast_gateway_wait_seconds_sum [\d.e-]+\nholdfast_gateway_wait_seconds_count 1$/m)
    expect(body).not.toContain("alpha")
    expect((await Wire.ask(gateway.operatorPort, "/metrics?labels=tenant")).body)
      .toContain('holdfast_gateway_requests_total{tenant="alpha",provider="demo",outcome="Served"} 1\n')
    expect((await Wire.ask(gateway.operatorPort, "/nothing")).status).toBe(404)
    expect((await Wire.ask(gateway.operatorPort, "/snapshot", { method: "POST", body: "x" })).status).toBe(405)
    const rebound = await Wire.ask(gateway.operatorPort, "/snapshot", { headers: { host: "evil.example" } })
    expect(rebound.status).toBe(421)
  })
})

describe("a flood of one tenant", () => {
  it("costs the others at most one turn each, and its excess is told 429", async () => {
    const order: string[] = []
    const held: Wire.Visit[] = []
    let flowing = false
    const provider = kept(
      await Wire.provide((visit) => {
        order.push(visit.path.split("/")[1]!)
        if (flowing) visit.send(Wire.reply(200, "ok"))
        else held.push(visit)
      }),
    )
    const limits = { maxRunning: 1, maxQueuedPerTenant: 40 }
    const gateway = kept(await GatewayProcess.start(configOf(provider.port, limits)))
    const ask = (tenant: string, count: number): readonly Promise<Wire.Answer>[] =>
      Array.from({ length: count }, (_, i) => Wire.ask(gateway.port, `/up/${tenant}/${i}`, { token: `demo-${tenant}` }))
    const flood = ask("alpha", 50)
    await waitingFor(gateway, 40)
    const others = [...ask("bravo", 5), ...ask("charlie", 5)]
    await waitingFor(gateway, 50)
    flowing = true
    held.forEach((visit) => visit.send(Wire.reply(200, "ok")))
    expect((await Promise.all(others)).map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200))
    const refused = (await Promise.all(flood)).filter(({ status }) => status !== 200)
    expect(refused.map(({ status, headers, json }) => [status, headers["retry-after"], json()])).toEqual(
      Array.from({ length: 9 }, () => [429, "1", {
        error: "QueueFull",
        message: expect.any(String),
        scope: "tenant",
        limit: 40,
      }]),
    )
    // After the one that held the place, three tenants take turns: the fifth of each is among the first fifteen.
    expect(order.slice(1, 16).toSorted().join(" ")).toBe(
      ["alpha", "bravo", "charlie"].flatMap((tenant) => Array.from({ length: 5 }, () => tenant)).join(" "),
    )
    expect(order.slice(16).every((tenant) => tenant === "alpha")).toBe(true)
    await Wire.quiet(gateway.operatorPort)
  })

  it("leaves nobody waiting beyond maxWait, which is told 503", async () => {
    const provider = kept(await Wire.provide(() => {}))
    const limits = { maxRunning: 1, maxWait: "200 millis" }
    const gateway = kept(await GatewayProcess.start(configOf(provider.port, limits)))
    const holder = await Wire.connect(gateway.port)
    holder.send("GET /up/hold HTTP/1.1\r\nhost: a\r\nauthorization: Bearer demo-alpha\r\n\r\n")
    await provider.visited("/hold")
    const answer = await Wire.ask(gateway.port, "/up/x", { token: "demo-bravo" })
    expect([answer.status, answer.headers["retry-after"]]).toEqual([503, "1"])
    expect(answer.json()).toMatchObject({ error: "WaitExpired", bound: "maxWait", account: "total" })
    expect(answer.body).not.toContain("alpha")
    holder.leave()
    await Wire.quiet(gateway.operatorPort)
  })
})

describe("a drain", () => {
  const get = (path: string): string =>
    `GET /up/${path} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer demo-alpha\r\n\r\n`

  it("loses no request that was accepted, held or waiting, answers later ones 503, and ends with 0", async () => {
    const held: Wire.Visit[] = []
    let flowing = false
    const provider = kept(
      await Wire.provide((visit) => {
        if (flowing) visit.send(Wire.reply(200, "ok"))
        else held.push(visit)
      }),
    )
    const gateway = kept(await GatewayProcess.start(configOf(provider.port, { maxRunning: 3 })))
    const accepted = Array.from({ length: 5 }, (_, i) => Wire.ask(gateway.port, `/up/${i}`, { token: "demo-alpha" }))
    const late = await Wire.connect(gateway.port)
    late.send(get("after").slice(0, 20))
    const unknown = await Wire.connect(gateway.port)
    unknown.send("GET /up/after HTTP/1.1\r\nhost")
    const idle = await Wire.connect(gateway.port)
    idle.send(get("idle"))
    await waitingFor(gateway, 3)
    gateway.signal("SIGTERM")
    await gateway.prints("draining")
    const isOpen = (): Promise<boolean> =>
      Wire.connect(gateway.port).then((wire) => {
        wire.leave()
        return true
      }, () => false)
    await Wire.eventually(isOpen, (open) => !open)
    expect((await Wire.overview(gateway.operatorPort)).admission.waiting).toBe(3)
    late.send(get("after").slice(20))
    unknown.send(": a\r\n\r\n")
    expect(await unknown.closed).toMatch(/^HTTP\/1.1 401 [^]*connection: close/i)
    expect(await late.closed).toMatch(/^HTTP\/1.1 503 [^]*connection: close[^]*"error":"Closed"[^]*"state":"draining"/i)
    flowing = true
    held.forEach((visit) => visit.send(Wire.reply(200, "ok")))
    expect((await Promise.all(accepted)).map(({ body, status }) => [status, body]))
      .toEqual(Array.from({ length: 5 }, () => [200, "ok"]))
    expect(await idle.closed).toMatch(/^HTTP\/1.1 200 [^]*connection: close[^]*ok$/i)
    const { code, output } = await gateway.ended
    expect([code, output.trim().split("\n").at(-1)]).toEqual([
      0,
      expect.stringMatching(/^drained in .*nothing was held/),
    ])
  })

  it("ends by its deadline with 1, and says what was still held", async () => {
    const provider = kept(await Wire.provide(() => {}))
    const gateway = kept(await GatewayProcess.start(configOf(provider.port, { maxRunning: 1 }, "300 millis")))
    await gateway.prints("Ctrl-C or SIGTERM drains, at most 300ms")
    expect(gateway.output()).not.toContain("demo")
    const client = await Wire.connect(gateway.port)
    client.send(get("stuck"))
    const visit = await provider.visited("/stuck")
    gateway.signal("SIGINT")
    const { code, output } = await gateway.ended
    expect(code).toBe(1)
    expect(output).toMatch(/not drained in \d+ ms: 1 still held\n {2}held by alpha at up: 1 for \d+ ms\n$/)
    await Promise.all([client.closed, visit.closed])
  })

  it("ends at once with 130 on a second signal", async () => {
    const provider = kept(await Wire.provide(() => {}))
    const gateway = kept(await GatewayProcess.start(configOf(provider.port, { maxRunning: 1 }, "10 minutes")))
    const client = await Wire.connect(gateway.port)
    client.send(get("stuck"))
    await provider.visited("/stuck")
    gateway.signal("SIGINT")
    // The same Ctrl-C again, as `deno task` passes it on beside the terminal: it does not count.
    gateway.signal("SIGINT")
    await gateway.prints("draining")
    expect((await Wire.overview(gateway.operatorPort)).admission.running).toBe(1)
    const again = setInterval(() => gateway.signal("SIGINT"), 50)
    const { code } = await gateway.ended.finally(() => clearInterval(again))
    expect(code).toBe(130)
    await client.closed
  })
})
