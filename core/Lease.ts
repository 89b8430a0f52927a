/**
 * A lease in a scope, and what is said of one that is given back when it should not be. Misuse changes nothing; it is an
 * error of its own, so that a second release is seen, and closing the scope afterwards is silent.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import { Refusal } from "./Refusal.ts"

/** The lease has been given back already, by a release or by its scope. Nothing is held; nothing moved. */
export class LeaseSpent extends Refusal {
  readonly _tag = "LeaseSpent"
  override readonly name = "LeaseSpent"
  override get message(): string {
    return "the lease was given back before"
  }
}

/** The lease belongs to another owner, or is none. It is untouched, and whoever holds it still does. */
export class ForeignLease extends Refusal {
  readonly _tag = "ForeignLease"
  override readonly name = "ForeignLease"
  override get message(): string {
    return "the lease was not given out here"
  }
}

/**
 * Takes a lease in a scope of its own under the caller's, and answers with what `take` made of it.
 *
 * `leave` is in place before anything is taken, over a lease that is empty until then, and runs once the caller's scope
 * closes, or at once where `take` fails, is interrupted, or finds the caller's scope closed. Closing the inner scope early
 * leaves nothing in the caller's, which may live long. `leave` never fails and is silent the second time.
 */
export const scoped = <L, A, E, R>(owner: {
  readonly empty: () => L
  readonly take: (lease: L, scope: Scope.Closeable) => Effect.Effect<A, E, R>
  readonly leave: (lease: L) => void
}): Effect.Effect<A, E, R | Scope.Scope> =>
  Effect.flatMap(Effect.scope, (parent) => {
    const scope = Scope.forkUnsafe(parent)
    const lease = owner.empty()
    const finalizer = Effect.sync(() => owner.leave(lease))
    return Effect.onExitPrimitive(
      Effect.andThen(Scope.addFinalizer(scope, finalizer), owner.take(lease, scope)),
      // A scope that was closed already has run the finalizer before there was anything to give back.
      (exit) =>
        exit._tag === "Failure" || scope.state._tag === "Closed"
          ? Effect.andThen(Scope.close(scope, Exit.void), finalizer)
          : undefined,
    )
  })

/**
 * Registers a lease that `fiber` has taken in this very step, in a scope of its own under the caller's, and answers.
 *
 * All of it is one step, so no interruption comes between taking and registering: it costs a quarter of a mask around an
 * effect that adds the finalizer, and a refusal has opened nothing. `leave` runs once the caller's scope closes, at once if
 * it has, and not at all after {@link forget}.
 */
export const registered = <A>(
  fiber: Fiber.Fiber<unknown, unknown>,
  leave: () => void,
  answer: (scope: Scope.Closeable) => A,
): Effect.Effect<A, never, Scope.Scope> => {
  const parent = scopeOf(fiber)
  if (parent === undefined) {
    // Against the types: nothing stays taken.
    leave()
    return noScope()
  }
  const scope = Scope.forkUnsafe(parent)
  if (scope.state._tag === "Closed") leave()
  else {
    endWith(scope, () => {
      leave()
      return Effect.void
    })
  }
  return Effect.succeed(answer(scope))
}

/** The scope of a fiber; undefined against the types. */
export const scopeOf = (fiber: Fiber.Fiber<unknown, unknown>): Scope.Scope | undefined =>
  Context.getOrUndefined(fiber.context, Scope.Scope)

/** Dies of the lookup, as it would of any other service. */
export const noScope = (): Effect.Effect<never, never, Scope.Scope> => Effect.flatMap(Effect.scope, () => Effect.never)

/**
 * What adding a finalizer makes of a scope that is open and empty. Effect has no function that does it in the step of its
 * caller.
 */
export const endWith = (scope: Scope.Closeable, finalizer: () => Effect.Effect<void>): void => {
  scope.state = { _tag: "Open", finalizerKey: scope, finalizer, finalizers: undefined }
}

/** Lets go of the scope of a lease that was given back, so that nothing of it is left in the caller's. */
export const forget = (scope: Scope.Closeable): void => {
  // What is left to run is its own finalizer alone, which would find the lease spent.
  Scope.closeUnsafe(scope, Exit.void)
}
