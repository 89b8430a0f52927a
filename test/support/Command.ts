/**
 * A command: one child process and everything it starts. Its output is kept until it ends; at the time limit, and when
 * this process ends, the whole process group is killed.
 */
import { spawn } from "node:child_process"
import process from "node:process"

export interface Options {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly limitMillis?: number
  /** Ends it before its limit. */
  readonly signal?: AbortSignal
}

/** `status` is 0 only if the command ended well within its limit; `output` is what it wrote to both streams, in order. */
export interface Ended {
  readonly status: number
  readonly output: string
  readonly seconds: number
}

const running = new Set<number>()
const kill = (group: number): void => {
  try {
    process.kill(-group, "SIGKILL")
  } catch {
    // It has ended by itself.
  }
}
process.once("exit", () => running.forEach(kill))
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130))

/** Runs `command` to its end. Never rejects: a program that cannot be started has status 127. */
export const run = (command: readonly string[], options: Options = {}): Promise<Ended> =>
  new Promise((resolve) => {
    const started = performance.now()
    const [file = "", ...args] = command
    const child = spawn(file, args, {
      cwd: options.cwd,
      env: { ...process.env, ...options.env },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    })
    let output = ""
    const end = (status: number): void => {
      clearTimeout(timer)
      if (child.pid !== undefined) running.delete(child.pid)
      resolve({ status, output, seconds: (performance.now() - started) / 1000 })
    }
    const limitMillis = options.limitMillis ?? 300_000
    options.signal?.addEventListener("abort", () => {
      if (child.pid !== undefined && running.has(child.pid)) kill(child.pid)
    })
    const timer = setTimeout(() => {
      output += `\n${command.join(" ")}: killed after ${limitMillis / 1000} s\n`
      if (child.pid !== undefined) kill(child.pid)
    }, limitMillis)
    if (child.pid !== undefined) running.add(child.pid)
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8")
      stream.on("data", (text: string) => output += text)
    }
    child.once("error", (error) => {
      output += `${error.message}\n`
      end(127)
    })
    child.once("close", (code) => end(code ?? 1))
  })
