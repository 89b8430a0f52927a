/** The parts of the gateway that need no process: reading targets, framing, headers, flags and configurations; answers. */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as Exit from "effect/Exit"
import * as TestClock from "effect/testing/TestClock"
import * as Answers from "../../adapters/gateway/Answers.ts"
import * as Bodies from "../../adapters/gateway/Bodies.ts"
import * as Config from "../../adapters/gateway/Config.ts"
import * as Flags from "../../adapters/gateway/Flags.ts"
import * as Framing from "../../adapters/gateway/Framing.ts"
import * as CircuitLog from "../../adapters/gateway/CircuitLog.ts"
import * as DemoShares from "../../adapters/gateway/DemoShares.ts"
import type { Fields } from "../../adapters/gateway/Message.ts"
import * as HeaderFields from "../../adapters/gateway/HeaderFields.ts"
import * as JsonFault from "../../adapters/gateway/JsonFault.ts"
import * as Judgement from "../../adapters/gateway/Judgement.ts"
import * as Target from "../../adapters/gateway/Target.ts"
import * as Tenants from "../../adapters/gateway/Tenants.ts"
import * as Traffic from "../../adapters/gateway/Traffic.ts"
import * as Upstream from "../../adapters/gateway/Upstream.ts"
import * as Refused from "../../core/AdmissionRefused.ts"
import * as Deadline from "../../core/Deadline.ts"
import * as GateRefused from "../../core/GateRefused.ts"

describe("a target", () => {
  it.effect.each([
    ["/up", "up", "/"],
    ["/up/", "up", "/"],
    ["/up?a=1", "up", "/?a=1"],
    ["/up/a/b.c;d/~e?f=/../&g=%2e%2e", "up", "/a/b.c;d/~e?f=/../&g=%2e%2e"],
    ["/Up.2_x-y/...", "Up.2_x-y", "/..."],
    ["/up/a%2Fb/..c/c../.d", "up", "/a%2Fb/..c/c../.d"],
    ["/up//a//", "up", "//a//"],
  ])(
    "%s is provider and path",
    ([raw, provider, path]) =>
      Effect.map(
        Target.parse(raw!, 100),
        (target) => assert.deepStrictEqual(target, { provider: provider!, path: path! }),
      ),
  )

  it.effect("of more bytes than the limit is told by number", () =>
    Effect.map(
      Effect.flip(Target.parse(`/up/${"a".repeat(97)}`, 100)),
      (error) => assert.strictEqual(error.message, "the request target has 101 bytes of 100"),
    ))
})

describe("framing", () => {
  const read = (method: string, fields: Fields) => Framing.read({ method, version: "1.1", fields }, 9)

  it.effect("is the announced length, chunked, or nothing", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* read("POST", [["Content-Length", "12"]]), { bytes: 12 })
      assert.deepStrictEqual(yield* read("POST", [["transfer-encoding", "Chunked"]]), { bytes: undefined })
      assert.deepStrictEqual(yield* read("DELETE", []), { bytes: 0 })
      assert.deepStrictEqual(yield* read("GET", [["content-length", "0"]]), { bytes: 0 })
    }))

  it.effect.each(["", " 1", "1 ", "1e3", "١", "1_0", "9".repeat(16)])(
    "has no length of %j",
    (length) =>
      Effect.map(
        Effect.flip(read("POST", [["content-length", length]])),
        (error) => assert.strictEqual(error._tag, "BadFraming"),
      ),
  )
})

describe("the demo's shares", () => {
  it("are counted from when each tenant has been answered, to the end of the time", () => {
    const shares = DemoShares.make(["flood", "other"], 1_000)
    assert.isFalse(shares.note("flood", 200, 0, 5_000))
    assert.isFalse(shares.note("flood", 429, 0, 5_001))
    assert.deepStrictEqual([shares.isOver(9_000), shares.fromMillis()], [false, undefined])
    assert.isTrue(shares.note("other", 200, 0, 9_000))
    for (
      const [tenant, status, now] of [["flood", 200, 9_010], ["flood", 503, 9_020], ["other", 200, 9_999]] as const
    ) {
      assert.isFalse(shares.note(tenant, status, 9_000, now))
    }
    shares.note("other", 200, 9_500, 10_000)
    shares.note("other", 0, 9_500, 10_000)
    assert.deepStrictEqual([shares.isOver(9_999), shares.isOver(10_000), shares.fromMillis()], [false, true, 9_000])
    assert.deepStrictEqual(shares.all, [
      { tenant: "flood", served: 1, refused: 1, failed: 0, millis: [10] },
      { tenant: "other", served: 1, refused: 0, failed: 1, millis: [999, 500] },
    ])
  })
})

