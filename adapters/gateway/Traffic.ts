/**
 * What became of the requests: counts by tenant, provider and outcome, and how long they waited in the line.
 *
 * Tenants and providers come from the configuration alone, so the number of rows is bounded by it. It owns the counts.
 */
import * as Effect from "effect/Effect"

/**
 * `Served`: the last byte was handed over. `Cut`: the response had begun and was cut. `ClientGone`: the client left before
 * it began. Otherwise the tag of the error that was answered.
 */
export interface Settled {
  readonly tenant: string | undefined
  readonly provider: string | undefined
  readonly outcome: string
  /** From the ask to the turn or to giving up, also where that was at once; undefined if it was turned away before. */
  readonly waitedMillis: number | undefined
}

export interface Row {
  readonly tenant: string | undefined
  readonly provider: string | undefined
  readonly outcome: string
  readonly requests: number
}

/** Of those that were let in, at once or later, and of those that gave up in the line. */
export interface Waits {
  readonly tenant: string
  readonly requests: number
  readonly totalMillis: number
  readonly longestMillis: number
}

export interface Traffic {
  readonly settle: (settled: Settled) => void
  readonly rows: Effect.Effect<ReadonlyArray<Row>>
  readonly waits: Effect.Effect<ReadonlyArray<Waits>>
}

type Changing<A> = { -readonly [Key in keyof A]: A[Key] }

export const make = (): Traffic => {
  const rows = new Map<string, Changing<Row>>()
  const waits = new Map<string, Changing<Waits>>()
  return {
    settle: ({ tenant, provider, outcome, waitedMillis }) => {
      const key = `${tenant ?? ""}\n${provider ?? ""}\n${outcome}`
      const row = rows.get(key) ?? { tenant, provider, outcome, requests: 0 }
      row.requests++
      rows.set(key, row)
      if (tenant === undefined || waitedMillis === undefined) return
      const wait = waits.get(tenant) ?? { tenant, requests: 0, totalMillis: 0, longestMillis: 0 }
      wait.requests++
      wait.totalMillis += waitedMillis
      wait.longestMillis = Math.max(wait.longestMillis, waitedMillis)
      waits.set(tenant, wait)
    },
    rows: Effect.sync(() => [...rows.values()].map((row) => ({ ...row }))),
    waits: Effect.sync(() => [...waits.values()].map((wait) => ({ ...wait }))),
  }
}
