/** What one operation costs does not grow with how many wait, or under how many keys. The kernel's steps are counted too. */
import { assert, describe, it } from "vitest"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { setImmediate } from "node:timers/promises"
import * as Admission from "../../core/Admission.ts"
import * as Books from "../support/Books.ts"
import * as Steps from "../support/Steps.ts"

type Fibers = Array<Fiber.Fiber<unknown, unknown>>
interface Crowd {
  /** One more comes and waits. */
  readonly come: () => void
  /** Those who wait, and the one who holds. */
  readonly waiting: Fibers
  readonly inside: Fibers
}
type Cycle = (crowd: Crowd, i: number) => void

/** Steps that 100 cycles take with so many waiting under a quarter as many tenants. */
const cost = async (size: number, cycle: Cycle): Promise<number> => {
  const admission = Effect.runSync(Scope.provide(
    Admission.make({ maxRunning: 1, maxQueued: 100_000, maxQueuedPerTenant: 100_000, maxWait: "1 hour" }),
    Scope.makeUnsafe(),
  ))
  const [waiting, inside]: [Fibers, Fibers] = [[], []]
  const work = Effect.withFiber((fiber) => {
    inside.push(fiber)
    return Effect.never
  })
  let came = 0
  const come = (): void => {
    const key = came++
    waiting.push(Effect.runFork(admission.run({ tenant: `t${key % (size / 4)}`, provider: `p${key % 16}` })(work)))
  }
  for (let i = 0; i <= size; i++) come()
  const cycles = (from: number, to: number) => () => {
    for (let i = from; i < to; i++) cycle({ come, waiting, inside }, i)
  }
  cycles(0, 100)()
  const steps = await Steps.counted(cycles(100, 200))
  assert.deepInclude(Effect.runSync(admission.snapshot), { running: 1, waiting: size })
  while (inside.length > 0) inside.pop()!.interruptUnsafe()
  Effect.runSync(Books.whole(admission))
  return steps
}

const flat = async (cycle: Cycle): Promise<void> => {
  const few = await cost(1_000, cycle)
  assert.isAbove(few, 1_000)
  assert.isBelow(await cost(16_000, cycle), 1.5 * few)
}

describe("with 16,000 waiters instead of 1,000", () => {
  it("AD-5 AD-33: coming, and leaving from the middle, costs the same", () =>
    flat(({ come, waiting }, i) => {
      come()
      const at = 1 + (i * 7_919) % (waiting.length - 2) // the first one holds
      const leaving = waiting[at]!
      waiting[at] = waiting.pop()!
      leaving.interruptUnsafe()
    }))

  it("AD-33: a release, with the grant that it makes, costs the same", () =>
    flat(({ come, inside }) => {
      inside.pop()!.interruptUnsafe()
      come()
    }))
})

describe("the loop", () => {
  type Run = <A, E>(work: Effect.Effect<A, E>) => Effect.Effect<A, unknown>

  /** Steps until the loop has turned, from the interruption of 100 that wait while so many others do; and those who stay. */
  const leaving = async (others: number, holding: Run, waiting: Run) => {
    const holder = Effect.runFork(holding(Effect.never))
    const wait = () => Effect.runFork(waiting(Effect.void))
    const rest = Array.from({ length: others }, wait)
    const some = Array.from({ length: 100 }, wait)
    await setImmediate()
    const steps = await Steps.counted(async () => {
      for (const fiber of some) fiber.interruptUnsafe()
      await setImmediate()
      await setImmediate()
    })
    assert.isTrue(rest.every((fiber) => fiber.pollUnsafe() === undefined))
    return { steps, stay: [...rest, holder] }
  }

  it("AD-5: waiters that are interrupted do not stall it while others wait; those of Semaphore do", async () => {
    const ours = async (others: number): Promise<number> => {
      const admission = Effect.runSync(Scope.provide(
        Admission.make({ maxRunning: 1, maxQueued: 30_000, maxQueuedPerTenant: 30_000, maxWait: "1 hour" }),
        Scope.makeUnsafe(),
      ))
      const { stay, steps } = await leaving(others, admission.run({ tenant: "a" }), admission.run({ tenant: "b" }))
      for (const fiber of stay) fiber.interruptUnsafe()
      Effect.runSync(Books.whole(admission))
      return steps
    }
    // Fewer, and left to the collector: to come there, as to leave, takes steps by the number that wait.
    const theirs = async (others: number): Promise<number> => {
      const semaphore = Semaphore.makeUnsafe(1)
      return (await leaving(others, semaphore.withPermit, semaphore.withPermit)).steps
    }
    assert.isBelow(await ours(20_000), 1.5 * await ours(2_000))
    assert.isAbove(await theirs(2_000), 5 * await theirs(200))
  })
})
