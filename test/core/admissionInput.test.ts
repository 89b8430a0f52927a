/** The door: every bad option and every bad ask is refused with its rule and its value, and nothing is charged. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Admission from "../../core/Admission.ts"
import type { Options } from "../../core/AdmissionOptions.ts"
import * as Deadline from "../../core/Deadline.ts"
import type { Ask } from "../../core/Permit.ts"
import * as Books from "../support/Books.ts"

const fine: Options = { maxRunning: 8 }
const noCount: ReadonlyArray<unknown> = [
  -1,
  1.5,
  NaN,
  Infinity,
  -Infinity,
  2 ** 53,
  2 ** 20 + 1,
  "1",
  1n,
  true,
  [],
  {},
  () => 1,
  Symbol("1"),
]
/** What an error keeps of a value: scalars, and of all else its type. */
const kept = (value: unknown) =>
  typeof value === "bigint"
    ? `${value}n`
    : ["object", "function", "symbol"].includes(typeof value) && value !== null
    ? `<${typeof value}>`
    : value

const refusedOptions = (options: object): Effect.Effect<object> =>
  Effect.orDie(Effect.flip(Effect.scoped(Admission.make(options as Options))))

describe("options", () => {
  it.effect("AD-38: have the names that there are", () =>
    Effect.gen(function* () {
      const refused = yield* refusedOptions({ ...fine, maxRuning: 4 })
      assert.deepInclude(refused, { _tag: "InvalidLimits", limit: "maxRuning", value: 4 })
      assert.deepInclude(yield* refusedOptions({ ...fine, toString: 1 }), { _tag: "InvalidLimits", limit: "toString" })
      for (const options of [undefined, null, 3, "x"]) {
        assert.deepInclude(yield* refusedOptions(options as never), { _tag: "InvalidLimits" })
      }
    }))

  it.effect.each(["maxWait", "reserved", "weights", "estimate", "drainWaiting", "labels"] as const)(
    "AD-38: null for %s is a wrong value, not a missing one",
    (limit) =>
      Effect.gen(function* () {
        assert.deepInclude(yield* refusedOptions({ ...fine, [limit]: null }), {
          _tag: "InvalidLimits",
          limit,
          value: null,
        })
      }),
  )

  const ranges: ReadonlyArray<readonly [keyof Options, number, number]> = [
    ["maxRunning", 1, 1_048_576],
    ["maxPerTenant", 1, 8],
    ["maxPerProvider", 1, 8],
    ["maxPerPair", 1, 8],
    ["maxQueued", 0, 1_048_576],
    ["maxQueuedPerTenant", 0, 1_048_576],
    ["maxBypass", 0, 128],
  ]

  it.effect.each(ranges)(
    "AD-38: %s is a whole number within its range",
    ([limit, min, max]) =>
      Effect.gen(function* () {
        for (const value of [...noCount, min - 1, max + 1, null, ...limit === "maxRunning" ? [undefined] : []]) {
          const refused = yield* refusedOptions({ ...fine, [limit]: value })
          assert.deepInclude(refused, {
            _tag: "InvalidLimits",
            system: "Admission",
            limit,
            rule: `a whole number from ${min} to ${max}`,
            value: kept(value),
          })
          assert.include(String(refused), `Admission: ${limit} must be a whole number from ${min} to ${max}, got `)
        }
        for (const value of [min, max]) yield* Books.whole(yield* Admission.make({ ...fine, [limit]: value }))
      }),
  )

  it.effect("AD-38: maxWait is above zero and at most an hour", () =>
    Effect.gen(function* () {
      const bad: ReadonlyArray<unknown> = [
        0,
        -1,
        "0 millis",
        "-1 seconds",
        NaN,
        Infinity,
        "61 minutes",
        "soon",
        "",
        {},
        true,
      ]
      for (const maxWait of bad) {
        const refused = yield* refusedOptions({ ...fine, maxWait })
        assert.deepInclude(refused, { _tag: "InvalidLimits", system: "Admission", limit: "maxWait" })
        assert.match(
          String(refused),
          /maxWait must be a duration such as "500 millis" or "5 seconds", above zero and at most 1h, got /,
        )
      }
      for (const maxWait of ["1 nano", "1 hour", 1, 0.5, { seconds: 2 }] as const) {
        yield* Books.whole(yield* Admission.make({ ...fine, maxWait }))
      }
    }))

  it.effect("AD-17 AD-38: what is reserved is counted by priority and in all below maxRunning", () =>
    Effect.gen(function* () {
      const bad: ReadonlyArray<readonly [object, string, unknown]> = [
        [{ control: -1 }, "reserved.control", -1],
        [{ normal: 0.5 }, "reserved.normal", 0.5],
        [{ notification: NaN }, "reserved.notification", NaN],
        [{ emergency: 8 }, "reserved.emergency", 8],
        [{ emergency: "1" }, "reserved.emergency", "1"],
        [{ emergency: 4, control: 4 }, "reserved", 8],
        [{ emergency: 2, control: 2, normal: 2, notification: 2 }, "reserved", 8],
        [{ urgent: 1 }, "reserved", "urgent"],
      ]
      for (const [reserved, limit, value] of bad) {
        assert.deepInclude(yield* refusedOptions({ ...fine, reserved }), { _tag: "InvalidLimits", limit, value })
      }
      const most = { emergency: 2, control: 2, normal: 2, notification: 1 }
      yield* Books.whole(yield* Admission.make({ ...fine, reserved: most }))
    }))

  it.effect("AD-38: words and functions are what they have to be", () =>
    Effect.gen(function* () {
      const bad: ReadonlyArray<readonly [keyof Options, unknown]> = [
        ["estimate", "yes"],
        ["estimate", true],
        ["drainWaiting", "drop"],
        ["drainWaiting", 1],
        ["weights", 2],
        ["weights", { a: 2 }],
        ["labels", "a"],
      ]
      for (const [limit, value] of bad) {
        const refused = yield* refusedOptions({ ...fine, [limit]: value })
        assert.deepInclude(refused, { _tag: "InvalidLimits", limit, value: kept(value) })
      }
    }))

  it.effect("AD-38: a default is the smaller of its table value and what the limits allow", () =>
    Effect.gen(function* () {
      const limits = (options: Options) =>
        Effect.map(Admission.make(options), ({ snapshot }) => Effect.runSync(snapshot).limits)
      assert.deepStrictEqual(yield* limits({ maxRunning: 1 }), {
        maxRunning: 1,
        maxQueued: 1_024,
        maxQueuedPerTenant: 128,
      })
      assert.deepInclude(yield* limits({ maxRunning: 1, maxQueued: 5 }), { maxQueuedPerTenant: 5 })
      assert.deepInclude(yield* limits({ maxRunning: 1, maxQueued: 0 }), { maxQueuedPerTenant: 0 })
    }))
})

