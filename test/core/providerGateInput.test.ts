/** The door of a gate: options, asks and lower limits that break a rule are refused and change nothing. */
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as CircuitBreaker from "../../core/CircuitBreaker.ts"
import * as GateLine from "../../core/GateLine.ts"
import type { Options, ProviderLimits } from "../../core/GateOptions.ts"
import * as ProviderGate from "../../core/ProviderGate.ts"
import * as ProviderGates from "../../core/ProviderGates.ts"
import { wicketOf } from "../../core/Wicket.ts"
import * as Books from "../support/GateBooks.ts"

const refusedOptions = (options: object) => Effect.orDie(Effect.flip(ProviderGate.make(options as Options)))
const noCount: ReadonlyArray<unknown> = [-1, 0.5, NaN, Infinity, 2 ** 53, "1", 1n, true, [], {}, null]
const noTime: ReadonlyArray<unknown> = [0, -1, NaN, Infinity, "soon", "", {}, true, null, "0 millis", {
  seconds: 1,
  minutes: NaN,
}]

describe("options", () => {
  const counts: ReadonlyArray<readonly [keyof Options, number, number]> = [
    ["concurrency", 1, 4_096],
    ["reservedControl", 0, 7],
    ["tenantConcurrency", 1, 8],
    ["failureThreshold", 1, 1_000],
  ]
  for (const [limit, min, max] of counts) {
    it.effect(`PG-45: ${limit} is a whole number from ${min} to ${max}`, () =>
      Effect.gen(function* () {
        for (const value of [...noCount, min - 1, max + 1]) {
          const refused = yield* refusedOptions({ concurrency: 8, [limit]: value })
          const rule = `a whole number from ${min} to ${max}`
          assert.deepInclude(refused, { _tag: "InvalidLimits", system: "ProviderGate", limit, rule })
        }
        for (const value of [min, max]) yield* ProviderGate.make({ concurrency: 8, [limit]: value })
      }))
  }

  const times: ReadonlyArray<readonly [keyof Options, string]> = [
    ["recoveryAfter", "1 hour"],
    ["maxElapsed", "10 minutes"],
    ["maxBackoff", "5 minutes"],
    ["initialBackoff", "30 seconds"],
  ]
  for (const [limit, max] of times) {
    it.effect(`PG-45: ${limit} is above zero and at most ${max}`, () =>
      Effect.gen(function* () {
        for (const value of [...noTime, "61 minutes"]) {
          assert.deepInclude(yield* refusedOptions({ [limit]: value }), { _tag: "InvalidLimits", limit })
        }
        yield* ProviderGate.make({ [limit]: max } as Options)
        yield* ProviderGate.make({ [limit]: "1 nano" } as Options)
      }))
  }

  it.effect("PG-36: a recovery is a whole number of nanoseconds, and none is left over", () =>
    Effect.gen(function* () {
      for (const nanos of [1_002_992, 1_005_983, 1_100_000, 1_234_567_891]) {
        const recoveryAfter = Duration.nanos(BigInt(nanos))
        const gate = yield* ProviderGate.make({ failureThreshold: 1, recoveryAfter })
        const breaker = yield* CircuitBreaker.make({ failureThreshold: 1, recoveryAfter })
        yield* Effect.exit(gate.run({ tenant: "a" }, Effect.fail("broken")))
        yield* Effect.exit(breaker.run(Effect.fail("broken")))
        for (const call of [gate.run({ tenant: "a" }, Effect.void), breaker.run(Effect.void)]) {
          const refused = yield* Effect.flip(call)
          assert.strictEqual(refused._tag, "CircuitOpen")
          if (refused._tag === "CircuitOpen") {
            assert.strictEqual(Duration.toNanosUnsafe(refused.retryAfter), BigInt(nanos))
          }
        }
      }
    }))

  it.effect("PG-45: have the names, words and functions that there are; null is a wrong value, not a missing one", () =>
    Effect.gen(function* () {
      const bad: ReadonlyArray<readonly [string, unknown]> = [
        ["staleOutcomes", "applied"],
        ["staleOutcomes", null],
        ["reservedForTenantControl", true],
        ["reservedForTenantControl", null],
        ["reservedProbe", "yes"],
        ["reservedProbe", null],
        ["jitter", "none"],
        ["jitter", null],
        ["events", "log"],
        ["events", null],
      ]
      for (const [limit, value] of bad) {
        assert.deepInclude(yield* refusedOptions({ [limit]: value }), { _tag: "InvalidLimits", limit })
      }
      for (const name of ["concurency", "constructor", "toString", "__proto__x"]) {
        assert.deepInclude(yield* refusedOptions({ [name]: 1 }), { limit: name, value: 1 })
      }
      const rule = /^ProviderGate: concurency must be one of the options concurrency, .*, events, got 4$/
      assert.match((yield* refusedOptions({ concurency: 4 })).message, rule)
      for (const [name] of bad) yield* ProviderGate.make({ [name]: undefined })
    }))

  it.effect("PG-45: a default is what the given limits allow", () =>
    Effect.gen(function* () {
      const one = yield* ProviderGate.make({ concurrency: 1 })
      yield* Books.whole(one, 1)
      yield* Effect.scoped(one.tryEnter({ tenant: "a" }))
      assert.deepStrictEqual(wicketOf(one)!.limits, {
        concurrency: 1,
        reservedControl: 0,
        tenantConcurrency: 1,
        failureThreshold: 5,
        recoveryMillis: 30_000,
        maxElapsedMillis: 30_000,
        initialBackoffMillis: 100,
        maxBackoffMillis: 30_000,
      })
      const brief = yield* ProviderGate.make({ maxBackoff: 50 })
      assert.deepInclude(wicketOf(brief)!.limits, {
        concurrency: 16,
        reservedControl: 2,
        tenantConcurrency: 4,
        initialBackoffMillis: 50,
        maxBackoffMillis: 50,
      })
    }))

  it.effect("PG-45 PG-46 PG-48: of the breaker, the line and the set of gates are checked likewise", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make({})
      const flip = (effect: Effect.Effect<unknown, unknown>) => Effect.orDie(Effect.flip(effect))
      const breaker = (options: object) => flip(CircuitBreaker.make(options))
      const line = (options: object) => flip(Effect.scoped(GateLine.make(gate, options)))
      const gates = (options: object) => flip(ProviderGates.make(options))
      const cases: ReadonlyArray<readonly [Effect.Effect<unknown>, object]> = [
        [breaker({ concurrency: 1 }), { system: "CircuitBreaker", limit: "concurrency", value: 1 }],
        [breaker({ failureThreshold: 0 }), { system: "CircuitBreaker", limit: "failureThreshold", value: 0 }],
        [breaker({ maxElapsed: 0 }), { system: "CircuitBreaker", limit: "maxElapsed" }],
        ...[null, undefined, 5].flatMap((none) =>
          [ProviderGate.make, CircuitBreaker.make, ProviderGates.make].map((make) =>
            [
              flip(Effect.suspend((): Effect.Effect<unknown, unknown> => make(none as never))),
              { _tag: "InvalidLimits", limit: "options", value: none },
            ] as const
          )
        ),
        [line(null as never), { system: "GateLine", limit: "options", value: null }],
        [flip(gate.lower(null as never)), { system: "ProviderGate", limit: "options", value: null }],
        [breaker({ failureThreshold: null }), { limit: "failureThreshold", value: null }],
        [breaker({ recoveryAfter: "2 hours" }), { limit: "recoveryAfter" }],
        [line({ maxQueue: 1 }), { system: "GateLine", limit: "maxQueue", value: 1 }],
        [line({ maxQueued: 0 }), { system: "GateLine", limit: "maxQueued", value: 0 }],
        [line({ maxQueued: 1_025 }), { limit: "maxQueued", value: 1_025 }],
        [line({ maxQueued: null }), { limit: "maxQueued", value: null }],
        [line({ maxWait: "61 seconds" }), { limit: "maxWait" }],
        [line({ maxWait: null }), { limit: "maxWait", value: null }],
        [gates({ max: 1 }), { system: "ProviderGates", limit: "max", value: 1 }],
        [gates({ maxGates: 0 }), { system: "ProviderGates", limit: "maxGates", value: 0 }],
        [gates({ maxGates: 1_025 }), { limit: "maxGates", value: 1_025 }],
        [gates({ maxGates: null }), { limit: "maxGates", value: null }],
        [gates({ gate: null }), { limit: "gate", value: null }],
        [gates({ gate: 3 }), { limit: "gate", value: 3 }],
        [gates({ gate: { concurrency: 0 } }), { system: "ProviderGate", limit: "concurrency", value: 0 }],
      ]
      for (const [refused, facts] of cases) {
        assert.deepInclude((yield* refused) as object, { _tag: "InvalidLimits", ...facts })
      }
    }))
})

