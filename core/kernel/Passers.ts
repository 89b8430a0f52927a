/**
 * Groups of one class by what their heads need: who could pass a head that is short of the total, longest served first.
 *
 * It is kept only once some head of the class was passed, and only while the class has groups in turn. It owns one entry
 * a group; the groups' own links are those of their rings.
 */
import { type Group, Passer } from "./Ask.ts"
import { FitQueue } from "./FitQueue.ts"

export class Passers {
  readonly #queue = new FitQueue<Passer>()
  #tickets = 0

  /** Puts a group last, with what its head needs now. */
  add(group: Group): void {
    const passer = group.passer ??= new Passer(group)
    passer.ticket = ++this.#tickets
    passer.need = group.need
    this.#queue.add(passer)
  }

  remove(group: Group): void {
    if (group.passer !== undefined) this.#queue.remove(group.passer)
  }

  /** The first whose head needs at most `room`. */
  first(room: number): Group | undefined {
    return this.#queue.firstFitting(room)?.group
  }
}
