/** The structure of the tree, as laws; each law is also shown to notice a violation that is planted for it. */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import * as Architecture from "./support/Architecture.ts"
import { root } from "./support/Runtime.ts"

/** Imports go from a higher rank to a lower one. A file of the kernel without a line here is a violation. */
const ranks: Architecture.Ranks = {
  "core/kernel/LeaseState.ts": 0.1,
  "core/kernel/List.ts": 0.1,
  "core/kernel/Epoch.ts": 0.1,
  "core/kernel/DeadlineOrder.ts": 0.1,
  "core/kernel/Delivery.ts": 0.1,
  "core/kernel/Pace.ts": 0.1,
  "core/kernel/FitQueue.ts": 0.2,
  "core/kernel/Ledger.ts": 0.3,
  "core/kernel/Ask.ts": 0.4,
  "core/kernel/Keys.ts": 0.5,
  "core/kernel/Passers.ts": 0.5,
  "core/kernel/Holds.ts": 0.5,
  "core/kernel/Rotation.ts": 0.55,
  "core/kernel/Parking.ts": 0.6,
  "core/kernel/Places.ts": 0.7,
  "core/kernel/Line.ts": 0.8,
  "core/kernel/Circuit.ts": 0.1,
  "core/kernel/Threads.ts": 0.2,
  "core/kernel/Gate.ts": 0.8,

  "core/Refusal.ts": 1,
  "core/Outcome.ts": 1.1,
  "core/Secret.ts": 1.1,
  "core/Snapshot.ts": 1.2,
  "core/Deadline.ts": 1.2,
  "core/Limits.ts": 1.3,
  "core/Transition.ts": 2,
  "core/Alarm.ts": 2,
  "core/Lease.ts": 2.5,
  "core/AdmissionRefused.ts": 3,
  "core/AdmissionLimits.ts": 3.1,
  "core/AdmissionOptions.ts": 3.2,
  "core/AdmissionVerdict.ts": 3.1,
  "core/Permit.ts": 3.3,
  "core/Ticket.ts": 3.35,
  "core/AskRecord.ts": 3.35,
  "core/AdmissionSnapshot.ts": 3.3,
  "core/Drains.ts": 3.4,
  "core/Turnstile.ts": 3.5,
  "core/GateRefused.ts": 3,
  "core/GateOptions.ts": 3.1,
  "core/GateVerdict.ts": 3.1,
  "core/GateSnapshot.ts": 3.1,
  "core/GateCalls.ts": 3.4,
  "core/Wicket.ts": 3.5,
  "core/JobFault.ts": 3,
  "core/Job.ts": 3.2,
  "core/JobModule.ts": 3.1,
  "core/WorkerThreads.ts": 3.1,
  "core/Crew.ts": 3.5,
  "core/Owner.ts": 3,
  "core/Flight.ts": 3,
  "core/Admission.ts": 4,
  "core/ProviderGate.ts": 4,
  "core/CircuitBreaker.ts": 4,
  "core/Backoff.ts": 4,
  "core/SocketFault.ts": 3,
  "core/SocketTarget.ts": 3,
  "core/SocketDriver.ts": 3.1,
  "core/SocketConnection.ts": 3.2,
  "core/HappyEyeballs.ts": 3.1,
  "core/Lookups.ts": 3.3,
  "core/Sockets.ts": 4,
  "core/IdleTimer.ts": 4,
  "core/BlockingExecutor.ts": 4,
  "core/GateLine.ts": 5,
  "core/ProviderGates.ts": 5,
  "core/KeyedPools.ts": 5,
  "core/IdentitySlots.ts": 5,
  "core/http/HttpMessage.ts": 5,
  "core/http/HttpSyntax.ts": 5,
  "core/http/HttpFault.ts": 5,
  "core/http/HttpLimits.ts": 5,
  "core/http/Latin1.ts": 4.9,
  "core/http/Slab.ts": 5.1,
  "core/http/Http1Limits.ts": 5.1,
  "core/http/HttpGiven.ts": 5.05,
  "core/http/HttpRules.ts": 5.1,
  "core/http/HttpEngine.ts": 5.1,
  "core/http/Http1Framing.ts": 5.2,
  "core/http/Http1Fields.ts": 5.2,
  "core/http/Http1Head.ts": 5.3,
  "core/http/Http1Chunks.ts": 5.3,
  "core/http/Http1Request.ts": 5.3,
  "core/http/Http1Response.ts": 5.4,
  "core/http/Http1Connection.ts": 5.5,
  "core/http/Http1.ts": 5.6,
  "core/http/Carry.ts": 5,
  "core/http/HpackHuffman.ts": 5,
  "core/http/HpackTable.ts": 5.1,
  "core/http/HpackDecoder.ts": 5.2,
  "core/http/HpackEncoder.ts": 5.2,
  "core/http/Http2Fault.ts": 4.9,
  "core/http/Http2ErrorCode.ts": 5.05,
  "core/http/Http2FrameFlag.ts": 5.05,
  "core/http/Http2FrameType.ts": 5.05,
  "core/http/Http2Frames.ts": 5.1,
  "core/http/Http2Limits.ts": 5.2,
  "core/http/Http2Window.ts": 5.2,
  "core/http/Http2Output.ts": 5.3,
  "core/http/Http2Settings.ts": 5.3,
  "core/http/Http2Ping.ts": 5.4,
  "core/http/Http2Quota.ts": 5.35,
  "core/http/Http2Reader.ts": 5.2,
  "core/http/Http2Streams.ts": 5.3,
  "core/http/Http2Block.ts": 5.3,
  "core/http/Http2Request.ts": 5.4,
  "core/http/Http2Responses.ts": 5.4,
  "core/http/Http2Uploads.ts": 5.4,
  "core/http/Http2Incoming.ts": 5.5,
  "core/http/Http2Connection.ts": 5.6,
  "core/http/Http2.ts": 5.7,
  "core/TenantPools.ts": 6,
  "core/HttpPool.ts": 6,
  "core/ProviderPools.ts": 7,
  "core/testing/": 8,
  "core/testing/mod.ts": 8.2,
  "core/mod.ts": 8.5,

  "adapters/shared/": 9,
  "adapters/node/": 10,
  "adapters/deno/": 10,
  "adapters/bun/": 10,
  "adapters/edge/": 10,
  "adapters/http/": 10,
  "adapters/sql/": 10,
  "adapters/gateway/": 11,
}

