/** `estimate`: what is refused at once because its turn would come too late, and what never is. */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import * as Admission from "../../core/Admission.ts"
import type { Options } from "../../core/AdmissionOptions.ts"
import * as Deadline from "../../core/Deadline.ts"
import type { Ask } from "../../core/Permit.ts"
import * as Books from "../support/Books.ts"

type Refused = { readonly _tag: string; readonly estimate?: Duration.Duration; readonly remaining?: Duration.Duration }

const estimating: Options = { maxRunning: 1, maxQueuedPerTenant: 1_024, maxWait: "1 hour", estimate: "on" }

/** One unit, and a line in front of it from which one ask is granted every 100 ms. */
const paced = (options: Partial<Options>, grants: number) =>
  Effect.gen(function* () {
    const admission = yield* Admission.make({ ...estimating, ...options })
    const fibers: Array<Fiber.Fiber<unknown, unknown>> = []
    const wait = (ask: Ask, work: Effect.Effect<void> = Effect.sleep("100 millis")) =>
      Effect.map(Effect.forkChild(admission.run(ask)(work), { startImmediately: true }), (fiber) => {
        fibers.push(fiber)
      })
    yield* wait({ tenant: "warm" })
    for (let i = 0; i < grants; i++) yield* wait({ tenant: "warm" })
    // Somebody waits behind the last of them, so that every grant ends a gap.
    yield* wait({ tenant: "warm" }, Effect.never)
    for (let i = 0; i < grants; i++) yield* TestClock.adjust("100 millis")
    const hurried = (ask: Ask, within: Duration.Input): Effect.Effect<Refused | undefined> =>
      Deadline.within(within)(admission.run(ask)(Effect.void)).pipe(
        Effect.as(undefined),
        Effect.catch((refused) => Effect.succeed<Refused>(refused)),
      )
    const end = Effect.andThen(Fiber.interruptAll(fibers), Books.whole(admission))
    return { admission, wait, hurried, end }
  })

const inTime = 50
const millis = (duration: Duration.Duration | undefined) => Math.round(Duration.toMillis(duration ?? Duration.zero))

