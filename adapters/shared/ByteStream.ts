/**
 * Bytes carried between Node's streams and the web's, one chunk at a time, with back-pressure both ways.
 *
 * Nothing is read before it is asked for and nothing is written past a full buffer. It owns no stream: cancelling the
 * web side only drops what still comes, since what becomes of the socket is its owner's decision.
 */
import type { Readable, Writable } from "node:stream"

/** A source that ended before all of its bytes came: the peer left, or the connection was cut. */
export class ByteStreamCut extends Error {
  override readonly name = "ByteStreamCut"
  constructor() {
    super("the stream ended before all of its bytes came")
  }
}

export interface ReadableOptions {
  /** Told once, when the first byte is asked for. */
  readonly onFirstPull?: () => void
  /** Whether the message was whole; asked when the source ends. A body that is not whole becomes an error. */
  readonly complete: () => boolean
}

/**
 * What a Node stream yields, as a web stream that asks for one chunk at a time (high-water mark 0).
 *
 * Errors with {@link ByteStreamCut} when the source closes early, whatever code the runtime gave it.
 */
export const fromReadable = (source: Readable, options: ReadableOptions): ReadableStream<Uint8Array> => {
  let over = false
  let pulled = false
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const end = (whole: boolean): void => {
        if (over) return
        over = true
        if (whole) controller.close()
        else controller.error(new ByteStreamCut())
      }
      // The first chunk must not flow before somebody asks, so the pause comes before the listener.
      source.pause()
      source.on("data", (chunk: Uint8Array) => {
        if (over) return
        source.pause()
        controller.enqueue(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength))
      })
      source.on("end", () => end(options.complete()))
      source.on("error", () => end(false))
      source.on("close", () => end(options.complete()))
    },
    pull() {
      if (!pulled) {
        pulled = true
        options.onFirstPull?.()
      }
      source.resume()
    },
    // No pause: the owner may have begun to read the rest away, and what still comes is dropped above.
    cancel() {
      over = true
    },
  }, { highWaterMark: 0 })
}

/**
 * Writes a web stream's bytes to a Node stream without ending it; true when all were taken, false when the sink closed.
 *
 * The next chunk is asked for only after the last one fitted below the sink's high-water mark. A failure of the source
 * rejects, also while the sink is full. When the sink closes, the source is cancelled at once, also in the middle of a
 * read.
 */
export const writeTo = async (sink: Writable, source: ReadableStream<Uint8Array>): Promise<boolean> => {
  const reader = source.getReader()
  let closed = sink.destroyed
  let wake: () => void = () => {}
  const onClose = (): void => {
    closed = true
    wake()
    reader.cancel().catch(() => {})
  }
  const onDrain = (): void => wake()
  sink.on("close", onClose)
  sink.on("drain", onDrain)
  // A source that fails while the sink is full would not be noticed before the sink drains, which may be never.
  reader.closed.catch(() => wake())
  try {
    if (closed) onClose()
    for (;;) {
      const { done, value } = await reader.read()
      if (closed) return false
      if (done) return true
      if (value.byteLength > 0 && !sink.write(value)) {
        await new Promise<void>((resolve) => {
          wake = resolve
          if (closed || !sink.writableNeedDrain) resolve()
        })
      }
    }
  } finally {
    sink.off("close", onClose)
    sink.off("drain", onDrain)
  }
}
