/** What holdfast must reach, judged by the upper end of the 95 % interval. Owns nothing. */
import * as Holdfast from "./Holdfast.ts"
import type { Group, Row } from "./Row.ts"

export interface Goal {
  readonly group: Group
  /** Whose figure it is; the Admission's if left out. */
  readonly subject?: string
  readonly case: string
  readonly of: "ratioHigh" | "growthHigh" | "figureHigh" | "figure" | "bytes"
  readonly least?: number
  readonly most: number
  readonly says: string
}

const lines = ["64 permits, 10,000 waiters", "64 permits, 100,000 waiters"]
const manyTenants = lines.map((line) => `${line} of 1,000 tenants`)
const cancels = ["1,000", "10,000", "40,000"].map((n) => `cancel half of ${n}`)

const ratio = (group: Group, most: number, subject: string = Holdfast.name) => (name: string): Goal => (
  {
    group,
    subject,
    case: name,
    of: "ratioHigh",
    most,
    says: `at most ${most} x the floor`,
  }
)
const growth = (group: Group) => (name: string): Goal => (
  {
    group,
    case: name,
    of: "growthHigh",
    most: 1.2,
    says: "growth a decade at most 1.2 x the floor's own",
  }
)
const idle = "memory of an idle tenant, of 1,000,000"
const bytes = (group: Group, most: number, subject: string = Holdfast.name) => (name: string): Goal => (
  {
    group,
    subject,
    case: name,
    of: "bytes",
    most,
    says: `at most ${most.toLocaleString("en-US")} B`,
  }
)
const exactly = (name: string): Goal => ({
  group: "G",
  case: name,
  of: "figure",
  least: 74,
  most: 74,
  says: "exactly 74",
})

const http1 = { group: "H", subject: Holdfast.http1 } as const
const longer = ["10", "100", "1,000", "10,000", "100,000"].map((n) => `codec alone, ${n} to a connection`)
const http2 = { group: "H", subject: Holdfast.http2 } as const
const wider = ["10", "100", "1,000"].map((n) => `codec alone, ${n} streams at a time over one`)

export const goals: ReadonlyArray<Goal> = [
  ratio("A", 1.4)("run, tenant and provider"),
  ratio("A", 1.6)("run, priority and deadline"),
  {
    group: "A",
    case: "share of the time of PartitionedSemaphore",
    of: "figureHigh",
    most: 0.5,
    says: "at most 0.5",
  },
  ...[...lines, ...manyTenants, "1 permit, 10,000 waiters"].map(
    ratio("B", 1.5),
  ),
  ...[...lines, ...manyTenants, "1 permit, 10,000 waiters"].map(growth("B")),
  {
    group: "B",
    case: "longest turn in ms while 20,000 drain",
    of: "figureHigh",
    most: 25,
    says: "at most 25 ms",
  },
  ratio("C", 1.5)("100,000 tenants, one waiter each"),
  ...["one tenant", "as many tenants"].map((whose) => `memory of 50,000 waiters of ${whose}, with deadlines`)
    .map(bytes("C", 1_150)),
  bytes("C", 0)(idle),
  bytes("C", 0, Holdfast.gate)(idle),
  ...cancels.map(ratio("D", 1.5)),
  ...cancels.slice(1).map(growth("D")),
  ...["round trip, one at a time", "1 MiB handed over and back"].map(ratio("E", 1.2, "holdfast executor")),
  ratio("E", 1.2, "holdfast executor")("round trip, told apart by numbers"),
  ...["round trip, of one fiber", "1 MiB handed over and back, of one fiber"].map(ratio("E", 1.2, "holdfast executor")),
  ratio("F", 2.5, Holdfast.gate)("run"),
  ratio("F", 1.5, Holdfast.gate)("tryEnter and settle, in one scope"),
  ...["run, full", "tryEnter, full", "run, open", "tryEnter, open"].map((
    verb,
  ) => `refused by ${verb}`)
    .map(ratio("F", 1.6, Holdfast.gate)),
  exactly("served of a flood of 10,000 before the tenth of the other tenant"),
  exactly("served of a flood of 10,000 before the tenth of the other provider"),
  {
    group: "G",
    case: "share of a tenant split over 100 providers",
    of: "figure",
    least: 0.45,
    most: 0.55,
    says: "0.50 +- 0.05",
  },
  {
    ...http1,
    case: "CPU a request, 64 connections",
    of: "ratioHigh",
    most: 1.25,
    says: "at most 1.25 x the minimal parser",
  },
  {
    ...http1,
    case: "share of the CPU of undici dispatch",
    of: "figureHigh",
    most: 0.9,
    says: "at most 0.9",
  },
  {
    ...http1,
    case: "share of the requests of raw sockets",
    of: "figure",
    least: 0.85,
    most: Infinity,
    says: "at least 0.85",
  },
  ...longer.map((name): Goal => ({ ...growth("H")(name), ...http1 })),
  {
    ...http2,
    case: "share of the CPU of node:http2",
    of: "figureHigh",
    most: 0.15,
    says: "at most 0.15",
  },
  ...wider.map((name): Goal => (
    { ...http2, case: name, of: "ratioHigh", most: 1.2, says: "at most 1.2 x one stream" }
  )),
  {
    group: "J",
    subject: Holdfast.explorer,
    case: "CPU microseconds of a schedule of two fibers",
    of: "figureHigh",
    most: 50,
    says: "at most 50, which is 20,000 a second",
  },
  ...["dial and close", "echo round trip of 64 bytes", "read 16 MiB"].map((name): Goal => (
    {
      group: "K",
      subject: "holdfast Sockets",
      case: name,
      of: "ratioHigh",
      most: 1.15,
      says: "at most 1.15 x node:net",
    }
  )),
  bytes("I", 4_000)("gzip over the same parts of Effect"),
  bytes("I", 18_000, Holdfast.all)("gzip over the same parts of Effect"),
  bytes("I", 6_000, Holdfast.http1Codec)("gzip over the same parts of Effect"),
  bytes("I", 14_000, Holdfast.http2)("gzip over the same parts of Effect"),
  ratio("I", 1.1)("import, over the same parts of Effect"),
  ratio("I", 1.1, Holdfast.all)("import, over the same parts of Effect"),
]

/** What was measured for the goal on a runtime; undefined where the group did not run or had too few rounds. */
export const measured = (
  goal: Goal,
  rows: ReadonlyArray<Row>,
  runtime: string,
): number | undefined =>
  rows.find((row) =>
    row.group === goal.group &&
    row.subject === (goal.subject ?? Holdfast.name) &&
    row.case === goal.case && row.runtime === runtime
  )?.[goal.of]

export const reached = (goal: Goal, value: number): boolean => value >= (goal.least ?? -Infinity) && value <= goal.most