describe("what is no ask", () => {
  it.effect("AD-38: is refused as such", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make(fine)
      for (const ask of [undefined, null, "a", 1]) {
        for (const verb of verbsOf(admission, ask as never)) {
          assert.deepInclude((yield* Effect.flip(verb)) as object, { _tag: "InvalidRequest", field: "ask" })
        }
      }
      yield* Books.whole(admission)
    }))
})

describe("an ask whose deadline has come", () => {
  it.effect("AD-18 AD-38: is told that it never fits, where it never does, and else that its time is over", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make(fine)
      const past = yield* Deadline.after(0)
      const told = (cost: number) =>
        Effect.flip(Deadline.provide(past)(admission.run({ tenant: "a", cost })(Effect.die("the work was run"))))
      assert.deepInclude(yield* told(9), { _tag: "NeverFits", account: "total", cost: 9, limit: 8 })
      assert.deepInclude(yield* told(8), { _tag: "WaitExpired", bound: "deadline", account: "total" })
      yield* Books.whole(admission)
    }))
})

const verbsOf = (admission: Admission.Admission, ask: object): ReadonlyArray<Effect.Effect<unknown, unknown>> => [
  Effect.scoped(admission.enter(ask as Ask)),
  Effect.scoped(admission.tryEnter(ask as Ask)),
  admission.run(ask as Ask)(Effect.die("the work was run")),
]

