import { HandClock } from "../../core/testing/HandClock.ts"

/** A clock that calls back as it is read, for once. */
export class CallingClock extends HandClock {
  #left = 0
  #back: () => void = () => {}

  /** From now on at the reading of that number; at none if that is 0. */
  call(reading: number, back: () => void): void {
    this.#left = reading
    this.#back = back
  }

  override monotonicTimeNanosUnsafe(): bigint {
    if (this.#left > 0 && --this.#left === 0) this.#back()
    return super.monotonicTimeNanosUnsafe()
  }
}
