/** A law of a port: what has to hold on every platform that supplies it. It needs no test runner, so that the edge can run it. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

export interface Law<Rig> {
  readonly name: string
  /** What it is about, as the table of runtimes calls it. */
  readonly about: string
  readonly holds: (rig: Rig) => Effect.Effect<void, unknown, Scope.Scope>
}

/** Laws about one thing. */
export const about = <Rig>(
  what: string,
  laws: ReadonlyArray<Omit<Law<Rig>, "about">>,
): ReadonlyArray<Law<Rig>> => laws.map((law) => ({ ...law, about: what }))

/** What a platform cannot do, by the name of the law that does not hold there, and why. */
export type Gaps = Readonly<Record<string, string>>

/** A law that does not hold. */
export class Broken extends Error {
  override readonly name = "Broken"
}

/** Fails where the two are not alike, in what JSON shows of them. */
export const same = (what: string, actual: unknown, wanted: unknown): Effect.Effect<void> =>
  Effect.suspend(() => {
    const [seen, hoped] = [actual, wanted].map((value) => JSON.stringify(value) ?? "undefined")
    return seen === hoped ? Effect.void : Effect.die(new Broken(`${what}: ${seen}, not ${hoped}`))
  })

export const truly = (what: string, holds: boolean): Effect.Effect<void> => same(what, holds, true)

/** Numbers that look random and are the same each time: mulberry32. */
export const chance = (seed: number): (most: number) => number => {
  let state = seed
  return (most) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % (most + 1)
  }
}
