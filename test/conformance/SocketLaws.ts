/** The laws of the port of sockets, each told of the side that dials; the far side is in `Peers.ts`. */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import type { SocketDriver, SocketFacts } from "../../core/SocketDriver.ts"
import * as Sockets from "../../core/Sockets.ts"
import type { Target, Tls } from "../../core/SocketTarget.ts"
import { none } from "../support/Handles.ts"
import { about, chance, type Law, same, truly } from "./Law.ts"
import * as Pattern from "./Pattern.ts"
import type { Peers } from "./Peers.ts"

export interface Rig {
  readonly driver: SocketDriver
  readonly sockets: Sockets.Sockets
  readonly peers: Peers
  /** How many sockets of the dialling side the operating system has open; undefined where nobody can tell. */
  readonly open: Effect.Effect<number | undefined>
  /** How many milliseconds the system waits until it probes the peer, zero for never; undefined where nobody can tell. */
  readonly probes: (facts: SocketFacts) => number | undefined
  /** Whether a connection may say whom it trusts, or the runtime trusts its own. */
  readonly trusts: "what it is given" | "its own"
}

type Some = Omit<Law<Rig>, "about">

const ask = <A>(told: () => Promise<A>): Effect.Effect<A> => Effect.promise(told)
const at = (rig: Rig, peer: string, more: object = {}): Target => ({
  host: "127.0.0.1",
  port: rig.peers.ports[peer]!,
  ...more,
})
const dial = (rig: Rig, peer: string, more?: object) => rig.sockets.dial(at(rig, peer, more))
const tls = (rig: Rig, more: Partial<Tls> = {}): { readonly tls: Tls } => ({
  tls: {
    ...(rig.trusts === "its own" ? {} : { ca: rig.peers.certificates["authority.pem"]! }),
    serverName: "localhost",
    ...more,
  },
})
const bytes = (text: string): Uint8Array => Uint8Array.from(text, (letter) => letter.charCodeAt(0))
const text = (piece: Uint8Array | undefined): string | undefined =>
  piece === undefined ? undefined : String.fromCharCode(...piece)

/** Reads to the end. */
const rest = (socket: Sockets.Socket) =>
  Effect.gen(function* () {
    let all = ""
    for (;;) {
      const piece = yield* socket.read
      if (piece === undefined) return all
      all += text(piece)
    }
  })

/** Reads the long pattern to the end, and says whether it was whole. */
const readLong = (socket: Sockets.Socket) =>
  Effect.gen(function* () {
    const reader = new Pattern.Reader()
    for (;;) {
      const piece = yield* socket.read
      if (piece === undefined) return { bytes: reader.bytes, isRight: reader.isRight }
      reader.take(piece)
    }
  })

const writeLong = (socket: Sockets.Socket, moved: (sent: number) => void = () => {}) =>
  Effect.gen(function* () {
    for (let sent = 0; sent < Pattern.long; sent += Pattern.pieceBytes) {
      yield* socket.write(Pattern.piece(sent, Pattern.pieceBytes))
      moved(sent + Pattern.pieceBytes)
    }
  })

/** What a dial that fails says; everything that it opened is gone. */
const faultOf = (rig: Rig, target: Target) =>
  Effect.gen(function* () {
    const before = yield* rig.open
    const fault = yield* Effect.flip(rig.sockets.dial(target))
    yield* same("sockets that are open behind the fault", yield* rig.open, before)
    return fault
  })

const refuses = (name: string, target: (rig: Rig) => Target, tag: string, phase: string): Some => ({
  name,
  holds: (rig) =>
    Effect.gen(function* () {
      const fault = yield* faultOf(rig, target(rig))
      yield* same("fault", [fault._tag, "phase" in fault && fault.phase], [tag, phase])
    }),
})

const echoes = (
  name: string,
  target: (rig: Rig) => Target,
  facts: (socket: Sockets.Socket, rig: Rig) => unknown,
): Some => ({
  name,
  holds: (rig) =>
    Effect.gen(function* () {
      const socket = yield* rig.sockets.dial(target(rig))
      yield* same("facts", facts(socket, rig), true)
      // A piece that is empty is as if it was not there.
      yield* socket.write(bytes(""))
      yield* socket.write([bytes("hel"), bytes(""), bytes("lo")])
      yield* socket.end
      yield* same("echo", yield* rest(socket), "hello")
      yield* socket.close
      yield* same("handles", yield* rig.sockets.snapshot, none)
    }),
})

