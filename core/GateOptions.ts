/**
 * The options of a provider gate and what they come to: every value checked at the door, defaults filled in. Owns nothing.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { CircuitEvent } from "./kernel/Circuit.ts"
import * as Limit from "./Limits.ts"
import { InvalidLimits } from "./Refusal.ts"

/** What a circuit goes by. */
export interface BreakerLimits {
  /** Failures in a row that open the circuit, 1 to 1,000; 5 by default. */
  readonly failureThreshold?: number | undefined
  /** How long it stays open before a probe, above 0 and at most 1 hour; 30 seconds by default. */
  readonly recoveryAfter?: Duration.Input | undefined
  /** The longest call of `run`, and how long a probe may stay unsettled; at most 10 minutes, 30 seconds by default. */
  readonly maxElapsed?: Duration.Input | undefined
}

/** The limits of one provider. A default is the smaller of its value here and what the given limits allow. */
export interface ProviderLimits extends BreakerLimits {
  /** Calls at once, 1 to 4,096; 16 by default. */
  readonly concurrency?: number | undefined
  /** Places that ordinary work may not use, 0 to `concurrency` - 1; 2 by default. */
  readonly reservedControl?: number | undefined
  /** Calls at once of one tenant, 1 to `concurrency`; 4 by default. Emergencies do not count. */
  readonly tenantConcurrency?: number | undefined
  /** The first wait of `backoff`, and its cap, at most 5 minutes; 100 milliseconds and 30 seconds by default. */
  readonly initialBackoff?: Duration.Input | undefined
  readonly maxBackoff?: Duration.Input | undefined
}

export interface Options extends ProviderLimits {
  /** `"apply"` lets the outcome of a call from before the circuit last changed count as well. Ignored by default. */
  readonly staleOutcomes?: "ignore" | "apply" | undefined
  /** Control calls of a tenant at its bound may use one reserved place, at most one a tenant. Off by default. */
  readonly reservedForTenantControl?: "off" | "on" | undefined
  /** The probe may use a reserved place when ordinary work has used its share. Off by default. */
  readonly reservedProbe?: "off" | "on" | undefined
  /** How `backoff` spreads callers. */
  readonly jitter?: "seeded" | "spread" | undefined
  /**
   * Told of every change of the circuit, in order, after the step that made it; what it does or throws changes nothing.
   * It may be async: it is not waited for, and what it rejects with is dropped.
   */
  readonly events?: ((event: CircuitEvent) => void) | undefined
}

/** Limits after the door: complete. */
export interface Complete {
  readonly concurrency: number
  readonly reservedControl: number
  readonly tenantConcurrency: number
  readonly failureThreshold: number
  readonly recoveryMillis: number
  readonly maxElapsedMillis: number
  readonly initialBackoffMillis: number
  readonly maxBackoffMillis: number
}

export interface Settings {
  readonly limits: Complete
  readonly staleOutcomes: "ignore" | "apply"
  readonly reservedForTenantControl: boolean
  readonly reservedProbe: boolean
  readonly jitter: "seeded" | "spread"
  readonly events: ((event: CircuitEvent) => void) | undefined
}

const system = "ProviderGate"
const minute = 60_000

type Known = Readonly<Record<string, true>>
const limitNames = {
  concurrency: true,
  reservedControl: true,
  tenantConcurrency: true,
  failureThreshold: true,
  recoveryAfter: true,
  maxElapsed: true,
  initialBackoff: true,
  maxBackoff: true,
} satisfies Record<keyof ProviderLimits, true>
const names = {
  ...limitNames,
  staleOutcomes: true,
  reservedForTenantControl: true,
  reservedProbe: true,
  jitter: true,
  events: true,
} satisfies Record<keyof Options, true>
const breakerNames = { failureThreshold: true, recoveryAfter: true, maxElapsed: true } satisfies Record<
  keyof BreakerLimits,
  true
>

const fail = (limit: string, rule: string, value: unknown, of: string = system): Effect.Effect<never, InvalidLimits> =>
  Effect.fail(new InvalidLimits({ system: of, limit, rule, value }))

/** A name that is none is a slip, and not passed over. */
export const onlyKnown = (given: object, known: Known, of: string): Effect.Effect<void, InvalidLimits> => {
  if (typeof given !== "object" || given === null) return fail("options", "an object", given, of)
  const stranger = Object.keys(given).find((name) => !Object.hasOwn(known, name))
  const rule = `one of the options ${Object.keys(known).join(", ")}`
  return stranger === undefined ? Effect.void : fail(stranger, rule, Reflect.get(given, stranger), of)
}

/** A default stands in for what was left out alone: null is a value like any other, and a wrong one. */
export const or = <A>(value: A | undefined, otherwise: A): A => value === undefined ? otherwise : value

const time = (
  limit: string,
  value: Duration.Input,
  maxMillis: number,
  of: string = system,
): Effect.Effect<number, InvalidLimits> => Effect.fromResult(Limit.duration(of, limit, value, maxMillis))

