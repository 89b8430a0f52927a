/** This side's PING (RFC 9113, 6.7), one at a time. It owns its number until it was answered. */
import { uint32 } from "./Http2Frames.ts"
import type { Output } from "./Http2Output.ts"

export class Ping {
  /** Each has another number, so that an answer to one that was asked before is none. */
  #number = 0
  #state: "answered" | "asked" | "due" = "answered"

  /** Asks, unless an answer is due; whether it did. */
  ask(output: Output): boolean {
    if (this.#state !== "answered") return false
    this.#state = "asked"
    output.ping(0, ++this.#number, false)
    return true
  }

  /** All of the output was taken: nobody answers what was not. */
  taken(): void {
    if (this.#state === "asked") this.#state = "due"
  }

  /** An answer came; whether it is the one that is due. */
  answer(bytes: Uint8Array, from: number): boolean {
    const isDue = this.#state === "due"
    this.#state = "answered"
    return isDue && uint32(bytes, from) === 0 && uint32(bytes, from + 4) === this.#number
  }
}
