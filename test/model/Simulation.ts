/**
 * A line under load on a clock of its own: asks arrive, hold their units for a while and give them back, and every step
 * is watched. It runs the kernel as the noun does: straight through where nobody waits, into the line otherwise.
 */
import { type Ask, type Group, inTurn, type Pair, WaitingAsk } from "../../core/kernel/Ask.ts"
import { Keys } from "../../core/kernel/Keys.ts"
import * as LeaseState from "../../core/kernel/LeaseState.ts"
import * as Ledger from "../../core/kernel/Ledger.ts"
import { type Bounds, Line, type Refusal } from "../../core/kernel/Line.ts"
import type { Chance } from "./Chance.ts"

export interface Limits {
  readonly maxRunning: number
  readonly maxPerTenant?: number
  readonly maxPerProvider?: number
  readonly maxPerPair?: number
  readonly maxQueued?: number
  readonly maxQueuedPerTenant?: number
  readonly maxBypass?: number
  /** By class, highest first. */
  readonly reserves?: ReadonlyArray<number>
  readonly weights?: (tenant: string) => number
}

/** A line with its records, as an Admission makes it. */
export const lineOf = (limits: Limits): Line => {
  const cap = (name: Ledger.AccountName, limit: number | undefined) => new Ledger.Cap(name, limit ?? Ledger.unlimited)
  const keys = new Keys({
    pair: cap("pair", limits.maxPerPair),
    provider: cap("provider", limits.maxPerProvider),
    tenant: cap("tenant", limits.maxPerTenant),
  })
  const total = new Ledger.Total<Group>(cap("total", limits.maxRunning), limits.reserves ?? [0, 0, 0, 0])
  const bounds: Bounds = {
    maxQueued: limits.maxQueued ?? 1e6,
    maxQueuedPerTenant: limits.maxQueuedPerTenant ?? 1e6,
    maxBypass: limits.maxBypass ?? limits.maxRunning,
  }
  return new Line(keys, total, bounds)
}

export interface Request {
  readonly tenant: string
  readonly provider?: string
  readonly cost?: number
  /** Normal by default. */
  readonly arrival?: Ledger.Class
  /** How long it waits at most; for ever by default. */
  readonly patience?: number
  /** How long it holds its units. */
  readonly hold: number
}

/** What is told of every step, in the order in which it happens. */
export interface Watch {
  /** The ask stands in the line; it may be granted before its step ends. */
  readonly arrived?: (ask: WaitingAsk) => void
  readonly granted?: (ask: Ask) => void
  readonly expired?: (ask: WaitingAsk) => void
  /** A caller gives up, and nothing has been decided; its ask counts no more. */
  readonly leaving?: () => void
  readonly returned?: (ask: Ask) => void
  /** The step is over. */
  readonly settled?: () => void
}

/** An ask of the simulation: it knows how long it will hold. */
export class Job extends WaitingAsk {
  hold = 0
}

interface Event {
  readonly at: number
  readonly order: number
  readonly act: () => void
}

export class Simulation {
  readonly line: Line
  readonly chance: Chance
  readonly #weights: (tenant: string) => number
  readonly #watches: Array<Watch> = []
  readonly #events: Array<Event> = []
  #order = 0
  #leaving: Ask | undefined = undefined
  now = 0
  grants = 0
  /** The largest cost seen since the line was last empty. */
  largest = 0

  constructor(limits: Limits, chance: Chance) {
    this.line = lineOf(limits)
    this.chance = chance
    this.#weights = limits.weights ?? (() => 1)
    this.#listen()
  }

  watch(watch: Watch): void {
    this.#watches.push(watch)
  }

  /** The waiting groups of a tenant in a class of arrival. */
  groups(tenant: string, arrival: Ledger.Class = 2): ReadonlyArray<Group> {
    const owner = this.line.keys.tenants.get(tenant)
    const found: Array<Group> = []
    if (owner === undefined) return found
    for (const pair of owner.pairs?.values() ?? [owner.pair!]) {
      const group = pair.groups[arrival]
      if (group !== undefined && group.asks.size > 0) found.push(group)
    }
    return found
  }

