/**
 * The gateway as a process in front of a provider that fails: its circuit opens, one probe tries it, and it closes again.
 * After each law nothing is held anywhere.
 */
import { afterEach, describe, expect, it } from "vitest"
import * as GatewayProcess from "../support/GatewayProcess.ts"
import * as Wire from "../support/Wire.ts"

const hashes = {
  alpha: "sha256:5bff3ad2afa32f97bd6af0f4a9901aad72a21b9f711fb6d82e2648dbc18e8575",
  bravo: "sha256:3532beafb222b78c196fe091f64aba9b467b359c7d1f2befc754c369975e0913",
}
const failureThreshold = 3
const recoveryAfter = "300 millis"

interface Options {
  readonly timeout?: string
  readonly bodyIdle?: string
  readonly gate?: object
  readonly admission?: object
}

const configOf = (
  port: number,
  { timeout = "20 seconds", bodyIdle = "400 millis", gate, admission }: Options,
): object => ({
  tenants: {
    alpha: { tokens: [hashes.alpha], providers: ["up", "other"] },
    bravo: { tokens: [hashes.bravo], providers: ["up", "other"] },
  },
  providers: {
    up: { url: `http://127.0.0.1:${port}`, timeout, gate: { failureThreshold, recoveryAfter, ...gate } },
    other: { url: `http://127.0.0.1:${port}/other` },
  },
  admission: { maxRunning: 8, ...admission },
  http: { bodyIdle, maxBodyBytes: 1_000 },
})

const running: { readonly stop: () => Promise<void> }[] = []
const kept = <A extends { readonly stop: () => Promise<void> }>(one: A): A => {
  running.push(one)
  return one
}
afterEach(() => Promise.all(running.splice(0).map((one) => one.stop())))

const ok = (visit: Wire.Visit): void => visit.send(Wire.reply(200, "ok"))
const part = "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc"

interface Scene {
  readonly gateway: GatewayProcess.Running
  readonly provider: Wire.Provider
  /** What the provider does from now on; `/other` answers 200 whatever happens, and `/other/hold` when it is told to. */
  readonly play: (script: (visit: Wire.Visit) => void) => void
  readonly ask: (path: string, asking?: Wire.Asking) => Promise<Wire.Answer>
  readonly gate: (name?: string) => Promise<Wire.Gate>
  /** The changes of the circuit so far. */
  readonly changes: () => Promise<readonly string[]>
  /** Resolves once the opening is over, so that the next call is the probe. */
  readonly recovered: () => Promise<unknown>
}

const scene = async (options: Options = {}): Promise<Scene> => {
  let script = ok
  const provider = kept(
    await Wire.provide((visit) => {
      if (!visit.path.startsWith("/other")) script(visit)
      else if (visit.path !== "/other/hold") ok(visit)
    }),
  )
  const gateway = kept(await GatewayProcess.start(configOf(provider.port, options)))
  const overview = (): Promise<Wire.Overview> => Wire.overview(gateway.operatorPort)
  const gate = async (name = "up"): Promise<Wire.Gate> =>
    (await overview()).gates.find(({ provider }) => provider === name)!
  return {
    gateway,
    provider,
    play: (next) => {
      script = next
    },
    ask: (path, asking = { token: "demo-alpha" }) => Wire.ask(gateway.port, path, asking),
    gate,
    changes: async () => (await overview()).changes.map(({ provider, event }) => `${provider} ${event}`),
    recovered: () => Wire.eventually(gate, ({ circuit, retryAfterMillis }) => circuit === "open" && !retryAfterMillis),
  }
}

/** Fails often enough for the circuit to open, and comes back once it has. */
const open = async ({ ask, gate, play }: Scene): Promise<void> => {
  play((visit) => visit.send(Wire.reply(500, "no")))
  for (let i = 0; i < failureThreshold; i++) await ask("/up/fail")
  await Wire.eventually(gate, ({ circuit }) => circuit === "open")
}

