/** opossum as far as it is tried here; the package brings no types. */
import { createRequire } from "node:module"

export interface Options {
  readonly capacity?: number
  readonly timeout: number | false
  readonly resetTimeout: number
  readonly errorFilter?: (error: unknown) => boolean
}

export interface Opossum {
  readonly fire: (work: () => unknown) => Promise<unknown>
  readonly open: () => void
  readonly opened: boolean
  readonly halfOpen: boolean
  readonly closed: boolean
  /** Lets go of its timers. */
  readonly shutdown: () => void
}

const Breaker: new (
  action: (work: () => unknown) => Promise<unknown>,
  options: Options,
) => Opossum = createRequire(import.meta.url)("opossum")

/** A breaker that opens at the first failure: half of all calls may fail, and it is the only one. */
export const make = (options: Options): Opossum => new Breaker(async (work) => await work(), options)
