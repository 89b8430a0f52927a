/** The executor over scripted threads: its line, what it joins, what it charges, and what it says of what it cannot. */
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Logger from "effect/Logger"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import * as BlockingExecutor from "../../core/BlockingExecutor.ts"
import * as Deadline from "../../core/Deadline.ts"
import type { Job, JobContext } from "../../core/Job.ts"
import type { Hear, Order, WorkerThreads } from "../../core/WorkerThreads.ts"
import { HandClock } from "../../core/testing/HandClock.ts"
import * as Script from "../../core/testing/Script.ts"
import * as ScriptedPorts from "../../core/testing/ScriptedPorts.ts"
import * as Books from "../support/ExecutorBooks.ts"

const began: Array<unknown> = []
const jobs: ScriptedPorts.Jobs = {
  same: (input: unknown) => (began.push(input), input),
  looked: (_: unknown, context: JobContext) => context.cancelled(),
  throws: () => {
    throw new RangeError("no")
  },
}
const job = <A = unknown>(name: string, input?: unknown, held: Partial<Job<A>> = {}): Job<A> => (
  { module: "test:jobs", name, input, ...held }
)

const made = (options: Partial<BlockingExecutor.Options> = {}, joins = true) =>
  Effect.gen(function* () {
    began.length = 0
    const script = yield* Script.make
    const threads = ScriptedPorts.workerThreads(script, jobs, joins)
    const executor = yield* BlockingExecutor.make({ threads: 1, ...options }, threads)
    return { executor, script }
  })

/** Lets all that is ready run. */
const settle = Effect.forEach(Array.from({ length: 20 }), () => Effect.yieldNow)
const fork = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.tap(Effect.forkChild(effect, { startImmediately: true }), () => settle)
const open = (script: Script.Script, what: string): number => script.left.filter((name) => name.startsWith(what)).length

/** A charge that knows whether it is held. */
const charge = () => {
  let held = 0
  const effect = Effect.acquireRelease(Effect.sync(() => held++), () => Effect.sync(() => held--))
  return { effect, held: () => held }
}

describe("the line", () => {
  it.effect("is first come, first served, and no more jobs run than there are threads", () =>
    Effect.gen(function* () {
      const { executor, script } = yield* made({ threads: 2 })
      script.plan("executor.job", Script.hold)
      const fibers = yield* Effect.forEach([1, 2, 3, 4, 5], (n) => fork(executor.run(job("same", n))))
      for (let n = 1; n <= 5; n++) {
        const s = yield* executor.snapshot
        Books.bounded(s)
        assert.deepStrictEqual([s.busy, s.waiting], [Math.min(2, 6 - n), Math.max(0, 4 - n)])
        yield* script.release(`executor.job ${n}`)
        yield* settle
      }
      assert.deepStrictEqual(yield* Effect.forEach(fibers, Fiber.join), [1, 2, 3, 4, 5])
      assert.deepStrictEqual(began, [1, 2, 3, 4, 5])
      const s = yield* Books.settled(executor)
      assert.deepStrictEqual([s.spawned, s.idle, s.completed], [2, 2, 5])
    }))

  it.effect("has an end, and a wait has one: at the fiber's deadline, or after maxWait", () =>
    Effect.gen(function* () {
      const { executor, script } = yield* made({ maxQueued: 2, maxWait: "10 seconds" })
      script.plan("executor.job 1", Script.hold)
      const first = yield* fork(executor.run(job("same", 1)))
      const hasty = yield* fork(Effect.flip(Deadline.within("1 second")(executor.run(job("same", 2)))))
      const patient = yield* fork(Effect.flip(executor.run(job("same", 3))))
      const full = yield* Effect.flip(executor.run(job("same", 4)))
      assert.deepInclude(full, { _tag: "QueueFull", limit: 2 })
      yield* TestClock.adjust("1 second")
      assert.deepInclude(yield* Fiber.join(hasty), { _tag: "WaitExpired", bound: "deadline" })
      yield* TestClock.adjust("9 seconds")
      assert.deepInclude(yield* Fiber.join(patient), { _tag: "WaitExpired", bound: "maxWait" })
      yield* script.release("executor.job 1")
      assert.strictEqual(yield* Fiber.join(first), 1)
      const s = yield* Books.settled(executor)
      assert.deepStrictEqual(s.refused, { QueueFull: 1, WaitExpired: 2, Closed: 0 })
      assert.deepStrictEqual(began, [1])
    }))

  it.effect("is left by whoever is interrupted in it, and the charge goes back", () =>
    Effect.gen(function* () {
      const { executor, script } = yield* made()
      const { effect, held } = charge()
      script.plan("executor.job 1", Script.hold)
      const first = yield* fork(executor.run(job("same", 1)))
      const second = yield* fork(executor.run({ ...job("same", 2), charge: effect }))
      assert.deepStrictEqual([(yield* executor.snapshot).waiting, held()], [1, 1])
      yield* Fiber.interrupt(second)
      assert.deepStrictEqual([(yield* executor.snapshot).waiting, held()], [0, 0])
      yield* script.release("executor.job 1")
      yield* Fiber.join(first)
      yield* Books.settled(executor)
      assert.deepStrictEqual(began, [1])
    }))
})

