/**
 * F. A guarded provider: a call that goes through a breaker and a bulkhead, and the price of a refusal.
 *
 * A call is one body that ends at once, one caller at a time, one place of 64; the floor is a lease with a breaker check.
 * A refusal is caught where it comes; its floor is a plain tagged value in the place of the call. Where a case asks for a
 * permit and settles it, two empty effects around the same body are measured beside it: no such pair can cost less. Three
 * more say what the gate's verbs cannot do without: a time limit needs a fiber and the time, a permit its scope, and a
 * refusal that says for how long needs the time and a Duration.
 */
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as CircuitBreaker from "effect/persistence/CircuitBreaker"
import * as Scope from "effect/Scope"
import * as OurBreaker from "../../../core/CircuitBreaker.ts"
import * as Deadline from "../../../core/Deadline.ts"
import type { Options } from "../../../core/GateOptions.ts"
import * as ProviderGate from "../../../core/ProviderGate.ts"
import * as Breakers from "../Breakers.ts"
import { again, body, type Case, inLoop, inOneScope, stage, work } from "../Cases.ts"
import { Guard, guarded, guardedPromise } from "../Floors.ts"
import * as Holdfast from "../Holdfast.ts"
import type { Loop } from "../Rounds.ts"
import type { Emit } from "../Row.ts"

const permits = 64
const ask = { tenant: "tenant" }
const of = (subject: string) => (name: string, work: Loop, floor?: Loop): Case => (
  { subject, case: name, work, ...(floor && { floor }) }
)
const gate = of(Holdfast.gate)
const breaker = of("holdfast CircuitBreaker")
const admission = of(Holdfast.name)
const bare = of("bare")

const floor = again(guarded(new Guard(permits), work))
const refusalFloor = again(
  Effect.catch(Effect.suspend(() => Effect.fail({ _tag: "Full" })), () => work),
)

const make = (options: Options = {}): Promise<ProviderGate.ProviderGate> =>
  Effect.runPromise(ProviderGate.make({
    concurrency: permits,
    reservedControl: 0,
    tenantConcurrency: permits,
    failureThreshold: 1,
    recoveryAfter: "1 hour",
    ...options,
  }))
/** A permit that is asked for and settled around the work. */
const pair = <P, E, R>(
  enter: Effect.Effect<P, E, R>,
  settle: (permit: P) => Effect.Effect<void, unknown>,
) => Effect.flatMap(enter, (permit) => Effect.flatMap(work, () => settle(permit)))
const effectBreaker = (): Promise<CircuitBreaker.CircuitBreaker> =>
  CircuitBreaker.make({
    tripPolicy: CircuitBreaker.consecutive(1),
    openDuration: "1 hour",
  }).pipe(
    Effect.provide(CircuitBreaker.layerStoreMemory()),
    Scope.provide(Scope.makeUnsafe()),
    Effect.runPromise,
  )
const empty = pair(
  Effect.withFiber((fiber) => Effect.succeed(fiber)),
  () => Effect.suspend(() => Effect.void),
)

const calls = async (): Promise<ReadonlyArray<Case>> => {
  const { run, settle, tryEnter } = await make()
  const both = pair(tryEnter(ask), (permit) => settle(permit, "success"))
  return [
    gate("run", again(run(ask, work)), floor),
    gate("tryEnter and settle, in one scope", inOneScope(both), floor),
    gate(
      "tryEnter and settle, a scope each",
      again(Effect.scoped(both)),
      floor,
    ),
    bare(
      "two empty effects around the body, in one scope",
      inOneScope(empty),
      floor,
    ),
    bare(
      "two empty effects around the body, a scope each",
      again(Effect.scoped(empty)),
      floor,
    ),
    bare("lease with a breaker check", floor),
  ]
}

/** Without a place, a circuit or a check of anything. */
const needed = (): ReadonlyArray<Case> => {
  const clock = Effect.runSync(Clock.clockWith(Effect.succeed))
  const now = (): number => Deadline.nowNanos(clock)
  const inChild = Effect.withFiber((fiber) => {
    const started = now()
    const exit = Effect.runForkWith(fiber.context)(work).pollUnsafe()
    return exit !== undefined && started > 0 ? exit : Effect.never
  })
  const opened = Effect.map(Effect.scope, (scope) => Scope.forkUnsafe(scope))
  const closed = (scope: Scope.Closeable) => Effect.sync(() => void Scope.closeUnsafe(scope, Exit.void))
  const shut = Effect.suspend(() => Effect.fail({ _tag: "Open", retryAfter: Deadline.nanos(now()) }))
  return [
    bare("a fiber of its own and the time", again(inChild), floor),
    bare("a scope opened and closed around the body, in one scope", inOneScope(pair(opened, closed)), floor),
    bare("refused, with the time and a Duration", again(Effect.catch(shut, () => work)), refusalFloor),
  ]
}

