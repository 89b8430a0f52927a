/** What README says in words and tables is what the code does: links, kinds of blocks, options, errors, answers, versions. */
import { describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { existsSync, readdirSync } from "node:fs"
import * as net from "node:net"
import * as Answers from "../../adapters/gateway/Answers.ts"
import * as Config from "../../adapters/gateway/Config.ts"
import type * as ConfigFile from "../../adapters/gateway/ConfigFile.ts"
import * as NodeSockets from "../../adapters/node/Sockets.ts"
import * as Admission from "../../core/Admission.ts"
import { decode, type Options } from "../../core/AdmissionOptions.ts"
import * as BlockingExecutor from "../../core/BlockingExecutor.ts"
import * as Deadline from "../../core/Deadline.ts"
import * as ProviderGate from "../../core/ProviderGate.ts"
import * as ProviderGates from "../../core/ProviderGates.ts"
import * as Script from "../../core/testing/Script.ts"
import * as ScriptedPorts from "../../core/testing/ScriptedPorts.ts"
import type { WorkerThreads } from "../../core/WorkerThreads.ts"
import * as Sockets from "../../core/Sockets.ts"
import * as Lab from "../support/http/Lab.ts"
import * as Lab2 from "../support/http/Lab2.ts"
import * as Runtime from "../support/Runtime.ts"
import * as Documents from "./Documents.ts"
import * as Markdown from "./Markdown.ts"

const json = (path: string): Record<string, Record<string, string>> => JSON.parse(read(path))
const { read, readme } = Documents
const rows = (heading: string): readonly (readonly string[])[] => {
  const found = Markdown.table(readme, heading)
  expect(found.length, `the table under ${heading}`).toBeGreaterThan(0)
  return found
}
const bare = (cell: string | undefined): string => Markdown.spans(cell ?? "")[0] ?? ""

describe("README", () => {
  it("has blocks of known kinds only, and one drawing", () => {
    expect(Documents.unknown(Documents.blocks)).toEqual([])
    expect(Documents.blocks.filter(({ kind }) => kind === "text").length).toBe(1)
    for (const kind of ["ts", "sh", "json"]) expect(Documents.blocks.some((block) => block.kind === kind)).toBe(true)
    const planted = ["```", "a", "```", "  ```python", "  b", "  ```", "```ts", "c"].join("\n")
    expect(Markdown.blocks("P", planted).map(({ line, kind, text }) => [line, kind, text])).toEqual([
      [1, "", "a\n"],
      [4, "python", "b\n"],
      [7, "ts", "c\n"],
    ])
    expect(Documents.unknown(Markdown.blocks("P", planted))).toEqual([
      'P:1 is of no known kind: ""',
      'P:4 is of no known kind: "python"',
    ])
  })

  it("begins with a program of at most ten lines", () => {
    const [first] = Documents.programs
    expect([first?.path, first!.text.trimEnd().split("\n").length <= 10]).toEqual(["README.md", true])
  })

  it("links to what is there, as every page does", () => {
    const dead = (path: string, text: string): readonly string[] =>
      Markdown.links(text).filter((link) => {
        if (/^https:/.test(link)) return false
        const [to = "", anchor] = link.split("#")
        if (to !== "") return !existsSync(new URL(to, `file://${Runtime.root}${path}`))
        return !Markdown.anchors(read(path)).includes(anchor ?? "")
      })
    expect(Documents.pages.flatMap((path) => dead(path, read(path)))).toEqual([])
    expect(dead("README.md", "[a](test/nothing.ts) [b](#nowhere) [c](README.md)")).toEqual([
      "test/nothing.ts",
      "#nowhere",
    ])
    expect(dead("core/testing/README.md", "[a](Sweep.ts) [b](../../README.md) [c](core/mod.ts)")).toEqual([
      "core/mod.ts",
    ])
    expect(Markdown.links(readme).length).toBeGreaterThan(5)
  })

  it("names no path outside the repository, and neither does any page", () => {
    for (const path of Documents.pages) expect(read(path)).not.toMatch(/(^|[\s`("])\/(work|tmp|home|Users)\//)
  })
})

describe("the laws", () => {
  const register = new Set(
    ["AD", "K"].flatMap((name) =>
      (JSON.parse(read(`test/obligations/${name}.json`)) as readonly { readonly id: string }[]).map(({ id }) => id)
    ),
  )
  const ids = (text: string): readonly string[] => text.match(/\b(AD|K)-\d+\b/g) ?? []

  /** As a title begins: full ids, one after another, and a colon. */
  const provedBy = (text: string): ReadonlySet<string> =>
    new Set([...text.matchAll(/["'`]((?:[A-Z]+-\w+ ?)+):/g)].flatMap(([, title = ""]) => ids(title)))

  it("that README names are registered, and each is named by a test that it links to", () => {
    const missing = rows("The laws and their tests").flatMap(([, , laws = "", tests = ""]) => {
      const proved = provedBy(Markdown.links(tests).map(read).join("\n"))
      return ids(laws).filter((id) => !register.has(id) || !proved.has(id))
    })
    expect(missing).toEqual([])
  })

  it("of every promise are told, and none of Admission that a test proves is left out", () => {
    const table = rows("The laws and their tests")
    expect(new Set(table.map(([promise]) => promise))).toEqual(new Set(["bounded", "fair", "leak-free", "honest"]))
    const told = new Set(ids(table.map(([, , laws]) => laws).join(" ")))
    const tests = readdirSync(`${Runtime.root}test`, { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".test.ts") && !/node_modules|^(docs|obligations)\b/.test(path))
    const proved = provedBy(tests.map((path) => read(`test/${path}`)).join("\n"))
    expect([...proved].filter((id) => id.startsWith("AD-") && !told.has(id))).toEqual([])
    expect(proved.size).toBeGreaterThan(40)
  })
})

describe("the table of options", () => {
  const given: Readonly<Record<string, unknown>> = { maxRunning: 4_096 }
  const accepts = (option: string, value: unknown): boolean =>
    Exit.isSuccess(Effect.runSyncExit(decode({ ...given, [option]: value } as unknown as Options)))
  const number = (text: string): number => Number(text.replaceAll(",", ""))

  it("has every option", () => {
    const source = read("core/AdmissionOptions.ts") + read("core/AdmissionLimits.ts")
    const bodies = [...source.matchAll(/^export interface (?:Options|Limits)\b.*\n([^]*?)^\}/gm)]
    const names = bodies.flatMap(([, body = ""]) => [...body.matchAll(/^ {2}readonly (\w+)/gm)].map((one) => one[1]!))
    expect(rows("Options").map(([option]) => bare(option)).toSorted()).toEqual(names.toSorted())
  })

  it("tells the ranges", () => {
    for (const [option, , range = ""] of rows("Options")) {
      const name = bare(option)
      const whole = /^([\d,]+) to (?:([\d,]+)|(16 × )?`maxRunning`)$/.exec(range)
      if (name === "weights") continue
      if (whole !== null) {
        const least = number(whole[1]!)
        const most = whole[2] === undefined ? 4_096 * (whole[3] === undefined ? 1 : 16) : number(whole[2])
        const tried = [least - 1, least, most, most + 1, least + 0.5, NaN].map((value) => accepts(name, value))
        expect([name, tried]).toEqual([name, [false, true, true, false, false, false]])
      } else if (/^`"/.test(range)) {
        const words = Markdown.spans(range).map((word) => JSON.parse(word))
        expect([name, ...words.map((word) => accepts(name, word)), accepts(name, "other")])
          .toEqual([name, ...words.map(() => true), false])
      } else expect(["reserved", "maxWait", "labels"]).toContain(name)
    }
    expect(["0 seconds", "1 hour", "61 minutes"].map((wait) => accepts("maxWait", wait))).toEqual([false, true, false])
    expect([{ normal: 4_095 }, { normal: 4_095, control: 1 }].map((units) => accepts("reserved", units))).toEqual([
      true,
      false,
    ])
    expect([undefined, () => "a", "a"].map((labels) => accepts("labels", labels))).toEqual([true, true, false])
  })

  it("tells the defaults", () => {
    const settings = Effect.runSync(decode({ maxRunning: 7 }))
    const { limits } = settings
    const defaults: Record<string, unknown> = {
      "none": Infinity,
      "1,024": 1_024,
      "128, or `maxQueued`": 128,
      "5 seconds": 5e9,
      "`maxRunning`": 7,
      '`"off"`': false,
      '`"serve"`': "serve",
    }
    const actual: Record<string, unknown> = {
      ...limits,
      maxWait: settings.maxWaitNanos,
      maxBypass: settings.maxBypass,
      estimate: settings.estimate,
      drainWaiting: settings.drainWaiting,
    }
    for (const [option, told = ""] of rows("Options")) {
      const name = bare(option)
      if (name in actual && told !== "required") {
        expect([name, Number(actual[name]) > 1e9 && told === "none" ? Infinity : actual[name]]).toEqual([
          name,
          defaults[told],
        ])
      }
    }
    expect(Effect.runSync(decode({ maxRunning: 7, maxQueued: 3 })).limits.maxQueuedPerTenant).toBe(3)
    expect([settings.reserves, settings.weights, settings.labels]).toEqual([[0, 0, 0, 0], undefined, undefined])
    expect(Exit.isFailure(Effect.runSyncExit(decode({} as Options)))).toBe(true)
  })

  it.effect("tells the weights that a tenant may have", () =>
    Effect.gen(function* () {
      const tried = yield* Effect.forEach([0, 1, 1_000, 1_001, 1.5], (weight) =>
        Effect.gen(function* () {
          const admission = yield* Admission.make({ maxRunning: 1, weights: () => weight })
          return (yield* Effect.exit(admission.tryEnter({ tenant: "one" })))._tag === "Success"
        }))
      expect(tried).toEqual([false, true, true, false, false])
      expect(rows("Options").find(([option]) => bare(option) === "weights")?.[2]).toBe("1 to 1,000")
    }))
})

describe("the table of the configuration's keys", () => {
  type Whole<A> = A extends readonly unknown[] ? A
    : A extends object ? { readonly [Key in keyof A]-?: Whole<Exclude<A[Key], undefined>> }
    : A
  const hash = `sha256:${"a".repeat(64)}`
  /** Every key, which its type makes sure of; as a configuration it is good but for what excludes each other. */
  const whole: Whole<ConfigFile.File> = {
    gateway: { host: "a", port: 1 },
    operator: { host: "a", port: 2, tenantLabels: true },
    identity: { by: "proxy", header: "a", addresses: ["::1"] },
    tenants: { "*": { tokens: [hash], providers: ["*"], weight: 2 } },
    providers: {
      "*": {
        url: "http://a",
        serves: "demo",
        timeout: "1 second",
        headers: { "*": { env: "A" } },
        gate: { concurrency: 2, tenantConcurrency: 1, failureThreshold: 1, recoveryAfter: "1 second" },
      },
    },
    admission: {
      maxRunning: 2,
      maxPerTenant: 1,
      maxPerProvider: 1,
      maxPerPair: 1,
      maxQueued: 1,
      maxQueuedPerTenant: 1,
      maxWait: "1 second",
      estimate: "on",
      drainWaiting: "refuse",
    },
    http: {
      maxHeaderBytes: 2_000,
      maxHeaderLines: 1,
      maxTargetBytes: 100,
      maxBodyBytes: 1,
      maxConnections: 1,
      headerTimeout: "1 second",
      bodyIdle: "1 second",
    },
    drain: "1 second",
  }
  const keysOf = (value: unknown): readonly string[] =>
    typeof value !== "object" || value === null || Array.isArray(value) ? [""] : Object.entries(value).flatMap(
      ([key, inner]) => keysOf(inner).map((rest) => rest === "" ? key : `${key}.${rest}`),
    )
  const names: Readonly<Record<string, string>> = { tenants: "acme", providers: "mail", headers: "x-key" }
  const small = {
    tenants: { acme: { tokens: [hash], providers: ["mail"] } },
    providers: { mail: { url: "http://a" } },
    admission: { maxRunning: 1_048_576 },
  }
  /** The small file with one more value, at the path that a row tells. */
  const withValue = (path: readonly string[], value: unknown, into: unknown, above = ""): unknown => {
    const [key = "", ...rest] = path
    if (path.length === 0) return value
    const object = into as Record<string, unknown> | undefined
    const name = key === "*" ? names[above]! : key
    return { ...object, [name]: withValue(rest, value, object?.[name], key) }
  }
  const read = (key: string, value: unknown): Config.Config | undefined => {
    const exit = Effect.runSyncExit(Config.decode(withValue(key.split("."), value, small), () => undefined))
    return Exit.isSuccess(exit) ? exit.value : undefined
  }
  const table = rows("Keys of the configuration")

  it("has every key", () => expect(table.map(([key]) => bare(key)).toSorted()).toEqual([...keysOf(whole)].toSorted()))

  it("tells what each may be", () => {
    const most: Readonly<Record<string, number>> = { concurrency: 4_096, maxRunning: 1_048_576, maxHeaderBytes: 16_384 }
    for (const [cell, , range = ""] of table) {
      const key = bare(cell)
      const bounds = /^([\d,]+) to (?:([\d,]+)|`(\w+)`)$/.exec(range)
      const number = (text: string): number => Number(text.replaceAll(",", ""))
      if (bounds !== null) {
        const [least, end] = [number(bounds[1]!), bounds[2] === undefined ? most[bounds[3]!]! : number(bounds[2])]
        const tried = [least - 1, least, end, end + 1, least + 0.5, "1"].map((value) => read(key, value) !== undefined)
        expect([key, tried]).toEqual([key, [false, true, true, false, false, false]])
      } else if (range === "a duration") {
        const tried = ["0 millis", "1 millis", "1 hour", "61 minutes", 5].map((value) => read(key, value) !== undefined)
        expect([key, tried]).toEqual([key, [false, true, true, false, false]])
      } else if (range.startsWith("`") && !range.includes("…")) {
        const words = Markdown.spans(range).map((word) => JSON.parse(word))
        const file = (word: unknown): unknown => {
          if (key === "identity.by" && word === "proxy") return { ...small, identity: { ...whole.identity } }
          if (key.endsWith(".serves")) return { ...small, providers: { mail: { serves: word } } }
          return withValue(key.split("."), word, small)
        }
        const tried = [...words, "other"].map((word) =>
          Exit.isSuccess(Effect.runSyncExit(Config.decode(file(word), () => "")))
        )
        expect([key, tried]).toEqual([key, [...words.map(() => true), false]])
      } else expect([key, read(key, 5)]).toEqual([key, undefined])
    }
  })

  it("tells the defaults", () => {
    const settled = (config: Config.Config | undefined): unknown => {
      if (config === undefined) return undefined
      const settings = Effect.runSync(decode(config.admission))
      return { ...config, admission: { ...settings, weights: config.admission.weights?.("acme") } }
    }
    const silent = settled(Effect.runSync(Config.decode(small, () => undefined)))
    const told = table.filter(([, otherwise = ""]) => otherwise.startsWith("`"))
    for (const [cell, otherwise] of told) {
      const key = bare(cell)
      expect([key, settled(read(key, JSON.parse(bare(otherwise))))]).toEqual([key, silent])
    }
    expect(told.length).toBeGreaterThan(15)
    for (const [cell] of table.filter(([, otherwise]) => otherwise === "required")) {
      const path = bare(cell).split(".").map((part, nth, all) => part === "*" ? names[all[nth - 1]!]! : part)
      const exit = Effect.runSyncExit(Config.decode(withValue(path, undefined, small), () => undefined))
      expect([path, Exit.isSuccess(exit)]).toEqual([path, false])
    }
  })
})

const sockets = Sockets.make(NodeSockets.driver)

/** A connection to a listener that says nothing. */
const connected = Effect.gen(function* () {
  const server = net.createServer()
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
    () => Effect.sync(() => void server.close()),
  )
  const { port } = server.address() as net.AddressInfo
  return yield* (yield* sockets).dial({ host: "127.0.0.1", port })
})

