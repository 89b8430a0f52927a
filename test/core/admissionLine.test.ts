/** The line: who passes whom, who parks, what is reserved, how long it is, and how a wait ends. */
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import * as Admission from "../../core/Admission.ts"
import type { Options, Priority } from "../../core/AdmissionOptions.ts"
import * as Deadline from "../../core/Deadline.ts"
import type { Ask } from "../../core/Permit.ts"
import * as Explorer from "../../core/testing/Explorer.ts"
import * as Books from "../support/Books.ts"

/** An Admission with callers that enter in order, are noted when they are let in, and leave when they are told to. */
const stage = (options: Options) =>
  Effect.map(Admission.make(options), (admission) => {
    const order: Array<string> = []
    const fibers: Array<Fiber.Fiber<void, { readonly _tag: string }>> = []
    const scopes = new Map<string, Scope.Closeable>()
    /** Starts a caller called `name`; it is in the line, in or refused when this returns. */
    const come = (name: string, ask: Ask) => {
      const scope = Scope.makeUnsafe()
      scopes.set(name, scope)
      const entered = Effect.andThen(admission.enter(ask), Effect.sync(() => void order.push(name)))
      return Effect.map(Effect.forkChild(Scope.provide(entered, scope), { startImmediately: true }), (fiber) => {
        fibers.push(fiber)
        return fiber
      })
    }
    const go = (...names: ReadonlyArray<string>) =>
      Effect.forEach(names, (name) => Scope.close(scopes.get(name)!, Exit.void), { discard: true })
    const end = Effect.gen(function* () {
      yield* Fiber.interruptAll(fibers)
      yield* go(...scopes.keys())
      yield* Books.whole(admission)
    })
    return { admission, order, come, go, end }
  })

const tried = (admission: Admission.Admission, ask: Ask) =>
  Effect.match(Effect.scoped(admission.tryEnter(ask)), {
    onFailure: (refused) => refused._tag as string,
    onSuccess: () => "granted",
  })

describe("nobody overtakes", () => {
  it.effect("AD-7: whom it could not serve keeps nobody else from a place, nor from giving it back", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 2, maxPerTenant: 1 })
      const own = yield* admission.enter({ tenant: "a" })
      const waiter = yield* Effect.forkChild(admission.run({ tenant: "a" })(Effect.void), { startImmediately: true })
      yield* Effect.scoped(admission.tryEnter({ tenant: "b" }))
      const permit = yield* admission.tryEnter({ tenant: "b" })
      assert.strictEqual(permit.tenant, "b")
      yield* admission.release(permit)
      yield* admission.release(own)
      yield* Fiber.join(waiter)
      yield* Books.whole(admission)
    }))

  it.effect("AD-7: a newcomer does not take what a large ask in front of it is short of, nor does tryEnter", () =>
    Effect.gen(function* () {
      const { admission, come, end, go, order } = yield* stage({ maxRunning: 3, maxBypass: 0 })
      yield* come("holder", { tenant: "a", cost: 2 })
      yield* come("large", { tenant: "b", cost: 3 })
      yield* come("small", { tenant: "c" })
      assert.deepStrictEqual(order, ["holder"])
      assert.strictEqual(yield* tried(admission, { tenant: "d" }), "WouldWait")
      yield* go("holder")
      assert.deepStrictEqual(order, ["holder", "large"])
      yield* go("large")
      assert.deepStrictEqual(order, ["holder", "large", "small"])
      yield* end
    }))

  it.effect("AD-7 AD-11: of one tenant and provider the order is that of arrival, whatever the size", () =>
    Effect.gen(function* () {
      const { admission, come, end, go, order } = yield* stage({ maxRunning: 3 })
      yield* come("holder", { tenant: "a", cost: 3 })
      for (const [name, cost] of [["one", 3], ["two", 1], ["three", 2], ["four", 1]] as const) {
        yield* come(name, { tenant: "a", cost })
      }
      assert.strictEqual(yield* tried(admission, { tenant: "a" }), "WouldWait")
      yield* go("holder")
      assert.deepStrictEqual(order, ["holder", "one"])
      yield* go("one")
      assert.deepStrictEqual(order, ["holder", "one", "two", "three"])
      yield* go("two")
      assert.deepStrictEqual(order, ["holder", "one", "two", "three", "four"])
      yield* end
    }))

  it.effect("AD-7: nobody is passed by a newcomer while the line is not empty, though units are free for a turn", () =>
    Effect.gen(function* () {
      const { admission, come, end, go, order } = yield* stage({ maxRunning: 2, maxPerTenant: 1 })
      yield* come("a1", { tenant: "a" })
      yield* come("a2", { tenant: "a" })
      // One unit is free, and a2 may not have it: b does not overtake, since a2 is not eligible.
      yield* come("b1", { tenant: "b" })
      assert.deepStrictEqual(order, ["a1", "b1"])
      yield* come("c1", { tenant: "c" })
      yield* go("a1")
      assert.strictEqual(order.length, 3)
      assert.strictEqual(yield* tried(admission, { tenant: "d" }), "WouldWait")
      yield* go("b1")
      assert.deepStrictEqual(order.slice(2).sort(), ["a2", "c1"])
      yield* end
    }))
})

