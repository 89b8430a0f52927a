/** Something happens at each step of each verb in turn; afterwards nothing is lost, nobody is forgotten. */
import { assert, describe, it } from "vitest"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Admission from "../../core/Admission.ts"
import type { Options } from "../../core/AdmissionOptions.ts"
import * as Deadline from "../../core/Deadline.ts"
import * as Outcome from "../../core/Outcome.ts"
import * as Books from "../support/Books.ts"
import type { HandClock } from "../support/HandClock.ts"
import { type Exits, type Scene, sweep } from "../support/Sweep.ts"

const admissionOf = (options: Options) => Admission.make(options)
const yields = (times: number): Effect.Effect<void> =>
  times === 0 ? Effect.void : Effect.andThen(Effect.yieldNow, yields(times - 1))
/** A few steps in which somebody holds, and enough of them for all others to come and wait. */
const hold = yields(2)
const holdLong = yields(9)
const entering = (admission: Admission.Admission, tenant: string, cost = 1, held = hold) =>
  Effect.scoped(Effect.andThen(admission.enter({ tenant, provider: "p", cost }), held))
const running = (admission: Admission.Admission, tenant: string, cost = 1, held = hold) =>
  admission.run({ tenant, provider: "p", cost })(held)
/** Comes first, and holds until the others have come. */
const holding = (admission: Admission.Admission, tenant: string, cost = 1) => running(admission, tenant, cost, holdLong)

type Ends = Readonly<Record<string, ReadonlyArray<Outcome.Outcome>>>

/** Each fiber ended in one of the ways that it may end in, and the whole capacity is there. */
const ended = (admission: Admission.Admission, exits: Exits, ends: Ends) =>
  Effect.gen(function* () {
    for (const [name, exit] of Object.entries(exits)) {
      const outcome = Outcome.fromExit(exit)
      assert.include(ends[name] ?? ["Completed"], outcome, `${name}: ${String(exit)}`)
    }
    yield* Books.whole(admission)
  })

const maybe: ReadonlyArray<Outcome.Outcome> = ["Completed", "Interrupted"]

/** A scene on one Admission: who takes part, and who is interrupted. Says how many left the line in one run. */
const interrupting = (
  options: Options,
  fibers: (admission: Admission.Admission) => Readonly<Record<string, Effect.Effect<unknown, unknown>>>,
  victim: string,
  second?: string,
  others: ReadonlyArray<Outcome.Outcome> = ["Completed"],
): { readonly left: number } => {
  let left = 0
  const scene: Scene<Admission.Admission> = {
    prepare: admissionOf(options),
    fibers,
    disturb: (each) => each[victim]!.interruptUnsafe(),
    ...second === undefined
      ? {}
      : { again: (each: Parameters<Scene<unknown>["disturb"]>[0]) => each[second]!.interruptUnsafe() },
    oracle: (admission, exits) =>
      Effect.gen(function* () {
        yield* ended(admission, exits, {
          ...Object.fromEntries(Object.keys(exits).map((name) => [name, others])),
          [victim]: [...maybe, ...others],
          [second ?? victim]: [...maybe, ...others],
        })
        left = Math.max(left, (yield* admission.snapshot).interrupted)
      }),
  }
  const { runs, steps } = sweep(scene)
  assert.isAbove(steps, 4)
  assert.isAtLeast(runs, steps)
  return { left }
}
/** The sweep has met so many victims at once while they waited. */
const leaves = (least: number, { left }: { readonly left: number }): void => assert.isAtLeast(left, least)

const one: Options = { maxRunning: 1, maxPerTenant: 1, maxPerProvider: 1 }
const line = (admission: Admission.Admission) => ({
  holder: entering(admission, "a", 1, holdLong),
  waiter: entering(admission, "b"),
  behind: entering(admission, "c"),
})

