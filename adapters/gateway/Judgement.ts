/**
 * What a call says of its provider: success, failure, or nothing. It owns nothing.
 *
 * A circuit is everybody's, so nothing that one tenant can do alone is a failure: not leaving, nor sending or reading
 * slowly, nor coming with little time left. For the same reason 4xx says nothing: the request may be what is wrong.
 */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import type * as Exit from "effect/Exit"
import type { ProviderGate } from "../../core/ProviderGate.ts"
import type { Refused } from "./Answers.ts"
import type { Body } from "./Bodies.ts"

export type Verdict = Parameters<ProviderGate["settle"]>[1]

/** What is known of a call under way. Instants are monotonic nanoseconds. */
export interface Evidence {
  readonly askedNanos: number
  /** What the configuration grants the provider. */
  readonly timeout: Duration.Duration
  upload: Body | undefined
  /** Of the response's head, once it is there. */
  status: number | undefined
}

/** What a head says alone. */
export const ofHead = (status: number): Verdict => status >= 500 ? "failure" : status >= 400 ? "neutral" : "success"

/** What the end of a call says; `now` is its instant. */
export const ofEnd = (evidence: Evidence, exit: Exit.Exit<void, Refused>, now: number): Verdict => {
  const error = exit._tag === "Success" ? undefined : exit.cause.reasons.find(Cause.isFailReason)?.error
  switch (error?._tag) {
    case "UpstreamFailed":
      return "failure"
    case "BodyCut":
      return error.by === "upstream" ? "failure" : ofStatus(evidence)
    case "BodyStalled":
      return error.waitedFor === "upstream" ? "failure" : ofStatus(evidence)
    case "DeadlineExceeded":
      return evidence.status === undefined && hadItsTime(evidence, now) ? "failure" : ofStatus(evidence)
    default:
      return ofStatus(evidence)
  }
}

/** A head that came stays true, whatever the client did after it: else a stream that every client leaves never succeeds. */
const ofStatus = ({ status }: Evidence): Verdict => status === undefined ? "neutral" : ofHead(status)

/**
 * True where the provider alone was waited for, for half of its time at least.
 *
 * The deadline covers the line and the upload as well. A call that had used it up there gives its provider a moment, and
 * failing to answer in a moment is no fault.
 */
const hadItsTime = ({ askedNanos, timeout, upload }: Evidence, now: number): boolean => {
  const state = upload?.state()
  if (state?.waitsFor === "client") return false
  const from = Math.max(askedNanos, state?.endedNanos ?? 0)
  return now - from >= Duration.toMillis(timeout) * 1e6 / 2
}