/** Nouns of core that users never need. */
const internal: readonly string[] = [
  "core/Transition.ts",
  "core/Alarm.ts",
  "core/Drains.ts",
  "core/AdmissionVerdict.ts",
  "core/Ticket.ts",
  "core/AskRecord.ts",
  "core/Turnstile.ts",
  "core/GateCalls.ts",
  "core/Wicket.ts",
  "core/Crew.ts",
  "core/JobModule.ts",
  "core/SocketConnection.ts",
  "core/HappyEyeballs.ts",
  "core/Lookups.ts",
]

/** Files of core with a `try`, each for a reason that stands beside it. */
const tries: readonly string[] = ["core/Transition.ts"]

/** Code lines: without comments and blanks. */
const budgets: Architecture.Budgets = {
  file: { "core/": 300, "adapters/": 120, "adapters/gateway/": 300 },
  function: 40,
  functionMost: 60,
  long: {},
}

/** The level that a module of Effect gives itself in its documentation; undefined for a barrel or no module at all. */
const stability = (module: string): string | undefined => {
  const declarations = `${root}node_modules/effect/dist/${module.replace(/^effect\/?/, "")}.d.ts`
  if (!/^effect\/.*[A-Z]\w*$/.test(module) || !existsSync(declarations)) return undefined
  return /@stability (\w+)/.exec(readFileSync(declarations, "utf8"))?.[1]
}