describe("a job that has begun", () => {
  it.effect("is told of its caller's interruption by the flag, and joined; its charge goes back at its end", () =>
    Effect.gen(function* () {
      const { executor, script } = yield* made()
      const { effect, held } = charge()
      script.plan("executor.job", Script.hold)
      let looked: unknown
      const watched = Effect.onExit(
        executor.run({ ...job<boolean>("looked"), charge: effect }),
        (exit) => Effect.sync(() => void (looked = exit)),
      )
      const caller = yield* fork(watched)
      const leaving = yield* fork(Fiber.interrupt(caller))
      assert.deepStrictEqual([(yield* executor.jobs).map(({ state }) => state), held()], [["cancelled"], 1])
      assert.strictEqual((yield* executor.snapshot).busy, 1)
      assert.isUndefined(caller.pollUnsafe())
      // Days later.
      yield* TestClock.adjust("3 days")
      assert.isUndefined(caller.pollUnsafe())
      yield* script.release("executor.job")
      yield* Fiber.join(leaving)
      assert.isTrue(Exit.isFailure(looked as Exit.Exit<unknown>) && Exit.hasInterrupts(looked as Exit.Exit<unknown>))
      assert.strictEqual(held(), 0)
      assert.strictEqual((yield* Books.settled(executor)).completed, 1)
    }))

  it.effect("reads its own flag and no other's: the next job in the same thread is not cancelled", () =>
    Effect.gen(function* () {
      const { executor, script } = yield* made()
      script.plan("executor.job 1", Script.hold)
      const { cancel, join } = yield* executor.start(job<boolean>("looked"))
      yield* cancel
      yield* cancel
      yield* script.release("executor.job 1")
      assert.isTrue(yield* join)
      assert.isFalse(yield* executor.run(job<boolean>("looked")))
      assert.strictEqual((yield* executor.snapshot).spawned, 1)
    }))

  it.effect("ends by `Deadline.enforce` when it has ended, and not when the deadline comes", () =>
    Effect.gen(function* () {
      const { executor, script } = yield* made()
      script.plan("executor.job", Script.hold)
      const bounded = Deadline.within("1 second")(Deadline.enforce(executor.run(job("looked"))))
      const caller = yield* fork(Effect.flip(bounded))
      yield* TestClock.adjust("5 seconds")
      assert.isUndefined(caller.pollUnsafe())
      yield* script.release("executor.job")
      assert.deepInclude(yield* Fiber.join(caller), { _tag: "DeadlineExceeded" })
      yield* Books.settled(executor)
    }))

  it.effect("goes on when it was started and its caller is gone: any may join it, and it needs nobody to end", () =>
    Effect.gen(function* () {
      const { executor, script } = yield* made({ threads: 2 })
      const [lonely, joined] = [charge(), charge()]
      script.plan("executor.job", Script.hold)
      const started: Array<BlockingExecutor.Started<unknown>> = []
      const caller = yield* fork(Effect.scoped(Effect.gen(function* () {
        for (const { effect } of [lonely, joined]) {
          started.push(yield* executor.start({ ...job("same", started.length), charge: effect }))
        }
        yield* Effect.never
      })))
      yield* Fiber.interrupt(caller)
      const joiner = yield* fork(started[1]!.join)
      yield* Fiber.interrupt(joiner)
      assert.deepStrictEqual((yield* executor.jobs).map(({ number, state }) => [number, state]), [
        [1, "running"],
        [2, "running"],
      ])
      assert.deepStrictEqual([lonely.held(), joined.held()], [1, 1])
      yield* script.release("executor.job 1")
      yield* settle
      assert.deepStrictEqual([lonely.held(), joined.held()], [0, 1])
      yield* script.release("executor.job 2")
      assert.strictEqual(yield* started[1]!.join, 1)
      assert.strictEqual(yield* started[1]!.join, 1)
      assert.strictEqual(joined.held(), 0)
      yield* Books.settled(executor)
    }))

  it.effect("hands its thread on, then gives its charge back, and only then is anybody told", () =>
    Effect.gen(function* () {
      const { executor, script } = yield* made()
      const order: Array<string> = []
      const note = (what: string) => Effect.sync(() => void order.push(what))
      const slow = Effect.acquireRelease(note("charged"), () => Effect.andThen(Effect.sleep("1 second"), note("back")))
      script.plan("executor.job", Script.hold)
      const caller = yield* fork(Effect.andThen(executor.run({ ...job("same"), charge: slow }), note("told")))
      const next = yield* fork(Effect.andThen(executor.run(job("same")), note("next")))
      yield* script.release("executor.job 1")
      yield* settle
      assert.deepStrictEqual((yield* executor.jobs).map(({ number, state }) => [number, state]), [
        [1, "ended"],
        [2, "running"],
      ])
      yield* script.release("executor.job 2")
      yield* settle
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(caller)
      yield* Fiber.join(next)
      assert.deepStrictEqual(order, ["charged", "next", "back", "told"])
    }))
})

describe("a charge", () => {
  it.effect("is acquired before the wait, its failure is the caller's, and a refusal gives it back", () =>
    Effect.gen(function* () {
      const { executor, script } = yield* made({ maxQueued: 0 })
      const { effect, held } = charge()
      const failed = Effect.andThen(effect, Effect.fail("no money" as const))
      assert.strictEqual(yield* Effect.flip(executor.run({ ...job("same"), charge: failed })), "no money")
      assert.strictEqual(held(), 0)
      script.plan("executor.job 1", Script.hold)
      const first = yield* fork(executor.run(job("same")))
      const full = yield* Effect.flip(executor.run({ ...job("same"), charge: effect }))
      assert.deepStrictEqual([full, held()].map((each) => (each as { _tag?: string })._tag ?? each), ["QueueFull", 0])
      yield* script.release("executor.job 1")
      yield* Fiber.join(first)
      assert.strictEqual(began.length, 1)
    }))

  it.effect("goes back without the deadline that whoever made the executor had", () =>
    Effect.gen(function* () {
      const { executor } = yield* Deadline.within("1 second")(made())
      yield* TestClock.adjust("5 seconds")
      const seen: Array<unknown> = []
      const look = Effect.sync(() => Fiber.getCurrent()?.getRef(Deadline.Current))
      const charge = Effect.acquireRelease(Effect.void, () => Effect.map(look, (deadline) => void seen.push(deadline)))
      yield* executor.run({ ...job("same"), charge })
      assert.deepStrictEqual(seen, [undefined])
    }))

  it.effect("that dies in going back is logged, and the job's result is the job's", () =>
    Effect.gen(function* () {
      const { executor } = yield* made()
      const logged: Array<unknown> = []
      const log = Logger.make(({ message }) => void logged.push(message))
      const broken = Effect.acquireRelease(Effect.void, () => Effect.die("broken"))
      const run = executor.run({ ...job("same", 7), charge: broken })
      // What is given back late is the executor's to log, and what was refused is the caller's.
      assert.strictEqual(yield* run, 7)
      assert.strictEqual((yield* Books.settled(executor)).completed, 1)
      const failed = Effect.andThen(broken, Effect.fail("no money"))
      const refused = Effect.flip(executor.run({ ...job("same", 7), charge: failed }))
      assert.strictEqual(yield* Effect.provide(refused, Logger.layer([log])), "no money")
      assert.include(JSON.stringify(logged), "the charge of a job was not given back")
    }))
})

