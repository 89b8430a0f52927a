/**
 * What is kept for a head on accounts that it is not charged to yet: the promise of the account that woke it, and guards
 * on units that were set aside for it. And who has to be looked at when an account runs short.
 *
 * A guard stays while the head is short of a wider account alone, so that a head which needs room on several gets it on
 * one after the other. Kept from narrow to wide and never the other way round, two heads cannot wait for each other's.
 */
import { type Group, onAccount } from "./Ask.ts"
import type { Account } from "./Ledger.ts"

type GroupAccount = Account<Group>

/** Keeps the head's units of the account in mind for it: promised, or also guarded against its class and lower ones. */
export const hold = (group: Group, account: GroupAccount, guarded: boolean): void => {
  account.promise(group.turnClass, group.need)
  const holds = group.holds ??= []
  holds.push(account)
  if (!guarded) return
  account.guard(group.turnClass, group.need)
  const guards = group.guards ??= []
  guards.push(account)
}

/**
 * Ends what is kept for the head, and tells `open` on which accounts. Where it is now short of an account, guards on
 * narrower ones stay.
 */
export const release = (group: Group, open: (account: GroupAccount) => void, short?: GroupAccount): void => {
  const { guards, holds } = group
  if (holds === undefined) return
  const accounts = group.pair.accountsOf(group.arrival)
  const end = short === undefined ? 0 : accounts.indexOf(short)
  group.holds = undefined
  group.guards = undefined
  for (const account of holds) {
    account.promise(group.turnClass, -group.need)
    const guarded = guards?.includes(account) === true
    if (guarded) account.guard(group.turnClass, -group.need)
    if (guarded && accounts.indexOf(account) < end) hold(group, account, true)
    else open(account)
  }
  watch(group)
}

/** Units of the account that are guarded for the head itself. */
export const guardedFor = (group: Group, account: GroupAccount): number =>
  group.guards !== undefined && group.guards.includes(account) ? group.need : 0

/**
 * Has the group looked at when one of the accounts that it needs runs short: all of them while it stands in turn, those
 * before the one that it is parked on else. Called after each change of its place and of what is kept for it.
 */
export const watch = (group: Group): void => {
  const isParked = group.place === onAccount
  const accounts = group.pair.accountsOf(group.arrival)
  if (group.watches) { for (let i = 0; i < accounts.length; i++) accounts[i]!.watchers?.delete(group) }
  group.watches = group.holds !== undefined || (isParked && group.setAside)
  if (!group.watches) return
  for (let i = 0; i < accounts.length; i++) {
    const account = accounts[i]!
    if (isParked && account === group.account) return
    const watchers = account.watchers ??= new Set()
    watchers.add(group)
    account.watchedMost = Math.max(account.watchedMost, group.need)
  }
}
