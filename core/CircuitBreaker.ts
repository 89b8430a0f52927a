/**
 * A circuit breaker alone: closed, open, or half-open with one probe, for whoever bounds calls in another way.
 *
 * It owns no fiber and no timer. A pass is settled once, or released without judgement with its scope; a probe that stays
 * unsettled for longer than `maxElapsed` loses its mark when the next caller asks.
 */
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import * as Deadline from "./Deadline.ts"
import { type BreakerLimits, decodeBreaker } from "./GateOptions.ts"
import { type CircuitOpen, circuitOpen, PermitMisuse } from "./GateRefused.ts"
import { type Judge, verdictOf, verdicts, wrongVerdict } from "./GateVerdict.ts"
import { Circuit, type Pass } from "./kernel/Circuit.ts"
import type { Verdict } from "./kernel/Gate.ts"
import * as Lease from "./Lease.ts"
import type { InvalidLimits } from "./Refusal.ts"
import { frozen } from "./Snapshot.ts"

/** `maxElapsed` is how long a probe may stay unsettled; it bounds no work. */
export type Options = BreakerLimits

/** Proof of having been let by. Opaque: `settle` ends it. */
export interface CircuitPass {
  readonly probe: boolean
}

/** A circuit at one moment; `retryAfter` is zero unless it is open. */
export interface CircuitSnapshot {
  readonly state: "closed" | "open" | "half-open"
  /** Failures in a row, while it is closed. */
  readonly failures: number
  readonly retryAfter: Duration.Duration
  readonly generation: number
}

export interface CircuitBreaker {
  /** Lets the caller by at once or says for how long nobody passes. The scope releases it without judgement. */
  readonly tryEnter: Effect.Effect<CircuitPass, CircuitOpen, Scope.Scope>
  /** Ends a pass with a verdict; one of an older generation changes nothing. */
  readonly settle: (pass: CircuitPass, verdict: Verdict) => Effect.Effect<void, PermitMisuse>
  /** Runs `work` behind the circuit: success counts as success, a typed failure as `judge` says, anything else neutral. */
  readonly run: <A, E, R>(
    work: Effect.Effect<A, E, R>,
    judge?: Judge<E>,
  ) => Effect.Effect<A, E | CircuitOpen, R>
  /** Whether a caller would be let by now. Changes nothing. */
  readonly peek: Effect.Effect<void, CircuitOpen>
  readonly snapshot: Effect.Effect<CircuitSnapshot>
}

/** A pass while it is not settled. */
interface Held {
  pass: Pass | undefined
}

/**
 * A breaker for as long as somebody keeps it.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as CircuitBreaker from "holdfast/CircuitBreaker"
 *
 * const program = Effect.gen(function*() {
 *   const breaker = yield* CircuitBreaker.make({ failureThreshold: 1, recoveryAfter: "10 seconds" })
 *   yield* Effect.exit(breaker.run(Effect.fail("down")))
 *   const refused = yield* Effect.flip(breaker.run(Effect.succeed("up")))
 *   console.log(refused._tag) // CircuitOpen
 * })
 * await Effect.runPromise(program)
 * ```
 */
export const make = (options: Options): Effect.Effect<CircuitBreaker, InvalidLimits> =>
  Effect.flatMap(decodeBreaker(options), (limits) =>
    Effect.withFiber((fiber) => {
      const circuit = new Circuit({
        failureThreshold: limits.failureThreshold,
        recoveryNanos: Math.round(limits.recoveryMillis * 1e6),
        probeNanos: Math.round(limits.maxElapsedMillis * 1e6),
        applyStale: false,
      })
      return Effect.succeed(service(new State(circuit, fiber.getRef(Clock.Clock))))
    }))

/** What a breaker stands on. */
class State {
  readonly circuit: Circuit
  readonly #clock: Clock.Clock
  /** The passes that are out, so that a foreign one is told from a spent one. */
  readonly owned = new WeakMap<CircuitPass, { readonly held: Held; readonly scope: Scope.Closeable }>()

  constructor(circuit: Circuit, clock: Clock.Clock) {
    this.circuit = circuit
    this.#clock = clock
  }

  peek(): CircuitOpen | undefined {
    const shut = this.circuit.isClosed ? undefined : this.circuit.shut(this.now())
    return shut === undefined ? undefined : circuitOpen(shut)
  }

  enter(held: Held): CircuitOpen | undefined {
    // A closed circuit asks no clock.
    const now = this.circuit.isClosed ? 0 : this.now()
    const shut = this.circuit.shut(now)
    if (shut !== undefined) return circuitOpen(shut)
    held.pass = this.circuit.pass(now)
    return undefined
  }

  /** False where it was settled before. */
  settle(held: Held, verdict: Verdict): boolean {
    const { pass } = held
    if (pass === undefined) return false
    held.pass = undefined
    if (verdict === "success") this.circuit.succeed(pass)
    else if (verdict === "failure") this.circuit.fail(pass, this.now())
    else this.circuit.release(pass)
    return true
  }

  snapshot(): CircuitSnapshot {
    const { failures, generation, state } = this.circuit
    const retryAfter = Deadline.nanos(this.circuit.retryNanos(this.now()))
    return frozen({ state, failures: state === "closed" ? failures : 0, retryAfter, generation })
  }

  now(): number {
    return Deadline.nowNanos(this.#clock)
  }
}

const service = (state: State): CircuitBreaker => ({
  tryEnter: Effect.withFiber((fiber): Effect.Effect<CircuitPass, CircuitOpen, Scope.Scope> => {
    const held: Held = { pass: undefined }
    const refusal = state.enter(held)
    if (refusal !== undefined) return Effect.fail(refusal)
    const pass: CircuitPass = Object.freeze({ probe: held.pass!.probe })
    return Lease.registered(fiber, () => void state.settle(held, "neutral"), (scope) => {
      state.owned.set(pass, { held, scope })
      return pass
    })
  }),
  settle: (pass, verdict) =>
    Effect.suspend((): Effect.Effect<void, PermitMisuse> => {
      if (!verdicts.includes(verdict)) return Effect.die(wrongVerdict(verdict))
      const own = state.owned.get(pass)
      if (own === undefined) return Effect.fail(new PermitMisuse({ reason: "foreign-gate" }))
      if (!state.settle(own.held, verdict)) return Effect.fail(new PermitMisuse({ reason: "already-settled" }))
      Lease.forget(own.scope)
      return Effect.void
    }),
  run: (work, judge) => run(state, work, judge),
  peek: Effect.suspend(() => {
    const refusal = state.peek()
    return refusal === undefined ? Effect.void : Effect.fail(refusal)
  }),
  snapshot: Effect.sync(() => state.snapshot()),
})

const run = <A, E, R>(
  state: State,
  work: Effect.Effect<A, E, R>,
  judge: Judge<E> | undefined,
): Effect.Effect<A, E | CircuitOpen, R> =>
  Effect.suspend(() => {
    const held: Held = { pass: undefined }
    return Effect.onExitPrimitive(
      Effect.suspend((): Effect.Effect<A, E | CircuitOpen, R> => {
        const refusal = state.enter(held)
        return refusal === undefined ? work : Effect.fail(refusal)
      }),
      (exit) => {
        // Refused, nothing was passed and nobody is judged.
        if (held.pass === undefined) return undefined
        const verdict = verdictOf(exit as Exit.Exit<A, E>, judge)
        state.settle(held, verdict._tag === "Success" ? verdict.value : "neutral")
        return verdict._tag === "Success" ? undefined : Exit.failCause(verdict.cause)
      },
    )
  })
