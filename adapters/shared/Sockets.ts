/**
 * Sockets over `node:net` and `node:tls`, which Node, Deno and Bun have alike: a dial that is cancelled at any moment is gone
 * when 'close' is heard, on all three. The native sockets of Deno leak one that is cancelled as it connects, and those of Bun
 * cannot be cancelled.
 */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { lookup } from "node:dns"
import * as tls from "node:tls"
import { InvalidRequest } from "../../core/Refusal.ts"
import type { SocketDriver } from "../../core/SocketDriver.ts"
import type { DialFault } from "../../core/SocketFault.ts"
import type { Address, Tls } from "../../core/SocketTarget.ts"
import { type Differences, type RuntimeError, translate } from "./SocketCodes.ts"
import { Wire } from "./SocketWire.ts"

/** What a runtime supplies; `differences` are what it says or does in another way than Node. */
export const driver = (differences: Differences): SocketDriver => ({
  cancelling: "closes",
  resolve: (host) =>
    Effect.callback<ReadonlyArray<Address>, DialFault>((resume) =>
      // It cannot be cancelled, and opens nothing of ours.
      lookup(host, { all: true, order: "verbatim" }, (error, addresses) =>
        resume(
          error === null
            ? Effect.succeed(addresses.map(({ address, family }) => ({ ip: address, family: family === 6 ? 6 : 4 })))
            : Effect.fail(translate(differences, error, "resolve")),
        ))
    ),
  credentials,
  connect: (point, events) => new Wire(point, events, differences),
})

const credentials = ({ ca, certificate }: Tls): Result.Result<unknown, InvalidRequest> => {
  const { chain, key, passPhrase } = certificate ?? {}
  try {
    return Result.succeed(tls.createSecureContext({
      minVersion: "TLSv1.2",
      ...(ca === undefined ? {} : { ca: typeof ca === "string" ? ca : [...ca] }),
      ...(key === undefined ? {} : { cert: chain, key: Redacted.value(key) }),
      ...(passPhrase === undefined ? {} : { passphrase: Redacted.value(passPhrase) }),
    }))
  } catch (error) {
    // The code alone: a message may quote what it could not read.
    const value = (error as RuntimeError).code ?? "UNKNOWN"
    return Result.fail(new InvalidRequest({ field: "tls", rule: "certificates and a key that belong together", value }))
  }
}
