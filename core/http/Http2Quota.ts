/**
 * How much a peer may send that is for no exchange. It owns counts: of frames that carried nothing, beyond what the
 * exchanges account for, and of answers that nobody has taken.
 *
 * There is no clock in it: what an honest peer sends besides messages grows with them, so an exchange allows some frames,
 * and bytes of bodies some more. What is left are the keep-alives of an idle connection, for which the limit is.
 */
export const framesAnExchange = 16
export const bytesAFrame = 256

export class Quota {
  readonly #max: number
  #frames = 0
  #answers = 0
  /** Bytes that have not paid for a frame yet. */
  #bytes = 0

  constructor(max: number) {
    this.#max = max
  }

  /** A frame that carries nothing; whether it is one too many. */
  isOver(): boolean {
    return ++this.#frames > this.#max
  }

  /** As `isOver`, of a frame that is answered. */
  isOverAnswered(): boolean {
    return ++this.#answers > this.#max || this.isOver()
  }

  began(): void {
    this.#frames = Math.max(0, this.#frames - framesAnExchange)
  }

  moved(bytes: number): void {
    this.#bytes += bytes
    const paid = Math.floor(this.#bytes / bytesAFrame)
    this.#bytes -= paid * bytesAFrame
    this.#frames = Math.max(0, this.#frames - paid)
  }

  taken(): void {
    this.#answers = 0
  }
}
