/**
 * Connections to peers, over TCP, TLS or a path, each owned by the scope that it was dialled in: the port that the platform
 * supplies. A dial that fails or is interrupted has closed all that it opened by the time that it returns; where a runtime
 * cannot cancel a dial or a write, the handle is abandoned, and counted until it is gone.
 *
 * No wait here has a limit of its own: put `Deadline.enforce` around what must end in time.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as Deadline from "./Deadline.ts"
import * as HappyEyeballs from "./HappyEyeballs.ts"
import * as Lease from "./Lease.ts"
import { Lookups } from "./Lookups.ts"
import { InvalidRequest } from "./Refusal.ts"
import { frozen } from "./Snapshot.ts"
import { type Census, SocketConnection } from "./SocketConnection.ts"
import type { Point, SocketDriver, SocketFacts } from "./SocketDriver.ts"
import { type DialFault, type IoFault, LocalAddressUnusable } from "./SocketFault.ts"
import { type Address, decode, type HostPlan, type Plan, type Target, type Tls } from "./SocketTarget.ts"

/** A connection. One fiber may read and one may write at a time. */
export interface Socket {
  /** Looked up when first asked for: a local address that nobody asked for while it was open is not known any more. */
  readonly facts: SocketFacts
  /**
   * The next bytes, or undefined once the peer sends no more.
   *
   * What nobody has read is kept up to `maxReadBytes` or 1,024 pieces, and then the peer has to wait; a piece on its way and the
   * runtime's own buffer, 64 KiB each, may come on top. Interrupted, it has taken nothing.
   *
   * Over TLS, too, an end may be that of the connection below, which anybody on the way can make: where it matters whether all
   * has come, what is sent has to say how long it is.
   */
  readonly read: Effect.Effect<Uint8Array | undefined, IoFault>
  /**
   * Hands bytes over, in one go, before anything else happens, and waits while the connection has no room for more. They must
   * not be changed any more. Interrupted, it only stops waiting: they are on their way. The next write is `SocketBusy` then,
   * until there is room again, for which `write([])` waits. What is no bytes, or is detached, is a defect, and nothing was
   * written.
   */
  readonly write: (bytes: Uint8Array | ReadonlyArray<Uint8Array>) => Effect.Effect<void, IoFault>
  /** Says that nothing more will be sent, and waits until all that was is the system's. The peer may go on sending. */
  readonly end: Effect.Effect<void, IoFault>
  /** Closes with a reset, which tells the peer that something is missing, and waits as `close` does. On a path it is a close. */
  readonly abort: Effect.Effect<void>
  /** Closes at once, what is not sent yet included, and waits until the handle is gone. Silent the second time. */
  readonly close: Effect.Effect<void>
  /** Waits until the operating system's handle is gone, whoever closed it. */
  readonly closed: Effect.Effect<void>
}

/** Handles at this moment. Those that are gone are not in it. */
export interface SocketsSnapshot {
  /** Names that are being looked up, also where the dials that asked have been interrupted: no runtime can cancel that. */
  readonly resolving: number
  /** Connecting, or in a handshake. */
  readonly dialing: number
  readonly open: number
  /** Closed here, and not gone yet. */
  readonly closing: number
  /**
   * Left behind by an interrupted dial, or a close behind a write that the peer does not take, which the runtime cannot cancel.
   */
  readonly abandoned: number
}

export interface Sockets {
  /**
   * Connects, and makes TLS where that is asked for. The scope closes the socket.
   *
   * A name is looked up once for all dials that wait for it, and four names at a time: those beyond wait for their turn. A name
   * with several addresses is tried as RFC 8305 has it, a quarter of a second apart and eight at a time; the fault is that of
   * the first.
   *
   * Interrupted at any moment, it has left no handle open when it returns, but for the lookup of a name that has begun: no
   * runtime can cancel that, so it is counted as `resolving`, and serves whoever dials the name, until the runtime answers.
   */
  readonly dial: (target: Target) => Effect.Effect<Socket, DialFault | InvalidRequest, Scope.Scope>
  readonly snapshot: Effect.Effect<SocketsSnapshot>
}

