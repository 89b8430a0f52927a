/**
 * What `BlockingExecutor` is on every runtime, over its real threads. A capability that is declared a gap is shown to be
 * one, so that a gap which a later version of the runtime closes does not stay in the list.
 */
import { createHistogram } from "node:perf_hooks"
import { MessageChannel, receiveMessageOnPort } from "node:worker_threads"
import { assert, describe, it } from "vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Layer from "effect/Layer"
import { BlockingExecutor, type Options } from "../../core/BlockingExecutor.ts"
import * as Deadline from "../../core/Deadline.ts"
import * as Job from "../../core/Job.ts"
import type { InvalidLimits } from "../../core/Refusal.ts"
import { Chance } from "../model/Chance.ts"
import * as Books from "../support/ExecutorBooks.ts"
import type * as Jobs from "./Jobs.ts"

export type Capability = "terminate is a join" | "a transfer that fails moves nothing"
export type Gaps = Readonly<Partial<Record<Capability, string>>>

export type Make = (options: Options) => Layer.Layer<BlockingExecutor, InvalidLimits>

const module = new URL("./Jobs.ts", import.meta.url)
const of = <T extends Job.Task>(name: keyof typeof Jobs) => Job.of<T>(module, name)
const same = of<(input: unknown) => unknown>("same")
const throws = of<typeof Jobs.throws>("throws")
const increment = of<typeof Jobs.increment>("increment")
const uncloneable = of<typeof Jobs.uncloneable>("uncloneable")

/** Two words that a job and its test share: whether it may go on, and whether it has begun. */
const gate = (): Int32Array => new Int32Array(new SharedArrayBuffer(8))
const letGo = (words: Int32Array): void => {
  Atomics.store(words, 0, 1)
  Atomics.notify(words, 0)
}
/** Waits without blocking this thread, which a thread may need to start. */
const begun = (words: Int32Array): Effect.Effect<void> =>
  Effect.promise(async () => {
    while (Atomics.load(words, 1) === 0) await new Promise((turn) => setTimeout(turn, 1))
  })
const within = (millis: number) => Deadline.after(millis)

/** Runs what uses an executor of its own, and fails where something of that is left. */
export type Keep = <E>(used: Effect.Effect<unknown, E>) => Effect.Effect<unknown, unknown>

