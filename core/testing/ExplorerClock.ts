/**
 * The clock of an explored program: time stands still until the search moves it on to the next instant that somebody
 * sleeps for. Owns the sleepers; whoever is due becomes ready, and is run when the search says so. That is what sets it apart
 * from `HandClock`, which wakes them itself; and it begins anew with each run, with whole nanoseconds as plain numbers, since
 * it is asked in every one of a million runs.
 */
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { AnyFiber } from "./ExplorerActors.ts"

/** One that sleeps; `wake` runs its fiber. */
export interface Sleeper {
  readonly fiber: AnyFiber | undefined
  readonly dueNanos: number
  readonly wake: () => void
}

const startMillis = 1_700_000_000_000
/** What the monotonic time begins with: no zero, since code that takes zero for "not yet" would be let off. */
const startNanos = 1_000_000_000_000

export class ExplorerClock implements Clock.Clock {
  #nanos = startNanos
  #sleepers = new Set<Sleeper>()
  get sleeping(): number {
    return this.#sleepers.size
  }

  get sleepers(): ReadonlyArray<AnyFiber | undefined> {
    return [...this.#sleepers].map(({ fiber }) => fiber)
  }

  reset(): void {
    this.#nanos = startNanos
    this.#sleepers = new Set()
  }

  /**
   * Moves on to the next instant, and hands over those who are due then, in the order in which they went to sleep. Where
   * nobody sleeps it stands still.
   */
  advance(): ReadonlyArray<Sleeper> {
    let next = Infinity
    for (const { dueNanos } of this.#sleepers) next = Math.min(next, dueNanos)
    const due = [...this.#sleepers].filter(({ dueNanos }) => dueNanos === next)
    for (const sleeper of due) this.#sleepers.delete(sleeper)
    if (due.length > 0) this.#nanos = next
    return due
  }

  /** Nanoseconds that have passed since the run began. */
  get elapsed(): number {
    return this.#nanos - startNanos
  }

  sleep(duration: Duration.Duration): Effect.Effect<void> {
    const nanos = Math.round(Duration.toMillis(duration) * 1e6)
    if (!(nanos > 0)) return Effect.yieldNow
    if (nanos === Infinity) return Effect.never
    return Effect.callback((resume) => {
      const sleeper: Sleeper = {
        fiber: Fiber.getCurrent(),
        dueNanos: this.#nanos + nanos,
        wake: () => resume(Effect.void),
      }
      this.#sleepers.add(sleeper)
      return Effect.sync(() => void this.#sleepers.delete(sleeper))
    })
  }

  currentTimeMillisUnsafe(): number {
    return startMillis + Math.floor(this.elapsed / 1e6)
  }
  currentTimeNanosUnsafe(): bigint {
    return BigInt(startMillis) * 1_000_000n + BigInt(this.elapsed)
  }
  monotonicTimeNanosUnsafe(): bigint {
    return BigInt(this.#nanos)
  }
  readonly currentTimeMillis: Effect.Effect<number> = Effect.sync(() => this.currentTimeMillisUnsafe())
  readonly currentTimeNanos: Effect.Effect<bigint> = Effect.sync(() => this.currentTimeNanosUnsafe())
  readonly monotonicTimeNanos: Effect.Effect<bigint> = Effect.sync(() => this.monotonicTimeNanosUnsafe())
}