describe("header lines", () => {
  it("of the client give way to the provider's own, whatever their case", () => {
    const fields = [["x-key", "theirs"], ["x_key", "theirs"], ["a", "1"]] as const
    assert.deepStrictEqual(HeaderFields.replaced(fields, [["x-key", "ours"]]), [["a", "1"], ["x-key", "ours"]])
  })

  it("that Connection names do not cross, in either direction and over several lines", () => {
    const fields = [["Connection", "a , B"], ["connection", "c"], ["A", "1"], ["b", "2"], ["C", "3"], [
      "D",
      "4",
    ]] as const
    assert.deepStrictEqual(HeaderFields.toProvider(fields, undefined), [["d", "4"], ["via", "1.1 holdfast"]])
    assert.deepStrictEqual(HeaderFields.toClient(fields), [["D", "4"], ["via", "1.1 holdfast"]])
  })

  it("that name the client or claim another host or path end at the gateway, and those of the request alone pass", () => {
    const ends = [
      "authorization",
      "cookie",
      "cookie2",
      "forwarded",
      "x-forwarded",
      "x-forwarded-for",
      "x-forwarded-host",
      "x-forwarded-for.",
      "x-host",
      "x-http-host-override",
      "x-original-host",
      "x-original-uri",
      "x-original-url",
      "x-original-forwarded-for",
      "x-envoy-original-path",
      "x-rewrite-url",
      "x-override-url",
      "client-ip",
      "x-client-ip",
      "true-client-ip",
      "x-real-ip",
      "x-cluster-client-ip",
      "fastly-client-ip",
      "cf-connecting-ip",
      "cf-connecting-ipv6",
      "x-remote-addr",
      "x-remote-ip",
      "x-originating-ip",
      "x-azure-clientip",
      "x-appengine-user-ip",
      "x-envoy-external-address",
      "X_Client_IP",
    ]
    const passes = [
      "accept",
      "x-api-key",
      "x-http-method-override",
      "x-original",
      "x-forwardedness",
      "x-hostname",
      "x-ip",
      "x-zip",
      "user-agent",
      "origin",
      "referer",
      "x-request-id",
      "traceparent",
      "idempotency-key",
    ]
    const got = HeaderFields.toProvider([...ends, ...passes].map((name) => [name, "1"] as const), undefined)
    assert.deepStrictEqual(got.map(([name]) => name), [...passes, "via"])
  })

  it("that a browser keeps for the whole origin, or that command the server in front, end at the gateway", () => {
    const ends = [
      "set-cookie",
      "set-cookie2",
      "set-login",
      "alt-svc",
      "clear-site-data",
      "strict-transport-security",
      "nel",
      "report-to",
      "service-worker-allowed",
      "accept-ch",
      "critical-ch",
      "public-key-pins",
      "expect-ct",
      "origin-agent-cluster",
      "x-accel-redirect",
      "X-Accel-Buffering",
      "x-sendfile",
      "x-lighttpd-send-file",
      "trailer",
      "keep-alive",
    ]
    const passes = [
      "content-type",
      "etag",
      "location",
      "www-authenticate",
      "access-control-allow-origin",
      "content-security-policy",
      "reporting-endpoints",
      "x-request-id",
      "x-accelerated",
      "retry-after",
      "accept-ranges",
    ]
    const got = HeaderFields.toClient([...ends, ...passes].map((name) => [name, "1"] as const))
    assert.deepStrictEqual(got.map(([name]) => name), [...passes, "via"])
  })

  it("that a trusted proxy names the tenant with stay at the gateway", () =>
    assert.deepStrictEqual(HeaderFields.toProvider([["X-Who", "alpha"]], "x-who"), [["via", "1.1 holdfast"]]))
})

describe("tenants", () => {
  const tenant = { name: "alpha", providers: new Set(["up"]) }

  it.effect("behind a proxy are believed from an IPv4 address inside an IPv6 one, and from no other", () =>
    Effect.gen(function* () {
      const options = { header: "x-who", addresses: new Set(["10.0.0.7"]), tenants: new Map([["alpha", tenant]]) }
      const { resolve } = Tenants.byProxy(options)
      const fields = [["X-Who", "alpha"]] as const
      assert.strictEqual(yield* resolve({ fields, peer: "10.0.0.7" }), tenant)
      assert.strictEqual(yield* resolve({ fields, peer: "::ffff:10.0.0.7" }), tenant)
      assert.strictEqual(yield* resolve({ fields, peer: "::FFFF:a00:7" }), tenant)
      for (const peer of ["10.0.0.70", "::10.0.0.7", "10.0.0.07", "10.0.0.7%1", "proxy", ""]) {
        assert.strictEqual((yield* Effect.flip(resolve({ fields, peer })))._tag, "Unauthenticated")
      }
    }))

  it.effect("behind a proxy are believed however its address is written, on either side", () =>
    Effect.gen(function* () {
      const fields = [["X-Who", "alpha"]] as const
      const ways = [
        ["::1", "0:0:0:0:0:0:0:1", "0::1", "::0.0.0.1"],
        ["127.0.0.1", "::ffff:127.0.0.1", "::FFFF:7f00:1", "0:0:0:0:0:ffff:7f00:0001"],
        ["2001:DB8::A", "2001:db8:0:0:0:0:0:a", "2001:0db8::000a", "2001:db8::0:a"],
        ["fe80::", "fe80:0:0:0::", "FE80::0"],
      ]
      const all = ways.flat()
      for (const one of all) {
        const addresses = new Set([one, "", "proxy"])
        const { resolve } = Tenants.byProxy({ header: "x-who", addresses, tenants: new Map([["alpha", tenant]]) })
        const believed: Array<string> = []
        for (const peer of [...all, "", "proxy"]) {
          if (Exit.isSuccess(yield* Effect.exit(resolve({ fields, peer })))) believed.push(peer)
        }
        assert.deepStrictEqual(believed, ways.find((group) => group.includes(one)))
      }
    }))

  it.effect("with no token configured are nobody", () =>
    Effect.map(
      Effect.flip(Tenants.byToken([]).resolve({ fields: [["authorization", "Bearer x"]], peer: "" })),
      (error) => assert.strictEqual(error.message, "a request must carry one known bearer token"),
    ))
})

