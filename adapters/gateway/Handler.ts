/**
 * The gateway as a WHATWG handler: one fiber a request, which owns the request's scope until the last byte is over.
 *
 * The scope holds, in the order they were taken: the places in the Admission and in the provider's gate, the upload, the
 * exchange with the provider, the response's body. It closes when the last byte was taken by the server, when the client is
 * gone, when the deadline comes, or on any failure; then the exchange is ended first and the places given back last, so that
 * the caps count what still runs.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import type * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import { Admission } from "../../core/Admission.ts"
import * as Deadline from "../../core/Deadline.ts"
import type { GateCapacity } from "../../core/GateRefused.ts"
import * as Outcome from "../../core/Outcome.ts"
import type { GatePermit, ProviderGate } from "../../core/ProviderGate.ts"
import { ProviderGates } from "../../core/ProviderGates.ts"
import type { InvalidLimits, InvalidRequest } from "../../core/Refusal.ts"
import * as Answers from "./Answers.ts"
import type { Bodies } from "./Bodies.ts"
import type { Config } from "./Config.ts"
import * as HeaderFields from "./HeaderFields.ts"
import * as Judgement from "./Judgement.ts"
import type { Fields, Reply } from "./Message.ts"
import * as Routes from "./Routes.ts"
import { Tenants } from "./Tenants.ts"
import type { Traffic } from "./Traffic.ts"
import { Upstream, UpstreamFailed } from "./Upstream.ts"

/** What a WHATWG Request cannot say: target, version and header lines as sent, who is at the other end, that it left. */
export interface Info {
  readonly target: string
  /** Of HTTP, as `1.1`. */
  readonly version: string
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

type Needs = Admission | ProviderGates | Tenants | Upstream
type Inner = Parts & { readonly gates: ReadonlyMap<string, ProviderGate> }

/** The gate of every provider is made here, so that what is wrong with one shows before the first request. */
export const make = (
  parts: Parts,
): Effect.Effect<Handler, GateCapacity | InvalidLimits | InvalidRequest, Needs> =>
  Effect.gen(function* () {
    const context = yield* Effect.context<Needs>()
    const gates = new Map<string, ProviderGate>()
    for (const name of parts.config.providers.keys()) gates.set(name, yield* (yield* ProviderGates).get(name))
    return handler({ ...parts, gates }, context)
  })

const handler = (parts: Inner, context: Context.Context<Needs>): Handler => (request, info) =>
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
  })

const handle = Effect.fnUntraced(function* (parts: Inner, request: Request, progress: Progress) {
  const { target, version, fields, peer } = progress.info
  const asked = { method: request.method, target, version, fields, peer }
  const route = yield* Routes.find(parts.config, yield* Tenants, asked, (tenant) => {
    progress.tenant = tenant
  })
  progress.provider = route.provider.name
  yield* Effect.scoped(proxy(parts, request, progress, route)).pipe(Deadline.within(route.provider.timeout))
}, Effect.tapCause((cause) => Cause.hasDies(cause) ? Effect.logError("a request met a defect", cause) : Effect.void))

/** The order of a request. What is refused at one line has given back all that the lines above it took. */
const proxy = Effect.fnUntraced(function* (parts: Inner, request: Request, progress: Progress, route: Routes.Route) {
  const gate = parts.gates.get(route.provider.name)!
  const ask = { tenant: route.tenant }
  // Nobody waits in the line for a provider that is left alone.
  yield* gate.peek(ask)
  yield* enter(progress, route)
  // Its refusal closes this scope, which gives the admission back.
  const permit = yield* gate.tryEnter(ask)
  yield* judged(gate, permit, route, (evidence, answered) =>
    Effect.gen(function* () {
      const reply = yield* call(parts, request, progress, route, evidence)
      yield* answered(reply.status)
      yield* handOver(parts, progress, route, reply, evidence)
    }))
})

/**
 * Runs a call to its last byte, bounds it by the deadline, and settles its permit when the exchange has ended.
 *
 * Settling gives the place back, so a call is settled at its end: the place counts what still runs, and a body that its
 * provider cuts is a failure still. A probe alone is settled by its head, and as nobody's verdict where its client is slow to
 * send it: everybody waits for its verdict, and the rest of it takes as long as one client likes. The place lost to the count
 * for that long is one, and the Admission counts it still.
 */
const judged = Effect.fnUntraced(function* <R>(
  gate: ProviderGate,
  permit: GatePermit,
  { provider }: Routes.Route,
  work: (
    evidence: Judgement.Evidence,
    answered: (status: number) => Effect.Effect<void>,
  ) => Effect.Effect<void, Answers.Refused, R | Scope.Scope>,
) {
  const clock = yield* Clock.Clock
  const evidence: Judgement.Evidence = {
    askedNanos: Deadline.nowNanos(clock),
    timeout: provider.timeout,
    upload: undefined,
    download: undefined,
    status: undefined,
  }
  const answered = (status: number): Effect.Effect<void> => {
    evidence.status = status
    return permit.probe ? told(gate, permit, Judgement.ofHead(status)) : Effect.void
  }
  // A probe that its client is slow to send gives way to the next caller, and goes on as an ordinary call.
  const giveWay = Effect.suspend(() => Judgement.isSent(evidence) ? Effect.void : told(gate, permit, "neutral"))
  if (permit.probe) yield* Effect.forkScoped(Effect.delay(giveWay, Judgement.sending))
  yield* Effect.scoped(work(evidence, answered)).pipe(
    Deadline.enforce,
    Effect.onExit((exit) => told(gate, permit, Judgement.ofEnd(evidence, exit, Deadline.nowNanos(clock)))),
  )
})

/** A probe that was settled by its head is over; its end adds nothing. */
const told = (gate: ProviderGate, permit: GatePermit, verdict: Judgement.Verdict): Effect.Effect<void> =>
  Effect.ignore(gate.settle(permit, verdict))

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

const call = Effect.fnUntraced(function* (
  parts: Parts,
  request: Request,
  progress: Progress,
  route: Routes.Route,
  evidence: Judgement.Evidence,
) {
  const upstream = yield* Upstream
  const tenants = yield* Tenants
  const upload = request.body === null
    ? undefined
    : yield* parts.bodies.watch(request.body, { from: "client", maxBytes: parts.config.http.maxBodyBytes })
  evidence.upload = upload
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
const handOver = Effect.fnUntraced(function* (
  parts: Parts,
  progress: Progress,
  route: Routes.Route,
  reply: Reply,
  evidence: Judgement.Evidence,
) {
  const headers = yield* headersOf(route, reply)
  const body = reply.body === null
    ? undefined
    : yield* parts.bodies.watch(reply.body, { from: "upstream", maxBytes: Infinity })
  evidence.download = body
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
