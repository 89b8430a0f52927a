/**
 * H. HTTP/2 from the client's side: CPU a request of this process over one connection with 100 streams to a server of
 * `node:http2` in another one, and the codec alone with more and more streams at a time, whose cost must not grow.
 *
 * The floor of the first is a bare session of `node:http2`; of the second, one stream at a time.
 */
import { spawn } from "node:child_process"
import process from "node:process"
import { fileURLToPath } from "node:url"
import * as Runtime from "../../support/Runtime.ts"
import * as Lab2 from "../../support/http/Lab2.ts"
import * as Clients from "../Http2Clients.ts"
import { run } from "../HttpClients.ts"
import { body, head } from "../HelloMessages.ts"
import { high, median } from "../Interval.ts"
import { alternate } from "../Rounds.ts"
import { type Emit, figures, type Runtime as RuntimeName } from "../Row.ts"

const name = "holdfast http2"
const floorName = "node:http2 session (floor)"
const streams = 100
const perTurn = 2_000
const slices = 15

const runtime: RuntimeName = process.versions["bun"] ? "bun" : process.versions["deno"] ? "deno" : "node"

const server = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const [file = runtime, ...args] = Runtime.command(runtime)
    const binary = runtime === "node" ? file : process.execPath
    const script = fileURLToPath(new URL("../Http2Server.ts", import.meta.url))
    const child = spawn(binary, [...args, script], {
      stdio: ["pipe", "pipe", "inherit"],
    })
    child.once("error", reject)
    child.stdout.once("data", (line) => resolve(Number(line)))
  })

const cpu = async (emit: Emit, port: number): Promise<void> => {
  const opened = {
    [name]: await Clients.holdfast(port, streams),
    // On Bun this name gives Bun's own client.
    ...(runtime !== "bun" &&
      { "undici, allowH2": await Clients.undici(port, streams) }),
  }
  const bare = await Clients.nodeHttp2(port, streams)
  const turn = (fleet: typeof bare) => async (): Promise<number> => {
    const before = process.cpuUsage()
    await run(fleet, perTurn)
    const { system, user } = process.cpuUsage(before)
    return ((system + user) * 1e3) / perTurn
  }
  const subjects = Object.entries(opened)
  const samples = await alternate(
    subjects.map(([, fleet]) => ({
      subject: turn(fleet),
      floor: turn(bare),
      slices,
    })),
  )
  const title = "CPU a request, one connection of 100 streams"
  subjects.forEach(([subject], i) => emit({ group: "H", subject, case: title, ...figures(samples[i]!) }))
  emit({
    group: "H",
    subject: floorName,
    case: title,
    nsPerOp: median(samples[0]!.floors),
  })
  const { ratios } = samples[0]!
  emit({
    group: "H",
    subject: name,
    case: "share of the CPU of node:http2",
    figure: median(ratios),
    figureHigh: high(ratios),
  })
  for (const fleet of [bare, ...Object.values(opened)]) fleet.close()
}

/** Rounds of so many streams at a time on one connection, until there are enough exchanges to be timed. */
type Exchanges = (atATime: number) => void

const least = 10_000
const rounds = (atATime: number): number => Math.ceil(least / atATime)
const answer = head.split("\r\n").slice(1, -2).filter((line) => !line.startsWith("Connection")).map((line) => {
  const [name = "", value = ""] = line.split(": ")
  return [name.toLowerCase(), value] as const
})
const response = (stream: number): ReadonlyArray<Uint8Array> => [
  Lab2.response(stream, 200, answer),
  Lab2.data(stream, body, Lab2.endStream),
]

/** The answers to each round, made before it is timed. */
const answers = new Map<number, ReadonlyArray<Uint8Array>>()
const answersOf = (atATime: number): ReadonlyArray<Uint8Array> => {
  const known = answers.get(atATime)
  if (known !== undefined) return known
  const all = Array.from(
    { length: rounds(atATime) },
    (_, round) =>
      Lab2.join(
        ...Array.from(
          { length: atATime },
          (_, i) => response(2 * (round * atATime + i) + 1),
        ).flat(),
      ),
  )
  answers.set(atATime, all)
  return all
}

const own: Exchanges = (n) => {
  const connection = Clients.engine.open()
  const get = Clients.request(80)
  connection.receive(Lab2.settings([3, 2_000]))
  let whole = 0
  for (const bytes of answersOf(n)) {
    for (let i = 0; i < n; i++) connection.trySend(get)
    connection.takeOutput()
    Clients.hear(connection, connection.receive(bytes), () => whole++)
  }
  if (whole !== n * rounds(n)) throw new Error("a response was not whole")
}

/** The cost of an exchange among many on a connection over that of one alone there. */
const alone = async (emit: Emit): Promise<void> => {
  const cost = (n: number) => (): Promise<number> => {
    answersOf(n)
    const started = performance.now()
    own(n)
    return Promise.resolve(((performance.now() - started) * 1e6) / (n * rounds(n)))
  }
  const sizes = [10, 100, 1_000]
  const samples = await alternate(sizes.map((n) => ({ subject: cost(n), floor: cost(1), slices })))
  sizes.forEach((n, i) => {
    const title = `codec alone, ${n.toLocaleString("en-US")} streams at a time over one`
    emit({ group: "H", subject: name, case: title, ...figures(samples[i]!) })
  })
}

export const measure = async (emit: Emit): Promise<void> => {
  await cpu(emit, await server())
  await alone(emit)
}
