/**
 * Every fault at every call: a scene is swept once for each call that it makes of its scripted ports and each plan that
 * is given, with that call alone going by that plan. Owns the script of each run.
 *
 * The bound: one fault a run, and none at calls that are made only because of another. A plan that a call cannot go by, as
 * one for the deadline of a caller who carries none, is a failure, and says so.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { Endings } from "./Endings.ts"
import * as Point from "./Point.ts"
import * as Script from "./Script.ts"
import * as Sweep from "./Sweep.ts"

export interface Swept<N extends string> extends Sweep.Swept<N> {
  /** Calls that the scene makes where nothing is wrong. Each went once by every plan that is for it. */
  readonly calls: number
}

export interface Stage<S> {
  /**
   * Fails at the first run that ends wrong. What the ports have opened must be closed at the end of each; fibers that
   * are not listed in `ends` end as they do undisturbed with the same fault, and so with the port's own typed error.
   */
  readonly sweep: <N extends string>(
    plans: ReadonlyArray<Script.Plan>,
    scene: Sweep.Scene<S, N>,
  ) => Effect.Effect<Swept<N>, Sweep.SweepFailed>
  /**
   * Plays the one run that a failure names, of the program that failed, by the same plans. Of plans with one name those
   * after the first are numbered, `fail 2`. A point is `InvalidPoint` where it names a call that is not made.
   */
  readonly replay: <N extends string>(
    plans: ReadonlyArray<Script.Plan>,
    scene: Sweep.Scene<S, N>,
    point: string,
  ) => Effect.Effect<void, Sweep.SweepFailed | Point.InvalidPoint>
}

/** A sweep over what `prepare` makes of ports that are scripted by what it is given, anew for each run. */
export const on = <S>(prepare: (script: Script.Script) => Effect.Effect<S, unknown, Scope.Scope>): Stage<S> => ({
  sweep: (plans, scene) => sweep(prepare, plans, scene),
  replay: (plans, scene, point) =>
    Effect.suspend(() => {
      const found = /^(?:(\d+) (.+): )?(.+)$/.exec(point)
      const plan = named(plans).find(({ name }) => name === found?.[2])
      if (found === null || (found[1] !== undefined && plan === undefined)) {
        return Effect.fail(new Point.InvalidPoint({ point, why: "it is no point of a fault sweep by these plans" }))
      }
      const faulty = new Faulty(
        prepare,
        scene,
        found[1] === undefined ? undefined : Number(found[1]),
        plan ?? Script.pass,
      )
      const replayed = Effect.mapError(
        Sweep.on(faulty.prepare).replay(faulty.scene, found[3]!),
        (failed) =>
          failed instanceof Sweep.SweepFailed
            ? faulty.located(failed)
            : new Point.InvalidPoint({ point, why: failed.why }),
      )
      const unmade = new Point.InvalidPoint({ point, why: "no such call is made that goes by this plan" })
      return Effect.andThen(replayed, Effect.suspend(() => faulty.isMade ? Effect.void : Effect.fail(unmade)))
    }),
})

const sweep = <S, N extends string>(
  prepare: (script: Script.Script) => Effect.Effect<S, unknown, Scope.Scope>,
  plans: ReadonlyArray<Script.Plan>,
  scene: Sweep.Scene<S, N>,
): Effect.Effect<Swept<N>, Sweep.SweepFailed> =>
  Effect.gen(function* () {
    const right = new Faulty(prepare, scene, undefined, Script.pass)
    const whole = yield* Sweep.on(right.prepare).sweep(right.scene)
    let [steps, runs] = [whole.steps, whole.runs]
    const seen = new Endings<N>()
    seen.add(whole.endings)
    for (let call = 1; call <= right.labels.size; call++) {
      for (const plan of named(plans)) {
        if (plan.label !== undefined && !right.labels.get(call)?.has(plan.label)) continue
        const faulty = new Faulty(prepare, scene, call, plan)
        const swept = yield* Effect.mapError(
          Sweep.on(faulty.prepare).sweep(faulty.scene),
          (failed) => faulty.located(failed),
        )
        steps += swept.steps
        runs += swept.runs
        seen.add(swept.endings)
      }
    }
    return { steps, runs, calls: right.labels.size, endings: seen.all }
  })

/** The plans with each name once: those after the first of a name are numbered, so that a point tells which it was. */
const named = (plans: ReadonlyArray<Script.Plan>): ReadonlyArray<Script.Plan> => {
  const taken = new Set(plans.map(({ name }) => name))
  const seen = new Set<string>()
  return plans.map((plan) => {
    if (!seen.has(plan.name)) {
      seen.add(plan.name)
      return plan
    }
    let nth = 2
    while (taken.has(`${plan.name} ${nth}`)) nth++
    const name = `${plan.name} ${nth}`
    taken.add(name)
    return { ...plan, name }
  })
}

/**
 * A scene with one call that goes by a plan. Its runs come one after another, so that the last script is the run's own.
 */
class Faulty<S, N extends string> {
  readonly prepare: Effect.Effect<S, unknown, Scope.Scope>
  readonly scene: Sweep.Scene<S, N>
  /** What was called, by number; calls may come in another order in another run. */
  readonly labels: Map<number, Set<string>> = new Map()
  readonly #call: number | undefined
  readonly #plan: Script.Plan
  #script: Script.Script | undefined = undefined

  constructor(
    prepare: (script: Script.Script) => Effect.Effect<S, unknown, Scope.Scope>,
    scene: Sweep.Scene<S, N>,
    call: number | undefined,
    plan: Script.Plan,
  ) {
    this.#call = call
    this.#plan = plan
    this.prepare = Effect.flatMap(Script.make, (script) => {
      if (call !== undefined) script.plan(call, plan)
      this.#script = script
      return prepare(script)
    })
    this.scene = {
      ...scene,
      left: (state) => {
        for (const { label, number } of this.#script?.calls ?? []) {
          this.labels.set(number, (this.labels.get(number) ?? new Set()).add(label))
        }
        // Whoever swallowed that it cannot go by its plan was swept by none.
        return [...this.#script?.left ?? [], ...[this.#script?.unfit ?? []].flat(), ...scene.left?.(state) ?? []]
      },
    }
  }

  /** Whether a run that ended right made the call, and by the plan. */
  get isMade(): boolean {
    if (this.#call === undefined) return true
    const labels = this.labels.get(this.#call)
    return labels !== undefined && (this.#plan.label === undefined || labels.has(this.#plan.label))
  }

  /** A failure with the call and its plan added to where it was seen. */
  located(failed: Sweep.SweepFailed): Sweep.SweepFailed {
    if (this.#call === undefined) return failed
    const { label, nth } = this.#script?.calls[this.#call - 1] ?? { label: "not made", nth: 0 }
    return new Sweep.SweepFailed({
      point: `${this.#call} ${this.#plan.name}: ${failed.point}`,
      where: `${failed.where}, call ${this.#call} (${label} ${nth}): ${this.#plan.name}`,
      why: this.#script?.unfit ?? failed.why,
      cause: failed.cause,
    })
  }
}
