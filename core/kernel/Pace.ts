/**
 * The observed time between two grants while asks wait, as a moving average. Idle time says nothing of capacity, so only
 * gaps that begin and end with somebody in the line count. It reads no clock.
 */
const span = 32

export class Pace {
  #lastNanos = NaN
  #meanNanos = 0
  #seen = 0

  /** One grant from the line at `now`; `waiting` tells whether others still wait. */
  note(now: number, waiting: boolean): void {
    if (!Number.isNaN(this.#lastNanos)) {
      this.#seen++
      this.#meanNanos += (now - this.#lastNanos - this.#meanNanos) / Math.min(this.#seen, span)
    }
    this.#lastNanos = waiting ? now : NaN
  }

  /** Nanoseconds between grants; undefined before so many were seen that the mean says something. */
  get intervalNanos(): number | undefined {
    return this.#seen < span ? undefined : this.#meanNanos
  }
}
