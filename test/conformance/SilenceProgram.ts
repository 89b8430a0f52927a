/** Keeps the laws of silence, on a network of its own, and prints of each what came of it: a line of JSON. */
import { readFileSync } from "node:fs"
import process from "node:process"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as BunSockets from "../../adapters/bun/Sockets.ts"
import * as DenoSockets from "../../adapters/deno/Sockets.ts"
import * as NodeSockets from "../../adapters/node/Sockets.ts"
import * as Runtime from "../support/Runtime.ts"
import * as SilentPeer from "../support/SilentPeer.ts"
import type { Law } from "./Law.ts"
import { lateLaws, laws, type Rig } from "./SilenceLaws.ts"

const { driver } = "Deno" in globalThis ? DenoSockets : "Bun" in globalThis ? BunSockets : NodeSockets
const ca = readFileSync(`${Runtime.root}test/support/certificates/authority.pem`, "utf8")
const peer = await SilentPeer.host()

/** Far more than any takes: one that goes on is none that holds. */
const limit = "30 seconds"

const keep = ({ holds, name }: Law<Rig>): Effect.Effect<void> =>
  Effect.suspend(() => holds({ driver, peer, ca, place: peer.place() })).pipe(
    Effect.scoped,
    Effect.timeout(limit),
    Effect.exit,
    Effect.map((exit) => {
      const fault = Exit.isSuccess(exit) ? null : Cause.pretty(exit.cause)
      console.log(JSON.stringify({ name, fault }))
    }),
  )
const all = (some: ReadonlyArray<Law<Rig>>): Promise<void> =>
  Effect.runPromise(Effect.forEach(some, keep, { concurrency: "unbounded", discard: true }))

await all(laws)
SilentPeer.hasten()
await all(lateLaws)
await peer.stop()
process.exit(0)