/** Each row of the table of errors as a program; it ends in the tag of what is answered. */
const answers: Readonly<Record<string, Effect.Effect<string, unknown, Scope.Scope>>> = (() => {
  const one = Admission.make({ maxRunning: 1, maxQueued: 1 })
  const tag = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.map(Effect.flip(effect), ({ _tag }) => _tag)
  const tags = <E extends { readonly _tag: string }>(...all: ReadonlyArray<Effect.Effect<unknown, E, Scope.Scope>>) =>
    Effect.map(Effect.forEach(all, tag), (found) => [...new Set(found)].join())
  const on = <A, E, R>(body: (admission: Admission.Admission) => Effect.Effect<A, E, R>) => Effect.flatMap(one, body)
  const ask = { tenant: "one" }
  const settle = Effect.repeat(Effect.yieldNow, { times: 20 })
  const opened = Effect.tap(
    ProviderGate.make({ failureThreshold: 1 }),
    (gate) => Effect.exit(gate.run({ tenant: "one" }, Effect.fail("down"))),
  )
  const waited = <A>(first: Effect.Effect<A>, then: Effect.Effect<unknown>) =>
    Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(first)
      yield* settle
      yield* then
      return yield* Fiber.join(fiber)
    })
  const job = (name: string) => ({ module: "test:jobs", name })
  const jobs = {
    same: (input: unknown) => input,
    throws: () => {
      throw new Error("no")
    },
  }
  const onThreads = <E>(
    body: (executor: BlockingExecutor.BlockingExecutor, script: Script.Script) => Effect.Effect<string, E, Scope.Scope>,
    joins = true,
  ) =>
    Effect.flatMap(Script.make, (script) =>
      Effect.flatMap(
        BlockingExecutor.make({ threads: 1 }, ScriptedPorts.workerThreads(script, jobs, joins)),
        (executor) => body(executor, script),
      ))
  /** A thread that answers each order with the next of these faults. */
  const answered = (...kinds: ReadonlyArray<"module" | "export" | "input" | "result">) => {
    const error = { name: "Error", message: "no", code: undefined, cause: undefined }
    const left = [...kinds]
    const threads: WorkerThreads = {
      joins: true,
      spawn: (_, hear) => ({
        send: ({ number }) => (hear.answered({ number, kind: left.shift()!, error }), undefined),
        hold: () => {},
        leave: () => hear.gone({ code: 0, error: undefined }),
        terminate: () => hear.gone({ code: 1, error: undefined }),
      }),
    }
    return Effect.flatMap(
      BlockingExecutor.make({ threads: 1 }, threads),
      (executor) => tags(...kinds.map(() => executor.run(job("same")))),
    )
  }
  return {
    "the cost is above a cap": on(({ run }) => tag(run({ ...ask, cost: 2 })(Effect.void))),
    "no place to wait is left": on(({ enter }) =>
      Effect.gen(function* () {
        yield* enter(ask)
        yield* Effect.forkChild(enter(ask))
        yield* settle
        return yield* tag(enter(ask))
      })
    ),
    "the turn did not come in time": on(({ enter }) =>
      Effect.andThen(
        enter(ask),
        Effect.flatMap(Effect.scope, (scope) =>
          waited(Effect.orDie(tag(Scope.provide(enter(ask), scope))), TestClock.adjust("5 seconds"))),
      )
    ),
    "the deadline had passed before the ask came": on(({ run }) =>
      Effect.map(Effect.flip(run(ask)(Effect.void).pipe(Deadline.within(0))), (error) => {
        expect(error).toMatchObject({ waited: Duration.zero })
        return error._tag
      })
    ),
    "`estimate` is on and the wait would be too long": Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 1, maxWait: "1 hour", estimate: "on" })
      const busy = Effect.ignore(admission.run(ask)(Effect.sleep(100)))
      yield* Effect.replicateEffect(Effect.forkChild(busy), 50)
      yield* settle
      yield* Effect.replicateEffect(TestClock.adjust(100), 40)
      const found = yield* tag(admission.run(ask)(Effect.void).pipe(Deadline.within(200)))
      yield* TestClock.adjust("1 minute")
      return found
    }),
    "`tryEnter` could not be granted at once": on(({ enter, tryEnter }) =>
      Effect.andThen(enter(ask), tag(tryEnter(ask)))
    ),
    "the Admission drains or is closed": Effect.gen(function* () {
      const inner = yield* Scope.make()
      const admission = yield* Scope.provide(one, inner)
      yield* admission.enter(ask)
      const draining = yield* Effect.forkChild(Effect.flatMap(Deadline.after("1 second"), admission.drain))
      yield* settle
      const first = yield* Effect.flip(admission.enter(ask))
      expect(first).toMatchObject({ state: "draining" })
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(draining)
      yield* Scope.close(inner, Exit.void)
      const second = yield* Effect.flip(admission.enter(ask))
      expect(second).toMatchObject({ state: "closed" })
      return [...new Set([first._tag, second._tag])].join()
    }),
    "the work ran past its deadline under `Deadline.enforce`": on(({ run }) =>
      waited(
        Effect.orDie(tag(run(ask)(Deadline.enforce(Effect.sleep("1 minute"))).pipe(Deadline.within(10)))),
        TestClock.adjust(10),
      )
    ),
    "a permit is released twice": on(({ enter, release }) =>
      Effect.flatMap(enter(ask), (permit) => Effect.andThen(release(permit), tag(release(permit))))
    ),
    "a permit of another Admission is released": on(({ release }) =>
      on(({ enter, snapshot }) =>
        Effect.gen(function* () {
          const found = yield* tag(release(yield* enter(ask)))
          expect((yield* snapshot).running).toBe(1)
          return found
        })
      )
    ),
    "a permit is released early, then its scope closes": on(({ enter, release, snapshot }) =>
      Effect.gen(function* () {
        yield* Effect.scoped(Effect.flatMap(enter(ask), release))
        const { released, running } = yield* snapshot
        expect([released, running]).toEqual([1, 0])
        return "silence"
      })
    ),
    "a tenant or provider is empty, too long or has control characters": on(({ enter }) =>
      tags(
        enter({ tenant: "" }),
        enter({ tenant: "ä".repeat(129) }),
        enter({ tenant: "a\nb" }),
        enter({ ...ask, provider: "" }),
        enter({ ...ask, provider: "\u0000" }),
      )
    ),
    "a cost is no whole number of at least 1": on(({ enter }) =>
      tags(...[0, -1, 1.5, NaN, Infinity, 2 ** 53].map((cost) => enter({ ...ask, cost })))
    ),
    "a deadline is negative or no duration": Effect.gen(function* () {
      const begun = yield* Deferred.make<void>()
      const work = Deferred.succeed(begun, undefined)
      const found = yield* tags(
        work.pipe(Deadline.within(-1)),
        work.pipe(Deadline.within(NaN)),
        work.pipe(Deadline.within("soon" as "1 second")),
      )
      expect(yield* Deferred.isDone(begun)).toBe(false)
      return found
    }),
    "more is withheld than is left": on(({ withhold }) => tags(withhold(2))),
    "an option or a limit breaks its rule": tags(
      Admission.make({ maxRunning: 0 }),
      on(({ lower }) => lower({ maxRunning: NaN })),
    ),
    "`lower` would raise a limit": on(({ lower }) => tag(lower({ maxRunning: 2 }))),
    "`lower` would go below what is in use": Effect.gen(function* () {
      const { enter, lower, snapshot } = yield* Admission.make({ maxRunning: 3 })
      yield* enter({ ...ask, cost: 3 })
      const found = yield* tag(lower({ maxRunning: 2, maxQueued: 1 }))
      const { limits, running } = yield* snapshot
      expect([limits.maxRunning, limits.maxQueued, running]).toEqual([3, 1_024, 3])
      return found
    }),
    "the circuit of a provider is open, or its probe is out": Effect.gen(function* () {
      const gate = yield* opened
      const first = yield* tag(gate.tryEnter(ask))
      yield* TestClock.adjust("30 seconds")
      yield* gate.tryEnter(ask)
      const second = yield* Effect.flip(gate.tryEnter(ask))
      expect(second).toMatchObject({ probing: true })
      return [...new Set([first, second._tag])].join()
    }),
    "a gate has no place for the call": Effect.gen(function* () {
      const gate = yield* ProviderGate.make({ concurrency: 3, reservedControl: 1, tenantConcurrency: 1 })
      yield* gate.tryEnter(ask)
      const tenant = yield* Effect.flip(gate.tryEnter(ask))
      yield* gate.tryEnter({ tenant: "two" })
      const ordinary = yield* Effect.flip(gate.tryEnter(ask))
      yield* gate.tryEnter({ tenant: "three", priority: "control" })
      const provider = yield* Effect.flip(gate.tryEnter({ tenant: "four", priority: "control" }))
      expect([tenant, ordinary, provider]).toMatchObject([
        { scope: "tenant" },
        { scope: "ordinary" },
        { scope: "provider" },
      ])
      return [...new Set([tenant, ordinary, provider].map(({ _tag }) => _tag))].join()
    }),
    "a call under `run` of a gate took longer than `maxElapsed`": Effect.flatMap(
      ProviderGate.make({ maxElapsed: 10 }),
      (gate) => waited(Effect.orDie(tag(gate.run(ask, Effect.sleep("1 minute")))), TestClock.adjust(10)),
    ),
    "a permit of a gate is settled twice, or at another gate": Effect.gen(function* () {
      const [gate, other] = [yield* ProviderGate.make({}), yield* ProviderGate.make({})]
      const permit = yield* gate.tryEnter(ask)
      const foreign = yield* tag(other.settle(permit, "success"))
      yield* gate.settle(permit, "success")
      const { granted, held, successes } = yield* gate.snapshot
      expect([granted, held, successes]).toEqual([1, 0, 1])
      return [...new Set([foreign, yield* tag(gate.settle(permit, "success"))])].join()
    }),
    "as many gates as may be are in use": Effect.gen(function* () {
      const gates = yield* ProviderGates.make({ maxGates: 1 })
      yield* (yield* gates.get("mail")).tryEnter(ask)
      const found = yield* tag(gates.get("sms"))
      expect([...(yield* gates.snapshotAll).keys()]).toEqual(["mail"])
      return found
    }),
    "a peer breaks a rule of HTTP/1.1": Effect.sync(() => {
      const connection = Lab.asked()
      const [failed, retired] = connection.receive(Lab.bytes("HTTP/1.1 200 OK\nx: y\r\n\r\n"))
      expect([retired?._tag, connection.receive(Lab.bytes("more"))]).toEqual(["Retired", []])
      return failed?._tag === "Failed" ? failed.error._tag : "nothing"
    }),
    "a connection ends inside a response": Effect.sync(() => {
      const ends = (["ended", "reset"] as const).map((how) => {
        const connection = Lab.asked()
        connection.receive(Lab.bytes("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhel"))
        const [failed] = connection.closed(how)
        expect(failed).toMatchObject({ error: { how, part: "body", received: 3, expected: 5 } })
        return failed?._tag === "Failed" ? failed.error._tag : "nothing"
      })
      return [...new Set(ends)].join()
    }),
    "an upload goes on behind the end of its exchange": Effect.suspend(() => {
      const connection = Lab.asked({ ...Lab.get, method: "POST", body: { bytes: 2 } })
      connection.upload(1, Lab.bytes("ab"))
      connection.takeOutput()
      const late = tag(Effect.fromResult(connection.upload(1, Lab.bytes("c"))))
      expect(connection.takeOutput()).toEqual([])
      return late
    }),
    "a peer breaks a rule of one stream of HTTP/2": Effect.sync(() => {
      const { get, response } = Lab2
      const connection = Lab2.asked({}, [get, get])
      const [failed] = connection.receive(response(1, 200, [["Upper", "case"]]))
      expect(Lab2.says(connection, response(3, 200, [], Lab2.endStream))).toEqual(["3: 200 0", "3: end"])
      expect(failed).toMatchObject({ exchange: 1, error: { scope: "stream" } })
      return failed?._tag === "Failed" ? failed.error._tag : "nothing"
    }),
    "a peer resets a stream of HTTP/2 ahead of the end of a response": Effect.sync(() => {
      const [failed] = Lab2.asked().receive(Lab2.reset(1, 7))
      expect(failed).toMatchObject({ error: { code: 7, unprocessed: true } })
      return failed?._tag === "Failed" ? failed.error._tag : "nothing"
    }),
    "a peer of HTTP/2 goes away and leaves out an exchange": Effect.sync(() => {
      const connection = Lab2.asked({}, [Lab2.get, Lab2.get])
      const [, failed] = connection.receive(Lab2.goAway(1, 0))
      expect(failed).toMatchObject({ exchange: 3, error: { last: 1, code: 0 } })
      expect(Lab2.says(connection, Lab2.response(1, 200, [], Lab2.endStream))).toEqual(["1: 200 0", "1: end"])
      return failed?._tag === "Failed" ? failed.error._tag : "nothing"
    }),
    "a job throws in its thread": onThreads((executor) => tag(executor.run(job("throws")))),
    "a job's module or export is not there": answered("module", "export"),
    "a job's input or result cannot be cloned": answered("input", "result"),
    "a job's thread crashes, exits or is terminated": onThreads((executor, script) =>
      Effect.gen(function* () {
        script.plan("executor.job 1", Script.die("crash"))
        script.plan("executor.job 2", Script.hold)
        const crashed = executor.run(job("same"))
        const terminated = Effect.flatMap(
          executor.start(job("same")),
          ({ join, number }) => Effect.andThen(executor.terminate(number), join),
        )
        return yield* tags(crashed, terminated)
      })
    ),
    "a job is terminated where that is no join": onThreads((executor, script) =>
      Effect.gen(function* () {
        script.plan("executor.job", Script.hold)
        const { join, number } = yield* executor.start(job("same"))
        expect(yield* executor.terminate(number)).toBe("abandoned")
        return yield* tag(join)
      }), false),
    "a job that is over is terminated": onThreads((executor) =>
      Effect.gen(function* () {
        const { join, number } = yield* executor.start(job("same"))
        yield* join
        return yield* tag(executor.terminate(number))
      })
    ),
    "nobody listens where a socket is dialled": Effect.map(
      Effect.flip(Effect.flatMap(sockets, ({ dial }) => dial({ host: "127.0.0.1", port: 1 }))),
      ({ _tag }) => _tag,
    ),
    "a socket is read by two at a time": Effect.gen(function* () {
      const socket = yield* connected
      yield* Effect.forkScoped(socket.read, { startImmediately: true })
      return (yield* Effect.flip(socket.read))._tag
    }),
    "a socket is written to after its close": Effect.gen(function* () {
      const socket = yield* connected
      yield* socket.close
      return (yield* Effect.flip(socket.write(new Uint8Array(1))))._tag
    }),
  }
})()

