/**
 * Keeps the machine's cores from falling asleep: a core of a virtual machine that does so takes some 50 µs of CPU to wake, which
 * two threads that answer each other pay or not by a microsecond more or less. Owns one process a core, of the lowest priority.
 */
import { spawn } from "node:child_process"
import { availableParallelism, constants, setPriority } from "node:os"
import * as Runtime from "../support/Runtime.ts"

/** Runs `work` so. */
export const awake = async <A>(work: () => Promise<A>): Promise<A> => {
  const [binary = "", ...args] = Runtime.command("node")
  const turning = Array.from({ length: availableParallelism() }, () => {
    const child = spawn(binary, [
      ...args,
      "--eval",
      "process.stdin.on('end', () => process.exit()).resume(); turn()\n" + turn,
    ], {
      stdio: ["pipe", "ignore", "inherit"],
    })
    if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW)
    return child
  })
  try {
    return await work()
  } finally {
    for (const child of turning) child.kill()
  }
}

/** Ends with its parent, for it looks at its input between two turns. */
const turn = `function turn() {
  const until = performance.now() + 20
  while (performance.now() < until);
  setImmediate(turn)
}`
