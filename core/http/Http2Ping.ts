/** This side's PING (RFC 9113, 6.7), one at a time. It owns its number while its answer is due. */
import type { Output } from "./Http2Output.ts"

const payloadBytes = 8

export class Ping {
  readonly #payload = new Uint8Array(payloadBytes)
  #isDue = false

  /** Asks, unless an answer is due; whether it did. */
  ask(output: Output): boolean {
    if (this.#isDue) return false
    this.#isDue = true
    // Each has another number, so that an answer to one that was asked before is none.
    for (let at = payloadBytes - 1; at >= 0 && ++this.#payload[at]! > 255; at--);
    output.ping(this.#payload, 0, false)
    return true
  }

  /** An answer came; whether it is the one that is due. */
  answer(bytes: Uint8Array, from: number): boolean {
    const isRight = this.#isDue && this.#payload.every((byte, at) => byte === bytes[from + at])
    this.#isDue = false
    return isRight
  }
}