describe("interrupted at each step", () => {
  it("AD-4 AD-5 K-3: an enter that need not wait leaves nothing taken", () =>
    interrupting({ maxRunning: 3 }, (admission) => ({ alone: entering(admission, "a", 3) }), "alone"))

  it("AD-5 K-4: an enter that waits leaves the line or passes its units on", () =>
    leaves(1, interrupting(one, line, "waiter")))

  it("AD-5 K-5: an enter that holds gives its units to the next", () => interrupting(one, line, "holder"))

  it("AD-5: the last in the line leaves alone", () => leaves(1, interrupting(one, line, "behind")))

  it("AD-5 K-4: the holder and the first waiter at once leave the second served", () =>
    interrupting(one, line, "holder", "waiter"))

  it("AD-5 K-4: two waiters at once leave the holder and nothing else", () =>
    leaves(2, interrupting(one, line, "waiter", "behind")))

  it("AD-4 AD-5 K-3: a run that need not wait leaves nothing taken", () =>
    interrupting({ maxRunning: 3 }, (admission) => ({ alone: running(admission, "a", 3) }), "alone"))

  it("AD-5 K-4: a run that waits, between others of all sizes, leaves or passes its units on", () =>
    leaves(
      1,
      interrupting({ maxRunning: 2 }, (admission) => ({
        holder: holding(admission, "a", 2),
        waiter: running(admission, "b", 1),
        large: running(admission, "c", 2),
        small: running(admission, "b", 1),
      }), "waiter"),
    ))

  it("AD-5: a large run that waits with units set aside for it frees them", () =>
    leaves(
      1,
      interrupting({ maxRunning: 2, maxBypass: 0 }, (admission) => ({
        holder: holding(admission, "a", 1),
        large: running(admission, "b", 2),
        small: running(admission, "c", 1),
      }), "large"),
    ))

  it("AD-5 AD-13: one that is parked on its tenant's cap frees nothing that is not its own", () =>
    leaves(
      1,
      interrupting(
        { maxRunning: 2, maxPerTenant: 1 },
        (admission) => ({
          holder: holding(admission, "a"),
          parked: running(admission, "a"),
          other: running(admission, "b"),
          later: running(admission, "a"),
        }),
        "parked",
        "holder",
      ),
    ))

  it("AD-5 AD-7: a tryEnter takes and gives back, or takes nothing", () =>
    interrupting({ maxRunning: 2 }, (admission) => ({
      holder: holding(admission, "a", 1),
      tried: Effect.scoped(Effect.andThen(admission.tryEnter({ tenant: "b" }), hold)),
    }), "tried"))

  it("AD-5: a tryEnter that is refused is refused and no more", () =>
    interrupting(one, (admission) => ({
      holder: holding(admission, "a"),
      tried: Effect.catchTag(Effect.scoped(admission.tryEnter({ tenant: "b" })), "WouldWait", () => Effect.void),
      behind: running(admission, "c"),
    }), "tried"))

  it("AD-4 AD-5 K-3: a release gives back once, in the scope or before it", () =>
    interrupting(one, (admission) => ({
      releaser: Effect.scoped(Effect.gen(function* () {
        const permit = yield* admission.enter({ tenant: "a" })
        yield* hold
        yield* admission.release(permit)
        yield* hold
      })),
      waiter: entering(admission, "b"),
    }), "releaser"))

  it("AD-5 AD-28: a withholding gives back what it took", () =>
    interrupting({ maxRunning: 2 }, (admission) => ({
      holder: holding(admission, "a"),
      operator: Effect.scoped(Effect.andThen(admission.withhold(2), hold)),
      waiter: running(admission, "b"),
    }), "operator"))

  it("AD-5 AD-28: one that waits for a withholding to end leaves", () =>
    leaves(
      1,
      interrupting(
        { maxRunning: 2 },
        (admission) => ({
          operator: Effect.scoped(Effect.andThen(admission.withhold(1), holdLong)),
          large: Effect.andThen(yields(5), running(admission, "a", 2)),
          small: running(admission, "b", 1),
        }),
        "large",
        "operator",
      ),
    ))

  for (const victim of ["drainer", "holder", "waiter"]) {
    it(`AD-5 AD-30: of a drain that serves, its ${victim}, and everybody else is answered`, () =>
      interrupting(
        one,
        (admission) => ({
          holder: holding(admission, "a"),
          waiter: running(admission, "b"),
          drainer: Effect.flatMap(
            Effect.orDie(Deadline.after("10 seconds")),
            (deadline) => admission.drain(deadline),
          ),
        }),
        victim,
        undefined,
        ["Completed", "Interrupted", "Failed"],
      ))
  }

  it("AD-5 AD-29: a drain that refuses answers everybody though it is interrupted", () => {
    const { steps } = sweep<Admission.Admission>({
      prepare: admissionOf({ ...one, drainWaiting: "refuse" }),
      fibers: (admission) => ({
        holder: holding(admission, "a"),
        waiter: running(admission, "b"),
        drainer: Effect.flatMap(Effect.orDie(Deadline.after("10 seconds")), (deadline) => admission.drain(deadline)),
      }),
      disturb: ({ drainer }) => drainer!.interruptUnsafe(),
      oracle: (admission, exits) =>
        ended(admission, exits, { drainer: maybe, holder: ["Completed", "Failed"], waiter: ["Completed", "Failed"] }),
    })
    assert.isAbove(steps, 4)
  })
})

