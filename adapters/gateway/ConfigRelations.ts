/**
 * What must hold between places of a configuration file: names that refer to each other, and limits of one another.
 *
 * It looks at unchecked data and skips what has the wrong shape, for that is named elsewhere. It owns nothing.
 */
import * as HeaderFields from "./HeaderFields.ts"

/** One mistake: where, and the rule that it breaks. Values are not repeated, since one may be a token put there in error. */
export interface Mistake {
  readonly path: string
  readonly rule: string
}

/** What the file's `env` names stand for; asked once, when the configuration is read. */
export type Environment = (name: string) => string | undefined

const name = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
const nameRule = "a name must be 1 to 64 letters, digits, . _ or -, and begin with a letter or digit"
const maxTokens = 1_000
/** As many gates as are kept. */
export const maxProviders = 1_024
/** What a gate can have. */
export const maxPlaces = 4_096

type Json = { readonly [key: string]: unknown }

const objectOf = (value: unknown): Json =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? value as Json : {}
const listOf = (value: unknown): ReadonlyArray<unknown> => Array.isArray(value) ? value : []

/** All mistakes between places, in the order of tenants, providers, identity, limits. */
export const mistakes = (json: unknown, environment: Environment): ReadonlyArray<Mistake> => {
  const file = objectOf(json)
  const admission = objectOf(file["admission"])
  const providers = Object.entries(objectOf(file["providers"]))
  return [
    ...ofTenants(file),
    ...(providers.length > maxProviders
      ? [{ path: "$.providers", rule: `must hold at most ${maxProviders} providers` }]
      : []),
    ...providers.flatMap(([key, value]) => [
      ...ofProvider(key, objectOf(value), environment),
      ...ofGate(`$.providers.${key}.gate`, objectOf(objectOf(value)["gate"]), admission),
    ]),
    ...ofIdentity(file),
    ...ofLimits(admission),
    ...ofHttp(objectOf(file["http"])),
  ]
}

const ofTenants = (file: Json): ReadonlyArray<Mistake> => {
  const providers = objectOf(file["providers"])
  const bearer = objectOf(file["identity"])["by"] !== "proxy"
  const seen = new Map<unknown, string>()
  const found: Array<Mistake> = []
  for (const [key, value] of Object.entries(objectOf(file["tenants"]))) {
    const path = `$.tenants.${key}`
    const tenant = objectOf(value)
    if (!name.test(key)) found.push({ path, rule: nameRule })
    if (bearer && listOf(tenant["tokens"]).length === 0) {
      found.push({ path: `${path}.tokens`, rule: "must hold a token" })
    }
    listOf(tenant["providers"]).forEach((provider, index) => {
      if (typeof provider !== "string" || Object.hasOwn(providers, provider)) return
      found.push({ path: `${path}.providers.${index}`, rule: "must be a key of $.providers" })
    })
    listOf(tenant["tokens"]).forEach((token, index) => {
      const at = `${path}.tokens.${index}`
      const first = seen.get(token)
      if (first !== undefined) found.push({ path: at, rule: `must be one tenant's alone, and is at ${first} too` })
      else seen.set(token, at)
    })
  }
  if (seen.size > maxTokens) found.push({ path: "$.tenants", rule: `must hold at most ${maxTokens} tokens` })
  return found
}

const ofProvider = (key: string, provider: Json, environment: Environment): ReadonlyArray<Mistake> => {
  const path = `$.providers.${key}`
  const found: Array<Mistake> = []
  if (!name.test(key)) found.push({ path, rule: nameRule })
  if (("url" in provider) === ("serves" in provider)) found.push({ path, rule: "must have either a url or serves" })
  const seen = new Map<string, string>()
  for (const [header, value] of Object.entries(objectOf(provider["headers"]))) {
    const at = `${path}.headers.${header}`
    const first = seen.get(header.toLowerCase())
    if (first !== undefined) found.push({ path: at, rule: `is named twice, as ${first} too` })
    seen.set(header.toLowerCase(), header)
    if (!/^[A-Za-z0-9-]{1,64}$/.test(header)) {
      found.push({ path: at, rule: "must be a header name of letters, digits and -" })
    }
    if (HeaderFields.isOfHop(header)) {
      found.push({ path: at, rule: "is a header of the connection, which is the gateway's to write" })
    }
    const env = objectOf(value)["env"]
    if (typeof env !== "string") continue
    const secret = environment(env)
    if (secret === undefined || secret === "") {
      found.push({ path: `${at}.env`, rule: `${shown(env)} must be set in the environment` })
    } else if (!/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(secret)) {
      found.push({ path: `${at}.env`, rule: `${shown(env)} must stand for printable ASCII` })
    }
  }
  return found
}

