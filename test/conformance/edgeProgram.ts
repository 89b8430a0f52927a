/** The laws of sockets and of the idle timer, kept inside workerd: one a request. The far sides are elsewhere, and asked over HTTP. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
// @ts-expect-error: only workerd has this module
import { connect } from "cloudflare:sockets"
import * as EdgeSockets from "../../adapters/edge/Sockets.ts"
import { IdleTimer } from "../../core/IdleTimer.ts"
import * as Sockets from "../../core/Sockets.ts"
import type { Peers } from "./Peers.ts"
import { kept, laws } from "./SocketLaws.ts"
import { timerLaws } from "./TimerLaws.ts"

const driver = EdgeSockets.driver(connect)

/** The far sides, each call of which is a request. */
const remote = (at: string, known: Pick<Peers, "ports" | "path" | "certificates">): Peers => {
  const call = async (method: string, ...args: ReadonlyArray<string>): Promise<never> =>
    (await (await fetch(at, { method: "POST", body: JSON.stringify({ method, args }) })).json()) as never
  return {
    ...known,
    begin: () => call("begin"),
    story: (peer) => call("story", peer),
    stalled: (peer) => call("stalled", peer),
    release: (peer) => call("release", peer),
    quiet: () => call("quiet"),
  }
}

const keep = (
  name: string,
  environment: { readonly PEERS: string; readonly KNOWN: string },
): Effect.Effect<void, unknown> => {
  const law = laws.find((each) => each.name === name)
  const peers = remote(environment.PEERS, JSON.parse(environment.KNOWN))
  if (law !== undefined) {
    return Effect.flatMap(
      Sockets.make(driver),
      (sockets) =>
        kept(law, {
          driver,
          sockets,
          peers,
          open: Effect.succeed(undefined),
          probes: () => undefined,
          trusts: "its own",
        }),
    )
  }
  const timerLaw = timerLaws.find((each) => each.name === name)
  if (timerLaw === undefined) return Effect.fail(`there is no law "${name}"`)
  return Effect.scoped(
    Effect.flatMap(IdleTimer, (timer) => timerLaw.holds({ timer, nowMillis: () => performance.now() })),
  )
}

export default {
  fetch: async (request: Request, environment: { readonly PEERS: string; readonly KNOWN: string }) => {
    const exit = await Effect.runPromiseExit(keep(await request.text(), environment))
    return Response.json(Exit.isSuccess(exit) ? {} : { broken: Cause.pretty(exit.cause) })
  },
}