describe("one that is short of a narrower account", () => {
  it.effect("AD-13 AD-15: does not delay others", () =>
    Effect.gen(function* () {
      const { admission, come, end, order } = yield* stage({ maxRunning: 10, maxPerTenant: 1, maxPerProvider: 3 })
      yield* come("a1", { tenant: "a", provider: "p" })
      for (let i = 2; i < 8; i++) yield* come(`a${i}`, { tenant: "a", provider: "p" })
      for (const tenant of ["b", "c", "d", "e"]) yield* come(tenant, { tenant, provider: "p" })
      assert.deepStrictEqual(order, ["a1", "b", "c"])
      yield* come("f", { tenant: "f", provider: "q" })
      assert.deepStrictEqual(order, ["a1", "b", "c", "f"])
      assert.deepInclude(yield* Books.balanced(admission), { running: 4, waiting: 8, free: 6 })
      yield* end
    }))

  it.effect("AD-13 AD-6: is woken by its account, in the order of parking, until that is short again", () =>
    Effect.gen(function* () {
      const { come, end, go, order } = yield* stage({ maxRunning: 10, maxPerProvider: 2 })
      yield* come("holder", { tenant: "h", provider: "p", cost: 2 })
      for (const tenant of ["d", "b", "c", "a"]) yield* come(tenant, { tenant, provider: "p" })
      yield* go("holder")
      assert.deepStrictEqual(order, ["holder", "d", "b"])
      yield* go("b")
      assert.deepStrictEqual(order, ["holder", "d", "b", "c"])
      yield* go("d", "c")
      assert.deepStrictEqual(order, ["holder", "d", "b", "c", "a"])
      yield* end
    }))

  it.effect("AD-13: is not woken by what another account gives back", () =>
    Effect.gen(function* () {
      const { come, end, go, order } = yield* stage({ maxRunning: 4, maxPerTenant: 1 })
      yield* come("a1", { tenant: "a" })
      yield* come("b1", { tenant: "b" })
      yield* come("a2", { tenant: "a" })
      yield* go("b1")
      assert.deepStrictEqual(order, ["a1", "b1"])
      yield* go("a1")
      assert.deepStrictEqual(order, ["a1", "b1", "a2"])
      yield* end
    }))

  it.effect("AD-15: nobody who fits waits while units are free, after each of 1,500 random events", () =>
    Effect.gen(function* () {
      const { admission, come, end, go } = yield* stage({ maxRunning: 6, maxPerTenant: 3, maxPerProvider: 4 })
      let random = 99
      const below = (n: number) => (random = random * 48271 % 2147483647) % n
      const names: Array<string> = []
      for (let i = 0; i < 1_500; i++) {
        if (below(5) < 3 && names.length > 0) yield* go(names.splice(below(names.length), 1)[0]!)
        else {
          const name = `${i}`
          names.push(name)
          yield* come(name, { tenant: `t${below(4)}`, provider: `p${below(3)}` })
        }
        const all = yield* admission.holders
        const held = all.filter((each) => each.state === "held")
        const use = (by: "tenant" | "provider", key: string | undefined) =>
          held.filter((each) => each[by] === key).length
        const fits = all.filter((each) =>
          each.state === "waiting" && held.length < 6 && use("tenant", each.tenant) < 3 &&
          use("provider", each.provider) < 4
        )
        const { setAside } = yield* admission.snapshot
        assert.isTrue(fits.length === 0 || setAside > 0, `step ${i}: ${fits.length} fit and wait`)
      }
      yield* end
    }))
})

