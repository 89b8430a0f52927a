/**
 * The far sides of the laws of sockets, each at a port of its own: what they do is in their names. They own their listeners
 * and connections until `stop`, and keep a story of each connection: what came, and how it ended.
 */
import { spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import * as net from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as tls from "node:tls"
import { root } from "../support/Runtime.ts"
import * as Runtime from "../support/Runtime.ts"
import * as Pattern from "./Pattern.ts"

/** How a connection went, seen from the far side. */
export interface Story {
  readonly bytes: number
  /** Whether the bytes were those of the pattern. */
  readonly isRight: boolean
  /** Whether the end of what is sent was heard. */
  readonly isEnded: boolean
  /** The code of its error; a reset is ECONNRESET. */
  readonly error: string | null
}

/** What a law may ask of the far sides. A name is that of a peer below. */
export interface Peers {
  readonly ports: Readonly<Record<string, number>>
  readonly path: string
  readonly certificates: Readonly<Record<string, string>>
  /** Forgets all stories, and cuts off whatever is left. */
  readonly begin: () => Promise<void>
  /** The story of the next connection to a peer that is over. */
  readonly story: (peer: string) => Promise<Story>
  /** Whether the peer that writes or reads without end has been made to wait, and how many bytes it had moved by then. */
  readonly stalled: (peer: string) => Promise<{ readonly isStalled: boolean; readonly bytes: number }>
  /** Lets a peer that holds back go on. */
  readonly release: (peer: string) => Promise<void>
  /** Resolves when no connection is left. */
  readonly quiet: () => Promise<void>
}

export interface Hosted extends Peers {
  readonly stop: () => Promise<void>
}

/** No step of a peer for so long is a stall. One that is taken for a stall too early does no harm: it has not finished. */
const stallMillis = 250

/** Waits for what is told later, or takes what was told before. */
class Box<A> {
  readonly #told: Array<A> = []
  readonly #waiting: Array<(value: A) => void> = []
  put(value: A): void {
    const waiter = this.#waiting.shift()
    if (waiter === undefined) this.#told.push(value)
    else waiter(value)
  }
  take(): Promise<A> {
    const value = this.#told.shift()
    return value === undefined ? new Promise((resolve) => void this.#waiting.push(resolve)) : Promise.resolve(value)
  }
  clear(): void {
    this.#told.length = 0
  }
}

class Peer {
  readonly stories = new Box<Story>()
  readonly stall = new Box<{ readonly isStalled: boolean; readonly bytes: number }>()
  readonly held = new Set<() => void>()
  readonly live: Set<net.Socket>
  readonly #act: Act
  readonly #left: () => void

  constructor(live: Set<net.Socket>, left: () => void, act: Act) {
    this.live = live
    this.#left = left
    this.#act = act
  }

  /** Counts a connection from its first to its last moment, the handshake of TLS included. */
  count(socket: net.Socket): void {
    this.live.add(socket)
    socket.once("close", () => {
      this.live.delete(socket)
      this.#left()
    })
  }

  readonly visit = (socket: net.Socket): void => {
    const reader = new Pattern.Reader()
    let isEnded = false
    let error: string | null = null
    socket.on("data", (bytes: Uint8Array) => reader.take(bytes))
    socket.on("end", () => isEnded = true)
    socket.on("error", (told: NodeJS.ErrnoException) => error ??= told.code ?? "UNKNOWN")
    socket.once("close", () => this.stories.put({ bytes: reader.bytes, isRight: reader.isRight, isEnded, error }))
    this.#act(socket, this)
  }

  release(): void {
    for (const go of this.held) go()
  }

  /** Watches something that goes on: tells once that it stands still, or has finished. */
  watch(progress: () => number, isFinished: () => boolean): () => void {
    let timer: ReturnType<typeof setTimeout> | undefined
    let isTold = false
    const tell = (isStalled: boolean): void => {
      if (isTold) return
      isTold = true
      this.stall.put({ isStalled, bytes: progress() })
    }
    return () => {
      clearTimeout(timer)
      if (isFinished()) tell(false)
      else if (!isTold) timer = setTimeout(() => tell(true), stallMillis)
    }
  }
}

const echo = (socket: net.Socket): void => {
  socket.on("data", (bytes) => void socket.write(bytes))
  socket.on("end", () => socket.end())
}

/** Sends the long pattern as fast as it may, and then ends. */
const source = (socket: net.Socket, peer: Peer): void => {
  let sent = 0
  const moved = peer.watch(() => sent - socket.writableLength, () => sent === Pattern.long)
  const go = (): void => {
    while (sent < Pattern.long) {
      const isRoom = socket.write(Pattern.piece(sent, Pattern.pieceBytes))
      sent += Pattern.pieceBytes
      moved()
      if (!isRoom) return
    }
    socket.end()
  }
  socket.on("drain", go)
  go()
}

type Act = (socket: net.Socket, peer: Peer) => void

const acts: Readonly<Record<string, Act>> = {
  echo,
  source,
  /** Reads to the end, and then says how many bytes came. */
  sink: (socket) => {
    let bytes = 0
    socket.on("data", (piece) => bytes += piece.length)
    socket.on("end", () => socket.end(String(bytes)))
  },
  /** Reads nothing until it is released. */
  lagging: (socket, peer) => {
    socket.pause()
    peer.held.add(() => socket.resume())
    socket.on("end", () => socket.end())
  },
  /** Says that it sends no more, and goes on reading. */
  endsFirst: (socket) => {
    socket.end("bye")
  },
  /** Cuts the connection off at the first byte. */
  resets: (socket) => {
    socket.once("data", () => void socket.resetAndDestroy())
  },
  /** Answers our end with a part of something, and stays until it is released, which cuts the connection off. */
  stays: (socket, peer) => {
    socket.on("end", () => void socket.write("part"))
    peer.held.add(() => void (socket instanceof tls.TLSSocket ? socket.destroy() : socket.resetAndDestroy()))
  },
  /** Never says anything, and goes when we go. */
  mute: (socket) => {
    socket.on("end", () => socket.end())
  },
  /** Says something that is no TLS. */
  plain: (socket) => {
    socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")
  },
  /** Says nothing, and ends at once. */
  ends: (socket) => void socket.end(),
  /** Leaves in the middle of a handshake. */
  leaves: (socket) => {
    socket.once("data", () => socket.end())
  },
}

/**
 * Hands everything on to another peer. In front of TLS it tells how the connection below that ended, where some runtimes
 * (Deno 2.9) tell of an end. With `left`, which is told when it is over, it hands on no end but that of TLS itself.
 */
const relay = (port: number, left?: () => void): Act => (socket, peer) => {
  const onward = net.connect({ host: "127.0.0.1", port, allowHalfOpen: true })
  onward.on("error", () => void socket.destroy())
  onward.on("data", (piece) => void socket.write(piece))
  onward.on("end", () => void socket.end())
  socket.on("data", (piece) => void onward.write(piece))
  if (left === undefined) socket.on("end", () => void onward.end())
  else socket.once("close", left)
  socket.once("close", () => void onward.destroy())
  // Released, it cuts off whoever dialled.
  peer.held.add(() => void socket.resetAndDestroy())
}

const listening = (server: net.Server, options: net.ListenOptions): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once("error", reject)
    server.listen(options, () => resolve((server.address() as net.AddressInfo | null)?.port ?? 0))
  })

