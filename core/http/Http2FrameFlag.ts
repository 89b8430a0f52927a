/** Flags of frames (RFC 9113, 6). Owns nothing. */

export const endStream = 1
export const ack = 1
export const endHeaders = 4
export const padded = 8
export const priority = 32
