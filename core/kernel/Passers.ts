/**
 * Groups of one class by what their heads need: who could pass a head that is short of the total, longest served first.
 *
 * It is kept only once some head of the class was passed, and only while the class has groups in turn. It owns one entry
 * a group; the groups' own links are those of their rings.
 */
import { type Group, Passer } from "./Ask.ts"
import { FitQueue } from "./FitQueue.ts"

export class Passers {
  /** Apart by class of arrival: those that were raised may find less room. */
  readonly #native = new FitQueue<Passer>()
  readonly #raised = new FitQueue<Passer>()
  #tickets = 0

  /** Puts a group last, with what its head needs now. */
  add(group: Group): void {
    const passer = group.passer ??= new Passer(group)
    passer.ticket = ++this.#tickets
    passer.need = group.need
    const queue = group.raised ? this.#raised : this.#native
    queue.add(passer)
  }

  remove(group: Group): void {
    const { passer } = group
    if (passer === undefined) return
    const queue = group.raised ? this.#raised : this.#native
    queue.remove(passer)
  }

  /** The first whose head fits: `room` for asks that arrived in this class, `raisedRoom` for those that came from below. */
  first(room: number, raisedRoom: number): Group | undefined {
    const native = this.#native.firstFitting(room)
    const raised = this.#raised.firstFitting(raisedRoom)
    if (native === undefined || raised === undefined) return (native ?? raised)?.group
    return (native.ticket < raised.ticket ? native : raised).group
  }
}
