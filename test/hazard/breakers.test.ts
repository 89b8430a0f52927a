/**
 * Breakers and bulkheads: what others lost there, and what must hold here.
 *
 * Every pair of a state and an event stands in `test/kernel/Circuit.test.ts`; here are the ways that lead there.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import * as CircuitBreaker from "../../core/CircuitBreaker.ts"
import * as GateLine from "../../core/GateLine.ts"
import type { Options } from "../../core/GateOptions.ts"
import { Circuit, type Pass } from "../../core/kernel/Circuit.ts"
import * as ProviderGate from "../../core/ProviderGate.ts"
import * as Books from "../support/GateBooks.ts"

const options: Options = {
  concurrency: 8,
  tenantConcurrency: 8,
  reservedControl: 0,
  failureThreshold: 1,
  recoveryAfter: "10 seconds",
  maxElapsed: "2 seconds",
}
const ask = { tenant: "a" } as const
const started = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })
const opened = Effect.gen(function* () {
  const gate = yield* ProviderGate.make(options)
  yield* Effect.exit(gate.run(ask, Effect.fail("broken")))
  yield* TestClock.adjust("10 seconds")
  return gate
})

describe("a stuck half-open state", () => {
  it.effect("PG-54 PG-13: a probe that nobody ever settles loses its mark, again and again", () =>
    Effect.gen(function* () {
      const gate = yield* opened
      const forgotten = yield* Scope.make()
      for (let i = 0; i < 7; i++) {
        const permit = yield* Scope.provide(gate.tryEnter(ask), forgotten)
        assert.isTrue(permit.probe)
        assert.deepInclude(yield* Effect.flip(gate.run(ask, Effect.void)), { _tag: "CircuitOpen", probing: true })
        yield* TestClock.adjust("2 seconds")
      }
      yield* gate.run(ask, Effect.void)
      assert.strictEqual((yield* gate.snapshot).circuit.state, "closed")
      yield* Scope.close(forgotten, Exit.void)
      yield* Books.whole(gate, 8)
    }))

  it.effect("PG-23 PG-54: a trial call that hangs, and cannot be interrupted, does not keep the circuit shut", () =>
    Effect.gen(function* () {
      const gate = yield* opened
      const fibers = []
      for (let i = 0; i < 3; i++) {
        fibers.push(yield* started(Effect.exit(gate.run(ask, Effect.uninterruptible(Effect.sleep("1 hour"))))))
        yield* TestClock.adjust("2 seconds")
        assert.strictEqual((yield* gate.snapshot).circuit.state, "open")
        yield* TestClock.adjust("10 seconds")
      }
      yield* gate.run(ask, Effect.void)
      assert.deepInclude(yield* Books.balanced(gate), { held: 3, circuit: { state: "closed", failures: 0 } })
      yield* TestClock.adjust("1 hour")
      yield* Effect.forEach(fibers, Fiber.join)
      yield* Books.whole(gate, 8)
    }))

  it.effect("PG-54: nor does one behind a breaker alone", () =>
    Effect.gen(function* () {
      const breaker = yield* CircuitBreaker.make({
        failureThreshold: 1,
        recoveryAfter: "10 seconds",
        maxElapsed: "2 seconds",
      })
      yield* Effect.exit(breaker.run(Effect.fail("broken")))
      yield* TestClock.adjust("10 seconds")
      const hung = yield* started(breaker.run(Effect.never))
      assert.deepInclude(yield* Effect.flip(breaker.run(Effect.void)), { probing: true })
      yield* TestClock.adjust("2 seconds")
      yield* breaker.run(Effect.void)
      assert.strictEqual((yield* breaker.snapshot).state, "closed")
      yield* Fiber.interrupt(hung)
    }))
})

describe("a cancelled probe", () => {
  it.effect("PG-11 PG-13 PG-31: frees the probe and leaves the circuit as it was", () =>
    Effect.gen(function* () {
      const gate = yield* opened
      for (let i = 0; i < 5; i++) {
        const before = (yield* gate.snapshot).circuit
        const fiber = yield* started(gate.run(ask, Effect.never))
        assert.strictEqual((yield* gate.snapshot).circuit.state, "half-open")
        yield* Fiber.interrupt(fiber)
        assert.deepStrictEqual((yield* gate.snapshot).circuit, before)
      }
      yield* gate.run(ask, Effect.void)
      yield* Books.whole(gate, 8)
    }))
})

describe("a gap in the state machine", () => {
  it("PG-6 PG-10 PG-13 PG-18 PG-30 PG-32: from wherever any way of seven events leads, one probe that succeeds closes", () => {
    type Event = "enter" | "wait" | "longer" | `${"succeed" | "fail" | "release"} ${0 | 1}`
    const events: ReadonlyArray<Event> = [
      "enter",
      "wait",
      "longer",
      "succeed 0",
      "fail 0",
      "release 0",
      "succeed 1",
      "fail 1",
      "release 1",
    ]
    const reached = new Set<string>()
    let ways = 0

    /** Plays a way from the start; false where its last event cannot happen there. */
    const play = (way: ReadonlyArray<Event>): boolean => {
      const circuit = new Circuit({ failureThreshold: 2, recoveryNanos: 10, probeNanos: 5, applyStale: false })
      const out: Array<Pass> = []
      let now = 0
      let possible = true
      for (const event of way) {
        if (event === "wait") now += 5
        else if (event === "longer") now += 10
        else if (event === "enter") {
          possible = circuit.shut(now) === undefined && out.length < 3
          if (possible) out.push(circuit.pass(now))
        } else {
          const [verdict, index] = event.split(" ")
          const [pass] = out.splice(Number(index), 1)
          possible = pass !== undefined
          if (pass === undefined) continue
          if (verdict === "succeed") circuit.succeed(pass)
          else if (verdict === "fail") circuit.fail(pass, now)
          else circuit.release(pass)
        }
      }
      if (!possible) return false
      const probes = out.filter((pass) => pass.probe && circuit.isCurrent(pass))
      assert.isAtMost(probes.length, 1, way.join(", "))
      assert.strictEqual(circuit.state === "half-open", probes.length === 1, way.join(", "))
      reached.add(`${circuit.state} ${Math.min(circuit.failures, 3)}`)
      // However long it takes, nobody is shut out for ever, and a provider that is well is let work.
      assert.isUndefined(circuit.shut(now + 10), way.join(", "))
      circuit.succeed(circuit.pass(now + 10))
      assert.deepStrictEqual([circuit.state, circuit.failures], ["closed", 0], way.join(", "))
      ways++
      return true
    }
    const explore = (way: ReadonlyArray<Event>): void => {
      if (!play(way) || way.length === 7) return
      for (const event of events) explore([...way, event])
    }
    explore([])
    assert.includeMembers([...reached], ["closed 0", "closed 1", "open 2", "half-open 2", "open 3"])
    assert.isAbove(ways, 5_000)
  })
})