describe("answers", () => {
  const second = Duration.seconds(1)
  const table: ReadonlyArray<readonly [Answers.Refused, number, string | null]> = [
    [new Refused.QueueFull({ scope: "tenant", limit: 3 }), 429, "1"],
    [new Refused.QueueFull({ scope: "all", limit: 3 }), 503, "1"],
    [new GateRefused.CircuitOpen({ retryAfter: Duration.millis(8_001), probing: false }), 503, "9"],
    [new GateRefused.CircuitOpen({ retryAfter: Duration.zero, probing: true }), 503, "1"],
    [new GateRefused.Saturated({ scope: "tenant" }), 429, "1"],
    [new GateRefused.Saturated({ scope: "ordinary" }), 503, "1"],
    [new GateRefused.Saturated({ scope: "provider" }), 503, "1"],
    [new Refused.NeverFits({ account: "total", cost: 2, limit: 1 }), 503, "60"],
    [new Refused.WaitExpired({ waited: second, bound: "maxWait", account: "total" }), 503, "1"],
    [new Refused.WaitExpired({ waited: second, bound: "deadline", account: "total" }), 504, "1"],
    [new Refused.TooLate({ estimate: Duration.seconds(9.5), remaining: second }), 503, "9"],
    [new Refused.Closed({ state: "draining", since: second }), 503, "1"],
    [new Deadline.DeadlineExceeded({ elapsed: second }), 504, "1"],
    [new Bodies.BodyStalled({ waitedFor: "client", idle: second }), 408, null],
    [new Bodies.BodyStalled({ waitedFor: "upstream", idle: second }), 504, null],
    [new Bodies.BodyTooLarge({ limit: 1 }), 413, null],
    [new Framing.TooManyFields({ fields: 2, limit: 1 }), 431, null],
  ]
  it.effect("say the status, when to come back, and the facts", () =>
    Effect.promise(async () => {
      for (const [error, status, retry] of table) {
        const response = Answers.toResponse(error)
        assert.deepStrictEqual([error._tag, response.status, response.headers.get("retry-after")], [
          error._tag,
          status,
          retry,
        ])
        const facts = await response.json()
        assert.deepStrictEqual([facts.error, facts.message], [error._tag, error.message])
        assert.strictEqual(response.headers.get("holdfast-error"), error._tag)
      }
    }))

  it("tell durations in milliseconds and nothing but the error's own facts", () =>
    assert.deepStrictEqual(Answers.factsOf(table[8]![0]), {
      error: "WaitExpired",
      message: table[8]![0].message,
      waitedMillis: 1_000,
      bound: "maxWait",
      account: "total",
    }))
})

describe("flags", () => {
  it.effect("are read in both forms", () =>
    Effect.map(
      Flags.parse(["--port=0", "--operator-port", "9", "--config", "a=b"]),
      (flags) => assert.deepStrictEqual(flags, { config: "a=b", port: 0, operatorPort: 9, demo: false, help: false }),
    ))

  it.effect("may come behind the two dashes that Deno's tasks hand on", () =>
    Effect.map(Flags.parse(["--", "--demo"]), ({ demo }) => assert.isTrue(demo)))

  it.effect.each(
    [
      [["-p", "1"], "-p is not a flag; --help lists them"],
      [["extra"], "extra is not a flag; --help lists them"],
      [["--port"], "--port needs a value"],
      [["--port="], "--port needs a value"],
      [["--port", "1", "--port", "1"], "--port is given twice"],
      [["--port", "1.5"], "--port must be a port from 0 to 65535"],
      [["--demo=yes"], "--demo takes no value"],
      [["--demo", "--config", "a"], "--demo runs on the embedded configuration alone"],
    ] as const,
  )(
    "%j is refused",
    ([args, message]) =>
      Effect.map(Effect.flip(Flags.parse(args)), (error) => assert.strictEqual(error.message, message)),
  )
})

