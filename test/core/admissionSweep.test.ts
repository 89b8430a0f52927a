/** Something happens at each step of each verb in turn; afterwards nothing is lost, nobody is forgotten. */
import { assert, describe, it } from "vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Admission from "../../core/Admission.ts"
import type { Options } from "../../core/AdmissionOptions.ts"
import * as Deadline from "../../core/Deadline.ts"
import * as Sweep from "../../core/testing/Sweep.ts"
import * as Books from "../support/Books.ts"

const on = <S>(prepare: Effect.Effect<S, unknown, Scope.Scope>) => ({
  sweep: <N extends string>(scene: Sweep.Scene<S, N>) => Effect.runSync(Sweep.on(prepare).sweep(scene)),
})
const admissionOf = (options: Options) => Admission.make(options)
const yields = (times: number): Effect.Effect<void> =>
  times === 0 ? Effect.void : Effect.andThen(Effect.yieldNow, yields(times - 1))
/** A few steps in which somebody holds, and enough of them for all others to come and wait. */
const hold = Effect.yieldNow
const holdLong = yields(5)
const entering = (admission: Admission.Admission, tenant: string, cost = 1, held = hold) =>
  Effect.scoped(Effect.andThen(admission.enter({ tenant, provider: "p", cost }), held))
const running = (admission: Admission.Admission, tenant: string, cost = 1, held = hold) =>
  admission.run({ tenant, provider: "p", cost })(held)
/** Comes first, and holds until the others have come. */
const holding = (admission: Admission.Admission, tenant: string, cost = 1) => running(admission, tenant, cost, holdLong)

/** A scene on one Admission: who takes part, and who is interrupted. Says how many left the line in one run. */
const interrupting = <N extends string>(
  options: Options,
  fibers: (admission: Admission.Admission) => { readonly [name in N]: Effect.Effect<unknown, unknown> },
  victim: NoInfer<N>,
  second?: NoInfer<N>,
  ends?: Sweep.Scene<Admission.Admission, N>["ends"],
): { readonly left: number } => {
  let left = 0
  const { runs, steps } = on(admissionOf(options)).sweep({
    fibers,
    disturb: victim,
    again: second,
    ends,
    oracle: (admission) =>
      Effect.gen(function* () {
        yield* Books.whole(admission)
        left = Math.max(left, (yield* admission.snapshot).interrupted)
      }),
  })
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

  for (const victim of ["drainer", "holder", "waiter"] as const) {
    it(`AD-5 AD-30: of a drain that serves, its ${victim}, and everybody else is answered`, () => {
      const answered = ["Completed", "Interrupted", "Failed"]
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
        { holder: answered, waiter: answered, drainer: answered },
      )
    })
  }

  it("AD-5 AD-29: a drain that refuses answers everybody though it is interrupted", () => {
    const { steps } = on(admissionOf({ ...one, drainWaiting: "refuse" })).sweep({
      fibers: (admission) => ({
        holder: holding(admission, "a"),
        waiter: running(admission, "b"),
        drainer: Effect.flatMap(Effect.orDie(Deadline.after("10 seconds")), (deadline) => admission.drain(deadline)),
      }),
      disturb: "drainer",
      ends: { holder: ["Completed", "Closed"], waiter: ["Completed", "Closed"] },
      oracle: Books.whole,
    })
    assert.isAbove(steps, 4)
  })
})

describe("at each step", () => {
  let left = 0
  const scoped = (verb: (admission: Admission.Admission) => Effect.Effect<unknown, unknown, Scope.Scope>) =>
    on(Effect.all({ admission: admissionOf({ maxRunning: 1 }), scope: Scope.make() })).sweep({
      fibers: ({ admission, scope }) => ({
        holder: holding(admission, "a"),
        scoped: Effect.ensuring(
          Scope.provide(Effect.andThen(verb(admission), hold), scope),
          Scope.close(scope, Exit.void),
        ),
        behind: running(admission, "c"),
      }),
      disturb: ({ state }) => Scope.close(state.scope, Exit.void),
      ends: { scoped: ["Completed", "Interrupted", "Failed"] },
      oracle: ({ admission }) =>
        Effect.gen(function* () {
          yield* Books.whole(admission)
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
    const answered = ["Completed", "Closed"]
    const { endings } = on(admissionOf(one)).sweep({
      fibers: line,
      disturb: ({ scope }) => Scope.close(scope, Exit.void),
      ends: { holder: answered, waiter: answered, behind: answered },
      oracle: Books.whole,
    })
    assert.deepStrictEqual(endings, {
      holder: ["Closed", "Completed"],
      waiter: ["Closed", "Completed"],
      behind: ["Closed", "Completed"],
    })
  })

  const impatient: Options = { ...one, maxWait: "1 second" }

  it("AD-20 AD-22 K-4: the expiry of a wait and its grant have one winner", () => {
    const { endings } = on(admissionOf(impatient)).sweep({
      fibers: line,
      disturb: ({ clock }) => clock.advance(1_000),
      ends: { waiter: ["Completed", "WaitExpired"], behind: ["Completed", "WaitExpired"] },
      oracle: Books.whole,
    })
    assert.deepStrictEqual(endings.waiter, ["Completed", "WaitExpired"])
  })

  it("AD-20 AD-22 K-4: the expiry of a wait, its grant and its interruption have one winner", () => {
    const { endings } = on(admissionOf(impatient)).sweep({
      fibers: line,
      disturb: ({ clock }) => clock.advance(1_000),
      again: "waiter",
      ends: { waiter: ["Completed", "WaitExpired"], behind: ["Completed", "WaitExpired"] },
      oracle: Books.whole,
    })
    assert.deepStrictEqual(endings.waiter, ["Completed", "Interrupted", "WaitExpired"])
  })

  it("AD-27 AD-20: lowering answers those whom it made impossible and loses nothing", () => {
    const { endings } = on(admissionOf({ maxRunning: 3 })).sweep({
      fibers: (admission) => ({
        holder: holding(admission, "a", 1),
        large: running(admission, "b", 3),
        small: running(admission, "c", 1),
      }),
      disturb: ({ state }) => state.lower({ maxRunning: 2 }),
      ends: { large: ["Completed", "NeverFits"] },
      oracle: Books.whole,
    })
    assert.deepStrictEqual(endings.large, ["Completed", "NeverFits"])
  })

  it("AD-40 AD-4: a defect of the work that holds goes to its caller and its units to the next", () => {
    let broken = false
    const { endings } = on(Effect.suspend(() => {
      broken = false
      return admissionOf(one)
    })).sweep(
      {
        fibers: (admission) => ({
          holder: admission.run({ tenant: "a" })(
            Effect.andThen(hold, Effect.suspend(() => broken ? Effect.die("broken") : Effect.fail("failed"))),
          ),
          waiter: running(admission, "b"),
        }),
        disturb: () => {
          broken = true
        },
        ends: { holder: ["Died", "Failed"] },
        oracle: Books.whole,
      },
    )
    assert.deepStrictEqual(endings.holder, ["Died", "failed"])
  })
})