describe("an ask", () => {
  it.effect("PG-7: with a bad tenant or priority is refused by its rule, and nothing is charged or kept", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make({})
      const line = yield* GateLine.make(gate)
      const before = yield* gate.snapshot
      const tenants: ReadonlyArray<unknown> = [
        "",
        "a\nb",
        "\u007f",
        "\ud800",
        "x".repeat(257),
        "é".repeat(129),
        1,
        null,
        undefined,
        {},
      ]
      const asks = [
        ...[null, undefined, 1, "a"].map((none) => [none, "ask"] as const),
        ...tenants.map((tenant) => [{ tenant }, "tenant"] as const),
        ...["urgent", "Normal", "", null, 1].map((priority) => [{ tenant: "a", priority }, "priority"] as const),
      ]
      for (const [ask, field] of asks) {
        const given = ask as unknown as ProviderGate.GateAsk
        for (
          const verb of [
            Effect.scoped(gate.tryEnter(given)),
            gate.run(given, Effect.die("it ran")),
            gate.peek(given),
            Effect.scoped(line.enter(given)),
          ]
        ) {
          assert.deepInclude(yield* Effect.flip(verb as Effect.Effect<unknown, object>), {
            _tag: "InvalidRequest",
            field,
          })
        }
      }
      assert.deepStrictEqual(yield* gate.snapshot, before)
      assert.strictEqual(wicketOf(gate)!.gate.keys.tenants.size, 0)
      for (const tenant of ["x".repeat(256), "é".repeat(128), "é😀"]) yield* gate.run({ tenant }, Effect.void)
      yield* Books.settled(gate)
    }))
})