describe("a configuration", () => {
  const none = (): undefined => undefined

  it.effect("that is embedded has defaults for all that it leaves out", () =>
    Effect.map(Config.decode(Config.embedded, none), (config) => {
      assert.deepStrictEqual([config.gateway, config.operator], [
        { host: "127.0.0.1", port: 8_080 },
        { host: "127.0.0.1", port: 8_081, tenantLabels: false },
      ])
      assert.deepStrictEqual([...config.tenants.keys()], ["alpha", "bravo", "charlie"])
      assert.strictEqual(Duration.toMillis(config.drain), 10_000)
    }))

  it.effect("keeps a provider's credential out of everything that prints it", () =>
    Effect.map(
      Config.decode(
        {
          ...Config.embedded,
          providers: { demo: { url: "https://provider.example/v1/", headers: { "X-Key": { env: "KEY" } } } },
        },
        () => "canary-key",
      ),
      (config) => {
        const provider = config.providers.get("demo")!
        assert.strictEqual(Redacted.value(provider.headers[0]![1]), "canary-key")
        assert.notInclude(JSON.stringify([...config.providers]) + String(provider.headers), "canary-key")
      },
    ))

  it.effect("that names a key twice is told where, beside its other mistakes", () =>
    Effect.map(
      Effect.flip(
        Config.parse('{ "a": [{ "b": ",", "b": 1 }], "c": { "a": "\\"{" }, "a": { "b": [], "d": ["b", "b"] } }', none),
      ),
      ({ mistakes }) => {
        const twice = mistakes.filter(({ rule }) => rule === "is named twice")
        assert.deepStrictEqual(twice.map(({ path }) => path), ["$.a.0.b", "$.a"])
        const lacks = mistakes.filter(({ rule }) => rule === "is missing")
        assert.deepStrictEqual(lacks.map(({ path }) => path), ["$.tenants", "$.providers", "$.admission"])
      },
    ))

  it.effect("has no control character of its keys in a mistake", () =>
    Effect.map(
      Effect.flip(Config.parse('{ "\\u001b[2J": 1, "\\u001b[2J": 1 }', none)),
      ({ message }) => assert.match(message, /^[\x20-\x7e\n]*$/),
    ))

  it.effect("of any length is read, however long its strings and however many their escapes", () =>
    Effect.gen(function* () {
      for (const long of ["x".repeat(9_000_000), '\\"'.repeat(3_000_000), "\\\\".repeat(3_000_000)]) {
        const { mistakes } = yield* Effect.flip(Config.parse(`{ "a": "${long}", "b": 1, "b": "${long}" }`, none))
        assert.deepStrictEqual(mistakes[0], { path: "$.b", rule: "is named twice" })
        assert.deepStrictEqual(JsonFault.find(`["${long}"`), { line: 1, column: long.length + 4 })
      }
    }))

  it.effect.each(
    [
      ["", 1, 1],
      ["{}}", 1, 3],
      ['{\n  "a": 1,\n}', 3, 1],
      ["{\n  'a': 1\n}", 2, 3],
      ['{\n  "a": 1\n  "b": 2\n}', 3, 3],
      ['{ "a": [1, 2 }', 1, 14],
      ['{ "a": tru }', 1, 8],
      ['{ "a": "canary\n" }', 1, 15],
      ['{ "a": "\\x" }', 1, 9],
      ["// why\n{}", 1, 1],
      ['{ "a": 01 }', 1, 9],
      ["[".repeat(100_000), 1, 100_001],
    ] as const,
  )(
    "of %j is told the line and the column where it stops being JSON",
    ([text, line, column]) =>
      Effect.map(
        Effect.flip(Config.parse(text, none)),
        ({ mistakes }) =>
          assert.deepStrictEqual(mistakes, [{ path: "$", rule: `is not JSON at line ${line}, column ${column}` }]),
      ),
  )

  it("is found to be no JSON exactly where the parser finds so", () => {
    const whole = '{"a":[1,-2.5e+3,"\\u00e9\\n",{}],"b":{"c":[],"d":[[true],false]},"":null}'
    const pieces = [
      "",
      ",",
      ":",
      "]",
      "}",
      "[",
      "{",
      '"',
      "\\",
      "0",
      "-",
      ".",
      "e",
      "x",
      " ",
      "\n",
      "\t",
      "\u0001",
      "\u2028",
    ]
    const parses = (text: string): boolean => {
      try {
        JSON.parse(text)
        return true
      } catch {
        return false
      }
    }
    for (let at = 0; at <= whole.length; at++) {
      for (const piece of pieces) {
        for (const cut of [0, 1, whole.length]) {
          const text = whole.slice(0, at) + piece + whole.slice(at + cut)
          assert.deepStrictEqual([text, JsonFault.find(text) === undefined], [text, parses(text)])
        }
      }
    }
  })

  it.effect.each([null, 5, [], "x", {}])(
    "of %j is told what it lacks, each part by its path",
    (json) =>
      Effect.map(Effect.flip(Config.decode(json, none)), ({ mistakes }) => {
        assert.isAbove(mistakes.length, 0)
        for (const { path } of mistakes) assert.match(path, /^\$(\.\w+)?$/)
      }),
  )

  it.effect("gives tenants their weights", () =>
    Effect.map(
      Config.decode({
        ...Config.embedded,
        tenants: { ...Config.embedded.tenants, bravo: { ...Config.embedded.tenants["bravo"], weight: 7 } },
      }, none),
      ({ admission }) => assert.deepStrictEqual(["alpha", "bravo"].map((name) => admission.weights?.(name)), [1, 7]),
    ))
})

