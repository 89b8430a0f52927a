/** The codes of errors of `node:net` and `node:tls` as faults. It owns nothing. */
import type { Socket } from "node:net"
import * as Fault from "../../core/SocketFault.ts"

/** As much of an error as is looked at; its message may hold addresses and names. */
export interface RuntimeError extends Error {
  readonly code?: string | undefined
  readonly syscall?: string | undefined
}

/** What a runtime says or does in another way than Node. */
export interface Differences {
  /** Its code for a local address that this machine does not have. */
  readonly badLocalAddress: string
  /** Stops and starts what is below TLS, where pausing TLS does not; left out where it does. */
  readonly flow?: ((raw: Socket, flows: boolean) => void) | undefined
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
  ECONNRESET: Fault.PeerReset,
  ECONNABORTED: Fault.PeerReset,
  EPIPE: Fault.PeerReset,
  ETIMEDOUT: Fault.PeerTimedOut,
  EADDRNOTAVAIL: Fault.LocalAddressUnusable,
  ERR_TLS_CERT_ALTNAME_INVALID: Fault.TlsNameMismatch,
  ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL: Fault.NoCommonProtocol,
}

/** OpenSSL's words for a chain that it cannot verify; those that begin with ERR_ are about something else. */
const untrusted = /^(?!ERR_).*(CERT|_CA$|CRL|PURPOSE|PATH_LENGTH|UNABLE_TO|SELF_SIGNED)/

/** The fault that an error is. */
export const translate = (
  { badLocalAddress }: Differences,
  error: RuntimeError,
  phase: Fault.Phase,
): Fault.DialFault => {
  const code = error.code ?? "UNKNOWN"
  const facts = { phase, code }
  if (phase === "connect" && code === badLocalAddress) return new Fault.LocalAddressUnusable(facts)
  if (phase === "tls" && untrusted.test(code)) return new Fault.TlsUntrusted(facts)
  // `EAI_AGAIN` and its like: nobody could tell now.
  if (phase === "resolve") return new Fault.NameNotFound(facts)
  return new (told[code] ?? Fault.SocketFailed)(facts)
}