/** A port that nothing answers at: neither a refusal nor a connection. The two that fill its queue stay until the stop. */
const blackHole = async (): Promise<{ readonly port: number; readonly stop: () => Promise<void> }> => {
  const child = spawn(Runtime.command("node")[0]!, [`${root}test/support/BlackHole.mjs`], {
    stdio: ["ignore", "pipe", "inherit"],
  })
  const port = await new Promise<number>((resolve, reject) => {
    child.once("error", reject)
    child.stdout.once("data", (text) => resolve(Number(String(text))))
  })
  const fillers = [1, 2, 3].map(() => net.connect(port, "127.0.0.1").on("error", () => {}))
  await new Promise<void>((resolve) => {
    let connected = 0
    for (const filler of fillers) filler.once("connect", () => ++connected === 2 && resolve())
  })
  const stop = async (): Promise<void> => {
    for (const filler of fillers) filler.destroy()
    const gone = new Promise((resolve) => child.once("close", resolve))
    child.kill("SIGKILL")
    await gone
  }
  return { port, stop }
}

const folder = `${root}test/support/certificates/`
const files = ["authority.pem", "stranger.pem", "server.pem", "client.pem", "client.key", "client.locked.key"]
const file = (name: string): string => readFileSync(folder + name, "utf8")

export const host = async (): Promise<Hosted> => {
  const live = new Set<net.Socket>()
  const quieted = new Set<() => void>()
  const left = (): void => {
    if (live.size > 0) return
    for (const quiet of quieted) quiet()
    quieted.clear()
  }
  const quiet = (): Promise<void> =>
    live.size === 0 ? Promise.resolve() : new Promise((resolve) => void quieted.add(resolve))
  const peers: Record<string, Peer> = {}
  const servers: Array<net.Server> = []
  const ports: Record<string, number> = {}
  const open = async (
    name: string,
    act: Act,
    at: net.ListenOptions = { host: "127.0.0.1", port: 0 },
  ): Promise<void> => {
    const peer = peers[name] ??= new Peer(live, left, act)
    const server = net.createServer({ allowHalfOpen: true }, (socket) => (peer.count(socket), peer.visit(socket)))
    servers.push(server)
    ports[name] = await listening(server, at)
  }
  const secure = async (name: string, act: string, options: tls.TlsOptions): Promise<void> => {
    const peer = peers[name] ??= new Peer(live, left, acts[act]!)
    const server = tls.createServer({ key: file("server.key"), cert: file("server.pem"), ...options })
    server.on("connection", (socket) => peer.count(socket))
    server.on("tlsClientError", (_, socket) => void socket.on("error", () => {}).destroy())
    server.on("secureConnection", peer.visit)
    servers.push(server)
    ports[name] = await listening(server, { host: "127.0.0.1", port: 0 })
  }
  const temporary = mkdtempSync(join(tmpdir(), "holdfast-peers-"))
  const path = join(temporary, "echo")
  const hole = await blackHole()
  for (const [name, act] of Object.entries(acts)) await open(name, act)
  await open("path", echo, { path })
  await open("beside", echo, { host: "127.0.0.2", port: hole.port })
  const protocols = { ALPNProtocols: ["h2", "http/1.1"] }
  await secure("tls", "echo", protocols)
  await secure("tlsSource", "source", protocols)
  // One that allows a half-open connection would also keep one that is left amid the handshake.
  await secure("tlsSink", "sink", { ...protocols, allowHalfOpen: true })
  await open("belowTls", relay(ports["tls"]!))
  await secure("tlsEndsFirst", "endsFirst", { allowHalfOpen: true })
  await secure("tlsStays", "stays", { allowHalfOpen: true })
  await open("belowTlsStays", relay(ports["tlsStays"]!, () => peers["tlsStays"]!.release()))
  await secure("expired", "echo", { cert: file("expired.pem") })
  await secure("mutual", "echo", { ca: file("authority.pem"), requestCert: true, rejectUnauthorized: true })
  // A port that was free a moment ago, and is not given out again so soon.
  const closed = net.createServer()
  const refuses = await listening(closed, { host: "127.0.0.1", port: 0 })
  await new Promise((resolve) => closed.close(resolve))
  return {
    ports: { ...ports, refuses, blackHole: hole.port },
    path,
    certificates: Object.fromEntries(files.map((name) => [name, file(name)])),
    begin: async () => {
      // What a law that was broken has left is none of the next one's.
      for (const socket of live) socket.destroy()
      await quiet()
      for (const peer of Object.values(peers)) {
        peer.stories.clear()
        peer.stall.clear()
        peer.held.clear()
      }
    },
    story: (name) => peers[name]!.stories.take(),
    stalled: (name) => peers[name]!.stall.take(),
    release: (name) => Promise.resolve(peers[name]!.release()),
    quiet,
    stop: async () => {
      for (const socket of live) socket.destroy()
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
      await hole.stop()
      rmSync(temporary, { recursive: true, force: true })
    },
  }
}
