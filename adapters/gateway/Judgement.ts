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
  /** The response's body, once it is handed over. */
  download: Body | undefined
  /** Of the response's head, once it is there. */
  status: number | undefined
}

/** What a head says alone. Some of 5xx say the same of the request as 4xx does, and any tenant can send such a one. */
export const ofHead = (status: number): Verdict => {
  if (status < 400) return "success"
  return status < 500 || ofRequest.has(status) ? "neutral" : "failure"
}

/** Not implemented, and a version that is not supported. */
const ofRequest: ReadonlySet<number> = new Set([501, 505])

/** What the end of a call says; `now` is its instant. */
export const ofEnd = (evidence: Evidence, exit: Exit.Exit<void, Refused>, now: number): Verdict => {
  const error = exit._tag === "Success" ? undefined : exit.cause.reasons.find(Cause.isFailReason)?.error
  switch (error?._tag) {
    case "UpstreamFailed":
      return cuts.has(error.code) && (isExcused(evidence) || isUploading(evidence)) ? ofStatus(evidence) : "failure"
    case "BodyCut":
      return error.by === "upstream" && !isExcused(evidence) && !wasHeld(evidence) ? "failure" : ofStatus(evidence)
    case "BodyStalled":
      return error.waitedFor === "upstream" && !isExcused(evidence) ? "failure" : ofStatus(evidence)
    case "DeadlineExceeded":
      return isAwaited(evidence) && hadItsTime(evidence, now) ? "failure" : ofStatus(evidence)
    default:
      return ofStatus(evidence)
  }
}

/** The codes of a connection that was there and ended. One that never came is the provider's, whatever its client did. */
const cuts: ReadonlySet<string> = new Set(["CLOSED", "ECONNABORTED", "ECONNRESET", "EPIPE"])

/**
 * True where the provider ended or stood still while its client owed it the rest of an upload, or after that upload broke.
 *
 * A provider may give up on a client that is slow, and waits in vain for one that stopped. After the head, an upload that
 * broke ends the exchange from our side; then even one that the provider did not read says nothing, for it need not read on,
 * and cannot while its client does not read the response. Whether the client had just been about to send is not looked at:
 * a fault that one tenant might have caused opens no circuit of everybody's.
 */
const isExcused = ({ status, upload }: Evidence): boolean => {
  const state = upload?.state()
  return state !== undefined && (state.waitsFor === "client" || (state.broken && status !== undefined))
}

/**
 * True before the whole of an upload was sent. A provider that will not have it answers and closes, and its answer is lost where
 * bytes that it did not read make a reset of that (RFC 9112, 9.6): any tenant can bring that about.
 */
const isUploading = ({ upload }: Evidence): boolean => upload?.state().waitsFor !== undefined

const patienceNanos = 1e9

/** How long a probe may take to be sent. */
export const sending: Duration.Duration = Duration.nanos(BigInt(patienceNanos))

/**
 * Whether a probe of which this is known after {@link sending} may go on as one: its client, who is slow, keeps all others out.
 */
export const isSent = (evidence: Evidence): boolean => evidence.status !== undefined || !isUploading(evidence)

/**
 * True where the client let the response wait for a second or more: a provider may give up on that too.
 *
 * No server does so in less, and a client that keeps reading lets a piece wait for milliseconds. How long before the cut that
 * was is not looked at: what had been sent already comes before it.
 */
const wasHeld = ({ download }: Evidence): boolean => (download?.state().heldNanos ?? 0) >= patienceNanos

/** A head that came stays true, whatever the client did after it: else a stream that every client leaves never succeeds. */
const ofStatus = ({ status }: Evidence): Verdict => status === undefined ? "neutral" : ofHead(status)

/** True where the next thing to come was the provider's: its head, or a byte of a body that its client reads on. */
const isAwaited = (evidence: Evidence): boolean => {
  if (isExcused(evidence)) return false
  return evidence.status === undefined || (evidence.download?.state().waitsFor === "upstream" && !wasHeld(evidence))
}

/**
 * True where the provider alone was waited for, for half of its time at least.
 *
 * The deadline covers the line and the bodies as well. A call that had used it up there gives its provider a moment, and
 * failing to answer in a moment is no fault. Of a body that still moves, either way, only the last wait counts: a stream
 * without an end that the deadline cuts waits for its next byte too, and one tenant can ask for as many as it likes.
 */
const hadItsTime = ({ askedNanos, timeout, upload, download }: Evidence, now: number): boolean => {
  const down = download?.state()
  // The wait for a byte begins when its reader wants it; the longest that it ever let one wait is never too little.
  const wanted = down === undefined ? 0 : down.movedNanos + down.heldNanos
  const from = Math.max(askedNanos, upload?.state().movedNanos ?? 0, wanted)
  return now - from >= Duration.toMillis(timeout) * 1e6 / 2
}
