/**
 * The gateway's configuration: a JSON file checked as a whole before anything starts, every mistake named with its path.
 *
 * A key that is not known is a mistake. Nothing secret is in the file: tokens are there as SHA-256 hashes, and a
 * provider's own credentials are named as environment variables. It owns nothing.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { Buffer } from "node:buffer"
import type { Options } from "../../core/AdmissionOptions.ts"
import type { ProviderLimits } from "../../core/GateOptions.ts"
import { Refusal } from "../../core/Refusal.ts"
import * as ConfigFile from "./ConfigFile.ts"
import type { Environment, Mistake } from "./ConfigRelations.ts"
import * as Relations from "./ConfigRelations.ts"
import * as JsonFault from "./JsonFault.ts"
import * as RepeatedKeys from "./RepeatedKeys.ts"
import type { Tenant, Token } from "./Tenants.ts"

export interface Listen {
  readonly host: string
  readonly port: number
}

/** What is left out of the file is decided in `gateOf`. */
export type Gate =
  & ProviderLimits
  & { readonly concurrency: number; readonly tenantConcurrency: number }

/** `base` is where its paths begin, or `demo` for the one that the gateway serves itself. `timeout` bounds a whole call. */
export interface Provider {
  readonly name: string
  readonly base: URL | "demo"
  readonly timeout: Duration.Duration
  readonly gate: Gate
  readonly headers: ReadonlyArray<readonly [name: string, value: Redacted.Redacted]>
}

export type Identity =
  | { readonly by: "bearer"; readonly tokens: ReadonlyArray<Token> }
  | { readonly by: "proxy"; readonly header: string; readonly addresses: ReadonlySet<string> }

export interface HttpLimits {
  readonly maxHeaderBytes: number
  readonly maxHeaderLines: number
  readonly maxTargetBytes: number
  readonly maxBodyBytes: number
  readonly maxConnections: number
  /** From the connection, or the last response, to the end of a header. */
  readonly headerTimeout: Duration.Duration
  /** How long a body may move no byte. */
  readonly bodyIdle: Duration.Duration
}

export interface Config {
  readonly gateway: Listen
  readonly operator: Listen & { readonly tenantLabels: boolean }
  readonly identity: Identity
  readonly tenants: ReadonlyMap<string, Tenant>
  readonly providers: ReadonlyMap<string, Provider>
  readonly admission: Options
  readonly http: HttpLimits
  /** How long a drain may take. */
  readonly drain: Duration.Duration
}

/** All mistakes of a configuration: keys named twice, those of its shape, those between places. Nothing was started. */
export class InvalidConfig extends Refusal {
  readonly _tag = "InvalidConfig"
  override readonly name = "InvalidConfig"
  readonly mistakes: ReadonlyArray<Mistake>
  constructor(facts: { readonly mistakes: ReadonlyArray<Mistake> }) {
    super()
    this.mistakes = facts.mistakes
  }
  override get message(): string {
    const lines = this.mistakes.map(({ path, rule }) => `  ${path}: ${rule}`)
    return `the configuration has ${lines.length === 1 ? "a mistake" : `${lines.length} mistakes`}:\n${
      lines.join("\n")
    }`
  }
}

/** Reads the text of a configuration file. */
export const parse = (text: string, environment: Environment): Effect.Effect<Config, InvalidConfig> =>
  Effect.try({
    try: (): unknown => JSON.parse(text),
    // The parser's own message quotes the text.
    catch: () => new InvalidConfig({ mistakes: [{ path: "$", rule: `is not JSON${placeOf(JsonFault.find(text))}` }] }),
  }).pipe(Effect.flatMap((json) => decoded(json, environment, RepeatedKeys.find(text))))

/** A parser may give up on what is JSON, if it is nested too deeply. */
const placeOf = (place: JsonFault.Place | undefined): string =>
  place === undefined ? " that can be read" : ` at line ${place.line}, column ${place.column}`

/** Reads a configuration that is data already. */
export const decode = (json: unknown, environment: Environment): Effect.Effect<Config, InvalidConfig> =>
  decoded(json, environment, [])

const decoded = (
  json: unknown,
  environment: Environment,
  repeated: ReadonlyArray<string>,
): Effect.Effect<Config, InvalidConfig> =>
  Effect.suspend(() => {
    const read = ConfigFile.read(json, environment, repeated)
    return "mistakes" in read ? Effect.fail(new InvalidConfig(read)) : Effect.succeed(resolved(read.file, environment))
  })