const plain: ReadonlyArray<Some> = [
  echoes(
    "an echo over TCP, and its two addresses",
    (rig) => at(rig, "echo"),
    ({ facts }, rig) =>
      facts.remote?.address === "127.0.0.1" && facts.remote.port === rig.peers.ports["echo"] &&
      facts.local?.address === "127.0.0.1" && facts.tls === undefined && facts.protocol === undefined,
  ),
  echoes("an echo over a host by name", (rig) => ({ ...at(rig, "echo"), host: "localhost" } as Target), () => true),
  echoes(
    "an echo over a path",
    ({ peers }) => ({ path: peers.path }),
    ({ facts }, rig) => facts.remote?.address === rig.peers.path,
  ),
  echoes(
    "a local address",
    (rig) => at(rig, "echo", { localAddress: "127.0.0.2" }),
    ({ facts }) => facts.local?.address === "127.0.0.2",
  ),
  {
    name: "keep-alive, and writes that are gathered",
    holds: (rig) =>
      Effect.gen(function* () {
        // Whether writes are gathered, no system tells anybody but the socket itself: it is asked for, and an echo comes.
        for (
          const [more, least, most] of [[{ keepAlive: "5 seconds", noDelay: false }, 0, 5_000], [{}, 0, 0]] as const
        ) {
          const socket = yield* dial(rig, "echo", more)
          yield* socket.write(bytes("hello"))
          yield* same("echo", text(yield* socket.read), "hello")
          // All that was sent has been answered, so that no other timer runs.
          const millis = rig.probes(socket.facts)
          yield* truly(`probes after ${millis} ms`, millis === undefined || (millis >= least && millis <= most))
          yield* truly("it probes", millis === undefined || (millis > 0) === (most > 0))
          yield* socket.close
        }
      }),
  },
  refuses("a port that nobody listens at", (rig) => at(rig, "refuses"), "PeerRefused", "connect"),
  refuses("a path that is not there", ({ peers }) => ({ path: `${peers.path}.not` }), "NameNotFound", "connect"),
  refuses("a path below what is no folder", ({ peers }) => ({ path: `${peers.path}/x` }), "NameNotFound", "connect"),
  refuses(
    "a name that is not there",
    (rig) => ({ ...at(rig, "echo"), host: "nothing.invalid" } as Target),
    "NameNotFound",
    "resolve",
  ),
  refuses(
    "a local address that is not here",
    (rig) => at(rig, "echo", { localAddress: "192.0.2.7" }),
    "LocalAddressUnusable",
    "connect",
  ),
  refuses(
    "an address that there is no way to",
    () => ({ host: "255.255.255.255", port: 9 }),
    "PeerUnreachable",
    "connect",
  ),
  {
    name: "bad input is refused before anything is dialled",
    holds: (rig) =>
      Effect.gen(function* () {
        const fault = yield* Effect.flip(rig.sockets.dial({ host: "a b", port: 1 }))
        yield* same("fault", [fault._tag, "field" in fault && fault.field], ["InvalidRequest", "host"])
        const late = yield* Effect.flip(rig.sockets.dial({ host: "127.0.0.1", port: 65_536 }))
        yield* same("fault", [late._tag, "field" in late && late.field], ["InvalidRequest", "port"])
      }),
  },
]

/** What to trust, or who to be, that cannot be read: nothing is dialled, and nothing of it is shown. */
const unreadable = (name: string, more: (peers: Peers) => Partial<Tls>): Some => ({
  name,
  holds: (rig) =>
    Effect.gen(function* () {
      const dialing = dial(rig, "mutual", tls(rig, more(rig.peers)))
      const fault = yield* Effect.flip(dialing)
      yield* same("fault", [fault._tag, "field" in fault && fault.field], ["InvalidRequest", "tls"])
      yield* truly("no secret is shown", !/wrong-one|BEGIN/.test(JSON.stringify(fault) + String(fault)))
    }),
})

