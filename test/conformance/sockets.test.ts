/** The laws of sockets on the runtime that runs this. */
import { afterAll, beforeAll } from "vitest"
import * as Effect from "effect/Effect"
import { existsSync, readFileSync } from "node:fs"
import * as BunSockets from "../../adapters/bun/Sockets.ts"
import * as Bun from "../../adapters/bun/testing/mod.ts"
import * as DenoSockets from "../../adapters/deno/Sockets.ts"
import * as Deno from "../../adapters/deno/testing/mod.ts"
import * as NodeSockets from "../../adapters/node/Sockets.ts"
import * as Node from "../../adapters/node/testing/mod.ts"
import * as Sockets from "../../core/Sockets.ts"
import * as Example from "../docs/Example.ts"
import { conforms } from "./Conforms.ts"
import { socketGaps } from "./gaps.ts"
import * as Peers from "./Peers.ts"
import { kept, laws, type Rig } from "./SocketLaws.ts"

const { Leaks } = { node: Node, deno: Deno, bun: Bun }[Example.runtime]
const { driver } = { node: NodeSockets, deno: DenoSockets, bun: BunSockets }[Example.runtime]
const sockets = Effect.runSync(Sockets.make(driver))
let peers: Peers.Hosted
beforeAll(async () => {
  peers = await Peers.host()
})
afterAll(() => peers.stop())

/** Those that lead to a far side: its own are in this process too. Nothing where the system has no table. */
const open = Effect.match(Leaks.census, {
  onSuccess: ({ sockets }) => {
    const far = Object.values(peers.ports)
    return [...sockets.values()].filter(({ remotePort }) => far.includes(remotePort)).length
  },
  onFailure: () => undefined,
})
const tables = "/proc/self/net/tcp"
/** By the timer of Linux that is 2, in hundredths of a second. What is closed has lines of its own, in another state. */
const probes: Rig["probes"] = ({ local, remote }) => {
  if (!existsSync(tables)) return undefined
  const [ours, theirs] = [local, remote].map((end) => `:${end!.port.toString(16).toUpperCase().padStart(4, "0")}`)
  const lines = readFileSync(tables, "latin1").split("\n").map((line) => line.trim().split(/\s+/))
  const line = lines.find(([, from, to, state]) => from?.endsWith(ours!) && to?.endsWith(theirs!) && state === "01")
  const [kind, left = ""] = line?.[5]?.split(":") ?? []
  return kind === "02" ? 10 * parseInt(left, 16) : 0
}
const rig = (): Rig => ({ driver, sockets, peers, open, probes, trusts: "what it is given" })

conforms({ port: "Sockets", laws, keep: (law) => Effect.suspend(() => Leaks.check(kept(law, rig()))) }, {
  cannot: socketGaps[Example.runtime],
})
