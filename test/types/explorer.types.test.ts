/** The types of the explorer, exactly: what a program may be made of, and what its exploration may fail with. */
import { it } from "vitest"
import type * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import type { InvalidLimits, InvalidRequest } from "../../core/Refusal.ts"
import * as Explorer from "../../core/testing/Explorer.ts"
import type { Bounds, Sampling } from "../../core/testing/ExplorerBounds.ts"
import type { InvalidSchedule, Reason, ScheduleFailed, Uncontrolled } from "../../core/testing/ExplorerFailure.ts"
import type { Allowed, Exits, Program } from "../../core/testing/ExplorerProgram.ts"

/** `true` only where both are the same type; unions, optional and readonly count. */
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false
/** Accepts no type but `true`. */
type Law<_ extends true> = never

type Of<E> = E extends Effect.Effect<infer A, infer X, infer R> ? [A, X, R] : never

interface State {
  readonly n: number
}
interface Two {
  readonly a: Effect.Effect<"done", "broken">
  readonly b: Effect.Effect<number>
}
type Fibers = { readonly [K in keyof Two]: Two[K] }
declare const prepare: Effect.Effect<State, "unset", Scope.Scope>
declare const fibers: Fibers
declare const wrong: Effect.Effect<void, never, "needed">
declare const up: Effect.Effect<"up", never, "one">
declare const down: Effect.Effect<never, "down", "two">

// What is not run: the compiler infers it.
const explored = () =>
  Explorer.explore({
    prepare,
    fibers: (state) => state.n > 0 ? fibers : fibers,
    oracle: (state, { a, b }) => {
      const ends: [number, Exit.Exit<"done", "broken">, Exit.Exit<number>] = [state.n, a, b]
      return ends.length > 0 ? undefined : prepare as Effect.Effect<State, "unset">
    },
    shared: (state) => state.n,
    alike: ["a"],
    allow: ["fibers"],
  }, { preemptions: Infinity, interruptions: 1, interrupt: ["a"], maxSchedules: 10, maxSteps: 10 })
const sampled = () => Explorer.sample({ prepare, fibers: () => fibers }, { seed: 1 })
const replayed = () => Explorer.replay({ prepare, fibers: () => fibers }, "a b")
const happened = () => Explorer.event("dial", up, down)

type Asked = InvalidLimits | InvalidRequest
export type Laws = [
  Law<Equal<Of<ReturnType<typeof explored>>, [Explorer.Explored, ScheduleFailed | Uncontrolled | Asked, never]>>,
  Law<Equal<Of<ReturnType<typeof sampled>>, [Explorer.Explored, ScheduleFailed | Uncontrolled | Asked, never]>>,
  Law<
    Equal<
      Of<ReturnType<typeof replayed>>,
      [ReadonlyArray<string>, ScheduleFailed | Uncontrolled | InvalidSchedule | Asked, never]
    >
  >,
  Law<Equal<Of<ReturnType<typeof happened>>, ["up", "down", "one" | "two"]>>,
  Law<Equal<Exits<Fibers>, { readonly a: Exit.Exit<"done", "broken">; readonly b: Exit.Exit<number> }>>,
  Law<
    Equal<keyof Program<State, Fibers>, "prepare" | "fibers" | "oracle" | "shared" | "alike" | "allow">
  >,
  Law<Equal<keyof Bounds, "preemptions" | "interruptions" | "interrupt" | "maxSchedules" | "maxSteps">>,
  Law<Equal<keyof Sampling, "preemptions" | "interruptions" | "interrupt" | "schedules" | "seed" | "maxSteps">>,
  Law<Equal<keyof Explorer.Explored, "schedules" | "repeats" | "exhaustive" | "cutBy" | "unanswered" | "steps">>,
  Law<Equal<Allowed, "defects" | "fibers" | "timers" | "unanswered">>,
  Law<
    Equal<
      Reason,
      "prepare" | "stuck" | "endless" | "defect" | "failure" | "oracle" | "cleanup" | "fibers" | "timers"
    >
  >,
]

// And the compiler does refuse what is not so.
export const refused = () => [
  // @ts-expect-error a fiber that needs something
  Explorer.explore({ prepare, fibers: () => ({ a: wrong }) }),
  // @ts-expect-error a preparation that needs more than a scope
  Explorer.explore({ prepare: wrong, fibers: () => fibers }),
  // @ts-expect-error an oracle that needs something
  Explorer.explore({ prepare, fibers: () => fibers, oracle: () => wrong }),
  // @ts-expect-error a name that no fiber has
  Explorer.explore({ prepare, fibers: () => fibers, alike: ["c"] }),
  // @ts-expect-error a sample without a seed
  Explorer.sample({ prepare, fibers: () => fibers }, {}),
  // @ts-expect-error an event without an outcome
  Explorer.event("dial"),
]

it("the types of the explorer are checked by the compiler", () => {})