describe("what a configuration gets wrong", () => {
  const tokens = Config.embedded.tenants["alpha"]!.tokens!
  const mistakesOf = (more: object): Effect.Effect<Readonly<Record<string, string>>, Config.Config> =>
    Config.decode({
      tenants: { alpha: { tokens, providers: ["up"] } },
      providers: { up: { url: "http://a/" } },
      admission: { maxRunning: 4 },
      ...more,
    }, (name) => name).pipe(
      Effect.flip,
      Effect.map(({ mistakes }) => Object.fromEntries(mistakes.map(({ path, rule }) => [path, rule]))),
    )
  const proxied = (header: string, ...addresses: ReadonlyArray<string>) => ({
    tenants: { alpha: { providers: ["up"] } },
    identity: { by: "proxy", header, addresses },
  })
  const keyed = (...names: ReadonlyArray<string>) => ({
    providers: { up: { url: "http://a/", headers: Object.fromEntries(names.map((name) => [name, { env: "E" }])) } },
  })

  it.effect("as an address is told, and what is one is taken", () =>
    Effect.gen(function* () {
      const none = [
        "cafe",
        "::::",
        "..",
        ":",
        "",
        "1.2.3",
        "1.2.3.4.5",
        "999.999.999.999",
        "01.2.3.4",
        "10.0.0.0/8",
        "fe80::1%eth0",
        "1::2::3",
        "1:2:3:4:5:6:7",
        "1:2:3:4:5:6:7:8:9",
        "1:2:3:4:5:6:7::8",
        "::1.2.3",
        "1.2.3.4::",
        ":1:2:3:4:5:6:7",
        "::12345",
        "localhost",
      ]
      const paths = none.map((_, nth) => `$.identity.addresses.${nth}`)
      const found = yield* mistakesOf(proxied("x-who", ...none))
      assert.deepStrictEqual(found, Object.fromEntries(paths.map((path) => [path, "must be an IPv4 or IPv6 address"])))
      const taken = [
        "1.2.3.4",
        "::",
        "::1",
        "1::",
        "::ffff:1.2.3.4",
        "1:2:3:4:5:6:7:8",
        "1:2:3:4:5:6:1.2.3.4",
        "ABCD::1",
      ]
      const { identity } = yield* Config.decode(
        { ...Config.embedded, ...proxied("x-who", ...taken), tenants: {} },
        () => "",
      )
      assert.strictEqual(identity.by === "proxy" && identity.addresses.size, taken.length)
    }))

  it.effect("as a provider's header is told: one of the connection, or one twice", () =>
    Effect.gen(function* () {
      const hop = [
        "Host",
        "Connection",
        "keep-alive",
        "Proxy-Connection",
        "TE",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "http2-settings",
        "Expect",
        "content-length",
        "via",
      ]
      const found = yield* mistakesOf(keyed(...hop, "X-K", "x-k"))
      assert.deepStrictEqual(found, {
        ...Object.fromEntries(
          hop.map((name) => [
            `$.providers.up.headers.${name}`,
            "is a header of the connection, which is the gateway's to write",
          ]),
        ),
        "$.providers.up.headers.x-k": "is named twice, as X-K too",
      })
      const config = yield* Config.decode(
        { ...Config.embedded, tenants: {}, ...keyed("authorization", "Proxy-Authorization", "cookie", "X-K") },
        () => "secret",
      )
      assert.lengthOf(config.providers.get("up")!.headers, 4)
      assert.deepStrictEqual(yield* mistakesOf(proxied("Connection", "::1")), {
        "$.identity.header": "is a header of the connection, which names nobody",
      })
    }))

  it.effect("as a variable is told by its name, and never by what may be a secret in its place", () =>
    Effect.gen(function* () {
      const rules = (env: string, value?: string) =>
        Effect.map(
          Effect.flip(Config.decode({
            ...Config.embedded,
            providers: { demo: { url: "http://a/", headers: { a: { env } } } },
          }, () => value)),
          ({ mistakes }) => mistakes,
        )
      const path = "$.providers.demo.headers.a.env"
      assert.deepStrictEqual(yield* rules("MAIL_KEY2"), [{ path, rule: "MAIL_KEY2 must be set in the environment" }])
      assert.deepStrictEqual(yield* rules("MAIL_KEY2", ""), yield* rules("MAIL_KEY2"))
      assert.deepStrictEqual(yield* rules("MAIL_KEY2", "é"), [{
        path,
        rule: "MAIL_KEY2 must stand for printable ASCII",
      }])
      for (const secret of ["sk_live_51Hcanary", "MAIL_key", "_", "AKIAIOSFODNN7EXAMPLE", `A_${"A".repeat(63)}`]) {
        assert.deepStrictEqual(yield* rules(secret), [{ path, rule: "the variable must be set in the environment" }])
      }
    }))

  it.effect("as the kind of a value is told with what is wanted", () =>
    Effect.gen(function* () {
      const found = yield* mistakesOf({
        tenants: { alpha: { tokens, providers: "up", weight: "2" } },
        providers: { up: { url: 3, timeout: 5, headers: { a: "secret", b: { env: 3 } } }, down: "http://a/" },
        admission: { maxRunning: "4", estimate: true },
        operator: { tenantLabels: "yes" },
        http: [],
      })
      assert.deepStrictEqual(found, {
        "$.tenants.alpha.providers": "must be a list",
        "$.tenants.alpha.weight": "must be a whole number from 1 to 1000",
        "$.providers.up.url": "must be an http or https URL without user, query and fragment",
        "$.providers.up.timeout":
          'must be a duration such as "500 millis", "5 seconds" or "2 minutes", from 1 millis to 1 hour',
        "$.providers.up.headers.a": 'must be { "env": "NAME" }, naming the environment variable with the value',
        "$.providers.up.headers.b.env": "must be the name of an environment variable",
        "$.providers.down": "must have either a url or serves",
        "$.admission.maxRunning": "must be a whole number from 1 to 1048576",
        "$.admission.estimate": 'must be "off" or "on"',
        "$.operator.tenantLabels": "must be true or false",
        "$.http": "must be an object",
      })
    }))
})

