/** Random numbers that repeat: the same seed gives the same ones on every runtime. Owns nothing. */
import type * as Random from "effect/Random"

/** Draws numbers in [0, 1), decided by the seed alone. "Mulberry32", T. Ettinger, 2017: small, and good enough here. */
export const draws = (seed: number): () => number => {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const wholes = Number.MAX_SAFE_INTEGER - Number.MIN_SAFE_INTEGER

/** Effect's random numbers, drawn by `draw`. */
export const service = (draw: () => number): Random.Random => ({
  nextDoubleUnsafe: draw,
  nextIntUnsafe: () => Math.floor(draw() * wholes) + Number.MIN_SAFE_INTEGER,
})
