/** Codes of errors, as RST_STREAM and GOAWAY have them (RFC 9113, 7). Owns nothing. */

export const none = 0
export const protocol = 1
export const internal = 2
export const flowControl = 3
export const streamClosed = 5
export const frameSize = 6
export const refused = 7
export const cancel = 8
export const compression = 9
export const calm = 11
