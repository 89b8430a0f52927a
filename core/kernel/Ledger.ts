/**
 * Accounts with a limit and a use, charged several at a time: all of them in one step or none.
 *
 * A Cap is the limit that all accounts of one kind share; an Account is the use of one key under it. The Total is the
 * widest account: one chain of sums by class, so that reserved units are a limit like any other. Nothing here waits.
 */
import { FitQueue, type Member } from "./FitQueue.ts"

export type AccountName = "pair" | "provider" | "tenant" | "total"

/** 0 emergency, 1 control, 2 normal, 3 notification: lower is served first. */
export type Class = 0 | 1 | 2 | 3
export const classes: ReadonlyArray<Class> = [0, 1, 2, 3]

/** The limit of a cap that is none: more than any cost or use can be, and a small integer like all other limits. */
export const unlimited: number = 2 ** 30 - 1

/** A limit that is absent is {@link unlimited}. */
export class Cap {
  readonly name: AccountName
  limit: number
  constructor(name: AccountName, limit: number) {
    this.name = name
    this.limit = limit
  }
}

/** A queue a (class of arrival, raised or not): those of one class as it counts now are in two of them at most. */
export type Parked<T extends Member<T>> = Array<FitQueue<T> | undefined>

/** The use of one key under a cap, and who is short of it. `T` is what parks on it. */
export class Account<T extends Member<T>> {
  readonly cap: Cap
  used = 0
  /** Units that woken groups mean to take, by the class as it counts; they only bound how many more are woken. */
  promised: Units | undefined = undefined
  parked = 0
  queues: Parked<T> | undefined = undefined
  /** How many heads have units of this account set aside for them. */
  setAside = 0
  /** Units that stay set aside for heads that were woken and wait for the total, by the class as it counts. */
  guarded: Units | undefined = undefined
  /** Those for whom units of this account or a wider one are kept: looked at when it has less room than one of them needs. */
  watchers: Set<T> | undefined = undefined
  /** At least the most that one of them needs. */
  watchedMost = 0
  /** True while the account is on the list of those that gave back and whose parked groups are to be looked at. */
  opened = false

  constructor(cap: Cap) {
    this.cap = cap
  }

  get name(): AccountName {
    return this.cap.name
  }

  /** Units that an ask of class `arrival` could take, by the limits alone; negative while there is a debt. */
  room(_arrival: Class): number {
    return this.cap.limit - this.used
  }

  /** Moves the units that are promised to woken groups of class `turnClass` by `units`. */
  promise(turnClass: Class, units: number): void {
    this.promised = moved(this.promised, turnClass, units)
  }

  /** Units promised to woken groups of class `turnClass` or higher: those of that class are not woken for them. */
  promisedBefore(turnClass: Class): number {
    return sumTo(this.promised, turnClass)
  }

  /** Moves the units that are kept for woken heads of class `turnClass` by `units`. */
  guard(turnClass: Class, units: number): void {
    this.guarded = moved(this.guarded, turnClass, units)
  }

  /** Units kept for woken heads of class `turnClass` or higher, which asks of that class may not take. */
  guardedAgainst(turnClass: Class): number {
    return sumTo(this.guarded, turnClass)
  }

  /** What the limits allow in all to one ask of class `arrival`. */
  most(_arrival: Class): number {
    return this.cap.limit
  }

  queue(slot: number): FitQueue<T> {
    const queues = this.queues ??= []
    return queues[slot] ??= new FitQueue<T>()
  }
}

type Units = [number, number, number, number]

/** `units` more for a class; undefined where all are 0. */
const moved = (by: Units = [0, 0, 0, 0], k: Class, units: number): Units | undefined => {
  by[k] += units
  return by.every((each) => each === 0) ? undefined : by
}

const sumTo = (by: Units | undefined, last: Class): number => {
  if (by === undefined) return 0
  let sum = 0
  for (let k = 0; k <= last; k++) sum += by[k]!
  return sum
}

/**
 * The total with its class limits: the units of a class and all below it never exceed `maxRunning` less the reserves of
 * the classes above. An ask of class k therefore needs room under the limits of class k and of every higher one.
 */
export class Total<T extends Member<T>> extends Account<T> {
  /** Units held by asks that arrived in each class; they add up to `used`. */
  readonly units: Units = [0, 0, 0, 0]
  readonly reserves: Array<number>
  readonly #hasReserves: boolean
  withheld = 0