/** Words of capitals with an underscore between: a secret that somebody put in the place of its variable hardly ever is. */
const shown = (env: string): string => /^(?=.{1,64}$)[A-Z][A-Z0-9]*(_[A-Z0-9]+)+$/.test(env) ? env : "the variable"

interface Places {
  readonly concurrency?: number
  readonly tenantConcurrency?: number
}

/** The places of a gate: as many as the Admission could ever fill, unless it has fewer of its own. */
export const placesOf = (
  gate: Places,
  admission: { readonly [Limit in "maxRunning" | "maxPerProvider" | "maxPerTenant" | "maxPerPair"]?: number },
): Required<Places> => {
  const least = (...limits: ReadonlyArray<number | undefined>): number =>
    Math.min(...limits.map((limit) => limit ?? Infinity))
  const { maxRunning, maxPerProvider, maxPerTenant, maxPerPair } = admission
  const concurrency = gate.concurrency ?? least(maxPlaces, maxRunning, maxPerProvider)
  return {
    concurrency,
    tenantConcurrency: gate.tenantConcurrency ?? least(concurrency, maxPerTenant, maxPerPair),
  }
}

const ofGate = (path: string, gate: Json, admission: Json): ReadonlyArray<Mistake> => {
  const { concurrency } = placesOf(numbersOf(gate), numbersOf(admission))
  const own = gate["tenantConcurrency"]
  if (typeof own !== "number" || own <= concurrency) return []
  return [{ path: `${path}.tenantConcurrency`, rule: `must be at most concurrency, which is ${concurrency}` }]
}

const numbersOf = (json: Json): { readonly [key: string]: number } =>
  Object.fromEntries(Object.entries(json).filter((entry): entry is [string, number] => typeof entry[1] === "number"))

const ofIdentity = (file: Json): ReadonlyArray<Mistake> => {
  const identity = objectOf(file["identity"])
  const proxy = identity["by"] === "proxy"
  const rule = proxy ? "is missing" : "belongs to identity by proxy alone"
  const names = ["header", "addresses"].filter((key) => (key in identity) !== proxy)
  const found = names.map((key) => ({ path: `$.identity.${key}`, rule }))
  const header = identity["header"]
  if (typeof header === "string" && HeaderFields.isOfHop(header)) {
    found.push({ path: "$.identity.header", rule: "is a header of the connection, which names nobody" })
  }
  if (Array.isArray(identity["addresses"]) && identity["addresses"].length === 0) {
    return [...found, { path: "$.identity.addresses", rule: "must hold an address" }]
  }
  return found
}

const ofLimits = (admission: Json): ReadonlyArray<Mistake> => {
  const total = admission["maxRunning"]
  if (typeof total !== "number") return []
  return ["maxPerTenant", "maxPerProvider", "maxPerPair"].flatMap((key) => {
    const limit = admission[key]
    if (typeof limit !== "number" || limit <= total) return []
    return [{ path: `$.admission.${key}`, rule: `must be at most maxRunning, which is ${total}` }]
  })
}

const ofHttp = (http: Json): ReadonlyArray<Mistake> => {
  const bytes = http["maxHeaderBytes"] ?? 16_384
  const target = http["maxTargetBytes"]
  if (typeof target !== "number" || typeof bytes !== "number" || target <= bytes) return []
  return [{ path: "$.http.maxTargetBytes", rule: `must be at most maxHeaderBytes, which is ${bytes}` }]
}
