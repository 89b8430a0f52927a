/**
 * The observed time between two grants while asks wait, as a moving average. Idle time says nothing of capacity, so only
 * gaps that begin and end with somebody in the line count. It reads no clock.
 *
 * By the bare average half of those who are let in at the limit come too late, and of those who need much nearly all,
 * since others pass them. So it is raised, for costs of like size together, until most of those who wait are granted by
 * the estimate, and lowered again where the line ran empty: a quantile that is tracked by single observations. H. Robbins
 * and S. Monro, "A Stochastic Approximation Method", 1951; in steps of its logarithm, as it is a factor.
 */
const span = 32
/** The part of those who wait that are to be granted by the estimate. */
const kept = 0.85
/** What an empty line takes back, in steps. */
const idle = 0.5
/** However late all come, as when nothing was granted for long. An ask of the whole total was seen to take 10 to 15. */
const most = 16

export class Pace {
  #lastNanos = NaN
  #meanNanos = 0
  #seen = 0
  /** By the power of two that a cost reaches; 1 where nothing was learned. */
  readonly #cautions: Array<number> = []

  /** One grant from the line at `now`; `waiting` tells whether others still wait. */
  note(now: number, waiting: boolean): void {
    if (!Number.isNaN(this.#lastNanos)) {
      this.#seen++
      this.#meanNanos += (now - this.#lastNanos - this.#meanNanos) / Math.min(this.#seen, span)
    }
    this.#lastNanos = waiting ? now : NaN
    if (!waiting) { for (let size = 0; size < this.#cautions.length; size++) this.#move(size, -idle) }
  }

  /** What came of an estimate for an ask of this cost: whether it was granted by it. */
  learn(inTime: boolean, cost: number): void {
    const size = sizeOf(cost)
    while (this.#cautions.length <= size) this.#cautions.push(1)
    this.#move(size, inTime ? kept - 1 : kept)
  }

  /** Nanoseconds a turn for an ask of this cost; undefined before so many were seen that the mean says something. */
  intervalNanos(cost: number): number | undefined {
    return this.#seen < span ? undefined : this.#meanNanos * (this.#cautions[sizeOf(cost)] ?? 1)
  }

  #move(size: number, steps: number): void {
    this.#cautions[size] = Math.min(most, Math.max(1, this.#cautions[size]! * (1 + steps / span)))
  }
}

const sizeOf = (cost: number): number => 31 - Math.clz32(cost)
