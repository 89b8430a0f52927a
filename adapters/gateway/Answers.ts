/**
 * What a client is told when the gateway itself answers: a status, when to come back, and the error's facts as JSON.
 *
 * The header `holdfast-error` carries the error's tag, so that a 503 of the gateway is never taken for one of a provider.
 * Facts are counts, durations (in milliseconds) and names that the caller knows; holders and tokens are never among them.
 */
import * as Duration from "effect/Duration"
import type { AdmissionRefused } from "../../core/AdmissionRefused.ts"
import type { DeadlineExceeded } from "../../core/Deadline.ts"
import type { CircuitOpen, Saturated } from "../../core/GateRefused.ts"
import type { InvalidRequest } from "../../core/Refusal.ts"
import type { Fault } from "./Bodies.ts"
import type { BadFraming, ExpectationFailed, TooManyFields } from "./Framing.ts"
import type { NotGranted, UnknownProvider } from "./Routes.ts"
import type { BadTarget, TargetTooLong } from "./Target.ts"
import type { Unauthenticated } from "./Tenants.ts"
import type { UpstreamFailed } from "./Upstream.ts"

export type Refused =
  | AdmissionRefused
  | BadFraming
  | BadTarget
  | CircuitOpen
  | DeadlineExceeded
  | ExpectationFailed
  | Fault
  | InvalidRequest
  | NotGranted
  | Saturated
  | TargetTooLong
  | TooManyFields
  | Unauthenticated
  | UnknownProvider
  | UpstreamFailed

const statuses = {
  BadFraming: 400,
  BadTarget: 400,
  BodyCut: 400,
  BodyTooLarge: 413,
  CircuitOpen: 503,
  Closed: 503,
  DeadlineExceeded: 504,
  ExpectationFailed: 417,
  InvalidRequest: 400,
  NeverFits: 503,
  NotGranted: 403,
  TargetTooLong: 414,
  TooLate: 503,
  TooManyFields: 431,
  Unauthenticated: 401,
  UnknownProvider: 404,
  UpstreamFailed: 502,
} as const

/** The status of an error. A refusal that is the tenant's own doing is 429, one that is everybody's 503, a deadline 504. */
export const statusOf = (error: Refused): number => {
  switch (error._tag) {
    case "QueueFull":
    case "Saturated":
      return error.scope === "tenant" ? 429 : 503
    case "WaitExpired":
      return error.bound === "deadline" ? 504 : 503
    case "BodyStalled":
      return error.waitedFor === "client" ? 408 : 504
    default:
      return statuses[error._tag]
  }
}

/** Whole seconds, at least 1, where coming back later may help; `TooLate` and `CircuitOpen` know how much later. */
const retryAfter = (error: Refused): number | undefined => {
  switch (error._tag) {
    case "TooLate":
      return Math.max(1, Math.ceil(Duration.toSeconds(error.estimate) - Duration.toSeconds(error.remaining)))
    case "CircuitOpen":
      return Math.max(1, Math.ceil(Duration.toSeconds(error.retryAfter)))
    case "Closed":
    case "DeadlineExceeded":
    case "QueueFull":
    case "Saturated":
    case "WaitExpired":
      return 1
    case "NeverFits":
      return 60
    default:
      return undefined
  }
}

/** After these nothing more can be read from the connection, or nothing more will be answered on it. */
const closes: ReadonlySet<string> = new Set(["BadFraming", "BodyCut", "BodyStalled", "BodyTooLarge", "Closed"])

/** The answer to an error; the connection is told to close where it is of no further use. */
export const toResponse = (error: Refused): Response => {
  const headers = new Headers({
    "content-type": "application/json",
    "cache-control": "no-store",
    "holdfast-error": error._tag,
  })
  const seconds = retryAfter(error)
  if (seconds !== undefined) headers.set("retry-after", String(seconds))
  if (error._tag === "Unauthenticated") headers.set("www-authenticate", "Bearer")
  if (closes.has(error._tag)) headers.set("connection", "close")
  const body = new TextEncoder().encode(`${JSON.stringify(factsOf(error))}\n`)
  headers.set("content-length", String(body.byteLength))
  return new Response(body, { status: statusOf(error), headers })
}

/** A defect of the gateway: it says so and nothing else. */
export const defect = (): Response =>
  new Response(`{"error":"Defect","message":"the gateway failed"}\n`, {
    status: 500,
    headers: { "content-type": "application/json", "holdfast-error": "Defect", "connection": "close" },
  })

/** The error's own fields, with durations as `…Millis`. */
export const factsOf = (error: Refused): Record<string, unknown> => {
  const facts: Record<string, unknown> = { error: error._tag, message: error.message }
  for (const [name, value] of Object.entries(error)) {
    if (name === "_tag" || name === "name" || name === "message") continue
    if (Duration.isDuration(value)) facts[`${name}Millis`] = Math.round(Duration.toMillis(value))
    else facts[name] = value
  }
  return facts
}
