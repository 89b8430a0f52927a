/**
 * Ten seconds of three tenants against the started gateway, over real sockets: alpha floods, bravo and charlie do not.
 *
 * All three always want more than they get, so equal shares are the fair result. First come, first served would share by
 * places in the line, which are 64, 16 and 16: a fairness figure of 0.67. Beside that each asks a second provider, which
 * fails for two seconds. It owns its connections and ends them all before it judges.
 *
 * On a busy machine the flood has its first connections long before the others have one, so the ten seconds are those from
 * when each has been answered.
 */
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Config from "./Config.ts"
import type * as ConfigFile from "./ConfigFile.ts"
import type { DemoOutage } from "./DemoOutage.ts"
import * as DemoShares from "./DemoShares.ts"
import type { Gateway } from "./Gateway.ts"
import type { Overview } from "./Overview.ts"
import type { Platform } from "./Platform.ts"

interface Tenant {
  readonly name: string
  /** Requests under way at once; each begins the next when it ends. */
  readonly clients: number
}

const tenants: ReadonlyArray<Tenant> = [
  { name: "alpha", clients: 80 },
  { name: "bravo", clients: 16 },
  { name: "charlie", clients: 16 },
]

/** What became of the calls to the second provider while it failed; all others are the tenants'. */
interface Flaky {
  /** Its own 5xx, passed on. */
  faulty: number
  /** By the open circuit, at once. */
  spared: number
}

const seconds = 10
const outageFrom = 4
/** How long it lasts at least; as long again at most, where a busy machine has let too few calls come to open its circuit. */
const outageSeconds = 2
const path = "/demo/delay/150"
/** Of each tenant, at the second provider. */
const flakyClients = 2
/** What a refused client waits, as `retry-after` tells it; at the second provider less, so that its circuit is seen at work. */
const pauseMillis = 1_000
const flakyPauseMillis = 100

const told = [
  `requests at once: ${tenants.map(({ name, clients }) => `${name} ${clients}`).join(", ")}`,
  `for ${seconds} seconds, counted from when each tenant had its first answer`,
  `and ${flakyClients} of each to flaky, which fails for ${outageSeconds} seconds from second ${outageFrom}`,
].join(", ")

type Print = (line: string) => Effect.Effect<void>

export interface Stage {
  readonly gateway: Gateway
  readonly outage: DemoOutage
  readonly platform: Platform
  readonly print: Print
}

/**
 * The embedded configuration with `flaky` beside it. No ask of the flood comes to half of this `maxWait`, from where on it
 * would go before those of its class that have waited less.
 */
export const configOf = (outage: DemoOutage): ConfigFile.File => ({
  ...Config.withProvider("flaky", outage.provider),
  admission: { ...Config.embedded.admission, maxWait: "20 seconds" },
})

/** Runs the demo and prints its tables. Succeeds with the exit status: 1 if anything leaked or failed, else 0. */
export const run = ({ gateway, outage, platform, print }: Stage): Effect.Effect<number> =>
  Effect.gen(function* () {
    const client = clientOf(gateway.url, platform)
    yield* print(told)
    const flaky: Flaky = { faulty: 0, spared: 0 }
    const shares = DemoShares.make(tenants.map(({ name }) => name), seconds * 1_000)
    const begun = yield* Deferred.make<void>()
    const asking = { client, shares, begun, flaky }
    const loops = tenants.flatMap((tenant) => Array.from({ length: tenant.clients }, () => loop(asking, tenant)))
    const second = tenants.flatMap((tenant) => Array.from({ length: flakyClients }, () => flakyLoop(asking, tenant)))
    const outages: Array<readonly [atMillis: number, what: string]> = []
    const noted = (what: string) => Effect.map(Clock.currentTimeMillis, (at) => void outages.push([at, what]))
    const failing = Effect.gen(function* () {
      yield* Effect.sleep(outageFrom * 1_000)
      yield* outage.begin
      yield* noted("begins to fail")
      yield* Effect.sleep(outageSeconds * 1_000)
      yield* Effect.raceFirst(outage.felt, Effect.sleep(outageSeconds * 1_000))
      yield* outage.end
      yield* noted("is well again")
    })
    const timed = [failing, progress(shares, print)].map((each) => Effect.andThen(Deferred.await(begun), each))
    yield* Effect.all([...loops, ...second, ...timed], { concurrency: "unbounded", discard: true })
    const end = yield* settled(gateway, client)
    for (const line of tableOf(shares, end)) yield* print(line)
    for (const line of circuitOf(flaky, outages, end, shares.fromMillis() ?? 0)) yield* print(line)
    const fairness = DemoShares.fairness(shares.all).toFixed(4)
    yield* print(`fairness: ${fairness} (Jain's index of requests served; 1 is equal shares)`)
    const wrong = leaksOf(end, client, shares.all.reduce((sum, { failed }) => sum + failed, 0))
    yield* print(wrong.length === 0 ? "leaks: none" : `leaks: ${wrong.join(", ")}`)
    return wrong.length === 0 ? 0 : 1
  })

interface Client {
  /** The status, once the whole body was read, and whose it is: the gateway's own has a name. 0 where none came. */
  readonly get: (tenant: Tenant, path: string) => Effect.Effect<Answer>
  open: number
}

interface Answer {
  readonly status: number
  readonly error?: string | undefined
}

