/**
 * B. Waiters behind held permits: n of them with a trivial body queue up behind 64 holders or one, then the gate opens.
 *
 * A cost a waiter that grows with n means O(n) work a hand-over. On Node also the longest turn of the loop and the memory
 * of a waiter.
 */
import { bare, bytes, cost, effects, type Gather, longestTurn, promises } from "../Crowd.ts"
import * as Holdfast from "../Holdfast.ts"
import { high, median } from "../Interval.ts"
import { effectPeers, leaseFloor, promiseFloor, promisePeers } from "../Peers.ts"
import { alternate } from "../Rounds.ts"
import type { Emit } from "../Row.ts"
import * as Sizes from "../Sizes.ts"

type Subject = Sizes.Subject<Gather>

const permits = 64
const lease = effects(leaseFloor)
const leaseWithDeadlines = effects(leaseFloor, { deadlines: true })
const promised = promises(promiseFloor)

const ours = { name: Holdfast.name, kind: "judged", floor: lease } as const
const plain: Subject = { ...ours, gather: effects(Holdfast.open) }
const manyTenants: Subject = {
  ...ours,
  variant: " of 1,000 tenants",
  gather: effects(Holdfast.open, { tenants: 1000 }),
}
const withDeadlines: Subject = {
  ...ours,
  kind: "peer",
  variant: " with deadlines",
  gather: effects(Holdfast.open, { deadlines: true }),
  floor: leaseWithDeadlines,
}
const effectful = Object.entries(effectPeers).map(([name, open]): Subject => (
  { name, kind: "peer", gather: effects(open), floor: lease }
))
const others = Object.entries(promisePeers).map(([name, open]): Subject => (
  { name, kind: "peer", gather: promises(open), floor: promised }
))
const floor: Subject = {
  name: "lease floor",
  kind: "floor",
  gather: lease,
  floor: lease,
}
const floors: ReadonlyArray<Subject> = [
  { name: "limit", kind: "floor", gather: bare, floor: lease },
  { name: "promise floor", kind: "floor", gather: promised, floor: lease },
  floor,
]

const number = (n: number): string => n.toLocaleString("en-US")

const lines = (
  permits: number,
  sizes: ReadonlyArray<number>,
  subjects: ReadonlyArray<Subject>,
): Sizes.Plan<Gather> => ({
  group: "B",
  sizes,
  label: (n) => `${permits} ${permits === 1 ? "permit" : "permits"}, ${number(n)} waiters`,
  cost: (gather, n) => cost(gather, permits, n),
  subjects,
})

const turns = async (emit: Emit): Promise<void> => {
  const n = 20_000
  const subjects = [plain, manyTenants, ...effectful, floor]
  const samples = await alternate(subjects.map(({ gather }) => ({
    subject: () => longestTurn(gather, permits, n),
    floor: () => longestTurn(lease, permits, n),
    slices: 1,
  })))
  subjects.forEach(({ name, variant, kind }, i) => {
    const { values = [], ratios = [] } = samples[i] ?? {}
    const ratio = kind === "floor" ? {} : { ratioToFloor: median(ratios), ratioHigh: high(ratios) }
    const label = `longest turn in ms while ${number(n)} drain${variant ?? ""}`
    emit({
      group: "B",
      subject: name,
      case: label,
      figure: median(values),
      figureHigh: high(values),
      ...ratio,
    })
  })
}

const memory = async (emit: Emit): Promise<void> => {
  const n = 50_000
  const deadlines: Subject = {
    ...floor,
    variant: " with deadlines",
    gather: leaseWithDeadlines,
  }
  for (
    const { name, variant, gather } of [
      floor,
      deadlines,
      plain,
      manyTenants,
      withDeadlines,
      ...effectful,
    ]
  ) {
    const seen: Array<number> = []
    for (let i = 0; i < 3; i++) seen.push(await bytes(gather, permits, n))
    const label = `memory of ${number(n)} waiters${variant ?? ""}`
    emit({
      group: "B",
      subject: name,
      case: label,
      bytes: Math.round(median(seen)),
    })
  }
}

/** Elsewhere than on Node the largest crowd is that of the first figure alone, since the whole would take half an hour. */
const trimmed = (subject: Subject): Subject =>
  subject === plain || subject === floor ? subject : { ...subject, most: 10_000 }

export const measure = async (emit: Emit, onNode: boolean): Promise<void> => {
  const whole = [
    plain,
    manyTenants,
    withDeadlines,
    ...effectful,
    ...others,
    ...floors,
  ]
  const all = onNode ? whole : whole.map(trimmed)
  for (let i = 0; i < 5; i++) {
    for (const { gather } of all) await cost(gather, permits, 1000)
  }
  await Sizes.measure(lines(permits, [1000, 10_000, 100_000], all), emit)
  await Sizes.measure(
    lines(1, [1000, 10_000], [plain, ...effectful, floor]),
    emit,
  )
  if (!onNode) return
  await turns(emit)
  await memory(emit)
}
