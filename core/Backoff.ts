/**
 * How long to wait before another attempt: exponential with a cap, and jitter that depends on the seed alone. Pure: the
 * same limits, attempt and seed give the same duration. It waits for nothing itself.
 */
import * as Duration from "effect/Duration"

import type { Options } from "./GateOptions.ts"

/**
 * The part of a gate's options that is its callers' affair: above zero, `initialBackoff` at most `maxBackoff`; 100
 * milliseconds and 30 seconds by default.
 *
 * `jitter: "seeded"` adds up to a quarter of the wait, so that at the cap, where nothing can be added, callers return
 * together; `"spread"` draws from the last quarter below the cap there. Seeded by default.
 */
export type BackoffLimits = Pick<Options, "initialBackoff" | "maxBackoff" | "jitter">

const maxExponent = 20

/**
 * The wait before retry `attempt`, 0-based: `base = min(initial x 2^attempt, max)` plus `seed mod (base / 4)`
 * milliseconds, and never above `max`. Attempts are rounded down and clamped to 0 to 20; a seed may be any number or
 * bigint, of which the absolute value, rounded down before, counts; one that is no number counts as 0.
 */
export const backoff = (limits: BackoffLimits, attempt: number, seed: number | bigint): Duration.Duration => {
  const maxMillis = Duration.toMillis(Duration.fromInputUnsafe(limits.maxBackoff ?? "30 seconds"))
  const initial = limits.initialBackoff ?? Math.min(100, maxMillis)
  const exponent = Number.isNaN(attempt) ? 0 : Math.min(Math.max(Math.floor(attempt), 0), maxExponent)
  const baseMillis = Math.min(Duration.toMillis(Duration.fromInputUnsafe(initial)) * 2 ** exponent, maxMillis)
  const whole = wholeSeed(seed)
  const quarter = Math.floor(baseMillis / 4)
  if (limits.jitter === "spread" && baseMillis >= maxMillis) {
    return Duration.millis(maxMillis - Number(whole % BigInt(quarter + 1)))
  }
  return Duration.millis(Math.min(baseMillis + Number(whole % BigInt(Math.max(quarter, 1))), maxMillis))
}

const wholeSeed = (seed: number | bigint): bigint => {
  const whole = typeof seed === "bigint" ? seed : Number.isFinite(seed) ? BigInt(Math.floor(seed)) : 0n
  return whole < 0n ? -whole : whole
}
