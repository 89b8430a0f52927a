/** The bounded set of gates by key. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import * as GateLine from "../../core/GateLine.ts"
import * as ProviderGates from "../../core/ProviderGates.ts"

const options: ProviderGates.Options = { maxGates: 3, gate: { failureThreshold: 1, recoveryAfter: "10 seconds" } }
const ask = { tenant: "a" } as const
const open = (gates: ProviderGates.ProviderGates, key: string) =>
  Effect.flatMap(gates.get(key), (gate) => Effect.exit(gate.run(ask, Effect.fail("broken"))))
const keys = (gates: ProviderGates.ProviderGates) => Effect.map(gates.snapshotAll, (all) => [...all.keys()])

describe("a set of gates", () => {
  it.effect("PG-25: has one gate a key, the same one each time, whose trouble is its own", () =>
    Effect.gen(function* () {
      const gates = yield* ProviderGates.make(options)
      const gate = yield* gates.get("one")
      assert.strictEqual(yield* gates.get("one"), gate)
      assert.notStrictEqual(yield* gates.get("two"), gate)
      yield* open(gates, "one")
      const all = yield* gates.snapshotAll
      assert.deepStrictEqual([...all].map(([key, s]) => [key, s.circuit.state]), [["two", "closed"], ["one", "open"]])
      assert.deepInclude(yield* Effect.flip(gates.get("")), { _tag: "InvalidRequest", field: "key" })
    }))

  it.effect("says by its key whose circuit is open", () =>
    Effect.gen(function* () {
      const gates = yield* ProviderGates.make(options)
      yield* open(gates, "mail")
      const gate = yield* gates.get("mail")
      const line = yield* GateLine.make(gate, {})
      const message = "the circuit of mail is open for 10s"
      const refused = { _tag: "CircuitOpen", provider: "mail", message }
      for (const call of [gate.peek(ask), gate.tryEnter(ask), gate.run(ask, Effect.void), line.enter(ask)]) {
        assert.deepInclude(yield* Effect.flip(Effect.scoped<unknown, unknown, Scope.Scope>(call)), refused)
      }
      yield* TestClock.adjust("10 seconds")
      yield* gate.tryEnter(ask)
      const { message: probing } = yield* Effect.flip(gate.peek(ask))
      assert.strictEqual(probing, "the circuit of mail is open: a probe is out")
    }))

  it.effect("PG-25: has one gate a key though its options are asked for it again as it is made", () =>
    Effect.gen(function* () {
      let inner: unknown
      let asked = 0
      const gates: ProviderGates.ProviderGates = yield* ProviderGates.make({
        maxGates: 3,
        gate: (key) => {
          asked++
          if (inner === undefined) {
            inner = key
            inner = Effect.runSync(gates.get(key))
          }
          return {}
        },
      })
      assert.strictEqual(yield* gates.get("one"), inner)
      assert.strictEqual(yield* gates.get("one"), inner)
      assert.strictEqual(asked, 2)
    }))

  it.effect("PG-48: one more than the ceiling is refused while all are open or in use", () =>
    Effect.gen(function* () {
      const gates = yield* ProviderGates.make(options)
      for (const key of ["a", "b"]) yield* open(gates, key)
      yield* Effect.scoped(Effect.gen(function* () {
        yield* (yield* gates.get("c")).tryEnter(ask)
        assert.deepInclude(yield* Effect.flip(gates.get("d")), { _tag: "GateCapacity", limit: 3 })
        assert.deepStrictEqual(yield* keys(gates), ["a", "b", "c"])
        // Those that are there already are there still.
        yield* gates.get("a")
      }))
      yield* gates.get("d")
      assert.deepStrictEqual(yield* keys(gates), ["b", "a", "d"])
      // Its time over, an opening is not forgotten either.
      yield* TestClock.adjust("1 hour")
      yield* open(gates, "d")
      assert.deepInclude(yield* Effect.flip(gates.get("e")), { _tag: "GateCapacity" })
      yield* (yield* gates.get("a")).run(ask, Effect.void)
      yield* gates.get("e")
      assert.deepStrictEqual(yield* keys(gates), ["b", "d", "e"])
    }))

  it.effect("PG-48: the longest unused idle one goes first", () =>
    Effect.gen(function* () {
      const gates = yield* ProviderGates.make(options)
      for (const key of ["a", "b", "c", "a", "d"]) yield* gates.get(key)
      assert.deepStrictEqual(yield* keys(gates), ["c", "a", "d"])
    }))

  it.effect("PG-48 PG-46: one with a line stays, or its line would let callers in beside a second gate", () =>
    Effect.gen(function* () {
      const gates = yield* ProviderGates.make({ ...options, maxGates: 1 })
      const gate = yield* gates.get("a")
      yield* GateLine.make(gate)
      assert.deepInclude(yield* Effect.flip(gates.get("b")), { _tag: "GateCapacity", limit: 1 })
      assert.strictEqual(yield* gates.get("a"), gate)
    }))

  it.effect("PG-48: one that has counted failures goes after all that have none", () =>
    Effect.gen(function* () {
      const gates = yield* ProviderGates.make({ maxGates: 2, gate: { failureThreshold: 2 } })
      yield* open(gates, "a")
      for (const key of ["b", "c"]) yield* gates.get(key)
      assert.deepStrictEqual(yield* keys(gates), ["a", "c"])
      yield* open(gates, "c")
      // Both have failed once: the longest unused.
      yield* gates.get("d")
      assert.deepStrictEqual(yield* keys(gates), ["c", "d"])
      yield* open(gates, "c")
      assert.strictEqual((yield* (yield* gates.get("c")).snapshot).circuit.state, "open")
    }))

  it.effect("PG-48: its ceiling holds for any number of keys", () =>
    Effect.gen(function* () {
      const gates = yield* ProviderGates.make({})
      for (let i = 0; i < 1_000; i++) yield* (yield* gates.get(`key ${i}`)).run(ask, Effect.void)
      assert.lengthOf(yield* keys(gates), 64)
    }))

  it.effect("PG-48: two that ask at once for a new key get one gate", () =>
    Effect.gen(function* () {
      const made: Array<string> = []
      const gates: ProviderGates.ProviderGates = yield* ProviderGates.make({
        gate: (key) => {
          made.push(key)
          // It asks for the same one while it is being made.
          if (made.length === 1) inner = Effect.runSync(gates.get(key))
          return {}
        },
      })
      let inner: unknown = undefined
      assert.strictEqual(yield* gates.get("a"), inner as never)
      assert.strictEqual(yield* gates.get("a"), inner as never)
      assert.lengthOf(yield* keys(gates), 1)
    }))

  it.effect("PG-48: options by key that break a rule add no gate", () =>
    Effect.gen(function* () {
      const gates = yield* ProviderGates.make({
        gate: (key) => key === "bad" ? { concurrency: 0 } : { concurrency: 1 },
      })
      assert.deepInclude(yield* Effect.flip(gates.get("bad")), { _tag: "InvalidLimits", limit: "concurrency" })
      yield* gates.get("good")
      assert.deepStrictEqual(yield* keys(gates), ["good"])
    }))

  it.effect("PG-48: comes as a layer too", () =>
    Effect.flatMap(ProviderGates.ProviderGates, (gates) => gates.get("a")).pipe(
      Effect.provide(ProviderGates.layer(options)),
      Effect.asVoid,
    ))
})
