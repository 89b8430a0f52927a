/**
 * Where each waiting group stands: in its turn, parked on the account that is short for its head, or waiting for a
 * withholding to end. It moves groups between those places and wakes them; it grants nothing.
 */
import { type Group, inTurn, nowhere, onAccount, onWithholding, type WaitingAsk } from "./Ask.ts"
import { DeadlineOrder } from "./DeadlineOrder.ts"
import * as Holds from "./Holds.ts"
import { type Account, type Class, classes, type Total } from "./Ledger.ts"
import { List } from "./List.ts"
import { Parking } from "./Parking.ts"
import { Rotation } from "./Rotation.ts"

export class Places {
  readonly total: Total<Group>
  readonly rotation: Rotation = new Rotation()
  readonly parking: Parking
  readonly #ages = new DeadlineOrder<Group>()
  readonly #opened: Array<Account<Group>> = []
  readonly #withheld = new List<Group>()
  /** Groups were woken while a class was served: they may come before it. */
  #woken = false

  constructor(total: Total<Group>, maxBypass: number) {
    this.total = total
    this.parking = new Parking(total, this.rotation, maxBypass)
  }

  /** A group with its first waiting ask takes its place in the rotation. */
  enter(group: Group): void {
    this.#newHead(group, group.head!)
    this.rotation.attach(group)
  }

  /**
   * The head has gone without a grant. The next one, if any, has the group's turn where it has one; else it is looked at
   * anew, at the end of its tenant's turn.
   */
  headLeft(group: Group): void {
    this.#ages.remove(group)
    const head = group.head
    if (head !== undefined && group.place === inTurn && !group.raised) {
      this.#release(group)
      group.account = undefined
      this.#newHead(group, head)
      return this.rotation.renewHead(group)
    }
    this.unplace(group)
    group.raised = false
    // The next ask has not been short of anything yet: it parks behind those that have.
    group.account = undefined
    if (head !== undefined) this.enter(group)
  }

  /** Counts a grant against the heads that it passes. */
  noteGrant(group: Group, accounts: ReadonlyArray<Account<Group>>): void {
    for (let i = 0; i < accounts.length; i++) this.parking.noteGrant(accounts[i]!, group)
    this.parking.noteGrant(this.total, group)
    Holds.release(group, charged)
    this.parking.recover(group)
    this.rotation.spend(group)
  }

  /** The head was granted: the group goes on with its next ask, in the class that this one has arrived in. */
  advance(group: Group): void {
    this.#seatWatchers(group)
    this.#ages.remove(group)
    group.account = undefined
    const head = group.head
    if (head !== undefined && !group.raised) {
      this.#newHead(group, head)
      return this.rotation.renewHead(group)
    }
    this.rotation.detach(group)
    group.raised = false
    if (head !== undefined) this.enter(group)
  }

