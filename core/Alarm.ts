/**
 * One timer for a noun, however many wait on it: a fiber that sleeps until the earliest instant and then rings.
 *
 * The fiber exists only while an instant is set, so it keeps a process alive only then. Runtimes wake early by up to a
 * millisecond and cut long waits; after each sleep the instant is compared with the clock again.
 */
import type * as Clock from "effect/Clock"
import type * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import { nowNanos } from "./Deadline.ts"

export class Alarm {
  readonly #clock: Clock.Clock
  readonly #context: Context.Context<never>
  readonly #ring: () => void
  #dueNanos = Infinity
  #sleeper: Fiber.Fiber<void> | undefined = undefined

  constructor(options: {
    readonly clock: Clock.Clock
    readonly context: Context.Context<never>
    /** Called at the instant that was set, or a little later; it sets the next one. */
    readonly ring: () => void
  }) {
    this.#clock = options.clock
    this.#context = options.context
    this.#ring = options.ring
  }

  /** Rings at `dueNanos`; `Infinity` takes the timer away. A later instant than the one set rings early and is set anew. */
  set(dueNanos: number): void {
    if (dueNanos >= this.#dueNanos && dueNanos !== Infinity) return
    if (dueNanos === this.#dueNanos) return
    const sleeper = this.#sleeper
    this.#sleeper = undefined
    this.#dueNanos = dueNanos
    if (sleeper !== undefined) sleeper.interruptUnsafe()
    if (dueNanos !== Infinity) this.#sleep()
  }

  #sleep(): void {
    const leftMillis = Math.ceil((this.#dueNanos - nowNanos(this.#clock)) / 1e6)
    const sleep = leftMillis > 0 ? this.#clock.sleep(Duration.millis(leftMillis)) : Effect.yieldNow
    this.#sleeper = Effect.runForkWith(this.#context)(Effect.andThen(sleep, Effect.sync(() => this.#wake())))
  }

  #wake(): void {
    // Forgotten before it rings: the ring may set the next instant, and must not interrupt the fiber it runs in.
    const due = this.#dueNanos
    this.#sleeper = undefined
    this.#dueNanos = Infinity
    if (nowNanos(this.#clock) >= due) return this.#ring()
    this.#dueNanos = due
    this.#sleep()
  }
}