describe("a thread", () => {
  it.effect("that crashes takes its job with it, and another does the next", () =>
    Effect.gen(function* () {
      const { executor, script } = yield* made()
      const { effect, held } = charge()
      script.plan("executor.job 1", Script.die(new TypeError("bad pointer")))
      const lost = yield* Effect.flip(executor.run({ ...job("same", 1), charge: effect }))
      assert.deepInclude(lost, { _tag: "WorkerLost", reason: "crashed", exitCode: 1, job: "same" })
      assert.strictEqual((lost as Error).message, "the thread of same crashed with code 1: TypeError: bad pointer")
      assert.strictEqual(held(), 0)
      assert.strictEqual(open(script, "thread"), 0)
      assert.strictEqual(yield* executor.run(job("same", 2)), 2)
      const s = yield* Books.settled(executor)
      assert.deepStrictEqual([s.spawned, s.idle, s.lost, s.completed], [2, 1, 1, 1])
    }))

  it.effect("that crashes while others wait is replaced for them", () =>
    Effect.gen(function* () {
      const { executor, script } = yield* made()
      script.plan("executor.job 1", Script.hold)
      const first = yield* fork(Effect.flip(executor.run(job("same", 1))))
      const second = yield* fork(executor.run(job("same", 2)))
      yield* script.end("executor.job 1", Exit.die("gone"))
      assert.deepInclude(yield* Fiber.join(first), { _tag: "WorkerLost" })
      assert.strictEqual(yield* Fiber.join(second), 2)
      yield* Books.settled(executor)
    }))

  it.effect("that throws lives on, and what was thrown is data", () =>
    Effect.gen(function* () {
      const { executor } = yield* made()
      const failed = yield* Effect.flip(executor.run(job("throws")))
      assert.deepInclude(failed, { _tag: "JobFailed", job: "throws" })
      assert.strictEqual((failed as Error).message, "throws failed: RangeError: no")
      assert.strictEqual(yield* executor.run(job("same", 2)), 2)
      const s = yield* Books.settled(executor)
      assert.deepStrictEqual([s.spawned, s.failed, s.completed], [1, 1, 1])
    }))

  it.effect("that is terminated is waited for, and its job has failed as lost; a second order to end it waits too", () =>
    Effect.gen(function* () {
      const { executor, script } = yield* made()
      const { effect, held } = charge()
      script.plan("executor.job", Script.hold)
      script.plan("thread.close 1", Script.hold)
      const { join, number } = yield* executor.start({ ...job("same", 1), charge: effect })
      const ending = yield* fork(executor.terminate(number))
      const again = yield* fork(executor.terminate(number))
      const s = yield* executor.snapshot
      assert.deepStrictEqual([s.ending, s.busy, held()], [1, 0, 1])
      assert.deepStrictEqual((yield* executor.jobs).map(({ state }) => state), ["terminated"])
      yield* script.release("thread.close 1")
      assert.deepStrictEqual([yield* Fiber.join(ending), yield* Fiber.join(again)], ["ended", "ended"])
      assert.deepInclude(yield* Effect.flip(join), { _tag: "WorkerLost", reason: "terminated" })
      assert.strictEqual(held(), 0)
      assert.deepInclude(yield* Effect.flip(executor.terminate(number)), { _tag: "NoSuchJob", number })
      yield* Books.settled(executor)
    }))

  it.effect("is not said to be ended for a job that had ended by itself and gives its charge back", () =>
    Effect.gen(function* () {
      const { executor } = yield* made()
      const gate = yield* Deferred.make<void>()
      const slow = Effect.acquireRelease(Effect.void, () => Deferred.await(gate))
      const { join, number } = yield* executor.start({ ...job("same", 1), charge: slow })
      yield* settle
      assert.deepStrictEqual((yield* executor.jobs).map(({ state }) => state), ["ended"])
      for (const verb of ["cancel", "terminate"] as const) {
        const ended: Effect.Effect<unknown, unknown> = executor[verb](number)
        assert.deepInclude(yield* Effect.flip(ended), { _tag: "NoSuchJob", number })
      }
      yield* Deferred.succeed(gate, undefined)
      assert.strictEqual(yield* join, 1)
      assert.strictEqual((yield* Books.settled(executor)).completed, 1)
    }))

  it.effect("keeps the process alive until it is idle, and is told that once for jobs that follow each other", () =>
    Effect.gen(function* () {
      const { heard, holds, orders, threads } = byHand()
      const executor = yield* BlockingExecutor.make({ threads: 1 }, threads)
      const answer = (n: number) => heard[0]!.answered({ number: orders[n]!.number, kind: "value", value: n })
      const fibers = yield* Effect.forEach([0, 1, 2], (n) => fork(executor.run(job("same", n))))
      answer(0)
      answer(1)
      assert.deepStrictEqual(holds, [true])
      answer(2)
      assert.deepStrictEqual(holds, [true, false])
      assert.deepStrictEqual(yield* Effect.forEach(fibers, Fiber.join), [0, 1, 2])
    }))

  it.effect("has each told who waits for its job, though one of them throws", () =>
    Effect.gen(function* () {
      const { executor, script } = yield* made()
      script.plan("executor.job", Script.hold)
      const { join } = yield* executor.start(job("same", 1))
      const hostile = yield* fork(join)
      hostile.addObserver(() => {
        throw new Error("an observer")
      })
      const other = yield* fork(join)
      yield* script.release("executor.job")
      yield* settle
      assert.strictEqual(yield* Fiber.join(other), 1)
      assert.strictEqual((yield* Books.settled(executor)).completed, 1)
    }))

  it.effect("that cannot be joined is abandoned: counted for ever, charged for ever, and told of", () =>
    Effect.gen(function* () {
      const { executor, script } = yield* made({ threads: 2 }, false)
      const { effect, held } = charge()
      script.plan("executor.job 1", Script.hold)
      const caller = yield* fork(Effect.exit(executor.run({ ...job("same", 1), charge: effect })))
      assert.strictEqual(yield* executor.terminate(1), "abandoned")
      assert.strictEqual(yield* executor.terminate(1), "abandoned")
      const exit = yield* Fiber.join(caller)
      assert.include(String(exit), "JobAbandoned")
      // It ends after all; what it says is not heard.
      yield* script.release("executor.job 1")
      yield* settle
      const s = yield* executor.snapshot
      assert.deepStrictEqual([s.abandoned, s.busy, s.idle, s.lost, s.state, held()], [1, 0, 0, 1, "open", 1])
      assert.deepStrictEqual((yield* executor.jobs).map(({ state }) => state), ["abandoned"])
      assert.strictEqual(yield* executor.run(job("same", 2)), 2)
      const drained = yield* Effect.flatMap(Deadline.after("1 minute"), executor.drain)
      assert.deepInclude(drained, { clean: false, threads: 1, refused: 0 })
      assert.deepStrictEqual(drained.running.map(({ number, state }) => [number, state]), [[1, "abandoned"]])
    }))

  it.effect("is the last one that is abandoned: nobody waits for what can never be", () =>
    Effect.gen(function* () {
      const { executor, script } = yield* made({}, false)
      script.plan("executor.job 1", Script.hold)
      const { cancel, number } = yield* executor.start(job("same", 1))
      const waiting = yield* fork(Effect.flip(executor.run(job("same", 2))))
      yield* executor.terminate(number)
      yield* cancel
      assert.deepInclude(yield* Fiber.join(waiting), { _tag: "Closed" })
      assert.deepInclude(yield* Effect.flip(executor.run(job("same", 3))), { _tag: "Closed" })
      assert.strictEqual((yield* executor.snapshot).state, "closed")
    }))
})

