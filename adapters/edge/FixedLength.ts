/** A body that is sent with its length and not in chunks, where the runtime has a stream for that: workerd has. Owns nothing. */

interface Runtime {
  readonly FixedLengthStream?: new (length: number) => ReadableWritablePair<Uint8Array, Uint8Array>
}

/** The body as it is on a runtime without such streams. One of another length fails in whoever reads it. */
export const of = (body: ReadableStream<Uint8Array>, length: number): ReadableStream<Uint8Array> => {
  const { FixedLengthStream } = globalThis as Runtime
  return FixedLengthStream === undefined ? body : body.pipeThrough(new FixedLengthStream(length))
}
