/**
 * A first-in-first-out queue that answers "who is the first that needs at most this many units?"
 *
 * Members that need the same are one list. Where members of several needs wait, a tournament tree over the needs holds
 * the earliest ticket of each list, so the answer costs O(log largest need), whatever the number of members. With one
 * need alone, the common case, there is no tree. It owns its members' links.
 */
import { List, type Node } from "./List.ts"

export interface Member<T> extends Node<T> {
  /** Place in the queue, lower first, unique in it. Fixed while the member is in. */
  ticket: number
  /** Units, at least 1. Fixed while the member is in. */
  need: number
}

const none = Infinity

export class FitQueue<T extends Member<T>> {
  readonly #lists = new Map<number, List<T>>()
  /** Tournament over needs: node i has the children 2i and 2i+1, the leaf of need n is `#leaves + n - 1`. */
  readonly #earliest = new Map<number, number>()
  #leaves = 0
  size = 0

  add(member: T): void {
    let list = this.#lists.get(member.need)
    if (list === undefined) {
      list = new List<T>()
      this.#lists.set(member.need, list)
      if (this.#lists.size > 1) this.#grow(member.need)
    }
    // A member that comes back with its old ticket goes before the later ones; all others go last.
    let at = list.tail
    if (at !== undefined && at.ticket > member.ticket) {
      at = list.head!
      while (at.ticket < member.ticket) at = at.next!
      list.insertBefore(at, member)
    } else list.push(member)
    this.size++
    if (list.head === member) this.#refresh(member.need)
  }

  remove(member: T): void {
    const list = this.#lists.get(member.need)
    if (list === undefined) return
    const wasFirst = list.head === member
    if (!list.remove(member)) return
    this.size--
    if (list.size === 0) this.#lists.delete(member.need)
    if (wasFirst) this.#refresh(member.need)
    if (this.#lists.size === 0) this.#leaves = 0
  }

  first(): T | undefined {
    return this.firstFitting(Number.MAX_SAFE_INTEGER)
  }

  /** The member with the lowest ticket among those that need at most `units`. */
  firstFitting(units: number): T | undefined {
    if (this.#leaves === 0) {
      for (const [need, list] of this.#lists) return need <= units ? list.head : undefined
    }
    const need = this.#earliestNeed(Math.max(0, Math.min(units, this.#leaves - 1)))
    return need === 0 ? undefined : this.#lists.get(need)!.head
  }

  toArray(): Array<T> {
    const all: Array<T> = []
    for (const list of this.#lists.values()) all.push(...list.toArray())
    return all.sort((a, b) => a.ticket - b.ticket)
  }

  /** The need, up to `most`, whose list has the earliest ticket; 0 where there is none. */
  #earliestNeed(most: number): number {
    let best = none
    let at = 0
    // The prefix 1..most, as O(log) whole subtrees: those beside the way from the leaf behind it up to the root.
    for (let end = this.#leaves + most; end > 0; end >>= 1) {
      if ((end & 1) === 0) continue
      const ticket = this.#ticketAt(end - 1)
      if (ticket < best) [best, at] = [ticket, end - 1]
    }
    if (at === 0) return 0
    while (at < this.#leaves) at = this.#ticketAt(2 * at) === best ? 2 * at : 2 * at + 1
    return at - this.#leaves + 1
  }

  #ticketAt(node: number): number {
    return this.#earliest.get(node) ?? none
  }

  /** Makes room for `need` in the tree, and one leaf behind it; it is built anew where it was too small or absent. */
  #grow(need: number): void {
    if (need < this.#leaves) return
    let leaves = 1
    for (const each of this.#lists.keys()) while (leaves <= each) leaves *= 2
    this.#leaves = leaves
    this.#earliest.clear()
    for (const each of this.#lists.keys()) this.#refresh(each)
  }

  #refresh(need: number): void {
    if (this.#leaves === 0) return
    let node = this.#leaves + need - 1
    let ticket = this.#lists.get(need)?.head?.ticket ?? none
    for (;;) {
      if (ticket === none) this.#earliest.delete(node)
      else this.#earliest.set(node, ticket)
      if (node === 1) return
      ticket = Math.min(ticket, this.#ticketAt(node ^ 1))
      node >>= 1
    }
  }
}
