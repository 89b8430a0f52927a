/** What sockets do beyond the laws of their port: a visit that is interrupted at each step, codes, and what cannot be switched off. */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import * as net from "node:net"
import process from "node:process"
import * as BunPlatform from "../../adapters/bun/Platform.ts"
import * as BunSockets from "../../adapters/bun/Sockets.ts"
import * as Bun from "../../adapters/bun/testing/mod.ts"
import * as DenoPlatform from "../../adapters/deno/Platform.ts"
import * as DenoSockets from "../../adapters/deno/Sockets.ts"
import * as Deno from "../../adapters/deno/testing/mod.ts"
import * as EdgeSockets from "../../adapters/edge/Sockets.ts"
import * as NodePlatform from "../../adapters/node/Platform.ts"
import * as NodeSockets from "../../adapters/node/Sockets.ts"
import * as Node from "../../adapters/node/testing/mod.ts"
import { translate } from "../../adapters/shared/SocketCodes.ts"
import type { SocketDriver } from "../../core/SocketDriver.ts"
import type { Phase } from "../../core/SocketFault.ts"
import * as Sockets from "../../core/Sockets.ts"
import type { Address, Target } from "../../core/SocketTarget.ts"
import * as Peers from "../conformance/Peers.ts"
import * as Example from "../docs/Example.ts"
import { none } from "../support/Handles.ts"
import * as Runtime from "../support/Runtime.ts"

const { Leaks } = { node: Node, deno: Deno, bun: Bun }[Example.runtime]
const { layer } = { node: NodePlatform, deno: DenoPlatform, bun: BunPlatform }[Example.runtime]
const { driver } = { node: NodeSockets, deno: DenoSockets, bun: BunSockets }[Example.runtime]
let peers: Peers.Hosted
beforeAll(async () => {
  peers = await Peers.host()
})
afterAll(() => peers.stop())

const visit = (target: Target) =>
  Effect.gen(function* () {
    const sockets = yield* Sockets.Sockets
    const socket = yield* sockets.dial(target)
    yield* socket.write(Uint8Array.of(1, 2, 3))
    const length = (yield* socket.read)?.length
    yield* socket.end
    yield* socket.close
    return length
  }).pipe(Effect.scoped, Effect.provide(layer))

const dial = (target: Target) =>
  Effect.provide(Effect.flatMap(Sockets.Sockets, (sockets) => sockets.dial(target)), layer)

describe("a peer that is not trusted", () => {
  it("is refused whatever the environment says", async () => {
    const target = (serverName: string, ca: string): Target => ({
      host: "127.0.0.1",
      port: peers.ports["tls"]!,
      tls: { serverName, ca: peers.certificates[ca]! },
    })
    const tags = ["other.test/authority.pem", "127.0.0.9/authority.pem", "localhost/stranger.pem"].map((each) => {
      const [serverName = "", ca = ""] = each.split("/")
      return Effect.map(Effect.flip(Effect.scoped(dial(target(serverName, ca)))), ({ _tag }) => _tag)
    })
    process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0"
    const told = await Effect.runPromise(Effect.all(tags)).finally(() => {
      delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"]
    })
    assert.deepStrictEqual(told, ["TlsNameMismatch", "TlsNameMismatch", "TlsUntrusted"])
  })
})

describe("a peer that begins the handshake of TLS anew", () => {
  it("is a fault, since its certificate might be another one then", async () => {
    const peer = spawn(Runtime.command("node")[0]!, [`${Runtime.root}test/support/Anew.mjs`], {
      stdio: ["ignore", "pipe", "inherit"],
    })
    const isGone = new Promise((resolve) => peer.once("close", resolve))
    const port = await new Promise<number>((resolve) =>
      peer.stdout.once("data", (text) => resolve(Number(String(text))))
    )
    const tls = { ca: peers.certificates["authority.pem"]!, serverName: "localhost" }
    const told = Effect.gen(function* () {
      const socket = yield* dial({ host: "127.0.0.1", port, tls })
      yield* socket.write(Uint8Array.of(1))
      return (yield* Effect.flip(socket.read))._tag
    })
    assert.strictEqual(await Effect.runPromise(Effect.scoped(told)), "SocketFailed")
    await isGone
  })
})

