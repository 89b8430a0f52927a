/**
 * Ten seconds of three tenants against the started gateway, over real sockets: alpha floods, bravo and charlie do not.
 *
 * All three always want more than they get, so equal shares are the fair result. First come, first served would share by
 * places in the line, which are 64, 16 and 16: a fairness figure of 0.67. Beside that each asks a second provider, which
 * fails for two seconds. It owns its connections and ends them all before it judges.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { DemoOutage } from "./DemoOutage.ts"
import type { Gateway } from "./Gateway.ts"
import type { Overview } from "./Overview.ts"
import type { Platform } from "./Platform.ts"

interface Tenant {
  readonly name: string
  /** Requests under way at once; each begins the next when it ends. */
  readonly clients: number
  served: number
  refused: number
  failed: number
  readonly millis: Array<number>
}

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
const path = "/demo/delay/50"
/** Of each tenant, at the second provider. */
const flakyClients = 2
/** What a refused client waits; a flood does not care for `retry-after`. */
const pauseMillis = 100

type Print = (line: string) => Effect.Effect<void>

export interface Stage {
  readonly gateway: Gateway
  readonly outage: DemoOutage
  readonly platform: Platform
  readonly print: Print
}

/** Runs the demo and prints its tables. Succeeds with the exit status: 1 if anything leaked or failed, else 0. */
export const run = ({ gateway, outage, platform, print }: Stage): Effect.Effect<number> =>
  Effect.gen(function* () {
    const tenants: ReadonlyArray<Tenant> = [tenantOf("alpha", 96), tenantOf("bravo", 16), tenantOf("charlie", 16)]
    const client = clientOf(gateway.url, platform)
    yield* print(
      `alpha sends ${tenants[0]!.clients} requests at once, bravo and charlie 16 each, for ${seconds} seconds; ` +
        `each sends ${flakyClients} more to flaky, which fails for ${outageSeconds} seconds from second ${outageFrom}`,
    )
    const flaky: Flaky = { faulty: 0, spared: 0 }
    const from = yield* Clock.currentTimeMillis
    const loops = tenants.flatMap((tenant) => Array.from({ length: tenant.clients }, () => loop(client, tenant, from)))
    const second = tenants.flatMap((tenant) =>
      Array.from({ length: flakyClients }, () => flakyLoop(client, tenant, flaky, from))
    )
    const outages: Array<readonly [atMillis: number, what: string]> = []
    const noted = (what: string) => Effect.map(Clock.currentTimeMillis, (at) => void outages.push([at - from, what]))
    const failing = Effect.gen(function* () {
      yield* Effect.sleep(outageFrom * 1_000)
      yield* outage.begin
      yield* noted("begins to fail")
      yield* Effect.sleep(outageSeconds * 1_000)
      yield* Effect.raceFirst(outage.felt, Effect.sleep(outageSeconds * 1_000))
      yield* outage.end
      yield* noted("is well again")
    })
    yield* Effect.all([...loops, ...second, failing, progress(tenants, print)], {
      concurrency: "unbounded",
      discard: true,
    })
    const end = yield* settled(gateway, client)
    for (const line of tableOf(tenants, end)) yield* print(line)
    for (const line of circuitOf(flaky, outages, end, from)) yield* print(line)
    yield* print(`fairness: ${jain(tenants).toFixed(4)} (Jain's index of requests served; 1 is equal shares)`)
    const wrong = leaksOf(end, client, tenants.reduce((sum, tenant) => sum + tenant.failed, 0))
    yield* print(wrong.length === 0 ? "leaks: none" : `leaks: ${wrong.join(", ")}`)
    return wrong.length === 0 ? 0 : 1
  })

const tenantOf = (name: string, clients: number): Tenant => ({
  name,
  clients,
  served: 0,
  refused: 0,
  failed: 0,
  millis: [],
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

const loop = (client: Client, tenant: Tenant, from: number): Effect.Effect<void> =>
  Effect.gen(function* () {
    for (;;) {
      const before = yield* Clock.currentTimeMillis
      if (before - from >= seconds * 1_000) return
      const answer = yield* client.get(tenant, path)
      const after = yield* Clock.currentTimeMillis
      if (answer.status === 200) tenant.millis.push(after - before)
      count(tenant, answer, after - from)
      if (answer.status !== 200) yield* Effect.sleep(pauseMillis)
    }
  })

const flakyLoop = (client: Client, tenant: Tenant, flaky: Flaky, from: number): Effect.Effect<void> =>
  Effect.gen(function* () {
    while ((yield* Clock.currentTimeMillis) - from < seconds * 1_000) {
      const answer = yield* client.get(tenant, "/flaky/")
      if (answer.status === 500 && answer.error === undefined) flaky.faulty++
      else if (answer.error === "CircuitOpen") flaky.spared++
      else count(tenant, answer, (yield* Clock.currentTimeMillis) - from)
      if (answer.status !== 200) yield* Effect.sleep(pauseMillis)
    }
  })

const count = (tenant: Tenant, { status }: Answer, atMillis: number): void => {
  // What the line still holds at the end is served too, and is nobody's share of the ten seconds.
  if (status === 200) tenant.served += atMillis < seconds * 1_000 ? 1 : 0
  else if (status === 429 || status === 503 || status === 504) tenant.refused++
  else tenant.failed++
}

const progress = (tenants: ReadonlyArray<Tenant>, print: Print): Effect.Effect<void> =>
  Effect.gen(function* () {
    for (let second = 1; second <= seconds; second++) {
      yield* Effect.sleep(1_000)
      const served = tenants.map(({ name, served }) => `${name} ${served}`).join(", ")
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

const jain = (tenants: ReadonlyArray<Tenant>): number => {
  const sum = tenants.reduce((total, { served }) => total + served, 0)
  const squares = tenants.reduce((total, { served }) => total + served * served, 0)
  return squares === 0 ? 0 : sum * sum / (tenants.length * squares)
}

const tableOf = (tenants: ReadonlyArray<Tenant>, end: Overview): ReadonlyArray<string> => {
  const rows = tenants.map(({ name, served, refused, millis }) => {
    const sorted = millis.toSorted((a, b) => a - b)
    const wait = end.waits.find(({ tenant }) => tenant === name)
    const waited = wait === undefined ? 0 : wait.totalMillis / wait.requests
    return [name, String(served), String(refused), at(sorted, 0.5), at(sorted, 0.99), `${waited.toFixed(1)} ms`]
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
    .map(({ atMillis, event }) => [atMillis - from, `circuit ${event}`] as const)
  const rows = [...outages, ...seen].toSorted(([a], [b]) => a - b)
    .map(([millis, what]) => [what, `${(millis / 1_000).toFixed(2)} s`])
  const state = end.gates.find(({ provider }) => provider === "flaky")?.circuit ?? "unknown"
  return [
    ...aligned([["flaky", "at"], ...rows]),
    `flaky failed ${flaky.faulty} calls and was spared ${flaky.spared}; its circuit is ${state}`,
  ]
}

const at = (sorted: ReadonlyArray<number>, share: number): string =>
  sorted.length === 0 ? "-" : `${sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]} ms`