describe("the table of an executor's options", () => {
  const accepts = (name: string, value: unknown): Effect.Effect<boolean, never> =>
    Effect.scoped(Effect.flatMap(Script.make, (script) =>
      Effect.map(
        Effect.exit(ScriptedPorts.blockingExecutor(script, {}, { threads: 1, [name]: value })),
        Exit.isSuccess,
      )))
  it.effect("has every option, and tells what each may be", () =>
    Effect.gen(function* () {
      const every: Record<keyof Required<BlockingExecutor.Options>, true> = {
        threads: true,
        maxQueued: true,
        maxWait: true,
        closeWithin: true,
      }
      const table = rows("Blocking work on threads")
      expect(table.map(([option]) => bare(option))).toEqual(Object.keys(every))
      for (const [option, , range = ""] of table) {
        const name = bare(option)
        const whole = /^([\d,]+) to ([\d,]+)$/.exec(range)?.slice(1).map((text) => Number(text.replaceAll(",", "")))
        const [least = 0, most = 0] = whole ?? []
        const tried = whole === undefined ? ["0 seconds", "1 hour", "61 minutes"] : [least - 1, least, most, most + 1]
        const good = yield* Effect.forEach(tried, (value) => accepts(name, value))
        expect([name, good]).toEqual([name, whole === undefined ? [false, true, false] : [false, true, true, false]])
      }
    }))
})

