/**
 * Breakers and bulkheads that a user would pick instead: a call that goes through, and one that is refused. Each owns its
 * breaker for as long as it is called.
 */
import { load } from "./Peers.ts"

type Work = () => void | Promise<void>
/** Makes one call; a refusal rejects. */
export type Call = () => Promise<unknown>

interface Policy {
  readonly execute: (work: Work) => Promise<void>
}
interface Cockatiel {
  readonly handleAll: unknown
  readonly ConsecutiveBreaker: new (failures: number) => unknown
  readonly bulkhead: (permits: number, queue: number) => Policy
  readonly circuitBreaker: (
    handled: unknown,
    options: { readonly halfOpenAfter: number; readonly breaker: unknown },
  ) => Policy
  readonly wrap: (...policies: ReadonlyArray<Policy>) => Policy
}
interface OpossumOptions {
  readonly capacity?: number
  readonly timeout: number | false
  readonly resetTimeout?: number
  readonly errorThresholdPercentage?: number
  readonly volumeThreshold?: number
}
interface Opossum {
  readonly default: new (
    action: () => Promise<void>,
    options: OpossumOptions,
  ) => { readonly fire: Call; readonly open: () => void }
}

const hang = (): Promise<never> => new Promise(() => {})
const permits = 64
/** As long as a timer may be. */
const long = 2 ** 31 - 1

const cockatiel = () => load<Cockatiel>("cockatiel")
const opossum = async (
  action: () => Promise<void>,
  options: Partial<OpossumOptions>,
) =>
  new (await load<Opossum>("opossum")).default(action, {
    timeout: false,
    ...options,
  })

/** Calls of `work` that go through. */
export const calls: Readonly<
  Record<string, (work: () => void) => Promise<Call>>
> = {
  "cockatiel breaker": async (work) => {
    const { circuitBreaker, ConsecutiveBreaker, handleAll } = await cockatiel()
    const breaker = circuitBreaker(handleAll, {
      halfOpenAfter: 10_000,
      breaker: new ConsecutiveBreaker(5),
    })
    return () => breaker.execute(work)
  },
  "cockatiel bulkhead and breaker": async (work) => {
    const { bulkhead, circuitBreaker, ConsecutiveBreaker, handleAll, wrap } = await cockatiel()
    const breaker = circuitBreaker(handleAll, {
      halfOpenAfter: 10_000,
      breaker: new ConsecutiveBreaker(5),
    })
    const both = wrap(bulkhead(permits, permits), breaker)
    return () => both.execute(work)
  },
  "opossum": async (work) => {
    const circuit = await opossum(() => Promise.resolve(work()), {
      capacity: permits,
    })
    return () => circuit.fire()
  },
  "opossum with a time limit": async (work) => {
    const circuit = await opossum(() => Promise.resolve(work()), {
      capacity: permits,
      timeout: 10_000,
    })
    return () => circuit.fire()
  },
}

/** Calls that are refused, by an open circuit or for lack of a place. */
export const refusals: Readonly<
  Record<string, Readonly<Record<"open" | "full", () => Promise<Call>>>>
> = {
  cockatiel: {
    open: async () => {
      const { circuitBreaker, ConsecutiveBreaker, handleAll } = await cockatiel()
      const breaker = circuitBreaker(handleAll, {
        halfOpenAfter: long,
        breaker: new ConsecutiveBreaker(1),
      })
      await breaker.execute(() => Promise.reject(new Error("down"))).catch(
        () => {},
      )
      return () => breaker.execute(() => {})
    },
    full: async () => {
      const bulkhead = (await cockatiel()).bulkhead(1, 0)
      void bulkhead.execute(hang)
      return () => bulkhead.execute(() => {})
    },
  },
  opossum: {
    open: async () => {
      const circuit = await opossum(hang, { resetTimeout: long })
      circuit.open()
      return () => circuit.fire()
    },
    full: async () => {
      // It counts each refusal as a failure, which must not open it here.
      const circuit = await opossum(hang, {
        capacity: 1,
        errorThresholdPercentage: 101,
        volumeThreshold: 1e9,
      })
      void circuit.fire()
      return () => circuit.fire()
    },
  },
}
