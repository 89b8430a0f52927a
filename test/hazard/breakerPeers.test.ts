/**
 * The same trials for a gate and for what a user would pick instead: Effect's own CircuitBreaker, cockatiel and opossum.
 * What README says of them stands here and in `test/docs/probes.test.ts`; a peer that is not named keeps the law too.
 *
 * When a new version of one of them fails a trial, the README is wrong about it: correct both.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Cockatiel from "cockatiel"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as CircuitBreaker from "effect/persistence/CircuitBreaker"
import * as TestClock from "effect/testing/TestClock"
import * as Deadline from "../../core/Deadline.ts"
import * as GateLine from "../../core/GateLine.ts"
import type { Options } from "../../core/GateOptions.ts"
import * as ProviderGate from "../../core/ProviderGate.ts"
import { HandClock } from "../../core/testing/HandClock.ts"
import * as Books from "../support/GateBooks.ts"
import * as Opossum from "../support/Opossum.ts"
import * as PeerTime from "../support/PeerTime.ts"

const options: Options = {
  concurrency: 4,
  reservedControl: 0,
  tenantConcurrency: 4,
  failureThreshold: 1,
  recoveryAfter: "10 seconds",
  maxElapsed: "5 seconds",
}
const ask = { tenant: "a" } as const
const hour = 60 * 60 * 1_000
const recovery = 10_000
const started = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })

const hang = (): Promise<never> => new Promise(() => {})
const down = (): Promise<never> => Promise.reject(new Error("down"))
/** Work that ends when it is told to. */
const hold = (): { readonly promise: Promise<unknown>; readonly end: () => void; readonly fail: () => void } => {
  const { promise, reject, resolve } = Promise.withResolvers<unknown>()
  return { promise, end: () => resolve("up"), fail: () => reject(new Error("down")) }
}

/** A gate whose circuit one failure has opened; with `recovered`, so long ago that the next call is the probe. */
const opened = (recovered = true) =>
  Effect.gen(function* () {
    const gate = yield* ProviderGate.make(options)
    yield* Effect.exit(gate.run(ask, Effect.fail("down")))
    if (recovered) yield* TestClock.adjust(recovery)
    return gate
  })

const effectBreaker = CircuitBreaker.make({ tripPolicy: CircuitBreaker.consecutive(1), openDuration: recovery })
const effectOpened = Effect.gen(function* () {
  const execute = (yield* effectBreaker).execute({ key: "mail" })
  yield* Effect.exit(execute(Effect.fail("down")))
  return execute
})
const withStore = Effect.provide(CircuitBreaker.layerStoreMemory())

const cockatiel = (handled: Cockatiel.Policy = Cockatiel.handleAll) =>
  Cockatiel.circuitBreaker(handled, { halfOpenAfter: recovery, breaker: new Cockatiel.ConsecutiveBreaker(1) })

/** Tries opossum, and lets go of it. */
const opossum = <A>(
  given: Partial<Opossum.Options>,
  trial: (breaker: Opossum.Opossum, time: PeerTime.Time) => Promise<A>,
): Effect.Effect<A> =>
  PeerTime.run(async (time) => {
    const breaker = Opossum.make({ timeout: false, resetTimeout: recovery, ...given })
    const result = await trial(breaker, time)
    breaker.shutdown()
    return result
  })

