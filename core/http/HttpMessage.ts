/**
 * Requests and the heads of responses as every HTTP version has them: plain data, owned by whoever made it.
 *
 * Text is one character a byte: U+0000 to U+00FF. What a peer sent beyond ASCII is therefore kept as it was, undecoded.
 * Whoever keeps a text of a response may keep up to 1,024 bytes of the head around it in memory, and no more.
 */

/** Names come in lower case from a peer; toward one, HTTP/1.1 writes them as they are given. */
export type Field = readonly [name: string, value: string]

/** In their order on the wire; a name may be there more than once. */
export type Fields = ReadonlyArray<Field>

/** A body that comes piece by piece: so many bytes, or as many as will come where they are undefined. */
export interface Upload {
  readonly bytes: number | undefined
}

/** What is asked for. The engine writes the form that its protocol and its connection want. */
export interface HttpRequest {
  /** A token without small letters. */
  readonly method: string
  readonly scheme: "http" | "https"
  /** Host, and port where it is not the scheme's own; no user information. */
  readonly authority: string
  /** From the first slash on, with the query and without a fragment; `*` for OPTIONS of the server, empty for CONNECT. */
  readonly path: string
  /** Neither the framing (`content-length` may repeat what `body` says) nor, unless it is to differ, `host`. */
  readonly fields: Fields
  /**
   * Bytes that are all there, or an upload; undefined is no body. The bytes must not change until they are written; what was
   * transferred is refused.
   */
  readonly body?: Uint8Array | Upload | undefined
  /**
   * What CONNECT is to begin on its stream (RFC 8441), such as `websocket`; then scheme, authority and path are those of a
   * GET. In HTTP/2 alone, and where the peer has said that it does so.
   */
  readonly protocol?: string | undefined
}

/** The final head of a response. */
export interface ResponseHead {
  readonly version: "1.0" | "1.1" | "2"
  /** 200 to 999; what is above 599 has no meaning and counts as a server's error. */
  readonly status: number
  /** As it was sent; empty where there was none, as always in HTTP/2. */
  readonly reason: string
  readonly fields: Fields
}
