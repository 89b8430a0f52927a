/**
 * The oracles of the runtime that this runs on: each is shown a leak that is planted for it, and what it cannot see is shown
 * not to be seen; if that fails, it can, and its documentation is out of date.
 */
import { assert, describe, it } from "vitest"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as dgram from "node:dgram"
import { existsSync } from "node:fs"
import * as net from "node:net"
import { fileURLToPath } from "node:url"
import { Worker } from "node:worker_threads"
import * as BunServe from "../../adapters/bun/Serve.ts"
import * as Bun from "../../adapters/bun/testing/mod.ts"
import * as DenoServe from "../../adapters/deno/Serve.ts"
import * as Deno from "../../adapters/deno/testing/mod.ts"
import * as NodeServe from "../../adapters/node/Serve.ts"
import * as Node from "../../adapters/node/testing/mod.ts"
import * as LeakCheck from "../../adapters/shared/testing/LeakCheck.ts"
import * as Example from "../docs/Example.ts"
import * as Wire from "../support/Wire.ts"

const { Ending, Leaks } = { node: Node, deno: Deno, bun: Bun }[Example.runtime]
const run = <A, E>(effect: Effect.Effect<A, E>) => Effect.runPromise(Effect.exit(effect))
const leakOf = async (effect: Effect.Effect<unknown, unknown>): Promise<LeakCheck.Leaked | undefined> => {
  const exit = await run(Leaks.check(effect))
  if (Exit.isSuccess(exit)) return undefined
  return exit.cause.reasons.flatMap((reason) =>
    reason._tag === "Fail" && reason.error instanceof Leaks.Leaked ? [reason.error] : []
  )[0]
}

const listening = Effect.callback<net.Server>((resume) => {
  const server = net.createServer((socket) => void socket.on("error", () => {}))
  server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
})
const portOf = (server: net.Server): number => (server.address() as net.AddressInfo).port
const closed = (emitter: { once: (event: "close", heard: () => void) => unknown }, close: () => void) =>
  Effect.callback<void>((resume) => {
    emitter.once("close", () => resume(Effect.void))
    close()
  })
/** The other side may be gone by the time that it is dialled. */
const quiet = (socket: net.Socket): net.Socket => socket.on("error", () => {})
const dialled = (port: number) =>
  Effect.callback<net.Socket>((resume) => {
    const socket = quiet(net.connect(port, "127.0.0.1", () => resume(Effect.succeed(socket))))
  })
const working = Effect.callback<Worker>((resume) => {
  const worker = new Worker("setInterval(() => {}, 60_000)", { eval: true })
  worker.once("online", () => resume(Effect.succeed(worker)))
})
const ended = (worker: Worker) => Effect.promise(() => worker.terminate())

/** A server that answers every request. */
const options = {
  host: "127.0.0.1",
  port: 0,
  maxHeaderBytes: 8_192,
  maxConnections: 16,
  headerTimeoutMillis: 5_000,
  keepAliveMillis: 5_000,
  handler: () => Promise.resolve(new Response("answer")),
}

/** Elsewhere there is no table to read, and each of these says so. */
const onLinux = (what: string, tests: () => void): void => {
  if (existsSync("/proc/self/task")) return void describe(what, tests)
  it(`${what} cannot be seen here, and a check says so`, async () =>
    assert.include(String(await run(Leaks.check(Effect.void))), "CannotSee"))
}