describe("the table of errors", () => {
  it("has a program here for every row, and every row's program", () =>
    expect(rows("Errors and misuse").map(([what]) => what)).toEqual(Object.keys(answers)))

  for (const [what = "", told = ""] of Markdown.table(readme, "Errors and misuse")) {
    it.effect(`${what}: ${told}`, () =>
      Effect.gen(function* () {
        expect(yield* Effect.scoped(answers[what] ?? Effect.succeed("no program"))).toBe(
          Markdown.spans(told)[0] ?? told,
        )
      }))
  }

  it("has every error that the core exports", () => {
    const classes = Documents.sources.map(read).flatMap((text) =>
      [...text.matchAll(/export class (\w+) extends Refusal /g)].map((one) => one[1]!)
    )
    const told = new Set(rows("Errors and misuse").flatMap(([, answer = ""]) => Markdown.spans(answer)))
    expect(classes.filter((name) => !told.has(name))).toEqual([])
    expect(classes.length).toBeGreaterThan(8)
  })
})

describe("the limits of the promise", () => {
  const ask = { tenant: "one" }
  const pass = Effect.repeat(Effect.yieldNow, { times: 20 })

  it.effect("a refusal has no stack, and is an error in all else that was told", () =>
    Effect.gen(function* () {
      const { tryEnter } = yield* Admission.make({ maxRunning: 1 })
      yield* tryEnter(ask)
      const refused = yield* Effect.flip(tryEnter(ask))
      expect([refused.stack, refused instanceof Error, String(refused)])
        .toEqual([undefined, true, "WouldWait: the total has no room for it now"])
      expect((Error as { readonly isError?: (value: unknown) => boolean }).isError?.(refused) ?? false).toBe(false)
      expect(JSON.parse(JSON.stringify(refused))).toMatchObject({ account: "total", message: refused.message })
      expect(yield* tryEnter(ask).pipe(Effect.catchTag("WouldWait", ({ account }) => Effect.succeed(account)))).toBe(
        "total",
      )
    }))

  it.effect("the age of a holder counts from the next time that the clock is read", () =>
    Effect.gen(function* () {
      const { enter, holders } = yield* Admission.make({ maxRunning: 1 })
      yield* enter(ask)
      yield* TestClock.adjust("1 minute")
      expect((yield* holders)[0]?.age).toEqual(Duration.zero)
      yield* TestClock.adjust("1 minute")
      expect(Duration.toMillis((yield* holders)[0]!.age)).toBe(60_000)
    }))

  it.effect("work that cannot be interrupted holds its permit for as long as it runs", () =>
    Effect.gen(function* () {
      const { run, snapshot } = yield* Admission.make({ maxRunning: 1 })
      const fiber = yield* Effect.forkChild(run(ask)(Effect.uninterruptible(Effect.sleep("1 minute"))))
      yield* pass
      yield* Effect.forkChild(Fiber.interrupt(fiber))
      yield* TestClock.adjust("59 seconds")
      expect((yield* snapshot).running).toBe(1)
      yield* TestClock.adjust("1 second")
      expect((yield* snapshot).running).toBe(0)
    }))
})

