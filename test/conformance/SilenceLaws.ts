/**
 * What has to hold of sockets whose peer is gone without a word, each law at a place of its own (`SilentPeer.ts`). They are no laws
 * of the table of runtimes, which is the same on a machine where no such network can be made.
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as ProcessTable from "../../adapters/shared/testing/ProcessTable.ts"
import * as Deadline from "../../core/Deadline.ts"
import type { SocketDriver } from "../../core/SocketDriver.ts"
import * as Sockets from "../../core/Sockets.ts"
import type { HostTarget } from "../../core/SocketTarget.ts"
import { none } from "../support/Handles.ts"
import type { Kind, Place, SilentPeer } from "../support/SilentPeer.ts"
import { about, type Law, same, truly } from "./Law.ts"

export interface Rig {
  readonly driver: SocketDriver
  readonly peer: SilentPeer
  readonly place: Place
  /** The authority of the far machine's certificate. */
  readonly ca: string
}

type Some = Omit<Law<Rig>, "about">

const long = 16_777_216
/** For so long nothing is heard of what does not come: a law that holds takes no harm where it is too short. */
const whileMillis = 100

const target = ({ ca, place }: Rig, kind: Kind): HostTarget => ({
  host: place.address,
  port: place.ports[kind],
  ...(kind === "echo" ? {} : { tls: { ca, serverName: "localhost" } }),
})
/** An address that drops all that comes, at a port that nobody else dials. */
const dropping = ({ peer, place }: Rig): HostTarget => ({ host: peer.nobody, port: place.ports.echo })

/** The states of the sockets that this process has open to a port of the far machine, by inode. */
const states = (port: number): ReadonlyArray<string> =>
  [...ProcessTable.openSockets().values()].filter(({ remotePort }) => remotePort === port).map(({ state }) => state)

/** Looked at in the step in which whatever was before it is over. */
const nothing = (sockets: Sockets.Sockets, port: number) =>
  Effect.gen(function* () {
    yield* same("sockets that are open", states(port), [])
    yield* same("handles", yield* sockets.snapshot, none)
  })

const started = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })
const isOver = <A, E>(fiber: Fiber.Fiber<A, E>): boolean => fiber.pollUnsafe() !== undefined

/** A connection that has echoed, to a peer that has vanished since. */
const left = (rig: Rig, sockets: Sockets.Sockets, kind: Kind, more: Partial<HostTarget> = {}) =>
  Effect.gen(function* () {
    const socket = yield* sockets.dial({ ...target(rig, kind), ...more })
    yield* socket.write(Uint8Array.of(1, 2, 3))
    for (let bytes = 0; bytes < 3;) bytes += (yield* socket.read)?.length ?? 3
    yield* Effect.promise(rig.place.vanish)
    return socket
  })

