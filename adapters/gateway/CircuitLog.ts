/**
 * What the circuits have done lately, with the time of each change. It owns the last hundred changes, no more.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Options } from "../../core/GateOptions.ts"

export type CircuitEvent = Parameters<NonNullable<Options["events"]>>[0]

export interface Change {
  readonly provider: string
  readonly event: CircuitEvent
  /** On the wall clock. */
  readonly atMillis: number
}

export interface CircuitLog {
  /** Told by the gates, in order. */
  readonly record: (provider: string, event: CircuitEvent) => void
  /** Oldest first. */
  readonly recent: Effect.Effect<ReadonlyArray<Change>>
}

const kept = 100

export const make: Effect.Effect<CircuitLog> = Clock.clockWith((clock) =>
  Effect.sync(() => {
    const changes: Array<Change> = []
    return {
      record: (provider, event) => {
        changes.push({ provider, event, atMillis: clock.currentTimeMillisUnsafe() })
        if (changes.length > kept) changes.shift()
      },
      recent: Effect.sync(() => [...changes]),
    }
  })
)
