/** A visit over real sockets, interrupted at each of its steps on the live scheduler, leaves nothing of it open. */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { existsSync } from "node:fs"
import * as BunPlatform from "../../adapters/bun/Platform.ts"
import * as Bun from "../../adapters/bun/testing/mod.ts"
import * as DenoPlatform from "../../adapters/deno/Platform.ts"
import * as Deno from "../../adapters/deno/testing/mod.ts"
import * as NodePlatform from "../../adapters/node/Platform.ts"
import * as Node from "../../adapters/node/testing/mod.ts"
import * as Sockets from "../../core/Sockets.ts"
import type { Target } from "../../core/SocketTarget.ts"
import * as Peers from "../conformance/Peers.ts"
import * as Example from "../docs/Example.ts"

const { Leaks } = { node: Node, deno: Deno, bun: Bun }[Example.runtime]
const { layer } = { node: NodePlatform, deno: DenoPlatform, bun: BunPlatform }[Example.runtime]
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
