/** Bytes as text by `node:buffer`, for the HTTP codecs: an eighth of what the core's own decoder takes. Owns nothing. */
import { Buffer } from "node:buffer"
import type * as Core from "../../core/http/Latin1.ts"

/** The method of Buffer takes any Uint8Array, which saves the making of a Buffer over it. */
const slice: (this: Uint8Array, start: number, end: number) => string = Buffer.prototype.latin1Slice

/** One character a byte: what `holdfast/http1` takes as `latin1`. */
export const latin1: Core.Latin1 = (bytes, start, end) => slice.call(bytes, start, end)