export const conforms = (make: Make, { cannot, keep }: { readonly cannot: Gaps; readonly keep: Keep }): void => {
  /** One program with an executor of its own, which is quiet at the end and then gone, with all its threads and timers. */
  const test = (
    title: string,
    program: (executor: BlockingExecutor) => Effect.Effect<unknown, unknown>,
    options: Options = { threads: 2 },
  ): void =>
    it(title, () =>
      Effect.runPromise(keep(Effect.provide(
        Effect.flatMap(BlockingExecutor, (executor) => Effect.andThen(program(executor), Books.settled(executor))),
        make({ closeWithin: "1 minute", ...options }),
      ))), 60_000)

  describe("data", () => {
    test("crosses as it is cloned, both ways", (executor) =>
      Effect.gen(function* () {
        const data = { n: -0, big: 2n, map: new Map([[1, new Date(7)]]), list: [undefined, null], text: "\u{1f600}" }
        assert.deepStrictEqual(yield* executor.run(same(data)), data)
        // By themselves and not as parts, each twice: the second goes to a task that the thread knows.
        for (
          const input of [undefined, null, NaN, -0, false, 0n, "", "leave", [], [1, 2], { number: 1, kind: "value" }]
        ) {
          for (const _ of [1, 2]) assert.deepStrictEqual(yield* executor.run(same(input)), input)
        }
        assert.isUndefined(yield* executor.run({ module: module.href, name: "same" }))
        assert.strictEqual(yield* executor.run(of<typeof Jobs.later>("later")(1)), 2)
      }))

    test("of a class comes as plain data, and names of prototypes are fields like any", (executor) =>
      Effect.gen(function* () {
        const point = yield* executor.run(of<typeof Jobs.instance>("instance")(undefined as never))
        assert.strictEqual(Object.getPrototypeOf(point), Object.prototype)
        assert.deepStrictEqual(Object.entries(point), [["x", 1]])
        const polluted = yield* executor.run(of<typeof Jobs.polluted>("polluted")(undefined as never))
        assert.strictEqual(Reflect.get(polluted as object, "x"), 1)
        assert.isUndefined(Reflect.get({}, "admin"))
      }))

    test("that is large is handed over both ways, and is gone here", (executor) =>
      Effect.gen(function* () {
        const size = 64 << 20
        const buffer = new ArrayBuffer(size)
        new Uint8Array(buffer).fill(7)
        const back = yield* executor.run(increment(buffer, { transfer: [buffer] }))
        assert.deepStrictEqual([buffer.byteLength, back.byteLength], [0, size])
        const bytes = new Uint8Array(back)
        assert.deepStrictEqual([bytes[0], bytes[size >> 1], bytes[size - 1]], [8, 8, 8])
      }))

    test("that is a port is handed over both ways with what was said on it", (executor) =>
      Effect.gen(function* () {
        const { port1, port2 } = new MessageChannel()
        const back = yield* executor.run(of<typeof Jobs.ports>("ports")(port2, { transfer: [port2] }))
        assert.deepStrictEqual([port1, back].map(receiveMessageOnPort), [{ message: "here" }, { message: "there" }])
        port1.close()
        back.close()
      }))

    test(
      "that cannot cross is a typed error of its part, and the thread is of use",
      (executor) =>
        Effect.gen(function* () {
          for (const what of ["function", "symbol", "deep", "getter"]) {
            const unsent = yield* Effect.flip(executor.run(uncloneable(what)))
            assert.deepInclude(unsent, { _tag: "JobUnsendable", part: "result", job: "uncloneable" })
          }
          const badTransfer = of<typeof Jobs.badTransfer>("badTransfer")
          assert.deepInclude(yield* Effect.flip(executor.run(badTransfer(0))), {
            _tag: "JobUnsendable",
            part: "result",
          })
          const detached = new ArrayBuffer(8)
          structuredClone(detached, { transfer: [detached] })
          for (const job of [same(() => 1), same(0, { transfer: [{}] }), same(detached, { transfer: [detached] })]) {
            assert.deepInclude(yield* Effect.flip(executor.run(job)), { _tag: "JobUnsendable", part: "input" })
          }
          assert.strictEqual((yield* Books.settled(executor)).spawned, 1)
        }),
      { threads: 1 },
    )

    test(`that cannot cross ${gap("a transfer that fails moves nothing", "leaves what was to be moved")}`, (executor) =>
      Effect.gen(function* () {
        const buffer = new ArrayBuffer(8)
        yield* Effect.flip(executor.run(same([buffer, () => 1], { transfer: [buffer] })))
        assert.strictEqual(buffer.byteLength, "a transfer that fails moves nothing" in cannot ? 0 : 8)
      }))
  })

  describe("a job", () => {
    test(
      "that throws is told as data: name, message, code and causes, whatever was thrown",
      (executor) =>
        Effect.gen(function* () {
          const errorOf = (what: string) =>
            Effect.map(Effect.flip(executor.run(throws(what))), (failed) => {
              assert.deepInclude(failed, { _tag: "JobFailed", job: "throws" })
              assert.notInclude(JSON.stringify(failed), "hunter2")
              return failed._tag === "JobFailed" ? failed.error : undefined
            })
          assert.deepStrictEqual(yield* errorOf("error"), {
            name: "TypeError",
            message: "no",
            code: "E_NO",
            cause: { name: "Error", message: "disk full", code: 28, cause: undefined },
          })
          const plain = { name: "Error", code: undefined, cause: undefined }
          assert.deepStrictEqual(yield* errorOf("text"), { ...plain, message: "just text" })
          assert.deepStrictEqual(yield* errorOf("nothing"), { ...plain, message: "undefined" })
          assert.deepStrictEqual(yield* errorOf("symbol"), { ...plain, message: "Symbol(odd)" })
          assert.deepStrictEqual(yield* errorOf("hostile"), { ...plain, message: "what was thrown cannot be read" })
          assert.deepStrictEqual(yield* errorOf("guarded"), { ...plain, message: "keep me" })
          assert.strictEqual((yield* errorOf("long"))?.message.length, 4_097)
          let depth = 0
          for (let error = yield* errorOf("endless"); error !== undefined; error = error.cause) depth++
          assert.strictEqual(depth, 9)
          const rejected = yield* Effect.flip(executor.run(of<typeof Jobs.rejects>("rejects")(undefined as never)))
          assert.strictEqual(rejected.message, "rejects failed: RangeError: later")
          assert.strictEqual((yield* Books.settled(executor)).spawned, 1)
        }),
      { threads: 1 },
    )

    test(
      "that is not there is told so, and what comes after it runs in the same thread",
      (executor) =>
        Effect.gen(function* () {
          const missing = [
            ["module", { module: new URL("./NoSuchJobs.ts", import.meta.url), name: "same" }],
            ["module", { module: "data:text/javascript,throw%20new%20Error('at%20import')", name: "same" }],
            ["module", { module: "data:text/javascript,not%20a%20program", name: "same" }],
            ["export", { module, name: "noSuchJob" }],
            ["export", { module, name: "notAFunction" }],
            ["export", { module, name: "toString" }],
          ] as const
          for (const [what, job] of [...missing, ...missing]) {
            assert.deepInclude(yield* Effect.flip(executor.run(job)), { _tag: "JobNotFound", missing: what })
          }
          assert.strictEqual(yield* executor.run(same(1)), 1)
          assert.strictEqual((yield* Books.settled(executor)).spawned, 1)
        }),
      { threads: 1 },
    )

    test(
      "of a module that looks like a promise is called as any, `then` itself among them",
      (executor) =>
        Effect.gen(function* () {
          // An import of it by itself would never end.
          const text = "export const then = (n) => n + 1; export const twice = (n) => 2 * n"
          const job = (name: string) => ({ module: `data:text/javascript,${text}`, name, input: 3 })
          for (const [name, value] of [["twice", 6], ["then", 4], ["twice", 6]] as const) {
            assert.strictEqual(yield* executor.run(job(name)), value)
          }
          const thenable = new URL("./Thenable.ts", import.meta.url)
          assert.strictEqual(yield* executor.run({ module: thenable, name: "twice", input: 3 }), 6)
          const missing = yield* Effect.flip(executor.run({ module: thenable, name: "thrice" }))
          assert.deepInclude(missing, { _tag: "JobNotFound", missing: "export" })
        }),
      { threads: 1 },
    )

    test("that pauses for no time goes on, and for NaN fails", (executor) =>
      Effect.gen(function* () {
        const pauses = of<typeof Jobs.pauses>("pauses")
        for (const millis of [0, -1, -Infinity]) assert.isFalse(yield* executor.run(pauses(millis)))
        const failed = yield* Effect.flip(executor.run(pauses(NaN)))
        assert.strictEqual(failed.message, "pauses failed: RangeError: a pause takes a number of milliseconds")
        for (const millis of [2 ** 31, 2 ** 53, Number.MAX_VALUE, Infinity]) {
          const { cancel, join } = yield* executor.start(pauses(millis))
          yield* Effect.promise(() => new Promise((turn) => setTimeout(turn, 5)))
          yield* cancel
          assert.isTrue(yield* join)
        }
      }))

    test(
      "is the one that was asked for, of more than a thread is told to remember",
      (executor) =>
        Effect.gen(function* () {
          const many = Array.from({ length: 270 }, (_, n) => n)
          const job = (n: number) => ({
            module: `data:text/javascript,export const a = (b) => ${n} + b`,
            name: "a",
            input: n,
          })
          for (const n of [...many, ...many.slice(-3), ...many.slice(0, 3)]) {
            assert.strictEqual(yield* executor.run(job(n)), n + n)
          }
        }),
      { threads: 1 },
    )

    test(
      "that exits or crashes is lost with its thread, and the next has another",
      (executor) =>
        Effect.gen(function* () {
          const exits = of<typeof Jobs.exits>("exits")
          for (const code of [0, 3]) {
            const lost = yield* Effect.flip(executor.run(exits(code)))
            assert.deepInclude(lost, { _tag: "WorkerLost", reason: "exited", exitCode: code })
            assert.strictEqual(yield* executor.run(same(code)), code)
          }
          for (const [name, message] of [["crashes", "uncaught"], ["forgets", "unhandled"]] as const) {
            const lost = yield* Effect.flip(executor.run({ module, name }))
            assert.deepInclude(lost, { _tag: "WorkerLost", reason: "crashed" })
            assert.include(lost.message, `TypeError: ${message}`)
            assert.strictEqual(yield* executor.run(same(name)), name)
          }
          const s = yield* Books.settled(executor)
          assert.deepStrictEqual([s.spawned, s.lost, s.completed, s.idle], [5, 4, 4, 1])
        }),
      { threads: 1 },
    )

    test(
      "that never ends of itself ends once its caller is interrupted, if it looks; the next one is not told",
      (executor) =>
        Effect.gen(function* () {
          const words = gate()
          yield* executor.run(same(1))
          const caller = yield* Effect.forkDetach(executor.run(of<typeof Jobs.spinning>("spinning")(words)))
          yield* begun(words)
          yield* Fiber.interrupt(caller)
          const counts = new Int32Array(new SharedArrayBuffer(8))
          assert.isFalse(yield* executor.run(of<typeof Jobs.counted>("counted")({ counts, millis: 1 })))
          const s = yield* Books.settled(executor)
          assert.deepStrictEqual([s.completed, s.spawned], [3, 1])
        }),
      { threads: 1 },
    )

    test(
      "that posts on its thread's own port is not taken for the executor, and the thread leaves though `exit` is spoilt",
      (executor) =>
        Effect.gen(function* () {
          const forged = [null, undefined, "leave", 1, [], [1], [1, "forged"], [2, "forged"], {
            number: 1,
            kind: "zzz",
          }]
          const words = [...forged, { number: 0, kind: "threw" }, { number: 1, kind: "threw", error: {} }]
          const chatters = of<typeof Jobs.chatters>("chatters")
          assert.strictEqual(yield* executor.run(chatters(words)), 0)
          assert.strictEqual(yield* executor.run(same("next")), "next")
          assert.strictEqual((yield* Books.settled(executor)).spawned, 1)
          assert.isTrue((yield* Effect.flatMap(within(20_000), executor.drain)).clean)
        }),
      { threads: 1 },
    )

    test("that has its thread throw when that is to end keeps it from nothing", (executor) =>
      Effect.gen(function* () {
        yield* executor.run({ module, name: "clings" })
        assert.isTrue((yield* Effect.flatMap(within(20_000), executor.drain)).clean)
      }))

    test(
      "that listens on its thread's own port hears nothing of what the others are given",
      (executor) =>
        Effect.gen(function* () {
          yield* executor.run({ module, name: "listens" })
          for (const input of ["hunter2", undefined, { password: "hunter2" }]) {
            assert.deepStrictEqual(yield* executor.run(same(input)), input)
          }
          assert.deepStrictEqual(yield* executor.run({ module, name: "hears" }), [])
          assert.strictEqual((yield* Books.settled(executor)).spawned, 1)
        }),
      { threads: 1 },
    )

    test(
      "whose input or result cannot be read on the other side harms no other",
      (executor) =>
        Effect.gen(function* () {
          const jobs = [of<typeof Jobs.unreadable>("unreadable")(undefined as never), same(createHistogram())]
          for (const [i, part] of (["result", "input"] as const).entries()) {
            // Some runtimes send it after all.
            const came = yield* Effect.exit(executor.run(jobs[i]!))
            if (Exit.isFailure(came)) assert.include(String(came), `the ${part} of`)
            for (const n of [1, 2]) assert.strictEqual(yield* executor.run(same(n)), n)
          }
        }),
      { threads: 1 },
    )

    test(
      "runs though the thread that it was sent to was gone already, and nobody had heard",
      (executor) =>
        Effect.gen(function* () {
          for (let n = 0; n < 5; n++) {
            const words = gate()
            yield* executor.run(of<typeof Jobs.leaves>("leaves")(words))
            while (Atomics.load(words, 1) === 0);
            assert.strictEqual(yield* executor.run(same(n)), n)
          }
        }),
      { threads: 1 },
    )

    test("that pauses hears of a cancellation that comes just as it begins to wait", (executor) =>
      Effect.gen(function* () {
        const words = gate()
        const { cancel, join } = yield* executor.start(of<typeof Jobs.raced>("raced")(words))
        yield* begun(words)
        yield* cancel
        assert.deepStrictEqual(yield* join, [true, true])
      }))

    test("that does not look is waited for, and its charge is held until it has ended", (executor) =>
      Effect.gen(function* () {
        const words = gate()
        let held = 0
        const charge = Effect.acquireRelease(Effect.sync(() => held++), () => Effect.sync(() => held--))
        const job = of<typeof Jobs.stubborn>("stubborn")(words, { charge })
        const caller = yield* Effect.forkDetach(executor.run(job))
        yield* begun(words)
        const leaving = yield* Effect.forkDetach(Fiber.interrupt(caller), { startImmediately: true })
        // The other thread goes on meanwhile.
        assert.strictEqual(yield* executor.run(same(1)), 1)
        assert.deepStrictEqual([caller.pollUnsafe(), held], [undefined, 1])
        assert.deepStrictEqual((yield* executor.jobs).map(({ name, state }) => [name, state]), [[
          "stubborn",
          "cancelled",
        ]])
        letGo(words)
        yield* Fiber.join(leaving)
        assert.strictEqual(held, 0)
      }))

    test(`that never ends, terminated, is ${gap("terminate is a join", "gone with its thread")}`, (executor) =>
      Effect.gen(function* () {
        const words = gate()
        const { join, number } = yield* executor.start(of<typeof Jobs.stubborn>("stubborn")(words))
        yield* begun(words)
        const joins = !("terminate is a join" in cannot)
        assert.strictEqual(yield* executor.terminate(number), joins ? "ended" : "abandoned")
        assert.deepInclude(
          yield* Effect.flip(join),
          joins ? { _tag: "WorkerLost", reason: "terminated" } : { _tag: "JobAbandoned" },
        )
        assert.strictEqual((yield* executor.snapshot).abandoned, joins ? 0 : 1)
        assert.strictEqual(yield* executor.run(same(1)), 1)
        const drained = yield* Effect.flatMap(within(20_000), executor.drain)
        assert.deepStrictEqual([drained.clean, drained.running.length], [joins, joins ? 0 : 1])
        // No thread is left at work by the test.
        letGo(words)
      }))

    if (!("terminate is a join" in cannot)) {
      test("in a loop without end is ended by terminate", (executor) =>
        Effect.gen(function* () {
          const words = gate()
          const { number } = yield* executor.start(of<typeof Jobs.endless>("endless")(words))
          yield* begun(words)
          assert.strictEqual(yield* executor.terminate(number), "ended")
          assert.strictEqual((yield* Books.settled(executor)).lost, 1)
        }))
    }
  })

  describe("many jobs", () => {
    test(
      "interrupted at random moments: each that began has ended, and none is lost",
      (executor) =>
        Effect.gen(function* () {
          const chance = new Chance(20261129)
          const counts = new Int32Array(new SharedArrayBuffer(8))
          const counted = of<typeof Jobs.counted>("counted")
          let held = 0
          const charge = Effect.acquireRelease(Effect.sync(() => held++), () => Effect.sync(() => held--))
          const fibers = yield* Effect.forEach(Array.from({ length: 1_000 }), () => {
            const millis = chance.yes(0.1) ? chance.whole(5, 20) : 0
            return Effect.forkDetach(Effect.exit(executor.run(counted({ counts, millis }, { charge }))))
          })
          // Half of them, each when one that came a little before it has ended: in the line, on its way, or at work.
          for (const [i, fiber] of fibers.entries()) {
            if (chance.yes(0.5)) continue
            yield* Fiber.await(fibers[Math.max(0, i - chance.whole(1, 6))]!)
            yield* Effect.forkDetach(Fiber.interrupt(fiber))
            if (chance.yes(0.2)) yield* Effect.promise(() => new Promise((turn) => setTimeout(turn, 0)))
          }
          const exits = yield* Effect.forEach(fibers, Fiber.await)
          const s = yield* Books.settled(executor)
          assert.strictEqual(held, 0)
          assert.deepStrictEqual([...counts], [s.begun, s.begun])
          assert.deepStrictEqual([s.completed, s.failed, s.lost], [s.begun, 0, 0])
          const completed = exits.filter((exit) => Exit.isSuccess(exit) && Exit.isSuccess(exit.value)).length
          assert.isAtMost(completed, s.begun)
          assert.isAbove(s.begun, 400)
          assert.isAbove(s.begun - completed, 0)
          assert.strictEqual(s.spawned, 3)
        }),
      { threads: 3, maxQueued: 1_000, maxWait: "1 minute" },
    )
  })

  describe("the end", () => {
    test("with jobs at work: a drain says what runs, and joins it when it is let go", (executor) =>
      Effect.gen(function* () {
        const [first, second] = [gate(), gate()]
        const stubborn = of<typeof Jobs.stubborn>("stubborn")
        const started = yield* Effect.forEach([first, second], (words) => executor.start(stubborn(words)))
        const waiting = yield* Effect.forkDetach(Effect.flip(executor.run(same(1))), { startImmediately: true })
        yield* begun(first)
        yield* begun(second)
        const early = yield* Effect.flatMap(within(1), executor.drain)
        assert.deepStrictEqual([early.clean, early.threads, early.refused], [false, 2, 1])
        assert.deepStrictEqual(early.running.map(({ name, state }) => [name, state]), [
          ["stubborn", "running"],
          ["stubborn", "running"],
        ])
        assert.deepInclude(yield* Fiber.join(waiting), { _tag: "Closed" })
        letGo(first)
        assert.isFalse(yield* started[0]!.join)
        yield* started[1]!.cancel
        letGo(second)
        assert.isTrue(yield* started[1]!.join)
        const late = yield* Effect.flatMap(within(20_000), executor.drain)
        assert.deepInclude(late, { clean: true, threads: 0, running: [] })
        assert.strictEqual((yield* executor.snapshot).idle, 0)
      }))
  })

  function gap(capability: Capability, otherwise: string): string {
    return capability in cannot ? `cannot do so here (${cannot[capability]})` : otherwise
  }
}
