/** The world of a sweep: which task is next, how long it goes on, what it counts of its fibers, and how time passes in it. */
import { assert, describe, it } from "vitest"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Random from "effect/Random"
import { hangs, watch, World } from "../../core/testing/World.ts"

const squashed = (exit: Exit.Exit<unknown, unknown>): string =>
  Exit.isFailure(exit) ? (Cause.squash(exit.cause) as Error).message : "no failure"
const endless = Effect.forever(Effect.yieldNow)

describe("a world", () => {
  it("runs one task at a time, the oldest or the newest, and says where none is", () => {
    for (const [order, log] of [["oldest", "abAB"], ["newest", "bBaA"]] as const) {
      const world = new World(order)
      const met: Array<string> = []
      for (const name of ["a", "b"]) {
        world.fork(Effect.andThen(
          Effect.sync(() => met.push(name)),
          Effect.sync(() => met.push(name.toUpperCase())),
        ))
      }
      assert.deepStrictEqual([met, world.fibers.size], [[], 2])
      let steps = 0
      while (world.step()) steps++
      assert.deepStrictEqual([met.join(""), world.fibers.size, world.step()], [log, 0, false])
      assert.isAbove(steps, 3)
    }
  })

  it("counts the operations that a fiber has begun, until it has ended, and knows who began the last", () => {
    const world = new World("oldest")
    const fiber = world.fork(Effect.andThen(Effect.yieldNow, Effect.yieldNow))
    const counts = [world.stepsOf(fiber)]
    while (world.step()) if (counts.at(-1) !== world.stepsOf(fiber)) counts.push(world.stepsOf(fiber))
    assert.deepStrictEqual(counts.slice(0, 4), [0, 1, 2, 3])
    assert.deepStrictEqual([world.last, world.stepsOf(fiber)], [fiber, 0])
  })

  it("stops after so many tasks where there is no end, and not before", () => {
    const world = new World("oldest")
    const fiber = world.fork(endless)
    assert.isFalse(world.settle(5))
    fiber.interruptUnsafe()
    assert.isTrue(world.settle())
    const exit = world.run(endless, 50)
    assert.strictEqual(squashed(exit), "it is not over after 50 steps")
    let begun = 0
    const counted = new World("oldest")
    counted.fork(Effect.forever(Effect.sync(() => void begun++)))
    counted.settle(9)
    assert.isAtMost(begun, 9)
    assert.isAbove(begun, 0)
  })

  it("runs in as many tasks as there are, and not in one less", () => {
    const steps = Effect.andThen(Effect.yieldNow, Effect.succeed(7))
    let tasks = 0
    const counted = new World("oldest")
    counted.fork(steps)
    while (counted.step()) tasks++
    assert.deepStrictEqual(new World("oldest").run(steps, tasks), Exit.succeed(7))
    assert.strictEqual(squashed(new World("oldest").run(steps, tasks - 1)), `it is not over after ${tasks - 1} steps`)
    const settled = (maxSteps: number): boolean => {
      const world = new World("oldest")
      world.fork(steps)
      return world.settle(maxSteps)
    }
    // That nothing is ready is seen behind the last of them.
    assert.deepStrictEqual([settled(tasks), settled(tasks + 1)], [false, true])
  })

  it("pauses a fiber that was interrupted where it had paused before the next thing that it does", () => {
    const world = new World("newest")
    const gate = Deferred.makeUnsafe<void>()
    let ran = 0
    const work = Effect.andThen(Deferred.await(gate), Effect.sync(() => void ran++))
    const fiber = world.fork(Effect.onInterrupt(Effect.forever(Effect.yieldNow), () => work))
    for (let i = 0; i < 5; i++) world.step()
    fiber.interruptUnsafe()
    while (world.step());
    const before = world.stepsOf(fiber)
    Effect.runSync(Deferred.succeed(gate, undefined))
    assert.deepStrictEqual([ran, world.stepsOf(fiber)], [0, before])
    while (world.step());
    assert.deepStrictEqual([ran, fiber.pollUnsafe() === undefined], [1, false])
  })

  it("has spans, as elsewhere", () => {
    const exit = new World("oldest").run(Effect.withSpan(Effect.currentSpan, "work"))
    assert.strictEqual(Exit.isSuccess(exit) ? exit.value.name : "none", "work")
  })

  it("lets time pass for what waits for it, and says of what waits for nothing that it hangs", () => {
    const world = new World("oldest")
    const began = world.clock.nanos
    assert.deepStrictEqual(world.run(Effect.as(Effect.sleep("1 minute"), 7)), Exit.succeed(7))
    assert.strictEqual(world.clock.nanos - began, 60_000_000_000n)
    assert.strictEqual(squashed(world.run(Effect.never)), hangs)
    assert.isUndefined(world.outside)
  })

  it("lets so much time pass as it is told, whoever sleeps on the way, and no more", () => {
    const world = new World("oldest")
    const began = world.clock.nanos
    const woken: Array<number> = []
    world.fork(Effect.forever(Effect.andThen(
      Effect.sleep("300 millis"),
      Effect.sync(() => woken.push(Number(world.clock.nanos - began) / 1e6)),
    )))
    world.pass(1_000)
    assert.deepStrictEqual([woken, Number(world.clock.nanos - began)], [[300, 600, 900], 1e9])
    world.pass(200)
    assert.deepStrictEqual([woken.at(-1), Number(world.clock.nanos - began)], [1_200, 1.2e9])
  })

  it("tells whether somebody else than some fibers has made something ready", () => {
    const world = new World("oldest")
    const [a, b] = [world.fork(endless), world.fork(endless)]
    for (let at = 0; at < 8; at++) world.step()
    assert.deepStrictEqual(
      [[a], [b], [a, b], []].map((fibers) => world.isReadyBeyond(new Set<typeof a>(fibers))),
      [true, true, false, true],
    )
    for (const fiber of [a, b]) fiber.interruptUnsafe()
    world.settle()
    assert.isFalse(world.isReadyBeyond(new Set()))
  })

  it("remembers the first fiber that waited for the outside", () => {
    const world = new World("oldest")
    const [first, second] = [1, 2].map(() => world.fork(Effect.promise(() => Promise.resolve())))
    world.settle()
    assert.strictEqual(world.outside, first)
    for (const fiber of [first, second]) fiber?.interruptUnsafe()
    world.settle()
  })

  it("has the clock that is moved by hand, and the same chance each time", () => {
    const drawn = Effect.all([Random.next, Random.nextInt, Clock.currentTimeMillis])
    const [one, two] = [1, 2].map(() => new World("newest").run(drawn))
    assert.deepStrictEqual(one, two)
    assert.isTrue(Exit.isSuccess(one!))
  })

  it("meets a fiber at each of the continuations of what succeeds at once", () => {
    const world = new World("oldest")
    let effect: Effect.Effect<number> = Effect.succeed(0)
    for (let i = 0; i < 50; i++) effect = Effect.map(effect, (n) => n + 1)
    const fiber = world.fork(effect)
    let steps = 0
    while (world.step()) steps++
    assert.deepStrictEqual(fiber.pollUnsafe(), Exit.succeed(50))
    // At each that is put on the stack, and at each that is taken from it.
    assert.isAbove(steps, 100)
  })
})

describe("a fiber that is watched", () => {
  it("is looked at before each of its continuations, by number", () => {
    const world = new World("oldest")
    const fiber = world.fork(Effect.map(Effect.map(Effect.yieldNow, () => 1), (n) => n + 1))
    const looks: Array<number> = []
    assert.isTrue(watch(fiber, (nth) => looks.push(nth)))
    world.settle()
    assert.deepStrictEqual(fiber.pollUnsafe(), Exit.succeed(2))
    assert.deepStrictEqual(looks, looks.map((_, i) => i + 1))
    assert.isAtLeast(looks.length, 2)
    assert.isFalse(watch({} as never, () => {}))
  })

  it("sleeps by the clock of its world", () => {
    const world = new World("oldest")
    const fiber = world.fork(Effect.sleep(Duration.millis(5)))
    world.settle()
    assert.deepStrictEqual([world.clock.sleeping, fiber.pollUnsafe()], [1, undefined])
    world.pass(5)
    assert.deepStrictEqual([world.clock.sleeping, fiber.pollUnsafe()], [0, Exit.void])
  })
})
