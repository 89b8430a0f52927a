/**
 * Several addresses of one name, tried one after another without waiting for one to fail: RFC 8305, "Happy Eyeballs". Each
 * attempt is owned; when it is over, however it ends, all but the winner are closed.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import type { Address } from "./SocketTarget.ts"

/** How long an attempt has to itself: the 250 ms that RFC 8305 recommends in section 8. */
export const staggerMillis = 250

/** By turns of the two kinds, the kind of the first one first (RFC 8305, section 4, with a count of one). */
export const order = (addresses: ReadonlyArray<Address>): ReadonlyArray<Address> => {
  const kind = addresses[0]?.family
  const first = addresses.filter(({ family }) => family === kind)
  const second = addresses.filter(({ family }) => family !== kind)
  return Array.from({ length: Math.max(first.length, second.length) }, (_, i) => [first[i], second[i]])
    .flat().filter((address) => address !== undefined)
}

/**
 * How many attempts are under way at a time: a name may have hundreds of addresses, and RFC 8305 names no bound of its own. When
 * so many are, the next one begins once one of them has failed.
 */
export const maxAttempts = 8

interface Attempt {
  readonly scope: Scope.Closeable
  readonly fiber: Fiber.Fiber<void>
}

/**
 * What the first attempt that succeeds came to; or the failure of the first candidate, when all have failed. The next one
 * begins {@link staggerMillis} later, or at once when one fails, but no more than {@link maxAttempts} are under way.
 *
 * An attempt owns what it takes by the scope that it is given: one under `parent`, or `parent` itself where there is a single
 * candidate, whose scope is then the caller's to close.
 */
export const race = <T, A, E>(
  candidates: readonly [T, ...ReadonlyArray<T>],
  parent: Scope.Closeable,
  attempt: (candidate: T, scope: Scope.Closeable) => Effect.Effect<A, E>,
): Effect.Effect<A, E> =>
  Effect.suspend(() => {
    if (candidates.length === 1) return attempt(candidates[0], parent)
    const heat = new Heat(parent, candidates, attempt)
    return Effect.onExitPrimitive(heat.run, (exit) => heat.over(Exit.isSuccess(exit)))
  })

class Heat<T, A, E> {
  readonly #parent: Scope.Scope
  readonly #candidates: ReadonlyArray<T>
  readonly #attempt: (candidate: T, scope: Scope.Closeable) => Effect.Effect<A, E>
  /** Those that have begun, by the place of their candidate. */
  readonly #attempts: Array<Attempt> = []
  #failed = 0
  #first: Exit.Exit<A, E> | undefined = undefined
  #won: { readonly place: number; readonly exit: Exit.Exit<A, E> } | undefined = undefined
  #wake = (): void => {}

  constructor(
    parent: Scope.Scope,
    candidates: ReadonlyArray<T>,
    attempt: (candidate: T, scope: Scope.Closeable) => Effect.Effect<A, E>,
  ) {
    this.#parent = parent
    this.#candidates = candidates
    this.#attempt = attempt
  }

  readonly run: Effect.Effect<A, E> = Effect.suspend((): Effect.Effect<A, E> => {
    if (this.#won !== undefined) return this.#won.exit
    const failed = this.#failed
    if (failed === this.#candidates.length) return this.#first!
    const begun = this.#mayBegin ? this.#begin(this.#attempts.length) : Effect.void
    return Effect.flatMap(Effect.andThen(begun, this.#heard(failed)), () => this.run)
  })

  /** Ends all attempts but the winner, and waits until nothing of them is left. */
  over(isWon: boolean): Effect.Effect<void> {
    const rest = this.#attempts.filter((_, place) => !isWon || place !== this.#won?.place)
    // The fiber is over before its scope is closed, so that what it took last is in there.
    const end = ({ fiber, scope }: Attempt): Effect.Effect<void> =>
      Effect.andThen(Fiber.interrupt(fiber), Scope.close(scope, Exit.void))
    return Effect.forEach(rest, end, { concurrency: "unbounded", discard: true })
  }

  get #mayBegin(): boolean {
    const { length } = this.#attempts
    return length < this.#candidates.length && length - this.#failed < maxAttempts
  }

  #begin(place: number): Effect.Effect<void> {
    return Effect.suspend(() => {
      const scope = Scope.forkUnsafe(this.#parent)
      const attempt = Effect.onExit(this.#attempt(this.#candidates[place]!, scope), (exit) => {
        const told = Effect.sync(() => this.#settle(place, exit))
        return Exit.isSuccess(exit) ? told : Effect.andThen(Scope.close(scope, exit), told)
      })
      const begun = Effect.forkDetach(Effect.asVoid(Effect.exit(attempt)), { startImmediately: true })
      // No interruption comes between beginning it and knowing of it.
      return Effect.uninterruptible(
        Effect.map(begun, (fiber) => void this.#attempts.push({ scope, fiber })),
      )
    })
  }

  #settle(place: number, exit: Exit.Exit<A, E>): void {
    if (Exit.isSuccess(exit)) this.#won ??= { place, exit }
    else {
      this.#failed++
      if (place === 0) this.#first = exit
    }
    this.#wake()
  }

  /**
   * Waits until one has won or more than `failed` have failed; where the next one may begin, for {@link staggerMillis} at most.
   */
  #heard(failed: number): Effect.Effect<void> {
    // Looked at in the step that begins to wait: between two steps another attempt may end.
    const more = Effect.callback<void>((resume) => {
      if (this.#won !== undefined || this.#failed > failed) return resume(Effect.void)
      this.#wake = () => resume(Effect.void)
    })
    return Effect.suspend(() => this.#mayBegin ? Effect.asVoid(Effect.timeoutOption(more, staggerMillis)) : more)
  }
}