onLinux("sockets", () => {
  it("that are left are found by inode, on both sides, with port and state, and none of those that were there before", async () => {
    const server = await Effect.runPromise(listening)
    const port = portOf(server)
    // Both sides are there once the server has heard of it.
    const both = Effect.all([
      Effect.callback<net.Socket>((resume) =>
        void server.once("connection", (socket) => resume(Effect.succeed(socket)))
      ),
      dialled(port),
    ], { concurrency: "unbounded" })
    let sockets: ReadonlyArray<net.Socket> = []
    const leaked = await leakOf(Effect.map(both, (pair) => sockets = pair))
    assert.deepStrictEqual(leaked?.sockets.map(({ protocol, state }) => [protocol, state]), [
      ["tcp", "ESTABLISHED"],
      ["tcp", "ESTABLISHED"],
    ])
    assert.deepStrictEqual(
      leaked?.sockets.flatMap((each) => [each.localPort, each.remotePort]).filter((each) => each === port).length,
      2,
    )
    assert.deepStrictEqual([leaked?.threads, leaked?.timers], [[], 0])
    assert.match(leaked?.message ?? "", /^left open: tcp \d+ to \d+ ESTABLISHED, tcp/)
    // What was there before is no leak of what comes later.
    assert.isUndefined(await leakOf(Effect.void))
    await Effect.runPromise(Effect.forEach(sockets, (socket) => closed(socket, () => socket.destroy())))
    await Effect.runPromise(closed(server, () => server.close()))
  })

  it("that are closed are none from the moment that their 'close' is heard", async () => {
    const server = await Effect.runPromise(listening)
    const use = Effect.flatMap(dialled(portOf(server)), (socket) => closed(socket, () => socket.destroy()))
    const heard = Effect.callback<void>((resume) =>
      void server.once("connection", (socket) => socket.resume().once("close", () => resume(Effect.void)))
    )
    assert.isUndefined(await leakOf(Effect.all([heard, use], { concurrency: "unbounded" })))
    await Effect.runPromise(closed(server, () => server.close()))
  })

  it("that listen are found, of TCP and of UDP", async () => {
    let server: net.Server | undefined
    const leaked = await leakOf(Effect.map(listening, (made) => server = made))
    assert.deepStrictEqual(leaked?.sockets.map(({ localPort, state }) => [localPort, state]), [[
      portOf(server!),
      "LISTEN",
    ]])
    await Effect.runPromise(closed(server!, () => server!.close()))
    let socket: dgram.Socket | undefined
    const bound = Effect.callback<dgram.Socket>((resume) => {
      const made = dgram.createSocket("udp4")
      made.bind(0, "127.0.0.1", () => resume(Effect.succeed(made)))
    })
    const datagrams = await leakOf(Effect.map(bound, (made) => socket = made))
    assert.deepStrictEqual(datagrams?.sockets.map(({ protocol }) => protocol), ["udp"])
    await Effect.runPromise(closed(socket!, () => socket!.close()))
  })

  it("of a server of this library are gone once its scope has closed, though clients are still there", async () => {
    const { serve } = { node: NodeServe, deno: DenoServe, bun: BunServe }[Example.runtime]
    const visits = Effect.flatMap(serve(options), ({ port }) =>
      Effect.promise(async () => {
        const idle = await Wire.connect(port)
        idle.send("GET / HTTP/1.1\r\nhost: a\r\n\r\n")
        await idle.reads("answer")
        const half = await Wire.connect(port)
        half.send("GET / HT")
        return [idle.closed, half.closed]
      }))
    // The clients are in this process too: they are gone once they have heard of the end.
    const visited = Effect.flatMap(Effect.scoped(visits), (ends) => Effect.promise(() => Promise.all(ends)))
    assert.isUndefined(await leakOf(visited))
  })
})

onLinux("threads", () => {
  it("of workers that are left are found, and none once they have ended", async () => {
    let worker: Worker | undefined
    const leaked = await leakOf(Effect.map(working, (made) => worker = made))
    assert.strictEqual(leaked?.threads.length, 1)
    assert.match(leaked?.message ?? "", /^left open: thread ".+"$/)
    await Effect.runPromise(ended(worker!))
    assert.isUndefined(await leakOf(Example.runtime === "deno" ? Effect.void : Effect.flatMap(working, ended)))
  })

  it("of the runtime itself are not counted", async () => {
    const reading = Effect.promise(async () => (await import("node:fs/promises")).readFile("/etc/hostname"))
    const resolving = Effect.promise(async () =>
      (await import("node:dns/promises")).lookup("localhost").catch(() => {})
    )
    assert.isUndefined(await leakOf(Effect.all([reading, resolving])))
  })
})

onLinux("timers", () => {
  it(`that are left are ${Example.runtime === "bun" ? "not seen, and the census says so" : "found"}`, async () => {
    // The runner tells that a test has begun by a timer of a tenth of a second, which would end while ours is counted.
    await new Promise((resolve) => setTimeout(resolve, 300))
    let timer: ReturnType<typeof setTimeout> | undefined
    const left = Effect.sync(() => timer = setTimeout(() => {}, 60_000))
    const leaked = await leakOf(left)
    clearTimeout(timer)
    assert.strictEqual(leaked?.timers, Example.runtime === "bun" ? undefined : 1)
    const { timers } = await Effect.runPromise(Leaks.census)
    assert.strictEqual(timers === undefined, Example.runtime === "bun")
    if (leaked !== undefined) assert.strictEqual(leaked.message, "left open: timers: 1")
    assert.isUndefined(await leakOf(Effect.sleep(1)))
  })

  it("with unref are not seen", async () => {
    let timer: ReturnType<typeof setTimeout> | undefined
    assert.isUndefined(await leakOf(Effect.sync(() => (timer = setTimeout(() => {}, 60_000)).unref())))
    clearTimeout(timer)
  })
})

