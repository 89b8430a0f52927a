/**
 * A Line and, beside it, a plain account of what it may do: arrays, sums over all asks, no cleverness. Each operation goes
 * to the Line and is then judged: what was granted, in which order, and what was left waiting. Which of several heads is
 * granted is the Line's choice; whether the choice was allowed is decided here, from the asks alone.
 *
 * Of the Line's own records it reads what is set aside and for whom, since that choice, too, is the Line's.
 */
import { type Ask, type Group, onAccount, onWithholding, type Pair, WaitingAsk } from "../../../core/kernel/Ask.ts"
import { Keys } from "../../../core/kernel/Keys.ts"
import * as LeaseState from "../../../core/kernel/LeaseState.ts"
import { type Account, type AccountName, Cap, type Class, Total, unlimited } from "../../../core/kernel/Ledger.ts"
import { Line, type Refusal } from "../../../core/kernel/Line.ts"

export interface Limits {
  readonly maxRunning: number
  readonly maxPerTenant: number
  readonly maxPerProvider: number
  readonly maxPerPair: number
  readonly maxQueued: number
  readonly maxQueuedPerTenant: number
}

export interface Setup extends Partial<Limits> {
  readonly maxRunning: number
  readonly maxBypass?: number
  readonly reserves?: readonly [number, number, number, number]
  readonly weights?: Readonly<Record<string, number>>
}

export interface Wish {
  readonly tenant: string
  readonly provider?: string | undefined
  readonly arrival?: Class
  readonly cost?: number
  /** How long it may wait. */
  readonly wait?: number
  readonly mayWait?: boolean
  /** Without trying the way past the line first. */
  readonly slowly?: boolean
}

type Verdict = Refusal | undefined

export type Status = "waiting" | "granted" | "held" | "released" | "refused" | "expired" | "interrupted"

export interface Entry {
  readonly id: number
  readonly ask: Ask
  readonly pair: Pair
  readonly tenant: string
  readonly provider: string | undefined
  readonly arrival: Class
  readonly cost: number
  readonly since: number
  readonly due: number
  /** The accounts it is charged to, narrow to wide, the total left out. */
  readonly accounts: readonly string[]
  status: Status
}

const statusOf: Readonly<Record<LeaseState.State, Status | "new">> = {
  [LeaseState.New]: "new",
  [LeaseState.Waiting]: "waiting",
  [LeaseState.Granted]: "granted",
  [LeaseState.Held]: "held",
  [LeaseState.Released]: "released",
  [LeaseState.Refused]: "refused",
  [LeaseState.Expired]: "expired",
  [LeaseState.Interrupted]: "interrupted",
}

/** So many units of bypass are never used up. */
export const endless = 1_000_000

export class Broken extends Error {}

const must = (holds: boolean, law: string, facts?: () => unknown): void => {
  if (!holds) throw new Broken(facts === undefined ? law : `${law}: ${JSON.stringify(facts())}`)
}
const same = (found: unknown, wanted: unknown, what: string): void => {
  if (found !== wanted) throw new Broken(`${what} is ${String(found)}, not ${String(wanted)}`)
}

export class Witness {
  readonly line: Line
  readonly entries: Entry[] = []
  now = 1_000
  /** False while a known beginning is played again: every step of it has been judged before. */
  checks = true
  limits: Limits
  withheld = 0
  readonly reserves: readonly number[]
  readonly #caps: { readonly pair: Cap; readonly provider: Cap; readonly tenant: Cap; readonly total: Cap }
  readonly #weights: Readonly<Record<string, number>>
  /** Entries that the line has to tell of, a set for each step. */
  readonly #untold: Array<Set<Entry>> = []
  readonly #byAsk = new Map<Ask, Entry>()
  /** Entries that have not ended, in order of arrival. */
  #live: Entry[] = []
  #passable: ReadonlySet<Entry> = new Set()
  /** Heads that units were set aside for when the step began, and the class against which and all below they were. */
  #owners: ReadonlyMap<Entry, Class> = new Map()

