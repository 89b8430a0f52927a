/** A signal that asks the process to end, and the drain that it begins. What a second one does, the gateway's life shows. */
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import process from "node:process"
import * as Signals from "../../adapters/shared/Signals.ts"
import * as Admission from "../../core/Admission.ts"
import * as Deadline from "../../core/Deadline.ts"

const listeners = (): number => process.listenerCount("SIGINT") + process.listenerCount("SIGTERM")

describe("a signal", () => {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    it.effect(`${signal} begins the drain, by a deadline from then, and is listened for no longer`, () =>
      Effect.gen(function* () {
        const before = listeners()
        const clock = yield* Clock.Clock
        const fiber = yield* Effect.forkChild(
          Signals.drain((deadline) => Effect.succeed(deadline.atNanos - Deadline.nowNanos(clock)), "3 seconds"),
          { startImmediately: true },
        )
        assert.isUndefined(fiber.pollUnsafe())
        process.emit(signal, signal)
        assert.strictEqual(yield* Fiber.join(fiber), 3e9)
        assert.strictEqual(listeners(), before)
      }))
  }

  it.effect("drains an Admission, which says what was still held", () =>
    Effect.gen(function* () {
      const admission = yield* Admission.make({ maxRunning: 1 })
      yield* admission.enter({ tenant: "a" })
      const fiber = yield* Effect.forkChild(Signals.drain(admission.drain, 0), { startImmediately: true })
      process.emit("SIGTERM", "SIGTERM")
      assert.deepInclude(yield* Fiber.join(fiber), { clean: false, held: 1 })
    }))

  it.effect("is not waited for where the time to drain is none", () =>
    Effect.gen(function* () {
      const before = listeners()
      const drain = Signals.drain(() => Effect.die("it drained"), NaN)
      assert.deepInclude(yield* Effect.flip(drain), { _tag: "InvalidRequest", field: "deadline" })
      assert.strictEqual(listeners(), before)
    }))

  it.effect("is listened for no longer by who was interrupted", () =>
    Effect.gen(function* () {
      const before = listeners()
      const fiber = yield* Effect.forkChild(Signals.drain(() => Effect.void, "1 second"), { startImmediately: true })
      assert.isAbove(listeners(), before)
      yield* Fiber.interrupt(fiber)
      assert.strictEqual(listeners(), before)
    }))
})