onLinux("a check", () => {
  it("keeps the effect's own failure, and puts the leak beside it", async () => {
    let server: net.Server | undefined
    const fails = Effect.flatMap(listening, (made) => {
      server = made
      return Effect.fail("mine" as const)
    })
    const exit = await run(Leaks.check(fails))
    assert.isTrue(Exit.isFailure(exit))
    if (Exit.isFailure(exit)) {
      assert.deepStrictEqual(
        exit.cause.reasons.map((reason) =>
          reason._tag === "Fail" ? reason.error instanceof Leaks.Leaked ? "leak" : reason.error : "?"
        ),
        ["mine", "leak"],
      )
    }
    await Effect.runPromise(closed(server!, () => server!.close()))
    assert.deepStrictEqual(await run(Leaks.check(Effect.fail("mine"))), Exit.fail("mine"))
    assert.deepStrictEqual(await run(Leaks.check(Effect.succeed(1))), Exit.succeed(1))
  })

  it("compares by inode, by name and by number", () => {
    const socket = (inode: string) => ({ inode, protocol: "tcp", localPort: 1, remotePort: 2, state: "LISTEN" })
    const census = (
      inodes: ReadonlyArray<string>,
      threads: ReadonlyArray<string> | undefined,
      timers: number | undefined,
    ): LeakCheck.Census => ({
      sockets: new Map(inodes.map((inode) => [inode, socket(inode)])),
      threads,
      timers,
    })
    const between = (before: LeakCheck.Census, after: LeakCheck.Census) => {
      const leaked = LeakCheck.between(before, after)
      return leaked === undefined
        ? undefined
        : [leaked.sockets.map(({ inode }) => inode), leaked.threads, leaked.timers]
    }
    assert.isUndefined(between(census(["1"], ["a", "a"], 3), census(["1"], ["a"], 2)))
    assert.deepStrictEqual(between(census(["1"], ["a"], 1), census(["2"], ["a", "a", "b"], 3)), [["2"], ["a", "b"], 2])
    assert.isUndefined(between(census([], undefined, undefined), census([], undefined, undefined)))
  })

  it("that cannot see says so", async () => {
    const blind = LeakCheck.make({
      ownThread: () => true,
      timers: () => {
        throw new Error("no table")
      },
    })
    const exit = await run(blind.check(Effect.succeed(1)))
    assert.include(String(exit), "CannotSee")
    assert.include(new Leaks.CannotSee({ cause: "no table" }).message, "no table")
  })
})