describe("a drain", () => {
  it.effect("refuses who waits, joins who runs, ends the threads, and says so", () =>
    Effect.gen(function* () {
      const { executor, script } = yield* made({ threads: 2 })
      assert.strictEqual(yield* executor.run(job("same", 0)), 0)
      script.plan("executor.job", Script.hold)
      const running = yield* Effect.forEach([1, 2], (n) => fork(executor.run(job("same", n))))
      const waiting = yield* fork(Effect.flip(executor.run(job("same", 3))))
      const deadline = yield* Deadline.after("1 minute")
      const draining = yield* fork(executor.drain(deadline))
      assert.deepInclude(yield* Fiber.join(waiting), { _tag: "Closed" })
      assert.deepInclude(yield* Effect.flip(executor.run(job("same", 4))), { _tag: "Closed" })
      assert.deepStrictEqual((yield* executor.jobs).map(({ state }) => state), ["running", "running"])
      yield* TestClock.adjust("10 seconds")
      yield* script.release("executor.job 2")
      yield* script.release("executor.job 3")
      const { clean, refused, running: left, threads, waited } = yield* Fiber.join(draining)
      assert.deepStrictEqual([clean, refused, left, threads, Duration.toSeconds(waited)], [true, 1, [], 0, 10])
      assert.deepStrictEqual(yield* Effect.forEach(running, Fiber.join), [1, 2])
      assert.strictEqual(open(script, "thread"), 0)
      const again = yield* executor.drain(deadline)
      assert.deepInclude(again, { clean: true, refused: 0 })
      yield* Books.settled(executor)
    }))

  it.effect("by what is no deadline is refused with it, and nothing is drained", () =>
    Effect.gen(function* () {
      const { executor } = yield* made()
      const { clock } = yield* Deadline.after(0)
      const wrong: ReadonlyArray<readonly [unknown, unknown]> = [
        [undefined, undefined],
        [null, null],
        ["5 seconds", "5 seconds"],
        [{ atNanos: NaN, clock }, NaN],
        [{ atNanos: "1", clock }, "<object>"],
        [{ atNanos: 1 }, 1],
      ]
      for (const [given, value] of wrong) {
        const refused = yield* Effect.flip(executor.drain(given as Deadline.Deadline))
        assert.deepInclude(refused, { _tag: "InvalidRequest", field: "deadline", value })
      }
      assert.strictEqual((yield* executor.snapshot).state, "open")
      assert.strictEqual(yield* executor.run(job("same", 1)), 1)
      assert.isTrue((yield* Effect.flatMap(Deadline.after("1 minute"), executor.drain)).clean)
    }))

  it.effect("ends at its deadline with what still runs; that goes on, and its thread ends after it", () =>
    Effect.gen(function* () {
      const { executor, script } = yield* made()
      script.plan("executor.job", Script.hold)
      const { join } = yield* executor.start(job("same", 1))
      yield* TestClock.adjust("5 seconds")
      const draining = yield* fork(Effect.flatMap(Deadline.after("1 second"), executor.drain))
      yield* TestClock.adjust("1 second")
      const { clean, running, threads } = yield* Fiber.join(draining)
      assert.deepStrictEqual([clean, threads], [false, 1])
      const [{ age, ...left } = { age: undefined }] = running
      assert.deepStrictEqual(left, { number: 1, module: "test:jobs", name: "same", state: "running" })
      assert.strictEqual(String(age), String(Deadline.nanos(6e9)))
      yield* script.release("executor.job")
      assert.strictEqual(yield* join, 1)
      yield* settle
      assert.strictEqual(open(script, "thread"), 0)
      yield* Books.settled(executor)
    }))

  it.effect("does not pass for clean while a charge is not back", () =>
    Effect.gen(function* () {
      const { executor } = yield* made()
      const gate = yield* Deferred.make<void>()
      const slow = Effect.acquireRelease(Effect.void, () => Deferred.await(gate))
      const caller = yield* fork(executor.run({ ...job("same", 1), charge: slow }))
      const draining = yield* fork(Effect.flatMap(Deadline.after("1 minute"), executor.drain))
      assert.isUndefined(draining.pollUnsafe())
      yield* Deferred.succeed(gate, undefined)
      assert.isTrue((yield* Fiber.join(draining)).clean)
      yield* Fiber.join(caller)
    }))

  it.effect("of the scope's end cancels first, and warns of what it leaves", () =>
    Effect.gen(function* () {
      const logged: Array<unknown> = []
      const log = Logger.make(({ message }) => void logged.push(message))
      const scope = yield* Scope.make()
      const { executor, script } = yield* Scope.provide(made({ threads: 2, closeWithin: "2 seconds" }), scope)
      script.plan("executor.job", Script.hold)
      const [heeds] = yield* Effect.forEach(["looked", "same"], (name) => executor.start(job(name)))
      const closing = yield* fork(Effect.provide(Scope.close(scope, Exit.void), Logger.layer([log])))
      yield* script.release("executor.job 1")
      assert.isTrue(yield* heeds!.join)
      assert.isUndefined(closing.pollUnsafe())
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(closing)
      assert.deepStrictEqual(logged.flat(), [
        "an executor closed with 1 threads left; jobs that run: same (2, cancelled)",
      ])
      yield* script.release("executor.job 2")
      yield* settle
      assert.deepStrictEqual(script.left, [])
      assert.deepInclude(yield* Effect.flip(executor.run(job("same"))), { _tag: "Closed" })
    }))
})

/** Threads whose every word is the test's. */
const byHand = ({ joins = true, leaves = true, terminates = true } = {}) => {
  const orders: Array<Order> = []
  /** The thread that each of them was sent to. */
  const sent: Array<number> = []
  const heard: Array<Hear> = []
  const flags: Array<Int32Array> = []
  const holds: Array<boolean> = []
  /** Said to a thread that was gone. */
  const late: Array<boolean> = []
  let broken: "spawn" | "send" | undefined
  const error = { name: "DataCloneError", message: "a function", code: 25, cause: undefined }
  const threads: WorkerThreads = {
    joins,
    spawn: (flag, hear) => {
      if (broken === "spawn") return error
      flags.push(flag)
      const thread = heard.push(hear) - 1
      let over = false
      const ends = (code: number): void => {
        over = true
        hear.gone({ code, error: undefined })
      }
      return {
        send: (order) => {
          if (broken === "send") return error
          orders.push(order)
          sent.push(thread)
          return undefined
        },
        hold: (held) => void (over ? late.push(held) : holds.push(held)),
        leave: () => leaves ? ends(0) : undefined,
        terminate: () => joins && terminates ? ends(1) : undefined,
      }
    },
  }
  return {
    threads,
    orders,
    sent,
    heard,
    flags,
    holds,
    late,
    breaks: (what: typeof broken) => void (broken = what),
    error,
  }
}

