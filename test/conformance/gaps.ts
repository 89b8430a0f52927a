/** What a runtime may be unable to do, and why. Whatever else it cannot do is a fault of its adapter. */
import type * as BlockingExecutor from "./BlockingExecutor.ts"
import type { Name } from "../support/Runtime.ts"

export const blockingExecutorGaps: Readonly<Record<Name, BlockingExecutor.Gaps>> = {
  node: {},
  deno: {
    "terminate is a join":
      "Worker.terminate() of Deno 2.9 is over at once, and a thread in a loop or a native call goes on",
    "a transfer that fails moves nothing":
      "postMessage of Deno 2.9 detaches what is to be transferred before it clones",
  },
  bun: {},
}
