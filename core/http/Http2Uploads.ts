/**
 * Bodies of requests on their way out, as the peer's windows allow (RFC 9113, 5.2). It owns the connection's window, what is
 * held of bodies that were given as bytes, and the line of those that wait for the connection's window alone.
 */
import { firstWindow } from "./Http2Frames.ts"
import type { Output } from "./Http2Output.ts"
import type { Quota } from "./Http2Quota.ts"
import type { PeerSettings } from "./Http2Settings.ts"
import type { Stream, Streams } from "./Http2Streams.ts"
import { Outflow } from "./Http2Window.ts"
import type { Event } from "./HttpEngine.ts"

const nothing = new Uint8Array(0)

export class Uploads {
  readonly #output: Output
  readonly #streams: Streams
  readonly #peer: PeerSettings
  readonly #quota: Quota
  readonly #tell: (event: Event) => void
  readonly #outflow = new Outflow(firstWindow)
  /** In the order of their turns, each of one frame. One that waits for its own window is not among them. */
  readonly #line = new Set<Stream>()

  constructor(output: Output, streams: Streams, peer: PeerSettings, quota: Quota, tell: (event: Event) => void) {
    this.#output = output
    this.#streams = streams
    this.#peer = peer
    this.#quota = quota
    this.#tell = tell
  }

  /** Sends what it may of bytes that are to be held until all of them are out. */
  sendWhole(stream: Stream, bytes: Uint8Array): void {
    // Who came before goes first.
    const sent = this.#line.size > 0 ? 0 : this.#send(stream, bytes, bytes.length, true)
    if (sent === bytes.length) stream.isSent = true
    else {
      stream.held = bytes.subarray(sent)
      this.#wait(stream)
    }
  }

  /** Sends what it may of bytes of an upload, and says how many; `isLast` if the body ends with them. */
  sendPart(stream: Stream, bytes: Uint8Array, isLast: boolean): number {
    const sent = this.#send(stream, bytes, bytes.length, isLast)
    stream.isShort = sent < bytes.length
    if (stream.isShort) this.#wait(stream)
    else {
      this.#line.delete(stream)
      stream.isSent = isLast
    }
    return sent
  }

  /** A tunnel is open: whoever was told to wait for it may write. */
  open(stream: Stream): void {
    this.#wait(stream)
    this.#flush()
  }

  end(stream: Stream): void {
    this.#output.data(stream.id, nothing, true)
    stream.isSent = true
    this.drop(stream)
  }

  /** It sends nothing more. */
  drop(stream: Stream): void {
    stream.held = undefined
    this.#line.delete(stream)
  }

  /** The connection's window is larger; whether it still is one. */
  raise(bytes: number): boolean {
    const isRight = this.#outflow.raise(bytes)
    if (isRight) this.#flush()
    return isRight
  }

  /** As `raise`, of a stream's own window, which may also have become smaller. */
  raiseOwn(stream: Stream, bytes: number): boolean {
    const isRight = stream.outflow.raise(bytes)
    if (isRight && (stream.isShort || stream.held !== undefined)) {
      this.#wait(stream)
      this.#flush()
    }
    return isRight
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

  #flush(): void {
    for (const stream of this.#line) {
      if (this.#outflow.left <= 0) return
      // Behind its turn it is at the end of the line, where this loop finds it again.
      this.#line.delete(stream)
      if (stream.isShort) {
        stream.isShort = false
        this.#tell({ _tag: "Writable", exchange: stream.id })
      } else if (stream.held !== undefined) this.#sendHeld(stream, stream.held)
    }
  }

  #sendHeld(stream: Stream, held: Uint8Array): void {
    const sent = this.#send(stream, held, this.#peer.maxFrame, true)
    if (sent === held.length) {
      stream.held = undefined
      stream.isSent = true
      this.#tell({ _tag: "SendEnded", exchange: stream.id, how: "whole" })
      // Its response may have ended long ago.
      if (stream.isOver) this.#streams.close(stream)
    } else {
      stream.held = held.subarray(sent)
      this.#wait(stream)
    }
  }
}
