/** Something happens at each step of each verb in turn; afterwards every thread, place and charge is accounted for. */
import { assert, describe, it } from "vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type * as BlockingExecutor from "../../core/BlockingExecutor.ts"
import * as Deadline from "../../core/Deadline.ts"
import type { JobContext } from "../../core/Job.ts"
import * as Ending from "../../core/testing/Ending.ts"
import * as FaultSweep from "../../core/testing/FaultSweep.ts"
import * as Script from "../../core/testing/Script.ts"
import * as Sweep from "../../core/testing/Sweep.ts"
import * as ScriptedPorts from "../../core/testing/ScriptedPorts.ts"
import * as Books from "../support/ExecutorBooks.ts"

interface Stage {
  readonly executor: BlockingExecutor.BlockingExecutor
  readonly script: Script.Script
  /** Jobs' charges that are held, and the most that were. */
  held: number
  readonly charge: Effect.Effect<void, never, Scope.Scope>
  /** Jobs that work, as their script has it. */
  readonly working: () => number
}

const stage = (threads: number) => (script: Script.Script): Effect.Effect<Stage, unknown, Scope.Scope> =>
  Effect.map(ScriptedPorts.blockingExecutor(script, { same: (input) => input }, { threads }), (executor) => {
    const made: Stage = {
      executor,
      script,
      held: 0,
      charge: Effect.acquireRelease(
        Effect.andThen(Effect.yieldNow, Effect.sync(() => void made.held++)),
        () => Effect.andThen(Effect.yieldNow, Effect.sync(() => void made.held--)),
      ),
      working: () => script.left.filter((name) => name.startsWith("job")).length,
    }
    return made
  })

const job = { module: "test:jobs", name: "same", input: 1 }
const charged = (each: Stage) => each.executor.run({ ...job, charge: each.charge })

/** Every charge that a job has is held while it works, and not once everything is over. */
const whole = (each: Stage): Effect.Effect<void> =>
  Effect.gen(function* () {
    const s = yield* Books.settled(each.executor)
    assert.deepStrictEqual([each.held, each.working()], [0, 0])
    // All threads but those that were lost are of use, and no place is taken.
    if (s.state === "closed") return
    // It gets a thread; what becomes of it may be what is planned for this very call.
    assert.include(lost, Ending.of(yield* Effect.exit(each.executor.run(job))))
  })

/** Looks at each of its steps. */
const watcher = (each: Stage) =>
  Effect.forEach(
    Array.from({ length: 10 }),
    () =>
      Effect.flatMap(Effect.andThen(Effect.yieldNow, each.executor.snapshot), (s) =>
        Effect.sync(() => {
          Books.bounded(s)
          assert.isAtMost(each.working(), s.threads)
          assert.isAtLeast(each.held, each.working(), "a job works whose charge is back")
        })),
  )

/** Looks at each of its steps that there are no more threads than there may be, those that leave among them. */
const counter = (each: Stage) =>
  Effect.forEach(
    Array.from({ length: 20 }),
    () => Effect.map(Effect.andThen(Effect.yieldNow, each.executor.snapshot), Books.bounded),
  )

const lost = ["Completed", "WorkerLost", "JobFailed"]
const plans = [Script.late("10 seconds"), Script.die("bug"), Script.fail(new Error("no"))].map((plan) =>
  Script.at("executor.job", plan)
)

/** Each job takes its time. */
const late = (seconds: number) =>
  Sweep.on(Effect.flatMap(Script.make, (script) => {
    script.plan("executor.job", Script.late(`${seconds} seconds`))
    return stage(1)(script)
  }))
/** One thread, which is idle. */
const warm = Sweep.on(
  Effect.flatMap(Script.make, (script) => Effect.tap(stage(1)(script), ({ executor }) => executor.run(job))),
)
const left = ({ script }: Stage) => script.left