  /** Whether the group's head fits every account but perhaps the total. What is kept there for others is taken. */
  isEligible(group: Group): boolean {
    const { head, pair, place } = group
    if (head === undefined || place !== inTurn || (head === this.#leaving && group.asks.size === 1)) return false
    return pair.accountsOf(group.arrival).every((account) => {
      const own = group.guards?.includes(account) === true ? head.cost : 0
      return account.room(group.arrival) - account.guardedAgainst(group.turnClass) + own >= head.cost
    })
  }

  pair(tenant: string, provider?: string): Pair {
    const { keys } = this.line
    return keys.find(tenant, provider) ?? keys.make(tenant, provider, this.#weights(tenant))
  }

  /** One ask arrives now: granted, waiting, or refused for the reason in `verdict`. */
  offer(request: Request): { readonly ask: Ask; readonly verdict: Refusal | undefined } {
    const job = new Job(this.pair(request.tenant, request.provider), request.arrival ?? 2, request.cost ?? 1)
    job.hold = request.hold
    job.dueNanos = this.now + (request.patience ?? Infinity)
    const passed = this.line.pass(job.pair, job.arrival, job.cost)
    if (passed !== undefined) {
      this.#granted(passed, job.hold)
      this.#settle()
      return { ask: passed, verdict: undefined }
    }
    this.largest = Math.max(this.line.waiting === 0 ? 0 : this.largest, job.cost)
    for (const watch of this.#watches) watch.arrived?.(job)
    const verdict = this.line.ask(job, this.now, true)
    this.#settle()
    return { ask: job, verdict }
  }

  waits(ask: Ask): boolean {
    return ask.state === LeaseState.Waiting
  }

  /** Its caller gives an ask up: it leaves the line. */
  giveUp(ask: Ask): void {
    this.#leaving = ask
    for (const watch of this.#watches) watch.leaving?.()
    this.#leaving = undefined
    this.line.leave(ask as Job, this.now)
    this.#settle()
  }

  /** Anything else that is one step of the line. */
  step(act: (line: Line) => unknown): void {
    act(this.line)
    this.#settle()
  }

  at(time: number, act: () => void): void {
    const event = { at: time, order: this.#order++, act }
    const heap = this.#events
    let index = heap.length
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (before(heap[parent]!, event)) break
      heap[index] = heap[parent]!
      index = parent
    }
    heap[index] = event
  }

  after(delay: number, act: () => void): void {
    this.at(this.now + delay, act)
  }

  /** Runs event after event while `going`; asks expire at their own instants. False when nothing is left to happen. */
  run(going: () => boolean): boolean {
    while (going()) {
      const next = this.#events[0]
      const due = this.line.nextDue
      if (next === undefined && due === Infinity) return false
      if (next === undefined || due <= next.at) {
        this.now = due
        this.step((line) => line.expire(due))
      } else {
        this.#shift()
        this.now = next.at
        next.act()
      }
    }
    return true
  }

  #shift(): void {
    const heap = this.#events
    const last = heap.pop()!
    if (heap.length === 0) return
    let index = 0
    for (;;) {
      let child = 2 * index + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child++
      if (before(last, heap[child]!)) break
      heap[index] = heap[child]!
      index = child
    }
    heap[index] = last
  }

  /** Watches see each answer at the moment at which it is decided, so that they know the order inside a step. */
  #listen(): void {
    const { answers } = this.line
    const add = answers.add.bind(answers)
    answers.add = (ask) => {
      add(ask)
      if (ask.state === LeaseState.Granted) this.#granted(ask, (ask as Job).hold)
      else if (ask.state === LeaseState.Expired) { for (const watch of this.#watches) watch.expired?.(ask) }
    }
  }

  /** Hands the answers over, as the noun does after each step. */
  #settle(): void {
    const { line } = this
    for (let ask = line.answers.take(); ask !== undefined; ask = line.answers.take()) line.deliver(ask)
    for (const watch of this.#watches) watch.settled?.()
  }

  #granted(ask: Ask, hold: number): void {
    this.grants++
    for (const watch of this.#watches) watch.granted?.(ask)
    this.after(hold, () => {
      if (!this.line.giveBack(ask, this.now)) return
      for (const watch of this.#watches) watch.returned?.(ask)
      this.#settle()
    })
  }
}

const before = (a: Event, b: Event): boolean => a.at < b.at || (a.at === b.at && a.order < b.order)
