/** The limits of HTTP/2, and what each may be. Owns nothing. */
import * as Limit from "../Limits.ts"
import { firstFrame, firstWindow } from "./Http2Frames.ts"
import { type HttpLimits, type Ranges, ranges as common } from "./HttpLimits.ts"

/**
 * In HTTP/2, bytes of a head or of trailers are those of names and values, and 32 for each field; `maxHeadBytes` also bounds
 * a header block as it was sent, and the head of a request. Those of {@link HttpLimits} are from 1 to 1,048,576 here, too,
 * and `maxHeadBytes` is at least 256.
 */
export interface Http2Limits extends HttpLimits {
  /** Exchanges at a time, if the peer allows as many: 1 to 65,536; 1,024 by default. */
  readonly maxStreams?: number | undefined
  /** Exchanges at a time as long as the peer's first SETTINGS have not come: 0 to 65,536; 100 by default. */
  readonly maxStreamsAtFirst?: number | undefined
  /** Bytes of a response that may be sent and not consumed: 65,535 to 16,777,216; 262,144 by default. */
  readonly maxStreamWindowBytes?: number | undefined
  /** The same for all exchanges of a connection together: 65,535 to 1,073,741,824; 1,048,576 by default. */
  readonly maxConnectionWindowBytes?: number | undefined
  /** Bytes of a frame's payload: 16,384 to 1,048,576; 16,384 by default. */
  readonly maxFrameBytes?: number | undefined
  /** Bytes of the table of fields that the peer may refer to: 4,096 to 65,536; 4,096 by default. */
  readonly maxTableBytes?: number | undefined
  /** Frames that a header block goes on in: 0 to 1,024; 32 by default. */
  readonly maxContinuations?: number | undefined
  /**
   * Streams that are remembered as reset, each with the window it had: 16 to 16,384; 1,024 by default. What comes of older
   * ones that are over is passed over as well, within what those that were reset had left in all.
   */
  readonly maxResets?: number | undefined
  /**
   * Frames that carry nothing for an exchange, and answers to them that nobody takes: 100 to 1,048,576; 10,000 by default.
   * An exchange allows 16 of them, each frame of a body 3, and every 256 bytes of it one; of what was sent, up to twenty times
   * the limit ahead of its answers, and frames once they are taken. As many SETTINGS, each with the streams that wait for what
   * it opens, for which only exchanges and bytes that were sent allow more.
   */
  readonly maxIdleFrames?: number | undefined
}

export const ranges: Ranges<Http2Limits> = {
  ...common,
  maxHeadBytes: [256, Limit.most, common.maxHeadBytes[2]],
  maxStreams: [1, 65_536, 1_024],
  maxStreamsAtFirst: [0, 65_536, 100],
  maxStreamWindowBytes: [firstWindow, 16_777_216, 262_144],
  maxConnectionWindowBytes: [firstWindow, 1_073_741_824, 1_048_576],
  maxFrameBytes: [firstFrame, 1_048_576, firstFrame],
  maxTableBytes: [4_096, 65_536, 4_096],
  maxContinuations: [0, 1_024, 32],
  maxResets: [16, 16_384, 1_024],
  maxIdleFrames: [100, Limit.most, 10_000],
}