describe("interrupted at each step", () => {
  it("a run leaves no place taken and no charge held, and a job that has begun is joined", () => {
    const { endings, steps } = Effect.runSync(
      FaultSweep.on(stage(1)).sweep(plans, {
        fibers: (each) => ({ victim: charged(each) }),
        disturb: "victim",
        ends: { victim: lost },
        prompt: false,
        oracle: whole,
      }),
    )
    assert.isAbove(steps, 40)
    assert.includeMembers([...endings.victim], ["Completed", "Interrupted", "WorkerLost", "JobFailed"])
  })

  it("a run that waits or works leaves the line and the thread to the next", () => {
    const { endings } = Effect.runSync(
      late(1).sweep({
        left,
        fibers: (each) => ({ other: charged(each), victim: charged(each) }),
        disturb: "victim",
        prompt: false,
        oracle: whole,
      }),
    )
    assert.deepStrictEqual(endings.victim, ["Completed", "Interrupted"])
  })

  it("a run's charge is held for as long as its job works, and no more jobs work than there are threads", () => {
    const { endings } = Effect.runSync(
      late(1).sweep({
        left,
        fibers: (each) => ({ victim: charged(each), watcher: watcher(each) }),
        disturb: "victim",
        prompt: false,
        oracle: whole,
      }),
    )
    assert.deepStrictEqual(endings.victim, ["Completed", "Interrupted"])
  })

  it("a start leaves a job that goes on by itself, or none", () => {
    const { endings } = Effect.runSync(
      FaultSweep.on(stage(2)).sweep(plans, {
        fibers: (each) => ({
          victim: Effect.flatMap(each.executor.start({ ...job, charge: each.charge }), ({ join }) => join),
        }),
        disturb: "victim",
        ends: { victim: lost },
        rest: Duration.minutes(2),
        oracle: (each) => Effect.sync(() => assert.isAtLeast(each.held, each.working())),
      }),
    )
    assert.includeMembers([...endings.victim], ["Completed", "Interrupted", "WorkerLost", "JobFailed"])
  })

  it("a run whose deadline comes at any step is refused, or runs to its end", () => {
    const { endings } = Effect.runSync(
      late(10).sweep({
        left,
        fibers: (each) => ({
          victim: Deadline.within("1 second")(charged(each)),
          other: Deadline.within("1 second")(charged(each)),
        }),
        disturb: ({ clock }) => clock.advance(1_000),
        ends: { victim: ["Completed", "WaitExpired"], other: ["Completed", "WaitExpired"] },
        prompt: false,
        oracle: whole,
      }),
    )
    assert.includeMembers([...endings.victim, ...endings.other], ["Completed", "WaitExpired"])
  })

  it("a start in the very step in which its job begins tells the job, which nobody will ever join", () => {
    const met = { orphans: 0, told: 0 }
    const { endings } = Effect.runSync(
      Sweep.on(Effect.flatMap(Script.make, (script) => {
        script.plan("executor.job", Script.slow("1 second"))
        const looks: Array<boolean> = []
        const jobs = { looked: (_: unknown, { cancelled }: JobContext) => looks.push(cancelled()) }
        return Effect.map(
          ScriptedPorts.blockingExecutor(script, jobs, { threads: 1 }),
          (executor) => ({ executor, looks }),
        )
      })).sweep({
        fibers: ({ executor }) => ({ victim: executor.start({ module: "test:jobs", name: "looked" }) }),
        disturb: "victim",
        rest: Duration.seconds(2),
        oracle: ({ looks }, exits) =>
          Effect.sync(() => {
            if (Exit.isSuccess(exits.victim) || looks.length === 0) return
            met.orphans++
            if (looks[0] === true) met.told++
          }),
      }),
    )
    assert.includeMembers([...endings.victim], ["Completed", "Interrupted"])
    // The others were interrupted once `start` had answered: what becomes of the answer is its caller's affair.
    assert.isAbove(met.told, 0)
    assert.isAbove(met.orphans, met.told)
  })

  it("a drain that is interrupted has begun all the same, and a later one ends it", () => {
    Effect.runSync(
      late(10).sweep({
        left,
        fibers: (each) => ({
          drainer: Effect.flatMap(Deadline.after("1 second"), each.executor.drain),
          user: charged(each),
        }),
        disturb: "drainer",
        ends: { user: [...lost, "Closed"] },
        prompt: false,
        rest: Duration.minutes(2),
        oracle: (each) =>
          Effect.gen(function* () {
            const drained = yield* Effect.flatMap(Deadline.after("2 minutes"), each.executor.drain)
            assert.deepInclude(drained, { clean: true, running: [], threads: 0 })
            yield* whole(each)
          }),
      }),
    )
  })
})

describe("at each step of a run", () => {
  it("its thread is terminated: the run ends, and nothing of it is held", () => {
    const { endings } = Effect.runSync(
      late(10).sweep({
        left,
        fibers: (each) => ({ user: charged(each), other: charged(each) }),
        disturb: ({ state }) => state.executor.terminate(1),
        ends: { user: ["Completed", "WorkerLost"], other: lost },
        prompt: false,
        // What the script still sleeps of a job that is gone.
        rest: Duration.minutes(1),
        oracle: whole,
      }),
    )
    assert.includeMembers([...endings.user], ["Completed", "WorkerLost"])
  })

  it("the scope of the executor closes on an idle thread: there is never one more, and the run ends, refused or joined", () => {
    const { endings } = Effect.runSync(
      warm.sweep({
        left,
        fibers: (each) => ({ user: charged(each), other: charged(each), counter: counter(each) }),
        disturb: ({ scope }) => Scope.close(scope, Exit.void),
        ends: { user: [...lost, "Closed"], other: [...lost, "Closed"] },
        prompt: false,
        oracle: (each) => Effect.sync(() => assert.deepStrictEqual([each.held, each.working()], [0, 0])),
      }),
    )
    assert.includeMembers([...endings.user], ["Completed"])
    assert.includeMembers([...endings.other], ["Completed", "Closed"])
  })
})
