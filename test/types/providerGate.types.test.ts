/** The types of a gate's verbs, exactly: what each may fail with and what it needs. The compiler is the test. */
import { it } from "vitest"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type * as Admitted from "../../core/AdmissionRefused.ts"
import type * as Backoff from "../../core/Backoff.ts"
import type * as CircuitBreaker from "../../core/CircuitBreaker.ts"
import type * as GateLine from "../../core/GateLine.ts"
import type { Options, ProviderLimits } from "../../core/GateOptions.ts"
import type * as Refused from "../../core/GateRefused.ts"
import type { GateSnapshot } from "../../core/GateSnapshot.ts"
import type * as ProviderGate from "../../core/ProviderGate.ts"
import type * as ProviderGates from "../../core/ProviderGates.ts"
import type { InvalidLimits, InvalidRequest } from "../../core/Refusal.ts"

/** `true` only where both are the same type; unions, optional and readonly count. */
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false
/** Accepts no type but `true`. */
type Law<_ extends true> = never

type Of<E> = E extends Effect.Effect<infer A, infer X, infer R> ? [A, X, R] : never
type Gate = ProviderGate.ProviderGate
type Permit = ProviderGate.GatePermit
type Verdict = "success" | "failure" | "neutral"
type Turned = Refused.CircuitOpen | Refused.Saturated

declare const gate: Gate
declare const breaker: CircuitBreaker.CircuitBreaker
declare const work: Effect.Effect<"done", "broken", "needed">
const ran = () => gate.run({ tenant: "a" }, work)
const judged = () =>
  gate.run({ tenant: "a", judge: (error: "broken") => error === "broken" ? "failure" : "neutral" }, work)
const behind = () => breaker.run(work)

export type Laws = [
  Law<Equal<Of<ReturnType<Gate["tryEnter"]>>, [Permit, Turned | InvalidRequest, Scope.Scope]>>,
  Law<Equal<Of<ReturnType<Gate["settle"]>>, [void, Refused.PermitMisuse, never]>>,
  Law<Equal<Parameters<Gate["settle"]>, [permit: Permit, verdict: Verdict]>>,
  Law<
    Equal<Of<ReturnType<typeof ran>>, ["done", "broken" | Turned | Refused.CallTimedOut | InvalidRequest, "needed"]>
  >,
  Law<Equal<Of<ReturnType<typeof judged>>, Of<ReturnType<typeof ran>>>>,
  Law<Equal<Of<ReturnType<Gate["peek"]>>, [void, Refused.CircuitOpen | InvalidRequest, never]>>,
  Law<Equal<Of<Gate["snapshot"]>, [GateSnapshot, never, never]>>,
  Law<Equal<Of<ReturnType<Gate["lower"]>>, [void, InvalidLimits | Admitted.BelowUse, never]>>,
  Law<Equal<keyof Gate, "tryEnter" | "settle" | "run" | "peek" | "snapshot" | "lower">>,
  Law<Equal<Of<ReturnType<typeof ProviderGate.make>>, [Gate, InvalidLimits, never]>>,
  Law<Equal<Parameters<typeof ProviderGate.make>, [options: Options]>>,
  Law<Equal<Parameters<Gate["lower"]>, [next: ProviderLimits]>>,
  Law<Equal<keyof Permit, "tenant" | "priority" | "probe">>,
  Law<Equal<Refused.Saturated["scope"], "ordinary" | "provider" | "tenant">>,
  Law<Equal<Refused.PermitMisuse["reason"], "already-settled" | "foreign-gate">>,
  Law<
    Equal<
      Of<ReturnType<GateLine.GateLine["enter"]>>,
      [
        Permit,
        Refused.CircuitOpen | Admitted.Closed | Admitted.QueueFull | Admitted.WaitExpired | InvalidRequest,
        Scope.Scope,
      ]
    >
  >,
  Law<Equal<Of<ReturnType<typeof GateLine.make>>, [GateLine.GateLine, InvalidLimits, Scope.Scope]>>,
  Law<Equal<keyof GateLine.GateLine, "enter" | "waiting">>,
  Law<
    Equal<
      Of<ReturnType<ProviderGates.ProviderGates["get"]>>,
      [Gate, Refused.GateCapacity | InvalidLimits | InvalidRequest, never]
    >
  >,
  Law<Equal<Of<ProviderGates.ProviderGates["snapshotAll"]>, [ReadonlyMap<string, GateSnapshot>, never, never]>>,
  Law<
    Equal<ReturnType<typeof ProviderGates.layer>, Layer.Layer<ProviderGates.ProviderGates, InvalidLimits>>
  >,
  Law<Equal<Of<ReturnType<typeof behind>>, ["done", "broken" | Refused.CircuitOpen, "needed"]>>,
  Law<
    Equal<
      Of<CircuitBreaker.CircuitBreaker["tryEnter"]>,
      [CircuitBreaker.CircuitPass, Refused.CircuitOpen, Scope.Scope]
    >
  >,
  Law<Equal<Of<CircuitBreaker.CircuitBreaker["peek"]>, [void, Refused.CircuitOpen, never]>>,
  Law<Equal<keyof CircuitBreaker.CircuitBreaker, "tryEnter" | "settle" | "run" | "peek" | "snapshot">>,
  Law<
    Equal<
      typeof Backoff.backoff,
      (limits: Backoff.BackoffLimits, attempt: number, seed: number | bigint) => Duration.Duration
    >
  >,
  Law<Options extends Backoff.BackoffLimits ? true : false>,
]

it("PG-21: `run` keeps what the work gives, fails with and needs, and every verb says exactly what it may answer", () => {})

// And the compiler does refuse what is not so.
export type Noticed = [
  // @ts-expect-error an error of the work that is lost
  Law<Equal<Of<ReturnType<typeof ran>>, ["done", Turned | Refused.CallTimedOut | InvalidRequest, "needed"]>>,
  // @ts-expect-error no error at all
  Law<Equal<Of<ReturnType<Gate["settle"]>>, [void, never, never]>>,
]