const paths = ["core", "adapters"].filter((folder) => existsSync(root + folder)).flatMap((folder) =>
  readdirSync(root + folder, { recursive: true, encoding: "utf8" }).map((path) => `${folder}/${path}`)
).filter((path) => path.endsWith(".ts"))
const tree: Architecture.Tree = Object.fromEntries(
  ["package.json", "deno.json", ...paths].map((path) => [path, readFileSync(root + path, "utf8")]),
)

/** One law: it holds for the tree, and finds exactly what is planted. */
const law = (
  title: string,
  rule: Architecture.Rule,
  plants: readonly [Architecture.Tree, readonly string[]][],
): void => {
  describe(title, () => {
    it("holds", () => expect(rule(tree)).toEqual([]))
    it("notices a violation", () => {
      for (const [planted, found] of plants) expect(rule(planted)).toEqual(found)
    })
  })
}

const lines = (count: number): string => "f()\n".repeat(count)
const json = (value: unknown): string => JSON.stringify(value)
const entry = (name: string): object => ({
  "holdfast-source": `./core/${name}.ts`,
  types: `./dist/core/${name}.d.ts`,
  default: `./dist/core/${name}.js`,
})

law("every file has a rank and imports lower ranks alone", Architecture.ranked(ranks), [
  [{ "core/kernel/Unknown.ts": "", "core/Refusal.ts": "" }, ["core/kernel/Unknown.ts has no rank"]],
  [
    { "core/Limits.ts": `import * as Admission from "./Admission.ts"` },
    ["core/Limits.ts:1 imports core/Admission.ts: rank 4 is not below 1.3"],
  ],
  [
    {
      "core/Owner.ts": `\nimport type { Flight } from "./Flight.ts"`,
      "core/Flight.ts": `import * as L from "./Lease.ts"`,
    },
    ["core/Owner.ts:2 imports core/Flight.ts: rank 3 is not below 3"],
  ],
  [
    { "core/testing/Peer.ts": `import "./Script.ts"`, "core/Lease.ts": `export type F = import("./Owner.ts").F` },
    ["core/Lease.ts:1 imports core/Owner.ts: rank 3 is not below 2.5"],
  ],
])

law("no import leads back to where it began", Architecture.acyclic, [
  [
    {
      "core/http/A.ts": `export * from "./B.ts"`,
      "core/http/B.ts": `const c = () => import("./C.ts")`,
      "core/http/C.ts": `import "./B.ts"`,
    },
    ["core/http/B.ts imports core/http/C.ts imports core/http/B.ts"],
  ],
])

law("every import of our own is a relative path to a file", Architecture.resolved, [
  [
    { "core/Lease.ts": `import "./Gone.ts"`, "adapters/gateway/mod.ts": `import "holdfast/Lease"` },
    [
      "core/Lease.ts:1 imports core/Gone.ts: no such file",
      "adapters/gateway/mod.ts:1 imports holdfast/Lease: import it by its relative path",
    ],
  ],
])

law("core names no runtime and stands on effect alone", Architecture.portable, [
  [{ "core/Lease.ts": `export const at = Deno.env.get("HOME")` }, ["core/Lease.ts:1 uses Deno"]],
  [{ "core/Lease.ts": `export type At = URL` }, ["core/Lease.ts:1 uses URL"]],
  [{ "core/Lease.ts": `export const at = { process: x.process }\nprocess.exit()` }, ["core/Lease.ts:2 uses process"]],
  [
    {
      "core/testing/Leaks.ts": `import * as fc from "fast-check"\nimport "node:fs"`,
      "adapters/node/mod.ts": `import "node:fs"`,
    },
    [
      "core/testing/Leaks.ts:1 imports fast-check: core stands on effect alone",
      "core/testing/Leaks.ts:2 imports node:fs: core stands on effect alone",
    ],
  ],
])