/** Checks the limits alone; the first rule that one breaks is the error. */
const limitsOf = (given: ProviderLimits, of: string = system): Effect.Effect<Complete, InvalidLimits> =>
  Effect.gen(function* () {
    const whole = (limit: string, value: unknown, min: number, max: number) =>
      Effect.fromResult(Limit.count(of, limit, value, { min, max }))
    const inTime = (limit: string, value: Duration.Input, maxMillis: number) => time(limit, value, maxMillis, of)
    const concurrency = yield* whole("concurrency", or(given.concurrency, 16), 1, 4_096)
    const fewer = { reserved: Math.min(2, concurrency - 1), tenant: Math.min(4, concurrency) }
    const maxBackoffMillis = yield* inTime("maxBackoff", or(given.maxBackoff, "30 seconds"), 5 * minute)
    const initial = or<Duration.Input>(given.initialBackoff, Math.min(100, maxBackoffMillis))
    return {
      concurrency,
      reservedControl: yield* whole("reservedControl", or(given.reservedControl, fewer.reserved), 0, concurrency - 1),
      tenantConcurrency: yield* whole("tenantConcurrency", or(given.tenantConcurrency, fewer.tenant), 1, concurrency),
      failureThreshold: yield* whole("failureThreshold", or(given.failureThreshold, 5), 1, 1_000),
      recoveryMillis: yield* inTime("recoveryAfter", or(given.recoveryAfter, "30 seconds"), 60 * minute),
      maxElapsedMillis: yield* inTime("maxElapsed", or(given.maxElapsed, "30 seconds"), 10 * minute),
      initialBackoffMillis: yield* inTime("initialBackoff", initial, maxBackoffMillis),
      maxBackoffMillis,
    }
  })

/** The limits of a breaker alone, checked. */
export const decodeBreaker = (options: BreakerLimits): Effect.Effect<Complete, InvalidLimits> =>
  Effect.andThen(
    onlyKnown(options, breakerNames, "CircuitBreaker"),
    Effect.suspend(() => limitsOf(options, "CircuitBreaker")),
  )

/** Checks all options. */
export const decode = (options: Options): Effect.Effect<Settings, InvalidLimits> =>
  Effect.gen(function* () {
    yield* onlyKnown(options, names, system)
    const word = <const W extends string>(limit: string, value: unknown, words: ReadonlyArray<W>) =>
      Effect.fromResult(Limit.word(system, limit, value, words))
    const onOrOff = (limit: "reservedForTenantControl" | "reservedProbe") =>
      Effect.map(word(limit, or(options[limit], "off"), ["off", "on"]), (chosen) => chosen === "on")
    const { events } = options
    if (events !== undefined && typeof events !== "function") return yield* fail("events", "a function", events)
    return {
      limits: yield* limitsOf(options),
      staleOutcomes: yield* word("staleOutcomes", or(options.staleOutcomes, "ignore"), ["ignore", "apply"]),
      reservedForTenantControl: yield* onOrOff("reservedForTenantControl"),
      reservedProbe: yield* onOrOff("reservedProbe"),
      jitter: yield* word("jitter", or(options.jitter, "seeded"), ["seeded", "spread"]),
      events,
    }
  })

/**
 * What the limits would be after `lower`: one that is left out stays, or follows one that it may not exceed, and none may
 * rise. The reserve follows nothing, since less of it is more for ordinary work.
 */
export const decodeLower = (current: Complete, next: ProviderLimits): Effect.Effect<Complete, InvalidLimits> =>
  Effect.gen(function* () {
    yield* onlyKnown(next, limitNames, system)
    const given = or(next.concurrency, current.concurrency)
    const concurrency = yield* Effect.fromResult(Limit.count(system, "concurrency", given, { min: 1, max: 4_096 }))
    const reserved = current.reservedControl
    if (next.reservedControl === undefined && concurrency <= reserved) {
      return yield* fail("concurrency", `above the ${reserved} reserved`, concurrency)
    }
    const maxBackoffMillis = yield* time("maxBackoff", or(next.maxBackoff, current.maxBackoffMillis), 5 * minute)
    const lowered = yield* limitsOf({
      concurrency,
      reservedControl: or(next.reservedControl, reserved),
      tenantConcurrency: or(next.tenantConcurrency, Math.min(current.tenantConcurrency, concurrency)),
      failureThreshold: or(next.failureThreshold, current.failureThreshold),
      recoveryAfter: or(next.recoveryAfter, current.recoveryMillis),
      maxElapsed: or(next.maxElapsed, current.maxElapsedMillis),
      initialBackoff: or(next.initialBackoff, Math.min(current.initialBackoffMillis, maxBackoffMillis)),
      maxBackoff: maxBackoffMillis,
    })
    for (const [name, field, inTime] of falling) {
      if (lowered[field] <= current[field]) continue
      const limit = inTime ? Duration.format(Duration.millis(current[field])) : current[field]
      const value = inTime ? Duration.format(Duration.millis(lowered[field])) : lowered[field]
      return yield* fail(name, `at most ${limit}, since limits only fall`, value)
    }
    return lowered
  })

const falling: ReadonlyArray<readonly [keyof ProviderLimits, keyof Complete, boolean]> = [
  ["concurrency", "concurrency", false],
  ["reservedControl", "reservedControl", false],
  ["tenantConcurrency", "tenantConcurrency", false],
  ["failureThreshold", "failureThreshold", false],
  ["recoveryAfter", "recoveryMillis", true],
  ["maxElapsed", "maxElapsedMillis", true],
  ["initialBackoff", "initialBackoffMillis", true],
  ["maxBackoff", "maxBackoffMillis", true],
]
