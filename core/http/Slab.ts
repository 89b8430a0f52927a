/**
 * Output, text by text, many small pieces to an allocation: one of 200 bytes by itself costs five times as much. It owns the
 * piece that is being written and the room that is left behind it; what was ended lives as long as any piece of the same
 * allocation does.
 */
const slabBytes = 8_192

const any = new Uint8Array(256).fill(1)

export class Slab {
  #bytes = new Uint8Array(0)
  #from = 0
  #at = 0

  /** Begins a piece. One that was not ended is forgotten, and with it the room that was made for it. */
  begin(): void {
    const isLarge = this.#at > this.#from && this.#bytes.length > slabBytes
    // Whoever had a piece may have transferred it, and the allocation went with it.
    if (isLarge || this.#from > this.#bytes.length) this.#bytes = new Uint8Array(0)
    this.#at = this.#from
  }

  /** Adds a text; whether all of its characters are bytes that have a 1 here. If not, the piece is of no use. */
  add(text: string, allowed: Uint8Array = any): boolean {
    const bytes = this.#room(text.length)
    let isFit = 1
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i)
      // Beyond the table there is nothing, which counts as 0.
      isFit &= allowed[code]!
      bytes[this.#at + i] = code
    }
    this.#at += text.length
    return isFit === 1
  }

  bytes(piece: Uint8Array): void {
    this.#room(piece.length).set(piece, this.#at)
    this.#at += piece.length
  }

  /** Bytes of the piece so far. */
  get length(): number {
    return this.#at - this.#from
  }

  /** The piece, as it lies. */
  end(): Uint8Array {
    const piece = this.#bytes.subarray(this.#from, this.#at)
    this.#from = this.#at
    return piece
  }

  /** Where so many bytes more have room; the piece moves there where it was at the end of the last allocation. */
  #room(length: number): Uint8Array {
    if (this.#at + length > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(slabBytes, 2 * (this.length + length)))
      larger.set(this.#bytes.subarray(this.#from, this.#at))
      this.#at = this.length
      this.#from = 0
      this.#bytes = larger
    }
    return this.#bytes
  }
}
