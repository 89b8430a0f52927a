/** The codes of errors of `node:net` and `node:tls` as faults. It owns nothing. */
import type { Socket } from "node:net"
import * as Fault from "../../core/SocketFault.ts"
import type { Address } from "../../core/SocketTarget.ts"

/** As much of an error as is looked at; its message may hold addresses and names. */
export interface RuntimeError extends Error {
  readonly code?: string | undefined
  readonly syscall?: string | undefined
}

/** What a runtime does in another way than most. */
export interface Differences {
  /** Closes TLS with a reset of what is below; left out where resetting that, and closing both, does it. */
  readonly reset?: ((raw: Socket, secured: Socket) => void) | undefined
  /** Stops and starts what is below TLS, where pausing TLS does not; left out where it does. */
  readonly flow?: ((raw: Socket, flows: boolean) => void) | undefined
  /** Whether an end of TLS is that of what is below, cut off; left out where that is told as what it is. */
  readonly isCut?: ((raw: Socket, secured: Socket) => boolean) | undefined
}

const told: Readonly<Record<string, new (facts: Fault.Facts) => Fault.DialFault>> = {
  ECONNREFUSED: Fault.PeerRefused,
  EHOSTUNREACH: Fault.PeerUnreachable,
  ENETUNREACH: Fault.PeerUnreachable,
  EHOSTDOWN: Fault.PeerUnreachable,
  ENETDOWN: Fault.PeerUnreachable,
  ENOTFOUND: Fault.NameNotFound,
  ENODATA: Fault.NameNotFound,
  ENOENT: Fault.NameNotFound,
  ENOTDIR: Fault.NameNotFound,
  ELOOP: Fault.NameNotFound,
  ECONNRESET: Fault.PeerReset,
  ECONNABORTED: Fault.PeerReset,
  EPIPE: Fault.PeerReset,
  ETIMEDOUT: Fault.PeerTimedOut,
  EADDRNOTAVAIL: Fault.LocalAddressUnusable,
  ERR_TLS_CERT_ALTNAME_INVALID: Fault.TlsNameMismatch,
  ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL: Fault.NoCommonProtocol,
}

/**
 * OpenSSL's words for a chain that it cannot verify, a key too weak among them, which Node has no word for; those that begin
 * with ERR_ are about something else.
 */
const untrusted = /^(?!ERR_).*(CERT|_CA$|CRL|PURPOSE|PATH_LENGTH|UNABLE_TO|SELF_SIGNED|^UNSPECIFIED$)/

/** An end that is none: without the runtime's own word, the system's for a peer that it does not know any more. */
export const cut = (): Fault.DialFault => new Fault.PeerReset({ phase: "read", code: "ENOTCONN" })

/** The fault that an error is. */
export const translate = (error: RuntimeError, phase: Fault.Phase, local?: Address): Fault.DialFault => {
  const code = error.code ?? "UNKNOWN"
  const facts = { phase, code }
  // Also of Linux, for one from which there is no way to the peer, such as that of the machine itself.
  if (phase === "connect" && code === "EINVAL" && local !== undefined) return new Fault.LocalAddressUnusable(facts)
  if (phase === "tls" && untrusted.test(code)) return new Fault.TlsUntrusted(facts)
  // `EAI_AGAIN` and its like: nobody could tell now.
  if (phase === "resolve") return new Fault.NameNotFound(facts)
  return new (told[code] ?? Fault.SocketFailed)(facts)
}