/** Nothing is held, and every call of every gate was told of once. */
const quiet = async ({ gateway }: Scene): Promise<Wire.Overview> => {
  const all = await Wire.quiet(gateway.operatorPort)
  for (const { granted, held, successes, failures, neutral, stale } of all.gates) {
    expect([held, successes + failures + neutral + stale]).toEqual([0, granted])
  }
  expect(gateway.errors()).toBe("")
  return all
}

describe("a provider that fails opens its circuit", () => {
  const faults: Readonly<
    Record<string, readonly [status: number, script: (visit: Wire.Visit) => void, options?: Options]>
  > = {
    "by 500": [500, (visit) => visit.send(Wire.reply(500, "no"))],
    "by 503": [503, (visit) => visit.send(Wire.reply(503, "no", "retry-after: 7\r\n"))],
    "by resets": [502, (visit) => visit.reset()],
    "by noise": [502, (visit) => visit.send("SSH-2.0-noise\r\n\r\n")],
    "by hanging": [504, () => {}, { timeout: "300 millis" }],
    "by a body that it cuts": [200, (visit) => {
      visit.send(part)
      setTimeout(() => visit.reset(), 20)
    }],
    "by a body that stands still": [200, (visit) => visit.send(part)],
    // As by default: the two are equal, and the deadline, which began before, always comes first.
    "by a body that stands still until the deadline": [200, (visit) => visit.send(part), {
      timeout: "2 seconds",
      bodyIdle: "2 seconds",
    }],
  }
  it.each(Object.entries(faults))("%s, and is not reached any more", async (_, [status, fault, options]) => {
    const all = await scene({ gate: { recoveryAfter: "1 minute" }, ...options })
    all.play(fault)
    await Promise.all(Array.from({ length: failureThreshold }, async () => {
      const wire = await Wire.connect(all.gateway.port)
      wire.send("GET /up/x HTTP/1.1\r\nhost: a\r\nconnection: close\r\nauthorization: Bearer demo-alpha\r\n\r\n")
      expect(await wire.closed).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    }))
    await Wire.eventually(all.gate, ({ circuit }) => circuit === "open")
    const answers = await Promise.all(
      ["demo-alpha", "demo-bravo", "demo-alpha"].map((token) => all.ask("/up/x", { token })),
    )
    for (const { status, headers, json } of answers) {
      expect([status, headers["holdfast-error"]]).toEqual([503, "CircuitOpen"])
      expect([59, 60]).toContain(Number(headers["retry-after"]))
      expect(json()).toMatchObject({ error: "CircuitOpen", probing: false, retryAfterMillis: expect.any(Number) })
    }
    expect(all.provider.visits).toHaveLength(failureThreshold)
    const { admission, requests } = await quiet(all)
    // Nobody who is refused by an open circuit came to the line.
    expect(admission.granted).toBe(failureThreshold)
    const refused = requests.filter(({ outcome }) => outcome === "CircuitOpen")
    expect(refused.reduce((sum, { requests }) => sum + requests, 0)).toBe(3)
  })

  it("by not being there at all", async () => {
    const all = await scene()
    await all.provider.stop()
    for (let i = 0; i < failureThreshold; i++) expect((await all.ask("/up/x")).status).toBe(502)
    expect((await all.ask("/up/x")).json()).toMatchObject({ error: "CircuitOpen" })
    await quiet(all)
  })

  it("in a row alone: a success between failures begins the count again", async () => {
    const all = await scene()
    for (const status of [500, 502, 200, 500, 599, 302, 500, 503]) {
      all.play((visit) => visit.send(Wire.reply(status, "x")))
      expect((await all.ask("/up/x")).status).toBe(status)
    }
    await quiet(all)
    expect(await all.gate()).toMatchObject({ circuit: "closed", consecutiveFailures: 2, failures: 6, successes: 2 })
  })

  it("and leaves other providers untouched", async () => {
    const all = await scene()
    await open(all)
    const answers = await Promise.all(Array.from({ length: 20 }, () => all.ask("/other/x")))
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200))
    expect(await all.gate("other")).toMatchObject({ circuit: "closed", successes: 20, opened: 0 })
    expect(await all.changes()).toEqual(["up opened"])
    await quiet(all)
  })

  it("also for those that wait in the line already: they are refused in their turn and hold nothing", async () => {
    const all = await scene({ admission: { maxRunning: 1 }, gate: { failureThreshold: 1, recoveryAfter: "1 minute" } })
    all.play(() => {})
    const answers = Array.from({ length: 6 }, () => all.ask("/up/x"))
    await Wire.eventually(() => Wire.overview(all.gateway.operatorPort), ({ admission }) => admission.waiting === 5)
    ;(await all.provider.visited("/x")).send(Wire.reply(500, "no"))
    const statuses = (await Promise.all(answers)).map(({ headers, status }) => [status, headers["holdfast-error"]])
    expect(statuses.filter(([, error]) => error === "CircuitOpen")).toHaveLength(5)
    expect(all.provider.visits).toHaveLength(1)
    const { admission } = await quiet(all)
    expect([admission.granted, admission.released]).toEqual([6, 6])
  })
})

