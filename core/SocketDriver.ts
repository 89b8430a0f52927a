/**
 * What a platform supplies for sockets: it begins, tells, and does as it is told. Waiting, counting, racing and owning are
 * the core's, so a driver is a translation and nothing more. It owns the handle until it has told that this is gone.
 */
import type * as Effect from "effect/Effect"
import type * as Result from "effect/Result"
import type { InvalidRequest } from "./Refusal.ts"
import type { DialFault } from "./SocketFault.ts"
import type { Address, Tls } from "./SocketTarget.ts"

/** One end of a connection; in the file system, both have the path. */
export interface SocketAddress {
  /** An IP address, or a path. */
  readonly address: string
  /** Zero for a path. */
  readonly port: number
}

/** What was agreed on. The fingerprint is the SHA-256 of the peer's certificate; of its contents nothing is kept. */
export interface TlsFacts {
  readonly version: string | undefined
  readonly cipher: string | undefined
  readonly fingerprint: string | undefined
}

/** What is known of a connection. A part that the runtime cannot tell is undefined. */
export interface SocketFacts {
  /** The application protocol that was agreed on (ALPN). */
  readonly protocol: string | undefined
  readonly local: SocketAddress | undefined
  readonly remote: SocketAddress | undefined
  /** Undefined without TLS. */
  readonly tls: TlsFacts | undefined
}

/** Where to connect to, by address alone. */
export type Point = HostPoint | PathPoint

export interface HostPoint {
  readonly path?: undefined
  readonly address: Address
  readonly port: number
  readonly local: Address | undefined
  readonly noDelay: boolean
  /** Zero for none. */
  readonly keepAliveMillis: number
}

export interface PathPoint {
  readonly path: string
}

/** How to begin TLS; `credentials` is what the driver made of the caller's. */
export interface Securing {
  readonly serverName: string
  readonly protocols: ReadonlyArray<string>
  readonly credentials: unknown
}

/** What the driver tells, in any order and as often as the runtime does; what comes too late is not listened to. */
export interface SocketEvents {
  /** The connection is there, or TLS over it. */
  readonly opened: () => void
  /** A piece came in. It is the listener's from here on. */
  readonly received: (bytes: Uint8Array) => void
  /** The peer sends no more. */
  readonly ended: () => void
  /** There is room again after a write that said there was none; need not be told once the own side has been ended. */
  readonly drained: () => void
  /** All that was written and the end behind it are the system's. */
  readonly finished: () => void
  readonly failed: (fault: DialFault) => void
  /** The operating system's handle is gone, and nothing else will be told. */
  readonly gone: () => void
}

/** One handle, as it is told what to do; nothing throws and nothing waits. It is told nothing more once it is gone. */
export interface SocketWire {
  /** Asked at most once, after the connection or TLS is there; maybe only when it is gone again. */
  readonly facts: () => SocketFacts
  /** Begins TLS over the connection, once that is opened and before anything else. */
  readonly secure: (how: Securing) => void
  /** Pieces may come; told first when the dial is over. */
  readonly resume: () => void
  /** No piece may come, but for one that is on its way; the peer has to feel it. */
  readonly pause: () => void
  /** Writes all of them in one go; whether there is room for more. */
  readonly write: (pieces: ReadonlyArray<Uint8Array>) => boolean
  /** Ends the own side behind what was written. */
  readonly end: () => void
  /** Closes at once, whatever is under way; may be told again. */
  readonly destroy: () => void
  /** The same, so that the peer sees a reset where there is such a thing. */
  readonly reset: () => void
}

export interface SocketDriver {
  /**
   * What `destroy` does to a handle that is dialling, or whose peer does not take what was written: closes it, or leaves it to
   * the runtime until that is over.
   */
  readonly cancelling: "closes" | "abandons"
  /** Addresses of a name, the best first. Never interrupted: it is counted until it answers, also where nobody waits any more. */
  readonly resolve: (host: string) => Effect.Effect<ReadonlyArray<Address>, DialFault>
  /** Reads certificates and keys, before anything is dialled; asked once an object. */
  readonly credentials: (tls: Tls) => Result.Result<unknown, InvalidRequest>
  /** Begins to connect, at once; tells nothing before it has returned. */
  readonly connect: (point: Point, events: SocketEvents) => SocketWire
}
