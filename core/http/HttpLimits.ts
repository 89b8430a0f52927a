/**
 * The limits that the codecs of every HTTP version have, and the check of all limits at the door. Owns nothing.
 *
 * They bound what a peer can make a connection keep, and how much it may send without saying anything. Each is a whole
 * number from 1 to 1,048,576.
 */
import * as Result from "effect/Result"
import * as Limit from "../Limits.ts"
import { InvalidLimits } from "../Refusal.ts"

export interface HttpLimits {
  /** Bytes of a head, its status line and line ends among them; 65,536 by default. */
  readonly maxHeadBytes?: number | undefined
  /** Fields of a head, and of trailers; 256 by default. */
  readonly maxFields?: number | undefined
  /** Bytes of trailers; 8,192 by default. */
  readonly maxTrailerBytes?: number | undefined
  /** Informational heads (1xx) ahead of one response; 32 by default. */
  readonly maxInformational?: number | undefined
}

export type Complete<L> = { readonly [K in keyof L]-?: number }

export const defaults: Complete<HttpLimits> = {
  maxHeadBytes: 65_536,
  maxFields: 256,
  maxTrailerBytes: 8_192,
  maxInformational: 32,
}

/** Every limit, given or by default; or the first rule that one breaks. A name that is none is a slip, and not passed over. */
export const decode = <K extends string>(
  system: string,
  defaults: Readonly<Record<K, number>>,
  given: Readonly<Partial<Record<K, number | undefined>>>,
): Result.Result<Readonly<Record<K, number>>, InvalidLimits> => {
  const limits: Record<K, number> = { ...defaults }
  for (const [name, value] of Object.entries(given)) {
    const rule = Object.hasOwn(defaults, name)
      ? value === undefined ? undefined : Limit.wholeRule(value, { min: 1, max: Limit.most })
      : `one of ${Object.keys(defaults)}`
    if (rule !== undefined) return Result.fail(new InvalidLimits({ system, limit: name, rule, value }))
    if (value !== undefined) limits[name as K] = value as number
  }
  return Result.succeed(limits)
}