const secured: ReadonlyArray<Some> = [
  echoes(
    "an echo over TLS of an own authority, with a protocol agreed on",
    (rig) => at(rig, "tls", tls(rig, { protocols: ["http/1.1", "h2"] })),
    ({ facts }) =>
      // The far side prefers the other order, and its choice counts.
      (facts.protocol === "h2" || facts.protocol === "http/1.1") && /^TLSv1\.[23]$/.test(facts.tls?.version ?? "") &&
      /^([\dA-F]{2}:){31}[\dA-F]{2}$/.test(facts.tls?.fingerprint ?? ""),
  ),
  echoes(
    "an echo over TLS to an address that the certificate has",
    (rig) => at(rig, "tls", tls(rig, { serverName: undefined })),
    ({ facts }) => facts.protocol === undefined && facts.tls !== undefined,
  ),
  echoes("an echo over TLS with a certificate of one's own, its key locked", (rig) =>
    at(
      rig,
      "mutual",
      tls(rig, {
        certificate: {
          chain: rig.peers.certificates["client.pem"]!,
          key: Redacted.make(rig.peers.certificates["client.locked.key"]!),
          passPhrase: Redacted.make("not-a-secret"),
        },
      }),
    ), () => true),
  refuses(
    "TLS: an authority that is not trusted",
    (rig) => at(rig, "tls", tls(rig, { ca: rig.peers.certificates["stranger.pem"]! })),
    "TlsUntrusted",
    "tls",
  ),
  refuses("TLS: a certificate that is over", (rig) => at(rig, "expired", tls(rig)), "TlsUntrusted", "tls"),
  refuses(
    "TLS: a certificate for another name",
    (rig) => at(rig, "tls", tls(rig, { serverName: "other.test" })),
    "TlsNameMismatch",
    "tls",
  ),
  refuses(
    "TLS: no protocol in common",
    (rig) => at(rig, "tls", tls(rig, { protocols: ["foo/1"] })),
    "NoCommonProtocol",
    "tls",
  ),
  refuses("TLS: a peer that speaks none", (rig) => at(rig, "plain", tls(rig)), "SocketFailed", "tls"),
  refuses("TLS: a peer that leaves amid the handshake", (rig) => at(rig, "leaves", tls(rig)), "PeerReset", "tls"),
  refuses("TLS: a peer that cuts the handshake off", (rig) => at(rig, "resets", tls(rig)), "PeerReset", "tls"),
  unreadable("TLS: a key that cannot be opened is refused before anything is dialled", ({ certificates }) => ({
    certificate: {
      chain: certificates["client.pem"]!,
      key: Redacted.make(certificates["client.locked.key"]!),
      passPhrase: Redacted.make("wrong-one"),
    },
  })),
  unreadable("TLS: a key of another certificate is refused before anything is dialled", ({ certificates }) => ({
    certificate: { chain: certificates["server.pem"]!, key: Redacted.make(certificates["client.key"]!) },
  })),
  unreadable(
    "TLS: authorities one of which cannot be read are refused before anything is dialled",
    ({ certificates }) => {
      const authority = certificates["authority.pem"]!
      return { ca: [authority, `${authority}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`] }
    },
  ),
  {
    name: "TLS: a peer that wants a certificate and gets none is a fault, also for whoever reads later",
    holds: (rig) =>
      Effect.gen(function* () {
        const using = Effect.gen(function* () {
          const socket = yield* dial(rig, "mutual", tls(rig))
          // By then it has been told of, and nobody has read.
          yield* Effect.sleep(50)
          return yield* socket.read
        })
        yield* same("fault", (yield* Effect.flip(using))._tag, "SocketFailed")
      }),
  },
  {
    name: "TLS: a connection is aborted or closed as soon as it is there",
    holds: (rig) =>
      Effect.gen(function* () {
        const before = yield* rig.open
        yield* (yield* dial(rig, "tls", tls(rig))).abort
        yield* (yield* dial(rig, "tls", tls(rig))).close
        yield* same("sockets that are open", yield* rig.open, before)
      }),
  },
  {
    name: "TLS: a handshake that stalls ends when the dial is interrupted, and nothing is left",
    holds: (rig) =>
      Effect.gen(function* () {
        const before = yield* rig.open
        const fiber = yield* Effect.forkChild(Effect.scoped(dial(rig, "mute", tls(rig))), { startImmediately: true })
        yield* Effect.sleep(30)
        yield* same("dials", (yield* rig.sockets.snapshot).dialing, 1)
        yield* Fiber.interrupt(fiber)
        yield* same("sockets that are open", yield* rig.open, before)
        yield* same("handles", yield* rig.sockets.snapshot, none)
      }),
  },
]