describe("a probe that hangs", () => {
  it.effect("PG-54: gives way in time; Effect's breaker and opossum shut all out, cockatiel lets all wait", () =>
    Effect.gen(function* () {
      const gate = yield* opened()
      const hung = yield* started(Effect.flip(gate.run(ask, Effect.never)))
      yield* TestClock.adjust("5 seconds")
      assert.deepInclude(yield* Fiber.join(hung), { _tag: "CallTimedOut" })
      yield* TestClock.adjust(recovery)
      yield* gate.run(ask, Effect.void)
      yield* Books.whole(gate, 4)

      const execute = yield* effectOpened
      yield* TestClock.adjust(recovery)
      const probe = yield* started(execute(Effect.never))
      yield* TestClock.adjust(hour)
      assert.nestedPropertyVal(yield* Effect.flip(execute(Effect.void)), "reason._tag", "CircuitHalfOpen")
      yield* Fiber.interrupt(probe)

      const shut = yield* opossum({}, async (breaker, time) => {
        await time.seen(breaker.fire(down))
        await time.advance(recovery)
        void breaker.fire(hang)
        await time.advance(hour)
        return time.seen(breaker.fire(() => "up"))
      })
      assert.strictEqual(shut, "EOPENBREAKER")

      const waiting = yield* PeerTime.run(async (time) => {
        const breaker = cockatiel()
        await time.seen(breaker.execute(down))
        await time.advance(recovery)
        void breaker.execute(hang)
        const next = breaker.execute(() => "up")
        await time.advance(hour)
        return time.seen(next)
      })
      assert.strictEqual(waiting, "waits")
    }).pipe(withStore))

  it.effect("PG-11 PG-31: that its caller gave up frees the mark; for cockatiel it is a failure", () =>
    Effect.gen(function* () {
      const gate = yield* opened()
      yield* Fiber.interrupt(yield* started(gate.run(ask, Effect.never)))
      yield* gate.run(ask, Effect.void)
      yield* Books.whole(gate, 4)

      const after = yield* PeerTime.run(async (time) => {
        const breaker = cockatiel()
        await time.seen(breaker.execute(down))
        await time.advance(recovery)
        const caller = new AbortController()
        const probe = breaker.execute(
          ({ signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
          caller.signal,
        )
        caller.abort()
        await time.seen(probe)
        return time.seen(breaker.execute(() => "up"))
      })
      assert.strictEqual(after, "BrokenCircuitError")
    }))

  it.effect("PG-14 PG-31: that finds no place leaves the circuit as it was; opossum opens it anew", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make({ ...options, maxElapsed: "1 minute" })
      const straggler = yield* started(gate.run(ask, Effect.never))
      yield* Effect.exit(gate.run(ask, Effect.fail("down")))
      yield* gate.lower({ concurrency: 1 })
      yield* TestClock.adjust(recovery)
      assert.deepInclude(yield* Effect.flip(gate.run(ask, Effect.void)), { _tag: "Saturated" })
      yield* Fiber.interrupt(straggler)
      yield* gate.run(ask, Effect.void)
      yield* Books.whole(gate, 1)

      const seen = yield* opossum({ capacity: 1 }, async (breaker, time) => {
        const held = hold()
        void breaker.fire(() => held.promise)
        breaker.open()
        await time.advance(recovery)
        const full = await time.seen(breaker.fire(() => "up"))
        held.end()
        return [full, await time.seen(breaker.fire(() => "up"))]
      })
      assert.deepStrictEqual(seen, ["ESEMLOCKED", "EOPENBREAKER"])
    }))
})

describe("what says nothing of the provider", () => {
  it.effect("PG-11 PG-21: leaves a probe's circuit open, for the next; cockatiel and opossum close it", () =>
    Effect.gen(function* () {
      const gate = yield* opened()
      yield* Effect.exit(gate.run({ ...ask, judge: () => "neutral" }, Effect.fail("ours")))
      assert.deepInclude(yield* Books.balanced(gate), { circuit: { state: "open", retryAfter: Duration.zero } })
      yield* gate.run(ask, Effect.void)
      yield* Books.whole(gate, 4)

      const ours = () => Promise.reject(new TypeError("ours"))
      const states = [
        yield* PeerTime.run(async (time) => {
          const breaker = cockatiel(Cockatiel.handleWhen((error) => !(error instanceof TypeError)))
          await time.seen(breaker.execute(down))
          await time.advance(recovery)
          await time.seen(breaker.execute(ours))
          return breaker.state === Cockatiel.CircuitState.Closed
        }),
        yield* opossum({ errorFilter: (error) => error instanceof TypeError }, async (breaker, time) => {
          await time.seen(breaker.fire(down))
          await time.advance(recovery)
          await time.seen(breaker.fire(ours))
          return breaker.closed
        }),
      ]
      assert.deepStrictEqual(states, [true, true])
    }))

  it.effect("PG-7 PG-11: that there was no place opens no circuit; opossum's it does", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make({ ...options, concurrency: 1, tenantConcurrency: 1 })
      const held = yield* started(gate.run(ask, Effect.never))
      for (let i = 0; i < 100; i++) yield* Effect.flip(gate.run(ask, Effect.void))
      assert.deepInclude(yield* Books.balanced(gate), { circuit: { state: "closed", failures: 0 } })
      yield* Fiber.interrupt(held)
      yield* Books.whole(gate, 1)

      const isOpen = yield* opossum({ capacity: 1 }, async (breaker, time) => {
        void breaker.fire(hang)
        for (let i = 0; i < 3; i++) await time.seen(breaker.fire(() => "up"))
        return breaker.opened
      })
      assert.isTrue(isOpen)
    }))

  it.effect("PG-12 PG-21: a defect of the caller's own counts for nothing; for Effect's breaker, unless told, it counts", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make(options)
      yield* Effect.exit(gate.run(ask, Effect.die("a slip")))
      yield* Books.whole(gate, 4)

      const breaker = yield* effectBreaker
      yield* Effect.exit(breaker.execute({ key: "mail" })(Effect.die("a slip")))
      assert.strictEqual((yield* breaker.state("mail"))._tag, "Open")
    }).pipe(withStore))
})

