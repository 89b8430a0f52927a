/**
 * The limits that the codecs of every HTTP version have, and the check of all limits at the door. Owns nothing.
 *
 * They bound what a peer can make a connection keep, and how much it may send without saying anything.
 */
import * as Result from "effect/Result"
import * as Limit from "../Limits.ts"
import { InvalidLimits } from "../Refusal.ts"

export interface HttpLimits {
  /** Bytes of a head, its status line and line ends among them: 256 to 1,048,576; 65,536 by default. */
  readonly maxHeadBytes?: number | undefined
  /** Fields of a head, and of trailers: 1 to 65,536; 256 by default. */
  readonly maxFields?: number | undefined
  /** Bytes of trailers: 2 to 1,048,576; 8,192 by default. */
  readonly maxTrailerBytes?: number | undefined
  /** Informational heads (1xx) ahead of one response: 0 to 65,536; 32 by default. */
  readonly maxInformational?: number | undefined
}

export type Complete<L> = { readonly [K in keyof L]-?: number }

export interface Range {
  readonly min: number
  readonly max: number
  readonly otherwise: number
}

export const ranges: Readonly<Record<keyof HttpLimits, Range>> = {
  maxHeadBytes: { min: 256, max: Limit.most, otherwise: 65_536 },
  maxFields: { min: 1, max: 65_536, otherwise: 256 },
  maxTrailerBytes: { min: 2, max: Limit.most, otherwise: 8_192 },
  maxInformational: { min: 0, max: 65_536, otherwise: 32 },
}

/** Every limit of `table`, given or by default; or the first rule that one breaks. */
export const decode = <K extends string>(
  system: string,
  table: Readonly<Record<K, Range>>,
  given: Readonly<Partial<Record<K, number | undefined>>>,
): Result.Result<Readonly<Record<K, number>>, InvalidLimits> => {
  const limits: Partial<Record<K, number>> = {}
  for (const name of Object.keys(table) as Array<K>) {
    const range = table[name]
    const value = given[name] === undefined ? range.otherwise : given[name]
    const counted = Limit.count(system, name, value, range)
    if (Result.isFailure(counted)) return Result.fail(counted.failure)
    limits[name] = counted.success
  }
  return Result.succeed(limits as Record<K, number>)
}

/** Options that are none: a slip in a name is not passed over. */
export const stranger = (system: string, known: ReadonlyArray<string>, given: unknown): InvalidLimits | undefined => {
  if (typeof given !== "object" || given === null) {
    return new InvalidLimits({ system, limit: "options", rule: "an object", value: given })
  }
  const name = Object.keys(given).find((key) => !known.includes(key))
  if (name === undefined) return undefined
  const value = (given as Readonly<Record<string, unknown>>)[name]
  return new InvalidLimits({ system, limit: name, rule: `one of the options ${known.join(", ")}`, value })
}
