/**
 * Groups that are short of an account, parked on it: who is woken when it gives back, and who may pass whom meanwhile.
 *
 * The first head of each class parked on an account may be passed by later asks of its class or a lower one for at most
 * `maxBypass` units; from then on the account's free units are set aside for it, and only higher classes pass. A head
 * that is short of the total alone is not parked: it stays in its turn. The line decides who parks; nothing here charges.
 */
import { type Group, nowhere, onAccount } from "./Ask.ts"
import * as Holds from "./Holds.ts"
import type { Account, Class, Total } from "./Ledger.ts"
import type { Rotation } from "./Rotation.ts"

type GroupAccount = Account<Group>

/** Slots 0 to 3: groups in the class of their arrival. Slots 4 to 7: those whose head counts one class higher. */
const slotOf = (group: Group): number => group.raised ? group.arrival + 4 : group.arrival
const raisedInto = (turnClass: Class): number => turnClass + 5

export class Parking {
  readonly #total: Total<Group>
  readonly #rotation: Rotation
  #tickets = 0
  /** By class, the group in turn whose head is short of the total: it stays in its ring, and its turn with it. */
  readonly #short: Array<Group | undefined> = []
  maxBypass: number

  constructor(total: Total<Group>, rotation: Rotation, maxBypass: number) {
    this.#total = total
    this.#rotation = rotation
    this.maxBypass = maxBypass
  }

  /**
   * Parks a group that is in no place. Coming back to the account it was parked on last, it keeps its ticket. True where
   * it came before a head that units were set aside for: they are no longer, as they only ever are for the first.
   */
  park(group: Group, account: GroupAccount): boolean {
    const first = this.head(account, group.turnClass)
    if (group.account !== account) {
      group.ticket = ++this.#tickets
      // Where it comes from others went past it, or it would not be short here.
      if (group.account !== undefined) group.bypassed += group.need
      group.account = account
    }
    group.place = onAccount
    account.queue(slotOf(group)).add(group)
    account.parked++
    Holds.watch(group)
    if (first?.setAside !== true || this.head(account, group.turnClass) === first) return false
    this.#endSettingAside(first, account)
    return true
  }

  unpark(group: Group): void {
    const account = group.account!
    account.queues![slotOf(group)]!.remove(group)
    account.parked--
    group.place = nowhere
    this.#endSettingAside(group, account)
  }

  #endSettingAside(head: Group, account: GroupAccount): void {
    if (head.setAside) account.setAside--
    head.setAside = false
    Holds.watch(head)
  }

  /** The head of a class that is short of the total, if its turn has come to one. */
  shortHead(turnClass: Class): Group | undefined {
    return this.#short[turnClass]
  }

  /** The group whose turn it is finds no room in the total: others may pass, as far as they may. */
  fallShort(group: Group): void {
    this.#short[group.turnClass] = group
    group.bypassedInTurn = 0
    this.#total.parked++
  }

  /** The group is short of the total no more, or is gone; nothing happens where it was not. */
  recover(group: Group): void {
    if (this.#short[group.turnClass] !== group) return
    this.#short[group.turnClass] = undefined
    this.#total.parked--
    if (group.setAside) this.#total.setAside--
    group.setAside = false
  }

  /**
   * Unparks a group whose account has room again. Until it is charged its units bound how many more are woken, and nobody
   * takes them who may not pass it.
   */
  wake(group: Group): void {
    const account = group.account!
    const keeps = this.keepsFor(group)
    this.unpark(group)
    Holds.hold(group, account, keeps)
  }

  /** Units of the account that the group's head could take, what is guarded for others left out. */
  roomFor(account: GroupAccount, group: Group): number {
    return account.room(group.arrival) - account.guardedAgainst(group.turnClass) + Holds.guardedFor(group, account)
  }

  /** The group of the class that has been short of the account for longest. */
  head(account: GroupAccount, turnClass: Class): Group | undefined {
    return earlier(account.queues?.[turnClass]?.first(), account.queues?.[raisedInto(turnClass)]?.first())
  }

  /** The head of class `turnClass` or higher that free units of the account are set aside for. */
  setAsideFor(account: GroupAccount, turnClass: Class): Group | undefined {
    if (account.setAside === 0) return undefined
    for (let k = 0; k <= turnClass; k++) {
      const head = this.first(account, k as Class)
      if (head?.setAside === true) return head
    }
    return undefined
  }

  /** The first parked group of a class whose head would fit now, what woken groups were promised left out. */
  candidate(account: GroupAccount, turnClass: Class): Group | undefined {
    return earlier(
      this.#fitting(account, turnClass, turnClass),
      this.#fitting(account, raisedInto(turnClass), turnClass),
    )
  }

  #fitting(account: GroupAccount, slot: number, turnClass: Class): Group | undefined {
    const queue = account.queues?.[slot]
    if (queue === undefined || queue.size === 0) return undefined
    const room = account.room(turnClass) - account.promisedBefore(turnClass)
    const owner = this.setAsideFor(account, turnClass)
    if (owner === undefined) return queue.firstFitting(room)
    return slotOf(owner) === slot && owner.need <= room ? owner : undefined
  }

  /**
   * Whether `group` may take its units past the heads that are short of the account. The first ask that would pass a
   * head too often is what starts the setting aside.
   */
  mayPass(account: GroupAccount, group: Group): boolean {
    for (let k = 0; k <= group.turnClass; k++) {
      const head = this.first(account, k as Class)
      if (head !== undefined && passes(account, group, head) && !this.#leaves(account, head, group)) return false
    }
    return true
  }

  /** Whether the units that a parked head leaves its place for are guarded: it has been passed as often as may be. */
  keepsFor(head: Group): boolean {
    return head.setAside || head.bypassed >= this.maxBypass
  }

  /** Who is short of the account and first in its class: parked on it, or in turn where it is the total. */
  first(account: GroupAccount, turnClass: Class): Group | undefined {
    return account === this.#total ? this.#short[turnClass] : this.head(account, turnClass)
  }

  /** Whether a head lets `group` by. Past one of its class that is short of the total it also has to borrow. */
  #leaves(account: GroupAccount, head: Group, group: Group): boolean {
    if (head.setAside) return false
    const borrows = head === this.#short[group.turnClass]
    const bypassed = account === this.#total ? head.bypassedInTurn : head.bypassed
    if (bypassed + group.need <= this.maxBypass && (!borrows || this.#rotation.mayBorrow(group, head))) return true
    head.setAside = true
    account.setAside++
    Holds.watch(head)
    return false
  }

  /** Counts a grant against the heads that it passes on the account. */
  noteGrant(account: GroupAccount, group: Group): void {
    if (account.parked === 0) return
    for (let k = 0; k <= group.turnClass; k++) {
      const head = this.first(account, k as Class)
      if (head === undefined || !passes(account, group, head)) continue
      if (account === this.#total) head.bypassedInTurn += group.need
      else head.bypassed += group.need
    }
  }
}

/**
 * Whether a grant to `group` goes past the head of the account: not where its own ticket there is the earlier one, nor where
 * it has been the first there and its units are guarded.
 */
const passes = (account: GroupAccount, group: Group, head: Group): boolean => {
  if (head === group || Holds.guardedFor(group, account) > 0) return false
  return group.account !== account || head.turnClass !== group.turnClass || group.ticket > head.ticket
}

const earlier = (a: Group | undefined, b: Group | undefined): Group | undefined => {
  if (a === undefined || b === undefined) return a ?? b
  return a.ticket < b.ticket ? a : b
}