describe("an outage", () => {
  /** A gate, how often its provider was called, and a call to it. */
  const outage = Effect.gen(function* () {
    const provider = { calls: 0, isUp: false }
    const gate = yield* ProviderGate.make(options)
    const answer = Effect.suspend(() => {
      provider.calls++
      return provider.isUp ? Effect.succeed("up") : Effect.fail("down")
    })
    return { gate, provider, answer, call: gate.run(ask, answer) }
  })

  it.effect("PG-6 PG-30: is tried by one of 1,000 that come back at once, and the rest are told so", () =>
    Effect.gen(function* () {
      const { answer, call, gate, provider } = yield* outage
      yield* Effect.exit(call)
      yield* TestClock.adjust("10 seconds")
      provider.isUp = true
      const slow = Effect.exit(gate.run(ask, Effect.andThen(Effect.yieldNow, answer)))
      const exits = yield* Effect.all(Array.from({ length: 1_000 }, () => slow), { concurrency: "unbounded" })
      assert.strictEqual(provider.calls, 2)
      assert.lengthOf(exits.filter((exit) => exit._tag === "Success"), 1)
      assert.deepInclude(yield* Books.settled(gate), { refusedOpen: 999, circuit: { state: "closed", failures: 0 } })
      yield* Books.whole(gate, 8)
    }))

  it.effect("PG-31 PG-32: that lasted a hundred openings is over with the first call that comes after it", () =>
    Effect.gen(function* () {
      const { call, gate, provider } = yield* outage
      for (let i = 0; i < 100; i++) {
        yield* Effect.exit(call)
        yield* TestClock.adjust("10 seconds")
      }
      assert.deepInclude(yield* Books.settled(gate), { opened: 100, failures: 100 })
      provider.isUp = true
      assert.strictEqual(yield* call, "up")
      yield* Books.whole(gate, 8)
    }))

  it.effect("PG-5 PG-24: costs the provider one call an opening, however often it is asked for", () =>
    Effect.gen(function* () {
      const { call, gate, provider } = yield* outage
      for (let opening = 1; opening <= 5; opening++) {
        for (let i = 0; i < 1_000; i++) yield* Effect.exit(call)
        yield* TestClock.adjust("9 seconds")
        for (let i = 0; i < 1_000; i++) yield* Effect.exit(call)
        assert.strictEqual(provider.calls, opening)
        yield* TestClock.adjust("1 second")
      }
      assert.deepInclude(yield* Books.settled(gate), { refusedOpen: 9_995, granted: 5 })
    }))
})