const dials: ReadonlyArray<Some> = [
  {
    name: "a dial goes on until it is interrupted, and nothing is left when that is over",
    holds: (rig) =>
      Effect.gen(function* () {
        const sockets = yield* Sockets.make(rig.driver)
        const dialing = yield* started(Effect.scoped(sockets.dial(dropping(rig))))
        yield* Effect.sleep(whileMillis)
        yield* truly("it goes on", !isOver(dialing))
        // Where the machine is busy Bun may not have one yet, so that its handle is not asked for.
        yield* same("handles", yield* sockets.snapshot, { ...none, dialing: 1 })
        yield* Fiber.interrupt(dialing)
        yield* nothing(sockets, rig.place.ports.echo)
      }),
  },
  {
    name: "a dial with a deadline ends with it, and nothing is left when that is over",
    holds: (rig) =>
      Effect.gen(function* () {
        const sockets = yield* Sockets.make(rig.driver)
        const dialing = Effect.scoped(sockets.dial(dropping(rig)))
        const fault = yield* dialing.pipe(Deadline.enforce, Deadline.within(whileMillis), Effect.flip)
        yield* nothing(sockets, rig.place.ports.echo)
        yield* same("fault", fault._tag, "DeadlineExceeded")
      }),
  },
  {
    name: "of two addresses the second is dialled while the first drops all, wins, and nothing is left of the first",
    holds: (rig) =>
      Effect.gen(function* () {
        const addresses = [rig.peer.nobody, rig.place.address].map((ip) => ({ ip, family: 4 as const }))
        const sockets = yield* Sockets.make({ ...rig.driver, resolve: () => Effect.succeed(addresses) })
        const socket = yield* sockets.dial({ host: "peer.test", port: rig.place.ports.echo })
        yield* same("sockets that are open", states(rig.place.ports.echo), ["ESTABLISHED"])
        yield* same("who", socket.facts.remote?.address, rig.place.address)
        yield* same("handles", yield* sockets.snapshot, { ...none, open: 1 })
        yield* socket.write(Uint8Array.of(7))
        yield* same("echo", [...(yield* socket.read) ?? []], [7])
      }),
  },
  {
    name: "a handshake of TLS goes on until it is interrupted, and nothing is left when that is over",
    holds: (rig) =>
      Effect.gen(function* () {
        const sockets = yield* Sockets.make(rig.driver)
        const dialing = yield* started(Effect.scoped(sockets.dial(target(rig, "leaves"))))
        yield* Effect.promise(() => rig.place.vanished)
        yield* Effect.sleep(whileMillis)
        yield* truly("it goes on", !isOver(dialing))
        yield* same("sockets that are open", states(rig.place.ports.leaves), ["ESTABLISHED"])
        yield* Fiber.interrupt(dialing)
        yield* nothing(sockets, rig.place.ports.leaves)
      }),
  },
  {
    name: "a handshake of TLS with a deadline ends with it, and nothing is left when that is over",
    holds: (rig) =>
      Effect.gen(function* () {
        const sockets = yield* Sockets.make(rig.driver)
        const dialing = Effect.scoped(sockets.dial(target(rig, "leaves")))
        const fault = yield* dialing.pipe(Deadline.enforce, Deadline.within(whileMillis), Effect.flip)
        yield* nothing(sockets, rig.place.ports.leaves)
        yield* same("fault", fault._tag, "DeadlineExceeded")
      }),
  },
]

type Leaving = (rig: Rig, sockets: Sockets.Sockets, kind: Kind) => Effect.Effect<void, unknown>

/** Whoever reads and writes meanwhile: the read is told nothing, and what is written is taken by nobody. */
const busy = (socket: Sockets.Socket) =>
  Effect.gen(function* () {
    const reading = yield* started(Effect.flip(socket.read))
    const writing = yield* started(Effect.flip(socket.write(new Uint8Array(long))))
    yield* Effect.sleep(whileMillis)
    yield* truly("a read and a write go on", !isOver(reading) && !isOver(writing))
    return Effect.map(
      Effect.all([Fiber.join(reading), Fiber.join(writing)]),
      (faults) => faults.map((fault) => [fault._tag, "phase" in fault && fault.phase]),
    )
  })

const closes = (how: "close" | "abort"): Leaving => (rig, sockets, kind) =>
  Effect.scoped(Effect.gen(function* () {
    const socket = yield* left(rig, sockets, kind)
    const faults = yield* busy(socket)
    yield* socket[how]
    yield* nothing(sockets, rig.place.ports[kind])
    yield* same("whoever waited", yield* faults, [["SocketClosed", "read"], ["SocketClosed", "write"]])
  }))

