/** What an outgoing HTTP exchange is asked, what it answers, and how it fails, however it is carried. It owns nothing. */
import { Refusal } from "../../core/Refusal.ts"

/**
 * Where the exchange was when it failed: `connect` is until the connection stands, the name and TLS included, `head` from
 * there until the response's head; at the edge, where nobody tells the two apart, `head` is both.
 */
export type Phase = "connect" | "head" | "upload"

/** No response came. `code` is the runtime's (`ECONNREFUSED`, `HPE_…`); it names no address. The connection is gone. */
export class ExchangeFailed extends Refusal {
  readonly _tag = "ExchangeFailed"
  override readonly name = "ExchangeFailed"
  readonly phase: Phase
  readonly code: string
  constructor(facts: { readonly phase: Phase; readonly code: string }) {
    super()
    this.phase = facts.phase
    this.code = facts.code
  }
  override get message(): string {
    return `the exchange failed (${this.phase}: ${this.code})`
  }
}

export type Fields = ReadonlyArray<readonly [name: string, value: string]>

/** `path` is sent as it is. With a body, `length` is its bytes, or undefined for chunked. */
export interface Call {
  readonly secure: boolean
  readonly host: string
  readonly port: number
  readonly method: string
  readonly path: string
  readonly fields: Fields
  readonly body: ReadableStream<Uint8Array> | null
  readonly length: number | undefined
}

/** The body is exactly the bytes on the wire (no decoding) and errors if they end early; null where there can be none. */
export interface Reply {
  readonly status: number
  readonly fields: Fields
  readonly body: ReadableStream<Uint8Array> | null
}

/** How often `onOpen` and `onClose` are told: once each, the latter when the connection is really closed. */
export interface Witness {
  readonly onOpen: () => void
  readonly onClose: () => void
}
