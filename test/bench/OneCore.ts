/**
 * Keeps a process on one core, where two threads that answer each other take turns. On two cores each message wakes the other
 * core, which costs a virtual machine anything from nothing to some 50 µs of CPU, more than the message itself.
 */
import { spawnSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import process from "node:process"

const status = "/proc/self/status"

/** From now on, its threads that are there and those to come. Needs `taskset`, which every Debian has. */
export const pin = (): void => {
  const allowed = existsSync(status)
    ? /^Cpus_allowed_list:\s*(\d+)/m.exec(readFileSync(status, "utf8"))?.[1]
    : undefined
  const pinned = spawnSync("taskset", ["--all-tasks", "--pid", "--cpu-list", allowed ?? "0", String(process.pid)])
  if (pinned.status !== 0) throw new Error("not kept on one core, so that a figure of two threads says nothing")
}
