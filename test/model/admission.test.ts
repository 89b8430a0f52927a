/**
 * Random lives of an Admission, judged after every command by a model of plain counts. Asks cost one unit and are of one
 * class, so that who waits is decided by caps and by arrival alone; whose turn it is among tenants is judged elsewhere.
 */
import { describe, it } from "vitest"
import fc from "fast-check"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as Admission from "../../core/Admission.ts"
import type { AdmissionSnapshot } from "../../core/AdmissionSnapshot.ts"
import * as Deadline from "../../core/Deadline.ts"
import type { Permit } from "../../core/Permit.ts"
import * as Kit from "../../core/testing/Model.ts"
import { assert } from "../support/Assert.ts"
import * as Books from "../support/Books.ts"

const maxWaitMillis = 5_000
const limits = { maxRunning: 6, maxPerTenant: 3, maxPerProvider: 4, maxQueued: 5, maxQueuedPerTenant: 3 }
const tenants = ["a", "b", "c"]
const providers = ["p", "q"]

interface Ask {
  readonly tenant: string
  readonly provider: string
  readonly due: number
}

/** What is known of an Admission from its rules alone. */
class Model {
  limits = { ...limits }
  held: Array<Ask> = []
  /** In order of arrival. */
  waiting: Array<Ask> = []
  withheld: Array<number> = []
  granted = 0
  released = 0
  refused: Record<string, number> = { QueueFull: 0, WouldWait: 0, WaitExpired: 0, Closed: 0, NeverFits: 0, TooLate: 0 }
  drainDue: number | undefined = undefined

  get free(): number {
    return this.limits.maxRunning - this.withheld.reduce((sum, each) => sum + each, 0) - this.held.length
  }

  fits(ask: Ask): boolean {
    const of = (key: "tenant" | "provider") => this.held.filter((each) => each[key] === ask[key]).length
    return this.free > 0 && of("tenant") < this.limits.maxPerTenant && of("provider") < this.limits.maxPerProvider
  }

  /** What one who comes is told at once; undefined where it waits. */
  answer(ask: Ask, waits: boolean): "granted" | "Closed" | "QueueFull" | "WouldWait" | undefined {
    if (this.drainDue !== undefined) return "Closed"
    if (this.fits(ask)) return "granted"
    if (!waits) return "WouldWait"
    const mine = this.waiting.filter(({ tenant }) => tenant === ask.tenant).length
    const full = this.waiting.length >= this.limits.maxQueued || mine >= this.limits.maxQueuedPerTenant
    return full ? "QueueFull" : undefined
  }

  grant(ask: Ask): void {
    assert.isTrue(this.fits(ask), "granted though it does not fit")
    this.held.push(ask)
    this.granted++
  }

  leave(ask: Ask): void {
    this.waiting = this.waiting.filter((each) => each !== ask)
  }
}

interface Real {
  readonly admission: Admission.Admission
  readonly holders: Map<Ask, { readonly permit: Permit; readonly scope: Scope.Closeable }>
  readonly waiters: Map<
    Ask,
    { readonly fiber: Fiber.Fiber<Permit, { readonly _tag: string }>; readonly scope: Scope.Closeable }
  >
  readonly withholdings: Array<Scope.Closeable>
  readonly spent: Array<Permit>
  readonly drains: Array<Fiber.Fiber<unknown>>
}
type Command = Kit.Command<Model, Real>

const worth = <A>(exit: Exit.Exit<A, unknown>): A => {
  if (Exit.isSuccess(exit)) return exit.value
  throw new Error(String(exit))
}
const tagOf = (exit: Exit.Exit<unknown, { readonly _tag: string }>): string =>
  Exit.isSuccess(exit) ? "granted" : worth(Effect.runSyncExit(Effect.flip(exit)))._tag
const millis = (stage: Kit.Stage): number => Number(stage.clock.nanos) / 1e6
const pick = <A>(items: ReadonlyArray<A>, n: number): A | undefined =>
  items.length === 0 ? undefined : items[n % items.length]

