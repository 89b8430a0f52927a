/** What is told to whom: counts to everybody, names to operators alone. */
import { assert, describe, it } from "@effect/vitest"
import { inspect } from "node:util"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import * as TestClock from "effect/testing/TestClock"
import * as Admission from "../../core/Admission.ts"
import * as Deadline from "../../core/Deadline.ts"
import * as Books from "../support/Books.ts"

const canary = "canary-tenant-7f3a"
const bird = "canary-provider-9c2d"
const started = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })

/** Every form in which a value may come to be read. */
const forms = (value: unknown): ReadonlyArray<string> => [
  String(value),
  JSON.stringify(value) ?? "",
  inspect(value, { depth: 20, showHidden: true, getters: true }),
  ...typeof value === "object" && value !== null
    ? Object.getOwnPropertyNames(value).map((name) => `${name} ${String(Reflect.get(value, name))}`)
    : [],
  ...value instanceof Error ? [value.message, String(value.stack), Cause.pretty(Cause.fail(value))] : [],
]

const silent = (value: unknown): void => {
  for (const text of forms(value)) for (const name of [canary, bird]) assert.notInclude(text, name)
}

/** All the ways to be refused, on an Admission where the canary holds and waits. */
const refusals = Effect.gen(function* () {
  const admission = yield* Admission.make({
    maxRunning: 2,
    maxPerTenant: 1,
    maxPerProvider: 1,
    maxPerPair: 1,
    maxQueued: 3,
    maxQueuedPerTenant: 1,
    maxWait: "1 second",
  })
  const permit = yield* admission.enter({ tenant: canary, provider: bird })
  const all: Array<unknown> = []
  const flip = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.map(Effect.flip(effect), (refused) => void all.push(refused))
  const waiters = [
    yield* started(flip(admission.run({ tenant: canary, provider: bird })(Effect.void))),
    yield* started(flip(admission.run({ tenant: "other", provider: bird })(Effect.void))),
  ]
  yield* flip(Effect.scoped(admission.tryEnter({ tenant: canary, provider: bird })))
  yield* flip(Effect.scoped(admission.tryEnter({ tenant: "another", provider: bird })))
  yield* flip(Effect.scoped(admission.enter({ tenant: canary, provider: bird })))
  yield* flip(Effect.scoped(admission.enter({ tenant: canary, provider: bird, cost: 2 })))
  yield* flip(Effect.scoped(admission.enter({ tenant: canary, provider: bird, cost: -1 })))
  yield* flip(admission.lower({ maxRunning: 3 }))
  yield* flip(admission.lower({ maxQueued: 0 }))
  yield* flip(admission.withhold(3))
  yield* TestClock.adjust("1 second")
  yield* Fiber.joinAll(waiters)
  yield* admission.release(permit)
  yield* flip(admission.release(permit))
  yield* flip(admission.release({ ...permit }))
  yield* flip(Deadline.within(0)(admission.run({ tenant: canary, provider: bird })(Effect.void)))
  yield* Effect.flatMap(Deadline.after(0), (deadline) => admission.drain(deadline))
  yield* flip(admission.run({ tenant: canary, provider: bird })(Effect.void))
  return { admission, all: all as ReadonlyArray<{ readonly _tag: string }> }
})

