/**
 * The floors: what the data structure alone costs, and the least that a promise or an Effect costs around it.
 *
 * A limit is synchronous and has no fiber, error or validation. The promise floor is a limit inside one async function. The
 * lease floor is the smallest leak-free Effect on public API: one lease object a request, whose exit finalizer is
 * installed before anything is taken and either leaves the queue or gives the permit back; no mask, no uninterruptible
 * region. Each class owns its permits and its waiters, and lets go of them in `release`, `cancel` and `exit`.
 */
import * as Effect from "effect/Effect"

/** Power-of-two ring buffer. */
class Ring<A> {
  private items: Array<A | undefined> = new Array(16).fill(undefined)
  private head = 0
  size = 0

  push(item: A): void {
    if (this.size === this.items.length) this.grow()
    this.items[(this.head + this.size++) & (this.items.length - 1)] = item
  }

  shift(): A | undefined {
    if (this.size === 0) return undefined
    const item = this.items[this.head]
    this.items[this.head] = undefined
    this.head = (this.head + 1) & (this.items.length - 1)
    this.size--
    return item
  }

  private grow(): void {
    const old = this.items
    this.items = new Array(old.length * 2).fill(undefined)
    for (let i = 0; i < this.size; i++) {
      this.items[i] = old[(this.head + i) & (old.length - 1)]
    }
    this.head = 0
  }
}

/** Permits and first-in-first-out waiters that cannot leave. A waiter may release inside its own grant. */
export class Limit {
  free: number
  private readonly waiters = new Ring<() => void>()
  private busy = false

  constructor(permits: number) {
    this.free = permits
  }

  tryAcquire(): boolean {
    return this.free > 0 && (this.free--, true)
  }

  acquire(granted: () => void): void {
    if (this.tryAcquire()) granted()
    else this.waiters.push(granted)
  }

  release(): void {
    this.free++
    if (this.busy) return
    this.busy = true
    while (this.free > 0 && this.waiters.size > 0) {
      this.free--
      this.waiters.shift()?.()
    }
    this.busy = false
  }
}

/** What a {@link LeavableLimit} keeps of a waiter: its place, and what to call when its turn comes. */
export abstract class Place {
  list: Places | undefined = undefined
  previous: Place | undefined = undefined
  next: Place | undefined = undefined
  abstract granted(): void
}

/** Doubly linked, so that anybody leaves in O(1). */
class Places {
  head: Place | undefined = undefined
  tail: Place | undefined = undefined

  push(place: Place): void {
    place.list = this
    place.next = undefined
    place.previous = this.tail
    if (this.tail !== undefined) this.tail.next = place
    else this.head = place
    this.tail = place
  }

  remove(place: Place): void {
    if (place.list !== this) return
    if (place.previous !== undefined) place.previous.next = place.next
    else this.head = place.next
    if (place.next !== undefined) place.next.previous = place.previous
    else this.tail = place.previous
    place.list = place.next = place.previous = undefined
  }
}

/** A limit whose waiters can leave from anywhere in the line. */
export class LeavableLimit {
  free: number
  private readonly places = new Places()
  private busy = false

  constructor(permits: number) {
    this.free = permits
  }

  acquire(place: Place): void {
    if (this.free > 0) {
      this.free--
      place.granted()
    } else this.places.push(place)
  }

  cancel(place: Place): void {
    this.places.remove(place)
  }

  release(): void {
    this.free++
    if (this.busy) return
    this.busy = true
    for (
      let place = this.places.head;
      this.free > 0 && place !== undefined;
      place = this.places.head
    ) {
      this.places.remove(place)
      this.free--
      place.granted()
    }
    this.busy = false
  }
}

/** A place with a callback, for measuring the limit by itself. */
export class CallbackPlace extends Place {
  private readonly callback: () => void

  constructor(callback: () => void) {
    super()
    this.callback = callback
  }

  granted(): void {
    this.callback()
  }
}

/** One line a key, keys served in rotation: the best that is possible in fairness between keys. */
export class RotatingLimit {
  private free: number
  private readonly lines = new Map<string, Array<() => void>>()

  constructor(permits: number) {
    this.free = permits
  }

  acquire(key: string, granted: () => void): void {
    if (this.free > 0) {
      this.free--
      granted()
      return
    }
    const line = this.lines.get(key)
    if (line === undefined) this.lines.set(key, [granted])
    else line.push(granted)
  }

  release(): void {
    this.free++
    for (const [key, line] of this.lines) {
      this.lines.delete(key)
      this.free--
      const granted = line.shift()
      if (line.length > 0) this.lines.set(key, line)
      granted?.()
      return
    }
  }
}