describe("messages", () => {
  it.effect("PG-36: say durations in a few digits", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make({ failureThreshold: 1, recoveryAfter: 47.375943 })
      yield* Effect.exit(gate.run({ tenant: "a" }, Effect.fail("broken")))
      const refused = yield* Effect.flip(gate.run({ tenant: "a" }, Effect.void))
      assert.strictEqual(refused.message, "the circuit is open for 48ms")
    }))
})

describe("lower limits", () => {
  const options: Options = {
    concurrency: 8,
    reservedControl: 2,
    tenantConcurrency: 4,
    failureThreshold: 5,
    recoveryAfter: "10 seconds",
    maxElapsed: "10 seconds",
    initialBackoff: "1 second",
    maxBackoff: "10 seconds",
  }
  const made = Effect.gen(function* () {
    const gate = yield* ProviderGate.make(options)
    return { gate, limits: () => wicketOf(gate)!.limits }
  })
  const refusedLower = (gate: ProviderGate.ProviderGate, next: object) =>
    Effect.orDie(Effect.flip(gate.lower(next as ProviderLimits)))

  it.effect("PG-51: never rise: the refusal says what each may be at most, a time as one", () =>
    Effect.gen(function* () {
      const { gate } = yield* made
      const rising: ReadonlyArray<readonly [ProviderLimits, keyof ProviderLimits, string | number, string | number]> = [
        [{ concurrency: 9 }, "concurrency", 8, 9],
        [{ reservedControl: 3 }, "reservedControl", 2, 3],
        [{ tenantConcurrency: 5 }, "tenantConcurrency", 4, 5],
        [{ failureThreshold: 6 }, "failureThreshold", 5, 6],
        [{ recoveryAfter: "11 seconds" }, "recoveryAfter", "10s", "11s"],
        [{ maxElapsed: "11 seconds" }, "maxElapsed", "10s", "11s"],
        [{ initialBackoff: "2 seconds" }, "initialBackoff", "1s", "2s"],
        [{ maxBackoff: "11 seconds" }, "maxBackoff", "10s", "11s"],
      ]
      for (const [next, limit, most, value] of rising) {
        const refused = yield* refusedLower(gate, next)
        assert.deepInclude(refused, {
          _tag: "InvalidLimits",
          limit,
          rule: `at most ${most}, since limits only fall`,
          value,
        })
      }
    }))

  it.effect("PG-51: fall to what is used and no further, all of them or none", () =>
    Effect.gen(function* () {
      const { gate, limits } = yield* made
      const before = limits()
      for (let i = 0; i < 2; i++) yield* gate.tryEnter({ tenant: "a" })
      yield* gate.tryEnter({ tenant: "b", priority: "control" })
      yield* gate.tryEnter({ tenant: "b", priority: "emergency" })
      const below: ReadonlyArray<readonly [ProviderLimits, object]> = [
        [{ concurrency: 3 }, { account: "total", limit: 3, use: 4 }],
        [{ concurrency: 3, reservedControl: 0 }, { account: "total", limit: 3, use: 4 }],
        [{ tenantConcurrency: 1 }, { account: "tenant", limit: 1, use: 2 }],
        [{ failureThreshold: 1, tenantConcurrency: 1 }, { account: "tenant", limit: 1, use: 2 }],
      ]
      for (const [next, facts] of below) {
        assert.deepInclude(yield* refusedLower(gate, next), { _tag: "BelowUse", ...facts })
        assert.strictEqual(limits(), before)
      }
      yield* gate.lower({ concurrency: 4, tenantConcurrency: 2, failureThreshold: 1, recoveryAfter: "1 second" })
      assert.deepInclude(limits(), { concurrency: 4, reservedControl: 2, tenantConcurrency: 2, recoveryMillis: 1_000 })
      assert.deepInclude(yield* Effect.flip(Effect.scoped(gate.tryEnter({ tenant: "c", priority: "emergency" }))), {
        scope: "provider",
      })
      yield* Effect.exit(Effect.scoped(gate.run({ tenant: "c" }, Effect.void)))
    }).pipe(Effect.scoped))

  it.effect("PG-51 PG-2: an ordinary share that would fall below its use is refused", () =>
    Effect.gen(function* () {
      const { gate } = yield* made
      for (const tenant of ["a", "b", "c"]) yield* gate.tryEnter({ tenant })
      assert.deepInclude(yield* refusedLower(gate, { concurrency: 4 }), { _tag: "BelowUse", limit: 2, use: 3 })
      yield* gate.lower({ concurrency: 5 })
    }).pipe(Effect.scoped))

  it.effect("PG-51: are checked as the first ones are", () =>
    Effect.gen(function* () {
      const { gate, limits } = yield* made
      const before = limits()
      for (const concurrency of [5n, Symbol("5"), Object.create(null), "5", null, 0, 1.5, NaN]) {
        assert.deepInclude(yield* refusedLower(gate, { concurrency }), { _tag: "InvalidLimits", limit: "concurrency" })
      }
      assert.strictEqual(limits(), before)
    }))

  it.effect("PG-51: never rise, neither by themselves nor beside one that falls", () =>
    Effect.gen(function* () {
      const { gate, limits } = yield* made
      const before = limits()
      const risen: ReadonlyArray<readonly [ProviderLimits, string, string]> = [
        [{ concurrency: 9 }, "concurrency", "at most 8, since limits only fall"],
        [{ reservedControl: 3 }, "reservedControl", "at most 2, since limits only fall"],
        [{ tenantConcurrency: 5 }, "tenantConcurrency", "at most 4, since limits only fall"],
        [{ failureThreshold: 6 }, "failureThreshold", "at most 5, since limits only fall"],
        [{ recoveryAfter: "11 seconds" }, "recoveryAfter", "at most 10s, since limits only fall"],
        [{ maxElapsed: "11 seconds" }, "maxElapsed", "at most 10s, since limits only fall"],
        [{ initialBackoff: "2 seconds" }, "initialBackoff", "at most 1s, since limits only fall"],
        [{ maxBackoff: "11 seconds" }, "maxBackoff", "at most 10s, since limits only fall"],
        [{ concurrency: 4, failureThreshold: 6 }, "failureThreshold", "at most 5, since limits only fall"],
      ]
      for (const [next, limit, rule] of risen) {
        assert.deepInclude(yield* refusedLower(gate, next), {
          _tag: "InvalidLimits",
          system: "ProviderGate",
          limit,
          rule,
        })
        assert.strictEqual(limits(), before)
      }
    }))

  it.effect("PG-51: what is left out stays, follows what it may not exceed, or forbids it", () =>
    Effect.gen(function* () {
      const { gate, limits } = yield* made
      const before = limits()
      yield* gate.lower({})
      yield* gate.lower({ concurrency: undefined, maxElapsed: undefined })
      assert.deepStrictEqual(limits(), before)
      yield* gate.lower({ concurrency: 3, maxBackoff: "500 millis" })
      assert.deepStrictEqual(limits(), {
        ...before,
        concurrency: 3,
        tenantConcurrency: 3,
        initialBackoffMillis: 500,
        maxBackoffMillis: 500,
      })
      assert.deepInclude(yield* refusedLower(gate, { concurrency: 2 }), {
        limit: "concurrency",
        rule: "above the 2 reserved",
      })
      yield* gate.lower({ concurrency: 2, reservedControl: 1 })
      yield* Books.whole(gate, 2)
    }))

  it.effect("PG-51: with a bad value, null or a name that is none change nothing", () =>
    Effect.gen(function* () {
      const { gate, limits } = yield* made
      const before = limits()
      for (
        const next of [{ concurrency: 0 }, { concurrency: NaN }, { concurrency: null }, { maxElapsed: null }, {
          maxElapsed: 0,
        }]
      ) {
        assert.deepInclude(yield* refusedLower(gate, next), { _tag: "InvalidLimits", limit: Object.keys(next)[0]! })
      }
      for (const name of ["jitter", "events", "concurency"]) {
        assert.deepInclude(yield* refusedLower(gate, { [name]: "spread" }), { limit: name, value: "spread" })
      }
      assert.strictEqual(limits(), before)
    }))
})
