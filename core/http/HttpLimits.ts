/**
 * The limits that the codecs of every HTTP version have, and the check of all options at the door. Owns nothing.
 *
 * They bound what a peer can make a connection keep, and how much it may send without saying anything. Each is a whole
 * number from 1 to 1,048,576.
 */
import * as Result from "effect/Result"
import * as Limit from "../Limits.ts"
import { InvalidLimits } from "../Refusal.ts"
import * as Latin1 from "./Latin1.ts"

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

/** Of each limit the least and the most that it may be, and what it is where it is left out. */
export type Ranges<L> = { readonly [K in keyof L]-?: readonly [min: number, max: number, otherwise: number] }

export const ranges: Ranges<HttpLimits> = {
  maxHeadBytes: [1, Limit.most, 65_536],
  maxFields: [1, Limit.most, 256],
  maxTrailerBytes: [1, Limit.most, 8_192],
  maxInformational: [1, Limit.most, 32],
}

/** Where text comes from, and every limit. */
export interface Decoded<L> {
  readonly latin1: Latin1.Latin1
  readonly limits: Complete<L>
}

/**
 * The options of an engine, given or by default; or the first rule that one breaks. A name that is none is a slip, and not
 * passed over; and a default stands in for what was left out alone, so null is a value, and a wrong one.
 */
export const decode = <L>(
  system: string,
  ranges: Ranges<L>,
  options: L & { readonly latin1?: Latin1.Latin1 | undefined },
): Result.Result<Decoded<L>, InvalidLimits> => {
  const wrong = (limit: string, rule: string, value: unknown): Result.Result<never, InvalidLimits> =>
    Result.fail(new InvalidLimits({ system, limit, rule, value }))
  if (typeof options !== "object" || options === null) return wrong("options", "an object", options)
  const { latin1 = Latin1.portable, ...given } = options
  if (typeof latin1 !== "function") return wrong("latin1", "a function", latin1)
  const limits: Record<string, unknown> = { ...given }
  for (const name of Object.keys({ ...ranges, ...given })) {
    if (!Object.hasOwn(ranges, name)) {
      return wrong(name, `one of the options ${Object.keys(ranges).join(", ")}`, limits[name])
    }
    const [min, max, otherwise] = ranges[name as keyof L]
    if (limits[name] === undefined) limits[name] = otherwise
    const rule = Limit.wholeRule(limits[name], { min, max })
    if (rule !== undefined) return wrong(name, rule, limits[name])
  }
  return Result.succeed({ latin1, limits: limits as Complete<L> })
}
