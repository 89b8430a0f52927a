/**
 * Whose turn it is: in each class a ring of tenants, in each tenant a ring of its groups, both by deficit round robin.
 *
 * A tenant's turn is worth quantum x weight, a group's turn inside it one quantum, and the quantum is the largest cost,
 * so every turn can serve its head. M. Shreedhar and G. Varghese, "Efficient Fair Queueing Using Deficit Round Robin",
 * SIGCOMM 1995. A tenant or group that leaves its ring leaves its deficit: idling brings no credit.
 */
import { type Group, inTurn, nowhere, Turn } from "./Ask.ts"
import type { Class } from "./Ledger.ts"
import { List } from "./List.ts"

export class Rotation {
  readonly #rings: ReadonlyArray<List<Turn>> = [new List(), new List(), new List(), new List()]
  /** The largest cost seen since the line was last empty. */
  quantum = 0

  turnOf(group: Group): Turn {
    const turnClass = group.turnClass
    return group.pair.tenant.turns[turnClass] ??= new Turn(group.pair.tenant, turnClass)
  }

  /** Puts a group at the end of its tenant's turn, and a tenant that had none at the end of the ring. */
  attach(group: Group): void {
    const turn = this.turnOf(group)
    turn.groups.push(group)
    group.place = inTurn
    if (turn.list !== undefined) return
    if (turn.pending === 0) reset(turn)
    this.#rings[turn.turnClass]!.push(turn)
  }

  /** Puts back a group that was served out of the ring, to finish the turn that it had begun. */
  restore(group: Group): void {
    const turn = this.turnOf(group)
    turn.groups.pushFront(group)
    group.place = inTurn
    if (turn.list !== undefined) return
    const ring = this.#rings[turn.turnClass]!
    if (turn.started) ring.pushFront(turn)
    else ring.push(turn)
  }

  /** Takes a group out of the ring, and its tenant where that was the last one. */
  detach(group: Group): void {
    const turn = this.turnOf(group)
    turn.groups.remove(group)
    group.place = nowhere
    if (turn.groups.size > 0) return
    this.#rings[turn.turnClass]!.remove(turn)
    if (turn.pending === 0) reset(turn)
  }

  isEmpty(turnClass: Class): boolean {
    return this.#rings[turnClass]!.head === undefined
  }

  /** The group whose turn it is, able to pay for its head; it stays where it is. Asking again gives the same one. */
  next(turnClass: Class): Group | undefined {
    const ring = this.#rings[turnClass]!
    for (;;) {
      const turn = ring.head
      if (turn === undefined) return undefined
      if (!turn.started) {
        turn.started = true
        turn.deficit += this.quantum * turn.tenant.weight
      }
      const group = turn.groups.head!
      if (!group.started) {
        group.started = true
        group.deficit += this.quantum
      }
      if (group.deficit < group.need) {
        group.started = false
        turn.groups.rotate(group)
      } else if (turn.deficit < group.need) {
        turn.started = false
        ring.rotate(turn)
      } else return group
    }
  }

  /** Takes the head's units from the turn's and the group's deficits. */
  spend(group: Group): void {
    group.deficit -= group.need
    this.turnOf(group).deficit -= group.need
  }

  /** The group leaves its ring or its spell of waiting: what it had saved is gone. */
  forget(group: Group): void {
    group.deficit = 0
    group.started = false
  }
}

const reset = (turn: Turn): void => {
  turn.deficit = 0
  turn.started = false
}
