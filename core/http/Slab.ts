/**
 * Room for small pieces of output, many to an allocation: one of 200 bytes by itself costs five times as much. It owns the
 * room that is left of the last one; what was taken lives as long as any piece of the same allocation does.
 */
const slabBytes = 8_192
const most = 1_024

export class Slab {
  #slab = new Uint8Array(0)
  #from = 0

  /** Zeroed bytes that nobody else has. */
  take(length: number): Uint8Array {
    if (length > most) return new Uint8Array(length)
    if (this.#from + length > this.#slab.length) {
      this.#slab = new Uint8Array(slabBytes)
      this.#from = 0
    }
    return this.#slab.subarray(this.#from, this.#from += length)
  }
}