const up = (name: string, target: (rig: Rig) => Target, peer: string): Some => ({
  name,
  holds: (rig) =>
    Effect.gen(function* () {
      const socket = yield* rig.sockets.dial(target(rig))
      yield* writeLong(socket)
      yield* socket.end
      yield* same("what the far side says, after our end", yield* rest(socket), String(Pattern.long))
      const { bytes, isEnded, isRight } = yield* ask(() => rig.peers.story(peer))
      yield* same("what it got", { bytes, isRight, isEnded }, { bytes: Pattern.long, isRight: true, isEnded: true })
    }),
})

const down = (name: string, target: (rig: Rig) => Target, peer: string): Some => ({
  name,
  holds: (rig) =>
    Effect.gen(function* () {
      const socket = yield* rig.sockets.dial(target(rig))
      const { bytes, isStalled } = yield* ask(() => rig.peers.stalled(peer))
      yield* truly(`it waits, having sent ${bytes}`, isStalled && bytes < Pattern.long)
      yield* same("all of it", yield* readLong(socket), { bytes: Pattern.long, isRight: true })
      yield* socket.end
    }),
})

const both = (name: string, target: (rig: Rig) => Target): Some => ({
  name,
  holds: (rig) =>
    Effect.gen(function* () {
      const socket = yield* rig.sockets.dial(target(rig))
      const reading = yield* Effect.forkChild(readLong(socket), { startImmediately: true })
      yield* writeLong(socket)
      yield* socket.end
      yield* same("all of it", yield* Fiber.join(reading), { bytes: Pattern.long, isRight: true })
    }),
})

const streams: ReadonlyArray<Some> = [
  up("16 MiB to the peer, which answers after our end", (rig) => at(rig, "sink"), "sink"),
  up("16 MiB to the peer over TLS", (rig) => at(rig, "tlsSink", tls(rig)), "tlsSink"),
  down("16 MiB from the peer, which is truly stopped while nobody reads", (rig) => at(rig, "source"), "source"),
  down(
    "16 MiB from the peer over TLS, which is truly stopped while nobody reads",
    (rig) => at(rig, "tlsSource", tls(rig)),
    "tlsSource",
  ),
  both("16 MiB both ways at once", (rig) => at(rig, "echo")),
  both("16 MiB both ways at once over TLS", (rig) => at(rig, "tls", tls(rig))),
  {
    name: "a write waits while the peer does not read",
    holds: (rig) =>
      Effect.gen(function* () {
        const socket = yield* dial(rig, "lagging")
        let [sent, steps] = [0, 0]
        const writing = yield* Effect.forkChild(
          Effect.andThen(writeLong(socket, (now) => (sent = now, steps++)), socket.end),
        )
        for (let seen = -1; seen !== steps;) {
          seen = steps
          yield* Effect.sleep(250)
        }
        yield* truly(`it waits, having written ${sent}`, sent < Pattern.long)
        yield* ask(() => rig.peers.release("lagging"))
        yield* Fiber.join(writing)
        yield* rest(socket)
        const { bytes, isRight } = yield* ask(() => rig.peers.story("lagging"))
        yield* same("what it got", { bytes, isRight }, { bytes: Pattern.long, isRight: true })
      }),
  },
]

const hears = (name: string, peer: string, more: (rig: Rig) => object): Some => ({
  name,
  holds: (rig) =>
    Effect.gen(function* () {
      const socket = yield* dial(rig, peer, more(rig))
      yield* same("read", yield* rest(socket), "bye")
      yield* same("read again", yield* socket.read, undefined)
      // A runtime that ends its own side with the peer's does so a turn later.
      yield* Effect.sleep(20)
      yield* socket.write(bytes("still here"))
      yield* socket.end
      yield* socket.closed
      const { bytes: count, error, isEnded } = yield* ask(() => rig.peers.story(peer))
      yield* same("story", { count, isEnded, error }, { count: 10, isEnded: true, error: null })
    }),
})

