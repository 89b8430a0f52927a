/**
 * The shape of the configuration file, and everything that can be wrong with one. It owns nothing.
 *
 * The shape is a Schema; what relates two places of the file is in `ConfigRelations`. Both look at the same data, so that
 * one run names the mistakes of both kinds.
 */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import * as Address from "./Address.ts"
import type { Environment, Mistake } from "./ConfigRelations.ts"
import * as Relations from "./ConfigRelations.ts"

export interface Provider {
  readonly url?: string
  readonly serves?: "demo"
  readonly timeout?: string
  readonly gate?: {
    readonly concurrency?: number
    readonly tenantConcurrency?: number
    readonly failureThreshold?: number
    readonly recoveryAfter?: string
  }
  readonly headers?: { readonly [name: string]: { readonly env: string } }
}

/** The file as it is written. */
export interface File {
  readonly gateway?: { readonly host?: string; readonly port?: number }
  readonly operator?: { readonly host?: string; readonly port?: number; readonly tenantLabels?: boolean }
  readonly identity?: {
    readonly by: "bearer" | "proxy"
    readonly header?: string
    readonly addresses?: ReadonlyArray<string>
  }
  readonly tenants: {
    readonly [name: string]: {
      readonly tokens?: ReadonlyArray<string>
      readonly providers: ReadonlyArray<string>
      readonly weight?: number
    }
  }
  readonly providers: { readonly [name: string]: Provider }
  readonly admission: {
    readonly maxRunning: number
    readonly maxPerTenant?: number
    readonly maxPerProvider?: number
    readonly maxPerPair?: number
    readonly maxQueued?: number
    readonly maxQueuedPerTenant?: number
    readonly maxWait?: Duration.Input
    readonly estimate?: "off" | "on"
    readonly drainWaiting?: "serve" | "refuse"
  }
  readonly http?: {
    readonly maxHeaderBytes?: number
    readonly maxHeaderLines?: number
    readonly maxTargetBytes?: number
    readonly maxBodyBytes?: number
    readonly maxConnections?: number
    readonly headerTimeout?: string
    readonly bodyIdle?: string
  }
  readonly drain?: string
}

const whole = (minimum: number, maximum: number): Schema.Number => {
  const rule = `must be a whole number from ${minimum} to ${maximum}`
  const within = (value: number): boolean => Number.isInteger(value) && value >= minimum && value <= maximum
  return Schema.Number.annotate({ message: rule }).check(
    Schema.makeFilter((value: number) => within(value) ? undefined : rule),
  )
}

const passing = (test: (text: string) => boolean, rule: string): Schema.String =>
  Schema.String.annotate({ message: rule }).check(Schema.makeFilter((text: string) => test(text) ? undefined : rule))

const matching = (pattern: RegExp, rule: string): Schema.String => passing((text) => pattern.test(text), rule)

const millisOf = (text: unknown): number => {
  const duration = Duration.fromInput(text as Duration.Input)
  return duration._tag === "Some" ? Duration.toMillis(duration.value) : NaN
}

const span: Schema.String = passing(
  (text) => millisOf(text) >= 1 && millisOf(text) <= 3_600_000,
  'must be a duration such as "500 millis", "5 seconds" or "2 minutes", from 1 millis to 1 hour',
)

const isBase = (text: string): boolean => {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "" &&
    url.search === "" && url.hash === ""
}

const header = /^[A-Za-z0-9-]{1,64}$/
const host = matching(/^[A-Za-z0-9.:-]{1,253}$/, "must be a host name or an address")
const units = whole(1, 1_048_576)
const places = whole(0, 1_048_576)
const opt = Schema.optionalKey

