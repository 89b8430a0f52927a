/**
 * C. Many tenants: one waiter of each, the cost of a call that finds its tenant's record or has to make it, and the bytes
 * that a tenant leaves behind once it is idle.
 *
 * Idle tenants come one after another, a million at a gate and at an Admission; up to 1,024 records are kept, so what is
 * counted begins after the first 4,096. A peer that keeps every key is given fewer. What this group is to say of keyed
 * pools waits for them.
 */
import * as Effect from "effect/Effect"
import * as PartitionedSemaphore from "effect/PartitionedSemaphore"
import * as Pool from "effect/Pool"
import * as RcMap from "effect/RcMap"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as ProviderGate from "../../../core/ProviderGate.ts"
import { body, type Case, stage, work } from "../Cases.ts"
import { bytes, cost, effects, type Gather, heap } from "../Crowd.ts"
import { LeaseFloor } from "../Floors.ts"
import * as Holdfast from "../Holdfast.ts"
import { load, type OpenEffect } from "../Peers.ts"
import { effectPeers, leaseFloor } from "../Peers.ts"
import type { Loop } from "../Rounds.ts"
import type { Emit } from "../Row.ts"
import * as Sizes from "../Sizes.ts"

const permits = 64
const number = (n: number): string => n.toLocaleString("en-US")

/** One call at a time for each key in turn. */
type Keyed = (key: string) => Effect.Effect<unknown, unknown>

// --- waiters

/** As many tenants as waiters. */
type Crowds = (n: number) => Gather
const crowds = (open: OpenEffect): Crowds => (n) => effects(open, { tenants: n })

const partitioned = effectPeers["Effect PartitionedSemaphore"]!
const floor = crowds(leaseFloor)
const subjects: ReadonlyArray<Sizes.Subject<Crowds>> = [
  { name: Holdfast.name, kind: "judged", gather: crowds(Holdfast.open), floor },
  {
    name: "Effect PartitionedSemaphore",
    kind: "peer",
    gather: crowds(partitioned),
    floor,
  },
  {
    name: "lease floor, which knows no tenants",
    kind: "floor",
    gather: floor,
    floor,
  },
]

const waiters = async (emit: Emit): Promise<void> => {
  for (let i = 0; i < 5; i++) {
    for (const { gather } of subjects) {
      await cost(gather(1_000), permits, 1_000)
    }
  }
  await Sizes.measure({
    group: "C",
    sizes: [1_000, 10_000, 100_000],
    label: (n) => `${number(n)} tenants, one waiter each`,
    cost: (gather, n) => cost(gather(n), permits, n),
    subjects,
  }, emit)
  await memory(emit)
}

/** What a waiter keeps, its fiber and, where it has one, the deadline that the fiber carries included. */
const memory = async (emit: Emit): Promise<void> => {
  const n = 50_000
  const all = {
    [Holdfast.name]: Holdfast.open,
    "Effect PartitionedSemaphore": partitioned,
    "lease floor, which looks at no deadline": leaseFloor,
  }
  for (const [subject, open] of Object.entries(all)) {
    for (const tenants of [1, n]) {
      for (const deadlines of [false, true]) {
        const whose = tenants === 1 ? "one tenant" : "as many tenants"
        const name = `memory of ${number(n)} waiters of ${whose}${deadlines ? ", with deadlines" : ""}`
        const kept = await bytes(effects(open, { tenants, deadlines }), permits, n)
        emit({ group: "C", subject, case: name, bytes: Math.round(kept) })
      }
    }
  }
}

// --- calls

const makeGate = (): Promise<ProviderGate.ProviderGate> =>
  Effect.runPromise(
    ProviderGate.make({
      concurrency: permits,
      reservedControl: 0,
      tenantConcurrency: permits,
    }),
  )
const inScope = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>): Promise<A> =>
  Effect.runPromise(Scope.provide(effect, Scope.makeUnsafe()))