const resolved = (file: ConfigFile.File, environment: Environment): Config => {
  const tenants = new Map(
    Object.entries(file.tenants).map(([name, { providers }]) => [name, { name, providers: new Set(providers) }]),
  )
  const weights = new Map(Object.entries(file.tenants).map(([name, { weight }]) => [name, weight ?? 1]))
  return {
    gateway: { host: "127.0.0.1", port: 8080, ...file.gateway },
    operator: { host: "127.0.0.1", port: 8081, tenantLabels: false, ...file.operator },
    identity: identityOf(file, tenants),
    tenants,
    providers: new Map(
      Object.entries(file.providers).map((
        [name, provider],
      ) => [name, providerOf(name, provider, file.admission, environment)]),
    ),
    admission: { ...file.admission, weights: (tenant) => weights.get(tenant) ?? 1 },
    http: {
      maxHeaderBytes: 16_384,
      maxHeaderLines: 100,
      maxTargetBytes: 8_192,
      maxBodyBytes: 268_435_456,
      maxConnections: 1_024,
      ...file.http,
      headerTimeout: durationOf(file.http?.headerTimeout, "10 seconds"),
      bodyIdle: durationOf(file.http?.bodyIdle, "30 seconds"),
    },
    drain: durationOf(file.drain, "10 seconds"),
  }
}

const durationOf = (given: string | undefined, otherwise: Duration.Input): Duration.Duration =>
  Duration.fromInputUnsafe((given ?? otherwise) as Duration.Input)

const identityOf = (file: ConfigFile.File, tenants: ReadonlyMap<string, Tenant>): Identity => {
  if (file.identity?.by === "proxy") {
    return {
      by: "proxy",
      header: (file.identity.header ?? "").toLowerCase(),
      addresses: new Set(file.identity.addresses),
    }
  }
  const tokens = Object.entries(file.tenants).flatMap(([name, { tokens = [] }]) =>
    tokens.map((token) => ({ hash: Buffer.from(token.slice("sha256:".length), "hex"), tenant: tenants.get(name)! }))
  )
  return { by: "bearer", tokens }
}

const providerOf = (
  name: string,
  provider: ConfigFile.Provider,
  admission: ConfigFile.File["admission"],
  environment: Environment,
): Provider => {
  const timeout = durationOf(provider.timeout, "30 seconds")
  return {
    name,
    base: provider.url === undefined ? "demo" : new URL(provider.url),
    timeout,
    gate: gateOf(provider.gate ?? {}, admission, timeout),
    headers: Object.entries(provider.headers ?? {}).map(([header, { env }]) =>
      [header.toLowerCase(), Redacted.make(environment(env) ?? "", { label: env })] as const
    ),
  }
}

const maxProbe = Duration.minutes(10)
/** From the deadline of a call to its verdict, on a busy machine. */
const slack = Duration.seconds(5)

/**
 * A gate has no line, so that places below those of the Admission turn away what would have waited there: by default it
 * has as many. Nothing is reserved, for the gateway's calls are all of one priority.
 */
const gateOf = (
  gate: NonNullable<ConfigFile.Provider["gate"]>,
  admission: ConfigFile.File["admission"],
  timeout: Duration.Duration,
): Gate => {
  const { concurrency, tenantConcurrency } = Relations.placesOf(gate, admission)
  return {
    concurrency,
    tenantConcurrency,
    reservedControl: 0,
    failureThreshold: gate.failureThreshold ?? 5,
    recoveryAfter: durationOf(gate.recoveryAfter, "30 seconds"),
    // The lease of a probe: its call is over and judged by then, or the next probe would make it stale.
    maxElapsed: Duration.min(Duration.sum(timeout, slack), maxProbe),
  }
}

/** What starts without a file: three tenants and the provider that the gateway serves itself. */
export const embedded: ConfigFile.File = {
  tenants: {
    alpha: {
      tokens: ["sha256:5bff3ad2afa32f97bd6af0f4a9901aad72a21b9f711fb6d82e2648dbc18e8575"],
      providers: ["demo"],
    },
    bravo: {
      tokens: ["sha256:3532beafb222b78c196fe091f64aba9b467b359c7d1f2befc754c369975e0913"],
      providers: ["demo"],
    },
    charlie: {
      tokens: ["sha256:55fee9b0ab63afe8063e4565ae1a91b016c303ed12a6ad72b3d808985b9e717b"],
      providers: ["demo"],
    },
  },
  providers: { demo: { serves: "demo" } },
  admission: { maxRunning: 8, maxQueued: 256, maxQueuedPerTenant: 64 },
}

/** The embedded configuration with one more provider, which every tenant may use. */
export const withProvider = (name: string, provider: ConfigFile.Provider): ConfigFile.File => ({
  ...embedded,
  tenants: Object.fromEntries(
    Object.entries(embedded.tenants).map(([tenant, one]) => [tenant, { ...one, providers: [...one.providers, name] }]),
  ),
  providers: { ...embedded.providers, [name]: provider },
})
