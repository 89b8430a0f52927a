/** The gateway as a process of its own, on the runtime that runs the test. It ends with the test that started it. */
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { fileURLToPath } from "node:url"
import * as Runtime from "./Runtime.ts"

const main = fileURLToPath(new URL("../../adapters/gateway/main.ts", import.meta.url))
const conditions = "--conditions=holdfast-source"
const command = "Deno" in globalThis
  ? ["run", "-A", "--node-modules-dir=manual", conditions, main]
  : "Bun" in globalThis
  ? ["--bun", conditions, main]
  : [conditions, main]

/** Of what comes at once where the machine has nothing else to do. */
const bound = 60_000

export interface Ended {
  readonly code: number | null
  readonly output: string
  readonly errors: string
}

export interface Running {
  readonly pid: number
  readonly port: number
  readonly operatorPort: number
  /** Resolves when the standard output has the text; rejects after a minute or when the process ends without it. */
  readonly prints: (text: string) => Promise<void>
  readonly signal: (name: "SIGINT" | "SIGTERM") => void
  readonly ended: Promise<Ended>
  readonly output: () => string
  readonly errors: () => string
  /** Ends it, at once, and forgets its configuration. */
  readonly stop: () => Promise<void>
}

interface Started {
  readonly child: ChildProcess
  readonly text: { output: string; errors: string }
  readonly heard: Set<() => void>
  readonly ended: Promise<Ended>
}

const launch = (args: readonly string[], env: Readonly<Record<string, string>>): Started => {
  const child = spawn(process.execPath, [...command, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...Runtime.compiled, ...process.env, ...env },
  })
  const text = { output: "", errors: "" }
  const heard = new Set<() => void>()
  const hear = (): void => heard.forEach((listener) => listener())
  child.stdout!.on("data", (bytes) => {
    text.output += bytes
    hear()
  })
  child.stderr!.on("data", (bytes) => {
    text.errors += bytes
  })
  const ended = new Promise<Ended>((resolve) =>
    child.once("close", (code) => {
      resolve({ code, ...text })
      hear()
    })
  )
  return { child, text, heard, ended }
}

/** Runs it to its end with these arguments. */
export const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> =>
  launch(args, env).ended

const written = (config: unknown): { readonly path: string; readonly forget: () => void } => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-"))
  const path = join(folder, "gateway.json")
  writeFileSync(path, typeof config === "string" ? config : JSON.stringify(config))
  return { path, forget: () => rmSync(folder, { recursive: true, force: true }) }
}

/** Runs it to its end with this configuration, which may be text that is no JSON. */
export const runWith = async (config: unknown, env: Readonly<Record<string, string>> = {}): Promise<Ended> => {
  const file = written(config)
  try {
    return await run(["--config", file.path, "--port", "0", "--operator-port", "0"], env)
  } finally {
    file.forget()
  }
}

/** Starts it on free ports, with the embedded configuration where none is given, and waits until it listens. */
export const start = async (config?: unknown, env: Readonly<Record<string, string>> = {}): Promise<Running> => {
  const file = config === undefined ? undefined : written(config)
  const flags = file === undefined ? [] : ["--config", file.path]
  const { child, text, heard, ended } = launch([...flags, "--port", "0", "--operator-port", "0"], env)
  let over = false
  const prints = (wanted: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (text.output.includes(wanted)) settle(resolve)
        else if (over) {
          settle(() => reject(new Error(`ended without printing ${wanted}:\n${text.output}${text.errors}`)))
        }
      }
      const late = (): void => settle(() => reject(new Error(`did not print ${wanted}:\n${text.output}${text.errors}`)))
      const timer = setTimeout(late, bound)
      const settle = (then: () => void): void => {
        clearTimeout(timer)
        heard.delete(look)
        then()
      }
      heard.add(look)
      look()
    })
  ended.then(() => {
    over = true
  })
  const stop = async (): Promise<void> => {
    child.kill("SIGKILL")
    await ended
    file?.forget()
  }
  await prints("operator http").catch(async (error) => {
    await stop()
    throw error
  })
  await prints("\n")
  const portOf = (name: string): number => Number(new RegExp(`${name} http://127.0.0.1:(\\d+)`).exec(text.output)?.[1])
  return {
    pid: child.pid!,
    port: portOf("gateway"),
    operatorPort: portOf("operator"),
    prints,
    // Deno reports a child that it signalled by `child.kill` as ended by that signal, whatever its exit status was.
    signal: (name) => {
      if (!over) process.kill(child.pid!, name)
    },
    ended,
    output: () => text.output,
    errors: () => text.errors,
    stop,
  }
}
