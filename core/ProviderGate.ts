/**
 * One gate in front of one provider: a bulkhead with room kept for urgent work, and a circuit breaker with one probe.
 *
 * It owns the permits it gave out, and the child fibers of `run`; a permit ends once, by settling it or with its scope,
 * which judges nobody. It never waits, retries or queues.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { priorities, type Priority } from "./AdmissionOptions.ts"
import type { BelowUse } from "./AdmissionRefused.ts"
import { decode, decodeLower, type Options, type ProviderLimits } from "./GateOptions.ts"
import { type CallTimedOut, type CircuitOpen, PermitMisuse, type Saturated } from "./GateRefused.ts"
import { type GateSnapshot, of } from "./GateSnapshot.ts"
import { type Judge, verdicts, wrongVerdict } from "./GateVerdict.ts"
import { Entry, type Verdict } from "./kernel/Gate.ts"
import * as Lease from "./Lease.ts"
import { type InvalidLimits, InvalidRequest } from "./Refusal.ts"
import { register, Wicket } from "./Wicket.ts"

/** Who asks, and how urgently; `"normal"` by default. */
export interface GateAsk<E = never> {
  /** 1 to 256 bytes of UTF-8 without control characters. */
  readonly tenant: string
  readonly priority?: Priority | undefined
  /** What a typed failure of the work says of the provider; every one is a failure by default. `run` only. */
  readonly judge?: Judge<E> | undefined
}

/** A place in the gate. Opaque: `settle` ends it. */
export interface GatePermit {
  readonly tenant: string
  readonly priority: Priority
  /** True where its outcome decides whether the circuit closes. */
  readonly probe: boolean
}

export interface ProviderGate {
  /** Takes a place at once, or says why not; the scope gives it back without judgement. Never waits. */
  readonly tryEnter: (
    ask: GateAsk,
  ) => Effect.Effect<GatePermit, CircuitOpen | Saturated | InvalidRequest, Scope.Scope>
  /** Ends a permit: the circuit hears the verdict and the place is free, in one step. A word that is none is a defect. */
  readonly settle: (permit: GatePermit, verdict: Verdict) => Effect.Effect<void, PermitMisuse>
  /**
   * Runs `work` with a place, in a fiber of its own, for at most `maxElapsed`.
   *
   * Success counts as success, a typed failure as `judge` says, and the time limit as a failure, at its instant; an
   * interruption or a defect judges nobody. The place is free again when the work has ended, finalizers included.
   */
  readonly run: <A, E, R>(
    ask: GateAsk<E>,
    work: Effect.Effect<A, E, R>,
  ) => Effect.Effect<A, E | CircuitOpen | Saturated | CallTimedOut | InvalidRequest, R>
  /** Whether the circuit would let a call by now. Changes nothing, and says nothing of places. */
  readonly peek: (ask: GateAsk) => Effect.Effect<void, CircuitOpen | InvalidRequest>
  /** Counts at this moment; no names. */
  readonly snapshot: Effect.Effect<GateSnapshot>
  /** Lowers all given limits or, with an error, none: a limit only falls, and not below its use. */
  readonly lower: (next: ProviderLimits) => Effect.Effect<void, InvalidLimits | BelowUse>
}

/** A permit as callers see it; what it stands for is private. */
class PermitOf implements GatePermit {
  readonly tenant: string
  readonly priority: Priority
  readonly probe: boolean
  readonly #owner: object
  readonly #entry: Entry
  readonly #scope: Scope.Closeable

  constructor(owner: object, entry: Entry, scope: Scope.Closeable) {
    this.tenant = entry.pair.tenant.key
    this.priority = priorities[entry.arrival]!
    this.probe = entry.pass.probe
    this.#owner = owner
    this.#entry = entry
    this.#scope = scope
  }

