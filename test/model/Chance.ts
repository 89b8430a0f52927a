/** Random numbers that repeat, as models and tests need them: by `draws`, from the same seed the same. */
import { draws } from "../../core/testing/Chance.ts"

export class Chance {
  /** In [0, 1). */
  readonly unit: () => number

  constructor(seed: number) {
    this.unit = draws(seed)
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
