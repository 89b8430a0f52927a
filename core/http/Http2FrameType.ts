/** Types of frames by number (RFC 9113, 6). Owns nothing. */

export const data = 0
export const headers = 1
export const priority = 2
export const reset = 3
export const settings = 4
export const push = 5
export const ping = 6
export const goAway = 7
export const windowUpdate = 8
export const continuation = 9
/** RFC 9218, 7.1. */
export const priorityUpdate = 16