describe("reserves", () => {
  const priorities: ReadonlyArray<Priority> = ["emergency", "control", "normal", "notification"]

  it.effect("AD-17: are used by their class and above alone, and never lent", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({
        maxRunning: 10,
        reserved: { emergency: 1, control: 2, normal: 3 },
      })
      const most: Record<string, number> = {}
      for (const priority of priorities) {
        yield* Effect.scoped(Effect.gen(function* () {
          let units = 0
          const enter = admission.tryEnter({ tenant: "a", priority })
          while ((yield* Effect.option(enter))._tag === "Some") units++
          most[priority] = units
          const one = yield* Effect.flip(admission.tryEnter({ tenant: "b", priority }))
          assert.deepInclude(one, { _tag: "WouldWait", account: "total" })
        }))
        yield* Books.settled(admission)
      }
      assert.deepStrictEqual(most, { emergency: 10, control: 9, normal: 7, notification: 4 })
    }))

  it.effect("AD-17: stay unused while lower classes wait, and are there when theirs comes", () =>
    Effect.gen(function* () {
      const { admission, come, end, go, order } = yield* stage({ maxRunning: 3, reserved: { control: 1 } })
      for (const name of ["n1", "n2", "n3"]) yield* come(name, { tenant: name })
      assert.deepStrictEqual(order, ["n1", "n2"])
      assert.deepInclude(yield* Books.balanced(admission), { running: 2, waiting: 1, free: 1 })
      yield* come("c1", { tenant: "c", priority: "control" })
      assert.deepStrictEqual(order, ["n1", "n2", "c1"])
      // What control holds counts in its reserve: the unit that it gives back is still not for normal.
      yield* go("c1")
      assert.deepStrictEqual(order, ["n1", "n2", "c1"])
      yield* go("n1")
      assert.deepStrictEqual(order, ["n1", "n2", "c1", "n3"])
      yield* end
    }))

  it.effect("AD-2 AD-17: emergencies are charged to provider and total, not to tenant or pair", () =>
    Effect.gen(function* () {
      const { admission, come, end, order } = yield* stage({
        maxRunning: 4,
        maxPerTenant: 1,
        maxPerPair: 1,
        maxPerProvider: 3,
        maxQueuedPerTenant: 0,
      })
      const emergency = { tenant: "a", provider: "p", priority: "emergency" } as const
      yield* come("normal", { tenant: "a", provider: "p" })
      yield* come("e1", emergency)
      yield* come("e2", emergency)
      assert.deepStrictEqual(order, ["normal", "e1", "e2"])
      // The provider is full: this one waits, in a line where its tenant has no place of its own.
      yield* come("e3", emergency)
      assert.deepInclude(yield* Books.balanced(admission), { running: 3, waiting: 1 })
      assert.strictEqual(
        yield* tried(admission, { tenant: "a", provider: "q", priority: "emergency", cost: 2 }),
        "WouldWait",
      )
      assert.strictEqual(
        yield* tried(admission, { tenant: "a", provider: "p", priority: "emergency", cost: 4 }),
        "NeverFits",
      )
      yield* end
    }))
})

describe("what can never be is refused at once", () => {
  it.effect("AD-18: whether the line is empty or full", () =>
    Effect.gen(function* () {
      const { admission, come, end } = yield* stage({
        maxRunning: 8,
        maxPerTenant: 6,
        maxPerProvider: 5,
        maxPerPair: 4,
        maxQueued: 2,
        reserved: { control: 1 },
      })
      const never = Effect.gen(function* () {
        const asks: ReadonlyArray<readonly [Ask, string, number]> = [
          [{ tenant: "a", provider: "p", cost: 5 }, "pair", 4],
          [{ tenant: "a", provider: "p", cost: 6, priority: "emergency" }, "provider", 5],
          [{ tenant: "a", cost: 7 }, "tenant", 6],
          [{ tenant: "a", cost: 9, priority: "emergency" }, "total", 8],
        ]
        for (const [ask, account, limit] of asks) {
          for (const verb of [Effect.scoped(admission.enter(ask)), Effect.scoped(admission.tryEnter(ask))]) {
            const refused: unknown = yield* Effect.flip(verb as Effect.Effect<unknown, unknown>)
            assert.deepInclude(refused as object, { _tag: "NeverFits", account, limit, cost: ask.cost })
          }
        }
      })
      yield* never
      yield* come("holder", { tenant: "a", provider: "p", cost: 4 })
      yield* come("holder2", { tenant: "b", cost: 3 })
      yield* come("w1", { tenant: "c" })
      yield* come("w2", { tenant: "d" })
      const full = yield* Effect.flip(Effect.scoped(admission.enter({ tenant: "e" })))
      assert.deepInclude(full, { _tag: "QueueFull" })
      yield* never
      yield* end
    }))

  it.effect("AD-17 AD-18: where the reserves of higher classes leave too little of the total", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 5, reserved: { emergency: 1, control: 1 } })
      for (const [priority, limit] of [["control", 4], ["normal", 3], ["notification", 3]] as const) {
        const refused = yield* Effect.flip(Effect.scoped(admission.enter({ tenant: "a", priority, cost: limit + 1 })))
        assert.deepInclude(refused, { _tag: "NeverFits", account: "total", limit })
        yield* Effect.scoped(admission.enter({ tenant: "a", priority, cost: limit }))
      }
      yield* Books.whole(admission)
    }))
})

