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

interface Attempt<A, E> {
  readonly scope: Scope.Closeable
  readonly fiber: Fiber.Fiber<void>
  readonly exit: () => Exit.Exit<A, E> | undefined
}

/**
 * What the first attempt that succeeds came to; or the failure of the first candidate, when all have failed. The next one
 * begins {@link staggerMillis} later, or at once when one fails.
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
  readonly #attempts: Array<Attempt<A, E>> = []
  #winner: Attempt<A, E> | undefined = undefined
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
    const won = this.#attempts.find((each) => each.exit()?._tag === "Success")
    if (won !== undefined) {
      this.#winner = won
      return won.exit()!
    }
    const settled = this.#settled()
    if (settled === this.#candidates.length) return this.#attempts[0]!.exit()!
    const next = this.#candidates[this.#attempts.length]
    const begun = next === undefined ? Effect.void : this.#begin(next)
    return Effect.flatMap(Effect.andThen(begun, this.#heard(settled)), () => this.run)
  })

  /** Ends all attempts but the winner, and waits until nothing of them is left. */
  over(isWon: boolean): Effect.Effect<void> {
    const rest = this.#attempts.filter((each) => !isWon || each !== this.#winner)
    // The fiber is over before its scope is closed, so that what it took last is in there.
    const end = ({ fiber, scope }: Attempt<A, E>): Effect.Effect<void> =>
      Effect.andThen(Fiber.interrupt(fiber), Scope.close(scope, Exit.void))
    return Effect.forEach(rest, end, { concurrency: "unbounded", discard: true })
  }

  #settled(): number {
    return this.#attempts.filter((each) => each.exit() !== undefined).length
  }

  #begin(candidate: T): Effect.Effect<void> {
    return Effect.suspend(() => {
      const scope = Scope.forkUnsafe(this.#parent)
      let exit: Exit.Exit<A, E> | undefined
      const attempt = Effect.onExit(this.#attempt(candidate, scope), (ended) => {
        const told = Effect.sync(() => {
          exit = ended
          this.#wake()
        })
        return Exit.isSuccess(ended) ? told : Effect.andThen(Scope.close(scope, ended), told)
      })
      const begun = Effect.forkDetach(Effect.asVoid(Effect.exit(attempt)), { startImmediately: true })
      // No interruption comes between beginning it and knowing of it.
      return Effect.uninterruptible(
        Effect.map(begun, (fiber) => void this.#attempts.push({ scope, fiber, exit: () => exit })),
      )
    })
  }

  /** Waits until more attempts than `settled` have ended; where there is a next one, for {@link staggerMillis} at most. */
  #heard(settled: number): Effect.Effect<void> {
    // Looked at in the step that begins to wait: between two steps another attempt may end.
    const more = Effect.callback<void>((resume) => {
      if (this.#settled() > settled) return resume(Effect.void)
      this.#wake = () => resume(Effect.void)
    })
    return Effect.suspend(() =>
      this.#attempts.length === this.#candidates.length
        ? more
        : Effect.asVoid(Effect.timeoutOption(more, staggerMillis))
    )
  }
}
