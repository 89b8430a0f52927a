/** The jobs of the conformance suite, as a thread imports them. Shared counters tell the test what really ran. */
import { createHistogram } from "node:perf_hooks"
import process from "node:process"
import { MessageChannel, type MessagePort, parentPort, workerData } from "node:worker_threads"
import type { JobContext } from "../../core/Job.ts"

export const notAFunction = 1

export const same = (input: unknown): unknown => input

/** Counts itself in, works for so many milliseconds unless it is cancelled, and counts itself out. */
export const counted = (
  { counts, millis }: { readonly counts: Int32Array; readonly millis: number },
  context: JobContext,
): boolean => {
  Atomics.add(counts, 0, 1)
  const cancelled = context.pause(millis)
  Atomics.add(counts, 1, 1)
  return cancelled
}

/** Pauses, and is cancelled right after `pause` has looked at the flag. How it ended, and whether that was soon. */
export const raced = (gate: Int32Array, context: JobContext): readonly [boolean, boolean] => {
  const { load } = Atomics
  let looks = 0
  const slow = (flag: Int32Array, index: number): number => {
    const seen = load(flag, index)
    if (looks++ > 0) return seen
    Atomics.store(gate, 1, 1)
    while (load(flag, index) === seen);
    return seen
  }
  Object.assign(Atomics, { load: slow })
  const start = performance.now()
  const cancelled = context.pause(6_000)
  Object.assign(Atomics, { load })
  return [cancelled, performance.now() - start < 5_000]
}

/** Blocks its thread until the test lets it go, whoever cancels it; says that it has begun. */
export const stubborn = (gate: Int32Array, context: JobContext): boolean => {
  Atomics.store(gate, 1, 1)
  Atomics.notify(gate, 1)
  Atomics.wait(gate, 0, 0)
  return context.cancelled()
}

/** Goes round until it is cancelled; never, where nobody cancels it. */
export const spinning = (gate: Int32Array, context: JobContext): string => {
  Atomics.store(gate, 1, 1)
  Atomics.notify(gate, 1)
  while (!context.cancelled());
  return "told"
}

/** Goes round for ever. */
export const endless = (gate: Int32Array): never => {
  Atomics.store(gate, 1, 1)
  Atomics.notify(gate, 1)
  for (;;);
}

/** Answers, and blocks its thread for good once it is idle. */
export const haunts = (): void => {
  setTimeout(() => {
    for (;;);
  }, 0)
}

export const throws = (what: string): never => {
  const cause = Object.assign(new Error("disk full"), { code: 28 })
  const thrown: Readonly<Record<string, () => unknown>> = {
    error: () => Object.assign(new TypeError("no", { cause }), { code: "E_NO", secret: "hunter2" }),
    text: () => "just text",
    nothing: () => undefined,
    symbol: () => Symbol("odd"),
    endless: () => {
      const error: Error & { cause?: unknown } = new Error("circle")
      error.cause = error
      return error
    },
    long: () => new Error("x".repeat(100_000)),
    // Each part but the message throws when it is looked at.
    guarded: () => {
      const error = new Error("keep me")
      for (const part of ["name", "code", "cause"]) {
        Object.defineProperty(error, part, {
          get: () => {
            throw new Error("do not look")
          },
        })
      }
      return error
    },
    hostile: () =>
      new Proxy({}, {
        get: () => {
          throw new Error("do not look")
        },
      }),
  }
  throw thrown[what]!()
}

export const rejects = async (): Promise<never> => {
  await Promise.resolve()
  throw new RangeError("later")
}

export const later = async (input: number): Promise<number> => {
  await new Promise((done) => setTimeout(done, 1))
  return input + 1
}

export const exits = (code: number): never => process.exit(code)

export const crashes = (): Promise<never> =>
  new Promise(() => {
    setTimeout(() => {
      throw new TypeError("uncaught")
    }, 0)
  })

export const forgets = (): Promise<never> =>
  new Promise(() => {
    void Promise.reject(new TypeError("unhandled"))
  })

export const uncloneable = (what: string): unknown => {
  const results: Readonly<Record<string, () => unknown>> = {
    function: () => () => 1,
    symbol: () => Symbol("odd"),
    deep: () => ({ a: [{ b: () => 1 }] }),
    getter: () => ({
      get a(): number {
        throw new Error("do not look")
      },
    }),
  }
  return results[what]!()
}

export class Point {
  readonly #secret = 3
  readonly x: number = 1
  get sum(): number {
    return this.x + this.#secret
  }
}
export const instance = (): Point => new Point()
export const polluted = (): unknown => JSON.parse(`{"__proto__": {"admin": true}, "x": 1}`)

/** Says what it likes to the port that everybody knows, and looks for others. How many it found. */
export const chatters = (words: readonly unknown[]): number => {
  const everywhere: { readonly postMessage?: (word: unknown) => void } = globalThis
  for (const word of words) {
    parentPort!.postMessage(word)
    everywhere.postMessage?.(word)
  }
  process.exit = () => undefined as never
  Atomics.store = () => 0 as never
  return Object.keys(workerData as object).length
}
const overheard: Array<unknown> = []
const overhear = (heard: unknown): void => void overheard.push(heard)
/** Listens to whatever everybody can. */
export const listens = (): void => {
  parentPort!.on("message", overhear)
  const everywhere: { readonly addEventListener?: (name: string, hear: typeof overhear) => void } = globalThis
  everywhere.addEventListener?.("message", overhear)
  Object.assign(globalThis, { onmessage: overhear })
}
/** What has been heard since. */
export const hears = (): ReadonlyArray<unknown> => overheard
/** What one runtime or another can send and not read. */
export const unreadable = (): unknown => createHistogram()
/** Leaves somebody to be told of the thread's end, who throws. */
export const clings = (): void => {
  process.on("exit", () => {
    throw new Error("not yet")
  })
}
/** Answers, and is gone a moment later. */
export const leaves = (gate: Int32Array): void => {
  setTimeout(() => {
    Atomics.store(gate, 1, 1)
    process.exit(0)
  }, 0)
}

/** Adds one to every byte, and hands the buffer back. */
export const increment = (buffer: ArrayBuffer, context: JobContext): ArrayBuffer => {
  const bytes = new Uint8Array(buffer)
  for (let i = 0; i < bytes.length; i++) bytes[i]!++
  context.transfer(buffer)
  return buffer
}
/** Speaks on a port that it is given, and hands over another that has been spoken on. */
export const ports = (given: MessagePort, { transfer }: JobContext): MessagePort => {
  given.on("message", () => {})
  given.postMessage("here")
  given.close()
  const { port1, port2 } = new MessageChannel()
  port1.postMessage("there")
  transfer(port2)
  return port2
}
/** Names for transfer what cannot be. */
export const badTransfer = (_: unknown, context: JobContext): number => {
  context.transfer({})
  return 1
}

/** Pauses for whatever it is told to. */
export const pauses = (millis: number, context: JobContext): boolean => context.pause(millis)
