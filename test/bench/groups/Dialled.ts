/**
 * K. Sockets beside what they stand on: `node:net` with callbacks, and nothing owned. CPU of this process alone, on one core
 * with the servers.
 */
import { spawn } from "node:child_process"
import * as net from "node:net"
import process from "node:process"
import { fileURLToPath } from "node:url"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import * as Bun from "../../../adapters/bun/Sockets.ts"
import * as Deno from "../../../adapters/deno/Sockets.ts"
import * as Node from "../../../adapters/node/Sockets.ts"
import * as Sockets from "../../../core/Sockets.ts"
import * as Runtime from "../../support/Runtime.ts"
import { median } from "../Interval.ts"
import { pin } from "../OneCore.ts"
import { alternate, type Measure, type Pair } from "../Rounds.ts"
import { type Emit, figures } from "../Row.ts"

const name = "holdfast Sockets"
const floorName = "node:net"
const awaitedName = "node:net, awaited"
const host = "127.0.0.1"
const long = 16_777_216
const dialling = "dial and close"
const echoing = "echo round trip of 64 bytes"
const runtime = "deno" in process.versions ? "deno" : "bun" in process.versions ? "bun" : "node"
const { driver } = { node: Node, deno: Deno, bun: Bun }[runtime]

interface Ports {
  readonly echo: readonly [number, ...ReadonlyArray<number>]
  readonly source: number
}

const servers = (): Promise<Ports> =>
  new Promise((resolve, reject) => {
    const script = fileURLToPath(new URL("../SocketServer.ts", import.meta.url))
    const [binary = "", ...args] = Runtime.command("node")
    const child = spawn(binary, [...args, script], { stdio: ["pipe", "pipe", "inherit"] })
    child.once("error", reject)
    child.once("exit", (status) => reject(new Error(`the servers ended with status ${status}`)))
    child.stdout.once("data", (line) => resolve(JSON.parse(String(line))))
  })

/** CPU nanoseconds an operation of `n`. */
const turn = (n: number, run: () => Promise<unknown>): Measure => async () => {
  const before = process.cpuUsage()
  await run()
  const { system, user } = process.cpuUsage(before)
  return ((system + user) * 1e3) / n
}

/** The effect so often, one after the other. */
const times = <E>(n: number, effect: Effect.Effect<unknown, E>) => () => {
  let left = n
  return Effect.runPromise(Effect.whileLoop({ while: () => left-- > 0, body: () => effect, step: () => {} }))
}

const connect = (port: number): net.Socket =>
  net.connect({ host, port, noDelay: true, allowHalfOpen: true, autoSelectFamily: false })

const connected = (port: number): Promise<net.Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect(port)
    socket.on("error", reject)
    socket.on("connect", () => resolve(socket))
  })

const dials = 300

/** As whoever dials in order to read does. */
const listen = (socket: net.Socket): void => {
  socket.on("data", () => {})
  socket.on("end", () => {})
}

/** The least that a dial and a close come to: callbacks, and nothing to wait for but the next one. */
const bareDials = (port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    let left = dials
    const next = (): void => {
      if (left-- === 0) return resolve()
      const socket = connect(port)
      socket.on("error", reject)
      socket.on("close", next)
      socket.on("connect", () => {
        listen(socket)
        socket.destroy()
      })
    }
    next()
  })

/** The same for whoever goes on behind it as behind an effect: the connection and its end are promises. */
const awaitedDials = async (port: number): Promise<void> => {
  for (let left = dials; left > 0; left--) {
    const socket = await connected(port)
    listen(socket)
    await new Promise<void>((resolve) => {
      socket.on("close", () => resolve())
      socket.destroy()
    })
  }
}

/** The least in Effect that leaves no handle: no faults, no facts, nothing read, one address. */
const least = (port: number): Effect.Effect<net.Socket, Error, Scope.Scope> => {
  const destroyed = (socket: net.Socket): Effect.Effect<void> =>
    Effect.callback((resume) => {
      if (socket.closed) return resume(Effect.void)
      socket.on("close", () => resume(Effect.void))
      socket.destroy()
    })
  const dial = Effect.callback<net.Socket, Error>((resume) => {
    const socket = connect(port)
    socket.on("error", (error) => resume(Effect.fail(error)))
    socket.on("connect", () => resume(Effect.succeed(socket)))
    return destroyed(socket)
  })
  return Effect.acquireRelease(dial, destroyed, { interruptible: true })
}

const scopedDials = (dial: (port: number) => Effect.Effect<unknown, unknown, Scope.Scope>) => (port: number) =>
  times(dials, Effect.scoped(dial(port)))()

