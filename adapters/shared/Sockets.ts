/**
 * Sockets over `node:net` and `node:tls`, which Node, Deno and Bun have alike: a dial that is cancelled at any moment is gone
 * when 'close' is heard, on all three. The native sockets of Deno leak one that is cancelled as it connects, and those of Bun
 * cannot be cancelled.
 */
import * as Effect from "effect/Effect"
import { lookup } from "node:dns"
import type { SocketDriver } from "../../core/SocketDriver.ts"
import type { DialFault } from "../../core/SocketFault.ts"
import type { Address } from "../../core/SocketTarget.ts"
import { type Differences, translate } from "./SocketCodes.ts"
import * as SocketCredentials from "./SocketCredentials.ts"
import { Wire } from "./SocketWire.ts"

/** What a runtime supplies; `differences` are what it does in another way than most. */
export const driver = (differences: Differences): SocketDriver => ({
  cancelling: "closes",
  resolve: (host) =>
    Effect.callback<ReadonlyArray<Address>, DialFault>((resume) =>
      // It cannot be cancelled: `getaddrinfo`, which all three call in a thread of theirs, has no way to be called back.
      lookup(host, { all: true, order: "verbatim" }, (error, addresses) =>
        resume(
          error === null
            ? Effect.succeed(addresses.map(({ address, family }) => ({ ip: address, family: family === 6 ? 6 : 4 })))
            : Effect.fail(translate(error, "resolve")),
        ))
    ),
  credentials: SocketCredentials.read,
  connect: (point, events) => new Wire(point, events, differences),
})
