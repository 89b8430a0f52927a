/**
 * What fibers of an explored program wait for where Effect hands on a way to answer them, `Effect.callback`: something that
 * the program does, or something of the outside. Owns, for a search, what nobody has answered yet.
 *
 * Effect's own waits are told by the text of their code, which is the same for all that were made at one place. Its bridges
 * to the outside are promises and the clock of the host; whatever else Effect itself waits by, such as a `Deferred`, is
 * answered by fibers. Of a callback of somebody else's it shows only when it is answered, and nobody else than a fiber of
 * the run, its clock or an event can answer it in there: one that was answered in no schedule may wait for the outside.
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
import type { Actor } from "./ExplorerActors.ts"
import type { Agenda } from "./ExplorerAgenda.ts"
import { ExplorerClock } from "./ExplorerClock.ts"
import { nameOf, type Operation } from "./ExplorerContext.ts"
import { HandClock } from "./HandClock.ts"
import type { Words } from "./Schedule.ts"
import * as Script from "./Script.ts"

/** Who waits, and the schedule up to where it began to. */
export interface Unanswered {
  readonly fiber: string
  readonly schedule: string
}

/** A wait that goes on. */
interface Wait {
  readonly key: string
  /** How often the fiber had been interrupted by then, where an interruption ends the wait. */
  readonly interruptions: number | undefined
}

export class Waits {
  readonly #words: Words
  readonly #agenda: Agenda
  #going = new Map<Actor, Wait>()
  /** By whom and by which code they wait; undefined once it was answered. */
  readonly #seen = new Map<string, Unanswered | undefined>()

  constructor(words: Words, agenda: Agenda) {
    this.#words = words
    this.#agenda = agenda
  }

  /** A run begins. */
  reset(): void {
    this.#going = new Map()
  }

  /** A fiber is off by an operation of its own, or has ended. Who it is, where it waits for the outside. */
  suspended(actor: Actor, operation: Operation, scheduler: Scheduler.Scheduler): string | undefined {
    const name = nameOf(operation)
    // By a scheduler that the program brings it goes on when that one says so.
    if (name === "Yield" && actor.fiber.cache.scheduler !== scheduler) return this.#words.word(actor.word)
    if (name !== "Async" || operation.register === undefined || this.#agenda.awaits(actor)) return undefined
    const who = this.#words.word(actor.word)
    const text = String(operation.register)
    const whose = waits().get(text)
    if (whose === "outside") return who
    // Whoever takes no way to answer waits for ever, as `Effect.never` does.
    const isDeaf = operation.register.length === 0 && !/arguments|\.\.\./.test(text)
    if (whose === undefined && !isDeaf) this.#begins(actor, who, text)
    return undefined
  }

  #begins(actor: Actor, who: string, text: string): void {
    const key = `${who} ${text}`
    if (!this.#seen.has(key)) this.#seen.set(key, { fiber: who, schedule: this.#words.print(this.#agenda.log) })
    this.#going.set(actor, { key, interruptions: actor.isInterruptible ? actor.interruptions : undefined })
  }

  /** A fiber goes on within the run: it was answered, unless it was interrupted. */
  ends(actor: Actor): void {
    const wait = this.#going.get(actor)
    if (wait === undefined) return
    this.#going.delete(actor)
    if (wait.interruptions === undefined || wait.interruptions === actor.interruptions) {
      this.#seen.set(wait.key, undefined)
    }
  }

  get unanswered(): ReadonlyArray<Unanswered> {
    return [...this.#seen.values()].filter((each) => each !== undefined)
  }
}

type AnyEffect = Effect.Effect<unknown, unknown>
type Whose = "inside" | "outside"

/** Whom waits are for, by the text of what they register by; found out once, by waiting. */
const waits = (): ReadonlyMap<string, Whose> =>
  found ??= new Map([...told(inside, "inside"), ...told(outside, "outside")])
let found: ReadonlyMap<string, Whose> | undefined = undefined

const told = (waits: ReadonlyArray<AnyEffect>, whose: Whose): ReadonlyArray<readonly [string, Whose]> => {
  const texts: Array<string> = []
  const tasks: Array<() => void> = []
  const context = Context.empty().pipe(
    Context.add(Scheduler.Scheduler, {
      executionMode: "sync",
      shouldYield: () => false,
      makeDispatcher: () => ({ scheduleTask: (run) => void tasks.push(run), flush: () => {} }),
    }),
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
  for (const run of tasks) run()
  return texts.map((text) => [text, whose])
}

const never = Effect.never
const second = Duration.seconds(1)
const all = (waits: ReadonlyArray<AnyEffect>) => Effect.all(waits, { concurrency: "unbounded" })

const inside: ReadonlyArray<AnyEffect> = [
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
  Effect.flatMap(Queue.bounded<number>(1), (queue) => all([Queue.take(queue), Queue.await(queue)])),
  Effect.flatMap(
    Queue.bounded<number>(1),
    (queue) => Effect.andThen(Queue.offer(queue, 1), all([Queue.offer(queue, 2), Queue.offerAll(queue, [3, 4])])),
  ),
  Effect.flatMap(
    PubSub.bounded<number>(1),
    (pubsub) =>
      Effect.flatMap(Scope.provide(PubSub.subscribe(pubsub), Scope.makeUnsafe()), (subscription) =>
        all([
          PubSub.take(subscription),
          Effect.andThen(PubSub.publishAll(pubsub, [1, 2, 3]), PubSub.publish(pubsub, 4)),
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
