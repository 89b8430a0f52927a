/**
 * Who was served how much while who else could have been: for every two members, how far apart their served units per
 * weight have come over any interval in which both stayed eligible.
 *
 * The widest difference over all intervals is the span that the running difference has covered, so each grant costs
 * O(members). A span ends when one of the two is eligible no longer.
 */
import { type Ask, type Group, inTurn } from "../../core/kernel/Ask.ts"
import type { Simulation } from "./Simulation.ts"

export interface Member {
  readonly weight: number
  /** Whether the ask counts for this member. */
  readonly owns: (ask: Ask) => boolean
  /** Its groups that wait. */
  readonly groups: () => ReadonlyArray<Group>
}

export interface Widest {
  /** Difference over what is allowed. */
  readonly ratio: number
  readonly difference: number
  readonly allowed: number
  readonly weights: readonly [number, number]
  readonly largest: number
}

interface Span {
  low: number
  high: number
}

export class Shares {
  readonly #simulation: Simulation
  readonly #members: ReadonlyArray<Member>
  readonly #served: Array<number>
  readonly #spans: Array<Array<Span | undefined>>
  widest: Widest = { ratio: 0, difference: 0, allowed: 0, weights: [0, 0], largest: 0 }

  constructor(simulation: Simulation, members: ReadonlyArray<Member>) {
    this.#simulation = simulation
    this.#members = members
    this.#served = members.map(() => 0)
    this.#spans = members.map(() => [])
    const look = () => this.#look()
    simulation.watch({ granted: (ask) => this.#granted(ask), expired: look, leaving: look, settled: look })
  }

  #granted(ask: Ask): void {
    const i = this.#members.findIndex((member) => member.owns(ask))
    if (i < 0) return
    this.#served[i]! += ask.cost / this.#members[i]!.weight
    for (let j = 0; j < this.#members.length; j++) {
      // One that was parked earlier in this step is no longer eligible, though the step is not over.
      const stands = this.#members[j]!.groups().some(({ place }) => place === inTurn)
      if (j !== i && stands) this.#stretch(Math.min(i, j), Math.max(i, j))
    }
    this.#look()
  }

  #stretch(i: number, j: number): void {
    const span = this.#spans[i]![j]
    if (span === undefined) return
    const apart = this.#served[i]! - this.#served[j]!
    span.low = Math.min(span.low, apart)
    span.high = Math.max(span.high, apart)
    const weights = [this.#members[i]!.weight, this.#members[j]!.weight] as const
    const { largest } = this.#simulation
    const allowed = largest * (1 + 1 / weights[0] + 1 / weights[1])
    const difference = span.high - span.low
    const ratio = difference / allowed
    if (ratio > this.widest.ratio) this.widest = { ratio, difference, allowed, weights, largest }
  }

  #look(): void {
    const eligible = this.#members.map(({ groups }) => groups().some((group) => this.#simulation.isEligible(group)))
    for (let i = 0; i < eligible.length; i++) {
      for (let j = i + 1; j < eligible.length; j++) {
        const both = eligible[i]! && eligible[j]!
        const apart = this.#served[i]! - this.#served[j]!
        if (!both) this.#spans[i]![j] = undefined
        else this.#spans[i]![j] ??= { low: apart, high: apart }
      }
    }
  }
}
