/** The form of a refusal: an error in every way that counts, without a stack; and what it keeps of a bad value. */
import { assert, describe, it } from "@effect/vitest"
import { inspect } from "node:util"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Logger from "effect/Logger"
import * as Refused from "../../core/AdmissionRefused.ts"
import * as Deadline from "../../core/Deadline.ts"
import { Saturated } from "../../core/GateRefused.ts"
import { WorkerLost } from "../../core/JobFault.ts"
import * as Lease from "../../core/Lease.ts"
import { InvalidLimits, InvalidRequest } from "../../core/Refusal.ts"
import { NameNotFound } from "../../core/SocketFault.ts"

const second = Duration.seconds(1)
const one = new Refused.WouldWait({ account: "tenant" })
const every: ReadonlyArray<readonly [Error & { readonly _tag: string }, string]> = [
  [
    new Refused.NeverFits({ account: "pair", cost: 3, limit: 2 }),
    "a cost of 3 is above the 2 that the pair may ever hold for it",
  ],
  [new Refused.QueueFull({ scope: "all", limit: 4 }), "4 asks wait already, and no more may"],
  [new Refused.QueueFull({ scope: "tenant", limit: 4 }), "4 asks of the tenant wait already, and no more may"],
  [one, "the tenant has no room for it now"],
  [
    new Refused.WaitExpired({ waited: second, bound: "maxWait", account: "total" }),
    "not admitted within maxWait: waited 1s for the total",
  ],
  [new Refused.TooLate({ estimate: second, remaining: Duration.zero }), "a wait of about 1s is ahead, and 0 remain"],
  [new Refused.Closed({ state: "draining", since: second }), "draining since 1s"],
  [new Refused.Closed({ state: "closed", since: Duration.nanos(689_810n) }), "closed since 1ms"],
  [new Refused.Closed({ state: "closed", since: Duration.zero }), "closed since 0"],
  [new Saturated({ scope: "ordinary" }), "no place: ordinary work has all that it may use"],
  [new Saturated({ scope: "provider" }), "no place: the provider is full"],
  [new Saturated({ scope: "tenant" }), "no place: the tenant is full"],
  [new NameNotFound({ phase: "resolve", code: "ENOTFOUND" }), "the name leads to no address (resolve: ENOTFOUND)"],
  [new NameNotFound({ phase: "connect", code: "ENOENT" }), "the address or path leads nowhere (connect: ENOENT)"],
  [new WorkerLost({ job: "spin", reason: "terminated", exitCode: 1 }), "the thread of spin was terminated with code 1"],
  [new WorkerLost({ job: "spin", reason: "exited", exitCode: 2 }), "the thread of spin exited with code 2"],
  [new WorkerLost({ job: "spin", reason: "crashed" }), "the thread of spin crashed"],
  [new WorkerLost({ job: "spin", reason: "not-started" }), "the thread of spin did not start"],
  [new Refused.BelowUse({ account: "queue", limit: 1, use: 2 }), "the queue uses 2, more than the new limit of 1"],
  [new Lease.LeaseSpent(), "the lease was given back before"],
  [new Lease.ForeignLease(), "the lease was not given out here"],
  [new Deadline.DeadlineExceeded({ elapsed: second }), "deadline exceeded after 1s"],
  [new InvalidLimits({ system: "S", limit: "l", rule: "a rule", value: 1 }), "S: l must be a rule, got 1"],
  [new InvalidRequest({ field: "f", rule: "a rule", value: "x" }), `f must be a rule, got "x"`],
  [new InvalidRequest({ field: "f", rule: "a rule", value: undefined }), "f must be a rule, got undefined"],
  [new InvalidRequest({ field: "f", rule: "a rule" }), "f must be a rule"],
]

describe("a refusal", () => {
  it.each(every)("%s names itself and says why", (error, message) => {
    assert.strictEqual(error.name, error._tag)
    assert.strictEqual(error.message, message)
    assert.strictEqual(String(error), `${error._tag}: ${message}`)
    assert.deepInclude(JSON.parse(JSON.stringify(error)), { _tag: error._tag, message })
  })

  it("is an Error without a stack", () => {
    assert.isTrue(one instanceof Error)
    assert.isUndefined(one.stack)
    assert.isFalse(Object.keys(one).includes("stack"))
  })

  it("has its facts as fields, in JSON too", () => {
    assert.deepStrictEqual({ ...one }, { _tag: "WouldWait", name: "WouldWait", account: "tenant" } as never)
    assert.deepStrictEqual(JSON.parse(JSON.stringify(one)), {
      _tag: "WouldWait",
      name: "WouldWait",
      account: "tenant",
      message: "the tenant has no room for it now",
    })
  })

  it.effect("is yieldable, and caught by its tag", () =>
    Effect.gen(function* () {
      const yielded = Effect.gen(function* () {
        return yield* one
      })
      assert.strictEqual(yield* Effect.flip(yielded), one)
      const caught = Effect.catchTag(yielded, "WouldWait", ({ account }) => Effect.succeed(account))
      assert.strictEqual(yield* caught, "tenant")
      assert.isTrue(Exit.isFailure(Effect.runSyncExit(Effect.fail(one))))
    }))

  it("is printed with its name and message, by whomever", () => {
    for (const text of [Cause.pretty(Cause.fail(one)), inspect(one), `${one}`]) {
      assert.include(text, "WouldWait")
      assert.include(text, "the tenant has no room for it now")
    }
  })

  it.effect("is logged with its name and message", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const keep = <O>(format: Logger.Logger<unknown, O>) => Logger.map(format, (line) => void lines.push(String(line)))
      yield* Effect.logError(Cause.fail(one)).pipe(
        Effect.provide(Logger.layer([keep(Logger.formatSimple), keep(Logger.formatLogFmt)])),
      )
      assert.strictEqual(lines.length, 2)
      for (const line of lines) assert.include(line, "WouldWait: the tenant has no room for it now")
    }))

  it("captures no stack, though somebody asks for it", () => {
    const { stackTraceLimit } = Error
    let captured = 0
    // Where a stack is captured, this is called (V8); elsewhere the limit alone is looked at.
    const { prepareStackTrace } = Error as { prepareStackTrace?: unknown }
    Object.assign(Error, { prepareStackTrace: () => captured++ })
    for (let i = 0; i < 1_000; i++) void new Refused.WouldWait({ account: "total" }).stack
    Object.assign(Error, { prepareStackTrace })
    assert.strictEqual(captured, 0)
    assert.strictEqual(Error.stackTraceLimit, stackTraceLimit)
  })
})

describe("a bad value", () => {
  it("is kept as it is where it is a scalar, cut where it is long, and else only its type", () => {
    const cases: ReadonlyArray<readonly [unknown, unknown]> = [
      [1, 1],
      [NaN, NaN],
      [true, true],
      [undefined, undefined],
      [null, null],
      ["short", "short"],
      ["x".repeat(64), "x".repeat(64)],
      ["x".repeat(65), `${"x".repeat(64)}…`],
      [12n, "12n"],
      [{ secret: "s" }, "<object>"],
      [["secret"], "<object>"],
      [() => "secret", "<function>"],
      [Symbol("secret"), "<symbol>"],
    ]
    for (const [value, shown] of cases) {
      for (
        const error of [
          new InvalidRequest({ field: "f", rule: "r", value }),
          new InvalidLimits({ system: "S", limit: "l", rule: "r", value }),
        ]
      ) {
        assert.deepStrictEqual(error.value, shown)
        assert.notInclude(`${error} ${JSON.stringify(error)} ${inspect(error)}`, "secret")
      }
    }
  })
})
