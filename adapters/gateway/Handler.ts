/**
 * The gateway as a WHATWG handler: one fiber a request, which owns the request's scope until the last byte is over.
 *
 * The scope holds, in the order they were taken: the place, the upload, the exchange with the provider, the response's
 * body. It closes when the last byte was taken by the server, when the client is gone, when the deadline comes, or on any
 * failure; then the exchange is ended first and the place given back last, so that the cap counts what still runs.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { Admission } from "../../core/Admission.ts"
import * as Deadline from "../../core/Deadline.ts"
import * as Outcome from "../../core/Outcome.ts"
import * as Answers from "./Answers.ts"
import type { Bodies } from "./Bodies.ts"
import type { Config } from "./Config.ts"
import * as HeaderFields from "./HeaderFields.ts"
import type { Fields, Reply } from "./Message.ts"
import * as Routes from "./Routes.ts"
import { Tenants } from "./Tenants.ts"
import type { Traffic } from "./Traffic.ts"
import { Upstream, UpstreamFailed } from "./Upstream.ts"

/** What a WHATWG Request cannot say: the target and header lines as sent, who is at the other end, and that it left. */
export interface Info {
  readonly target: string
  readonly fields: Fields
  readonly peer: string
  readonly gone: AbortSignal
}

/** Never rejects. The response's body must be read or cancelled; the request is over when it has ended. */
export type Handler = (request: Request, info: Info) => Promise<Response>

export interface Parts {
  readonly config: Config
  readonly bodies: Bodies
  readonly traffic: Traffic
}

/** One request's progress: what is told to Traffic when it ends, and the way to answer. */
interface Progress {
  readonly info: Info
  readonly answer: (response: Response) => void
  tenant: string | undefined
  provider: string | undefined
  waitedMillis: number | undefined
  begun: boolean
}

type Needs = Admission | Tenants | Upstream

export const make = (parts: Parts): Effect.Effect<Handler, never, Needs> =>
  Effect.map(Effect.context<Needs>(), (context): Handler => (request, info) =>
    new Promise<Response>((resolve) => {
      const progress: Progress = {
        info,
        answer: (response) => {
          progress.begun = true
          resolve(response)
        },
        tenant: undefined,
        provider: undefined,
        waitedMillis: undefined,
        begun: false,
      }
      let leave = (): void => {}
      const gone = (): void => leave()
      // A request that is refused at once ends inside this call, so its listener is there before.
      info.gone.addEventListener("abort", gone)
      leave = Effect.runCallbackWith(context)(handle(parts, request, progress), {
        onExit: (exit) => {
          info.gone.removeEventListener("abort", gone)
          settle(parts.traffic, progress, exit)
        },
      })
      if (info.gone.aborted) gone()
    }))

const handle = Effect.fnUntraced(function* (parts: Parts, request: Request, progress: Progress) {
  const { target, fields, peer } = progress.info
  const asked = { method: request.method, target, fields, peer }
  const route = yield* Routes.find(parts.config, yield* Tenants, asked, (tenant) => {
    progress.tenant = tenant
  })
  progress.provider = route.provider.name
  yield* Effect.scoped(proxy(parts, request, progress, route)).pipe(
    Deadline.enforce,
    Deadline.within(route.provider.timeout),
  )
}, Effect.tapCause((cause) => Cause.hasDies(cause) ? Effect.logError("a request met a defect", cause) : Effect.void))

/** The order of a request. What is refused at one line has given back all that the lines above it took. */
const proxy = Effect.fnUntraced(function* (parts: Parts, request: Request, progress: Progress, route: Routes.Route) {
  // The place of `gate.peek`: an open circuit refuses here, before the line, and changes nothing.
  yield* enter(progress, route)
  // The place of `gate.tryEnter`: its refusal closes this scope, which gives the admission back.
  const reply = yield* call(parts, request, progress, route)
  yield* handOver(parts, progress, route, reply)
})

const enter = Effect.fnUntraced(function* (progress: Progress, route: Routes.Route) {
  const admission = yield* Admission
  const clock = yield* Clock.Clock
  const from = Deadline.nowNanos(clock)
  yield* Effect.onExit(
    admission.enter({ tenant: route.tenant, provider: route.provider.name }),
    (exit) =>
      Effect.sync(() => {
        // One that was turned away at the door did not wait.
        if (Outcome.fromExit(exit) !== "Failed") progress.waitedMillis = (Deadline.nowNanos(clock) - from) / 1e6
      }),
  )
})

const call = Effect.fnUntraced(function* (parts: Parts, request: Request, progress: Progress, route: Routes.Route) {
  const upstream = yield* Upstream
  const tenants = yield* Tenants
  const upload = request.body === null
    ? undefined
    : yield* parts.bodies.watch(request.body, { from: "client", maxBytes: parts.config.http.maxBodyBytes })
  const reply = upstream.exchange(route.provider, {
    method: request.method,
    path: route.path,
    fields: HeaderFields.toProvider(progress.info.fields, tenants.header),
    body: upload?.stream ?? null,
    bytes: route.bytes,
  })
  if (upload === undefined) return yield* reply
  // The exchange only knows that its upload broke; the upload itself knows why, and that is what the client is told.
  return yield* Effect.catchTag(
    reply,
    "UpstreamFailed",
    (failed) => failed.phase === "upload" ? Effect.andThen(Deferred.await(upload.done), failed) : failed,
  )
})

/** Begins the response and waits until its last byte was taken. */
const handOver = Effect.fnUntraced(function* (parts: Parts, progress: Progress, route: Routes.Route, reply: Reply) {
  const headers = yield* headersOf(route, reply)
  const body = reply.body === null
    ? undefined
    : yield* parts.bodies.watch(reply.body, { from: "upstream", maxBytes: Infinity })
  progress.answer(new Response(body?.stream ?? null, { status: reply.status, headers }))
  if (body !== undefined) yield* Deferred.await(body.done)
})

const headersOf = (route: Routes.Route, reply: Reply): Effect.Effect<Headers, UpstreamFailed> =>
  Effect.try({
    try: () => {
      const headers = new Headers()
      for (const [name, value] of HeaderFields.toClient(reply.fields)) headers.append(name, value)
      return headers
    },
    catch: () => new UpstreamFailed({ provider: route.provider.name, phase: "head", code: "BAD_HEADER" }),
  })

const settle = (traffic: Traffic, progress: Progress, exit: Exit.Exit<void, Answers.Refused>): void => {
  const { tenant, provider, waitedMillis, begun } = progress
  const answered = Exit.isSuccess(exit) ? undefined : answerOf(exit.cause)
  const outcome = answered === undefined ? "Served" : begun ? "Cut" : answered.outcome
  traffic.settle({ tenant, provider, outcome, waitedMillis })
  if (answered !== undefined && !begun) progress.answer(answered.response)
}

const answerOf = (cause: Cause.Cause<Answers.Refused>): { readonly outcome: string; readonly response: Response } => {
  const failure = cause.reasons.find(Cause.isFailReason)
  if (failure !== undefined && !Cause.hasDies(cause)) {
    return { outcome: failure.error._tag, response: Answers.toResponse(failure.error) }
  }
  if (!Cause.hasDies(cause)) return { outcome: "ClientGone", response: new Response(null, { status: 499 }) }
  return { outcome: "Defect", response: Answers.defect() }
}