/** Those who have heard by now: a grant must fit, of one pair the oldest goes first, and whoever fits has been granted. */
const absorb = (model: Model, real: Real, stage: Kit.Stage): void => {
  const now = millis(stage)
  const draining = model.drainDue !== undefined && model.drainDue <= now
  for (const ask of [...model.waiting]) {
    const waiter = real.waiters.get(ask)!
    const exit = waiter.fiber.pollUnsafe()
    if (exit === undefined) continue
    const tag = tagOf(exit)
    const older = model.waiting.slice(0, model.waiting.indexOf(ask)).filter((each) => pair(each) === pair(ask))
    model.leave(ask)
    real.waiters.delete(ask)
    if (tag === "granted") {
      assert.isAbove(ask.due, now, "granted after its time")
      assert.isEmpty(older, "an older one of its pair waits")
      model.grant(ask)
      real.holders.set(ask, { permit: worth(exit), scope: waiter.scope })
    } else {
      assert.strictEqual(tag, ask.due <= now ? "WaitExpired" : "Closed", "told too early, or wrongly")
      if (tag === "Closed") assert.isTrue(draining)
      model.refused[tag]!++
    }
  }
  for (const ask of model.waiting) {
    assert.isAbove(ask.due, now, "waits after its time")
    assert.isFalse(draining, "waits after the drain")
    assert.isFalse(model.fits(ask), "waits though it fits")
  }
}
const pair = ({ provider, tenant }: Ask): string => `${tenant} ${provider}`

/** Interrupted: whatever it had taken is given back, once its scope is closed too. */
const gone = (model: Model, real: Real, stage: Kit.Stage, scope: Scope.Closeable, before: AdmissionSnapshot): void => {
  worth(stage.undisturbed(Scope.close(scope, Exit.void)))
  const after = worth(stage.undisturbed(real.admission.snapshot))
  const granted = after.granted - before.granted
  assert.strictEqual(after.released - before.released, granted)
  model.granted += granted
  model.released += granted
  for (const [tag, count] of Object.entries(after.refused)) {
    const told = count - before.refused[tag as keyof AdmissionSnapshot["refused"]]
    assert.isAtMost(told + granted, 1)
    model.refused[tag]! += told
  }
}

const enter = (tenant: string, provider: string, waits: boolean): Command => ({
  name: `${waits ? "enter" : "tryEnter"}(${tenant}, ${provider})`,
  run: (model, real, stage) => {
    const { admission } = real
    const before = worth(stage.undisturbed(admission.snapshot))
    const scope = Scope.makeUnsafe()
    const ask = { tenant, provider, due: millis(stage) + maxWaitMillis }
    const expected = model.answer(ask, waits)
    const entering: Effect.Effect<Permit, { readonly _tag: string }, Scope.Scope> = waits
      ? admission.enter(ask)
      : admission.tryEnter(ask)
    const fiber = stage.start(Scope.provide(entering, scope))
    const exit = fiber.pollUnsafe()
    if (exit !== undefined && Exit.hasInterrupts(exit)) return gone(model, real, stage, scope, before)
    assert.strictEqual(exit === undefined ? undefined : tagOf(exit), expected)
    if (exit === undefined) {
      model.waiting.push(ask)
      real.waiters.set(ask, { fiber, scope })
    } else if (expected === "granted") {
      model.grant(ask)
      real.holders.set(ask, { permit: worth(exit), scope })
    } else model.refused[expected!]!++
  },
})

const over = (model: Model, real: Real, stage: Kit.Stage, ask: Ask): void => {
  model.held = model.held.filter((each) => each !== ask)
  model.released++
  real.spent.push(real.holders.get(ask)!.permit)
  real.holders.delete(ask)
  absorb(model, real, stage)
}

const release = (n: number): Command => ({
  name: `release(${n})`,
  when: ({ held }) => held.length > 0,
  run: (model, real, stage) => {
    const ask = pick(model.held, n)!
    const before = worth(stage.undisturbed(real.admission.snapshot)).released
    const exit = stage.now(real.admission.release(real.holders.get(ask)!.permit))
    const released = worth(stage.undisturbed(real.admission.snapshot)).released - before
    assert.isTrue(released === 1 || (released === 0 && Exit.hasInterrupts(exit)), String(exit))
    if (released === 1) over(model, real, stage, ask)
  },
})

