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
const minimalName = "minimal parser (floor)"
const connections = 64
const perTurn = 3_200
const slices = 5

const runtime: RuntimeName = process.versions["bun"] ? "bun" : process.versions["deno"] ? "deno" : "node"

const server = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const [file = runtime, ...args] = Runtime.command(runtime)
    const binary = runtime === "node" ? file : process.execPath
    const script = fileURLToPath(new URL("../HelloServer.ts", import.meta.url))
    const child = spawn(binary, [...args, script], { stdio: ["pipe", "pipe", "inherit"] })
    child.once("error", reject)
    child.stdout.once("data", (line) => resolve(Number(/port (\d+)/.exec(String(line))?.[1])))
  })

/** Nanoseconds of CPU, or of the wall, a request. */
const turn = (fleet: Clients.Fleet, clock: "cpu" | "wall"): Measure => async () => {
  const cpu = process.cpuUsage()
  const wall = performance.now()
  await Clients.run(fleet, perTurn)
  if (clock === "wall") return ((performance.now() - wall) * 1e6) / perTurn
  const { system, user } = process.cpuUsage(cpu)
  return ((system + user) * 1e3) / perTurn
}

const overSockets = async (emit: Emit, port: number): Promise<void> => {
  const peers: Readonly<Record<string, Clients.Open>> = {
    "raw sockets, nothing read": Clients.raw,
    "node:http": Clients.nodeHttp,
    // On Bun this name gives Bun's own client, which has no dispatch.
    ...(runtime !== "bun" && { "undici request": Clients.undiciRequest, "undici dispatch": Clients.undiciDispatch }),
  }
  const floor = await Clients.minimal(port, connections)
  const own = await Clients.holdfast(port, connections)
  const fleets = await Promise.all(Object.values(peers).map((open) => open(port, connections)))
  const beside = (subject: Clients.Fleet, floor: Clients.Fleet) => (
    { subject: turn(subject, "cpu"), floor: turn(floor, "cpu"), slices }
  )
  const dispatch = "undici dispatch" in peers ? [beside(own, fleets.at(-1)!)] : []
  const samples = await alternate([...[own, ...fleets].map((fleet) => beside(fleet, floor)), ...dispatch])
  const cpu = "CPU a request, 64 connections"
  for (const [i, subject] of [name, ...Object.keys(peers)].entries()) {
    emit({ group: "H", subject, case: cpu, ...figures(samples[i]!) })
  }
  emit({ group: "H", subject: minimalName, case: cpu, nsPerOp: median(samples[0]!.floors) })
  if (dispatch.length > 0) {
    const { ratios } = samples.at(-1)!
    const share = "share of the CPU of undici dispatch"
    emit({ group: "H", subject: name, case: share, figure: median(ratios), figureHigh: high(ratios) })
  }
  const [raw] = fleets
  const walls = [own, floor, ...fleets].map((fleet) => (
    { subject: turn(fleet, "wall"), floor: turn(raw!, "wall"), slices: 1 }
  ))
  for (const [i, sample] of (await alternate(walls)).entries()) {
    const subject = [name, minimalName, ...Object.keys(peers)][i]!
    emit({ group: "H", subject, case: "requests a second, 64 connections", figure: 1e9 / median(sample.values) })
    const shares = sample.ratios.map((ratio) => 1 / ratio)
    if (i === 0) emit({ group: "H", subject, case: "share of the requests of raw sockets", figure: median(shares) })
  }
  for (const fleet of [own, floor, ...fleets]) fleet.close()
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
      if (!Clients.receive(connection, bytes)) throw new Error("the response was not whole")
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
    label: (n) => `codec alone, ${n.toLocaleString("en-US")} requests a connection`,
    cost: (exchanges: Exchanges, n) => {
      const started = performance.now()
      exchanges(n)
      return Promise.resolve(((performance.now() - started) * 1e6) / totalOf(n))
    },
    subjects: [
      { name, kind: "judged", gather: own, floor: minimal },
      { name: minimalName, kind: "floor", gather: minimal, floor: minimal },
    ],
  }, emit)

export const measure = async (emit: Emit): Promise<void> => {
  await overSockets(emit, await server())
  await alone(emit)
}
