/** K. Sockets beside what they stand on: `node:net` with callbacks, and nothing owned. CPU of this process alone, on one core with the servers. */
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
const host = "127.0.0.1"
const long = 16_777_216
const runtime = "deno" in process.versions ? "deno" : "bun" in process.versions ? "bun" : "node"
const { driver } = { node: Node, deno: Deno, bun: Bun }[runtime]

const servers = (): Promise<{ readonly echo: number; readonly source: number }> =>
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

const connected = (port: number): Promise<net.Socket> =>
  new Promise((resolve, reject) => {
    const socket = net.connect({ host, port, noDelay: true, allowHalfOpen: true, autoSelectFamily: false })
    socket.once("error", reject)
    socket.once("connect", () => resolve(socket))
  })

const dials = 300

/** The least in Effect that leaves no handle: no faults, no facts, nothing read, one address. */
const least = (port: number): Effect.Effect<net.Socket, Error, Scope.Scope> => {
  const destroyed = (socket: net.Socket): Effect.Effect<void> =>
    Effect.callback((resume) => {
      if (socket.closed) return resume(Effect.void)
      socket.once("close", () => resume(Effect.void))
      socket.destroy()
    })
  const dial = Effect.callback<net.Socket, Error>((resume) => {
    const socket = net.connect({ host, port, noDelay: true, allowHalfOpen: true, autoSelectFamily: false })
    socket.on("error", (error) => resume(Effect.fail(error)))
    socket.once("connect", () => resume(Effect.succeed(socket)))
    return destroyed(socket)
  })
  return Effect.acquireRelease(dial, destroyed, { interruptible: true })
}

const dialPair = (dial: Effect.Effect<unknown, unknown, Scope.Scope>, port: number): Pair => {
  const bare = (): Promise<void> =>
    new Promise((resolve, reject) => {
      let left = dials
      const next = (): void => {
        if (left-- === 0) return resolve()
        const socket = net.connect({ host, port, noDelay: true, allowHalfOpen: true, autoSelectFamily: false })
        socket.on("error", reject)
        socket.once("close", next)
        socket.once("connect", () => {
          // As whoever dials in order to read does.
          socket.on("data", () => {})
          socket.on("end", () => {})
          socket.destroy()
        })
      }
      next()
    })
  const own = times(dials, Effect.scoped(dial))
  return { subject: turn(dials, own), floor: turn(dials, bare), slices: 3 }
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

const readPair = async (socket: Sockets.Socket, port: number): Promise<Pair> => {
  const bareSocket = await connected(port)
  let heard = (_: number): void => {}
  bareSocket.on("data", (piece) => heard(piece.length))
  const ask = new Uint8Array(1)
  const bare = (): Promise<void> =>
    new Promise((resolve) => {
      let left = long
      heard = (length) => (left -= length) === 0 ? resolve() : undefined
      bareSocket.write(ask)
    })
  const own = (): Promise<void> => {
    let left = long
    const reading = Effect.whileLoop({
      while: () => left > 0,
      body: () => socket.read,
      step: (piece) => void (left -= piece?.length ?? 0),
    })
    return Effect.runPromise(Effect.andThen(socket.write(ask), reading))
  }
  return { subject: turn(1, own), floor: turn(1, bare), slices: 3 }
}

/** A pool dials for hours: what counts is what it costs once the engine has compiled it, some thousands of dials later. */
const warm = async (pairs: ReadonlyArray<Pair>): Promise<void> => {
  for (let turns = 0; turns < 20; turns++) {
    for (const { floor, subject } of pairs) await floor().then(subject)
  }
}

export const measure = async (emit: Emit): Promise<void> => {
  pin()
  const ports = await servers()
  const sockets = Effect.runSync(Sockets.make(driver))
  const open = (port: number): Promise<Sockets.Socket> =>
    Effect.runPromise(Scope.provide(sockets.dial({ host, port }), Scope.makeUnsafe()))
  const pairs: Readonly<Record<string, Pair>> = {
    "dial and close": dialPair(sockets.dial({ host, port: ports.echo }), ports.echo),
    "echo round trip of 64 bytes": await echoPair(await open(ports.echo), ports.echo),
    "read 16 MiB": await readPair(await open(ports.source), ports.source),
  }
  const leastPair = dialPair(least(ports.echo), ports.echo)
  await warm([pairs["dial and close"]!, leastPair])
  const samples = await alternate([...Object.values(pairs), leastPair])
  emit({ group: "K", subject: "acquireRelease over node:net", case: "dial and close", ...figures(samples.at(-1)!) })
  for (const [i, title] of Object.keys(pairs).entries()) {
    emit({ group: "K", subject: name, case: title, ...figures(samples[i]!) })
    emit({ group: "K", subject: floorName, case: title, nsPerOp: median(samples[i]!.floors) })
  }
}