/** What the peer hears is the end or the reset; that is for the network to say. */
const abortsBehind = (name: string, peer: string, more: (rig: Rig) => object): Some => ({
  name,
  holds: (rig) =>
    Effect.gen(function* () {
      const before = yield* rig.open
      for (const written of [undefined, bytes("x"), new Uint8Array(1_048_576)]) {
        const socket = yield* dial(rig, peer, more(rig))
        const begun = (effect: Effect.Effect<void, unknown>) =>
          Effect.forkChild(Effect.exit(effect), { startImmediately: true })
        if (written !== undefined) yield* begun(socket.write(written))
        const ending = yield* begun(socket.end)
        yield* socket.abort
        yield* same("sockets that are open", yield* rig.open, before)
        yield* Fiber.join(ending)
        yield* same("read", (yield* Effect.flip(socket.read))._tag, "SocketClosed")
      }
    }),
})

const cutsBehind = (name: string, peer: string, more: (rig: Rig) => object): Some => ({
  name,
  holds: (rig) =>
    Effect.gen(function* () {
      const socket = yield* dial(rig, peer, more(rig))
      yield* socket.write(bytes("x"))
      yield* socket.end
      yield* same("what came before", text(yield* socket.read), "part")
      yield* ask(() => rig.peers.release(peer))
      yield* same("fault", (yield* Effect.flip(socket.read))._tag, "PeerReset")
      yield* socket.closed
    }),
})

const ends: ReadonlyArray<Some> = [
  hears("a peer that sends no more still hears us", "endsFirst", () => ({})),
  hears("a peer that sends no more still hears us, over TLS", "tlsEndsFirst", tls),
  abortsBehind("an abort behind an end that is on its way comes through, and nothing is left", "echo", () => ({})),
  abortsBehind("an abort behind an end that is on its way comes through, and nothing is left, over TLS", "tls", tls),
  cutsBehind(
    "a peer that cuts the connection off behind our end is a fault of its own, not an end",
    "stays",
    () => ({}),
  ),
  cutsBehind(
    "a peer that cuts the connection off behind our end is a fault of its own, not an end, over TLS",
    "belowTlsStays",
    tls,
  ),
  {
    name: "an end behind a write that waits comes through, and the write too",
    holds: (rig) =>
      Effect.gen(function* () {
        const socket = yield* dial(rig, "lagging")
        const write = socket.write(Pattern.piece(0, Pattern.long))
        const writing = yield* Effect.forkChild(write, { startImmediately: true })
        const ending = yield* Effect.forkChild(socket.end, { startImmediately: true })
        yield* ask(() => rig.peers.release("lagging"))
        yield* Fiber.join(writing)
        yield* Fiber.join(ending)
        yield* rest(socket)
        const { bytes, isEnded, isRight } = yield* ask(() => rig.peers.story("lagging"))
        yield* same("what it got", { bytes, isRight, isEnded }, { bytes: Pattern.long, isRight: true, isEnded: true })
      }),
  },
  {
    name: "an abort is a reset to the peer",
    holds: (rig) => aborts(rig, "echo", {}),
  },
  {
    name: "an abort is a reset to the peer, over TLS",
    holds: (rig) => aborts(rig, "belowTls", tls(rig)),
  },
  {
    name: "a peer that cuts the connection off is a fault of its own, not an end",
    holds: (rig) =>
      Effect.gen(function* () {
        const socket = yield* dial(rig, "resets")
        yield* socket.write(bytes("x"))
        const fault = yield* Effect.flip(socket.read)
        yield* same("fault", fault._tag, "PeerReset")
        yield* socket.closed
        yield* same("write", (yield* Effect.flip(socket.write(bytes("y"))))._tag, "PeerReset")
      }),
  },
  {
    name: "a peer that cuts the connection off is a fault of its own, not an end, over TLS",
    holds: (rig) =>
      Effect.gen(function* () {
        const socket = yield* dial(rig, "belowTls", tls(rig))
        yield* socket.write(bytes("x"))
        yield* same("echo", text(yield* socket.read), "x")
        yield* ask(() => rig.peers.release("belowTls"))
        yield* same("fault", (yield* Effect.flip(socket.read))._tag, "PeerReset")
        yield* socket.closed
        yield* same("write", (yield* Effect.flip(socket.write(bytes("y"))))._tag, "PeerReset")
      }),
  },
  {
    name: "a peer that is gone without a word keeps nobody: reads are interrupted, the close comes through",
    holds: (rig) =>
      Effect.gen(function* () {
        const socket = yield* dial(rig, "lagging")
        yield* Effect.timeoutOption(writeLong(socket), 300)
        const before = yield* rig.open
        yield* truly("our handle is there", before !== 0)
        const reading = yield* Effect.forkChild(socket.read, { startImmediately: true })
        yield* same("a second read", (yield* Effect.flip(socket.read))._tag, "SocketBusy")
        yield* Fiber.interrupt(reading)
        const other = yield* Effect.forkChild(Effect.flip(socket.read), { startImmediately: true })
        yield* socket.close
        yield* same("whoever read", (yield* Fiber.join(other))._tag, "SocketClosed")
        const after = yield* rig.open
        yield* truly("our handle is gone when the close is over", before === undefined || after === before - 1)
        yield* same("write", (yield* Effect.flip(socket.write(bytes("y"))))._tag, "SocketClosed")
        yield* ask(() => rig.peers.release("lagging"))
      }),
  },
  {
    name: "the scope closes the socket",
    holds: (rig) =>
      Effect.gen(function* () {
        const socket = yield* Effect.scoped(dial(rig, "echo"))
        yield* same("read", (yield* Effect.flip(socket.read))._tag, "SocketClosed")
        yield* socket.closed
      }),
  },
]