describe("the gateway's part", () => {
  const environment = (name: string): string | undefined => name === "MAIL_AUTHORIZATION" ? "Bearer secret" : undefined
  const configurations = Documents.blocks.filter(({ kind }) => kind === "json")

  it.effect.each(configurations.map((block) => [`${block.path}:${block.line}`, block] as const))(
    "%s is a configuration",
    ([, block]) =>
      Effect.gen(function* () {
        const config = yield* Config.parse(block.text, environment)
        expect([...config.tenants.keys()]).toEqual(["acme", "globex"])
        const broken = yield* Effect.flip(Config.parse(block.text.replace('"tokens"', '"token"'), environment))
        expect(broken.mistakes.map(({ path }) => path)).toContain("$.tenants.acme.token")
        const bare = yield* Effect.flip(Config.parse(block.text, () => undefined))
        expect(broken.mistakes.length * bare.mistakes.length).toBeGreaterThan(0)
      }),
  )

  it("tells the status of every answer", () => {
    const qualified: Record<string, object> = {
      "`BodyStalled` by the client": { waitedFor: "client" },
      "`BodyStalled` by the upstream": { waitedFor: "upstream" },
      "`QueueFull` of the tenant": { scope: "tenant" },
      "`QueueFull` in all": { scope: "all" },
      "`Saturated` by the tenant": { scope: "tenant" },
      "`Saturated` by all": { scope: "ordinary" },
      "`WaitExpired` by `maxWait`": { bound: "maxWait" },
      "`WaitExpired` by deadline": { bound: "deadline" },
    }
    const told = rows("The gateway").flatMap(([status, errors = ""]) =>
      errors.split(", ").map((error) => [Number(status), bare(error), qualified[error] ?? {}] as const)
    )
    const actual = told.map(([, _tag, facts]) => [Answers.statusOf({ _tag, ...facts } as Answers.Refused), _tag, facts])
    expect(actual).toEqual(told)
    const all = [...read("adapters/gateway/Answers.ts").split("const statuses")[0]!.matchAll(/^ {2}\| (\w+)$/gm)].map((
      one,
    ) => one[1]!)
    const names = new Set(told.map(([, name]) => name))
    expect(all.filter((name) => !names.has(name) && name !== "AdmissionRefused" && name !== "Fault")).toEqual([])
  })

  it("tells the names, tokens and ports of the embedded configuration", () => {
    const config = Effect.runSync(Config.decode(Config.embedded, environment))
    expect([config.gateway, config.operator].map(({ host, port }) => `http://${host}:${port}`))
      .toEqual(["http://127.0.0.1:8080", "http://127.0.0.1:8081"])
    for (const name of [...config.tenants.keys(), ...config.providers.keys()]) expect(readme).toContain(`\`${name}\``)
    for (const { host, port } of [config.gateway, config.operator]) {
      expect(readme).toContain(`\`http://${host}:${port}\``)
    }
  })
})