export const Sockets: Context.Service<Sockets, Sockets> = Context.Service("holdfast/Sockets")

/**
 * Sockets over what a platform supplies; each platform's `layer` calls it.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import { NodePlatform } from "holdfast/node"
 * import * as Sockets from "holdfast/Sockets"
 *
 * const program = Effect.gen(function*() {
 *   const sockets = yield* Sockets.Sockets
 *   const refused = yield* Effect.flip(sockets.dial({ host: "127.0.0.1", port: 1 }))
 *   console.log(refused._tag) // PeerRefused
 *   console.log((yield* sockets.snapshot).dialing) // 0
 * })
 * await Effect.runPromise(Effect.scoped(program).pipe(Effect.provide(NodePlatform.layer)))
 * ```
 */
export const make = (driver: SocketDriver): Effect.Effect<Sockets> =>
  Effect.withFiber(({ context }) => {
    // Whoever made it may have had little time for that; what is looked up later is not bound by it.
    const dialer = new Dialer(driver, Context.add(context, Deadline.Current, undefined))
    return Effect.succeed({
      dial: (target) => Effect.withFiber((fiber) => dialer.dial(target, fiber)),
      snapshot: Effect.sync(() => frozen({ ...dialer.census })),
    })
  })

class Dialer {
  readonly census: Census = { resolving: 0, dialing: 0, open: 0, closing: 0, abandoned: 0 }
  readonly #driver: SocketDriver
  readonly #lookups: Lookups
  /** Reading certificates costs more than all else, and a pool dials with the same ones again and again. */
  readonly #credentials = new WeakMap<Tls, unknown>()

  constructor(driver: SocketDriver, context: Context.Context<never>) {
    this.#driver = driver
    this.#lookups = new Lookups(driver, this.census, context)
  }

  dial(
    target: Target,
    fiber: Fiber.Fiber<unknown, unknown>,
  ): Effect.Effect<Socket, DialFault | InvalidRequest, Scope.Scope> {
    const parent = Lease.scopeOf(fiber)
    if (parent === undefined) return Lease.noScope()
    const plan = decode(target)
    if (Result.isFailure(plan)) return Effect.fail(plan.failure)
    const { tls } = plan.success
    const credentials = tls === undefined ? undefined : this.#read(tls)
    if (credentials !== undefined && Result.isFailure(credentials)) return Effect.fail(credentials.failure)
    let scope: Scope.Closeable | undefined
    return Effect.onExitPrimitive(
      this.#open(plan.success, credentials?.success, () => scope = Scope.forkUnsafe(parent)),
      (exit) => Exit.isSuccess(exit) || scope === undefined ? undefined : Scope.close(scope, exit),
    )
  }

  #read(tls: Tls): Result.Result<unknown, InvalidRequest> {
    if (this.#credentials.has(tls)) return Result.succeed(this.#credentials.get(tls))
    const credentials = this.#driver.credentials(tls)
    if (Result.isSuccess(credentials)) this.#credentials.set(tls, credentials.success)
    return credentials
  }

