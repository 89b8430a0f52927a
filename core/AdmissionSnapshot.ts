/**
 * What an Admission tells of itself: counts for everybody, and names for operators alone. Owns nothing.
 */
import type * as Duration from "effect/Duration"
import type { Limits } from "./AdmissionLimits.ts"
import { priorities, type Priority, type Settings } from "./AdmissionOptions.ts"
import * as Deadline from "./Deadline.ts"
import type { Ask } from "./kernel/Ask.ts"
import { type Class, classes } from "./kernel/Ledger.ts"
import type { Line } from "./kernel/Line.ts"
import * as LeaseState from "./kernel/LeaseState.ts"
import { frozen } from "./Snapshot.ts"

/** Who holds or waits, for operators. Never part of an error. */
export interface Holder {
  readonly tenant: string
  readonly provider: string | undefined
  readonly priority: Priority
  readonly cost: number
  readonly state: "held" | "waiting"
  /**
   * How long it has been so, at least: a permit that was granted at once and without a deadline counts from the next
   * time that the clock was read, by whoever asked.
   */
  readonly age: Duration.Duration
}

/** What a drain came to. `clean`: nothing is held any more. */
export interface DrainReport {
  readonly clean: boolean
  /** Units still held, and by whom. */
  readonly held: number
  readonly holders: ReadonlyArray<Holder>
  /** Asks that waited and got `Closed` since this drain began. */
  readonly refused: number
  readonly waited: Duration.Duration
}

export interface AdmissionSnapshot {
  readonly state: "open" | "draining" | "closed"
  readonly limits: Limits
  /** Units held, and the permits that hold them; what is granted and not yet running is held. */
  readonly running: number
  readonly permits: number
  /** Asks in the line. */
  readonly waiting: number
  /** Units neither held nor withheld. */
  readonly free: number
  /** Free units of the total that are set aside for an ask that was passed too often. */
  readonly setAside: number
  readonly withheld: number
  /** Units held above what withholding left. */
  readonly debt: number
  /** Units held and asks waiting, by priority of arrival. */
  readonly classes: Readonly<Record<Priority, { readonly running: number; readonly waiting: number }>>
  /** Keys with a permit or a waiting ask. */
  readonly tenants: number
  readonly providers: number
  readonly pairs: number
  /** Totals since it was made. `interrupted` left the line, or their permit before they ran. */
  readonly granted: number
  readonly released: number
  readonly interrupted: number
  readonly refused: Readonly<Record<RefusedTag, number>>
  /** Permits and waiting asks by label; empty unless the `labels` option names some. */
  readonly labels: ReadonlyArray<{ readonly label: string; readonly running: number; readonly waiting: number }>
}

export type RefusedTag = "NeverFits" | "QueueFull" | "WouldWait" | "WaitExpired" | "TooLate" | "Closed"

/** Totals since an Admission was made. Mutable: its owner counts here. */
export interface Totals {
  granted: number
  released: number
  interrupted: number
  readonly refused: Record<RefusedTag, number>
}

export const totals = (): Totals => ({
  granted: 0,
  released: 0,
  interrupted: 0,
  refused: { NeverFits: 0, QueueFull: 0, WouldWait: 0, WaitExpired: 0, TooLate: 0, Closed: 0 },
})

/** The counts of a line at this moment. O(1), but for labels, which look at everyone who holds or waits. */
export const of = (
  line: Line,
  limits: Limits,
  state: AdmissionSnapshot["state"],
  counted: Totals,
  labels: Settings["labels"],
): AdmissionSnapshot => {
  const { keys, total } = line
  const free = Math.max(0, total.cap.limit - total.withheld - total.used)
  const inClass = (k: Class) => ({ running: total.units[k], waiting: line.waitingIn[k] })
  return frozen({
    state,
    limits,
    running: total.used,
    permits: line.held.size,
    waiting: line.waiting,
    free,
    setAside: total.setAside > 0 ? free : 0,
    withheld: total.withheld,
    debt: total.debt,
    classes: Object.fromEntries(classes.map((k) => [priorities[k], inClass(k)])) as AdmissionSnapshot["classes"],
    tenants: keys.tenantsInUse,
    providers: keys.providersInUse,
    pairs: keys.pairsInUse,
    granted: counted.granted,
    released: counted.released,
    interrupted: counted.interrupted,
    refused: { ...counted.refused },
    labels: labels === undefined ? [] : labelled(line, labels),
  })
}

const labelled = (line: Line, labels: NonNullable<Settings["labels"]>): AdmissionSnapshot["labels"] => {
  const counts = new Map<string, { label: string; running: number; waiting: number }>()
  const count = (ask: Ask, units: number, asks: number): void => {
    const label = labels(ask.pair.tenant.key)
    if (label === undefined) return
    const row = counts.get(label) ?? { label, running: 0, waiting: 0 }
    row.running += units
    row.waiting += asks
    counts.set(label, row)
  }
  for (const ask of line.held.toArray()) count(ask, ask.cost, 0)
  for (const ask of line.waitingAsks()) count(ask, 0, 1)
  return [...counts.values()]
}

/** Everyone who holds or waits, longest first. */
export const holders = (line: Line, now: number): ReadonlyArray<Holder> =>
  [...line.held.toArray(), ...line.waitingAsks()].map((ask) => ({
    tenant: ask.pair.tenant.key,
    provider: ask.pair.provider?.key,
    priority: priorities[ask.arrival]!,
    cost: ask.cost,
    state: LeaseState.isCharged(ask.state) ? "held" as const : "waiting" as const,
    age: Deadline.nanos(now - ask.sinceNanos),
  }))
