/**
 * Answers on their way to the asks they were decided for: first in, first out, until each is handed over.
 *
 * A grant belongs to its ask from the step that decided it. If the ask gives it back first, the entry is void and is
 * dropped here; the units have gone to the next ask in that same step, so nothing is offered twice or lost.
 */
export class Delivery<T> {
  #items: Array<T | undefined> = []
  #from = 0

  get size(): number {
    return this.#items.length - this.#from
  }

  add(item: T): void {
    this.#items.push(item)
  }

  /** The next entry, or undefined. Amortised O(1). */
  take(): T | undefined {
    if (this.#from === this.#items.length) return undefined
    const item = this.#items[this.#from]
    this.#items[this.#from++] = undefined
    if (this.#from === this.#items.length) {
      this.#items.length = 0
      this.#from = 0
    } else if (this.#from >= 1024 && this.#from * 2 >= this.#items.length) {
      // The array of a burst is let go as it empties, so that it does not stay for the life of the owner.
      this.#items = this.#items.slice(this.#from)
      this.#from = 0
    }
    return item
  }
}
