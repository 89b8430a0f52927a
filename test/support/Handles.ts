/** A platform for sockets whose handles do as a test says, and note what they are told. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Point, Securing, SocketDriver, SocketEvents, SocketFacts } from "../../core/SocketDriver.ts"
import { PeerRefused } from "../../core/SocketFault.ts"
import * as Sockets from "../../core/Sockets.ts"
import { familyOf } from "../../core/SocketTarget.ts"

export const facts: SocketFacts = { protocol: undefined, local: undefined, remote: undefined, tls: undefined }
export const refused: PeerRefused = new PeerRefused({ phase: "connect", code: "ECONNREFUSED" })
/** A census of nothing. */
export const none = { resolving: 0, dialing: 0, open: 0, closing: 0, abandoned: 0 }
export const piece = (length: number): Uint8Array => new Uint8Array(length)

/** One handle: what it was told, and how to tell of it. */
export interface Handle {
  readonly ip: string
  readonly events: SocketEvents
  readonly told: Array<string>
  readonly secured: Array<Securing>
}

export interface Options {
  readonly addresses?: ReadonlyArray<string>
  /** A handle that is closed stays until the test tells that it is gone. */
  readonly keeps?: boolean
  readonly abandons?: boolean
}

export interface Platform {
  readonly handles: ReadonlyArray<Handle>
  readonly ips: () => ReadonlyArray<string>
  readonly driver: SocketDriver
  readonly sockets: Sockets.Sockets
}

const ipOf = (point: Point): string => point.path ?? point.address.ip

/** There is room for more behind each write but one of two pieces. */
export const platform = ({ abandons = false, addresses = [], keeps = false }: Options): Platform => {
  const handles: Array<Handle> = []
  const driver: SocketDriver = {
    cancelling: abandons ? "abandons" : "closes",
    resolve: () => Effect.succeed(addresses.map((ip) => ({ ip, family: familyOf(ip) }))),
    credentials: () => Result.succeed("credentials"),
    connect: (point, events) => {
      const told: Array<string> = []
      const secured: Array<Securing> = []
      handles.push({ ip: ipOf(point), events, told, secured })
      const say = (what: string) => () => void told.push(what)
      const leave = (what: string) => () => {
        told.push(what)
        if (!keeps) events.gone()
      }
      return {
        facts: () => (told.push("facts"), facts),
        secure: (how) => {
          told.push(`secure ${how.serverName}`)
          secured.push(how)
        },
        resume: say("resume"),
        pause: say("pause"),
        write: (pieces) => (told.push(`write ${pieces.length}`), pieces.length < 2),
        end: say("end"),
        destroy: leave("destroy"),
        reset: leave("reset"),
      }
    },
  }
  return { handles, ips: () => handles.map(({ ip }) => ip), driver, sockets: Effect.runSync(Sockets.make(driver)) }
}
