/**
 * Bodies of requests on their way out, as the peer's windows allow (RFC 9113, 5.2). It owns the connection's window, what is
 * held of bodies that were given as bytes, the line of those that wait for the connection's window alone, and which of them
 * have ended in output that nobody has taken.
 *
 * That window is shared by turns. A held body sends what its turn allows; of an upload, whose bytes are its owner's, the turn
 * is kept until he comes, so that whoever comes first takes nobody else's, and nobody is told who would find nothing.
 */
import { nothing } from "./Carry.ts"
import * as Code from "./Http2ErrorCode.ts"
import { firstFrame, firstWindow, mostWindow } from "./Http2Frames.ts"
import type { Output } from "./Http2Output.ts"
import type { Quota } from "./Http2Quota.ts"
import type { PeerSettings } from "./Http2Settings.ts"
import type { Stream, Streams } from "./Http2Streams.ts"
import type { Event, Exchange, Failed } from "./HttpEngine.ts"
import type { Rule } from "./HttpFault.ts"
import { lost } from "./HttpGiven.ts"

export class Uploads {
  readonly #output: Output
  readonly #streams: Streams
  readonly #peer: PeerSettings
  readonly #quota: Quota
  readonly #tell: (event: Event) => void
  #outflow = firstWindow
  /** No stream has more beyond what the windows of all begin with. */
  #highest = 0
  /** In the order of their turns. One that waits for its own window is not among them, but among the shut ones. */
  readonly #line = new Set<Stream>()
  readonly #shut = new Set<Stream>()
  readonly #untaken = new Map<Exchange, Stream>()
  /** Bytes of the connection's window that are kept for uploads that were told. */
  #kept = 0

  constructor(output: Output, streams: Streams, peer: PeerSettings, quota: Quota, tell: (event: Event) => void) {
    this.#output = output
    this.#streams = streams
    this.#peer = peer
    this.#quota = quota
    this.#tell = tell
  }

  /** Sends what it may of bytes that are to be held until all of them are out. */
  sendWhole(stream: Stream, bytes: Uint8Array, most: number = this.#shareOf(stream)): void {
    const sent = this.#send(stream, bytes, most, true)
    if (sent < bytes.length) {
      stream.held = bytes.subarray(sent)
      stream.ending = "whole"
      this.#wait(stream)
    } else {
      this.ends(stream)
      // Its response may have ended long ago.
      this.#streams.settle(stream)
    }
  }

  /** Sends what it may of bytes of an upload, and says how many; `isLast` if the body ends with them. */
  sendPart(stream: Stream, bytes: Uint8Array, isLast: boolean): number {
    const sent = this.#send(stream, bytes, this.#shareOf(stream), isLast)
    stream.wanted = bytes.length - sent
    stream.isShort = stream.wanted > 0
    if (stream.isShort) this.#wait(stream)
    else if (isLast) this.ends(stream)
    else this.#leave(stream)
    this.flush()
    return sent
  }

  /** What it waits for may be open now: a window, or a tunnel. */
  open(stream: Stream): void {
    this.#wait(stream)
    this.flush()
  }

  end(stream: Stream): void {
    this.#output.data(stream.id, nothing, true)
    this.ends(stream)
  }

  /** The end of a request is in the output; it is sent once that is taken. */
  ends(stream: Stream): void {
    this.drop(stream)
    stream.isSent = true
    this.#untaken.set(stream.id, stream)
  }

  /** Whether nobody has taken the end of an exchange's request. */
  isUntaken(exchange: Exchange): boolean {
    return this.#untaken.has(exchange)
  }

  /** All of the output was taken. */
  taken(): void {
    for (const { ending, id } of this.#untaken.values()) {
      if (ending !== undefined) this.#tell({ _tag: "SendEnded", exchange: id, how: ending })
    }
    this.#untaken.clear()
  }

  /** Nothing comes out any more; whether nothing of a body was still to come. */
  stop(): boolean {
    const isClean = this.#untaken.size === 0
    for (const stream of this.#untaken.values()) stream.ending = stream.isLive ? undefined : "stopped"
    this.taken()
    this.#output.take()
    return isClean
  }

  /** The stream is over; a response that has ended stands. */
  fail(stream: Stream, error: Failed["error"]): void {
    this.drop(stream)
    this.#streams.close(stream)
    this.#tell(
      stream.part === "ended"
        ? { _tag: "SendEnded", exchange: stream.id, how: "stopped" }
        : { _tag: "Failed", exchange: stream.id, error },
    )
  }

  /** The peer is told that it is over. */
  reset(stream: Stream, code: number): void {
    this.#output.reset(stream.id, code)
    this.#streams.reset(stream)
  }

  /** It sends nothing more; what was kept for it goes to others by the next `flush`. */
  drop(stream: Stream): void {
    stream.held = undefined
    stream.isShort = false
    this.#shareOf(stream)
    this.#leave(stream)
    this.#untaken.delete(stream.id)
  }

