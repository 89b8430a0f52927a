/**
 * Whether a process ends by itself, which it does not while it has left something open that counts: the one witness that
 * every runtime has, whatever it cannot show of itself. Owns the process, which is gone when the effect is over.
 */
import { spawn } from "node:child_process"
import process from "node:process"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

export interface Options {
  /** The program and its arguments, with the flags of the runtime before it: `["run", "-A", "leaky.ts"]` on Deno. */
  readonly command: ReadonlyArray<string>
  /** How long it may take; 5 seconds by default. That is the whole of it, its start included. */
  readonly within?: Duration.Input | undefined
}

export interface Ended {
  /** What it wrote to both streams, in order. */
  readonly output: string
  readonly code: number
}

/** It was still there at the end of its time, or was killed. It is gone by now. */
export class DoesNotEnd extends Data.Error<{ readonly within: Duration.Duration; readonly output: string }> {
  readonly _tag = "DoesNotEnd"
  override readonly name = "DoesNotEnd"
  override get message(): string {
    return `it did not end by itself within ${Duration.format(this.within)}`
  }
}

/** There is no such program, or it may not be started. */
export class CannotStart extends Data.Error<{ readonly cause: unknown }> {
  readonly _tag = "CannotStart"
  override readonly name = "CannotStart"
}

/** Starts the runtime that this process is on, and waits for its end. An exit code is an answer, not a failure. */
export const byItself = (options: Options): Effect.Effect<Ended, DoesNotEnd | CannotStart> =>
  Effect.callback((resume) => {
    const within = Duration.fromInputUnsafe(options.within ?? "5 seconds")
    const child = spawn(process.execPath, [...options.command], { stdio: ["ignore", "pipe", "pipe"] })
    let output = ""
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => output += text)
    const timer = setTimeout(() => void child.kill("SIGKILL"), Duration.toMillis(within))
    const gone = new Promise<void>((done) => {
      child.once("error", (cause) => {
        resume(Effect.fail(new CannotStart({ cause })))
        done()
      })
      child.once("close", (code) => {
        clearTimeout(timer)
        resume(code === null ? Effect.fail(new DoesNotEnd({ within, output })) : Effect.succeed({ output, code }))
        done()
      })
    })
    return Effect.suspend(() => {
      clearTimeout(timer)
      child.kill("SIGKILL")
      return Effect.promise(() => gone)
    })
  })