const shape = Schema.Struct({
  gateway: opt(Schema.Struct({ host: opt(host), port: opt(whole(0, 65_535)) })),
  operator: opt(
    Schema.Struct({ host: opt(host), port: opt(whole(0, 65_535)), tenantLabels: opt(Schema.Boolean) }),
  ),
  identity: opt(Schema.Struct({
    by: Schema.Literals(["bearer", "proxy"]),
    header: opt(matching(header, "must be a header name of letters, digits and -")),
    addresses: opt(
      Schema.Array(passing((text) => Address.canonical(text) !== undefined, "must be an IPv4 or IPv6 address")),
    ),
  })),
  tenants: Schema.Record(
    Schema.String,
    Schema.Struct({
      tokens: opt(Schema.Array(matching(/^sha256:[0-9a-f]{64}$/, "must be sha256: and 64 hex digits in lower case"))),
      providers: Schema.Array(Schema.String),
      weight: opt(whole(1, 1_000)),
    }),
  ),
  providers: Schema.Record(
    Schema.String,
    Schema.Struct({
      url: opt(passing(isBase, "must be an http or https URL without user, query and fragment")),
      serves: opt(Schema.Literals(["demo"])),
      timeout: opt(span),
      gate: opt(Schema.Struct({
        concurrency: opt(whole(1, Relations.maxPlaces)),
        tenantConcurrency: opt(whole(1, Relations.maxPlaces)),
        failureThreshold: opt(whole(1, 1_000)),
        recoveryAfter: opt(span),
      })),
      headers: opt(Schema.Record(
        Schema.String,
        Schema.Struct({ env: matching(/^[A-Za-z_][A-Za-z0-9_]*$/, "must be the name of an environment variable") })
          .annotate({ message: 'must be { "env": "NAME" }, naming the environment variable with the value' }),
      )),
    }),
  ),
  admission: Schema.Struct({
    maxRunning: units,
    maxPerTenant: opt(units),
    maxPerProvider: opt(units),
    maxPerPair: opt(units),
    maxQueued: opt(places),
    maxQueuedPerTenant: opt(places),
    maxWait: opt(span),
    estimate: opt(Schema.Literals(["off", "on"])),
    drainWaiting: opt(Schema.Literals(["serve", "refuse"])),
  }),
  http: opt(Schema.Struct({
    maxHeaderBytes: opt(whole(1_024, 65_536)),
    // The server inside Bun answers 431 itself to more than 198.
    maxHeaderLines: opt(whole(1, 190)),
    maxTargetBytes: opt(whole(16, 65_536)),
    maxBodyBytes: opt(whole(0, 1_099_511_627_776)),
    maxConnections: opt(whole(1, 65_536)),
    headerTimeout: opt(span),
    bodyIdle: opt(span),
  })),
  drain: opt(span),
})

const check = Schema.decodeUnknownExit(shape, { errors: "all", onExcessProperty: "error" })
const format = SchemaIssue.makeFormatterStandardSchemaV1()

/**
 * The file, or all its mistakes in one list, `repeated` being paths of keys that its text names twice. No message repeats a
 * value, but for the name of a variable that is not set.
 */
export const read = (
  json: unknown,
  environment: Environment,
  repeated: ReadonlyArray<string>,
): { readonly file: File } | { readonly mistakes: ReadonlyArray<Mistake> } => {
  const exit = check(json)
  const twice = repeated.map((path) => ({ path, rule: "is named twice" }))
  const mistakes = [...twice, ...shapeMistakes(exit), ...Relations.mistakes(json, environment)]
  if (Exit.isSuccess(exit) && mistakes.length === 0) return { file: exit.value as File }
  return { mistakes: mistakes.map(({ path, rule }) => ({ path: printable(path), rule })) }
}

/** Keys are the file's own text, which must not steer a terminal. */
const printable = (path: string): string => path.replace(/[^\x20-\x7e]/g, "?")

const shapeMistakes = (exit: Exit.Exit<unknown, Schema.SchemaError>): ReadonlyArray<Mistake> => {
  if (Exit.isSuccess(exit)) return []
  return exit.cause.reasons.filter(Cause.isFailReason).flatMap(({ error }) =>
    format(error.issue).issues.map(({ path, message }) => ({
      path: ["$", ...path ?? []].map(String).join("."),
      rule: ruleOf(message),
    }))
  )
}

const articles: Readonly<Record<string, string>> = {
  array: "a list",
  boolean: "true or false",
  object: "an object",
  string: "a string",
}

const ruleOf = (message: string): string => {
  if (message === "Expected no excess property") return "is not a known key"
  if (message === "Missing key") return "is missing"
  const expected = /^Expected (.*)$/.exec(message)?.[1]
  return expected === undefined ? message : `must be ${articles[expected] ?? expected.replaceAll(" | ", " or ")}`
}