describe("a provider's gate in a configuration", () => {
  const decode = (gate: unknown, admission: object = { maxRunning: 50, maxPerProvider: 30, maxPerTenant: 20 }) =>
    Config.decode({
      ...Config.embedded,
      tenants: { alpha: { tokens: Config.embedded.tenants["alpha"]!.tokens, providers: ["up"] } },
      providers: { up: { url: "http://a/", timeout: "4 seconds", ...(gate === undefined ? {} : { gate }) } },
      admission,
    }, () => undefined)
  const gateOf = (gate: unknown, admission?: object) =>
    Effect.map(decode(gate, admission), ({ providers }) => providers.get("up")!.gate)

  it.effect("has by default the places that the Admission could fill, and a probe's lease as long as a call", () =>
    Effect.gen(function* () {
      const { recoveryAfter, maxElapsed, ...rest } = yield* gateOf(undefined)
      assert.deepStrictEqual(rest, {
        concurrency: 30,
        tenantConcurrency: 20,
        reservedControl: 0,
        failureThreshold: 5,
      })
      assert.deepStrictEqual([recoveryAfter, maxElapsed].map((each) => Deadline.millisOf(each!)), [30_000, 9_000])
      const pair = yield* gateOf({}, { maxRunning: 9_000, maxPerPair: 3 })
      assert.deepStrictEqual([pair.concurrency, pair.tenantConcurrency], [4_096, 3])
      const own = yield* gateOf({ concurrency: 10, recoveryAfter: "1 second" })
      assert.deepStrictEqual([own.concurrency, own.tenantConcurrency], [10, 10])
    }))

  it.effect.each(
    [
      [{ concurrency: 0 }, "$.providers.up.gate.concurrency"],
      [{ concurrency: 4_097 }, "$.providers.up.gate.concurrency"],
      [{ concurrency: 2, tenantConcurrency: 3 }, "$.providers.up.gate.tenantConcurrency"],
      [{ tenantConcurrency: 31 }, "$.providers.up.gate.tenantConcurrency"],
      [{ failureThreshold: 1.5 }, "$.providers.up.gate.failureThreshold"],
      [{ recoveryAfter: "2 hours" }, "$.providers.up.gate.recoveryAfter"],
      [{ recoverAfter: "2 seconds" }, "$.providers.up.gate.recoverAfter"],
      [5, "$.providers.up.gate"],
    ] as const,
  )("%j is a mistake, told by its path", ([gate, path]) =>
    Effect.map(
      Effect.flip(decode(gate)),
      ({ mistakes }) => assert.deepStrictEqual(mistakes.map((mistake) => mistake.path), [path]),
    ))

  it.effect("is one of 1,024 at most", () =>
    Effect.map(
      Effect.flip(Config.decode({
        ...Config.embedded,
        providers: Object.fromEntries(
          Array.from({ length: 1_025 }, (_, i) => [i ? `p${i}` : "demo", { serves: "demo" }]),
        ),
      }, () => undefined)),
      ({ message }) => assert.include(message, "$.providers: must hold at most 1024 providers"),
    ))
})

