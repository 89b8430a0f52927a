/**
 * A clock that moves only by hand, with its wall apart from its monotonic time, and that counts its sleepers.
 *
 * It owns the sleepers: each is woken by `advance`, or leaves when it is interrupted.
 */
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

interface Sleeper {
  readonly dueNanos: bigint
  readonly wake: () => void
}

export class HandClock implements Clock.Clock {
  #wallMillis = 1_700_000_000_000
  #nanos = 5_000_000_000_000n
  readonly #sleepers = new Set<Sleeper>()
  /** Sleeps begun, and the most that went on at the same time. */
  slept = 0
  peak = 0
  /** How often the monotonic time was read. */
  readings = 0

  get sleeping(): number {
    return this.#sleepers.size
  }

  /** Moves both times on, and wakes in order whoever is due on the way. */
  advance(millis: number): void {
    const until = this.#nanos + BigInt(Math.round(millis * 1e6))
    for (let next = this.#next(); next !== undefined && next.dueNanos <= until; next = this.#next()) {
      this.#move(next.dueNanos)
      this.#sleepers.delete(next)
      next.wake()
    }
    this.#move(until)
  }

  /** Moves to the nearest sleeper and wakes it; false where nobody sleeps. */
  advanceToNext(): boolean {
    const next = this.#next()
    if (next === undefined) return false
    this.advance(Number(next.dueNanos - this.#nanos) / 1e6)
    return true
  }

  /** The wall clock is set, forwards or backwards; nothing that measures time by it may notice. */
  setWall(byMillis: number): void {
    this.#wallMillis += byMillis
  }

  #move(nanos: bigint): void {
    if (nanos <= this.#nanos) return
    this.#wallMillis += Number(nanos - this.#nanos) / 1e6
    this.#nanos = nanos
  }

  #next(): Sleeper | undefined {
    let first: Sleeper | undefined
    for (const each of this.#sleepers) if (first === undefined || each.dueNanos < first.dueNanos) first = each
    return first
  }

  sleep(duration: Duration.Duration): Effect.Effect<void> {
    return Effect.callback((resume) => {
      this.slept++
      const sleeper: Sleeper = {
        dueNanos: this.#nanos + Duration.toNanosUnsafe(duration),
        wake: () => resume(Effect.void),
      }
      this.#sleepers.add(sleeper)
      this.peak = Math.max(this.peak, this.#sleepers.size)
      return Effect.sync(() => void this.#sleepers.delete(sleeper))
    })
  }

  currentTimeMillisUnsafe(): number {
    return this.#wallMillis
  }
  currentTimeNanosUnsafe(): bigint {
    return BigInt(Math.round(this.#wallMillis * 1e6))
  }
  monotonicTimeNanosUnsafe(): bigint {
    this.readings++
    return this.#nanos
  }
  readonly currentTimeMillis: Effect.Effect<number> = Effect.sync(() => this.currentTimeMillisUnsafe())
  readonly currentTimeNanos: Effect.Effect<bigint> = Effect.sync(() => this.currentTimeNanosUnsafe())
  readonly monotonicTimeNanos: Effect.Effect<bigint> = Effect.sync(() => this.monotonicTimeNanosUnsafe())
}