describe("names", () => {
  it.effect("AD-39: are in no error that a caller sees, in whatever form it is read", () =>
    Effect.gen(function* () {
      const { admission, all } = yield* refusals
      const tags = new Set(all.map(({ _tag }) => _tag))
      assert.deepStrictEqual([...tags].sort(), [
        "BelowUse",
        "Closed",
        "ForeignLease",
        "InvalidLimits",
        "InvalidRequest",
        "LeaseSpent",
        "NeverFits",
        "QueueFull",
        "WaitExpired",
        "WouldWait",
      ])
      for (const refused of all) silent(refused)
      for (const refused of all) silent(Exit.fail(refused))
      yield* Books.settled(admission)
    }))

  it.effect("AD-39: are in no log line of a refusal", () =>
    Effect.gen(function* () {
      const { admission, all } = yield* refusals
      const lines: Array<string> = []
      const keep = <O>(format: Logger.Logger<unknown, O>) =>
        Logger.map(format, (line) => void lines.push(typeof line === "string" ? line : JSON.stringify(line)))
      const loggers = [keep(Logger.formatSimple), keep(Logger.formatLogFmt), keep(Logger.formatJson)]
      yield* Effect.forEach(all, (refused) => Effect.logError("refused", refused, Cause.fail(refused))).pipe(
        Effect.provide(Logger.layer(loggers)),
      )
      assert.strictEqual(lines.length, 3 * all.length)
      for (const line of lines) {
        assert.include(line, "refused")
        silent(line)
      }
      yield* Books.settled(admission)
    }))

  it.effect("AD-39: are in no snapshot, and in nothing that an Admission shows of itself", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 1 })
      const permit = yield* admission.enter({ tenant: canary, provider: bird })
      const waiter = yield* started(admission.run({ tenant: canary, provider: bird })(Effect.void))
      silent(yield* Books.balanced(admission))
      silent(admission)
      silent(admission.enter({ tenant: "other" }))
      assert.deepStrictEqual((yield* admission.snapshot).labels, [])
      yield* admission.release(permit)
      yield* Fiber.join(waiter)
      yield* Books.whole(admission)
    }))

  it.effect("AD-39: are on the caller's own permit, which shows nothing of others", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 3 })
      yield* Effect.scoped(Effect.gen(function* () {
        yield* admission.enter({ tenant: canary, provider: bird })
        const permit = yield* admission.enter({ tenant: "mine", provider: "its", cost: 2, priority: "control" })
        silent(permit)
        const plain = { tenant: "mine", provider: "its", priority: "control", cost: 2 }
        assert.deepStrictEqual({ ...permit }, plain as never)
        assert.deepStrictEqual(JSON.parse(JSON.stringify(permit)), plain)
      }))
      yield* Books.whole(admission)
    }))

  it.effect("AD-39: are in holders and in the report of a drain, for operators", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 1, maxWait: "1 minute" })
      const permit = yield* admission.enter({ tenant: canary, provider: bird })
      yield* TestClock.adjust("2 seconds")
      const waiter = yield* started(Effect.exit(admission.run({ tenant: "other", priority: "control" })(Effect.void)))
      const holders = (yield* admission.holders).map(({ age: _, ...each }) => each)
      assert.deepStrictEqual(holders, [
        { tenant: canary, provider: bird, priority: "normal", cost: 1, state: "held" },
        { tenant: "other", provider: undefined, priority: "control", cost: 1, state: "waiting" },
      ])
      const report = yield* Effect.flatMap(Deadline.after(0), (deadline) => admission.drain(deadline))
      assert.deepStrictEqual(report.holders.map(({ tenant }) => tenant), [canary])
      yield* admission.release(permit)
      yield* Fiber.join(waiter)
      yield* Books.settled(admission)
    }))

  it.effect("AD-39: of a label's choice are counted in the snapshot, where the operator asked for labels", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({
        maxRunning: 3,
        labels: (tenant) => tenant === canary ? undefined : tenant.slice(0, 1),
      })
      const waiters: Array<Fiber.Fiber<unknown, unknown>> = []
      yield* Effect.scoped(Effect.gen(function* () {
        yield* admission.enter({ tenant: "a1", cost: 2 })
        yield* admission.enter({ tenant: canary })
        for (const tenant of ["a2", "b1", canary]) {
          waiters.push(yield* started(admission.run({ tenant })(Effect.never)))
        }
        const snapshot = yield* Books.balanced(admission)
        silent(snapshot)
        assert.deepStrictEqual(snapshot.labels, [
          { label: "a", running: 2, waiting: 1 },
          { label: "b", running: 0, waiting: 1 },
        ])
        yield* Fiber.interruptAll(waiters)
      }))
      yield* Books.whole(admission)
      assert.deepStrictEqual((yield* admission.snapshot).labels, [])
    }))

  it.effect("AD-39: cannot be written into a snapshot, which is frozen through and through", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 1, labels: (tenant) => tenant })
      yield* Effect.scoped(Effect.gen(function* () {
        yield* admission.enter({ tenant: "a" })
        const frozen = (value: unknown): boolean =>
          typeof value !== "object" || value === null ||
          Object.isFrozen(value) && Object.values(value).every(frozen)
        assert.isTrue(frozen(yield* admission.snapshot))
      }))
      yield* Books.whole(admission)
    }))
})