describe("the length of the line", () => {
  it.effect("AD-19: is at most maxQueued, and a tenant's part of it; a refusal leaves everything as it was", () =>
    Effect.gen(function* () {
      const { admission, come, end, go } = yield* stage({ maxRunning: 1, maxQueued: 4, maxQueuedPerTenant: 2 })
      yield* come("holder", { tenant: "h" })
      for (const name of ["a1", "a2", "b1"]) yield* come(name, { tenant: name[0]! })
      const refused = (tenant: string) => Effect.flip(Effect.scoped(admission.enter({ tenant })))
      const before = yield* Books.balanced(admission)
      assert.deepInclude(yield* refused("a"), { _tag: "QueueFull", scope: "tenant", limit: 2 })
      yield* come("c1", { tenant: "c" })
      assert.deepInclude(yield* refused("d"), { _tag: "QueueFull", scope: "all", limit: 4 })
      assert.deepInclude(yield* Books.balanced(admission), { running: before.running, waiting: 4 })
      yield* go("a1")
      yield* come("d1", { tenant: "d" })
      assert.deepInclude(yield* Books.balanced(admission), { waiting: 4 })
      yield* end
    }))

  it.effect("AD-19 K-7: of 0 is no line: nobody ever waits", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 1, maxQueued: 0 })
      yield* Effect.scoped(Effect.gen(function* () {
        yield* admission.enter({ tenant: "a" })
        for (let i = 0; i < 100; i++) {
          const refused = yield* Effect.flip(Effect.scoped(admission.enter({ tenant: `t${i}` })))
          assert.deepInclude(refused, { _tag: "QueueFull", scope: "all", limit: 0 })
        }
        assert.deepInclude(yield* Books.balanced(admission), { waiting: 0, tenants: 1 })
      }))
      yield* Books.whole(admission)
    }))

  it.effect("AD-19: does not count those who are let in at once", () =>
    Effect.gen(function* () {
      const { admission, come, end, order } = yield* stage({ maxRunning: 4, maxPerTenant: 1, maxQueued: 1 })
      yield* come("a1", { tenant: "a" })
      yield* come("a2", { tenant: "a" })
      // The line is full, and this one does not need it.
      yield* come("b1", { tenant: "b" })
      assert.deepStrictEqual(order, ["a1", "b1"])
      assert.deepInclude(yield* Books.balanced(admission), { waiting: 1 })
      yield* end
    }))

  it.effect("K-7 AD-19: under a flood of 5,000 callers stays what it was made for", () =>
    Effect.gen(function* () {
      const { admission, come, end } = yield* stage({ maxRunning: 2, maxQueued: 50, maxQueuedPerTenant: 7 })
      let [most, ofTenant] = [0, 0]
      for (let i = 0; i < 5_000; i++) {
        yield* come(`${i}`, { tenant: `t${i % 20}` })
        most = Math.max(most, (yield* admission.snapshot).waiting)
      }
      for (let t = 0; t < 20; t++) {
        const waiting = (yield* admission.holders).filter((each) => each.state === "waiting" && each.tenant === `t${t}`)
        ofTenant = Math.max(ofTenant, waiting.length)
      }
      assert.strictEqual(most, 50)
      assert.isAtMost(ofTenant, 7)
      yield* end
    }))
})

