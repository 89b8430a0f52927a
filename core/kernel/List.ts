/**
 * An intrusive doubly linked list: O(1) push and removal from anywhere, no allocation a member.
 *
 * A node is on at most one list at a time through its one set of links; `list` says which.
 */
export interface Node<T> {
  list: List<T> | undefined
  prev: T | undefined
  next: T | undefined
}

export class List<T> {
  head: (T & Node<T>) | undefined = undefined
  tail: (T & Node<T>) | undefined = undefined
  size = 0

  push(node: T & Node<T>): void {
    this.insertBefore(undefined, node)
  }

  pushFront(node: T & Node<T>): void {
    this.insertBefore(this.head, node)
  }

  /** Puts `node` in front of `at`, or last where `at` is undefined. */
  insertBefore(at: (T & Node<T>) | undefined, node: T & Node<T>): void {
    const prev = at === undefined ? this.tail : at.prev as (T & Node<T>) | undefined
    node.list = this
    node.prev = prev
    node.next = at
    if (prev === undefined) this.head = node
    else prev.next = node
    if (at === undefined) this.tail = node
    else at.prev = node
    this.size++
  }

  /** Takes `node` off; false, and no change, where it is not on this list. */
  remove(node: T & Node<T>): boolean {
    if (node.list !== this) return false
    const prev = node.prev as (T & Node<T>) | undefined
    const next = node.next as (T & Node<T>) | undefined
    if (prev === undefined) this.head = next
    else prev.next = next
    if (next === undefined) this.tail = prev
    else next.prev = prev
    node.list = undefined
    node.prev = undefined
    node.next = undefined
    this.size--
    return true
  }

  /** Moves `node`, which is on this list or on none, to its end. */
  rotate(node: T & Node<T>): void {
    if (this.tail === node) return
    this.remove(node)
    this.push(node)
  }

  toArray(): Array<T> {
    const out: Array<T> = []
    for (let node = this.head; node !== undefined; node = node.next as (T & Node<T>) | undefined) out.push(node)
    return out
  }
}
