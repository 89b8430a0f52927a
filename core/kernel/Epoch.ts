/**
 * A number that only grows, with compare-and-replace: which version of a thing is current, and was this one retired?
 *
 * An Epoch outlives what it numbers. Numbers never repeat and never fall; a retired epoch has no current number again.
 */
export interface Epoch {
  current: number
  retired: boolean
}

export const make = (): Epoch => ({ current: 0, retired: false })

/** Moves on from `expected` and returns the new number; undefined, and no change, where another one is current. */
export const advance = (epoch: Epoch, expected: number): number | undefined => {
  if (epoch.retired || epoch.current !== expected || expected >= Number.MAX_SAFE_INTEGER) return undefined
  epoch.current++
  return epoch.current
}

export const isCurrent = (epoch: Epoch, number: number): boolean => !epoch.retired && epoch.current === number

/** Ends it for good; false where it had ended before. */
export const retire = (epoch: Epoch): boolean => {
  if (epoch.retired) return false
  epoch.retired = true
  return true
}
