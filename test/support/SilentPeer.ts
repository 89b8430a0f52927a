/**
 * A peer that vanishes: a machine with addresses of its own behind a link, which takes one of them away. What is sent there then
 * is dropped: no end, no reset, no word of a router, as where the power fails or a cable is cut.
 *
 * It is a Linux network namespace, and whoever dials it is in another, which {@link command} makes around a program: no network of
 * the machine is touched, so no address of it can be in the way, and no root is needed where users may have namespaces. Both
 * namespaces, and the link, are gone with the last process in them, however that ends. Needs `unshare` and `ip` (iproute2).
 */
import { execFileSync, spawn } from "node:child_process"
import { writeFileSync } from "node:fs"
import process from "node:process"
import { createInterface } from "node:readline"
import * as Command from "./Command.ts"
import * as Runtime from "./Runtime.ts"

const unshare: ReadonlyArray<string> = ["unshare", "--net"]

/** The command, in a network namespace of its own. */
export const command = (inside: ReadonlyArray<string>): ReadonlyArray<string> => {
  const [file = "", ...flags] = unshare
  // Root need not be allowed namespaces of users, and nobody else can do without.
  return [file, ...flags, ...(process.getuid?.() === 0 ? [] : ["--user", "--map-root-user"]), ...inside]
}

/** Why there can be none here; undefined where there can. */
export const unavailable = async (): Promise<string | undefined> => {
  const trial = "ip link add near type veth peer name far && echo 0 > /proc/sys/net/ipv4/ip_forward"
  const { output, status } = await Command.run(command(["sh", "-c", trial]))
  return status === 0 ? undefined : output.trim().split("\n")[0] || `status ${status}`
}

const count = 40
const near = { name: "near", address: "10.9.0.1", hardware: "02:00:00:00:00:01" }
const far = { name: "far", hardware: "02:00:00:00:00:02" }
const first = { echo: 7_100, tls: 7_200, leaves: 7_300 }

/** `echo` says what it hears, `tls` too, over TLS; `leaves` takes a connection and vanishes before it reads. */
export type Kind = keyof typeof first

/** A place for one trial: no other has its address or its ports. */
export interface Place {
  readonly address: string
  readonly ports: Readonly<Record<Kind, number>>
  /** Takes the address away; resolves when it is gone. */
  readonly vanish: () => Promise<void>
  /** Resolves when the address is gone. */
  readonly vanished: Promise<void>
}

export interface SilentPeer {
  /** The next place that nobody has. */
  readonly place: () => Place
  /** An address that nobody ever had. */
  readonly nobody: string
  readonly stop: () => Promise<void>
}

const addressOf = (place: number): string => `10.9.1.${place + 1}`
const places = Array.from({ length: count }, (_, place) => place)
const nobody = "10.9.1.250"

/** Only in a program that {@link command} has started. */
export const host = async (): Promise<SilentPeer> => {
  const plan = {
    near,
    far,
    addresses: places.map(addressOf),
    ports: Object.fromEntries(Object.entries(first).map(([kind, port]) => [kind, places.map((place) => port + place)])),
    certificates: `${Runtime.root}test/support/certificates/`,
  }
  const [file = "", ...flags] = unshare
  const script = `${Runtime.root}test/support/SilentPeer.mjs`
  const node = Runtime.command("node")[0]!
  const child = spawn(file, [...flags, node, script, JSON.stringify(plan)], { stdio: ["pipe", "pipe", "inherit"] })
  const gone = new Promise<never>((_, reject) =>
    child.once("close", () => reject(new Error("the far machine is gone")))
  )
  gone.catch(() => {})
  const said = new Map<string, () => void>()
  const waiting = (line: string): Promise<void> => {
    const told = Promise.race([gone, new Promise<void>((resolve) => said.set(line, resolve))])
    // Not every trial asks.
    told.catch(() => {})
    return told
  }
  createInterface({ input: child.stdout }).on("line", (line) => said.get(line)?.())

  await waiting("here")
  link(child.pid!)
  const listening = waiting("listening")
  child.stdin.write("link\n")
  await listening

  let taken = 0
  const place = (): Place => {
    const at = taken++
    const address = addressOf(at)
    const vanished = waiting(`vanished ${address}`)
    const vanish = (): Promise<void> => {
      child.stdin.write(`vanish ${address}\n`)
      return vanished
    }
    return {
      address,
      ports: { echo: first.echo + at, tls: first.tls + at, leaves: first.leaves + at },
      vanish,
      vanished,
    }
  }
  const stop = async (): Promise<void> => {
    child.stdin.end()
    await gone.catch(() => {})
  }
  return { place, nobody, stop }
}

/** Neighbours are told, and not asked for: one that does not answer the question would be told of as unreachable. */
const link = (pid: number): void => {
  const { address, hardware, name } = near
  const lines = [
    `link add ${name} address ${hardware} type veth peer name ${far.name} address ${far.hardware} netns ${pid}`,
    `address add ${address}/32 dev ${name}`,
    `link set ${name} up`,
    `route add 10.9.1.0/24 dev ${name} src ${address}`,
    ...[...places.map(addressOf), nobody].map((each) =>
      `neighbour replace ${each} lladdr ${far.hardware} nud permanent dev ${name}`
    ),
  ]
  execFileSync("ip", ["-batch", "-"], { input: `${lines.join("\n")}\n` })
}

/** From now on the system gives up soon: on a dial after one more try, on what was sent after two. */
export const hasten = (): void => {
  writeFileSync("/proc/sys/net/ipv4/tcp_syn_retries", "1")
  writeFileSync("/proc/sys/net/ipv4/tcp_retries2", "1")
}
