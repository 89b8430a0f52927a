/**
 * Runs what the kernel's steps left to be done, after the step, in order and in bounded batches.
 *
 * Resuming a fiber runs its code at once, and that code may take the next step: it then finds the records finished, and
 * what it adds waits for its turn here. Beyond one batch a turn, the rest is run by one fiber that yields between
 * batches, so that a burst of answers starves no socket and no timer.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import type { Delivery } from "./kernel/Delivery.ts"

/** How many answers are handed over in one turn of the loop. */
export const defaultBatch = 256

export class Transition<T> {
  readonly #delivery: Delivery<T>
  readonly #perform: (item: T) => void
  readonly #batch: number
  readonly #context: Context.Context<never>
  #running = false
  #pump: Fiber.Fiber<void> | undefined = undefined

  constructor(options: {
    readonly delivery: Delivery<T>
    /** Hands one answer over. It may run any code; it never throws. */
    readonly perform: (item: T) => void
    readonly context: Context.Context<never>
    readonly batch?: number | undefined
  }) {
    this.#delivery = options.delivery
    this.#perform = options.perform
    this.#batch = options.batch ?? defaultBatch
    this.#context = options.context
  }

  /** Hands over what is there. Called after every step; inside a hand-over, or while a rest is pumped, it only returns. */
  flush(): void {
    if (this.#running || this.#delivery.size === 0 || this.#pump !== undefined) return
    shielded(this.#context, () => this.#runBatch())
  }

  /** Waits until nothing is left to hand over. */
  get idle(): Effect.Effect<void> {
    return Effect.suspend(() => {
      // Asked for inside a hand-over, by code that was resumed there: the batch goes on once that lets go.
      if (this.#running) return Effect.andThen(Effect.yieldNow, this.idle)
      return this.#pump === undefined ? Effect.void : Effect.andThen(awaitFiber(this.#pump), this.idle)
    })
  }

  #runBatch(): void {
    this.#running = true
    // A fiber that ends in here runs its observers, which may throw: the others must hear of their answers all the same.
    try {
      for (let left = this.#batch; left > 0; left--) {
        const item = this.#delivery.take()
        if (item === undefined) break
        this.#perform(item)
      }
    } finally {
      this.#running = false
      if (this.#pump === undefined && this.#delivery.size > 0) this.#pump = this.#startPump()
    }
  }

  /** The fiber belongs to no scope: whoever was granted must hear of it even while the owner closes. */
  #startPump(): Fiber.Fiber<void> {
    const turn = Effect.andThen(Effect.yieldNow, Effect.exit(Effect.sync(() => this.#runBatch())))
    const loop = Effect.whileLoop({ while: () => this.#delivery.size > 0, body: () => turn, step: () => {} })
    // What was added between the last look and this step finds no pump any more, and is handed over here.
    const done = Effect.sync(() => {
      this.#pump = undefined
      this.flush()
    })
    return Effect.runForkWith(this.#context)(Effect.uninterruptible(Effect.andThen(loop, done)))
  }
}

/**
 * Resumes fibers, whose observers may throw. That is the observer's fault alone: whoever resumed them, often a finalizer of
 * somebody else, must not die of it, so it is logged.
 */
export const shielded = (context: Context.Context<never>, resume: () => void): void => {
  try {
    resume()
  } catch (defect) {
    Effect.runForkWith(context)(Effect.logError("an observer of a resumed fiber threw", defect))
  }
}

const awaitFiber = <A, E>(fiber: Fiber.Fiber<A, E>): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const remove = fiber.addObserver(() => resume(Effect.void))
    return Effect.sync(remove)
  })
