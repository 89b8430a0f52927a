/** What an executor's counts must say once nothing goes on: each thread is accounted for, each job that began has ended. */
import * as Effect from "effect/Effect"
import type { BlockingExecutor, ExecutorSnapshot } from "../../core/BlockingExecutor.ts"
import { assert } from "./Assert.ts"

/** At any moment: no more threads than there may be. */
export const bounded = (s: ExecutorSnapshot): void =>
  assert.isAtMost(s.busy + s.idle + s.ending + s.leaving + s.abandoned, s.threads)

/** With nothing at work: nobody waits, no thread is between two states, and every job that began came to one end. */
export const settled = (executor: BlockingExecutor): Effect.Effect<ExecutorSnapshot> =>
  Effect.map(executor.snapshot, (s) => {
    bounded(s)
    assert.deepStrictEqual([s.waiting, s.busy, s.ending, s.leaving], [0, 0, 0, 0])
    assert.strictEqual(s.begun, s.completed + s.failed + s.lost)
    return s
  })
