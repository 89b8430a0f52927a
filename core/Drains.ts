/**
 * Drains that are waited for: each ends when nothing is held or waiting, or at its own instant. Owns their resumption.
 */
import type { DrainReport, Holder } from "./AdmissionSnapshot.ts"
import * as Deadline from "./Deadline.ts"

/** One drain that somebody waits for. */
export interface Drain {
  readonly startedNanos: number
  readonly dueNanos: number
  /** Asks that were refused since it began. */
  refused: number
  readonly report: (report: DrainReport) => void
}

export class Drains {
  readonly #drains = new Set<Drain>()

  get isEmpty(): boolean {
    return this.#drains.size === 0
  }

  /** The nearest instant at which one is due; `Infinity` without any. */
  get nextDue(): number {
    if (this.isEmpty) return Infinity
    let next = Infinity
    for (const drain of this.#drains) next = Math.min(next, drain.dueNanos)
    return next
  }

  add(drain: Drain): void {
    this.#drains.add(drain)
  }

  remove(drain: Drain): void {
    this.#drains.delete(drain)
  }

  noteRefused(asks: number): void {
    for (const drain of this.#drains) drain.refused += asks
  }

  /** Ends those that are due at `now`, which `Infinity` makes all, with what is still held then. */
  finish(upToNanos: number, now: number, held: number, holders: () => ReadonlyArray<Holder>): void {
    for (const drain of this.#drains) {
      if (drain.dueNanos > upToNanos) continue
      this.#drains.delete(drain)
      drain.report({
        clean: held === 0,
        held,
        holders: holders(),
        refused: drain.refused,
        waited: Deadline.nanos(now - drain.startedNanos),
      })
    }
  }
}
