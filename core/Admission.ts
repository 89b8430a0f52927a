/**
 * Admission: who may start, who waits, who is turned away. Caps at several levels, one fair line in front of them, and one
 * absolute deadline that the wait spends and the work inherits.
 *
 * It owns permits (units on every account of an ask) and the line; a permit goes back exactly once: on release, at the end
 * of its scope, on failure, interruption or defect. The resource behind a permit is not its business.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import type { Limits } from "./AdmissionLimits.ts"
import { decode, type Options } from "./AdmissionOptions.ts"
import type { AdmissionRefused, BelowUse, Closed, NeverFits, WouldWait } from "./AdmissionRefused.ts"
import type { AdmissionSnapshot, DrainReport, Holder } from "./AdmissionSnapshot.ts"
import type * as Deadline from "./Deadline.ts"
import * as Lease from "./Lease.ts"
import type { Ask, Permit } from "./Permit.ts"
import type { InvalidLimits, InvalidRequest } from "./Refusal.ts"
import { type Lease as Visit, PermitOf } from "./Ticket.ts"
import { Turnstile } from "./Turnstile.ts"

export interface Admission {
  /**
   * Waits for its turn and takes a permit, which the scope gives back.
   *
   * The wait ends at the fiber's {@link Deadline}, or after `maxWait` if that is nearer. Interrupted while it waits, the
   * ask leaves the line; after any failure nothing is held.
   */
  readonly enter: (ask: Ask) => Effect.Effect<Permit, AdmissionRefused | InvalidRequest, Scope.Scope>
  /**
   * Runs `work` with a permit, given back when it ends, however it ends. Bounds the wait, not the work: use
   * `Deadline.enforce` for that. The work's own failure comes through unchanged.
   */
  readonly run: (
    ask: Ask,
  ) => <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E | AdmissionRefused | InvalidRequest, R>
  /** Takes a permit if that is possible at once and nobody who waits is passed whose turn it is. Never waits. */
  readonly tryEnter: (
    ask: Ask,
  ) => Effect.Effect<Permit, WouldWait | NeverFits | Closed | InvalidRequest, Scope.Scope>
  /** Gives a permit back before its scope does. A second or foreign release is a typed misuse and moves nothing. */
  readonly release: (permit: Permit) => Effect.Effect<void, Lease.LeaseSpent | Lease.ForeignLease>
  /** Counts at this moment; no names. O(1), but for labels. */
  readonly snapshot: Effect.Effect<AdmissionSnapshot>
  /** For operators: who holds and who waits, by name, longest first. O(n log n). */
  readonly holders: Effect.Effect<ReadonlyArray<Holder>>
  /**
   * Lowers all given limits or, with an error, none. Those who wait for what can never be any more get `NeverFits`, and
   * nobody is evicted: a limit below its use is `BelowUse`.
   */
  readonly lower: (next: Partial<Limits>) => Effect.Effect<void, InvalidLimits | BelowUse>
  /**
   * Takes `units` out of the total until the scope closes, under use if need be: nobody is evicted, the snapshot shows
   * the debt, and nothing is granted while there is one.
   */
  readonly withhold: (units: number) => Effect.Effect<void, InvalidRequest, Scope.Scope>
  /**
   * Lets nobody in any more, and waits until nothing is held or waiting, until `deadline` at most. Then all who still
   * wait get `Closed`, held permits stay charged, and the report names their holders. May be called again.
   */
  readonly drain: (deadline: Deadline.Deadline) => Effect.Effect<DrainReport>
}

export const Admission: Context.Service<Admission, Admission> = Context.Service("holdfast/Admission")

/**
 * An Admission that lives as long as its scope; closing that drains with a zero deadline.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Admission from "holdfast/Admission"
 *
 * const program = Effect.gen(function*() {
 *   const admission = yield* Admission.make({ maxRunning: 64, maxPerTenant: 16 })
 *   const answer = yield* admission.run({ tenant: "acme", provider: "mail" })(Effect.succeed("sent"))
 *   console.log(answer, (yield* admission.snapshot).running) // sent 0
 * })
 * await Effect.runPromise(Effect.scoped(program))
 * ```
 */