describe("at each step", () => {
  let left = 0
  const scoped = (verb: (admission: Admission.Admission) => Effect.Effect<unknown, unknown, Scope.Scope>) =>
    sweep<{ readonly admission: Admission.Admission; readonly scope: Scope.Closeable }>({
      prepare: Effect.all({ admission: admissionOf({ maxRunning: 1 }), scope: Scope.make() }),
      fibers: ({ admission, scope }) => ({
        holder: holding(admission, "a"),
        scoped: Effect.ensuring(
          Scope.provide(Effect.andThen(verb(admission), hold), scope),
          Scope.close(scope, Exit.void),
        ),
        behind: running(admission, "c"),
      }),
      disturb: (_, { scope }) => Scope.close(scope, Exit.void),
      oracle: ({ admission }, exits) =>
        Effect.gen(function* () {
          yield* ended(admission, exits, { scoped: ["Completed", "Interrupted", "Failed"] })
          left = Math.max(left, (yield* admission.snapshot).interrupted)
        }),
    })

  it("AD-4 AD-20: the end of the scope that an enter was meant for gives back, and nobody waits for ever", () => {
    assert.isAbove(scoped((admission) => admission.enter({ tenant: "b" })).steps, 10)
    leaves(1, { left })
  })

  it("AD-4: the end of the scope that a tryEnter was meant for gives back", () => {
    assert.isAbove(scoped((admission) => admission.tryEnter({ tenant: "b" })).steps, 10)
  })

  it("AD-28: the end of the scope that a withhold was meant for gives back", () => {
    assert.isAbove(scoped((admission) => admission.withhold(1)).steps, 10)
  })

  it("AD-31 AD-20: the end of the Admission answers all that wait, and what is held comes back", () => {
    const { steps } = sweep<{ readonly admission: Admission.Admission; readonly scope: Scope.Closeable }>({
      prepare: Effect.flatMap(
        Scope.make(),
        (scope) => Effect.map(Scope.provide(admissionOf(one), scope), (admission) => ({ admission, scope })),
      ),
      fibers: ({ admission }) => line(admission),
      disturb: (_, { scope }) => Scope.close(scope, Exit.void),
      oracle: ({ admission }, exits) =>
        ended(admission, exits, {
          holder: ["Completed", "Failed"],
          waiter: ["Completed", "Failed"],
          behind: ["Completed", "Failed"],
        }),
    })
    assert.isAbove(steps, 10)
  })

  type Timed = { readonly admission: Admission.Admission; readonly clock: HandClock }
  const timed = Effect.all({
    admission: admissionOf({ ...one, maxWait: "1 second" }),
    clock: Clock.clockWith((clock) => Effect.succeed(clock as unknown as HandClock)),
  })

  it("AD-20 AD-22 K-4: the expiry of a wait and its grant have one winner", () => {
    const seen = new Set<Outcome.Outcome>()
    sweep<Timed>({
      prepare: timed,
      fibers: ({ admission }) => line(admission),
      disturb: (_, { clock }) => clock.advance(1_000),
      oracle: ({ admission }, exits) => {
        seen.add(Outcome.fromExit(exits["waiter"]!))
        return ended(admission, exits, { waiter: ["Completed", "Expired"], behind: ["Completed", "Expired"] })
      },
    })
    assert.deepStrictEqual([...seen].sort(), ["Completed", "Expired"])
  })

  it("AD-20 AD-22 K-4: the expiry of a wait, its grant and its interruption have one winner", () => {
    sweep<Timed>({
      prepare: timed,
      fibers: ({ admission }) => line(admission),
      disturb: (_, { clock }) => clock.advance(1_000),
      again: ({ waiter }) => waiter!.interruptUnsafe(),
      oracle: ({ admission }, exits) =>
        ended(admission, exits, { waiter: ["Completed", "Expired", "Interrupted"], behind: ["Completed", "Expired"] }),
    })
  })

  it("AD-27 AD-20: lowering answers those whom it made impossible and loses nothing", () => {
    sweep<Admission.Admission>({
      prepare: admissionOf({ maxRunning: 3 }),
      fibers: (admission) => ({
        holder: holding(admission, "a", 1),
        large: running(admission, "b", 3),
        small: running(admission, "c", 1),
      }),
      disturb: (_, admission) => admission.lower({ maxRunning: 2 }),
      oracle: (admission, exits) => ended(admission, exits, { large: ["Completed", "Failed"] }),
    })
  })

  it("AD-40 AD-4: a defect of the work that holds goes to its caller and its units to the next", () => {
    let broken = false
    sweep<Admission.Admission>({
      prepare: Effect.suspend(() => {
        broken = false
        return admissionOf(one)
      }),
      fibers: (admission) => ({
        holder: admission.run({ tenant: "a" })(
          Effect.andThen(hold, Effect.suspend(() => broken ? Effect.die("broken") : Effect.fail("failed"))),
        ),
        waiter: running(admission, "b"),
      }),
      disturb: () => {
        broken = true
      },
      oracle: (admission, exits) => ended(admission, exits, { holder: ["Died", "Failed"] }),
    })
  })
})

