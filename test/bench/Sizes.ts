/** The same measurement at growing sizes, with the growth of its cost from each size to the next. Owns nothing. */
import { median } from "./Interval.ts"
import { alternate, type Pair, type Sample } from "./Rounds.ts"
import { type Emit, figures, type Group } from "./Row.ts"

/** `G` gathers what is measured. What is judged is measured with more care than peers and floors. */
export interface Subject<G> {
  readonly name: string
  readonly kind: "judged" | "peer" | "floor"
  /** Appended to the name of the case. */
  readonly variant?: string
  readonly gather: G
  readonly floor: G
  /** The largest size that it is measured at; all if left out. */
  readonly most?: number
}

export interface Plan<G> {
  readonly group: Group
  readonly sizes: ReadonlyArray<number>
  readonly label: (n: number) => string
  /** Nanoseconds an operation. */
  readonly cost: (gather: G, n: number) => Promise<number>
  readonly subjects: ReadonlyArray<Subject<G>>
}

interface Seen {
  readonly n: number
  readonly sample: Sample
}

export const measure = async <G>(plan: Plan<G>, emit: Emit): Promise<void> => {
  const last = new Map<Subject<G>, Seen>()
  for (const n of plan.sizes) {
    const here = plan.subjects.filter((subject) => n <= (subject.most ?? n) && bearable(last.get(subject), n))
    const samples = await alternate(
      here.map((subject) => pairOf(plan, subject, n)),
    )
    here.forEach((subject, i) => {
      const sample = samples[i]
      if (sample === undefined) return
      const before = last.get(subject)
      const smaller = before && { sample: before.sample, factor: n / before.n }
      const { ratioToFloor, ratioHigh, growthHigh, ...own } = figures(
        sample,
        smaller,
      )
      const ratios = subject.kind === "floor" ? {} : { ratioToFloor, ratioHigh, growthHigh }
      const name = `${plan.label(n)}${subject.variant ?? ""}`
      emit({
        group: plan.group,
        subject: subject.name,
        case: name,
        ...own,
        ...ratios,
      })
      last.set(subject, { n, sample })
    })
  }
}

const pairOf = <G>(
  { cost }: Plan<G>,
  { kind, gather, floor }: Subject<G>,
  n: number,
): Pair => {
  const size = n >= 40_000 ? 0 : n >= 10_000 ? 1 : 2
  const turns = { subject: () => cost(gather, n), floor: () => cost(floor, n) }
  return kind === "judged" ? { ...turns, slices: [3, 11, 15][size] ?? 1 } : {
    ...turns,
    slices: [1, 3, 5][size] ?? 1,
    ...(kind === "peer" && { budgetMillis: 3000 }),
  }
}

/** A peer is left out where a turn would take more than four seconds if its cost an operation grew as the size does. */
const bearable = (smaller: Seen | undefined, n: number): boolean => {
  if (smaller === undefined) return true
  const nanos = median(smaller.sample.values) * (n / smaller.n) * n
  return nanos < 4e9 || median(smaller.sample.ratios) < 8
}
