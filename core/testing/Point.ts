/**
 * A run of a sweep as a few words: which task goes first, and where something is done. What a failure prints and a
 * replay reads.
 */
import type { Order } from "./World.ts"

/** Where in which run something is done. Neither `at` nor `inside`: nothing is, and the program runs undisturbed. */
export interface Point {
  readonly order: Order
  /** After so many steps of the whole program. */
  readonly at?: number | undefined
  readonly again?: number | undefined
  /** Inside the fiber that is interrupted, before its n-th continuation. */
  readonly inside?: number | undefined
}

export const print = ({ again, at, inside, order }: Point): string =>
  [order, ...inside === undefined ? [at ?? [], again ?? []].flat() : ["inside", inside]].join(" ")

export const parse = (text: string): Point | undefined => {
  const found = /^(oldest|newest)(?: (\d+)(?: (\d+))?| inside (\d+))?$/.exec(text)
  if (found === null) return undefined
  const [at, again, inside] = found.slice(2).map((each) => each === undefined ? undefined : Number(each))
  return { order: found[1] as Order, at, again, inside }
}