/** Each turn dials the next of the `ports`. */
const dialPair = (subject: (port: number) => Promise<unknown>, ports: Ports["echo"]): Pair => {
  let turns = 0
  const each = (dialling: (port: number) => Promise<unknown>) =>
    turn(dials, () => dialling(ports[turns++ % ports.length] ?? ports[0]))
  return { subject: each(subject), floor: each(bareDials), slices: 5 }
}

const echoes = 3_000
const hello = new Uint8Array(64)

const echoPair = async (socket: Sockets.Socket, port: number): Promise<Pair> => {
  const bareSocket = await connected(port)
  let heard = (_: number): void => {}
  bareSocket.on("data", (piece) => heard(piece.length))
  const bare = (): Promise<void> =>
    new Promise((resolve) => {
      let left = echoes
      let got = 0
      heard = (length) => {
        got += length
        if (got < hello.length) return
        got = 0
        if (--left === 0) resolve()
        else bareSocket.write(hello)
      }
      bareSocket.write(hello)
    })
  let got = 0
  const whole = (piece: Uint8Array | undefined): Effect.Effect<void, unknown> => {
    got += piece?.length ?? 0
    if (got < hello.length) return more
    got = 0
    return Effect.void
  }
  const more: Effect.Effect<void, unknown> = Effect.flatMap(socket.read, whole)
  const own = times(echoes, Effect.andThen(socket.write(hello), more))
  return { subject: turn(echoes, own), floor: turn(echoes, bare), slices: 3 }
}

/** An echo for whoever goes on behind it as behind an effect: each answer is a promise. */
const awaitedEchoes = async (port: number, { floor, slices }: Pair): Promise<Pair> => {
  const socket = await connected(port)
  let answered = (): void => {}
  let got = 0
  socket.on("data", (piece) => {
    got += piece.length
    if (got < hello.length) return
    got = 0
    answered()
  })
  const awaited = async (): Promise<void> => {
    for (let left = echoes; left > 0; left--) {
      socket.write(hello)
      await new Promise<void>((resolve) => answered = resolve)
    }
  }
  return { subject: turn(echoes, awaited), floor, slices }
}

/** Reads a turn: where the buffers of one are new memory, and where they are what was just freed, differs by a factor of four. */
const reads = 8

const readPair = async (socket: Sockets.Socket, port: number): Promise<Pair> => {
  const bareSocket = await connected(port)
  let heard = (_: number): void => {}
  bareSocket.on("data", (piece) => heard(piece.length))
  const ask = new Uint8Array(1)
  const bare = (): Promise<void> =>
    new Promise((resolve) => {
      let more = reads
      let left = long
      heard = (length) => {
        left -= length
        if (left > 0) return
        left = long
        if (--more === 0) resolve()
        else bareSocket.write(ask)
      }
      bareSocket.write(ask)
    })
  let left = 0
  const reading = Effect.whileLoop({
    while: () => left > 0,
    body: () => socket.read,
    step: (piece) => void (left -= piece?.length ?? 0),
  })
  const asked = Effect.suspend(() => {
    left = long
    return socket.write(ask)
  })
  return { subject: turn(reads, times(reads, Effect.andThen(asked, reading))), floor: turn(reads, bare), slices: 3 }
}

/** A pool dials for hours: what counts is what it costs once the engine has compiled it, tens of thousands of dials later. */
const warm = async ({ floor, subject }: Pair): Promise<void> => {
  for (let turns = 0; turns < 100; turns++) await floor().then(subject)
}

export const measure = async (emit: Emit): Promise<void> => {
  pin()
  const ports = await servers()
  const sockets = Effect.runSync(Sockets.make(driver))
  const open = (port: number): Promise<Sockets.Socket> =>
    Effect.runPromise(Scope.provide(sockets.dial({ host, port }), Scope.makeUnsafe()))
  const show = async (subject: string, pairs: Readonly<Record<string, Pair>>): Promise<void> => {
    const samples = await alternate(Object.values(pairs))
    for (const [i, title] of Object.keys(pairs).entries()) {
      emit({ group: "K", subject, case: title, ...figures(samples[i]!) })
      if (subject === name) emit({ group: "K", subject: floorName, case: title, nsPerOp: median(samples[i]!.floors) })
    }
  }
  // What is judged comes first, beside as little else as possible.
  const own = dialPair(scopedDials((port) => sockets.dial({ host, port })), ports.echo)
  await warm(own)
  await show(name, { [dialling]: own })
  const echo = await echoPair(await open(ports.echo[0]), ports.echo[0])
  await show(name, { [echoing]: echo, "read 16 MiB": await readPair(await open(ports.source), ports.source) })
  await show(awaitedName, {
    [dialling]: dialPair(awaitedDials, ports.echo),
    [echoing]: await awaitedEchoes(ports.echo[0], echo),
  })
  await show("acquireRelease over node:net", { [dialling]: dialPair(scopedDials(least), ports.echo) })
}