describe("an executor made by hand", () => {
  it.effect("keeps the process alive for a thread that is to leave only while somebody waits for that", () =>
    Effect.gen(function* () {
      const { heard, holds, orders, threads } = byHand({ leaves: false })
      const executor = yield* BlockingExecutor.make({ threads: 1 }, threads)
      const caller = yield* fork(executor.run(job("same")))
      heard[0]!.answered({ number: orders[0]!.number, kind: "value", value: 1 })
      assert.strictEqual(yield* Fiber.join(caller), 1)
      const draining = yield* fork(Effect.flatMap(Deadline.after("1 minute"), executor.drain))
      assert.deepStrictEqual(holds, [true, false, true])
      assert.strictEqual((yield* executor.snapshot).leaving, 1)
      yield* TestClock.adjust("1 minute")
      assert.deepInclude(yield* Fiber.join(draining), { clean: false, running: [], threads: 1 })
      assert.deepStrictEqual(holds, [true, false, true, false])
      heard[0]!.gone({ code: 0, error: undefined })
      const again = yield* Effect.flatMap(Deadline.after("1 minute"), executor.drain)
      assert.deepInclude(again, { clean: true, threads: 0 })
    }))

  it.effect("keeps the process alive for none that is to leave behind its job once nobody waits for that any more", () =>
    Effect.gen(function* () {
      const { heard, holds, orders, threads } = byHand({ leaves: false })
      const executor = yield* BlockingExecutor.make({ threads: 1 }, threads)
      const { join } = yield* executor.start(job("same"))
      yield* Fiber.interrupt(yield* fork(Effect.flatMap(Deadline.after("1 minute"), executor.drain)))
      heard[0]!.answered({ number: orders[0]!.number, kind: "value", value: 1 })
      assert.strictEqual(yield* join, 1)
      const left = [[...holds], (yield* executor.snapshot).leaving]
      heard[0]!.gone({ code: 0, error: undefined })
      assert.deepStrictEqual(left, [[true, false], 1])
    }))

  it.effect("lets the process end beside a thread that was abandoned, and a drain too", () =>
    Effect.gen(function* () {
      const { holds, threads } = byHand({ joins: false })
      const executor = yield* BlockingExecutor.make({ threads: 2 }, threads)
      const { number } = yield* executor.start(job("same"))
      const draining = yield* fork(Effect.flatMap(Deadline.after("1 minute"), executor.drain))
      assert.strictEqual(yield* executor.terminate(number), "abandoned")
      assert.deepStrictEqual(holds, [true, false])
      const { clean, waited } = yield* Fiber.join(draining)
      assert.deepStrictEqual([clean, Duration.toSeconds(waited)], [false, 0])
    }))

  it.effect("tells how long a job has run, and since when it takes none", () =>
    Effect.gen(function* () {
      const { heard, threads } = byHand()
      const executor = yield* BlockingExecutor.make({ threads: 1 }, threads)
      yield* TestClock.adjust("7 seconds")
      const { number } = yield* executor.start(job("same"))
      yield* TestClock.adjust("3 seconds")
      assert.deepStrictEqual((yield* executor.jobs).map(({ age }) => Duration.toSeconds(age)), [3])
      assert.deepStrictEqual(yield* executor.cancel(number), undefined)
      assert.deepStrictEqual((yield* executor.jobs).map(({ state }) => state), ["cancelled"])
      for (const _ of [1, 2]) {
        const draining = yield* fork(Effect.flatMap(Deadline.after("4 seconds"), executor.drain))
        yield* TestClock.adjust("5 seconds")
        assert.deepStrictEqual(Duration.toSeconds((yield* Fiber.join(draining)).waited), 4)
      }
      const closed = yield* Effect.flip(executor.run(job("same")))
      assert.deepStrictEqual([closed._tag, "since" in closed ? Duration.toSeconds(closed.since) : NaN], ["Closed", 10])
      heard[0]!.gone({ code: 0, error: undefined })
    }))

  it.effect("says since when it takes none to whoever it is called by as it dismisses a thread", () =>
    Effect.gen(function* () {
      const { heard, orders, threads } = byHand()
      const told: Array<unknown> = []
      const leaving: WorkerThreads = {
        ...threads,
        spawn: (flag, hear) => {
          const thread = threads.spawn(flag, hear)
          if (!("send" in thread)) return thread
          const leave = (): void => {
            Effect.runFork(Effect.provideService(Effect.flip(executor.run(job("same"))), Clock.Clock, clock))
              .addObserver(
                (exit) => void told.push(exit),
              )
            thread.leave()
          }
          return { ...thread, leave }
        },
      }
      const clock = new HandClock()
      const scope = yield* Scope.make()
      const on = Effect.provideService(Clock.Clock, clock)
      const executor: BlockingExecutor.BlockingExecutor = yield* on(
        Scope.provide(BlockingExecutor.make({ threads: 1 }, leaving), scope),
      )
      const first = yield* fork(on(executor.run(job("same"))))
      heard[0]!.answered({ number: orders[0]!.number, kind: "value", value: 1 })
      yield* Fiber.join(first)
      yield* on(executor.drain({ atNanos: -Infinity, clock }))
      assert.deepInclude(told.map((exit) => (exit as Exit.Success<object>).value)[0], {
        _tag: "Closed",
        state: "closed",
        since: Deadline.nanos(0),
      })
      yield* on(Scope.close(scope, Exit.void))
    }))

  it.effect("waits at its close for as long as closeWithin says, and warns only of what it leaves", () =>
    Effect.gen(function* () {
      const warnings: Array<unknown> = []
      const logger = Logger.make(({ message }) => void warnings.push(message))
      const closeOf = (answers: boolean) =>
        Effect.gen(function* () {
          const { heard, orders, threads } = byHand()
          const scope = yield* Scope.make()
          const executor = yield* Scope.provide(
            BlockingExecutor.make({ threads: 1, closeWithin: "3 seconds" }, threads),
            scope,
          )
          yield* executor.start(job("same"))
          if (answers) heard[0]!.answered({ number: orders[0]!.number, kind: "value", value: 1 })
          const closing = yield* fork(Scope.close(scope, Exit.void))
          yield* TestClock.adjust("2 seconds")
          const isEarly = closing.pollUnsafe() !== undefined
          yield* TestClock.adjust("1 second")
          yield* Fiber.join(closing)
          return [isEarly, warnings.splice(0).length]
        }).pipe(Effect.provide(Logger.layer([logger])))
      assert.deepStrictEqual([yield* closeOf(false), yield* closeOf(true)], [[false, 1], [true, 0]])
    }))

  it.effect("is left by a start that is interrupted in the line", () =>
    Effect.gen(function* () {
      const said: Array<unknown> = []
      const logger = Logger.make(({ message }) => void said.push(message))
      const { heard, threads } = byHand()
      const executor = yield* BlockingExecutor.make({ threads: 1 }, threads)
      yield* executor.start(job("same"))
      const second = yield* fork(Effect.provide(executor.start(job("same")), Logger.layer([logger])))
      assert.strictEqual((yield* executor.snapshot).waiting, 1)
      yield* Fiber.interrupt(second)
      assert.strictEqual((yield* executor.snapshot).waiting, 0)
      heard[0]!.gone({ code: 0, error: undefined })
      assert.deepStrictEqual(said, [])
    }))

  it.effect("is there as a layer", () =>
    Effect.gen(function* () {
      const executor = yield* BlockingExecutor.BlockingExecutor
      assert.strictEqual((yield* executor.snapshot).threads, 3)
    }).pipe(Effect.provide(BlockingExecutor.layer({ threads: 3 }, byHand().threads))))

  it.effect("says what could not be sent or found, and its thread is of use afterwards", () =>
    Effect.gen(function* () {
      const { breaks, error, heard, holds, orders, threads } = byHand()
      const executor = yield* BlockingExecutor.make({ threads: 1 }, threads)
      breaks("spawn")
      const unstarted = yield* Effect.flip(executor.run(job("same")))
      assert.deepInclude(unstarted, { _tag: "WorkerLost", reason: "not-started", error, unheard: true })
      breaks("send")
      const unsent = yield* Effect.flip(executor.run(job("same")))
      assert.deepInclude(unsent, { _tag: "JobUnsendable", part: "input", error })
      assert.deepStrictEqual(holds, [true, false])
      assert.deepInclude(yield* Effect.flip(executor.start(job("same"))), { _tag: "JobUnsendable", part: "input" })
      breaks(undefined)
      for (
        const [kind, fact] of [
          ["threw", { _tag: "JobFailed" }],
          ["module", { _tag: "JobNotFound", missing: "module" }],
          ["export", { _tag: "JobNotFound", missing: "export" }],
          ["result", { _tag: "JobUnsendable", part: "result" }],
          ["input", { _tag: "JobUnsendable", part: "input" }],
        ] as const
      ) {
        const caller = yield* fork(Effect.flip(executor.run(job("same"))))
        heard[0]!.answered({ number: orders.at(-1)!.number, kind, error })
        const fault = yield* Fiber.join(caller)
        assert.deepInclude(fault, { ...fact, job: "same", error })
        assert.include((fault as Error).message, "DataCloneError: a function")
      }
      const s = yield* Books.settled(executor)
      assert.deepStrictEqual([s.spawned, s.begun, s.failed, s.idle], [1, 5, 5, 1])
      // Held while it works alone.
      assert.deepStrictEqual(holds.length % 2, 0)
      assert.isTrue(holds.every((held, i) => held === (i % 2 === 0)))
    }))

  it.effect("hears no answer twice, none of an earlier order, and none of a thread that is gone", () =>
    Effect.gen(function* () {
      const { heard, orders, threads } = byHand()
      const executor = yield* BlockingExecutor.make({ threads: 1 }, threads)
      const first = yield* fork(executor.run(job("same")))
      const [hear] = heard
      const answer = (number: number, value: string) => hear!.answered({ number, kind: "value", value })
      answer(orders[0]!.number + 1, "forged")
      assert.isUndefined(first.pollUnsafe())
      answer(orders[0]!.number, "first")
      answer(orders[0]!.number, "again")
      assert.strictEqual(yield* Fiber.join(first), "first")
      const second = yield* fork(executor.run(job("same")))
      answer(orders[0]!.number, "late")
      assert.isUndefined(second.pollUnsafe())
      hear!.gone({ code: 9, error: undefined })
      hear!.gone({ code: 8, error: undefined })
      answer(orders[1]!.number, "from beyond")
      const lost = yield* Effect.flip(Fiber.join(second))
      assert.deepInclude(lost, { _tag: "WorkerLost", reason: "exited", exitCode: 9 })
      // One that ends while it is idle is no loss but its own.
      const third = yield* fork(executor.run(job("same")))
      heard[1]!.answered({ number: orders[2]!.number, kind: "value", value: "third" })
      heard[1]!.gone({ code: 0, error: undefined })
      assert.strictEqual(yield* Fiber.join(third), "third")
      const s = yield* Books.settled(executor)
      assert.deepStrictEqual([s.spawned, s.idle, s.lost, s.completed], [2, 0, 1, 2])
    }))
})

