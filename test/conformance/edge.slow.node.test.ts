/** The laws of sockets and of the idle timer on workerd, whose sockets lead to far sides in this process. */
import { afterAll, beforeAll } from "vitest"
import * as Effect from "effect/Effect"
import * as http from "node:http"
import type { AddressInfo } from "node:net"
import process from "node:process"
import { text } from "node:stream/consumers"
import { root } from "../support/Runtime.ts"
import * as Workerd from "../support/Workerd.ts"
import { conforms } from "./Conforms.ts"
import { socketGaps } from "./gaps.ts"
import type { Law } from "./Law.ts"
import * as Peers from "./Peers.ts"
import { laws } from "./SocketLaws.ts"
import { timerLaws } from "./TimerLaws.ts"

let peers: Peers.Hosted
let edge: Workerd.Edge
const control = http.createServer(async (request, response) => {
  const { args, method } = JSON.parse(await text(request)) as { method: "story"; args: [string] }
  response.end(JSON.stringify(await peers[method](...args) ?? null))
})

beforeAll(async () => {
  await Workerd.install()
  peers = await Peers.host()
  await new Promise<void>((resolve) => control.listen(0, "127.0.0.1", resolve))
  const { certificates, path, ports } = peers
  // Whom it trusts is the process's to say, not a connection's.
  process.env["NODE_EXTRA_CA_CERTS"] = `${root}test/support/certificates/authority.pem`
  edge = await Workerd.start("test/conformance/edgeProgram.ts", {
    bindings: {
      PEERS: `http://127.0.0.1:${(control.address() as AddressInfo).port}/`,
      KNOWN: JSON.stringify({ certificates, path, ports }),
    },
  })
  await edge.ready
}, 600_000)
afterAll(async () => {
  await edge.dispose()
  await peers.stop()
  control.closeAllConnections()
  control.close()
})

const keep = ({ name }: Law<never>): Effect.Effect<void, unknown> =>
  Effect.flatMap(
    Effect.promise(async () =>
      await (await edge.dispatchFetch("http://edge/", { method: "POST", body: name })).json() as { broken?: string }
    ),
    ({ broken }) => broken === undefined ? Effect.void : Effect.fail(new Error(broken)),
  )

conforms({ port: "Sockets", laws, keep }, { cannot: socketGaps.edge })
conforms({ port: "IdleTimer", laws: timerLaws, keep }, { cannot: {} })