  #points(plan: HostPlan): Effect.Effect<readonly [Point, ...ReadonlyArray<Point>], DialFault> {
    return Effect.flatMap(this.#lookups.find(plan.host), (addresses) => {
      const { local } = plan
      const usable = local === undefined
        ? addresses
        : addresses.filter(({ family }) => family === undefined || family === local.family)
      const [first, ...others] = HappyEyeballs.order(usable).map((address) => pointOf(plan, address))
      return first === undefined
        ? Effect.fail(new LocalAddressUnusable({ phase: "resolve", code: "FAMILY" }))
        : Effect.succeed([first, ...others] as const)
    })
  }

  /** `begin` makes the scope of the dial, in the step in which there is something to put there. */
  #open(plan: Plan, credentials: unknown, begin: () => Scope.Closeable): Effect.Effect<Socket, DialFault> {
    const { serverName, tls } = plan
    const connected = this.#connected(plan, begin)
    if (tls === undefined) return Effect.map(connected, socketOf)
    const how = { serverName, protocols: tls.protocols ?? [], credentials }
    return Effect.map(Effect.flatMap(connected, (connection) => connection.secured(how)), socketOf)
  }

  /** The connection below TLS. */
  #connected(plan: Plan, begin: () => Scope.Closeable): Effect.Effect<SocketConnection, DialFault> {
    if (plan.path !== undefined) return this.#connect(plan, { path: plan.path }, begin)
    if (plan.family !== undefined) {
      return this.#connect(plan, pointOf(plan, { ip: plan.host, family: plan.family }), begin)
    }
    const connect = (point: Point, own: Scope.Closeable) => this.#connect(plan, point, () => own)
    return Effect.flatMap(this.#points(plan), (points) => {
      const scope = begin()
      return Effect.map(HappyEyeballs.race(points, scope, connect), (connection) => {
        connection.belong(scope)
        return connection
      })
    })
  }

  /** One attempt. Its end is in its scope in the step in which it begins, so that no interruption comes between. */
  #connect(plan: Plan, point: Point, begin: () => Scope.Closeable): Effect.Effect<SocketConnection, DialFault> {
    return Effect.callback<SocketConnection, DialFault>((resume) => {
      const scope = begin()
      if (scope.state._tag === "Closed") return resume(Effect.interrupt)
      const { maxReadBytes } = plan
      const connection = new SocketConnection({ driver: this.#driver, point, census: this.census, maxReadBytes, scope })
      Lease.endWith(scope, () => connection.leave)
      connection.whenOpened(resume)
    })
  }
}

const pointOf = ({ keepAliveMillis, local, noDelay, port }: HostPlan, address: Address): Point => ({
  address,
  port,
  local,
  noDelay,
  keepAliveMillis,
})

/** A hole, too, and one whose bytes were handed over to somebody else. Of another realm it is one all the same. */
const isNoPiece = (piece: unknown): boolean =>
  !ArrayBuffer.isView(piece) || (piece.byteLength === 0 && isDetached(piece))

/** Not every version of the types knows of it, nor has shared memory it. */
const isDetached = ({ buffer }: ArrayBufferView): boolean => "detached" in buffer && buffer.detached === true

/** There is nothing of it to send, and not every runtime takes it for nothing. */
const isNotEmpty = ({ byteLength }: Uint8Array): boolean => byteLength > 0

const notBytes = { field: "bytes", rule: "a Uint8Array, or an array of them" }

/** The dial is over. */
const socketOf = (connection: SocketConnection): Socket => {
  connection.begin()
  return new Dialled(connection)
}

/** What the caller has of a connection; each part is made when it is asked for. */
class Dialled implements Socket {
  readonly #connection: SocketConnection

  constructor(connection: SocketConnection) {
    this.#connection = connection
  }

  get facts(): SocketFacts {
    return this.#connection.facts
  }

  get read(): Effect.Effect<Uint8Array | undefined, IoFault> {
    return this.#connection.read
  }

  get write(): Socket["write"] {
    return (bytes) =>
      // Looked at in the step that writes them: until then they may be handed over to somebody else.
      Effect.suspend(() => {
        const pieces: ReadonlyArray<Uint8Array> = Array.isArray(bytes) ? bytes : [bytes as Uint8Array]
        const isWrong = pieces.findIndex(isNoPiece) >= 0
        return isWrong
          ? Effect.die(new InvalidRequest(notBytes))
          : this.#connection.write(pieces.every(isNotEmpty) ? pieces : pieces.filter(isNotEmpty))
      })
  }

  get end(): Effect.Effect<void, IoFault> {
    return this.#connection.end
  }

  get abort(): Effect.Effect<void> {
    return this.#connection.abort
  }

  get close(): Effect.Effect<void> {
    return this.#connection.leave
  }

  get closed(): Effect.Effect<void> {
    return this.#connection.closed
  }
}