describe("a straggler from before the opening", () => {
  it.effect("PG-18 PG-34: that fails disturbs no probe; cockatiel opens anew for it", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make({ ...options, maxElapsed: "1 minute" })
      const straggler = yield* started(
        Effect.exit(gate.run(ask, Effect.andThen(Effect.sleep("11 seconds"), Effect.fail("down")))),
      )
      yield* Effect.exit(gate.run(ask, Effect.fail("down")))
      yield* TestClock.adjust(recovery)
      const probe = yield* started(gate.run(ask, Effect.sleep("2 seconds")))
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(straggler)
      assert.strictEqual((yield* gate.snapshot).circuit.state, "half-open")
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(probe)
      assert.deepInclude(yield* Books.settled(gate), { stale: 1, opened: 1 })
      yield* Books.whole(gate, 4)

      const isOpen = yield* PeerTime.run(async (time) => {
        const breaker = cockatiel()
        const held = hold()
        const late = breaker.execute(() => held.promise)
        await time.seen(breaker.execute(down))
        await time.advance(recovery)
        void breaker.execute(hang)
        held.fail()
        await time.seen(late)
        return breaker.state === Cockatiel.CircuitState.Open
      })
      assert.isTrue(isOpen)
    }))

  it.effect("PG-6 PG-18: that succeeds closes nothing while the probe is out; opossum closes for it", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make({ ...options, maxElapsed: "1 minute" })
      const straggler = yield* started(gate.run(ask, Effect.sleep("11 seconds")))
      yield* Effect.exit(gate.run(ask, Effect.fail("down")))
      yield* TestClock.adjust(recovery)
      const probe = yield* started(gate.run(ask, Effect.never))
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(straggler)
      assert.deepInclude(yield* Effect.flip(gate.run(ask, Effect.void)), { _tag: "CircuitOpen", probing: true })
      yield* Fiber.interrupt(probe)
      yield* gate.run(ask, Effect.void)
      yield* Books.whole(gate, 4)

      const isClosed = yield* opossum({}, async (breaker, time) => {
        const held = hold()
        const late = breaker.fire(() => held.promise)
        breaker.open()
        await time.advance(recovery)
        void breaker.fire(hang)
        held.end()
        await time.seen(late)
        return breaker.closed
      })
      assert.isTrue(isClosed)
    }))
})

describe("the clock on the wall", () => {
  it.effect("PG-5 PG-20: set an hour back or on moves no opening; Effect's breaker and cockatiel go by it", () =>
    Effect.gen(function* () {
      for (const jump of [-hour, hour]) {
        const clock = new HandClock()
        const on = Effect.provideService(Clock.Clock, clock)
        const gate = yield* on(ProviderGate.make(options))
        yield* Effect.exit(gate.run(ask, Effect.fail("down")))
        const execute = yield* on(effectOpened)
        clock.setWall(jump)
        const retryAfter = Deadline.nanos(10e9)
        assert.deepInclude(yield* Effect.flip(gate.run(ask, Effect.void)), { _tag: "CircuitOpen", retryAfter })
        assert.strictEqual((yield* Effect.exit(on(execute(Effect.void))))._tag, jump > 0 ? "Success" : "Failure")
        clock.advance(recovery)
        yield* gate.run(ask, Effect.void)
        assert.strictEqual((yield* Effect.exit(on(execute(Effect.void))))._tag, jump > 0 ? "Success" : "Failure")
        yield* Books.whole(gate, 4)

        const seen = yield* PeerTime.run(async (time) => {
          const breaker = cockatiel()
          await time.seen(breaker.execute(down))
          time.setWall(jump)
          const before = await time.seen(breaker.execute(() => "up"))
          await time.advance(recovery)
          return [before, await time.seen(breaker.execute(() => "up"))]
        })
        assert.deepStrictEqual(seen, Array(2).fill(jump > 0 ? "done" : "BrokenCircuitError"))
      }
    }).pipe(withStore))
})

