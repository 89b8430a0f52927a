/**
 * The port that the gateway reaches providers through, and its layer over one connection an exchange.
 *
 * The later connection pool fills the same two members. It owns the exchanges under way, each until its scope closes.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { Refusal } from "../../core/Refusal.ts"
import type { Provider } from "./Config.ts"
import * as DemoProvider from "./DemoProvider.ts"
import * as HeaderFields from "./HeaderFields.ts"
import type { Call, Reply } from "./Message.ts"
import type { Platform } from "./Platform.ts"

/** `connect`: nobody was reached. `head`: somebody was, and no usable head came; at the edge this is both. */
type Phase = "connect" | "head" | "upload"

/** No usable response came. `code` is the runtime's, such as `ECONNREFUSED`; nothing of the exchange is still held. */
export class UpstreamFailed extends Refusal {
  readonly _tag = "UpstreamFailed"
  override readonly name = "UpstreamFailed"
  readonly provider: string
  readonly phase: Phase
  readonly code: string
  constructor(facts: { readonly provider: string; readonly phase: Phase; readonly code: string }) {
    super()
    this.provider = facts.provider
    this.phase = facts.phase
    this.code = facts.code
  }
  override get message(): string {
    return `provider ${this.provider} gave no response (${this.phase}: ${this.code})`
  }
}

export interface Upstream {
  /**
   * Called once a request, with the place already taken. Succeeds with the head, without a limit of its own.
   *
   * Interruption, and closing the scope, ends the exchange at once and cancels both bodies.
   */
  readonly exchange: (provider: Provider, call: Call) => Effect.Effect<Reply, UpstreamFailed, Scope.Scope>
  /** Exchanges whose connection is not closed yet. Asked by the operator's page. */
  readonly open: Effect.Effect<number>
}

export const Upstream: Context.Service<Upstream, Upstream> = Context.Service("holdfast/gateway/Upstream")

/** Over the platform's exchanges; a provider that the gateway serves itself is answered here. */
export const layer = (platform: Pick<Platform, "exchange">): Layer.Layer<Upstream> =>
  Layer.sync(Upstream, () => {
    let open = 0
    const witness = { onOpen: () => void open++, onClose: () => void open-- }
    return {
      open: Effect.sync(() => open),
      exchange: (provider, call) =>
        provider.base === "demo"
          ? DemoProvider.respond(call)
          : platform.exchange(addressed(provider, provider.base, call), witness).pipe(
            Effect.mapError(({ phase, code }) => new UpstreamFailed({ provider: provider.name, phase, code })),
            Effect.flatMap((reply) => speaksHttp(reply, provider)),
          ),
    }
  })

type Addressed = Parameters<Platform["exchange"]>[0]

/** The address is the configuration's alone; of the client's only the path below it. */
const addressed = (provider: Provider, base: URL, call: Call): Addressed => {
  const secure = base.protocol === "https:"
  const own = provider.headers.map(([name, value]) => [name, Redacted.value(value)] as const)
  return {
    secure,
    host: base.hostname.replace(/^\[|\]$/g, ""),
    port: base.port === "" ? (secure ? 443 : 80) : Number(base.port),
    method: call.method,
    path: base.pathname.replace(/\/$/, "") + call.path,
    fields: HeaderFields.replaced(call.fields, [...own, ["host", base.host]]),
    body: call.body,
    length: call.bytes,
  }
}

/** A status that no WHATWG Response can carry is no answer. */
const speaksHttp = (reply: Reply, provider: Provider): Effect.Effect<Reply, UpstreamFailed> =>
  reply.status >= 200 && reply.status <= 599
    ? Effect.succeed(reply)
    : Effect.fail(new UpstreamFailed({ provider: provider.name, phase: "head", code: "BAD_STATUS" }))
