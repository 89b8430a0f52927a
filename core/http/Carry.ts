/** Bytes of a unit that comes in pieces. It owns a copy of them, in doubled room where it is full, until they are dropped. */
export const nothing: Uint8Array = new Uint8Array(0)
const leastRoom = 256

export class Carry {
  #room = nothing
  #length = 0

  get length(): number {
    return this.#length
  }

  /** Bytes of its room. */
  get retainedBytes(): number {
    return this.#room.length
  }

  /** What it holds, until it changes. */
  get bytes(): Uint8Array {
    return this.#room
  }

  add(bytes: Uint8Array, from: number, to: number): void {
    const length = this.#length + to - from
    if (length > this.#room.length) {
      const larger = new Uint8Array(Math.max(leastRoom, 2 * this.#room.length, length))
      larger.set(this.#room.subarray(0, this.#length))
      this.#room = larger
    }
    this.#room.set(bytes.subarray(from, to), this.#length)
    this.#length = length
  }

  drop(): void {
    this.#room = nothing
    this.#length = 0
  }
}