describe("an abort", () => {
  // No law of the port, since the far side of Node 22 tells of an end where it did not read when the reset came.
  it("of what the peer does not take is a reset to it", async () => {
    const target: Target = { host: "127.0.0.1", port: peers.ports["lagging"]! }
    const told = Effect.gen(function* () {
      const socket = yield* dial(target)
      const write = Effect.flip(socket.write(new Uint8Array(16_777_216)))
      const writing = yield* Effect.forkChild(write, { startImmediately: true })
      yield* socket.abort
      const fault = yield* Fiber.join(writing)
      yield* Effect.promise(() => peers.release("lagging"))
      const { error, isEnded } = yield* Effect.promise(() => peers.story("lagging"))
      return [fault._tag, isEnded, error]
    })
    assert.deepStrictEqual(await Effect.runPromise(Effect.scoped(told)), ["SocketClosed", false, "ECONNRESET"])
  })
})

describe("a write that the runtime throws at", () => {
  it("keeps nothing back of what is written later", async () => {
    let opened = (): void => {}
    let echoed = (): void => {}
    let bytes = 0
    const isOpened = new Promise<void>((resolve) => void (opened = resolve))
    const isEchoed = new Promise<void>((resolve) => void (echoed = resolve))
    const received = (piece: Uint8Array): void => {
      bytes += piece.length
      if (bytes === 3) echoed()
    }
    const unheard = (): void => {}
    const others = { ended: unheard, drained: unheard, finished: unheard, failed: unheard, gone: unheard }
    const wire = driver.connect({ path: peers.path }, { opened, received, ...others })
    await isOpened
    wire.resume()
    // As of bytes that are handed over between the look at them and the write; the rules at the door let nothing else through.
    assert.throws(() => wire.write([Uint8Array.of(1), 7 as never]))
    wire.write([Uint8Array.of(2), Uint8Array.of(3)])
    await isEchoed
    wire.destroy()
  })
})

describe("TLS that begins later than the connection", () => {
  // As where other fibers have their turns first: the peer, which ends by itself, has served a later connection meanwhile.
  const connectTo = (port: number): SocketDriver["connect"] => (point, events) => {
    let isConnected = false
    const opened = (): void => {
      if (isConnected) return events.opened()
      isConnected = true
      net.connect(port, "127.0.0.1").resume().once("close", events.opened)
    }
    return driver.connect(point, { ...events, opened })
  }
  it.each(
    [
      ["hears of what came before it, of a peer that ends", "ends", "PeerReset"],
      ["hears of what came before it, of a peer that speaks no TLS", "plain", "SocketFailed"],
    ] as const,
  )(
    "%s",
    async (_, peer, tag) => {
      const port = peers.ports[peer]!
      const sockets = await Effect.runPromise(Sockets.make({ ...driver, connect: connectTo(port) }))
      const target = { host: "127.0.0.1", port, tls: {} }
      const fault = await Effect.runPromise(Effect.flip(Effect.scoped(sockets.dial(target))))
      assert.deepInclude(fault, { _tag: tag, phase: "tls" })
    },
  )
})

describe("authorities", () => {
  it("that begin without end are refused in a time that grows as they do", async () => {
    // Where each is looked at again for each other one, this takes minutes.
    const ca = "-----BEGIN CERTIFICATE-----\n".repeat(100_000)
    const target = { host: "127.0.0.1", port: peers.ports["tls"]!, tls: { ca } }
    assert.deepInclude(await Effect.runPromise(Effect.flip(Effect.scoped(dial(target)))), { field: "tls" })
  })
})

