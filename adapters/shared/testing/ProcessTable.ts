/**
 * What Linux says of this process: its open sockets by inode, and its threads by name. Other systems have no such table,
 * and reading it fails there. Owns nothing; each reading takes a few milliseconds, longer where the machine has many
 * connections.
 */
import { readdirSync, readFileSync, readlinkSync } from "node:fs"

/** An open socket of this process. */
export interface OpenSocket {
  readonly inode: string
  /** `tcp`, `tcp6`, `udp` or `udp6`. */
  readonly protocol: string
  readonly localPort: number
  readonly remotePort: number
  /** `ESTABLISHED`, `SYN_SENT`, `CLOSE_WAIT`, `LISTEN`, … */
  readonly state: string
}

// From the kernel's include/net/tcp_states.h, by number.
const states =
  ("- ESTABLISHED SYN_SENT SYN_RECV FIN_WAIT1 FIN_WAIT2 TIME_WAIT CLOSE CLOSE_WAIT LAST_ACK LISTEN CLOSING")
    .split(" ")

/** The port of name servers. */
const domain = 53

/**
 * TCP and UDP alone: Deno opens a pair of unix sockets for itself when it first needs them. Lookups of names are left out:
 * they are the runtime's own, such as Deno's when it asks for a newer version of itself.
 */
export const openSockets = (): ReadonlyMap<string, OpenSocket> => {
  const known = new Map<string, OpenSocket>()
  for (const protocol of ["tcp", "tcp6", "udp", "udp6"]) {
    for (const line of readFileSync(`/proc/self/net/${protocol}`, "latin1").split("\n").slice(1)) {
      const [, local = "", remote = "", state = "", , , , , , inode = ""] = line.trim().split(/\s+/)
      if (inode === "") continue
      const port = (address: string): number => parseInt(address.slice(address.lastIndexOf(":") + 1), 16)
      if (protocol.startsWith("udp") && port(remote) === domain) continue
      const named = states[parseInt(state, 16)] ?? state
      known.set(inode, { inode, protocol, localPort: port(local), remotePort: port(remote), state: named })
    }
  }
  const mine = readdirSync("/proc/self/fd").flatMap((fd) => known.get(inodeOf(fd) ?? "") ?? [])
  return new Map(mine.map((socket) => [socket.inode, socket]))
}

const inodeOf = (fd: string): string | undefined =>
  /^socket:\[(\d+)\]$/.exec(read(() => readlinkSync(`/proc/self/fd/${fd}`)))?.[1]

/** Names as the kernel keeps them, cut at 15 characters. */
export const threads = (): ReadonlyArray<string> =>
  readdirSync("/proc/self/task").map((task) =>
    read(() => readFileSync(`/proc/self/task/${task}/comm`, "latin1")).trim()
  )
    .filter((name) => name !== "")

/** Nothing where it has gone since it was listed, as the listing's own descriptor has. */
const read = (from: () => string): string => {
  try {
    return from()
  } catch {
    return ""
  }
}
