/**
 * The operator's snapshot as Prometheus text (exposition format 0.0.4). It owns nothing.
 *
 * Every name begins with `holdfast_`. Without tenant labels the series are bounded by providers and outcomes.
 */
import type { Overview } from "./Overview.ts"

export const contentType = "text/plain; version=0.0.4; charset=utf-8"

type Labels = { readonly [name: string]: string }
type Sample = readonly [labels: Labels, value: number]

/** Seconds and counts. With `tenants`, requests and waits are told by tenant. */
export const render = (all: Overview, tenants: boolean): string =>
  [...admission(all), ...gates(all), ...traffic(all, tenants), ...own(all)].join("")

const admission = (all: Overview): ReadonlyArray<string> => {
  const now = all.admission
  const gauge = (name: string, help: string, value: number): string =>
    family("gauge", `holdfast_admission_${name}`, help, [[{}, value]])
  const counter = (name: string, help: string, value: number): string =>
    family("counter", `holdfast_admission_${name}_total`, help, [[{}, value]])
  const byClass = (pick: "running" | "waiting"): ReadonlyArray<Sample> =>
    Object.entries(now.classes).map(([name, counts]) => [{ class: name }, counts[pick]])
  const refusals = Object.entries(now.refused).map(([reason, count]): Sample => [{ reason }, count])
  return [
    family("gauge", "holdfast_admission_limit", "Units that may be held.", caps(now.limits)),
    family("gauge", "holdfast_admission_running", "Units held.", byClass("running")),
    family("gauge", "holdfast_admission_waiting", "Asks in the line.", byClass("waiting")),
    gauge("free", "Units neither held nor withheld.", now.free),
    gauge("withheld", "Units withheld.", now.withheld),
    gauge("debt", "Units held above what is left.", now.debt),
    gauge("draining", "1 once a drain has begun.", now.state === "open" ? 0 : 1),
    counter("granted", "Asks granted.", now.granted),
    counter("released", "Permits given back.", now.released),
    counter("interrupted", "Asks that left the line.", now.interrupted),
    family("counter", "holdfast_admission_refused_total", "Asks refused.", refusals),
  ]
}

/** Caps that are set, by the account that they bound. */
const caps = (limits: Overview["admission"]["limits"]): ReadonlyArray<Sample> =>
  ([
    ["total", limits.maxRunning],
    ["tenant", limits.maxPerTenant],
    ["provider", limits.maxPerProvider],
    ["pair", limits.maxPerPair],
  ] as const).flatMap(([account, limit]): ReadonlyArray<Sample> => limit === undefined ? [] : [[{ account }, limit]])

/** Of every provider, whose names are the configuration's. */
const gates = ({ gates }: Overview): ReadonlyArray<string> => {
  const each = (type: string, name: string, help: string, of: (gate: Overview["gates"][number]) => Counts): string =>
    family(
      type,
      `holdfast_gate_${name}`,
      help,
      gates.flatMap((gate) =>
        Object.entries(of(gate)).map(([value, count]): Sample => [
          { provider: gate.provider, ...(labelOf[name] === undefined ? {} : { [labelOf[name]]: value }) },
          count,
        ])
      ),
    )
  return [
    each("gauge", "limit", "Calls at once that a provider is given.", ({ concurrency }) => ({ concurrency })),
    each("gauge", "held", "Calls that hold a place at a provider.", ({ held }) => ({ held })),
    each("gauge", "circuit", "1 for the state that a circuit is in.", ({ circuit }) => ({
      closed: Number(circuit === "closed"),
      open: Number(circuit === "open"),
      "half-open": Number(circuit === "half-open"),
    })),
    each("gauge", "retry_seconds", "What is left of an opening.", (gate) => ({ left: gate.retryAfterMillis / 1_000 })),
    each("counter", "opened_total", "Times that a circuit opened.", ({ opened }) => ({ opened })),
    each("counter", "granted_total", "Calls that got a place.", ({ granted }) => ({ granted })),
    each("counter", "refused_total", "Calls refused a place, after the line.", ({ refusedOpen, saturated }) => ({
      open: refusedOpen,
      ...saturated,
    })),
    each("counter", "outcomes_total", "Calls by what they said of their provider.", (gate) => ({
      success: gate.successes,
      failure: gate.failures,
      neutral: gate.neutral,
      stale: gate.stale,
    })),
  ]
}

type Counts = { readonly [value: string]: number }

/** The label that tells the counts of one family apart; none where there is one count. */
const labelOf: { readonly [name: string]: string } = {
  circuit: "state",
  refused_total: "reason",
  outcomes_total: "outcome",
}

const traffic = (all: Overview, tenants: boolean): ReadonlyArray<string> => {
  const requests = all.requests.map(({ tenant, provider, outcome, requests }): Sample => [
    { ...(tenants ? { tenant: tenant ?? "" } : {}), provider: provider ?? "", outcome },
    requests,
  ])
  const waits = (pick: "requests" | "totalMillis", scale: number): ReadonlyArray<Sample> =>
    all.waits.map((wait) => [tenants ? { tenant: wait.tenant } : {}, wait[pick] * scale])
  return [
    family("counter", "holdfast_gateway_requests_total", "Requests by what became of them.", requests),
    header(
      "summary",
      "holdfast_gateway_wait_seconds",
      "From an ask to its turn, or to giving up in the line.",
    ),
    series("holdfast_gateway_wait_seconds_sum", waits("totalMillis", 0.001)),
    series("holdfast_gateway_wait_seconds_count", waits("requests", 1)),
  ]
}

const own = (all: Overview): ReadonlyArray<string> => [
  family("gauge", "holdfast_gateway_upstream_open", "Connections to providers.", [[{}, all.upstream.open]]),
  family("gauge", "holdfast_gateway_bodies_live", "Bodies under way.", [[{}, all.bodies.live]]),
]

const family = (type: string, name: string, help: string, samples: ReadonlyArray<Sample>): string =>
  header(type, name, help) + series(name, samples)

const header = (type: string, name: string, help: string): string => `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`

/** Samples of the same labels are added up: without tenant labels several rows are one series. */
const series = (name: string, samples: ReadonlyArray<Sample>): string => {
  const sums = new Map<string, number>()
  for (const [labels, value] of samples) {
    const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`)
    const key = pairs.length === 0 ? name : `${name}{${pairs.join(",")}}`
    sums.set(key, (sums.get(key) ?? 0) + value)
  }
  return [...sums].map(([key, value]) => `${key} ${value}\n`).join("")
}

const escaped = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")
