/**
 * What a handful of rounds says: their median, and the upper end of its 95 % interval. Owns nothing.
 *
 * The interval is that of the order statistics, which assumes nothing about the distribution: the true median lies above
 * the k-th largest of n rounds with the probability that fewer than k of n fair coins fall heads. For nine rounds the
 * interval of 96 % runs from the second smallest to the second largest (H. A. David, Order Statistics, 1970, 2.5).
 */

export const median = (values: ReadonlyArray<number>): number => {
  const sorted = ascending(values)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? NaN) + upper) / 2
}

/** Upper end of the 95 % interval of the median; undefined for fewer than six values, which have no such interval. */
export const high = (values: ReadonlyArray<number>): number | undefined => {
  const cut = outside(values.length)
  return cut === 0 ? undefined : ascending(values).at(-cut)
}

const ascending = (values: ReadonlyArray<number>): ReadonlyArray<number> => values.toSorted((a, b) => a - b)

/** The largest k for which both tails, fewer than k heads of n and fewer than k tails, have at most 5 % together. */
const outside = (n: number): number => {
  let k = 0
  let ways = 1
  let tail = 0
  for (; k <= n; k++) {
    tail += ways
    if ((2 * tail) / 2 ** n > 0.05) return k
    ways = (ways * (n - k)) / (k + 1)
  }
  return k
}
