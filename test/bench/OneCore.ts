/**
 * Keeps a process on one core, where two threads that answer each other take turns. On two cores each message wakes the other
 * core, which costs a virtual machine anything from nothing to some 50 µs of CPU, more than the message itself.
 */
import { spawnSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import process from "node:process"

const threads = "/proc/self/task"

/** The cores that a thread may run on; undefined of one that has ended. */
const coresOf = (thread: string): string | undefined => {
  try {
    return /^Cpus_allowed_list:\s*(\S+)/m.exec(readFileSync(`${threads}/${thread}/status`, "utf8"))?.[1]
  } catch {
    return undefined
  }
}

/** From now on, its threads that are there and those to come. Needs Linux and `taskset`, which every Debian has. */
export const pin = (): void => {
  const core = /^\d+/.exec(coresOf(String(process.pid)) ?? "0")?.[0] ?? "0"
  const isElsewhere = (thread: string): boolean => (coresOf(thread) ?? core) !== core
  // `taskset` gives up where a thread ends before its turn comes, so what counts is where those are that are left.
  for (let tries = 0; tries < 10; tries++) {
    spawnSync("taskset", ["--all-tasks", "--pid", "--cpu-list", core, String(process.pid)])
    if (!readdirSync(threads).some(isElsewhere)) return
  }
  throw new Error("not kept on one core, so that a figure of two threads says nothing")
}
