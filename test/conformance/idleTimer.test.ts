/** The laws of the idle timer on the runtime that runs this, and what becomes of a process that sleeps on it. */
import { assert, describe, it } from "vitest"
import * as Effect from "effect/Effect"
import { fileURLToPath } from "node:url"
import { idleTimer } from "../../adapters/shared/IdleTimer.ts"
import * as Ending from "../../adapters/shared/testing/Ending.ts"
import { conforms } from "./Conforms.ts"
import { timerLaws } from "./TimerLaws.ts"

const rig = { timer: idleTimer, nowMillis: () => performance.now() }
conforms({ port: "IdleTimer", laws: timerLaws, keep: (law) => Effect.scoped(law.holds(rig)) }, { cannot: {} })

const flags = "Deno" in globalThis ? ["run", "-A", "--node-modules-dir=manual"] : "Bun" in globalThis ? ["--bun"] : []
const script = fileURLToPath(new URL("../support/Idler.ts", import.meta.url))
const play = (part: string, within: "45 seconds" | "5 seconds") =>
  Ending.byItself({ command: [...flags, script, part], within })

describe("a process", () => {
  it("ends while somebody sleeps on the idle timer", async () =>
    assert.deepStrictEqual(await Effect.runPromise(play("idle", "45 seconds")), { output: "through\n", code: 0 }))

  it("goes on while somebody sleeps where no platform has given one", async () => {
    const stays = await Effect.runPromise(Effect.flip(play("clock", "5 seconds")))
    assert.deepInclude(stays, { _tag: "DoesNotEnd", output: "through\n" })
  })
})