describe("a bulkhead", () => {
  it.effect("PG-1 PG-23: its cap holds while work that timed out goes on", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make({
        ...options,
        concurrency: 2,
        tenantConcurrency: 2,
        failureThreshold: 1_000,
      })
      let running = 0
      let most = 0
      const stubborn = Effect.uninterruptible(
        Effect.acquireUseRelease(
          Effect.sync(() => most = Math.max(most, ++running)),
          () => Effect.sleep("7 seconds"),
          () => Effect.sync(() => running--),
        ),
      )
      const fibers = []
      for (let second = 0; second < 30; second++) {
        fibers.push(yield* started(Effect.exit(gate.run(ask, stubborn))))
        yield* TestClock.adjust("1 second")
      }
      assert.strictEqual(most, 2)
      assert.isAbove((yield* Books.balanced(gate)).timedOut, 4)
      yield* TestClock.adjust("1 minute")
      yield* Effect.forEach(fibers, Fiber.join)
      yield* Books.whole(gate, 2)
    }))

  it.effect("PG-46 PG-1: who waits in line is not overtaken, and not refused but by an opening or its own time", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make({ ...options, concurrency: 1, tenantConcurrency: 1 })
      const line = yield* GateLine.make(gate)
      const order: Array<number> = []
      const visit = (n: number) =>
        Effect.scoped(
          Effect.flatMap(line.enter(ask), (permit) =>
            Effect.andThen(Effect.sync(() => order.push(n)), gate.settle(permit, "success"))),
        )
      const permit = yield* line.enter(ask)
      const fibers = []
      for (let n = 0; n < 20; n++) {
        fibers.push(yield* started(visit(n)))
        assert.deepInclude(yield* Effect.flip(gate.run({ ...ask, priority: "emergency" }, Effect.void)), {
          _tag: "Saturated",
        })
      }
      yield* gate.settle(permit, "success")
      yield* Effect.forEach(fibers, Fiber.join)
      assert.deepStrictEqual(order, Array.from({ length: 20 }, (_, n) => n))
      yield* Books.whole(gate, 1)
    }).pipe(Effect.scoped))
})