const close = (n: number): Command => ({
  name: `close(${n})`,
  when: ({ held }) => held.length > 0,
  run: (model, real, stage) => {
    const ask = pick(model.held, n)!
    worth(stage.undisturbed(Scope.close(real.holders.get(ask)!.scope, Exit.void)))
    over(model, real, stage, ask)
  },
})

const releaseAgain = (n: number): Command => ({
  name: `releaseAgain(${n})`,
  run: (_, real, { undisturbed }) => {
    const permit = pick(real.spent, n)
    if (permit !== undefined) assert.strictEqual(tagOf(undisturbed(real.admission.release(permit))), "LeaseSpent")
  },
})

/** Interrupts one that waits, or closes the scope that it would enter. */
const leave = (n: number, how: "interrupt" | "close"): Command => ({
  name: `${how}Waiter(${n})`,
  when: ({ waiting }) => waiting.length > 0,
  run: (model, real, stage) => {
    const ask = pick(model.waiting, n)!
    const { fiber, scope } = real.waiters.get(ask)!
    if (how === "close") worth(stage.undisturbed(Scope.close(scope, Exit.void)))
    else fiber.interruptUnsafe()
    stage.settle()
    assert.isTrue(Exit.hasInterrupts(fiber.pollUnsafe()!))
    model.leave(ask)
    real.waiters.delete(ask)
    absorb(model, real, stage)
  },
})

const advance = (by: number): Command => ({
  name: `advance(${by})`,
  run: (model, real, stage) => {
    stage.clock.advance(by)
    stage.settle()
    absorb(model, real, stage)
  },
})

const withhold = (units: number): Command => ({
  name: `withhold(${units})`,
  run: (model, real, stage) => {
    const scope = Scope.makeUnsafe()
    const left = model.limits.maxRunning - model.withheld.reduce((sum, each) => sum + each, 0)
    const exit = stage.now(Scope.provide(real.admission.withhold(units), scope))
    if (Exit.hasInterrupts(exit)) {
      worth(stage.undisturbed(Scope.close(scope, Exit.void)))
      return absorb(model, real, stage)
    }
    assert.strictEqual(Exit.isSuccess(exit), units <= left)
    if (Exit.isFailure(exit)) return
    model.withheld.push(units)
    real.withholdings.push(scope)
  },
})

const restore: Command = {
  name: "restore",
  when: ({ withheld }) => withheld.length > 0,
  run: (model, real, stage) => {
    model.withheld.pop()
    worth(stage.undisturbed(Scope.close(real.withholdings.pop()!, Exit.void)))
    absorb(model, real, stage)
  },
}

const lower = (limit: "maxRunning" | "maxPerTenant" | "maxPerProvider" | "maxQueued", to: number): Command => ({
  name: `lower(${limit}, ${to})`,
  run: (model, real, { undisturbed }) => {
    const now = model.limits
    const busiest = (key: "tenant" | "provider", keys: ReadonlyArray<string>) =>
      Math.max(...keys.map((each) => model.held.filter((ask) => ask[key] === each).length))
    const use = {
      maxRunning: model.held.length + model.withheld.reduce((sum, each) => sum + each, 0),
      maxPerTenant: busiest("tenant", tenants),
      maxPerProvider: busiest("provider", providers),
      maxQueued: model.waiting.length,
    }[limit]
    // A limit only falls, and a cap that is named stays within the total. In debt it may stay what it is.
    const most = limit === "maxQueued" ? now.maxQueued : Math.min(now[limit], now.maxRunning)
    const falls = to < now[limit]
    const expected = to > most ? "InvalidLimits" : falls && to < use ? "BelowUse" : "granted"
    assert.strictEqual(tagOf(undisturbed(real.admission.lower({ [limit]: to }))), expected)
    if (expected === "granted") model.limits = { ...now, [limit]: to }
  },
})

const drain = (within: number): Command => ({
  name: `drain(${within})`,
  // So that most of a life is lived before it.
  when: ({ granted }) => granted > 10,
  run: (model, real, stage) => {
    const drained = Effect.flatMap(Deadline.after(within), (deadline) => real.admission.drain(deadline))
    const due = millis(stage) + within
    const fiber = stage.start(Effect.orDie(drained))
    const exit = fiber.pollUnsafe()
    const cut = exit !== undefined && Exit.hasInterrupts(exit)
    // Interrupted, it has begun, and nobody is let in any more; or it has not. Its instant means nothing either way.
    const began = worth(stage.undisturbed(real.admission.snapshot)).state !== "open"
    if (began) model.drainDue = Math.min(cut ? Infinity : due, model.drainDue ?? Infinity)
    else assert.isTrue(cut, "a drain that does not begin")
    if (!cut) real.drains.push(fiber)
    absorb(model, real, stage)
  },
})