  /** The connection's window is larger; whether it still is one. */
  raise(bytes: number): boolean {
    this.#outflow += bytes
    if (this.#outflow > mostWindow) return false
    this.flush()
    return true
  }

  /** As `raise`, of a stream's own window. */
  raiseOwn(stream: Stream, bytes: number): boolean {
    stream.outflow += bytes
    if (this.#left(stream) > mostWindow) return false
    this.#highest = Math.max(this.#highest, stream.outflow)
    if (stream.isShort || stream.held !== undefined) this.open(stream)
    return true
  }

  /**
   * SETTINGS came, and made the window of all streams larger by so many bytes, or smaller: the rule that this breaks. They
   * count, and so does each stream that is looked at. That is all the work there is: in the line, a look sends or keeps a byte,
   * or takes one out that came from here, by a frame of its own, or by its owner. A `Writable` that further SETTINGS of the
   * same piece made untrue is told all the same, since events are the same however bytes are split; it is counted, and what its
   * owner then sends pays.
   */
  raiseAll(bytes: number): Rule | undefined {
    let count = 1
    if (this.#isBeyond) {
      // The highest may have been used or closed since.
      this.#highest = 0
      for (const { isLive, outflow } of this.#streams.all()) {
        if (isLive) this.#highest = Math.max(this.#highest, outflow)
        count++
      }
      if (this.#isBeyond) return "window-overflow"
    }
    if (bytes > 0) {
      count += this.#shut.size
      for (const stream of this.#shut) this.#wait(stream)
      this.flush()
    }
    return this.#quota.isOverSettings(count) ? "flood" : undefined
  }

  /**
   * Gives all that is nobody's to those that wait, in turns of whole frames, so that all of it is used though the peer opens
   * its window no further. Behind its turn each is at the end of the line, and stays there until the next round.
   */
  flush(): void {
    while (this.#line.size > 0 && this.#free > 0) {
      let count = this.#line.size
      const turn = Math.max(1, Math.floor(this.#free / (count * firstFrame))) * firstFrame
      for (const stream of this.#line) {
        if (count-- === 0 || this.#free <= 0) break
        this.#give(stream, Math.min(turn, this.#free))
      }
    }
  }

  /** So many bytes of `bytes` at most. */
  #send(stream: Stream, bytes: Uint8Array, most: number, isLast: boolean): number {
    const count = Math.max(0, Math.min(bytes.length, most, this.#left(stream), this.#outflow))
    for (let at = 0; at < count;) {
      const to = Math.min(count, at + this.#peer.maxFrame)
      this.#output.data(stream.id, bytes.subarray(at, to), isLast && to === bytes.length)
      this.#quota.gave()
      at = to
    }
    stream.outflow -= count
    this.#outflow -= count
    this.#quota.sent(count)
    return count
  }

  #wait(stream: Stream): void {
    // A tunnel that is not open yet waits for its answer, not for a window.
    if (stream.isTunnel && stream.part === "head") return
    const [from, to] = this.#left(stream) > 0 ? [this.#shut, this.#line] : [this.#line, this.#shut]
    from.delete(stream)
    to.add(stream)
  }

  #leave(stream: Stream): void {
    this.#line.delete(stream)
    this.#shut.delete(stream)
  }

  /** What a stream may send. Below zero, its window was made smaller after it was used (RFC 9113, 6.9.2). */
  #left(stream: Stream): number {
    return this.#peer.window + stream.outflow
  }

  /** Whether some window may be larger than one may be. */
  get #isBeyond(): boolean {
    return this.#peer.window + this.#highest > mostWindow
  }

  /** What of the connection's window is nobody's. */
  get #free(): number {
    return this.#outflow - this.#kept
  }

  /**
   * What is kept for one that has come, and what is nobody's. While somebody waits that is nothing, since each step ends with
   * a `flush`: who came before goes first.
   */
  #shareOf(stream: Stream): number {
    const share = stream.kept + this.#free
    this.#kept -= stream.kept
    stream.kept = 0
    return share
  }

  /** A turn of at most so many bytes. */
  #give(stream: Stream, most: number): void {
    this.#line.delete(stream)
    const { held } = stream
    // What was transferred is gone, and only its owner could say what it was.
    if (held?.length === 0) {
      this.fail(stream, lost())
      return this.reset(stream, Code.internal)
    }
    if (held !== undefined) return this.sendWhole(stream, held, most)
    const left = Math.min(stream.wanted, this.#left(stream))
    if (left <= 0) return this.#wait(stream)
    // Settings may have made its window smaller than what was kept for it; that stays kept, and is not taken back.
    const more = Math.max(0, Math.min(most, left - stream.kept))
    stream.kept += more
    this.#kept += more
    if (stream.isShort) this.#tell({ _tag: "Writable", exchange: stream.id })
    stream.isShort = false
    if (left > stream.kept) this.#line.add(stream)
  }
}
