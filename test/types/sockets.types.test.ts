/** The types of sockets, exactly: what a dial and each verb may fail with and need. The compiler is the test. */
import { it } from "vitest"
import type * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import type * as BunSockets from "../../adapters/bun/Sockets.ts"
import type * as DenoSockets from "../../adapters/deno/Sockets.ts"
import type * as EdgeSockets from "../../adapters/edge/Sockets.ts"
import type * as NodeSockets from "../../adapters/node/Sockets.ts"
import type { InvalidRequest } from "../../core/Refusal.ts"
import type { SocketDriver, SocketWire } from "../../core/SocketDriver.ts"
import type * as Fault from "../../core/SocketFault.ts"
import type * as Sockets from "../../core/Sockets.ts"
import type { Target, Tls } from "../../core/SocketTarget.ts"

/** `true` only where both are the same type; unions, optional and readonly count. */
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false
/** Accepts no type but `true`. */
type Law<_ extends true> = never

type Of<E> = E extends Effect.Effect<infer A, infer X, infer R> ? [A, X, R] : never
type Verbs = Sockets.Sockets
type Socket = Sockets.Socket
type Io = Fault.IoFault

export type Laws = [
  Law<Equal<Of<ReturnType<Verbs["dial"]>>, [Socket, Fault.DialFault | InvalidRequest, Scope.Scope]>>,
  Law<Equal<Parameters<Verbs["dial"]>, [target: Target]>>,
  Law<Equal<Of<Verbs["snapshot"]>, [Sockets.SocketsSnapshot, never, never]>>,
  Law<Equal<keyof Verbs, "dial" | "snapshot">>,
  Law<Equal<Of<Socket["read"]>, [Uint8Array | undefined, Io, never]>>,
  Law<Equal<Of<ReturnType<Socket["write"]>>, [void, Io, never]>>,
  Law<Equal<Parameters<Socket["write"]>, [bytes: Uint8Array | ReadonlyArray<Uint8Array>]>>,
  Law<Equal<Of<Socket["end"]>, [void, Io, never]>>,
  // What lets go fails never.
  Law<Equal<Of<Socket["abort" | "close" | "closed"]>, [void, never, never]>>,
  Law<Equal<keyof Socket, "facts" | "read" | "write" | "end" | "abort" | "close" | "closed">>,
  Law<
    Equal<
      Fault.DialFault["_tag"],
      | "PeerRefused"
      | "PeerUnreachable"
      | "NameNotFound"
      | "PeerReset"
      | "PeerTimedOut"
      | "TlsUntrusted"
      | "TlsNameMismatch"
      | "NoCommonProtocol"
      | "LocalAddressUnusable"
      | "SocketFailed"
    >
  >,
  Law<Equal<Exclude<Io["_tag"], Fault.DialFault["_tag"]>, "SocketClosed" | "SocketBusy">>,
  Law<Equal<Of<ReturnType<typeof Sockets.make>>, [Verbs, never, never]>>,
  Law<Equal<Parameters<typeof Sockets.make>, [driver: SocketDriver]>>,
  Law<Equal<typeof Sockets.Sockets, Context.Service<Verbs, Verbs>>>,
  Law<Equal<ReturnType<SocketDriver["credentials"]>, Result.Result<unknown, InvalidRequest>>>,
  Law<Equal<Parameters<SocketDriver["credentials"]>, [tls: Tls]>>,
  Law<Equal<ReturnType<SocketDriver["connect"]>, SocketWire>>,
  // The same noun in each runtime's folder; the edge is given its way to connect.
  Law<Equal<typeof NodeSockets.layer, Layer.Layer<Verbs>>>,
  Law<Equal<typeof NodeSockets, typeof DenoSockets>>,
  Law<Equal<typeof NodeSockets, typeof BunSockets>>,
  Law<Equal<typeof EdgeSockets.layer, (connect: EdgeSockets.Connect) => Layer.Layer<Verbs>>>,
]

it("the types of sockets are checked by the compiler", () => {})

// And the compiler does refuse what is not so.
export type Noticed = [
  // @ts-expect-error a dial that needs no scope
  Law<Equal<Of<ReturnType<Verbs["dial"]>>, [Socket, Fault.DialFault | InvalidRequest, never]>>,
  // @ts-expect-error a read that never fails
  Law<Equal<Of<Socket["read"]>, [Uint8Array | undefined, never, never]>>,
]