const which = fc.nat({ max: 7 })
const asks = fc.tuple(fc.constantFrom(...tenants), fc.constantFrom(...providers))
const commands: ReadonlyArray<Kit.Arbitrary<Command>> = [
  asks.map((ask) => enter(...ask, true)),
  asks.map((ask) => enter(...ask, true)),
  asks.map((ask) => enter(...ask, false)),
  which.map(release),
  which.map(close),
  which.map(releaseAgain),
  fc.tuple(which, fc.constantFrom("interrupt" as const, "close" as const)).map((args) => leave(...args)),
  fc.constantFrom(1, 999, 4_999, 5_000, 20_000).map(advance),
  fc.constantFrom(1, 2, 3, 7).map(withhold),
  fc.constant(restore),
  fc.tuple(fc.constantFrom("maxRunning", "maxPerTenant", "maxPerProvider", "maxQueued"), fc.nat({ max: 6 }))
    .filter(([limit, to]) => to > 0 || limit === "maxQueued").map((args) => lower(...args)),
  fc.constantFrom(0, 1_000, 10_000).map(drain),
]

const agree = (model: Model, real: Real): Effect.Effect<void> =>
  Effect.map(Books.balanced(real.admission), (s) => {
    const { Closed, NeverFits, QueueFull, TooLate, WaitExpired, WouldWait } = s.refused
    assert.deepStrictEqual(
      [s.running, s.waiting, s.withheld, s.granted, s.released],
      [
        model.held.length,
        model.waiting.length,
        model.withheld.reduce((sum, each) => sum + each, 0),
        model.granted,
        model.released,
      ],
    )
    assert.deepStrictEqual({ QueueFull, WouldWait, WaitExpired, Closed, NeverFits, TooLate }, model.refused as never)
    assert.strictEqual(s.state === "open", model.drainDue === undefined)
    if (s.withheld > 0) return
    for (const key of ["tenant", "provider"] as const) {
      const cap = key === "tenant" ? model.limits.maxPerTenant : model.limits.maxPerProvider
      for (const each of model.held) {
        assert.isAtMost(model.held.filter((other) => other[key] === each[key]).length, cap)
      }
    }
  })

const life: Kit.Life<Model, Real> = {
  prepare: Effect.map(
    Admission.make({ ...limits, maxWait: maxWaitMillis, maxBypass: 96 }),
    (admission) => ({ admission, holders: new Map(), waiters: new Map(), withholdings: [], spent: [], drains: [] }),
  ),
  model: () => new Model(),
  commands,
  invariant: agree,
  /** Once all have left and given back, nothing is held, and every drain is over. */
  finish: (_, real, { settle, undisturbed }) => {
    for (const { fiber } of real.waiters.values()) fiber.interruptUnsafe()
    const scopes = [...[...real.holders.values()].map(({ scope }) => scope), ...real.withholdings]
    for (const scope of scopes) worth(undisturbed(Scope.close(scope, Exit.void)))
    settle()
    for (const fiber of real.drains) assert.isDefined(fiber.pollUnsafe(), "a drain goes on though nothing is held")
    return Books.whole(real.admission)
  },
}

describe("an Admission over random lives", () => {
  for (const order of ["oldest", "newest"] as const) {
    it(
      `AD-1 AD-2 AD-3 AD-4 AD-5 AD-11 AD-15 AD-19 AD-20 AD-21 AD-22 AD-27 AD-28 AD-29 AD-30 AD-36: does what a model of plain counts does, the ${order} task first`,
      () => {
        const options = { seed: 20_261_129, runs: 200, maxCommands: 120, maxCut: 25, order }
        const { cuts } = Effect.runSync(Kit.check(fc, life, options))
        assert.isAbove(cuts, 500)
      },
    )
  }
})