describe("what a call says of its provider", () => {
  const second = Duration.seconds(1)
  const bodyOf = (state: Partial<Bodies.State>): Bodies.Body => ({
    done: Deferred.makeUnsafe(),
    stream: new ReadableStream(),
    state: () => ({ waitsFor: undefined, movedNanos: 0, heldNanos: 0, broken: false, ...state }),
  })
  const evidence = (more: Partial<Judgement.Evidence> = {}): Judgement.Evidence => ({
    askedNanos: 0,
    timeout: second,
    upload: undefined,
    download: undefined,
    status: undefined,
    ...more,
  })
  const late = new Deadline.DeadlineExceeded({ elapsed: second })
  const cut = (by: Bodies.Side) => new Bodies.BodyCut({ by })
  const stalled = (waitedFor: Bodies.Side) => new Bodies.BodyStalled({ waitedFor, idle: second })
  const unreachable = new Upstream.UpstreamFailed({ provider: "up", phase: "head", code: "ECONNREFUSED" })

  it("a head says by its status alone", () =>
    assert.deepStrictEqual(
      [200, 204, 302, 400, 404, 429, 499, 501, 505, 500, 503, 599].map(Judgement.ofHead),
      [...Array(3).fill("success"), ...Array(6).fill("neutral"), ...Array(3).fill("failure")],
    ))

  const reset = new Upstream.UpstreamFailed({ provider: "up", phase: "head", code: "ECONNRESET" })
  const client = bodyOf({ waitsFor: "client" })
  const awaited = bodyOf({ waitsFor: "upstream" })
  const brokenByClient = { status: 200, upload: bodyOf({ waitsFor: "client", broken: true }) }
  const unread = { status: 200, upload: bodyOf({ waitsFor: "upstream", broken: true }) }
  const table: ReadonlyArray<
    readonly [string, Judgement.Verdict, Exit.Exit<void, Answers.Refused>, Partial<Judgement.Evidence>]
  > = [
    ["a call to its last byte", "success", Exit.void, { status: 200 }],
    ["no connection", "failure", Exit.fail(unreachable), {}],
    ["a body that the provider cut", "failure", Exit.fail(cut("upstream")), { status: 200 }],
    ["a body that the provider left standing", "failure", Exit.fail(stalled("upstream")), { status: 200 }],
    ["an upload that the provider does not read", "failure", Exit.fail(stalled("upstream")), {}],
    ["an upload that its client cut", "neutral", Exit.fail(cut("client")), {}],
    ["an upload that its client left standing", "neutral", Exit.fail(stalled("client")), {}],
    ["an upload that is too large", "neutral", Exit.fail(new Bodies.BodyTooLarge({ limit: 1 })), {}],
    ["a client that left before the head", "neutral", Exit.interrupt(), {}],
    ["a client that left after a good head", "success", Exit.interrupt(), { status: 200 }],
    ["a client that left after a bad head", "failure", Exit.interrupt(), { status: 500 }],
    ["a client that reads too slowly", "success", Exit.fail(stalled("client")), { status: 200 }],
    ["the deadline after a good head", "success", Exit.fail(late), { status: 200 }],
    ["the deadline while a body stands still", "failure", Exit.fail(late), { status: 200, download: awaited }],
    ["the deadline while a body stands still, of a call that came late", "success", Exit.fail(late), {
      askedNanos: 5e8 + 1,
      status: 200,
      download: awaited,
    }],
    ["the deadline after half of the time without a byte", "failure", Exit.fail(late), {
      status: 200,
      download: bodyOf({ waitsFor: "upstream", movedNanos: 5e8 }),
    }],
    ["the deadline in the middle of a body that moves", "success", Exit.fail(late), {
      status: 200,
      download: bodyOf({ waitsFor: "upstream", movedNanos: 5e8 + 1 }),
    }],
    ["the deadline in the middle of a body of a bad request", "neutral", Exit.fail(late), {
      status: 400,
      download: bodyOf({ waitsFor: "upstream", movedNanos: 5e8 + 1 }),
    }],
    ["the deadline just after the client read on", "success", Exit.fail(late), {
      status: 200,
      download: bodyOf({ waitsFor: "upstream", heldNanos: 5e8 + 1 }),
    }],
    ["the deadline long after a client that reads let the body wait", "success", Exit.fail(late), {
      status: 200,
      download: bodyOf({ waitsFor: "upstream", movedNanos: -1e9, heldNanos: 1e9 }),
    }],
    ["the deadline while the client does not read on", "success", Exit.fail(late), {
      status: 200,
      download: bodyOf({ waitsFor: "client" }),
    }],
    ["the deadline while a body stands still since its client's upload does", "success", Exit.fail(late), {
      status: 200,
      upload: client,
      download: awaited,
    }],
    ["the deadline while a body stands still since its client's upload broke", "success", Exit.fail(late), {
      ...unread,
      download: awaited,
    }],
    ["the deadline while a body stands still after a whole upload", "failure", Exit.fail(late), {
      status: 200,
      upload: bodyOf({ movedNanos: 4e8 }),
      download: awaited,
    }],
    ["the deadline just after the upload that a body waited for", "success", Exit.fail(late), {
      status: 200,
      upload: bodyOf({ movedNanos: 6e8 }),
      download: awaited,
    }],
    ["the deadline after half of the time", "failure", Exit.fail(late), { askedNanos: 5e8 }],
    ["the deadline after less than half of it", "neutral", Exit.fail(late), { askedNanos: 5e8 + 1 }],
    ["the deadline while the client uploads", "neutral", Exit.fail(late), { upload: client }],
    ["the deadline while the provider should read", "failure", Exit.fail(late), {
      upload: bodyOf({ waitsFor: "upstream" }),
    }],
    ["the deadline just after the provider read some more", "neutral", Exit.fail(late), {
      upload: bodyOf({ waitsFor: "upstream", movedNanos: 6e8 }),
    }],
    ["the deadline long after the upload", "failure", Exit.fail(late), {
      upload: bodyOf({ movedNanos: 4e8 }),
    }],
    ["the deadline just after the upload", "neutral", Exit.fail(late), {
      upload: bodyOf({ movedNanos: 6e8 }),
    }],
    ["a reset while the client owes its upload", "neutral", Exit.fail(reset), { upload: client }],
    ["a reset while the provider should read: it may have answered", "neutral", Exit.fail(reset), {
      upload: bodyOf({ waitsFor: "upstream" }),
    }],
    ["a reset after the upload", "failure", Exit.fail(reset), { upload: bodyOf({}) }],
    ["no connection while the client owes its upload", "failure", Exit.fail(unreachable), { upload: client }],
    ["a body that ends because its client's upload broke", "success", Exit.fail(cut("upstream")), brokenByClient],
    ["a body that stands still since its client's upload does", "success", Exit.fail(stalled("upstream")), {
      status: 200,
      upload: client,
    }],
    ["a body that ends because an upload stood unread after the head", "success", Exit.fail(cut("upstream")), unread],
    ["a bad head before an upload that broke", "failure", Exit.fail(cut("upstream")), {
      ...brokenByClient,
      status: 500,
    }],
    ["a body that is cut after a whole upload", "failure", Exit.fail(cut("upstream")), {
      status: 200,
      upload: bodyOf({}),
    }],
    ["a body that is cut after its client let it wait", "success", Exit.fail(cut("upstream")), {
      status: 200,
      download: bodyOf({ heldNanos: 1e9 }),
    }],
    ["a body that is cut while its client reads on", "failure", Exit.fail(cut("upstream")), {
      status: 200,
      download: bodyOf({ heldNanos: 1e9 - 1 }),
    }],
    ["a defect of ours", "neutral", Exit.die("bug"), {}],
  ]
  it.each(table)("%s: %s", (_, verdict, exit, facts) => {
    assert.strictEqual(Judgement.ofEnd(evidence(facts), exit, 1e9), verdict)
  })
})

describe("the log of circuits", () => {
  it.effect("keeps the last hundred changes, with their times", () =>
    Effect.gen(function* () {
      const log = yield* CircuitLog.make
      yield* TestClock.adjust("5 seconds")
      for (let i = 0; i < 150; i++) log.record(`p${i}`, "opened")
      const recent = yield* log.recent
      assert.deepStrictEqual([recent.length, recent[0], recent.at(-1)?.provider], [
        100,
        { provider: "p50", event: "opened", atMillis: 5_000 },
        "p149",
      ])
    }))
})

