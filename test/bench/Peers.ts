/**
 * What a user would pick instead, behind one shape each for Effects and for promises. Each `open` owns fresh permits.
 *
 * The promise libraries are installed by run.ts and named here only at run time, so that checking types needs none of them.
 */
import * as Effect from "effect/Effect"
import * as PartitionedSemaphore from "effect/PartitionedSemaphore"
import * as Semaphore from "effect/Semaphore"
import { LeaseFloor, PromiseFloor } from "./Floors.ts"

export interface Key {
  readonly tenant: string
  readonly provider: string
}

export interface EffectBulkhead {
  readonly run: (
    key: Key,
    work: Effect.Effect<void>,
  ) => Effect.Effect<void, unknown>
  /** Permits that nobody holds. */
  readonly free: () => number | Promise<number>
}

export interface PromiseBulkhead {
  readonly run: (
    work: () => void | Promise<void>,
    signal?: AbortSignal,
  ) => Promise<unknown>
  readonly free?: () => number
}

export type OpenEffect = (
  permits: number,
) => EffectBulkhead | Promise<EffectBulkhead>
export type OpenPromise = (
  permits: number,
) => PromiseBulkhead | Promise<PromiseBulkhead>

export const leaseFloor: OpenEffect = (permits) => {
  const floor = new LeaseFloor(permits)
  return { run: (_, work) => floor.run(work), free: () => floor.free }
}

export const promiseFloor: OpenPromise = (permits) => {
  const floor = new PromiseFloor(permits)
  return { run: (work) => floor.run(work) }
}

export const effectPeers: Readonly<Record<string, OpenEffect>> = {
  "Effect Semaphore": (permits) => {
    const semaphore = Semaphore.makeUnsafe(permits)
    return {
      run: (_, work) => semaphore.withPermit(work),
      free: () => taken(semaphore, permits),
    }
  },
  "Effect PartitionedSemaphore": (permits) => {
    const semaphore = PartitionedSemaphore.makeUnsafe<string>({ permits })
    return {
      run: (key, work) => semaphore.withPermit(key.tenant)(work),
      free: () => Effect.runPromise(PartitionedSemaphore.available(semaphore)),
    }
  },
}

/** A Semaphore does not say what is free; taking it does. */
const taken = async (
  semaphore: Semaphore.Semaphore,
  permits: number,
): Promise<number> => {
  let free = 0
  while (
    free <= permits && await Effect.runPromise(semaphore.takeIfAvailable(1))
  ) free++
  return free
}

type Work = () => void | Promise<void>
interface PLimit {
  readonly default: (concurrency: number) => (work: Work) => Promise<void>
}
interface PQueue {
  readonly default: new (options: { readonly concurrency: number }) => {
    readonly add: (
      work: Work,
      options?: { readonly signal?: AbortSignal | undefined },
    ) => Promise<void>
    readonly pending: number
  }
}
interface AsyncMutex {
  readonly Semaphore: new (
    permits: number,
  ) => { readonly runExclusive: (work: Work) => Promise<void> }
}
interface AsyncSema {
  readonly Sema: new (
    permits: number,
  ) => {
    readonly acquire: () => Promise<unknown>
    readonly release: () => void
  }
}
interface Cockatiel {
  readonly bulkhead: (permits: number, queue: number) => {
    readonly execute: (work: Work, signal?: AbortSignal) => Promise<void>
    readonly executionSlots: number
  }
}
interface Opossum {
  readonly default: new (
    action: (work: Work) => Promise<void>,
    options: { readonly capacity: number; readonly timeout: false },
  ) => { readonly fire: (work: Work) => Promise<void> }
}

/** A peer by its name; the types are those of whoever asks. */
export const load = async <A>(name: string): Promise<A> => await import(name) as A

export const promisePeers: Readonly<Record<string, OpenPromise>> = {
  "p-limit": async (permits) => ({
    run: (await load<PLimit>("p-limit")).default(permits),
  }),
  "p-queue": async (permits) => {
    const queue = new (await load<PQueue>("p-queue")).default({
      concurrency: permits,
    })
    return {
      run: (work, signal) => queue.add(work, { signal }),
      free: () => permits - queue.pending,
    }
  },
  "async-mutex": async (permits) => {
    const semaphore = new (await load<AsyncMutex>("async-mutex")).Semaphore(
      permits,
    )
    return { run: (work) => semaphore.runExclusive(work) }
  },
  "async-sema": async (permits) => {
    const semaphore = new (await load<AsyncSema>("async-sema")).Sema(permits)
    const run = async (work: Work): Promise<void> => {
      await semaphore.acquire()
      try {
        await work()
      } finally {
        semaphore.release()
      }
    }
    return { run }
  },
  "cockatiel bulkhead": async (permits) => {
    const bulkhead = (await load<Cockatiel>("cockatiel")).bulkhead(
      permits,
      Infinity,
    )
    return {
      run: (work, signal) => bulkhead.execute(work, signal),
      free: () => bulkhead.executionSlots,
    }
  },
}

/** Has no queue, so that it takes part in group A alone. */
export const opossum: OpenPromise = async (permits) => {
  const Circuit = (await load<Opossum>("opossum")).default
  const circuit = new Circuit((work) => Promise.resolve(work()), {
    capacity: permits,
    timeout: false,
  })
  return { run: (work) => circuit.fire(work) }
}
