/**
 * Random lives of a gate with a line in front of it. Callers come, are let in, give back, leave and are interrupted, also
 * in the very step in which another is told that it is in; after each step the gate is held against what its callers know.
 */
import { assert, describe, it } from "vitest"
import type * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import { priorities } from "../../core/AdmissionOptions.ts"
import type { WaitExpired } from "../../core/AdmissionRefused.ts"
import * as Deadline from "../../core/Deadline.ts"
import * as GateLine from "../../core/GateLine.ts"
import type { CircuitEvent } from "../../core/kernel/Circuit.ts"
import { Line } from "../../core/kernel/Line.ts"
import * as ProviderGate from "../../core/ProviderGate.ts"
import { HandClock } from "../../core/testing/HandClock.ts"
import { wicketOf } from "../../core/Wicket.ts"
import * as Books from "../support/GateBooks.ts"
import { Chance } from "./Chance.ts"

const tenants = ["a", "b", "c", "d"]
const maxWait = 3_000
const verdicts = ["success", "success", "failure", "neutral"] as const

interface Caller {
  readonly tenant: string
  readonly arrival: number
  readonly scope: Scope.Closeable
  readonly since: number
  /** The instant of its own deadline. */
  readonly due: number
  state: "waiting" | "in" | "out"
  permit: ProviderGate.GatePermit | undefined
  fiber: Fiber.Fiber<unknown, unknown> | undefined
}

class Life {
  readonly chance: Chance
  readonly clock = new HandClock()
  readonly gate: ProviderGate.ProviderGate
  places: number
  readonly maxQueued: number
  readonly lends: boolean
  reserved: number
  scope: Scope.Closeable
  line: GateLine.GateLine
  /** What a caller came to that it must not, as it went on. */
  defect: Cause.Cause<unknown> | undefined
  event: CircuitEvent = "closed"
  /** The kernel's lines that were asked. */
  readonly kernel: Set<Line>
  callers: Array<Caller> = []
  readonly seen = new Set<string>()
  entered = 0
  refusedOpen = 0

  constructor(seed: number, kernel: Set<Line>) {
    const chance = this.chance = new Chance(seed)
    this.kernel = kernel
    this.places = chance.whole(1, 6)
    this.reserved = chance.whole(0, this.places - 1)
    this.maxQueued = chance.whole(1, 8)
    const [control, probe] = [chance.yes(0.6), chance.yes(0.6)]
    this.lends = control || probe
    this.gate = this.run(ProviderGate.make({
      concurrency: this.places,
      reservedControl: this.reserved,
      tenantConcurrency: chance.whole(1, Math.min(this.places, 2)),
      failureThreshold: chance.whole(1, 3),
      recoveryAfter: 1_000,
      maxElapsed: 2_000,
      reservedForTenantControl: control ? "on" : "off",
      reservedProbe: probe ? "on" : "off",
      events: (event) => {
        this.event = event
      },
    }))
    this.scope = Scope.makeUnsafe()
    this.line = this.#newLine()
  }

  get now(): number {
    return Number(this.clock.nanos) / 1e6
  }

  run<A, E>(effect: Effect.Effect<A, E>): A {
    return Effect.runSync(Effect.provideService(effect, Clock.Clock, this.clock))
  }

