/**
 * vitest's `assert`, whose commonest questions cost next to nothing where all is well: chai takes a microsecond or two for
 * each, and the books are asked some hundred thousand times a run.
 */
import { assert as chai } from "vitest"

/** Arrays of the same things; of anything else it cannot tell. */
const areSame = (one: unknown, other: unknown): boolean =>
  Array.isArray(one) && Array.isArray(other) && one.length === other.length && one.every((each, i) => each === other[i])

const often: Pick<
  typeof chai,
  "strictEqual" | "deepStrictEqual" | "isAtMost" | "isAtLeast" | "isAbove" | "isTrue" | "isFalse"
> = {
  strictEqual: (actual, expected, message) => {
    if (actual !== expected) chai.strictEqual(actual, expected, message)
  },
  deepStrictEqual: (actual, expected, message) => {
    if (!areSame(actual, expected)) chai.deepStrictEqual(actual, expected, message)
  },
  isAtMost: (value, most, message) => {
    if (!(value <= most)) chai.isAtMost(value, most, message)
  },
  isAtLeast: (value, least, message) => {
    if (!(value >= least)) chai.isAtLeast(value, least, message)
  },
  isAbove: (value, bound, message) => {
    if (!(value > bound)) chai.isAbove(value, bound, message)
  },
  isTrue: (value: unknown, message?: string) => {
    if (value !== true) chai.isTrue(value, message)
  },
  isFalse: (value: unknown, message?: string) => {
    if (value !== false) chai.isFalse(value, message)
  },
}

export const assert: Omit<typeof chai, never> = { ...chai, ...often }