describe("a thread that is gone", () => {
  it.effect("has its last answer heard with its end, and the next job has another", () =>
    Effect.gen(function* () {
      const { error, heard, orders, threads } = byHand()
      const executor = yield* BlockingExecutor.make({ threads: 1 }, threads)
      const first = yield* fork(Effect.flip(executor.run(job("same"))))
      const second = yield* fork(executor.run(job("same")))
      const last = { number: orders[0]!.number, kind: "input", error } as const
      heard[0]!.gone({ code: 0, error: undefined, last })
      assert.deepInclude(yield* Fiber.join(first), { _tag: "JobUnsendable", part: "input" })
      // One of an earlier order is no answer to this.
      heard[1]!.gone({ code: 0, error: undefined, last: { ...last, number: orders[1]!.number + 1 } })
      assert.deepInclude(yield* Effect.flip(Fiber.join(second)), { _tag: "WorkerLost", reason: "exited" })
      const s = yield* Books.settled(executor)
      assert.deepStrictEqual([s.failed, s.lost, s.spawned], [1, 1, 2])
    }))

  it.effect("before a job has reached it, has that job done by another, and its cancellation with it", () =>
    Effect.gen(function* () {
      const { flags, heard, orders, threads } = byHand()
      const executor = yield* BlockingExecutor.make({ threads: 1 }, threads)
      const answer = (thread: number, value: unknown) =>
        heard[thread]!.answered({ number: orders.at(-1)!.number, kind: "value", value })
      const gone = { code: 0, error: undefined, unheard: true }
      // A new one would only die again.
      const unlucky = yield* fork(Effect.flip(executor.run(job("same"))))
      heard[0]!.gone(gone)
      assert.deepInclude(yield* Fiber.join(unlucky), { _tag: "WorkerLost" })
      const first = yield* fork(executor.run(job("same", 1)))
      answer(1, "first")
      assert.strictEqual(yield* Fiber.join(first), "first")
      const second = yield* executor.start(job("same", 2))
      yield* second.cancel
      heard[1]!.gone(gone)
      assert.deepStrictEqual(orders.map(({ input }) => input), [undefined, 1, 2, 2])
      assert.strictEqual(Atomics.load(flags[2]!, 0), orders[3]!.number)
      assert.deepStrictEqual((yield* executor.jobs).map(({ number, state }) => [number, state]), [[
        second.number,
        "cancelled",
      ]])
      answer(2, "second")
      assert.strictEqual(yield* second.join, "second")
      // What was handed over is gone.
      const third = yield* fork(Effect.flip(executor.run(job("same", 3, { transfer: [new ArrayBuffer(1)] }))))
      heard[2]!.gone(gone)
      assert.deepInclude(yield* Fiber.join(third), { _tag: "WorkerLost", unheard: true })
      const s = yield* Books.settled(executor)
      assert.deepStrictEqual([s.begun, s.completed, s.lost, s.spawned], [4, 2, 2, 3])
    }))

  it.effect("before a job has reached it, is not replaced for what the caller may have changed since", () =>
    Effect.gen(function* () {
      const { heard, orders, threads } = byHand()
      const executor = yield* BlockingExecutor.make({ threads: 1 }, threads)
      const first = yield* fork(executor.run(job("same", 1)))
      heard[0]!.answered({ number: orders[0]!.number, kind: "value", value: 1 })
      yield* Fiber.join(first)
      const input = { text: "as it was sent" }
      const { join } = yield* executor.start(job("same", input))
      input.text = "changed"
      heard[0]!.gone({ code: 1, error: undefined, unheard: true })
      // Another one would be sent it as it is now.
      heard[1]?.answered({ number: orders.at(-1)!.number, kind: "value", value: input })
      assert.deepInclude(yield* Effect.flip(join), { _tag: "WorkerLost", reason: "exited", unheard: true })
      const heardOf = yield* fork(Effect.flip(executor.run(job("same", 2))))
      heard[1]!.gone({ code: 1, error: undefined })
      assert.deepInclude(yield* Fiber.join(heardOf), { _tag: "WorkerLost", unheard: false })
      yield* Books.settled(executor)
    }))

  it.effect("though its job has not begun, since what it is sent ends it and then cannot be sent, keeps nobody", () =>
    Effect.gen(function* () {
      const { error, heard, threads } = byHand({ terminates: false })
      let ends = (): void => {}
      const spawn: WorkerThreads["spawn"] = (flag, hear) => {
        const thread = threads.spawn(flag, hear)
        return "send" in thread ? { ...thread, send: () => (ends(), error) } : thread
      }
      const executor = yield* BlockingExecutor.make({ threads: 1 }, { ...threads, spawn })
      let ending: Fiber.Fiber<unknown, unknown> | undefined
      ends = () => void (ending = Effect.runFork(executor.terminate(1)))
      assert.deepInclude(yield* Effect.flip(executor.run(job("same"))), { _tag: "JobUnsendable", part: "input" })
      const told = ending?.pollUnsafe()
      assert.strictEqual((yield* executor.snapshot).ending, 1)
      heard[0]!.gone({ code: 1, error: undefined })
      assert.deepStrictEqual(told, Exit.succeed("ended"))
      const s = yield* Books.settled(executor)
      assert.deepStrictEqual([s.begun, s.idle, s.busy], [0, 0, 0])
    }))

  it.effect("before a job has reached it, has that job done by one that is idle, but not one that was terminated", () =>
    Effect.gen(function* () {
      const { heard, orders, sent, threads } = byHand({ terminates: false })
      const executor = yield* BlockingExecutor.make({ threads: 2 }, threads)
      const answer = (thread: number) =>
        heard[thread]!.answered({ number: orders.at(-1)!.number, kind: "value", value: thread })
      const gone = { code: 0, error: undefined, unheard: true }
      const both = yield* Effect.forEach([1, 2], (n) => fork(executor.run(job("same", n))))
      for (const thread of [0, 1]) heard[thread]!.answered({ number: orders[thread]!.number, kind: "value", value: 0 })
      yield* Effect.forEach(both, Fiber.join)
      const moved = yield* executor.start(job("same", 3))
      const [dead = 0] = sent.slice(2)
      heard[dead]!.gone(gone)
      assert.deepStrictEqual(sent.slice(2), [dead, 1 - dead])
      answer(1 - dead)
      assert.strictEqual(yield* moved.join, 1 - dead)
      const ended = yield* executor.start(job("same", 4))
      const ending = yield* fork(executor.terminate(ended.number))
      heard[1 - dead]!.gone(gone)
      assert.strictEqual(yield* Fiber.join(ending), "ended")
      assert.deepInclude(yield* Effect.flip(ended.join), { _tag: "WorkerLost", reason: "terminated" })
      const s = yield* Books.settled(executor)
      assert.deepStrictEqual([s.spawned, s.completed, s.lost], [2, 3, 1])
    }))

  it.effect("is never spoken to again", () =>
    Effect.gen(function* () {
      const { heard, late, orders, threads } = byHand()
      const executor = yield* BlockingExecutor.make({ threads: 2 }, threads)
      const both = yield* Effect.forEach([1, 2], (n) => fork(executor.run(job("same", n))))
      heard[0]!.answered({ number: orders[0]!.number, kind: "value", value: 1 })
      const draining = yield* fork(Effect.flatMap(Deadline.after("1 minute"), executor.drain))
      heard[1]!.answered({ number: orders[1]!.number, kind: "value", value: 2 })
      assert.isTrue((yield* Fiber.join(draining)).clean)
      assert.deepStrictEqual([yield* Effect.forEach(both, Fiber.join), late], [[1, 2], []])
    }))
})