describe("a body under way", () => {
  const source = (): { readonly stream: ReadableStream<Uint8Array>; readonly cancelled: () => boolean } => {
    let cancelled = false
    const stream = new ReadableStream<Uint8Array>({
      pull: () => new Promise(() => {}),
      cancel: () => {
        cancelled = true
      },
    })
    return { stream, cancelled: () => cancelled }
  }

  it.effect("that waits for its source is ended after idle, and its source is cancelled", () =>
    Effect.gen(function* () {
      const bodies = yield* Bodies.make({ idle: Duration.seconds(4) })
      const silent = source()
      const body = yield* bodies.watch(silent.stream, { from: "client", maxBytes: 10 })
      const read = body.stream.getReader().read().then(() => "read", () => "failed")
      const done = yield* Effect.forkChild(Effect.flip(Deferred.await(body.done)))
      yield* TestClock.adjust("6 seconds")
      const fault = yield* Fiber.join(done)
      assert.deepStrictEqual([fault._tag, "waitedFor" in fault && fault.waitedFor], ["BodyStalled", "client"])
      assert.strictEqual(yield* Effect.promise(() => read), "failed")
      assert.deepStrictEqual([silent.cancelled(), yield* bodies.live], [true, 0])
    }))

  it.effect("that nobody reads is ended with the reader's side", () =>
    Effect.gen(function* () {
      const bodies = yield* Bodies.make({ idle: Duration.seconds(4) })
      const body = yield* bodies.watch(source().stream, { from: "upstream", maxBytes: 10 })
      const done = yield* Effect.forkChild(Effect.flip(Deferred.await(body.done)))
      yield* TestClock.adjust("6 seconds")
      const fault = yield* Fiber.join(done)
      assert.deepStrictEqual("waitedFor" in fault && fault.waitedFor, "client")
    }))

  it.effect("tells after its end whom it waited for, whichever way it ended", () =>
    Effect.gen(function* () {
      const bodies = yield* Bodies.make({ idle: Duration.seconds(4) })
      const three = (): ReadableStream<Uint8Array> => new Blob(["abc"]).stream()
      const stateOf = (stream: ReadableStream<Uint8Array>, maxBytes: number, reads: number) =>
        Effect.gen(function* () {
          const scope = yield* Scope.make()
          const body = yield* Scope.provide(scope)(bodies.watch(stream, { from: "client", maxBytes }))
          const reader = body.stream.getReader()
          for (let i = 0; i < reads; i++) yield* Effect.promise(() => reader.read().catch(() => undefined))
          if (reads === 0) reader.read().catch(() => {})
          yield* TestClock.adjust("2 seconds")
          yield* Scope.close(scope, Exit.void)
          return body.state()
        })
      const movedNanos = 0
      assert.deepStrictEqual(yield* stateOf(source().stream, 9, 0), {
        waitsFor: "client",
        movedNanos,
        heldNanos: 0,
        broken: false,
      })
      assert.deepInclude(yield* stateOf(three(), 9, 1), { waitsFor: "upstream", movedNanos: 2e9, broken: false })
      assert.deepInclude(yield* stateOf(three(), 2, 1), { waitsFor: "client", broken: true })
      assert.deepInclude(yield* stateOf(three(), 9, 2), { waitsFor: undefined, movedNanos: 6e9, broken: false })
    }))

  it.effect("tells how long its reader let it wait, and not how long its sender did", () =>
    Effect.gen(function* () {
      const bodies = yield* Bodies.make({ idle: Duration.minutes(1) })
      let sink!: ReadableStreamDefaultController<Uint8Array>
      const stream = new ReadableStream<Uint8Array>({
        start: (controller) => {
          sink = controller
        },
      })
      const body = yield* bodies.watch(stream, { from: "upstream", maxBytes: 9 })
      const reader = body.stream.getReader()
      for (const [held, sent] of [[1, 9], [3, 9], [2, 9]] as const) {
        yield* TestClock.adjust(held * 1_000)
        const read = reader.read()
        yield* TestClock.adjust(sent * 1_000)
        sink.enqueue(new Uint8Array(1))
        yield* Effect.promise(() => read)
      }
      assert.strictEqual(body.state().heldNanos, 3e9)
    }))

  it.effect("ends with its scope, and its reader sees an error rather than an end", () =>
    Effect.gen(function* () {
      const bodies = yield* Bodies.make({ idle: Duration.seconds(4) })
      const scope = yield* Scope.make()
      const silent = source()
      const body = yield* Scope.provide(scope)(bodies.watch(silent.stream, { from: "upstream", maxBytes: 10 }))
      const read = body.stream.getReader().read().then(() => "read", () => "failed")
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(yield* Effect.promise(() => read), "failed")
      assert.deepStrictEqual([silent.cancelled(), yield* bodies.live], [true, 0])
    }))
})

describe("traffic", () => {
  it.effect("adds up by tenant, provider and outcome", () =>
    Effect.gen(function* () {
      const traffic = Traffic.make()
      const one = { tenant: "alpha", provider: "up", outcome: "Served" }
      traffic.settle({ ...one, waitedMillis: 2 })
      traffic.settle({ ...one, waitedMillis: 4 })
      traffic.settle({ ...one, outcome: "QueueFull", waitedMillis: undefined })
      assert.deepStrictEqual(yield* traffic.rows, [{ ...one, requests: 2 }, {
        ...one,
        outcome: "QueueFull",
        requests: 1,
      }])
      assert.deepStrictEqual(yield* traffic.waits, [{
        tenant: "alpha",
        requests: 2,
        totalMillis: 6,
        longestMillis: 4,
      }])
    }))
})
