/** A program with an executor that it leaves as its argument says, and is through. */
import process from "node:process"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import * as Exit from "effect/Exit"
import { threads as bun } from "../../adapters/bun/BlockingExecutor.ts"
import { threads as deno } from "../../adapters/deno/BlockingExecutor.ts"
import { threads as node } from "../../adapters/node/BlockingExecutor.ts"
import * as BlockingExecutor from "../../core/BlockingExecutor.ts"

const threads = "Deno" in globalThis ? deno : "Bun" in globalThis ? bun : node
const module = new URL("./Jobs.ts", import.meta.url)
const counts = new Int32Array(new SharedArrayBuffer(8))
const job = { module, name: "counted", input: { counts, millis: 300 } }

const scope = Scope.makeUnsafe()
const made = BlockingExecutor.make({ threads: 2, closeWithin: "20 millis" }, threads)
const executor = await Effect.runPromise(Scope.provide(made, scope))
await Effect.runPromise(executor.run({ module, name: "same" }))
switch (process.argv[2]) {
  // Two threads that are idle, and a scope that nobody closes.
  case "idle":
    break
  // A job at work is waited for, though nobody joins it.
  case "busy": {
    const { join } = await Effect.runPromise(executor.start(job))
    void Effect.runPromise(join).then(() => console.log("ended"))
    break
  }
  // Its scope has closed on a thread that is idle and does not leave.
  case "closed on a thread that hangs":
    await Effect.runPromise(executor.run({ module, name: "haunts" }))
    await new Promise((done) => setTimeout(done, 50))
    await Effect.runPromise(Scope.close(scope, Exit.void))
    break
  // Its scope has closed on a job that nobody can stop for now.
  case "closed at work": {
    const gate = new Int32Array(new SharedArrayBuffer(8))
    await Effect.runPromise(executor.start({ module, name: "stubborn", input: gate }))
    setTimeout(() => {
      Atomics.store(gate, 0, 1)
      Atomics.notify(gate, 0)
    }, 300)
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }
}
console.log("through")
