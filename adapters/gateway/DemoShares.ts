/**
 * What each tenant of the demo got. Counting begins once all of them have been answered: until then whoever connected first
 * is alone in the line, and what it gets there is nobody's share. It owns the counts.
 */
export interface Share {
  readonly tenant: string
  served: number
  refused: number
  /** Without an answer, or with one that nobody should get; these are counted from the start. */
  failed: number
  /** How long those that were served took. */
  readonly millis: Array<number>
}

export interface DemoShares {
  readonly all: ReadonlyArray<Share>
  /** When counting began, on the wall clock. */
  readonly fromMillis: () => number | undefined
  readonly isOver: (nowMillis: number) => boolean
  /** Notes an answer that a tenant got, of status 0 if none came. True for the one with which counting begins. */
  readonly note: (tenant: string, status: number, askedMillis: number, nowMillis: number) => boolean
}

export const make = (tenants: ReadonlyArray<string>, lengthMillis: number): DemoShares => {
  const all = tenants.map((tenant): Share => ({ tenant, served: 0, refused: 0, failed: 0, millis: [] }))
  const silent = new Set(tenants)
  let from: number | undefined
  const isOver = (nowMillis: number): boolean => from !== undefined && nowMillis - from >= lengthMillis
  return {
    all,
    fromMillis: () => from,
    isOver,
    note: (tenant, status, askedMillis, nowMillis) => {
      const share = all.find((each) => each.tenant === tenant)!
      const isRefused = status === 429 || status === 503 || status === 504
      if (status !== 200 && !isRefused) share.failed++
      if (from === undefined) {
        silent.delete(tenant)
        if (silent.size > 0) return false
        from = nowMillis
        return true
      }
      if (isRefused) share.refused++
      if (status !== 200) return false
      share.millis.push(nowMillis - askedMillis)
      // What the line still holds at the end is served too, and is nobody's share of the time.
      if (!isOver(nowMillis)) share.served++
      return false
    },
  }
}

/** Jain's index: 1 where all have been served alike, 1/n where one of n has everything. */
export const fairness = (shares: ReadonlyArray<Share>): number => {
  const sum = shares.reduce((total, { served }) => total + served, 0)
  const squares = shares.reduce((total, { served }) => total + served * served, 0)
  return squares === 0 ? 0 : sum * sum / (shares.length * squares)
}