describe("the door", () => {
  it.effect("refuses options that break a rule, with the rule and the value", () =>
    Effect.gen(function* () {
      const wrong: ReadonlyArray<readonly [unknown, string]> = [
        [null, "options"],
        [{ threads: 0 }, "threads"],
        [{ threads: 1.5 }, "threads"],
        [{ threads: 1_025 }, "threads"],
        [{ threads: 1, maxQueued: -1 }, "maxQueued"],
        [{ threads: 1, maxWait: 0 }, "maxWait"],
        [{ threads: 1, maxWait: "2 hours" }, "maxWait"],
        [{ threads: 1, closeWithin: null }, "closeWithin"],
        [{ threads: 1, maxThreads: 2 }, "maxThreads"],
      ]
      const script = yield* Script.make
      for (const [options, limit] of wrong) {
        const make = ScriptedPorts.blockingExecutor(script, jobs, options as BlockingExecutor.Options)
        assert.deepInclude(yield* Effect.flip(make), { _tag: "InvalidLimits", system: "BlockingExecutor", limit })
      }
      const slip = ScriptedPorts.blockingExecutor(
        script,
        jobs,
        { threads: 1, maxThreads: 2 } as BlockingExecutor.Options,
      )
      assert.strictEqual(
        (yield* Effect.flip(slip)).message,
        "BlockingExecutor: maxThreads must be one of the options threads, maxQueued, maxWait, closeWithin, got 2",
      )
      assert.deepStrictEqual(script.left, [])
    }))

  it.effect("refuses a job that breaks a rule, before anything is charged", () =>
    Effect.gen(function* () {
      const { executor, script } = yield* made()
      const { effect, held } = charge()
      const good = { module: "file:///jobs.js", name: "same", charge: effect }
      const wrong: ReadonlyArray<readonly [unknown, string]> = [
        [undefined, "job"],
        [{ ...good, module: "./jobs.js" }, "module"],
        [{ ...good, module: "jobs" }, "module"],
        [{ ...good, module: "C:\\jobs.js" }, "module"],
        [{ ...good, module: { href: 1 } }, "module"],
        [{ ...good, module: `data:,${"x".repeat(65_536)}` }, "module"],
        [{ ...good, name: "" }, "name"],
        [{ ...good, name: "a\nb" }, "name"],
        [{ ...good, transfer: [1] }, "transfer"],
        [{ ...good, transfer: [new ArrayBuffer(1), 1] }, "transfer"],
        [{ ...good, transfer: "x" }, "transfer"],
        [{ ...good, charge: () => 1 }, "charge"],
        [{ ...good, priority: 1 }, "priority"],
      ]
      for (const verb of ["run", "start"] as const) {
        for (const [given, field] of wrong) {
          const refused: Effect.Effect<unknown, unknown> = executor[verb](given as Job<unknown>)
          assert.deepInclude(yield* Effect.flip(refused), { _tag: "InvalidRequest", field })
        }
      }
      const slip = yield* Effect.flip(executor.run(Object.assign({ priority: "secret" }, good)))
      assert.strictEqual(slip.message, "priority must be one of the fields module, name, input, transfer, charge")
      assert.deepStrictEqual([held(), script.left], [0, []])
      for (const verb of ["cancel", "terminate"] as const) {
        assert.deepInclude(yield* Effect.flip(executor[verb](1)), { _tag: "NoSuchJob", number: 1 })
      }
      assert.strictEqual(yield* executor.run({ ...good, module: new URL("file:///jobs.js"), input: 3 }), 3)
    }))

  it.effect("refuses empty names of the very first job too", () =>
    Effect.gen(function* () {
      const { executor } = yield* made()
      const refused = executor.run({ module: "", name: "" })
      assert.deepInclude(yield* Effect.flip(refused), { _tag: "InvalidRequest", field: "module" })
    }))

  it.effect("shows nothing of a module's URL that may be secret, wherever it is told of", () =>
    Effect.gen(function* () {
      const { error, heard, orders, threads } = byHand()
      const executor = yield* BlockingExecutor.make({ threads: 1 }, threads)
      const modules = [
        ["https://me:hunter2@host/a.js?token=hunter2#hunter2", "https://host/a.js"],
        ["https:\\\\me:hunter2@hunter2@host/a.js", "https:\\\\host/a.js"],
        ["http:/\t/me:hunter2@host/a.js", "http://host/a.js"],
        ["HTTP:me:hunter2@host/@a.js", "HTTP:host/@a.js"],
        ["file:///a@b.js?hunter2", "file:///a@b.js"],
        ["data:text/javascript;hunter2,hunter2/is?bad", "data:text/javascript"],
        ["data:,hunter2", "data:"],
        ["npm:@scope/name@1", "npm:@scope/name@1"],
        [`file:///${"x".repeat(248)}`, `file:///${"x".repeat(248)}`],
        [`file:///${"x".repeat(249)}`, `file:///${"x".repeat(248)}…`],
      ] as const
      for (const [module, shown] of modules) {
        const { join, number } = yield* executor.start({ module, name: "same" })
        assert.deepStrictEqual((yield* executor.jobs).map(({ module }) => module), [shown])
        const message = `cannot import ${module}`
        const unfound = { ...error, message: "import", cause: { ...error, message } }
        heard[0]!.answered({ number: orders.at(-1)!.number, kind: "module", error: unfound })
        const failed = yield* Effect.flip(join)
        assert.deepInclude(failed, { _tag: "JobNotFound", missing: "module" })
        assert.notInclude(JSON.stringify([failed, failed.message]), "hunter2")
        assert.strictEqual(number, orders.length)
      }
      // A plain one is told of in the runtime's words, but for what it imports.
      const { join } = yield* executor.start({ module: "file:///a.js", name: "same" })
      const message = `no "https://me:hunter2@host/b.js?hunter2" from '/a.js' at 3:4`
      const plain = { ...error, message, cause: { ...error, message } }
      heard[0]!.answered({ number: orders.at(-1)!.number, kind: "module", error: plain })
      const failed = yield* Effect.flip(join)
      const shown = { ...error, message: `no "https://host/b.js" from '/a.js' at 3:4` }
      assert.deepInclude(failed, { error: { ...shown, cause: shown } })
      assert.include(failed.message, shown.message)
      for (
        const module of ["//me:hunter2@host?hunter2", `https://me:hunter2@${"x".repeat(65_536)}`, " data:,hunter2"]
      ) {
        const refused = yield* Effect.flip(executor.run({ module, name: "same" }))
        assert.deepInclude(refused, { _tag: "InvalidRequest", field: "module" })
        assert.notInclude(JSON.stringify([refused, refused.message]), "hunter2")
      }
    }))

  it.effect("shows nothing of an input in an error, a list or a snapshot", () =>
    Effect.gen(function* () {
      const { executor, script } = yield* made()
      script.plan("executor.job 1", Script.hold)
      yield* executor.start(job("same", { password: "hunter2" }))
      const number = 1
      const shown = [yield* executor.jobs, yield* executor.snapshot]
      yield* executor.cancel(number)
      yield* script.end("executor.job 1", Exit.die("gone"))
      const failed = yield* Effect.flip(executor.run(job("throws", { password: "hunter2" })))
      assert.notInclude(JSON.stringify([shown, failed, (failed as Error).message]), "hunter2")
    }))
})