const clientOf = (url: string, platform: Platform): Client => {
  const { hostname, port, host } = new URL(url)
  const client: Client = {
    open: 0,
    get: (tenant, path) =>
      platform.exchange({
        secure: false,
        host: hostname,
        port: Number(port),
        method: "GET",
        path,
        fields: [["host", host], ["authorization", `Bearer demo-${tenant.name}`]],
        body: null,
        length: undefined,
      }, { onOpen: () => void client.open++, onClose: () => void client.open-- }).pipe(
        Effect.flatMap(({ status, fields, body }) =>
          Effect.as(Effect.tryPromise(() => new Response(body).arrayBuffer()), {
            status,
            error: fields.find(([name]) => name.toLowerCase() === "holdfast-error")?.[1],
          })
        ),
        Effect.scoped,
        Effect.catch(() => Effect.succeed({ status: 0 })),
      ),
  }
  return client
}

interface Asking {
  readonly client: Client
  readonly shares: DemoShares.DemoShares
  /** Done when counting begins. */
  readonly begun: Deferred.Deferred<void>
  readonly flaky: Flaky
}

const loop = (asking: Asking, tenant: Tenant): Effect.Effect<void> =>
  Effect.gen(function* () {
    for (;;) {
      const before = yield* Clock.currentTimeMillis
      if (asking.shares.isOver(before)) return
      const answer = yield* asking.client.get(tenant, path)
      yield* note(asking, tenant, answer, before)
      if (answer.status !== 200) yield* Effect.sleep(pauseMillis)
    }
  })

const flakyLoop = (asking: Asking, tenant: Tenant): Effect.Effect<void> =>
  Effect.gen(function* () {
    for (;;) {
      const before = yield* Clock.currentTimeMillis
      if (asking.shares.isOver(before)) return
      const answer = yield* asking.client.get(tenant, "/flaky/")
      if (answer.status === 500 && answer.error === undefined) asking.flaky.faulty++
      else if (answer.error === "CircuitOpen") asking.flaky.spared++
      else yield* note(asking, tenant, answer, before)
      if (answer.status !== 200) yield* Effect.sleep(flakyPauseMillis)
    }
  })

const note = ({ begun, shares }: Asking, { name }: Tenant, { status }: Answer, before: number): Effect.Effect<void> =>
  Effect.flatMap(
    Clock.currentTimeMillis,
    (now) => shares.note(name, status, before, now) ? Effect.asVoid(Deferred.succeed(begun, undefined)) : Effect.void,
  )

const progress = ({ all }: DemoShares.DemoShares, print: Print): Effect.Effect<void> =>
  Effect.gen(function* () {
    for (let second = 1; second <= seconds; second++) {
      yield* Effect.sleep(1_000)
      const served = all.map(({ served, tenant }) => `${tenant} ${served}`).join(", ")
      yield* print(`${second}/${seconds} s, served: ${served}`)
    }
  })

/** The gateway's counts once its last connection is over, or after two seconds if that does not come. */
const settled = (gateway: Gateway, client: Client): Effect.Effect<Overview> =>
  Effect.gen(function* () {
    for (let look = 0;; look++) {
      const now = yield* gateway.overview
      const busy = now.admission.running + now.admission.waiting + now.bodies.live + now.upstream.open + client.open
      if (busy === 0 || look === 40) return now
      yield* Effect.sleep(50)
    }
  })

const leaksOf = (end: Overview, client: Client, failed: number): ReadonlyArray<string> => {
  const { granted, released, running, waiting } = end.admission
  const held = end.gates.reduce((sum, gate) => sum + gate.held, 0)
  const counts: ReadonlyArray<readonly [number, string]> = [
    [running, "units still held"],
    [waiting, "asks still waiting"],
    [granted - released, "more granted than given back"],
    [held, "places at providers still held"],
    [end.bodies.live, "bodies still under way"],
    [end.upstream.open, "connections to providers still open"],
    [client.open, "connections of the demo still open"],
    [failed, "requests without an answer"],
  ]
  return counts.filter(([count]) => count !== 0).map(([count, what]) => `${count} ${what}`)
}

const tableOf = ({ all }: DemoShares.DemoShares, end: Overview): ReadonlyArray<string> => {
  const rows = all.map(({ tenant, served, refused, millis }) => {
    const sorted = millis.toSorted((a, b) => a - b)
    const wait = end.waits.find((each) => each.tenant === tenant)
    const waited = wait === undefined ? 0 : wait.totalMillis / wait.requests
    return [tenant, String(served), String(refused), at(sorted, 0.5), at(sorted, 0.99), `${waited.toFixed(1)} ms`]
  })
  return aligned([["tenant", "served", "refused", "p50", "p99", "waited"], ...rows])
}

const aligned = (table: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<string> => {
  const widths = table[0]!.map((_, column) => Math.max(...table.map((row) => row[column]!.length)))
  return table.map((row) =>
    row.map((cell, column) => column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!)).join("  ")
  )
}

/** The outage, and how the gateway saw it: when the circuit of `flaky` changed, and what its clients got. */
const circuitOf = (
  flaky: Flaky,
  outages: ReadonlyArray<readonly [atMillis: number, what: string]>,
  end: Overview,
  from: number,
): ReadonlyArray<string> => {
  const seen = end.changes.filter(({ provider }) => provider === "flaky")
    .map(({ atMillis, event }) => [atMillis, `circuit ${event}`] as const)
  const rows = [...outages, ...seen].toSorted(([a], [b]) => a - b)
    .map(([millis, what]) => [what, `${((millis - from) / 1_000).toFixed(2)} s`])
  const state = end.gates.find(({ provider }) => provider === "flaky")?.circuit ?? "unknown"
  return [
    ...aligned([["flaky", "at"], ...rows]),
    `flaky failed ${flaky.faulty} calls and was spared ${flaky.spared}; its circuit is ${state}`,
  ]
}

const at = (sorted: ReadonlyArray<number>, share: number): string =>
  sorted.length === 0 ? "-" : `${sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]} ms`
