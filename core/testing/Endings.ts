/** How each fiber of a scene was seen to end, over all runs of a sweep. Owns the sets; a fiber may have any name. */
import type { Ending } from "./Ending.ts"

export class Endings<N extends string> {
  readonly #seen = new Map<string, Set<Ending>>()

  add(endings: Readonly<Record<string, Ending | ReadonlyArray<Ending>>>): void {
    for (const [name, seen] of Object.entries(endings)) {
      const set = this.#seen.get(name) ?? new Set()
      this.#seen.set(name, set)
      for (const ending of [seen].flat()) set.add(ending)
    }
  }

  get all(): { readonly [name in N]: ReadonlyArray<Ending> } {
    const all = [...this.#seen].map(([name, set]) => [name as N, [...set].sort()] as const)
    return Object.fromEntries<ReadonlyArray<Ending>>(all) as { readonly [name in N]: ReadonlyArray<Ending> }
  }
}
