/**
 * Items in order of a due instant: who is due first, and removal from anywhere.
 *
 * Most callers wait equally long, so dues mostly arrive in order: such items go on the end of a sorted run, O(1) in and
 * out. One that is due before the end of the run goes into a binary heap, O(log n). It owns its items' links, no timer.
 */
export interface Due<T> {
  /** Nanoseconds on the owner's clock. Fixed while the item is in the order. */
  dueNanos: number
  /** Place in the heap, or one of `absent` and `inRun`. */
  dueIndex: number
  dueBefore: T | undefined
  dueAfter: T | undefined
}

export const absent = -1
const inRun = -2

export class DeadlineOrder<T extends Due<T>> {
  #first: T | undefined = undefined
  #last: T | undefined = undefined
  #runSize = 0
  readonly #heap: Array<T> = []

  get size(): number {
    return this.#runSize + this.#heap.length
  }

  add(item: T): void {
    const last = this.#last
    if (last !== undefined && item.dueNanos < last.dueNanos) {
      item.dueIndex = this.#heap.length
      this.#up(item)
      return
    }
    item.dueIndex = inRun
    item.dueBefore = last
    if (last === undefined) this.#first = item
    else last.dueAfter = item
    this.#last = item
    this.#runSize++
  }

  /** Takes `item` out; nothing happens where it is not in. */
  remove(item: T): void {
    if (item.dueIndex === absent) return
    if (item.dueIndex === inRun) this.#unlink(item)
    else this.#extract(item)
    item.dueIndex = absent
  }

  /** The item that is due first, or undefined. */
  first(): T | undefined {
    const run = this.#first
    if (this.#heap.length === 0) return run
    const top = this.#heap[0]!
    return run === undefined || top.dueNanos < run.dueNanos ? top : run
  }

  /** Takes out the first item if it is due at `now`, which includes its very instant. */
  takeDue(now: number): T | undefined {
    const item = this.first()
    if (item === undefined || item.dueNanos > now) return undefined
    this.remove(item)
    return item
  }

  #unlink(item: T): void {
    const before = item.dueBefore
    const after = item.dueAfter
    if (before === undefined) this.#first = after
    else before.dueAfter = after
    if (after === undefined) this.#last = before
    else after.dueBefore = before
    item.dueBefore = undefined
    item.dueAfter = undefined
    this.#runSize--
  }

  #extract(item: T): void {
    const last = this.#heap.pop()!
    if (last === item) return
    last.dueIndex = item.dueIndex
    this.#up(last)
    this.#down(last)
  }

  /** Puts an item in where its index says, or above. */
  #up(item: T): void {
    const heap = this.#heap
    let index = item.dueIndex
    while (index > 0) {
      const parent = heap[(index - 1) >> 1]!
      if (parent.dueNanos <= item.dueNanos) break
      heap[index] = parent
      const up = parent.dueIndex
      parent.dueIndex = index
      index = up
    }
    heap[index] = item
    item.dueIndex = index
  }

  #down(item: T): void {
    const heap = this.#heap
    let index = item.dueIndex
    for (;;) {
      let child = 2 * index + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && heap[child + 1]!.dueNanos < heap[child]!.dueNanos) child++
      const least = heap[child]!
      if (least.dueNanos >= item.dueNanos) break
      heap[index] = least
      least.dueIndex = index
      index = child
    }
    heap[index] = item
    item.dueIndex = index
  }
}