describe("what is no fault of a provider never opens its circuit", () => {
  it("4xx, whichever and however often", async () => {
    const all = await scene()
    for (const status of [400, 401, 403, 404, 408, 409, 422, 429, 451]) {
      all.play((visit) => visit.send(Wire.reply(status, "no")))
      for (let i = 0; i < failureThreshold; i++) expect((await all.ask("/up/x")).status).toBe(status)
    }
    await quiet(all)
    expect(await all.gate()).toMatchObject({ circuit: "closed", consecutiveFailures: 0, neutral: 27, failures: 0 })
  })

  it("clients that leave, before the head and in the middle of a body", async () => {
    const all = await scene()
    all.play((visit) => {
      if (visit.path === "/part") visit.send(part)
    })
    for (let i = 0; i < 2 * failureThreshold; i++) {
      const path = i % 2 === 0 ? "/part" : "/think"
      const client = await Wire.connect(all.gateway.port)
      client.send(`GET /up${path} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer demo-alpha\r\n\r\n`)
      if (path === "/part") await client.reads("abc")
      const visit = await all.provider.visited(path, Math.floor(i / 2))
      client[i % 4 < 2 ? "leave" : "reset"]()
      await visit.closed
    }
    await quiet(all)
    expect(await all.gate()).toMatchObject({ circuit: "closed", failures: 0, neutral: 3, successes: 3 })
  })

  it("clients that stop in the middle of an upload, or send one that is too slow for the timeout", async () => {
    const all = await scene({ timeout: "1500 millis" })
    all.play(() => {})
    const head = "POST /up/x HTTP/1.1\r\nhost: a\r\nauthorization: Bearer demo-alpha\r\ncontent-length: 99\r\n\r\n"
    const upload = async (drips: boolean): Promise<string | undefined> => {
      const client = await Wire.connect(all.gateway.port)
      client.send(`${head}x`)
      const drip = drips ? setInterval(() => client.send("x"), 50) : undefined
      const text = await client.reads(/"error":"\w+"/).finally(() => clearInterval(drip))
      client.leave()
      return /"error":"(\w+)"/.exec(text)?.[1]
    }
    const told = await Promise.all([true, false, true, false, true, false].map(upload))
    expect(told.toSorted()).toEqual([...Array(3).fill("BodyStalled"), ...Array(3).fill("DeadlineExceeded")])
    await quiet(all)
    expect(await all.gate()).toMatchObject({ circuit: "closed", failures: 0, neutral: 6 })
  })

  it("uploads that break or stop after the provider's head came, or that it gives up on", async () => {
    const all = await scene()
    all.play((visit) => {
      if (visit.path === "/impatient") void visit.reads("abc").then(() => visit.reset())
      else visit.send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nbegun\r\n")
    })
    const head =
      "HTTP/1.1\r\nhost: a\r\nauthorization: Bearer demo-alpha\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n"
    const upload = async (path: string, more: (client: Wire.Wire) => void): Promise<void> => {
      const client = await Wire.connect(all.gateway.port)
      client.send(`POST /up${path} ${head}`)
      await client.reads("begun")
      more(client)
      await client.closed
    }
    const drip = (client: Wire.Wire): void => {
      const timer = setInterval(() => client.send("1\r\nx\r\n"), 50)
      void client.closed.finally(() => clearInterval(timer))
    }
    const impatient = async (): Promise<void> => {
      const client = await Wire.connect(all.gateway.port)
      client.send(`POST /up/impatient ${head}`)
      expect(await client.reads(/"code":"\w+"/)).toMatch(/^HTTP\/1.1 502 /)
      client.leave()
    }
    for (let i = 0; i < failureThreshold; i++) {
      await Promise.all([
        upload("/large", (client) => client.send(`400\r\n${"x".repeat(1_024)}\r\n`)),
        upload("/noise", (client) => client.send("ZZ\r\n")),
        upload("/stopped", () => {}),
        upload("/dripping", drip),
        impatient(),
      ])
    }
    await quiet(all)
    expect(await all.gate()).toMatchObject({ circuit: "closed", failures: 0, successes: 12, neutral: 3 })
  })

  it("streams without an end that the deadline cuts", async () => {
    const all = await scene({ timeout: "1 second" })
    all.play((visit) => {
      visit.send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
      const drip = setInterval(() => visit.send("1\r\nx\r\n"), 50)
      void visit.closed.finally(() => clearInterval(drip))
    })
    const streams = Array.from({ length: failureThreshold }, async () => {
      const client = await Wire.connect(all.gateway.port)
      client.send("GET /up/x HTTP/1.1\r\nhost: a\r\nauthorization: Bearer demo-alpha\r\n\r\n")
      return client.closed
    })
    for (const text of await Promise.all(streams)) expect(text).toMatch(/^HTTP\/1.1 200 [^]*x/)
    const { requests } = await quiet(all)
    expect(requests).toMatchObject([{ outcome: "Cut", requests: failureThreshold }])
    expect(await all.gate()).toMatchObject({ circuit: "closed", failures: 0, successes: failureThreshold })
  })

  it("calls that used their time up in the line and gave the provider a moment", async () => {
    const all = await scene({ timeout: "1500 millis", admission: { maxRunning: 1 } })
    all.play((visit) => setTimeout(() => ok(visit), 1_100))
    // One is served; the next gets what is left, and is cut.
    const answers = await Promise.all(Array.from({ length: 2 }, () => all.ask("/up/slow")))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 504])
    await quiet(all)
    expect(await all.gate()).toMatchObject({ circuit: "closed", failures: 0, successes: 1, neutral: 1 })
  })
})

