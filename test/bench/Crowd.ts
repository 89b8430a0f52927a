/**
 * Holders that keep every permit until the crowd is let in, and the waiters that queue behind them. It owns the bulkhead
 * that it opens, which ends with the crowd. Effects are forked one root fiber a waiter, as a server forks one a request.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { setImmediate } from "node:timers"
import process from "node:process"
import * as Deadline from "../../core/Deadline.ts"
import { Limit } from "./Floors.ts"
import { countdown, gate, settled } from "./Gate.ts"
import type { OpenEffect, OpenPromise } from "./Peers.ts"

export interface Crowd {
  /** Queues `n` waiters; each calls `served` when its turn has come. */
  readonly queue: (n: number, served: () => void) => void
  readonly open: () => void
}
export type Gather = (permits: number) => Crowd | Promise<Crowd>

export interface Kind {
  /** How many tenants take turns; one if left out. */
  readonly tenants?: number
  /** Whether each waiter carries a deadline of its own, in no order. */
  readonly deadlines?: boolean
}

const holder = { tenant: "holder", provider: "holder" }

export const effects = (open: OpenEffect, kind: Kind = {}): Gather => async (permits) => {
  const tenants = kind.tenants ?? 1
  const bulkhead = await open(permits)
  const held = Effect.runSync(Deferred.make<void>())
  for (let i = 0; i < permits; i++) {
    Effect.runFork(bulkhead.run(holder, Deferred.await(held)))
  }
  const { atNanos, clock } = await Effect.runPromise(
    Deadline.after("1 minute"),
  )
  const queue = (n: number, served: () => void): void => {
    const work = Effect.sync(served)
    const key = (i: number) => ({
      tenant: `tenant-${i}`,
      provider: "provider",
    })
    const calls = Array.from(
      { length: tenants },
      (_, i) => bulkhead.run(key(i), work),
    )
    for (let i = 0; i < n; i++) {
      const call = calls[i % tenants] ?? work
      if (kind.deadlines !== true) Effect.runFork(call)
      else {
        const own = { atNanos: atNanos + ((i * 7919) % 10_007) * 1e6, clock }
        Effect.runFork(Effect.provideService(call, Deadline.Current, own))
      }
    }
  }
  return {
    queue,
    open: () => void Effect.runFork(Deferred.succeed(held, undefined)),
  }
}

export const promises = (open: OpenPromise): Gather => async (permits) => {
  const { run } = await open(permits)
  const held = gate()
  for (let i = 0; i < permits; i++) void run(() => held.opened)
  const queue = (n: number, served: () => void): void => {
    for (let i = 0; i < n; i++) void run(served)
  }
  return { queue, open: held.open }
}

export const bare: Gather = (permits) => {
  const limit = new Limit(permits)
  for (let i = 0; i < permits; i++) limit.tryAcquire()
  const queue = (n: number, served: () => void): void => {
    const granted = (): void => {
      served()
      limit.release()
    }
    for (let i = 0; i < n; i++) limit.acquire(granted)
  }
  const open = (): void => {
    for (let i = 0; i < permits; i++) limit.release()
  }
  return { queue, open }
}

/** Nanoseconds a waiter, of queueing and of being served until the last body ran. */
export const cost = async (
  gather: Gather,
  permits: number,
  n: number,
): Promise<number> => {
  const crowd = await gather(permits)
  await settled()
  const served = countdown(n)
  const started = performance.now()
  crowd.queue(n, served.one)
  const queued = performance.now()
  await settled() // waiters that start lazily are in the line now, outside of both timings
  const opened = performance.now()
  crowd.open()
  await served.reached
  return ((queued - started + performance.now() - opened) * 1e6) / n
}

/** The longest turn of the loop in milliseconds, from letting them in until the last of `n` was served. */
export const longestTurn = async (
  gather: Gather,
  permits: number,
  n: number,
): Promise<number> => {
  const crowd = await gather(permits)
  await settled()
  const served = countdown(n)
  crowd.queue(n, served.one)
  await settled()
  let longest = 0
  let last = performance.now()
  let over = false
  const watched = new Promise<void>((resolve) => {
    const look = (): void => {
      const now = performance.now()
      longest = Math.max(longest, now - last)
      last = now
      if (over) resolve()
      else setImmediate(look)
    }
    setImmediate(look)
  })
  crowd.open()
  await served.reached
  over = true
  await watched
  return longest
}

/** Bytes of heap that one of `n` waiters keeps. */
export const bytes = async (
  gather: Gather,
  permits: number,
  n: number,
): Promise<number> => {
  const crowd = await gather(permits)
  await settled()
  const before = await heap()
  const served = countdown(n)
  crowd.queue(n, served.one)
  await settled()
  const kept = (await heap() - before) / n
  crowd.open()
  await served.reached
  return kept
}

/**
 * Bytes in use after a collection. Nothing that is timed stands behind one: a collection on demand also throws away the
 * compiled code of whatever rested for a few of them, and so slows every other subject in turn.
 */
export const heap = async (): Promise<number> => {
  const collect = (globalThis as { readonly gc?: () => void }).gc
  collect?.()
  await settled()
  collect?.()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