law("core has no async, no try, no promise and no timer", Architecture.quiet(tries), [
  [{ "core/Lease.ts": `export const wait = () => setTimeout(f, 1)` }, ["core/Lease.ts:1 uses setTimeout"]],
  [{ "core/Lease.ts": `const f = async () => {\n  await g()\n}` }, [
    "core/Lease.ts:1 uses async",
    "core/Lease.ts:2 uses await",
  ]],
  [{ "core/Lease.ts": `try { f() } catch {}` }, ["core/Lease.ts:1 uses try"]],
  [{ "core/Lease.ts": `export const f: Promise<void> = g()`, "adapters/node/mod.ts": `await f()` }, [
    "core/Lease.ts:1 uses Promise",
  ]],
])

law("the kernel stands alone, asks no clock and is not public", Architecture.pureKernel, [
  [
    { "core/kernel/Ledger.ts": `import * as Effect from "effect/Effect"\nimport * as Refusal from "../Refusal.ts"` },
    [
      "core/kernel/Ledger.ts:1 imports effect/Effect: the kernel stands alone",
      "core/kernel/Ledger.ts:2 imports core/Refusal.ts: the kernel stands alone",
    ],
  ],
  [{ "core/kernel/Ledger.ts": `export const now = Date.now()` }, ["core/kernel/Ledger.ts:1 uses Date"]],
  [
    {
      "adapters/gateway/mod.ts": `import * as Line from "../../core/kernel/Line.ts"`,
      "core/Lease.ts": `import "./kernel/Line.ts"`,
    },
    ["adapters/gateway/mod.ts:1 imports core/kernel/Line.ts: the kernel is not public"],
  ],
])

law("effect comes by deep modules, stable ones in core", Architecture.stableEffect(stability), [
  [{ "core/Lease.ts": `import { Effect } from "effect"` }, [
    "core/Lease.ts:1 imports effect: import a module, not a barrel",
  ]],
  [
    { "core/Lease.ts": `import * as P from "effect/PartitionedSemaphore"\nimport * as Effect from "effect/Effect"` },
    ["core/Lease.ts:1 imports effect/PartitionedSemaphore: it is unstable"],
  ],
  [
    {
      "core/Lease.ts": `import * as TestClock from "effect/testing/TestClock"`,
      "adapters/node/mod.ts": `import "effect/testing"`,
    },
    ["adapters/node/mod.ts:1 imports effect/testing: import a module, not a barrel"],
  ],
  [
    {
      "adapters/http/A.ts":
        `import type * as C from "effect/http/HttpClient"\nimport { x } from "effect/http/HttpClient"`,
      "adapters/http/B.ts": `import type * as C from "effect/http/HttpClient"`,
      "adapters/node/C.ts": `import type * as C from "effect/http/HttpClient"`,
    },
    ["adapters/http/B.ts:1 imports effect/http/HttpClient: it is unstable, and adapters/http/A.ts imports it already"],
  ],
])

law("no adapter imports another, and the gateway imports public entry points alone", Architecture.apart, [
  [
    {
      "adapters/deno/mod.ts":
        `import "../node/mod.ts"\nimport "../shared/Sockets.ts"\nimport "../../core/Transition.ts"`,
    },
    ["adapters/deno/mod.ts:1 imports adapters/node/mod.ts: adapters do not know each other"],
  ],
  [
    {
      "package.json": json({ exports: { "./Lease": entry("Lease") } }),
      "adapters/gateway/mod.ts":
        `import "../../core/Lease.ts"\nimport "../../core/Transition.ts"\nimport "./Answer.ts"`,
    },
    ["adapters/gateway/mod.ts:2 imports core/Transition.ts: the gateway uses public entry points alone"],
  ],
])

law("core has a barrel for each of its two entries, which core does not use", Architecture.twoBarrels, [
  [
    {
      "core/Lease.ts": `export * from "./Limits.ts"\nimport "./mod.ts"`,
      "core/mod.ts": `export * as Lease from "./Lease.ts"`,
    },
    ["core/Lease.ts:1 re-exports core/Limits.ts", "core/Lease.ts:2 imports core/mod.ts: it is a barrel"],
  ],
  [
    {
      "core/testing/Leaks.ts": `export * from "./Sweep.ts"\nimport "./mod.ts"`,
      "core/testing/mod.ts": `export * as Leaks from "./Leaks.ts"`,
    },
    [
      "core/testing/Leaks.ts:1 re-exports core/testing/Sweep.ts",
      "core/testing/Leaks.ts:2 imports core/testing/mod.ts: it is a barrel",
    ],
  ],
])