const admission = async (): Promise<Keyed> => {
  const { run } = await Holdfast.make({ maxRunning: permits })
  return (tenant) => run({ tenant })(work)
}
const gate = async (): Promise<Keyed> => {
  const { run } = await makeGate()
  return (tenant) => run({ tenant }, work)
}
const keyed: Readonly<Record<string, () => Keyed | Promise<Keyed>>> = {
  [Holdfast.name]: admission,
  [Holdfast.gate]: gate,
  "Effect PartitionedSemaphore": () => {
    const semaphore = PartitionedSemaphore.makeUnsafe<string>({ permits })
    return (key) => semaphore.withPermit(key)(work)
  },
}
/** Peers that keep what they made for a key, for an hour or for ever. */
const keeping: Readonly<Record<string, () => Keyed | Promise<Keyed>>> = {
  "Map of Semaphore": () => {
    const map = new Map<string, Semaphore.Semaphore>()
    return (key) => {
      let semaphore = map.get(key)
      if (semaphore === undefined) {
        map.set(key, semaphore = Semaphore.makeUnsafe(1))
      }
      return semaphore.withPermit(work)
    }
  },
  "RcMap of Semaphore": async () => {
    const map = await inScope(
      RcMap.make({
        lookup: (_: string) => Semaphore.make(1),
        idleTimeToLive: "1 hour",
      }),
    )
    return (key) =>
      Effect.scoped(
        Effect.flatMap(RcMap.get(map, key), (semaphore) => semaphore.withPermit(work)),
      )
  },
  "RcMap of Pool": async () => {
    const lookup = (_: string) =>
      Pool.makeWithTTL({
        acquire: Effect.succeed({}),
        min: 0,
        max: 1,
        timeToLive: "1 minute",
      })
    const map = await inScope(RcMap.make({ lookup, idleTimeToLive: "1 hour" }))
    return (key) =>
      Effect.scoped(
        Effect.flatMap(
          RcMap.get(map, key),
          (pool) => Pool.use(pool, () => work),
        ),
      )
  },
  "Map of cockatiel bulkhead": async () => {
    interface Cockatiel {
      readonly bulkhead: (
        permits: number,
        queue: number,
      ) => { readonly execute: (work: () => void) => Promise<void> }
    }
    const { bulkhead } = await load<Cockatiel>("cockatiel")
    const map = new Map<string, ReturnType<Cockatiel["bulkhead"]>>()
    return (key) => {
      let one = map.get(key)
      if (one === undefined) map.set(key, one = bulkhead(1, Infinity))
      const { execute } = one
      return Effect.promise(() => execute.call(one, body))
    }
  },
}

const names = (n: number): ReadonlyArray<string> => Array.from({ length: n }, (_, i) => `tenant-${i}`)
const cycling = (call: Keyed, keys: ReadonlyArray<string>): Loop => {
  let at = 0
  const next = (): Effect.Effect<unknown, unknown> => {
    if (++at === keys.length) at = 0
    return call(keys[at]!)
  }
  return (n) => {
    let i = 0
    return Effect.runPromise(
      Effect.whileLoop({ while: () => i++ < n, body: next, step: () => {} }),
    )
  }
}

const cycles = async (emit: Emit): Promise<void> => {
  const lease = new LeaseFloor(permits)
  for (const tenants of [1_000, 100_000]) {
    const keys = names(tenants)
    const bare = cycling(() => lease.run(work), keys)
    const cases: Array<Case> = []
    for (const [subject, open] of Object.entries(keyed)) {
      cases.push({
        subject,
        case: `a call each of ${number(tenants)} tenants in turn`,
        work: cycling(await open(), keys),
        floor: bare,
      })
    }
    await stage(emit, "C", cases, bare)
  }
}

// --- idle

/** Bytes that each of `n` keys leaves behind, counted after the first `from` of them. */
const left = async (call: Keyed, n: number, from: number): Promise<number> => {
  const touch = (from: number, to: number): Promise<void> => {
    let i = from
    const next = () => call(`tenant-${i++}`)
    return Effect.runPromise(
      Effect.whileLoop({ while: () => i < to, body: next, step: () => {} }),
    )
  }
  await touch(0, from)
  const before = await heap()
  await touch(from, n)
  return Math.max(0, (await heap() - before) / (n - from))
}

const idle = async (emit: Emit): Promise<void> => {
  const count = async (all: typeof keyed, n: number): Promise<void> => {
    for (const [subject, open] of Object.entries(all)) {
      const kept = await left(await open(), n, 4_096)
      emit({
        group: "C",
        subject,
        case: `memory of an idle tenant, of ${number(n)}`,
        bytes: Math.round(kept),
      })
    }
  }
  await count(keyed, 1_000_000)
  await count(keeping, 20_000)
}

export const measure = async (emit: Emit): Promise<void> => {
  await waiters(emit)
  await cycles(emit)
  await idle(emit)
}
