/**
 * The observed time between two grants while asks wait, as a moving average. Idle time says nothing of capacity, so only
 * gaps that begin and end with somebody in the line count. It reads no clock.
 *
 * By the bare average half of those who are let in at the limit come too late. So it is raised until most of those who
 * wait are granted by the estimate, and lowered again where the line ran empty: a quantile that is tracked by single
 * observations. H. Robbins and S. Monro, "A Stochastic Approximation Method", 1951.
 */
const span = 32
/** The part of those who wait that are to be granted by the estimate. */
const kept = 0.85
/** What an empty line takes back, in steps. */
const idle = 0.5
/** However late all come, as when nothing was granted for long. */
const most = 4

export class Pace {
  #lastNanos = NaN
  #meanNanos = 0
  #seen = 0
  #caution = 1

  /** One grant from the line at `now`; `waiting` tells whether others still wait. */
  note(now: number, waiting: boolean): void {
    if (!Number.isNaN(this.#lastNanos)) {
      this.#seen++
      this.#meanNanos += (now - this.#lastNanos - this.#meanNanos) / Math.min(this.#seen, span)
    }
    this.#lastNanos = waiting ? now : NaN
    if (!waiting) this.#move(-idle)
  }

  /** What came of an estimate: whether the ask was granted by it. */
  learn(inTime: boolean): void {
    this.#move(inTime ? kept - 1 : kept)
  }

  /** Nanoseconds between grants; undefined before so many were seen that the mean says something. */
  get intervalNanos(): number | undefined {
    return this.#seen < span ? undefined : this.#meanNanos * this.#caution
  }

  #move(steps: number): void {
    this.#caution = Math.min(most, Math.max(1, this.#caution + steps / span))
  }
}
