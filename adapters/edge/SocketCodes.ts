/** A socket of `cloudflare:sockets`, and what it tells in the words of the core. It owns nothing. */
import type { Point, SocketFacts } from "../../core/SocketDriver.ts"
import { type DialFault, LocalAddressUnusable, PeerReset, type Phase, SocketFailed } from "../../core/SocketFault.ts"

/** What is told of a connection that is there. */
export interface EdgeInfo {
  readonly localAddress?: string
  readonly remoteAddress?: string
}

/** As much of a socket of `cloudflare:sockets` as is used. */
export interface EdgeSocket {
  readonly readable: ReadableStream<Uint8Array>
  readonly writable: WritableStream<Uint8Array>
  readonly opened: Promise<EdgeInfo | undefined>
  readonly closed: Promise<void>
  readonly close: () => Promise<void>
  readonly startTls: (options?: { readonly expectedServerHostname?: string }) => EdgeSocket
}

export type Connect = (
  address: { readonly hostname: string; readonly port: number },
  options: { readonly secureTransport: "starttls"; readonly allowHalfOpen: true },
) => EdgeSocket

/** What a point asks for that the edge does not have. */
export const unsupported = (point: Point): DialFault | undefined => {
  if (point.path !== undefined) return new SocketFailed({ phase: "connect", code: "NO_PATHS" })
  if (point.local !== undefined) return new LocalAddressUnusable({ phase: "connect", code: "NO_LOCAL_ADDRESS" })
  return point.keepAliveMillis > 0 ? new SocketFailed({ phase: "connect", code: "NO_KEEP_ALIVE" }) : undefined
}

/** The fault that an error is. Errors have no code there, and their text is not to be relied on. */
export const translate = (phase: Phase, error: unknown): DialFault =>
  /reset|lost|disconnected/i.test(String(error))
    ? new PeerReset({ phase, code: "LOST" })
    : new SocketFailed({ phase, code: "EDGE" })

/** What is told of one that is open: of TLS, only that it is there. */
export const factsOf = (
  info: EdgeInfo,
  isSecure: boolean,
): SocketFacts => {
  const at = (address: string | undefined) => {
    const [, host, port] = /^\[?(.*?)\]?:(\d+)$/.exec(address ?? "") ?? []
    return host === undefined ? undefined : { address: host, port: Number(port) }
  }
  return {
    protocol: undefined,
    local: at(info.localAddress),
    remote: at(info.remoteAddress),
    tls: isSecure ? { version: undefined, cipher: undefined, fingerprint: undefined } : undefined,
  }
}
