/** What one operation costs does not grow with how many wait, or under how many keys. The kernel's steps are counted too. */
import { assert, describe, it } from "vitest"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as Admission from "../../core/Admission.ts"
import * as Books from "../support/Books.ts"

type Fibers = Array<Fiber.Fiber<unknown, unknown>>
interface Crowd {
  /** One more comes and waits. */
  readonly come: () => void
  /** Those who wait, and the one who holds. */
  readonly waiting: Fibers
  readonly inside: Fibers
}

/** Milliseconds that 2,000 cycles take, at best of five, with so many waiting under a quarter as many tenants. */
const cost = (size: number, cycle: (crowd: Crowd, i: number) => void): number => {
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
  let best = Infinity
  for (let round = 0; round < 5; round++) {
    const began = performance.now()
    for (let i = 0; i < 2_000; i++) cycle({ come, waiting, inside }, round * 2_000 + i)
    best = Math.min(best, performance.now() - began)
  }
  assert.deepInclude(Effect.runSync(admission.snapshot), { running: 1, waiting: size })
  while (inside.length > 0) inside.pop()!.interruptUnsafe()
  Effect.runSync(Books.whole(admission))
  return best
}

/** 64 times as many waiters may cost a few times as much, for the memory that they take; not 64 times. */
const flat = (cycle: Parameters<typeof cost>[1]): void => assert.isBelow(cost(64_000, cycle) / cost(1_000, cycle), 10)

describe("with 64,000 waiters instead of 1,000", () => {
  it("AD-5 AD-33: coming, and leaving from the middle, costs about the same", () =>
    flat(({ come, waiting }, i) => {
      come()
      const at = 1 + (i * 7_919) % (waiting.length - 2) // the first one holds
      const leaving = waiting[at]!
      waiting[at] = waiting.pop()!
      leaving.interruptUnsafe()
    }), 60_000)

  it("AD-33: a release, with the grant that it makes, costs about the same", () =>
    flat(({ come, inside }) => {
      inside.pop()!.interruptUnsafe()
      come()
    }), 60_000)
})