describe("a wait", () => {
  it.effect("AD-7 AD-23: for units that are set aside names the account that they are set aside on", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 100, maxPerProvider: 2, maxBypass: 0 })
      yield* admission.enter({ tenant: "x", provider: "p" })
      yield* Effect.forkChild(admission.run({ tenant: "a", provider: "p", cost: 2 })(Effect.void), {
        startImmediately: true,
      })
      const waiting = yield* Effect.forkChild(
        Effect.flip(Effect.scoped(Deadline.within("1 second")(admission.enter({ tenant: "b", provider: "p" })))),
        { startImmediately: true },
      )
      const refused = yield* Effect.flip(Effect.scoped(admission.tryEnter({ tenant: "c", provider: "p" })))
      assert.deepInclude(refused, { _tag: "WouldWait", account: "provider" })
      yield* TestClock.adjust("1 second")
      assert.deepInclude(yield* Fiber.join(waiting), { _tag: "WaitExpired", account: "provider" })
    }))

  it.effect("AD-20 AD-23: that is over says how long it was, by which bound, and what was short", () =>
    Effect.gen(function* () {
      const { admission, come, end } = yield* stage({
        maxRunning: 3,
        maxPerTenant: 2,
        maxPerProvider: 2,
        maxPerPair: 1,
        maxWait: "2 seconds",
      })
      yield* come("h1", { tenant: "a", provider: "p" })
      yield* come("h2", { tenant: "a", provider: "q" })
      yield* come("h3", { tenant: "b", provider: "p" })
      const waits: ReadonlyArray<readonly [Ask, string]> = [
        [{ tenant: "a", provider: "p" }, "pair"],
        [{ tenant: "c", provider: "p" }, "provider"],
        [{ tenant: "a", provider: "r" }, "tenant"],
        [{ tenant: "c", provider: "q" }, "total"],
      ]
      const fibers: Array<Fiber.Fiber<unknown, unknown>> = []
      for (const [ask] of waits) {
        const waiting = Effect.flip(Effect.scoped(admission.enter(ask)))
        fibers.push(yield* Effect.forkChild(waiting, { startImmediately: true }))
        const hurried = Deadline.within("500 millis")(waiting)
        fibers.push(yield* Effect.forkChild(hurried, { startImmediately: true }))
      }
      yield* TestClock.adjust("500 millis")
      yield* TestClock.adjust("1500 millis")
      for (const [i, [, account]] of waits.entries()) {
        const byMaxWait = yield* Fiber.join(fibers[2 * i]!)
        assert.deepInclude(byMaxWait, {
          _tag: "WaitExpired",
          account,
          bound: "maxWait",
          waited: Duration.nanos(2_000_000_000n),
        })
        const byDeadline = yield* Fiber.join(fibers[2 * i + 1]!)
        assert.deepInclude(byDeadline, {
          _tag: "WaitExpired",
          account,
          bound: "deadline",
          waited: Duration.nanos(500_000_000n),
        })
      }
      yield* end
    }))

  it.effect("AD-21: ends at the instant that was set when it began, though it is parked, woken and set aside for", () =>
    Effect.gen(function* () {
      const { admission, come, go, order } = yield* stage({
        maxRunning: 4,
        maxPerTenant: 2,
        maxBypass: 0,
        maxWait: "1 second",
      })
      yield* come("a1", { tenant: "a", cost: 2 })
      yield* come("b1", { tenant: "b", cost: 2 })
      // Parked on its tenant, then short of the total, with units set aside for it, until its own second is over.
      const late = yield* come("a2", { tenant: "a", cost: 2 })
      yield* TestClock.adjust("300 millis")
      yield* come("c1", { tenant: "c", cost: 1 })
      yield* TestClock.adjust("300 millis")
      yield* Scope.provide(admission.withhold(3), yield* Effect.scope)
      yield* go("a1")
      yield* TestClock.adjust("399 millis")
      assert.isUndefined(late.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      assert.deepInclude(yield* Effect.flip(Fiber.join(late)), {
        _tag: "WaitExpired",
        waited: Duration.nanos(1_000_000_000n),
      })
      assert.deepStrictEqual(order, ["a1", "b1"])
      yield* TestClock.adjust("1 second")
      yield* go("b1")
      assert.deepInclude(yield* Books.balanced(admission), { running: 0, waiting: 0, withheld: 3 })
    }))

  it.effect("AD-22: whose deadline has come is not granted, though units are free", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 1 })
      const past = yield* Deadline.after(0)
      const refused = yield* Effect.flip(Deadline.provide(past)(admission.run({ tenant: "a" })(Effect.void)))
      assert.deepInclude(refused, { _tag: "WaitExpired", bound: "deadline", waited: Duration.nanos(0n) })
      yield* Books.whole(admission)
    }))

  it.effect("AD-22: that was granted in time stands, though its fiber goes on after the deadline", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 1, maxWait: "1 second" })
      const permit = yield* admission.enter({ tenant: "a" })
      const work = Effect.andThen(Effect.sleep("1 minute"), Effect.succeed("done"))
      const waiter = yield* Effect.forkChild(
        Deadline.within("900 millis")(admission.run({ tenant: "b" })(work)),
        { startImmediately: true },
      )
      yield* TestClock.adjust("899 millis")
      yield* admission.release(permit)
      yield* TestClock.adjust("1 hour")
      // `run` bounds the wait, not the work.
      assert.strictEqual(yield* Fiber.join(waiter), "done")
      yield* Books.whole(admission)
    }))

  it.effect("AD-20 AD-22: that is over when the units come gets no units; the next one does", () =>
    Effect.gen(function* () {
      const { admission, come, end, go, order } = yield* stage({ maxRunning: 1, maxWait: "1 second" })
      yield* come("holder", { tenant: "a" })
      const late = yield* come("late", { tenant: "b" })
      yield* TestClock.adjust("999 millis")
      yield* come("next", { tenant: "c" })
      yield* TestClock.adjust("1 millis")
      yield* go("holder")
      assert.strictEqual((yield* Effect.flip(Fiber.join(late)))._tag, "WaitExpired")
      assert.deepStrictEqual(order, ["holder", "next"])
      assert.deepInclude(yield* Books.balanced(admission), { running: 1, waiting: 0 })
      yield* end
    }))

  it.effect("AD-20: ends for each of 500 callers, whatever happens to the others", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 3, maxPerTenant: 2, maxWait: "1 second" })
      let random = 7
      const below = (n: number) => (random = random * 48271 % 2147483647) % n
      const fibers: Array<Fiber.Fiber<unknown, { readonly _tag: string }>> = []
      for (let i = 0; i < 500; i++) {
        const ask = { tenant: `t${below(9)}`, cost: 1 + below(2), provider: below(2) === 0 ? "p" : undefined }
        const work = admission.run(ask)(Effect.sleep(below(400)))
        const hurried = below(3) === 0 ? Deadline.within(below(800))(work) : work
        fibers.push(yield* Effect.forkChild(hurried, { startImmediately: true }))
        if (below(4) === 0) yield* Fiber.interrupt(fibers[below(fibers.length)]!)
        if (below(3) === 0) yield* TestClock.adjust(below(100))
        yield* Books.balanced(admission)
      }
      yield* TestClock.adjust("3 seconds")
      for (const fiber of fibers) assert.isDefined(fiber.pollUnsafe())
      yield* Books.whole(admission)
    }))
})