describe("a dial that the runtime throws at", () => {
  const told = (driver: SocketDriver, target: Target) =>
    Effect.runPromise(Effect.gen(function* () {
      const sockets = yield* Sockets.make(driver)
      const fault = yield* Effect.flip(Effect.scoped(sockets.dial(target)))
      return [fault._tag, yield* sockets.snapshot]
    }))
  const nothing = ["SocketFailed", none]

  it("is a fault, and nothing of it is counted any more", async () => {
    // As Deno does where it has no permission; the rules at the door let no such path through.
    const connect: SocketDriver["connect"] = (_, events) => driver.connect({ path: 7 as never }, events)
    assert.deepStrictEqual(await told({ ...driver, connect }, { path: "/tmp/peer" }), nothing)
  })

  it("is a fault on the edge too, also where it throws at TLS", async () => {
    const refuses = (): never => {
      throw new TypeError("refused")
    }
    let closes = 0
    const close = () => Promise.resolve(void closes++)
    const socket = { opened: Promise.resolve({}), closed: new Promise(() => {}), close, startTls: refuses }
    const target: Target = { host: "127.0.0.1", port: 1, tls: {} }
    assert.deepStrictEqual(await told(EdgeSockets.driver(refuses), target), nothing)
    assert.deepStrictEqual(await told(EdgeSockets.driver(() => socket as never), target), nothing)
    assert.strictEqual(closes, 1)
  })
})

describe("what the edge cannot do for TLS", () => {
  it("is refused without a word of what was given", () => {
    for (const tls of [{ ca: "secret" }, { protocols: ["secret"] }]) {
      const refused = Result.getOrThrow(Result.flip(EdgeSockets.driver(() => assert.fail("dialled")).credentials(tls)))
      assert.strictEqual(refused.message, `tls.${Object.keys(tls)} must be left out on the edge`)
    }
  })
})

describe("a code of the runtime", () => {
  it("is the same fault wherever it is told of", () => {
    const local: Address = { ip: "127.0.0.2", family: 4 }
    const tagOf = (code: string, phase: Phase, from?: Address): string =>
      translate(Object.assign(new Error(code), { code }), phase, from)._tag
    const wrong: ReadonlyArray<readonly [string, Phase, string, Address?]> = [
      ["EINVAL", "connect", "LocalAddressUnusable", local],
      ["EINVAL", "connect", "SocketFailed"],
      ["EINVAL", "write", "SocketFailed", local],
      ["EADDRNOTAVAIL", "connect", "LocalAddressUnusable"],
      ...["ENOENT", "ENOTDIR", "ELOOP"].map((code) => [code, "connect", "NameNotFound"] as const),
      ...["EAI_AGAIN", "EMFILE", "ENOTFOUND"].map((code) => [code, "resolve", "NameNotFound"] as const),
      ...["UNSPECIFIED", "CERT_HAS_EXPIRED", "INVALID_CA", "UNABLE_TO_GET_ISSUER_CERT"]
        .map((code) => [code, "tls", "TlsUntrusted"] as const),
      ["ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED", "tls", "SocketFailed"],
      ["UNSPECIFIED", "read", "SocketFailed"],
      ["EMFILE", "connect", "SocketFailed"],
    ]
    assert.deepStrictEqual(
      wrong.map(([code, phase, , from]) => tagOf(code, phase, from)),
      wrong.map(([, , tag]) => tag),
    )
  })
})

describe.skipIf(!existsSync("/proc/self/task"))("a visit", () => {
  const tls = () => ({ ca: peers.certificates["authority.pem"]!, serverName: "localhost" })
  it.each([["TCP", "echo", () => ({})], ["TLS", "tls", () => ({ tls: tls() })]] as const)(
    "over %s leaves nothing open, wherever it is interrupted",
    async (_, peer, more) => {
      const target = { host: "127.0.0.1", port: peers.ports[peer]!, ...more() }
      const rest = Effect.promise(peers.quiet)
      const { interrupted, last } = await Effect.runPromise(Leaks.sweep(visit(target), { rest }))
      assert.deepStrictEqual(last, Exit.succeed(3))
      assert.isAbove(interrupted, 20)
    },
  )
})