// The sweep itself has to see a fault: each of these does one thing wrong.
describe("the sweep notices", () => {
  const faulty = (fiber: Scene<{ free: number }>["fibers"], disturb: Scene<{ free: number }>["disturb"]) => () =>
    sweep<{ free: number }>({
      prepare: Effect.sync(() => ({ free: 1 })),
      fibers: fiber,
      disturb,
      oracle: (state) => Effect.sync(() => assert.strictEqual(state.free, 1)),
    })
  const interrupt: Scene<unknown>["disturb"] = ({ victim }) => victim!.interruptUnsafe()

  it("what is taken before its finalizer is there", () => {
    const taking = (state: { free: number }) =>
      Effect.sync(() => state.free--).pipe(
        Effect.andThen(Effect.ensuring(hold, Effect.sync(() => state.free++))),
      )
    assert.throws(faulty((state) => ({ victim: taking(state) }), interrupt), /steps \d+ and \d+/)
  })

  it("a fiber that hangs", () => {
    assert.throws(faulty(() => ({ victim: Effect.never }), () => {}), /victim hangs/)
  })

  it("a sleeper that is left", () => {
    const left = Effect.asVoid(Effect.forkDetach(Effect.sleep(Duration.hours(1))))
    assert.throws(faulty(() => ({ victim: left }), () => {}), /sleepers are left/)
  })
})
