/** Bursts: everything is decided in one step and told in batches, so that nothing else starves. */
import { assert, describe, it } from "vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import type * as Scheduler from "effect/Scheduler"
import * as Admission from "../../core/Admission.ts"
import * as Deadline from "../../core/Deadline.ts"
import * as Books from "../support/Books.ts"

const count = 20_000
const batch = 256

/** Each task by itself, so that what one turn did can be counted. */
class Turns {
  readonly #tasks: Array<() => void> = []
  readonly scheduler: Scheduler.Scheduler = {
    executionMode: "sync",
    shouldYield: (fiber) => fiber.currentOpCount >= 2_048,
    makeDispatcher: () => ({ scheduleTask: (task) => void this.#tasks.push(task), flush: () => {} }),
  }
  fork<A, E>(effect: Effect.Effect<A, E>): Fiber.Fiber<A, E> {
    return Effect.runFork(effect, { scheduler: this.scheduler })
  }
  /** Runs one task; false where there is none. */
  turn(): boolean {
    const task = this.#tasks.shift()
    task?.()
    return task !== undefined
  }
  run<A, E>(effect: Effect.Effect<A, E>): A {
    const fiber = this.fork(effect)
    while (fiber.pollUnsafe() === undefined && this.turn());
    const exit = fiber.pollUnsafe()
    if (exit?._tag !== "Success") throw new Error(String(exit))
    return exit.value
  }
}

/** 20,000 callers that wait, on an Admission in a scope of its own. */
const crowd = () => {
  const turns = new Turns()
  const layer = Scope.makeUnsafe()
  const admission = turns.run(Scope.provide(
    Admission.make({ maxRunning: count, maxQueued: count, maxQueuedPerTenant: count, maxWait: "1 hour" }),
    layer,
  ))
  const withheld = Scope.makeUnsafe()
  turns.run(Scope.provide(admission.withhold(count), withheld))
  let told = 0
  const tell = Effect.sync(() => void told++)
  const fibers = Array.from(
    { length: count },
    (_, i) =>
      turns.fork(Effect.ensuring(admission.run({ tenant: `t${i % 50}` })(Effect.andThen(tell, Effect.never)), tell)),
  )
  /** Runs to the end; returns the most that were told in one turn, and how many turns another fiber had meanwhile. */
  const longest = (): { readonly most: number; readonly others: number } => {
    let [most, before, others] = [told, told, 0]
    let going = true
    const other: Fiber.Fiber<never> = turns.fork(
      Effect.forever(Effect.sync(() => void others++)), // it yields each time
    )
    for (let quiet = 0; going && quiet < 50;) {
      going = turns.turn()
      quiet = told === before ? quiet + 1 : 0
      most = Math.max(most, told - before)
      before = told
    }
    other.interruptUnsafe()
    while (turns.turn());
    return { most, others }
  }
  return { turns, layer, admission, withheld, fibers, longest, told: () => told }
}

describe("a burst of 20,000 answers", () => {
  it("AD-6 AD-34 K-5 K-16: is decided in the step that freed the units, and told 256 a turn", () => {
    const { admission, fibers, longest, told, turns, withheld } = crowd()
    turns.fork(Scope.close(withheld, Exit.void))
    assert.deepInclude(turns.run(admission.snapshot), { running: count, waiting: 0, free: 0 })
    assert.strictEqual(told(), batch)
    const { most, others } = longest()
    assert.strictEqual(most, batch)
    assert.strictEqual(told(), count)
    assert.isAtLeast(others, count / batch - 2)
    for (const fiber of fibers) fiber.interruptUnsafe()
    while (turns.turn());
    turns.run(Books.whole(admission))
  })

  it("AD-34 K-16: that are refusals by a drain is told 256 a turn", () => {
    const { admission, longest, told, turns } = crowd()
    const report = turns.fork(Effect.flatMap(Deadline.after(0), (deadline) => admission.drain(deadline)))
    assert.deepInclude(turns.run(admission.snapshot), { running: 0, waiting: 0 })
    assert.isAtMost(longest().most, batch)
    assert.strictEqual(told(), count)
    assert.deepInclude((report.pollUnsafe() as Exit.Success<object>).value, { clean: true, refused: count })
  })

  it("AD-31 AD-34: is told to the end though the Admission closes meanwhile, and closing waits for that", () => {
    const { admission, fibers, layer, longest, told, turns, withheld } = crowd()
    turns.fork(Scope.close(withheld, Exit.void))
    assert.strictEqual(told(), batch)
    const closing = turns.fork(Scope.close(layer, Exit.void))
    assert.isUndefined(closing.pollUnsafe())
    let toldWhenClosed = 0
    closing.addObserver(() => toldWhenClosed = told())
    assert.strictEqual(longest().most, batch)
    assert.strictEqual(toldWhenClosed, count)
    assert.strictEqual(told(), count)
    for (const fiber of fibers) fiber.interruptUnsafe()
    while (turns.turn());
    turns.run(Books.settled(admission))
  })

  it("AD-5 K-6: that is interrupted in the middle loses no unit, and grants none twice", () => {
    const { admission, fibers, told, turns, withheld } = crowd()
    turns.fork(Scope.close(withheld, Exit.void))
    for (let i = 0; i < 10; i++) turns.turn()
    for (let i = 0; i < count; i += 3) fibers[i]!.interruptUnsafe()
    while (turns.turn());
    const { interrupted, running } = turns.run(Books.balanced(admission))
    assert.strictEqual(running, count - Math.ceil(count / 3))
    assert.isAbove(interrupted, 0)
    // Those who had run are told of their end as well.
    assert.strictEqual(told(), running + 2 * Math.ceil(count / 3) - interrupted)
    for (const fiber of fibers) fiber.interruptUnsafe()
    while (turns.turn());
    turns.run(Books.whole(admission))
  })
})