describe("a circuit that is open", () => {
  it("lets one probe by once its time is over, and a success closes it", async () => {
    const all = await scene()
    await open(all)
    await all.recovered()
    const held: Wire.Visit[] = []
    all.play((visit) => void held.push(visit))
    const probe = all.ask("/up/probe")
    const visit = await all.provider.visited("/probe")
    const others = await Promise.all(Array.from({ length: 10 }, () => all.ask("/up/others")))
    for (const { status, headers, json } of others) {
      expect([status, headers["retry-after"], json()["probing"]]).toEqual([503, "1", true])
    }
    expect(await all.gate()).toMatchObject({ circuit: "half-open", held: 1 })
    ok(visit)
    expect((await probe).status).toBe(200)
    await Wire.eventually(all.gate, ({ circuit }) => circuit === "closed")
    expect(held).toHaveLength(1)
    all.play(ok)
    expect((await all.ask("/up/again")).status).toBe(200)
    expect(await all.changes()).toEqual(["up opened", "up probing", "up closed"])
    await quiet(all)
  })

  it("opens for its full time again after a probe that fails", async () => {
    const all = await scene()
    await open(all)
    await all.recovered()
    expect((await all.ask("/up/probe")).status).toBe(500)
    await Wire.eventually(all.changes, (changes) => changes.join() === "up opened,up probing,up reopened")
    await all.recovered()
    all.play(ok)
    expect((await all.ask("/up/probe")).status).toBe(200)
    await Wire.eventually(all.gate, ({ circuit }) => circuit === "closed")
    expect(all.provider.visits).toHaveLength(failureThreshold + 2)
    await quiet(all)
  })

  it("is not wedged by a client that leaves during the probe: the next call is the probe, at once", async () => {
    const all = await scene()
    await open(all)
    await all.recovered()
    all.play(() => {})
    for (const way of ["leave", "reset"] as const) {
      const client = await Wire.connect(all.gateway.port)
      client.send(`GET /up/${way} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer demo-alpha\r\n\r\n`)
      const visit = await all.provider.visited(`/${way}`)
      client[way]()
      await visit.closed
      await Wire.eventually(all.gate, ({ circuit, held }) => circuit === "open" && held === 0)
    }
    all.play(ok)
    expect((await all.ask("/up/x")).status).toBe(200)
    await Wire.eventually(all.gate, ({ circuit }) => circuit === "closed")
    await quiet(all)
  })

  it("is not wedged by a probe that hangs: that is a failure, and the one after it may succeed", async () => {
    const all = await scene({ timeout: "400 millis" })
    await open(all)
    await all.recovered()
    all.play(() => {})
    expect((await all.ask("/up/hang")).status).toBe(504)
    await Wire.eventually(all.changes, (changes) => changes.at(-1) === "up reopened")
    await all.recovered()
    all.play(ok)
    expect((await all.ask("/up/x")).status).toBe(200)
    await quiet(all)
  })

  it("is not kept shut by a client that is slow to send the probe: after a second the next call is the probe", async () => {
    const all = await scene()
    await open(all)
    await all.recovered()
    all.play((visit) => {
      if (visit.path !== "/slow") ok(visit)
    })
    const client = await Wire.connect(all.gateway.port)
    client.send(
      "POST /up/slow HTTP/1.1\r\nhost: a\r\nauthorization: Bearer demo-alpha\r\ntransfer-encoding: chunked\r\n\r\n",
    )
    const drip = setInterval(() => client.send("1\r\nx\r\n"), 50)
    await all.provider.visited("/slow")
    expect(await all.gate()).toMatchObject({ circuit: "half-open" })
    await Wire.eventually(all.gate, ({ circuit }) => circuit === "open")
    expect((await all.ask("/up/x", { token: "demo-bravo" })).status).toBe(200)
    expect(await all.gate()).toMatchObject({ circuit: "closed", neutral: 1 })
    clearInterval(drip)
    client.leave()
    await quiet(all)
  })

  it("closes at the head of its probe's response, however slowly that client reads the rest", async () => {
    const all = await scene()
    await open(all)
    await all.recovered()
    all.play((visit) => visit.path === "/probe" ? visit.send(part) : ok(visit))
    const client = await Wire.connect(all.gateway.port)
    client.send("GET /up/probe HTTP/1.1\r\nhost: a\r\nauthorization: Bearer demo-alpha\r\n\r\n")
    await client.reads("abc")
    expect((await all.ask("/up/x", { token: "demo-bravo" })).status).toBe(200)
    expect(await all.gate()).toMatchObject({ circuit: "closed" })
    client.leave()
    await quiet(all)
  })

  it("is told of in a drain too, and holds none up", async () => {
    const all = await scene({ gate: { recoveryAfter: "1 hour" } })
    await open(all)
    await quiet(all)
    // Something has to last, or the drain is over before the late one is there.
    const holder = all.ask("/other/hold")
    const visit = await all.provider.visited("/other/hold")
    const late = await Wire.connect(all.gateway.port)
    late.send("GET /up/late HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ")
    // A request that came after it was answered, so its own bytes are there.
    await all.ask("/other/x")
    all.gateway.signal("SIGTERM")
    await all.gateway.prints("draining")
    late.send("demo-alpha\r\n\r\n")
    expect(await late.closed).toMatch(/^HTTP\/1.1 503 [^]*connection: close[^]*"error":"CircuitOpen"/i)
    ok(visit)
    expect((await holder).status).toBe(200)
    const { code, output } = await all.gateway.ended
    expect([code, output]).toEqual([0, expect.stringContaining("nothing was held")])
  })

  it("holds no drain up while its probe is out, which is let finish", async () => {
    const all = await scene()
    await open(all)
    await all.recovered()
    all.play(() => {})
    const probe = all.ask("/up/probe")
    const visit = await all.provider.visited("/probe")
    all.gateway.signal("SIGTERM")
    await all.gateway.prints("draining")
    ok(visit)
    expect((await probe).status).toBe(200)
    expect((await all.gateway.ended).code).toBe(0)
  })
})

