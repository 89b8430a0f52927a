/** The limits of HTTP/1.1, and what each is by default. Owns nothing. */
import * as Limit from "../Limits.ts"
import { type HttpLimits, type Ranges, ranges as common } from "./HttpLimits.ts"

/** Each is a whole number from 1 to 1,048,576. */
export interface Http1Limits extends HttpLimits {
  /** Bytes of a line of a head or of trailers, with its end; 32,768 by default. */
  readonly maxLineBytes?: number | undefined
  /** Bytes of the line ahead of a chunk, with its extensions and its end; 256 by default. */
  readonly maxChunkLineBytes?: number | undefined
  /** Bytes of framing beyond what chunks of their size need, of one body; 16,384 by default. */
  readonly maxChunkOverheadBytes?: number | undefined
}

export const ranges: Ranges<Http1Limits> = {
  ...common,
  maxLineBytes: [1, Limit.most, 32_768],
  maxChunkLineBytes: [1, Limit.most, 256],
  maxChunkOverheadBytes: [1, Limit.most, 16_384],
}
