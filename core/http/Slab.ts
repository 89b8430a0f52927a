/**
 * Output from parts, many small pieces to an allocation: one of 200 bytes by itself costs five times as much. It owns the
 * room that is left of the last one; what was packed lives as long as any piece of the same allocation does.
 */
import * as Latin1 from "./Latin1.ts"

const slabBytes = 8_192
const most = 1_024

export class Slab {
  #slab = new Uint8Array(0)
  #from = 0

  /** Texts behind each other, of characters that are one byte each. */
  texts(parts: ReadonlyArray<string>): Uint8Array {
    const all = this.take(lengthOf(parts))
    let at = 0
    // Part by part: reading the characters of texts that were joined just before costs twice as much.
    for (const part of parts) {
      Latin1.write(part, all, at)
      at += part.length
    }
    return all
  }

  /** Pieces behind each other. */
  join(parts: ReadonlyArray<Uint8Array>): Uint8Array {
    const all = this.take(lengthOf(parts))
    let at = 0
    for (const part of parts) {
      all.set(part, at)
      at += part.length
    }
    return all
  }

  /** Room that nobody else has. */
  take(length: number): Uint8Array {
    if (length > most) return new Uint8Array(length)
    if (this.#from + length > this.#slab.length) {
      this.#slab = new Uint8Array(slabBytes)
      this.#from = 0
    }
    const room = new Uint8Array(this.#slab.buffer, this.#from, length)
    this.#from += length
    return room
  }
}

const lengthOf = (parts: ReadonlyArray<{ readonly length: number }>): number => {
  let length = 0
  for (const part of parts) length += part.length
  return length
}