describe("a bulkhead", () => {
  it.effect("PG-1 PG-23: keeps its cap while work that timed out goes on; cockatiel and opossum let more in", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make({ ...options, concurrency: 1, tenantConcurrency: 1, failureThreshold: 9 })
      let working = 0
      const stubborn = Effect.uninterruptible(Effect.andThen(Effect.sync(() => working++), Effect.sleep("1 minute")))
      const first = yield* started(Effect.exit(gate.run(ask, stubborn)))
      yield* TestClock.adjust("6 seconds")
      yield* Effect.flip(gate.run(ask, stubborn))
      assert.deepInclude(yield* Books.balanced(gate), { held: working, timedOut: 1 })
      assert.strictEqual(working, 1)
      yield* TestClock.adjust("1 minute")
      yield* Fiber.join(first)
      yield* Books.whole(gate, 1)

      const counted = (): readonly [work: () => Promise<never>, most: () => number] => {
        let count = 0
        return [() => (count++, hang()), () => count]
      }
      const cockatiels = yield* PeerTime.run(async (time) => {
        const guard = Cockatiel.wrap(
          Cockatiel.bulkhead(1, 0),
          Cockatiel.timeout(5_000, Cockatiel.TimeoutStrategy.Aggressive),
        )
        const [work, most] = counted()
        const timedOut = guard.execute(work)
        await Promise.all([time.seen(timedOut), time.advance(6_000)])
        void guard.execute(work)
        return most()
      })
      const opossums = yield* opossum(
        { capacity: 1, timeout: 5_000, errorFilter: () => true },
        async (breaker, time) => {
          const [work, most] = counted()
          const timedOut = breaker.fire(work)
          await Promise.all([time.seen(timedOut), time.advance(6_000)])
          void breaker.fire(work)
          return most()
        },
      )
      assert.deepStrictEqual([cockatiels, opossums], [2, 2])
    }))

  it.effect("PG-46: lets nobody overtake one in its line, nor refuses that one later; cockatiel does both", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make({ ...options, concurrency: 1, tenantConcurrency: 1 })
      const line = yield* GateLine.make(gate, { maxQueued: 1 })
      const order: Array<string> = []
      const note = (name: string) => Effect.sync(() => void order.push(name))
      const visit = (name: string) =>
        Effect.scoped(
          Effect.flatMap(line.enter(ask), (permit) => Effect.andThen(note(name), gate.settle(permit, "success"))),
        )
      yield* Effect.scoped(Effect.gen(function* () {
        const permit = yield* line.enter(ask)
        const queued = yield* started(visit("queued"))
        // The others come in the very step that frees the place, and before anybody has heard of it.
        yield* gate.settle(permit, "success")
        yield* visit("newcomer")
        yield* Fiber.join(queued)
      }))
      assert.deepStrictEqual(order, ["queued", "newcomer"])
      yield* Books.whole(gate, 1)

      const fates = yield* PeerTime.run(async (time) => {
        const guard = Cockatiel.bulkhead(1, 1)
        const held = hold()
        const first = guard.execute(() => held.promise)
        const queued = guard.execute(() => "queued")
        queued.catch(() => "it is looked at below")
        const newcomers = held.promise.then(() => [guard.execute(hang), guard.execute(hang)])
        held.end()
        await time.seen(first)
        await newcomers
        return [guard.executionSlots, await time.seen(queued)]
      })
      assert.deepStrictEqual(fates, [0, "BulkheadRejectedError"])
    }))
})