describe("an estimate", () => {
  it.effect("AD-25: is the interval between grants times the turns ahead, in the tenant or in the class", () =>
    Effect.gen(function* () {
      const { admission, end, hurried, wait } = yield* paced({}, 40)
      assert.deepInclude(yield* Books.balanced(admission), { running: 1, waiting: 1 })
      for (let i = 0; i < 6; i++) yield* wait({ tenant: "a" })
      // In the class 8 wait then, of 2 tenants; a's place would be its 7th.
      const inClass = yield* hurried({ tenant: "a" }, inTime)
      assert.deepInclude(inClass!, { _tag: "TooLate" })
      assert.deepStrictEqual([millis(inClass!.estimate), millis(inClass!.remaining)], [800, inTime])
      // A tenant's first ask is in its place 1, of 3 tenants that wait.
      const first = yield* hurried({ tenant: "b" }, inTime)
      assert.deepInclude(first!, { _tag: "TooLate" })
      assert.strictEqual(millis(first!.estimate), 300)
      // Those who wait in higher classes come on top.
      yield* wait({ tenant: "c", priority: "control" })
      yield* wait({ tenant: "c", priority: "control" })
      assert.strictEqual(millis((yield* hurried({ tenant: "b" }, inTime))!.estimate), 500)
      // And those in lower ones do not count.
      assert.strictEqual(millis((yield* hurried({ tenant: "d", priority: "emergency" }, inTime))!.estimate), 100)
      yield* end
    }))

  it.effect("AD-25: that is within the time left refuses nothing", () =>
    Effect.gen(function* () {
      const { admission, end, hurried, wait } = yield* paced({}, 40)
      yield* wait({ tenant: "a" })
      const waiting = yield* Effect.forkChild(hurried({ tenant: "b" }, 300), { startImmediately: true })
      assert.deepInclude(yield* Books.balanced(admission), { waiting: 3 })
      assert.deepInclude((yield* hurried({ tenant: "b" }, 299))!, { _tag: "TooLate" })
      yield* Fiber.interrupt(waiting)
      yield* end
    }))

  it.effect("AD-25: leaves no trace of what it refused", () =>
    Effect.gen(function* () {
      const { admission, end, hurried } = yield* paced({}, 40)
      const before = yield* Books.balanced(admission)
      for (let i = 0; i < 20; i++) {
        assert.deepInclude((yield* hurried({ tenant: `t${i}`, provider: "p" }, inTime))!, { _tag: "TooLate" })
      }
      const after = yield* Books.balanced(admission)
      assert.deepStrictEqual({ ...after, refused: before.refused }, before)
      assert.strictEqual(after.refused.TooLate, before.refused.TooLate + 20)
      yield* end
    }))

  it.effect("AD-25: refuses nothing before 32 releases were seen", () =>
    Effect.gen(function* () {
      for (const [grants, expected] of [[20, "WaitExpired"], [31, "WaitExpired"], [33, "TooLate"]] as const) {
        const { end, hurried } = yield* paced({}, grants)
        const waiting = yield* Effect.forkChild(hurried({ tenant: "a" }, inTime), { startImmediately: true })
        yield* TestClock.adjust(inTime)
        assert.deepInclude((yield* Fiber.join(waiting))!, { _tag: expected }, `after ${grants}`)
        yield* end
      }
    }))

  it.effect("AD-25: never refuses one that would be granted now", () =>
    Effect.gen(function* () {
      const { admission, end, hurried, wait } = yield* paced({ maxRunning: 2, maxPerTenant: 1 }, 40)
      // `warm` waits for its own cap alone; a unit of the total is free.
      for (let i = 0; i < 5; i++) yield* wait({ tenant: "warm" })
      assert.deepInclude(yield* Books.balanced(admission), { running: 1, free: 1, waiting: 6 })
      assert.isUndefined(yield* hurried({ tenant: "b" }, 1))
      assert.isUndefined(yield* hurried({ tenant: "b" }, "1 nano"))
      yield* end
    }))

  it.effect("AD-25: that is off refuses nothing", () =>
    Effect.gen(function* () {
      const { admission, end, hurried, wait } = yield* paced({ estimate: "off" }, 40)
      for (let i = 0; i < 50; i++) yield* wait({ tenant: "a" })
      const waiting = yield* Effect.forkChild(hurried({ tenant: "a" }, 1), { startImmediately: true })
      assert.isUndefined(waiting.pollUnsafe())
      yield* TestClock.adjust(1)
      assert.deepInclude((yield* Fiber.join(waiting))!, { _tag: "WaitExpired" })
      assert.strictEqual((yield* admission.snapshot).refused.TooLate, 0)
      yield* end
    }))

  it.effect("AD-25: is raised by each that waits by it and comes late or not at all, and lowered by who comes in time", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make(estimating)
      const running: Array<Deferred.Deferred<void>> = []
      const work = Effect.suspend(() => {
        const over = Deferred.makeUnsafe<void>()
        running.push(over)
        return Deferred.await(over)
      })
      const come = (ask: Ask) => Effect.forkChild(admission.run(ask)(work), { startImmediately: true })
      const fibers = yield* Effect.forEach(Array(100), () => come({ tenant: "a" }))
      /** So many turns, one every 100 ms. */
      const turns = (count: number) =>
        Effect.replicateEffect(
          Effect.andThen(
            TestClock.adjust("100 millis"),
            Effect.suspend(() => Deferred.succeed(running.pop()!, undefined)),
          ),
          count,
          { discard: true },
        )
      const estimate = Effect.map(
        Effect.flip(Deadline.within(1)(admission.run({ tenant: "b" })(Effect.void))),
        (refused) => Duration.toMillis((refused as Refused).estimate!),
      )
      const expires = (within: number) =>
        Effect.andThen(
          Effect.forkChild(Effect.flip(Deadline.within(within)(admission.run({ tenant: "b" })(Effect.void))), {
            startImmediately: true,
          }),
          TestClock.adjust(within),
        )
      yield* turns(10)
      // Nobody has said when this one would come.
      yield* expires(40)
      yield* TestClock.adjust(60)
      yield* Effect.suspend(() => Deferred.succeed(running.pop()!, undefined))
      yield* turns(29)
      assert.strictEqual(yield* estimate, 200)
      // In the very instant that was said.
      fibers.push(yield* come({ tenant: "b" }))
      yield* turns(2)
      assert.strictEqual((yield* admission.holders)[0]!.tenant, "b")
      yield* turns(1)
      assert.strictEqual(yield* estimate, 200)
      // Others pass it.
      fibers.push(yield* come({ tenant: "b" }))
      for (let i = 0; i < 3; i++) fibers.push(yield* come({ tenant: "c", priority: "control" }))
      yield* turns(6)
      const late = yield* estimate
      assert.closeTo(late, 200 * (1 + 0.85 / 32), 0.01)
      fibers.push(yield* come({ tenant: "b" }))
      yield* turns(3)
      const early = yield* estimate
      assert.closeTo(early, late * (1 - 0.15 / 32), 0.01)
      yield* expires(250)
      assert.closeTo(yield* estimate, early * (1 + 0.85 / 32), 0.01)
      yield* Fiber.interruptAll(fibers)
      yield* Books.whole(admission)
    }))
})
