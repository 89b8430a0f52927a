/** What is explored: a program of a few fibers, and what must hold at its end. Owns nothing. */
import type * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"

/** The program's own fibers by name; each may start more. */
export type Fibers = Readonly<Record<string, Effect.Effect<unknown, unknown>>>

/** How each of them ended. */
export type Exits<F extends Fibers> = {
  readonly [K in keyof F]: F[K] extends Effect.Effect<infer A, infer E> ? Exit.Exit<A, E> : never
}

/**
 * How many steps each of them has made since it was last interrupted from outside; who was not is not in it. One that takes more
 * than its finalizers need has swallowed the interruption and gone on.
 */
export type Interrupted<F extends Fibers> = { readonly [K in keyof F]?: number }

/** What a schedule may end with though it would be a failure otherwise. */
export type Allowed = "defects" | "fibers" | "timers" | "unanswered"

export interface Program<S, F extends Fibers> {
  /**
   * Makes everything that a run starts from, for each run anew. What it starts may go on into the run. The scope is
   * closed after the oracle, but for a run that was wrong by then, of which all is dropped: nothing here is real. While this,
   * the oracle or the closing goes on, nothing is chosen: each is run in one order, that of who is ready first.
   */
  readonly prepare: Effect.Effect<S, unknown, Scope.Scope>
  /** The fibers, all ready at the same time. Their names are letters, digits and `_`. */
  readonly fibers: (state: S) => F
  /**
   * Judges the end, before the scope is closed: throws, or is an effect that fails, if something is wrong. A fiber that
   * died is wrong in any case, and without an oracle so is one that failed.
   */
  readonly oracle?:
    | ((state: S, exits: Exits<F>, interrupted: Interrupted<F>) => Effect.Effect<unknown, unknown> | void)
    | undefined
  /**
   * Shows all that one fiber can change and another can see, and thereby prunes the search: from a state that it has been
   * in, it does not go on a second time. It is asked after each step.
   *
   * Objects are compared by identity and by all that they lead to, so `(state) => state` will do where the state is made of
   * plain objects, arrays, maps, sets, dates, errors, buffers, contexts of services and Effect's own parts. What cannot be
   * read in full, such as a `URL` or one of a class with private fields, is refused as `Uncontrolled`; tell what it holds
   * as numbers or text. So must be told what lies in closures, as with `Effect.cached`, `PartitionedSemaphore`, `Pool` and
   * `WeakMap`s that code keeps for itself, behind a `Proxy`, in what a fiber was given, and in what only fibers have that
   * share it from one to the other; and which of several objects of the same class and content a fiber ended with, where
   * only code knows them apart: that cannot be seen, nor that there is anything. What is made anew for the telling is taken for
   * something new each time, unless it is the outermost object or array. What is not shown could make the search leave out what
   * it should not: it checks itself as it goes on, and fails with `Uncontrolled` where it sees that.
   */
  readonly shared?: ((state: S) => unknown) | undefined
  /**
   * Names of fibers that are the same but for their names, for an oracle that does not care who is who: of those that have
   * not begun only the first is tried as the next one, since another one in its place would do the same under its name.
   */
  readonly alike?: ReadonlyArray<keyof F & string> | undefined
  /**
   * What may be left or happen: fibers that the program started and that have not ended, timers that are set, a death of
   * one of its own fibers, and a callback that is for the program's own fibers though none of them makes it.
   */
  readonly allow?: ReadonlyArray<Allowed> | undefined
}
