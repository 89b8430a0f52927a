/**
 * The options of `Admission` and what they come to: every value checked at the door, defaults filled in. Owns nothing.
 *
 * A default is the smaller of its table value and what the given limits allow, so `{ maxRunning: 1 }` is enough.
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Complete, Limits } from "./AdmissionLimits.ts"
import { unlimited } from "./kernel/Ledger.ts"
import * as Limit from "./Limits.ts"
import { InvalidLimits } from "./Refusal.ts"

/** How urgent an ask is, most urgent first. Higher ones are served first and may use the reserves of lower ones. */
export type Priority = "emergency" | "control" | "normal" | "notification"

export const priorities: ReadonlyArray<Priority> = ["emergency", "control", "normal", "notification"]

export interface Options extends Limits {
  /** The longest wait of an ask, above 0 and at most 1 hour; 5 seconds by default. It bounds the wait, not the work. */
  readonly maxWait?: Duration.Input | undefined
  /** Units that lower classes may not use; together below `maxRunning`. None by default. */
  readonly reserved?: Partial<Record<Priority, number>> | undefined
  /** The share of a tenant, whole, 1 to 1,000; 1 by default. Called once while the tenant's record lives. */
  readonly weights?: ((tenant: string) => number) | undefined
  /**
   * Units that later asks may take past a large one before freed units are set aside for it: 0 to 16 x `maxRunning`;
   * `maxRunning` by default. Whatever it says, each tenant of the same class takes at most the largest cost out of turn.
   */
  readonly maxBypass?: number | undefined
  /**
   * `"on"` refuses at once, as `TooLate`, what would not be granted in time at the observed rate: once 32 grants have
   * been seen with somebody waiting, and nobody before. It learns apart for costs of like size, by powers of two, how much
   * later than by their turn asks come to theirs. Off by default.
   */
  readonly estimate?: "off" | "on" | undefined
  /** Whether a drain serves those who wait already, or refuses them. It serves by default. */
  readonly drainWaiting?: "serve" | "refuse" | undefined
  /** The label that a tenant's counts go under in snapshots; undefined leaves it out. No labels by default. */
  readonly labels?: ((tenant: string) => string | undefined) | undefined
}

/** Options after the door: complete, and known to obey every rule. Absent caps are `unlimited`. */
export interface Settings {
  readonly limits: Complete
  readonly maxWaitNanos: number
  /** By class, highest first. */
  readonly reserves: ReadonlyArray<number>
  readonly weights: ((tenant: string) => number) | undefined
  readonly maxBypass: number
  readonly estimate: boolean
  readonly drainWaiting: "serve" | "refuse"
  readonly labels: ((tenant: string) => string | undefined) | undefined
}

const system = "Admission"
const hourMillis = 3_600_000

const known: Readonly<Record<keyof Options, true>> = {
  maxRunning: true,
  maxPerTenant: true,
  maxPerProvider: true,
  maxPerPair: true,
  maxQueued: true,
  maxQueuedPerTenant: true,
  maxWait: true,
  reserved: true,
  weights: true,
  maxBypass: true,
  estimate: true,
  drainWaiting: true,
  labels: true,
}

/** Checks the options; the first rule that one breaks is the error. A name that is none is a slip, and not passed over. */
export const decode = (options: Options): Effect.Effect<Settings, InvalidLimits> =>
  Effect.gen(function* () {
    if (typeof options !== "object" || options === null) {
      return yield* Effect.fail(new InvalidLimits({ system, limit: "options", rule: "an object", value: options }))
    }
    const stranger = Object.keys(options).find((name) => !Object.hasOwn(known, name))
    if (stranger !== undefined) {
      const rule = `one of the options ${Object.keys(known).join(", ")}`
      const value = (options as unknown as Readonly<Record<string, unknown>>)[stranger]
      return yield* Effect.fail(new InvalidLimits({ system, limit: stranger, rule, value }))
    }
    const whole = (limit: string, value: unknown, min: number, max: number) =>
      Effect.fromResult(Limit.count(system, limit, value, { min, max }))
    const maxRunning = yield* whole("maxRunning", options.maxRunning, 1, Limit.most)
    const cap = (limit: "maxPerTenant" | "maxPerProvider" | "maxPerPair") =>
      options[limit] === undefined ? Effect.succeed(unlimited) : whole(limit, options[limit], 1, maxRunning)
    const maxQueued = yield* whole("maxQueued", or(options.maxQueued, 1_024), 0, Limit.most)
    const fewer = Math.min(128, maxQueued)
    return {
      limits: {
        maxRunning,
        maxPerTenant: yield* cap("maxPerTenant"),
        maxPerProvider: yield* cap("maxPerProvider"),
        maxPerPair: yield* cap("maxPerPair"),
        maxQueued,
        maxQueuedPerTenant: yield* whole("maxQueuedPerTenant", or(options.maxQueuedPerTenant, fewer), 0, Limit.most),
      },
      maxWaitNanos: 1e6 * (yield* Effect.fromResult(
        Limit.duration(system, "maxWait", or(options.maxWait, "5 seconds"), hourMillis),
      )),
      reserves: yield* reserves(options.reserved, maxRunning),
      weights: yield* callback("weights", options.weights),
      maxBypass: yield* whole("maxBypass", or(options.maxBypass, maxRunning), 0, 16 * maxRunning),
      estimate: (yield* choice("estimate", or(options.estimate, "off"), ["off", "on"])) === "on",
      drainWaiting: yield* choice("drainWaiting", or(options.drainWaiting, "serve"), ["serve", "refuse"]),
      labels: yield* callback("labels", options.labels),
    }
  })

/** A default stands in for what was left out alone: null is a value like any other, and a wrong one. */
const or = <A>(value: A | undefined, otherwise: A): A => value === undefined ? otherwise : value

const choice = <const W extends string>(
  limit: string,
  value: unknown,
  words: ReadonlyArray<W>,
): Effect.Effect<W, InvalidLimits> => Effect.fromResult(Limit.word(system, limit, value, words))

const callback = <F>(limit: string, value: F): Effect.Effect<F, InvalidLimits> =>
  value === undefined || typeof value === "function"
    ? Effect.succeed(value)
    : Effect.fail(new InvalidLimits({ system, limit, rule: "a function of the tenant's key", value }))

const reserves = (
  reserved: Options["reserved"],
  maxRunning: number,
): Effect.Effect<ReadonlyArray<number>, InvalidLimits> =>
  Effect.gen(function* () {
    const given = or(reserved, {})
    const bad = (limit: string, rule: string, value: unknown) => new InvalidLimits({ system, limit, rule, value })
    if (typeof given !== "object" || given === null) {
      return yield* Effect.fail(bad("reserved", "units by priority", given))
    }
    for (const name of Object.keys(given)) {
      if (!(priorities as ReadonlyArray<string>).includes(name)) {
        return yield* Effect.fail(bad("reserved", `keyed by ${priorities.join(", ")}`, name))
      }
    }
    const units: Array<number> = []
    for (const priority of priorities) {
      const value = or(given[priority], 0)
      units.push(
        yield* Effect.fromResult(
          Limit.count(system, `reserved.${priority}`, value, { min: 0, max: maxRunning - 1 }),
        ),
      )
    }
    const sum = units.reduce((all, each) => all + each, 0)
    if (sum >= maxRunning) return yield* Effect.fail(bad("reserved", "below maxRunning in all", sum))
    return units
  })
