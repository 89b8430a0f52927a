/**
 * Random numbers that repeat: the same seed gives the same run on every runtime. Mulberry32, by T. Ettinger, 2017.
 */
export class Chance {
  #state: number

  constructor(seed: number) {
    this.#state = seed | 0
  }

  /** In [0, 1). */
  unit(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** A whole number from `low` to `high`, both included. */
  whole(low: number, high: number): number {
    return low + Math.floor(this.unit() * (high - low + 1))
  }

  /** True with probability `p`. */
  yes(p: number): boolean {
    return this.unit() < p
  }

  pick<T>(from: ReadonlyArray<T>): T {
    return from[Math.floor(this.unit() * from.length)]!
  }

  /** Exponentially distributed: the time to the next event of a steady random flow. */
  exponential(mean: number): number {
    return -mean * Math.log(1 - this.unit())
  }
}