  constructor(setup: Setup) {
    const { maxRunning } = setup
    this.limits = {
      maxRunning,
      maxPerTenant: setup.maxPerTenant ?? unlimited,
      maxPerProvider: setup.maxPerProvider ?? unlimited,
      maxPerPair: setup.maxPerPair ?? unlimited,
      maxQueued: setup.maxQueued ?? 1_024,
      maxQueuedPerTenant: setup.maxQueuedPerTenant ?? 128,
    }
    this.reserves = setup.reserves ?? [0, 0, 0, 0]
    this.#weights = setup.weights ?? {}
    this.#caps = {
      pair: new Cap("pair", this.limits.maxPerPair),
      provider: new Cap("provider", this.limits.maxPerProvider),
      tenant: new Cap("tenant", this.limits.maxPerTenant),
      total: new Cap("total", maxRunning),
    }
    const { maxQueued, maxQueuedPerTenant } = this.limits
    const bounds = { maxQueued, maxQueuedPerTenant, maxBypass: setup.maxBypass ?? maxRunning }
    this.line = new Line(new Keys(this.#caps), new Total<Group>(this.#caps.total, this.reserves), bounds)
  }

  // --- operations

  /** What became of the wish: its entry if it was granted or waits (or was too old), else why it was turned away. */
  ask(wish: Wish): { readonly entry: Entry | undefined; readonly verdict: Verdict } {
    const arrival = wish.arrival ?? 2
    const cost = wish.cost ?? 1
    const { keys } = this.line
    const pair = keys.find(wish.tenant, wish.provider) ??
      keys.make(wish.tenant, wish.provider, this.#weights[wish.tenant] ?? 1)
    if (wish.slowly !== true) {
      const free = this.waiting.length === 0 && this.fits({ ...this.#draft(wish, pair), arrival, cost })
      const passed = this.line.pass(pair, arrival, cost)
      same(passed !== undefined, free, "AD-7 AD-15: passing the empty line")
      if (passed !== undefined) {
        const entry: Entry = { ...this.#draft(wish, pair), ask: passed, due: Infinity, status: "held" }
        this.#enter(entry)
        this.#judge({})
        return { entry, verdict: undefined }
      }
    }
    const ask = new WaitingAsk(pair, arrival, cost)
    ask.dueNanos = this.now + (wish.wait ?? Infinity)
    const entry: Entry = { ...this.#draft(wish, pair), ask, due: ask.dueNanos, status: "waiting" }
    const mayWait = wish.mayWait ?? true
    const never = this.#never(entry)
    const verdict: Verdict = mayWait ? this.line.ask(ask, this.now, true) : this.line.ask(ask, this.now, false)
    if (never === undefined) must(verdict?.kind !== "never", "AD-18: NeverFits only for what can never fit")
    else {
      must(
        verdict?.kind === "never" && verdict.account === never.account && verdict.limit === never.limit,
        "AD-18: what can never fit is told so at once",
        () => ({ verdict, never }),
      )
    }
    if (verdict !== undefined) {
      same(ask.state, LeaseState.Refused, "AD-5: the state of an ask that was turned away")
      this.#judge({})
      this.#turnedAway(entry, verdict, mayWait)
      return { entry: undefined, verdict }
    }
    this.#enter(entry)
    this.#judge({ newcomer: entry })
    if (entry.status === "waiting") must(mayWait, "AD-7: an ask that may not wait does not")
    return { entry, verdict }
  }

  /** The caller of the entry has gone. */
  leave(entry: Entry): boolean {
    if (!(entry.ask instanceof WaitingAsk)) return false
    const possible = entry.status === "waiting" || entry.status === "granted"
    same(this.line.leave(entry.ask, this.now), possible, "AD-5: leaving")
    const head = this.#headOf(entry) === entry
    const freed = entry.status === "granted"
    if (possible) this.#end(entry, "interrupted")
    this.#judge({ decides: possible && (freed || head) })
    return possible
  }

  giveBack(entry: Entry): boolean {
    const possible = entry.status === "granted" || entry.status === "held"
    same(this.line.giveBack(entry.ask, this.now), possible, "AD-4 K-3: giving back")
    if (possible) this.#end(entry, "released")
    this.#judge({ decides: possible })
    return possible
  }

  /** Tells the next answer; its entry, or undefined where none is left. */
  deliver(): Entry | undefined {
    const batch = this.#untold[0]
    const ask = this.line.answers.take()
    same(ask === undefined, batch === undefined, "K-5: having nothing to tell")
    if (ask === undefined) return undefined
    const entry = this.#byAsk.get(ask)
    must(entry !== undefined && batch!.delete(entry), "K-5: answers are told once, in the order of their steps")
    if (batch!.size === 0) this.#untold.shift()
    const possible = entry!.status === "granted"
    same(this.line.deliver(ask), possible, "K-6: delivering")
    if (possible) entry!.status = "held"
    this.#judge({})
    return entry
  }

  /** Time goes on; the line hears of it where `ring`. */
  advance(by: number, ring = true): void {
    this.now += by
    if (!ring) return
    this.line.expire(this.now)
    this.#judge({ decides: true })
  }

  /** False, and no change, where a limit would be raised or be below its use. */
  lower(next: Partial<Limits>): boolean {
    const limits = { ...this.limits, ...next }
    if (!this.#mayLowerTo(limits)) return false
    this.limits = limits
    this.#caps.total.limit = limits.maxRunning
    this.#caps.tenant.limit = limits.maxPerTenant
    this.#caps.provider.limit = limits.maxPerProvider
    this.#caps.pair.limit = limits.maxPerPair
    this.line.bounds.maxQueued = limits.maxQueued
    this.line.bounds.maxQueuedPerTenant = limits.maxQueuedPerTenant
    this.line.review(this.now)
    this.#judge({ decides: true, refuses: (entry) => this.#never(entry) !== undefined })
    return true
  }

  withhold(units: number): boolean {
    const possible = this.withheld + units <= this.limits.maxRunning
    same(this.line.withhold(units, this.now), possible, "AD-28: withholding")
    if (possible) this.withheld += units
    this.#judge({ decides: possible })
    return possible
  }

  restore(units: number): void {
    this.withheld -= units
    this.line.restore(units, this.now)
    this.#judge({ decides: true })
  }

  refuseAll(): void {
    same(this.line.refuseAll(this.now), this.waiting.length, "AD-29: the number of those refused")
    this.#judge({ decides: true, refuses: () => true })
  }

  /** Everybody goes; nothing may be left of them. */
  finish(): void {
    this.refuseAll()
    while (this.deliver() !== undefined);
    for (const entry of [...this.#live]) this.giveBack(entry)
    if (this.withheld > 0) this.restore(this.withheld)
    this.check()
    const { keys, total } = this.line
    same(total.used + total.withheld + this.line.held.size, 0, "AD-3: what is charged at the end")
    same(keys.tenantsInUse + keys.providersInUse + keys.pairsInUse, 0, "AD-32: the records in use at the end")
    for (const { status, ask, id } of this.entries) {
      same(statusOf[ask.state], status, `AD-20: the last state of ask ${id}`)
      must(status !== "waiting" && status !== "granted" && status !== "held", "AD-20: every ask ends")
    }
  }

  // --- the plain model

  get waiting(): readonly Entry[] {
    return this.#live.filter((entry) => entry.status === "waiting")
  }

  get charged(): readonly Entry[] {
    return this.#live.filter((entry) => entry.status !== "waiting")
  }

  /** Units on a narrow account. */
  usedOn(account: string): number {
    let sum = 0
    for (const entry of this.#live) {
      if (entry.status !== "waiting" && entry.accounts.includes(account)) sum += entry.cost
    }
    return sum
  }

  /** Units held by class k and all below it. */
  usedFrom(k: number): number {
    let sum = 0
    for (const entry of this.#live) if (entry.status !== "waiting" && entry.arrival >= k) sum += entry.cost
    return sum
  }

  roomOn(account: string): number {
    return this.#limitOf(account) - this.usedOn(account)
  }

  /** Units of the total that an ask of class `arrival` may still take. */
  roomOnTotal(arrival: Class): number {
    let room = Infinity
    let limit = this.limits.maxRunning - this.withheld
    for (let k = 0; k <= arrival; k++) {
      room = Math.min(room, limit - this.usedFrom(k))
      limit -= this.reserves[k]!
    }
    return room
  }

  /** The first account without room, narrow to wide. */
  shortOf(entry: Pick<Entry, "accounts" | "arrival" | "cost">): AccountName | undefined {
    for (const account of entry.accounts) if (this.roomOn(account) < entry.cost) return nameOf(account)
    return this.roomOnTotal(entry.arrival) < entry.cost ? "total" : undefined
  }

  fits(entry: Pick<Entry, "accounts" | "arrival" | "cost">): boolean {
    return this.shortOf(entry) === undefined
  }

  /** The first waiting ask of each (class, tenant, provider). */
  get heads(): readonly Entry[] {
    const heads: Entry[] = []
    for (const entry of this.#live) {
      if (entry.status === "waiting" && !heads.some((head) => sameGroup(head, entry))) heads.push(entry)
    }
    return heads
  }

  /** Has the head waited half of its time? Emergency and control do not age. */
  isOld(entry: Entry): boolean {
    return entry.arrival >= 2 && this.now >= entry.since + (entry.due - entry.since) / 2
  }

  // --- judging a step

  #judge(step: {
    readonly newcomer?: Entry
    readonly decides?: boolean
    readonly refuses?: (entry: Entry) => boolean
  }): void {
    const told = new Set<Entry>()
    const granted: Entry[] = []
    for (const entry of this.waiting) {
      const state = statusOf[entry.ask.state]
      const ends = step.refuses?.(entry) === true
      if (ends) same(state, "refused", `AD-27 AD-29: the state of ask ${entry.id}`)
      if (state === "waiting") continue
      if (state === "refused") must(ends, "AD-20: nobody is refused without a reason", () => entry.id)
      else if (state === "expired") must(entry.due <= this.now, "AD-21: nobody expires early", () => entry.id)
      else if (state === "held") must(entry === step.newcomer, "AD-22: a grant is told before it is held")
      else must(state === "granted", "AD-20: a waiting ask ends in one of its ways", () => state)
      told.add(entry)
      if (state === "held" || state === "granted") granted.push(entry)
      else this.#end(entry, state as Status)
    }
    this.#judgeGrants(this.#inOrderOfGrant(granted), step.newcomer)
    if (told.size > 0) this.#untold.push(told)
    const late = step.decides === true ? this.waiting.find((entry) => entry.due <= this.now) : undefined
    must(late === undefined, "AD-20 AD-22: no step that decides leaves an ask that is due", () => late?.id)
    this.check()
  }

  /** Grants go on the end of the list of those held. */
  #inOrderOfGrant(granted: readonly Entry[]): readonly Entry[] {
    const found: Entry[] = []
    for (let ask = this.line.held.tail; ask !== undefined && found.length < granted.length; ask = ask.prev) {
      found.unshift(this.#byAsk.get(ask)!)
    }
    must(found.every((entry) => granted.includes(entry)), "AD-3: what is granted is held, newest last")
    return found
  }

  #judgeGrants(grants: readonly Entry[], newcomer: Entry | undefined): void {
    if (grants.length === 0) return
    const old = new Set(this.heads.filter((head) => this.isOld(head)))
    const classOf = (entry: Entry): number => old.has(entry) ? entry.arrival - 1 : entry.arrival
    for (const entry of grants) {
      must(this.now < entry.due, "AD-22: nothing is granted at its due instant or later", () => entry.id)
      must(this.#headOf(entry) === entry, "AD-11: first in, first out inside a group", () => entry.id)
      const short = this.shortOf(entry)
      must(short === undefined, "AD-1 AD-2 AD-17 AD-28: a grant fits every account", () => ({ id: entry.id, short }))
      // Where units may be set aside the turn of a class may begin and end within a step, unseen from here.
      const passed = this.line.bounds.maxBypass < endless
        ? undefined
        : this.heads.find((head) =>
          head !== newcomer && classOf(head) < classOf(entry) && this.fits(head) &&
          !this.#passable.has(head) && !this.#mayBePassed(head)
        )
      must(passed === undefined, "AD-16: higher class first", () => ({ passed: passed?.id, by: entry.id }))
      if (entry === newcomer) this.#judgeNewcomer(entry)
      entry.status = statusOf[entry.ask.state] as Status
    }
  }

  /** No head of its class or a higher one is left that fits what is not kept for others; nor did it take what is kept. */
  #judgeNewcomer(entry: Entry): void {
    for (const head of this.heads) {
      if (head === entry || this.#turnClass(head) > entry.arrival || head.due <= this.now) continue
      if (head.ask.state !== LeaseState.Waiting) continue
      const may = !this.fits(head) || this.#isKeptFrom(head) || this.#passable.has(head)
      must(may, "AD-7: a newcomer overtakes nobody who fits", () => head.id)
    }
    // What its own step began to set aside afterwards was free when it came.
    must(!this.#isSetAsideFrom(entry, this.#owners), "AD-7: a newcomer takes nothing that is set aside", () => entry.id)
  }

  #turnedAway(entry: Entry, verdict: Exclude<Verdict, undefined>, mayWait: boolean): void {
    if (verdict.kind === "never") return
    const inGroup = this.waiting.some((other) => sameGroup(other, entry))
    must(
      inGroup || !this.fits(entry) || this.#isKeptFrom(entry),
      "AD-15: nobody is turned away whose units are free",
      () => verdict,
    )
    if (verdict.kind === "short") {
      must(!mayWait, "AD-7: only an ask that may not wait is told which account is short")
      const short = this.shortOf(entry)
      // Where all limits leave it room, an account may be short by what is kept there for others.
      const kept = entry.accounts.filter((name) => this.waiting.some((other) => other.accounts.includes(name))).map(
        nameOf,
      )
      const told = verdict.account === (short ?? "total") || (short === undefined && kept.includes(verdict.account))
      must(told, "AD-7: the account that is short", () => ({ short, told: verdict.account }))
      return
    }
    must(mayWait, "AD-19: only an ask that may wait finds the line full")
    const { maxQueued, maxQueuedPerTenant } = this.limits
    same(verdict.limit, verdict.scope === "all" ? maxQueued : maxQueuedPerTenant, "AD-19: the limit of the line")
    if (verdict.scope === "all") must(this.waiting.length >= maxQueued, "AD-19: full only where it is full")
    else must(entry.arrival > 0 && this.#queuedOf(entry.tenant) >= maxQueuedPerTenant, "AD-19: full for the tenant")
  }

  // --- what is kept for whom

  #groupOf(entry: Entry): Group {
    return entry.pair.groups[entry.arrival]!
  }

  #turnClass(entry: Entry): Class {
    return this.#groupOf(entry).turnClass
  }

  /** Before or after this step something was kept for a head of its class or a higher one, so it may have to wait. */
  #mayBePassed(head: Entry): boolean {
    return this.heads.some((other) => {
      const group = this.#groupOf(other)
      if (other === head || group.turnClass > this.#turnClass(head)) return false
      return group.setAside || group.holds !== undefined
    })
  }

  /** Units are set aside for the first of its class on an account; one that lost that place waits for it to come again. */
  #hasSetAside(group: Group): boolean {
    return group.setAside && this.heads.every((other) => {
      const rival = this.#groupOf(other)
      if (rival.place !== onAccount || rival.account !== this.#shortOf(group)) return true
      return rival.turnClass !== group.turnClass || rival.ticket >= group.ticket
    })
  }

  /** The account that the group's head is short of: the total where it stays in its turn. */
  #shortOf(group: Group): Account<Group> {
    return group.place === onAccount ? group.account! : this.line.total
  }

  /** The account in the words of this model. */
  #accountOf(owner: Entry, account: Account<Group>): string {
    if (account === this.line.total) return "total"
    return owner.accounts.find((name) => nameOf(name) === account.name)!
  }

  /**
   * Is all that is free of one of its accounts set aside for another head, of its class or a higher one as they count
   * now? The other must be eligible: every account before that one has room for it.
   */
  #isSetAsideFrom(entry: Entry, owners?: ReadonlyMap<Entry, Class>): boolean {
    const turn = this.#groupOf(entry)?.asks.head === entry.ask ? this.#turnClass(entry) : entry.arrival
    return this.heads.some((other) => {
      const group = this.#groupOf(other)
      if (other === entry || !this.#hasSetAside(group)) return false
      const against = owners === undefined ? group.turnClass : owners.get(other)
      if (against === undefined || against > turn) return false
      const account = this.#accountOf(other, this.#shortOf(group))
      return account === "total" || entry.accounts.includes(account)
    })
  }

  /**
   * Is what it needs kept for others on one of its accounts: set aside, guarded for one that was woken, or promised? A
   * woken head that is short of the total alone stops the waking of its class: those parked where it was woken stay.
   */
  #isKeptFrom(entry: Entry): boolean {
    if (this.#isSetAsideFrom(entry)) return true
    const parkedOn = this.#parkedOn(entry)
    return [...entry.accounts, "total"].some((account) => {
      let room = account === "total" ? this.roomOnTotal(entry.arrival) : this.roomOn(account)
      for (const other of this.heads) {
        const group = this.#groupOf(other)
        const holds = group.holds?.some((held) => this.#accountOf(other, held) === account)
        if (other === entry || holds !== true || group.turnClass > this.#turnClass(entry)) continue
        const guarded = group.guards?.some((held) => this.#accountOf(other, held) === account) === true
        const first = parkedOn === account && !this.fits(other) && this.#fitsBelowTotal(other)
        if (guarded || first) room -= other.cost
      }
      return room < entry.cost
    })
  }

  #fitsBelowTotal(entry: Entry): boolean {
    return entry.accounts.every((account) => this.roomOn(account) >= entry.cost)
  }

  #parkedOn(entry: Entry): string | undefined {
    const group = this.#groupOf(entry)
    if (group?.head !== entry.ask || group.place !== onAccount) return undefined
    return this.#accountOf(entry, group.account!)
  }

  // --- invariants

  /** What holds between any two steps. */
  check(): void {
    if (!this.checks) return
    this.#checkUse()
    this.#checkLine()
    this.#checkKept()
    for (const head of this.heads) {
      if (head.due <= this.now || !this.fits(head)) continue
      must(this.#isKeptFrom(head), "AD-15 AD-6 K-5: no head that fits is left waiting", () => head.id)
    }
    if (this.waiting.length === 0) this.#checkResidue()
    this.#passable = new Set(this.heads.filter((head) => this.#mayBePassed(head)))
    const owners = this.heads.filter((head) => this.#hasSetAside(this.#groupOf(head)))
    this.#owners = new Map(owners.map((head) => [head, this.#turnClass(head)]))
  }

  #checkUse(): void {
    const { keys, total, held } = this.line
    let units = 0
    for (const entry of this.#live) {
      same(statusOf[entry.ask.state], entry.status, `the state of ask ${entry.id}`)
      if (entry.status !== "waiting") units += entry.cost
    }
    same(total.used, units, "AD-3 K-2: the use of the total")
    same(held.size, this.charged.length, "AD-3: the number of those held")
    same(total.withheld, this.withheld, "AD-28: what is withheld")
    same(total.debt, Math.max(0, units + this.withheld - this.limits.maxRunning), "AD-28: the debt")
    let limit = this.limits.maxRunning
    for (let k = 0; k < 4; k++) {
      same(total.sumOf(k as Class), this.usedFrom(k), `AD-3: the units of class ${k} and below`)
      must(this.usedFrom(k) <= limit, "AD-2 AD-17: no class takes what is reserved above it", () => k)
      limit -= this.reserves[k]!
    }
    for (const [key, tenant] of keys.tenants) this.#checkAccount(`tenant ${key}`, tenant.account)
    for (const [key, provider] of keys.providers) this.#checkAccount(`provider ${key}`, provider.account)
    let seen = 0
    for (const pair of keys.pairs()) {
      if (pair.account !== undefined) this.#checkAccount(`pair ${pair.tenant.key}/${pair.provider!.key}`, pair.account)
      const uses = this.#live.filter((entry) => entry.pair === pair).length
      same(pair.uses, uses, "AD-32: the uses of a pair")
      seen += uses
    }
    same(seen, this.#live.length, "AD-32: every ask that has not ended is on a record that is known")
  }

  #checkAccount(name: string, account: Account<Group>): void {
    same(account.used, this.usedOn(name), `AD-3 K-2: the use of ${name}`)
    must(account.used <= this.#limitOf(name), "AD-2: no account is above its limit", () => name)
  }

  #checkLine(): void {
    const { line, waiting } = this
    same(line.waiting, waiting.length, "AD-36: the number of those waiting")
    must(waiting.length <= this.limits.maxQueued, "AD-19: no more wait than may")
    let due = Infinity
    for (const entry of waiting) due = Math.min(due, entry.due)
    same(line.nextDue, due, "AD-20: the next due instant")
    for (let k = 0; k < 4; k++) {
      const inClass = waiting.filter((entry) => entry.arrival === k)
      same(line.waitingIn[k], inClass.length, `AD-36: those waiting in class ${k}`)
      same(line.tenantsIn[k], new Set(inClass.map((entry) => entry.tenant)).size, `AD-36: tenants in class ${k}`)
    }
    for (const [key, tenant] of line.keys.tenants) {
      const queued = this.#queuedOf(key)
      same(tenant.queued, queued, "AD-36: the queued asks of a tenant")
      must(queued <= this.limits.maxQueuedPerTenant, "AD-19: no more of a tenant wait than may")
    }
    const inUse = (name: (entry: Entry) => string | undefined): number =>
      new Set(this.#live.map(name).filter((key) => key !== undefined)).size
    same(line.keys.tenantsInUse, inUse((entry) => entry.tenant), "AD-32: the tenants in use")
    same(line.keys.providersInUse, inUse((entry) => entry.provider), "AD-32: the providers in use")
    const pair = (entry: Entry): string | undefined => entry.provider && `${entry.tenant}/${entry.provider}`
    same(line.keys.pairsInUse, inUse(pair), "AD-32: the pairs in use")
    let untold = 0
    for (const batch of this.#untold) untold += batch.size
    same(line.answers.size, untold, "K-5: the answers that are to be told")
  }

  /** Nothing is set aside for a head that only the end of a withholding, or another account, can let in. */
  #checkKept(): void {
    for (const head of this.heads) {
      const group = this.#groupOf(head)
      if (!this.#hasSetAside(group) && group.guards === undefined) continue
      let most = this.limits.maxRunning - this.withheld
      for (let k = 0; k < head.arrival; k++) most -= this.reserves[k]!
      must(head.cost <= most, "AD-28: nothing is set aside for a head above what withholding leaves", () => head.id)
      must(group.place !== onWithholding, "AD-28: nothing is set aside for a head that waits for withholding to end")
      const keeping = (group.guards ?? []).map((guard) => this.#accountOf(head, guard))
      if (this.#hasSetAside(group)) keeping.push(this.#accountOf(head, this.#shortOf(group)))
      for (const at of keeping) {
        for (const account of head.accounts) {
          if (account === at) break
          const room = this.roomOn(account)
          must(
            room >= head.cost,
            "AD-14: nothing is set aside for a head that is not eligible",
            () => [head.id, at, account],
          )
        }
      }
    }
  }

  #checkResidue(): void {
    const { keys, total } = this.line
    const accounts: Account<Group>[] = [total]
    for (const { account } of keys.tenants.values()) accounts.push(account)
    for (const { account } of keys.providers.values()) accounts.push(account)
    for (const { account } of keys.pairs()) if (account !== undefined) accounts.push(account)
    for (const { guarded, name, opened, parked, promised, queues, setAside, watchers } of accounts) {
      same(promised, undefined, `AD-14: units promised on ${name} while nobody waits`)
      same(parked, 0, `AD-13: groups parked on ${name} while nobody waits`)
      same(setAside, 0, `AD-14: heads with units set aside on ${name} while nobody waits`)
      same(guarded, undefined, `AD-14: units guarded on ${name} while nobody waits`)
      same(watchers?.size ?? 0, 0, `AD-14: heads looked at when ${name} runs short while nobody waits`)
      same(opened, false, `AD-13: ${name} still to be looked at while nobody waits`)
      for (const queue of queues ?? []) same(queue?.size ?? 0, 0, `AD-13: groups in a queue of ${name}`)
    }
  }

  // --- small things

  #draft(wish: Wish, pair: Pair): Omit<Entry, "ask" | "due" | "status"> {
    const arrival = wish.arrival ?? 2
    const { provider, tenant } = wish
    const accounts: string[] = []
    if (provider !== undefined && arrival !== 0) accounts.push(`pair ${tenant}/${provider}`)
    if (provider !== undefined) accounts.push(`provider ${provider}`)
    if (arrival !== 0) accounts.push(`tenant ${tenant}`)
    return {
      id: this.entries.length,
      pair,
      tenant,
      provider,
      arrival,
      cost: wish.cost ?? 1,
      since: this.now,
      accounts,
    }
  }

  #enter(entry: Entry): void {
    this.entries.push(entry)
    this.#live.push(entry)
    this.#byAsk.set(entry.ask, entry)
  }

  #end(entry: Entry, status: Status): void {
    entry.status = status
    this.#live = this.#live.filter((other) => other !== entry)
  }

  #headOf(entry: Entry): Entry | undefined {
    return this.#live.find((other) => other.status === "waiting" && sameGroup(other, entry))
  }

  #queuedOf(tenant: string): number {
    return this.waiting.filter((entry) => entry.tenant === tenant && entry.arrival !== 0).length
  }

  #limitOf(account: string): number {
    const { maxPerPair, maxPerProvider, maxPerTenant } = this.limits
    return { pair: maxPerPair, provider: maxPerProvider, tenant: maxPerTenant, total: NaN }[nameOf(account)]
  }

  #never(entry: Entry): { readonly account: AccountName; readonly limit: number } | undefined {
    for (const account of entry.accounts) {
      const limit = this.#limitOf(account)
      if (entry.cost > limit) return { account: nameOf(account), limit }
    }
    let limit = this.limits.maxRunning
    for (let k = 0; k < entry.arrival; k++) limit -= this.reserves[k]!
    return entry.cost > limit ? { account: "total", limit } : undefined
  }

  #mayLowerTo(limits: Limits): boolean {
    const names = Object.keys(limits) as Array<keyof Limits>
    if (names.some((name) => limits[name] > this.limits[name])) return false
    const reserved = this.reserves.reduce((sum, units) => sum + units, 0)
    let allowed = limits.maxRunning
    if (reserved >= allowed || this.withheld > allowed || this.waiting.length > limits.maxQueued) return false
    for (let k = 0; k < 4; k++) {
      if (this.usedFrom(k) > allowed) return false
      allowed -= this.reserves[k]!
    }
    const per = {
      pair: limits.maxPerPair,
      provider: limits.maxPerProvider,
      tenant: limits.maxPerTenant,
      total: Infinity,
    }
    if (this.charged.some(({ accounts }) => accounts.some((name) => this.usedOn(name) > per[nameOf(name)]))) {
      return false
    }
    return this.waiting.every(({ tenant }) => this.#queuedOf(tenant) <= limits.maxQueuedPerTenant)
  }
}

const sameGroup = (a: Entry, b: Entry): boolean =>
  a.arrival === b.arrival && a.tenant === b.tenant && a.provider === b.provider

/** The kind of an account is the first word of its name here. */
const nameOf = (account: string): AccountName => account.slice(0, account.indexOf(" ")) as AccountName
