/** `BlockingExecutor` on the runtime that runs this: the suite of its port, and what the system says of its threads. */
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as BunExecutor from "../../adapters/bun/BlockingExecutor.ts"
import * as Bun from "../../adapters/bun/testing/mod.ts"
import * as DenoExecutor from "../../adapters/deno/BlockingExecutor.ts"
import * as Deno from "../../adapters/deno/testing/mod.ts"
import * as NodeExecutor from "../../adapters/node/BlockingExecutor.ts"
import * as Node from "../../adapters/node/testing/mod.ts"
import { BlockingExecutor } from "../../core/BlockingExecutor.ts"
import * as Example from "../docs/Example.ts"
import { conforms } from "./BlockingExecutor.ts"
import { blockingExecutorGaps } from "./gaps.ts"

const { layer } = { node: NodeExecutor, deno: DenoExecutor, bun: BunExecutor }[Example.runtime]
const { Ending, Leaks } = { node: Node, deno: Deno, bun: Bun }[Example.runtime]

conforms(layer, { cannot: blockingExecutorGaps[Example.runtime] })

const module = new URL("./Jobs.ts", import.meta.url)

const turn = Effect.callback<void>((resume) => void setTimeout(() => resume(Effect.void), 1))

describe("what the system says", () => {
  // Elsewhere there is no table of threads to read.
  if (existsSync("/proc/self/task")) {
    it("no thread and no timer is left once the scope has closed", async () => {
      const used = Effect.flatMap(BlockingExecutor, (executor) =>
        Effect.all([
          executor.run({ module, name: "same", input: 1 }),
          Effect.exit(executor.run({ module, name: "exits", input: 3 })),
          executor.run({ module, name: "later", input: 1 }),
        ], { concurrency: "unbounded" }))
      // Deno tells the end of a thread a little before the system does: there it is waited for, for as long as the test may.
      const gone: Effect.Effect<void, unknown> = Effect.flatMap(
        Leaks.census,
        ({ threads }) => threads?.length === 0 ? Effect.void : Effect.andThen(turn, gone),
      )
      const rest = Example.runtime === "deno" ? gone : Effect.void
      const checked = Leaks.check(Effect.andThen(Effect.provide(used, layer({ threads: 3 })), rest))
      assert.deepStrictEqual(Exit.isSuccess(await Effect.runPromiseExit(checked)), true)
      // The oracle sees a thread while there is one.
      const seen = Effect.flatMap(
        Effect.provide(Effect.andThen(used, Leaks.census), layer({ threads: 3 })),
        // Before Node 24 threads have no names, and the census says that it cannot tell.
        ({ threads }) => Effect.sync(() => assert.isTrue(threads === undefined || threads.length > 0)),
      )
      await Effect.runPromise(Effect.scoped(seen))
    })
  }

  const flags = { node: [], deno: ["run", "-A", "--node-modules-dir=manual"], bun: ["--bun"] }[Example.runtime]
  const program = fileURLToPath(new URL("./ExecutorProgram.ts", import.meta.url))
  const ending = (what: string) =>
    Effect.runPromise(Ending.byItself({ command: [...flags, program, what], within: 30_000 }))

  if (Example.runtime === "node") {
    it("a process that was started on a text has threads as any", async () => {
      const text = `await import(${JSON.stringify(new URL("./ExecutorProgram.ts", import.meta.url).href)})`
      const command = ["--no-warnings", "--input-type", "module", "-e", text, "text", "busy"]
      assert.deepInclude(await Effect.runPromise(Ending.byItself({ command, within: 30_000 })), {
        code: 0,
        output: "through\nended\n",
      })
    })
  }

  it.each([
    ["idle", "through\n"],
    ["busy", "through\nended\n"],
    ["closed at work", "through\n"],
    ["closed on a thread that hangs", "through\n"],
  ])("a process ends by itself: %s", async (what, output) => {
    const ended = await ending(what)
    assert.deepStrictEqual({
      ...ended,
      output: ended.output.split("\n").filter((line) => !/WARN/.test(line)).join("\n"),
    }, {
      code: 0,
      output,
    })
  })
})
