/**
 * Whose turn it is: in each class a ring of tenants, in each tenant a ring of its groups, both by surplus round robin.
 *
 * A turn is worth one quantum, the largest cost, and a tenant's as often that as its weight has the least weight. It
 * goes on while it has credit; what the last grant takes beyond is owed, never more than a quantum, and so is what is
 * taken out of turn. M. Shreedhar and G. Varghese, "Efficient Fair Queueing Using Deficit Round Robin", SIGCOMM 1995, in
 * the form of H. Adiseshu et al., "A Reliable and Scalable Striping Protocol", SIGCOMM 1996. Who leaves its ring leaves
 * its credit and keeps its debt: idling brings nothing. Only who parks and is woken in one step has never been away.
 */
import { type Group, inTurn, never, nowhere, Turn } from "./Ask.ts"
import type { Class } from "./Ledger.ts"
import { List, type Node } from "./List.ts"
import { Passers } from "./Passers.ts"

export class Rotation {
  readonly #rings: ReadonlyArray<List<Turn>> = [new List(), new List(), new List(), new List()]
  readonly #passers: Array<Passers | undefined> = []
  /** The largest cost and the least weight seen since the line was last empty. Both keep the bound as they move. */
  quantum = 0
  leastWeight = 1
  #quantumBefore = 0
  #leastWeightBefore = 1
  /** Grows when the line was empty: older debts are void. */
  #spell = 0
  #step = 0

  /** An ask has come, `first` into an empty line. */
  see(cost: number, weight: number, first: boolean): void {
    if (first) this.#spell++
    this.#quantumBefore = this.quantum
    this.#leastWeightBefore = this.leastWeight
    this.quantum = first ? cost : Math.max(this.quantum, cost)
    this.leastWeight = first ? weight : Math.min(this.leastWeight, weight)
  }

  /** The ask that came last was refused in its own step: it does not count. */
  unsee(): void {
    this.quantum = this.#quantumBefore
    this.leastWeight = this.#leastWeightBefore
  }

  turnOf(group: Group): Turn {
    const turnClass = group.turnClass
    return group.pair.tenant.turns[turnClass] ??= new Turn(group.pair.tenant, turnClass)
  }

  /** Puts a group at the end of its tenant's turn, and a tenant that had none at the end of the ring. */
  attach(group: Group): void {
    const turn = this.turnOf(group)
    this.#join(turn.groups, group)
    group.place = inTurn
    this.#passers[turn.turnClass]?.add(group)
    if (turn.list === undefined) this.#join(this.#rings[turn.turnClass]!, turn)
  }

  /** The group keeps its place with another head. */
  renewHead(group: Group): void {
    const passers = this.#passers[group.turnClass]
    if (passers === undefined) return
    passers.remove(group)
    passers.add(group)
  }

  /** Takes a group out of the ring, and its tenant where that was the last one. */
  detach(group: Group): void {
    this.#leave(group, never)
  }

  /** The same for a group that parks: where it is woken before {@link endStep}, it has its turn as it was. */
  suspend(group: Group): void {
    this.#leave(group, this.#step)
  }

  /** Who is suspended now has left. */
  endStep(): void {
    this.#step++
  }

  #leave(group: Group, step: number): void {
    const turn = this.turnOf(group)
    const ring = this.#rings[turn.turnClass]!
    quit(turn.groups, group, step)
    group.place = nowhere
    this.#passers[turn.turnClass]?.remove(group)
    if (turn.groups.size > 0) return
    quit(ring, turn, step)
    if (ring.size === 0) this.#passers[turn.turnClass] = undefined
  }

  #join<T extends Turn | Group>(ring: List<T>, owner: T & Node<T>): void {
    if (owner.spell !== this.#spell) {
      owner.spell = this.#spell
      owner.credit = 0
    }
    if (owner.suspendedIn === this.#step) {
      if (owner.wasFirst) return ring.pushFront(owner)
    } else {
      owner.credit = Math.min(0, owner.credit)
      owner.started = false
    }
    ring.push(owner)
  }

  isEmpty(turnClass: Class): boolean {
    return this.#rings[turnClass]!.head === undefined
  }

  /** The group whose turn it is; it stays where it is. Asking again gives the same one. Debts are paid on the way. */
  next(turnClass: Class): Group | undefined {
    const ring = this.#rings[turnClass]!
    for (;;) {
      const turn = ring.head
      if (turn === undefined) return undefined
      if (!turn.started) {
        turn.started = true
        turn.credit += this.quantum * turn.tenant.weight / this.leastWeight
      }
      const group = turn.groups.head!
      if (!group.started) {
        group.started = true
        group.credit += this.quantum
      }
      if (turn.credit <= 0) this.#endTurn(turn)
      else if (group.credit <= 0) this.#endGroup(turn, group)
      else return group
    }
  }

  /** The first group of a class whose head fits, wherever its turn is. */
  passer(turnClass: Class, room: number): Group | undefined {
    const passers = this.#passers[turnClass] ??= this.#collect(turnClass)
    return passers.first(room)
  }

  /** Once while the class has groups in turn: all that come later are added as they come. */
  #collect(turnClass: Class): Passers {
    const passers = new Passers()
    for (const turn of this.#rings[turnClass]!.toArray()) {
      for (const group of turn.groups.toArray()) passers.add(group)
    }
    return passers
  }

  /** Takes the head's units from the turn's and the group's credit. What is used up ends at once: newcomers are behind. */
  spend(group: Group): void {
    const turn = this.turnOf(group)
    group.credit -= group.need
    turn.credit -= group.need
    if (group.started && group.credit <= 0) this.#endGroup(turn, group)
    if (turn.started && turn.credit <= 0) this.#endTurn(turn)
  }

  #endGroup(turn: Turn, group: Group): void {
    group.started = false
    turn.groups.rotate(group)
  }

  #endTurn(turn: Turn): void {
    turn.started = false
    this.#rings[turn.turnClass]!.rotate(turn)
  }

  /** Whether `group` may take its units out of turn, past `head`, and still owe a quantum at most. */
  mayBorrow(group: Group, head: Group): boolean {
    const turn = this.turnOf(group)
    // Of the turn that is the head's as well, the head's units are kept.
    const kept = turn.tenant === head.pair.tenant ? head.need : 0
    const left = Math.min(turn.credit - kept, group.credit) - group.need
    return left >= -this.quantum
  }
}

const quit = <T extends Turn | Group>(ring: List<T>, owner: T & Node<T>, step: number): void => {
  owner.suspendedIn = step
  owner.wasFirst = ring.head === owner
  ring.remove(owner)
}
