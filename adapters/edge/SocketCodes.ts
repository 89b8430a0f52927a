/** What the edge tells of a socket, in the words of the core. It owns nothing. */
import type { Point, SocketFacts } from "../../core/SocketDriver.ts"
import { type DialFault, LocalAddressUnusable, PeerReset, type Phase, SocketFailed } from "../../core/SocketFault.ts"

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
  info: { readonly localAddress?: string; readonly remoteAddress?: string },
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