export const make = (options: Options): Effect.Effect<Admission, InvalidLimits, Scope.Scope> =>
  Effect.flatMap(decode(options), (settings) =>
    Effect.map(
      Effect.acquireRelease(
        Effect.withFiber((fiber) => Effect.succeed(new Turnstile(settings, fiber))),
        (turnstile) => turnstile.close,
      ),
      service,
    ))

/** {@link make} as a layer. */
export const layer = (options: Options): Layer.Layer<Admission, InvalidLimits> => Layer.effect(Admission, make(options))

const service = (turnstile: Turnstile): Admission => ({
  run: (ask) => (work) =>
    Effect.suspend(() => {
      // The exit is in place before anything is taken: at no step can an interruption find units without an owner.
      const lease: Visit = { ask: undefined }
      return Effect.onExitPrimitive(
        Effect.withFiber((fiber) => turnstile.take(lease, ask, fiber, work)),
        () => turnstile.leave(lease),
      )
    }),
  enter: (ask) =>
    entered(turnstile, (lease, permit) => Effect.withFiber((fiber) => turnstile.take(lease, ask, fiber, permit))),
  tryEnter: (ask) =>
    Effect.withFiber(
      (fiber): Effect.Effect<Permit, WouldWait | NeverFits | Closed | InvalidRequest, Scope.Scope> => {
        const lease: Visit = { ask: undefined }
        const refusal = turnstile.tryTake(lease, ask)
        if (refusal !== undefined) return Effect.fail(refusal)
        const leave = (): void => turnstile.leave(lease)
        return Lease.registered(fiber, leave, (scope) => new PermitOf(turnstile, lease.ask!, scope))
      },
    ),
  release: (permit) =>
    Effect.suspend((): Effect.Effect<void, Lease.LeaseSpent | Lease.ForeignLease> => {
      const own = PermitOf.open(permit, turnstile)
      if (own === undefined) return Effect.fail(new Lease.ForeignLease())
      if (!turnstile.giveBack(own.ask)) return Effect.fail(new Lease.LeaseSpent())
      // Off the caller's scope with it, which may live long.
      Lease.forget(own.scope)
      return Effect.void
    }),
  snapshot: Effect.sync(() => turnstile.snapshot()),
  holders: Effect.sync(() => turnstile.holders()),
  lower: (next) => Effect.suspend(() => Effect.fromResult(turnstile.lower(next))),
  withhold: (units) => withhold(turnstile, units),
  drain: (deadline) => turnstile.drain(deadline),
})

/** A permit in a scope of its own under the caller's; one that is closed while its ask waits interrupts the wait. */
const entered = <E>(
  turnstile: Turnstile,
  take: (visit: Visit, permit: Effect.Effect<Permit>) => Effect.Effect<Permit, E>,
): Effect.Effect<Permit, E, Scope.Scope> =>
  Lease.scoped({
    empty: (): Visit => ({ ask: undefined }),
    take: (visit, scope) => take(visit, Effect.sync(() => new PermitOf(turnstile, visit.ask!, scope))),
    leave: (visit) => turnstile.abandon(visit),
  })

/** The finalizer is in place before the units are withheld, over a lease that is empty until then. */
const withhold = (turnstile: Turnstile, units: number): Effect.Effect<void, InvalidRequest, Scope.Scope> =>
  Effect.flatMap(Effect.scope, (scope) => {
    let withheld = 0
    return Effect.andThen(
      Scope.addFinalizer(scope, Effect.sync(() => turnstile.restore(withheld))),
      Effect.suspend(() => {
        // A scope that has closed by now has run the finalizer over nothing, and would never give the units back.
        if (scope.state._tag === "Closed") return Effect.void
        // What the step tells runs code at once, and that may close the scope: the finalizer has to know of them by then.
        withheld = units
        const refused = turnstile.withhold(units)
        if (refused === undefined) return Effect.void
        withheld = 0
        return Effect.fail(refused)
      }),
    )
  })