onLinux("a sweep on the live scheduler", () => {
  /** Dials, and says hello. The careless one has no answer to an interruption while it dials, or once it has. */
  const visit = (port: number, careless: boolean) => {
    const dial = Effect.callback<net.Socket>((resume) => {
      const socket = quiet(net.connect(port, "127.0.0.1", () => resume(Effect.succeed(socket))))
      return careless ? undefined : closed(socket, () => socket.destroy())
    })
    const close = (socket: net.Socket) => closed(socket, () => socket.destroy())
    const hello = (socket: net.Socket) => Effect.sync(() => socket.write("hello"))
    return careless
      ? Effect.flatMap(dial, (socket) => Effect.ensuring(hello(socket), close(socket)))
      : Effect.scoped(Effect.flatMap(Effect.acquireRelease(dial, close, { interruptible: true }), hello))
  }
  /** A server, and an effect that waits until none of its connections is left. */
  const host = Effect.map(listening, (server) => {
    const connections = new Set<net.Socket>()
    let none = (): void => {}
    server.on("connection", (socket) => {
      connections.add(socket.resume())
      socket.once("close", () => {
        connections.delete(socket)
        if (connections.size === 0) none()
      })
    })
    const rest = Effect.callback<void>((resume) => {
      none = () => resume(Effect.void)
      // A connection that was cut off while it was dialled may be heard of yet, but not after one that comes later.
      quiet(net.connect(portOf(server), "127.0.0.1")).resume().end()
    })
    return { server, connections, rest }
  })

  it("finds what an interruption leaves open, and where", async () => {
    const { connections, server } = await Effect.runPromise(host)
    const failed = await Effect.runPromise(Effect.flip(Leaks.sweep(visit(portOf(server), true))))
    assert.instanceOf(failed, Leaks.Leaked)
    assert.match(failed.message, /^left open: tcp .*\[interrupted (inside, before|behind) continuation \d+\]$/)
    for (const socket of connections) socket.destroy()
    await Effect.runPromise(closed(server, () => server.close()))
  })

  it("passes what closes in the end, whenever it is interrupted", async () => {
    const { rest, server } = await Effect.runPromise(host)
    const { interrupted, last, runs } = await Effect.runPromise(Leaks.sweep(visit(portOf(server), false), { rest }))
    assert.deepStrictEqual(last, Exit.succeed(true))
    assert.isAbove(interrupted, 10)
    assert.strictEqual(runs, interrupted + 1)
    await Effect.runPromise(closed(server, () => server.close()))
  })

  it("says that a run goes on though it was interrupted, and stops at its bound", async () => {
    const stubborn = Effect.uninterruptible(Effect.sleep(200))
    const goesOn = await Effect.runPromise(Effect.flip(Leaks.sweep(stubborn, { within: 20 })))
    assert.deepInclude(goesOn, { _tag: "GoesOn", where: "interrupted inside, before continuation 1" })
    const { last, runs } = await Effect.runPromise(Leaks.sweep(Effect.void, { maxSteps: 1 }))
    assert.deepStrictEqual([last, runs], [undefined, 2])
  })

  it("refuses an option that breaks its rule, by name, rule and value", async () => {
    const refused = async (options: object): Promise<string> => {
      const exit = await Effect.runPromiseExit(Leaks.sweep(Effect.void, options))
      return Exit.isFailure(exit) && Exit.hasDies(exit) ? String(Cause.squash(exit.cause)) : "not refused"
    }
    for (const maxSteps of [0, 1.5, NaN, Infinity]) {
      assert.include(
        await refused({ maxSteps }),
        "Leaks.sweep: maxSteps must be a whole number from 1 to 1000000, got ",
      )
    }
    for (const rest of ["50 millis", 50, Duration.seconds(1), null]) {
      assert.include(await refused({ rest }), "Leaks.sweep: rest must be an Effect, got ")
    }
    for (const within of ["soon", 0, Infinity, NaN, null]) {
      assert.match(
        await refused({ within }),
        /Leaks\.sweep: within must be a duration such as .*, above zero and at most 365d, got /,
      )
    }
    assert.include(await refused({ maxStep: 1 }), "maxStep must be one of the options rest, within, maxSteps, got 1")
  })

  it("finds nothing left of a server of this library, interrupted while it begins, serves and ends", async () => {
    const { serve } = { node: NodeServe, deno: DenoServe, bun: BunServe }[Example.runtime]
    const visited = Effect.scoped(
      Effect.flatMap(
        serve(options),
        ({ port }) =>
          Effect.acquireUseRelease(
            dialled(port),
            () => Effect.void,
            (socket) => closed(socket, () => socket.destroy()),
          ),
      ),
    )
    const { interrupted, last } = await Effect.runPromise(Leaks.sweep(visited))
    assert.deepStrictEqual(last, Exit.void)
    assert.isAbove(interrupted, 20)
  })
})

describe.concurrent("a process", () => {
  const flags = { node: [], deno: ["run", "-A", "--node-modules-dir=manual"], bun: ["--bun"] }[Example.runtime]
  const leaver = fileURLToPath(new URL("../support/Leaver.ts", import.meta.url))
  const ending = (leaves: string, within: number) =>
    run(Ending.byItself({ command: [...flags, leaver, leaves], within }))

  for (const leaves of ["nothing", "unref timer"]) {
    it(`that leaves ${leaves} ends by itself`, async () => {
      assert.deepStrictEqual(await ending(leaves, 45_000), Exit.succeed({ output: "through\n", code: 0 }))
    })
  }

  it("that fails ends, and its code is the answer", async () => {
    assert.deepStrictEqual(await ending("failure", 45_000), Exit.succeed({ output: "", code: 3 }))
  })

  for (const leaves of ["timer", "socket", "thread"]) {
    it(`that leaves a ${leaves} does not, is killed, and what it wrote is kept`, async () => {
      const left = (within: number) =>
        Effect.runPromise(Effect.flip(Ending.byItself({ command: [...flags, leaver, leaves], within })))
      // On a machine that has other things to do it may not even have begun by then, of which nothing follows.
      const soon = await left(2_500)
      const isEarly = soon instanceof Ending.DoesNotEnd && soon.output === ""
      const failed = isEarly ? await left(30_000) : soon
      assert.instanceOf(failed, Ending.DoesNotEnd)
      assert.deepInclude(failed, { output: "through\n" })
      assert.strictEqual(
        (failed as Error).message,
        `it did not end by itself within ${isEarly ? "30s" : "2s 500ms"}`,
      )
    })
  }
})
