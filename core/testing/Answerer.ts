/**
 * Who answers what a fiber begins to wait for where Effect hands on a way to, `Effect.callback`: other fibers, or the outside,
 * to which a world of its own has no door. Owns nothing but what it knows of Effect.
 *
 * Effect's own waits are told by the text of their code, which is the same for all that were made at one place. Its bridges
 * to the outside are promises and the clock of the host; whatever else Effect itself waits by, such as a `Deferred`, is
 * answered by fibers.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Latch from "effect/Latch"
import * as Pool from "effect/Pool"
import * as PubSub from "effect/PubSub"
import * as Queue from "effect/Queue"
import * as Scheduler from "effect/Scheduler"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Tracer from "effect/Tracer"
import { ExplorerClock } from "./ExplorerClock.ts"
import { HandClock } from "./HandClock.ts"
import * as Script from "./Script.ts"

/** An operation of Effect's by its name for it, and what a callback registers by. */
export interface Operation {
  readonly "~effect/Effect/identifier"?: string
  readonly register?: (...args: never) => unknown
}

export const nameOf = (operation: object): string | undefined => (operation as Operation)["~effect/Effect/identifier"]

/** `"nobody"` takes no answer; of a callback that is not Effect's it shows only when it is made. */
export type Answerer = "fibers" | "outside" | "nobody" | "unknown"

/** Undefined where it is no wait. `known` says of Effect's own waits, by their texts, who answers them. */
export const of = (operation: object, known: () => ReadonlyMap<string, Answerer> = waits): Answerer | undefined => {
  const { register } = operation as Operation
  if (register === undefined || nameOf(operation) !== "Async") return undefined
  const text = String(register)
  const answerer = known().get(text)
  if (answerer !== undefined) return answerer
  return takesNothing.test(text) && !/arguments|\[native code\]/.test(text) ? "nobody" : "unknown"
}

/**
 * Whoever takes no way to answer waits for ever, as `Effect.never` does; its length is no proof, for defaults are not counted.
 */
const takesNothing = /^[\w\s$]*\(\s*\)/

type AnyEffect = Effect.Effect<unknown, unknown>

/** Who answers Effect's own waits, by the text of what each registers by; found out by waiting. */
export const table = (): ReadonlyMap<string, Answerer> =>
  new Map([...told(fibers, "fibers"), ...told(outside, "outside")])

/** The same, found out once. */
export const waits = (): ReadonlyMap<string, Answerer> => found ??= table()
let found: ReadonlyMap<string, Answerer> | undefined = undefined

/** What it takes to look at Effect: nothing steps aside, and what is left to be run is told of. */
const looking = (left: (run: () => void) => void): Scheduler.Scheduler => ({
  executionMode: "sync",
  shouldYield: () => false,
  makeDispatcher: () => ({ scheduleTask: left, flush: () => {} }),
})

/** Whether it is how Effect lets a fiber begin that another one started; told by its text as well. */
export const isStart = (run: () => void): boolean => String(run) === (start ??= startText())
let start: string | undefined = undefined

const startText = (): string => {
  let text = ""
  const scheduler = looking((run) => {
    text = String(run)
  })
  Effect.runForkWith(Context.make(Scheduler.Scheduler, scheduler))(Effect.forkDetach(Effect.void))
  return text
}

const told = (waits: ReadonlyArray<AnyEffect>, whose: Answerer): ReadonlyArray<readonly [string, Answerer]> => {
  const texts: Array<string> = []
  const context = Context.empty().pipe(
    // What they leave to be run is not needed: each has begun to wait by then.
    Context.add(Scheduler.Scheduler, looking(() => {})),
    Context.add(Clock.Clock, new HandClock()),
    Context.add(
      Tracer.Tracer,
      Tracer.make({
        span: (options) => Tracer.nativeTracer.span(options),
        context: (operation, fiber) => {
          const { register } = operation as Operation
          if (register !== undefined && nameOf(operation) === "Async") texts.push(String(register))
          // What is for the outside is looked at, and not begun.
          return register !== undefined && whose === "outside"
            ? Effect.void as never
            : operation["~effect/Effect/evaluate"](fiber)
        },
      }),
    ),
  )
  for (const wait of waits) Effect.runForkWith(context)(wait)
  return texts.map((text) => [text, whose])
}

const never = Effect.never
const second = Duration.seconds(1)
const unit = undefined
const units = [unit, unit, unit]
const all = (waits: ReadonlyArray<AnyEffect>) => Effect.all(waits, { concurrency: "unbounded" })

const fibers: ReadonlyArray<AnyEffect> = [
  Effect.suspend(() => Deferred.await(Deferred.makeUnsafe())),
  Effect.suspend(() => Latch.makeUnsafe().await),
  Effect.suspend(() => Semaphore.makeUnsafe(0).take(1)),
  Effect.suspend(() => new HandClock().sleep(second)),
  Effect.suspend(() => new ExplorerClock().sleep(second)),
  Effect.flatMap(
    Effect.forkDetach(never),
    (fiber) => all([Fiber.await(fiber), Fiber.join(fiber), Fiber.awaitAll([fiber]), Fiber.joinAll([fiber])]),
  ),
  ...[Effect.race(never, never), Effect.raceFirst(never, never), all([never, never])],
  Effect.flatMap(Queue.bounded<void>(1), (queue) => all([Queue.take(queue), Queue.await(queue)])),
  Effect.flatMap(
    Queue.bounded<void>(1),
    (queue) => Effect.andThen(Queue.offer(queue, unit), all([Queue.offer(queue, unit), Queue.offerAll(queue, units)])),
  ),
  Effect.flatMap(
    PubSub.bounded<void>(1),
    (pubsub) =>
      Effect.flatMap(Scope.provide(PubSub.subscribe(pubsub), Scope.makeUnsafe()), (subscription) =>
        all([
          PubSub.take(subscription),
          Effect.andThen(PubSub.publishAll(pubsub, units), PubSub.publish(pubsub, unit)),
        ])),
  ),
  Effect.flatMap(
    Scope.provide(Pool.make({ acquire: never, size: 1 }), Scope.makeUnsafe()),
    (pool) => Scope.provide(Pool.get(pool), Scope.makeUnsafe()),
  ),
  Effect.tx(Effect.txRetry),
  Effect.flatMap(Script.make, (script) => {
    script.plan(1, Script.hold)
    return script.port("port", { call: Effect.void }).call
  }),
]

const unmade = undefined as never
const outside: ReadonlyArray<AnyEffect> = [
  Effect.promise(() => unmade),
  Effect.tryPromise(() => unmade),
  Clock.Clock.defaultValue().sleep(second),
]
