/**
 * How long to wait before another attempt: exponential with a cap, and jitter that depends on the seed alone. Pure: the
 * same limits, attempt and seed give the same duration. It waits for nothing itself.
 */
import * as Duration from "effect/Duration"

/** Zero is never given: `initialBackoff` is above it. */
export interface BackoffLimits {
  /** Above zero, at most `maxBackoff`. */
  readonly initialBackoff: Duration.Input
  readonly maxBackoff: Duration.Input
  /**
   * `"seeded"` adds up to a quarter of the wait, so that at the cap, where nothing can be added, callers return together;
   * `"spread"` draws from the last quarter below the cap there. Seeded by default.
   */
  readonly jitter?: "seeded" | "spread" | undefined
}

const maxExponent = 20

/**
 * The wait before retry `attempt`, 0-based: `base = min(initial x 2^attempt, max)` plus `seed mod (base / 4)`
 * milliseconds, and never above `max`. Attempts are rounded down and clamped to 0 to 20; a seed may be any number or
 * bigint, of which the whole absolute part counts; one that is no number counts as 0.
 */
export const backoff = (limits: BackoffLimits, attempt: number, seed: number | bigint): Duration.Duration => {
  const maxMillis = Duration.toMillis(Duration.fromInputUnsafe(limits.maxBackoff))
  const initialMillis = Duration.toMillis(Duration.fromInputUnsafe(limits.initialBackoff))
  const exponent = Number.isNaN(attempt) ? 0 : Math.min(Math.max(Math.floor(attempt), 0), maxExponent)
  const baseMillis = Math.min(initialMillis * 2 ** exponent, maxMillis)
  const whole = wholeSeed(seed)
  if (limits.jitter === "spread" && baseMillis >= maxMillis) {
    const quarter = Math.max(Math.floor(maxMillis / 4), 1)
    return Duration.millis(Math.max(maxMillis - Number(whole % BigInt(quarter + 1)), 0))
  }
  const ceiling = Math.max(Math.floor(baseMillis / 4), 1)
  return Duration.millis(Math.min(baseMillis + Number(whole % BigInt(ceiling)), maxMillis))
}

const wholeSeed = (seed: number | bigint): bigint => {
  if (typeof seed === "bigint") return seed < 0n ? -seed : seed
  return Number.isFinite(seed) ? BigInt(Math.floor(Math.abs(seed))) : 0n
}
