/**
 * What can be wrong with a socket, as typed refusals with the same tag on every runtime. None of them shows an address, a
 * certificate or a byte that was sent: the caller knows whom it dialled, and the rest may be secret. They own nothing.
 */
import { Refusal } from "./Refusal.ts"

/** What was going on. */
export type Phase = "resolve" | "connect" | "tls" | "read" | "write"

/** `code` is the runtime's own word for it (`ECONNREFUSED`, `CERT_HAS_EXPIRED`, …), for a log; runtimes differ in it. */
export interface Facts {
  readonly phase: Phase
  readonly code: string
}

const told = (says: string, { code, phase }: Facts): string => `${says} (${phase}: ${code})`

/** The base of those that the runtime tells of. Nothing is held after one from a dial; after another the socket closes. */
abstract class Told extends Refusal implements Facts {
  readonly phase: Phase
  readonly code: string
  constructor(facts: Facts) {
    super()
    this.phase = facts.phase
    this.code = facts.code
  }
}

/**
 * Nobody listens at this address or path. Bun says the same of an address that there is no way to (one of a group, such as
 * 224.0.0.1, among them), or that never answers until the system gives it up, of most of what is wrong with a path, and where
 * too many files are open here.
 */
export class PeerRefused extends Told {
  readonly _tag = "PeerRefused"
  override readonly name = "PeerRefused"
  override get message(): string {
    return told("nobody listens there", this)
  }
}

/** There is no way to the address. */
export class PeerUnreachable extends Told {
  readonly _tag = "PeerUnreachable"
  override readonly name = "PeerUnreachable"
  override get message(): string {
    return told("there is no way to the peer", this)
  }
}

/** The name has no address, or nobody could tell it now; or the path leads to nothing. */
export class NameNotFound extends Told {
  readonly _tag = "NameNotFound"
  override readonly name = "NameNotFound"
  override get message(): string {
    return told(this.phase === "resolve" ? "the name leads to no address" : "the address or path leads nowhere", this)
  }
}

/** The peer cut the connection off, or is gone; in the middle of a handshake also where it only closed. */
export class PeerReset extends Told {
  readonly _tag = "PeerReset"
  override readonly name = "PeerReset"
  override get message(): string {
    return told("the peer cut the connection off", this)
  }
}

/**
 * The operating system has given up: no answer while connecting, or none to what was sent or to its probes. Deno says `PeerReset`
 * in its place over TLS, once that is there.
 */
export class PeerTimedOut extends Told {
  readonly _tag = "PeerTimedOut"
  override readonly name = "PeerTimedOut"
  override get message(): string {
    return told("the peer did not answer", this)
  }
}

/** The peer's certificate is not vouched for by an authority that is trusted, or not at this time. */
export class TlsUntrusted extends Told {
  readonly _tag = "TlsUntrusted"
  override readonly name = "TlsUntrusted"
  override get message(): string {
    return told("the peer's certificate is not trusted", this)
  }
}

/** The peer's certificate is for another name. */
export class TlsNameMismatch extends Told {
  readonly _tag = "TlsNameMismatch"
  override readonly name = "TlsNameMismatch"
  override get message(): string {
    return told("the peer's certificate is for another name", this)
  }
}

/** The peer speaks none of the application protocols that were offered. */
export class NoCommonProtocol extends Told {
  readonly _tag = "NoCommonProtocol"
  override readonly name = "NoCommonProtocol"
  override get message(): string {
    return told("the peer speaks none of the protocols offered", this)
  }
}

/** This machine has no such local address, or none from which the peer's kind of address can be reached. */
export class LocalAddressUnusable extends Told {
  readonly _tag = "LocalAddressUnusable"
  override readonly name = "LocalAddressUnusable"
  override get message(): string {
    return told("the local address cannot be used", this)
  }
}

/**
 * Anything else that the runtime reported: a peer that speaks no TLS, one that wants a certificate, too many open files. Deno
 * says it of an address with a zone that leads nowhere, too, also of a local one.
 */
export class SocketFailed extends Told {
  readonly _tag = "SocketFailed"
  override readonly name = "SocketFailed"
  override get message(): string {
    return told("the socket failed", this)
  }
}

/** The socket was closed or ended here, before or meanwhile. */
export class SocketClosed extends Refusal {
  readonly _tag = "SocketClosed"
  override readonly name = "SocketClosed"
  readonly phase: "read" | "write"
  constructor(facts: { readonly phase: "read" | "write" }) {
    super()
    this.phase = facts.phase
  }
  override get message(): string {
    return `the socket is closed (${this.phase})`
  }
}

/**
 * Misuse: one read and one write at a time, or a write while an interrupted one has left no room. The one that waits is not
 * disturbed, and nothing was written.
 */
export class SocketBusy extends Refusal {
  readonly _tag = "SocketBusy"
  override readonly name = "SocketBusy"
  readonly phase: "read" | "write"
  constructor(facts: { readonly phase: "read" | "write" }) {
    super()
    this.phase = facts.phase
  }
  override get message(): string {
    return `another one is under way (${this.phase})`
  }
}

/** Why a dial came to nothing. Nothing of it is held: every handle that it opened is gone. */
export type DialFault =
  | PeerRefused
  | PeerUnreachable
  | NameNotFound
  | PeerReset
  | PeerTimedOut
  | TlsUntrusted
  | TlsNameMismatch
  | NoCommonProtocol
  | LocalAddressUnusable
  | SocketFailed

/** Why a read or a write came to nothing. */
export type IoFault = DialFault | SocketClosed | SocketBusy