law("the exports of package.json and deno.json are the public files", Architecture.exported(internal), [
  [
    {
      "package.json": json({
        exports: { "./Lease": entry("Lease"), "./Gone": entry("Gone"), "./package.json": "./package.json" },
      }),
      "deno.json": json({ exports: { "./Gone": "./core/Gone.ts", "./Old": "./core/Old.ts" } }),
      "core/Lease.ts": "",
      "core/Limits.ts": "",
      "core/Transition.ts": "",
      "core/kernel/Line.ts": "",
    },
    [
      "deno.json ./Lease: want ./core/Lease.ts",
      "package.json ./Gone: ./core/Gone.ts is not there",
      "deno.json ./Old: package.json has no such export",
      "core/Limits.ts is not exported",
    ],
  ],
  [
    {
      "package.json": json({ exports: { "./Lease": { ...entry("Lease"), default: "./dist/Lease.js" } } }),
      "deno.json": json({ exports: { "./Lease": "./core/Lease.ts" } }),
      "core/Lease.ts": "",
    },
    [`package.json ./Lease: want ${json(entry("Lease"))}`],
  ],
])

law("package.json and deno.json agree on versions", Architecture.sameVersions, [
  [
    {
      "package.json": json({ version: "0.2.0", devDependencies: { effect: "4.1.0" } }),
      "deno.json": json({ version: "0.1.0", imports: { effect: "npm:effect@4.1.0", "effect/": "npm:/effect@4.0.0/" } }),
    },
    [
      "deno.json has version 0.1.0, package.json 0.2.0",
      "deno.json imports npm:effect@4.1.0 and npm:/effect@4.0.0/, package.json has effect 4.1.0",
    ],
  ],
])

law("a file is named after a noun", Architecture.named, [
  [
    { "core/lease.ts": "", "core/LeaseManager.ts": "", "adapters/node/ILease.ts": "", "adapters/gateway/main.ts": "" },
    [
      "core/lease.ts: a noun is in PascalCase",
      "core/LeaseManager.ts: this name says nothing",
      "adapters/node/ILease.ts: this name says nothing",
    ],
  ],
])

law("files and functions keep their size budgets", Architecture.sized(budgets), [
  [{ "core/Lease.ts": `/**\n * Doc.\n */\n\n${lines(300)}// why\n` }, []],
  [{ "core/Lease.ts": lines(301) }, ["core/Lease.ts has 301 code lines of 300"]],
  [{ "adapters/node/mod.ts": lines(121) }, ["adapters/node/mod.ts has 121 code lines of 120"]],
  [{ "adapters/gateway/mod.ts": lines(301) }, ["adapters/gateway/mod.ts has 301 code lines of 300"]],
  [{ "core/Lease.ts": `export const f = () => {\n// why\n\n${lines(38)}}` }, []],
  [{ "core/Lease.ts": `export const f = () => {\n${lines(39)}}` }, ["core/Lease.ts:1 f has 41 code lines of 40"]],
])

it("a function above its budget is listed with its reason, and no other is listed", () => {
  const rule = Architecture.sized({ ...budgets, long: { "core/Lease.ts make": "it is one table" } })
  const unused = "core/Lease.ts make needs no exception"
  expect(rule({ "core/Lease.ts": `export const make = () => {\n${lines(58)}}` })).toEqual([])
  expect(rule({ "core/Lease.ts": `export const make = () => {\n${lines(59)}}` }))
    .toEqual(["core/Lease.ts:1 make has 61 code lines of 40", unused])
  expect(rule({ "core/Lease.ts": lines(3) })).toEqual([unused])
})
