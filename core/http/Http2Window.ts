/** The peer's side of flow control (RFC 9113, 5.2 and 6.9), of a stream or of the connection. It owns its counts. */

/** What the peer may still send. It is opened again by what was consumed and told, and by nothing else. */
export class Inflow {
  #left: number
  /** Bytes that were consumed, and that the peer was not told of. */
  #due = 0

  constructor(size: number) {
    this.#left = size
  }

  /** Bytes came; whether they were allowed. */
  take(bytes: number): boolean {
    this.#left -= bytes
    return this.#left >= 0
  }

  /** What another one had left may be used of this one. */
  join(other: Inflow): void {
    this.#left += other.#left
  }

  /**
   * Bytes were consumed; whether to tell the peer: once they are as many as are left of the window, so that what nobody reads
   * holds back no more than itself. Where all was read, that is half of it.
   */
  release(bytes: number): boolean {
    this.#due += bytes
    return this.#due > 0 && this.#due >= this.#left
  }

  /** What the peer is told of, and from now on may send. */
  tell(): number {
    const told = this.#due
    this.#left += told
    this.#due = 0
    return told
  }
}
