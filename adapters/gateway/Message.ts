/** HTTP messages as they cross the gateway. It owns nothing. */

/** Header lines in their order. */
export type Fields = ReadonlyArray<readonly [name: string, value: string]>

/** `path` begins with `/` and is sent as it is; with a body, `bytes` is its length, or undefined for chunked. */
export interface Call {
  readonly method: string
  readonly path: string
  readonly fields: Fields
  readonly body: ReadableStream<Uint8Array> | null
  readonly bytes: number | undefined
}

/** The body is the bytes on the wire and errors where they end early; null where the status or method allows none. */
export interface Reply {
  readonly status: number
  readonly fields: Fields
  readonly body: ReadableStream<Uint8Array> | null
}
