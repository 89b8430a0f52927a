/**
 * What a program has left open in this process, told by the operating system and the runtime: sockets, threads, timers.
 *
 * Sockets are those of TCP and UDP: of unix sockets, child processes and open files nothing is seen, on any runtime.
 * It is compared before and after, so that only what is new counts. It owns nothing, and waits for one turn of the event
 * loop alone: an effect that says that it is through has to have closed its handles, not asked for it. The far side of a
 * connection in the same process is a socket too; wait until that has heard of the end as well. Whatever else the
 * process does meanwhile is taken for the effect's.
 */
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as ProcessTable from "./ProcessTable.ts"

/** What is open. A part that the runtime cannot tell is undefined. */
export interface Census {
  readonly sockets: ReadonlyMap<string, ProcessTable.OpenSocket>
  /** Names of threads that are none of the runtime's own: those of workers, and of native code. */
  readonly threads: ReadonlyArray<string> | undefined
  /** Timers that keep the process alive. */
  readonly timers: number | undefined
}

/** Something was open afterwards that was not before. What the effect itself came to is beside it in the cause. */
export class Leaked extends Data.Error<{
  readonly sockets: ReadonlyArray<ProcessTable.OpenSocket>
  readonly threads: ReadonlyArray<string>
  readonly timers: number
  /** In which run of a sweep. */
  readonly where?: string | undefined
}> {
  readonly _tag = "Leaked"
  override readonly name = "Leaked"
  override get message(): string {
    const sockets = this.sockets.map((each) => `${each.protocol} ${each.localPort} to ${each.remotePort} ${each.state}`)
    const timers = this.timers === 0 ? [] : [`timers: ${this.timers}`]
    return `left open: ${[...sockets, ...this.threads.map((name) => `thread "${name}"`), ...timers].join(", ")}${
      this.where === undefined ? "" : ` [${this.where}]`
    }`
  }
}

/** The system has no table of a process's sockets and threads: it is not Linux, or hides it. */
export class CannotSee extends Data.Error<{ readonly cause: unknown }> {
  readonly _tag = "CannotSee"
  override readonly name = "CannotSee"
  override get message(): string {
    return `what this process has open cannot be seen: ${String(this.cause)}`
  }
}

/** What a runtime can tell of itself. */
export interface Sight {
  /** Whether a thread of this name is the runtime's own; undefined where names do not tell. */
  readonly ownThread: ((name: string) => boolean) | undefined
  readonly timers: () => number | undefined
}

export interface LeakCheck {
  readonly census: Effect.Effect<Census, CannotSee>
  /**
   * Runs `effect`, and fails with {@link Leaked} where it has left something open. What else has to hear of the end first, it
   * waits for itself: `Effect.ensuring(effect, heard)`.
   */
  readonly check: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | Leaked | CannotSee, R>
}

export const make = (sight: Sight): LeakCheck => {
  const census = Effect.try({
    try: (): Census => {
      const { ownThread } = sight
      const threads = ProcessTable.threads()
      return {
        sockets: ProcessTable.openSockets(),
        threads: ownThread === undefined ? undefined : threads.filter((name) => !ownThread(name)),
        timers: sight.timers(),
      }
    },
    catch: (cause) => new CannotSee({ cause }),
  })
  return {
    census,
    check: (effect) =>
      Effect.flatMap(
        census,
        (before) =>
          Effect.flatMap(Effect.exit(effect), (exit) =>
            Effect.flatMap(Effect.andThen(turn, census), (after) => {
              const leaked = between(before, after)
              if (leaked === undefined) return exit
              const cause = Cause.fail(leaked)
              return Effect.failCause(Exit.isFailure(exit) ? Cause.combine(exit.cause, cause) : cause)
            })),
      ),
  }
}

/** One turn of the event loop: a timer counts as set until its callback, in which the effect may have ended, is over. */
const turn: Effect.Effect<void> = Effect.callback((resume) => void setImmediate(() => resume(Effect.void)))

/** What `after` has and `before` has not; undefined where that is nothing. */
export const between = (before: Census, after: Census): Leaked | undefined => {
  const sockets = [...after.sockets.values()].filter(({ inode }) => !before.sockets.has(inode))
  const known = [...before.threads ?? []]
  const threads = (after.threads ?? []).filter((name) => {
    const at = known.indexOf(name)
    if (at >= 0) known.splice(at, 1)
    return at < 0
  })
  const timers = Math.max(0, (after.timers ?? 0) - (before.timers ?? 0))
  return sockets.length + threads.length + timers === 0 ? undefined : new Leaked({ sockets, threads, timers })
}
