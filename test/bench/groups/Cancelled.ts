/**
 * D. Waiters that leave: n queue behind 64 held permits, every second one is cancelled.
 *
 * The cost of a cancellation is that until its caller has seen the outcome, work that was put off included. Then the gate
 * opens, and a measurement counts only if every other waiter is served and every permit comes back.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { AbortFloor, CallbackPlace, LeavableLimit } from "../Floors.ts"
import { type Countdown, countdown, gate, settled } from "../Gate.ts"
import * as Holdfast from "../Holdfast.ts"
import { effectPeers, leaseFloor, type OpenEffect, type OpenPromise, promisePeers } from "../Peers.ts"
import type { Emit } from "../Row.ts"
import * as Sizes from "../Sizes.ts"

const permits = 64

interface Crowd {
  /** Queues one waiter and gives what cancels it; one of the two is called in the end. */
  readonly wait: (
    at: number,
    served: () => void,
    gone: () => void,
  ) => () => void
  readonly open: () => void
  readonly free: () => number | Promise<number>
  /** The caller of this peer hears of its cancellation only when its turn comes. */
  readonly late?: boolean
}
type Gather = () => Crowd | Promise<Crowd>

const key = { tenant: "tenant", provider: "provider" }

const effects = (open: OpenEffect): Gather => async () => {
  const bulkhead = await open(permits)
  const held = Effect.runSync(Deferred.make<void>())
  for (let i = 0; i < permits; i++) {
    Effect.runFork(bulkhead.run(key, Deferred.await(held)))
  }
  return {
    wait: (_, served, gone) => {
      const fiber = Effect.runFork(bulkhead.run(key, Effect.sync(served)))
      fiber.addObserver((exit) => {
        if (exit._tag === "Failure") gone()
      })
      return () => fiber.interruptUnsafe()
    },
    open: () => void Effect.runFork(Deferred.succeed(held, undefined)),
    free: bulkhead.free,
  }
}

const promises = (open: OpenPromise, late = false): Gather => async () => {
  const { run, free } = await open(permits)
  const held = gate()
  for (let i = 0; i < permits; i++) void run(() => held.opened)
  return {
    wait: (_, served, gone) => {
      const controller = new AbortController()
      run(served, controller.signal).catch(gone)
      return () => controller.abort()
    },
    open: held.open,
    free: free ?? (() => NaN),
    late,
  }
}

const bare: Gather = () => {
  const limit = new LeavableLimit(permits)
  const held = gate()
  for (let i = 0; i < permits; i++) {
    limit.acquire(
      new CallbackPlace(() => void held.opened.then(() => limit.release())),
    )
  }
  const wait: Crowd["wait"] = (_, served, gone) => {
    const place = new CallbackPlace(() => {
      served()
      limit.release()
    })
    limit.acquire(place)
    return () => {
      limit.cancel(place)
      gone()
    }
  }
  return { wait, open: held.open, free: () => limit.free }
}

const abortFloor: OpenPromise = (permits) => {
  const floor = new AbortFloor(permits)
  return Promise.resolve({
    run: (work, signal) => floor.run(work, signal),
    free: () => floor.free,
  })
}

/** Nanoseconds a cancelled waiter. */
const cost = async (gather: Gather, n: number): Promise<number> => {
  const crowd = await gather()
  await settled()
  const served = countdown(Math.floor(n / 2))
  const gone = countdown(Math.ceil(n / 2))
  const cancels: Array<() => void> = []
  for (let i = 0; i < n; i++) {
    const cancel = crowd.wait(i, served.one, gone.one)
    if (i % 2 === 0) cancels.push(cancel)
  }
  await settled()
  const started = performance.now()
  for (const cancel of cancels) cancel()
  if (crowd.late) crowd.open()
  await gone.reached
  await settled()
  const spent = performance.now() - started
  crowd.open()
  await conserved(crowd, served)
  return (spent * 1e6) / cancels.length
}

const conserved = async (crowd: Crowd, served: Countdown): Promise<void> => {
  await served.reached
  await settled()
  const free = await crowd.free()
  if (free !== permits) {
    throw new Error(
      `after the cancellations ${free} of ${permits} permits are free`,
    )
  }
}

type Subject = Sizes.Subject<Gather>

const lease = effects(leaseFloor)
const abort = promises(abortFloor)
const subjects = [
  {
    name: Holdfast.name,
    kind: "judged",
    gather: effects(Holdfast.open),
    floor: lease,
  },
  ...Object.entries(effectPeers).map(([name, open]): Subject => (
    { name, kind: "peer", gather: effects(open), floor: lease }
  )),
  ...Object.entries(promisePeers).filter(([name]) => name === "p-queue" || name === "cockatiel bulkhead")
    .map(([name, open]): Subject => (
      {
        name,
        kind: "peer",
        gather: promises(open, name !== "p-queue"),
        floor: abort,
      }
    )),
  { name: "limit", kind: "floor", gather: bare, floor: lease },
  { name: "abort floor", kind: "floor", gather: abort, floor: lease },
  { name: "lease floor", kind: "floor", gather: lease, floor: lease },
] satisfies ReadonlyArray<Subject>

export const measure = async (emit: Emit): Promise<void> => {
  for (let i = 0; i < 5; i++) {
    for (const { gather } of subjects) await cost(gather, 1000)
  }
  const label = (n: number): string => `cancel half of ${n.toLocaleString("en-US")}`
  await Sizes.measure({
    group: "D",
    sizes: [1000, 10_000, 40_000],
    label,
    cost,
    subjects,
  }, emit)
}
