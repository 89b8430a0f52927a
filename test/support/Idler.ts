/** A program that sleeps for an hour, on the timer that its argument names, and is through. */
import process from "node:process"
import * as Effect from "effect/Effect"
import * as Bun from "../../adapters/bun/Platform.ts"
import * as Deno from "../../adapters/deno/Platform.ts"
import * as Node from "../../adapters/node/Platform.ts"
import * as IdleTimer from "../../core/IdleTimer.ts"

const platform = "Deno" in globalThis ? Deno : "Bun" in globalThis ? Bun : Node
const idle = Effect.flatMap(IdleTimer.IdleTimer, (timer) => timer.sleep("1 hour"))
const parts: Readonly<Record<string, Effect.Effect<void, unknown>>> = {
  idle: Effect.provide(idle, platform.layer),
  clock: idle,
}
Effect.runFork(parts[process.argv[2] ?? ""] ?? Effect.void)
console.log("through")