export class PromiseFloor {
  private readonly limit: Limit

  constructor(permits: number) {
    this.limit = new Limit(permits)
  }

  async run<A>(work: () => A | Promise<A>): Promise<A> {
    if (!this.limit.tryAcquire()) {
      await new Promise<void>((granted) => this.limit.acquire(granted))
    }
    try {
      return await work()
    } finally {
      this.limit.release()
    }
  }
}

/** The same for callers that may abort. */
export class AbortFloor {
  private readonly limit: LeavableLimit

  constructor(permits: number) {
    this.limit = new LeavableLimit(permits)
  }

  get free(): number {
    return this.limit.free
  }

  run<A>(work: () => A | Promise<A>, signal?: AbortSignal): Promise<A> {
    return new Promise<A>((resolve, reject) => {
      const leave = (): void => {
        this.limit.cancel(place)
        reject(signal?.reason)
      }
      const place = new CallbackPlace(() => {
        signal?.removeEventListener("abort", leave)
        const result = work()
        if (result instanceof Promise) {
          result.finally(() => this.limit.release())
        } else this.limit.release()
        resolve(result)
      })
      signal?.addEventListener("abort", leave)
      this.limit.acquire(place)
    })
  }
}

export class LeaseFloor {
  private readonly limit: LeavableLimit

  constructor(permits: number) {
    this.limit = new LeavableLimit(permits)
  }

  get free(): number {
    return this.limit.free
  }

  run<A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    const limit = this.limit
    return Effect.suspend(() => {
      const lease = new Lease(limit, work)
      return Effect.onExitPrimitive(
        Effect.suspend(() => lease.take()),
        () => lease.exit(),
      )
    })
  }

  /** The least that a refusal can cost: a plain tagged value in the place of a wait. */
  runOrRefuse<A, E, R>(
    work: Effect.Effect<A, E, R>,
  ): Effect.Effect<A, E | { readonly _tag: "Full" }, R> {
    return Effect.suspend((): Effect.Effect<
      A,
      E | { readonly _tag: "Full" },
      R
    > => this.limit.free > 0 ? this.run(work) : Effect.fail({ _tag: "Full" }))
  }
}

type LeaseState = "new" | "waiting" | "held" | "done"

class Lease<A, E, R> extends Place {
  private readonly limit: LeavableLimit
  private readonly work: Effect.Effect<A, E, R>
  private state: LeaseState = "new"
  private resume: ((work: Effect.Effect<A, E, R>) => void) | undefined = undefined

  constructor(limit: LeavableLimit, work: Effect.Effect<A, E, R>) {
    super()
    this.limit = limit
    this.work = work
  }

  take(): Effect.Effect<A, E, R> {
    if (this.limit.free > 0) {
      this.limit.free--
      this.state = "held"
      return this.work
    }
    this.state = "waiting"
    return Effect.callback<A, E, R>((resume) => {
      this.resume = resume
      this.limit.acquire(this)
    })
  }

  granted(): void {
    this.state = "held"
    this.resume?.(this.work)
  }

  exit(): undefined {
    const state = this.state
    this.state = "done"
    if (state === "held") this.limit.release()
    else if (state === "waiting") this.limit.cancel(this)
    return undefined
  }
}

/** What a breaker and a bulkhead have to look at and to count, and no more. */
export class Guard {
  free: number
  failures = 0
  openUntil = 0

  constructor(permits: number) {
    this.free = permits
  }

  get isShut(): boolean {
    return this.openUntil > 0 || this.free === 0
  }
}

/** The lease floor with a breaker check: one exit finalizer over what a {@link Guard} keeps. */
export const guarded = <A, E, R>(
  guard: Guard,
  work: Effect.Effect<A, E, R>,
): Effect.Effect<A, E | "shut", R> =>
  Effect.suspend(() => {
    let held = false
    return Effect.onExitPrimitive(
      Effect.suspend((): Effect.Effect<A, E | "shut", R> => {
        if (guard.isShut) return Effect.fail("shut")
        guard.free--
        held = true
        return work
      }),
      (exit) => {
        if (!held) return undefined
        guard.free++
        if (exit._tag === "Success") guard.failures = 0
        return undefined
      },
    )
  })

/** The same as an async function. */
export const guardedPromise = (guard: Guard, work: () => void | Promise<void>) =>
async (): Promise<
  void
> => {
  if (guard.isShut) throw new Error("shut")
  guard.free--
  try {
    await work()
    guard.failures = 0
  } catch (error) {
    guard.failures++
    throw error
  } finally {
    guard.free++
  }
}
