/** The laws of the idle timer on the runtime that runs this, and what becomes of a process that sleeps on it. */
import { assert, describe, it } from "vitest"
import * as Effect from "effect/Effect"
import { fileURLToPath } from "node:url"
import { idleTimer } from "../../adapters/shared/IdleTimer.ts"
import * as Ending from "../../adapters/shared/testing/Ending.ts"
import { IdleTimer, make } from "../../core/IdleTimer.ts"
import { conforms } from "./Conforms.ts"
import { timerLaws } from "./TimerLaws.ts"

const rig = { timer: idleTimer, nowMillis: () => performance.now() }
conforms({ port: "IdleTimer", laws: timerLaws, keep: (law) => Effect.scoped(law.holds(rig)) }, { cannot: {} })

const flags = "Deno" in globalThis ? ["run", "-A", "--node-modules-dir=manual"] : "Bun" in globalThis ? ["--bun"] : []
const script = fileURLToPath(new URL("../support/Idler.ts", import.meta.url))
const play = (part: string, within: "15 seconds" | "2500 millis") =>
  Ending.byItself({ command: [...flags, script, part], within })

describe("a process", () => {
  it("ends while somebody sleeps on the idle timer", async () =>
    assert.deepStrictEqual(await Effect.runPromise(play("idle", "15 seconds")), { output: "through\n", code: 0 }))

  it("goes on while somebody sleeps where no platform has given one", async () => {
    const stays = await Effect.runPromise(Effect.flip(play("clock", "2500 millis")))
    assert.deepInclude(stays, { _tag: "DoesNotEnd", output: "through\n" })
  })
})

describe("an idle timer over a platform's", () => {
  /** A clock that stands, and timers that ring when they are told to. */
  const scripted = () => {
    let now = 0
    const set: Array<{ readonly millis: number; readonly ring: () => void }> = []
    let cancelled = 0
    const timer = make({
      nowMillis: () => now,
      set: (millis, ring) => (set.push({ millis, ring }), () => void cancelled++),
    })
    const ring = (at: number) => {
      now = at
      set.at(-1)!.ring()
    }
    return { timer, set, ring, cancelled: () => cancelled }
  }

  it("that rings early waits for what is left", async () => {
    const { ring, set, timer } = scripted()
    const slept = Effect.runPromise(timer.sleep(100))
    ring(99.5)
    assert.deepStrictEqual(set.map(({ millis }) => millis), [100, 1])
    ring(100)
    await slept
    assert.strictEqual(set.length, 2)
  })

  it("refuses what is no time to sleep, as the one does that no platform has given", async () => {
    const { set, timer } = scripted()
    const given = await Effect.runPromise(Effect.map(IdleTimer, (each) => each))
    for (const each of [timer, given]) {
      for (const duration of [NaN, -1, "soon", null, { seconds: NaN }]) {
        const refused = await Effect.runPromise(Effect.flip(each.sleep(duration as number)))
        assert.deepInclude(refused, { _tag: "InvalidRequest", field: "duration" })
      }
      await Effect.runPromise(each.sleep(0))
    }
    assert.deepStrictEqual(set, [])
  })

  it("waits long in steps that a timer can take, and takes its timer away when it is interrupted", async () => {
    const { cancelled, ring, set, timer } = scripted()
    const fiber = Effect.runFork(timer.sleep("60 days"))
    assert.deepStrictEqual(set.map(({ millis }) => millis), [2_147_483_647])
    ring(2_147_483_647)
    assert.deepStrictEqual(
      set.map(({ millis }) => millis),
      [2_147_483_647, 5_184_000_000 - 2_147_483_647].map((millis) => Math.min(millis, 2_147_483_647)),
    )
    assert.strictEqual(cancelled(), 0)
    fiber.interruptUnsafe()
    await new Promise((resolve) => fiber.addObserver(resolve))
    assert.strictEqual(cancelled(), 1)
  })
})
