/**
 * Bodies of requests on their way out, as the peer's windows allow (RFC 9113, 5.2). It owns the connection's window, what is
 * held of bodies that were given as bytes, the line of those that wait for the connection's window alone, and which of them
 * have ended in output that nobody has taken.
 *
 * That window is shared by turns. A held body sends what its turn allows; of an upload, whose bytes are its owner's, the turn
 * is kept until he comes, so that whoever comes first takes nobody else's, and nobody is told who would find nothing.
 */
import * as Code from "./Http2ErrorCode.ts"
import { firstFrame, firstWindow } from "./Http2Frames.ts"
import type { Output } from "./Http2Output.ts"
import type { Quota } from "./Http2Quota.ts"
import type { PeerSettings } from "./Http2Settings.ts"
import type { Stream, Streams } from "./Http2Streams.ts"
import { Outflow } from "./Http2Window.ts"
import type { Event, Exchange, Failed } from "./HttpEngine.ts"
import { lost } from "./HttpGiven.ts"

const nothing = new Uint8Array(0)

export class Uploads {
  readonly #output: Output
  readonly #streams: Streams
  readonly #peer: PeerSettings
  readonly #quota: Quota
  readonly #tell: (event: Event) => void
  readonly #outflow = new Outflow(firstWindow)
  /** In the order of their turns. One that waits for its own window is not among them. */
  readonly #line = new Set<Stream>()
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
  sendWhole(stream: Stream, bytes: Uint8Array): void {
    const sent = this.#send(stream, bytes, this.#shareOf(stream), true)
    if (sent === bytes.length) this.ends(stream)
    else {
      stream.held = bytes.subarray(sent)
      stream.hasWaited = true
      this.#wait(stream)
    }
  }

  /** Sends what it may of bytes of an upload, and says how many; `isLast` if the body ends with them. */
  sendPart(stream: Stream, bytes: Uint8Array, isLast: boolean): number {
    const sent = this.#send(stream, bytes, this.#shareOf(stream), isLast)
    stream.wanted = bytes.length - sent
    stream.isShort = stream.wanted > 0
    if (stream.isShort) this.#wait(stream)
    else {
      this.#line.delete(stream)
      if (isLast) this.ends(stream)
    }
    this.flush()
    return sent
  }

  /** A tunnel is open: whoever was told to wait for it may write. */
  open(stream: Stream): void {
    this.#wait(stream)
    this.flush()
  }

  end(stream: Stream): void {
    this.#output.data(stream.id, nothing, true)
    this.drop(stream)
    this.ends(stream)
  }

  /** The end of a request is in the output; it is sent once that is taken. */
  ends(stream: Stream): void {
    stream.isSent = true
    this.#untaken.set(stream.id, stream)
  }

  /** Whether nobody has taken the end of an exchange's request. */
  isUntaken(exchange: Exchange): boolean {
    return this.#untaken.has(exchange)
  }

  get areUntaken(): boolean {
    return this.#untaken.size > 0
  }

  /** All of the output was taken. */
  taken(): void {
    if (this.#untaken.size === 0) return
    for (const { hasWaited, id } of this.#untaken.values()) {
      if (hasWaited) this.#tell({ _tag: "SendEnded", exchange: id, how: "whole" })
    }
    this.#untaken.clear()
  }

  /** Nothing comes out any more. */
  stop(): void {
    for (const { id, isLive } of this.#untaken.values()) {
      if (!isLive) this.#tell({ _tag: "SendEnded", exchange: id, how: "stopped" })
    }
    this.#untaken.clear()
    this.#output.take()
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

  /** It sends nothing more; what was kept for it goes to others by the next `flush`. */
  drop(stream: Stream): void {
    stream.held = undefined
    stream.isShort = false
    this.#shareOf(stream)
    this.#line.delete(stream)
    this.#untaken.delete(stream.id)
  }

  /** The connection's window is larger; whether it still is one. */
  raise(bytes: number): boolean {
    const isRight = this.#outflow.raise(bytes)
    if (isRight) this.flush()
    return isRight
  }

  /** As `raise`, of a stream's own window, which may also have become smaller. */
  raiseOwn(stream: Stream, bytes: number): boolean {
    const isRight = stream.outflow.raise(bytes)
    if (isRight && (stream.isShort || stream.held !== undefined)) {
      this.#wait(stream)
      this.flush()
    }
    return isRight
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
    const count = Math.max(0, Math.min(bytes.length, most, stream.outflow.left, this.#outflow.left))
    for (let at = 0; at < count;) {
      const to = Math.min(count, at + this.#peer.maxFrame)
      this.#output.data(stream.id, bytes.subarray(at, to), isLast && to === bytes.length)
      at = to
    }
    stream.outflow.left -= count
    this.#outflow.left -= count
    this.#quota.moved(count)
    return count
  }

  #wait(stream: Stream): void {
    // A tunnel that is not open yet waits for its answer, not for a window.
    const isAhead = stream.isTunnel && stream.part === "head"
    if (stream.outflow.left > 0 && !isAhead) this.#line.add(stream)
    else this.#line.delete(stream)
  }

  /** What of the connection's window is nobody's. */
  get #free(): number {
    return this.#outflow.left - this.#kept
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
    if (stream.held !== undefined) return this.#sendHeld(stream, stream.held, most)
    // Settings may have made its window smaller than what was kept for it; that stays kept, and is not taken back.
    const more = Math.max(0, Math.min(most, Math.min(stream.wanted, stream.outflow.left) - stream.kept))
    stream.kept += more
    this.#kept += more
    if (stream.isShort) this.#tell({ _tag: "Writable", exchange: stream.id })
    stream.isShort = false
    if (Math.min(stream.wanted, stream.outflow.left) > stream.kept) this.#line.add(stream)
  }

  #sendHeld(stream: Stream, held: Uint8Array, most: number): void {
    // What was transferred is gone, and only its owner could say what it was.
    if (held.length === 0) {
      this.#output.reset(stream.id, Code.internal)
      this.fail(stream, lost())
      return this.#streams.reset(stream)
    }
    const sent = this.#send(stream, held, most, true)
    if (sent === held.length) {
      stream.held = undefined
      this.ends(stream)
      // Its response may have ended long ago.
      if (stream.isOver) this.#streams.close(stream)
    } else {
      stream.held = held.subarray(sent)
      this.#wait(stream)
    }
  }
}
