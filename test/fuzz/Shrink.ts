/** A smaller case that still breaks a law: as much of its input taken out as may be, in halves, then in ever smaller spans. */
import type { Case } from "./Case.ts"

export const shrink = (one: Case, isBroken: (smaller: Case) => boolean): Case => {
  if (one.kind === "request") return one
  let best: Exclude<Case, { readonly kind: "request" }> = one
  for (let span = Math.ceil(best.input.length / 2); span > 0; span = Math.floor(span / 2)) {
    for (let at = 0; at < best.input.length;) {
      const smaller = { ...best, input: best.input.slice(0, at) + best.input.slice(at + span) }
      if (isBroken(smaller)) best = smaller
      else at += span
    }
  }
  return best
}
