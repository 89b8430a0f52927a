/**
 * Operations one after another, each beside a floor of its own, measured in stages of one process. Owns nothing.
 *
 * Each further kind of effect that a process has run makes all of them a little slower, the floors most of all: so what
 * is judged comes in the first stage, beside as little else as possible.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { median } from "./Interval.ts"
import { alternate, type Loop, loop, type Pair, type Sample } from "./Rounds.ts"
import { type Emit, figures, type Group } from "./Row.ts"

const sliceMillis = 4
const slices = 9

let done = 0
/** The body that everything here bounds or guards. */
export const body = (): void => {
  done++
}
export const work: Effect.Effect<void> = Effect.sync(body)

/** What a request handler pays that is already inside a fiber. */
export const inFiber = (each: () => Effect.Effect<unknown, unknown>): Loop => (n) => {
  let i = 0
  return Effect.runPromise(
    Effect.whileLoop({ while: () => i++ < n, body: each, step: () => {} }),
  )
}
export const always = <A>(value: A) => (): A => value
export const again = (effect: Effect.Effect<unknown, unknown>): Loop => inFiber(always(effect))
/** The same in a scope that all of them share. */
export const inOneScope = (effect: Effect.Effect<unknown, unknown, Scope.Scope>): Loop => (n) => {
  let i = 0
  const all = Effect.whileLoop({
    while: () => i++ < n,
    body: always(effect),
    step: () => {},
  })
  return Effect.runPromise(Effect.scoped(all))
}
export const inLoop = (each: () => Promise<unknown>): Loop => async (n) => {
  for (let i = 0; i < n; i++) await each()
}

export interface Case {
  readonly subject: string
  readonly case: string
  readonly work: Loop
  /** Without one it is a floor itself. */
  readonly floor?: Loop
}

/** Measures all of them in turns; a floor runs beside `floor`, so that it has the same neighbours. */
export const stage = async (
  emit: Emit,
  group: Group,
  cases: ReadonlyArray<Case>,
  floor: Loop,
): Promise<ReadonlyArray<Sample>> => {
  const pairs: Array<Pair> = []
  for (const each of cases) {
    const beside = await loop(each.floor ?? floor, sliceMillis)
    pairs.push({
      subject: await loop(each.work, sliceMillis),
      floor: beside,
      slices,
    })
  }
  const samples = await alternate(pairs)
  cases.forEach((each, i) => {
    const sample = samples[i]
    if (sample === undefined) return
    const seen = each.floor ? figures(sample) : { nsPerOp: median(sample.values) }
    emit({ group, subject: each.subject, case: each.case, ...seen })
  })
  return samples
}
