/**
 * The options of a provider gate and what they come to: every value checked at the door, defaults filled in. Owns nothing.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { CircuitEvent } from "./kernel/Circuit.ts"
import * as Limit from "./Limits.ts"
import { InvalidLimits } from "./Refusal.ts"

/** The limits of one provider. A default is the smaller of its value here and what the given limits allow. */
export interface ProviderLimits {
  /** Calls at once, 1 to 4,096; 16 by default. */
  readonly concurrency?: number | undefined
  /** Places that ordinary work may not use, 0 to `concurrency` - 1; 2 by default. */
  readonly reservedControl?: number | undefined
  /** Calls at once of one tenant, 1 to `concurrency`; 4 by default. Emergencies do not count. */
  readonly tenantConcurrency?: number | undefined
  /** Failures in a row that open the circuit, 1 to 1,000; 5 by default. */
  readonly failureThreshold?: number | undefined
  /** How long it stays open before a probe, above 0 and at most 1 hour; 30 seconds by default. */
  readonly recoveryAfter?: Duration.Input | undefined
  /** The longest call of `run`, and how long a probe may stay unsettled; at most 10 minutes, 30 seconds by default. */
  readonly maxElapsed?: Duration.Input | undefined
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
  /** Told of every change of the circuit, in order, after the step that made it; what it does or throws changes nothing. */
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

const whole = (limit: string, value: unknown, min: number, max: number): Effect.Effect<number, InvalidLimits> =>
  Effect.fromResult(Limit.count(system, limit, value, { min, max }))

const time = (limit: string, value: Duration.Input, maxMillis: number): Effect.Effect<number, InvalidLimits> =>
  Effect.fromResult(Limit.duration(system, limit, value, maxMillis))

/** Checks the limits alone; the first rule that one breaks is the error. */
export const decodeLimits = (options: ProviderLimits): Effect.Effect<Complete, InvalidLimits> =>
  Effect.gen(function* () {
    const concurrency = yield* whole("concurrency", options.concurrency ?? 16, 1, 4_096)
    const maxBackoffMillis = yield* time("maxBackoff", options.maxBackoff ?? "30 seconds", 5 * minute)
    const initial = options.initialBackoff ?? Duration.millis(Math.min(100, maxBackoffMillis))
    return {
      concurrency,
      reservedControl: yield* whole(
        "reservedControl",
        options.reservedControl ?? Math.min(2, concurrency - 1),
        0,
        concurrency - 1,
      ),
      tenantConcurrency: yield* whole(
        "tenantConcurrency",
        options.tenantConcurrency ?? Math.min(4, concurrency),
        1,
        concurrency,
      ),
      failureThreshold: yield* whole("failureThreshold", options.failureThreshold ?? 5, 1, 1_000),
      recoveryMillis: yield* time("recoveryAfter", options.recoveryAfter ?? "30 seconds", 60 * minute),
      maxElapsedMillis: yield* time("maxElapsed", options.maxElapsed ?? "30 seconds", 10 * minute),
      initialBackoffMillis: yield* time("initialBackoff", initial, maxBackoffMillis),
      maxBackoffMillis,
    }
  })

/** Checks all options. */
export const decode = (options: Options): Effect.Effect<Settings, InvalidLimits> =>
  Effect.gen(function* () {
    const word = <const W extends string>(limit: string, value: unknown, words: ReadonlyArray<W>) =>
      Effect.fromResult(Limit.word(system, limit, value, words))
    const { events } = options
    if (events !== undefined && typeof events !== "function") {
      return yield* Effect.fail(new InvalidLimits({ system, limit: "events", rule: "a function", value: events }))
    }
    return {
      limits: yield* decodeLimits(options),
      staleOutcomes: yield* word("staleOutcomes", options.staleOutcomes ?? "ignore", ["ignore", "apply"]),
      reservedForTenantControl:
        (yield* word("reservedForTenantControl", options.reservedForTenantControl ?? "off", ["off", "on"])) === "on",
      reservedProbe: (yield* word("reservedProbe", options.reservedProbe ?? "off", ["off", "on"])) === "on",
      jitter: yield* word("jitter", options.jitter ?? "seeded", ["seeded", "spread"]),
      events,
    }
  })