const aborts = (rig: Rig, peer: string, more: object) =>
  Effect.gen(function* () {
    const socket = yield* dial(rig, peer, more)
    yield* socket.write(bytes("x"))
    yield* same("echo", text(yield* socket.read), "x")
    yield* socket.abort
    const { error, isEnded } = yield* ask(() => rig.peers.story(peer))
    yield* same("story", { isEnded, error }, { isEnded: false, error: "ECONNRESET" })
  })

/** Dials that are interrupted, each in its own way, some together and some alone. */
const together = 950
const alone = 50

/** Sockets that tell when the connection of a dial is there, below TLS. A dial by address connects in the step that begins it. */
const told = (rig: Rig) =>
  Effect.gen(function* () {
    let tell = (): void => {}
    const sockets = yield* Sockets.make({
      ...rig.driver,
      connect: (point, events) => {
        const connected = tell
        const opened = (): void => {
          events.opened()
          connected()
        }
        return rig.driver.connect(point, { ...events, opened })
      },
    })
    const begin = (target: Target) =>
      Effect.gen(function* () {
        const connected = new Promise<void>((resolve) => void (tell = resolve))
        const dialing = yield* Effect.forkDetach(Effect.scoped(sockets.dial(target)), { startImmediately: true })
        return { dialing, connected: ask(() => connected) }
      })
    return { sockets, begin }
  })

/** In which phase every 48th dial is interrupted for certain, however busy the machine is; the others at a moment of their own. */
type Phase = "once it has begun" | "once it is connected"

const interruptions = (
  name: string,
  target: (rig: Rig) => Target,
  phase: Phase,
  seed: number,
  most: number,
): Some => ({
  name,
  holds: (rig) =>
    Effect.gen(function* () {
      const moment = chance(seed)
      const before = yield* rig.open
      const { begin, sockets } = yield* told(rig)
      // One object for all, whose certificates are read once.
      const whom = target(rig)
      const interrupted = (place: number) =>
        Effect.gen(function* () {
          const { connected, dialing } = yield* begin(whom)
          if (place % 48 > 0) {
            for (let turns = moment(8); turns > 0; turns--) yield* Effect.yieldNow
            const millis = moment(most)
            if (millis > 0) yield* Effect.sleep(millis)
          } else if (phase === "once it is connected") yield* connected
          yield* Fiber.interrupt(dialing)
          const { _tag } = yield* Fiber.await(dialing)
          if (place % 48 === 0) yield* same(`the dial interrupted ${phase}`, _tag, "Failure")
        })
      yield* Effect.forEach(Array.from({ length: together }, (_, i) => i), interrupted, { concurrency: 32 })
      // As it is before anything else has a turn: the far side, which is in this process too, has not heard of it. A lookup that
      // has begun is one for all, and counted until it is over.
      const left = Effect.gen(function* () {
        const { resolving, ...handles } = yield* sockets.snapshot
        yield* same("handles", { resolving: 0, ...handles }, none)
        yield* truly(`lookups: ${resolving}`, resolving <= ("host" in whom && whom.host === "localhost" ? 1 : 0))
      })
      const isClosed = Effect.flatMap(rig.open, (now) => same("sockets that are open at that instant", now, before))
      yield* left
      yield* isClosed
      yield* ask(rig.peers.quiet)
      for (let i = 0; i < alone; i++) {
        yield* interrupted(i)
        yield* left
        // It takes the system 10 ms to say. All ways of interrupting come to their turn, some for certain.
        if (i % 7 === 0) yield* isClosed
      }
      // A dial that comes through has waited for whatever lookup was left.
      yield* Effect.scoped(sockets.dial({ ...at(rig, "echo"), host: "localhost" } as Target))
      yield* same("handles", yield* sockets.snapshot, none)
      yield* ask(rig.peers.quiet)
    }),
})