  #newLine(): GateLine.GateLine {
    this.scope = Scope.makeUnsafe()
    return this.run(Scope.provide(GateLine.make(this.gate, { maxQueued: this.maxQueued, maxWait }), this.scope))
  }

  come(): void {
    const { chance } = this
    const tenant = chance.pick(tenants)
    const arrival = chance.pick([0, 1, 1, 2, 2, 2, 3])
    const patience = chance.pick([Infinity, Infinity, 700, 2_999])
    const caller: Caller = {
      tenant,
      arrival,
      scope: Scope.makeUnsafe(),
      since: this.now,
      due: this.now + patience,
      state: "waiting",
      permit: undefined,
      fiber: undefined,
    }
    this.callers.push(caller)
    const enter = this.line.enter({ tenant, priority: priorities[arrival]! })
    const asked = Scope.provide(enter, caller.scope).pipe(
      Effect.match({
        onSuccess: (permit) => this.#isIn(caller, permit),
        onFailure: (refusal) => this.#isRefused(caller, refusal),
      }),
      (effect) => patience === Infinity ? effect : Deadline.within(patience)(effect),
      (effect) => Effect.provideService(effect, Clock.Clock, this.clock),
    )
    caller.fiber = Effect.runFork(asked)
    caller.fiber.addObserver((exit) => {
      if (Exit.isFailure(exit) && !Exit.hasInterrupts(exit)) this.defect = exit.cause
    })
    if (caller.state === "waiting") this.seen.add(tenant)
  }

  #isIn(caller: Caller, permit: ProviderGate.GatePermit): void {
    assert.strictEqual(caller.state, "waiting")
    assert.deepStrictEqual([permit.tenant, permit.priority], [caller.tenant, priorities[caller.arrival]])
    caller.state = "in"
    caller.permit = permit
    this.seen.add(caller.tenant)
    this.entered++
    // It goes on in the step that let it in.
    if (this.chance.yes(0.5)) this.act()
  }

  #isRefused(caller: Caller, refusal: GateLine.Refusal): void {
    // It may be on its way as the caller's scope closes.
    caller.state = "out"
    if (refusal._tag === "CircuitOpen") {
      this.refusedOpen++
      assert.isAtMost(Duration.toMillis(refusal.retryAfter), 2_000)
    }
    if (refusal._tag === "WaitExpired") this.#isExpired(caller, refusal)
    if (refusal._tag === "QueueFull") assert.deepInclude(refusal, { scope: "all", limit: this.maxQueued })
    if (refusal._tag === "Closed") assert.strictEqual(Duration.toMillis(refusal.since), 0)
    if (this.chance.yes(0.1)) this.act()
  }

  #isExpired(caller: Caller, refusal: WaitExpired): void {
    const due = Math.min(caller.since + maxWait, caller.due)
    assert.strictEqual(this.now, due)
    assert.strictEqual(refusal.bound, caller.due === due ? "deadline" : "maxWait")
    assert.strictEqual(Duration.toMillis(refusal.waited), due - caller.since)
  }

  /** One thing that somebody does. */
  act(): void {
    const { chance } = this
    const inside = this.callers.filter(({ state }) => state === "in")
    const waiting = this.callers.filter(({ state }) => state === "waiting")
    const dice = chance.whole(0, 99)
    if (dice < 45) return this.come()
    if (dice < 72 && inside.length > 0) return this.end(chance.pick(inside))
    if (dice < 84 && waiting.length > 0) return this.giveUp(chance.pick(waiting))
    if (dice < 90) return this.lower()
    if (dice < 94) return this.change()
    return this.come()
  }

  end(caller: Caller): void {
    caller.state = "out"
    if (this.chance.yes(0.2)) return this.run(Scope.close(caller.scope, Exit.void))
    this.run(this.gate.settle(caller.permit!, this.chance.pick(verdicts)))
  }

  giveUp(caller: Caller): void {
    caller.state = "out"
    if (this.chance.yes(0.5)) return this.run(Scope.close(caller.scope, Exit.void))
    caller.fiber?.interruptUnsafe()
  }

  /** More than one may come to be let in by it, or nobody for longer. */
  lower(): void {
    const { chance } = this
    const next = chance.yes(0.5)
      ? { reservedControl: chance.whole(0, this.reserved) }
      : { concurrency: this.places - 1 }
    if (Exit.isFailure(this.run(Effect.exit(this.gate.lower(next))))) return
    this.reserved = next.reservedControl ?? this.reserved
    this.places = next.concurrency ?? this.places
  }

  /** Another line takes the place of this one. */
  change(): void {
    const { line } = this
    this.run(Scope.close(this.scope, Exit.void))
    assert.strictEqual(this.run(line.waiting), 0)
    if (wicketOf(this.gate)!.line === undefined) this.line = this.#newLine()
  }

  /** What holds whenever all who had to be told have been. */
  look(): void {
    assert.isUndefined(this.defect)
    const wicket = wicketOf(this.gate)!
    const { circuit, keys } = wicket.gate
    const present = this.callers.filter(({ state }) => state !== "out")
    const inside = present.filter(({ state }) => state === "in")
    const waiting = present.filter(({ state }) => state === "waiting")
    assert.strictEqual(this.run(this.line.waiting), waiting.length)
    const books = this.run(Books.balanced(this.gate))
    assert.deepInclude(books, {
      held: inside.length,
      heldEmergency: inside.filter(({ arrival }) => arrival === 0).length,
      heldOrdinary: inside.filter(({ arrival }) => arrival >= 2).length,
      tenantsActive: new Set(inside.map(({ tenant }) => tenant)).size,
    })
    // Who gives up may have been lent a place or refused in that step, and not have heard of it.
    if (this.lends) assert.isAtLeast(books.granted, this.entered)
    else assert.strictEqual(books.granted, this.entered)
    assert.isAtLeast(books.refusedOpen, this.refusedOpen)
    for (const { due, since, tenant, arrival, fiber } of waiting) {
      assert.isUndefined(fiber?.pollUnsafe(), "it was answered, and does not know")
      assert.isAbove(Math.min(due, since + maxWait), this.now, "its time is over")
      // The gate lets in whom it has a place for, and nobody waits out an opening.
      const pair = keys.find(tenant, undefined)
      assert.deepInclude(wicket.gate.refusal(pair, arrival as 0, wicket.now()), { kind: "full" })
    }
    if (!circuit.isClosed && circuit.shut(wicket.now()) !== undefined) assert.isEmpty(waiting)
    // A probe that judges nobody leaves it open without a word.
    const isOpen = circuit.state === "open" && this.event !== "closed"
    const state = { opened: "open", reopened: "open", probing: "half-open", closed: "closed" }[this.event]
    assert.isTrue(isOpen || circuit.state === state, "an event was not told")
    // There is a timer for those who wait alone, and nothing that was handed over is kept.
    assert.strictEqual(this.clock.sleeping, Math.min(waiting.length, 1))
    for (const { held } of this.kernel) assert.isUndefined(held.head)
    // Of tenants there is a record of who was ever let in or let wait, in use by each that is or does now.
    assert.sameMembers([...keys.tenants.keys()], [...this.seen])
    for (const tenant of this.seen) {
      assert.strictEqual(keys.find(tenant, undefined)?.uses, present.filter((each) => each.tenant === tenant).length)
    }
    this.callers = present
  }

  go(steps: number): void {
    for (let step = 0; step < steps; step++) {
      if (this.chance.yes(0.2)) this.pass()
      else this.act()
      this.look()
    }
  }

  pass(): void {
    this.clock.advance(this.chance.pick([1, 100, 500, 1_000]))
  }
}

/** Runs with every kernel's line that is asked put into a set. */
const noting = (run: (lines: Set<Line>) => void): void => {
  const { ask } = Line.prototype
  const lines = new Set<Line>()
  Line.prototype.ask = function (this: Line, ...args: Parameters<typeof ask>) {
    lines.add(this)
    return ask.apply(this, args)
  } as typeof ask
  try {
    run(lines)
  } finally {
    Line.prototype.ask = ask
  }
}

/** Each life by its number, which is its seed. */
const seeds = (count: number, live: (seed: number, kernel: Set<Line>) => void): void =>
  noting((kernel) => {
    for (let seed = 1; seed <= count; seed++) {
      kernel.clear()
      try {
        live(seed, kernel)
      } catch (error) {
        throw new Error(`life ${seed}: ${String(error)}`, { cause: error })
      }
    }
  })

describe("the life of a gate with a line", () => {
  it("PG-46 PG-50 PG-55 PG-15: is such that each who waits is told, and each place and record is somebody's", () => {
    seeds(60, (seed, kernel) => new Life(seed, kernel).go(60))
  })
})
