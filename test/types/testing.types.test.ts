/** The types of the testing kit, exactly: what it needs, what it may fail with, what it knows by name. The compiler is the test. */
import { it } from "vitest"
import type fc from "fast-check"
import type * as Cause from "effect/Cause"
import type * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import type * as BunTesting from "../../adapters/bun/testing/mod.ts"
import type * as DenoTesting from "../../adapters/deno/testing/mod.ts"
import type * as NodeTesting from "../../adapters/node/testing/mod.ts"
import type { Census, LeakCheck } from "../../adapters/shared/testing/LeakCheck.ts"
import type * as FaultSweep from "../../core/testing/FaultSweep.ts"
import type * as HandClock from "../../core/testing/HandClock.ts"
import type * as Model from "../../core/testing/Model.ts"
import type * as Point from "../../core/testing/Point.ts"
import type * as Script from "../../core/testing/Script.ts"
import type * as ScriptedPorts from "../../core/testing/ScriptedPorts.ts"
import * as Sweep from "../../core/testing/Sweep.ts"
import type * as World from "../../core/testing/World.ts"

/** `true` only where both are the same type; unions, optional and readonly count. */
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false
/** Accepts no type but `true`. */
type Law<_ extends true> = never

type Of<E> = E extends Effect.Effect<infer A, infer X, infer R> ? [A, X, R] : never

declare const prepare: Effect.Effect<{ readonly free: number }, "unmade", Scope.Scope>
declare const work: Effect.Effect<"done", "broken">
declare const operation: Effect.Effect<"made", "broken", Scope.Scope | "needed">
declare const script: Script.Script
declare const faults: FaultSweep.Stage<{ readonly free: number }>
declare const leaks: LeakCheck
const stage = () => Sweep.on(prepare)
const swept = () => stage().sweep({ fibers: () => ({ user: work, other: work }), disturb: "user" })
const amid = () => Sweep.amid(operation)

interface Port {
  readonly dial: (target: string) => Effect.Effect<number, "refused", Scope.Scope>
  readonly ready: Effect.Effect<boolean>
  readonly limit: 9
}
declare const port: Port
const scripted = () => script.port("port", port)
const checked = () => leaks.check(operation)

export type Laws = [
  Law<Equal<ReturnType<typeof stage>, Sweep.Stage<{ readonly free: number }>>>,
  Law<Equal<Of<ReturnType<typeof swept>>, [Sweep.Swept<"user" | "other">, Sweep.SweepFailed, never]>>,
  Law<Equal<Of<ReturnType<ReturnType<typeof stage>["replay"]>>, [void, Sweep.SweepFailed | Point.InvalidPoint, never]>>,
  Law<Equal<Of<ReturnType<typeof amid>>, ["made", "broken", "needed"]>>,
  Law<Equal<Sweep.SweepFailed["cause"], Cause.Cause<unknown> | undefined>>,
  Law<Equal<keyof Sweep.Swept<"a">["endings"], "a">>,
  Law<
    Equal<
      keyof Sweep.Scene<unknown, "a">,
      | "fibers"
      | "disturb"
      | "again"
      | "ends"
      | "conserved"
      | "oracle"
      | "left"
      | "prompt"
      | "rest"
      | "maxSteps"
    >
  >,
  Law<Equal<Sweep.Moment<1, "a">["fibers"], { readonly a: World.AnyFiber }>>,
  Law<Equal<Sweep.Moment<1, "a">["clock"], HandClock.HandClock>>,
  Law<Equal<Of<typeof Script.make>, [Script.Script, never, never]>>,
  Law<Equal<ReturnType<typeof scripted>, Port>>,
  Law<Equal<Of<ReturnType<Script.Script["release"]>>, [void, Script.NoSuchCall, never]>>,
  Law<Equal<Of<ReturnType<Script.Script["scoped"]>>, [Script.Handle, never, Scope.Scope]>>,
  Law<Equal<Script.State, "asked" | "held" | "silent" | "answered" | "failed" | "dropped">>,
  Law<Equal<Of<ReturnType<typeof faults["sweep"]>>[1], Sweep.SweepFailed>>,
  Law<Equal<keyof ScriptedPorts.Directory, "issue" | "stamp" | "readStamp" | "revoke" | "rotate">>,
  Law<Equal<keyof ScriptedPorts.Store<1>, "load" | "compareAndPut" | "claimFence">>,
  Law<Equal<Of<ReturnType<ScriptedPorts.Store<1>["compareAndPut"]>>[1], ScriptedPorts.Conflict | ScriptedPorts.Fenced>>,
  Law<Equal<Of<ReturnType<typeof Model.check>>, [Model.Checked, Model.ModelFailed, never]>>,
  Law<Equal<ReturnType<Model.Stage["start"]>, Fiber.Fiber<unknown, unknown>>>,
  Law<Equal<ReturnType<Model.Stage["now"]>, Exit.Exit<unknown, unknown>>>,
  // The real fast-check is one, and so is its arbitrary, with what it draws known.
  Law<typeof fc extends Model.FastCheck ? true : false>,
  Law<ReturnType<typeof fc.nat> extends Model.Arbitrary<number> ? true : false>,
  Law<ReturnType<typeof fc.nat> extends Model.Arbitrary<string> ? false : true>,
  Law<
    Equal<
      Of<ReturnType<typeof checked>>,
      ["made", "broken" | NodeTesting.Leaks.Leaked | NodeTesting.Leaks.CannotSee, Scope.Scope | "needed"]
    >
  >,
  Law<Equal<Census["timers"], number | undefined>>,
  // The same noun in each runtime's folder.
  Law<Equal<typeof NodeTesting.Leaks.check, typeof DenoTesting.Leaks.check>>,
  Law<Equal<keyof typeof NodeTesting.Leaks, keyof typeof DenoTesting.Leaks>>,
  Law<Equal<keyof typeof NodeTesting.Leaks, keyof typeof BunTesting.Leaks>>,
  Law<Equal<keyof typeof NodeTesting, keyof typeof BunTesting>>,
]

// @ts-expect-error: no fiber has this name
export const stranger = () => stage().sweep({ fibers: () => ({ user: work }), disturb: "usher" })
// @ts-expect-error: nor is there one to say how it ends
export const ending = () => stage().sweep({ fibers: () => ({ user: work }), disturb: "user", ends: { usher: [] } })
// @ts-expect-error: what a scene runs needs nothing that nobody gives it
export const needy = () => stage().sweep({ fibers: () => ({ user: operation }), disturb: "user" })

it("the types of the testing kit are checked by the compiler", () => {})
