/**
 * The rules that options and asks are checked by at the door, one function a kind. Owns nothing.
 *
 * Each returns the value or fails with `InvalidLimits` or `InvalidRequest`, which name the rule and the value.
 */
import * as Duration from "effect/Duration"
import * as Result from "effect/Result"
import { millisOf } from "./Deadline.ts"
import { InvalidLimits, InvalidRequest } from "./Refusal.ts"

/** The most of anything that is counted: 2^20. */
export const most = 1_048_576

export interface Bounds {
  readonly min: number
  readonly max: number
}

/** What breaks the rule "a whole number from min to max", or undefined. */
export const wholeRule = (value: unknown, { max, min }: Bounds): string | undefined =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= min && value <= max
    ? undefined
    : `a whole number from ${min} to ${max}`

/** A count among the options of a system. */
export const count = (
  system: string,
  limit: string,
  value: unknown,
  bounds: Bounds,
): Result.Result<number, InvalidLimits> => {
  const rule = wholeRule(value, bounds)
  return rule === undefined
    ? Result.succeed(value as number)
    : Result.fail(new InvalidLimits({ system, limit, rule, value }))
}

/** A duration among the options of a system, in milliseconds: above zero and at most `maxMillis`. */
export const duration = (
  system: string,
  limit: string,
  value: Duration.Input,
  maxMillis: number,
): Result.Result<number, InvalidLimits> => {
  const decoded = Duration.fromInput(value)
  // Effect decodes NaN as zero, in a part of an object too.
  const isDuration = !Number.isNaN(millisOf(value)) && decoded._tag === "Some"
  const millis = isDuration ? Duration.toMillis(decoded.value) : NaN
  if (millis > 0 && millis <= maxMillis) return Result.succeed(millis)
  const rule = `a duration such as "500 millis" or "5 seconds", above zero and at most ${
    Duration.format(Duration.millis(maxMillis))
  }`
  const shown = isDuration ? Duration.format(decoded.value) : value
  return Result.fail(new InvalidLimits({ system, limit, rule, value: shown }))
}

/** A deadline that somebody may have made by hand, or forgotten. */
export const deadline = (value: unknown): InvalidRequest | undefined => {
  const { atNanos, clock }: { readonly atNanos?: unknown; readonly clock?: unknown } = Object(value)
  if (typeof atNanos === "number" && !Number.isNaN(atNanos) && typeof clock === "object" && clock !== null) {
    return undefined
  }
  const shown = typeof atNanos === "number" ? atNanos : value
  return new InvalidRequest({ field: "deadline", rule: "a Deadline, as Deadline.after makes it", value: shown })
}

/** One of a few words. */
export const word = <const W extends string>(
  system: string,
  limit: string,
  value: unknown,
  words: ReadonlyArray<W>,
): Result.Result<W, InvalidLimits> =>
  (words as ReadonlyArray<unknown>).includes(value)
    ? Result.succeed(value as W)
    : Result.fail(new InvalidLimits({ system, limit, rule: `one of ${words.join(", ")}`, value }))

/** The longest key of a tenant or provider, in bytes of UTF-8. */
export const maxKeyBytes = 256

/** A key that tenants or providers are told apart by: 1 to 256 bytes of UTF-8 without control characters. */
export const key = (field: string, value: unknown): InvalidRequest | undefined => {
  if (typeof value === "string" && value !== "" && isPlain(value) && utf8Bytes(value) <= maxKeyBytes) return undefined
  return new InvalidRequest({
    field,
    rule: `text of 1 to ${maxKeyBytes} bytes of UTF-8 without control characters`,
    value,
  })
}

/**
 * No C0 or C1 control character, DEL, line or paragraph separator; and no surrogate that stands alone, which UTF-8 cannot
 * say: two keys that differ in it would be written alike.
 */
const isPlain = (text: string): boolean => {
  for (let i = 0; i < text.length; i++) {
    const point = text.codePointAt(i)!
    if (point < 0x20 || (point >= 0x7f && point < 0xa0) || point === 0x2028 || point === 0x2029) return false
    if (point >= 0xd800 && point < 0xe000) return false
    if (point > 0xffff) i++
  }
  return true
}

/** The length of a text in UTF-8; a surrogate that stands alone counts 3, as its replacement would. */
export const utf8Bytes = (text: string): number => {
  let bytes = 0
  for (let i = 0; i < text.length; i++) {
    const point = text.codePointAt(i)!
    if (point > 0xffff) i++
    bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4
  }
  return bytes
}
