/**
 * H. HTTP/1.1 from the client's side: CPU a request of this process over 64 connections to a server in another one, and the
 * codec alone over requests on one connection, whose cost must not grow.
 *
 * CPU is that of the whole process, garbage collection and what the kernel does for it included, so the machine's load says
 * less than in wall time. The floor is a minimal parser by hand on the same sockets.
 */
import { spawn } from "node:child_process"
import process from "node:process"
import { fileURLToPath } from "node:url"
import * as Runtime from "../../support/Runtime.ts"
import { response } from "../HelloMessages.ts"
import * as Clients from "../HttpClients.ts"
import { high, median } from "../Interval.ts"
import { alternate, type Measure } from "../Rounds.ts"
import { type Emit, figures, type Runtime as RuntimeName } from "../Row.ts"
import * as Sizes from "../Sizes.ts"

const name = "holdfast http1"
const floorName = "minimal parser (floor)"
const rawName = "raw sockets, nothing read"
const dispatchName = "undici dispatch"
const connections = 64
const perTurn = 1_600
const slices = 15

const runtime: RuntimeName = process.versions["bun"] ? "bun" : process.versions["deno"] ? "deno" : "node"

/** The ports of the two servers. */
interface Ports {
  readonly bare: number
  readonly http: number
}

const server = (): Promise<Ports> =>
  new Promise((resolve, reject) => {
    const [file = runtime, ...args] = Runtime.command(runtime)
    const binary = runtime === "node" ? file : process.execPath
    const script = fileURLToPath(new URL("../HelloServer.ts", import.meta.url))
    const child = spawn(binary, [...args, script], {
      stdio: ["pipe", "pipe", "inherit"],
    })
    child.once("error", reject)
    child.stdout.once("data", (line) => resolve(JSON.parse(String(line))))
  })

/** Nanoseconds of CPU, or of the wall, a request. */
const turn = (fleet: Clients.Fleet, clock: "cpu" | "wall"): Measure => async () => {
  const cpu = process.cpuUsage()
  const wall = performance.now()
  await Clients.run(fleet, perTurn)
  if (clock === "wall") return ((performance.now() - wall) * 1e6) / perTurn
  return nanosOf(cpu) / perTurn
}

/** Nanoseconds of CPU since a reading. */
const nanosOf = (before: NodeJS.CpuUsage): number => {
  const { system, user } = process.cpuUsage(before)
  return (system + user) * 1e3
}

const peers: Readonly<Record<string, Clients.Open>> = {
  [rawName]: Clients.raw,
  "node:http": Clients.nodeHttp,
  // On Bun this name gives Bun's own client, which has no dispatch.
  ...(runtime !== "bun" &&
    {
      "undici request": Clients.undiciRequest,
      [dispatchName]: Clients.undiciDispatch,
    }),
}

const open = async (
  port: number,
): Promise<Readonly<Record<string, Clients.Fleet>>> => {
  const all = {
    [name]: Clients.holdfast,
    [floorName]: Clients.minimal,
    ...peers,
  }
  const fleets: Record<string, Clients.Fleet> = {}
  for (const [subject, open] of Object.entries(all)) {
    fleets[subject] = await open(port, connections)
  }
  return fleets
}

const close = (fleets: Readonly<Record<string, Clients.Fleet>>): void =>
  Object.values(fleets).forEach((fleet) => fleet.close())

/** Against the bare server, so that it is the client that is measured. */
const cpu = async (emit: Emit, port: number): Promise<void> => {
  const fleets = await open(port)
  const beside = (subject: string, floor: string) => (
    {
      subject: turn(fleets[subject]!, "cpu"),
      floor: turn(fleets[floor]!, "cpu"),
      slices,
    }
  )
  const subjects = [name, ...Object.keys(peers)]
  const dispatch = dispatchName in peers ? [beside(name, dispatchName)] : []
  const samples = await alternate([
    ...subjects.map((subject) => beside(subject, floorName)),
    ...dispatch,
  ])
  const title = "CPU a request, 64 connections"
  subjects.forEach((subject, i) => emit({ group: "H", subject, case: title, ...figures(samples[i]!) }))
  emit({
    group: "H",
    subject: floorName,
    case: title,
    nsPerOp: median(samples[0]!.floors),
  })
  if (dispatch.length > 0) {
    const { ratios } = samples.at(-1)!
    const share = "share of the CPU of undici dispatch"
    emit({
      group: "H",
      subject: name,
      case: share,
      figure: median(ratios),
      figureHigh: high(ratios),
    })
  }
  close(fleets)
}

/** Against a server of `node:http`, so that raw sockets are no faster than a server that reads its requests. */
const rate = async (emit: Emit, port: number): Promise<void> => {
  const fleets = await open(port)
  const walls = Object.values(fleets).map((fleet) => (
    {
      subject: turn(fleet, "wall"),
      floor: turn(fleets[rawName]!, "wall"),
      slices: 3,
    }
  ))
  for (const [i, { ratios, values }] of (await alternate(walls)).entries()) {
    const subject = Object.keys(fleets)[i]!
    emit({
      group: "H",
      subject,
      case: "requests a second, 64 connections",
      figure: 1e9 / median(values),
    })
    const share = "share of the requests of raw sockets"
    if (subject === name) {
      emit({ group: "H", subject, case: share, figure: 1 / median(ratios) })
    }
  }
  close(fleets)
}

/** Exchanges of the codec alone: so many on each connection, until there are enough of them to be timed. */
type Exchanges = (perConnection: number) => void

const totalOf = (perConnection: number): number => Math.max(perConnection, 10_000)
const bytes = Buffer.from(response, "latin1")

const own: Exchanges = (n) => {
  const get = Clients.request(80)
  for (let connections = totalOf(n) / n; connections > 0; connections--) {
    const connection = Clients.engine.open()
    for (let i = 0; i < n; i++) {
      connection.trySend(get)
      connection.takeOutput()
      if (!Clients.receive(connection, bytes)) {
        throw new Error("the response was not whole")
      }
    }
  }
}

const minimal: Exchanges = (n) => {
  for (let connections = totalOf(n) / n; connections > 0; connections--) {
    const parser = new Clients.Minimal()
    for (let i = 0; i < n; i++) {
      Clients.seen.bytes += Buffer.from(parser.request(80), "latin1").length
      if (!parser.receive(bytes)) throw new Error("the response was not whole")
    }
  }
}

const alone = (emit: Emit): Promise<void> =>
  Sizes.measure({
    group: "H",
    sizes: [1, 10, 100, 1_000, 10_000, 100_000],
    label: (n) => `codec alone, ${n.toLocaleString("en-US")} to a connection`,
    cost: (exchanges: Exchanges, n) => {
      const started = process.cpuUsage()
      exchanges(n)
      return Promise.resolve(nanosOf(started) / totalOf(n))
    },
    subjects: [
      { name, kind: "judged", gather: own, floor: minimal },
      { name: floorName, kind: "floor", gather: minimal, floor: minimal },
    ],
  }, emit)

export const measure = async (emit: Emit): Promise<void> => {
  const ports = await server()
  await cpu(emit, ports.bare)
  await rate(emit, ports.http)
  await alone(emit)
}