  /** Those that units are kept for and that an account of this grant has no room for any more park, and let them go. */
  #seatWatchers(granted: Group): void {
    const accounts = granted.pair.accountsOf(granted.arrival)
    for (let i = 0; i < accounts.length; i++) {
      const account = accounts[i]!
      if (account.watchers === undefined || account.watchers.size === 0) continue
      if (account.cap.limit - account.used < account.watchedMost) this.#seat(account)
    }
  }

  /** O(watchers), and at least one of them needs more than there is, or the most that one needs was known too high. */
  #seat(account: Account<Group>): void {
    account.watchedMost = 0
    for (const head of [...account.watchers!]) {
      const short = this.#shortNow(head)
      if (short !== undefined) this.parkNarrow(head, short)
      else account.watchedMost = Math.max(account.watchedMost, head.need)
    }
  }

  /** The account below the total that a watching head is short of by now; where it is parked, one before that. */
  #shortNow(head: Group): Account<Group> | undefined {
    return this.#withoutRoom(head, head.place === onAccount ? head.account! : this.total)
  }

  /** Heads above what withholding leaves of the total wait for its end, and nothing is set aside for them. */
  putAside(groups: Iterable<Group>): void {
    for (const group of groups) {
      if (group.place !== onWithholding && this.exceedsWithholding(group)) this.relocate(group)
    }
  }

  /** Limits were lowered: a head that units are kept for may be short of an account by that. */
  lookAgain(groups: Iterable<Group>): void {
    for (const group of groups) {
      const short = group.watches ? this.#shortNow(group) : undefined
      if (short !== undefined) this.parkNarrow(group, short)
    }
  }

  /** Those that a withholding had put aside are looked at anew. */
  comeBack(): void {
    for (const group of this.#withheld.toArray()) {
      this.unplace(group)
      this.rotation.attach(group)
    }
  }

  /** Raises by one class the groups whose head has waited half of its time. */
  raiseDue(now: number): void {
    for (let group = this.#ages.takeDue(now); group !== undefined; group = this.#ages.takeDue(now)) this.#raise(group)
  }

  get hasOpened(): boolean {
    return this.#woken || this.#opened.length > 0
  }

  wakeOpened(): void {
    this.#woken = false
    for (let account = this.#opened.pop(); account !== undefined; account = this.#opened.pop()) this.#wake(account)
  }

  #newHead(group: Group, head: WaitingAsk): void {
    group.need = head.cost
    group.bypassed = 0
    if (group.arrival < 2) return
    group.dueNanos = head.sinceNanos + (head.dueNanos - head.sinceNanos) / 2
    this.#ages.add(group)
  }

  /** Has the groups parked on an account that gave back looked at in this step. */
  open(account: Account<Group>): void {
    if (account.parked === 0 || account.opened) return
    account.opened = true
    this.#opened.push(account)
  }

  /** Takes a group out of wherever it is; what was kept for it is open to others in this step, as {@link Holds.release} says. */
  unplace(group: Group, short?: Account<Group>): void {
    if (group.place === onAccount) {
      this.open(group.account!)
      this.parking.unpark(group)
    } else if (group.place === onWithholding) {
      this.#withheld.remove(group)
      group.place = nowhere
    } else this.rotation.detach(group)
    this.#release(group, short)
  }

  #release(group: Group, short?: Account<Group>): void {
    this.parking.recover(group)
    Holds.release(group, (account) => this.open(account), short)
  }

  /** True where only the end of a withholding could make room for the head. */
  exceedsWithholding(group: Group): boolean {
    return group.need > this.total.most(group.arrival) - this.total.withheld
  }

  /** Puts a group aside until the withholding ends. */
  relocate(group: Group): void {
    this.unplace(group)
    group.place = onWithholding
    this.#withheld.push(group)
  }

  #raise(group: Group): void {
    const withheld = group.place === onWithholding
    this.unplace(group)
    group.raised = true
    group.account = undefined
    if (withheld) this.relocate(group)
    else this.rotation.attach(group)
  }

  /** Looks at those parked on an account that gave back, higher class first, until it is short again. */
  #wake(account: Account<Group>): void {
    account.opened = false
    for (const turnClass of classes) {
      for (;;) {
        const group = this.parking.candidate(account, turnClass)
        if (group === undefined) {
          if (this.reseat(account, turnClass)) continue
          break
        }
        const short = this.#withoutRoom(group, this.total)
        if (short === undefined) {
          this.parking.wake(group)
          this.rotation.attach(group)
          Holds.watch(group)
        } else this.#move(group, short)
      }
    }
  }

  /** A parked head whose account has room goes to another that it is short of. */
  #move(group: Group, short: Account<Group>): void {
    const from = group.account!
    const keeps = this.parking.keepsFor(group)
    this.parking.unpark(group)
    if (keeps) Holds.hold(group, from, true)
    Holds.release(group, (account) => this.open(account), short)
    this.#park(group, short)
  }

  /** The first account narrower than `end` without room for the group's head. */
  #withoutRoom(group: Group, end: Account<Group>): Account<Group> | undefined {
    const accounts = group.pair.accountsOf(group.arrival)
    for (let i = 0; i < accounts.length && accounts[i] !== end; i++) {
      const account = accounts[i]!
      const room = account.guarded === undefined
        ? account.cap.limit - account.used
        : this.parking.roomFor(account, group)
      if (room < group.need) return account
    }
    return undefined
  }

  /** The first account, narrow to wide, that the head cannot be charged to now; undefined where all can. */
  obstacle(group: Group): Account<Group> | undefined {
    const short = this.#withoutRoom(group, this.total)
    if (short !== undefined) return short
    if (this.parking.roomFor(this.total, group) < group.need) return this.total
    // Only what would otherwise be granted may start a setting aside, so this comes after every account has room.
    const accounts = group.pair.accountsOf(group.arrival)
    for (let i = 0; i < accounts.length; i++) {
      const account = accounts[i]!
      if (account.parked > 0 && !this.#mayPass(account, group)) return account
    }
    return this.total.parked === 0 || this.#mayPass(this.total, group) ? undefined : this.total
  }

  /** True where no account below the total keeps the head from being granted. */
  #standsFree(group: Group): boolean {
    const obstacle = this.obstacle(group)
    return obstacle === undefined || obstacle === this.total
  }

  #mayPass(account: Account<Group>, group: Group): boolean {
    while (!this.parking.mayPass(account, group)) {
      if (!this.reseat(account, group.turnClass)) return false
      // A higher class has another head in turn now, which comes before this one.
      if (account === this.total && this.#woken) return false
    }
    return true
  }

  /**
   * Heads that have units of the account set aside for them, but are short of a narrower one by now, park there instead.
   * True where there were any.
   */
  reseat(account: Account<Group>, turnClass: Class): boolean {
    if (account.setAside === 0) return false
    let moved = false
    for (let k = 0; k <= turnClass; k++) {
      for (;;) {
        const head = this.parking.first(account, k as Class)
        if (head?.setAside !== true) break
        const short = this.#withoutRoom(head, account)
        if (short === undefined) break
        this.#woken = true
        this.parkNarrow(head, short)
        moved = true
      }
    }
    return moved
  }

  /** Short of an account below the total: out of the rotation until that account gives back. */
  parkNarrow(group: Group, short: Account<Group>): void {
    // What it was promised may be for others of its tenant: woken before it leaves, they keep the tenant's turn.
    if (group.place === inTurn) {
      this.#release(group, short)
      const woken = this.hasOpened
      this.wakeOpened()
      this.#woken = woken
      // The waking may have moved away whoever was in front of it there: then it keeps its turn, and is looked at again.
      if (woken && this.#standsFree(group)) return
      this.rotation.suspend(group)
    } else this.unplace(group, short)
    this.#park(group, short)
  }

  #park(group: Group, account: Account<Group>): void {
    if (this.parking.park(group, account)) this.open(account)
  }

  /** Who is next in a class: the group in turn; where that is short of the total, the first whose head fits. */
  next(turnClass: Class): Group | undefined {
    const { parking, total } = this
    const head = parking.shortHead(turnClass)
    if (head === undefined) return total.room(turnClass) > 0 ? this.rotation.next(turnClass) : undefined
    if (parking.roomFor(total, head) >= head.need || this.#withoutRoom(head, total) !== undefined) return head
    if (this.#misplaced(head)) return head
    return head.setAside ? undefined : this.rotation.passer(turnClass, total.room(turnClass))
  }

  /**
   * The group's head found no room in the total. In turn it stays, and others may pass it as far as they may; one that was
   * raised, and is short of what its own class may use, goes back there. False where there is room, kept for another.
   */
  fallShort(group: Group, now: number): boolean {
    const { parking, total } = this
    if (parking.roomFor(total, group) >= group.need) return false
    if (this.#misplaced(group)) this.#fallBack(group, now)
    else parking.fallShort(group)
    return true
  }

  /**
   * Of a head that is short of the total: true where it was raised, and what it is short of is what its own class may use,
   * which those it stands among need not wait for.
   */
  #misplaced(group: Group): boolean {
    return this.total.room(group.arrival) < this.total.room(group.turnClass)
  }

  /** Its turn in the higher class came to nothing: it stands in its own again, and is raised anew half of its time later. */
  #fallBack(group: Group, now: number): void {
    this.unplace(group)
    group.raised = false
    group.account = undefined
    this.rotation.attach(group)
    group.dueNanos = now + (group.head!.dueNanos - now) / 2
    this.#ages.add(group)
  }
}

/** What was kept for a head is charged to it now, and open to nobody. */
const charged = (): void => {}
