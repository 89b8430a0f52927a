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
import { conforms, type Keep } from "./BlockingExecutor.ts"
import { blockingExecutorGaps } from "./gaps.ts"

const { layer } = { node: NodeExecutor, deno: DenoExecutor, bun: BunExecutor }[Example.runtime]
const { Ending, Leaks } = { node: Node, deno: Deno, bun: Bun }[Example.runtime]

const turn = Effect.callback<void>((resume) => void setTimeout(() => resume(Effect.void), 1))

/** The oracle of leaks over each law; where there is no table of threads to read, over none. */
const keep: Keep = (used) => {
  if (!existsSync("/proc/self/task")) return used
  // Deno tells the end of a thread a little before the system does: there it is waited for, for as long as the test may.
  const gone = (most: number): Effect.Effect<void, unknown> =>
    Effect.flatMap(
      Leaks.census,
      ({ threads }) => (threads?.length ?? 0) <= most ? Effect.void : Effect.andThen(turn, gone(most)),
    )
  if (Example.runtime !== "deno") return Leaks.check(used)
  return Effect.flatMap(Leaks.census, ({ threads }) => Leaks.check(Effect.andThen(used, gone(threads?.length ?? 0))))
}

conforms(layer, { cannot: blockingExecutorGaps[Example.runtime], keep })

const module = new URL("./Jobs.ts", import.meta.url)

describe("the layer of another platform", () => {
  it.each(Object.entries({ node: NodeExecutor, deno: DenoExecutor, bun: BunExecutor }))(
    "of %s ends a job as this runtime can, and says so",
    async (_, { layer }) => {
      const words = new Int32Array(new SharedArrayBuffer(8))
      const terminated = Effect.gen(function* () {
        const executor = yield* BlockingExecutor
        const { number } = yield* executor.start({ module, name: "stubborn", input: words })
        const how = yield* executor.terminate(number)
        const { abandoned } = yield* executor.snapshot
        return [how, abandoned]
      })
      const joins = !("terminate is a join" in blockingExecutorGaps[Example.runtime])
      const ended = await Effect.runPromise(Effect.provide(terminated, layer({ threads: 1, closeWithin: 1 })))
      assert.deepStrictEqual(ended, joins ? ["ended", 0] : ["abandoned", 1])
      // No thread is left at work by the test.
      Atomics.store(words, 0, 1)
      Atomics.notify(words, 0)
    },
  )
})

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
      assert.isTrue(Exit.isSuccess(await Effect.runPromiseExit(keep(Effect.provide(used, layer({ threads: 3 }))))))
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
