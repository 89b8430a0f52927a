/**
 * A clock that moves only by hand, with its wall apart from its monotonic time, and that counts its sleepers.
 *
 * It owns the sleepers: each is woken when time comes to it, or leaves when it is interrupted.
 */
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { InvalidRequest } from "../Refusal.ts"

interface Sleeper {
  /** Undefined where it never comes. */
  readonly dueNanos: bigint | undefined
  readonly wake: () => void
}

/**
 * Give it to a program by `Effect.provideService(program, Clock.Clock, clock)`.
 *
 * It stands at any instant but zero at first, wall and monotonic time apart, so that a program that mixes them is seen.
 */
export class HandClock implements Clock.Clock {
  #wallMillis = 1_700_000_000_000
  #nanos = 5_000_000_000_000n
  #skewNanos = 0n
  readonly #sleepers = new Set<Sleeper>()
  /** Sleeps begun, and the most that went on at the same time. */
  slept = 0
  peak = 0
  /** How often the monotonic time was read. */
  readings = 0

  /** Its monotonic time, without skew, and read without being counted among the readings. */
  get nanos(): bigint {
    return this.#nanos
  }

  /** Sleeps that go on. */
  get sleeping(): number {
    return this.#sleepers.size
  }

  /**
   * Moves both times on, and wakes in order whoever is due on the way, the longest asleep first at one instant. A fiber
   * that has yet to be scheduled takes its next step at the instant that this ends at, as one does whose timer rings
   * late. What is no finite time, or less than none, throws `InvalidRequest`.
   */
  advance(millis: number): void {
    const until = this.#nanos + nanosOf(millis)
    for (let next = this.#next(); next !== undefined && next.dueNanos! <= until; next = this.#next()) {
      this.#move(next.dueNanos!)
      this.#sleepers.delete(next)
      next.wake()
    }
    this.#move(until)
  }

  /**
   * Moves to the nearest instant at which somebody is due, if that is at most so many milliseconds away, and wakes all
   * who are due at it; says whether there was one.
   */
  advanceToNext(withinMillis: number = Infinity): boolean {
    if (Number.isNaN(withinMillis)) throw refused("withinMillis", "a number of milliseconds", withinMillis)
    const next = this.#next()
    if (next === undefined) return false
    const millis = Number(next.dueNanos! - this.#nanos) / 1e6
    if (millis > withinMillis) return false
    this.advance(millis)
    return true
  }

  /** The wall clock is set, forwards or backwards; nothing that measures time by it may notice. */
  setWall(byMillis: number): void {
    if (!Number.isFinite(byMillis)) throw refused("byMillis", finite, byMillis)
    this.#wallMillis += byMillis
  }

  /** Whoever reads the monotonic time reads it off by so much more. No clock should do that; sleepers wake as before. */
  skew(byMillis: number): void {
    if (!Number.isFinite(byMillis * 1e6)) throw refused("byMillis", finite, byMillis)
    this.#skewNanos += BigInt(Math.round(byMillis * 1e6))
  }

  #move(nanos: bigint): void {
    if (nanos <= this.#nanos) return
    this.#wallMillis += Number(nanos - this.#nanos) / 1e6
    this.#nanos = nanos
  }

  #next(): Sleeper | undefined {
    let first: Sleeper | undefined
    for (const each of this.#sleepers) {
      if (each.dueNanos === undefined) continue
      if (first?.dueNanos === undefined || each.dueNanos < first.dueNanos) first = each
    }
    return first
  }

  /** Zero is over at once, and no sleep. */
  sleep(duration: Duration.Duration): Effect.Effect<void> {
    if (Duration.isZero(duration)) return Effect.yieldNow
    return Effect.callback((resume) => {
      this.slept++
      const sleeper: Sleeper = {
        dueNanos: Duration.isFinite(duration) ? this.#nanos + Duration.toNanosUnsafe(duration) : undefined,
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
    return this.#nanos + this.#skewNanos
  }
  readonly currentTimeMillis: Effect.Effect<number> = Effect.sync(() => this.currentTimeMillisUnsafe())
  readonly currentTimeNanos: Effect.Effect<bigint> = Effect.sync(() => this.currentTimeNanosUnsafe())
  readonly monotonicTimeNanos: Effect.Effect<bigint> = Effect.sync(() => this.monotonicTimeNanosUnsafe())
}

/** What is no time is refused, by throwing: a clock that went by it would stand still, or never come back. */
const refused = (field: string, rule: string, value: number): InvalidRequest =>
  new InvalidRequest({ field, rule, value })

const finite = "a finite number of milliseconds"

export const nanosOf = (millis: number): bigint => {
  if (!Number.isFinite(millis * 1e6) || millis < 0) throw refused("millis", `${finite}, zero or more`, millis)
  return BigInt(Math.round(millis * 1e6))
}

const asked = (): never => {
  throw new Error("the time was asked for, by what must not know it")
}

/** For what must not know the time: to read it, or to sleep, is a defect. */
export const forbidden: Clock.Clock = {
  currentTimeMillisUnsafe: asked,
  currentTimeNanosUnsafe: asked,
  monotonicTimeNanosUnsafe: asked,
  currentTimeMillis: Effect.sync(asked),
  currentTimeNanos: Effect.sync(asked),
  monotonicTimeNanos: Effect.sync(asked),
  sleep: () => Effect.sync(asked),
}
