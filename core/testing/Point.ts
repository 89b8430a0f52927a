/**
 * A run of a sweep as a few words: which task goes first, and where something is done. What a failure prints and a
 * replay reads.
 */
import * as Data from "effect/Data"
import type { Order } from "./World.ts"

/** A text that is no point, or one that this program does not come to. It says nothing of whether the program is right. */
export class InvalidPoint extends Data.Error<{
  readonly point: string
  readonly why: string
}> {
  readonly _tag = "InvalidPoint"
  override readonly name = "InvalidPoint"
  override get message(): string {
    return `cannot play ${JSON.stringify(this.point)}: ${this.why}`
  }
}

/** Where in which run something is done. Neither `at` nor `inside`: nothing is, and the program runs undisturbed. */
export interface Point {
  readonly order: Order
  /** After so many steps of the whole program. */
  readonly at?: number | undefined
  readonly again?: number | undefined
  /** Inside the fiber that is interrupted, before its n-th continuation. */
  readonly inside?: number | undefined
}

/** How far behind the first disturbance the second one is tried. */
const reach = 12

/** Every point of a program of so many steps, and continuations of the fiber that is interrupted, in one order. */
export function* all(
  order: Order,
  { inside: most, steps }: { readonly steps: number; readonly inside: number },
  twice: boolean,
): Iterable<Point> {
  for (let at = 0; at <= steps; at++) {
    if (!twice) yield { order, at }
    // A program that is disturbed may go on for longer than it does undisturbed.
    else for (let again = at; again <= at + reach; again++) yield { order, at, again }
  }
  for (let inside = 1; inside <= most; inside++) yield { order, inside }
}

export const print = ({ again, at, inside, order }: Point): string =>
  [order, ...inside === undefined ? [at ?? [], again ?? []].flat() : ["inside", inside]].join(" ")

export const parse = (text: string): Point | undefined => {
  const found = /^(oldest|newest)(?: (\d+)(?: (\d+))?| inside (\d+))?$/.exec(text)
  if (found === null) return undefined
  const [at, again, inside] = found.slice(2).map((each) => each === undefined ? undefined : Number(each))
  return { order: found[1] as Order, at, again, inside }
}