describe("an ask", () => {
  const verbs = verbsOf

  const keys: ReadonlyArray<unknown> = [
    "",
    "a".repeat(257),
    "é".repeat(129),
    "日".repeat(86),
    "😀".repeat(65),
    "\ud800", // half a character, which UTF-8 cannot say
    "a\udc00b",
    "\udc00\ud800",
    "a\u0000b",
    "a\nb",
    "a\r",
    "\t",
    "\u001b[31m",
    "\u007f",
    "\u0085",
    "\u009f",
    "\u2028",
    "\u2029",
    null,
    1,
    true,
    {},
    ["a"],
  ]
  const shown = (value: unknown) =>
    typeof value === "string" && value.length > 64 ? `${value.slice(0, 64)}…` : kept(value)

  it.effect("AD-38: has a tenant and a provider of 1 to 256 bytes without control characters, or is refused", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make(fine)
      const before = yield* admission.snapshot
      for (const key of keys) {
        for (const field of ["tenant", "provider"]) {
          for (const verb of verbs(admission, { tenant: "a", [field]: key })) {
            const refused = yield* Effect.flip(verb)
            assert.deepInclude(refused as object, {
              _tag: "InvalidRequest",
              field,
              rule: "text of 1 to 256 bytes of UTF-8 without control characters",
              value: shown(key),
            })
          }
        }
      }
      for (const verb of verbs(admission, { provider: "p" })) {
        assert.deepInclude((yield* Effect.flip(verb)) as object, { field: "tenant", value: undefined })
      }
      assert.deepStrictEqual(yield* admission.snapshot, before)
      const allowed = ["a", " ", "a".repeat(256), "é".repeat(128), "😀".repeat(64), "__proto__", "constructor", "日本"]
      for (const key of allowed) {
        yield* admission.run({ tenant: key, provider: key })(Effect.void)
      }
      yield* Books.whole(admission)
    }))

  it.effect("AD-38: has a cost that is a whole number of at least 1, or is refused", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make(fine)
      for (const cost of [0, -1, 0.5, NaN, Infinity, -Infinity, 2 ** 53, "1", null, true, {}, 1n]) {
        for (const verb of verbs(admission, { tenant: "a", cost })) {
          assert.deepInclude((yield* Effect.flip(verb)) as object, {
            _tag: "InvalidRequest",
            field: "cost",
            rule: "a whole number of at least 1",
            value: kept(cost),
          })
        }
      }
      for (const verb of verbs(admission, { tenant: "a", cost: 2 ** 52 })) {
        assert.deepInclude((yield* Effect.flip(verb)) as object, { _tag: "NeverFits", account: "total", limit: 8 })
      }
      yield* Books.whole(admission)
    }))

  it.effect("AD-38: has one of four priorities, or is refused", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make(fine)
      for (const priority of ["", "Normal", "urgent", 1, null, {}, "constructor"]) {
        for (const verb of verbs(admission, { tenant: "a", priority })) {
          assert.deepInclude((yield* Effect.flip(verb)) as object, {
            _tag: "InvalidRequest",
            field: "priority",
            rule: "one of emergency, control, normal, notification",
            value: kept(priority),
          })
        }
      }
      yield* admission.run({ tenant: "a", priority: undefined, cost: undefined, provider: undefined })(Effect.void)
      yield* Books.whole(admission)
    }))

  it.effect("AD-38: whose tenant gets a weight that is none is refused, and the tenant is not known by it", () =>
    Effect.gen(function* () {
      const weights: Record<string, unknown> = { a: 0, b: 1_001, c: 1.5, d: NaN, e: "2", f: undefined, g: null, h: -1 }
      const admission = yield* Admission.make({
        ...fine,
        weights: (tenant) => (tenant in weights ? weights[tenant] : 1) as number,
      })
      for (const tenant of Object.keys(weights)) {
        for (const verb of verbs(admission, { tenant })) {
          assert.deepInclude((yield* Effect.flip(verb)) as object, {
            _tag: "InvalidRequest",
            field: "weights",
            rule: "a whole number from 1 to 1000",
            value: weights[tenant],
          })
        }
        weights[tenant] = 1_000
        yield* admission.run({ tenant })(Effect.void)
      }
      yield* Books.whole(admission)
    }))
})
