/** Commands as a reader types them: a line given to a shell, in a folder, and Ctrl-C as a terminal sends it. */
import { type ChildProcess, spawn } from "node:child_process"
import { cpSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"
import process from "node:process"
import * as Command from "../support/Command.ts"
import * as Runtime from "../support/Runtime.ts"

/** The pinned Deno is found first, as it would be where it is installed. */
const env = {
  ...Runtime.compiled,
  NO_COLOR: "1",
  PATH: `${Runtime.root}test/runtimes/deno/node_modules/.bin:${process.env["PATH"]}`,
}

export interface Options {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
}

/** Runs a line to its end; rejects with all it wrote where its status is not 0. Resolves with what it wrote. */
export const run = async (line: string, options: Options = {}): Promise<string> => {
  const ended = await Command.run(["sh", "-c", line], {
    cwd: options.cwd ?? Runtime.root,
    env: { ...env, ...options.env },
    limitMillis: 300_000,
  })
  if (ended.status !== 0) throw new Error(`$ ${line}\n${ended.output}\nstatus ${ended.status}`)
  return ended.output
}

export interface Started {
  /** Resolves with the match once what it wrote matches; rejects when it ends before or after half a minute. */
  readonly prints: (wanted: RegExp) => Promise<RegExpExecArray>
  /** Ctrl-C: an interrupt to everything that the line started. Resolves with the status and all that it wrote. */
  readonly interrupt: () => Promise<readonly [status: number | null, output: string]>
  readonly kill: () => void
}

export const start = (line: string, options: Options = {}): Started => {
  // Without a shell that stays: it would end by the interrupt and not with the status of what it waits for.
  const child: ChildProcess = spawn("sh", ["-c", `exec env ${line}`], {
    cwd: options.cwd ?? Runtime.root,
    env: { ...process.env, ...env, ...options.env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  })
  let output = ""
  let over = false
  const heard = new Set<() => void>()
  const hear = (): void => heard.forEach((listener) => listener())
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.on("data", (bytes) => {
      output += bytes
      hear()
    })
  }
  const ended = new Promise<readonly [number | null, string]>((resolve) =>
    child.once("close", (status) => {
      over = true
      hear()
      resolve([status, output])
    })
  )
  const signal = (name: NodeJS.Signals): void => void (over || process.kill(-child.pid!, name))
  return {
    prints: (wanted) =>
      new Promise((resolve, reject) => {
        const settle = (then: () => void): void => {
          clearTimeout(timer)
          heard.delete(look)
          then()
        }
        const fail = (why: string): void => settle(() => reject(new Error(`${line} ${why} ${wanted}:\n${output}`)))
        const look = (): void => {
          const match = wanted.exec(output)
          if (match !== null) settle(() => resolve(match))
          else if (over) fail("ended without printing")
        }
        const timer = setTimeout(() => fail("did not print"), 30_000)
        heard.add(look)
        look()
      }),
    interrupt: () => {
      signal("SIGINT")
      return ended
    },
    kill: () => signal("SIGKILL"),
  }
}

/** What a clone holds and no tool made: not the history, nothing installed, nothing built. */
const cloned = (path: string): boolean =>
  !/(^|\/)(node_modules|dist|\.git|[^/]*\.tgz)$/.test(relative(Runtime.root, path))

/** A folder with the given parts of the repository in `holdfast/`, as in a fresh clone. */
export const clone = (parts: readonly string[] = ["."]): { readonly folder: string; readonly remove: () => void } => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-clone-"))
  for (const part of parts) {
    cpSync(`${Runtime.root}${part}`, join(folder, "holdfast", part), { recursive: true, filter: cloned })
  }
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}
