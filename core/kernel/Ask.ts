/**
 * The records that the line moves: the ask of one caller, the group of those that differ only in arrival, the turn of a
 * tenant in one class, and the tenant, provider and pair that they belong to. Plain fields, no behaviour.
 */
import { absent, type Due } from "./DeadlineOrder.ts"
import type { Member } from "./FitQueue.ts"
import type { Account, AccountName, Class } from "./Ledger.ts"
import { New, type State } from "./LeaseState.ts"
import { List, type Node } from "./List.ts"

/** In no step, as whoever was never suspended. */
export const never = -1
/** The clock was not read at the grant: it counts from the next reading on. */
export const unstamped = -1

/** One caller's ask and, once granted, the lease of its units. On its group's list or on the list of those held. */
export class Ask implements Node<Ask> {
  state: State = New
  readonly pair: Pair
  readonly arrival: Class
  readonly cost: number
  /** When the state it is in was entered (enqueued, granted), or {@link unstamped}. */
  sinceNanos: number = unstamped
  list: List<Ask> | undefined = undefined
  prev: Ask | undefined = undefined
  next: Ask | undefined = undefined

  constructor(pair: Pair, arrival: Class, cost: number) {
    this.pair = pair
    this.arrival = arrival
    this.cost = cost
  }
}

/** An ask that may have to wait. Those that are granted at once, the most, do without these fields. */
export class WaitingAsk extends Ask implements Due<WaitingAsk> {
  /** The account that was short when its time was over. */
  short: AccountName | undefined = undefined
  dueNanos: number = Infinity
  dueIndex: number = absent
  dueBefore: WaitingAsk | undefined = undefined
  dueAfter: WaitingAsk | undefined = undefined
}

export type Place = 0 | 1 | 2 | 3
/** No ask waits in the group, or it is between two places. */
export const nowhere = 0
/** In the rotation, to be looked at in its turn. */
export const inTurn = 1
/** Parked on the first account that was short. */
export const onAccount = 2
/** Its head needs more than withholding leaves of the total: it waits for the withholding to end. */
export const onWithholding = 3

/** The waiting asks of one (class of arrival, tenant, provider), first in first out. Ages by its head. */
export class Group implements Member<Group>, Due<Group> {
  readonly pair: Pair
  readonly arrival: Class
  readonly asks: List<Ask> = new List<Ask>()
  /** True while the head counts one class higher than it arrived. */
  raised = false
  place: Place = nowhere
  /** Where it is parked or was last: it keeps its ticket there, and passes none of its class that came later. */
  account: Account<Group> | undefined = undefined
  /** Accounts on which its units are kept though they are not charged yet: the one that woke it, and those in `guards`. */
  holds: Array<Account<Group>> | undefined = undefined
  /** Those on which nobody of its class or a lower one may take them: they had been set aside for it. */
  guards: Array<Account<Group>> | undefined = undefined
  /** Whether it is among the watchers of its accounts. */
  watches = false
  ticket = 0
  /** Cost of the head. */
  need = 0
  credit = 0
  spell = 0
  started = false
  /** The step in which it was suspended last, and whether it was the first in its ring then. */
  suspendedIn: number = never
  wasFirst = false
  /** Made when it first counts among those that could pass. */
  passer: Passer | undefined = undefined
  /** Units granted past the head while it was the first that is parked on an account, and its own for each move to another. */
  bypassed = 0
  /** Units granted past it since it is short of the total. */
  bypassedInTurn = 0
  setAside = false
  dueNanos: number = Infinity
  dueIndex: number = absent
  dueBefore: Group | undefined = undefined
  dueAfter: Group | undefined = undefined
  list: List<Group> | undefined = undefined
  prev: Group | undefined = undefined
  next: Group | undefined = undefined

  constructor(pair: Pair, arrival: Class) {
    this.pair = pair
    this.arrival = arrival
  }

  get head(): WaitingAsk | undefined {
    return this.asks.head as WaitingAsk | undefined
  }