const others = async (): Promise<ReadonlyArray<Case>> => {
  const { run, settle, tryEnter } = await Effect.runPromise(
    OurBreaker.make({}),
  )
  const { execute } = await effectBreaker()
  const leased = Effect.acquireRelease(Effect.succeed(1), () => Effect.void)
  return [
    breaker("run", again(run(work)), floor),
    breaker(
      "tryEnter and settle, in one scope",
      inOneScope(pair(tryEnter, (pass) => settle(pass, "success"))),
      floor,
    ),
    of("Effect CircuitBreaker")(
      "run",
      again(execute({ key: "key" })(work)),
      floor,
    ),
    of("Effect.timeout")("run", again(Effect.timeout(work, "1 hour")), floor),
    of("Effect.acquireRelease")(
      "a scope each",
      again(Effect.scoped(Effect.flatMap(leased, () => work))),
      floor,
    ),
  ]
}

const refusals = async (): Promise<ReadonlyArray<Case>> => {
  const caught = <R>(effect: Effect.Effect<unknown, unknown, R>) => Effect.catch(effect, () => work)
  const open = await make()
  await Effect.runPromise(Effect.exit(open.run(ask, Effect.fail("down"))))
  const full = await make({ concurrency: 1, tenantConcurrency: 1 })
  const line = await Holdfast.make({
    maxRunning: 1,
    maxQueued: 0,
    maxQueuedPerTenant: 0,
  })
  const scope = Scope.makeUnsafe()
  await Effect.runPromise(Scope.provide(full.tryEnter(ask), scope))
  await Effect.runPromise(Scope.provide(line.enter(ask), scope))
  const Full = class extends Data.TaggedError("Full") {}
  return [
    gate(
      "refused by run, full",
      again(caught(full.run(ask, work))),
      refusalFloor,
    ),
    gate(
      "refused by tryEnter, full",
      inOneScope(caught(full.tryEnter(ask))),
      refusalFloor,
    ),
    gate(
      "refused by run, open",
      again(caught(open.run(ask, work))),
      refusalFloor,
    ),
    gate(
      "refused by tryEnter, open",
      inOneScope(caught(open.tryEnter(ask))),
      refusalFloor,
    ),
    gate("refused by peek, open", again(caught(open.peek(ask))), refusalFloor),
    admission(
      "refused by run, full",
      again(caught(line.run(ask)(work))),
      refusalFloor,
    ),
    admission(
      "refused by tryEnter, full",
      inOneScope(caught(line.tryEnter(ask))),
      refusalFloor,
    ),
    of("Data.TaggedError")(
      "refused",
      again(caught(Effect.suspend(() => Effect.fail(new Full())))),
      refusalFloor,
    ),
    bare("refused, a plain tagged value", refusalFloor),
  ]
}

/** In a stage of its own, since it is far above all others. */
const effectRefusals = async (): Promise<ReadonlyArray<Case>> => {
  const { execute } = await effectBreaker()
  const call = execute({ key: "key" })
  await Effect.runPromise(Effect.exit(call(Effect.fail("down"))))
  const refused = again(Effect.catch(call(work), () => work))
  return [
    of("Effect CircuitBreaker")("refused by run, open", refused, refusalFloor),
  ]
}

const promises = async (): Promise<ReadonlyArray<Case>> => {
  const promiseFloor = inLoop(guardedPromise(new Guard(permits), body))
  const refusing = (call: Breakers.Call) => inLoop(() => call().catch(body))
  const promiseRefusal = refusing(() => Promise.reject(new Error("shut")))
  const cases = [
    bare("async function with a breaker check", promiseFloor),
    bare("refused, a rejection", promiseRefusal),
  ]
  for (const [name, open] of Object.entries(Breakers.calls)) {
    cases.push(of(name)("call", inLoop(await open(body)), promiseFloor))
  }
  for (const [name, { full, open }] of Object.entries(Breakers.refusals)) {
    cases.push(
      of(name)("refused, open", refusing(await open()), promiseRefusal),
    )
    cases.push(
      of(name)("refused, full", refusing(await full()), promiseRefusal),
    )
  }
  return cases
}

export const measure = async (emit: Emit): Promise<void> => {
  await stage(emit, "F", await calls(), floor)
  await stage(emit, "F", await refusals(), refusalFloor)
  await stage(emit, "F", needed(), floor)
  await stage(emit, "F", await others(), floor)
  await stage(emit, "F", await effectRefusals(), refusalFloor)
  await stage(emit, "F", await promises(), floor)
}
