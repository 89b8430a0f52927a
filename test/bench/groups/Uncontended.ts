/** A. Enter and leave while a permit is free: one caller at a time, one permit of 64, the same trivial body. */
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import * as Deadline from "../../../core/Deadline.ts"
import { again, always, body, type Case, inFiber, inLoop, stage, work } from "../Cases.ts"
import { LeaseFloor, Limit, PromiseFloor } from "../Floors.ts"
import * as Holdfast from "../Holdfast.ts"
import { high, median } from "../Interval.ts"
import { effectPeers, opossum, promisePeers } from "../Peers.ts"
import type { Loop } from "../Rounds.ts"
import type { Emit } from "../Row.ts"

const permits = 64
const key = { tenant: "tenant", provider: "provider" }

const uncontended = (subject: string, work: Loop, floor?: Loop): Case => (
  { subject, case: "uncontended", work, ...(floor && { floor }) }
)
const holdfast = (name: string, work: Loop, floor: Loop): Case => ({
  subject: Holdfast.name,
  case: name,
  work,
  floor,
})

const lease = new LeaseFloor(permits)
const leaseFloor = again(lease.run(work))
const leaseAnew = inFiber(() => lease.run(work))
const refusalFloor = again(
  Effect.catch(new LeaseFloor(0).runOrRefuse(work), () => Effect.void),
)
const promise = new PromiseFloor(permits)
const promiseFloor = inLoop(() => promise.run(body))
const limit = new Limit(permits)
const bare: Loop = (n) => {
  for (let i = 0; i < n; i++) {
    if (limit.tryAcquire()) {
      body()
      limit.release()
    }
  }
}

/** The first case must stay the one that is compared to PartitionedSemaphore, which must stay the last. */
const runs = async (): Promise<ReadonlyArray<Case>> => {
  const admission = await Holdfast.make({ maxRunning: permits })
  const deadline = await Effect.runPromise(Deadline.after("1 hour"))
  const urgent = admission.run({ ...key, priority: "control" })(work)
  const withDeadline: Loop = (n) => {
    let i = 0
    const calls = Effect.whileLoop({
      while: () => i++ < n,
      body: always(urgent),
      step: () => {},
    })
    return Effect.runPromise(Deadline.provide(deadline)(calls))
  }
  const cases = [
    holdfast(
      "run, tenant and provider",
      again(admission.run(key)(work)),
      leaseFloor,
    ),
    holdfast("run, priority and deadline", withDeadline, leaseFloor),
    holdfast(
      "run, a new ask each time",
      inFiber(() => admission.run({ ...key })(work)),
      leaseAnew,
    ),
    uncontended("any effect", again(work)),
    uncontended("lease floor", leaseFloor),
    uncontended("lease floor, made each time", leaseAnew),
  ]
  for (const [subject, open] of Object.entries(effectPeers)) {
    cases.push(
      uncontended(
        subject,
        again((await open(permits)).run(key, work)),
        leaseFloor,
      ),
    )
  }
  return cases
}

const scopesAndRefusals = async (): Promise<ReadonlyArray<Case>> => {
  const admission = await Holdfast.make({ maxRunning: permits })
  const full = await Holdfast.make({
    maxRunning: 1,
    maxQueued: 0,
    maxQueuedPerTenant: 0,
  })
  const scope = Scope.makeUnsafe()
  await Effect.runPromise(Scope.provide(full.enter(key), scope))
  const refusedRun = Effect.catch(full.run(key)(work), () => Effect.void)
  const refusedTry = Effect.catch(full.tryEnter(key), () => Effect.void).pipe(
    Scope.provide(scope),
  )
  const entered = Effect.scoped(
    Effect.flatMap(admission.enter(key), () => work),
  )
  const tried = Effect.scoped(
    Effect.flatMap(admission.tryEnter(key), () => work),
  )
  return [
    holdfast("enter in a scope", again(entered), leaseFloor),
    holdfast("tryEnter in a scope", again(tried), leaseFloor),
    holdfast("refusal by run", again(refusedRun), refusalFloor),
    holdfast("refusal by tryEnter", again(refusedTry), refusalFloor),
    uncontended("refusal floor", refusalFloor),
  ]
}

const promised = async (): Promise<ReadonlyArray<Case>> => {
  const cases = [
    uncontended("limit", bare),
    uncontended("promise floor", promiseFloor),
  ]
  for (const [subject, open] of Object.entries({ ...promisePeers, opossum })) {
    const { run } = await open(permits)
    cases.push(uncontended(subject, inLoop(() => run(body)), promiseFloor))
  }
  return cases
}

export const measure = async (emit: Emit): Promise<void> => {
  const first = await stage(emit, "A", await runs(), leaseFloor)
  const theirs = first.at(-1)?.ratios ?? []
  const shares = (first[0]?.ratios ?? []).map((ratio, i) => ratio / (theirs[i] ?? NaN))
  const name = "share of the time of PartitionedSemaphore"
  emit({
    group: "A",
    subject: Holdfast.name,
    case: name,
    figure: median(shares),
    figureHigh: high(shares),
  })
  await stage(emit, "A", await scopesAndRefusals(), leaseFloor)
  await stage(emit, "A", await promised(), leaseFloor)
}