const cuts: ReadonlyArray<Some> = [
  interruptions(
    "1,000 dials interrupted while a name is looked up",
    (rig) => ({ ...at(rig, "echo"), host: "localhost" } as Target),
    "once it has begun",
    1,
    1,
  ),
  interruptions("1,000 dials interrupted while they connect", (rig) => at(rig, "echo"), "once it has begun", 2, 1),
  interruptions(
    "1,000 dials interrupted while nothing answers",
    (rig) => at(rig, "blackHole"),
    "once it has begun",
    3,
    3,
  ),
  interruptions(
    "1,000 dials interrupted in a handshake that stalls",
    (rig) => at(rig, "mute", tls(rig)),
    "once it is connected",
    4,
    4,
  ),
  interruptions(
    "1,000 dials interrupted in a handshake",
    (rig) => at(rig, "tls", tls(rig)),
    "once it is connected",
    5,
    4,
  ),
]

/** A name with the addresses that the law says, all at the port of the black hole. */
const named = (rig: Rig, addresses: ReadonlyArray<string>): Effect.Effect<Sockets.Sockets> =>
  Sockets.make({
    ...rig.driver,
    resolve: () => Effect.succeed(addresses.map((ip) => ({ ip, family: 4 as const }))),
  })

const eyeballs: ReadonlyArray<Some> = [
  {
    name: "of several addresses the first that answers wins, and no other attempt is left",
    holds: (rig) =>
      Effect.gen(function* () {
        const before = yield* rig.open
        const sockets = yield* named(rig, ["127.0.0.1", "127.0.0.2", "127.0.0.3"])
        const socket = yield* sockets.dial({ host: "peer.test", port: rig.peers.ports["blackHole"]! })
        yield* same("who", socket.facts.remote?.address, "127.0.0.2")
        yield* same("handles", yield* sockets.snapshot, { ...none, open: 1 })
        yield* socket.close
        yield* ask(rig.peers.quiet)
        yield* same("sockets that are open", yield* rig.open, before)
      }),
  },
  {
    name: "of several addresses none of which answers the first fault counts, and an interruption leaves none of them",
    holds: (rig) =>
      Effect.gen(function* () {
        const before = yield* rig.open
        const refusing = yield* named(rig, ["127.0.0.3", "127.0.0.4"])
        const target = { host: "peer.test", port: rig.peers.ports["blackHole"]! }
        yield* same("fault", (yield* Effect.flip(refusing.dial(target)))._tag, "PeerRefused")
        const hanging = yield* named(rig, ["127.0.0.1", "127.0.0.1"])
        const dialing = yield* Effect.forkChild(Effect.scoped(hanging.dial(target)), { startImmediately: true })
        yield* Effect.sleep(300)
        yield* same("attempts", (yield* hanging.snapshot).dialing, 2)
        yield* Fiber.interrupt(dialing)
        yield* same("handles", yield* hanging.snapshot, none)
        yield* same("sockets that are open", yield* rig.open, before)
      }),
  },
]

export const laws: ReadonlyArray<Law<Rig>> = [
  ...about("addresses, names and refusals", plain),
  ...about("TLS", secured),
  ...about("16 MiB, and back-pressure", streams),
  ...about("ends, resets and silence", ends),
  ...about("interrupted dials, 1,000 each", cuts),
  ...about("several addresses", eyeballs),
]

/** The law, with nothing left behind it on either side. */
export const kept = (law: Law<Rig>, rig: Rig): Effect.Effect<void, unknown> =>
  Effect.gen(function* () {
    yield* ask(rig.peers.begin)
    yield* Effect.scoped(law.holds(rig) as Effect.Effect<void, unknown, Scope.Scope>)
    yield* ask(rig.peers.quiet)
    yield* same("handles that are left", yield* rig.sockets.snapshot, none)
  })