describe("a refusal", () => {
  it.effect("AD-20 AD-31: that came before its caller waits is what it hears, though its scope closes before it does", () =>
    Effect.gen(function* () {
      const prepare = Effect.gen(function* () {
        const admission = yield* Admission.make({ maxRunning: 1, maxWait: "1 second" })
        const [hold, scope] = [yield* Scope.make(), yield* Scope.make()]
        yield* Effect.orDie(Scope.provide(admission.enter({ tenant: "h" }), hold))
        return { admission, hold, scope, heard: "" }
      })
      let refused = 0
      yield* Explorer.explore({
        prepare,
        fibers: (state) => ({
          a: Effect.exit(Scope.provide(state.admission.enter({ tenant: "a" }), state.scope)).pipe(
            Effect.map((exit) => void (state.heard = String(exit))),
          ),
          b: Effect.andThen(Scope.close(state.hold, Exit.void), Scope.close(state.scope, Exit.void)),
        }),
        oracle: ({ admission, heard, hold, scope }) =>
          Effect.gen(function* () {
            const { WaitExpired } = (yield* admission.snapshot).refused
            refused += WaitExpired
            assert.strictEqual(heard.includes("WaitExpired"), WaitExpired === 1)
            yield* Scope.close(hold, Exit.void)
            yield* Scope.close(scope, Exit.void)
          }),
      }, { preemptions: 2 })
      assert.isAbove(refused, 0)
    }))
})
