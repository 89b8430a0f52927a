/**
 * How much a peer may send that is for no exchange. It owns counts: of frames that carried nothing, and of what SETTINGS
 * made this side do, beyond what the exchanges account for; and of answers that nobody has taken.
 *
 * There is no clock in it: what an honest peer sends besides messages grows with them, so an exchange allows some frames,
 * each piece of a body some more, small as it may be, and its bytes as well. What is left are the keep-alives of an idle
 * connection, for which the limit is.
 *
 * What the peer's own bodies pay ahead of time is lost. What this side does is answered later, when more of it may have paid:
 * an exchange that is under way may use its frames whenever it likes, and of what was sent up to {@link ahead} are kept.
 */
import type { Streams } from "./Http2Streams.ts"

export const framesAnExchange = 16
/** A window of the stream, one of the connection, and now and then a ping, which is how some peers measure a path. */
export const framesAPiece = 3
export const bytesAFrame = 256
/** Times the limit: by default three frames for as many parts of one byte as there is room for in a window of 65,535. */
const ahead = 20

export class Quota {
  readonly #max: number
  readonly #streams: Streams
  /** Below zero, what was paid and not used. */
  #frames = 0
  #answers = 0
  #settings = 0
  #given = 0

  constructor(max: number, streams: Streams) {
    this.#max = max
    this.#streams = streams
  }

  /** A frame that carries nothing; whether it is one too many. */
  isOver(): boolean {
    return ++this.#frames > this.#max
  }

  /** As `isOver`, of a frame that is answered. */
  isOverAnswered(): boolean {
    return ++this.#answers > this.#max || this.isOver()
  }

  /**
   * SETTINGS, and so many streams that they had this side look at, which costs the peer a few bytes however many they are.
   * Only what this side began and sent pays for that, since a peer's own bodies are as many as it likes. To look twice at all
   * that are under way is never too much.
   */
  isOverSettings(count: number): boolean {
    return (this.#settings += count) > Math.max(this.#max, 2 * this.#streams.count)
  }

  /** An exchange, which is among those that are under way. */
  began(): void {
    this.sent(framesAnExchange * bytesAFrame)
  }

  /** A frame of the peer's that carries a part of a body. */
  carried(): void {
    this.moved(framesAPiece * bytesAFrame)
  }

  /**
   * A frame of a body is in the output, however small: where each window is spent as it comes, ends of bodies cut it ever
   * smaller. It pays once that is taken, since a peer that reads nothing has nothing to say of it.
   */
  gave(): void {
    this.#given++
  }

  moved(bytes: number, times: number = 0): void {
    const least = Math.min(this.#frames, -framesAnExchange * this.#streams.count - times * this.#max)
    this.#frames = Math.max(least, this.#frames - bytes / bytesAFrame)
  }

  sent(bytes: number): void {
    this.moved(bytes, ahead)
    this.#settings = Math.max(0, this.#settings - bytes / bytesAFrame)
  }

  taken(): void {
    this.#answers = 0
    this.moved(this.#given * framesAPiece * bytesAFrame, ahead)
    this.#given = 0
  }
}
