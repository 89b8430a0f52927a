/** A smaller case that still breaks a law: as much of its input taken out as may be, in halves, then in ever smaller spans. */
import type { Case } from "./Case.ts"

export const shrink = (one: Case, isBroken: (smaller: Case) => boolean): Case => {
  switch (one.kind) {
    case "request":
      return one
    case "peer":
      return { ...one, steps: least(one.steps, (steps) => isBroken({ ...one, steps })) }
    default:
      return { ...one, input: least(one.input, (input) => isBroken({ ...one, input })) }
  }
}

interface Sliced<S> {
  readonly length: number
  readonly slice: (from: number, to?: number) => S
}

const least = <S extends Sliced<S> & (string | ReadonlyArray<unknown>)>(
  whole: S,
  isBroken: (smaller: S) => boolean,
): S => {
  let best = whole
  for (let span = Math.ceil(best.length / 2); span > 0; span = Math.floor(span / 2)) {
    for (let at = 0; at < best.length;) {
      const [before, behind] = [best.slice(0, at), best.slice(at + span)]
      const smaller = (typeof before === "string" ? before + behind : [...before, ...behind]) as S
      if (isBroken(smaller)) best = smaller
      else at += span
    }
  }
  return best
}