describe("the other tables", () => {
  it("of runtimes has the pinned versions", () => {
    const pins = {
      Node: json("package.json")["devDependencies"]?.["node"],
      Deno: json("test/runtimes/deno/package.json")["dependencies"]?.["deno"],
      Bun: json("test/runtimes/bun/package.json")["dependencies"]?.["bun"],
    }
    for (const [name, version] of Object.entries(pins)) expect(readme).toContain(`| ${name} ${version} |`)
    expect(json("package.json")["engines"]?.["node"]).toBe(">=22.19")
  })

  it("of what stands next to it has the pinned versions of the peers that are no part of Effect", () => {
    const told = rows("Next to Effect").flatMap(([name = ""]) => /^(\w+) (\d[\d.]*)$/.exec(name)?.slice(1) ?? [])
    const pins = ["cockatiel", "opossum"].flatMap((name) => [name, json("package.json")["devDependencies"]?.[name]])
    expect(told).toEqual(pins)
  })

  it("of nouns leads to entry points that are there, and the words below it to all others", () => {
    const entries = Object.keys(json("package.json")["exports"]!).map((path) => path.slice(2))
      .filter((name) => name !== "" && name !== "package.json")
    const table = rows("Which module do I need")
    const used = table.flatMap(([, use = "", state]) => state === "here" ? Markdown.spans(use) : [])
    const below = readme.slice(readme.indexOf("The remaining entry points"), readme.indexOf("## The shape"))
    const told = [...used.map((name) => name.replace("holdfast/", "")), ...Markdown.spans(below)]
    expect(told.filter((name) => name !== "holdfast").toSorted()).toEqual(entries.toSorted())
  })

  it("of commands has every script, each with its twin for Deno", () => {
    const { prepack: _, ...scripts } = json("package.json")["scripts"]! // npm's own, for whoever packs without a build
    const told = rows("Commands").map(([command]) => bare(command).replace(/^npm (run )?/, ""))
    expect(told.toSorted()).toEqual(Object.keys(scripts).toSorted())
    expect(Object.keys(json("deno.json")["tasks"]!).toSorted()).toEqual(Object.keys(scripts).toSorted())
  })

  it("of modules that moved names homes that are there", async () => {
    const homes = rows("Dependencies").flatMap(([, now = ""]) => Markdown.spans(now))
    const missing = await Promise.all(homes.map((home) => import(home).then(() => [], () => [home])))
    expect([homes.length > 20, missing.flat()]).toEqual([true, []])
  })
})

describe("CHANGELOG", () => {
  it("tells of this version, first", () => {
    const version = (json("package.json") as unknown as { readonly version: string }).version
    expect(/^## (\S+)/m.exec(read("CHANGELOG.md"))?.[1]).toBe(version)
  })
})
