/**
 * Callers that always want more: each keeps so many asks waiting, and asks again when one of them is granted, expires or
 * is given up. They join and leave as the test says.
 */
import type { Ask } from "../../core/kernel/Ask.ts"
import type { Class } from "../../core/kernel/Ledger.ts"
import type { Simulation } from "./Simulation.ts"

export interface Caller {
  readonly tenant: string
  readonly provider?: string
  readonly arrival?: Class
  /** Asks that it keeps waiting. */
  readonly depth: number
  readonly cost: () => number
  readonly hold: () => number
  readonly patience?: () => number
}

interface Seat {
  readonly caller: Caller
  present: boolean
  coming: boolean
  waiting: number
}

export class Callers {
  readonly #simulation: Simulation
  readonly #seats = new Map<Caller, Seat>()
  readonly #seatOf = new Map<Ask, Seat>()

  constructor(simulation: Simulation) {
    this.#simulation = simulation
    simulation.watch({
      granted: (ask) => this.#ended(ask),
      expired: (ask) => this.#ended(ask),
    })
  }

  join(caller: Caller): void {
    const seat = this.#seats.get(caller) ?? { caller, present: false, coming: false, waiting: 0 }
    this.#seats.set(caller, seat)
    if (seat.present) return
    seat.present = true
    this.#refill(seat)
  }

  /** Asks no more; what waits stays. */
  leave(caller: Caller): void {
    const seat = this.#seats.get(caller)
    if (seat !== undefined) seat.present = false
  }

  /** Asks no more, and gives up all that waits. */
  giveUp(caller: Caller): void {
    this.leave(caller)
    const seat = this.#seats.get(caller)
    for (const [ask, owner] of this.#seatOf) {
      if (owner !== seat) continue
      this.#seatOf.delete(ask)
      seat.waiting--
      this.#simulation.giveUp(ask)
    }
  }

  #ended(ask: Ask): void {
    const seat = this.#seatOf.get(ask)
    if (seat === undefined) return
    this.#seatOf.delete(ask)
    seat.waiting--
    if (seat.coming) return
    seat.coming = true
    // The next ask is another step.
    this.#simulation.after(0, () => {
      seat.coming = false
      this.#refill(seat)
    })
  }

  #refill(seat: Seat): void {
    const { caller } = seat
    while (seat.present && seat.waiting < caller.depth) {
      const { arrival, cost, hold, patience, provider, tenant } = caller
      const { ask } = this.#simulation.offer({
        tenant,
        cost: cost(),
        hold: hold(),
        ...(provider === undefined ? {} : { provider }),
        ...(arrival === undefined ? {} : { arrival }),
        ...(patience === undefined ? {} : { patience: patience() }),
      })
      if (!this.#simulation.waits(ask)) continue
      seat.waiting++
      this.#seatOf.set(ask, seat)
    }
  }
}