const leavings: ReadonlyArray<readonly [string, Leaving]> = [
  ["a close, with bytes that nobody took, ends", closes("close")],
  ["an abort, with bytes that nobody took, ends", closes("abort")],
  [
    "the end of its scope, by an interruption of who writes, ends",
    (rig, sockets, kind) =>
      Effect.gen(function* () {
        let isWriting = false
        const using = Effect.gen(function* () {
          const socket = yield* left(rig, sockets, kind)
          isWriting = true
          yield* socket.write(new Uint8Array(long))
        })
        const fiber = yield* started(Effect.scoped(using))
        yield* Effect.promise(() => rig.place.vanished)
        yield* Effect.sleep(whileMillis)
        yield* truly("it writes", isWriting && !isOver(fiber))
        yield* Fiber.interrupt(fiber)
        yield* nothing(sockets, rig.place.ports[kind])
      }),
  ],
  [
    "an end that waits for what nobody takes is told of the close",
    (rig, sockets, kind) =>
      Effect.scoped(Effect.gen(function* () {
        const socket = yield* left(rig, sockets, kind)
        const faults = yield* busy(socket)
        const ending = yield* started(Effect.flip(socket.end))
        yield* Effect.sleep(whileMillis)
        yield* truly("it goes on", !isOver(ending))
        yield* socket.close
        yield* nothing(sockets, rig.place.ports[kind])
        yield* same("whoever ended", (yield* Fiber.join(ending))._tag, "SocketClosed")
        yield* same("whoever waited", (yield* faults).map(([tag]) => tag), ["SocketClosed", "SocketClosed"])
      })),
  ],
  [
    "a read is interrupted, and a later one is told nothing either",
    (rig, sockets, kind) =>
      Effect.scoped(Effect.gen(function* () {
        const socket = yield* left(rig, sockets, kind)
        const reading = yield* started(socket.read)
        yield* Effect.sleep(whileMillis)
        yield* truly("it goes on", !isOver(reading))
        yield* Fiber.interrupt(reading)
        const fault = yield* socket.read.pipe(Deadline.enforce, Deadline.within(whileMillis), Effect.flip)
        yield* same("fault", fault._tag, "DeadlineExceeded")
        yield* same("sockets that are open", states(rig.place.ports[kind]), ["ESTABLISHED"])
        yield* socket.close
        yield* nothing(sockets, rig.place.ports[kind])
      })),
  ],
]

const over = ([name, holds]: readonly [string, Leaving], kind: Kind): Some => ({
  name: `${kind === "tls" ? "TLS" : "TCP"}: ${name}`,
  holds: (rig) => Effect.flatMap(Sockets.make(rig.driver), (sockets) => holds(rig, sockets, kind)),
})

/** What a system that has given up says, and that nothing is left then, though nobody has closed anything. */
const givesUp = (kind: Kind, who: "reads" | "writes"): Some => ({
  name: `${kind === "tls" ? "TLS" : "TCP"}: whoever ${who} is told that the peer has timed out`,
  holds: (rig) =>
    Effect.gen(function* () {
      const sockets = yield* Sockets.make(rig.driver)
      const socket = yield* left(rig, sockets, kind)
      const reading = yield* started(Effect.flip(socket.read))
      const write = socket.write(new Uint8Array(who === "writes" ? long : 1))
      const told = yield* Effect.flip(
        who === "writes" ? write : Effect.andThen(write, Fiber.join(reading).pipe(Effect.flip)),
      )
      yield* same("whoever read", (yield* Fiber.join(reading))._tag, told._tag)
      yield* socket.closed
      yield* nothing(sockets, rig.place.ports[kind])
      yield* same("a later read", (yield* Effect.flip(socket.read))._tag, told._tag)
      yield* same("a later write", (yield* Effect.flip(socket.write(Uint8Array.of(1))))._tag, told._tag)
      yield* same("fault", told._tag, "PeerTimedOut")
    }),
})

/** While the system has not given up, which takes it minutes. */
export const laws: ReadonlyArray<Law<Rig>> = [
  ...about("a peer that drops what comes", dials),
  ...about("a peer that vanishes", [
    ...leavings.map((each) => over(each, "echo")),
    ...leavings.map((each) => over(each, "tls")),
  ]),
]

/** When it gives up, which it is told to do soon. */
export const lateLaws: ReadonlyArray<Law<Rig>> = about("a system that gives up", [
  {
    name: "a dial is told that the peer has timed out",
    holds: (rig) =>
      Effect.gen(function* () {
        const sockets = yield* Sockets.make(rig.driver)
        const fault = yield* Effect.flip(sockets.dial(dropping(rig)))
        yield* nothing(sockets, rig.place.ports.echo)
        yield* same("fault", [fault._tag, "phase" in fault && fault.phase], ["PeerTimedOut", "connect"])
      }),
  },
  givesUp("echo", "reads"),
  givesUp("echo", "writes"),
  givesUp("tls", "reads"),
  givesUp("tls", "writes"),
])