describe("places", () => {
  it("are refused at once where the provider has fewer than the Admission, and go back with the last byte", async () => {
    const all = await scene({ gate: { concurrency: 2, tenantConcurrency: 1 } })
    all.play((visit) => visit.path === "/hold" ? visit.send(part) : ok(visit))
    const holder = async (tenant: string): Promise<Wire.Wire> => {
      const client = await Wire.connect(all.gateway.port)
      client.send(`GET /up/hold HTTP/1.1\r\nhost: a\r\nauthorization: Bearer demo-${tenant}\r\n\r\n`)
      await client.reads("abc")
      return client
    }
    const alpha = await holder("alpha")
    const own = await all.ask("/up/x")
    expect([own.status, own.headers["retry-after"], own.json()]).toMatchObject([429, "1", {
      error: "Saturated",
      scope: "tenant",
    }])
    const bravo = await holder("bravo")
    const full = await all.ask("/up/x")
    expect([full.status, full.json()]).toMatchObject([503, { error: "Saturated" }])
    for (const client of [alpha, bravo]) client.leave()
    await quiet(all)
    expect((await all.ask("/up/x")).status).toBe(200)
    await quiet(all)
  })
})

describe("the operator", () => {
  it("sees circuits and places on the page, in the snapshot and as metrics by provider", async () => {
    const all = await scene({ gate: { recoveryAfter: "1 minute" } })
    await open(all)
    await all.ask("/up/refused")
    const page = (await Wire.ask(all.gateway.operatorPort, "/")).body
    expect(page).toContain("<h2>Circuits</h2>")
    const { body } = await Wire.ask(all.gateway.operatorPort, "/metrics")
    for (
      const line of [
        'holdfast_gate_circuit{provider="up",state="open"} 1',
        'holdfast_gate_circuit{provider="up",state="closed"} 0',
        'holdfast_gate_circuit{provider="other",state="closed"} 1',
        'holdfast_gate_limit{provider="up"} 8',
        'holdfast_gate_held{provider="up"} 0',
        'holdfast_gate_opened_total{provider="up"} 1',
        'holdfast_gate_granted_total{provider="up"} 3',
        'holdfast_gate_outcomes_total{provider="up",outcome="failure"} 3',
        'holdfast_gateway_requests_total{provider="up",outcome="CircuitOpen"} 1',
      ]
    ) expect(body).toContain(`${line}\n`)
    expect(Number(/^holdfast_gate_retry_seconds\{provider="up"\} ([\d.]+)$/m.exec(body)?.[1])).toBeGreaterThan(30)
    expect(body).not.toContain("alpha")
    await quiet(all)
  })
})