  static open(permit: unknown, owner: object): { readonly entry: Entry; readonly scope: Scope.Closeable } | undefined {
    if (typeof permit !== "object" || permit === null || !(#entry in permit)) return undefined
    const own = permit as PermitOf
    return own.#owner === owner ? { entry: own.#entry, scope: own.#scope } : undefined
  }
}

/** For the nouns that let callers into a gate. */
export const permitOf = (wicket: Wicket, entry: Entry, scope: Scope.Closeable): GatePermit =>
  new PermitOf(wicket, entry, scope)

/**
 * A gate for as long as somebody keeps it; it owns nothing that has to be closed.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as ProviderGate from "holdfast/ProviderGate"
 *
 * const program = Effect.gen(function*() {
 *   const gate = yield* ProviderGate.make({ concurrency: 8, failureThreshold: 1 })
 *   yield* Effect.exit(gate.run({ tenant: "acme" }, Effect.fail("down")))
 *   const refused = yield* Effect.flip(gate.run({ tenant: "acme" }, Effect.succeed("up")))
 *   console.log(refused._tag) // CircuitOpen
 * })
 * await Effect.runPromise(program)
 * ```
 */
export const make = (options: Options): Effect.Effect<ProviderGate, InvalidLimits> =>
  Effect.flatMap(decode(options), (settings) =>
    Effect.withFiber((fiber) => {
      const wicket = new Wicket(settings, fiber)
      return Effect.succeed(register(service(wicket), wicket))
    }))

const service = (wicket: Wicket): ProviderGate => ({
  tryEnter: (ask) =>
    Effect.withFiber((fiber): Effect.Effect<GatePermit, CircuitOpen | Saturated | InvalidRequest, Scope.Scope> => {
      const asked = wicket.asked(ask)
      const entry = asked instanceof InvalidRequest ? asked : wicket.enter(asked)
      return entry instanceof Entry
        ? Lease.registered(fiber, () => wicket.leave(entry), (scope) => new PermitOf(wicket, entry, scope))
        : Effect.fail(entry)
    }),
  settle: (permit, verdict) =>
    Effect.suspend((): Effect.Effect<void, PermitMisuse> => {
      if (!verdicts.includes(verdict)) return Effect.die(wrongVerdict(verdict))
      const own = PermitOf.open(permit, wicket)
      if (own === undefined) return Effect.fail(new PermitMisuse({ reason: "foreign-gate" }))
      if (!wicket.settle(own.entry, verdict)) return Effect.fail(new PermitMisuse({ reason: "already-settled" }))
      Lease.forget(own.scope)
      return Effect.void
    }),
  run: (ask, work) => run(wicket, ask, work),
  peek: (ask) =>
    Effect.suspend(() => {
      const asked = wicket.asked(ask)
      const refusal = asked instanceof InvalidRequest ? asked : wicket.peek()
      return refusal === undefined ? Effect.void : Effect.fail(refusal)
    }),
  snapshot: Effect.sync(() => of(wicket.gate, wicket.counted, wicket.now())),
  lower: (next) => lower(wicket, next),
})

const run = <A, E, R>(
  wicket: Wicket,
  ask: GateAsk<E>,
  work: Effect.Effect<A, E, R>,
): Effect.Effect<A, E | CircuitOpen | Saturated | CallTimedOut | InvalidRequest, R> =>
  // No interruption comes between taking a place and the exit that gives it back; the work is interrupted as ever.
  Effect.uninterruptibleMask(
    (restore): Effect.Effect<A, E | CircuitOpen | Saturated | CallTimedOut | InvalidRequest, R> => {
      const asked = wicket.asked(ask)
      if (asked instanceof InvalidRequest) return Effect.fail(asked)
      // A getter may throw, which is nobody's place yet.
      const { judge } = ask
      return wicket.call(asked, work, restore, judge)
    },
  )

const lower = (wicket: Wicket, next: ProviderLimits): Effect.Effect<void, InvalidLimits | BelowUse> =>
  Effect.suspend(() =>
    Effect.flatMap(decodeLower(wicket.limits, next), (lowered): Effect.Effect<void, BelowUse> => {
      const below = wicket.lower(lowered)
      return below === undefined ? Effect.void : Effect.fail(below)
    })
  )