  constructor(cap: Cap, reserves: ReadonlyArray<number>) {
    super(cap)
    this.reserves = [...reserves]
    this.#hasReserves = reserves.some((units) => units > 0)
  }

  /** Units of class k and all below it. */
  sumOf(k: Class): number {
    let sum = 0
    for (let below: number = k; below < 4; below++) sum += this.units[below]!
    return sum
  }

  override room(arrival: Class): number {
    let room = this.cap.limit - this.withheld - this.used
    if (!this.#hasReserves) return room
    let limit = this.cap.limit - this.withheld
    for (let k = 1; k <= arrival; k++) {
      limit -= this.reserves[k - 1]!
      room = Math.min(room, limit - this.sumOf(k as Class))
    }
    return room
  }

  override most(arrival: Class): number {
    let limit = this.cap.limit
    for (let above = 0; above < arrival; above++) limit -= this.reserves[above]!
    return limit
  }

  add(arrival: Class, units: number): void {
    this.used += units
    this.units[arrival] += units
  }

  /** Units above what is left after withholding; nothing is granted while it is above 0. */
  get debt(): number {
    return Math.max(0, this.used + this.withheld - this.cap.limit)
  }
}

/** The first account, from narrow to wide, without room for `units`; undefined where all have it. */
export const firstShort = <T extends Member<T>>(
  accounts: ReadonlyArray<Account<T>>,
  units: number,
): Account<T> | undefined => {
  for (let i = 0; i < accounts.length; i++) {
    const account = accounts[i]!
    if (account.cap.limit - account.used < units) return account
  }
  return undefined
}

/** Charges `units` to every account and the total, or to none: returns the first that is short. */
export const reserve = <T extends Member<T>>(
  accounts: ReadonlyArray<Account<T>>,
  total: Total<T>,
  arrival: Class,
  units: number,
): Account<T> | undefined => {
  const short = firstShort(accounts, units)
  if (short !== undefined) return short
  if (total.room(arrival) < units) return total
  charge(accounts, total, arrival, units)
  return undefined
}

/** Charges without asking: the caller has just seen that every account has room. */
export const charge = <T extends Member<T>>(
  accounts: ReadonlyArray<Account<T>>,
  total: Total<T>,
  arrival: Class,
  units: number,
): void => {
  for (let i = 0; i < accounts.length; i++) accounts[i]!.used += units
  total.add(arrival, units)
}

export const refund = <T extends Member<T>>(
  accounts: ReadonlyArray<Account<T>>,
  total: Total<T>,
  arrival: Class,
  units: number,
): void => {
  for (let i = 0; i < accounts.length; i++) accounts[i]!.used -= units
  total.add(arrival, -units)
}

/** The account that no release can make wide enough for `units`, if any: it would never fit. */
export const neverFits = <T extends Member<T>>(
  accounts: ReadonlyArray<Account<T>>,
  total: Total<T>,
  arrival: Class,
  units: number,
): Account<T> | undefined => {
  for (let i = 0; i < accounts.length; i++) {
    const { limit } = accounts[i]!.cap
    if (limit < units && limit !== unlimited) return accounts[i]
  }
  return total.most(arrival) < units ? total : undefined
}

/** Shrinks the total under use by `units`; false, and no change, where fewer are left to withhold. */
export const withhold = <T extends Member<T>>(total: Total<T>, units: number): boolean => {
  if (total.withheld + units > total.cap.limit) return false
  total.withheld += units
  return true
}

/** Why a cap cannot be lowered: its name, and the use that is above the new limit. */
export interface Above {
  readonly name: AccountName
  readonly limit: number
  readonly use: number
}

/** The first account that uses more than `limit`; for the total, each class sum against its own limit. */
export const firstAbove = <T extends Member<T>>(accounts: Iterable<Account<T>>, limit: number): Above | undefined => {
  for (const account of accounts) {
    if (account.used > limit) return { name: account.name, limit, use: account.used }
  }
  return undefined
}

export const totalAbove = <T extends Member<T>>(total: Total<T>, limit: number): Above | undefined => {
  let allowed = limit
  for (const k of classes) {
    const use = total.sumOf(k)
    if (use > allowed) return { name: "total", limit: allowed, use }
    allowed -= total.reserves[k]!
  }
  // Only a withholding makes a debt, and shows it: what is withheld counts as used here.
  const use = total.used + total.withheld
  return use > limit ? { name: "total", limit, use } : undefined
}