  /** The class as it counts now. */
  get turnClass(): Class {
    return this.raised ? this.arrival - 1 as Class : this.arrival
  }
}

/** The place of one group among those that could pass a head that is short of the total. */
export class Passer implements Member<Passer> {
  readonly group: Group
  ticket = 0
  need = 0
  list: List<Passer> | undefined = undefined
  prev: Passer | undefined = undefined
  next: Passer | undefined = undefined

  constructor(group: Group) {
    this.group = group
  }
}

/** A tenant's place in the ring of one class, with the ring of its groups. */
export class Turn implements Node<Turn> {
  readonly tenant: Tenant
  readonly turnClass: Class
  readonly groups: List<Group> = new List<Group>()
  /** Units that it may still take; below 0, units that it owes. Void where `spell` is not the current one. */
  credit = 0
  spell = 0
  started = false
  /** The step in which it was suspended last, and whether it was the first in the ring then. */
  suspendedIn: number = never
  wasFirst = false
  list: List<Turn> | undefined = undefined
  prev: Turn | undefined = undefined
  next: Turn | undefined = undefined

  constructor(tenant: Tenant, turnClass: Class) {
    this.tenant = tenant
    this.turnClass = turnClass
  }
}

/** As long from the start as it will be: an array that grows leaves room for 16 more, which is most of a record. */
type ByClass<T> = [T | undefined, T | undefined, T | undefined, T | undefined]

/** A tenant's use and its places in the line. */
export class Tenant {
  readonly key: string
  readonly weight: number
  readonly account: Account<Group>
  /** The pair used last, and all pairs once there are two. */
  pair: Pair | undefined = undefined
  pairs: Map<string | undefined, Pair> | undefined = undefined
  pairsInUse = 0
  /** Waiting asks that count in the tenant's part of the queue. */
  queued = 0
  /** Waiting asks by class of arrival. */
  readonly waiting: [number, number, number, number] = [0, 0, 0, 0]
  /** By the class as it counts. */
  readonly turns: ByClass<Turn> = [undefined, undefined, undefined, undefined]

  constructor(key: string, weight: number, account: Account<Group>) {
    this.key = key
    this.weight = weight
    this.account = account
  }
}

export class Provider {
  readonly key: string
  readonly account: Account<Group>
  /** Its account alone, as emergencies are charged. */
  readonly accounts: Accounts
  /** Records of pairs that name it. */
  pairs = 0
  pairsInUse = 0
  constructor(key: string, account: Account<Group>) {
    this.key = key
    this.account = account
    this.accounts = [account]
  }
}

type Accounts = ReadonlyArray<Account<Group>>
const none: Accounts = []

export class Pair implements Node<Pair> {
  readonly tenant: Tenant
  readonly provider: Provider | undefined
  readonly account: Account<Group> | undefined
  /** The accounts below the total that an ask is charged to, narrow to wide. */
  readonly accounts: Accounts
  /** The same for emergencies, which are charged to the provider alone. */
  readonly emergencyAccounts: Accounts
  /** Waiting asks, by class of arrival. */
  readonly groups: ByClass<Group> = [undefined, undefined, undefined, undefined]
  /** Charges and waiting asks. */
  uses = 0
  /** Calls that a gate has let by and that have not left. */
  calls = 0
  list: List<Pair> | undefined = undefined
  prev: Pair | undefined = undefined
  next: Pair | undefined = undefined

  constructor(tenant: Tenant, provider: Provider | undefined, account: Account<Group> | undefined) {
    this.tenant = tenant
    this.provider = provider
    this.account = account
    this.emergencyAccounts = provider?.accounts ?? none
    this.accounts = provider === undefined || account === undefined
      ? [tenant.account]
      : [account, provider.account, tenant.account]
  }

  accountsOf(arrival: Class): Accounts {
    return arrival === 0 ? this.emergencyAccounts : this.accounts
  }
}
